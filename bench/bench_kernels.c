/* Times operator, smoother and transfer kernels, and checks each on a small box against the plain version.
 * bench_kernels [--device D] [--what vector,operator,smoother,transfer] [--degrees 2-8] [--precision float|double|both]
 *               [--dofs N] [--csv FILE] [--no-check]
 * Columns: kernel, degree, precision, cells, unknowns, milliseconds (median of batches) and its spread, ps per dof,
 * GDoF/s, GB/s of the least traffic, error of the check (relative to the largest value). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"
#include "device/vector.h"
#include "tessera/tessera.h"
#include "operator/operator.h"
#include "smoother/smoother.h"

enum { BATCHES = 7 };

static struct {
  TesContext *ctx;
  FILE *csv;
  double dofs;
  bool check, verbose;
} bench = {.dofs = 2.6e8, .check = true};

static void must(TesStatus status) {
  bench_must(bench.ctx, status);
}

static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int32_t)(*state >> 32) / 2147483648.0;
}

/* A block of random numbers, repeated by copies on the device, so that the host never stores the vector. */
static TesVector *random_vector(int64_t n, TesPrecision precision, uint64_t seed) {
  enum { BLOCK = 1000003 };
  static double values[BLOCK];
  TesVector *v;
  const int64_t first = n < BLOCK ? n : BLOCK;
  const size_t size = tesi_precision_size(precision);
  const TesiDevice *device = tesi_context_device(bench.ctx);
  must(tes_vector_create(bench.ctx, n, precision, &v));
  for (int i = 0; i < first; i++) values[i] = random_number(&seed);
  if (precision == TES_SINGLE)
    for (int i = 0; i < first; i++) ((float *)values)[i] = (float)values[i];
  char *data = tes_vector_data(v);
  must(device->to_device(bench.ctx, data, values, (size_t)first * size));
  for (int64_t done = first; done < n;) {
    const int64_t part = n - done < done ? n - done : done;
    must(device->copy(bench.ctx, part, 1, precision, data, precision, data + (size_t)done * size));
    done += part;
  }
  return v;
}

typedef struct Job {
  const TesOperator *op;
  const TesSmoother *smoother;
  const TesTransfer *transfer;
  TesVector *x, *y;
  int what;
} Job;

enum { COPY, DOT, APPLY, RESIDUAL, SMOOTH, PROLONGATE, RESTRICT };
static const char *const names[] = {"copy", "dot", "apply", "residual", "smooth", "prolongate", "restrict"};

static void run(const Job *job) {
  double sum;
  switch (job->what) {
  case COPY:
    must(tes_vector_copy(job->x, 1, job->y));
    break;
  case DOT:
    must(tes_vector_dot(job->x, job->y, &sum));
    break;
  case APPLY:
    must(tes_operator_apply(job->op, job->x, job->y));
    break;
  case RESIDUAL:
    must(tes_operator_residual(job->op, job->y, job->x, job->y));
    break;
  case SMOOTH:
    must(tes_smoother_apply(job->smoother, job->x, job->y, TES_FORWARD, false));
    break;
  case PROLONGATE:
    must(tes_transfer_prolongate(job->transfer, job->x, true, job->y));
    break;
  case RESTRICT:
    must(tes_transfer_restrict(job->transfer, job->y, job->x));
    break;
  }
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Seconds of one run: the median of batches that are long enough for the clock; *spread: (largest - smallest) /
 * median. */
static double measure(const Job *job, double *spread) {
  const TesiDevice *device = tesi_context_device(bench.ctx);
  double seconds[BATCHES], start = tesi_now();
  run(job);
  must(device->synchronize(bench.ctx));
  start = tesi_now();
  run(job);
  must(device->synchronize(bench.ctx));
  const double once = tesi_now() - start;
  const int repeats = once > 0.02 ? 1 : (int)(0.02 / once) + 1;
  for (int i = 0; i < BATCHES; i++) {
    start = tesi_now();
    for (int r = 0; r < repeats; r++) run(job);
    must(device->synchronize(bench.ctx));
    seconds[i] = (tesi_now() - start) / repeats;
  }
  qsort(seconds, BATCHES, sizeof *seconds, ascending);
  *spread = (seconds[BATCHES - 1] - seconds[0]) / seconds[BATCHES / 2];
  return seconds[BATCHES / 2];
}

static void print_row(const Job *job, int degree, TesPrecision precision, int cells, double dofs,
                      double bytes, double error) {
  double spread;
  const double t = measure(job, &spread);
  printf("%-10s k=%-2d %-7s n=%-4d %6.1f Mdof %9.3f ms +-%4.1f%% %8.2f ps/dof %8.2f GDoF/s %6.0f GB/s  error "
         "%.1e\n",
         names[job->what], degree, precision == TES_DOUBLE ? "float64" : "float32", cells, dofs * 1e-6,
         t * 1e3, spread * 50, t / dofs * 1e12, dofs / t * 1e-9, bytes / t * 1e-9, error);
  fflush(stdout);
  if (bench.csv)
    fprintf(bench.csv, "%s,%d,%s,%d,%.0f,%.6g,%.3g,%.5g,%.5g,%.5g,%.3g\n", names[job->what], degree,
            precision == TES_DOUBLE ? "float64" : "float32", cells, dofs, t * 1e3, spread / 2,
            t / dofs * 1e12, dofs / t * 1e-9, bytes / t * 1e-9, error);
  if (bench.csv) fflush(bench.csv);
}

static TesSpace *make_space(int degree, int cells) {
  TesMesh *mesh;
  TesSpace *space;
  must(tes_mesh_create(bench.ctx, &(TesMeshDesc){.dim = 3, .cells = {cells, cells, cells}}, &mesh));
  must(tes_space_create(bench.ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree}, &space));
  tes_mesh_destroy(&mesh);
  return space;
}

