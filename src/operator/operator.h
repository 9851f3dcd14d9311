/* Operators as the other folders see them: the table of functions, the kinds, and what smoothers over boxes need. */
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
  /* May be NULL: kinds have it where it costs less than a residual. r <- r - A x. */
  TesStatus (*subtract)(const TesOperator *op, const void *x, void *r);
  /* May be NULL. Does a whole TesiCorrection in one pass and sets *norm <- |b - A x| before rounding; float64
   * operators only. On devices with kernels `norm` may be NULL: then nothing waits for the host. */
  TesStatus (*correct_residual)(const TesOperator *op, const TesiCorrection *correction, double *norm);
  /* Both may be NULL; only float64 operators on devices with kernels have them. ready_single asks for the kernels and
   * sets *ready. apply_single may be called once *ready is true: y <- A x for a float32 x, in float64 arithmetic, y
   * rounded to the precision of_y. */
  TesStatus (*ready_single)(const TesOperator *op, TesPrecision of_y, bool *ready);
  TesStatus (*apply_single)(const TesOperator *op, const float *x, TesPrecision of_y, void *y);
  TesStatus (*diagonal)(const TesOperator *op, void *d);
  /* May be NULL. As tes_operator_lift(). */
  TesStatus (*lift)(const TesOperator *op, const TesVector *u, TesVector *b);
  /* float64 host arrays, any device */
  TesStatus (*apply_ref)(const TesOperator *op, const double *x, double *y);
  TesCost (*cost)(const TesOperator *op);
  void (*destroy)(TesOperator *op); /* releases plan and own data */
} TesiOperatorTable;

/* A kind of operators. `refuses` returns the reason why the kind cannot do a form on a space; NULL: it can. `init`
 * completes an operator whose desc is its own copy: length, singular, data, plan, table, description. */
#define TESI_TERM(name) (1u << TES_TERM_##name)
typedef struct TesiOperatorKind {
  const char *name;
  bool named;            /* never chosen unless its name is given */
  bool parts;            /* it takes spaces of several components, and product spaces */
  bool matrices;         /* it takes coefficients of diffusion that are matrices */
  unsigned takes, needs; /* terms: bits TESI_TERM(DIFFUSION), .. */
  const char *(*refuses)(const TesOperatorDesc *desc);
  TesStatus (*init)(TesOperator *op);
  void (*release)(TesOperator *op); /* op->data, after the table's destroy; may be NULL */
} TesiOperatorKind;
extern const TesiOperatorKind tesi_operator_separable, tesi_operator_quadrature, tesi_operator_mapped,
    tesi_operator_stokes, tesi_operator_stokes_varying, tesi_operator_dg, tesi_operator_transport,
    tesi_operator_assembled, tesi_operator_assembled_hanging, tesi_operator_elasticity, tesi_operator_by_part;

/* The reason why a kind cannot do a form on a space; NULL: it can. */
const char *tesi_operator_refuses(const TesiOperatorKind *kind, const TesOperatorDesc *desc);

struct TesOperator {
  atomic_int references;
  const TesiOperatorKind *kind;
  const TesiOperatorTable *table;
  const TesiOperatorTable *local; /* on several ranks: the kind's own table, for the cells of this rank */
  struct TesiOperatorWide *wide;  /* on several ranks, if cells read neighbours (operator_ranks.c) */
  const TesiOperatorTable *whole; /* of a space with slip: the table without slip */
  void *slip_x, *slip_scale;      /* with slip, on the device: a vector; [nodes with slip] float64 */
  TesContext *context;
  TesSpace *space;      /* NULL for mapped operators that benches make over a numbering of their own */
  TesOperatorDesc desc; /* what it was created with; the form is its own copy (form.h) */
  int64_t length;       /* of vectors */
  TesPrecision precision;
  unsigned singular; /* bit s: constants of scalar s of the space are in the null space */
  /* The vector that spans the null space of a singular operator, in float64. NULL where the constants span it, and in
   * float32 operators of cycles, which do not ask for it. */
  TesVector *null;
  int64_t null_first; /* its first entry in a vector; the entries before are zero */
  double null_square; /* its square */
  void *data;         /* of the kind: TesiDiffusion, TesiMapped */
  void *plan;         /* of the table's implementation */
  void *work;         /* device, float64, of correct_residual there; NULL before it was needed */
  char description[160];
};

/* The entries of a vector that op->null is over. */
static inline TesVector tesi_operator_null_range(const TesOperator *op, const TesVector *v) {
  return tesi_vector_range(v, op->null_first, op->null->length);
}

/* v <- v without its part along op->null; nothing where there is none. */
TesStatus tesi_operator_remove_null(const TesOperator *op, TesVector *v);

/* Diffusion and reaction over a box: the data of the kinds separable and quadrature, which their smoothers read
 * too. */
