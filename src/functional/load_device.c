/* Loads and boundary values by kernels (src/kernels/box_load.cu, box_face.cu, cells_load.cu). */
#include <stdio.h>
#include <string.h>
#include "device/upload.h"
#include "functional/box_device.h"
#include "functional/cells_device.h"
#include "functional/device_text.h"
#include "functional/functional.h"

/* ---- boxes --------------------------------------------------------------------------------------------- */

static TesiGrid grid_of(int64_t items) {
  return (TesiGrid){(unsigned)(items < TESI_BOX_BLOCKS ? items : TESI_BOX_BLOCKS), 1, 1};
}

static size_t shared_of(const TesiBatches *c) {
  return (size_t)(c->q * (c->n + 2) + 2 * c->points) * sizeof(double);
}

/* Whether a value was not finite. */
static TesStatus read_notes(TesContext *ctx, const void *address, bool *refused) {
  TesStatus status = TES_OK;
  long long notes = 0;
  TES_TRY(tesi_context_device(ctx)->to_host(ctx, &notes, address, sizeof notes));
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
  double time = tesi_device_time(1, &f);
  void *list[] = {&b, &arguments, (void *)&box->notes, &time};
  const size_t shared = shared_of(box->batches);
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

TesStatus tesi_clear_device(const TesSpace *space, TesVector *v) {
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

static TesStatus load_box(const TesiLoad *desc, bool given, TesVector *b, bool *done) {
  const TesSpace *space = desc->space;
  const TesFunction *const *g = desc->g;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiBoxDevice *box = NULL;
  bool good = true, refused = false;
  *done = false;
  TES_TRY(tesi_box_device_create(space, space->degree + 3, &box));
  if (shared_of(box->batches) > TESI_BOX_SHARED) goto done;
  TES_TRY(tes_vector_fill(b, 0));
  if (desc->f) TES_TRY(add(box, desc->f, -1, b->data, &good));
  for (int face = 0; face < 2 * space->dim && good; face++) {
    if (!g || !g[face]) continue;
    good = given || space->axis[face / 2].natural[face % 2]; /* the host tells of it */
    if (good) TES_TRY(add(box, g[face], face, b->data, &good));
  }
  if (!good) goto done;
  TES_TRY(read_notes(ctx, box->notes, &refused));
  if (refused) goto done;
  if (!given) TES_TRY(tesi_clear_device(space, b));
  *done = true;
done:
  tesi_box_device_destroy(&box);
  return status;
}

static TesStatus lift(const TesiBoxDevice *box, const TesFunction *g, int face, double *u, bool *done) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  const TesSpace *space = box->batches->box;
  TeskFace arguments = tesi_face_arguments(box, face);
  TesiKernel kernel;
  char *text = NULL;
  double time = tesi_device_time(1, &g);
  void *list[] = {&u, &arguments, (void *)&box->notes, &time};
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
TesStatus tesi_lifting_device(const TesSpace *space, const TesFunction *const *g, TesVector *u, bool *done) {
  TesContext *ctx = u->context;
  TesStatus status = TES_OK;
  TesiBoxDevice *box = NULL;
  bool good = true, refused = false;
  *done = false;
  if (!tesi_space_box(space)) return TES_OK; /* surfaces of forests are small */
  TES_TRY(tesi_box_device_create(space, space->degree + 3, &box));
  TES_TRY(tes_vector_fill(u, 0));
  for (int face = 0; g && face < 2 * space->dim && good; face++)
    if (g[face] && !space->axis[face / 2].natural[face % 2])
      TES_TRY(lift(box, g[face], face, u->data, &good));
  TES_TRY(read_notes(ctx, box->notes, &refused));
  *done = good && !refused;
done:
  tesi_box_device_destroy(&box);
  return status;
}

/* ---- cells --------------------------------------------------------------------------------------------- */

/* The functions of a load, each once, and which of them a cell has (-1: none). */
typedef struct Sources {
  const TesFunction **f; /* [materials + 1]; the last: of all others */
  int32_t *number;       /* [cells] */
  int count;
} Sources;

static TesStatus find_sources(const TesiBatches *b, const TesiLoad *desc, Sources *s) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TES_ALLOC(&s->f, b->materials + 1);
  TES_ALLOC(&s->number, b->cells);
  s->count = b->materials + 1;
  for (int i = 0; i < b->materials; i++) s->f[i] = desc->material_f ? desc->material_f[i] : NULL;
  s->f[b->materials] = desc->f;
  for (int64_t c = 0; c < b->cells; c++) {
    const int material = tes_mesh_material(b->space->mesh, c);
    s->number[c] = material >= 0 && s->f[material] ? material : desc->f ? b->materials : -1;
  }
done:
  return status;
}

/* tesk_value(number, x, y, z, t) behind the functions. */
static TesStatus make_text(TesContext *ctx, const Sources *s, char **text) {
  TesStatus status = TES_OK;
  const size_t spare = 160 + 64 * (size_t)s->count;
  TES_TRY(tesi_device_text(ctx, s->count, s->f, spare, text));
  if (!*text) goto done;
  char *at = *text + strlen(*text);
  at += sprintf(at, "TESK_DEVICE double tesk_value(int number, double x, double y, double z, double t) {\n");
  for (int i = 0; i < s->count; i++)
    at += sprintf(at, "  if (number == %d) return tesk_f%d(x, y, z, t);\n", i, i);
  sprintf(at, "  return 0;\n}\n");
done:
  return status;
}

/* b += the volume's part; *done: as above. */
static TesStatus add_cells(const TesiCellsDevice *c, const TesiLoad *desc, bool given, TesVector *b,
                           bool *done) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  Sources sources = {0};
  char *text = NULL;
  void *number = NULL;
  TesiKernel kernel;
  size_t shared;
  long long cells = c->batches->cells;
  int with_given = given;
  double time = 0;
  void *list[] = {&b->data,
                  (void *)&c->nodes,
                  (void *)&c->index,
                  (void *)&c->mask,
                  &number,
                  (void *)&c->tables,
                  &cells,
                  &with_given,
                  (void *)&c->notes,
                  &time};
  TES_TRY(find_sources(c->batches, desc, &sources));
  time = tesi_device_time(sources.count, sources.f);
  TES_TRY(make_text(ctx, &sources, &text));
  if (!text) goto done;
  TES_TRY(tesi_cells_kernel(c, "cells_load.cu", "tesk_load_cells", text, 2 * c->batches->points, &shared,
                            &kernel));
  if (!shared) goto done;
  TES_TRY(tesi_upload(ctx, sources.number, (size_t)cells * sizeof *sources.number, &number));
  TES_TRY(tesi_kernel_launch(ctx, &kernel, tesi_cells_grid(c), TESI_CELLS_THREADS, shared, list));
  bool refused;
  TES_TRY(read_notes(ctx, c->notes, &refused));
  *done = !refused;
done:
  tesi_context_device(ctx)->release(ctx, &number);
  tesi_free(ctx, &text);
  tesi_free(ctx, &sources.f);
  tesi_free(ctx, &sources.number);
  return status;
}

/* Boundaries on the host: surfaces are small. */
static TesStatus load_cells(const TesiLoad *desc, bool given, TesVector *b, bool *done) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TesiCellsDevice *cells = NULL;
  TesVector *boundaries = NULL;
  const TesiLoad flux = {.space = desc->space, .g = desc->g};
  TES_TRY(tesi_cells_device_create(desc->space, desc->space->degree + 3, &cells));
  if (!cells) goto done;
  TES_TRY(tes_vector_fill(b, 0));
  TES_TRY(add_cells(cells, desc, given, b, done));
  if (!*done || !desc->g) goto done;
  TES_TRY(tes_vector_create(ctx, b->length, TES_DOUBLE, &boundaries));
  TES_TRY(tesi_load_on_host(&flux, given, boundaries));
  TES_TRY(tes_vector_axpy(1, boundaries, b));
done:
  tes_vector_destroy(&boundaries);
  tesi_cells_device_destroy(&cells);
  return status;
}

TesStatus tesi_load_device(const TesiLoad *desc, bool given, TesVector *b, bool *done) {
  *done = false;
  if (tesi_space_box(desc->space)) return load_box(desc, given, b, done);
  return desc->f || desc->material_f ? load_cells(desc, given, b, done) : TES_OK;
}
