/* Symbolic differentiation: one pass over the graph, so that shared terms stay shared and the result is at most a few
 * times as long. */
#include "io/expression/expression.h"

/* The notation of the rules. */
typedef struct Rule {
  TesiTerms *terms;
  int self, a, b, c; /* the term and its operands */
  int da, db, dc;    /* derivatives of the operands */
  bool without;      /* set when there is none */
} Rule;

static bool is(const TesiTerms *terms, int i, double value) {
  return terms->term[i].op == TESI_OP_CONSTANT && terms->term[i].value == value;
}

static int number(Rule *r, double value) {
  return tesi_term_constant(r->terms, value);
}

static int unary(Rule *r, TesiOp op, int a) {
  return tesi_term(r->terms, op, a, 0, 0);
}

/* Arithmetic that omits 0 and 1. So derivatives of zero stay the constant 0 even if the factor is infinite. */
static int mul(Rule *r, int a, int b) {
  if (r->terms->status || is(r->terms, a, 0) || is(r->terms, b, 0)) return number(r, 0);
  if (is(r->terms, a, 1)) return b;
  return is(r->terms, b, 1) ? a : tesi_term(r->terms, TESI_OP_MULTIPLY, a, b, 0);
}

static int add(Rule *r, int a, int b) {
  if (r->terms->status || is(r->terms, a, 0)) return b;
  return is(r->terms, b, 0) ? a : tesi_term(r->terms, TESI_OP_ADD, a, b, 0);
}

static int sub(Rule *r, int a, int b) {
  if (r->terms->status || is(r->terms, b, 0)) return a;
  return is(r->terms, a, 0) ? unary(r, TESI_OP_NEGATE, b) : tesi_term(r->terms, TESI_OP_SUBTRACT, a, b, 0);
}

static int quotient(Rule *r, int a, int b) {
  if (r->terms->status || is(r->terms, a, 0)) return number(r, 0);
  return is(r->terms, b, 1) ? a : tesi_term(r->terms, TESI_OP_DIVIDE, a, b, 0);
}

static int square(Rule *r, int a) {
  return mul(r, a, a);
}

/* (a^b)' = b a^(b-1) a' + a^b log(a) b' */
static int power(Rule *r) {
  const int lower = tesi_term(r->terms, TESI_OP_POW, r->a, sub(r, r->b, number(r, 1)), 0);
  const int base = mul(r, mul(r, r->b, lower), r->da);
  return is(r->terms, r->db, 0) ? base
                                : add(r, base, mul(r, mul(r, r->self, unary(r, TESI_OP_LOG, r->a)), r->db));
}

/* 1 or -1, the sign of a. */
static int sign(Rule *r, int a) {
  return tesi_term(r->terms, TESI_OP_COPYSIGN, number(r, 1), a, 0);
}

/* f'(a) for functions of one argument. */
static int outer(Rule *r, TesiOp op) {
  const int a = r->a, f = r->self, one = number(r, 1);
  switch (op) {
  case TESI_OP_SIN:
    return unary(r, TESI_OP_COS, a);
  case TESI_OP_COS:
    return unary(r, TESI_OP_NEGATE, unary(r, TESI_OP_SIN, a));
  case TESI_OP_TAN:
    return add(r, one, square(r, f));
  case TESI_OP_ASIN:
    return quotient(r, one, unary(r, TESI_OP_SQRT, sub(r, one, square(r, a))));
  case TESI_OP_ACOS:
    return quotient(r, number(r, -1), unary(r, TESI_OP_SQRT, sub(r, one, square(r, a))));
  case TESI_OP_ATAN:
    return quotient(r, one, add(r, one, square(r, a)));
  case TESI_OP_SINH:
    return unary(r, TESI_OP_COSH, a);
  case TESI_OP_COSH:
    return unary(r, TESI_OP_SINH, a);
  case TESI_OP_TANH:
    return sub(r, one, square(r, f));
  case TESI_OP_ASINH:
    return quotient(r, one, unary(r, TESI_OP_SQRT, add(r, square(r, a), one)));
  case TESI_OP_ACOSH:
    return quotient(r, one, unary(r, TESI_OP_SQRT, sub(r, square(r, a), one)));
  case TESI_OP_ATANH:
    return quotient(r, one, sub(r, one, square(r, a)));
  default:
    r->without = true;
    return one;
  }
}

