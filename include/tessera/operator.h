/** \file operator.h
 *  Discrete operators, applied matrix-free by sum factorization.
 *
 *  Diffusion-reaction with natural boundary terms on a box (patch-smoothers-cui-2024, section 2, generalised):
 *
 *      (A u, v) = int a grad u . grad v + int c u v + sum over natural faces int_F alpha u v,
 *
 *  for u, v in the space (Dirichlet nodes eliminated: rows and columns there are zero). Two forms:
 *  - separable: a, c and every alpha constant. A = sum over d of K_d (x) M_(others), with 1D matrices K_d and M_d; exact.
 *  - quadrature: a, c, alpha functions of space, (degree+1)^dim Gauss points a cell, a and c stored at these.
 */
#ifndef TESSERA_OPERATOR_H
#define TESSERA_OPERATOR_H

#include "function.h"
#include "space.h"
#include "vector.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesOperator TesOperator;

typedef enum TesForm { TES_FORM_AUTO, TES_FORM_SEPARABLE, TES_FORM_QUADRATURE } TesForm;

typedef struct TesDiffusionDesc {
  const TesSpace *space; /**< a reference is kept */
  const TesFunction *a;  /**< diffusion coefficient, positive; NULL: 1 */
  const TesFunction *c;  /**< reaction coefficient, not negative; NULL: 0 */
  const TesFunction
      *alpha[6]; /**< Robin coefficient of a natural face, by TesFace, not negative; NULL: 0 (Neumann) */
  TesPrecision precision;
  TesForm form; /**< auto: separable when all coefficients are constant */
} TesDiffusionDesc;

/** What one application costs, counted from the algorithm: the numbers behind rooflines. */
typedef struct TesCost {
  double flops; /**< additions and multiplications */
  double bytes; /**< least traffic with main memory: each input and output once, coefficients once */
} TesCost;

/** Errors: TES_INVALID_INPUT (a not positive, c or alpha negative: the point is named; separable form with variable
 *  coefficients), TES_NAN, TES_OUT_OF_MEMORY. */
TesStatus tes_operator_create_diffusion(TesContext *context, const TesDiffusionDesc *desc, TesOperator **op);
void tes_operator_destroy(TesOperator **op);

/** What it was created with; the space belongs to the operator, and is NULL for operators on mapped cells (mapped.h). */
const TesSpace *tes_operator_space(const TesOperator *op);
/** Length of its vectors. */
int64_t tes_operator_length(const TesOperator *op);
TesPrecision tes_operator_precision(const TesOperator *op);
/** y <- A x. x and y differ and have the operator's precision. */
TesStatus tes_operator_apply(const TesOperator *op, const TesVector *x, TesVector *y);
/** r <- b - A x, in one pass. r may be b. */
TesStatus tes_operator_residual(const TesOperator *op, const TesVector *b, const TesVector *x, TesVector *r);
/** d <- diagonal of A; 1 at Dirichlet nodes, so that it can be divided by. */
TesStatus tes_operator_diagonal(const TesOperator *op, TesVector *d);
/** The plain version: cell by cell, dense cell matrices from quadrature, float64 inside. For tests; slow. */
TesStatus tes_operator_apply_ref(const TesOperator *op, const TesVector *x, TesVector *y);
TesCost tes_operator_cost(const TesOperator *op);
/** Whether constants are in the null space (pure Neumann, c = 0): then A is singular and b must have mean zero. */
bool tes_operator_singular(const TesOperator *op);
/** One line: form, kernel, specialised degree or fallback. */
const char *tes_operator_describe(const TesOperator *op);

#ifdef __cplusplus
}
#endif
#endif
