/* Iterations and time to solution on balls refined round a sphere, a(x) = 1/(0.05 + 2|x|^2), f = 1, u = 0 on the
 * surface: CG with a float32 V-cycle, relative residual 1e-9.
 * bench_forest_solve [--device D] [--threads N] [--dim D] [--degree K] [--base LEVEL] [--depth FROM:TO] [--smoother
 * DEGREE] [--ratio R] [--first degree|mesh]
 *                    [--patches on|off] [--domain ball|box|shell] [--aspect A] [--trees N] [--most DOFS]
 *                    [--tolerance T] [--csv FILE]
 * --smoother, --ratio: degree and range of the smoother's polynomial; --patches on: it uses cell patches instead of
 * the diagonal. --aspect: the box (N trees per direction) is A times as thin in x; the shell's thickness is 1/A of
 * its radius.
 * --depth: number of refinements of the cells that the sphere of radius 0.55 about (0.1, -0.05, 0.07) cuts, after
 * LEVEL uniform refinements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"
#include "device/kernel.h"
#include "tessera/multigrid.h"
#include "tessera/solver.h"
#include "tessera/tessera.h"

static TesContext *ctx;

static void must(TesStatus status) {
  bench_must(ctx, status);
}

typedef struct Options {
  const char *device, *csv;
  int threads, dim, degree, base, from, to, smoother;
  double ratio, most, tolerance;
  bool degree_first, patches;
  const char *domain;
  double aspect;
  int trees;
} Options;

static const char head[] =
    "dim,degree,depth,cells,dofs,hanging_percent,levels,iterations,fractional_iterations,setup_s,"
    "solve_s,mdofs_per_s,status,domain,aspect,patches\n";

static void print(const Options *o, int depth, const TesSpace *space, const TesMultigrid *mg, double setup,
                  double best, TesStatus status, const TesSolveResult *r) {
  char line[256];
  const double dofs = (double)tes_space_dofs(space), hanging = (double)tes_space_hanging(space);
  snprintf(line, sizeof line, "%d,%d,%d,%lld,%.0f,%.2f,%d,%d,%.2f,%.3g,%.3g,%.4g,%s,%s,%g,%s", o->dim,
           o->degree, depth, (long long)tes_mesh_info(tes_space_mesh(space)).cells, dofs,
           100 * hanging / (hanging + (double)tes_space_length(space)), tes_multigrid_levels(mg),
           r->iterations, r->fractional_iterations, setup, best, 1e-6 * dofs / best, tes_status_name(status),
           o->domain ? o->domain : "ball", o->aspect, o->patches ? "on" : "off");
  puts(line);
  fflush(stdout);
  FILE *file = o->csv ? fopen(o->csv, "a") : NULL;
  if (!file) return;
  if (ftell(file) == 0) fputs(head, file);
  fprintf(file, "%s\n", line);
  fclose(file);
}

/* Solves once; returns the number of unknowns. */
static double measure(const Options *o, int depth, TesMesh *forest) {
  enum { REPEAT = 3 };
  TesSpace *space;
  TesFunction *a, *one;
  TesOperator *op;
  TesMultigrid *mg;
  TesSolver *solver;
  TesVector *b, *x;
  TesSolveResult result = {0};
  TesStatus status = TES_OK;
  double best = INFINITY, start = tesi_now();
  must(tes_function_create_expression(ctx, "1 / (0.05 + 2*(x*x + y*y + z*z))", &a));
  must(tes_function_create_constant(ctx, 1, &one));
  must(tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = o->degree}, &space));
  const TesTermDesc diffusion = {.a = {.all = a}};
  must(tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {.terms = 1, .term = &diffusion}},
                           &op));
  const TesMultigridDesc desc = {.op = op,
                                 .precision = TES_SINGLE,
                                 .coarsening = o->degree_first ? TES_COARSEN_DEGREE : TES_COARSEN_MESH,
                                 .smoother = {.kind = o->patches ? TES_SMOOTHER_CELL_PATCH : TES_SMOOTHER_AUTO,
                                              .degree = o->smoother,
                                              .ratio = o->ratio}};
  must(tes_multigrid_create(ctx, &desc, &mg));
  must(tes_solver_create(
      ctx, &(TesSolverDesc){.op = op, .multigrid = mg, .method = TES_METHOD_CG, .tolerance = o->tolerance},
      &solver));
  const double setup = tesi_now() - start;
  must(tes_vector_create(ctx, tes_operator_info(op).length, TES_DOUBLE, &b));
  must(tes_vector_create(ctx, tes_operator_info(op).length, TES_DOUBLE, &x));
  must(tes_functional_load(&(TesLoadDesc){.space = space, .f = {one}}, b));
  for (int r = 0; r < REPEAT; r++) {
    must(tes_vector_fill(x, 0));
    must(tesi_context_device(ctx)->synchronize(ctx));
    start = tesi_now();
    status = tes_solver_solve(solver, b, x, &result);
    must(tesi_context_device(ctx)->synchronize(ctx));
    best = fmin(best, tesi_now() - start);
  }
  print(o, depth, space, mg, setup, best, status, &result);
  const double dofs = (double)tes_space_dofs(space);
  tes_solver_destroy(&solver);
  tes_multigrid_destroy(&mg);
  tes_operator_destroy(&op);
  tes_vector_destroy(&b);
  tes_vector_destroy(&x);
  tes_function_destroy(&a);
  tes_function_destroy(&one);
  tes_space_destroy(&space);
  return dofs;
}

