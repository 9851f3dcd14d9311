#include "parallel/scaling.h"
#include <math.h>

/* GPUs: fitted to Poisson of degree 4 on one and two NVIDIA H200 (bench/results/h200/solve.csv, measurement ranks;
 * tests/t9_scaling.c compares). Trees on processors: fitted to the ball on 16 cores (cpu-16core/threads.csv). Boxes on
 * processors, and 20 us for the threads of a level, are estimates. Assumed between hosts: 15 us and 45 GB/s per GPU,
 * 5 us and 12 GB/s per host. */
TesiScalingMachine tesi_scaling_machine(bool gpus, bool trees, int cores) {
  TesiScalingMachine m = {.near_latency = 8e-6,
                          .near_rate = 340e9,
                          .far_latency = 15e-6,
                          .far_rate = 45e9,
                          .near = 8,
                          .whole = 1 << 20};
  if (trees)
    m.level = 95e-6, m.cycle = 215e-12, m.outer = 55e-12, m.exchanges = 12;
  else
    m.level = 65e-6, m.cycle = 68e-12, m.outer = 40e-12, m.exchanges = 4, m.repeated = 3, m.sent = 3;
  if (gpus) return m;
  m.near = 1, m.far_latency = 5e-6, m.far_rate = 12e9, m.whole = 0;
  m.level = 20e-6;
  m.cycle = (trees ? 200e-9 : 70e-9) / cores;
  m.outer = (trees ? 50e-9 : 30e-9) / cores;
  m.repeated = trees ? 0 : 2;
  return m;
}

typedef struct Sum {
  double part[TESI_BOUNDS];
} Sum;

static void add_exchanges(const TesiScalingMachine *m, int ranks, double count, double bytes, Sum *s) {
  const bool near = ranks <= m->near;
  s->part[TESI_BOUND_EXCHANGES] += count * (near ? m->near_latency : m->far_latency);
  s->part[TESI_BOUND_DATA] += count * bytes / (near ? m->near_rate : m->far_rate);
}

/* Bytes that a rank sends in an exchange of float32 numbers. */
static double cut_bytes(const TesiScalingMachine *m, const TesiScalingProblem *p, double unknowns, int ranks) {
  const double plane = (p->dim - 1.) / p->dim, cuts = ranks == 2 ? 1 : 2;
  if (p->layers == 0) return 4 * p->dim * cuts * pow(unknowns / ranks, plane);
  return 4 * cuts * pow(unknowns, plane) * fmax(1, m->sent * p->degree);
}

/* A level and all levels below it. A level that ranks hold whole is gathered once. */
static void add_levels(const TesiScalingMachine *m, const TesiScalingProblem *p, int ranks, Sum *s) {
  double unknowns = p->unknowns, layers = p->layers;
  const double finer = 1 << p->dim;
  int parts = ranks;
  for (int l = 0; unknowns >= 1 && (l == 0 || unknowns > 100); l++, unknowns /= finer, layers /= 2) {
    if (parts > 1 && l > 0 && (unknowns <= m->whole || (p->layers > 0 && layers < 2. * ranks))) {
      parts = 1;
      add_exchanges(m, ranks, 1, 4 * unknowns, s);
    }
    const double work = p->weight * m->cycle * unknowns, own = work / ranks;
    s->part[TESI_BOUND_LAUNCHES] += m->level;
    s->part[TESI_BOUND_WORK] += own;
    if (parts == 1) {
      s->part[TESI_BOUND_WHOLE] += work - own;
      continue;
    }
    const double cuts = ranks == 2 ? 1 : 2;
    if (p->layers > 0) s->part[TESI_BOUND_REPEATED] += 0.75 * work * m->repeated * cuts / fmax(layers, 1);
    add_exchanges(m, ranks, m->exchanges, cut_bytes(m, p, unknowns, ranks), s);
  }
}

double tesi_scaling_seconds(const TesiScalingMachine *m, const TesiScalingProblem *p, int ranks,
                            TesiScalingBound *bound) {
  Sum s = {{0}};
  double sum = 0;
  TesiScalingBound most = TESI_BOUND_LAUNCHES;
  if (p->layers > 0 && ranks > p->layers) return INFINITY;
  add_levels(m, p, ranks, &s);
  s.part[TESI_BOUND_WORK] += p->weight * m->outer * p->unknowns / ranks;
  if (ranks > 1) add_exchanges(m, ranks, 4, cut_bytes(m, p, p->unknowns, ranks) / 2, &s);
  for (int i = 0; i < TESI_BOUNDS; i++) {
    sum += s.part[i];
    if (i > TESI_BOUND_WORK && s.part[i] > s.part[most]) most = (TesiScalingBound)i;
  }
  if (bound) *bound = s.part[TESI_BOUND_WORK] >= 0.9 * sum ? TESI_BOUND_WORK : most;
  return sum;
}

const char *tesi_scaling_bound_name(TesiScalingBound bound) {
  static const char *const names[] = {[TESI_BOUND_WORK] = "work",
                                      [TESI_BOUND_LAUNCHES] = "launches",
                                      [TESI_BOUND_EXCHANGES] = "exchanges",
                                      [TESI_BOUND_DATA] = "data at cuts",
                                      [TESI_BOUND_REPEATED] = "layers computed twice",
                                      [TESI_BOUND_WHOLE] = "small levels"};
  return names[bound];
}
