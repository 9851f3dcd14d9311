#include "parallel/scaling.h"
#include <math.h>
#include <stddef.h>

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

/* Parts of directions, the last one first; 0 where there is none. Trees have `ranks` compact parts. */
typedef struct Grid {
  int ranks, parts[3];
} Grid;

/* A sweep meets the colours of the last direction once, of those before twice and four times. */
static int times_of(int direction) {
  return 1 << direction;
}

static double cuts_of(int parts) {
  return parts > 2 ? 2 : parts - 1;
}

static double layers_of(const TesiScalingProblem *p, int direction) {
  return direction ? p->across[direction - 1] : p->layers;
}

/* Bytes that a rank sends in an exchange of float32 numbers. */
static double cut_bytes(const TesiScalingMachine *m, const TesiScalingProblem *p, double unknowns, Grid g) {
  const double plane = (p->dim - 1.) / p->dim;
  double bytes = 0;
  if (p->layers == 0) return 4 * p->dim * (g.ranks == 2 ? 1 : 2) * pow(unknowns / g.ranks, plane);
  for (int d = 0; d < p->dim; d++)
    bytes += 4 * cuts_of(g.parts[d]) * pow(unknowns, plane) * g.parts[d] / g.ranks *
             fmax(1, m->sent * times_of(d) * p->degree);
  return bytes;
}

/* A level and all levels below it; coarser: 2 to the number of the level. A level that ranks hold whole is gathered
 * once. */
static void add_levels(const TesiScalingMachine *m, const TesiScalingProblem *p, Grid g, Sum *s) {
  double unknowns = p->unknowns, coarser = 1;
  const double finer = 1 << p->dim;
  const int ranks = g.ranks;
  int parts = ranks;
  for (int l = 0; unknowns >= 1 && (l == 0 || unknowns > 100); l++, unknowns /= finer, coarser *= 2) {
    bool thin = unknowns <= m->whole;
    for (int d = 0; d < p->dim && p->layers > 0; d++)
      thin = thin || (g.parts[d] > 1 && layers_of(p, d) / coarser < 2. * g.parts[d]);
    if (parts > 1 && l > 0 && thin) {
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
    for (int d = 0; d < p->dim && p->layers > 0; d++)
      s->part[TESI_BOUND_REPEATED] += 0.75 * own * m->repeated * times_of(d) * cuts_of(g.parts[d]) *
                                      g.parts[d] / fmax(layers_of(p, d) / coarser, 1);
    add_exchanges(m, ranks, m->exchanges, cut_bytes(m, p, unknowns, g), s);
  }
}

static double seconds_of(const TesiScalingMachine *m, const TesiScalingProblem *p, Grid g,
                         TesiScalingBound *bound) {
  Sum s = {{0}};
  double sum = 0;
  TesiScalingBound most = TESI_BOUND_LAUNCHES;
  add_levels(m, p, g, &s);
  s.part[TESI_BOUND_WORK] += p->weight * m->outer * p->unknowns / g.ranks;
  if (g.ranks > 1) add_exchanges(m, g.ranks, 4, cut_bytes(m, p, p->unknowns, g) / 2, &s);
  for (int i = 0; i < TESI_BOUNDS; i++) {
    sum += s.part[i];
    if (i > TESI_BOUND_WORK && s.part[i] > s.part[most]) most = (TesiScalingBound)i;
  }
  if (bound) *bound = s.part[TESI_BOUND_WORK] >= 0.9 * sum ? TESI_BOUND_WORK : most;
  return sum;
}

/* Whether so many parts fit; roomy: with so many layers that both sides of cuts do not compute most of them. */
static bool fits(const TesiScalingMachine *m, const TesiScalingProblem *p, const Grid *g, bool roomy) {
  for (int d = 0; d < 3; d++) {
    const double layers = d < p->dim ? layers_of(p, d) : 0,
                 least = roomy && d > 0 ? 2 * fmax(1, m->repeated) * times_of(d) : 1;
    if (g->parts[d] > 1 && layers < least * g->parts[d]) return false;
  }
  return true;
}

bool tesi_scaling_grid(const TesiScalingMachine *m, const TesiScalingProblem *p, int ranks, int parts[3]) {
  const double gain = 0.95;
  const Grid layers = {ranks, {ranks, 1, 1}};
  Grid best = layers;
  double least = fits(m, p, &layers, true) ? gain * seconds_of(m, p, layers, NULL) : INFINITY;
  for (int roomy = 1; roomy >= 0 && (roomy || isinf(least)); roomy--)
    for (int second = 1; second <= ranks; second++)
      for (int third = 1; third <= ranks / second; third++) {
        const Grid g = {ranks, {ranks / second / third, second, third}};
        if (g.parts[0] * second * third != ranks || !fits(m, p, &g, roomy)) continue;
        const double seconds = seconds_of(m, p, g, NULL);
        if (second * third == 1 || seconds >= least) continue;
        least = seconds, best = g;
      }
  for (int d = 0; d < 3; d++) parts[d] = best.parts[d];
  return isfinite(least);
}

double tesi_scaling_seconds(const TesiScalingMachine *m, const TesiScalingProblem *p, int ranks,
                            TesiScalingBound *bound) {
  Grid g = {ranks, {ranks, 1, 1}};
  if (p->layers > 0 && !tesi_scaling_grid(m, p, ranks, g.parts)) return INFINITY;
  return seconds_of(m, p, g, bound);
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
