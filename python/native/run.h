/* What the Python package calls beside include/tessera: a case run as `tessera solve` runs it, and Ctrl-C. */
#ifndef PYTHON_RUN_H
#define PYTHON_RUN_H

#include "tessera/tessera.h"

/* A run of a case. The functions get `user`. */
typedef struct PyRun {
  const char *path; /* of the case file, or its name in messages where there is a text */
  const char *text; /* NULL: the file is read */
  int override_count;
  const char *const *overrides;             /* "key=value" */
  const char *restart, *vtu, *png, *report; /* files; NULL: none. report: where the JSON report is left */
  TesVerbosity verbosity;
  void (*log)(void *user, TesLogLevel level, const char *line);
  void (*progress)(void *user, double part); /* NULL: nobody asks */
  void *user;
  /* Filled: */
  TesProblem *problem; /* the caller's; NULL: it came to none */
  char message[1024];  /* of a failure, with its place in the case */
  bool solved;         /* an iteration was made, and the report tells of it */
} PyRun;

/* Errors: those of the solve, PyRun.message says more. */
TesStatus py_run(TesContext *context, PyRun *run);

/* tes_case_gradient() for the case of a run, whose problem this is. */
TesStatus py_gradient(TesContext *context, PyRun *run, TesProblem *problem, const char *value, int count,
                      TesCaseDatum *datum);

/* What is applied: an operator, or one cycle of a multigrid from zero. */
typedef struct PyLinear {
  TesContext *context;
  const TesOperator *op; /* NULL: the cycle */
  TesMultigrid *cycle;
  TesPrecision precision;
  TesVector *in, *out; /* of all nodes, zero at given ones: for py_apply_unknowns() */
  int64_t unknowns;
  const int64_t *unknown; /* [unknowns] their numbers among all nodes */
} PyLinear;

/* y <- A x over all nodes, in memory of the caller on the device of the context. TES_INVALID_INPUT without a message: x
 * and y share memory. */
TesStatus py_apply(const PyLinear *linear, int64_t length, void *x, void *y);
/* y[unknowns] <- A x at the unknowns, on the host. */
TesStatus py_apply_unknowns(const PyLinear *linear, const double *x, double *y);

/* From begin to end Ctrl-C interrupts the context, beside what it does otherwise. For one thread at a time; it may be
 * nested: the innermost context is interrupted. Only where Python itself listens to Ctrl-C. */
void py_interrupt_begin(TesContext *context);
void py_interrupt_end(void);

#endif
