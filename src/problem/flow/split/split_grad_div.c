/* The grad-div term of a flow: see split.h. To the momentum equation is added
 *
 *   sum over cells K of gamma_K (div u, div v)_K,    gamma_K = 0.1 |u| h,
 *
 * |u| h the largest velocity before the step times the length of the cell along it. The term is implicit, like the
 * viscous terms, and couples the components. Conjugate gradients use the diagonal of the other terms. */
#include "operator/operator.h"
#include "problem/flow/split/split.h"

TesStatus tesi_grad_div_create(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiGradDiv *g = &tesi_split_of(p)->grad_div;
  if (!desc->grad_div) return TES_OK;
  TES_TRY(tes_vector_create(ctx, p->mesh->cells, TES_DOUBLE, &g->gamma));
  TES_TRY(tesi_vector_create_on(tesi_split_of(p)->full->layout, TES_DOUBLE, &g->term));
done:
  return status;
}

void tesi_grad_div_free(TesiGradDiv *g) {
  tes_vector_destroy(&g->gamma);
  tes_vector_destroy(&g->term);
}

TesStatus tesi_grad_div_update(TesiSplit *pr, const TesVector *u) {
  const double part = 0.1;
  double most;
  TesVector *gamma = pr->grad_div.gamma;
  if (!gamma) return TES_OK;
  const TesStatus status = tesi_taylor_hood_reach(pr->taylor_hood, u, &most, gamma);
  return status == TES_OK ? tes_vector_copy(gamma, part, gamma) : status;
}

TesStatus tesi_grad_div_add(TesiSplit *pr, double factor, bool unknowns, const TesVector *x, TesVector *y) {
  TesContext *ctx = x->context;
  TesStatus status = TES_OK;
  if (!pr->grad_div.gamma) return TES_OK;
  TES_TRY(tesi_taylor_hood_grad_div(pr->taylor_hood, pr->grad_div.gamma, x, pr->grad_div.term));
  if (unknowns) TES_TRY(tesi_walls_put(&pr->walls, false, pr->grad_div.term));
  TES_TRY(tes_vector_axpy(factor, pr->grad_div.term, y));
done:
  return status;
}
