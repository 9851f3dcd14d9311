/** \file status.h
 *  Return values of functions, and how errors are reported.
 *
 *  Every function that can fail returns a TesStatus and writes its results through its last arguments; on failure
 *  the results are NULL or untouched. The context keeps the message of the first failure and its trace through the
 *  library: tes_context_message() and tes_context_trace().
 *
 *  Functions that create objects check that context, description and result pointer are not NULL (TES_INVALID_INPUT).
 *  In other functions a pointer may be NULL only where the header says so; this is not checked. */
#ifndef TESSERA_STATUS_H
#define TESSERA_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/** All statuses: X(constant, name in the JSON report, exit status of the program, what it means). */
#define TES_STATUS_LIST(X)                                                                                   \
  X(TES_OK, "converged", 0, "success")                                                                       \
  X(TES_NOT_CONVERGED, "not_converged", 1, "the iteration limit was reached before the tolerance")           \
  X(TES_ABOVE_TOLERANCE, "estimate_above_tolerance", 1,                                                      \
    "an adaptive solve ended with its estimate above the tolerance")                                         \
  X(TES_DIVERGED, "diverged", 1, "the residual grew beyond all measure")                                     \
  X(TES_STEP_TOO_SMALL, "step_too_small", 1, "steps in time became shorter than is allowed")                 \
  X(TES_NAN, "nan", 1, "a NaN or an infinity was met")                                                       \
  X(TES_INTERRUPTED, "interrupted", 1, "the user asked to stop")                                             \
  X(TES_INVALID_INPUT, "invalid_input", 2, "an argument or an input file is not valid")                      \
  X(TES_MISSING, "missing_component", 3, "a device, a library or a part left out at build time is needed")   \
  X(TES_OUT_OF_MEMORY, "out_of_memory", 4, "memory is exhausted, or would be")                               \
  X(TES_IO, "io_error", 4, "a file could not be read or written")                                            \
  X(TES_INTERNAL, "internal_error", 1, "a defect of the library: please report it")

typedef enum TesStatus {
#define X(constant, name, exit, text) constant,
  TES_STATUS_LIST(X)
#undef X
} TesStatus;

/** The name of the status in reports, e.g. "not_converged". Never NULL. */
const char *tes_status_name(TesStatus status);
/** What the status means, one phrase. Never NULL. */
const char *tes_status_text(TesStatus status);
/** The exit status of a program that ends with this status: 0, 1, 2, 3 or 4. */
int tes_status_exit(TesStatus status);

/** "Did you mean ...?": the name in the NULL-terminated list `known` that is nearest to a misspelt name; NULL when no
 * name is near. */
const char *tes_nearest_name(const char *name, const char *const *known);

#ifdef __cplusplus
}
#endif
#endif
