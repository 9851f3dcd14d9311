/* -div(nu grad u) + alpha u + grad p = f, div u = 0, with Raviart-Thomas elements: nu is data.a, alpha data.c.
 *
 * The operator has nu / s and alpha / s, s the pressure's unit (pressure_unit.h). With the momentum equation divided
 * by s, and p = s p', this is the same system, and all its rows have one unit. Loads and solutions have the units of
 * the data. While solving, b and the pressures of u_0 are in units of s. */
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "device/kernel.h"
#include "device/split_sums.h"
#include "functional/rt/rt_functional.h"
#include "krylov/solver.h"
#include "multigrid/multigrid.h"
#include "operator/stokes_varying/stokes_varying.h"
#include "parallel/comm.h"
#include "problem/pressure_unit.h"
#include "problem/equation/equations.h"
#include "problem/equation/stokes.h"
#include "problem/flow/flow_steps.h"
#include "space/rt_device.h"

static bool is_symmetric(const TesProblem *p) {
  return p->variant.flow == TES_FLOW_SYMMETRIC;
}

int tesi_stokes_form(const TesProblem *p, TesTermDesc *term) {
  term[0] = (TesTermDesc){.term = is_symmetric(p) ? TES_TERM_STRAIN : TES_TERM_DIFFUSION,
                          .factor = 1 / p->unit,
                          .a = {p->numbered.data.a, NULL}};
  term[1] = (TesTermDesc){.term = TES_TERM_MASS, .factor = 1 / p->unit, .a = {p->numbered.data.c, NULL}};
  term[2] = (TesTermDesc){.term = TES_TERM_DIVERGENCE};
  return 3;
}

/* exp of the mean of log nu over the middles of cells. If viscosities differ by orders of magnitude, neither the
 * largest nor the smallest represents the flow. */
static TesStatus mean_viscosity(const TesProblem *p, double *nu) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesFunction *f = p->numbered.data.a;
  const TesMesh *m = p->mesh;
  double *middle[TESI_AXES] = {NULL}, *values = NULL, x[TESI_AXES] = {0}, sum[2] = {0, 0};
  *nu = 1;
  if (!f || tes_function_constant(f, nu)) return TES_OK;
  const int64_t rows = (int64_t)m->box[1] * (m->dim == 3 ? m->box[2] : 1);
  for (int d = 0; d < TESI_AXES; d++) TES_ALLOC(&middle[d], m->box[0]);
  TES_ALLOC(&values, m->box[0]);
  for (int64_t row = 0; row < rows; row++) {
    const int at[TESI_AXES] = {0, (int)(row % m->box[1]), (int)(row / m->box[1])};
    for (int d = 1; d < m->dim; d++) x[d] = (m->coordinates[d][at[d]] + m->coordinates[d][at[d] + 1]) / 2;
    for (int i = 0; i < m->box[0]; i++) {
      middle[0][i] = (m->coordinates[0][i] + m->coordinates[0][i + 1]) / 2;
      middle[1][i] = x[1], middle[2][i] = x[2];
    }
    TES_TRY(tes_function_evaluate(f, m->box[0], middle[0], middle[1], middle[2], 0, values));
    for (int i = 0; i < m->box[0]; i++) sum[0] += log(values[i]);
  }
  sum[1] = (double)(rows * m->box[0]);
  tesi_reduce(ctx, TESI_SUM, 2, sum);
  *nu = exp(sum[0] / sum[1]);
done:
  for (int d = 0; d < TESI_AXES; d++) tesi_free(ctx, &middle[d]);
  tesi_free(ctx, &values);
  return status;
}

/* The box of all ranks. */
static double length_along(const TesProblem *p, int d) {
  const double *x = p->mesh->coordinates[d];
  double length = x[p->mesh->box[d]] - x[0];
  if (tesi_mesh_parted(p->mesh, d)) tesi_mesh_sum_parts(p->mesh, d, 1, &length);
  return length;
}

