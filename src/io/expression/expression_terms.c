/* The graph of terms: made through tesi_term(), which folds constants and stores equal terms once. */
#include <math.h>
#include <string.h>
#include "io/expression/expression.h"

double tesi_lgamma(double a) {
  int sign;
  return lgamma_r(a, &sign);
}
#define lgamma tesi_lgamma

double tesi_op_value(TesiOp op, double a, double b, double c) {
  switch (op) {
#define OP(constant, operands, name, value)                                                                  \
  case TESI_OP_##constant:                                                                                   \
    return value;
    TESI_OP_LIST(OP)
#undef OP
  default:
    return NAN;
  }
}

const uint8_t tesi_op_operands[TESI_OPS] = {
#define OP(constant, operands, name, value) [TESI_OP_##constant] = operands,
    TESI_OP_LIST(OP)
#undef OP
};

int tesi_term_operand(const TesiTerm *term, int k) {
  return k == 0 ? term->a : k == 1 ? term->b : term->c;
}

void tesi_terms_needed(const TesiTerms *terms, int root, bool *needed) {
  memset(needed, 0, TESI_EXPRESSION_TERMS * sizeof *needed);
  needed[root] = true;
  for (int i = root; i >= 0; i--)
    for (int k = 0; needed[i] && k < tesi_op_operands[terms->term[i].op]; k++)
      needed[tesi_term_operand(&terms->term[i], k)] = true;
}

static bool same_term(const TesiTerm *p, const TesiTerm *q) {
  return p->op == q->op && p->a == q->a && p->b == q->b && p->c == q->c &&
         !memcmp(&p->value, &q->value, sizeof p->value); /* bits: 0 and -0 differ */
}

static uint64_t hash(const TesiTerm *term) {
  uint64_t bits, h = term->op;
  memcpy(&bits, &term->value, sizeof bits);
  const uint64_t words[4] = {term->a, term->b, term->c, bits};
  for (int i = 0; i < 4; i++) {
    h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

/* The entry of this term in the hash table, or the free entry where it belongs. Entries are index + 1. */
static uint16_t *place(const TesiTerms *terms, const TesiTerm *term) {
  for (uint64_t i = hash(term);; i++) {
    uint16_t *entry = &terms->table[i & (uint64_t)(terms->table_size - 1)];
    if (!*entry || same_term(&terms->term[*entry - 1], term)) return entry;
  }
}

static TesStatus grow(TesiTerms *terms) {
  TesContext *ctx = terms->ctx;
  TesStatus status = TES_OK;
  TesiTerms larger = *terms;
  larger.capacity = terms->capacity ? 2 * terms->capacity : 32;
  larger.table_size = 4 * larger.capacity;
  larger.term = NULL, larger.table = NULL;
  TES_ALLOC(&larger.term, larger.capacity);
  TES_ALLOC(&larger.table, larger.table_size);
  if (terms->count) memcpy(larger.term, terms->term, (size_t)terms->count * sizeof *terms->term);
  for (int i = 0; i < terms->count; i++) *place(&larger, &larger.term[i]) = (uint16_t)(i + 1);
  tesi_free(ctx, &terms->term);
  tesi_free(ctx, &terms->table);
  *terms = larger;
  larger.term = NULL, larger.table = NULL;
done:
  tesi_free(ctx, &larger.term);
  tesi_free(ctx, &larger.table);
  return status;
}

int tesi_term_copy(TesiTerms *terms, const TesiTerm *term) {
  if (terms->status) return 0;
  if (terms->count == terms->capacity) {
    terms->status = terms->count >= TESI_EXPRESSION_TERMS ? TES_INVALID_INPUT : grow(terms);
    if (terms->status) return 0;
  }
  uint16_t *entry = place(terms, term);
  if (!*entry) {
    terms->term[terms->count] = *term;
    *entry = (uint16_t)++terms->count;
  }
  return *entry - 1;
}

int tesi_term_constant(TesiTerms *terms, double value) {
  return tesi_term_copy(terms, &(TesiTerm){.op = TESI_OP_CONSTANT, .value = value});
}

int tesi_term_variable(TesiTerms *terms, int variable) {
  return tesi_term_copy(terms, &(TesiTerm){.op = TESI_OP_VARIABLE, .a = (uint16_t)variable});
}

/* The value of a constant; NaN for other terms. */
static double constant_of(const TesiTerms *terms, int i) {
  return terms->term[i].op == TESI_OP_CONSTANT ? terms->term[i].value : NAN;
}

static int power(TesiTerms *terms, int a, int n) {
  if (n == 0) return tesi_term_constant(terms, 1);
  if (n == 1) return a;
  const int square = tesi_term(terms, TESI_OP_MULTIPLY, a, a, 0);
  if (n == 2) return square;
  return tesi_term(terms, TESI_OP_MULTIPLY, square, n == 3 ? a : square, 0);
}

/* Whether the quotient by this number is the product with its inverse, to the last bit. */
static bool is_power_of_two(double value) {
  int exponent;
  return fabs(frexp(value, &exponent)) == 0.5 && isnormal(value) && isnormal(1 / value);
}

int tesi_term(TesiTerms *terms, TesiOp op, int a, int b, int c) {
  if (terms->status) return 0;
  const int n = tesi_op_operands[op], of[3] = {a, n > 1 ? b : a, n > 2 ? c : a};
  const double va = constant_of(terms, of[0]), vb = constant_of(terms, of[1]), vc = constant_of(terms, of[2]);
  if (!isnan(va) && !isnan(vb) && !isnan(vc)) {
    const double value = tesi_op_value(op, va, vb, vc);
    if (isfinite(value)) return tesi_term_constant(terms, value);
  }
  if (op == TESI_OP_SELECT && !isnan(va)) return va != 0 ? b : c;
  if (op == TESI_OP_DIVIDE && is_power_of_two(vb))
    return tesi_term(terms, TESI_OP_MULTIPLY, a, tesi_term_constant(terms, 1 / vb), 0);
  if (op == TESI_OP_POW && vb >= 0 && vb <= 4 && vb == floor(vb)) return power(terms, a, (int)vb);
  TesiTerm term = {.op = (uint16_t)op, .a = (uint16_t)of[0]};
  if (n > 1) term.b = (uint16_t)of[1];
  if (n > 2) term.c = (uint16_t)of[2];
  if ((op == TESI_OP_ADD || op == TESI_OP_MULTIPLY) && term.a > term.b) {
    term.a = (uint16_t)of[1];
    term.b = (uint16_t)of[0];
  }
  return tesi_term_copy(terms, &term);
}

int tesi_term_table(TesiTerms *terms, int table, int order, int a) {
  if (terms->status) return 0;
  const double s = constant_of(terms, a);
  if (!isnan(s)) return tesi_term_constant(terms, tesi_table_value(&terms->words->table[table], order, s));
  return tesi_term_copy(
      terms, &(TesiTerm){.op = TESI_OP_TABLE, .a = (uint16_t)a, .b = (uint16_t)table, .c = (uint16_t)order});
}

void tesi_terms_free(TesiTerms *terms) {
  tesi_free(terms->ctx, &terms->term);
  tesi_free(terms->ctx, &terms->table);
  tesi_words_release(&terms->words);
  terms->count = terms->capacity = terms->table_size = 0;
}
