/* Functions made from expressions. */
#include "io/expression/expression.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/simd_builds.h"
#include "base/team.h"

/* Chunks of 64 KiB: enough work for a thread, and some dozens per thread for 2e7 points. */
enum { CHUNK = 8192, PARALLEL_FROM = 65536, FIXED = 4 /* variables: x, y, z, t */ };

typedef struct Expression {
  TesContext *ctx; /* the function keeps it alive */
  TesiTerms terms;
  int root, threads;
  TesiProgram program;
  const TesiKernel *kernels;
} Expression;

const char *const tesi_space_names[] = {"x", "y", "z", "t", NULL};
const char *const tesi_boundary_names[] = {"x", "y", "z", "t", "nx", "ny", "nz", NULL};

typedef struct Points {
  const Expression *e;
  int64_t n;
  const double *x, *y, *z, *t, *const *more;
  double *out;
} Points;

static void evaluate_chunks(const void *data, TesiSpan span) {
  const Points *p = data;
  const TesiProgram *program = &p->e->program;
  for (int64_t i = span.first; i < span.end; i++) {
    const int64_t first = i * CHUNK, count = p->n - first < CHUNK ? p->n - first : CHUNK;
    const double *variables[TESI_EXPRESSION_VARIABLES] = {p->x + first, p->y + first, p->z + first, p->t};
    for (int v = FIXED; v < program->variables; v++)
      variables[v] = p->more[v - FIXED] ? p->more[v - FIXED] + first : NULL;
    tesi_program_run(program, p->e->kernels, count, variables, p->out + first);
  }
}

/* more: the variables after x, y, z, t; NULL: there are none. */
static void evaluate_over(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                          const double *const *more, double *out) {
  const Expression *e = user;
  const int64_t chunks = (n + CHUNK - 1) / CHUNK;
  tesi_team_for(n < PARALLEL_FROM ? 1 : e->threads, chunks, evaluate_chunks,
                &(Points){e, n, x, y, z, &t, more, out});
}

static void evaluate(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *out) {
  const Expression *e = user;
  if (e->program.variables <= FIXED)
    evaluate_over(user, n, x, y, z, t, NULL, out);
  else
    for (int64_t i = 0; i < n; i++) out[i] = NAN;
}

void tesi_expression_values(const TesFunction *function, int64_t n, const double *s, double *out) {
  void *e = tesi_function_user(function, evaluate);
  double value = NAN;
  if (e) {
    evaluate(e, n, s, s, s, 0, out);
  } else {
    tes_function_constant(function, &value);
    for (int64_t i = 0; i < n; i++) out[i] = value;
  }
}

static void destroy(void *user) {
  Expression *e = user;
  TesContext *ctx = e->ctx;
  tesi_program_free(ctx, &e->program);
  tesi_terms_free(&e->terms);
  tesi_free(ctx, &e);
}

static bool depends_on_variables(const TesiTerms *terms, int root) {
  bool needed[TESI_EXPRESSION_TERMS];
  tesi_terms_needed(terms, root, needed);
  for (int i = 0; i <= root; i++)
    if (needed[i] && terms->term[i].op == TESI_OP_VARIABLE) return true;
  return false;
}

static bool depends_on_time(const TesiTerms *terms, int root) {
  bool needed[TESI_EXPRESSION_TERMS];
  tesi_terms_needed(terms, root, needed);
  for (int i = 0; i <= root; i++)
    if (needed[i] && terms->term[i].op == TESI_OP_VARIABLE && terms->term[i].a == TESI_EXPRESSION_TIME)
      return true;
  return false;
}

/* Bit i: variable FIXED + i. */
static uint64_t further_variables(const TesiTerms *terms, int root) {
  bool needed[TESI_EXPRESSION_TERMS];
  uint64_t used = 0;
  tesi_terms_needed(terms, root, needed);
  for (int i = 0; i <= root; i++)
    if (needed[i] && terms->term[i].op == TESI_OP_VARIABLE && terms->term[i].a >= FIXED)
      used |= (uint64_t)1 << (terms->term[i].a - FIXED);
  return used;
}

