/* Forces on boundaries: see split.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "operator/operator.h"
#include "problem/forces.h"
#include "problem/flow/split/split.h"

/* r <- M (u_t + alpha u) + N(u) + nu K u - B' p - F over all nodes, plus the grad-div term of the last step. u_t is
 * taken from the last formula; it is 0 at the start. */
static TesStatus momentum_residual(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const double w = pr->state.known > 1 ? pr->state.step[0] / pr->state.step[1] : 0, dt = pr->state.step[0];
  const double a0 = (1 + 2 * w) / (1 + w), a1 = 1 + w, a2 = w * w / (1 + w);
  pr->last.sigma = NAN; /* b is not the right-hand side of a step */
  TES_TRY(tesi_split_load(p, pr->work.b));
  TES_TRY(tesi_drive_load(pr, pr->work.b));
  if (p->in_time) TES_TRY(tesi_split_carry(p)); /* else there is no convection */
  if (p->in_time) TES_TRY(tes_vector_axpy(-1, pr->state.carried[0], pr->work.b));
  TES_TRY(tesi_taylor_hood_gradient(pr->taylor_hood, &pr->p, pr->work.r));
  TES_TRY(tes_vector_axpy(1, pr->work.r, pr->work.b));
  TES_TRY(tes_vector_copy(&pr->u, pr->sigma - pr->steady.alpha - (pr->state.known ? a0 / dt : 0), pr->work.d));
  if (pr->state.known) TES_TRY(tes_vector_axpy(a1 / dt, pr->state.old[0], pr->work.d));
  if (pr->state.known > 1) TES_TRY(tes_vector_axpy(-a2 / dt, pr->state.old[1], pr->work.d));
  TES_TRY(tes_operator_apply(pr->mass, pr->work.d, pr->work.r));
  TES_TRY(tes_vector_axpy(1, pr->work.r, pr->work.b));
  TES_TRY(tes_operator_apply(pr->whole, &pr->u, pr->work.r));
  TES_TRY(tes_vector_axpy(-1, pr->work.b, pr->work.r));
  TES_TRY(tesi_grad_div_update(pr, pr->state.known ? pr->state.old[0] : &pr->u));
  TES_TRY(tesi_grad_div_add(pr, 1, false, &pr->u, pr->work.r));
done:
  return status;
}

/* The residual of a state in time is made once, for all forces. */
static TesStatus keep_residual(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  if (pr->is_balanced && p->in_time) return TES_OK;
  if (!pr->balance) TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, &pr->balance));
  if (pr->explicit_flow) {
    TES_TRY(tesi_explicit_residual(p, pr->balance));
  } else {
    TES_TRY(tesi_split_use_sigma(p, pr->op ? pr->sigma : 1));
    TES_TRY(momentum_residual(p));
    TES_TRY(tes_vector_copy(pr->work.r, 1, pr->balance));
  }
  pr->is_balanced = true;
done:
  return status;
}

/* ---- what forces.h asks ------------------------------------------------------------------------------------------ */

static const TesSpace *space_of(const TesProblem *p, int direction) {
  (void)direction;
  return tesi_split_of(p)->taylor_hood->velocity;
}

static const TesSpace *whole_of(const TesProblem *p) {
  return tesi_split_of(p)->velocity;
}

static TesStatus find_residual(const TesProblem *problem, int direction, double *r) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesProblem *p = (TesProblem *)problem; /* scratch of the problem */
  const TesiSplit *pr = tesi_split_of(p);
  const int64_t length = pr->taylor_hood->velocity->length;
  TES_TRY(keep_residual(p));
  const TesVector part = tesi_vector_range(pr->balance, direction * length, length);
  TES_TRY(tes_vector_get(&part, r));
done:
  return status;
}

/* int g - P n + 1/2 min(u.n, 0) u on open boundaries, as in the load and in N(u); elsewhere 0. */
static TesStatus find_traction(const TesProblem *p, int boundary, int direction, double *sum) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  const int64_t length = pr->taylor_hood->velocity->length;
  TesiTaylorHoodFaces faces = {.count = 0};
  TesVector *back = NULL;
  bool *wanted = NULL;
  double *stress = NULL, *turned = NULL;
  *sum = 0;
  if (!tesi_given_open(&p->numbered.given[boundary], p->mesh->dim)) return TES_OK;
  TES_ALLOC(&wanted, pr->walls.boundaries + 1);
  wanted[boundary] = true;
  TES_TRY(tesi_taylor_hood_faces_create(pr->taylor_hood, wanted, &faces));
  TES_ALLOC(&stress, pr->u.length);
  TES_TRY(tesi_taylor_hood_stress(pr->taylor_hood, &faces, p->numbered.given, stress));
  TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, &back));
  TES_TRY(tes_vector_fill(back, 0));
  if (p->in_time) TES_TRY(tesi_taylor_hood_backflow(pr->taylor_hood, &faces, &pr->u, back));
  TES_TRY(tesi_vector_read(back, &turned));
  const TesiLayout *layout = pr->taylor_hood->velocity->layout;
  *sum = tesi_layout_product(layout, stress + direction * length, NULL) -
         tesi_layout_product(layout, turned + direction * length, NULL);
done:
  tesi_taylor_hood_faces_free(pr->taylor_hood, &faces);
  tes_vector_destroy(&back);
  tesi_free(ctx, &wanted);
  tesi_free(ctx, &stress);
  tesi_free(ctx, &turned);
  return status;
}

void tesi_split_write_viscous(const TesProblem *p, int direction, const char *nu, char *text) {
  static const char *const turned[3] = {" + wx*nz", " + wy*nz", " + wz*nz"};
  char beside[60] = "";
  static const char *const slope[3][2] = {
      {"ux*nx + uy*ny", "uz*nz"}, {"vx*nx + vy*ny", "vz*nz"}, {"wx*nx + wy*ny", "wz*nz"}};
  const char *const *of = slope[direction];
  if (p->variant.flow == TES_FLOW_SYMMETRIC)
    snprintf(beside, sizeof beside, " + u%c*nx + v%c*ny%s", "xyz"[direction], "xyz"[direction],
             p -> mesh -> dim == 3 ? turned[direction] : "");
  snprintf(text, TESI_STRESS_TEXT, "%s*(%s%s%s%s)", nu, of[0], p->mesh->dim == 3 ? " + " : "",
           p->mesh->dim == 3 ? of[1] : "", beside);
}

/* nu du_c/dn - p n_c; the symmetric form adds nu du/dx_c . n. */
static void write_stress(const TesProblem *p, int direction, char text[TESI_STRESS_TEXT]) {
  char nu[40];
  snprintf(nu, sizeof nu, "%.17g", tesi_split_of(p)->nu);
  tesi_split_write_viscous(p, direction, nu, text);
  snprintf(text + strlen(text), TESI_STRESS_TEXT - strlen(text), " - p*n%c", "xyz"[direction]);
}

/* The force on the boundary, not on the fluid. */
const TesiForces tesi_split_forces = {.sign = -1,
                                      .space = space_of,
                                      .residual = find_residual,
                                      .traction = find_traction,
                                      .stress = write_stress,
                                      .whole = whole_of};

TesStatus tesi_split_force(const TesProblem *problem, int boundary, int direction, double *force) {
  const TesStatus status = tesi_force_on(problem, &tesi_split_forces, boundary, direction, force);
  *force = tesi_split_forces.sign * *force;
  return status;
}
