/* Compares transfers between spaces with hanging nodes with the operator of the fine space, on balls refined round a
 * sphere. Prints milliseconds, and the share of the transfers in one level of a V-cycle with two Chebyshev smoothings
 * of degree 5 (10 applications).
 * bench_forest_transfer [--device D] [--threads N] [--dim D] [--degree K[:K]] [--base LEVEL] [--depth N]
 * [--precision single|double] [--csv FILE] Floor: the bytes of prolongation with addition and of restriction, each
 * array once (fine values, who writes them, the coarse cells), at the rate of a copy of the fine vector, measured
 * here too. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"
#include "device/kernel.h"
#include "device/vector.h"
#include "tessera/tessera.h"

static TesContext *ctx;

static void must(TesStatus status) {
  bench_must(ctx, status);
}

typedef struct Options {
  const char *device, *csv;
  int threads, dim, from, to, base, depth;
  TesPrecision precision;
} Options;

typedef struct Subject {
  TesTransfer *transfer;
  TesOperator *op;
  TesVector *coarse, *fine, *other;
} Subject;

enum { PROLONGATE, RESTRICT, APPLY, COPY, KINDS };

static void run(const Subject *s, int what) {
  if (what == PROLONGATE) must(tes_transfer_prolongate(s->transfer, s->coarse, true, s->fine));
  if (what == RESTRICT) must(tes_transfer_restrict(s->transfer, s->fine, s->coarse));
  if (what == APPLY) must(tes_operator_apply(s->op, s->fine, s->other));
  if (what == COPY) must(tes_vector_copy(s->fine, 1, s->other));
}

/* Seconds of one run: the smallest of five batches of 20 ms; batches of all kinds take turns. */
static void time_all(const Subject *s, double seconds[KINDS]) {
  const TesiDevice *device = tesi_context_device(ctx);
  int times[KINDS];
  for (int i = 0; i < KINDS; i++) {
    run(s, i);
    must(device->synchronize(ctx));
    const double start = tesi_now();
    run(s, i);
    must(device->synchronize(ctx));
    times[i] = 1 + (int)(0.02 / (tesi_now() - start));
    seconds[i] = INFINITY;
  }
  for (int batch = 0; batch < 5; batch++)
    for (int i = 0; i < KINDS; i++) {
      const double start = tesi_now();
      for (int t = 0; t < times[i]; t++) run(s, i);
      must(device->synchronize(ctx));
      seconds[i] = fmin(seconds[i], (tesi_now() - start) / times[i]);
    }
}

static TesVector *make(int64_t n, TesPrecision precision) {
  TesVector *v;
  must(tes_vector_create(ctx, n, precision, &v));
  must(tes_vector_fill(v, 1e-3));
  return v;
}

static void measure(const Options *o, int degree, const TesMesh *fine, const TesMesh *coarse) {
  TesSpace *f, *c;
  TesFunction *a;
  Subject s;
  double t[KINDS];
  must(tes_space_create(ctx, &(TesSpaceDesc){.mesh = fine, .degree = degree}, &f));
  must(tes_space_create(ctx, &(TesSpaceDesc){.mesh = coarse, .degree = degree}, &c));
  must(tes_function_create_expression(ctx, "1 / (0.05 + 2*(x*x + y*y + z*z))", &a));
  must(tes_operator_create(ctx,
                           &(TesOperatorDesc){.space = f,
                                              .form = {.terms = 1, .term = &(TesTermDesc){.a = {.all = a}}},
                                              .precision = o->precision},
                           &s.op));
  must(tes_transfer_create(ctx, &(TesTransferDesc){.coarse = c, .fine = f, .precision = o->precision},
                           &s.transfer));
  s.coarse = make(tes_space_length(c), o->precision);
  s.fine = make(tes_space_length(f), o->precision);
  s.other = make(tes_space_length(f), o->precision);
  time_all(&s, t);
  const double size = (double)tesi_precision_size(o->precision), n = (double)tes_space_length(f),
               m = (double)tes_space_length(c), nodes = pow(degree + 1, o->dim),
               own = 4 * nodes * (double)tes_mesh_info(fine).cells,
               cells = nodes * (double)tes_mesh_info(coarse).cells,
               up = 2 * n * size + own + cells * 4 + m * size,
               down = n * size + own + cells * (4 + 2 * size) + m * (4 + size), rate = 2 * n * size / t[COPY];
  char line[300];
  snprintf(line, sizeof line, "%d,%d,%s,%.0f,%.0f,%.2f,%.4f,%.2f,%.4f,%.2f,%.4f,%.4f,%.1f", o->dim, degree,
           o->precision == TES_DOUBLE ? "double" : "single", n, m,
           100 * (double)tes_space_hanging(f) / (n + (double)tes_space_hanging(f)), 1e3 * t[PROLONGATE],
           t[PROLONGATE] * rate / up, 1e3 * t[RESTRICT], t[RESTRICT] * rate / down, 1e3 * t[APPLY],
           1e3 * t[COPY], 100 * (t[PROLONGATE] + t[RESTRICT]) / (t[PROLONGATE] + t[RESTRICT] + 10 * t[APPLY]));
  puts(line);
  fflush(stdout);
  FILE *file = o->csv ? fopen(o->csv, "a") : NULL;
  if (file) fprintf(file, "%s\n", line), fclose(file);
  TesVector **all[] = {&s.coarse, &s.fine, &s.other};
  for (int i = 0; i < 3; i++) tes_vector_destroy(all[i]);
  tes_transfer_destroy(&s.transfer);
  tes_operator_destroy(&s.op);
  tes_function_destroy(&a);
  tes_space_destroy(&f);
  tes_space_destroy(&c);
}

static bool parse(int argc, char **argv, Options *o) {
  const char *precision = "single";
  const BenchOption options[] = {{"--device", .text = &o->device},
                                 {"--csv", .text = &o->csv},
                                 {"--threads", .number = &o->threads},
                                 {"--dim", .number = &o->dim},
                                 {"--degree", .number = &o->from, .last = &o->to},
                                 {"--base", .number = &o->base},
                                 {"--depth", .number = &o->depth},
                                 {"--precision", .text = &precision},
                                 {.name = NULL}};
  if (!bench_read(argc, argv, options)) return false;
  o->precision = !strcmp(precision, "double") ? TES_DOUBLE : TES_SINGLE;
  return true;
}

int main(int argc, char **argv) {
  Options o = {.device = "cpu", .dim = 3, .from = 1, .to = 8, .base = 2, .depth = 2};
  char message[2048];
  TesMesh *fine, *coarse;
  if (!parse(argc, argv, &o)) return 2;
  if (tes_context_create(&(TesContextDesc){.device = o.device, .threads = o.threads}, &ctx, message,
                         sizeof message) != TES_OK)
    return fprintf(stderr, "%s\n", message), 3;
  must(tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = o.dim, .refine = o.base}, &fine));
  for (int t = 0; t < o.depth; t++) fine = bench_refine(ctx, fine);
  must(tes_mesh_coarsen(fine, &coarse));
  puts("dim,degree,precision,fine_nodes,coarse_nodes,hanging_percent,prolongate_ms,prolongate_times_floor,"
       "restrict_ms,restrict_times_floor,apply_ms,copy_ms,transfer_percent_of_level");
  for (int k = o.from; k <= o.to; k++) measure(&o, k, fine, coarse);
  tes_mesh_destroy(&fine);
  tes_mesh_destroy(&coarse);
  tes_context_destroy(&ctx);
  return 0;
}