TesStatus tesi_stokes_choose_unit(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiFlowSize size = {.dim = p->mesh->dim, .volume = 1, .cells = 1};
  for (int d = 0; d < size.dim; d++) {
    size.volume *= length_along(p, d);
    size.cells *= p->mesh->window[d].cells;
  }
  tes_function_constant(p->numbered.data.c, &size.alpha);
  TES_TRY(mean_viscosity(p, &size.nu));
  p->unit = tesi_pressure_unit(&size, 0.5);
done:
  return status;
}

double tesi_stokes_extent(const TesProblem *p) {
  double extent = 0;
  for (int d = 0; d < p->mesh->dim; d++) extent = fmax(extent, length_along(p, d));
  return extent;
}

TesVector tesi_stokes_pressure(const TesProblem *p, const TesVector *v) {
  const int64_t first = p->space->first[p->space->dim];
  return tesi_vector_range(v, first, v->length - first);
}

TesStatus tesi_stokes_scale_pressure(const TesProblem *p, double factor, TesVector *v) {
  TesVector pressure = tesi_stokes_pressure(p, v);
  return factor == 1 ? TES_OK : tes_vector_copy(&pressure, factor, &pressure);
}

TesPenalty tesi_stokes_penalty(const TesProblem *p) {
  return (TesPenalty)((int)p->options.penalty | (is_symmetric(p) ? TESI_PENALTY_DOUBLED : 0));
}

/* b <- the load in units of s. If the viscosity varies, the operator gives the part of its face terms that belongs to
 * the right-hand side. f[dim]: over cells. */
static TesStatus load_on(const TesProblem *p, const TesOperator *op, const TesFunction *const *f,
                         TesVector *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool varies = tesi_is_stokes_varying(op);
  const double nu = varies ? 0 : p->unit * tesi_stokes_of(op)->nu;
  TES_TRY(tesi_rt_load(op->space, f, nu, p->numbered.given, tesi_stokes_penalty(p), b));
  if (p->unit != 1) TES_TRY(tes_vector_copy(b, 1 / p->unit, b));
  if (varies) TES_TRY(tesi_stokes_varying_load(op, p->numbered.given, b));
done:
  return status;
}

/* Back to the units of the data, since callbacks that add a load know only these; lift() scales again. */
static TesStatus load(const TesProblem *p, TesVector *b) {
  const TesStatus status = load_on(p, p->op, p->numbered.data.f, b);
  return status == TES_OK && p->unit != 1 ? tes_vector_copy(b, p->unit, b) : status;
}

static TesStatus load_faces(const TesProblem *p, const TesOperator *op, TesVector *b) {
  const TesFunction *none[TESI_AXES] = {NULL};
  return load_on(p, op, none, b);
}

static TesStatus values(const TesProblem *p, const TesSpace *space, TesVector *u) {
  double flux[2];
  return tesi_rt_lifting(space, p->numbered.given, u, flux);
}

int tesi_stokes_shown(const TesProblem *p, TesiShown *shown) {
  (void)p;
  (void)shown;
  return 0;
}

static const char *name_of(const TesMesh *mesh, int boundary) {
  return tes_mesh_boundary_name(mesh, boundary);
}

static TesStatus check_boundaries(const TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++) {
    int open = 0;
    for (int c = 0; c < p->mesh->dim; c++) open += p->numbered.given[i].how[c] == TESI_OPEN;
    TES_CHECK(
        open % p->mesh->dim == 0,
        "boundary.%s: a component of the velocity is free; with element rt all are given, or the normal "
        "one by slip",
        name_of(p->mesh, i));
  }
done:
  return status;
}

/* If cell sizes differ by more than this, products of the sizes and their inverses lose the smaller ones in
 * rounding. */
static TesStatus check_cells(const TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const double most = 1e8;
  double ends[2] = {-INFINITY, 0}; /* minus the smallest; the largest */
  for (int d = 0; d < p->mesh->dim; d++)
    for (int i = 0; i < p->mesh->box[d]; i++) {
      const double h = p->mesh->coordinates[d][i + 1] - p->mesh->coordinates[d][i];
      ends[0] = fmax(ends[0], -h), ends[1] = fmax(ends[1], h);
    }
  tesi_reduce(ctx, TESI_MAXIMUM, 2, ends);
  const double least = -ends[0], largest = ends[1];
  TES_CHECK(
      largest <= most * least,
      "mesh.box: the longest edge of a cell, %.3g, is %.2g times the shortest, %.3g; stokes takes %g at most",
      largest, largest / least, least, most);
done:
  return status;
}

