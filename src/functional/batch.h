/* Integrals over the cells of a mesh of any kind, with any number of Gauss points. Loads, norms and values use them.
 * Cells are taken in batches of TESI_BATCH, one lane per cell: arrays are [z][y][x][lane] over the nodes or
 * points of a cell, float64. Lanes beyond the last cell of a batch repeat it with weight 0.
 *
 * The parts that depend on the kind of mesh are in batch_box.c (nodes and points from the axes, nothing stored) and
 * batch_cells.c (node numbers, masks of hanging nodes, mapped cells). */
#ifndef TESI_BATCH_H
#define TESI_BATCH_H

#include "basis/gauss.h"
#include "geometry/lanes.h"
#include "space/space.h"
#include "tessera/functional.h"

enum { TESI_BATCH = TESI_LANES };

typedef struct TesiBatches TesiBatches;
typedef struct TesiFaceRule TesiFaceRule; /* batch_faces.h */
typedef struct TesiRtTables TesiRtTables; /* space/rt_cells.h */

/* Cells first .. first + count - 1; at: position of the first cell in a box. */
typedef struct TesiBatch {
  int64_t first;
  int count, at[3];
} TesiBatch;

/* Points of a batch, [points][lane] each: coordinates behind each other, weights, and (cells) J[dim * dim], d x_r /
 * d xi_c at r * dim + c. */
typedef struct TesiBatchPoints {
  double *x[3], *weight, *J;
} TesiBatchPoints;

/* Sums over cells into a vector, by all threads, in an order that does not depend on their number. The tasks of a set
 * share no node. Or (cells) a task adds directly to the nodes that no earlier task has, which are all numbers from its
 * floor on; its contributions to other nodes are stored and added in the end. */
typedef struct TesiSums {
  const TesiBatches *batches;
  double *values;
  bool given;          /* given (Dirichlet) nodes get their sums too; false: they get nothing */
  int64_t *floor;      /* [tasks]; NULL: no contributions are stored */
  int64_t *first, *at; /* [tasks + 1] begin of the entries of each task; [tasks] number of its entries */
  int32_t *node;
  double *aside;
} TesiSums;

/* The functions in which the kinds of meshes differ. */
typedef struct TesiBatchKind {
  TesiBatch (*batch)(const TesiBatches *b, int64_t number);
  /* local[nodes][lane] <- u */
  void (*read)(const TesiBatches *b, const TesiBatch *batch, const double *u, double *local);
  void (*add)(TesiSums *sums, int64_t task, const TesiBatch *batch, const double *local);
  /* Points; positions false: only weights are needed. J may be NULL. work: tesi_batches_work() numbers. */
  void (*points)(const TesiBatches *b, const TesiBatch *batch, bool positions, const TesiBatchPoints *at,
                 double *work);
  /* gradient[dim]: from derivatives on the reference cell to derivatives in space. */
  void (*gradient)(const TesiBatches *b, const TesiBatch *batch, const TesiBatchPoints *at,
                   double *const gradient[3]);
  /* Number of node p of a cell, and whether its value is given. */
  int64_t (*node)(const TesiBatches *b, int64_t cell, int p, bool *given);
  /* Points x[3][points] of a face, weights, and normal[3][points], unit, outwards (may be NULL). */
  void (*face)(const TesiBatches *b, const TesiFaceRule *rule, int64_t cell, int face, double *x,
               double *weight, double *normal);
  /* Moves the sums at the face's own nodes, local[nodes of the face], to the nodes in its index. NULL: both are the
   * same. */
  void (*constrain)(const TesiBatches *b, const TesiFaceRule *rule, int64_t cell, int face, double *local);
} TesiBatchKind;

/* Loops over lanes, compiled once per SIMD width.
 *   contract along direction d of a brick of `size` values (size[d]: of the input): out <- T in, or T' in,
 *   with T[rows][columns]. `out` and `in` differ.
 *   weigh out[points] <- w[points] det J
 *   turn g <- J^-T g
 *   squares sums[lane] += sum over points of w v^2
 *   face value (may be NULL), and derivative along x at derivative + x * between (may be NULL), at the points of a
 *     face as tesi_tensor_face() gives them, of u with nodes `stride` apart; swapped: the face's second direction runs
 *     fastest
 *   add_product out[points] += factor a b
 *   invert J <- J^-1, det <- |J|
 *   to_space g[fields][dim][points] <- J^-T g
 *   to_cell F[fields][dim][points] <- |J| J^-1 F
 *   divide out[points] += sum of in[dim][points] / |J| */
