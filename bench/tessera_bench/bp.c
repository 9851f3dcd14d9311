/* tessera bench bp: the benchmark problems BP1 to BP6 on deformed cells, in unknowns per second, beside the copy
 * roofline of tensor-product-bp-swirydowicz-2019 (with its byte counts: vectors once, factors once), and on a GPU
 * beside the roofline of shared memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "kernels/shared_rate.h"
#include "device/vector.h"
#include "kernels/mapped_ladder.h"
#include "operator/mapped/mapped.h"

typedef struct Problem {
  TesMesh *mesh;
  TesOperator *op;
  BenchMappedLadder *ladder; /* is applied instead of `op`; NULL: op */
  TesVector *x, *y;
  /* conjugate gradients */
  TesVector *r, *z, *p, *inverse;
  double rz;
  int dim, bp, degree, components, points, entries;
  double cells, unknowns; /* unknowns: of the global form, or element nodes in the element form */
} Problem;

static void release(Problem *s) {
  TesVector **vectors[] = {&s->x, &s->y, &s->r, &s->z, &s->p, &s->inverse};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) tes_vector_destroy(vectors[i]);
  if (s->ladder) bench_mapped_ladder_release(s->op->context, s->ladder);
  if (s->ladder) tesi_free(s->op->context, &s->ladder);
  tes_operator_destroy(&s->op);
  tes_mesh_destroy(&s->mesh);
}

/* A smooth map of the unit box to itself. */
static TesStatus smooth_map(TesContext *ctx, int dim, TesFunction *map[3]) {
  static const char *const texts[2][3] = {
      {"x + 0.05*sin(pi*x)*sin(pi*y)", "y - 0.05*sin(pi*x)*sin(2*pi*y)", NULL},
      {"x + 0.05*sin(pi*x)*sin(pi*y)*sin(pi*z)", "y - 0.05*sin(pi*x)*sin(2*pi*y)*sin(pi*z)",
       "z + 0.05*sin(pi*x)*sin(pi*y)*sin(pi*z)"}};
  TesStatus status = TES_OK;
  for (int d = 0; d < dim; d++) TES_TRY(tes_function_create_expression(ctx, texts[dim - 2][d], &map[d]));
done:
  return status;
}

/* Cells per direction, split evenly, for the given number of cells or about this many unknowns. */
static void choose_cells(const BenchOptions *o, int dim, int degree, double size, int cells[3]) {
  double left = o->cells ? size : size / pow(degree, dim);
  for (int d = dim; d > 0; d--) {
    cells[d - 1] = tesi_max(1, (int)lround(pow(left, 1.0 / d)));
    left /= cells[d - 1];
  }
}

static TesStatus make_mesh(TesContext *ctx, const BenchOptions *o, int dim, int degree, double size,
                           Problem *s) {
  TesStatus status = TES_OK;
  TesFunction *map[3] = {NULL};
  int cells[3] = {0};
  const bool affine = o->geometry == TES_FACTORS_AFFINE;
  choose_cells(o, dim, degree, size, cells);
  TesMeshDesc desc = {.kind = TES_MESH_CELLS,
                      .dim = dim,
                      .cells = {cells[0], cells[1], cells[2]},
                      .perturbation = affine || o->curved ? 0 : 0.15,
                      .seed = 1};
  if (o->curved) {
    TES_TRY(smooth_map(ctx, dim, map));
    for (int d = 0; d < dim; d++) desc.map[d] = map[d];
  }
  if (o->numbering == TES_NUMBER_SHUFFLED) desc.shuffle = 1;
  TES_TRY(tes_mesh_create(ctx, &desc, &s->mesh));
  s->cells = (double)tes_mesh_info(s->mesh).cells;
done:
  for (int d = 0; d < 3; d++) tes_function_destroy(&map[d]);
  return status;
}

static TesStatus fill_random(TesVector *v) {
  TesContext *ctx = v->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  uint64_t seed = 1;
  TES_ALLOC(&values, v->length);
  for (int64_t i = 0; i < v->length; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    values[i] = (double)(int32_t)(seed >> 32) / 2147483648.0;
  }
  TES_TRY(tes_vector_set(v, values));
done:
  tesi_free(ctx, &values);
  return status;
}

