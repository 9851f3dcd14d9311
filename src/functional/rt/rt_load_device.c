#include "functional/rt/rt_load_device.h"
#include <limits.h>
#include <string.h>
#include "device/kernel.h"
#include "device/table_text.h"
#include "device/upload.h"
#include "functional/device_text.h"
#include "kernels/modal_load_arguments.h"

enum { THREADS = 128, DEGREE = 8, FUNCTIONS = 7 };

struct TesiModalLoad {
  TesContext *context;
  TesiKernel cells, faces, inflow;
  TeskModal arguments;
  TeskModalFace face[6], entering[6]; /* by ends of directions; `number` 0: the end has no function */
  void *x[3], *h[3];                  /* device */
  size_t shared[2];                   /* of cells and faces, of inflow */
  bool empty;                         /* f is 0 */
};

/* ---- programs ------------------------------------------------------------------------------------------ */

/* Different functions get different numbers; functions: text of tesk_value(). */
static TesStatus get_program(TesContext *ctx, const TesSpace *space, int points, const char *functions,
                             size_t *shared, TesiProgram **program) {
  TesStatus status = TES_OK;
  TesiRtTables t;
  char *tables = NULL;
  tesi_rt_tables(space->degree + 1, points, &t);
  TesiTableText text = {.context = ctx, .type = "real"};
  tesi_table_text_add(&text, "modal", t.modal[0], points * (space->degree + 1));
  tesi_table_text_add(&text, "point", t.x, points);
  tesi_table_text_add(&text, "weight", t.w, points);
  tesi_table_text_put(&text, functions);
  TES_TRY(tesi_table_text_end(&text, &tables));
  const TesiProgramDesc desc = {.file = "modal_load.cu",
                                .macros = {{"DIM", space->dim},
                                           {"N", space->degree + 1},
                                           {"Q", points},
                                           {"THREADS", THREADS},
                                           {"TESK_CONSTANT_TABLES", 1}},
                                .tables = tables};
  TES_TRY(tesi_program_get(ctx, &desc, program));
  *shared = 2 * sizeof(double) * (size_t)(points * points * (space->dim == 3 ? points : 1));
done:
  tesi_free(ctx, &tables);
  return status;
}

static TesStatus get_kernels(const TesSpace *space, const char *functions, int inflow_points,
                             TesiModalLoad *plan) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  TES_TRY(get_program(ctx, space, space->degree + 5, functions, &plan->shared[0], &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_modal_cells", plan->shared[0], &plan->cells));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_modal_faces", plan->shared[0], &plan->faces));
  if (!inflow_points) goto done;
  TES_TRY(get_program(ctx, space, inflow_points, functions, &plan->shared[1], &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_modal_inflow", plan->shared[1], &plan->inflow));
done:
  return status;
}

/* ---- creation ------------------------------------------------------------------------------------------ */

/* The factors of the moments on a face: for fluxes the mode's value; for values the terms of interior penalties;
 * entering: minus the value. */
static void fill_face(const TesSpace *space, int number, const TesiGiven *on, double nu, TesPenalty penalty,
                      TeskModalFace *to, TeskModalFace *entering) {
  const int d = number / 2, end = number % 2;
  const TesiAxis *a = &space->axis[d];
  const bool given = on->how[0] == TESI_WEAK;
  double l[TESI_MAX_POINTS], slope[TESI_MAX_POINTS];
  const double h = a->h[end ? a->cells - 1 : 0], gamma = tesi_rt_boundary_penalty(penalty, space->degree, h);
  if (a->periodic || !on->g[0]) return;
  tesi_rt_legendre(space->degree + 1, h, end, l, slope);
  *to = (TeskModalFace){.d = d, .end = end, .number = 1 + number};
  *entering = *to;
  if (!given) entering->number = 0;
  for (int i = 0; i < space->degree + 1; i++) {
    to->weight[i] = given ? nu * (gamma * l[i] - (end ? 1 : -1) * slope[i]) : l[i];
    entering->weight[i] = -l[i];
  }
}

static TesStatus fill_arguments(const TesSpace *space, TesiModalLoad *plan) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  for (int d = 0; d < 3; d++) {
    const TesiAxis *a = &space->axis[d];
    plan->arguments.cells[d] = a->cells;
    if (d >= space->dim) continue;
    TES_TRY(tesi_upload(ctx, a->vertices, (size_t)(a->cells + 1) * sizeof *a->vertices, &plan->x[d]));
    TES_TRY(tesi_upload(ctx, a->h, (size_t)a->cells * sizeof *a->h, &plan->h[d]));
    plan->arguments.x[d] = plan->x[d], plan->arguments.h[d] = plan->h[d];
  }
done:
  return status;
}