typedef struct TesiDiffusion {
  double a, c, alpha[6]; /* constants; 0 without such a term, NaN where they vary */
  TesFunction *a_function, *c_function,
      *alpha_function[6]; /* NULL where not given (1, 0, 0); owned by the operator's form */
} TesiDiffusion;
static inline const TesiDiffusion *tesi_diffusion_of(const TesOperator *op) {
  return op->data;
}
static inline bool tesi_is_separable(const TesOperator *op) {
  return op->kind == &tesi_operator_separable;
}
static inline bool tesi_is_diffusion(const TesOperator *op) {
  return tesi_is_separable(op) || op->kind == &tesi_operator_quadrature;
}

/* The same form, with the same choices, over another space and in another precision. */
TesStatus tesi_operator_on(const TesOperator *op, const TesSpace *space, TesPrecision precision,
                           TesOperator **other);
/* The same for a preconditioner: in float32 the result may have errors of float32's size. */
TesStatus tesi_operator_below(const TesOperator *op, const TesSpace *space, TesPrecision precision,
                              TesOperator **other);
/* *op becomes its assembled form (kind assembled), of the same precision. On failure it stays. */
TesStatus tesi_operator_become_assembled(TesOperator **op);
/* The separable operator of constant coefficients; alpha[6] (NULL: none), zero where a face has no Robin term. */
TesStatus tesi_operator_create_constant(const TesSpace *space, TesPrecision precision, double a, double c,
                                        const double alpha[6], TesOperator **op);

TesOperator *tesi_operator_retain(const TesOperator *op);
/* A vector of zeros that the operator takes. */
TesStatus tesi_operator_new_vector(const TesOperator *op, TesPrecision precision, TesVector **vector);
/* Device memory for a vector of the operator's length and precision. */
static inline TesStatus tesi_operator_vector(const TesOperator *op, void **v) {
  return tesi_context_device(op->context)
      ->allocate(op->context, (size_t)op->length * tesi_precision_size(op->precision), v);
}
/* Such a vector; its values, to and from the host in float64. */
static inline TesVector tesi_operator_view(const TesOperator *op, const void *v) {
  return (TesVector){
      .context = op->context, .length = op->length, .precision = op->precision, .data = (void *)v};
}
static inline TesStatus tesi_operator_get(const TesOperator *op, const void *v, double *values) {
  const TesVector view = tesi_operator_view(op, v);
  return tes_vector_get(&view, values);
}
static inline TesStatus tesi_operator_set(const TesOperator *op, const double *values, void *v) {
  TesVector view = tesi_operator_view(op, v);
  return tes_vector_set(&view, values);
}
/* residual of a table by its `apply`: r <- b - A x; r may be b. */
TesStatus tesi_operator_residual_by(TesStatus (*apply)(const TesOperator *op, const void *x, void *y),
                                    const TesOperator *op, const void *b, const void *x, void *r);
/* The last step of every creation: makes the operator over the cells of this rank an operator over all ranks. */
TesStatus tesi_operator_share(TesOperator *op);
/* The operator of the wide box, for kinds whose cells read neighbours; NULL: there is none. */
TesOperator *tesi_operator_widened(const TesOperator *op);
/* *result <- a coefficient of it (operator_wide.h). */
TesStatus tesi_operator_continue(const TesOperator *op, const TesFunction *f, TesFunction **result);
/* For the same kinds: y <- the result of `call` for wide x and y, vectors of the operator's precision. All ranks call
 * it. */
typedef TesStatus TesiInWide(const TesOperator *widened, const void *user, const void *x, void *y);
TesStatus tesi_operator_in_wide(const TesOperator *op, TesiInWide *call, const void *user, const void *x,
                                void *y);
/* Called after tesi_operator_share(): the operator of a space with slip becomes P A P + (I - P) S
 * (operator_slip.c). */
TesStatus tesi_operator_slip(TesOperator *op);

/* correct_residual for tables on devices with kernels. */
TesStatus tesi_operator_correct_residual_device(const TesOperator *op, const TesiCorrection *correction,
                                                double *norm);

/* Allocates now the memory that correct_residual needs on devices, so that its first call does not. */
TesStatus tesi_operator_reserve(const TesOperator *op);

/* The plain version of both forms, cell by cell from the definition, and their diagonal (1 at Dirichlet nodes).
 * float64 host arrays. */
TesStatus tesi_diffusion_apply_ref(const TesOperator *op, const double *x, double *y);
TesStatus tesi_diffusion_diagonal_ref(const TesOperator *op, double *d);

/* The assembled 1D pair of direction d of a separable operator: A = sum_d K_d (x) M_others with
 *   K_d = a (stiffness) + end terms alpha (boundary faces of d) + (d == 0 ? c M_0 : 0).
 * Not stored as bands: K and M are [nodes][nodes] row-major, all nodes (Dirichlet included). For
 * references and set-up. */
TesStatus tesi_operator_axis_matrices(const TesOperator *op, int d, double *K, double *M);

/* The plain version: cell by cell, from quadrature, float64 inside. For tests; slow. */
TesStatus tesi_operator_apply_ref(const TesOperator *op, const TesVector *x, TesVector *y);

#endif
