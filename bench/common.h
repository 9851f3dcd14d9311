/* Functions that the benches share: ends on errors, options, the comparison of results, cells round a sphere. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mesh/mesh.h"
#include "tessera/tessera.h"

/* Ends the program with the message and the exit status of a failed call. */
static inline void bench_must(TesContext *ctx, TesStatus status) {
  if (status == TES_OK) return;
  fprintf(stderr, "%s\n%s", tes_context_message(ctx), tes_context_trace(ctx));
  exit(tes_status_exit(status));
}

/* max |a - b| / max |b|; NaN if any number is NaN. */
static inline double bench_difference(TesContext *ctx, const TesVector *a, const TesVector *b) {
  const int64_t n = tes_vector_length(a);
  double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y), error = 0, largest = 0;
  bench_must(ctx, tes_vector_get(a, x));
  bench_must(ctx, tes_vector_get(b, y));
  for (int64_t i = 0; i < n && !isnan(error); i++) {
    if (!(fabs(x[i] - y[i]) <= error)) error = fabs(x[i] - y[i]);
    if (fabs(y[i]) > largest) largest = fabs(y[i]);
  }
  free(x);
  free(y);
  return error / largest;
}

/* An option and the destination of its value: a text, a number (or two, "K:K"; without the second it equals the
 * first), or a real number. */
typedef struct BenchOption {
  const char *name;
  const char **text;
  int *number, *last;
  double *real;
} BenchOption;

/* Reads pairs of options and values; a name of NULL ends `options`. False, with a line on stderr: an option is
 * unknown or its value is missing. */
static inline bool bench_read(int argc, char **argv, const BenchOption *options) {
  for (int i = 1; i < argc; i += 2) {
    const BenchOption *o = options;
    while (o->name && strcmp(o->name, argv[i]) != 0) o++;
    if (!o->name || i + 1 == argc) return fprintf(stderr, "unknown option or no value: %s\n", argv[i]), false;
    const char *const value = argv[i + 1], *const colon = strchr(value, ':');
    if (o->text) *o->text = value;
    if (o->number) *o->number = atoi(value);
    if (o->last) *o->last = atoi(colon ? colon + 1 : value);
    if (o->real) *o->real = atof(value);
  }
  return true;
}

/* Whether the sphere of this radius about (0.1, -0.05, 0.07) cuts the cell. No face of a ball's mesh lies on such a
 * sphere. */
static inline bool bench_cuts(const TesMesh *forest, int64_t cell, double radius) {
  const int dim = tes_mesh_info(forest).dim;
  double xi[24], x[24], least = INFINITY, most = 0;
  for (int v = 0; v < 1 << dim; v++)
    for (int d = 0; d < dim; d++) xi[v * dim + d] = v >> d & 1;
  tesi_mesh_map(forest, cell, 1 << dim, xi, x);
  for (int v = 0; v < 1 << dim; v++) {
    const double *p = x + v * dim, r = hypot(hypot(p[0] - 0.1, p[1] + 0.05), dim == 3 ? p[2] - 0.07 : 0);
    least = fmin(least, r), most = fmax(most, r);
  }
  return least < radius && most > radius;
}

/* The forest, with the cells that the sphere of radius 0.55 cuts refined once more. The given forest is destroyed. */
static inline TesMesh *bench_refine(TesContext *ctx, TesMesh *forest) {
  TesMesh *next;
  const int64_t cells = tes_mesh_info(forest).cells;
  int8_t *mark = malloc((size_t)cells);
  for (int64_t c = 0; c < cells; c++) mark[c] = bench_cuts(forest, c, 0.55);
  bench_must(ctx, tes_mesh_adapt(forest, mark, &next));
  free(mark);
  tes_mesh_destroy(&forest);
  return next;
}

#endif
