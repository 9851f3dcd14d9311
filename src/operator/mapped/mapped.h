/* Operators on mapped cells: the data that the implementations share. Set-up (mapped.c, mapped_factors.c, on the
 * host) makes a TesiMapped. From it an implementation (host: mapped_host.c; kernels: mapped_device.c) makes the plan
 * for its loops. Where to read on:
 *   cells    what they have in memory: below; masks of hanging nodes: space/space.h, mesh/forest/hanging.h
 *   factors  what geometry and coefficients are at a point, and the six ways to have it there: TesFactors, made by
 *            mapped_factors.c, mapped_fill.c; which one is taken: host/mapped_host_choice.c
 *   batch    cells that share a vector on the host, chunk: what a thread takes: host/mapped_host.h
 *   cut      how cells become groups of threads on a device: device/mapped_cut.c
 *   Robin    faces, an operator around the one of the cells: mapped_robin.h; lifting: mapped_lift.c
 *   matrix   the assembled matrix, and the diagonal: mapped_assemble.c, mapped_rows.c, device/mapped_once_device.c
 *
 * With n = degree + 1 nodes and q points per direction, s factors per point:
 *   element vector  u[cell][component][n^dim], x fastest
 *   global vector   u[node * components + component]
 *   index           [cell][n^dim]; < 0: constrained node ~index, read as 0, nothing added; y = x in those rows
 *   factors         g[cell][s][q^dim], float64: 3D G00 G01 G02 G11 G12 G22, then c w|J|; 2D G00 G01 G11, then c w|J|;
 *                   terms that are absent are left out (mass: only c w|J|; stiffness: only G). lambda is not in it.
 *   vertices        x[cell][2^dim][dim], coordinate fastest, vertex v = bit 0 x, bit 1 y, bit 2 z
 *   affine          [cell][s]: |J| J^-1 a J^-T (3D 6, 2D 3 entries), then c |J|, without the weights w
 *   y = sum over cells of E' I' (D' G D + lambda W) I E x; J[r][c] = d x_r / d xi_c on the reference cell [0,
 *   1]^dim, weights sum to 1. */
#ifndef TESI_MAPPED_H
#define TESI_MAPPED_H

#include "operator/operator.h"
#include "operator/mapped/mapped_desc.h"
#include "space/space.h"

enum { TESI_MAPPED_CELL_DEGREE = 2 }; /* degree of cells, at most */
enum { TESI_MAPPED_DEGREE = 15, TESI_MAPPED_POINTS = 18, TESI_MAPPED_COMPONENTS = 4 };

typedef struct TesiMapped {
  int references; /* an operator with Robin terms shares the array of its inner operator */
  /* The description with defaults filled in. `factors` is auto until an implementation has chosen. Pointers: see
   * below. */
  TesiMappedDesc desc;
  TesiGeometry *geometry;
  int dim, degree, n, q, components;
  bool stiffness, mass, collocated;
  double lambda;
  TesPrecision precision;
  bool global;
  int64_t cells, nodes, length;     /* nodes of the global vector (global form); length of vectors */
  int64_t cell_nodes, cell_points;  /* n^dim, q^dim */
  const int32_t *index;             /* NULL in the element form; from the view or own_index */
  int64_t constrained;              /* number of constrained nodes, and of nodes in no cell */
  const int32_t *constrained_nodes; /* [constrained], ascending; from the view or own_constrained */
  const uint16_t *mask;             /* [cells] TesMask, NULL: nothing hangs; from the view or own_mask */
  TesiCellView *view;               /* NULL: the caller's arrays were copied */
  int32_t *own_index, *own_constrained;
  uint16_t *own_mask;
  int32_t *part; /* [cells], -1: no part; NULL: no parts */
  int parts;
  TesFunction **part_a, **part_c; /* [parts]; NULL entries: a, c */
  /* 1D tables, float64: nodes [n], points and weights [q] on [0, 1]; I[q][n]; D[q][q] differentiates at the points */
  double node[TESI_MAPPED_POINTS], point[TESI_MAPPED_POINTS], weight[TESI_MAPPED_POINTS];
  double I[TESI_MAPPED_POINTS * TESI_MAPPED_POINTS], D[TESI_MAPPED_POINTS * TESI_MAPPED_POINTS];
  /* the factors that cells and coefficients allow */
  bool can_vertices, can_affine, can_weights;
  /* where can_weights: degree of the cells' polynomials; 1 also for polynomials of second degree that are multilinear
   * up to rounding */
  int cell_degree;
  double a[6],
      /* constant coefficients: dim == 3: 00 01 02 11 12 22, dim == 2: 00 01 11; set where can_vertices or
       * can_affine */
      c;
  bool scalar; /* a is a scalar in every cell */
  int factors; /* s */
} TesiMapped;

/* Fill caller's arrays, float64, with the numbers of cells first .. first + count - 1, in parallel. Coefficients
 * are checked. */
TesStatus tesi_mapped_fill_factors(const TesiMapped *m, int64_t first, int64_t count,
                                   double *g); /* [count][s][q^dim] */
/* w a / |J| for a scalar coefficient a and, with a mass term, c w |J|: [count][1 or 2][q^dim]. */
TesStatus tesi_mapped_fill_weights(const TesiMapped *m, int64_t first, int64_t count, double *g);
/* Only checks the coefficients, and that no cell is inverted at a point. */
TesStatus tesi_mapped_check(const TesiMapped *m);
TesStatus tesi_mapped_fill_vertices(const TesiMapped *m, int64_t first, int64_t count,
                                    double *x); /* [count][2^dim][dim]; can_vertices */
TesStatus tesi_mapped_fill_affine(const TesiMapped *m, int64_t first, int64_t count,
                                  double *g); /* [count][s]; can_affine */
