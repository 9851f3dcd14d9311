/* The operations of expressions, in one list: OP(constant, operands, name or NULL, value in C of a, b, c). The third
 * entry is the name of a function, NULL for operators. The interpreter evaluates the fourth entry; it also folds
 * constants and is written as C text. `min` of math.h ignores a NaN operand, and so does `min` here. TABLE, a
 * function of the case, has no formula: it is computed separately. */
#ifndef TESI_EXPRESSION_OPS_H
#define TESI_EXPRESSION_OPS_H

/* clang-format off */
#define TESI_OP_LIST(OP)                                        \
  OP(CONSTANT, 0, NULL, 0)                                      \
  OP(VARIABLE, 0, NULL, 0)                                      \
  OP(NEGATE, 1, NULL, -a)                                       \
  OP(NOT, 1, NULL, a == 0 ? 1 : 0)                              \
  OP(ADD, 2, NULL, a + b)                                       \
  OP(SUBTRACT, 2, NULL, a - b)                                  \
  OP(MULTIPLY, 2, NULL, a * b)                                  \
  OP(DIVIDE, 2, NULL, a / b)                                    \
  OP(LESS, 2, NULL, a < b ? 1 : 0)                              \
  OP(LESS_EQUAL, 2, NULL, a <= b ? 1 : 0)                       \
  OP(EQUAL, 2, NULL, a == b ? 1 : 0)                            \
  OP(NOT_EQUAL, 2, NULL, a != b ? 1 : 0)                        \
  OP(AND, 2, NULL, a != 0 && b != 0 ? 1 : 0)                    \
  OP(OR, 2, NULL, a != 0 || b != 0 ? 1 : 0)                     \
  OP(SELECT, 3, NULL, a != 0 ? b : c)                           \
  OP(FMOD, 2, "fmod", fmod(a, b))                               \
  OP(SIN, 1, "sin", sin(a))                                     \
  OP(COS, 1, "cos", cos(a))                                     \
  OP(TAN, 1, "tan", tan(a))                                     \
  OP(ASIN, 1, "asin", asin(a))                                  \
  OP(ACOS, 1, "acos", acos(a))                                  \
  OP(ATAN, 1, "atan", atan(a))                                  \
  OP(ATAN2, 2, "atan2", atan2(a, b))                            \
  OP(SINH, 1, "sinh", sinh(a))                                  \
  OP(COSH, 1, "cosh", cosh(a))                                  \
  OP(TANH, 1, "tanh", tanh(a))                                  \
  OP(ASINH, 1, "asinh", asinh(a))                               \
  OP(ACOSH, 1, "acosh", acosh(a))                               \
  OP(ATANH, 1, "atanh", atanh(a))                               \
  OP(EXP, 1, "exp", exp(a))                                     \
  OP(EXP2, 1, "exp2", exp2(a))                                  \
  OP(EXPM1, 1, "expm1", expm1(a))                               \
  OP(LOG, 1, "log", log(a))                                     \
  OP(LOG2, 1, "log2", log2(a))                                  \
  OP(LOG10, 1, "log10", log10(a))                               \
  OP(LOG1P, 1, "log1p", log1p(a))                               \
  OP(SQRT, 1, "sqrt", sqrt(a))                                  \
  OP(CBRT, 1, "cbrt", cbrt(a))                                  \
  OP(POW, 2, "pow", pow(a, b))                                  \
  OP(FABS, 1, "fabs", fabs(a))                                  \
  OP(FLOOR, 1, "floor", floor(a))                               \
  OP(CEIL, 1, "ceil", ceil(a))                                  \
  OP(ROUND, 1, "round", round(a))                               \
  OP(TRUNC, 1, "trunc", trunc(a))                               \
  OP(FMIN, 2, "fmin", a < b || b != b ? a : b)                  \
  OP(FMAX, 2, "fmax", a > b || b != b ? a : b)                  \
  OP(HYPOT, 2, "hypot", hypot(a, b))                            \
  OP(ERF, 1, "erf", erf(a))                                     \
  OP(ERFC, 1, "erfc", erfc(a))                                  \
  OP(TGAMMA, 1, "tgamma", tgamma(a))                            \
  OP(LGAMMA, 1, "lgamma", lgamma(a))                            \
  OP(COPYSIGN, 2, "copysign", copysign(a, b))                   \
  OP(TABLE, 1, NULL, NAN * a)
/* clang-format on */

typedef enum TesiOp {
#define OP(constant, operands, name, value) TESI_OP_##constant,
  TESI_OP_LIST(OP)
#undef OP
      TESI_OPS
} TesiOp;

#endif
