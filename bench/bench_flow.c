/* The cost of a step of a flow: Navier-Stokes with Q_k/Q_(k-1) on a forest in a cube with hanging nodes round a
 * sphere. bench_flow [--device D] [--dim 2 or 3] [--degree K] [--cells N a direction] [--radius R of the sphere, 0:
 * none] [--warm N] [--steps N] [--tolerance T] [--csv FILE]
 * A vortex of Taylor and Green with walls at rest, nu = 0.01, q to the tolerance (1e-3), steps of a Courant number of
 * about 0.3. Steps are timed one by one after --warm others (30: by then the guesses for the pressure are good); the
 * median is printed. Then the parts of a step are timed, median of 5 runs of 10: over-integrated convection,
 * divergence, gradient, the operator of the momentum equation, and the mass of the velocity. */
#include <stdio.h>
#include <stdlib.h>
#include "common.h"
#include "device/kernel.h"
#include "operator/operator.h"
#include "problem/flow/split/split.h"

enum { RUNS = 5, REPEATS = 10, MOST = 1000 };

static TesContext *ctx;
static const char *device = "cuda", *csv_path;
static int dim = 3, degree = 4, cells = 32, steps = 20, warm = 30;
static double radius = 0.35, tolerance = 1e-3;

static void must(TesStatus status) {
  bench_must(ctx, status);
}

static double now(void) {
  must(tesi_context_device(ctx)->synchronize(ctx));
  return tesi_now();
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[count / 2];
}

static TesFunction *expression(const char *text) {
  TesFunction *f;
  must(tes_function_create_expression(ctx, text, &f));
  return f;
}

/* As few trees as possible by halving, so that the pressure's coarsest level is small. Cells that the sphere cuts are
 * refined once. */
static TesMesh *make_mesh(void) {
  TesMesh *mesh;
  TesFunction *where = NULL;
  char text[200];
  int trees = cells, halvings = 0;
  for (; trees % 2 == 0 && trees > 2; trees /= 2) halvings++;
  const TesMeshDesc desc = {
      .kind = TES_MESH_FOREST, .dim = dim, .cells = {trees, trees, trees}, .refine = halvings};
  TesMeshDesc refined = desc;
  snprintf(text, sizeof text, "%.17g - abs(sqrt(pow(x - 0.5, 2) + pow(y - 0.5, 2)%s) - %.17g)",
           0.5 / (double)cells, dim == 3 ? " + pow(z - 0.5, 2)" : "", radius);
  if (radius > 0) refined.refine_where = where = expression(text);
  must(tes_mesh_create(ctx, &refined, &mesh));
  tes_function_destroy(&where);
  return mesh;
}

static TesProblem *make_problem(const TesMesh *mesh) {
  TesProblem *problem;
  TesFunction *u = expression(dim == 3 ? "sin(pi*x)*cos(pi*y)*sin(pi*z)" : "sin(pi*x)*cos(pi*y)"),
              *v = expression(dim == 3 ? "-cos(pi*x)*sin(pi*y)*sin(pi*z)" : "-cos(pi*x)*sin(pi*y)"),
              *nu = expression("0.01");
  const TesBoundary wall = {.condition = TES_SLIP};
  const double step = 0.3 / (cells * (radius > 0 ? 2 : 1)) / (degree * degree);
  must(tes_problem_create(ctx,
                          &(TesProblemDesc){.equation = TES_NAVIER_STOKES,
                                            .mesh = mesh,
                                            .degree = degree,
                                            .data = {.a = nu},
                                            .boundaries = 1,
                                            .boundary = &wall,
                                            .initial = {u, v},
                                            .time = {.end = step * (warm + steps), .step = step},
                                            .solver = {.tolerance = tolerance}},
                          &problem));
  TesFunction **all[] = {&u, &v, &nu};
  for (int i = 0; i < 3; i++) tes_function_destroy(all[i]);
  return problem;
}

/* The share of cells with hanging nodes. */
static double hanging_share(const TesSpace *space) {
  const TesiCellView *view;
  int64_t count = 0;
  must(tesi_space_cells(space, &view));
  for (int64_t i = 0; i < view->cells; i++) count += view->mask[i] >> 3 != 0;
  return (double)count / (double)view->cells;
}

typedef enum Part { CONVECTION, DIVERGENCE, GRADIENT, MOMENTUM, MASS, PARTS } Part;

static const char *const part_names[] = {"convection", "divergence", "gradient", "momentum", "mass"};

