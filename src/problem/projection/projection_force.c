/* Forces on boundaries: see projection.h. */
#include <math.h>
#include "operator/operator.h"
#include "problem/projection/projection.h"

/* r <- M (u_t + alpha u) + N(u) + nu K u - B' p - F over all nodes, and the grad-div term of the last step. u_t
 * by the last formula; 0 at the start. */
static TesStatus momentum_residual(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiProjection *pr = tesi_projection_of(p);
  const double w = pr->known > 1 ? pr->step[0] / pr->step[1] : 0, dt = pr->step[0];
  const double a0 = (1 + 2 * w) / (1 + w), a1 = 1 + w, a2 = w * w / (1 + w);
  pr->last_sigma = NAN; /* b is none of a step */
  TES_TRY(tesi_projection_load(p, pr->b));
  TES_TRY(tesi_drive_load(pr, pr->b));
  if (p->in_time) TES_TRY(tesi_projection_carry(p)); /* else there is no convection */
  if (p->in_time) TES_TRY(tes_vector_axpy(-1, pr->carried[0], pr->b));
  TES_TRY(tesi_mixed_gradient(pr->mixed, &pr->p, pr->r));
  TES_TRY(tes_vector_axpy(1, pr->r, pr->b));
  TES_TRY(tes_vector_copy(&pr->u, pr->sigma - pr->alpha - (pr->known ? a0 / dt : 0), pr->d));
  if (pr->known) TES_TRY(tes_vector_axpy(a1 / dt, pr->old[0], pr->d));
  if (pr->known > 1) TES_TRY(tes_vector_axpy(-a2 / dt, pr->old[1], pr->d));
  TES_TRY(tes_operator_apply(pr->mass, pr->d, pr->r));
  TES_TRY(tes_vector_axpy(1, pr->r, pr->b));
  TES_TRY(tes_operator_apply(pr->whole, &pr->u, pr->r));
  TES_TRY(tes_vector_axpy(-1, pr->b, pr->r));
  TES_TRY(tesi_grad_div_update(pr, pr->known ? pr->old[0] : &pr->u));
  TES_TRY(tesi_grad_div_add(pr, 1, false, &pr->u, pr->r));
done:
  return status;
}

/* Of a state in time once for all forces. */
static TesStatus keep_residual(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiProjection *pr = tesi_projection_of(p);
  if (pr->is_balanced && p->in_time) return TES_OK;
  if (!pr->balance) TES_TRY(tes_vector_create(ctx, pr->full->length, TES_DOUBLE, &pr->balance));
  if (pr->explicit_flow) {
    TES_TRY(tesi_explicit_residual(p, pr->balance));
  } else {
    TES_TRY(tesi_projection_use_sigma(p, pr->op ? pr->sigma : 1));
    TES_TRY(momentum_residual(p));
    TES_TRY(tes_vector_copy(pr->r, 1, pr->balance));
  }
  pr->is_balanced = true;
done:
  return status;
}

/* What flows through other boundaries whose velocity is given has a part of the test function at nodes that belong to
 * both: it is taken away. Open boundaries have none, their stress stands in F. */
static TesStatus find_others(const TesProblem *p, int boundary, int direction, const double *w, double *sum) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiProjection *pr = tesi_projection_of(p);
  TesiMixedFaces faces = {.count = 0};
  bool *wanted = NULL;
  double *u = NULL, *pressure = NULL;
  *sum = 0;
  TES_ALLOC(&wanted, pr->walls.boundaries + 1);
  for (int i = 0; i < pr->walls.boundaries; i++)
    wanted[i] = i != boundary && (pr->walls.wall[i].components >> direction & 1);
  TES_TRY(tesi_mixed_faces_create(pr->mixed, wanted, &faces));
  if (!faces.count) goto done;
  TES_ALLOC(&u, pr->u.length);
  TES_ALLOC(&pressure, pr->p.length);
  TES_TRY(tes_vector_get(&pr->u, u));
  TES_TRY(tes_vector_get(&pr->p, pressure));
  const TesiMixedTraction of = {.nu = pr->nu, .u = u, .p = pressure, .w = w, .component = direction};
  TES_TRY(tesi_mixed_traction(pr->mixed, &faces, &of, sum));
done:
  tesi_free(ctx, &u);
  tesi_free(ctx, &pressure);
  tesi_mixed_faces_free(pr->mixed, &faces);
  tesi_free(ctx, &wanted);
  return status;
}

/* - the residual tested with the function w that is 1 at the nodes of the boundary. */
TesStatus tesi_projection_force(const TesProblem *problem, int boundary, int direction, double *force) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesProblem *p = (TesProblem *)problem; /* scratch of the problem's own */
  TesiProjection *pr = tesi_projection_of(p);
  uint8_t *mark = NULL;
  double *w = NULL, *r = NULL;
  int64_t count;
  const int64_t length = pr->mixed->velocity->length;
  TES_TRY(keep_residual(p));
  TES_ALLOC(&mark, length);
  TES_ALLOC(&w, length);
  TES_TRY(tesi_walls_mark(pr->mixed, boundary, mark, &count));
  for (int64_t i = 0; i < length; i++) w[i] = mark[i];
  TES_TRY(find_others(p, boundary, direction, w, force));
  const TesVector part = tesi_vector_range(pr->balance, direction * length, length);
  TES_ALLOC(&r, length);
  TES_TRY(tes_vector_get(&part, r));
  for (int64_t i = 0; i < length; i++) *force -= w[i] * r[i];
done:
  tesi_free(ctx, &mark);
  tesi_free(ctx, &w);
  tesi_free(ctx, &r);
  return status;
}