/* Quadrature points per direction. */
static int points_of(const BenchOptions *o, int bp, int degree) {
  return bp >= 5 ? degree + 1 : degree + (o->points ? o->points : 2);
}

static TesStatus prepare(TesContext *ctx, const BenchOptions *o, int bp, int dim, int degree, double size,
                         TesPrecision precision, int rung, Problem *s) {
  TesStatus status = TES_OK;
  *s = (Problem){.dim = dim, .bp = bp, .degree = degree};
  TES_TRY(make_mesh(ctx, o, dim, degree, size, s));
  const bool mass = bp <= 2, both = !mass && (o->element || o->lambda > 0);
  s->components = bp % 2 ? 1 : dim;
  s->points = points_of(o, bp, degree);
  s->entries = mass ? 1 : dim * (dim + 1) / 2 + both;
  const TesiMappedDesc desc = {
      .mesh = s->mesh,
      .degree = degree,
      .terms = mass   ? TESI_MASS
               : both ? TESI_STIFFNESS_MASS
                      : TESI_STIFFNESS,
      .collocated = bp >= 5,
      .points = s->points,
      .components = s->components,
      .lambda = both ? o->lambda : 0,
      .precision = precision,
      .form = o->element ? TESI_ELEMENT_VECTORS : TESI_GLOBAL_VECTORS,
      .numbering = {.order = o->numbering, .seed = 2, .dirichlet = o->cg > 0 && !mass},
      .factors = rung < BENCH_MAPPED_RUNGS && !o->geometry ? TES_FACTORS_STORED : o->geometry};
  TES_TRY(tesi_mapped_create(ctx, &desc, &s->op));
  if (rung < BENCH_MAPPED_RUNGS) {
    TES_NEW(&s->ladder);
    TES_TRY(bench_mapped_ladder_of(s->op, rung, s->ladder));
  }
  const int64_t length = tes_operator_info(s->op).length;
  s->unknowns = (double)length;
  TES_TRY(tes_vector_create(ctx, length, precision, &s->x));
  TES_TRY(tes_vector_create(ctx, length, precision, &s->y));
  TES_TRY(fill_random(s->x));
  if (s->ladder)
    tesi_log(ctx, TES_LOG_DETAIL, "mapped cells, kernel \"%s\" of the ladder, degree %d, %d points",
             bench_mapped_rungs[rung].name, degree, s->points);
  else
    tesi_log(ctx, TES_LOG_DETAIL, "%s", tes_operator_info(s->op).description);
done:
  if (status != TES_OK) release(s);
  return status;
}

/* y <- A x. */
static TesStatus multiply(const Problem *s, const TesVector *x, TesVector *y) {
  if (!s->ladder) return tes_operator_apply(s->op, x, y);
  return bench_mapped_ladder_run(x->context, s->ladder, (int64_t)s->cells, x->data, y->data);
}

static TesStatus apply(void *data) {
  const Problem *s = data;
  TesStatus status = multiply(s, s->x, s->y);
  if (status == TES_OK) status = tesi_context_device(s->x->context)->synchronize(s->x->context);
  return status;
}

/* x = 0, r = b (random), z = D^-1 r, p = z. */
static TesStatus start_cg(Problem *s) {
  TesContext *ctx = s->x->context;
  TesStatus status = TES_OK;
  const int64_t n = s->x->length;
  const TesPrecision precision = s->x->precision;
  TesVector **vectors[] = {&s->r, &s->z, &s->p, &s->inverse};
  double *values = NULL;
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    if (!*vectors[i]) TES_TRY(tes_vector_create(ctx, n, precision, vectors[i]));
  TES_ALLOC(&values, n);
  TES_TRY(tes_operator_diagonal(s->op, s->inverse));
  TES_TRY(tes_vector_get(s->inverse, values));
  for (int64_t i = 0; i < n; i++) values[i] = 1 / values[i];
  TES_TRY(tes_vector_set(s->inverse, values));
  TES_TRY(fill_random(s->r));
  TES_TRY(tes_vector_fill(s->x, 0));
  TES_TRY(tesi_device_multiply(ctx, precision, n, 1, s->r->data, s->inverse->data, s->z->data));
  TES_TRY(tes_vector_copy(s->z, 1, s->p));
  TES_TRY(tes_vector_dot(s->r, s->z, &s->rz));
done:
  tesi_free(ctx, &values);
  return status;
}

