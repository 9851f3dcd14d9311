/* BP5 solved, not only applied: conjugate gradients with a diagonal preconditioner and a fixed number of iterations,
 * all on the device. An iteration has three kernels, sends no number to the host, and is replayed as a graph
 * (src/kernels/mapped_cg.cu).
 * bench_mapped_cg [--device D] [--degrees 1-8] [--geometry stored|vertices] [--precision double|float] [--dofs N]
 * [--iterations I] [--csv FILE]
 * A box of perturbed trilinear cells, zero at the boundary, random right-hand side.
 * GDoF/s: unknowns times iterations over time.
 * residual: |b - A x| / |b|, recomputed; recursive: the residual of the iteration itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "operator/mapped/device/mapped_kernel.h"
#include "tessera/tessera.h"
#include "mapped_box.h"

enum { BATCHES = 5, PAIRS = 25, BLOCKS = TESK_MAPPED_PARTS, THREADS = 256 };

typedef struct Cg {
  Job job;
  TesiKernel start, first, residual, direction;
  void *b, *d, *r, *p, *q, *x;
  void *rz, *pq, *scalars; /* parts and scalars, float64 */
} Cg;

static void launch(const TesiKernel *kernel, unsigned blocks, void **arguments) {
  must(tesi_kernel_launch(bench.ctx, kernel, (TesiGrid){blocks, 1, 1}, THREADS, THREADS * sizeof(double),
                          arguments));
}

static void get_kernels(Cg *cg) {
  TesiProgram *program;
  const size_t shared = THREADS * sizeof(double);
  const TesiProgramDesc desc = {.file = "mapped_cg.cu", .real = bench.precision};
  must(tesi_program_get(bench.ctx, &desc, &program));
  must(tesi_kernel_get(bench.ctx, program, "tesk_cg_start", shared, &cg->start));
  must(tesi_kernel_get(bench.ctx, program, "tesk_cg_first", shared, &cg->first));
  must(tesi_kernel_get(bench.ctx, program, "tesk_cg_residual", shared, &cg->residual));
  must(tesi_kernel_get(bench.ctx, program, "tesk_cg_direction", shared, &cg->direction));
}

/* The diagonal from stored factors, and the right-hand side. */
static void make_system(Cg *cg) {
  Job *job = &cg->job;
  const TesiMappedGeometry kept = job->geometry;
  long long cells = job->cells, n = job->length;
  void *g = job->g, *D, *own = NULL;
  if (kept != TESI_MAPPED_STORED) {
    own = job->g;
    job->geometry = TESI_MAPPED_STORED;
    make_geometry(job);
    g = job->g;
  }
  allocate(cube(job->q), sizeof(double), &D);
  if (!bench.rehearsal)
    must(bench.device->to_device(bench.ctx, D, job->D, (size_t)(job->q * job->q) * sizeof(double)));
  void *nodes = job->nodes ? job->nodes : job->index;
  box_kernel(job, "tesk_box_diagonal", true, (void *[]){&cells, &g, &nodes, &D, &cg->d});
  box_kernel(job, "tesk_box_invert", false, (void *[]){&n, &cg->d, &cg->b});
  must(bench.device->synchronize(bench.ctx));
  bench.device->release(bench.ctx, &D);
  if (kept == TESI_MAPPED_STORED) return;
  bench.device->release(bench.ctx, &job->g);
  job->g = own;
  job->geometry = kept;
}

static void make_cg(Cg *cg, int degree, TesiMappedGeometry geometry) {
  const size_t size = tesi_precision_size(bench.precision);
  cg->job = (Job){.bp = 5, .degree = degree, .global = true, .geometry = geometry};
  make_job(&cg->job);
  get_kernels(cg);
  void **vectors[] = {&cg->b, &cg->d, &cg->r, &cg->p, &cg->q, &cg->x};
  for (int i = 0; i < 6; i++) allocate(cg->job.length, size, vectors[i]);
  void **parts[] = {&cg->rz, &cg->pq, &cg->scalars};
  for (int i = 0; i < 3; i++) allocate(BLOCKS, sizeof(double), parts[i]);
  make_system(cg);
}

static void free_cg(Cg *cg) {
  void **all[] = {&cg->b, &cg->d, &cg->r, &cg->p, &cg->q, &cg->x, &cg->rz, &cg->pq, &cg->scalars};
  for (int i = 0; i < 9; i++) bench.device->release(bench.ctx, all[i]);
  free_job(&cg->job);
}

/* q += A p, parts of p . q */
static void apply(Cg *cg, void *p, void *q) {
  TeskMapped a = cg->job.kernel.arguments;
  a.geometry = cg->job.g;
  a.index = cg->job.index;
  a.cells = cg->job.cells;
  a.parts = cg->pq;
  must(tesi_mapped_kernel_run(bench.ctx, &cg->job.kernel, &a, p, q));
}

static void iterate(Cg *cg, int parity) {
  long long n = cg->job.length;
  apply(cg, cg->p, cg->q);
  launch(&cg->residual, BLOCKS,
         (void *[]){&n, &parity, &cg->d, &cg->q, &cg->r, &cg->pq, &cg->rz, &cg->scalars});
  launch(&cg->direction, BLOCKS,
         (void *[]){&n, &parity, &cg->d, &cg->r, &cg->p, &cg->q, &cg->x, &cg->rz, &cg->pq, &cg->scalars});
}

static void begin(Cg *cg) {
  long long n = cg->job.length;
  must(bench.device->copy(bench.ctx, n, 1, bench.precision, cg->b, bench.precision, cg->r));
  launch(&cg->start, BLOCKS, (void *[]){&n, &cg->d, &cg->r, &cg->p, &cg->q, &cg->x, &cg->rz, &cg->pq});
  launch(&cg->first, 1, (void *[]){&cg->rz, &cg->scalars});
}