/* Beyond this value fourth powers overflow. */
static TesStatus check_size(const TesProblem *p, const TesFunction *f, const char *what) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double value;
  TES_CHECK(!f || !tes_function_constant(f, &value) || value <= 0 || (value >= 1e-100 && value <= 1e100),
            "%s%s is %g, expected 1e-100..1e100: take other units", tesi_function_where(f), what, value);
done:
  return status;
}

/* Whether smoothing before the first coarse correction, which costs about half an iteration, saves one. `digits`: the
 * digits by which an iteration reduces a random residual. 3D, cubes of 16^3 to 64^3 cells without a mass term. */
static bool spares_iteration(int degree, double tolerance) {
  static const double digits[] = {1.15, 1.52, 1.78, 2.1};
  const double needed = -log10(tolerance) / digits[tesi_min(degree, 4) - 1], beyond = needed - floor(needed);
  return beyond > 0 && beyond < 0.5;
}

/* One step after the coarse correction if no number is given. In 3D with gmres and degrees up to RT_2, the levels
 * below the finest smooth twice: this costs an eighth and saves 0.4 of 4.3 iterations (RT_2) and 1.1 of 6.4 (RT_1).
 * From RT_3 on it would save 0.1. */
static void choose_steps(TesProblem *p, int degree) {
  TesSolveOptions *o = &p->options;
  const bool gmres = o->method == TES_METHOD_GMRES, in_3d = p->mesh->dim == 3;
  if (in_3d || (gmres && degree >= 2)) o->pre = -1;
  if (!in_3d || o->post > 1) return;
  p->chosen.full_steps = gmres ? 0 : degree <= 2 ? 2 : 1;
  p->chosen.post_below = gmres && degree <= 2 ? 2 : 0;
  p->chosen.smooths_rough = gmres && spares_iteration(degree, o->tolerance > 0 ? o->tolerance : 1e-9);
}

TesStatus tesi_stokes_check(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesSolveOptions *o = &p->options;
  const int degree = desc->degree ? desc->degree : p->equation->support->degree.usual;
  double value;
  const bool varies = p->numbered.data.a && !tes_function_constant(p->numbered.data.a, &value);
  p->variant.flow = desc->flow_form != TES_FLOW_AUTO ? desc->flow_form
                    : varies                         ? TES_FLOW_SYMMETRIC
                                                     : TES_FLOW_GRADIENT;
  const bool quadrature = varies || is_symmetric(p);
  const bool cells = o->smoother == TES_SMOOTHER_CELL_PATCH;
  TES_CHECK(!cells || !quadrature,
            "solver.smoother: cell_patch is for a constant viscosity and the gradient form; take patch");
  TES_CHECK(o->local == TES_LOCAL_AUTO || o->local == TES_LOCAL_EXACT || o->local == TES_LOCAL_DENSE ||
                o->local == (quadrature ? TES_LOCAL_SCALED : TES_LOCAL_CG),
            "solver.local_solver: those of stokes are exact, dense and %s",
            quadrature ? "scaled; cg is for a constant viscosity"
                       : "cg; scaled is for viscosities that vary and the symmetric form");
  TES_TRY(check_boundaries(p));
  TES_TRY(check_cells(p));
  TES_TRY(check_size(p, p->numbered.data.a, "nu"));
  TES_TRY(check_size(p, p->numbered.data.c, "alpha"));
  TES_TRY(tesi_stokes_choose_unit(p));
  if (o->method == TES_METHOD_AUTO) o->method = TES_METHOD_GMRES;
  if (o->pre == 0 && !quadrature && !cells && o->post >= 0) choose_steps(p, degree);
done:
  return status;
}

