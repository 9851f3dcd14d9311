/* Batches of cells of any kind: see batch.h. */
#include "functional/batch.h"
#include <math.h>
#include <string.h>
#include "base/simd_builds.h"
#include "basis/lagrange.h"

#define LOOPS(bits)                                                                                          \
  void tesi_batch_contract_##bits(const int[3], int, int, int, bool, const double *, const double *,         \
                                  double *);                                                                 \
  void tesi_batch_weigh_##bits(int, int64_t, const double *, const double *, double *);                      \
  void tesi_batch_turn_##bits(int, int64_t, const double *, double *const[3]);                               \
  void tesi_batch_squares_##bits(int64_t, const double *, const double *, double[TESI_BATCH]);               \
  void tesi_batch_face_##bits(int, int, bool, const TesiFaceTables *, const double *, int, double *,         \
                              double *, int64_t);                                                            \
  void tesi_batch_add_product_##bits(int64_t, double, const double *, const double *, double *);             \
  void tesi_batch_invert_##bits(int, int64_t, double *, double *);                                           \
  void tesi_batch_to_space_##bits(int, int, int64_t, const TesiBatchInverse *, double *);                    \
  void tesi_batch_to_cell_##bits(int, int, int64_t, const TesiBatchInverse *, double *);                     \
  void tesi_batch_divide_##bits(int, int64_t, const TesiBatchInverse *, const double *, double *);
LOOPS(128)
LOOPS(256)
LOOPS(512)

#define PICK(loop) .loop = TESI_SIMD_PICK(bits, tesi_batch_##loop)
TesiBatchLoops tesi_batch_loops(int bits) {
  return (TesiBatchLoops){PICK(contract),    PICK(weigh),  PICK(turn),     PICK(squares), PICK(face),
                          PICK(add_product), PICK(invert), PICK(to_space), PICK(to_cell), PICK(divide)};
}

/* ---- creation ------------------------------------------------------------------------------------------ */

static void take_box(TesiBatches *b, const TesSpace *space, const TesiBatchKind *kind) {
  b->kind = kind;
  b->box = space;
  b->tasks = (int64_t)space->axis[1].cells * (space->dim == 3 ? space->axis[2].cells : 1);
  b->cells = b->tasks * space->axis[0].cells;
  b->task_batches = (space->axis[0].cells + TESI_BATCH - 1) / TESI_BATCH;
  b->batches = b->tasks * b->task_batches;
  b->sets = 4;
}

static TesStatus take_cells(TesiBatches *b, const TesSpace *space) {
  enum { TASK = 64 };
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_space_cells(space, &b->view));
  TES_TRY(tesi_mesh_geometry(space->mesh, &b->geometry));
  b->kind = &tesi_batch_cells;
  b->lanes = tesi_lanes(tes_context_simd_bits(ctx));
  b->cells = b->view->cells;
  b->batches = (b->cells + TESI_BATCH - 1) / TESI_BATCH;
  b->task_batches = TASK;
  b->tasks = (b->batches + TASK - 1) / TASK;
  b->sets = 1;
done:
  return status;
}

/* Derivatives of polynomials of this degree in a cell. */
static TesStatus create(const TesSpace *space, int degree, TesiPointRule rule, int q, TesiBatches **batches) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiBatches *b = NULL;
  double nodes[TESI_MAX_POINTS];
  *batches = NULL;
  TES_NEW(&b);
  b->context = ctx;
  b->n = degree + 1, b->q = q;
  b->space = space;
  b->dim = space->dim;
  b->length = space->length;
  b->boundaries = tes_mesh_boundaries(space->mesh);
  b->materials = tes_mesh_materials(space->mesh);
  if (tesi_space_box(space))
    take_box(b, space, &tesi_batch_box);
  else if (space->element->nodal)
    TES_TRY(take_cells(b, space));
  b->loops = tesi_batch_loops(tes_context_simd_bits(ctx));
  b->nodes = b->points = 1;
  for (int d = 0; d < b->dim; d++) b->nodes *= b->n, b->points *= q;
  tesi_gauss_lobatto(b->n, nodes, NULL);
  (rule == TESI_LOBATTO ? tesi_gauss_lobatto : tesi_gauss)(q, b->point, b->weight);
  tesi_lagrange(b->n, nodes, q, b->point, b->B, NULL);
  tesi_lagrange(q, b->point, q, b->point, NULL, b->D);
  if (!space->element->nodal)
    take_box(b, tesi_space_last(space),
             degree == space->degree ? tesi_batches_take_modes(b) : &tesi_batch_box);
  if (b->geometry) {
    TES_ALLOC(&b->w, b->points);
    for (int64_t p = 0; p < b->points; p++)
      b->w[p] = b->weight[p % q] * b->weight[p / q % q] * (b->dim == 3 ? b->weight[p / q / q] : 1);
    tesi_geometry_tables(b->geometry, q, b->point, b->geometry_B, b->geometry_G);
  }
  *batches = b;
  b = NULL;
