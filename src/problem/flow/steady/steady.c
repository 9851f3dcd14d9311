/* Steady Stokes flow with Q_k/Q_(k-1) on meshes of any kind, the pressure p = s p' in a unit of the system
 * (pressure_unit.h):
 *
 *   K (u, p') = (A u - s B' p', -s B u),   A = nu K_1 + alpha M by component,   (B u, q) = (div u, q)
 *
 * by flexible GMRES with a block-triangular preconditioner. It approximates A^-1 by a V-cycle V, and the inverse of
 * the Schur complement by S^-1 = -(nu M^-1 + alpha L^-1 + C) / s^2. The first two terms are by Cahouet and Chabard
 * 1988. M is the mass of the pressures with weights at edges of walls; its inverse is a polynomial (steady_mass.h). L
 * is their Laplacian with a penalty on open boundaries (steady_open.h), solved by multigrid to a hundredth. C is a
 * correction from a coarse mesh (steady_schur.h). Without C the Laplacian has the mobility of steady_mobility.h as
 * its coefficient. What a slow solve takes is in steady_slow.h:
 *
 *   z_p = S^-1 r_p,    z_u = V (r_u + s B' z_p)
 *
 * Iterations depend on the inf-sup constant, not on the mesh. u = u_0 + u_D, u_D the values on boundaries. */
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include "basis/blas.h"
#include "device/kernel.h"
#include "device/laps.h"
#include "krylov/flexible.h"
#include "krylov/solver.h"
#include "multigrid/multigrid.h"
#include "operator/elasticity/elasticity_motions.h"
#include "operator/operator.h"
#include "parallel/comm.h"
#include "problem/pressure_unit.h"
#include "problem/flow/split/split.h"
#include "problem/flow/steady/steady.h"
#include "problem/flow/steady/steady_direct.h"
#include "problem/flow/steady/steady_mass.h"
#include "problem/flow/steady/steady_mobility.h"
#include "problem/flow/steady/steady_open.h"
#include "problem/flow/steady/steady_slow.h"
#include "problem/flow/steady/steady_schur.h"
#include "problem/support.h"
#include "space/slip.h"

enum { MOMENTUM, COUPLING, MASS, POTENTIAL, COARSE, CYCLE, METHOD, PARTS };
static const char *const part_names[PARTS] = {
    "momentum operator", "coupling",       "mass of the pressure", "Laplacian of the pressure",
    "Schur complement",  "velocity cycle", "orthogonalisation"};

/* ---- the system ---------------------------------------------------------------------------------------- */

/* v <- v without its components in motions that nothing holds. */
static TesStatus remove_motions(const TesiSplit *pr, TesVector *v) {
  TesContext *ctx = v->context;
  TesStatus status = TES_OK;
  for (int k = 0; k < pr->steady.motions; k++) {
    double part;
    TES_TRY(tes_vector_dot(pr->steady.motion[k], v, &part));
    TES_TRY(tes_vector_axpy(-part, pr->steady.motion[k], v));
  }
done:
  return status;
}

static TesVector part_of(const TesProblem *p, const TesVector *v, int part) {
  return tesi_space_range(p->space, v, part);
}

static TesStatus apply(void *user, const TesVector *x, TesVector *y) {
  TesProblem *p = user;
  TesiSplit *pr = tesi_split_of(p);
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesVector u = part_of(p, x, 0), q = part_of(p, x, 1);
  TesVector to_u = part_of(p, y, 0), to_p = part_of(p, y, 1);
  TES_TRY(tes_operator_apply(pr->op, &u, &to_u));
  TES_TRY(tesi_lap(ctx, pr->steady.laps, MOMENTUM));
  TES_TRY(tesi_taylor_hood_gradient(pr->taylor_hood, &q, pr->work.r));
  TES_TRY(tesi_walls_put(&pr->walls, false, pr->work.r));
  TES_TRY(tes_vector_axpy(-pr->steady.unit, pr->work.r, &to_u));
  TES_TRY(remove_motions(pr, &to_u));
  TES_TRY(tesi_taylor_hood_divergence(pr->taylor_hood, &u, &to_p));
  TES_TRY(tes_vector_copy(&to_p, -pr->steady.unit, &to_p));
  /* Over curved cells the divergence has a component in constant pressures, for two reasons: quadrature is not exact
   * there, and velocities along faces have a flux through polynomial faces. Iterates have no such component. */
  if (!pr->walls.any_open && (pr->velocity->slip || p->mesh->geometry_degree > 1))
    TES_TRY(tesi_split_spread_flux(p, &to_p));
  TES_TRY(tesi_lap(ctx, pr->steady.laps, COUPLING));
done:
  return status;
}

