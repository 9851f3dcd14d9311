#include "space/rt_device.h"
#include <limits.h>
#include <math.h>
#include <string.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "device/vector.h"

enum { THREADS = 256, BLOCKS = 1024 };

int64_t tesi_rt_largest(const TesSpace *space) {
  int64_t most = 0;
  for (int p = 0; p < space->scalars; p++)
    most = space->scalar[p]->length > most ? space->scalar[p]->length : most;
  return most;
}

TesStatus tesi_rt_parts(TesContext *ctx, const TesSpace *space, TeskParts *parts) {
  TesStatus status = TES_OK;
  TES_CHECK(tesi_rt_largest(space) < INT_MAX,
            "a component has %lld unknowns, kernels number at most %d of them",
            (long long)tesi_rt_largest(space), INT_MAX);
  *parts = (TeskParts){.dim = space->dim};
  for (int p = 0; p < space->scalars; p++) {
    const int to = space->dim + 1 - space->scalars + p;
    for (int d = 0; d < 3; d++) parts->extent[to][d] = space->scalar[p]->axis[d].nodes;
    parts->offset[to + 1] = space->first[p + 1];
  }
done:
  return status;
}

/* ---- known nodes --------------------------------------------------------------------------------------- */

int tesi_rt_known(const TesSpace *space, TesiRtRuns runs[6]) {
  int ends = 0;
  for (int i = 0; i < space->dim && space->element->with_pressure; i++) {
    const TesiAxis *a = tesi_nodal(space, i);
    int64_t inner = 1;
    for (int d = 0; d < i; d++) inner *= space->scalar[i]->axis[d].nodes;
    for (int end = 0; end < 2; end++) {
      if (a->end[end] != TESI_STRONG) continue;
      runs[ends++] = (TesiRtRuns){.first = space->first[i] + (end ? a->nodes - 1 : 0) * inner,
                                  .count = space->scalar[i]->length / (inner * a->nodes),
                                  .length = inner,
                                  .stride = inner * a->nodes};
    }
  }
  return ends;
}

static void clear(const TesiRtRuns *r, size_t size, char *v) {
  for (int64_t i = 0; i < r->count; i++)
    memset(v + (size_t)(r->first + i * r->stride) * size, 0, (size_t)r->length * size);
}

void tesi_rt_clear(const TesSpace *space, double *v) {
  TesiRtRuns runs[6];
  const int ends = tesi_rt_known(space, runs);
  for (int e = 0; e < ends; e++) clear(&runs[e], sizeof *v, (char *)v);
}

TesStatus tesi_rt_clear_on(TesContext *ctx, const TesSpace *space, TesPrecision precision, void *v) {
  TesStatus status = TES_OK;
  const size_t size = tesi_precision_size(precision);
  TesiRtRuns runs[6];
  const int ends = tesi_rt_known(space, runs);
  TesiProgram *program;
  TesiKernel kernel;
  for (int e = 0; e < ends && !tesi_has_kernels(ctx); e++) clear(&runs[e], size, v);
  if (!tesi_has_kernels(ctx) || ends == 0) return TES_OK;
  const TesiProgramDesc desc = {.file = "rt_known.cu", .real = precision};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_rt_clear", 0, &kernel));
  for (int e = 0; e < ends; e++) {
    TesiRtRuns *r = &runs[e];
    void *first = (char *)v + (size_t)r->first * size;
    void *arguments[] = {&first, &r->count, &r->length, &r->stride};
    TES_TRY(tesi_kernel_launch(ctx, &kernel, tesi_grid_most(r->count * r->length, THREADS, BLOCKS), THREADS,
                               0, arguments));
  }
done:
  return status;
}

/* ---- the constant pressure ----------------------------------------------------------------------------- */

static void fill_constant(const TesSpace *space, double *const factor[3], double *p) {
  const TesiAxis *a = tesi_space_last(space)->axis;
  for (int z = 0; z < a[2].nodes; z += a[2].step)
    for (int y = 0; y < a[1].nodes; y += a[1].step)
      for (int x = 0; x < a[0].nodes; x += a[0].step)
        p[x + a[0].nodes * (y + (int64_t)a[1].nodes * z)] = factor[0][x] * factor[1][y] * factor[2][z];
}

static TesStatus launch_constant(TesContext *ctx, const TesSpace *space, double *const factor[3], double *p) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  TesiKernel kernel;
  void *of[3] = {NULL};
  long long modes[3];
  double scale = 1, beta = 0;
  for (int d = 0; d < 3; d++) {
    modes[d] = tesi_modal(space, d)->nodes;
    TES_TRY(tesi_upload(ctx, factor[d], (size_t)modes[d] * sizeof *factor[d], &of[d]));
  }
  const TesiProgramDesc desc = {.file = "outer.cu"};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_outer", 0, &kernel));
  void *arguments[] = {&p, &of[0], &of[1], &of[2], &modes[0], &modes[1], &modes[2], &scale, &beta};
  TES_TRY(tesi_kernel_launch(ctx, &kernel, tesi_grid_most(tesi_space_last(space)->length, THREADS, BLOCKS),
                             THREADS, 0, arguments));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  for (int d = 0; d < 3; d++) tesi_context_device(ctx)->release(ctx, &of[d]);
  return status;
}

TesStatus tesi_rt_constant_on(TesContext *ctx, const TesSpace *space, double *p, double *square) {
  TesStatus status = TES_OK;
  double *factor[3] = {NULL};
  *square = 1;
  for (int d = 0; d < 3; d++) {
    const TesiAxis *a = tesi_modal(space, d);
    double length = 0;
    TES_ALLOC(&factor[d], a->nodes);
    for (int c = 0; c < a->cells; c++) {
      const double h = d < space->dim ? a->h[c] : 1;
      factor[d][c * a->step] = sqrt(h);
      length += h;
    }
    *square *= length;
  }
  tesi_reduce(ctx, TESI_SUM, 1, square);
  if (tesi_has_kernels(ctx))
    TES_TRY(launch_constant(ctx, space, factor, p));
  else
    fill_constant(space, factor, p);
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &factor[d]);
  return status;
}
