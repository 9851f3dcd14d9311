#include "problem/in_time_data.h"
#include "functional/device_text.h"
#include "operator/transport/transport_operator.h"
#include "problem/modal.h"
#include "problem/in_time.h"

/* Whether a component has any load. flux[boundaries], by number. */
static bool has_load(const TesProblem *p, int component, const TesFunction *const *flux) {
  const TesiNumbered *n = &p->in_time->numbers;
  bool any = !tesi_function_is_zero(n->data.f[component]);
  for (int i = 0; n->f[component] && i < tes_mesh_materials(p->mesh); i++)
    any = any || !tesi_function_is_zero(n->f[component][i]);
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++) any = any || flux[i];
  return any;
}

static TesStatus create_load(TesProblem *p, int component, TesiTimedData *data) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  const TesFunction **flux = NULL;
  TES_TRY(tesi_problem_fluxes(p, &it->numbers, component, &flux));
  if (!has_load(p, component, flux)) goto done;
  const TesiLoad desc = {.space = p->space->part[component],
                         .f = it->numbers.data.f[component],
                         .material_f = it->numbers.f[component],
                         .g = flux};
  TES_TRY(tesi_load_plan_create(&desc, true, &data->load[component]));
  data->loads = data->loads && data->load[component];
done:
  tesi_free(ctx, &flux);
  return status;
}

static TesStatus create_loads(TesProblem *p, TesiTimedData *data) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  const TesiTransport *transport = tesi_transport_of(it->whole);
  const bool streamline = transport && transport->streamline; /* the host integrates with them */
  data->loads = it->timed && !it->add_load && !streamline && !tesi_numbered_heated(p->mesh, &it->numbers);
  if (p->space->element->weak) {
    if (data->loads && !it->changes) TES_TRY(tesi_modal_timed_create(p, &data->modal));
    data->loads = data->modal;
    goto done;
  }
  for (int c = 0; c < p->space->parts && data->loads; c++) {
    data->loads = tesi_sums_on_device(p->space->part[c]);
    if (data->loads) TES_TRY(create_load(p, c, data));
  }
done:
  return status;
}

static TesStatus create_given(TesProblem *p, int component, TesiTimedData *data) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  const int names = tes_mesh_boundaries(p->mesh);
  const TesSpace *part = p->space->part[component];
  const TesFunction **g = NULL;
  double *mark = NULL;
  bool any = false;
  TES_ALLOC(&g, names + 1);
  TES_ALLOC(&mark, part->length);
  for (int i = 0; i < names; i++) {
    if (!tesi_problem_given(p, i, component)) continue;
    g[i] = it->numbers.given[i].g[component], any = true;
  }
  if (!any) goto done;
  TES_TRY(tesi_problem_mark_given(p, component, mark));
  TES_TRY(tesi_given_nodes_create(part, mark, names, g, data->clock[0], &data->given[component]));
  data->gives = data->gives && data->given[component];
done:
  tesi_free(ctx, &g);
  tesi_free(ctx, &mark);
  return status;
}

TesStatus tesi_timed_data_create(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiTimedData *data = &p->in_time->data;
  const bool modal = p->space->element->weak;
  if (!tesi_has_kernels(ctx) || tesi_ranks(ctx) > 1 ||
      (!modal &&
       (p->space->scalars != p->space->parts || p->space->parts > TESI_AXES || !p->space->element->nodal)))
    return TES_OK;
  for (int i = 0; i < TESI_CLOCKS; i++) {
    TES_TRY(tesi_clock_create(ctx, p->in_time->march.time, &data->clock[i]));
    data->when[i] = p->in_time->march.time;
  }
  TES_TRY(create_loads(p, data));
  data->gives = p->lifting.some_given && !tesi_problem_given_everywhere(p) && !modal && !p->space->slip;
  for (int c = 0; c < p->space->parts && data->gives; c++) TES_TRY(create_given(p, c, data));
done:
  return status;
}

void tesi_timed_data_destroy(TesProblem *p) {
  TesiTimedData *data = &p->in_time->data;
  for (int c = 0; c < TESI_AXES; c++) tesi_load_plan_destroy(&data->load[c]);
  for (int c = 0; c < TESI_AXES; c++) tesi_given_nodes_destroy(&data->given[c]);
  tesi_modal_load_destroy(&data->modal);
  for (int i = 0; i < TESI_CLOCKS; i++)
    if (data->clock[i]) tesi_context_device(p->context)->release(p->context, &data->clock[i]);
}

TesStatus tesi_timed_data_at(TesProblem *p, int clock, double time) {
  TesiTimedData *data = &p->in_time->data;
  data->when[clock] = time;
  return tesi_clock_set(p->context, data->clock[clock], time);
}

TesStatus tesi_timed_data_load(TesProblem *p, double time, TesVector *b) {
  const TesiTimedData *data = &p->in_time->data;
  const int clock = data->when[0] != time && data->when[1] == time;
  TesStatus status = data->when[clock] == time ? TES_OK : tesi_timed_data_at(p, clock, time);
  if (data->modal && status == TES_OK) return tesi_modal_timed_run(p, data->modal, data->clock[clock], b);
  for (int c = 0; c < p->space->parts && status == TES_OK; c++) {
    TesVector part = tesi_space_range(p->space, b, c);
    status = data->load[c] ? tesi_load_plan_run(data->load[c], data->clock[clock], &part)
                           : tes_vector_fill(&part, 0);
  }
  return status;
}

/* By component. */
static TesStatus change_given(const TesProblem *p,
                              TesStatus (*change)(const TesiGivenNodes *given, TesVector *u), TesVector *x) {
  const TesiTimedData *data = &p->in_time->data;
  TesStatus status = TES_OK;
  for (int c = 0; c < p->space->parts && status == TES_OK; c++) {
    TesVector part = tesi_space_range(p->space, x, c);
    if (data->given[c]) status = change(data->given[c], &part);
  }
  return status;
}

TesStatus tesi_timed_data_give(const TesProblem *p, TesVector *x) {
  return change_given(p, tesi_given_nodes_put, x);
}

TesStatus tesi_timed_data_clear(const TesProblem *p, TesVector *x) {
  return p->lifting.free ? tesi_problem_clear(p, x) : change_given(p, tesi_given_nodes_clear, x);
}

TesStatus tesi_timed_data_explain(TesProblem *p, double time, TesStatus outcome) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiTimedData *data = &p->in_time->data;
  bool refused = false;
  if (!data->clock[0] || outcome != TES_NAN) return outcome;
  TES_TRY(tesi_clock_refused(ctx, data->clock[0], &refused));
  if (!refused) return outcome;
  tesi_context_forget(ctx);
  TES_TRY(tesi_in_time_at(p, time));
  TES_TRY(p->equation->load_all(p, p->in_time->whole, p->b));
  TES_TRY(tesi_problem_lift(p));
  status = outcome;
done:
  return status;
}