/* x <- V b in the cycle's precision. Vectors of a Krylov basis have norm 1, so the first norm of a solve is used for
 * all. */
static TesStatus cycle(TesProblem *p, const TesVector *b, TesVector *x) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  if (!(pr->steady.cycle_norm > 0)) TES_TRY(tes_vector_norm(b, &pr->steady.cycle_norm));
  const double norm = pr->steady.cycle_norm > 0 ? pr->steady.cycle_norm : 1;
  TES_TRY(tes_vector_copy(b, 1 / norm, pr->steady.cycle_b));
  TES_TRY(tes_multigrid_cycle(p->multigrid, pr->steady.cycle_b, pr->steady.cycle_x, true));
  TES_TRY(tes_vector_copy(pr->steady.cycle_x, norm, x));
  TES_TRY(tesi_space_project(pr->velocity, x->precision, x->data)); /* of a cycle in float32 */
  TES_TRY(remove_motions(pr, x));
done:
  return status;
}

/* z <- z - beta / s^2 L_p^-1 r, beta = alpha, or of steady_mobility.h: then a third is accurate enough */
static TesStatus add_potential(TesProblem *p, const TesVector *r, TesVector *z) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesSolveResult one = {0};
  double norm;
  if (!pr->poisson) return TES_OK;
  TES_TRY(tes_vector_copy(r, 1, pr->work.pb));
  TES_TRY(tesi_split_balance(pr, pr->work.pb));
  TES_TRY(tesi_problem_clear(pr->poisson, pr->work.pb));
  TES_TRY(tes_vector_norm(pr->work.pb, &norm));
  if (!(norm > 0)) goto done;
  tesi_solver_set_tolerance(pr->poisson->solver, pr->steady.resistance > pr->steady.alpha ? 0.3 : 1e-2);
  TES_TRY(tesi_solver_solve_from_zero(pr->poisson->solver, pr->work.pb, pr->work.pd, &one));
  TES_TRY(tes_vector_axpy(-pr->steady.resistance / pr->steady.unit / pr->steady.unit, pr->work.pd, z));
done:
  return status;
}

static int most_of(const TesProblem *p) {
  return p->options.max_iterations ? p->options.max_iterations : 100;
}

static TesStatus precondition(void *user, const TesVector *r, TesVector *z) {
  TesProblem *p = user;
  TesiSplit *pr = tesi_split_of(p);
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesVector r_u = part_of(p, r, 0), r_p = part_of(p, r, 1);
  TesVector z_u = part_of(p, z, 0), z_p = part_of(p, z, 1);
  if (!pr->steady.direct) TES_TRY(tesi_steady_help(p, cycle, most_of(p), &r_u));
  if (pr->steady.direct) {
    TES_TRY(tesi_steady_direct_solve(pr->steady.direct, r, z));
    if (!pr->walls.any_open) TES_TRY(tesi_split_remove_mean(p, &z_p));
    return TES_OK;
  }
  TES_TRY(tesi_steady_mass_invert(pr->steady.mass, -pr->nu / pr->steady.unit / pr->steady.unit, &r_p, &z_p));
  TES_TRY(tesi_lap(ctx, pr->steady.laps, MASS));
  TES_TRY(add_potential(p, &r_p, &z_p));
  TES_TRY(tesi_lap(ctx, pr->steady.laps, POTENTIAL));
  if (pr->steady.schur)
    TES_TRY(tesi_steady_schur_add(pr->steady.schur, -1 / pr->steady.unit / pr->steady.unit, &r_p, &z_p));
  TES_TRY(tesi_lap(ctx, pr->steady.laps, COARSE));
  if (!pr->walls.any_open) TES_TRY(tesi_split_remove_mean(p, &z_p));
  TES_TRY(tesi_taylor_hood_gradient(pr->taylor_hood, &z_p, pr->work.r));
  TES_TRY(tes_vector_xpay(&r_u, pr->steady.unit, pr->work.r));
  TES_TRY(tesi_walls_put(&pr->walls, false, pr->work.r));
  TES_TRY(tesi_lap(ctx, pr->steady.laps, COUPLING));
  TES_TRY(cycle(p, pr->work.r, &z_u));
  TES_TRY(tesi_lap(ctx, pr->steady.laps, CYCLE));
done:
  return status;
}

