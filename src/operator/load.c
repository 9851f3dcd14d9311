#include "tessera/load.h"
#include <omp.h>
#include "device/vector.h"
#include "operator/box_device.h"
#include "operator/cell_batch.h"
#include "operator/operator.h"

/* Rows of cells of one parity in y and z share no nodes: they are done at once, the four parities in turn. */
typedef struct Rows {
  int cy, cz, count_y, count_z;
} Rows;

static Rows parity_rows(const TesSpace *space, int parity) {
  const int py = parity % 2, pz = parity / 2, cells_z = space->dim == 3 ? space->axis[2].cells : 1;
  return (Rows){py, pz, (space->axis[1].cells - py + 1) / 2, (cells_z - pz + 1) / 2};
}

enum { ARRAYS = 6 }; /* coordinates, weights, values, scratch: [points][lane] */

static TesStatus add_row(const TesiCells *cells, int row, const TesFunction *f, double *work, double *b) {
  const int64_t n = cells->points * TESI_BATCH;
  double *x = work, *y = x + n, *z = y + n, *w = z + n, *values = w + n, *scratch = values + n;
  for (int i = 0; i < cells->batches; i++) {
    const TesiBatch batch = tesi_cells_batch(cells, row, i);
    tesi_cells_points(cells, &batch, x, y, z, w);
    const TesStatus status = tes_function_evaluate(f, n, x, y, z, 0, values);
    if (status != TES_OK) return status;
    for (int64_t q = 0; q < n; q++) values[q] *= w[q];
    tesi_cells_integrate(cells, &batch, values, b, scratch);
  }
  return TES_OK;
}

static TesStatus add_volume(TesContext *ctx, const TesSpace *space, const TesFunction *f, double *b) {
  TesStatus status = TES_OK;
  double *work = NULL;
  TesiCells cells;
  const int threads = tes_context_threads(ctx);
  tesi_cells_init(space, space->degree + 3, &cells);
  const int64_t size = ARRAYS * cells.points * TESI_BATCH;
  int failed = TES_OK;
  TES_ALLOC(&work, size * threads);
  for (int parity = 0; parity < 4; parity++) {
    const Rows set = parity_rows(space, parity);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int i = 0; i < set.count_y * set.count_z; i++) {
      const int cy = set.cy + 2 * (i % set.count_y), cz = set.cz + 2 * (i / set.count_y);
      const TesStatus row =
          add_row(&cells, cy + cz * space->axis[1].cells, f, work + size * omp_get_thread_num(), b);
      if (row != TES_OK) {
#pragma omp atomic write
        failed = row;
      }
    }
    TES_TRY((TesStatus)failed);
  }
done:
  tesi_free(ctx, &work);
  return status;
}

/* One cell face, `cell` counting the cells of the two tangential directions s and t. */
static TesStatus add_face_cell(const TesSpace *space, int face, int cell, const TesiCells *cells,
                               const TesFunction *g, double *b) {
  enum { N = TESI_MAX_POINTS };
  const int d = face / 2, s = d == 0 ? 1 : 0, t = d == 2 ? 1 : 2,
            cell_of[2] = {cell % space->axis[s].cells, cell / space->axis[s].cells};
  const TesiAxis *axis = space->axis, *tangent[2] = {&axis[s], &axis[t]};
  const int64_t stride[3] = {1, axis[0].nodes, (int64_t)axis[0].nodes * axis[1].nodes};
  const double level = face % 2 ? axis[d].x[axis[d].nodes - 1] : axis[d].x[0];
  const int qs = cells->q, qt = space->dim == 3 ? cells->q : 1, n = space->degree + 1;
  double point[3][N * N], value[N * N];
  for (int i = 0; i < qs * qt; i++) {
    const int q[2] = {i % qs, i / qs};
    point[d][i] = level;
    for (int e = 0; e < 2; e++)
      point[e ? t : s][i] = tangent[e]->degree ? tangent[e]->x[cell_of[e] * (n - 1)] +
                                                     cells->point[q[e]] * tangent[e]->h[cell_of[e]]
                                               : 0;
  }
  const TesStatus status = tes_function_evaluate(g, qs * qt, point[0], point[1], point[2], 0, value);
  if (status != TES_OK) return status;
  double *corner = b + (face % 2 ? axis[d].nodes - 1 : 0) * stride[d] +
                   (int64_t)cell_of[0] * tangent[0]->degree * stride[s] +
                   (int64_t)cell_of[1] * tangent[1]->degree * stride[t];
  for (int i = 0; i < qs * qt; i++) {
    const int is = i % qs, it = i / qs;
    const double w = value[i] * cells->weight[is] * tangent[0]->h[cell_of[0]] *
                     (tangent[1]->degree ? cells->weight[it] * tangent[1]->h[cell_of[1]] : 1);
    for (int pt = 0; pt <= tangent[1]->degree; pt++)
      for (int ps = 0; ps < n; ps++)
        corner[ps * stride[s] + pt * stride[t]] +=
            w * cells->B[is * n + ps] * (tangent[1]->degree ? cells->B[it * n + pt] : 1);
  }
  return TES_OK;
}

