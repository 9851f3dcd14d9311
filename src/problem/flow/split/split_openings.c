/* Pressures of open boundaries. There P = p - g . n, with the pressure p and the stress g that are given, is the
 * pressure of the flow but for the small viscous stress. A pressure that is uniform in the domain moves nothing,
 * whatever it is in time: steps raise the whole pressure by as much as the mean of P rises, and only the rest is left
 * to the correction. Else a rise would first push the fluid through the openings. */
#include "functional/functional.h"
#include "krylov/solver.h"
#include "problem/flow/split/split.h"

static bool has_stress(const TesProblem *p, const TesiGiven *of, int c) {
  return c < p->mesh->dim && of->how[c] == TESI_OPEN && !tesi_function_is_zero(of->g[c]);
}

/* A given pressure and stress as P, at the points of a boundary. */
typedef struct Opening {
  const TesProblem *problem;
  const TesiGiven *given;
} Opening;

static void over(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                 const double *const *normal, double *out) {
  const Opening *opening = user;
  const TesProblem *p = opening->problem;
  const TesFunction *const *g = opening->given->g;
  for (int64_t i = 0; i < n; i++) {
    double value = 0, stress;
    const double *const at[3] = {normal[0] + i, normal[1] + i, normal[2] + i};
    if (g[p->mesh->dim]) tesi_function_values_over(g[p->mesh->dim], 1, x + i, y + i, z + i, t, at, &value);
    for (int c = 0; c < p->mesh->dim; c++) {
      if (!has_stress(p, opening->given, c)) continue;
      tesi_function_values_over(g[c], 1, x + i, y + i, z + i, t, at, &stress);
      value -= stress * *at[c];
    }
    out[i] = value;
  }
}

/* Without normals there is no P. */
static void evaluate(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *out) {
  (void)user, (void)x, (void)y, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = NAN;
}

/* *P <- a function that keeps `opening`; NULL: 0. */
static TesStatus make_pressure(Opening *opening, TesFunction **P) {
  enum { NORMALS = 7 };
  const TesProblem *p = opening->problem;
  const TesFunction *const *g = opening->given->g;
  bool stress = false;
  for (int c = 0; c < p->mesh->dim; c++) stress = stress || has_stress(p, opening->given, c);
  *P = stress ? NULL : tesi_function_retain(g[p->mesh->dim]);
  if (!stress) return TES_OK;
  const TesStatus status = tesi_function_create(p->context, evaluate, opening, NULL, "the stress", P);
  if (status == TES_OK) tesi_function_set_over(*P, over, NORMALS);
  return status;
}

/* work.ps <- P at nodes of open boundaries; *any: some is given. */
static TesStatus lift(TesProblem *p, bool *any) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesFunction **P = NULL;
  Opening *opening = NULL;
  *any = false;
  TES_ALLOC(&P, pr->walls.boundaries + 1);
  TES_ALLOC(&opening, pr->walls.boundaries + 1);
  for (int i = 0; i < pr->walls.boundaries; i++) {
    opening[i] = (Opening){p, &p->numbered.given[i]};
    if (tesi_wall_open(p, i)) TES_TRY(make_pressure(&opening[i], &P[i]));
    *any = *any || P[i];
  }
  if (*any)
    TES_TRY(tes_functional_lifting(
        pr->poisson->space, (const TesFunction *const *[]){(const TesFunction *const *)P}, pr->work.ps));
  else
    TES_TRY(tes_vector_fill(pr->work.ps, 0));
done:
  for (int i = 0; P && i < pr->walls.boundaries; i++) tes_function_destroy(&P[i]);
  tesi_free(ctx, &P);
  tesi_free(ctx, &opening);
  return status;
}

/* openings.given <- work.ps. */
static TesStatus remember(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  if (!pr->openings.given)
    TES_TRY(tesi_vector_create_on(pr->taylor_hood->pressure->layout, TES_DOUBLE, &pr->openings.given));
  TES_TRY(tes_vector_copy(pr->work.ps, 1, pr->openings.given));
done:
  return status;
}

TesStatus tesi_split_change_pressure(TesProblem *p, double factor) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const TesiOpenings *openings = &pr->openings;
  bool any;
  TES_TRY(lift(p, &any));
  if (openings->given) {
    TES_TRY(tes_vector_copy(pr->work.ps, factor, pr->work.pn));
    TES_TRY(tes_vector_axpy(-factor, openings->given, pr->work.pn));
    if (openings->rise != 0) TES_TRY(tes_vector_axpy(-factor * openings->rise, openings->nodes, pr->work.pn));
  }
  if (any) TES_TRY(remember(p));
done:
  return status;
}

