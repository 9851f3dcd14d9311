/* The cost of varying coefficients: kernels of the quadrature form, and whole solves.
 * bench_varying [--device D] [--what apply,solve] [--dim 2 or 3, of apply] [--degree K, all without it] [--dofs N]
 * [--csv FILE] a = 1/(0.05 + 2 (x^2 + y^2 + z^2)) on the unit cube. apply: dimension, degree, precision, cells,
 * unknowns, ps per dof (median of 5), GB/s of the least traffic, error against the plain version on a small box.
 * solve: degree, cells, unknowns, seconds of set-up and solve (best of
 * 3), iterations, residual, nanoseconds per dof; the default solver, tolerance 1e-9, mixed precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"
#include "device/vector.h"
#include "tessera/tessera.h"
#include "operator/operator.h"

enum { RUNS = 5 };

static const char *device_name = "cuda";
static FILE *csv;
static TesContext *ctx;

static void must(TesStatus status) {
  bench_must(ctx, status);
}

static void open_context(void) {
  char message[2048];
  if (tes_context_create(&(TesContextDesc){.device = device_name}, &ctx, message, sizeof message) == TES_OK)
    return;
  fprintf(stderr, "%s\n", message);
  exit(3);
}

static double synchronized_now(void) {
  must(tesi_context_device(ctx)->synchronize(ctx));
  return tesi_now();
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static TesOperator *make_operator(int dim, int degree, int cells, TesPrecision precision, TesSpace **space) {
  TesMesh *mesh;
  TesFunction *a;
  TesOperator *op;
  must(tes_mesh_create(ctx, &(TesMeshDesc){.dim = dim, .cells = {cells, cells, cells}}, &mesh));
  must(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree}, space));
  must(tes_function_create_expression(ctx, "1/(0.05 + 2*(x*x + y*y + z*z))", &a));
  must(tes_operator_create(ctx,
                           &(TesOperatorDesc){.space = *space,
                                              .form = {.terms = 1, .term = &(TesTermDesc){.a = {.all = a}}},
                                              .precision = precision},
                           &op));
  tes_function_destroy(&a);
  tes_mesh_destroy(&mesh);
  return op;
}

static TesVector *make_vector(const TesSpace *space, TesPrecision precision, bool random) {
  TesVector *v;
  const int64_t n = tes_space_length(space);
  must(tes_vector_create(ctx, n, precision, &v));
  if (!random) return v;
  double *values = malloc((size_t)n * sizeof *values);
  uint64_t state = 7;
  for (int64_t i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values[i] = (double)(float)((double)(int32_t)(state >> 32) / 2147483648.0);
  }
  must(tes_vector_set(v, values));
  free(values);
  return v;
}

/* The largest difference from the plain version, relative to the largest value. */
static double check(int dim, int degree, int cells, TesPrecision precision) {
  TesSpace *space;
  TesOperator *op = make_operator(dim, degree, cells, precision, &space);
  TesVector *x = make_vector(space, precision, true), *y = make_vector(space, precision, false),
            *z = make_vector(space, precision, false);
  double error, largest;
  must(tes_operator_apply(op, x, y));
  must(tesi_operator_apply_ref(op, x, z));
  must(tes_vector_maximum(z, &largest));
  must(tes_vector_axpy(-1, z, y));
  must(tes_vector_maximum(y, &error));
  tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&z);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  return error / largest;
}

