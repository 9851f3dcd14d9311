#include "kernels/mapped_ladder.h"
#include <math.h>
#include <string.h>
#include "kernels/texts.h"
#include "operator/mapped/device/mapped_device.h"

/* Figures of the paper's text: BP1.0 kernels 1, 3, 6, 7, 8; BP3.0 in planes kernels 1, 2, 3, 5, 9; BP3.5 in planes
 * kernels 1, 6, 10; in cubes BP3.0 kernels 1 and 9, BP3.5 kernels 1, 3, 5. */
const BenchMappedRung bench_mapped_rungs[BENCH_MAPPED_RUNGS] = {
    {"global",
     "planes of threads; every contraction reads and writes global memory",
     false,
     0,
     false,
     {80, 0, 200}},
    {"shared", "work arrays in shared memory", false, 1, false, {0, 280, 500}},
    {"registers", "columns in registers, layers and matrices in shared memory", false, 2, false, {1000, 0, 0}},
    {"constant", "the same, what is read is declared constant", false, 3, false, {0, 1250, 0}},
    {"padded", "the same, rows of 8 or 16 numbers in shared memory are one longer", false, 4, false, {0, 0, 0}},
    {"unrolled", "the same, loops unrolled", false, 5, false, {1400, 1400, 1200}},
    {"barriers", "whole cells in shared memory: a barrier a direction", false, 6, false, {2250, 1500, 0}},
    {"symmetric", "the same, an entry of the matrices loaded once for two", false, 7, false, {2500, 1600, 0}},
    {"split",
     "a thread a point; interpolation, derivatives, projection as three kernels",
     true,
     0,
     true,
     {0, 280, 0}},
    {"cube", "the same in one kernel; every contraction writes global memory", true, 0, false, {0, 0, 300}},
    {"cube_unrolled", "the same, inputs constant, loops unrolled", true, 1, false, {0, 0, 0}},
    {"cube_factors", "the same, factors loaded once a point", true, 2, false, {0, 0, 350}},
    {"cube_registers", "the same, results summed in registers", true, 3, false, {0, 0, 0}},
    {"cube_shared", "values in one shared array", true, 4, false, {0, 0, 610}},
    {"cube_arrays", "values in four shared arrays: fewer barriers", true, 5, false, {0, 900, 0}}};
enum { MOST_CUBE = 10 }; /* points per direction in a block of at most 1024 threads */

int bench_mapped_rung_find(const char *name) {
  for (int rung = 0; rung < BENCH_MAPPED_RUNGS; rung++)
    if (!strcmp(name, bench_mapped_rungs[rung].name)) return rung;
  return -1;
}

const char *bench_mapped_rung_refuses(int rung, int q, bool collocated) {
  if (bench_mapped_rungs[rung].cube && q > MOST_CUBE)
    return "blocks of a thread a point end with 10 points a direction";
  if (bench_mapped_rungs[rung].split && collocated) return "BP5 has nothing to interpolate: it is one kernel";
  return NULL;
}

/* Numbers in shared memory, as in the heads of the kernels. */
static int count_shared(const BenchMappedRung *rung, int n, int q) {
  const int level = rung->level, cube = q * q * q;
  if (rung->cube) return q * n + q * q + (level == 4 ? cube : level == 5 ? 4 * cube : 0);
  if (level == 0) return 0;
  if (level == 1) return 4 * cube;
  const int np = n + (level >= 4 && n % 8 == 0), qp = q + (level >= 4 && q % 8 == 0);
  return 3 * q * qp * (level >= 6 ? q : 1) + q * np + q * qp;
}

/* Planes of threads, columns in registers. Along a column only matrix entries are read. Along x and y a value and an
 * entry are read for each layer, or an entry for all layers. */
static double planes_traffic(int level, double n, double q, bool collocated, bool stiffness) {
  const bool once = level >= 7;
  const double threads = q * q, layers = once ? q + 1 : 2 * q, column_nq = n * (once ? ceil(q / 2) : q),
               column_qn = q * (once ? ceil(n / 2) : n), column_qq = q * (once ? ceil(q / 2) : q);
  double numbers = q * n + q * q; /* the matrices */
  if (!collocated)                /* to points: z, y, x; back: x, y, z; written numbers, then read numbers */
    numbers += threads * (column_nq + column_qn) + q * (n * n + n * q + q * q + n * q) +
               layers * (n * n * q + n * q * q + q * n * q + q * n * n);
  if (stiffness) numbers += 2 * threads * column_qq + 3 * threads * q + 4 * threads * q * layers;
  return numbers;
}

/* Cubes of threads: for each step of a sum an entry is read, and a value if values are in shared memory. */
static double cube_traffic(int level, double n, double q, bool collocated, bool stiffness) {
  const double points = q * q * q, each = level >= 4 ? 2 : 1;
  double numbers = q * n + q * q, writes = 0;
  if (!collocated) {
    numbers += each * (n * (n * n * q + n * q * q + points) + q * (n * q * q + n * n * q + n * n * n));
    writes += 6;
  }
  if (stiffness) {
    numbers += each * 6 * q * points;
    writes += 4;
  }
  return numbers + (level >= 4 ? writes * points : 0);
}

