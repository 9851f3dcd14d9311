/* Forces of element iso (see split_force.c), and the change in a step. The steps use products at nodes and row-sum
 * masses; the residual here is the residual of the equation itself, with the exact integrals of the elements. */
#include <math.h>
#include "functional/functional.h"
#include "problem/flow/explicit/explicit_flow.h"
#include "problem/flow/split/split.h"

/* Mass, and nu times stiffness, over all nodes. */
static TesStatus create_operators(const TesProblem *p, TesiSplit *pr) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *nu = NULL;
  const TesTermDesc mass = {.term = TES_TERM_MASS};
  if (pr->mass) return TES_OK;
  TES_TRY(tes_function_create_constant(ctx, pr->nu, &nu));
  const TesTermDesc friction = {.term = TES_TERM_DIFFUSION, .a = {.all = nu}};
  TES_TRY(
      tes_operator_create(ctx, &(TesOperatorDesc){.space = pr->full, .form = {1, &friction, 0}}, &pr->whole));
  TES_TRY(tes_operator_create(ctx, &(TesOperatorDesc){.space = pr->full, .form = {1, &mass, 0}}, &pr->mass));
done:
  tes_function_destroy(&nu);
  return status;
}

static TesStatus create_vectors(TesContext *ctx, TesiSplit *pr) {
  TesStatus status = TES_OK;
  TesVector **const all[] = {&pr->work.b, &pr->work.d};
  for (int i = 0; i < 2; i++)
    if (!*all[i]) TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, all[i]));
done:
  return status;
}

TesStatus tesi_explicit_residual(const TesProblem *p, TesVector *r) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const TesiExplicitFlow *flow = pr->explicit_flow;
  const TesFunction *const *f = (const TesFunction *const *)p->numbered.data.f;
  const TesLoadDesc load = {.space = pr->full, .f = {f[0], f[1], p->mesh->dim == 3 ? f[2] : NULL}};
  double rate;
  TES_TRY(create_operators(p, pr));
  TES_TRY(create_vectors(ctx, pr));
  TES_TRY(tes_operator_apply(pr->whole, &pr->u, r));
  if (p->in_time->march.step > 0) {
    TES_TRY(tes_vector_copy(&pr->u, 1 / flow->k, pr->work.d));
    TES_TRY(tes_vector_axpy(-1 / flow->k, flow->u[1 - flow->now], pr->work.d));
    TES_TRY(tes_operator_apply(pr->mass, pr->work.d, pr->work.b));
    TES_TRY(tes_vector_axpy(1, pr->work.b, r));
  }
  TES_TRY(tesi_taylor_hood_convection(pr->taylor_hood, &pr->u, pr->work.b, &rate));
  TES_TRY(tes_vector_axpy(1, pr->work.b, r));
  TES_TRY(tesi_taylor_hood_gradient(pr->taylor_hood, &pr->p, pr->work.b));
  TES_TRY(tes_vector_axpy(-1, pr->work.b, r));
  TES_TRY(tes_functional_load(&load, pr->work.b));
  if (p->in_time->add_load) TES_TRY(p->in_time->add_load(p->in_time->add_load_user, pr->full, pr->work.b));
  TES_TRY(tes_vector_axpy(-1, pr->work.b, r));
done:
  return status;
}

TesStatus tesi_explicit_change(const TesProblem *p, double *size, double *change) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const TesiExplicitFlow *flow = pr->explicit_flow;
  TES_TRY(create_operators(p, pr));
  TES_TRY(create_vectors(ctx, pr));
  TES_TRY(tes_operator_apply(pr->mass, &pr->u, pr->work.b));
  TES_TRY(tes_vector_dot(&pr->u, pr->work.b, size));
  TES_TRY(tes_vector_copy(&pr->u, 1, pr->work.d));
  TES_TRY(tes_vector_axpy(-1, flow->u[1 - flow->now], pr->work.d));
  TES_TRY(tes_operator_apply(pr->mass, pr->work.d, pr->work.b));
  TES_TRY(tes_vector_dot(pr->work.d, pr->work.b, change));
  *size = sqrt(fmax(*size, 0)), *change = sqrt(fmax(*change, 0));
done:
  return status;
}
