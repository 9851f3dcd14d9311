/* The base of all other folders: errors with a trace, accounted memory, reference counts, log, timers. */
#ifndef TESI_BASE_H
#define TESI_BASE_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tessera/context.h"
#include "tessera/function.h"
#include "tessera/status.h"

#if defined(__GNUC__)
#define TESI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define TESI_PRINTF(f, a)
#endif

/* ---- errors -----------------------------------------------------------------------------------------------------
 * A function that can fail has locals `TesContext *ctx` and `TesStatus status = TES_OK`, and a label `done:` behind
 * which it releases what it must and returns `status`. */

/* Records the first message and returns `status`; later messages before tes_context_clear() only add to the trace. */
TesStatus tesi_fail(TesContext *ctx, TesStatus status, const char *file, int line, const char *function,
                    const char *format, ...) TESI_PRINTF(6, 7);
TesStatus tesi_fail_null(TesContext *ctx, const char *file, int line,
                         const char *function); /* ctx may be NULL */
/* As tes_context_clear(), but a requested interruption stays in force. */
void tesi_context_forget(TesContext *ctx);
void tesi_trace(TesContext *ctx, const char *file, int line, const char *function);

#define TES_TRY(call)                                                                                        \
  do {                                                                                                       \
    status = (call);                                                                                         \
    if (status != TES_OK) {                                                                                  \
      tesi_trace(ctx, __FILE__, __LINE__, __func__);                                                         \
      goto done;                                                                                             \
    }                                                                                                        \
  } while (0)

#define TES_FAIL(code, ...)                                                                                  \
  do {                                                                                                       \
    status = tesi_fail(ctx, code, __FILE__, __LINE__, __func__, __VA_ARGS__);                                \
    goto done;                                                                                               \
  } while (0)

/* At the beginning of create functions: checks that context, description or object, and result pointer are not NULL. */
#define TES_REFUSE_NULL(ctx, desc, result)                                                                   \
  do {                                                                                                       \
    if (!(ctx) || !(desc) || !(result)) return tesi_fail_null(ctx, __FILE__, __LINE__, __func__);            \
  } while (0)

/* Refuses bad arguments: TES_CHECK(degree >= 1, "degree is %d, expected 1..20", degree). */
#define TES_CHECK(condition, ...)                                                                            \
  do {                                                                                                       \
    if (!(condition)) TES_FAIL(TES_INVALID_INPUT, __VA_ARGS__);                                              \
  } while (0)

/* ---- memory: aligned to 64 bytes, zero-filled, accounted on the context ------------------------------------------ */
TesStatus tesi_alloc(TesContext *ctx, size_t count, size_t size, void *pointer_to_pointer);
void tesi_free(TesContext *ctx, void *pointer_to_pointer); /* sets the pointer to NULL; NULL inside is fine */
char *tesi_strdup(TesContext *ctx, const char *text);      /* NULL when memory is out */
#define TES_NEW(pointer) TES_TRY(tesi_alloc(ctx, 1, sizeof **(pointer), (pointer)))
#define TES_ALLOC(pointer, count) TES_TRY(tesi_alloc(ctx, (size_t)(count), sizeof **(pointer), (pointer)))

/* ---- the context ------------------------------------------------------------------------------------------------- */
TesContext *tesi_context_retain(TesContext *ctx);
/* A context with one rank and no log. Apart from that it is like ctx: it uses its device, and ctx counts its memory.
 * For work that the other ranks do not share. */
TesStatus tesi_context_create_alone(TesContext *ctx, TesContext **alone);
struct TesiDevice;
const struct TesiDevice *tesi_context_device(const TesContext *ctx);
const TesCommunicator *tesi_context_communicator(const TesContext *ctx); /* parallel/comm.h */
void tesi_context_set_device(TesContext *ctx, const struct TesiDevice *device, void *state,
                             void (*destroy)(void *state));