done:
  tesi_batches_destroy(&b);
  return status;
}

TesStatus tesi_batches_create_at(const TesSpace *space, TesiPointRule rule, int q, TesiBatches **batches) {
  return create(space, space->degree, rule, q, batches);
}

TesStatus tesi_batches_create(const TesSpace *space, int q, TesiBatches **batches) {
  return tesi_batches_create_at(space, TESI_GAUSS, q, batches);
}

TesStatus tesi_batches_create_values(const TesSpace *space, TesiPointRule rule, int q, int part,
                                     const TesiRtTables *nodes, TesiBatches **batches) {
  const TesStatus status = create(space, tesi_space_shape(space), rule, q, batches);
  TesiBatches *b = *batches;
  if (status != TES_OK || space->element->nodal) return status;
  b->own = *b->kind;
  b->own.read = tesi_batches_read_part;
  b->kind = &b->own;
  b->part = part, b->tables = nodes;
  return TES_OK;
}

void tesi_batches_destroy(TesiBatches **batches) {
  if (!*batches) return;
  TesContext *ctx = (*batches)->context;
  tesi_free(ctx, &(*batches)->w);
  tesi_free(ctx, batches);
}

int64_t tesi_batches_of_task(const TesiBatches *b, int64_t task, int64_t *first) {
  *first = task * b->task_batches;
  return *first + b->task_batches <= b->batches ? b->task_batches : b->batches - *first;
}

/* Rows of cells of a box with the same parity in y and z share no nodes: they run at the same time, the four parities
 * in turn. */
static void parity_rows(const TesiBatches *b, int set, int first[2], int64_t count[2]) {
  const int cells[2] = {b->box->axis[1].cells, b->dim == 3 ? b->box->axis[2].cells : 1};
  for (int d = 0; d < 2; d++) {
    first[d] = set >> d & 1;
    count[d] = (cells[d] - first[d] + 1) / 2;
  }
}

int64_t tesi_batches_set_size(const TesiBatches *b, int set) {
  int first[2];
  int64_t count[2];
  if (!b->box) return b->tasks;
  parity_rows(b, set, first, count);
  return count[0] * count[1];
}

int64_t tesi_batches_set_task(const TesiBatches *b, int set, int64_t i) {
  int first[2];
  int64_t count[2];
  if (!b->box) return i;
  parity_rows(b, set, first, count);
  return first[0] + 2 * (i % count[0]) + (first[1] + 2 * (i / count[0])) * b->box->axis[1].cells;
}

/* ---- values -------------------------------------------------------------------------------------------- */

void tesi_batch_evaluate(const TesiBatches *b, const TesiBatch *batch, const double *u, double *values,
                         double *scratch) {
  /* the last contraction writes `values` */
  double *from = b->dim == 3 ? scratch : values, *to = b->dim == 3 ? values : scratch;
  int size[3] = {b->n, b->n, b->dim == 3 ? b->n : 1};
  b->kind->read(b, batch, u, from);
  for (int d = 0; d < b->dim; d++) {
    b->loops.contract(size, d, b->q, b->n, false, b->B, from, to);
    size[d] = b->q;
    double *const swap = from;
    from = to, to = swap;
  }
}

void tesi_batch_differentiate(const TesiBatches *b, const TesiBatch *batch, const TesiBatchPoints *at,
                              const double *values, double *const gradient[3]) {
  const int size[3] = {b->q, b->q, b->dim == 3 ? b->q : 1};
  for (int d = 0; d < b->dim; d++) b->loops.contract(size, d, b->q, b->q, false, b->D, values, gradient[d]);
  b->kind->gradient(b, batch, at, gradient);
}

void tesi_batch_integrate(TesiSums *sums, int64_t task, const TesiBatch *batch, double *values,
                          double *scratch) {
  const TesiBatches *b = sums->batches;
  int size[3] = {b->q, b->q, b->dim == 3 ? b->q : 1};
  double *from = values, *to = scratch;
  for (int d = b->dim - 1; d >= 0; d--) {
    b->loops.contract(size, d, b->q, b->n, true, b->B, from, to);
    size[d] = b->n;
    double *const swap = from;
    from = to, to = swap;
  }
  b->kind->add(sums, task, batch, from);
}

/* The transpose of differentiation. Row e of J^-1 is what `gradient` makes of derivatives on the reference cell that
 * are 1 in direction e and 0 in the others. */
