/* Compares cell patches (src/smoother/cell_patch) with the operator that they smooth and with a copy, on uniformly
 * refined balls. Prints milliseconds, unknowns per second, and the ratio to the floor. The floor is the time for
 * their bytes of main memory at the rate of a copy, which is measured here too.
 * bench_cell_patch [--device D] [--threads N] [--dim D] [--degree K[:K]] [--dofs N] [--precision single|double]
 * [--sums ordered|atomics] [--csv FILE] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"
#include "device/device.h"
#include "smoother/cell_patch/cell_patch.h"

static TesContext *ctx;

static void must(TesStatus status) {
  bench_must(ctx, status);
}

typedef struct Options {
  const char *device, *csv, *sums;
  int threads, dim, from, to;
  double dofs;
  TesPrecision precision;
} Options;

typedef struct Subject {
  TesOperator *op;
  TesiCellPatches *patches;
  TesVector *r, *z;
} Subject;

enum { PATCHES, APPLY, COPY, KINDS };

static void run(const Subject *s, int what) {
  if (what == PATCHES) must(tesi_cell_patches_apply(s->patches, s->r->data, s->z->data));
  if (what == APPLY) must(tes_operator_apply(s->op, s->r, s->z));
  if (what == COPY) must(tes_vector_copy(s->r, 1, s->z));
}

static int by_value(const void *a, const void *b) {
  const double d = *(const double *)a - *(const double *)b;
  return (d > 0) - (d < 0);
}

/* Seconds of one run: the median of nine batches of 20 ms; batches of all kinds take turns. */
static void time_all(const Subject *s, double seconds[KINDS]) {
  enum { BATCHES = 9 };
  const TesiDevice *device = tesi_context_device(ctx);
  double batch[KINDS][BATCHES];
  int times[KINDS];
  for (int i = 0; i < KINDS; i++) {
    run(s, i);
    must(device->synchronize(ctx));
    const double start = tesi_now();
    run(s, i);
    must(device->synchronize(ctx));
    times[i] = 1 + (int)(0.02 / (tesi_now() - start));
  }
  for (int b = 0; b < BATCHES; b++)
    for (int i = 0; i < KINDS; i++) {
      const double start = tesi_now();
      for (int t = 0; t < times[i]; t++) run(s, i);
      must(device->synchronize(ctx));
      batch[i][b] = (tesi_now() - start) / times[i];
    }
  for (int i = 0; i < KINDS; i++) {
    qsort(batch[i], BATCHES, sizeof *batch[i], by_value);
    seconds[i] = batch[i][BATCHES / 2];
  }
}

static TesVector *make(int64_t n, TesPrecision precision) {
  TesVector *v;
  uint64_t seed = 1;
  double *values = malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    values[i] = (double)(int32_t)(seed >> 32) / 2147483648.0;
  }
  must(tes_vector_create(ctx, n, precision, &v));
  must(tes_vector_set(v, values));
  free(values);
  return v;
}

static void measure(const Options *o, int degree) {
  TesMesh *forest;
  TesSpace *space;
  TesFunction *a;
  Subject s;
  double t[KINDS];
  const double trees = o->dim == 3 ? 7 : 5,
               level = log2(o->dofs / trees / pow(degree, o->dim)) / o->dim; /* of the ball */
  must(tes_mesh_create(
      ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = o->dim, .refine = (int)fmax(0, lrint(level))},
      &forest));
  must(tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = degree}, &space));
  must(tes_function_create_expression(ctx, "1 / (0.05 + 2*(x*x + y*y + z*z))", &a));
  must(tes_operator_create(ctx,
                           &(TesOperatorDesc){.space = space,
                                              .form = {.terms = 1, .term = &(TesTermDesc){.a = {.all = a}}},
                                              .precision = o->precision},
                           &s.op));
  const double start = tesi_now();
  must(tesi_cell_patches_create(s.op, &s.patches));
  const double setup = tesi_now() - start, n = (double)tes_operator_info(s.op).length;
  s.r = make(tes_operator_info(s.op).length, o->precision);
  s.z = make(tes_operator_info(s.op).length, o->precision);
  time_all(&s, t);
  const double bytes = tesi_cell_patches_cost(s.patches).bytes,
               rate = 2 * n * (double)tesi_precision_size(o->precision) / t[COPY];
  char line[300];
  snprintf(line, sizeof line, "%d,%d,%s,%s,%lld,%.0f,%.4f,%.1f,%.1f,%.2f,%.4f,%.4f,%.2f", o->dim, degree,
           o->precision == TES_DOUBLE ? "double" : "single", o->sums, (long long)tes_mesh_info(forest).cells,
           n, 1e3 * t[PATCHES], 1e-6 * n / t[PATCHES], bytes / n, t[PATCHES] * rate / bytes, 1e3 * t[APPLY],
           1e3 * t[COPY], setup);
  puts(line);
  fflush(stdout);
  FILE *file = o->csv ? fopen(o->csv, "a") : NULL;
  if (file) fprintf(file, "%s\n", line), fclose(file);
  tes_vector_destroy(&s.r);
  tes_vector_destroy(&s.z);
  tesi_cell_patches_destroy(&s.patches);
  tes_operator_destroy(&s.op);
  tes_function_destroy(&a);
  tes_space_destroy(&space);
  tes_mesh_destroy(&forest);
}

static bool parse(int argc, char **argv, Options *o) {
  const char *precision = "single";
  const BenchOption options[] = {{"--device", .text = &o->device},
                                 {"--csv", .text = &o->csv},
                                 {"--threads", .number = &o->threads},
                                 {"--dim", .number = &o->dim},
                                 {"--degree", .number = &o->from, .last = &o->to},
                                 {"--dofs", .real = &o->dofs},
                                 {"--sums", .text = &o->sums},
                                 {"--precision", .text = &precision},
                                 {.name = NULL}};
  if (!bench_read(argc, argv, options)) return false;
  o->precision = !strcmp(precision, "double") ? TES_DOUBLE : TES_SINGLE;
  if (!strcmp(o->sums, "ordered") || !strcmp(o->sums, "atomics")) return true;
  return fprintf(stderr, "--sums ordered or atomics, not %s\n", o->sums), false;
}

int main(int argc, char **argv) {
  static const char names[] = "dim,degree,precision,sums,cells,dofs,patches_ms,mdofs_per_s,bytes_per_dof,"
                              "times_floor,apply_ms,copy_ms,setup_s";
  Options o = {
      .device = "cpu", .sums = "ordered", .dim = 3, .from = 1, .to = 8, .dofs = 1e6, .precision = TES_SINGLE};
  char message[2048];
  if (!parse(argc, argv, &o)) return 2;
  const TesContextDesc desc = {
      .device = o.device, .threads = o.threads, .unordered = !strcmp(o.sums, "atomics")};
  if (tes_context_create(&desc, &ctx, message, sizeof message) != TES_OK)
    return fprintf(stderr, "%s\n", message), 3;
  puts(names);
  FILE *file = o.csv ? fopen(o.csv, "w") : NULL;
  if (file) fprintf(file, "%s\n", names), fclose(file);
  for (int k = o.from; k <= o.to; k++) measure(&o, k);
  tes_context_destroy(&ctx);
  return 0;
}