void *tesi_context_device_state(const TesContext *ctx);
bool tesi_context_interrupted(const TesContext *ctx);
bool tesi_context_unordered(const TesContext *ctx);
bool tesi_context_deterministic(const TesContext *ctx);
/* From now on. */
void tesi_context_set_deterministic(TesContext *ctx);
/* The names that expressions know beside their own (io/expression/words.h). The context takes ownership, and releases
 * the names that it had before. */
void tesi_context_set_words(TesContext *ctx, void *words, void (*release)(void *words));
const void *tesi_context_words(const TesContext *ctx);

/* ---- long work: told as progress, ended by an interruption
 * Between begin and end, which nest, all allocations and tesi_work_on() fail with TES_INTERRUPTED once
 * tes_context_interrupt() was called; the message names the outermost title, and the part that went on. So code that
 * allocates need not check; a long loop without allocations calls tesi_work_go_on(). Begin and end are called by the
 * thread that leads the work. ------------------------------------------------------------------------------- */
void tesi_work_begin(TesContext *ctx, const char *title_format, ...) TESI_PRINTF(2, 3);
void tesi_work_end(TesContext *ctx);
/* Names the part that begins, which the log shows as progress. Outside of tesi_work_begin() and end it does nothing. */
TesStatus tesi_work_on(TesContext *ctx, const char *format, ...) TESI_PRINTF(2, 3);
TesStatus tesi_work_go_on(TesContext *ctx);

/* ---- log --------------------------------------------------------------------------------------------------------- */
void tesi_log(TesContext *ctx, TesLogLevel level, const char *format, ...) TESI_PRINTF(3, 4);

/* ---- time: seconds of a monotonic clock ---------------------------------------------------------------- */
double tesi_now(void);

/* ---- functions: how other folders make them (io/ makes expressions) ------------------------------------ */
TesStatus tesi_function_create(TesContext *ctx, TesFunctionEvaluate evaluate, void *user,
                               void (*destroy)(void *user), const char *text, TesFunction **function);
/* A constant that keeps the text it came from. */
TesStatus tesi_function_create_constant(TesContext *ctx, double value, const char *text,
                                        TesFunction **function);
/* `user` of a function made with this `evaluate`, NULL for all other functions: so io/ recognises its own. */
void *tesi_function_user(const TesFunction *function, TesFunctionEvaluate evaluate);
/* Text for devices: a C function that computes the same, see tesi_expression_emit_c; -1 if a function has no text. */
typedef int (*TesiFunctionEmit)(const TesFunction *function, const char *declaration, const char *real,
                                char *buffer, size_t size);
void tesi_function_set_emit(TesFunction *function, TesiFunctionEmit emit);
int tesi_function_emit(const TesFunction *function, const char *declaration, const char *real, char *buffer,
                       size_t size);
TesContext *tesi_function_context(const TesFunction *function);
/* The place in a file from which the function was read, with its key: "a.yaml:4:10: data.f: ", for messages; functions
 * made from it have it too. "" if it was not read from a file, or for NULL. */
TesStatus tesi_function_set_where(TesFunction *function, const char *where);
const char *tesi_function_where(const TesFunction *function);
/* The status for a value that is not finite: TES_INVALID_INPUT for a function read from a file, else TES_NAN. */
TesStatus tesi_function_fault(const TesFunction *function);
/* Values of a function of further variables, such as an outer normal or a solution and its derivatives. Their names
 * were given at its creation. A function that uses none of them is a plain function. `more`: [number of names] arrays
 * [n]; unused arrays may be NULL.
 * Without these arrays (tesi_function_values()) the value is NaN. */
typedef void (*TesiFunctionOver)(void *user, int64_t n, const double *x, const double *y, const double *z,
                                 double t, const double *const *more, double *out);
void tesi_function_set_over(TesFunction *function, TesiFunctionOver over, uint64_t used);
/* Bit i: uses further variable i. 0: a plain function. */
uint64_t tesi_function_uses(const TesFunction *function);
void tesi_function_values_over(const TesFunction *function, int64_t n, const double *x, const double *y,
                               const double *z, double t, const double *const *more, double *out);