/* Takes ownership of the terms. */
static TesStatus create(TesContext *ctx, TesiTerms *terms, int root, const char *text, TesFunction **function,
                        char *message) {
  TesStatus status = TES_OK;
  Expression *e = NULL;
  *function = NULL;
  if (terms->term[root].op == TESI_OP_CONSTANT) {
    TES_TRY(tesi_function_create_constant(ctx, terms->term[root].value, text, function));
    goto done;
  }
  if (!depends_on_variables(terms, root)) { /* constants are folded unless they are not finite */
    snprintf(message, TESI_EXPRESSION_MESSAGE, "\"%.60s\" is infinite or undefined", text);
    status = TES_INVALID_INPUT;
    goto done;
  }
  TES_NEW(&e);
  e->ctx = e->terms.ctx = ctx;
  e->threads = tes_context_threads(ctx);
  e->kernels = TESI_SIMD_PICK(tes_context_simd_bits(ctx), tesi_expression_kernels);
  e->root = root;
  TES_TRY(tesi_program_create(ctx, terms, root, &e->program, message));
  TES_TRY(tesi_function_create(ctx, evaluate, e, destroy, text, function));
  tesi_function_set_timed(*function, depends_on_time(terms, root));
  const uint64_t further = further_variables(terms, root);
  if (further)
    tesi_function_set_over(*function, evaluate_over, further);
  else
    tesi_function_set_emit(*function, tesi_expression_emit_c);
  e->terms = *terms;
  *terms = (TesiTerms){.ctx = ctx};
  e = NULL;
done:
  if (e) destroy(e);
  return status;
}

static TesStatus from_text(TesContext *ctx, const char *text, const char *const *variables, bool composed,
                           TesFunction **function, char *message) {
  TesStatus status = TES_OK;
  TesiTerms terms = {.ctx = ctx, .composed = composed};
  int root = 0;
  *function = NULL;
  TES_TRY(tesi_expression_parse(&terms, text, variables, &root, message));
  TES_TRY(create(ctx, &terms, root, text, function, message));
done:
  tesi_terms_free(&terms);
  return status;
}

TesStatus tesi_function_from_text(TesContext *ctx, const char *text, const char *const *variables,
                                  TesFunction **function, char *message) {
  return from_text(ctx, text, variables, false, function, message);
}

TesStatus tes_function_create_expression(TesContext *context, const char *text, TesFunction **function) {
  TesContext *ctx = context;
  TES_REFUSE_NULL(context, text, function);
  char message[TESI_EXPRESSION_MESSAGE] = "";
  TesStatus status = from_text(ctx, text, tesi_boundary_names, true, function, message);
  if (status == TES_INVALID_INPUT) TES_FAIL(status, "%s", message);
done:
  return status;
}

typedef TesStatus (*FromText)(TesContext *ctx, const char *text, const char *const *variables,
                              TesFunction **function, char *message);

/* The function that `from` makes of a text over x, y, z, t and further names. */
static TesStatus from_text_over(FromText from, TesContext *ctx, const char *text, int count,
                                const char *const *names, TesFunction **function) {
  const char *all[TESI_EXPRESSION_VARIABLES + 1] = {"x", "y", "z", "t"};
  char message[TESI_EXPRESSION_MESSAGE] = "";
  TesStatus status = TES_OK;
  *function = NULL;
  TES_CHECK(count <= TESI_EXPRESSION_VARIABLES - FIXED, "%d further variables, at most %d are possible",
            count, TESI_EXPRESSION_VARIABLES - FIXED);
  for (int i = 0; i < count; i++) all[FIXED + i] = names[i];
  status = from(ctx, text, all, function, message);
  if (status == TES_INVALID_INPUT && *message) TES_FAIL(status, "%s", message);
done:
  return status;
}

TesStatus tesi_function_create_over(TesContext *ctx, const char *text, int count, const char *const *names,
                                    TesFunction **function) {
  return from_text_over(tesi_function_from_text, ctx, text, count, names, function);
}

