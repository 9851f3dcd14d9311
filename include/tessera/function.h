/** \file function.h
 *  Functions of space and time, f(x, y, z, t): coefficients, right-hand sides, boundary data, exact solutions. They
 *  are scalar; the coefficient a of diffusion may be a symmetric matrix of them.
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

/** n points, coordinates x[n], y[n], z[n] (y, z are never NULL: absent directions are 0), time t, values out[n]. */
typedef void (*TesFunctionEvaluate)(void *user, int64_t n, const double *x, const double *y, const double *z,
                                    double t, double *out);

/** The constant function. */
TesStatus tes_function_create_constant(TesContext *context, double value, TesFunction **function);
/** A function of the caller's. It may be called from several threads at once. `destroy` (may be NULL) is called on
 *  `user` with the last reference. */
TesStatus tes_function_create_callback(TesContext *context, TesFunctionEvaluate evaluate, void *user,
                                       void (*destroy)(void *user), TesFunction **function);
/** An expression in x, y, z, t and r = sqrt(x^2 + y^2 + z^2): C operators and comparison, `?:`, pi, e and the
 *  functions of math.h, e.g. "1 / (0.05 + 2*(x*x + y*y))". Folded to a constant where it does not depend on x, y,
 *  z, t. On a boundary (TesBoundary.g, TesLoadDesc.g) also nx, ny, nz, the outer normal; elsewhere such a function
 *  is refused or not a number.
 *  Errors: TES_INVALID_INPUT with the column and what was expected there. */
TesStatus tes_function_create_expression(TesContext *context, const char *text, TesFunction **function);
/** The derivative of an expression or a constant in direction 0..3 (x, y, z, t), by symbolic differentiation; steps and
 *  kinks (floor, <, abs, ?:) are differentiated piecewise. Errors: TES_INVALID_INPUT for callbacks, and for tgamma and
 *  lgamma of an argument that varies. */
TesStatus tes_function_create_derivative(const TesFunction *function, int direction, TesFunction **derivative);
/** A symmetric matrix, for the coefficient a of diffusion, div(a grad u): entry[dim][dim], row by row, NULL beside the
 *  diagonal: 0. Entries are referenced. Where a number is asked for it is the mean of its diagonal. Errors:
 *  TES_INVALID_INPUT (dim is not 2 or 3, a diagonal entry that is missing, an entry that is a matrix, constants that
 *  differ from those they mirror); where functions that mirror each other differ, or a is not positive, operators tell
 *  the point. */
TesStatus tes_function_create_matrix(TesContext *context, int dim, const TesFunction *const *entry,
                                     TesFunction **function);
void tes_function_destroy(TesFunction **function);

/** Values at n points; y and z may be NULL (zero). Errors: TES_NAN, naming the first point with a value that is not
 *  finite and the text of the function. */
TesStatus tes_function_evaluate(const TesFunction *function, int64_t n, const double *x, const double *y,
                                const double *z, double t, double *out);
/** Whether the function is a constant, and then its value. */
bool tes_function_constant(const TesFunction *function, double *value);
/** The text it was made from; "callback" for callbacks. */
const char *tes_function_text(const TesFunction *function);

#ifdef __cplusplus
}
#endif
#endif