/* The degree of a cell's polynomial, and its coefficients c[(degree+1)^dim][dim] by monomials, x fastest; only where
 * can_weights is set. degree: the degree of the geometry, or the result of tesi_mapped_cell_degree(). */
int tesi_mapped_cell_degree(const TesiMapped *m);
void tesi_mapped_monomials(const TesiMapped *m, int64_t cell, int degree, double *c);

/* Colours of cells: no two cells of a colour share a node (index[cells][cell nodes], ~node or node). If index is NULL
 * or the form is not global, there is one colour. order[cells] ascends within a colour; colour c has order[first[c]]
 * .. order[first[c+1] - 1]; first[colours + 1]. Both are freed with tesi_free. */
TesStatus tesi_colour_cells(TesContext *ctx, int64_t cells, int64_t cell_nodes, const int32_t *index,
                            int64_t nodes, int *colours, int64_t **first, int32_t **order);
TesStatus tesi_mapped_make_colours(const TesiMapped *m, int *colours, int64_t **first, int32_t **order);
/* The directions (bits) in which lines of a cell are interpolated. */
unsigned tesi_mapped_directions(const TesiMapped *m, int64_t cell);
/* order[cells]: within each window of this many cells, cells with equal directions are put together, and cells with
 * most directions come first. In orders by colour this holds within each colour. */
TesStatus tesi_mapped_group_hanging(const TesiMapped *m, int64_t window, int32_t **order);
/* Positions of the cells on a space-filling curve through their centres: keys[cells]. */
TesStatus tesi_mapped_make_keys(const TesiMapped *m, uint64_t **keys);

/* The functions a and c in a cell (NULL: 1). */
static inline const TesFunction *tesi_mapped_a(const TesiMapped *m, int64_t cell) {
  const int32_t part = m->part ? m->part[cell] : -1;
  return part >= 0 && m->part_a[part] ? m->part_a[part] : m->desc.a;
}
static inline const TesFunction *tesi_mapped_c(const TesiMapped *m, int64_t cell) {
  const int32_t part = m->part ? m->part[cell] : -1;
  return part >= 0 && m->part_c[part] ? m->part_c[part] : m->desc.c;
}

/* Whether a cell has hanging nodes. */
static inline bool tesi_mapped_hangs(const TesiMapped *m, int64_t cell) {
  return m->mask && m->mask[cell] >> 3;
}

/* An operator from its complete description. Errors: TES_INVALID_INPUT (an entry out of range, a not positive
 * definite or c negative at a point, which the message names; factors that the mesh does not allow), TES_MISSING (no
 * such kernel on this device), TES_NAN, TES_OUT_OF_MEMORY. */
TesStatus tesi_mapped_create(TesContext *ctx, const TesiMappedDesc *desc, TesOperator **op);
/* tesi_mapped_create() for a geometry without a mesh: desc->mesh is not read. */
TesStatus tesi_mapped_create_over(TesContext *ctx, const TesiMappedDesc *desc, const TesiGeometry *geometry,
                                  TesOperator **op);
/* The same terms on some of the cells, float64, for element vectors. */
TesStatus tesi_mapped_create_subset(const TesiMapped *m, int64_t cells, const int32_t *cell, TesOperator **op);

/* mapped_hanging_diagonal.c: makes tables first. Then, cell by cell, the entries of d[n^dim] at hanging nodes are
 * replaced by the diagonal's values there, computed from the factors g[s][q^dim] of the cell. */
typedef struct TesiHangingDiagonal TesiHangingDiagonal;
TesStatus tesi_hanging_diagonal_create(const TesiMapped *m, TesiHangingDiagonal **tables);
void tesi_hanging_diagonal_cell(const TesiHangingDiagonal *tables, unsigned mask, const double *g, double *d);

/* The data of an operator of kind mapped; NULL for other kinds. */
static inline TesiMapped *tesi_mapped_of(const TesOperator *op) {
  return op->kind == &tesi_operator_mapped ? op->data : NULL;
}
static inline TesiMapped *tesi_mapped(const TesOperator *op) {
  return op->data;
}
TesiMapped *tesi_mapped_retain(TesiMapped *mapped);
void tesi_mapped_release(TesContext *ctx, TesiMapped **mapped);
/* The table's lift, over the cells that touch a node where u is not zero. */
TesStatus tesi_mapped_lift(const TesOperator *op, const TesVector *u, TesVector *b);
/* The index in use, [cells][(degree+1)^dim], owned by the operator, and nodes; NULL for the element form. */
/* The chosen factors; auto for other kinds. */
TesFactors tesi_mapped_factors(const TesOperator *op);
const int32_t *tesi_mapped_index(const TesOperator *op, int64_t *nodes);

/* The implementations: each sets op->table, plan and description of an operator whose tesi_mapped_of(op) is
 * complete, and mapped->desc.factors to what it uses (stored, vertices or affine; never auto). */
TesStatus tesi_mapped_host_init(TesOperator *op);
TesStatus tesi_mapped_device_init(TesOperator *op);

/* Functions that every implementation uses: plain application from dense cell matrices (float64 host arrays), and
 * cost. Flops are those of sum factorization with even-odd products; bytes depend on the chosen factors. */
TesStatus tesi_mapped_apply_ref(const TesOperator *op, const double *x, double *y);
TesCost tesi_mapped_cost(const TesOperator *op);
/* Bytes that one application writes to and reads from shared memory, for operators in 3D on devices with kernels;
 * else 0. */
double tesi_mapped_shared_bytes(const TesOperator *op);
/* The diagonal, float64, host; 1 in constrained rows. From the definition, by squares of 1D tables. */
TesStatus tesi_mapped_diagonal_host(const TesOperator *op, double *d);

#endif
