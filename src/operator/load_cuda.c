/* Loads and boundary values by kernels (src/kernels/box_load.cu, box_face.cu). */
#include "operator/box_device.h"
#include "device/vector.h"

static TesiGrid grid_of(int64_t items) {
  return (TesiGrid){(unsigned)(items < TESI_BOX_BLOCKS ? items : TESI_BOX_BLOCKS), 1, 1};
}

static size_t shared_of(const TesiCells *c) {
  return (size_t)(c->q * (c->n + 2) + 2 * c->points) * sizeof(double);
}

/* Whether a value was not finite. */
static TesStatus read_notes(const TesiBoxDevice *box, bool *refused) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  long long notes = 0;
  TES_TRY(tesi_context_device(ctx)->to_host(ctx, &notes, box->notes, sizeof notes));
  *refused = notes != 0;
done:
  return status;
}

/* All cells, or the sides of a face (-1: none), colour by colour. *done <- whether the function has a text. */
static TesStatus add(const TesiBoxDevice *box, const TesFunction *f, int face, double *b, bool *done) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  TeskBox arguments = tesi_box_arguments(box, face);
  TesiKernel kernel;
  char *text = NULL;
  void *list[] = {&b, &arguments, (void *)&box->notes};
  const size_t shared = shared_of(&box->cells);
  TES_TRY(tesi_box_text(box, 1, &f, &text));
  *done = text != NULL;
  if (!text) goto done;
  TES_TRY(tesi_box_kernel(box, "box_load.cu", "tesk_load", text, shared, &kernel));
  for (int colour = 0; colour < 8; colour++) {
    int64_t cells = 1;
    for (int d = 0; d < 3; d++) {
      arguments.parity[d] = colour >> d & 1;
      arguments.step[d] = 2;
      cells *= (arguments.cells[d] - arguments.parity[d] + 1) / 2;
    }
    TES_TRY(tesi_kernel_launch(ctx, &kernel, grid_of(cells), TESI_BOX_THREADS, shared, list));
  }
done:
  tesi_free(ctx, &text);
  return status;
}

TesStatus tesi_clear_dirichlet_device(const TesSpace *space, TesVector *v) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiBoxDevice *box = NULL;
  TesiProgram *program;
  TesiKernel kernel;
  const TesiProgramDesc desc = {
      .file = "box_face.cu",
      .options = {v->precision == TES_DOUBLE ? "real=double" : "real=float", "POINTS=1", "NODES=1"}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_clear", 0, &kernel));
  TES_TRY(tesi_box_device_create(space, space->degree + 3, &box));
  for (int face = 0; face < 2 * space->dim; face++) {
    if (space->axis[face / 2].natural[face % 2]) continue;
    TeskFace arguments = tesi_face_arguments(box, face);
    void *list[] = {&v->data, &arguments};
    const int64_t nodes = space->length / space->axis[face / 2].nodes;
    TES_TRY(tesi_kernel_launch(ctx, &kernel, grid_of((nodes + TESI_BOX_THREADS - 1) / TESI_BOX_THREADS),
                               TESI_BOX_THREADS, 0, list));
  }
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx)); /* what the kernels read goes away */
done:
  tesi_box_device_destroy(&box);
  return status;
}

TesStatus tesi_load_assemble_device(const TesSpace *space, const TesFunction *f,
                                    const TesFunction *const g[6], TesVector *b, bool *done) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiBoxDevice *box = NULL;
  bool good = true, refused = false;
  *done = false;
  TES_TRY(tesi_box_device_create(space, space->degree + 3, &box));
  if (shared_of(&box->cells) > TESI_BOX_SHARED) goto done;
  TES_TRY(tes_vector_fill(b, 0));
  if (f) TES_TRY(add(box, f, -1, b->data, &good));
  for (int face = 0; face < 6 && good; face++) {
    if (!g || !g[face]) continue;
    good = face < 2 * space->dim && space->axis[face / 2].natural[face % 2]; /* the host tells of it */
    if (good) TES_TRY(add(box, g[face], face, b->data, &good));
  }
  if (!good) goto done;
  TES_TRY(read_notes(box, &refused));
  if (refused) goto done;
  TES_TRY(tesi_clear_dirichlet_device(space, b));
  *done = true;
done:
  tesi_box_device_destroy(&box);
  return status;
}

static TesStatus lift(const TesiBoxDevice *box, const TesFunction *g, int face, double *u, bool *done) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  const TesSpace *space = box->cells.space;
  TeskFace arguments = tesi_face_arguments(box, face);
  TesiKernel kernel;
  char *text = NULL;
  void *list[] = {&u, &arguments, (void *)&box->notes};
  const int64_t nodes = space->length / space->axis[face / 2].nodes;
  TES_TRY(tesi_box_text(box, 1, &g, &text));
  *done = text != NULL;
  if (!text) goto done;
  TES_TRY(tesi_box_kernel(box, "box_load.cu", "tesk_lift", text, 0, &kernel));
  TES_TRY(tesi_kernel_launch(ctx, &kernel, grid_of((nodes + TESI_BOX_THREADS - 1) / TESI_BOX_THREADS),
                             TESI_BOX_THREADS, 0, list));
done:
  tesi_free(ctx, &text);
  return status;
}

/* Faces in their order: where two meet, the later one's value stays, as on the host. */
TesStatus tesi_load_lifting_device(const TesSpace *space, const TesFunction *const g[6], TesVector *u,
                                   bool *done) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiBoxDevice *box = NULL;
  bool good = true, refused = false;
  *done = false;
  TES_TRY(tesi_box_device_create(space, space->degree + 3, &box));
  TES_TRY(tes_vector_fill(u, 0));
  for (int face = 0; face < 2 * space->dim && good; face++)
    if (!space->axis[face / 2].natural[face % 2]) TES_TRY(lift(box, g[face], face, u->data, &good));
  TES_TRY(read_notes(box, &refused));
  *done = good && !refused;
done:
  tesi_box_device_destroy(&box);
  return status;
}
