/* Time to solution of -Lap u = f on the unit cube, u = sin(pi x) sin(pi y) sin(pi z), by multigrid with patch
 * smoothing.
 * bench_solve [--device D] [--cells N] [--degree K] [--precision double|mixed] [--method fmg|vcycle|gmres|cg]
 * [--repeat R] [--csv FILE] f is the text of an expression. Prints set-up times (objects, then the load), memory
 * held on the device, solve times, iterations, residuals and the largest error at the nodes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"
#include "device/kernel.h"
#include "device/vector.h"
#include "tessera/functional.h"
#include "tessera/multigrid.h"
#include "tessera/solver.h"
#include "space/space.h"
#include "tessera/tessera.h"

static TesContext *ctx;
static const double pi = 3.14159265358979323846;

typedef struct Options {
  const char *device, *precision, *method, *csv;
  int cells, degree, repeat;
} Options;

typedef struct Bench {
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesMultigrid *mg;
  TesSolver *solver;
  TesVector *b, *x;
} Bench;

typedef struct Outcome {
  double opened, setup, load, gib, first, best, error;
  long long to_host; /* numbers sent in the last solve, if the device counts them */
  TesSolveResult result;
} Outcome;

static void must(TesStatus status) {
  bench_must(ctx, status);
}

static bool parse(int argc, char **argv, Options *o) {
  *o = (Options){"cuda", "mixed", "fmg", NULL, 32, 4, 3};
  for (int i = 1; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (!value) return false;
    if (!strcmp(argv[i], "--device"))
      o->device = value;
    else if (!strcmp(argv[i], "--cells"))
      o->cells = atoi(value);
    else if (!strcmp(argv[i], "--degree"))
      o->degree = atoi(value);
    else if (!strcmp(argv[i], "--precision"))
      o->precision = value;
    else if (!strcmp(argv[i], "--method"))
      o->method = value;
    else if (!strcmp(argv[i], "--repeat"))
      o->repeat = atoi(value);
    else if (!strcmp(argv[i], "--csv"))
      o->csv = value;
    else
      return false;
  }
  return true;
}

static TesMethod method_of(const char *name) {
  return !strcmp(name, "gmres")    ? TES_METHOD_GMRES
         : !strcmp(name, "cg")     ? TES_METHOD_CG
         : !strcmp(name, "vcycle") ? TES_METHOD_VCYCLE
                                   : TES_METHOD_FMG;
}

static double held(size_t before) {
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t now = device->available(ctx);
  return (double)(!strcmp(device->kind, "cuda") ? before - now : tes_context_memory(ctx)) / (1 << 30);
}

/* Mesh, space, operator, multigrid, solver, vectors. */
static void create(const Options *o, Bench *s) {
  const int n = o->cells;
  const TesMethod method = method_of(o->method);
  const TesPrecision precision = strcmp(o->precision, "mixed") ? TES_DOUBLE : TES_SINGLE;
  must(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {n, n, n}}, &s->mesh));
  must(tes_space_create(ctx, &(TesSpaceDesc){.mesh = s->mesh, .degree = o->degree}, &s->space));
  must(tes_operator_create(ctx, &(TesOperatorDesc){.space = s->space}, &s->op));
  const TesMultigridDesc mg = {.op = s->op,
                               .precision = precision,
                               .smoother = {.kind = TES_SMOOTHER_PATCH},
                               .symmetric = method == TES_METHOD_CG};
  must(tes_multigrid_create(ctx, &mg, &s->mg));
  const TesSolverDesc solver = {.op = s->op, .multigrid = s->mg, .method = method};
  must(tes_solver_create(ctx, &solver, &s->solver));
  must(tes_vector_create(ctx, tes_space_length(s->space), TES_DOUBLE, &s->b));
  must(tes_vector_create(ctx, tes_space_length(s->space), TES_DOUBLE, &s->x));
  must(tesi_context_device(ctx)->synchronize(ctx));
}

static void destroy(Bench *s) {
  tes_vector_destroy(&s->b);
  tes_vector_destroy(&s->x);
  tes_solver_destroy(&s->solver);
  tes_multigrid_destroy(&s->mg);
  tes_operator_destroy(&s->op);
  tes_space_destroy(&s->space);
  tes_mesh_destroy(&s->mesh);
}

/* Seconds of the second of two loads: the first one compiles its kernel. */
static double assemble(const Bench *s) {
  TesFunction *f;
  double start = 0;
  must(tes_function_create_expression(ctx, "3*pi*pi*sin(pi*x)*sin(pi*y)*sin(pi*z)", &f));
  for (int i = 0; i < 2; i++) {
    start = tesi_now();
    must(tes_functional_load(&(TesLoadDesc){.space = s->space, .f = {f}}, s->b));
    must(tesi_context_device(ctx)->synchronize(ctx));
  }
  tes_function_destroy(&f);
  return tesi_now() - start;
}

