/* tessera bench adaptive: the ball of adaptive-matrix-free-ljungkvist-2017, uniform and refined on spherical shells,
 * a(x) = 1/(0.05 + 2|x|^2). It compares the matrix-free operator with its assembled form in two ways, runs with and
 * without hanging nodes, and the memory of all.
 *
 * csr: the matrix with hanging nodes eliminated. h: y = H' A H x, A over all nodes, H the matrix of hanging nodes. On
 * a GPU kernels assemble, cuSPARSE multiplies if it is installed (else a kernel), and queued applications are timed
 * several at a time. "difference": the largest difference of an entry between the two forms and the matrix-free
 * operator, relative to its largest entry. "times_larger": the ratio of the memory per unknown, including the two
 * vectors. "energy": v' A v of the nodal interpolant of (1 - |x|^2) cos(x + 2y + 3z), for comparison with other
 * programs (bench/peers).
 *
 * Shells: cells whose vertices lie on both sides of the spheres of radius 0.35 and 0.75 about (0.1, -0.05, 0.07), on
 * which no face lies, are refined twice in 3D, three times in 2D. Unknowns are counted as other codes do, hanging and
 * boundary nodes included. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "bench.h"
#include "common.h"
#include "device/device.h"
#include "operator/assembled/assembled.h"

enum { BATCH = 10, DEGREES = 8 };

typedef struct Subject {
  TesMesh *forest;
  TesSpace *space;
  TesOperator *op, *plain; /* with and without interpolation */
  TesVector *x, *y, *z;
  double bytes; /* of the operator, on the device */
  int batch;    /* applications that are queued before a wait */
} Subject;

static bool on_gpu(const TesContext *ctx) {
  return !strcmp(tesi_context_device(ctx)->kind, "cuda");
}

/* Bytes in use; only differences matter. */
static double memory(TesContext *ctx) {
  return on_gpu(ctx) ? -(double)tesi_context_device(ctx)->available(ctx) : (double)tes_context_memory(ctx);
}

static void release(Subject *s) {
  tes_vector_destroy(&s->x);
  tes_vector_destroy(&s->y);
  tes_vector_destroy(&s->z);
  tes_operator_destroy(&s->op);
  tes_operator_destroy(&s->plain);
  tes_space_destroy(&s->space);
  tes_mesh_destroy(&s->forest);
}

static TesStatus make_forest(TesContext *ctx, int dim, int cell_degree, int level, bool shells,
                             TesMesh **forest) {
  TesStatus status = TES_OK;
  int8_t *mark = NULL;
  TesMesh *next = NULL;
  TES_TRY(tes_mesh_create(
      ctx,
      &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = dim, .refine = level, .geometry_degree = cell_degree},
      forest));
  for (int t = 0; shells && t < (dim == 3 ? 2 : 3); t++) {
    const int64_t cells = tes_mesh_info(*forest).cells;
    TES_ALLOC(&mark, cells);
    for (int64_t c = 0; c < cells; c++)
      mark[c] = bench_cuts(*forest, c, 0.35) || bench_cuts(*forest, c, 0.75);
    TES_TRY(tes_mesh_adapt(*forest, mark, &next));
    tesi_free(ctx, &mark);
    tes_mesh_destroy(forest);
    *forest = next, next = NULL;
  }
done:
  tesi_free(ctx, &mark);
  if (status != TES_OK) tes_mesh_destroy(forest);
  return status;
}

/* The level whose mesh has about this many unknowns: each level has 2^dim times as many as the previous one. */
static TesStatus nearest_forest(TesContext *ctx, int dim, int cell_degree, int degree, double dofs,
                                bool shells, TesMesh **forest) {
  TesStatus status = TES_OK;
  TesMesh *next = NULL;
  *forest = NULL;
  for (int level = 0; level < 12; level++) {
    TES_TRY(make_forest(ctx, dim, cell_degree, level, shells, &next));
    const double size = (double)tes_mesh_info(next).cells * pow(degree, dim);
    const double before = *forest ? (double)tes_mesh_info(*forest).cells * pow(degree, dim) : 0;
    const bool closer = !*forest || fabs(log(size / dofs)) < fabs(log(before / dofs));
    if (closer) {
      tes_mesh_destroy(forest);
      *forest = next, next = NULL;
    }
    tes_mesh_destroy(&next);
    if (!closer || size > dofs) break;
  }
done:
  tes_mesh_destroy(&next);
  return status;
}