/* One iteration of conjugate gradients with diagonal preconditioning. */
static TesStatus iterate(Problem *s) {
  TesContext *ctx = s->x->context;
  TesStatus status = TES_OK;
  double pq, rz;
  TES_TRY(multiply(s, s->p, s->y));
  TES_TRY(tes_vector_dot(s->p, s->y, &pq));
  if (!(pq > 0)) TES_FAIL(TES_NAN, "conjugate gradients: p.Ap is %g", pq);
  TES_TRY(tes_vector_axpy(s->rz / pq, s->p, s->x));
  TES_TRY(tes_vector_axpy(-s->rz / pq, s->y, s->r));
  TES_TRY(
      tesi_device_multiply(ctx, s->x->precision, s->x->length, 1, s->r->data, s->inverse->data, s->z->data));
  TES_TRY(tes_vector_dot(s->r, s->z, &rz));
  TES_TRY(tes_vector_xpay(s->z, rz / s->rz, s->p));
  s->rz = rz;
done:
  return status;
}

typedef struct Solve {
  int iterations;
  double seconds, reduction; /* |r| at the end divided by |r| at the start */
} Solve;

/* At most `iterations`. With a tolerance: until |r|, in the norm of D^-1, is reduced by it. An exact solution ends
 * the iteration early. */
static TesStatus solve(Problem *s, int iterations, double tolerance, Solve *result) {
  TesContext *ctx = s->x->context;
  TesStatus status = TES_OK;
  double first, last;
  TES_TRY(start_cg(s));
  TES_TRY(tes_vector_norm(s->r, &first));
  const double start = tesi_now(), enough = tolerance * tolerance * s->rz;
  *result = (Solve){0};
  for (; result->iterations < iterations && s->rz > enough; result->iterations++) TES_TRY(iterate(s));
  TES_TRY(tes_vector_norm(s->r, &last));
  result->seconds = tesi_now() - start;
  result->reduction = last / first;
done:
  return status;
}

typedef struct Pair {
  TesVector *x, *y;
} Pair;

static TesStatus copy(void *data) {
  const Pair *pair = data;
  TesContext *ctx = pair->x->context;
  TesStatus status = tes_vector_copy(pair->x, 1, pair->y);
  return status == TES_OK ? tesi_context_device(ctx)->synchronize(ctx) : status;
}

TesStatus bench_copy_rate(TesContext *ctx, double *bandwidth) {
  enum { LENGTH = 1 << 25 };
  static double measured;
  TesStatus status = TES_OK;
  Pair pair = {NULL, NULL};
  BenchTime time;
  if (measured == 0) {
    TES_TRY(tes_vector_create(ctx, LENGTH, TES_DOUBLE, &pair.x));
    TES_TRY(tes_vector_create(ctx, LENGTH, TES_DOUBLE, &pair.y));
    TES_TRY(bench_time(copy, &pair, 0.5, &time));
    measured = 16.0 * LENGTH / time.median;
  }
  *bandwidth = measured;
done:
  tes_vector_destroy(&pair.x);
  tes_vector_destroy(&pair.y);
  return status;
}

static double ladder_traffic(const Problem *s) {
  const int rung = (int)(s->ladder->rung - bench_mapped_rungs);
  return bench_mapped_rung_traffic(rung, s->degree + 1, s->points, s->bp >= 5, s->bp > 2);
}

