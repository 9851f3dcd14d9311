/* Time to solution of -Lap u = f on the unit cube, u = sin(pi x) sin(pi y) sin(pi z), by multigrid with patch smoothing.
 * bench_solve [--device D] [--cells N] [--degree K] [--precision single|double|mixed] [--method fmg|vcycle|gmres] [--repeat R] [--csv FILE]
 * The load is a product of 1D loads and made on the device. Prints set-up and solve times, iterations, residuals and the largest
 * error at the nodes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "basis/lagrange.h"
#include "basis/quadrature.h"
#include "device/kernel.h"
#include "device/vector.h"
#include "tessera/multigrid.h"
#include "tessera/solver.h"
#include "tessera/tessera.h"

static TesContext *ctx;
static const double pi = 3.14159265358979323846;

static void must(TesStatus status) {
  if (status == TES_OK) return;
  fprintf(stderr, "%s\n%s", tes_context_message(ctx), tes_context_trace(ctx));
  exit(tes_status_exit(status));
}

/* int sin(pi x) phi_i dx at the nodes of one axis, zero at the ends. */
static void fill_load(int degree, int cells, double *load) {
  enum { Q = TESI_MAX_POINTS };
  const int n = degree + 1, nq = degree + 4, nodes = cells * degree + 1;
  double x[Q], w[Q], gll[Q], B[Q * Q];
  const double h = 1.0 / cells;
  tesi_gauss(nq, x, w);
  tesi_gauss_lobatto(n, gll, NULL);
  tesi_lagrange(n, gll, nq, x, B, NULL);
  memset(load, 0, (size_t)nodes * sizeof *load);
  for (int c = 0; c < cells; c++)
    for (int q = 0; q < nq; q++)
      for (int i = 0; i < n; i++) load[c * degree + i] += h * w[q] * sin(pi * (c + x[q]) * h) * B[q * n + i];
  load[0] = load[nodes - 1] = 0;
}

/* y <- scale f (x) f (x) f + beta y for a host array f over the nodes of an axis. */
static void outer(const TesSpace *space, const double *f, double scale, double beta, TesVector *y) {
  const TesiDevice *device = tesi_context_device(ctx);
  long long nodes = tes_space_nodes(space, 0);
  void *table, *data = tes_vector_data(y);
  if (!device->kernels) {
    double *values = data;
    for (int64_t i = 0; i < tes_space_length(space); i++)
      values[i] = scale * f[i % nodes] * f[i / nodes % nodes] * f[i / nodes / nodes] +
                  (beta == 0 ? 0 : beta * values[i]);
    return;
  }
  TesiProgram *program;
  TesiKernel kernel;
  const TesiProgramDesc desc = {.file = "outer.cu", .options = {"real=double"}};
  must(device->allocate(ctx, (size_t)nodes * sizeof *f, &table));
  must(device->to_device(ctx, table, f, (size_t)nodes * sizeof *f));
  must(tesi_program_get(ctx, &desc, &program));
  must(tesi_kernel_get(ctx, program, "tesk_outer", 0, &kernel));
  void *arguments[] = {&data, &table, &table, &table, &nodes, &nodes, &nodes, &scale, &beta};
  must(tesi_kernel_launch(ctx, &kernel, (TesiGrid){8192, 1, 1}, 256, 0, arguments));
  must(device->synchronize(ctx));
  device->release(ctx, &table);
}

int main(int argc, char **argv) {
  const char *device = "cuda", *precision = "mixed", *method = "fmg", *csv = NULL;
  int cells = 32, degree = 4, repeat = 3;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--device"))
      device = argv[i + 1];
    else if (!strcmp(argv[i], "--cells"))
      cells = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--degree"))
      degree = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--precision"))
      precision = argv[i + 1];
    else if (!strcmp(argv[i], "--method"))
      method = argv[i + 1];
    else if (!strcmp(argv[i], "--repeat"))
      repeat = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--csv"))
      csv = argv[i + 1];
    else
      return fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  char message[2048];
  double start = tesi_now();
  if (tes_context_create(&(TesContextDesc){.device = device}, &ctx, message, sizeof message) != TES_OK)
    return fprintf(stderr, "%s\n", message), 3;
  const double opened = tesi_now() - start;
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesMultigrid *mg;
  TesSolver *solver;
  TesVector *b, *x;
  TesSolveResult result = {0};
  start = tesi_now();
  must(tes_mesh_create_box(ctx, &(TesBoxDesc){.dim = 3, .cells = {cells, cells, cells}}, &mesh));
  must(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree}, &space));
  must(tes_operator_create_diffusion(ctx, &(TesDiffusionDesc){.space = space}, &op));
  must(tes_multigrid_create(
      ctx,
      &(TesMultigridDesc){
          .diffusion = {.space = space, .precision = strcmp(precision, "mixed") ? TES_DOUBLE : TES_SINGLE},
          .smoother = {.kind = TES_SMOOTHER_PATCH}},
      &mg));
  must(tes_solver_create(ctx,
                         &(TesSolverDesc){.op = op,
                                          .multigrid = mg,
                                          .method = !strcmp(method, "gmres")    ? TES_METHOD_GMRES
                                                    : !strcmp(method, "vcycle") ? TES_METHOD_VCYCLE
                                                                                : TES_METHOD_FMG},
                         &solver));
  must(tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &b));
  must(tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &x));
  must(tesi_context_device(ctx)->synchronize(ctx));
  const double setup = tesi_now() - start, dofs = (double)tes_space_dofs(space);
  const int nodes = tes_space_nodes(space, 0);
  double *load = malloc((size_t)nodes * sizeof *load);
  fill_load(degree, cells, load);
  outer(space, load, 3 * pi * pi, 0, b);
  double best = INFINITY, first = 0;
  for (int r = 0; r < repeat; r++) {
    must(tes_vector_fill(x, 0));
    must(tesi_context_device(ctx)->synchronize(ctx));
    start = tesi_now();
    const TesStatus status = tes_solver_solve(solver, b, x, &result);
    must(tesi_context_device(ctx)->synchronize(ctx));
    const double seconds = tesi_now() - start;
    if (status != TES_OK) printf("%s\n", tes_status_name(status));
    if (r == 0) first = seconds;
    best = seconds < best ? seconds : best;
  }
  for (int i = 0; i < nodes; i++) load[i] = sin(pi * tes_space_coordinates(space, 0)[i]);
  outer(space, load, -1, 1, x);
  double error;
  must(tes_vector_maximum(x, &error));
  printf("k=%d n=%d %s %s: %.1f Mdof, open %.2f s, set-up %.2f s, solve %.4f s (first %.4f), %d iterations, "
         "%.2f Gdof/s, residuals",
         degree, cells, precision, method, dofs * 1e-6, opened, setup, best, first, result.iterations,
         dofs / best * 1e-9);
  for (int i = 0; i <= result.iterations; i++) printf(" %.1e", result.residuals[i]);
  printf(", nodal error %.1e\n", error);
  if (csv) {
    FILE *file = fopen(csv, "a");
    if (file) {
      fprintf(file, "%d,%d,%s,%s,%.0f,%.4g,%.5g,%d,%.3g,%.3g\n", degree, cells, precision, method, dofs,
              setup, best, result.iterations, result.residuals[result.iterations], error);
      fclose(file);
    }
  }
  free(load);
  tes_vector_destroy(&b);
  tes_vector_destroy(&x);
  tes_solver_destroy(&solver);
  tes_multigrid_destroy(&mg);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
  return 0;
}
