#include "functional/box_device.h"
#include <string.h>
#include "basis/lagrange.h"
#include "device/table_text.h"
#include "functional/device_text.h"

/* Coordinates of the nodes, lower ends and widths of the cells of each axis, one after the other. */
static TesStatus send(TesiBoxDevice *b) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesiAxis *axis = b->batches->box->axis;
  size_t size = 0, at = 0;
  double *values = NULL;
  for (int d = 0; d < 3; d++) size += (size_t)axis[d].nodes + 2 * (size_t)axis[d].cells;
  TES_ALLOC(&values, size);
  TES_TRY(device->allocate(ctx, size * sizeof(double), &b->memory));
  for (int d = 0; d < 3; d++) {
    const TesiAxis *a = &axis[d];
    b->nodes[d] = (double *)b->memory + at;
    if (a->degree) memcpy(values + at, a->x, (size_t)a->nodes * sizeof *values);
    at += (size_t)a->nodes;
    b->ends[d] = (double *)b->memory + at;
    for (int c = 0; a->degree && c < a->cells; c++) values[at + (size_t)c] = a->x[c * a->degree];
    at += (size_t)a->cells;
    b->widths[d] = (double *)b->memory + at;
    if (a->degree) memcpy(values + at, a->h, (size_t)a->cells * sizeof *values);
    at += (size_t)a->cells;
  }
  TES_TRY(device->to_device(ctx, b->memory, values, size * sizeof(double)));
done:
  tesi_free(ctx, &values);
  return status;
}

TesStatus tesi_box_device_create(const TesSpace *space, int q, TesiBoxDevice **box) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiBoxDevice *b = NULL;
  *box = NULL;
  TES_NEW(&b);
  b->context = ctx;
  TES_TRY(tesi_batches_create(space, q, &b->batches));
  TES_TRY(send(b));
  *box = b;
  b = NULL;
done:
  tesi_box_device_destroy(&b);
  return status;
}

void tesi_box_device_destroy(TesiBoxDevice **box) {
  if (!*box) return;
  TesContext *ctx = (*box)->context;
  tesi_context_device(ctx)->release(ctx, &(*box)->memory);
  tesi_batches_destroy(&(*box)->batches);
  tesi_free(ctx, box);
}

TeskBox tesi_box_arguments(const TesiBoxDevice *box, int face) {
  const TesiAxis *axis = box->batches->box->axis;
  TeskBox b = {.first = 0};
  long long stride = 1;
  for (int d = 0; d < 3; d++) {
    b.there[d] = axis[d].degree > 0 && (face < 0 || d != face / 2);
    b.cells[d] = b.there[d] ? axis[d].cells : 1;
    b.step[d] = 1;
    b.stride[d] = stride;
    b.x[d] = box->ends[d], b.h[d] = box->widths[d];
    if (face >= 0 && d == face / 2) {
      b.level[d] = axis[d].x[face % 2 ? axis[d].nodes - 1 : 0];
      b.first = face % 2 ? (axis[d].nodes - 1) * stride : 0;
    }
    stride *= axis[d].nodes;
  }
  return b;
}

TeskFace tesi_face_arguments(const TesiBoxDevice *box, int face) {
  TeskFace f = {.axis = face / 2, .side = face % 2};
  for (int d = 0; d < 3; d++) {
    f.nodes[d] = box->batches->box->axis[d].nodes;
    f.x[d] = box->nodes[d];
  }
  return f;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

TesStatus tesi_box_text(const TesiBoxDevice *box, int count, const TesFunction *const *f, char **text) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  const TesiBatches *c = box->batches;
  double nodes[TESI_MAX_POINTS], G[TESI_MAX_POINTS * TESI_MAX_POINTS];
  TES_TRY(tesi_device_text(ctx, count, f, 0, text));
  if (!*text) goto done;
  TesiTableText t = {.context = ctx, .type = "double", .text = *text, .used = (int64_t)strlen(*text)};
  tesi_gauss_lobatto(c->n, nodes, NULL);
  tesi_lagrange(c->n, nodes, c->q, c->point, NULL, G);
  tesi_table_text_add(&t, "point", c->point, c->q);
  tesi_table_text_add(&t, "w", c->weight, c->q);
  tesi_table_text_add(&t, "B", c->B, c->q * c->n);
  tesi_table_text_add(&t, "G", G, c->q * c->n);
  TES_TRY(tesi_table_text_end(&t, text));
done:
  return status;
}

TesStatus tesi_box_kernel(const TesiBoxDevice *box, const char *file, const char *name, const char *text,
                          size_t shared, TesiKernel *kernel) {
  TesContext *ctx = box->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiBatches *b = box->batches;
  const TesiProgramDesc desc = {.file = file,
                                .macros = {{"POINTS", b->q}, {"NODES", b->n}, {"TESK_CONSTANT_TABLES", 1}},
                                .tables = text};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, name, shared, kernel));
done:
  return status;
}