/* The rate of one application in shared memory as a share of the measured rate; NAN: there is no rate. */
static TesStatus shared_share(TesContext *ctx, const Problem *s, double seconds, double *share) {
  static double rate = -1;
  TesStatus status = TES_OK;
  const double size = (double)tesi_precision_size(s->x->precision),
               bytes = s->ladder ? size * s->cells * ladder_traffic(s) : tesi_mapped_shared_bytes(s->op);
  if (rate < 0) TES_TRY(bench_shared_rate(ctx, &rate));
  *share = rate > 0 && bytes > 0 ? bytes / seconds / rate : NAN;
done:
  return status;
}

/* Registers of the ladder's kernel, which unrolling increases (Figure 6 of the paper); NAN: not the ladder, or
 * unknown. */
static TesStatus count_registers(TesContext *ctx, const Problem *s, double *registers) {
  TesStatus status = TES_OK;
  TesiKernelUse use = {0};
  if (s->ladder)
    TES_TRY(tesi_kernel_use(ctx, &s->ladder->kernel, (unsigned)s->ladder->threads, s->ladder->shared, &use));
  *registers = use.registers > 0 ? use.registers : NAN;
done:
  return status;
}

/* Operations in 3D with full matrices, one addition and one multiplication per entry: interpolation to points and
 * back (BP1 to BP4), derivatives and factors (BP3 to BP6), mass. */
static double plain_flops(const Problem *s) {
  const double n = s->degree + 1, q = s->points, points = q * q * q,
               interpolation = 2 * (q * n * n * n + q * q * n * n + q * q * q * n);
  const bool mass = s->entries != 6, stiffness = s->bp > 2;
  if (s->dim != 3) return NAN;
  return s->cells * s->components *
         ((s->bp < 5 ? 2 * interpolation : 0) + (stiffness ? (12 * q + 15) * points : 0) +
          (mass ? (1 + stiffness) * points : 0));
}

/* The paper's smallest traffic: 2 values per node, and the factors of each point. */
static double paper_bytes(const Problem *s, TesPrecision precision) {
  const double points = pow(s->points, s->dim);
  return (2 * s->unknowns + s->cells * s->entries * points) * (double)tesi_precision_size(precision);
}

enum {
  BP_PROBLEM,
  BP_DIM,
  BP_DEGREE,
  BP_PRECISION,
  BP_CELLS,
  BP_DOFS,
  BP_FACTORS,
  BP_VARIANT,
  BP_MS,
  BP_FASTEST,
  BP_SLOWEST,
  BP_RATE,
  BP_GFLOPS,
  BP_GBYTES,
  BP_COPY,
  BP_SHARED,
  BP_COPY_LIMIT,
  BP_SHARED_LIMIT,
  BP_PLAIN,
  BP_PAPER,
  BP_REGISTERS,
  BP_CG,
  BP_ITERATIONS,
  BP_SECONDS,
  BP_REDUCTION,
  BP_SERIES,
  BP_COLUMNS
};

static const CliColumn columns[BP_COLUMNS] = {[BP_PROBLEM] = {"bp", 2, 0},
                                              [BP_DIM] = {"dim", 3, 0},
                                              [BP_DEGREE] = {"degree", 6, 0},
                                              [BP_PRECISION] = {"precision", 9, -1},
                                              [BP_CELLS] = {"cells", 8, 0},
                                              [BP_DOFS] = {"dofs", 10, 0},
                                              [BP_FACTORS] = {"factors", 8, -1},
                                              [BP_VARIANT] = {"variant", 14, -1},
                                              [BP_MS] = {"median_ms", 10, 4},
                                              [BP_FASTEST] = {"fastest_ms", 10, 4},
                                              [BP_SLOWEST] = {"slowest_ms", 0, 4},
                                              [BP_RATE] = {"gdofs_per_s", 11, 4},
                                              [BP_GFLOPS] = {"gflops", 8, 1},
                                              [BP_GBYTES] = {"gbytes_per_s", 12, 1},
                                              [BP_COPY] = {"share_of_copy", 13, 3},
                                              [BP_SHARED] = {"share_of_shared", 15, 3},
                                              [BP_COPY_LIMIT] = {"copy_roofline_gflops", 0, 1},
                                              [BP_SHARED_LIMIT] = {"shared_roofline_gflops", 0, 1},
                                              [BP_PLAIN] = {"plain_gflops", 0, 1},
                                              [BP_PAPER] = {"paper_gflops", 0, 0},
                                              [BP_REGISTERS] = {"registers", 9, 0},
                                              [BP_ITERATIONS] = {"cg_iterations", 13, 0},
                                              [BP_SECONDS] = {"cg_s", 8, 3},
                                              [BP_CG] = {"cg_gdofs_per_s", 14, 4},
                                              [BP_REDUCTION] = {"cg_reduction", 12, -2},
                                              [BP_SERIES] = {"series", 0, -1}};

