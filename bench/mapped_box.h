/* Functions that the benches of mapped operators share: a box of perturbed trilinear cells made on the device, and
 * the kernel for it. */
#ifndef BENCH_MAPPED_BOX_H
#define BENCH_MAPPED_BOX_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "operator/mapped/device/mapped_kernel.h"
#include "kernels/mapped_ladder.h"
#include "tessera/tessera.h"

enum { MOST = 18 };

static struct {
  TesContext *ctx;
  const TesiDevice *device;
  FILE *csv;
  double dofs, seconds;
  int components, side, brick, rung; /* rung: index in the ladder; -1: the fast kernel */
  bool mass, sweep, colours, rehearsal, dot,
      full;  /* full: the index has one integer per node, although rows are consecutive */
  int fixed; /* boundary nodes are constrained */
  TesPrecision precision, factors;
} bench = {.components = 1, .rung = -1, .dofs = 2e7, .seconds = 0.03};

typedef struct Job {
  int bp, degree, n, q, side;
  bool global, mass, stiffness;
  TesiMappedGeometry geometry;
  double point[MOST], weight[MOST], I[MOST * MOST], D[MOST * MOST];
  int64_t cells, length;
  TesiMappedKernel kernel;
  BenchMappedLadder ladder;
  TeskMapped arguments;
  int launches;
  int64_t first[9];
  void *x, *y, *g, *index, *order;
  void *meeting;
  void *nodes; /* the full index, if `index` has rows */
} Job;

static inline void must(TesStatus status) {
  if (status == TES_OK) return;
  fprintf(stderr, "%s\n%s", tes_context_message(bench.ctx), tes_context_trace(bench.ctx));
  exit(tes_status_exit(status));
}

static inline int64_t cube(int64_t a) {
  return a * a * a;
}

static inline TesiMappedKernelDesc describe(const Job *job) {
  TesiMappedKernelDesc desc = {.dim = 3,
                               .n = job->n,
                               .q = job->q,
                               .components = bench.components,
                               .collocated = job->bp == 5,
                               .mass = job->mass,
                               .stiffness = job->stiffness,
                               .precision = bench.precision,
                               .factors = bench.factors,
                               .geometry = job->geometry,
                               .output = !job->global    ? TESI_MAPPED_ELEMENT
                                         : bench.colours ? TESI_MAPPED_COLOURED
                                                         : TESI_MAPPED_ATOMIC,
                               .ordered = bench.colours,
                               .dot = bench.dot,
                               .point = job->point,
                               .weight = job->weight,
                               .I = job->I,
                               .D = job->D};
  desc.rows = !bench.full && tesi_mapped_wants_rows(&desc);
  return desc;
}

/* ---- the mesh, on the device --------------------------------------------------------------------------- */
static inline void box_kernel(const Job *job, const char *name, bool factors, void **arguments) {
  TesiProgram *program;
  TesiKernel kernel;
  const bool single = factors ? bench.factors == TES_SINGLE : bench.precision == TES_SINGLE;
  const TesiProgramDesc desc = {
      .file = "mapped_box.cu",
      .real = single ? TES_SINGLE : TES_DOUBLE,
      .macros = {{"N", job->n}, {"Q", job->q}, {"MASS", job->mass}, {"STIFFNESS", job->stiffness}}};
  must(tesi_program_get(bench.ctx, &desc, &program));
  must(tesi_kernel_get(bench.ctx, program, name, 0, &kernel));
  must(tesi_kernel_launch(bench.ctx, &kernel, (TesiGrid){4224, 1, 1}, 256, 0, arguments));
}

static inline void allocate(int64_t count, size_t size, void **address) {
  /* kernels copy geometry in units of 16 bytes */
  must(bench.device->allocate(bench.ctx, bench.rehearsal ? 64 : (size_t)count * size + 16, address));
}

