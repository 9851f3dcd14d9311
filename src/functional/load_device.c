/* Loads and boundary values by kernels (src/kernels/box_load.cu, box_face.cu, cells_load.cu). */
#include "functional/box_device.h"
#include "functional/device_text.h"
#include "functional/functional.h"
#include "functional/load_plan.h"
#include "parallel/comm.h"

TesStatus tesi_clear_device(const TesSpace *space, TesVector *v) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiBoxDevice *box = NULL;
  TesiProgram *program;
  TesiKernel kernel;
  const TesiProgramDesc desc = {
      .file = "box_face.cu", .real = v->precision, .macros = {{"POINTS", 1}, {"NODES", 1}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_clear", 0, &kernel));
  TES_TRY(tesi_box_device_create(space, space->degree + 3, &box));
  for (int face = 0; face < 2 * space->dim; face++) {
    if (space->axis[face / 2].end[face % 2] != TESI_STRONG) continue;
    TeskFace arguments = tesi_face_arguments(box, face);
    void *list[] = {&v->data, &arguments};
    const int64_t nodes = space->length / space->axis[face / 2].nodes;
    TES_TRY(tesi_kernel_launch(ctx, &kernel, tesi_grid_most(nodes, TESI_BOX_THREADS, TESI_BOX_BLOCKS),
                               TESI_BOX_THREADS, 0, list));
  }
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx)); /* releases what only the kernels read */
done:
  tesi_box_device_destroy(&box);
  return status;
}

/* The time of the functions of a load. */
static double time_of(const TesiLoad *desc) {
  double time = tesi_device_time(1, &desc->f);
  for (int i = 0; desc->material_f && i < tes_mesh_materials(desc->space->mesh) && time == 0; i++)
    time = tesi_device_time(1, &desc->material_f[i]);
  for (int i = 0; desc->g && i < tes_mesh_boundaries(desc->space->mesh) && time == 0; i++)
    time = tesi_device_time(1, &desc->g[i]);
  return time;
}

TesStatus tesi_load_device(const TesiLoad *desc, bool given, TesVector *b, bool *done) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TesiLoadPlan *plan = NULL;
  void *clock = NULL;
  bool refused = true;
  *done = false;
  TES_TRY(tesi_clock_create(ctx, time_of(desc), &clock));
  TES_TRY(tesi_load_plan_create(desc, given, &plan));
  if (plan) {
    TES_TRY(tesi_load_plan_run(plan, clock, b));
    TES_TRY(tesi_clock_refused(ctx, clock, &refused));
  }
  *done = !tesi_reduce_any(ctx, refused);
  if (!*done) goto done;
  if (!given && tesi_space_box(desc->space)) TES_TRY(tesi_clear_device(desc->space, b));
done:
  tesi_load_plan_destroy(&plan);
  tesi_context_device(ctx)->release(ctx, &clock);
  return status;
}

static TesStatus lift(const TesiBoxDevice *box, const TesFunction *g, int face, void *clock, double *u,
                      bool *done) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  const TesSpace *space = box->batches->box;
  TeskFace arguments = tesi_face_arguments(box, face);
  TesiKernel kernel;
  char *text = NULL;
  void *list[] = {&u, &arguments, &clock};
  const int64_t nodes = space->length / space->axis[face / 2].nodes;
  TES_TRY(tesi_box_text(box, 1, &g, &text));
  *done = text != NULL;
  if (!text) goto done;
  TES_TRY(tesi_box_kernel(box, "box_load.cu", "tesk_lift", text, 0, &kernel));
  TES_TRY(tesi_kernel_launch(ctx, &kernel, tesi_grid_most(nodes, TESI_BOX_THREADS, TESI_BOX_BLOCKS),
                             TESI_BOX_THREADS, 0, list));
done:
  tesi_free(ctx, &text);
  return status;
}

/* Faces in their order: where two meet, the value of the later face stays, as on the host. */
TesStatus tesi_lifting_device(const TesSpace *space, const TesFunction *const *g, TesVector *u, bool *done) {
  TesContext *ctx = u->context;
  TesStatus status = TES_OK;
  TesiBoxDevice *box = NULL;
  void *clock = NULL;
  bool good = true, refused = false;
  *done = false;
  if (!tesi_space_box(space)) return TES_OK; /* surfaces of forests are small */
  TES_TRY(tesi_box_device_create(space, space->degree + 3, &box));
  TES_TRY(tesi_clock_create(ctx, g ? tesi_device_time(2 * space->dim, g) : 0, &clock));
  TES_TRY(tes_vector_fill(u, 0));
  for (int face = 0; g && face < 2 * space->dim && good; face++)
    if (g[face] && space->axis[face / 2].end[face % 2] == TESI_STRONG)
      TES_TRY(lift(box, g[face], face, clock, u->data, &good));
  TES_TRY(tesi_clock_refused(ctx, clock, &refused));
  *done = good && !refused;
done:
  tesi_box_device_destroy(&box);
  tesi_context_device(ctx)->release(ctx, &clock);
  return status;
}
