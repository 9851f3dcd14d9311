/** \file function.h
 *  Functions of space and time, f(x, y, z, t): coefficients, right-hand sides, boundary data, exact solutions.
 *  Functions are scalar; the coefficient a of diffusion may be a symmetric matrix of functions.
 *
 *  Reference-counted and immutable. Evaluation is in batches of points, host memory, float64.
 */
#ifndef TESSERA_FUNCTION_H
#define TESSERA_FUNCTION_H

#include <stdbool.h>
#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesFunction TesFunction;

/** Values out[n] at n points with coordinates x[n], y[n], z[n] at time t. y and z are never NULL: absent directions are
 *  0. */
typedef void (*TesFunctionEvaluate)(void *user, int64_t n, const double *x, const double *y, const double *z,
                                    double t, double *out);

/** The constant function. */
TesStatus tes_function_create_constant(TesContext *context, double value, TesFunction **function);
/** A callback. It may be called from several threads at once. `destroy` (may be NULL) is called on `user` when the last
 *  reference is released. */
TesStatus tes_function_create_callback(TesContext *context, TesFunctionEvaluate evaluate, void *user,
                                       void (*destroy)(void *user), TesFunction **function);
/** An expression in x, y, z, t and r = sqrt(x^2 + y^2 + z^2): C operators and comparison, `?:`, pi, e and the
 *  functions of math.h, e.g. "1 / (0.05 + 2*(x*x + y*y))". Folded to a constant where it does not depend on x, y,
 *  z, t. On a boundary (TesBoundary.g, TesLoadDesc.g) the names nx, ny, nz stand for the outer normal. Elsewhere a
 *  function with these names is refused or has the value NaN.
 *  Errors: TES_INVALID_INPUT with the column and what was expected there. */
TesStatus tes_function_create_expression(TesContext *context, const char *text, TesFunction **function);
/** The derivative of an expression or a constant in direction 0..3 (x, y, z, t), by symbolic differentiation. Functions
 *  with steps and kinks (floor, <, abs, ?:) are differentiated piecewise. Errors: TES_INVALID_INPUT for callbacks, and
 *  for tgamma and lgamma if their argument is not constant. */
TesStatus tes_function_create_derivative(const TesFunction *function, int direction, TesFunction **derivative);
/** A symmetric matrix, for the coefficient a of diffusion, div(a grad u): entry[dim][dim], row by row; an off-diagonal
 *  entry that is NULL is 0. The entries are referenced. Where a scalar is needed, it is the mean of the diagonal.
 *  Errors: TES_INVALID_INPUT (dim is not 2 or 3, a missing diagonal entry, an entry that is a matrix, constants that
 *  are not symmetric). Operators check functions at their points: they report the first point at which the matrix is
 *  not symmetric or not positive. */
TesStatus tes_function_create_matrix(TesContext *context, int dim, const TesFunction *const *entry,
                                     TesFunction **function);
void tes_function_destroy(TesFunction **function);

/** Values at n points; y and z may be NULL (zero). Errors: TES_NAN; the message names the first point at which the
 *  value is not finite, and the text of the function. */
TesStatus tes_function_evaluate(const TesFunction *function, int64_t n, const double *x, const double *y,
                                const double *z, double t, double *out);
/** Whether the function is constant; if so, its value. */
bool tes_function_constant(const TesFunction *function, double *value);
/** The text it was made from; "callback" for callbacks. */
const char *tes_function_text(const TesFunction *function);

#ifdef __cplusplus
}
#endif
#endif