/* Multilinear cells for --geometry vertices, as in the paper. */
static int cell_degree(const BenchOptions *o) {
  return o->geometry == TES_FACTORS_VERTICES ? 1 : 2;
}

/* The kind of factors: stored, in float16 or from weights as --geometry requests, else as the operator chooses. */
static TesFactors factors_of(const BenchOptions *o) {
  const bool asked = o->geometry == TES_FACTORS_STORED || o->geometry == TES_FACTORS_WEIGHTS ||
                     o->geometry == TES_FACTORS_HALVES;
  return asked ? o->geometry : TES_FACTORS_AUTO;
}

static TesStatus prepare(TesContext *ctx, const BenchOptions *o, const TesFunction *a, int dim, int degree,
                         double dofs, bool shells, TesPrecision precision, Subject *s) {
  TesStatus status = TES_OK;
  double *values = NULL;
  uint64_t seed = 1;
  TES_TRY(nearest_forest(ctx, dim, cell_degree(o), degree, dofs, shells, &s->forest));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = s->forest, .degree = degree}, &s->space));
  const TesTermDesc diffusion = {.a = {.all = a}};
  TesOperatorDesc desc = {.space = s->space,
                          .form = {.terms = 1, .term = &diffusion},
                          .precision = precision,
                          .factors = factors_of(o)};
  const double before = memory(ctx);
  TES_TRY(tes_operator_create(ctx, &desc, &s->op));
  s->bytes = memory(ctx) - before;
  s->batch = on_gpu(ctx) ? BATCH : 1;
  desc.ignore_hanging = true;
  desc.factors = tes_operator_info(s->op).factors;
  if (tes_space_hanging(s->space)) TES_TRY(tes_operator_create(ctx, &desc, &s->plain));
  const int64_t length = tes_operator_info(s->op).length;
  TES_TRY(tes_vector_create(ctx, length, precision, &s->x));
  TES_TRY(tes_vector_create(ctx, length, precision, &s->y));
  TES_ALLOC(&values, length);
  for (int64_t i = 0; i < length; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    values[i] = (double)(int32_t)(seed >> 32) / 2147483648.0;
  }
  TES_TRY(tes_vector_set(s->x, values));
done:
  tesi_free(ctx, &values);
  return status;
}

/* A number of applications as one call: bench_time() gives seconds of all. */
static TesStatus apply_batch(const Subject *s, const TesOperator *op) {
  TesStatus status = TES_OK;
  TesContext *ctx = s->space->context;
  for (int i = 0; i < s->batch; i++) TES_TRY(tes_operator_apply(op, s->x, s->y));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  return status;
}

static TesStatus apply(void *data) {
  const Subject *s = data;
  return apply_batch(s, s->op);
}

static TesStatus apply_plain(void *data) {
  const Subject *s = data;
  return apply_batch(s, s->plain);
}

/* Both take turns, so that a change in the machine's speed affects both. */
static TesStatus time_both(Subject *s, double seconds, BenchTime *with, BenchTime *without) {
  enum { TURNS = 4 };
  TesStatus status = bench_time(apply, s, s->plain ? seconds / 2 : seconds, with);
  *without = *with;
  if (!s->plain) return status;
  without->median = without->fastest = INFINITY;
  for (int turn = 0; turn < TURNS && status == TES_OK; turn++) {
    BenchTime a, b;
    status = bench_time(apply_plain, s, seconds / (2 * TURNS), &b);
    if (status == TES_OK) status = bench_time(apply, s, seconds / (2 * TURNS), &a);
    if (status != TES_OK) break;
    with->median = fmin(with->median, a.median), with->fastest = fmin(with->fastest, a.fastest);
    without->median = fmin(without->median, b.median), without->fastest = fmin(without->fastest, b.fastest);
  }
  return status;
}