/* The same for powers, exponentials and logarithms. */
static int outer_exponential(Rule *r, TesiOp op) {
  const double ln2 = 0.69314718055994530942, ln10 = 2.30258509299404568402, erf0 = 1.12837916709551257390;
  const int a = r->a, f = r->self, one = number(r, 1);
  switch (op) {
  case TESI_OP_EXP:
    return f;
  case TESI_OP_EXP2:
    return mul(r, number(r, ln2), f);
  case TESI_OP_EXPM1:
    return unary(r, TESI_OP_EXP, a);
  case TESI_OP_LOG:
    return quotient(r, one, a);
  case TESI_OP_LOG2:
    return quotient(r, number(r, 1 / ln2), a);
  case TESI_OP_LOG10:
    return quotient(r, number(r, 1 / ln10), a);
  case TESI_OP_LOG1P:
    return quotient(r, one, add(r, one, a));
  case TESI_OP_SQRT:
    return quotient(r, number(r, 0.5), f);
  case TESI_OP_CBRT:
    return quotient(r, number(r, 1. / 3), square(r, f));
  case TESI_OP_ERF:
  case TESI_OP_ERFC: /* 2/sqrt(pi) exp(-a^2), and minus this value */
    return mul(r, number(r, op == TESI_OP_ERF ? erf0 : -erf0),
               unary(r, TESI_OP_EXP, unary(r, TESI_OP_NEGATE, square(r, a))));
  default:
    return outer(r, op);
  }
}

/* Functions of two arguments, and functions with kinks. */
static int functions(Rule *r, TesiOp op) {
  const int a = r->a, b = r->b;
  switch (op) {
  case TESI_OP_FMOD: /* a - trunc(a/b) b */
    return sub(r, r->da, mul(r, unary(r, TESI_OP_TRUNC, quotient(r, a, b)), r->db));
  case TESI_OP_ATAN2:
    return quotient(r, sub(r, mul(r, b, r->da), mul(r, a, r->db)), add(r, square(r, a), square(r, b)));
  case TESI_OP_POW:
    return power(r);
  case TESI_OP_FABS:
    return mul(r, sign(r, a), r->da);
  case TESI_OP_FMIN:
    return tesi_term(r->terms, TESI_OP_SELECT, tesi_term(r->terms, TESI_OP_LESS, a, b, 0), r->da, r->db);
  case TESI_OP_FMAX:
    return tesi_term(r->terms, TESI_OP_SELECT, tesi_term(r->terms, TESI_OP_LESS, b, a, 0), r->da, r->db);
  case TESI_OP_HYPOT:
    return quotient(r, add(r, mul(r, a, r->da), mul(r, b, r->db)), r->self);
  case TESI_OP_COPYSIGN:
    return mul(r, mul(r, sign(r, a), sign(r, b)), r->da);
  case TESI_OP_TABLE: /* b and c are numbers, not terms */
    return mul(r, tesi_term_table(r->terms, b, r->c + 1, a), r->da);
  default:
    return mul(r, outer_exponential(r, op), r->da);
  }
}

static int derivative(Rule *r, TesiOp op) {
  switch (op) {
  case TESI_OP_NEGATE:
    return sub(r, number(r, 0), r->da);
  case TESI_OP_ADD:
    return add(r, r->da, r->db);
  case TESI_OP_SUBTRACT:
    return sub(r, r->da, r->db);
  case TESI_OP_MULTIPLY:
    return add(r, mul(r, r->da, r->b), mul(r, r->a, r->db));
  case TESI_OP_DIVIDE: /* (a' - (a/b) b') / b */
    return quotient(r, sub(r, r->da, mul(r, r->self, r->db)), r->b);
  case TESI_OP_SELECT:
    return tesi_term(r->terms, TESI_OP_SELECT, r->a, r->db, r->dc);
  case TESI_OP_NOT:
  case TESI_OP_LESS:
  case TESI_OP_LESS_EQUAL:
  case TESI_OP_EQUAL:
  case TESI_OP_NOT_EQUAL:
  case TESI_OP_AND:
  case TESI_OP_OR:
  case TESI_OP_FLOOR:
  case TESI_OP_CEIL:
  case TESI_OP_ROUND:
  case TESI_OP_TRUNC:
    return number(r, 0);
  default:
    return functions(r, op);
  }
}

/* Whether all operands that matter have derivative 0; the condition of ?: does not matter. */
static bool does_not_vary(const Rule *r, const TesiTerm *term) {
  const int n = tesi_op_operands[term->op], d[3] = {r->da, r->db, r->dc};
  for (int k = term->op == TESI_OP_SELECT; k < n; k++)
    if (!is(r->terms, d[k], 0)) return false;
  return true;
}

int tesi_term_derivative(TesiTerms *terms, int term, int variable, int *without) {
  bool needed[TESI_EXPRESSION_TERMS];
  uint16_t d[TESI_EXPRESSION_TERMS] = {0};
  tesi_terms_needed(terms, term, needed);
  *without = -1;
  for (int i = 0; i <= term && !terms->status; i++) {
    const TesiTerm t = terms->term[i]; /* a copy, since the list moves when it grows */
    Rule r = {terms, i, t.a, t.b, t.c, d[t.a], d[t.b], d[t.c], false};
    if (!needed[i]) continue;
    if (t.op == TESI_OP_VARIABLE)
      d[i] = (uint16_t)number(&r, t.a == variable);
    else if (does_not_vary(&r, &t))
      d[i] = (uint16_t)number(&r, 0);
    else
      d[i] = (uint16_t)derivative(&r, (TesiOp)t.op);
    if (r.without) {
      *without = t.op;
      return 0;
    }
  }
  return d[term];
}