static void solve(const Bench *s, int repeat, Outcome *out) {
  const TesiDevice *device = tesi_context_device(ctx);
  const TesiKernelState *state = device->kernels ? tesi_context_device_state(ctx) : NULL;
  out->best = INFINITY;
  for (int r = 0; r < repeat; r++) {
    must(tes_vector_fill(s->x, 0));
    must(device->synchronize(ctx));
    const long long sent = state ? state->counts.to_host : 0;
    const double start = tesi_now();
    const TesStatus status = tes_solver_solve(s->solver, s->b, s->x, &out->result);
    must(device->synchronize(ctx));
    const double seconds = tesi_now() - start;
    if (status != TES_OK) printf("%s\n", tes_status_name(status));
    if (r == 0) out->first = seconds;
    out->best = fmin(out->best, seconds);
    out->to_host = state ? state->counts.to_host - sent : 0;
  }
}

/* Largest difference from the exact solution at the nodes; x is overwritten. */
static double nodal_error(const Bench *s) {
  const TesiDevice *device = tesi_context_device(ctx);
  const int nodes = tes_space_nodes_along(s->space, 0);
  const long long n = nodes;
  const double scale = -1, beta = 1;
  double *f = malloc((size_t)nodes * sizeof *f), error;
  void *table = NULL, *data = tes_vector_data(s->x);
  for (int i = 0; i < nodes; i++) f[i] = sin(pi * s->space->axis[0].x[i]);
  if (device->kernels) {
    TesiProgram *program;
    TesiKernel kernel;
    const TesiProgramDesc desc = {.file = "outer.cu"};
    must(device->allocate(ctx, (size_t)nodes * sizeof *f, &table));
    must(device->to_device(ctx, table, f, (size_t)nodes * sizeof *f));
    must(tesi_program_get(ctx, &desc, &program));
    must(tesi_kernel_get(ctx, program, "tesk_outer", 0, &kernel));
    void *arguments[] = {&data,      &table,     &table,         &table,       (void *)&n,
                         (void *)&n, (void *)&n, (void *)&scale, (void *)&beta};
    must(tesi_kernel_launch(ctx, &kernel, (TesiGrid){8192, 1, 1}, 256, 0, arguments));
    must(device->synchronize(ctx));
    device->release(ctx, &table);
  } else {
    double *x = data;
    for (int64_t i = 0; i < tes_space_length(s->space); i++) x[i] -= f[i % n] * f[i / n % n] * f[i / n / n];
  }
  free(f);
  must(tes_vector_maximum(s->x, &error));
  return error;
}

static void print(const Options *o, const Bench *s, const Outcome *out) {
  const double dofs = (double)tes_space_dofs(s->space);
  const int n = out->result.iterations;
  printf("k=%d n=%d %s %s: %.1f Mdof, open %.2f s, set-up %.3f s + load %.3f s, %.2f GiB, solve %.5f s "
         "(first %.4f), %d iterations, "
         "%lld numbers to the host, %.2f Gdof/s, residuals",
         o->degree, o->cells, o->precision, o->method, dofs * 1e-6, out->opened, out->setup, out->load,
         out->gib, out->best, out->first, n, out->to_host, dofs / out->best * 1e-9);
  for (int i = 0; i <= n; i++) printf(" %.1e", out->result.residuals[i]);
  printf(", nodal error %.1e\n", out->error);
  FILE *file = o->csv ? fopen(o->csv, "a") : NULL;
  if (!file) return;
  if (ftell(file) == 0)
    fprintf(file, "degree,cells,precision,method,dofs,setup_s,load_s,gib,solve_s,iterations,numbers_to_host,"
                  "residual,nodal_error\n");
  fprintf(file, "%d,%d,%s,%s,%.0f,%.4g,%.4g,%.4g,%.5g,%d,%lld,%.3g,%.3g\n", o->degree, o->cells, o->precision,
          o->method, dofs, out->setup, out->load, out->gib, out->best, n, out->to_host,
          out->result.residuals[n], out->error);
  fclose(file);
}

int main(int argc, char **argv) {
  Options o;
  Bench s = {0};
  Outcome out = {0};
  char message[2048];
  if (!parse(argc, argv, &o)) return fprintf(stderr, "unknown option, or one without its value\n"), 2;
  double start = tesi_now();
  if (tes_context_create(&(TesContextDesc){.device = o.device}, &ctx, message, sizeof message) != TES_OK)
    return fprintf(stderr, "%s\n", message), 3;
  out.opened = tesi_now() - start;
  const size_t available = tesi_context_device(ctx)->available(ctx);
  start = tesi_now();
  create(&o, &s);
  out.setup = tesi_now() - start;
  out.load = assemble(&s);
  solve(&s, o.repeat, &out);
  out.gib = held(available);
  out.error = nodal_error(&s);
  print(&o, &s, &out);
  destroy(&s);
  tes_context_destroy(&ctx);
  return 0;
}