typedef struct TesiBatchInverse { /* matrix[dim*dim] = J^-1, d xi_c / d x_r at c * dim + r, and |J| */
  const double *matrix, *det;
  int step; /* 0: one matrix for all points; else 1 */
} TesiBatchInverse;
typedef struct TesiBatchLoops {
  void (*contract)(const int size[3], int d, int rows, int columns, bool transposed, const double *T,
                   const double *in, double *out);
  void (*weigh)(int dim, int64_t points, const double *J, const double *w, double *out);
  void (*turn)(int dim, int64_t points, const double *J, double *const g[3]);
  void (*squares)(int64_t points, const double *w, const double *v, double sums[TESI_BATCH]);
  void (*face)(int dim, int face, bool swapped, const TesiFaceTables *tables, const double *u, int stride,
               double *value, double *derivative, int64_t between);
  void (*add_product)(int64_t points, double factor, const double *a, const double *b, double *out);
  void (*invert)(int dim, int64_t points, double *J, double *det);
  void (*to_space)(int dim, int fields, int64_t points, const TesiBatchInverse *by, double *g);
  void (*to_cell)(int dim, int fields, int64_t points, const TesiBatchInverse *by, double *F);
  void (*divide)(int dim, int64_t points, const TesiBatchInverse *by, const double *in, double *out);
} TesiBatchLoops;
TesiBatchLoops tesi_batch_loops(int bits);

struct TesiBatches {
  TesContext *context;
  const TesiBatchKind *kind;
  TesiBatchKind own; /* `kind` for parts of element rt, and for element dg */
  TesiBatchLoops loops;
  int dim, n, q;                   /* nodes and points per direction */
  int64_t nodes, points;           /* a cell */
  int64_t cells, length, batches;  /* number of all cells; length of vectors */
  int64_t tasks;                   /* runs of batches: rows of a box, or some hundred cells */
  int64_t task_batches;            /* batches a task */
  int sets, boundaries, materials; /* number of tasks that may run at once; names of materials */
  double point[TESI_MAX_POINTS], weight[TESI_MAX_POINTS]; /* on [0, 1] */
  double B[TESI_MAX_POINTS * TESI_MAX_POINTS];            /* [q][n]: nodal basis at the points */
  double D[TESI_MAX_POINTS * TESI_MAX_POINTS]; /* [q][q]: derivative of polynomials through the points */
  double *w;                                   /* [points] products of weights (cells) */
  const TesSpace *space;
  /* where the cells are: a box, or cells with a geometry */
  const TesSpace *box;
  const TesiCellView *view;
  const TesiGeometry *geometry;
  const TesiLanes *lanes;
  /* of elements rt and dg, by nodal values of Q_(k+1) */
  const TesiRtTables *tables;
  int part;
  bool lenient; /* values of functions need not be finite */
  double geometry_B[TESI_GEOMETRY_POINTS * (TESI_GEOMETRY_DEGREE + 1)],
      geometry_G[TESI_GEOMETRY_POINTS * (TESI_GEOMETRY_DEGREE + 1)]; /* [q][m + 1] */
};

/* q > degree points per direction, at most TESI_GEOMETRY_POINTS except on boxes. The points are Gauss points, or
 * Gauss-Lobatto points, which are the nodes if q = degree + 1. The space must outlive the batches. */
typedef enum TesiPointRule { TESI_GAUSS, TESI_LOBATTO } TesiPointRule;
TesStatus tesi_batches_create_at(const TesSpace *space, TesiPointRule rule, int q, TesiBatches **batches);
TesStatus tesi_batches_create(const TesSpace *space, int q, TesiBatches **batches); /* TESI_GAUSS */
void tesi_batches_destroy(TesiBatches **batches);
/* For values of functions only: elements rt and dg by nodal values of scalar `part`, with tables
 * (tesi_rt_node_tables()) that outlive the batches; NULL: no function is read. */
