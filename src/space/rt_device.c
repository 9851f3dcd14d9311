#include "space/rt_device.h"
#include <limits.h>
#include <math.h>
#include <string.h>
#include "device/kernel.h"
#include "device/upload.h"
#include "device/vector.h"

enum { THREADS = 256, BLOCKS = 1024 };

int64_t tesi_rt_largest(const TesiRt *rt) {
  int64_t most = 0;
  for (int p = 0; p < rt->parts; p++) most = tesi_rt_size(rt, p) > most ? tesi_rt_size(rt, p) : most;
  return most;
}

TesStatus tesi_rt_parts(TesContext *ctx, const TesiRt *rt, TeskParts *parts) {
  TesStatus status = TES_OK;
  TES_CHECK(tesi_rt_largest(rt) < INT_MAX, "a component has %lld unknowns, kernels number at most %d of them",
            (long long)tesi_rt_largest(rt), INT_MAX);
  *parts = (TeskParts){.dim = rt->dim};
  memcpy(parts->extent, rt->extent, sizeof parts->extent);
  for (int p = 0; p <= rt->parts; p++) parts->offset[p] = rt->offset[p];
done:
  return status;
}

static TesiGrid grid_of(int64_t count) {
  const int64_t blocks = (count + THREADS - 1) / THREADS;
  return (TesiGrid){(unsigned)(blocks < BLOCKS ? blocks : BLOCKS), 1, 1};
}

/* ---- known nodes --------------------------------------------------------------------------------------- */

int tesi_rt_known(const TesiRt *rt, TesiRtRuns runs[6]) {
  int ends = 0;
  for (int i = 0; i < rt->dim; i++) {
    const TesiRtAxis *a = &rt->axis[i];
    int64_t inner = 1;
    for (int d = 0; d < i; d++) inner *= rt->extent[i][d];
    for (int end = 0; end < 2 && !a->periodic && tesi_rt_size(rt, i) > 0; end++) {
      if (!a->normal[end]) continue;
      runs[ends++] = (TesiRtRuns){.first = rt->offset[i] + (end ? a->nodes - 1 : 0) * inner,
                                  .count = tesi_rt_size(rt, i) / (inner * a->nodes),
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

void tesi_rt_clear(const TesiRt *rt, double *v) {
  TesiRtRuns runs[6];
  const int ends = tesi_rt_known(rt, runs);
  for (int e = 0; e < ends; e++) clear(&runs[e], sizeof *v, (char *)v);
}

TesStatus tesi_rt_clear_on(TesContext *ctx, const TesiRt *rt, TesPrecision precision, void *v) {
  TesStatus status = TES_OK;
  const size_t size = tesi_precision_size(precision);
  TesiRtRuns runs[6];
  const int ends = tesi_rt_known(rt, runs);
  TesiProgram *program;
  TesiKernel kernel;
  for (int e = 0; e < ends && !tesi_has_kernels(ctx); e++) clear(&runs[e], size, v);
  if (!tesi_has_kernels(ctx) || ends == 0) return TES_OK;
  const TesiProgramDesc desc = {.file = "rt_known.cu",
                                .options = {precision == TES_SINGLE ? "real=float" : "real=double"}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_rt_clear", 0, &kernel));
  for (int e = 0; e < ends; e++) {
    TesiRtRuns *r = &runs[e];
    void *first = (char *)v + (size_t)r->first * size;
    void *arguments[] = {&first, &r->count, &r->length, &r->stride};
    TES_TRY(tesi_kernel_launch(ctx, &kernel, grid_of(r->count * r->length), THREADS, 0, arguments));
  }
done:
  return status;
}

/* ---- the constant pressure ----------------------------------------------------------------------------- */

static int64_t pressures(const TesiRt *rt) {
  return (int64_t)rt->axis[0].modes * rt->axis[1].modes * rt->axis[2].modes;
}

static void fill_constant(const TesiRt *rt, double *const factor[3], double *p) {
  for (int z = 0; z < rt->axis[2].modes; z += rt->axis[2].n)
    for (int y = 0; y < rt->axis[1].modes; y += rt->axis[1].n)
      for (int x = 0; x < rt->axis[0].modes; x += rt->axis[0].n)
        p[x + rt->axis[0].modes * (y + (int64_t)rt->axis[1].modes * z)] =
            factor[0][x] * factor[1][y] * factor[2][z];
}

static TesStatus launch_constant(TesContext *ctx, const TesiRt *rt, double *const factor[3], double *p) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  TesiKernel kernel;
  void *of[3] = {NULL};
  long long modes[3];
  double scale = 1, beta = 0;
  for (int d = 0; d < 3; d++) {
    modes[d] = rt->axis[d].modes;
    TES_TRY(tesi_upload(ctx, factor[d], (size_t)modes[d] * sizeof *factor[d], &of[d]));
  }
  const TesiProgramDesc desc = {.file = "outer.cu", .options = {"real=double"}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_outer", 0, &kernel));
  void *arguments[] = {&p, &of[0], &of[1], &of[2], &modes[0], &modes[1], &modes[2], &scale, &beta};
  TES_TRY(tesi_kernel_launch(ctx, &kernel, grid_of(pressures(rt)), THREADS, 0, arguments));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  for (int d = 0; d < 3; d++) tesi_context_device(ctx)->release(ctx, &of[d]);
  return status;
}

TesStatus tesi_rt_constant_on(TesContext *ctx, const TesiRt *rt, double *p, double *square) {
  TesStatus status = TES_OK;
  double *factor[3] = {NULL};
  *square = 1;
  for (int d = 0; d < 3; d++) {
    const TesiRtAxis *a = &rt->axis[d];
    double length = 0;
    TES_ALLOC(&factor[d], a->modes);
    for (int c = 0; c < a->cells; c++) {
      const double h = d < rt->dim ? a->h[c] : 1;
      factor[d][c * a->n] = sqrt(h);
      length += h;
    }
    *square *= length;
  }
  if (tesi_has_kernels(ctx))
    TES_TRY(launch_constant(ctx, rt, factor, p));
  else
    fill_constant(rt, factor, p);
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &factor[d]);
  return status;
}