double bench_mapped_rung_traffic(int rung, int n, int q, bool collocated, bool stiffness) {
  const BenchMappedRung *r = &bench_mapped_rungs[rung];
  if (!r->cube) return r->level >= 2 ? planes_traffic(r->level, n, q, collocated, stiffness) : 0;
  const int again = r->split ? 2 * (q * n + q * q) : 0; /* the matrices of two more launches */
  return again + cube_traffic(r->level, n, q, collocated, stiffness);
}

/* I [q][n], then D [q][q], in the kernel's precision. */
static TesStatus upload_tables(TesContext *ctx, const TesiMappedKernelDesc *d, BenchMappedLadder *ladder) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t size = tesi_precision_size(d->precision);
  const int ni = d->q * d->n, nd = d->q * d->q;
  double *values = NULL;
  TES_ALLOC(&values, ni + nd);
  memcpy(values, d->I, (size_t)ni * sizeof *values);
  memcpy(values + ni, d->D, (size_t)nd * sizeof *values);
  if (d->precision == TES_SINGLE)
    for (int i = 0; i < ni + nd; i++) ((float *)values)[i] = (float)values[i];
  TES_TRY(device->allocate(ctx, (size_t)(ni + nd) * size, &ladder->tables));
  TES_TRY(device->to_device(ctx, ladder->tables, values, (size_t)(ni + nd) * size));
  ladder->D = (char *)ladder->tables + (size_t)ni * size;
done:
  tesi_free(ctx, &values);
  return status;
}

TesStatus bench_mapped_ladder_make(TesContext *ctx, const TesiMappedKernelDesc *d, int rung, int64_t cells,
                                   BenchMappedLadder *ladder) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  const BenchMappedRung *step = &bench_mapped_rungs[rung];
  const size_t size = tesi_precision_size(d->precision);
  memset(ladder, 0, sizeof *ladder);
  TES_CHECK(d->dim == 3 && d->components == 1 && d->output == TESI_MAPPED_ELEMENT &&
                d->geometry == TESI_MAPPED_STORED && d->factors == d->precision,
            "the ladder's kernels are for element vectors of one component, 3D, stored factors");
  const char *refused = bench_mapped_rung_refuses(rung, d->q, d->collocated);
  TES_CHECK(!refused, "kernel '%s': %s", step->name, refused);
  const TesiProgramDesc desc = {.file = step->cube ? "mapped_ladder_cube.cu" : "mapped_ladder.cu",
                                .real = d->precision,
                                .macros = {{"N", d->n},
                                           {"Q", d->q},
                                           {"COLLOCATED", d->collocated},
                                           {"MASS", d->mass},
                                           {"STIFFNESS", d->stiffness},
                                           {"LEVEL", step->level}}};
  ladder->rung = step;
  ladder->threads = d->q * d->q * (step->cube ? d->q : 1);
  ladder->shared = (size_t)count_shared(step, d->n, d->q) * size;
  ladder->mass = 1;
  TES_TRY(bench_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, step->cube ? "tesk_mapped_ladder_cube" : "tesk_mapped_ladder",
                          ladder->shared, &ladder->kernel));
  TES_TRY(upload_tables(ctx, d, ladder));
  if (step->cube ? step->level < 4 : step->level == 0)
    TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)(4 * cells * d->q * d->q * d->q) * size,
                                               &ladder->work));
done:
  if (status != TES_OK) bench_mapped_ladder_release(ctx, ladder);
  return status;
}

TesStatus bench_mapped_ladder_of(const TesOperator *op, int rung, BenchMappedLadder *ladder) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = tesi_mapped_of(op);
  const TesiMappedPlan *plan = op->plan;
  const TesiMappedKernelDesc desc = tesi_mapped_kernel_desc(m, plan->factors);
  TES_TRY(bench_mapped_ladder_make(ctx, &desc, rung, m->cells, ladder));
  ladder->geometry = plan->geometry;
  ladder->mass = m->lambda;
done:
  return status;
}

TesStatus bench_mapped_ladder_run(TesContext *ctx, const BenchMappedLadder *ladder, int64_t cells,
                                  const void *x, void *y) {
  const void *geometry = ladder->geometry, *I = ladder->tables, *D = ladder->D;
  void *work = ladder->work;
  double mass = ladder->mass;
  const int all = 7, first = ladder->rung->split ? 1 : all; /* bits of `parts` in mapped_ladder_cube.cu */
  TesStatus status = TES_OK;
  for (int parts = first; parts <= all && status == TES_OK; parts *= 2) {
    void *arguments[] = {&x, &y, &geometry, &I, &D, &mass, &work, &parts};
    status = tesi_kernel_launch(ctx, &ladder->kernel, (TesiGrid){(unsigned)cells, 1, 1},
                                (unsigned)ladder->threads, ladder->shared, arguments);
  }
  return status;
}

void bench_mapped_ladder_release(TesContext *ctx, BenchMappedLadder *ladder) {
  const TesiDevice *device = tesi_context_device(ctx);
  device->release(ctx, &ladder->tables);
  device->release(ctx, &ladder->work);
}
