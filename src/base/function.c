#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/fault.h"
#include "base/text.h"

struct TesFunction {
  atomic_int references;
  TesContext *context;
  TesFunctionEvaluate evaluate; /* NULL: constant */
  void *user;
  void (*destroy)(void *user);
  double constant;
  char *text, *where; /* where: NULL: not read from a file */
  TesiFunctionEmit emit;
  TesiFunctionOver over; /* NULL: a plain function */
  uint64_t used;         /* bit i: further variable i */
  bool timed;            /* it may depend on t */
  uint64_t number;       /* unique to this function */
  atomic_bool faulty;    /* it has had a value that is not finite */
};

static atomic_uint_fast64_t numbered; /* functions so far */

static TesStatus create(TesContext *ctx, TesFunctionEvaluate evaluate, void *user, void (*destroy)(void *user),
                        double constant, const char *text, TesFunction **function) {
  TesStatus status = TES_OK;
  TesFunction *f = NULL;
  *function = NULL;
  TES_NEW(&f);
  atomic_init(&f->references, 1);
  TES_TRY(tesi_copy_text(ctx, text, &f->text));
  f->context = tesi_context_retain(ctx);
  f->evaluate = evaluate;
  f->user = user;
  f->destroy = destroy;
  f->constant = constant;
  f->number = atomic_fetch_add(&numbered, 1) + 1;
  *function = f;
  f = NULL;
done:
  tesi_free(ctx, &f);
  return status;
}

TesStatus tesi_function_set_where(TesFunction *function, const char *where) {
  TesContext *ctx = function->context;
  TesStatus status = TES_OK;
  tesi_free(ctx, &function->where);
  if (!where || !*where) return TES_OK;
  TES_TRY(tesi_copy_text(ctx, where, &function->where));
done:
  return status;
}

const char *tesi_function_where(const TesFunction *function) {
  return function && function->where ? function->where : "";
}

TesStatus tesi_function_fault(const TesFunction *function) {
  double time;
  if (function) atomic_store(&((TesFunction *)tesi_function_inner(function, &time))->faulty, true);
  return function && function->where ? TES_INVALID_INPUT : TES_NAN;
}

bool tesi_function_is_faulty(const TesFunction *function) {
  return function && function->faulty;
}

TesStatus tes_function_create_constant(TesContext *context, double value, TesFunction **function) {
  char text[32];
  TES_REFUSE_NULL(context, function, function);
  snprintf(text, sizeof text, "%.17g", value);
  return create(context, NULL, NULL, NULL, value, text, function);
}

TesStatus tes_function_create_callback(TesContext *context, TesFunctionEvaluate evaluate, void *user,
                                       void (*destroy)(void *user), TesFunction **function) {
  TES_REFUSE_NULL(context, evaluate, function);
  const TesStatus status = create(context, evaluate, user, destroy, 0, "callback", function);
  if (status == TES_OK) (*function)->timed = true;
  return status;
}

TesStatus tesi_function_create(TesContext *ctx, TesFunctionEvaluate evaluate, void *user,
                               void (*destroy)(void *user), const char *text, TesFunction **function) {
  return create(ctx, evaluate, user, destroy, 0, text, function);
}

TesStatus tesi_function_create_constant(TesContext *ctx, double value, const char *text,
                                        TesFunction **function) {
  return create(ctx, NULL, NULL, NULL, value, text, function);
}

void *tesi_function_user(const TesFunction *function, TesFunctionEvaluate evaluate) {
  return evaluate && function->evaluate == evaluate ? function->user : NULL;
}

void tesi_function_set_over(TesFunction *function, TesiFunctionOver over, uint64_t used) {
  function->over = over;
  function->used = used;
}

uint64_t tesi_function_uses(const TesFunction *function) {
  return function ? function->used : 0;
}

void tesi_function_values_over(const TesFunction *function, int64_t n, const double *x, const double *y,
                               const double *z, double t, const double *const *more, double *out) {
  if (function->over)
    function->over(function->user, n, x, y, z, t, more, out);
  else
    tesi_function_values(function, n, x, y, z, t, out);
}

void tesi_function_set_timed(TesFunction *function, bool timed) {
  function->timed = timed;
}

bool tesi_function_is_zero(const TesFunction *f) {
  double value;
  return !f || (tes_function_constant(f, &value) && value == 0);
}

bool tesi_function_timed(const TesFunction *function) {
  return function && function->timed;
}

void tesi_function_set_emit(TesFunction *function, TesiFunctionEmit emit) {
  function->emit = emit;
}

int tesi_function_emit(const TesFunction *function, const char *declaration, const char *real, char *buffer,
                       size_t size) {
  return function->emit ? function->emit(function, declaration, real, buffer, size) : -1;
}

bool tesi_function_has_text(const TesFunction *function) {
  return function->emit != NULL;
}