/* Forces have no component in motions that nothing holds, except round-off, which is removed. */
static TesStatus balance_motions(const TesiSplit *pr, TesVector *b) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  double size, left;
  const double kinks = pr->velocity->slip ? pr->velocity->slip->along.kinks : 0;
  if (!pr->steady.motions) return TES_OK;
  TES_TRY(tes_vector_norm(b, &size));
  TES_TRY(tes_vector_copy(b, 1, pr->work.r));
  TES_TRY(remove_motions(pr, b));
  TES_TRY(tes_vector_axpy(-1, b, pr->work.r));
  TES_TRY(tes_vector_norm(pr->work.r, &left));
  TES_CHECK(left <= fmax(1e-4, kinks * kinks) * size,
            "boundary: %d rigid motion%s along faces with slip held by no boundary, and the forces do not "
            "balance there: their part is %.1e of all. Free: %s. Give a boundary a velocity, or forces "
            "without a moment",
            pr->steady.motions, pr->steady.motions > 1 ? "s are" : " is", left / size, pr->steady.motion_text);
done:
  return status;
}

/* A uniform pressure of the surroundings needs no solve. Where it makes up nearly all of the forces, as 2 bar on all
 * openings, it is taken out of them: a tolerance relative to it would leave the velocity wrong. */
static TesStatus take_level(TesiSplit *pr, TesVector *b) {
  const double most = 0.01; /* of |b|^2 that is left */
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  double size, all, part;
  pr->steady.level = 0;
  if (!pr->walls.any_open) return TES_OK;
  TES_TRY(tes_vector_fill(pr->work.pd, 1));
  TES_TRY(tesi_taylor_hood_gradient(pr->taylor_hood, pr->work.pd, pr->work.r));
  TES_TRY(tesi_walls_put(&pr->walls, false, pr->work.r));
  TES_TRY(remove_motions(pr, pr->work.r));
  TES_TRY(tes_vector_dot(pr->work.r, pr->work.r, &size));
  TES_TRY(tes_vector_dot(pr->work.r, b, &part));
  TES_TRY(tes_vector_dot(b, b, &all));
  if (!(size > 0) || !(all - part * part / size < most * all)) goto done;
  pr->steady.level = -part / size;
  TES_TRY(tes_vector_axpy(pr->steady.level, pr->work.r, b));
done:
  return status;
}

static TesStatus add_level(TesiSplit *pr, double factor) {
  if (pr->steady.level == 0) return TES_OK;
  const TesStatus status = tes_vector_fill(pr->work.pd, 1);
  return status == TES_OK ? tes_vector_axpy(factor * pr->steady.level, pr->work.pd, &pr->p) : status;
}

/* b <- (F - A u_D, s B u_D); the mean of the second part is 0 if the mean of the pressure is. pr->x: u_D. */
static TesStatus right_hand_side(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesVector b_u = part_of(p, p->b, 0), b_p = part_of(p, p->b, 1);
  TES_TRY(tesi_split_load(p, pr->work.b));
  TES_TRY(tes_vector_fill(pr->work.x, 0));
  TES_TRY(tesi_walls_update(p, 0, &pr->walls));
  TES_TRY(tesi_walls_put(&pr->walls, true, pr->work.x));
  TES_TRY(tes_operator_residual(pr->whole, pr->work.b, pr->work.x, &b_u));
  TES_TRY(tesi_walls_put(&pr->walls, false, &b_u));
  TES_TRY(balance_motions(pr, &b_u));
  TES_TRY(take_level(pr, &b_u));
  TES_TRY(tesi_taylor_hood_divergence(pr->taylor_hood, pr->work.x, &b_p));
  TES_TRY(tesi_split_balance(pr, &b_p));
  TES_TRY(tes_vector_copy(&b_p, pr->steady.unit, &b_p));
done:
  return status;
}