TesStatus tesi_modal_load_create(const TesSpace *space, const TesFunction *f, double nu,
                                 const TesiGiven *given, TesPenalty penalty, int inflow_points,
                                 TesiModalLoad **result) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesFunction *functions[FUNCTIONS] = {f};
  TesiModalLoad *plan = NULL;
  char *text = NULL;
  *result = NULL;
  for (int i = 0; i < 2 * space->dim; i++) functions[1 + i] = given[i].g[0];
  for (int i = 0; i < FUNCTIONS; i++)
    if (tesi_function_uses(functions[i])) return TES_OK;
  if (space->degree > DEGREE || tes_mesh_info(space->mesh).cells >= INT_MAX) return TES_OK;
  TES_TRY(tesi_device_values_text(ctx, FUNCTIONS, functions, &text));
  if (!text) goto done;
  TES_NEW(&plan);
  plan->context = ctx, plan->empty = !f;
  for (int i = 0; i < 2 * space->dim; i++)
    fill_face(space, i, &given[i], nu, penalty, &plan->face[i], &plan->entering[i]);
  TES_TRY(fill_arguments(space, plan));
  TES_TRY(get_kernels(space, text, inflow_points, plan));
  *result = plan;
  plan = NULL;
done:
  tesi_modal_load_destroy(&plan);
  tesi_free(ctx, &text);
  return status;
}

void tesi_modal_load_destroy(TesiModalLoad **result) {
  TesiModalLoad *plan = *result;
  if (!plan) return;
  TesContext *ctx = plan->context;
  for (int d = 0; d < 3; d++) {
    tesi_context_device(ctx)->release(ctx, &plan->x[d]);
    tesi_context_device(ctx)->release(ctx, &plan->h[d]);
  }
  tesi_free(ctx, result);
}

/* ---- a run --------------------------------------------------------------------------------------------- */

static TesiGrid cells_of(const TesiModalLoad *plan, int without) {
  unsigned cells = 1;
  for (int d = 0; d < 3; d++)
    if (d != without) cells *= (unsigned)plan->arguments.cells[d];
  return (TesiGrid){cells, 1, 1};
}

static TesStatus run_face(const TesiModalLoad *plan, int i, const void *clock, const TesiInflow *inflow,
                          TesVector *b) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  const TeskModalFace *face = &plan->face[i], *entering = &plan->entering[i];
  long long step = inflow ? inflow->step : 0;
  const void *speed = inflow ? inflow->speed : NULL;
  void *of_face[] = {&b->data, (void *)&plan->arguments, (void *)face, (void *)&clock},
       *of_inflow[] = {&b->data,      (void *)&plan->arguments, (void *)entering, (void *)&speed, &step,
                       (void *)&clock};
  const TesiGrid grid = cells_of(plan, i / 2);
  if (face->number) TES_TRY(tesi_kernel_launch(ctx, &plan->faces, grid, THREADS, plan->shared[0], of_face));
  if (entering->number && inflow)
    TES_TRY(tesi_kernel_launch(ctx, &plan->inflow, grid, THREADS, plan->shared[1], of_inflow));
done:
  return status;
}

TesStatus tesi_modal_load_run(const TesiModalLoad *plan, const void *clock, const TesiInflow *inflow,
                              TesVector *b) {
  TesContext *ctx = plan->context;
  TesStatus status = TES_OK;
  void *arguments[] = {&b->data, (void *)&plan->arguments, (void *)&clock};
  if (plan->empty)
    TES_TRY(tes_vector_fill(b, 0));
  else
    TES_TRY(tesi_kernel_launch(ctx, &plan->cells, cells_of(plan, -1), THREADS, plan->shared[0], arguments));
  for (int i = 0; i < 6; i++) TES_TRY(run_face(plan, i, clock, inflow, b));
done:
  return status;
}
