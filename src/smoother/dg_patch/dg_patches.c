#include "smoother/dg_patch/dg_patches.h"
#include <stdlib.h>
#include <string.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "kernels/dg_arguments.h"
#include "operator/stokes/stokes_faces.h"

enum {
  LINES = 256,             /* of a block, about */
  SHARED_MOST = 220 << 10, /* bytes of shared memory */
  WAVE = 1024,             /* blocks per launch if patches are in global memory */
  COPIED = 8,              /* about the number of entries that a thread copies */
  MOST = TESI_MAX_POINTS
};

/* A colour of a sweep: its patches, and the cells in no patch of the colour. */
typedef struct Colour {
  int first, count, rest, cells;
} Colour;

struct TesiDgPatches {
  TesPrecision precision;
  TesiKernel kernel, sweep;
  TeskDgPatches arguments;
  double alpha;
  void *table[3], *patch, *work; /* device; work: used if shared memory is too small */
  int group;                     /* patches of a block */
  unsigned threads;
  size_t shared;
  /* of sweeps */
  TeskDg cells;
  double modes[2 * MOST + MOST * MOST]; /* numbers in `precision` */
  int colours, size;                    /* size: numbers per cell */
  Colour *colour;
  void *numbers[3], *rest; /* device */
};

static int padded(int count) {
  return (count + 3) / 4 * 4;
}

/* Zd', Zd and nu ld of all kinds of a direction. */
static TesStatus upload_kinds(TesContext *ctx, const TesiStokes *s, const TesiStokesPatchAxis *a, int d,
                              TesiDgPatches *p) {
  TesStatus status = TES_OK;
  const int n = 2 * (s->space->degree + 1), row = padded(n), size = 2 * n * row + row;
  double *table = NULL;
  TES_ALLOC(&table, (int64_t)a->types * size);
  for (int k = 0; k < a->types; k++) {
    double *const forward = table + (int64_t)k * size, *const back = forward + n * row,
                  *const value = back + n * row;
    for (int i = 0; i < n; i++) {
      for (int m = 0; m < n; m++) forward[m * row + i] = back[i * row + m] = a->local[k].Zd[i * n + m];
      value[i] = s->nu * a->local[k].ld[i];
    }
  }
  TES_TRY(tesi_upload_numbers(ctx, table, (int64_t)a->types * size, p->precision, &p->table[d]));
  p->arguments.table[d] = p->table[d];
done:
  tesi_free(ctx, &table);
  return status;
}

static TesStatus upload_patches(TesContext *ctx, const TesiStokesPatchAxis axis[3], int (*vertex)[3],
                                int count, TesiDgPatches *p) {
  TesStatus status = TES_OK;
  TeskDgPatch *patch = NULL;
  TES_ALLOC(&patch, count);
  for (int i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) {
      patch[i].vertex[d] = vertex[i][d];
      patch[i].kind[d] = axis[d].type[vertex[i][d]];
      patch[i].even |= axis[d].local[patch[i].kind[d]].symmetric << d;
    }
  TES_TRY(tesi_upload(ctx, patch, (size_t)count * sizeof *patch, &p->patch));
done:
  tesi_free(ctx, &patch);
  return status;
}

static TesStatus get_kernel(TesContext *ctx, const TesSpace *space, TesiDgPatches *p) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  const int n = 2 * (space->degree + 1), lines = space->dim == 3 ? n * n : n;
  p->group = tesi_max(1, LINES / lines);
  p->threads = (unsigned)tesi_min(LINES, (p->group * lines + 31) / 32 * 32);
  const size_t memory = (size_t)p->group * (size_t)(lines * (n + 1)) * tesi_precision_size(p->precision);
  p->shared = memory <= SHARED_MOST && !getenv("TESSERA_PATCH_GLOBAL") /* for tests */ ? memory : 0;
  const int single = p->precision == TES_SINGLE;
  const TesiProgramDesc desc = {.file = "dg_patch.cu",
                                .real = p->precision,
                                .macros = {{"DIM", space->dim},
                                           {"N", space->degree + 1},
                                           {"PATCHES", p->group},
                                           {"THREADS", (int)p->threads},
                                           {"MIN_BLOCKS", (space->degree + 1) <= (single ? 8 : 4) ? 2 : 1},
                                           {"GLOBAL_WORK", !p->shared}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_dg_patch", p->shared, &p->kernel));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_dg_sweep", p->shared, &p->sweep));
  if (!p->shared) TES_TRY(tesi_context_device(ctx)->allocate(ctx, WAVE * memory, &p->work));