enum {
  DIM,
  MESH,
  CELL_DEGREE,
  DEGREE,
  PRECISION,
  FACTORS,
  CELLS,
  DOFS,
  HANGING,
  MS,
  FASTEST,
  RATE,
  OVERHEAD,
  BYTES,
  CSR_DOFS,
  CSR_MS,
  CSR_RATE,
  CSR_BYTES,
  CSR_SETUP,
  SPEEDUP,
  LARGER,
  H_MS,
  H_RATE,
  H_BYTES,
  H_SETUP,
  DIFFERENCE,
  ENERGY,
  PAPER_DOFS,
  PAPER_HANGING,
  SERIES,
  COLUMNS
};

static const CliColumn columns[COLUMNS] = {[DIM] = {"dim", 3, 0},
                                           [MESH] = {"mesh", 7, -1},
                                           [CELL_DEGREE] = {"cell_degree", 11, 0},
                                           [DEGREE] = {"degree", 6, 0},
                                           [PRECISION] = {"precision", 9, -1},
                                           [FACTORS] = {"factors", 8, -1},
                                           [CELLS] = {"cells", 9, 0},
                                           [DOFS] = {"dofs", 10, 0},
                                           [HANGING] = {"hanging_percent", 15, 2},
                                           [MS] = {"median_ms", 10, 3},
                                           [FASTEST] = {"fastest_ms", 10, 3},
                                           [RATE] = {"mdofs_per_s", 11, 1},
                                           [OVERHEAD] = {"hanging_overhead", 16, 3},
                                           [BYTES] = {"bytes_per_dof", 13, 1},
                                           [CSR_DOFS] = {"csr_dofs", 10, 0},
                                           [CSR_MS] = {"csr_ms", 9, 3},
                                           [CSR_RATE] = {"csr_mdofs_per_s", 15, 1},
                                           [CSR_BYTES] = {"csr_bytes_per_dof", 17, 1},
                                           [CSR_SETUP] = {"csr_setup_s", 11, 3},
                                           [SPEEDUP] = {"times_csr", 9, 2},
                                           [LARGER] = {"times_larger", 12, 2},
                                           [H_MS] = {"h_ms", 9, 3},
                                           [H_RATE] = {"h_mdofs_per_s", 13, 1},
                                           [H_BYTES] = {"h_bytes_per_dof", 15, 1},
                                           [H_SETUP] = {"h_setup_s", 9, 3},
                                           [DIFFERENCE] = {"difference", 10, -2},
                                           [ENERGY] = {"energy", 14, 10},
                                           [PAPER_DOFS] = {"paper_dofs", 10, 0},
                                           [PAPER_HANGING] = {"paper_hanging_percent", 0, 2},
                                           [SERIES] = {"series", 0, -1}};

/* Table 2 of the paper, degrees 1 to 4: unknowns, and percentage of hanging ones. */
enum { PAPER_DEGREES = 4 };
typedef struct PaperMesh {
  double dofs, hanging;
} PaperMesh;
static const PaperMesh paper[2][2][PAPER_DEGREES] = {
    {{{20975617, 0}, {20975617, 0}, {47192065, 0}, {20975617, 0}},
     {{18572584, 3.23}, {19992109, 4.51}, {44680720, 3.37}, {22356367, 4.70}}},
    {{{1847617, 0}, {14729857, 0}, {6221281, 0}, {14729857, 0}},
     {{1522469, 38.3}, {11564225, 25.4}, {5784259, 24.8}, {13205632, 19.6}}}};

static double count_dofs(const Subject *s) {
  return (double)(tes_space_length(s->space) + tes_space_hanging(s->space));
}

