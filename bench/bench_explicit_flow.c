/* Algorithm 4 (src/problem/explicit/) on the cavity of the paper's Table 4: N x N x 2N cells of the pressure,
 * spaced by cosines, Re = 1000. Milliseconds of a whole step, and of each of its parts by itself; medians of nine
 * batches in turn.
 * bench_explicit_flow [--device D] [--threads N] [--cells N[:N]] [--step K] [--pressure direct|multigrid]
 * [--csv FILE] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"
#include "problem/explicit/explicit_flow.h"

static TesContext *ctx;

static void must(TesStatus status) {
  bench_must(ctx, status);
}

typedef struct Options {
  const char *device, *csv, *pressure;
  int threads, from, to;
  double step;
} Options;

enum { STEP, MOMENTUM, DIVERGENCE, SOLVE, PRESSURE, KINDS };

static void run(TesiExplicitFlow *flow, int what) {
  const TesiIsoStep momentum = {flow->k,     flow->nu, flow->u[flow->now],    flow->s,
                                flow->given, NULL,     flow->u[1 - flow->now]};
  TesSolveResult result;
  if (what == STEP) must(tesi_explicit_flow_step(flow));
  if (what == MOMENTUM) must(tesi_iso_momentum(flow->iso, &momentum));
  if (what == DIVERGENCE) must(tesi_iso_divergence(flow->iso, -1 / flow->k, flow->u[flow->now], flow->b));
  if (what == SOLVE && flow->direct) must(tesi_coarse_solve(flow->direct, flow->b, flow->q));
  if (what == SOLVE && flow->solver) must(tes_solver_solve(flow->solver, flow->b, flow->q, &result));
  /* a rate of 0 and q = 0 leave the pressure as it is */
  if (what == PRESSURE) must(tesi_iso_pressure(flow->iso, 0, flow->load, flow->b, flow->p, flow->s));
}

static int by_value(const void *a, const void *b) {
  const double d = *(const double *)a - *(const double *)b;
  return (d > 0) - (d < 0);
}

static void time_all(TesiExplicitFlow *flow, double seconds[KINDS]) {
  enum { BATCHES = 9 };
  const TesiDevice *device = tesi_context_device(ctx);
  double batch[KINDS][BATCHES];
  int times[KINDS];
  for (int i = 0; i < KINDS; i++) {
    for (int t = 0; t < 4; t++) run(flow, i);
    must(device->synchronize(ctx));
    const double start = tesi_now();
    run(flow, i);
    must(device->synchronize(ctx));
    times[i] = 1 + (int)(0.05 / (tesi_now() - start));
  }
  for (int b = 0; b < BATCHES; b++)
    for (int i = 0; i < KINDS; i++) {
      const double start = tesi_now();
      for (int t = 0; t < times[i]; t++) run(flow, i);
      must(device->synchronize(ctx));
      batch[i][b] = (tesi_now() - start) / times[i];
    }
  for (int i = 0; i < KINDS; i++) {
    qsort(batch[i], BATCHES, sizeof *batch[i], by_value);
    seconds[i] = batch[i][BATCHES / 2];
  }
}

static TesiExplicitFlow *cavity(int cells, double k, bool direct) {
  static const uint8_t walls[] = {7, 7, 7, 7, 7, 7};
  double *x[2] = {calloc((size_t)cells + 1, sizeof **x), calloc(2 * (size_t)cells + 1, sizeof **x)};
  for (int i = 0; i <= cells; i++) x[0][i] = (1 - cos(acos(-1) * i / cells)) / 2;
  for (int i = 0; i <= 2 * cells; i++) x[1][i] = 1 - cos(acos(-1) * i / (2 * cells));
  TesMesh *mesh;
  TesiExplicitFlow *flow;
  must(tes_mesh_create(ctx,
                       &(TesMeshDesc){.dim = 3,
                                      .cells = {cells, cells, 2 * cells},
                                      .coordinates = {x[0], x[0], x[1]},
                                      .kind = TES_MESH_BOX},
                       &mesh));
  must(tesi_explicit_flow_create(mesh, walls, 1e-3, k, direct, &flow));
  const TesiIso *iso = flow->iso;
  double *u = calloc(3 * (size_t)iso->nodes, sizeof *u);
  for (int64_t i = iso->axis[0].fine - 1; i < iso->nodes; i += iso->axis[0].fine) u[iso->nodes + i] = 1;
  must(tes_vector_set(flow->given, u));
  must(tes_vector_set(flow->u[0], u));
  free(u), free(x[0]), free(x[1]);
  tes_mesh_destroy(&mesh);
  return flow;
}

static void measure(const Options *o, int cells) {
  const double start = tesi_now();
  TesiExplicitFlow *flow = cavity(cells, o->step, !strcmp(o->pressure, "direct"));
  double t[KINDS], energy;
  for (int i = 0; i < 10; i++) run(flow, STEP);
  must(tesi_explicit_flow_energy(flow, &energy));
  const double setup = tesi_now() - start;
  time_all(flow, t);
  char line[300];
  snprintf(line, sizeof line, "%s,%d,%lld,%lld,%.4f,%.4f,%.4f,%.4f,%.4f,%d,%.10g,%.2f", o->pressure, cells,
           (long long)(3 * flow->iso->nodes), (long long)flow->iso->pressures, 1e3 * t[STEP],
           1e3 * t[MOMENTUM], 1e3 * t[DIVERGENCE], 1e3 * t[SOLVE], 1e3 * t[PRESSURE], flow->cycles, energy,
           setup);
  puts(line);
  fflush(stdout);
  FILE *file = o->csv ? fopen(o->csv, "a") : NULL;
  if (file) fprintf(file, "%s\n", line), fclose(file);
  tesi_explicit_flow_destroy(&flow);
}

static bool parse(int argc, char **argv, Options *o) {
  const BenchOption options[] = {{"--device", .text = &o->device},
                                 {"--csv", .text = &o->csv},
                                 {"--threads", .number = &o->threads},
                                 {"--cells", .number = &o->from, .last = &o->to},
                                 {"--step", .real = &o->step},
                                 {"--pressure", .text = &o->pressure},
                                 {.name = NULL}};
  if (!bench_read(argc, argv, options)) return false;
  if (!strcmp(o->pressure, "direct") || !strcmp(o->pressure, "multigrid")) return true;
  return fprintf(stderr, "--pressure direct or multigrid, not %s\n", o->pressure), false;
}

int main(int argc, char **argv) {
  static const char names[] =
      "pressure,cells,velocities,pressures,step_ms,momentum_ms,divergence_ms,solve_ms,"
      "pressure_ms,cycles,energy,setup_s";
  Options o = {.device = "cpu", .pressure = "direct", .from = 32, .to = 32, .step = 1e-4};
  char message[2048];
  if (!parse(argc, argv, &o)) return 2;
  const TesContextDesc desc = {.device = o.device, .threads = o.threads};
  if (tes_context_create(&desc, &ctx, message, sizeof message) != TES_OK)
    return fprintf(stderr, "%s\n", message), 3;
  puts(names);
  FILE *file = o.csv ? fopen(o.csv, "w") : NULL;
  if (file) fprintf(file, "%s\n", names), fclose(file);
  for (int n = o.from; n <= o.to; n *= 2) measure(&o, n);
  tes_context_destroy(&ctx);
  return 0;
}
