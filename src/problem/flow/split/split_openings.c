/* Pressures of open boundaries. A pressure that is uniform in the domain moves nothing, whatever it is in time: steps
 * raise the whole pressure by as much as the mean of the openings rises, and only the rest is left to the correction.
 * Else a rise would first push the fluid through the openings. */
#include "functional/functional.h"
#include "problem/flow/split/split.h"

/* work.ps <- P at nodes of open boundaries; *any: some is given. */
static TesStatus lift(TesProblem *p, bool *any) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const int dim = p->mesh->dim;
  const TesFunction **g = NULL;
  *any = false;
  TES_ALLOC(&g, pr->walls.boundaries + 1);
  for (int i = 0; i < pr->walls.boundaries; i++) g[i] = p->numbered.given[i].g[dim], *any = *any || g[i];
  if (*any)
    TES_TRY(tes_functional_lifting(pr->poisson->space, (const TesFunction *const *[]){g}, pr->work.ps));
done:
  tesi_free(ctx, &g);
  return status;
}

TesStatus tesi_split_give_pressure(TesProblem *p, const double *factor) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesiOpenings *openings = &pr->openings;
  double *now = NULL, *first = NULL;
  bool any;
  TES_TRY(lift(p, &any));
  if (!any) goto done;
  if (!openings->given)
    TES_TRY(tesi_vector_create_on(pr->taylor_hood->pressure->layout, TES_DOUBLE, &openings->given));
  if (factor) {
    TES_TRY(tes_vector_copy(pr->work.ps, *factor, pr->work.pn));
    TES_TRY(tes_vector_axpy(-*factor, openings->given, pr->work.pn));
    if (openings->rise != 0)
      TES_TRY(tes_vector_axpy(-*factor * openings->rise, openings->nodes, pr->work.pn));
  } else {
    TES_TRY(tesi_vector_read(pr->work.ps, &now));
    TES_TRY(tesi_vector_read(&pr->p, &first));
    for (int64_t i = 0; i < pr->p.length; i++)
      if (now[i] != 0) first[i] = now[i];
    TES_TRY(tes_vector_set(&pr->p, first));
  }
  TES_TRY(tes_vector_copy(pr->work.ps, 1, openings->given));
done:
  tesi_free(ctx, &now);
  tesi_free(ctx, &first);
  return status;
}

/* *mean <- the mean of v over the nodes of open boundaries. */
static TesStatus find_mean(TesProblem *p, const TesVector *v, double *mean) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesiOpenings *openings = &pr->openings;
  const TesFunction **ones = NULL;
  TesFunction *one = NULL;
  double size, sum;
  if (!openings->nodes) {
    TES_ALLOC(&ones, pr->walls.boundaries + 1);
    TES_TRY(tes_function_create_constant(ctx, 1, &one));
    for (int i = 0; i < pr->walls.boundaries; i++) ones[i] = one;
    TES_TRY(tesi_vector_create_on(pr->taylor_hood->pressure->layout, TES_DOUBLE, &openings->nodes));
    TES_TRY(tes_functional_lifting(pr->poisson->space, (const TesFunction *const *[]){ones}, openings->nodes));
  }
  TES_TRY(tes_vector_dot(openings->nodes, openings->nodes, &size));
  TES_TRY(tes_vector_dot(openings->nodes, v, &sum));
  *mean = size > 0 ? sum / size : 0;
done:
  tes_function_destroy(&one);
  tesi_free(ctx, &ones);
  return status;
}

TesStatus tesi_split_begin_with_surroundings(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  double mean;
  if (!pr->openings.given) return TES_OK;
  TES_TRY(find_mean(p, pr->openings.given, &mean));
  TES_TRY(tes_vector_fill(&pr->p, mean));
  TES_TRY(tes_vector_axpy(-mean, pr->openings.nodes, &pr->p));
  TES_TRY(tes_vector_axpy(1, pr->openings.given, &pr->p));
done:
  return status;
}

TesStatus tesi_split_find_rise(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const TesiNumbered *n = &p->in_time->numbers;
  double before, now;
  bool timed = false, any;
  pr->openings.rise = 0;
  for (int i = 0; i < pr->walls.boundaries; i++)
    timed = timed || tesi_function_timed(n->given[i].g[p->mesh->dim]);
  if (!pr->openings.given || !timed) return TES_OK;
  TES_TRY(lift(p, &any));
  TES_TRY(find_mean(p, pr->openings.given, &before));
  TES_TRY(find_mean(p, pr->work.ps, &now));
  pr->openings.rise = now - before;
done:
  return status;
}