/* *difference <- the maximum of itself and max |y - z| / max |z|. */
static TesStatus compare(const Subject *s, double *difference) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  double *y = NULL, *z = NULL, largest = 0, error = 0;
  const int64_t length = tes_vector_length(s->y);
  TES_ALLOC(&y, length);
  TES_ALLOC(&z, length);
  TES_TRY(tes_vector_get(s->y, y));
  TES_TRY(tes_vector_get(s->z, z));
  for (int64_t i = 0; i < length; i++) {
    largest = fmax(largest, fabs(z[i]));
    if (!(fabs(y[i] - z[i]) <= error)) error = fabs(y[i] - z[i]); /* NaN too */
  }
  if (!(error / largest <= *difference)) *difference = error / largest;
done:
  tesi_free(ctx, &y);
  tesi_free(ctx, &z);
  return status;
}

static TesStatus find_energy(TesContext *ctx, const Subject *s, double *energy) {
  static const char *const text[] = {"(1 - x*x - y*y) * cos(x + 2*y)",
                                     "(1 - x*x - y*y - z*z) * cos(x + 2*y + 3*z)"};
  TesStatus status = TES_OK;
  TesFunction *v = NULL;
  double *values = NULL;
  TES_ALLOC(&values, tes_vector_length(s->x));
  TES_TRY(tes_function_create_expression(ctx, text[tes_mesh_info(s->forest).dim - 2], &v));
  TES_TRY(tes_space_interpolate(s->space, (const TesFunction *[]){v}, s->x));
  TES_TRY(tes_vector_get(s->x, values));
  const int64_t entries = tes_mesh_info(s->forest).cells *
                          (int64_t)pow(tes_space_degree(s->space) + 1, tes_mesh_info(s->forest).dim);
  const int32_t *index;
  TES_TRY(tes_space_index(s->space, &index, NULL));
  for (int64_t i = 0; i < entries; i++)
    if (index[i] < 0) values[-1 - index[i]] = 0;
  TES_TRY(tes_vector_set(s->x, values));
  TES_TRY(tes_operator_apply(s->op, s->x, s->y));
  TES_TRY(tes_vector_dot(s->x, s->y, energy));
done:
  tesi_free(ctx, &values);
  tes_function_destroy(&v);
  return status;
}

typedef struct Assembled {
  double seconds, setup, bytes; /* seconds of a product, and of assembling */
} Assembled;

/* Measures one form. s->op becomes it; s->z has the result of the matrix-free operator for s->x. */
static TesStatus measure_form(TesContext *ctx, const TesOperatorDesc *desc, const char *kind, double seconds,
                              Subject *s, Assembled *result, double *difference) {
  TesStatus status = TES_OK;
  BenchTime time;
  tes_operator_destroy(&s->op);
  const double start = tesi_now();
  TesOperatorDesc twin = *desc;
  twin.kind = kind;
  TES_TRY(tes_operator_create(ctx, &twin, &s->op));
  result->setup = tesi_now() - start;
  TES_TRY(tes_vector_fill(s->y, NAN));
  TES_TRY(tes_operator_apply(s->op, s->x, s->y));
  TES_TRY(compare(s, difference));
  TES_TRY(bench_time(apply, s, seconds, &time));
  result->seconds = time.median / s->batch;
  result->bytes = tesi_assembled_bytes(s->op);
done:
  return status;
}

/* The assembled forms. If assembling would take long, they are on a coarser mesh: beyond the caches their rate hardly
 * depends on the size. */