static TesStatus add_face(TesContext *ctx, const TesSpace *space, int face, const TesFunction *g, double *b) {
  TesStatus status = TES_OK;
  TesiCells cells;
  const int d = face / 2, s = d == 0 ? 1 : 0, t = d == 2 ? 1 : 2;
  TES_CHECK(d < space->dim && space->axis[d].natural[face % 2],
            "a flux is given on face %d, which is not a natural one", face);
  tesi_cells_init(space, space->degree + 3, &cells);
  for (int cell = 0; cell < space->axis[s].cells * space->axis[t].cells; cell++)
    TES_TRY(add_face_cell(space, face, cell, &cells, g, b));
done:
  return status;
}

/* Calls for every node of a face: its index, in order. */
#define FOR_EACH_FACE_NODE(space, face, node)                                                                \
  for (int64_t axis_ = (face) / 2,                                                                           \
               before_ = axis_ == 0   ? 1                                                                    \
                         : axis_ == 1 ? (space)->axis[0].nodes                                               \
                                      : (int64_t)(space)->axis[0].nodes * (space)->axis[1].nodes,            \
               span_ = before_ * (space)->axis[axis_].nodes,                                                 \
               count_ = (space)->length / (space)->axis[axis_].nodes, i_ = 0, node;                          \
       i_ < count_ &&                                                                                        \
       (node = i_ / before_ * span_ + ((face) % 2 ? span_ - before_ : 0) + i_ % before_, true);              \
       i_++)

static void clear_dirichlet(const TesSpace *space, double *values) {
  for (int face = 0; face < 2 * space->dim; face++)
    if (!space->axis[face / 2].natural[face % 2]) FOR_EACH_FACE_NODE(space, face, node) values[node] = 0;
}

TesStatus tesi_space_clear_dirichlet(const TesSpace *space, TesVector *v) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  if (tesi_has_kernels(ctx)) return tesi_clear_dirichlet_device(space, v);
  TES_ALLOC(&values, space->length);
  TES_TRY(tes_vector_get(v, values));
  clear_dirichlet(space, values);
  TES_TRY(tes_vector_set(v, values));
done:
  tesi_free(ctx, &values);
  return status;
}

TesStatus tes_load_assemble(const TesSpace *space, const TesFunction *f, const TesFunction *const g[6],
                            TesVector *b) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  bool made = false;
  TES_CHECK(b->length == space->length && b->precision == TES_DOUBLE,
            "a load needs a float64 vector of the space");
  if (tesi_has_kernels(ctx)) TES_TRY(tesi_load_assemble_device(space, f, g, b, &made));
  if (made) goto done;
  TES_ALLOC(&values, space->length);
  if (f) TES_TRY(add_volume(ctx, space, f, values));
  for (int face = 0; face < 6; face++)
    if (g && g[face]) TES_TRY(add_face(ctx, space, face, g[face], values));
  clear_dirichlet(space, values);
  TES_TRY(tes_vector_set(b, values));
done:
  tesi_free(ctx, &values);
  return status;
}

static TesStatus lift_face(TesContext *ctx, const TesSpace *space, int face, const TesFunction *g,
                           double *u) {
  TesStatus status = TES_OK;
  double *x = NULL;
  const int64_t nx = space->axis[0].nodes, ny = space->axis[1].nodes,
                count = space->length / space->axis[face / 2].nodes;
  int64_t i = 0;
  TES_ALLOC(&x, 4 * count);
  FOR_EACH_FACE_NODE(space, face, node) {
    x[i] = space->axis[0].x[node % nx];
    x[count + i] = space->axis[1].x[node / nx % ny];
    x[2 * count + i] = space->dim == 3 ? space->axis[2].x[node / nx / ny] : 0;
    i++;
  }
  if (g) TES_TRY(tes_function_evaluate(g, count, x, x + count, x + 2 * count, 0, x + 3 * count));
  i = 0;
  FOR_EACH_FACE_NODE(space, face, node) u[node] = x[3 * count + i++];
done:
  tesi_free(ctx, &x);
  return status;
}

TesStatus tes_load_lifting(const TesSpace *space, const TesFunction *const g[6], TesVector *u) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  bool made = false;
  TES_CHECK(u->length == space->length && u->precision == TES_DOUBLE,
            "a lifting needs a float64 vector of the space");
  if (tesi_has_kernels(ctx)) TES_TRY(tesi_load_lifting_device(space, g, u, &made));
  if (made) goto done;
  TES_ALLOC(&values, space->length);
  for (int face = 0; face < 2 * space->dim; face++)
    if (!space->axis[face / 2].natural[face % 2]) TES_TRY(lift_face(ctx, space, face, g[face], values));
  TES_TRY(tes_vector_set(u, values));
done:
  tesi_free(ctx, &values);
  return status;
}
