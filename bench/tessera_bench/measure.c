/* Meshes, vectors and clocks of the benchmarks. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bench.h"
#include "device/blocks.h"
#include "device/kernel.h"
#include "space/space.h"

static int nearest_coarsening(double cells) {
  int best = 2;
  for (int m = 2; m <= 5; m++)
    for (int n = m == 4 ? 2 : m; n < 1 << 20; n *= 2)
      if (fabs(log(n / cells)) < fabs(log(best / cells))) best = n;
  return best;
}

TesStatus bench_space(TesContext *ctx, int dim, int degree, double dofs, bool coarsens, TesSpace **space) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  const double exact = fmax(1, (pow(dofs, 1.0 / dim) + 1) / degree);
  const int cells = coarsens ? nearest_coarsening(exact) : tesi_max(degree == 1 ? 2 : 1, (int)lround(exact));
  *space = NULL;
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = dim, .cells = {cells, cells, cells}}, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree}, space));
done:
  tes_mesh_destroy(&mesh);
  return status;
}

double bench_memory(TesContext *ctx) {
  return (double)(tesi_has_kernels(ctx) ? tesi_usage_device(ctx).held : tesi_usage_host(ctx).held);
}

TesStatus bench_coefficient(TesContext *ctx, bool variable, TesFunction **a) {
  return tes_function_create_expression(ctx, variable ? "1 / (0.05 + 2*(x*x + y*y + z*z))" : "1", a);
}

TesStatus bench_random(const TesSpace *space, TesVector *vector) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  const int64_t nx = tes_space_nodes_along(space, 0), ny = tes_space_nodes_along(space, 1),
                length = tes_space_length(space);
  uint64_t seed = 1;
  TES_ALLOC(&values, length);
  for (int64_t i = 0; i < length; i++) {
    const int64_t at[3] = {i % nx, i / nx % ny, i / nx / ny};
    bool inside = true;
    for (int d = 0; d < tes_mesh_info(tes_space_mesh(space)).dim; d++)
      inside = inside && at[d] > 0 && at[d] + 1 < tes_space_nodes_along(space, d);
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    if (inside) values[i] = (double)(int32_t)(seed >> 32) / 2147483648.0;
  }
  TES_TRY(tes_vector_set(vector, values));
done:
  tesi_free(ctx, &values);
  return status;
}

bool bench_has_name(const char *names, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = names; (at = strstr(at, name)); at += length)
    if ((at == names || at[-1] == ' ') && (at[length] == 0 || at[length] == ' ')) return true;
  return false;
}

const char *bench_text(const char *format, ...) {
  enum { MOST = 512, LENGTH = 64 };
  static char kept[MOST][LENGTH];
  char text[LENGTH];
  va_list arguments;
  int i = 0;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  while (i < MOST - 1 && kept[i][0] && strcmp(kept[i], text) != 0) i++;
  memcpy(kept[i], text, sizeof text);
  return kept[i];
}

TesStatus bench_wait(const TesOperator *op) {
  TesContext *ctx = tes_operator_info(op).space->context;
  return tesi_context_device(ctx)->synchronize(ctx);
}

static bool processor_clock;

void bench_use_processor_clock(void) {
  processor_clock = true;
}

static double now(void) {
  struct timespec t;
  if (!processor_clock) return tesi_now();
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

TesStatus bench_time(BenchCall call, void *data, double seconds, BenchTime *time) {
  enum { MOST = 2000, FEWEST = 5 };
  double sample[MOST];
  TesStatus status = call(data);
  const double begin = now();
  int count = 0;
  while (status == TES_OK && count < MOST && (count < FEWEST || now() - begin < seconds)) {
    const double start = now();
    status = call(data);
    sample[count++] = now() - start;
  }
  if (status != TES_OK) return status;
  qsort(sample, (size_t)count, sizeof *sample, ascending);
  *time = (BenchTime){
      .median = sample[count / 2], .fastest = sample[0], .slowest = sample[count - 1], .calls = count};
  return TES_OK;
}

TesStatus bench_joules(TesContext *ctx, BenchCall call, void *data, double *joules) {
  static const double span = 1, most = 20;
  TesEnergy e = tes_context_energy(ctx);
  const bool gpu = isfinite(e.gpu);
  double before = gpu ? e.gpu : e.cpu, first = NAN;
  double start = tesi_now();
  TesStatus status = TES_OK;
  int64_t calls = 0;
  *joules = NAN;
  if (!isfinite(before)) return TES_OK;
  while (status == TES_OK && tesi_now() - start < most) {
    status = call(data);
    calls++;
    e = tes_context_energy(ctx);
    const double now = gpu ? e.gpu : e.cpu;
    if (!(now > before)) continue;
    before = now;
    if (isfinite(first) && tesi_now() - start > span) {
      *joules = (now - first) / (double)calls;
      break;
    }
    if (!isfinite(first)) first = now, calls = 0, start = tesi_now();
  }
  return status;
}

TesStatus bench_room(TesContext *ctx, const TesProblemDesc *desc, double unknowns, double *most) {
  static const double h200 = 139. * (1 << 30);
  TesProblemMemory memory;
  const TesStatus status = tes_problem_memory(ctx, desc, &memory);
  if (status == TES_OK) *most = 1e-6 * unknowns * h200 / (double)memory.gpu;
  return status;
}