TesStatus tesi_steady_iterate(TesProblem *p, bool told, const TesVector *b, TesVector *x,
                              TesSolveResult *result) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const int most = most_of(p);
  TesiLaps laps;
  if (!pr->steady.residuals) TES_ALLOC(&pr->steady.residuals, most + 1);
  tesi_laps_begin(ctx, PARTS, part_names, &laps);
  pr->steady.cycle_norm = 0;
  pr->steady.applied = 0;
  pr->steady.laps = &laps;
  const TesiFlexible system = {.context = ctx,
                               .length = p->space->length,
                               .user = p,
                               .apply = apply,
                               .precondition = precondition,
                               .tolerance = p->chosen.tolerance,
                               .max_iterations = most,
                               .monitor = told ? p->options.monitor : NULL,
                               .monitor_user = p->options.monitor_user,
                               .residuals = pr->steady.residuals,
                               .laps = &laps,
                               .own_lap = METHOD,
                               .columns = pr->steady.columns,
                               .space = p->space};
  tesi_laps_begin(ctx, PARTS, part_names, &laps);
  status = tesi_flexible_solve(&system, b, x, result);
  tesi_laps_tell(ctx, &laps);
done:
  pr->steady.laps = NULL;
  return status;
}

static TesStatus solve(TesProblem *p, TesSolveResult *result) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TES_TRY(p->start ? tes_vector_copy(p->start, 1, p->u) : tes_vector_fill(p->u, 0));
  TES_TRY(tesi_walls_put(&pr->walls, false, &pr->u));
  if (p->start) TES_TRY(add_level(pr, -1));
  TES_TRY(tes_vector_copy(&pr->p, 1 / pr->steady.unit, &pr->p));
  const TesStatus outcome = tesi_steady_iterate(p, true, p->b, p->u, result);
  TES_TRY(tes_vector_copy(&pr->p, pr->steady.unit, &pr->p));
  TES_TRY(add_level(pr, 1));
  TES_TRY(remove_motions(pr, &pr->u));
  TES_TRY(tes_vector_axpy(1, pr->work.x, &pr->u));
  if (!pr->walls.any_open) TES_TRY(tesi_split_remove_mean(p, &pr->p));
  status = outcome;
done:
  return status;
}

/* ---- creation ------------------------------------------------------------------------------------------ */

/* fault <- the motions that nothing fixes, as text; empty: there are none. In the form with gradients these motions
 * are uniform velocities: in directions that no boundary gives and, with slip, along an eigenvector with eigenvalue 0
 * of the sum over nodes of the directions held. */
static TesStatus find_fault(const TesProblem *p, const TesiSplit *pr, bool direct, char fault[240]) {
  static const char format[] =
      "boundary: nothing fixes the velocity in %s: no boundary gives this component. "
      "Give a velocity";
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSlip *slip = pr->velocity->slip;
  const int dim = p->mesh->dim;
  double H[9] = {0}, size[3];
  char direction[80] = "";
  *fault = 0;
  for (int c = dim - 1; c >= 0; c--)
    if (pr->op->singular >> c & 1) snprintf(direction, sizeof direction, "direction %c", "xyz"[c]);
  if (slip && p->variant.flow != TES_FLOW_SYMMETRIC) {
    for (int64_t i = 0; i < slip->count; i++)
      for (int e = 0; e < dim * dim; e++) H[e] += (e / dim == e % dim) - slip->P[e * slip->count + i];
    for (int c = 0; c < dim; c++)
      H[c * dim + c] += (double)(pr->velocity->part[c]->length - pr->velocity->part[c]->dofs);
    tesi_reduce(ctx, TESI_SUM, dim * dim, H);
    TES_TRY(tesi_blas_begin(ctx, dim));
    const int info = (int)LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', dim, H, dim, size);
    if (info == 0 && pr->steady.alpha == 0 && !(size[0] > 1e-8 * size[dim - 1]))
      snprintf(direction, sizeof direction,
               dim == 3 ? "the direction (%.3g, %.3g, %.3g)" : "the direction (%.3g, %.3g)", H[0], H[1], H[2]);
  }
  if (*direction) snprintf(fault, 240, format, direction);
  if (direct && pr->steady.motions)
    snprintf(fault, 240,
             "solver.method: direct has no fluid that turns freely along faces with slip; leave it out");
done:
  return status;
}