static double norm(void *v, int64_t n) {
  double square;
  must(bench.device->dot(bench.ctx, bench.precision, n, v, v, &square));
  return sqrt(square);
}

/* |b - A x| / |b|; overwrites q. */
static double true_residual(Cg *cg) {
  const int64_t n = cg->job.length;
  must(bench.device->fill(bench.ctx, bench.precision, n, 0, cg->q));
  apply(cg, cg->x, cg->q);
  must(bench.device->xpay(bench.ctx, bench.precision, n, cg->b, -1, cg->q));
  return norm(cg->q, n) / norm(cg->b, n);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Seconds of one iteration: median over parts of the solve. */
static double solve(Cg *cg, int iterations, double *spread) {
  double seconds[BATCHES];
  void *graph = NULL;
  const int rounds = iterations / (2 * PAIRS * BATCHES);
  begin(cg);
  must(bench.device->synchronize(bench.ctx));
  if (bench.device->graph_begin) {
    must(bench.device->graph_begin(bench.ctx));
    for (int i = 0; i < 2 * PAIRS; i++) iterate(cg, i % 2);
    must(bench.device->graph_end(bench.ctx, &graph));
  }
  for (int batch = 0; batch < BATCHES; batch++) {
    const double start = tesi_now();
    for (int round = 0; round < rounds; round++) {
      if (graph) must(bench.device->graph_run(bench.ctx, graph));
      for (int i = 0; !graph && i < 2 * PAIRS; i++) iterate(cg, i % 2);
    }
    must(bench.device->synchronize(bench.ctx));
    seconds[batch] = (tesi_now() - start) / (rounds * 2 * PAIRS);
  }
  if (graph) bench.device->graph_release(bench.ctx, &graph);
  qsort(seconds, BATCHES, sizeof *seconds, ascending);
  *spread = (seconds[BATCHES - 1] - seconds[0]) / seconds[BATCHES / 2] / 2;
  return seconds[BATCHES / 2];
}

static void run_degree(int degree, TesiMappedGeometry geometry, int iterations) {
  Cg cg = {0};
  double spread;
  make_cg(&cg, degree, geometry);
  if (!bench.rehearsal) {
    const char *name = geometry == TESI_MAPPED_STORED ? "stored" : "vertices";
    const double t = solve(&cg, iterations, &spread), dofs = (double)cg.job.length,
                 recursive = norm(cg.r, cg.job.length) / norm(cg.b, cg.job.length),
                 residual = true_residual(&cg);
    printf("CG BP5 %-8s %s p=%-2d %9lld cells %6.2f Mdof %8.4f ms an iteration +-%.1f%% %6.2f GDoF/s  "
           "residual %.2e "
           "recursive %.2e\n",
           name, bench.precision == TES_DOUBLE ? "f64" : "f32", degree, (long long)cg.job.cells, dofs * 1e-6,
           t * 1e3, 100 * spread, dofs / t * 1e-9, residual, recursive);
    fflush(stdout);
    if (bench.csv) {
      fprintf(bench.csv, "%s,%s,%d,%lld,%.0f,%d,%.6g,%.3g,%.5g,%.3g,%.3g\n", name,
              bench.precision == TES_DOUBLE ? "float64" : "float32", degree, (long long)cg.job.cells, dofs,
              iterations, t * 1e3, spread, dofs / t * 1e-9, residual, recursive);
      fflush(bench.csv);
    }
  }
  free_cg(&cg);
}

int main(int argc, char **argv) {
  const char *device = "cuda", *geometry = "stored,vertices";
  int first = 1, last = 8, iterations = 1000;
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *option = argv[i], *value = argv[i + 1];
    if (!strcmp(option, "--device"))
      device = value;
    else if (!strcmp(option, "--degrees")) {
      if (sscanf(value, "%d-%d", &first, &last) == 1) last = first;
    } else if (!strcmp(option, "--geometry"))
      geometry = value;
    else if (!strcmp(option, "--precision"))
      bench.precision = bench.factors = value[0] == 'f' ? TES_SINGLE : TES_DOUBLE;
    else if (!strcmp(option, "--dofs"))
      bench.dofs = atof(value);
    else if (!strcmp(option, "--iterations"))
      iterations = atoi(value);
    else if (!strcmp(option, "--csv"))
      bench.csv = fopen(value, "a");
    else {
      fprintf(stderr, "unknown option %s\n", option);
      return 2;
    }
  }
  char message[2048];
  bench.rehearsal = !strncmp(device, "nvrtc", 5);
  bench.dot = true;
  bench.fixed = 1;
  const TesContextDesc desc = {.device = device};
  const TesStatus status = tes_context_create(&desc, &bench.ctx, message, sizeof message);
  if (status != TES_OK) {
    fprintf(stderr, "%s\n", message);
    return tes_status_exit(status);
  }
  bench.device = tesi_context_device(bench.ctx);
  if (bench.csv && ftell(bench.csv) == 0)
    fprintf(
        bench.csv,
        "geometry,precision,degree,cells,dofs,iterations,ms_per_iteration,spread,gdofs,residual,recursive\n");
  for (int degree = first; degree <= last; degree++)
    for (int g = 0; g < 2; g++)
      if (strstr(geometry, g ? "vertices" : "stored"))
        run_degree(degree, g ? TESI_MAPPED_VERTICES : TESI_MAPPED_STORED, iterations);
  if (bench.csv) fclose(bench.csv);
  tes_context_destroy(&bench.ctx);
  return 0;
}