static inline void make_geometry(Job *job) {
  const size_t size = tesi_precision_size(bench.precision);
  const int s = 6 * job->stiffness + job->mass;
  void *vertices;
  double shift = 0.15;
  allocate(job->cells * 24, size, &vertices);
  box_kernel(job, "tesk_box_vertices", false, (void *[]){&job->side, &bench.brick, &shift, &vertices});
  if (job->geometry == TESI_MAPPED_VERTICES) {
    long long cells = job->cells;
    allocate(cells * 21, size, &job->g);
    box_kernel(job, "tesk_box_coefficients", false, (void *[]){&cells, &vertices, &job->g});
    bench.device->release(bench.ctx, &vertices);
    return;
  }
  if (job->geometry == TESI_MAPPED_AFFINE) { /* equal cubes */
    double *g = calloc((size_t)(job->cells * s), sizeof *g);
    const double h = 1.0 / job->side;
    for (int64_t i = 0; i < job->cells * s; i++) {
      const int f = (int)(i % s);
      g[i] = f == 6 * job->stiffness ? h * h * h : f == 0 || f == 3 || f == 5 ? h : 0;
      if (bench.precision == TES_SINGLE) ((float *)g)[i] = (float)g[i];
    }
    allocate(job->cells * s, size, &job->g);
    if (!bench.rehearsal)
      must(bench.device->to_device(bench.ctx, job->g, g, (size_t)(job->cells * s) * size));
    free(g);
  } else {
    const TesPrecision keep = bench.precision;
    long long cells = job->cells;
    allocate(cells * s * cube(job->q), tesi_precision_size(bench.factors), &job->g);
    if (bench.factors != bench.precision) { /* vertices in the factors' precision */
      bench.precision = bench.factors;
      box_kernel(job, "tesk_box_vertices", false, (void *[]){&job->side, &bench.brick, &shift, &vertices});
      bench.precision = keep;
    }
    box_kernel(job, "tesk_box_factors", true, (void *[]){&cells, &vertices, &job->g, &job->kernel.arguments});
  }
  bench.device->release(bench.ctx, &vertices);
}

/* Eight colours: the parities of a cell's coordinates. */
static inline void make_order(Job *job) {
  int32_t *order = malloc((size_t)job->cells * sizeof *order);
  int64_t n = 0;
  const int64_t m = job->side;
  job->launches = 8;
  for (int c = 0; c < 8; c++) {
    job->first[c] = n;
    for (int64_t z = c / 4; z < m; z += 2)
      for (int64_t y = c / 2 % 2; y < m; y += 2)
        for (int64_t x = c % 2; x < m; x += 2) order[n++] = (int32_t)((z * m + y) * m + x);
  }
  job->first[8] = n;
  allocate(job->cells, sizeof *order, &job->order);
  if (!bench.rehearsal)
    must(bench.device->to_device(bench.ctx, job->order, order, (size_t)job->cells * sizeof *order));
  free(order);
}

static inline void make_job(Job *job) {
  double node[MOST], weight[MOST];
  const size_t size = tesi_precision_size(bench.precision);
  job->n = job->degree + 1;
  job->q = job->bp == 5 ? job->n : job->n + 1;
  job->stiffness = job->bp != 1;
  job->mass = job->bp == 1 || bench.mass;
  tesi_gauss_lobatto(job->n, node, weight);
  if (job->bp == 5) {
    memcpy(job->point, node, sizeof node);
    memcpy(job->weight, weight, sizeof weight);
  } else {
    tesi_gauss(job->q, job->point, job->weight);
  }
  tesi_lagrange(job->n, node, job->q, job->point, job->I, NULL);
  tesi_lagrange(job->q, job->point, job->q, job->point, NULL, job->D);
  job->side = bench.side
                  ? bench.side
                  : (int)(cbrt(bench.dofs / bench.components) / (job->global ? job->degree : job->n) + 0.5);
  job->cells = cube(job->side);
  job->length = bench.components *
                (job->global ? cube((int64_t)job->side * job->degree + 1) : job->cells * cube(job->n));
  const TesiMappedKernelDesc desc = describe(job);
  must(tesi_mapped_kernel_make(bench.ctx, &desc, &job->kernel));
  make_geometry(job);
  allocate(job->length, size, &job->x);
  allocate(job->length, size, &job->y);
  if (job->global) {
    allocate(job->cells * cube(job->n), sizeof(int32_t), &job->index);
    box_kernel(job, "tesk_box_index", false, (void *[]){&job->side, &bench.brick, &bench.fixed, &job->index});
  }
  if (job->global && desc.rows) {
    void *full = job->nodes = job->index;
    long long rows = job->cells * job->n * job->n;
    allocate(rows, sizeof(int32_t), &job->index);
    box_kernel(job, "tesk_box_rows", false, (void *[]){&rows, &full, &job->index});
  }
  job->launches = 1;
  job->first[1] = job->cells;
  if (bench.colours && job->global) make_order(job);
}

static inline void free_job(Job *job) {
  bench.device->release(bench.ctx, &job->x);
  bench.device->release(bench.ctx, &job->y);
  bench.device->release(bench.ctx, &job->g);
  bench.device->release(bench.ctx, &job->index);
  bench.device->release(bench.ctx, &job->nodes);
  bench.device->release(bench.ctx, &job->order);
}

#endif