done:
  return status;
}

TesStatus tesi_dg_patches_create(const TesOperator *op, TesPrecision precision,
                                 const TesiStokesPatchAxis axis[3], int (*vertex)[3], int count, bool closed,
                                 TesiDgPatches **patches) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TesiDgPatches *p = NULL;
  *patches = NULL;
  TES_NEW(&p);
  p->precision = precision;
  p->alpha = s->alpha;
  p->arguments.closed = closed;
  for (int d = 0; d < 3; d++) {
    p->arguments.extent[d] = s->space->axis[d].nodes;
    if (d < s->space->dim) TES_TRY(upload_kinds(ctx, s, &axis[d], d, p));
  }
  TES_TRY(upload_patches(ctx, axis, vertex, count, p));
  p->arguments.patch = p->patch;
  TES_TRY(get_kernel(ctx, s->space, p));
  *patches = p;
  p = NULL;
done:
  tesi_dg_patches_destroy(ctx, &p);
  return status;
}

void tesi_dg_patches_destroy(TesContext *ctx, TesiDgPatches **patches) {
  TesiDgPatches *p = *patches;
  const TesiDevice *device = tesi_context_device(ctx);
  if (!p) return;
  for (int d = 0; d < 3; d++) device->release(ctx, &p->table[d]);
  for (int d = 0; d < 3; d++) device->release(ctx, &p->numbers[d]);
  device->release(ctx, &p->rest);
  tesi_free(ctx, &p->colour);
  device->release(ctx, &p->patch);
  device->release(ctx, &p->work);
  tesi_free(ctx, patches);
}

TesStatus tesi_dg_patches_solve(TesContext *ctx, const TesiDgPatches *p, int first, int count, const void *r,
                                void *x) {
  TesStatus status = TES_OK;
  const int step = p->shared ? count : WAVE * p->group;
  TeskDgPatches arguments = p->arguments;
  double alpha = p->alpha;
  float single = (float)alpha;
  void *work = p->work;
  for (int i = 0; i < count; i += step) {
    int here = tesi_min(step, count - i);
    arguments.patch = (const TeskDgPatch *)p->patch + first + i;
    void *const of_kernel[] = {
        &arguments, &here, p->precision == TES_SINGLE ? (void *)&single : (void *)&alpha, &r, &x, &work};
    TES_TRY(tesi_kernel_launch(ctx, &p->kernel, (TesiGrid){(unsigned)((here + p->group - 1) / p->group), 1, 1},
                               p->threads, p->shared, (void **)of_kernel));
  }
done:
  return status;
}

/* ---- sweeps -------------------------------------------------------------------------------------------- */

static void cover(const TesSpace *space, const int vertex[3], bool *covered) {
  for (int j = 0; j < 1 << space->dim; j++) {
    int cell = 0;
    for (int d = space->dim - 1; d >= 0; d--)
      cell = cell * space->axis[d].cells + (vertex[d] + (j >> d & 1)) % space->axis[d].cells;
    covered[cell] = true;
  }
}