static TesStatus measure_matrix(TesContext *ctx, const BenchOptions *o, const TesFunction *a, int dim,
                                int degree, double dofs, bool shells, TesPrecision precision, CliCell *row) {
  TesStatus status = TES_OK;
  const double n = pow(degree + 1, dim), k = pow(degree, dim), most = on_gpu(ctx) ? 4e12 : 4e10;
  /* entries: more than 20 times the size of the caches */
  const double flops = 8 * n * n * (degree + 1) / k, entries = 1.5 * n, /* an unknown */
      enough = on_gpu(ctx) ? 8e7 : 4e8;
  const double vectors = 2 * (precision == TES_DOUBLE ? 8 : 4);
  double difference = 0;
  Assembled csr, h;
  Subject s = {0};
  TES_TRY(prepare(ctx, o, a, dim, degree, fmin(dofs, fmin(most / flops, enough / entries)), shells, precision,
                  &s));
  const TesTermDesc diffusion = {.a = {.all = a}};
  const TesOperatorDesc desc = {
      .space = s.space, .form = {.terms = 1, .term = &diffusion}, .precision = precision};
  TES_TRY(tes_vector_create(ctx, tes_operator_info(s.op).length, precision, &s.z));
  TES_TRY(tes_operator_apply(s.op, s.x, s.z));
  TES_TRY(measure_form(ctx, &desc, "assembled", o->seconds / 2, &s, &csr, &difference));
  row[CSR_DOFS].number = count_dofs(&s);
  row[CSR_MS].number = 1e3 * csr.seconds;
  row[CSR_RATE].number = 1e-6 * count_dofs(&s) / csr.seconds;
  row[CSR_BYTES].number = csr.bytes / count_dofs(&s);
  row[CSR_SETUP].number = csr.setup;
  row[SPEEDUP].number = row[RATE].number / row[CSR_RATE].number;
  row[LARGER].number = (row[CSR_BYTES].number + vectors) / (row[BYTES].number + vectors);
  if (tes_space_hanging(s.space)) {
    TES_TRY(measure_form(ctx, &desc, "assembled_hanging", o->seconds / 2, &s, &h, &difference));
    row[H_MS].number = 1e3 * h.seconds;
    row[H_RATE].number = 1e-6 * count_dofs(&s) / h.seconds;
    row[H_BYTES].number = h.bytes / count_dofs(&s);
    row[H_SETUP].number = h.setup;
  }
  row[DIFFERENCE].number = difference;
done:
  release(&s);
  return status;
}

/* Whether the x axis of a figure is the size, not the degree. */
static bool over_sizes(const BenchOptions *o) {
  return o->sizes > 1 && !o->paper_table;
}

/* The line to which a row belongs. Over degrees: one line per mesh; over sizes: one per mesh and degree. With both
 * precisions: one for each. */