void tesi_batch_integrate_slope(TesiSums *sums, int64_t task, const TesiBatch *batch,
                                const TesiBatchPoints *at, int direction, const double *values, double *work) {
  const TesiBatches *b = sums->batches;
  const int64_t n = tesi_batches_array(b);
  const int size[3] = {b->q, b->q, b->dim == 3 ? b->q : 1};
  double *row = work, *scratch = work + 3 * n,
         *sum = work + 4 * n, *const slope[3] = {row, row + n, row + 2 * n}, *own = slope[direction];
  memset(sum, 0, (size_t)n * sizeof *sum);
  for (int e = 0; e < b->dim; e++) {
    for (int64_t i = 0; i < 3 * n; i++) row[i] = i / n == e;
    b->kind->gradient(b, batch, at, slope);
    for (int64_t p = 0; p < n; p++) own[p] *= values[p];
    b->loops.contract(size, e, b->q, b->q, true, b->D, own, scratch);
    for (int64_t p = 0; p < n; p++) sum[p] += scratch[p];
  }
  tesi_batch_integrate(sums, task, batch, sum, scratch);
}

/* A value that is not finite is reported with its point. */
bool tesi_batch_constant(const TesFunction *const f[TESI_BATCH]) {
  double value;
  for (int l = 0; l < TESI_BATCH; l++)
    if (f[l] && !(tes_function_constant(f[l], &value) && isfinite(value))) return false;
  return true;
}

static TesStatus check_lanes(const TesiBatches *b, const TesiBatch *batch, const TesFunction *f,
                             const bool lanes[TESI_BATCH], const TesiBatchPoints *at, const double *values) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  for (int64_t i = 0; i < tesi_batches_array(b); i++)
    if (!isfinite(values[i]) && lanes[i % TESI_BATCH])
      TES_FAIL(tesi_function_fault(f), "%s%s is %g at (%.6g, %.6g, %.6g) in cell %lld",
               tesi_function_where(f), tes_function_text(f), values[i], at->x[0][i], at->x[1][i], at->x[2][i],
               (long long)batch->first + tesi_min((int)(i % TESI_BATCH), batch->count - 1));
done:
  return status;
}

/* Whether no value is infinite or NaN; each lane has its own flag, so that the loop vectorises. */
static bool is_finite(int64_t points, const double *values) {
  double zero[TESI_BATCH] = {0};
  bool finite = true;
  for (int64_t p = 0; p < points; p++, values += TESI_BATCH)
    for (int l = 0; l < TESI_BATCH; l++) zero[l] += values[l] - values[l];
  for (int l = 0; l < TESI_BATCH; l++) finite = finite && zero[l] == 0;
  return finite;
}

TesStatus tesi_batch_check(const TesiBatches *b, const TesiBatch *batch, const TesFunction *f,
                           const TesiBatchPoints *at, const double *values) {
  static const bool all[TESI_BATCH] = {true, true, true, true, true, true, true, true};
  return is_finite(b->points, values) ? TES_OK : check_lanes(b, batch, f, all, at, values);
}

/* values <- f in the lanes whose material has it; if all lanes have it, no scratch is needed. */
static TesStatus fill_lanes(const TesiBatches *b, const TesiBatch *batch, const TesFunction *f,
                            const bool lanes[TESI_BATCH], bool all, const TesiBatchPoints *at, double *values,
                            double *scratch) {
  const int64_t n = tesi_batches_array(b);
  double *to = all ? values : scratch;
  TesStatus status = TES_OK;
  if (f) tesi_function_values(f, n, at->x[0], at->x[1], at->x[2], 0, to);
  for (int64_t i = 0; i < n && !f; i++) to[i] = 0;
  if (!b->lenient && !is_finite(b->points, to)) status = check_lanes(b, batch, f, lanes, at, to);
  for (int64_t i = 0; i < n && !all; i++)
    if (lanes[i % TESI_BATCH]) values[i] = to[i];
  return status;
}

TesStatus tesi_batch_values(const TesiBatches *b, const TesiBatch *batch,
                            const TesFunction *const f[TESI_BATCH], const TesiBatchPoints *at, double *values,
                            double *scratch) {
  bool done[TESI_BATCH] = {false};
  TesStatus status = TES_OK;
  for (int l = 0; l < TESI_BATCH && status == TES_OK; l++) {
    bool lanes[TESI_BATCH], all = true;
    if (done[l]) continue;
    for (int m = 0; m < TESI_BATCH; m++) {
      lanes[m] = f[m] == f[l];
      all = all && lanes[m];
      done[m] = done[m] || lanes[m];
    }
    status = fill_lanes(b, batch, f[l], lanes, all, at, values, scratch);
  }
  return status;
}