static void time_apply(int dim, int degree, TesPrecision precision, double dofs) {
  TesSpace *space;
  double seconds[RUNS];
  open_context();
  const double error = check(dim, degree, dim == 3 ? 40 / degree + 1 : 200 / degree + 1, precision);
  const int cells = (int)(pow(dofs, 1.0 / dim) / degree);
  TesOperator *op = make_operator(dim, degree, cells, precision, &space);
  TesVector *x = make_vector(space, precision, true), *y = make_vector(space, precision, false);
  const double n = (double)tes_space_dofs(space);
  for (int r = -1; r < RUNS; r++) {
    const double start = synchronized_now();
    for (int i = 0; i < 10; i++) must(tes_operator_apply(op, x, y));
    if (r >= 0) seconds[r] = (synchronized_now() - start) / 10;
  }
  qsort(seconds, RUNS, sizeof *seconds, ascending);
  const char *type = precision == TES_DOUBLE ? "float64" : "float32";
  const double ps = seconds[RUNS / 2] / n * 1e12,
               bandwidth = tes_operator_info(op).cost.bytes / seconds[RUNS / 2] * 1e-9;
  printf("apply %dD Q%d %s %4d cells %9.0f dofs %8.2f ps a dof %7.1f GB/s error %.1e %s\n", dim, degree, type,
         cells, n, ps, bandwidth, error, tes_operator_info(op).description);
  if (csv)
    fprintf(csv, "apply,%d,%d,%s,%d,%.0f,%.4g,%.5g,%.3g\n", dim, degree, type, cells, n, ps, bandwidth, error);
  tes_vector_destroy(&x), tes_vector_destroy(&y);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_context_destroy(&ctx);
}

static void time_solve(int degree, int cells, TesSmootherKind smoother, const char *name) {
  TesMesh *mesh;
  TesFunction *a, *f;
  TesProblem *problem;
  TesSolveResult result;
  double best = INFINITY;
  open_context();
  must(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {cells, cells, cells}}, &mesh));
  must(tes_function_create_expression(ctx, "1/(0.05 + 2*(x*x + y*y + z*z))", &a));
  must(tes_function_create_constant(ctx, 1, &f));
  double start = synchronized_now();
  must(tes_problem_create(
      ctx,
      &(TesProblemDesc){
          .mesh = mesh, .degree = degree, .data = {.a = a, .f = {f}}, .solver = {.smoother = smoother}},
      &problem));
  const double setup = synchronized_now() - start;
  for (int r = 0; r < 3; r++) {
    start = synchronized_now();
    must(tes_problem_solve(problem, &result));
    best = fmin(best, synchronized_now() - start);
  }
  const double n = (double)tes_space_dofs(tes_problem_space(problem));
  printf("solve Q%d %4d cells %9.0f dofs %-10s set-up %.3f s, solve %.5f s, %d iterations to %.1e, %.3f ns a "
         "dof\n",
         degree, cells, n, name, setup, best, result.iterations, result.residuals[result.iterations],
         best / n * 1e9);
  printf("  %s\n  %s\n", tes_problem_info(problem).op, tes_problem_info(problem).smoother);
  if (csv)
    fprintf(csv, "solve,%d,%s,%d,%.0f,%.4g,%.5g,%d,%.3g\n", degree, name, cells, n, setup, best,
            result.iterations, result.residuals[result.iterations]);
  tes_problem_destroy(&problem);
  tes_function_destroy(&a), tes_function_destroy(&f);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

int main(int argc, char **argv) {
  const char *what = "apply,solve";
  double dofs = 3e7;
  int dim = 3, only = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--device"))
      device_name = argv[i + 1];
    else if (!strcmp(argv[i], "--what"))
      what = argv[i + 1];
    else if (!strcmp(argv[i], "--dofs"))
      dofs = atof(argv[i + 1]);
    else if (!strcmp(argv[i], "--dim"))
      dim = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--degree"))
      only = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--csv"))
      csv = fopen(argv[i + 1], "w");
    else
      return fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  for (int degree = 1; degree <= (dim == 3 ? 8 : 10) && strstr(what, "apply"); degree++)
    for (int precision = 0; precision < 2; precision++)
      if (!only || only == degree) time_apply(dim, degree, (TesPrecision)precision, dofs);
  static const int degrees[] = {2, 4, 7};
  for (int i = 0; i < 3 && strstr(what, "solve"); i++) {
    if (only && only != degrees[i]) continue;
    const int k = degrees[i], most = (int)(cbrt(dofs) / k);
    int cells = 2;
    while (2 * cells <= most + 1) cells *= 2;
    time_solve(k, cells, TES_SMOOTHER_AUTO, "auto");
    time_solve(k, cells, TES_SMOOTHER_CHEBYSHEV, "chebyshev");
  }
  if (csv) fclose(csv);
  return 0;
}