static const char *series_of(const BenchOptions *o, int dim, int degree, bool shells, TesPrecision precision) {
  static const char *const meshes[2][2] = {{"2D uniform", "2D shells"}, {"3D uniform", "3D shells"}},
                           *const precisions[] = {" float64", " float32"};
  static char names[2][2][DEGREES + 1][2][32];
  const bool single = precision == TES_SINGLE, sizes = over_sizes(o);
  char *name = names[dim - 2][shells][sizes ? degree : 0][single], k[8] = "";
  if (sizes) snprintf(k, sizeof k, " Q%d", degree);
  snprintf(name, sizeof names[0][0][0][0], "%s%s%s", meshes[dim - 2][shells], k,
           o->single_precision && o->double_precision ? precisions[single] : "");
  return name;
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, int dim, int degree, double dofs,
                         bool shells, TesPrecision precision, BenchResult *result) {
  static const char *const factors[] = {"auto",   "stored",  "vertices", "affine",
                                        "matrix", "weights", "halves"};
  TesStatus status = TES_OK;
  TesFunction *a = NULL;
  Subject s = {0};
  BenchTime with, without;
  CliCell row[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) row[i] = (CliCell){NAN, NULL};
  TES_TRY(bench_coefficient(ctx, true, &a));
  TES_TRY(prepare(ctx, o, a, dim, degree, dofs, shells, precision, &s));
  TES_TRY(time_both(&s, o->seconds, &with, &without));
  row[DIM].number = dim, row[DEGREE].number = degree;
  row[MESH].text = shells ? "shells" : "uniform";
  row[SERIES].text = series_of(o, dim, degree, shells, precision);
  row[FACTORS].text = factors[tes_operator_info(s.op).factors];
  row[PRECISION].text = precision == TES_DOUBLE ? "double" : "single";
  row[CELLS].number = (double)tes_mesh_info(s.forest).cells;
  row[DOFS].number = count_dofs(&s);
  row[HANGING].number = 100 * (double)tes_space_hanging(s.space) / count_dofs(&s);
  row[MS].number = 1e3 * with.median / s.batch;
  row[FASTEST].number = 1e3 * with.fastest / s.batch;
  row[CELL_DEGREE].number = cell_degree(o);
  row[RATE].number = 1e-6 * count_dofs(&s) * s.batch / with.median;
  row[OVERHEAD].number = with.median / without.median - 1;
  row[BYTES].number = s.bytes / count_dofs(&s);
  TES_TRY(find_energy(ctx, &s, &row[ENERGY].number));
  if (o->paper_table) {
    const PaperMesh *mesh = &paper[dim - 2][shells][degree - 1];
    row[PAPER_DOFS].number = mesh->dofs, row[PAPER_HANGING].number = mesh->hanging;
  }
  release(&s);
  s = (Subject){0};
  if (!o->alone) TES_TRY(measure_matrix(ctx, o, a, dim, degree, dofs, shells, precision, row));
  if (!cli_table_add(&result->table, row)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the table");
done:
  release(&s);
  tes_function_destroy(&a);
  return status;
}

/* Figures 4 and 5 of the paper over sizes, 6 and 7 over degrees. A matrix is drawn at the size of its own mesh, which
 * may be smaller. */
static CliPlot describe_plot(const BenchOptions *o) {
  const bool sizes = over_sizes(o);
  return (CliPlot){.title =
                       o->alone ? "Ball: matrix-free" : "Ball: matrix-free and, dashed, the assembled matrix",
                   .x_label = sizes ? "unknowns" : "degree",
                   .y_label = "million unknowns a second",
                   .x = sizes ? DOFS : DEGREE,
                   .y = RATE,
                   .series = SERIES,
                   .beside = {{.y = CSR_RATE, .x = sizes ? CSR_DOFS : DEGREE, .name = "matrix"}},
                   .log_x = sizes,
                   .log_y = sizes || o->with}; /* a GPU and a processor in one figure */
}

/* All sizes and precisions of a mesh and degree. */
static TesStatus measure_sizes(TesContext *ctx, const BenchOptions *o, int dim, int degree, bool shells,
                               BenchResult *result) {
  TesStatus status = TES_OK;
  const int sizes = o->paper_table ? 1 : o->sizes;
  if (degree > (o->paper_table ? PAPER_DEGREES : DEGREES)) return TES_OK;
  for (int i = 0; i < sizes; i++)
    for (int p = 0; p < 2; p++) {
      if (tesi_context_interrupted(ctx)) return TES_OK; /* the existing rows are written */
      if (p == 0 ? !o->double_precision : !o->single_precision) continue;
      const double dofs = o->paper_table ? paper[dim - 2][shells][degree - 1].dofs : o->dofs[i];
      TES_TRY(measure(ctx, o, dim, degree, dofs, shells, p == 0 ? TES_DOUBLE : TES_SINGLE, result));
    }
done:
  return status;
}

TesStatus bench_adaptive(TesContext *ctx, const BenchOptions *o, BenchResult *result) {
  static const char *const meshes[] = {"uniform", "shells"};
  TesStatus status = TES_OK;
  cli_table_begin(&result->table, columns, COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot = describe_plot(o);
  if (o->seconds == 0) return TES_OK;
  for (int d = 0; d < o->dims; d++)
    for (int shells = 0; shells < 2; shells++)
      for (int k = 0; k < o->degrees && (!o->mesh || !strcmp(o->mesh, meshes[shells])); k++)
        TES_TRY(measure_sizes(ctx, o, o->dim[d], o->degree[k], shells, result));
done:
  return status;
}