TesStatus tesi_stokes_balance(const TesProblem *p, const double flux[2], bool *told, TesVector *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesVector *one = p->op->null;
  double net, volume;
  if (!one) return TES_OK;
  TesVector part = tesi_operator_null_range(p->op, b);
  TES_TRY(tes_vector_dot(&part, one, &net));
  TES_TRY(tes_vector_dot(one, one, &volume));
  TES_TRY(tesi_flow_check_defect(ctx, net, flux[1], fabs(net) <= 1e-10 * flux[0], told));
  TES_TRY(tes_vector_axpy(-net / volume, one, &part));
done:
  return status;
}

TesStatus tesi_stokes_uniform(const TesProblem *p, TesVector **v, TesVector **forces) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double square;
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, v));
  const TesVector pressure = tesi_stokes_pressure(p, *v);
  TES_TRY(tesi_rt_constant_on(ctx, p->space, pressure.data, &square));
  if (!forces) goto done;
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, forces));
  TES_TRY(tes_operator_apply(p->op, *v, *forces));
done:
  return status;
}

/* A uniform pressure of the surroundings needs no solve. Where it makes up nearly all of the forces, as 2 bar on all
 * openings, it is taken out of them: a tolerance relative to it would leave the velocity wrong. Full multigrid makes
 * loads of its own. */
static TesStatus take_level(TesProblem *p) {
  const double most = 0.01; /* of |b|^2 that is left */
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *uniform = NULL, *forces = NULL;
  double size, all, part;
  if (p->op->null || p->chosen.method == TES_METHOD_FMG) return TES_OK;
  TES_TRY(tesi_stokes_uniform(p, &uniform, &forces));
  TES_TRY(tes_vector_dot(forces, forces, &size));
  TES_TRY(tes_vector_dot(forces, p->b, &part));
  TES_TRY(tes_vector_dot(p->b, p->b, &all));
  if (!(size > 0) || !(all - part * part / size < most * all)) goto done;
  p->lifting.level = part / size;
  TES_TRY(tes_vector_axpy(-p->lifting.level, forces, p->b));
  if (p->start) TES_TRY(tes_vector_axpy(-p->lifting.level, uniform, p->start));
done:
  tes_vector_destroy(&forces);
  tes_vector_destroy(&uniform);
  return status;
}

static TesStatus add_level(TesProblem *p) {
  TesVector *uniform = NULL;
  if (p->lifting.level == 0) return TES_OK;
  TesStatus status = tesi_stokes_uniform(p, &uniform, NULL);
  if (status == TES_OK) status = tes_vector_axpy(p->lifting.level, uniform, p->u);
  tes_vector_destroy(&uniform);
  return status;
}

/* b <- b / s - K u_D, where b is a load, whose pressure rows are zero. */
static TesStatus subtract_given(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiGiven *given = p->numbered.given;
  double flux[2];
  bool told = false;
  if (p->unit != 1) TES_TRY(tes_vector_copy(p->b, 1 / p->unit, p->b));
  if (p->start) TES_TRY(tesi_stokes_scale_pressure(p, 1 / p->unit, p->start));
  if (!tesi_rt_lifts(p->space, given)) return TES_OK;
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &p->lifting.shift));
  TES_TRY(tesi_rt_lifting(p->space, given, p->lifting.shift, flux));
  p->lifting.lifted = flux[0] > 0;
  if (!p->lifting.lifted) {
    tes_vector_destroy(&p->lifting.shift);
    goto done;
  }
  TES_TRY(tes_operator_lift(p->op, p->lifting.shift, p->b));
  TES_TRY(tesi_stokes_balance(p, flux, &told, p->b));
done:
  return status;
}

static TesStatus lift(TesProblem *p) {
  const TesStatus status = subtract_given(p);
  return status == TES_OK ? take_level(p) : status;
}

