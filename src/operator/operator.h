/* Operators as the other folders see them: the table, and the diffusion operator's data that smoothers build on. */
#ifndef TESI_OPERATOR_H
#define TESI_OPERATOR_H

#include "device/vector.h"
#include "space/space.h"
#include "tessera/operator.h"

/* x <- x + scale e (e may be NULL); r <- factor (b - A x), rounded to float32. b and x are float64, e and r float32. */
typedef struct TesiCorrection {
  const double *b;
  double *x;
  const float *e;
  double scale, factor;
  float *r;
} TesiCorrection;

/* Addresses are device memory of op->precision, op->length long. */
typedef struct TesiOperatorTable {
  TesStatus (*apply)(const TesOperator *op, const void *x, void *y);
  TesStatus (*residual)(const TesOperator *op, const void *b, const void *x, void *r);
  /* May be NULL. All of a TesiCorrection in one pass, and *norm <- |b - A x| before rounding; float64 operators only. On devices with
   * kernels `norm` may be NULL: then nothing waits for the host. */
  TesStatus (*correct_residual)(const TesOperator *op, const TesiCorrection *correction, double *norm);
  TesStatus (*diagonal)(const TesOperator *op, void *d);
  /* float64 host arrays, any device */
  TesStatus (*apply_ref)(const TesOperator *op, const double *x, double *y);
  TesCost (*cost)(const TesOperator *op);
  void (*destroy)(TesOperator *op); /* releases plan and own data */
} TesiOperatorTable;

struct TesOperator {
  atomic_int references;
  const TesiOperatorTable *table;
  TesContext *context;
  TesSpace *space;           /* NULL for operators on mapped cells */
  struct TesiMapped *mapped; /* mapped.h; NULL for all others */
  int64_t length;            /* of vectors */
  TesPrecision precision;
  TesForm form; /* separable or quadrature, never auto */
  bool singular;
  /* diffusion-reaction data */
  double a, c, alpha[6];                                    /* constants: always set in the separable form */
  TesFunction *a_function, *c_function, *alpha_function[6]; /* NULL where not given (1, 0, 0) */
  void *plan;                                               /* of the table's implementation */
  void *work; /* device, float64, of correct_residual there; NULL before it was needed */
  char description[160];
};

TesOperator *tesi_operator_retain(const TesOperator *op);

/* correct_residual for tables on devices with kernels. */
TesStatus tesi_operator_correct_residual_device(const TesOperator *op, const TesiCorrection *correction,
                                                double *norm);

/* Allocates what the operator's correct_residual needs on devices, rather than in its first use. */
TesStatus tesi_operator_reserve(const TesOperator *op);

/* The two implementations: each sets op->table, plan and description of an operator whose other fields are complete.
 * The quadrature form checks the signs of a, c and alpha at its points and may set op->singular when c and alpha turn
 * out to vanish at all of them. */
TesStatus tesi_operator_separable_init(TesOperator *op);
TesStatus tesi_operator_quadrature_init(TesOperator *op);

/* The plain versions of both forms, cell by cell from the definition, and the diagonal they give (1 at Dirichlet nodes).
 * float64 host arrays. */
TesStatus tesi_diffusion_apply_ref(const TesOperator *op, const double *x, double *y);
TesStatus tesi_diffusion_diagonal_ref(const TesOperator *op, double *d);

/* The assembled 1D pair of direction d in the separable form: A = sum_d K_d (x) M_others with
 *   K_d = a (stiffness) + end terms alpha (boundary faces of d) + (d == 0 ? c M_0 : 0).
 * Band storage is not worth it: K and M are [nodes][nodes] row-major, all nodes (Dirichlet included). For references and set-up. */
TesStatus tesi_operator_axis_matrices(const TesOperator *op, int d, double *K, double *M);

#endif