/* Zero at the boundary, as vectors of a space are. */
static TesVector *space_vector(const TesSpace *space, TesPrecision precision, uint64_t seed) {
  const int64_t n = tes_space_length(space), nodes = tes_space_nodes_along(space, 0);
  if (n > 4000000) return random_vector(n, precision, seed); /* timing: the values do not matter */
  TesVector *v;
  double *values = malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) {
    const int64_t x = i % nodes, y = i / nodes % nodes, z = i / nodes / nodes, e = nodes - 1;
    values[i] = x && y && z && x < e && y < e && z < e ? (double)(float)random_number(&seed) : 0;
  }
  must(tes_vector_create(bench.ctx, n, precision, &v));
  must(tes_vector_set(v, values));
  free(values);
  return v;
}

static void make_objects(TesSpace *space, TesPrecision precision, bool smoother, TesOperator **op,
                         TesSmoother **s) {
  must(tes_operator_create(bench.ctx, &(TesOperatorDesc){.space = space, .precision = precision}, op));
  *s = NULL;
  if (smoother)
    must(tes_smoother_create(bench.ctx, &(TesSmootherDesc){.op = *op, .kind = TES_SMOOTHER_PATCH}, s));
}

/* The largest relative difference to the plain version on a small box. */
static double check(int what, int degree, TesPrecision precision) {
  TesSpace *space = make_space(degree, degree < 4 ? 6 : 4);
  TesOperator *op;
  TesSmoother *smoother;
  make_objects(space, precision, what == SMOOTH, &op, &smoother);
  TesVector *x = space_vector(space, precision, 1), *y = space_vector(space, precision, 2), *z;
  must(tes_vector_create(bench.ctx, tes_space_length(space), precision, &z));
  must(tes_vector_copy(y, 1, z));
  if (what == SMOOTH) {
    must(tes_smoother_apply(smoother, x, y, TES_FORWARD, false));
    must(tesi_smoother_apply_ref(smoother, x, z, TES_FORWARD, false));
  } else {
    must(tes_operator_apply(op, x, y));
    must(tesi_operator_apply_ref(op, x, z));
  }
  const double error = bench_difference(bench.ctx, y, z);
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tes_vector_destroy(&z);
  tes_smoother_destroy(&smoother);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  return error;
}