/* Whether the cells of all levels are about cubes of one size. They are not if an odd number of cells is halved. */
static bool has_cubes(const TesProblem *p) {
  for (int l = 0; l < tes_multigrid_levels(p->multigrid); l++) {
    const TesSpace *space = tes_multigrid_level(p->multigrid, l).space;
    double ends[2] = {-INFINITY, 0};
    for (int d = 0; d < space->dim; d++) {
      const TesiAxis *a = tesi_modal(space, d);
      for (int c = 0; c < a->cells; c++) ends[0] = fmax(ends[0], -a->h[c]), ends[1] = fmax(ends[1], a->h[c]);
    }
    tesi_reduce(p->context, TESI_MAXIMUM, 2, ends);
    if (ends[1] > 1.1 * -ends[0]) return false;
  }
  return true;
}

/* The number of cycles that leaves less than a tenth of the discretisation error, for velocity and pressure. After
 * one thorough cycle (full_steps) the error was at most 1.07 times the discretisation error, on cubes up to 32^3,
 * RT_1 to RT_4. In 2D cycles reduce less: after two usual cycles the error of a pressure is up to 5 times as large.
 * With RT_1 and the symmetric gradient a cycle only halves the error. */
static int start_cycles(const TesProblem *p) {
  if (p->chosen.full_steps) return has_cubes(p) ? 1 : 2;
  return tesi_is_stokes_varying(p->op) && p->space->degree == 1 ? 7 : 3;
}

/* |div u| in L2, and sqrt(u_0' A u_0 / nu), about |grad u_0|, from r = b - K u_0. The modes of the pressure are
 * orthonormal, and follow the components of the velocity. */
static TesStatus measure_divergence(const TesProblem *p, const TesVector *r, double *divergence,
                                    double *gradient) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double sums[2];
  TES_TRY(tesi_vector_split_sums(p->u, p->b, r, p->space->first[p->space->dim], sums));
  *divergence = sqrt(sums[1]);
  *gradient = sqrt(fabs(sums[0]) / tesi_stokes_of(p->op)->nu);
done:
  return status;
}

TesStatus tesi_stokes_correct(TesProblem *p, const TesVector *r, double divergence, TesVector *const work[2],
                              double unit, TesVector *u) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesVector g = tesi_stokes_pressure(p, r);
  const int64_t velocities = r->length - g.length;
  TesVector velocity = tesi_vector_range(work[0], 0, velocities), of_work = tesi_stokes_pressure(p, work[0]),
            of_u = tesi_vector_range(u, 0, velocities), pressure = tesi_stokes_pressure(p, u);
  if (!(divergence > 0)) goto done;
  TES_TRY(tes_vector_fill(&velocity, 0));
  TES_TRY(tes_vector_copy(&g, 1 / divergence, &of_work));
  if (tesi_multigrid_serves_divergence(p->multigrid))
    TES_TRY(tesi_multigrid_divergence(p->multigrid, work[0], work[1]));
  else
    TES_TRY(tes_multigrid_cycle(p->multigrid, work[0], work[1], true));
  const TesVector found = tesi_vector_range(work[1], 0, velocities), more = tesi_stokes_pressure(p, work[1]);
  TES_TRY(tes_vector_axpy(divergence, &found, &of_u));
  TES_TRY(tes_vector_axpy(unit * divergence, &more, &pressure));
done:
  return status;
}

/* Scratch vectors for cleaning: the solver's if it has them, else vectors made here. */
typedef struct Cleaning {
  TesVector *r, *work[2];
  bool known, own_r, own_work; /* known: r is b - K u already */
} Cleaning;

static TesStatus begin_cleaning(TesProblem *p, Cleaning *c) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  *c = (Cleaning){.r = tesi_solver_last_residual(p->solver)};
  c->known = c->r != NULL;
  tesi_solver_lend(p->solver, c->work);
  c->own_r = !c->r, c->own_work = !c->work[0];
  if (c->own_r) TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &c->r));
  for (int i = 0; i < 2 && c->own_work; i++)
    TES_TRY(tes_vector_create(ctx, c->r->length, p->chosen.cycle, &c->work[i]));
done:
  return status;
}

static void end_cleaning(Cleaning *c) {
  if (c->own_r) tes_vector_destroy(&c->r);
  for (int i = 0; i < 2 && c->own_work; i++) tes_vector_destroy(&c->work[i]);
}