static bool parse(int argc, char **argv, Options *o) {
  const char *patches = "off", *first = "";
  const BenchOption options[] = {{"--device", .text = &o->device},
                                 {"--threads", .number = &o->threads},
                                 {"--dim", .number = &o->dim},
                                 {"--degree", .number = &o->degree},
                                 {"--base", .number = &o->base},
                                 {"--depth", .number = &o->from, .last = &o->to},
                                 {"--smoother", .number = &o->smoother},
                                 {"--patches", .text = &patches},
                                 {"--ratio", .real = &o->ratio},
                                 {"--first", .text = &first},
                                 {"--tolerance", .real = &o->tolerance},
                                 {"--most", .real = &o->most},
                                 {"--domain", .text = &o->domain},
                                 {"--aspect", .real = &o->aspect},
                                 {"--trees", .number = &o->trees},
                                 {"--csv", .text = &o->csv},
                                 {.name = NULL}};
  if (!bench_read(argc, argv, options)) return false;
  o->patches = !strcmp(patches, "on");
  o->degree_first = !strcmp(first, "degree");
  return true;
}

int main(int argc, char **argv) {
  Options o = {
      .device = "cpu", .dim = 2, .degree = 2, .from = 3, .to = 8, .most = 3e6, .trees = 1, .aspect = 1};
  char message[2048];
  TesMesh *forest;
  if (!parse(argc, argv, &o)) return 2;
  if (tes_context_create(&(TesContextDesc){.device = o.device, .threads = o.threads}, &ctx, message,
                         sizeof message) != TES_OK)
    return fprintf(stderr, "%s\n", message), 3;
  TesMeshDesc d = {.kind = TES_MESH_FOREST, .domain = TES_DOMAIN_BALL, .dim = o.dim, .refine = o.base};
  if (o.domain && !strcmp(o.domain, "box")) {
    d.domain = TES_DOMAIN_BOX;
    for (int i = 0; i < 3; i++) d.cells[i] = i < o.dim ? o.trees : 0, d.lower[i] = -1, d.upper[i] = 1;
    d.upper[0] = -1 + 2 / o.aspect;
  }
  if (o.domain && !strcmp(o.domain, "shell")) d.domain = TES_DOMAIN_SHELL, d.inner_radius = 1 - 1 / o.aspect;
  must(tes_mesh_create(ctx, &d, &forest));
  for (int depth = 0; depth <= o.to; depth++) {
    if (depth >= o.from && measure(&o, depth, forest) > o.most / 2) break;
    if (depth < o.to) forest = bench_refine(ctx, forest);
  }
  tes_mesh_destroy(&forest);
  tes_context_destroy(&ctx);
  return 0;
}