/* variant: index of the ladder's kernel; BENCH_MAPPED_RUNGS: the kernel of programs. A figure of the ladder is over
 * degrees, so each number of cells is a line. */
static const char *series_name(const BenchOptions *o, const Problem *s, TesPrecision precision, int variant) {
  static char names[7][2][2][BENCH_MAPPED_RUNGS + 1][BENCH_LIST][56];
  static const char *const precisions[] = {"double", "single"};
  const bool ladder = o->variant, several = ladder && o->cells > 1;
  int size = 0;
  char cells[16] = "";
  for (int i = 1; several && i < o->cells; i++) /* meshes have about this many */
    if (fabs(log(o->cell_counts[i] / s->cells)) < fabs(log(o->cell_counts[size] / s->cells))) size = i;
  if (several) snprintf(cells, sizeof cells, ", %.0f", s->cells);
  char *name = names[s->bp][s->dim - 2][precision][variant][size];
  if (ladder)
    snprintf(name, sizeof names[0][0][0][0][0], "BP%d %s%s%s", s->bp,
             variant < BENCH_MAPPED_RUNGS ? bench_mapped_rungs[variant].name : "ours",
             precision == TES_DOUBLE ? "" : " single", cells);
  else
    snprintf(name, sizeof names[0][0][0][0][0], "BP%d %dD %s", s->bp, s->dim, precisions[precision]);
  return name;
}

/* Names that stand for several kernels of the ladder. */
enum { ALL, PLANES, CUBES, GROUPS };
static const char *const groups[GROUPS] = {"all", "planes", "cubes"};

static bool is_group(const char *variant) {
  bool found = false;
  for (int g = 0; g < GROUPS; g++) found = found || !strcmp(variant, groups[g]);
  return found;
}

/* v: a kernel of the ladder; BENCH_MAPPED_RUNGS: the kernel of programs. */
static bool is_wanted(const BenchOptions *o, int v) {
  if (v == BENCH_MAPPED_RUNGS) return !o->variant || is_group(o->variant);
  if (!o->variant) return false;
  return !strcmp(o->variant, groups[ALL]) || !strcmp(o->variant, bench_mapped_rungs[v].name) ||
         !strcmp(o->variant, groups[bench_mapped_rungs[v].cube ? CUBES : PLANES]);
}