/* The largest divergence after one float32 cycle that removes all of it, relative to the divergence before: 1e-6 was
 * measured. */
#define LEFT 1e-5

/* GMRES leaves a divergence of the size of its residual, and a float32 cycle leaves its round-off. One cycle removes
 * all of a divergence: its coarse correction removes the means over coarse cells, the first colour after it, whose
 * patches are these cells, removes the rest, and the other colours keep the divergence. On levels with an odd number
 * of cells patches overlap several coarse cells, and a cycle leaves a part. With closed cell patches a cycle removes
 * only a part too, and is repeated until the divergence is 1e-9. */
static TesStatus clean_divergence(TesProblem *p) {
  enum { CYCLES = 8 };
  const double small = p->options.smoother == TES_SMOOTHER_CELL_PATCH ? 1e-9 : 1e-13;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  Cleaning c;
  double divergence, gradient;
  TES_TRY(begin_cleaning(p, &c));
  for (int i = 0; i < CYCLES; i++) {
    if (i > 0 || !c.known) TES_TRY(tes_operator_residual(p->op, p->b, p->u, c.r));
    TES_TRY(measure_divergence(p, c.r, &divergence, &gradient));
    if (!(divergence > small * gradient) || !isfinite(divergence)) break;
    TES_TRY(tesi_stokes_correct(p, c.r, divergence, c.work, 1, p->u));
    if (LEFT * divergence <= small * gradient && tesi_multigrid_serves_divergence(p->multigrid)) break;
  }
done:
  end_cleaning(&c);
  return status;
}

static TesStatus complete(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_TRY(clean_divergence(p));
  TES_TRY(tesi_operator_remove_null(p->op, p->u));
  TES_TRY(add_level(p));
  TES_TRY(tesi_stokes_scale_pressure(p, p->unit, p->u));
  if (p->lifting.lifted) TES_TRY(tes_vector_axpy(1, p->lifting.shift, p->u));
done:
  return status;
}

static TesStatus force(const TesProblem *p, int boundary, int direction, double *value) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_CHECK(!p->mesh->box_periodic[boundary / 2], "there is no force on %s: the box is periodic there",
            name_of(p->mesh, boundary));
  TES_TRY(tesi_rt_force(p->space, p->u,
                        &(TesiRtStress){.nu = p->numbered.data.a,
                                        .f = p->numbered.data.f,
                                        .alpha = p->unit * tesi_stokes_of(p->op)->alpha,
                                        .symmetric = is_symmetric(p),
                                        .given = p->numbered.given,
                                        .penalty = tesi_stokes_penalty(p)},
                        boundary, direction, value));
done:
  return status;
}

static const TesiFlowEquation flow = {.check = tesi_stokes_check,
                                      .lift = lift,
                                      .values = values,
                                      .load_faces = load_faces,
                                      .start_cycles = start_cycles,
                                      .complete = complete};
void tesi_stokes_tell(const TesProblemDesc *desc, int dim, TesiTold *told) {
  tesi_told_add(told, "-div(nu grad u) + alpha u + grad p = f, div u = 0\ndata      nu = %s   alpha = %s",
                tesi_told_text(desc->data.a, "1"), tesi_told_text(desc->data.c, "0"));
  for (int d = 0; d < dim; d++)
    tesi_told_add(told, "\n          f%c = %.200s", "xyz"[d], tesi_told_text(desc->data.f[d], "0"));
}

static const TesiLack lacks[] = {
    TESI_LACKS_OF_STOKES, {TESI_HAS_ADAPT, "boxes are not refined in places"}, {TESI_HAS_TIME, NULL}};
