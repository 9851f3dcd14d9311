#include "problem/in_time_data.h"
#include "functional/device_text.h"
#include "operator/transport/transport_operator.h"
#include "problem/in_time.h"

static TesStatus create_load(TesProblem *p, TesiTimedData *data) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  const TesiTransport *transport = tesi_transport_of(it->whole);
  const TesFunction **flux = NULL;
  const bool streamline = transport && transport->streamline; /* those tests are the host's */
  if (!it->timed || it->add_load || streamline || !tesi_sums_on_device(p->space)) return TES_OK;
  TES_TRY(tesi_problem_fluxes(p, &it->given, 0, &flux));
  const TesiLoad desc = {p->space, it->given.data.f[0], it->given.f[0], flux};
  TES_TRY(tesi_load_plan_create(&desc, true, &data->load));
done:
  tesi_free(ctx, &flux);
  return status;
}

static TesStatus create_given(TesProblem *p, TesiTimedData *data) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  const int names = tes_mesh_boundaries(p->mesh);
  const TesFunction **g = NULL;
  double *mark = NULL;
  if (!p->some_given || !it->given.boundary) return TES_OK;
  TES_ALLOC(&g, names + 1);
  TES_ALLOC(&mark, p->space->length);
  for (int i = 0; i < names; i++)
    if (tesi_problem_given(p, i, 0)) g[i] = it->given.boundary[i].g[0];
  TES_TRY(tesi_problem_mark_given(p, mark));
  TES_TRY(tesi_given_create(p->space, mark, names, g, data->clock[0], &data->given));
done:
  tesi_free(ctx, &g);
  tesi_free(ctx, &mark);
  return status;
}

TesStatus tesi_timed_data_create(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiTimedData *data = &p->in_time->data;
  if (!tesi_has_kernels(ctx) || tesi_ranks(ctx) > 1 || p->space->scalars != 1 ||
      p->space->element != TES_ELEMENT_Q)
    return TES_OK;
  for (int i = 0; i < TESI_CLOCKS; i++) {
    TES_TRY(tesi_clock_create(ctx, p->in_time->time, &data->clock[i]));
    data->when[i] = p->in_time->time;
  }
  TES_TRY(create_load(p, data));
  TES_TRY(create_given(p, data));
done:
  return status;
}

void tesi_timed_data_destroy(TesProblem *p) {
  TesiTimedData *data = &p->in_time->data;
  tesi_load_plan_destroy(&data->load);
  tesi_given_destroy(&data->given);
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
  const TesStatus status = data->when[clock] == time ? TES_OK : tesi_timed_data_at(p, clock, time);
  return status == TES_OK ? tesi_load_plan_run(data->load, data->clock[clock], b) : status;
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