static TesStatus add_row(TesContext *ctx, const BenchOptions *o, Problem *s, TesPrecision precision,
                         int variant, CliTable *table) {
  static const char *const factors[] = {"auto",   "stored",  "vertices", "affine",
                                        "matrix", "weights", "halves"};
  TesStatus status = TES_OK;
  BenchTime time;
  Solve cg = {0, NAN, NAN};
  double bandwidth, shared, registers;
  TES_TRY(bench_time(apply, s, o->seconds, &time));
  TES_TRY(bench_copy_rate(ctx, &bandwidth));
  TES_TRY(shared_share(ctx, s, time.median, &shared));
  TES_TRY(count_registers(ctx, s, &registers));
  const bool rung = variant < BENCH_MAPPED_RUNGS, limits = !rung || !is_group(o->variant); /* once a ladder */
  const double paper = rung ? bench_mapped_rungs[variant].paper[s->bp / 2] : 0,
               plain = 1e-9 * plain_flops(s) / time.median;
  if (o->cg) TES_TRY(solve(s, o->cg, o->cg_tolerance, &cg));
  const TesCost cost = tes_operator_info(s->op).cost;
  const double bytes = paper_bytes(s, precision), gflops = 1e-9 * cost.flops / time.median,
               share = bytes / time.median / bandwidth;
  const CliCell row[BP_COLUMNS] = {
      [BP_PROBLEM] = {s->bp, NULL},
      [BP_DIM] = {s->dim, NULL},
      [BP_DEGREE] = {s->degree, NULL},
      [BP_PRECISION] = {0, precision == TES_DOUBLE ? "double" : "single"},
      [BP_CELLS] = {s->cells, NULL},
      [BP_DOFS] = {s->unknowns, NULL},
      [BP_FACTORS] = {0, factors[tes_operator_info(s->op).factors]},
      [BP_MS] = {1e3 * time.median, NULL},
      [BP_FASTEST] = {1e3 * time.fastest, NULL},
      [BP_SLOWEST] = {1e3 * time.slowest, NULL},
      [BP_RATE] = {1e-9 * s->unknowns / time.median, NULL},
      [BP_VARIANT] = {0, rung ? bench_mapped_rungs[variant].name : NULL},
      [BP_GFLOPS] = {gflops, NULL},
      [BP_GBYTES] = {1e-9 * bytes / time.median, NULL},
      [BP_COPY] = {share, NULL},
      [BP_SHARED] = {shared, NULL},
      [BP_COPY_LIMIT] = {limits ? (o->variant ? plain : gflops) / share : NAN, NULL},
      [BP_SHARED_LIMIT] = {limits ? (o->variant ? plain : gflops) / shared : NAN, NULL},
      [BP_PLAIN] = {plain, NULL},
      [BP_PAPER] = {paper > 0 ? paper : NAN, NULL},
      [BP_REGISTERS] = {registers, NULL},
      [BP_CG] = {1e-9 * s->unknowns * cg.iterations / cg.seconds, NULL},
      [BP_ITERATIONS] = {o->cg ? cg.iterations : NAN, NULL},
      [BP_SECONDS] = {cg.seconds, NULL},
      [BP_REDUCTION] = {cg.reduction, NULL},
      [BP_SERIES] = {0, series_name(o, s, precision, variant)}};
  if (!cli_table_add(table, row)) status = TES_OUT_OF_MEMORY;
done:
  return status;
}

/* Measures the kernel of programs, one of the ladder, or several that support the case. */
static TesStatus measure(TesContext *ctx, const BenchOptions *o, int bp, int dim, int degree, double size,
                         TesPrecision precision, CliTable *table) {
  TesStatus status = TES_OK;
  for (int v = 0; v <= BENCH_MAPPED_RUNGS; v++) {
    Problem s;
    if (!is_wanted(o, v) ||
        (v < BENCH_MAPPED_RUNGS && bench_mapped_rung_refuses(v, points_of(o, bp, degree), bp >= 5)))
      continue;
    TES_TRY(prepare(ctx, o, bp, dim, degree, size, precision, v, &s));
    status = add_row(ctx, o, &s, precision, v, table);
    release(&s);
    if (status != TES_OK || tesi_context_interrupted(ctx)) break;
  }
done:
  return status;
}

static TesStatus for_sizes(TesContext *ctx, const BenchOptions *o, int bp, int dim, TesPrecision precision,
                           CliTable *table) {
  TesStatus status = TES_OK;
  const double *sizes = o->cells ? o->cell_counts : o->dofs;
  const int count = o->cells ? o->cells : o->sizes;
  for (int k = 0; k < o->degrees; k++)
    for (int i = 0; i < count; i++) {
      if (tesi_context_interrupted(ctx)) return TES_OK; /* the existing rows are written */
      TES_TRY(measure(ctx, o, bp, dim, o->degree[k], sizes[i], precision, table));
    }
done:
  return status;
}

static TesStatus list_variants(const BenchOptions *o) {
  if (o->common.verbosity < TES_NORMAL) return TES_OK;
  for (int v = 0; v < BENCH_MAPPED_RUNGS; v++)
    printf("  %-14s %s\n", bench_mapped_rungs[v].name, bench_mapped_rungs[v].text);
  printf("  %-14s the first eight, with a thread a column of points, and that of programs\n", groups[PLANES]);
  printf("  %-14s the others, with a thread a point, and that of programs\n", groups[CUBES]);
  return TES_OK;
}