static const TesiSupport support = {
    .equation = TES_STOKES,
    .element = TES_ELEMENT_RT,
    .meshes = TESI_ON_GRID | TESI_ON_RINGS,
    .usual = TESI_ON_GRID | TESI_ON_RINGS,
    .degree = {.usual = 2, .least = 1, .most = 15},
    .has = TESI_HAS_ALWAYS | TESI_BIT(TESI_HAS_NU) | TESI_BIT(TESI_HAS_EXACT_VELOCITY) |
           TESI_BIT(TESI_HAS_EXACT_PRESSURE) | TESI_BIT(TESI_HAS_FORCE) | TESI_BIT(TESI_HAS_ALPHA) |
           TESI_BIT(TESI_HAS_COLOURS) | TESI_BIT(TESI_HAS_PENALTY) | TESI_BIT(TESI_HAS_CHECKPOINT),
    .words = {[TESI_OF_CONDITION] = TESI_WORD(TESI_NAMED_VELOCITY) | TESI_WORD(TESI_NAMED_SLIP) |
                                    TESI_WORD(TESI_NAMED_SYMMETRY) | TESI_WORD(TESI_NAMED_OUTFLOW) |
                                    TESI_WORD(TESI_NAMED_PRESSURE),
              [TESI_OF_FORM] = 1 | TESI_WORD(TES_FLOW_GRADIENT) | TESI_WORD(TES_FLOW_SYMMETRIC),
              [TESI_OF_METHOD] = 1 | TESI_WORD(TES_METHOD_GMRES) | TESI_WORD(TES_METHOD_FMG),
              [TESI_OF_LOCAL] = 1 | TESI_WORD(TES_LOCAL_EXACT) | TESI_WORD(TES_LOCAL_SCALED) |
                                TESI_WORD(TES_LOCAL_CG) | TESI_WORD(TES_LOCAL_DENSE),
              [TESI_OF_ORDER] = 1 | TESI_WORD(TES_ORDER_SAME),
              [TESI_OF_COARSENING] = 1 | TESI_WORD(TES_COARSEN_MESH),
              [TESI_OF_COARSE] = 1 | TESI_WORD(TES_COARSE_DIRECT)},
    .smoother = TESI_SMOOTHERS(1 | TESI_WORD(TES_SMOOTHER_PATCH) | TESI_WORD(TES_SMOOTHER_CELL_PATCH)),
    .because = {[TESI_OF_METHOD] = "because the operator is indefinite",
                [TESI_OF_ORDER] = "because reversed costs iterations",
                [TESI_OF_SMOOTHER] = "because there are no others for velocity and pressure together"},
    .lacks = lacks,
    .numbers = TESI_NUMBER_C,
    .flow = true,
    .vector = true,
    .modes = true,
    .field = "velocity, pressure",
    .unknowns = "u, p",
    .ranks = {.meshes = TESI_ON_GRID | TESI_ON_RINGS, .has = ~UINT64_C(0)},
    .tell = tesi_stokes_tell};
const TesiEquation tesi_stokes = {.name = "stokes",
                                  .support = &support,
                                  .form = tesi_stokes_form,
                                  .load = load,
                                  .shown = tesi_stokes_shown,
                                  .force = force,
                                  .flow = &flow};

TesStatus tes_problem_flow(const TesProblem *p, TesFlowResult *result) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiRtErrors e;
  *result = (TesFlowResult){.velocity_l2 = NAN, .pressure_l2 = NAN};
  tesi_work_begin_results(ctx, p->in_time != NULL, "errors and fluxes of the flow");
  if (p->space->product) {
    TES_TRY(tesi_navier_stokes_flow(p, result));
    goto done;
  }
  TES_CHECK(p->equation->flow && !p->equation->flow->scalar, "the equation %s is no flow", p->equation->name);
  const bool exact = p->exact[0] != NULL;
  TES_TRY(tesi_rt_errors(p->space, p->u, exact ? (const TesFunction *const *)p->exact : NULL, p->op->singular,
                         &e));
  TES_TRY(tesi_rt_fluxes(p->space, p->u, result->flux));
  if (exact) result->velocity_l2 = e.velocity;
  if (exact && p->exact[p->space->dim]) result->pressure_l2 = e.pressure;
  result->divergence_l2 = e.divergence;
  result->divergence_relative = e.gradient > 0 ? e.divergence / e.gradient : 0;
done:
  tesi_work_end(ctx);
  return tesi_agree(ctx, status);
}