static TesStatus find_motions(TesProblem *p, TesiSplit *pr) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double *motion = NULL;
  int count;
  TES_TRY(tesi_elasticity_motions(pr->op, &count, &motion));
  tesi_along_tell(pr->velocity, count > 0);
  if (count)
    TES_TRY(tesi_elasticity_tell(pr->velocity, count, motion, sizeof pr->steady.motion_text,
                                 pr->steady.motion_text));
  for (int k = 0; k < count; k++) {
    TES_TRY(tes_vector_create(ctx, pr->velocity->length, TES_DOUBLE, &pr->steady.motion[pr->steady.motions++]));
    TES_TRY(tes_vector_set(pr->steady.motion[k], motion + k * pr->velocity->length));
  }
done:
  tesi_free(ctx, &motion);
  return status;
}

/* The V-cycle's smoother is chosen as for an equation of A alone. */
static TesStatus create_preconditioner(TesProblem *p, TesiSplit *pr) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesSmootherKind smoother;
  char fault[240];
  TesSolveOptions *o = &p->options;
  const bool direct = o->method == TES_METHOD_DIRECT;
  o->method = TES_METHOD_AUTO;
  TES_TRY(tesi_split_use_sigma(p, pr->steady.alpha));
  TES_TRY(find_motions(p, pr));
  TES_TRY(find_fault(p, pr, direct, fault));
  TES_CHECK(!*fault, "%s", fault);
  p->op = tesi_operator_retain(pr->op);
  p->levels = p->op;
  TES_TRY(tesi_problem_choose_precision(p));
  const bool coupled = tesi_is_elasticity(p->op) || pr->velocity->slip; /* a patch has one component */
  TES_TRY(tesi_problem_choose(p, &smoother));
  if (coupled && o->smoother == TES_SMOOTHER_AUTO) smoother = TES_SMOOTHER_CHEBYSHEV;
  if (direct) {
    TES_TRY(tesi_steady_direct_create(p, INFINITY, &pr->steady.direct));
    snprintf(p->text.method, sizeof p->text.method,
             "direct: sparse factors of velocity and pressure, refined to the tolerance");
    snprintf(p->text.precision, sizeof p->text.precision, "float64");
    return TES_OK;
  }
  const TesMultigridDesc mg = {.op = p->op,
                               .precision = p->chosen.cycle,
                               .smoother = {.kind = smoother, .local = o->local, .degree = o->smoother_degree},
                               .coarsening = o->coarsening,
                               .coarse = o->coarse,
                               .pre = o->pre,
                               .post = o->post};
  TES_TRY(tes_multigrid_create(ctx, &mg, &p->multigrid));
  TES_TRY(tesi_vector_create_on(pr->full->layout, p->chosen.cycle, &pr->steady.cycle_b));
  TES_TRY(tesi_vector_create_on(pr->full->layout, p->chosen.cycle, &pr->steady.cycle_x));
  snprintf(p->text.method, sizeof p->text.method,
           "flexible GMRES, block-triangular: a V-cycle, and the mass%s of the pressure",
           pr->steady.alpha > 0 ? " and the Laplacian" : "");
done:
  return status;
}

/* pr->unit <- s for the whole domain. */
static TesStatus find_unit(TesProblem *p, TesiSplit *pr) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiFlowSize size = {
      .nu = pr->nu, .alpha = pr->steady.alpha, .dim = p->mesh->dim, .cells = tes_mesh_info(p->mesh).all_cells};
  TES_TRY(tes_operator_apply(pr->pressure_mass, pr->mean.ones, pr->work.pb));
  TES_TRY(tes_vector_dot(pr->work.pb, pr->mean.ones, &size.volume));
  pr->steady.unit = tesi_pressure_unit(&size, 1);
done:
  return status;
}

/* Vectors for the method as well. */
static TesStatus create_mass(const TesProblem *p, TesiSplit *pr) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_steady_edges(p, &pr->steady.edges));
  TES_TRY(tesi_steady_mass_create(pr->pressure_mass, pr->steady.edges, pr->work.pb, pr->work.ps,
                                  &pr->steady.mass));
  if (tesi_has_kernels(ctx) && tesi_ranks(ctx) == 1)
    TES_TRY(tesi_columns_create(ctx, p->space->layout, TESI_FLEXIBLE_RESTART, &pr->steady.columns));