static TesStatus check_variant(TesContext *ctx, const BenchOptions *o) {
  TesStatus status = TES_OK;
  const int rung = bench_mapped_rung_find(o->variant);
  TES_CHECK(rung >= 0 || is_group(o->variant), "there is no variant '%s': see bench bp --variant list",
            o->variant);
  TES_CHECK(o->dims == 1 && o->dim[0] == 3, "variants are for --dim 3");
  for (int i = 0; i < o->bps; i++) {
    TES_CHECK(o->bp[i] % 2, "variants are for one component: --bp 1, 3 and 5");
    for (int k = 0; k < o->degrees && rung >= 0; k++) {
      const char *refused =
          bench_mapped_rung_refuses(rung, points_of(o, o->bp[i], o->degree[k]), o->bp[i] >= 5);
      TES_CHECK(!refused, "variant '%s' is not for --bp %d --degree %d: %s", o->variant, o->bp[i],
                o->degree[k], refused);
    }
  }
  if (!tesi_has_kernels(ctx)) TES_FAIL(TES_MISSING, "variants are kernels: --device cuda or emulator");
done:
  return status;
}

/* Element vectors: GFLOP/s beside both rooflines, as in the paper's figures. Global vectors: unknowns per second. The
 * ladder: counted as in the paper, beside the paper's best figure for the same kernel. */
static CliPlot describe_plot(const BenchOptions *o) {
  const bool sizes = !o->variant && (o->cells ? o->cells : o->sizes) > 1;
  CliPlot plot = {.title = "benchmark problems, global vectors",
                  .x_label = sizes ? "unknowns" : "degree",
                  .y_label = "billion unknowns a second",
                  .x = sizes ? BP_DOFS : BP_DEGREE,
                  .y = BP_RATE,
                  .series = BP_SERIES,
                  .log_x = sizes};
  if (!o->element) return plot;
  plot.title = "benchmark problems, element vectors";
  plot.y_label = "GFLOP/s";
  plot.y = BP_GFLOPS;
  plot.beside[0] = (CliBeside){.y = BP_COPY_LIMIT, .name = "copy"};
  plot.beside[1] = (CliBeside){.y = BP_SHARED_LIMIT, .name = "shared memory"};
  if (!o->variant) return plot;
  plot.title = "benchmark problems, the ladder; dashed: rooflines, and the paper's best on a P100";
  plot.y_label = "GFLOP/s, counted with full matrices";
  plot.y = BP_PLAIN;
  plot.beside[2] = (CliBeside){.y = BP_PAPER, .name = "paper"};
  if (o->drawn == BENCH_DRAW_REGISTERS) /* Figure 6 */
    plot = (CliPlot){.title = "benchmark problems, the ladder",
                     .x_label = "degree",
                     .y_label = "registers of a thread",
                     .x = BP_DEGREE,
                     .y = BP_REGISTERS,
                     .series = BP_SERIES};
  return plot;
}

TesStatus bench_bp(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  BenchOptions with = *options;
  const BenchOptions *o = &with;
  TesStatus status = TES_OK;
  if (o->variant && !strcmp(o->variant, "list")) return list_variants(o);
  if (o->variant && o->seconds > 0) TES_TRY(check_variant(ctx, o));
  with.element = o->element || o->variant; /* the ladder's form */
  cli_table_begin(&result->table, columns, BP_COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot = describe_plot(o);
  if (o->seconds == 0) return TES_OK;
  for (int i = 0; i < o->bps; i++)
    for (int d = 0; d < o->dims; d++)
      for (int precision = TES_DOUBLE; precision <= TES_SINGLE; precision++)
        if (precision == TES_DOUBLE ? o->double_precision : o->single_precision)
          TES_TRY(for_sizes(ctx, o, o->bp[i], o->dim[d], (TesPrecision)precision, &result->table));
done:
  return status;
}