TesContext *tesi_function_context(const TesFunction *function) {
  return function->context;
}

TesFunction *tesi_function_retain(const TesFunction *function) {
  TesFunction *f = (TesFunction *)function;
  if (f) atomic_fetch_add(&f->references, 1);
  return f;
}

void tes_function_destroy(TesFunction **function) {
  if (!function || !*function) return;
  TesFunction *f = *function;
  *function = NULL;
  if (atomic_fetch_sub(&f->references, 1) != 1) return;
  TesContext *ctx = f->context;
  if (f->destroy) f->destroy(f->user);
  tesi_free(ctx, &f->text);
  tesi_free(ctx, &f->where);
  tesi_free(ctx, &f);
  tes_context_destroy(&ctx);
}

bool tes_function_constant(const TesFunction *function, double *value) {
  if (function->evaluate) return false;
  if (value) *value = function->constant;
  return true;
}

const char *tes_function_text(const TesFunction *function) {
  return function->text;
}

void tesi_function_values(const TesFunction *function, int64_t n, const double *x, const double *y,
                          const double *z, double t, double *out) {
  if (function->evaluate)
    function->evaluate(function->user, n, x, y, z, t, out);
  else
    for (int64_t i = 0; i < n; i++) out[i] = function->constant;
}

TesStatus tes_function_evaluate(const TesFunction *function, int64_t n, const double *x, const double *y,
                                const double *z, double t, double *out) {
  TesContext *ctx = function->context;
  TesStatus status = TES_OK;
  double *zero = NULL;
  if (function->evaluate && (!y || !z)) TES_ALLOC(&zero, n);
  tesi_function_values(function, n, x, y ? y : zero, z ? z : zero, t, out);
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(out[i]))
      TES_FAIL(tesi_function_fault(function), "%s%s is %g at (%.6g, %.6g, %.6g)",
               tesi_function_where(function), function->text, out[i], x[i], y ? y[i] : 0, z ? z[i] : 0);
done:
  tesi_free(ctx, &zero);
  return status;
}

typedef struct Adopted {
  TesContext *context;
  TesFunction *function;
} Adopted;

static void evaluate_adopted(void *user, int64_t n, const double *x, const double *y, const double *z,
                             double t, double *out) {
  tesi_function_values(((const Adopted *)user)->function, n, x, y, z, t, out);
}

static void destroy_adopted(void *user) {
  Adopted *s = user;
  TesContext *ctx = s->context;
  tes_function_destroy(&s->function);
  tesi_free(ctx, &s);
}

TesStatus tesi_function_adopt(TesContext *ctx, const TesFunction *function, TesFunction **result) {
  TesStatus status = TES_OK;
  Adopted *s = NULL;
  *result = NULL;
  TES_NEW(&s);
  *s = (Adopted){ctx, tesi_function_retain(function)};
  TES_TRY(tesi_function_create(ctx, evaluate_adopted, s, destroy_adopted, function->text, result));
  s = NULL;
done:
  if (s) destroy_adopted(s);
  return status;
}

/* factor f + offset. */
typedef struct Affine {
  TesFunction *function;
  double factor, offset;
} Affine;

static void evaluate_affine(void *user, int64_t n, const double *x, const double *y, const double *z,
                            double t, double *out) {
  const Affine *s = user;
  tesi_function_values(s->function, n, x, y, z, t, out);
  for (int64_t i = 0; i < n; i++) out[i] = s->factor * out[i] + s->offset;
}

static void destroy_affine(void *user) {
  Affine *s = user;
  TesContext *ctx = s->function->context;
  tes_function_destroy(&s->function);
  tesi_free(ctx, &s);
}

static bool is_at(const TesFunction *function);

TesStatus tesi_function_affine(const TesFunction *function, double factor, double offset,
                               TesFunction **result) {
  TesContext *ctx = function->context;
  TesStatus status = TES_OK;
  Affine *s = NULL;
  char *text = NULL;
  *result = NULL;
  if (factor == 1 && offset == 0) {
    *result = tesi_function_retain(function);
  } else if (tesi_function_is_matrix(function)) {
    TES_TRY(tesi_function_each(function, tesi_function_affine, factor, offset, result));
  } else if (!function->evaluate) {
    TES_TRY(tes_function_create_constant(ctx, factor * function->constant + offset, result));
    TES_TRY(tesi_function_set_where(*result, function->where));
  } else if (function->emit && !is_at(function)) { /* an expression; kernels use its text */
    const size_t size = strlen(function->text) + 80;
    TES_ALLOC(&text, size);
    snprintf(text, size, offset == 0 ? "%.17g * (%s)" : "%.17g * (%s) + (%.17g)", factor, function->text,
             offset);
    TES_TRY(tes_function_create_expression(ctx, text, result));
    TES_TRY(tesi_function_set_where(*result, function->where));
  } else {
    TES_NEW(&s);
    s->function = tesi_function_retain(function);
    s->factor = factor, s->offset = offset;
    TES_TRY(create(ctx, evaluate_affine, s, destroy_affine, 0, function->text, result));
    (*result)->timed = function->timed;
    s = NULL;
    TES_TRY(tesi_function_set_where(*result, function->where));
  }
done:
  if (s) destroy_affine(s);
  tesi_free(ctx, &text);
  return status;
}