static void run_part(TesiSplit *pr, Part part) {
  double rate;
  if (part == CONVECTION) must(tesi_taylor_hood_convection(pr->taylor_hood, &pr->u, pr->work.r, &rate));
  if (part == DIVERGENCE) must(tesi_taylor_hood_divergence(pr->taylor_hood, &pr->u, pr->work.pb));
  if (part == GRADIENT) must(tesi_taylor_hood_gradient(pr->taylor_hood, &pr->p, pr->work.r));
  if (part == MOMENTUM) must(tes_operator_apply(pr->op, pr->work.x, pr->work.r));
  if (part == MASS) must(tes_operator_apply(pr->mass, pr->work.x, pr->work.r));
}

/* The number of requests of the context to a device with kernels so far; zeros on the host. */
static TesiCounts counts_now(void) {
  return tesi_has_kernels(ctx) ? ((const TesiKernelState *)tesi_context_device_state(ctx))->counts
                               : (TesiCounts){0};
}

static void print_counts(TesiCounts before) {
  const TesiCounts after = counts_now();
  const double n = steps;
  if (!tesi_has_kernels(ctx)) return;
  const TesiKernelState *state = tesi_context_device_state(ctx);
  printf("device memory %.3f GB\n", (double)state->blocks.held * 1e-9);
  printf("a step asks for %.1f launches, %.1f graphs, %.1f copies to the host, %.1f to the device, %.1f "
         "allocations\n",
         (double)(after.launches - before.launches) / n, (double)(after.graphs - before.graphs) / n,
         (double)(after.to_host - before.to_host) / n, (double)(after.to_device - before.to_device) / n,
         (double)(after.allocations - before.allocations) / n);
}

static double time_part(TesiSplit *pr, Part part) {
  double seconds[RUNS];
  run_part(pr, part);
  for (int i = 0; i < RUNS; i++) {
    const double start = now();
    for (int j = 0; j < REPEATS; j++) run_part(pr, part);
    seconds[i] = (now() - start) / REPEATS;
  }
  return median(seconds, RUNS);
}

int main(int argc, char **argv) {
  const BenchOption options[] = {
      {.name = "--device", .text = &device},       {.name = "--csv", .text = &csv_path},
      {.name = "--dim", .number = &dim},           {.name = "--degree", .number = &degree},
      {.name = "--cells", .number = &cells},       {.name = "--steps", .number = &steps},
      {.name = "--warm", .number = &warm},         {.name = "--radius", .real = &radius},
      {.name = "--tolerance", .real = &tolerance}, {0}};
  char message[2048];
  double seconds[MOST];
  TesSolveResult result;
  int iterations = 0;
  if (!bench_read(argc, argv, options)) return 2;
  if (steps < 1 || steps > MOST) return fprintf(stderr, "--steps is %d, expected 1..%d\n", steps, MOST), 2;
  if (tes_context_create(&(TesContextDesc){.device = device}, &ctx, message, sizeof message) != TES_OK)
    return fprintf(stderr, "%s\n", message), 3;
  const double start = now();
  TesMesh *mesh = make_mesh();
  TesProblem *problem = make_problem(mesh);
  TesiSplit *pr = tesi_split_of(problem);
  const double setup = now() - start;
  for (int i = 0; i < warm; i++) must(tes_problem_step(problem, &result));
  const TesiCounts before = counts_now();
  for (int i = 0; i < steps; i++) {
    const double begin = now();
    must(tes_problem_step(problem, &result));
    seconds[i] = now() - begin;
    iterations += result.iterations;
  }
  const double n = (double)pr->velocity->dofs, step = median(seconds, steps),
               share = hanging_share(pr->taylor_hood->velocity);
  printf("%dD Q%d/Q%d, %lld cells, %.1f %% of them with hanging nodes, %.0f unknowns of the velocity, set-up "
         "%.2f s\n",
         dim, degree, degree - 1, (long long)tes_mesh_info(mesh).cells, 100 * share, n, setup);
  printf("a step %.3f ms, %.3f ns an unknown, %.1f iterations of the pressure\n", step * 1e3, step / n * 1e9,
         (double)iterations / steps);
  print_counts(before);
  FILE *csv = csv_path ? fopen(csv_path, "w") : NULL;
  if (csv) fprintf(csv, "dim,degree,cells,hanging,unknowns,setup_s,part,ms,ns_an_unknown\n");
  for (int part = -1; part < PARTS; part++) {
    const double s = part < 0 ? step : time_part(pr, (Part)part);
    if (part >= 0) printf("  %-10s %.3f ms, %.4f ns an unknown\n", part_names[part], s * 1e3, s / n * 1e9);
    if (csv)
      fprintf(csv, "%d,%d,%lld,%.3f,%.0f,%.3g,%s,%.4g,%.4g\n", dim, degree,
              (long long)tes_mesh_info(mesh).cells, share, n, setup, part < 0 ? "step" : part_names[part],
              s * 1e3, s / n * 1e9);
  }
  if (csv) fclose(csv);
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
  return 0;
}