static void time_space(const char *what, int degree, TesPrecision precision) {
  int cells = (int)(cbrt(bench.dofs) / degree / 8 + 0.5) * 8;
  TesSpace *space = make_space(degree, cells < 8 ? 8 : cells);
  TesOperator *op;
  TesSmoother *smoother;
  const bool smooth = strstr(what, "smoother"), apply = strstr(what, "operator");
  cells = tes_mesh_info(tes_space_mesh(space)).cells_along[0];
  make_objects(space, precision, smooth, &op, &smoother);
  if (bench.verbose)
    printf("%s\n%s\n", tes_operator_info(op).description, smoother ? tes_smoother_describe(smoother) : "");
  Job job = {.op = op,
             .smoother = smoother,
             .x = space_vector(space, precision, 1),
             .y = space_vector(space, precision, 2)};
  const double dofs = (double)tes_space_dofs(space);
  if (apply) {
    const double error = bench.check ? check(APPLY, degree, precision) : NAN;
    job.what = APPLY;
    print_row(&job, degree, precision, cells, dofs, tes_operator_info(op).cost.bytes, error);
  }
  if (smooth) {
    const double error = bench.check ? check(SMOOTH, degree, precision) : NAN;
    job.what = SMOOTH;
    print_row(&job, degree, precision, cells, dofs, tes_smoother_cost(smoother).bytes, error);
  }
  tes_vector_destroy(&job.x);
  tes_vector_destroy(&job.y);
  tes_smoother_destroy(&smoother);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

static void time_transfer(int degree, TesPrecision precision) {
  const int cells = (int)(cbrt(bench.dofs) / degree / 8 + 0.5) * 8;
  TesSpace *fine = make_space(degree, cells < 8 ? 8 : cells), *coarse;
  TesTransfer *transfer;
  must(tes_space_coarsen(fine, &coarse));
  must(tes_transfer_create(
      bench.ctx, &(TesTransferDesc){.coarse = coarse, .fine = fine, .precision = precision}, &transfer));
  Job job = {
      .transfer = transfer, .x = space_vector(coarse, precision, 1), .y = space_vector(fine, precision, 2)};
  const double dofs = (double)tes_space_dofs(fine), size = (double)tesi_precision_size(precision);
  job.what = PROLONGATE;
  print_row(&job, degree, precision, cells, dofs, 2.125 * dofs * size, NAN);
  job.what = RESTRICT;
  print_row(&job, degree, precision, cells, dofs, 1.125 * dofs * size, NAN);
  tes_vector_destroy(&job.x);
  tes_vector_destroy(&job.y);
  tes_transfer_destroy(&transfer);
  tes_space_destroy(&fine);
  tes_space_destroy(&coarse);
}

static void time_vectors(TesPrecision precision) {
  const int64_t n = (int64_t)bench.dofs;
  const double size = (double)tesi_precision_size(precision);
  Job job = {.x = random_vector(n, precision, 1), .y = random_vector(n, precision, 2)};
  for (job.what = COPY; job.what <= DOT; job.what++)
    print_row(&job, 0, precision, 0, (double)n, 2 * (double)n * size, NAN);
  tes_vector_destroy(&job.x);
  tes_vector_destroy(&job.y);
}

int main(int argc, char **argv) {
  const char *device = "cuda", *what = "vector,operator,smoother,transfer", *precision = "both";
  int first = 1, last = 8;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--device"))
      device = value, i++;
    else if (!strcmp(argv[i], "--what"))
      what = value, i++;
    else if (!strcmp(argv[i], "--precision"))
      precision = value, i++;
    else if (!strcmp(argv[i], "--degrees")) {
      if (sscanf(value, "%d-%d", &first, &last) == 1) last = first;
      i++;
    } else if (!strcmp(argv[i], "--dofs"))
      bench.dofs = atof(value), i++;
    else if (!strcmp(argv[i], "--csv"))
      bench.csv = fopen(value, "w"), i++;
    else if (!strcmp(argv[i], "--no-check"))
      bench.check = false;
    else if (!strcmp(argv[i], "--verbose"))
      bench.verbose = true;
    else {
      fprintf(stderr, "unknown option %s\n", argv[i]);
      return 2;
    }
  }
  char message[2048];
  const TesContextDesc desc = {.device = device, .verbosity = bench.verbose ? TES_VERBOSE : TES_NORMAL};
  const TesStatus status = tes_context_create(&desc, &bench.ctx, message, sizeof message);
  if (status != TES_OK) {
    fprintf(stderr, "%s\n", message);
    return tes_status_exit(status);
  }
  if (bench.csv)
    fprintf(bench.csv, "kernel,degree,precision,cells,dofs,ms,spread,ps_per_dof,gdofs,gbytes,error\n");
  for (int p = 0; p < 2; p++) {
    if (!strcmp(precision, p ? "double" : "float")) continue;
    if (strstr(what, "vector")) time_vectors((TesPrecision)p);
    for (int k = first; k <= last; k++) {
      if (strstr(what, "operator") || strstr(what, "smoother")) time_space(what, k, (TesPrecision)p);
      if (strstr(what, "transfer")) time_transfer(k, (TesPrecision)p);
    }
  }
  tes_context_destroy(&bench.ctx);
  if (bench.csv) fclose(bench.csv);
  return 0;
}