TesStatus tesi_function_slope_over(TesContext *ctx, const char *text, int count, const char *const *names,
                                   TesFunction **slope) {
  return from_text_over(tesi_function_slope_of_text, ctx, text, count, names, slope);
}

/* ---- derivatives --------------------------------------------------------------------------------------- */

static const char *op_name(int op) {
  static const char *const names[TESI_OPS] = {
#define OP(constant, operands, name, value) [TESI_OP_##constant] = name,
      TESI_OP_LIST(OP)
#undef OP
  };
  return names[op] ? names[op] : "this";
}

static TesStatus copy_terms(const TesiTerms *from, TesiTerms *to) {
  to->words = tesi_words_retain(from->words);
  for (int i = 0; i < from->count && !to->status; i++) tesi_term_copy(to, &from->term[i]);
  return to->status;
}

/* The message for an operation without a derivative, or for a result that is too long. */
static TesStatus check_derivative(const TesiTerms *terms, int without, const char *text) {
  TesContext *ctx = terms->ctx;
  TesStatus status = TES_OK;
  TES_CHECK(without < 0, "%s() has no derivative here: \"%.200s\"", op_name(without), text);
  TES_CHECK(terms->status != TES_INVALID_INPUT, "the derivative of \"%.200s\" has more than %d terms", text,
            TESI_EXPRESSION_TERMS);
  TES_TRY(terms->status);
done:
  return status;
}

/* Makes the function of a derivative. It has no text that could be parsed again. */
static TesStatus create_slope(TesContext *ctx, TesiTerms *terms, int root, const char *of,
                              TesFunction **slope) {
  TesStatus status = TES_OK;
  char message[TESI_EXPRESSION_MESSAGE] = "", text[256];
  snprintf(text, sizeof text, "the derivative of %s", of);
  status = create(ctx, terms, root, text, slope, message);
  if (status == TES_INVALID_INPUT) TES_FAIL(status, "%s", message);
  TES_TRY(status);
  tesi_function_set_emit(*slope, NULL);
done:
  return status;
}

TesStatus tesi_function_slope(const TesFunction *function, int variable, TesFunction **slope) {
  TesContext *ctx = tesi_function_context(function);
  TesStatus status = TES_OK;
  TesiTerms terms = {.ctx = ctx};
  int without = -1;
  const char *text = tes_function_text(function);
  const Expression *e = tesi_function_user(function, evaluate);
  *slope = NULL;
  if (tes_function_constant(function, NULL)) return tesi_function_create_constant(ctx, 0, text, slope);
  TES_CHECK(e, "a callback cannot be differentiated: give an expression");
  TES_TRY(copy_terms(&e->terms, &terms));
  const int root = tesi_term_derivative(&terms, e->root, FIXED + variable, &without);
  TES_TRY(check_derivative(&terms, without, text));
  TES_TRY(create_slope(ctx, &terms, root, text, slope));
done:
  tesi_terms_free(&terms);
  return status;
}

/* The terms of `from` with 0 instead of a variable. */
static int set_zero(const TesiTerms *from, int root, int variable, TesiTerms *to) {
  bool needed[TESI_EXPRESSION_TERMS];
  int place[TESI_EXPRESSION_TERMS] = {0};
  tesi_terms_needed(from, root, needed);
  for (int i = 0; i <= root && !to->status; i++) {
    const TesiTerm *t = &from->term[i];
    if (!needed[i]) continue;
    if (t->op == TESI_OP_CONSTANT)
      place[i] = tesi_term_constant(to, t->value);
    else if (t->op == TESI_OP_VARIABLE)
      place[i] = t->a == variable ? tesi_term_constant(to, 0) : tesi_term_variable(to, t->a);
    else if (t->op == TESI_OP_TABLE)
      place[i] = tesi_term_table(to, t->b, t->c, place[t->a]);
    else
      place[i] = tesi_term(to, (TesiOp)t->op, place[t->a], place[t->b], place[t->c]);
  }
  return place[root];
}