done:
  return status;
}

/* On devices with kernels the first-time work of an iteration is done before the solve: programs, the weights of
 * means, and the plain run that comes before recordings. */
static TesStatus rehearse(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  if (!pr->steady.columns) return TES_OK;
  TES_TRY(precondition(p, p->b, p->u)); /* of 0 */
  TES_TRY(apply(p, p->u, p->b));
  TES_TRY(tes_vector_fill(p->b, 0));
  TES_TRY(tes_vector_fill(p->u, 0));
done:
  return status;
}

/* On meshes of one or two cells with walls all round velocities are fewer than pressures, of which some are then seen
 * by no velocity: the solution has any amount of them. */
static void warn_of_pressures(const TesProblem *p) {
  const TesiSplit *pr = p->own;
  const int64_t velocities = pr->velocity->all_dofs,
                pressures = p->space->part[1]->all_dofs - !pr->walls.any_open;
  if (pressures < velocities) return;
  tesi_log(
      p->context, TES_LOG_WARNING,
      "warning: the mesh has %lld unknowns of the velocity and %lld of the pressure: too few velocities to "
      "determine the pressure, which is then wrong, and forces with it. Take more cells (mesh.refine, cells)",
      (long long)velocities, (long long)p->space->part[1]->all_dofs);
}

static TesStatus create(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr;
  const int degree = desc->degree ? desc->degree : p->equation->support->degree.usual;
  TES_NEW(&pr);
  p->own = pr;
  p->variant.flow = desc->flow_form;
  TES_TRY(tesi_problem_flow_numbers(p, &pr->nu, &pr->steady.alpha));
  pr->steady.resistance = pr->steady.alpha;
  TES_TRY(tesi_split_create_spaces(p, degree));
  TES_TRY(find_unit(p, pr));
  TES_TRY(create_preconditioner(p, pr));
  if (pr->steady.alpha > 0 && !pr->steady.direct) TES_TRY(tesi_steady_take_laplacian(p, NULL));
  if (!pr->steady.direct) TES_TRY(tesi_steady_schur_create(p, &pr->steady.schur));
  if (!pr->steady.direct && !pr->steady.schur) TES_TRY(tesi_steady_take_mobility(p, cycle));
  if (!pr->steady.direct) TES_TRY(create_mass(p, pr));
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &p->b));
  TES_TRY(tesi_split_check_flux(p));
  warn_of_pressures(p);
  TES_TRY(rehearse(p));
  TES_TRY(tesi_work_on(ctx, "right-hand side"));
  const double start = tesi_now();
  TES_TRY(right_hand_side(p)); /* refuses forces that do not balance */
  p->times.right_hand_side = tesi_now() - start;
  TES_TRY(tesi_problem_take_guess(p, desc->guess));
done:
  return status;
}

/* Not a Laplacian that is there for the mobility alone. */
static const TesProblem *solved(const TesProblem *p) {
  return tesi_split_of(p)->steady.alpha > 0 ? tesi_split_solved(p) : NULL;
}

static bool is_direct(const TesProblem *p) {
  return tesi_split_of(p)->steady.direct != NULL;
}

/* The norms of the velocity's error, and (nu |grad e_u|^2 + |e_p|^2 / nu)^1/2; without the pressure's term if its
 * exact value is not known. */
static TesStatus find_errors(const TesProblem *p, double *l2, double *h1, double *energy) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *flow = tesi_split_of(p);
  const TesFunction *const *exact = (const TesFunction *const *)p->exact;
  TesFlowResult result = {0};
  TES_TRY(tes_functional_error(flow->full, &flow->u, exact, l2, h1, NULL, NULL));
  TES_TRY(tes_problem_flow(p, &result));
  const double of_pressure = exact[p->mesh->dim] ? result.pressure_l2 : 0;
  *energy = sqrt(flow->nu * *h1 * *h1 + of_pressure * of_pressure / flow->nu);
done:
  return status;
}

const TesiOwn tesi_steady_own = {.create = create,
                                 .solve = solve,
                                 .destroy = tesi_split_destroy,
                                 .solved = solved,
                                 .is_direct = is_direct,
                                 .errors = find_errors,
                                 .reaction = tesi_split_reaction};