/* openings.nodes <- 1 at nodes of open boundaries. */
static TesStatus find_nodes(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const TesFunction **ones = NULL;
  TesFunction *one = NULL;
  if (pr->openings.nodes) return TES_OK;
  TES_ALLOC(&ones, pr->walls.boundaries + 1);
  TES_TRY(tes_function_create_constant(ctx, 1, &one));
  for (int i = 0; i < pr->walls.boundaries; i++) ones[i] = one;
  TES_TRY(tesi_vector_create_on(pr->taylor_hood->pressure->layout, TES_DOUBLE, &pr->openings.nodes));
  TES_TRY(tes_functional_lifting(pr->poisson->space, (const TesFunction *const *[]){ones}, pr->openings.nodes));
done:
  tes_function_destroy(&one);
  tesi_free(ctx, &ones);
  return status;
}

/* *mean <- the mean of v over the nodes of open boundaries. */
static TesStatus find_mean(TesProblem *p, const TesVector *v, double *mean) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiOpenings *openings = &tesi_split_of(p)->openings;
  double size, sum;
  TES_TRY(find_nodes(p));
  TES_TRY(tes_vector_dot(openings->nodes, openings->nodes, &size));
  TES_TRY(tes_vector_dot(openings->nodes, v, &sum));
  *mean = size > 0 ? sum / size : 0;
done:
  return status;
}

/* work.pn <- P - p at nodes of open boundaries, else 0. */
static TesStatus find_lack(TesiSplit *pr) {
  TesContext *ctx = pr->work.pn->context;
  TesStatus status = TES_OK;
  double *P = NULL, *node = NULL, *pressure = NULL;
  TES_TRY(tesi_vector_read(pr->work.ps, &P));
  TES_TRY(tesi_vector_read(pr->openings.nodes, &node));
  TES_TRY(tesi_vector_read(&pr->p, &pressure));
  for (int64_t i = 0; i < pr->p.length; i++) P[i] = node[i] != 0 ? P[i] - pressure[i] : 0;
  TES_TRY(tes_vector_set(pr->work.pn, P));
done:
  tesi_free(ctx, &P);
  tesi_free(ctx, &node);
  tesi_free(ctx, &pressure);
  return status;
}

/* p <- p + the function with the values pn at nodes of open boundaries whose Laplacian is 0. pn is overwritten. */
static TesStatus add_harmonic(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesSolveResult result;
  double mean, load;
  TES_TRY(find_mean(p, pr->work.pn, &mean));
  TES_TRY(tes_vector_axpy(mean, pr->mean.ones, &pr->p));
  TES_TRY(tes_vector_axpy(-mean, pr->openings.nodes, pr->work.pn));
  TES_TRY(tes_vector_fill(pr->work.pz, 0));
  TES_TRY(tes_operator_lift(pr->poisson->op, pr->work.pn, pr->work.pz));
  TES_TRY(tesi_problem_clear(pr->poisson, pr->work.pz));
  TES_TRY(tes_vector_norm(pr->work.pz, &load));
  TES_TRY(tes_vector_axpy(1, pr->work.pn, &pr->p));
  if (load > 0) {
    tesi_solver_set_tolerance(pr->poisson->solver, fmin(p->chosen.tolerance, 1e-6));
    TES_TRY(tesi_solver_solve_from_zero(pr->poisson->solver, pr->work.pz, pr->work.pd, &result));
    TES_TRY(tes_vector_axpy(1, pr->work.pd, &pr->p));
  }
done:
  return status;
}

TesStatus tesi_split_begin_openings(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  double lack;
  bool any;
  if (!pr->walls.any_open) return TES_OK;
  TES_TRY(lift(p, &any));
  if (any) TES_TRY(remember(p));
  TES_TRY(find_nodes(p));
  TES_TRY(find_lack(pr));
  TES_TRY(tes_vector_maximum(pr->work.pn, &lack));
  if (lack > 0) TES_TRY(add_harmonic(p));
done:
  return status;
}

bool tesi_split_openings_timed(const TesProblem *p) {
  const TesiGiven *given = p->in_time->numbers.given;
  bool timed = false;
  for (int i = 0; i < tesi_split_of(p)->walls.boundaries; i++)
    for (int c = 0; c <= p->mesh->dim && tesi_wall_open(p, i); c++)
      timed = timed ||
              ((c == p->mesh->dim || given[i].how[c] == TESI_OPEN) && tesi_function_timed(given[i].g[c]));
  return timed;
}

TesStatus tesi_split_find_rise(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  double before, now;
  bool any;
  pr->openings.rise = 0;
  if (!pr->openings.given || !tesi_split_openings_timed(p)) return TES_OK;
  TES_TRY(lift(p, &any));
  TES_TRY(find_mean(p, pr->openings.given, &before));
  TES_TRY(find_mean(p, pr->work.ps, &now));
  pr->openings.rise = now - before;
done:
  return status;
}
