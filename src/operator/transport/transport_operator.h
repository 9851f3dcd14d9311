/* Operators with a transport term: a symmetric form beside int (b . grad u) v, and the streamline terms of SUPG.
 *
 *   (A u, v) = the symmetric form + int (b . grad u) v + int tau (c u + b . grad u - div (a grad u)) b . grad v
 *
 * The conservative form has - int u b . grad v in place of int (b . grad u) v, and div (b u) in place of b . grad
 * u in the residual. Boundaries add +- int (b . n) u v where the term asks for it.
 *
 * In reference coordinates of a cell, with B = J^-1 b: b . grad u = B . grad u, and div (a grad u) = sum N_ef u_ef +
 * sum A_e u_e with N = J^-1 a J^-T (a: a number or a matrix). A has the derivatives of a, and of J: - J^-1 (N : Hess
 * x). Derivatives of a, b and J are those of the polynomials through their values at the points. With the degree k:
 *
 *   tau = (rate^2 + (2 k |B|)^2 + (12 k^2 tr N / dim)^2)^(-1/2)
 *
 * with |B| = |b| / h and tr N / dim = a / h^2 on squares of width h.
 *
 * Over discontinuous elements on boxes terms of faces between cells are added (upwind.h), and there are no
 * streamline terms.
 *
 * The symmetric form is a separate operator of any kind; multigrid methods are built on it. */
#ifndef TESI_TRANSPORT_OPERATOR_H
#define TESI_TRANSPORT_OPERATOR_H

#include "functional/batch.h"
#include "operator/assembled/matrix.h"
#include "operator/mapped/face_mass.h"
#include "operator/operator.h"
#include "operator/transport/transport_lines.h"
#include "operator/transport/upwind.h"

enum { TESI_TRANSPORT_MORE = 2 /* points per direction beyond the degree */ };

/* Numbers at points: for each batch arrays of [points][lane], one after the other. */
typedef struct TesiTransport {
  TesOperator *symmetric;
  TesiBatches *batches;
  TesiSums sums;
  bool streamline, conservative;
  bool uniform; /* equal cells of a box and constant coefficients: the numbers of one batch, with all lanes filled,
                 * hold for all */
  struct TesiTransportDevice *device; /* NULL on the host, and of discontinuous elements, which have the next */
  struct TesiUpwindDevice *upwind_device;
  struct TesiDgDevice *constant; /* the whole operator, where the velocity is the same everywhere; NULL: it is not */
  TesiFaceMass through;          /* +- (b . n) w|J|; of continuous elements */
  TesiUpwind upwind;             /* of discontinuous elements */
  TesiLines *lines; /* the whole operator as products of 1D matrices; NULL: it has no such form */
  bool modal;       /* they are discontinuous */
  bool renewed;     /* the last velocity got new device arrays, which recorded launches do not know */
  double peclet;    /* largest |b| h / (2 k a) at a point */
  double speed;     /* largest k |B|, in nodes per unit of time */
  double rate;      /* largest |B_e|, in widths of a cell per unit of time, along a direction of the cell */
  int arrays;       /* w|J|, B[dim]; streamline: tau w|J|, c (conservative: + div b), N[dim (dim + 1) / 2],
                      A[dim]; c u + B . grad u - N : Hess u - A . grad u is the residual, in reference directions */
  double *numbers;  /* [batches, or 1][arrays][points][lane] */
  double *memory;   /* [threads][share] */
  int64_t share;
  int threads;
} TesiTransport;

/* NULL for operators of other kinds. */
static inline const TesiTransport *tesi_transport_of(const TesOperator *op) {
  return op->kind == &tesi_operator_transport ? op->plan : NULL;
}

static inline bool tesi_is_upwind(const TesOperator *op) {
  return tesi_transport_of(op) && tesi_transport_of(op)->modal;
}
/* transport->numbers, streamline and peclet. */
TesStatus tesi_transport_fill(const TesOperator *op, TesiTransport *transport);
/* mass <- through[boundary] (b . n) w|J| at the faces of those boundaries where it is not 0; with its precision. */
TesStatus tesi_transport_faces(const TesSpace *space, const TesFunction *const b[3],
                               const signed char *through, TesiFaceMass *mass);
/* y <- y + the velocity's term over discontinuous elements (upwind_ref.c). */
TesStatus tesi_upwind_apply_ref(const TesOperator *op, const double *x, double *y);
TesStatus tesi_transport_apply_ref(const TesOperator *op, const double *x, double *y);

/* Values of u at the points of a batch are in the thread's memory, its first array: returns the values at the points
 * whose products with B' are what the velocity's term adds to the nodes of the cells; then comes a free array. */
double *tesi_transport_carry(const TesiTransport *transport, int64_t number, int thread);
/* Whether the matrix is put together of matrices of cells: on trees, on one rank. */
bool tesi_transport_by_cells(const TesOperator *op);
/* The matrix, as of tesi_operator_probe(). Of each cell the velocity's term is applied to all basis functions: about
 * (k + 1)^dim times a product with the operator, of which unit vectors of nodes that share no row take hundreds where
 * many cells share a vertex. */
TesStatus tesi_transport_assemble(const TesOperator *op, TesiMatrix *matrix);
/* y_i += int x tau b . grad phi_i, which streamline terms add to a mass. Int x phi_i is left to an operator with the
 * points of the symmetric part: over cells that are no parallelograms its points do not integrate exactly, and sigma
 * (u - old u) would have a part that does not vanish where u stays the same. */
TesStatus tesi_transport_add_mass(const TesOperator *op, const TesVector *x, TesVector *y);
/* Sets another velocity: numbers at points and faces are computed again; whether there are streamline terms does not
 * change. If `renewed` is true afterwards, the caller must forget recorded launches of the operator. */
TesStatus tesi_transport_move(TesOperator *op, const TesFunction *const b[3]);
/* b <- b - T x, T the transport term with its boundaries and streamlines. */
TesStatus tesi_transport_subtract(const TesOperator *op, const TesVector *x, TesVector *b);
/* y_i <- int b . grad phi_i; discontinuous elements: without (b.n) phi_i on the faces of cells, - int phi_i div b */
TesStatus tesi_transport_slopes(const TesOperator *op, TesVector *y);
/* b_i += int f tau b . grad phi_i; f: for all materials; material[materials]: per material (NULL: f everywhere). */
TesStatus tesi_transport_load(const TesOperator *op, const TesFunction *f, const TesFunction *const *material,
                              TesVector *b);

#endif