/* Cells of all colours: x, y, z of each cell, one after the other. */
static TesStatus list_rest(TesContext *ctx, const TesSpace *space, int (*vertex)[3], TesiDgPatches *p) {
  TesStatus status = TES_OK;
  const int nx = space->axis[0].cells, ny = space->axis[1].cells, all = nx * ny * space->axis[2].cells;
  bool *covered = NULL;
  int *rest = NULL, cells = 0;
  TES_ALLOC(&covered, all);
  TES_ALLOC(&rest, 3 * (int64_t)all * p->colours);
  for (int i = 0; i < p->colours; i++) {
    Colour *c = &p->colour[i];
    memset(covered, 0, (size_t)all * sizeof *covered);
    for (int v = c->first; v < c->first + c->count; v++) cover(space, vertex[v], covered);
    c->rest = cells;
    for (int cell = 0; cell < all; cell++) {
      if (covered[cell]) continue;
      int *const to = rest + 3 * (int64_t)cells++;
      to[0] = cell % nx, to[1] = cell / nx % ny, to[2] = cell / nx / ny;
    }
    c->cells = cells - c->rest;
  }
  TES_TRY(tesi_upload(ctx, rest, (size_t)tesi_max(3 * cells, 1) * sizeof *rest, &p->rest));
done:
  tesi_free(ctx, &covered);
  tesi_free(ctx, &rest);
  return status;
}

static TesStatus upload_cells(const TesOperator *op, TesiDgPatches *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const int count = tesi_stokes_faces_modes(s->space->degree + 1, p->modes);
  for (int i = 0; i < count && p->precision == TES_SINGLE; i++) {
    const float narrow = (float)p->modes[i];
    memcpy((float *)p->modes + i, &narrow, sizeof narrow);
  }
  p->cells.alpha = s->alpha;
  p->size = 1;
  for (int d = 0; d < 3; d++) {
    p->cells.cells[d] = s->space->axis[d].cells;
    p->cells.periodic[d] = s->space->axis[d].periodic;
    if (d >= s->space->dim) continue;
    p->size *= s->space->degree + 1;
    TES_TRY(tesi_stokes_faces_upload(op, d, &p->numbers[d]));
    p->cells.numbers[d] = p->numbers[d];
  }
done:
  return status;
}

TesStatus tesi_dg_patches_prepare(const TesOperator *op, const TesiStokesPatchAxis axis[3], int (*vertex)[3],
                                  int colours, const int *first, TesiDgPatches *p, bool *serves) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  *serves = p->shared > 0;
  for (int d = 0; d < 3; d++) *serves = *serves && !axis[d].ring_of_two;
  if (!*serves) return TES_OK;
  p->colours = colours;
  TES_ALLOC(&p->colour, colours);
  for (int c = 0; c < colours; c++)
    p->colour[c] = (Colour){.first = first[c], .count = first[c + 1] - first[c]};
  TES_TRY(list_rest(ctx, tesi_stokes_of(op)->space, vertex, p));
  TES_TRY(upload_cells(op, p));
done:
  return status;
}

TesStatus tesi_dg_patches_sweep(TesContext *ctx, const TesiDgPatches *p, int colour, const void *x,
                                const void *b, void *y) {
  const Colour *c = &p->colour[colour];
  const double copied = (double)c->cells * p->size;
  TeskDgPatches arguments = p->arguments;
  TeskDg cells = p->cells;
  int count = c->count, rest_cells = c->cells;
  const int *rest = (const int *)p->rest + 3 * (int64_t)c->rest;
  const int groups = (count + p->group - 1) / p->group,
            copying = copied > 0 ? 1 + (int)(copied / (COPIED * (double)p->threads)) : 0;
  arguments.patch = (const TeskDgPatch *)p->patch + c->first;
  void *const of_kernel[] = {&arguments, &cells, (void *)p->modes, &count, &rest, &rest_cells, &x, &b, &y};
  return tesi_kernel_launch(ctx, &p->sweep, (TesiGrid){(unsigned)(groups + copying), 1, 1}, p->threads,
                            p->shared, (void **)of_kernel);
}
