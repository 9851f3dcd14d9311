/* Smoothers defined by programs: TesSmootherOwn as an entry of the table of smoothers. */
#include <stdio.h>
#include "smoother/smoother.h"

/* A vector of the operator's precision over given numbers. */
static TesVector vector_at(const TesSmoother *smoother, const void *data) {
  const TesOperator *op = smoother->op;
  return (TesVector){.context = smoother->context,
                     .length = op->length,
                     .precision = op->precision,
                     .data = (void *)data,
                     .borrow = true,
                     .layout = op->space ? op->space->layout : NULL};
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  const TesSmootherOwn *own = smoother->own;
  const TesVector from = vector_at(smoother, b);
  TesVector to = vector_at(smoother, x);
  return own->apply(own->user, smoother->plan, smoother->op, &from, &to, sweep, zero_guess);
}

/* The reference of such a smoother is the program's own step, on vectors of the operator's device and precision. */
static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  TesVector *from = NULL, *to = NULL;
  TES_TRY(tesi_operator_new_vector(smoother->op, smoother->op->precision, &from));
  TES_TRY(tesi_operator_new_vector(smoother->op, smoother->op->precision, &to));
  TES_TRY(tes_vector_set(from, b));
  TES_TRY(tes_vector_set(to, x));
  TES_TRY(apply(smoother, from->data, to->data, sweep, false));
  TES_TRY(tes_vector_get(to, x));
done:
  tes_vector_destroy(&from);
  tes_vector_destroy(&to);
  return status;
}

/* What a step costs is not known. */
static TesCost cost(const TesSmoother *smoother) {
  (void)smoother;
  return (TesCost){0};
}

static void destroy(TesSmoother *smoother) {
  const TesSmootherOwn *own = smoother->own;
  if (own->destroy && smoother->plan) own->destroy(own->user, smoother->plan);
  smoother->plan = NULL;
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = apply_ref, .cost = cost, .destroy = destroy};

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesSmootherOwn *own = smoother->own;
  TES_CHECK(own->apply, "a smoother of one's own needs apply");
  TES_CHECK(smoother->kind == TES_SMOOTHER_AUTO, "a smoother of one's own and the kind %d: one of them",
            (int)smoother->kind);
  smoother->table = &table;
  if (smoother->omega == 0) smoother->omega = 1;
  smoother->symmetric = own->symmetric;
  snprintf(smoother->description, sizeof smoother->description, "%s", own->name ? own->name : "own");
  if (own->create) TES_TRY(own->create(own->user, smoother->op, &smoother->plan));
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  return smoother->own ? NULL : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_own = {~0U, refuses, init};