/* An expression in x, y, z, t, r and the names [count] of further variables (io/ makes it). Messages as
 * tes_function_create_expression(). */
TesStatus tesi_function_create_over(TesContext *ctx, const char *text, int count, const char *const *names,
                                    TesFunction **function);
/* d function / d further variable, at the same variables. Errors: TES_INVALID_INPUT for callbacks, and for operations
 * without a derivative. */
TesStatus tesi_function_slope(const TesFunction *function, int variable, TesFunction **slope);
/* The derivative of such an expression by the constant of the case for which the words of the context have slopes. */
TesStatus tesi_function_slope_over(TesContext *ctx, const char *text, int count, const char *const *names,
                                   TesFunction **slope);
/* Values without any check, y and z not NULL: for loops over threads, which report faulty values after the loop. */
void tesi_function_values(const TesFunction *function, int64_t n, const double *x, const double *y,
                          const double *z, double t, double *out);
/* The same values; failures are reported to this context. */
TesStatus tesi_function_adopt(TesContext *ctx, const TesFunction *function, TesFunction **result);
/* factor f + offset. */
TesStatus tesi_function_affine(const TesFunction *function, double factor, double offset,
                               TesFunction **result);
/* Whether the function is the number 0. NULL: yes. */
bool tesi_function_is_zero(const TesFunction *function);
/* Whether it may depend on t: expressions with t, and callbacks. NULL: no. */
bool tesi_function_timed(const TesFunction *function);
/* A unique number of a function whose values never change (constants, and expressions without t); else 0. */
uint64_t tesi_function_still(const TesFunction *function);
/* Whether kernels can use its text: constants and callbacks have none. */
bool tesi_function_has_text(const TesFunction *function);
void tesi_function_set_timed(TesFunction *function, bool timed);
/* A function of time at a fixed time, as a function of space; the t of callers is ignored. Its text is the text of the
 * function of time, since kernels get the time as an argument: tesi_function_inner() returns both. */
TesStatus tesi_function_at(const TesFunction *function, double time, TesFunction **result);
/* The arguments of tesi_function_at(); for any other function: the function itself, time 0. */
const TesFunction *tesi_function_inner(const TesFunction *function, double *time);
/* A function over a ring, lower <= x_d < upper, continued beyond both ends. Constants stay. */
TesStatus tesi_function_continue(const TesFunction *function, int d, double lower, double upper,
                                 TesFunction **result);
TesFunction *tesi_function_retain(const TesFunction *function);
/* Coefficients of diffusion: NULL is 1, a scalar function is a multiple of the identity, and
 * tes_function_create_matrix() makes a matrix. This is entry r, c; NULL: *otherwise. */
const TesFunction *tesi_function_entry(const TesFunction *f, int r, int c, double *otherwise);
bool tesi_function_is_matrix(const TesFunction *f);
int tesi_function_matrix_dim(const TesFunction *f); /* 0: no matrix */
/* Whether entries r, c and c, r are known to be equal everywhere. */
bool tesi_function_mirrored(const TesFunction *f, int r, int c);
/* a[entries][n] <- the entries 00 01 (02) 11 (12 22) at n points. */
void tesi_function_entries(const TesFunction *f, int dim, int64_t n, const double *x, const double *y,
                           const double *z, double t, double *a);
/* The matrix with entries change(entry, first, second); `second` is 0 for off-diagonal entries. */
typedef TesStatus (*TesiFunctionChange)(const TesFunction *f, double first, double second,
                                        TesFunction **result);
TesStatus tesi_function_each(const TesFunction *matrix, TesiFunctionChange change, double first,
                             double second, TesFunction **result);

/* ---- small arithmetic ---------------------------------------------------------------------------------- */
static inline int tesi_min(int a, int b) {
  return a < b ? a : b;
}
static inline int tesi_max(int a, int b) {
  return a > b ? a : b;
}

#endif