TesStatus tesi_function_slope_of_text(TesContext *ctx, const char *text, const char *const *variables,
                                      TesFunction **slope, char *message) {
  TesStatus status = TES_OK;
  TesiTerms terms = {.ctx = ctx, .composed = true}, result = {.ctx = ctx};
  int root = 0, without = -1;
  *slope = NULL;
  while (variables[terms.varied]) terms.varied++;
  TES_CHECK(terms.varied < TESI_EXPRESSION_VARIABLES, "%d variables, which leave no room for a slope",
            terms.varied);
  TES_TRY(tesi_expression_parse(&terms, text, variables, &root, message));
  root = tesi_term_derivative(&terms, root, terms.varied, &without);
  TES_TRY(check_derivative(&terms, without, text));
  result.words = tesi_words_retain(terms.words);
  root = set_zero(&terms, root, terms.varied, &result);
  TES_TRY(check_derivative(&result, -1, text));
  TES_TRY(create_slope(ctx, &result, root, text, slope));
done:
  tesi_terms_free(&terms);
  tesi_terms_free(&result);
  return status;
}

static TesStatus derive(const TesFunction *function, int direction, TesFunction **derivative) {
  TesContext *ctx = tesi_function_context(function);
  TesStatus status = TES_OK;
  TesiTerms terms = {.ctx = ctx};
  char message[TESI_EXPRESSION_MESSAGE] = "", text[256];
  int without = -1;
  const Expression *e = tesi_function_user(function, evaluate);
  *derivative = NULL;
  TES_CHECK(direction >= 0 && direction <= 3, "direction is %d, expected 0..3 for x, y, z, t", direction);
  snprintf(text, sizeof text, "d/d%c of %s", "xyzt"[direction], tes_function_text(function));
  if (tes_function_constant(function, NULL)) {
    TES_TRY(tesi_function_create_constant(ctx, 0, text, derivative));
    goto done;
  }
  TES_CHECK(e, "a callback cannot be differentiated: give an expression");
  TES_CHECK(!tesi_function_uses(function), "\"%.200s\" depends on a normal, which is not differentiated",
            tes_function_text(function));
  TES_TRY(copy_terms(&e->terms, &terms));
  const int root = tesi_term_derivative(&terms, e->root, direction, &without);
  TES_TRY(check_derivative(&terms, without, tes_function_text(function)));
  status = create(ctx, &terms, root, text, derivative, message);
  if (status == TES_INVALID_INPUT) TES_FAIL(status, "%s", message);
  TES_TRY(status);
done:
  tesi_terms_free(&terms);
  return status;
}

TesStatus tes_function_create_derivative(const TesFunction *function, int direction, TesFunction **derivative) {
  double time;
  if (!function || !derivative) return TES_INVALID_INPUT;
  const TesFunction *inner = tesi_function_inner(function, &time);
  TesFunction *of_inner;
  TesStatus status = derive(inner, direction, &of_inner);
  *derivative = NULL;
  if (status == TES_OK) status = tesi_function_set_where(of_inner, tesi_function_where(function));
  if (status != TES_OK) tes_function_destroy(&of_inner);
  if (status != TES_OK) return status;
  if (inner == function) {
    *derivative = of_inner;
    return TES_OK;
  }
  const TesStatus bound = tesi_function_at(of_inner, time, derivative);
  tes_function_destroy(&of_inner);
  return bound;
}

/* ---- C text -------------------------------------------------------------------------------------------- */

int tesi_expression_emit_c(const TesFunction *function, const char *declaration, const char *real,
                           char *buffer, size_t size) {
  const Expression *e = tesi_function_user(function, evaluate);
  double value;
  if (e && further_variables(&e->terms, e->root)) return -1;
  if (e) return tesi_terms_emit_c(&e->terms, e->root, declaration, real, buffer, size);
  if (!tes_function_constant(function, &value)) return -1;
  const TesiTerms terms = {.term = &(TesiTerm){.op = TESI_OP_CONSTANT, .value = value}, .count = 1};
  return tesi_terms_emit_c(&terms, 0, declaration, real, buffer, size);
}