/* ---- at one time --------------------------------------------------------------------------------------- */

typedef struct At {
  TesFunction *function;
  double time;
} At;

static void evaluate_at(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                        double *out) {
  const At *at = user;
  (void)t;
  tesi_function_values(at->function, n, x, y, z, at->time, out);
}

static void over_at(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                    const double *const *more, double *out) {
  const At *at = user;
  (void)t;
  tesi_function_values_over(at->function, n, x, y, z, at->time, more, out);
}

/* The text is the text of the function of time: kernels get the time as an argument and are compiled once. */
static int emit_at(const TesFunction *function, const char *declaration, const char *real, char *buffer,
                   size_t size) {
  return tesi_function_emit(((const At *)function->user)->function, declaration, real, buffer, size);
}

static void destroy_at(void *user) {
  At *at = user;
  TesContext *ctx = at->function->context;
  tes_function_destroy(&at->function);
  tesi_free(ctx, &at);
}

static bool is_at(const TesFunction *function) {
  return function->evaluate == evaluate_at;
}

uint64_t tesi_function_still(const TesFunction *function) {
  const bool is_text = function->emit && !function->timed && !function->used && !is_at(function);
  return !function->evaluate || is_text ? function->number : 0;
}

const TesFunction *tesi_function_inner(const TesFunction *function, double *time) {
  const At *at = is_at(function) ? function->user : NULL;
  *time = at ? at->time : 0;
  return at ? at->function : function;
}

static TesStatus entry_at(const TesFunction *entry, double time, double none, TesFunction **result) {
  (void)none;
  return tesi_function_at(entry, time, result);
}

TesStatus tesi_function_at(const TesFunction *function, double time, TesFunction **result) {
  TesContext *ctx = function->context;
  TesStatus status = TES_OK;
  At *at = NULL;
  *result = NULL;
  if (!function->timed) {
    *result = tesi_function_retain(function);
    return TES_OK;
  }
  if (tesi_function_is_matrix(function)) return tesi_function_each(function, entry_at, time, 0, result);
  TES_NEW(&at);
  at->function = tesi_function_retain(function);
  at->time = time;
  TES_TRY(create(ctx, evaluate_at, at, destroy_at, 0, function->text, result));
  at = NULL;
  if (function->emit) (*result)->emit = emit_at;
  if (function->over) tesi_function_set_over(*result, over_at, function->used);
  TES_TRY(tesi_function_set_where(*result, function->where));
done:
  if (at) destroy_at(at);
  return status;
}

/* ---- around a ring ------------------------------------------------------------------------------------- */

typedef struct Ring {
  TesFunction *function;
  int d;
  double lower, upper;
} Ring;

static void evaluate_around(void *user, int64_t n, const double *x, const double *y, const double *z,
                            double t, double *out) {
  enum { BATCH = 256 };
  const Ring *ring = user;
  double moved[BATCH];
  for (int64_t first = 0; first < n; first += BATCH) {
    const int64_t count = n - first < BATCH ? n - first : BATCH;
    const double *at[3] = {x + first, y + first, z + first};
    for (int64_t i = 0; i < count; i++) {
      const double place = at[ring->d][i], length = ring->upper - ring->lower;
      moved[i] = place < ring->lower ? place + length : place >= ring->upper ? place - length : place;
    }
    at[ring->d] = moved;
    tesi_function_values(ring->function, count, at[0], at[1], at[2], t, out + first);
  }
}

static void destroy_ring(void *user) {
  Ring *ring = user;
  TesContext *ctx = ring->function->context;
  tes_function_destroy(&ring->function);
  tesi_free(ctx, &ring);
}

TesStatus tesi_function_continue(const TesFunction *function, int d, double lower, double upper,
                                 TesFunction **result) {
  TesContext *ctx = function->context;
  TesStatus status = TES_OK;
  Ring *ring = NULL;
  double value;
  *result = NULL;
  if (tes_function_constant(function, &value)) {
    *result = tesi_function_retain(function);
    return TES_OK;
  }
  TES_NEW(&ring);
  *ring = (Ring){tesi_function_retain(function), d, lower, upper};
  TES_TRY(create(ctx, evaluate_around, ring, destroy_ring, 0, function->text, result));
  (*result)->timed = function->timed;
  ring = NULL;
  TES_TRY(tesi_function_set_where(*result, function->where));
done:
  if (ring) destroy_ring(ring);
  return status;
}
