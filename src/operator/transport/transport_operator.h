/* Operators with a transport term: a symmetric form beside int (b . grad u) v, and the streamline terms of SUPG.
 *
 *   (A u, v) = the symmetric form + int (b . grad u) v + int tau (c u + b . grad u - a Lap u) b . grad v
 *
 * or, conservative, - int u b . grad v in the place of the first, and div (b u) in that of b . grad u in the residual;
 * and int over boundaries +- (b . n) u v where the term asks for it.
 *
 * In cells, on reference coordinates: B = J^-1 b is b . grad there, and a Lap u = sum N_ef u_ef with N = J^-1 a J^-T
 * (a a number or a matrix), without derivatives of J and a; div b is that of the polynomial through its values at the
 * points. k the degree:
 *
 *   tau = (rate^2 + (2 k |B|)^2 + (12 k^2 tr N / dim)^2)^(-1/2)
 *
 * with |B| = |b| / h and tr N / dim = a / h^2 on squares of width h.
 *
 * Over discontinuous elements on boxes faces between cells are added (upwind.h), and there are no streamline terms.
 *
 * The symmetric form is an operator of its own, of any kind; multigrid methods are made of it. */
#ifndef TESI_TRANSPORT_OPERATOR_H
#define TESI_TRANSPORT_OPERATOR_H

#include "functional/batch.h"
#include "operator/mapped/face_mass.h"
#include "operator/operator.h"
#include "operator/transport/transport_lines.h"
#include "operator/transport/upwind.h"

enum { TESI_TRANSPORT_MORE = 2 /* points per direction beyond the degree */ };

/* Numbers at points, arrays of [points][lane], behind each other for each batch. */
typedef struct TesiTransport {
  TesOperator *symmetric;
  TesiBatches *batches;
  TesiSums sums;
  bool streamline, conservative;
  bool uniform; /* equal cells of a box and constant coefficients: one batch, with all lanes, stands for all */
  struct TesiTransportDevice *device; /* NULL on the host, and of discontinuous elements, which have the next */
  struct TesiUpwindDevice *upwind_device;
  struct TesiDgDevice *constant; /* the whole operator, where the velocity is the same everywhere; NULL: it is not */
  TesiFaceMass through;          /* +- (b . n) w|J|; of continuous elements */
  TesiUpwind upwind;             /* of discontinuous elements */
  TesiLines *lines;              /* the whole operator as products of 1D matrices; NULL: it is none */
  bool modal;                    /* they are discontinuous */
  bool renewed;  /* the last velocity took other arrays of the device, which recorded launches do not know */
  double peclet; /* largest |b| h / (2 k a) at a point */
  double speed;  /* largest k |B|: nodes a unit of time */
  double rate;   /* largest |B_e|: widths of a cell a unit of time, along a direction of it */
  int arrays;    /* w|J|, B[dim]; streamline: tau w|J|, c (conservative: + div b), N[dim (dim + 1) / 2],
                      A[dim]; c u + B . grad u - N : Hess u - A . grad u is the residual, in reference directions */
  double *numbers; /* [batches, or 1][arrays][points][lane] */
  double *memory;  /* [threads][share] */
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
/* y <- y + the term of the velocity, of discontinuous elements (upwind_ref.c). */
TesStatus tesi_upwind_apply_ref(const TesOperator *op, const double *x, double *y);
TesStatus tesi_transport_apply_ref(const TesOperator *op, const double *x, double *y);

/* y <- M x with the test functions of the operator, v + tau b . grad v. */
TesStatus tesi_transport_mass(const TesOperator *op, const TesVector *x, TesVector *y);
/* Another velocity, of which numbers at points and faces are made again; streamline terms stay or stay away. Where
 * `renewed` is set then, recorded launches of the operator are to be forgotten. */
TesStatus tesi_transport_move(TesOperator *op, const TesFunction *const b[3]);
/* b <- b - T x, T the transport term with its boundaries and streamlines. */
TesStatus tesi_transport_subtract(const TesOperator *op, const TesVector *x, TesVector *b);
/* y_i <- int b . grad phi_i; discontinuous elements: without (b.n) phi_i on the faces of cells, - int phi_i div b */
TesStatus tesi_transport_slopes(const TesOperator *op, TesVector *y);
/* b_i += int f tau b . grad phi_i; f: for all materials; material[materials]: per material (NULL: f everywhere). */
TesStatus tesi_transport_load(const TesOperator *op, const TesFunction *f, const TesFunction *const *material,
                              TesVector *b);

#endif