TesStatus tesi_batches_create_values(const TesSpace *space, TesiPointRule rule, int q, int part,
                                     const TesiRtTables *nodes, TesiBatches **batches);
/* Reads a part so. */
void tesi_batches_read_part(const TesiBatches *b, const TesiBatch *batch, const double *u, double *local);
/* The kind of batches of element dg, whose `nodes` are modes; space, points and numbers are set before. */
const TesiBatchKind *tesi_batches_take_modes(TesiBatches *batches);
/* Over a box: entry 0 of the first cell. */
int64_t tesi_batch_box_corner(const TesiBatches *b, const TesiBatch *batch);
int tesi_functional_degree(const TesSpace *space);
int64_t tesi_functional_length(const TesSpace *space);
TesContext *tesi_functional_context(const TesSpace *space);

/* Numbers of an array [points][lane] that also holds [nodes][lane], and of the work of `points`. */
static inline int64_t tesi_batches_array(const TesiBatches *b) {
  return b->points * TESI_BATCH;
}
int64_t tesi_batches_work(const TesiBatches *b);
/* The batches of a task: *first .. *first + count - 1. */
int64_t tesi_batches_of_task(const TesiBatches *b, int64_t task, int64_t *first);
/* Number of tasks of a set, and the i-th task. */
int64_t tesi_batches_set_size(const TesiBatches *b, int set);
int64_t tesi_batches_set_task(const TesiBatches *b, int set, int64_t i);

/* values[points] <- the finite element function with nodal values u, polynomials of degree q - 1 along any
 * direction. scratch: [points]. */
void tesi_batch_evaluate(const TesiBatches *b, const TesiBatch *batch, const double *u, double *values,
                         double *scratch);
/* gradient[dim][points] <- the gradient of the polynomials with these values. */
void tesi_batch_differentiate(const TesiBatches *b, const TesiBatch *batch, const TesiBatchPoints *at,
                              const double *values, double *const gradient[3]);
/* b_i += sum over points of values * phi_i. `values` is overwritten; scratch: [points]. */
void tesi_batch_integrate(TesiSums *sums, int64_t task, const TesiBatch *batch, double *values,
                          double *scratch);
/* b_i += sum over points of values * d phi_i / d x_direction, with points and J at `at`. work: five arrays. */
void tesi_batch_integrate_slope(TesiSums *sums, int64_t task, const TesiBatch *batch,
                                const TesiBatchPoints *at, int direction, const double *values, double *work);
/* values[points] <- f[lane] at the points (NULL: 0). scratch: [points]. Errors: TES_NAN; the message gives function and
 * point, unless b->lenient. */
TesStatus tesi_batch_values(const TesiBatches *b, const TesiBatch *batch,
                            const TesFunction *const f[TESI_BATCH], const TesiBatchPoints *at, double *values,
                            double *scratch);
/* Checks that the values of f at the points are finite; errors as tesi_batch_values(). */
TesStatus tesi_batch_check(const TesiBatches *b, const TesiBatch *batch, const TesFunction *f,
                           const TesiBatchPoints *at, const double *values);
/* Whether f does not depend on the point. */
bool tesi_batch_constant(const TesFunction *const f[TESI_BATCH]);

/* Begins sums into values[length], which must be zero; to be freed after finish, and after failure. */
TesStatus tesi_sums_create(const TesiBatches *b, bool given, double *values, TesiSums *sums);
void tesi_sums_finish(TesiSums *sums);
void tesi_sums_free(TesiSums *sums);

extern const TesiBatchKind tesi_batch_box, tesi_batch_cells;

/* The number of a lane's cell in direction d, over boxes; lanes without a cell repeat the last one. */
static inline int tesi_batch_cell(const TesiBatch *batch, int d, int lane) {
  return d == 0 ? batch->at[0] + tesi_min(lane, batch->count - 1) : batch->at[d];
}
/* out <- the derivative in direction d of values at the points, or the transpose of this. */
static inline void tesi_batch_slope(const TesiBatches *b, int d, bool transposed, const double *in,
                                    double *out) {
  const int size[3] = {b->q, b->q, b->dim == 3 ? b->q : 1};
  b->loops.contract(size, d, b->q, b->q, transposed, b->D, in, out);
}

#endif
