/* Spaces, operators and the start: see split.h. */
#include <math.h>
#include <stdio.h>
#include "device/kernel.h"
#include "functional/functional.h"
#include "functional/load_plan.h"
#include "operator/diagonal_cg.h"
#include "operator/operator.h"
#include "problem/flow/split/split.h"
#include "device/columns.h"
#include "problem/flow/steady/steady_direct.h"
#include "problem/flow/steady/steady_mass.h"
#include "problem/flow/steady/steady_schur.h"
#include "problem/support.h"

/* ---- spaces -------------------------------------------------------------------------------------------- */

TesStatus tesi_split_create_both(TesProblem *p, TesiSplit *pr, int degree, int pressure_degree) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(p->mesh), dim = p->mesh->dim;
  uint8_t *given = NULL;
  bool *slips = NULL;
  TesSpace *pressure = NULL;
  TES_ALLOC(&given, names + 1);
  TES_ALLOC(&slips, names + 1);
  TesSpaceDesc desc = {.mesh = p->mesh, .degree = degree, .components = dim, .given = given};
  TES_TRY(tes_space_create(ctx, &desc, &pr->full));
  desc.components = 1, desc.degree = pressure_degree;
  TES_TRY(tes_space_create(ctx, &desc, &pressure));
  TES_TRY(tesi_taylor_hood_create(pr->full->part[0], pressure, &pr->taylor_hood));
  TES_TRY(tesi_walls_classify(p, &pr->walls));
  desc.components = dim, desc.degree = degree;
  tesi_problem_describe_given(p, given, slips, &desc);
  TES_TRY(tes_space_create(ctx, &desc, &pr->velocity));
  TES_TRY(tes_space_create_product(ctx, 2, (const TesSpace *const[]){pr->velocity, pressure}, &p->space));
  TES_TRY(tesi_walls_create(p, pr->velocity, pr->taylor_hood, &pr->walls));
done:
  tes_space_destroy(&pressure);
  tesi_free(ctx, &given);
  tesi_free(ctx, &slips);
  return status;
}

TesStatus tesi_split_create_faces(TesProblem *p, TesiSplit *pr) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(p->mesh);
  bool *open = NULL, *closed = NULL;
  TES_ALLOC(&open, names + 1);
  TES_ALLOC(&closed, names + 1);
  for (int i = 0; i < names; i++) {
    open[i] = tesi_given_open(&p->numbered.given[i], p->mesh->dim);
    closed[i] = !tesi_wall_open(p, i);
  }
  TES_TRY(tesi_taylor_hood_faces_create(pr->taylor_hood, open, &pr->open));
  TES_TRY(tesi_taylor_hood_faces_create(pr->taylor_hood, closed, &pr->closed));
done:
  tesi_free(ctx, &open);
  tesi_free(ctx, &closed);
  return status;
}

/* ---- the pressure's problem ---------------------------------------------------------------------------- */

/* The problem -div(a grad phi) = b with phi = 0 or a penalty on open boundaries, no flux elsewhere. Each solve computes
 * a correction, so there is a guess. */
TesStatus tesi_split_create_poisson(TesProblem *p, const TesFunction *a, const TesFunction *penalty) {
  TesContext *ctx = p->context;
  TesiSplit *pr = tesi_split_of(p);
  TesStatus status = TES_OK;
  TesVector *zero = NULL;
  TesFunction *none = NULL;
  TesBoundary *boundary = NULL;
  int count = 1;
  const TesSpace *pressure = p->space->part[1];
  TES_ALLOC(&boundary, pr->walls.boundaries + 1);
  TES_TRY(tes_function_create_constant(ctx, 0, &none));
  boundary[0] = (TesBoundary){.condition = TES_NEUMANN};
  for (int i = 0; i < pr->walls.boundaries; i++)
    if (tesi_wall_open(p, i))
      boundary[count++] = (TesBoundary){.name = tes_mesh_boundary_name(p->mesh, i),
                                        .condition = penalty ? TES_ROBIN : TES_DIRICHLET,
                                        .alpha = penalty};
  TES_TRY(tesi_vector_create_on(pressure->layout, TES_DOUBLE, &zero));
  TesProblemDesc desc = {.equation = TES_POISSON,
                         .mesh = p->mesh,
                         .degree = pressure->degree,
                         .data = {.a = a, .f = {none}},
                         .boundaries = count,
                         .boundary = boundary,
                         .guess = zero,
                         .solver = p->options};
  desc.solver.tolerance = p->chosen.tolerance;
  if (!p->in_time)
    desc.solver.max_iterations = 0, desc.solver.monitor = NULL; /* options of the whole system do not apply */
  TES_TRY(tes_problem_create(ctx, &desc, &pr->poisson));
done:
  tes_vector_destroy(&zero);
  tes_function_destroy(&none);
  tesi_free(ctx, &boundary);
  return status;
}

/* The problem reports the figures of the pressure, whose solves are most of a step. */
static void describe(TesProblem *p, const TesiSplit *pr) {
  p->op = tesi_operator_retain(pr->poisson->op);
  p->chosen.cycle = pr->poisson->chosen.cycle;
  snprintf(p->text.method, sizeof p->text.method,
           "BDF2, convection extrapolated, pressure correction; pressure: %.90s", pr->poisson->text.method);
  snprintf(p->text.precision, sizeof p->text.precision, "%s", pr->poisson->text.precision);
}

/* ---- vectors and operators ----------------------------------------------------------------------------- */

static TesStatus create_vectors(TesProblem *p, TesiSplit *pr) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector **const velocities[] = {&pr->state.old[0],     &pr->state.old[1], &pr->state.carried[0],
                                    &pr->state.carried[1], &pr->work.b,       &pr->work.r,
                                    &pr->work.x,           &pr->work.d,       &pr->work.z,
                                    &pr->work.q,           &pr->work.s};
  TesVector **const pressures[] = {&pr->state.phi[0], &pr->state.phi[1], &pr->work.pb, &pr->work.pr,
                                   &pr->work.pd,      &pr->work.pz,      &pr->work.pq, &pr->work.pn,
                                   &pr->work.ps,      &pr->mean.ones};
  for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
    TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, velocities[i]));
  for (size_t i = 0; i < sizeof pressures / sizeof *pressures; i++)
    TES_TRY(tesi_vector_create_on(pr->taylor_hood->pressure->layout, TES_DOUBLE, pressures[i]));
  TES_TRY(tes_vector_fill(pr->mean.ones, 1));
  pr->guess.kept = p->options.guess == 0 ? 3 : tesi_max(0, p->options.guess);
  for (int i = 0; i < pr->guess.kept; i++)
    TES_TRY(tesi_vector_create_on(pr->taylor_hood->pressure->layout, TES_DOUBLE, &pr->guess.phi.value[i]));
  for (int i = 0; i < pr->guess.kept && !tesi_context_deterministic(ctx); i++)
    TES_TRY(tesi_vector_create_on(pr->taylor_hood->pressure->layout, TES_DOUBLE, &pr->guess.spread.value[i]));
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &p->u));
  pr->u = tesi_space_range(p->space, p->u, 0);
  pr->p = tesi_space_range(p->space, p->u, 1);
  for (int c = 0; c < p->mesh->dim; c++) TES_TRY(tes_vector_part(pr->full, &pr->u, c, &p->component[c]));
done:
  return status;
}

static TesStatus create_solvers(TesProblem *p, TesiSplit *pr) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_jacobi_device_create(pr->full->layout, TES_DOUBLE, &pr->diagonal.jacobi));
  TES_TRY(tesi_jacobi_device_create(pr->taylor_hood->pressure->layout, TES_DOUBLE,
                                    &pr->pressure_diagonal.jacobi));
done:
  return status;
}

static TesStatus create_masses(TesProblem *p, TesiSplit *pr) {
  const TesTermDesc mass = {.term = TES_TERM_MASS};
  const TesStatus status =
      tes_operator_create(p->context, &(TesOperatorDesc){.space = pr->full, .form = {1, &mass, 0}}, &pr->mass);
  if (status != TES_OK) return status;
  return tes_operator_create(p->context,
                             &(TesOperatorDesc){.space = pr->taylor_hood->pressure, .form = {1, &mass, 0}},
                             &pr->pressure_mass);
}

TesStatus tesi_split_create_spaces(TesProblem *p, int degree) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TES_TRY(tesi_split_create_both(p, pr, degree, degree - 1));
  TES_TRY(tesi_split_create_faces(p, pr));
  TES_TRY(create_vectors(p, pr));
  TES_TRY(create_masses(p, pr));
  TES_TRY(create_solvers(p, pr));
done:
  return status;
}

/* ---- the start ----------------------------------------------------------------------------------------- */

TesStatus tesi_split_interpolate(const TesSpace *space, const TesFunction *const *f, double time,
                                 TesVector *v) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesFunction *now[TESI_AXES] = {NULL};
  bool any = false;
  const int count = tesi_max(space->parts, 1);
  for (int c = 0; c < count; c++) any = any || f[c];
  for (int c = 0; any && c < count; c++)
    TES_TRY(f[c] ? tesi_function_at(f[c], time, &now[c]) : tes_function_create_constant(ctx, 0, &now[c]));
  TES_TRY(any ? tes_space_interpolate(space, (const TesFunction *const *)now, v) : tes_vector_fill(v, 0));
done:
  for (int c = 0; c < TESI_AXES; c++) tes_function_destroy(&now[c]);
  return status;
}

/* Initial velocity and, last, initial pressure of the description. */
static void take_initial(TesProblem *p, const TesProblemDesc *desc) {
  const int dim = p->mesh->dim;
  const TesFunction *const *initial = desc->initial[0] || !desc->exact[0] ? desc->initial : desc->exact;
  TesiInTime *it = p->in_time;
  for (int c = 0; c < dim; c++) it->initial[c] = tesi_function_retain(initial[c]);
  it->initial[TESI_AXES] = tesi_function_retain(desc->initial[dim] ? desc->initial[dim]
                                                : desc->initial[0] ? NULL
                                                                   : desc->exact[dim]);
}

TesStatus tesi_split_begin(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const double time = p->in_time->march.time;
  const TesFunction *const *initial = (const TesFunction *const *)p->in_time->initial,
                           *pressure = initial[TESI_AXES];
  TES_TRY(tesi_split_interpolate(pr->full, initial, time, &pr->u));
  TES_TRY(tesi_walls_update(p, time, &pr->walls));
  TES_TRY(tesi_walls_put(&pr->walls, true, &pr->u));
  TES_TRY(tesi_split_interpolate(pr->taylor_hood->pressure, &pressure, time, &pr->p));
  if (!pr->walls.any_open) TES_TRY(tesi_split_remove_mean(p, &pr->p));
  if (!p->before) TES_TRY(tesi_split_begin_openings(p));
  TES_TRY(tesi_split_check_flux(p));
  TES_TRY(tesi_split_begin_steps(p));
done:
  return status;
}

void tesi_split_describe(const TesProblem *p, TesProblemDesc *desc) {
  const TesiSplit *pr = tesi_split_of(p);
  const TesiDrive *drive = &pr->drive;
  desc->mean_components = drive->components;
  for (int c = 0; c < TESI_AXES; c++) desc->mean_velocity[c] = drive->mean[c];
  desc->grad_div = pr->grad_div.gamma != NULL;
}

/* The objects that only steps in time need. Float32 is used if the pressure's cycles use it. */
static TesStatus create_refined(TesProblem *p, TesiSplit *pr) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  pr->last.sigma = pr->speed.most = NAN;
  TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, &pr->last.b));
  if (pr->poisson->chosen.cycle != TES_SINGLE) goto done;
  if (!pr->grad_div.gamma) TES_TRY(tesi_refined_create(pr->full->layout, &pr->diagonal.refined));
  TES_TRY(tesi_refined_create(pr->taylor_hood->pressure->layout, &pr->pressure_diagonal.refined));
done:
  return status;
}

TesStatus tesi_split_follow(TesProblem *p, const TesProblemDesc *desc) {
  TesiSplit *pr = tesi_split_of(p);
  TesiAverage *average = &p->in_time->march.average;
  if (!desc->average) return TES_OK;
  const TesStatus status = tesi_average_follow(
      average, &(TesiAveraged){.name = "mean-velocity", .space = pr->full, .value = &pr->u});
  return status == TES_OK ? tesi_average_follow(average, &(TesiAveraged){.name = "mean-pressure",
                                                                         .space = pr->taylor_hood->pressure,
                                                                         .value = &pr->p})
                          : status;
}

static TesStatus create(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr;
  const int degree = desc->degree ? desc->degree : p->equation->support->degree.usual;
  TES_NEW(&pr);
  p->own = pr;
  p->variant.flow = desc->flow_form;
  p->chosen.tolerance = p->options.tolerance > 0 ? p->options.tolerance : 1e-3;
  TES_TRY(tesi_problem_flow_numbers(p, &pr->nu, &pr->steady.alpha));
  TES_TRY(tesi_split_create_spaces(p, degree));
  TES_TRY(tesi_drive_create(p, desc));
  TES_TRY(tesi_split_follow(p, desc));
  TES_TRY(tesi_grad_div_create(p, desc));
  TES_TRY(tesi_split_create_poisson(p, NULL, NULL));
  TES_TRY(create_refined(p, pr));
  describe(p, pr);
  if (!p->before) take_initial(p, desc);
  TES_TRY(p->before ? tesi_split_begin_steps(p) : tesi_split_begin(p));
done:
  return status;
}

void tesi_split_destroy(TesProblem *p) {
  TesContext *ctx = p->context;
  TesiSplit *pr = tesi_split_of(p);
  if (!pr) return;
  TesVector **const vectors[] = {&pr->state.old[0],     &pr->state.old[1],
                                 &pr->state.carried[0], &pr->state.carried[1],
                                 &pr->work.b,           &pr->work.r,
                                 &pr->work.x,           &pr->work.d,
                                 &pr->work.z,           &pr->work.q,
                                 &pr->work.s,           &pr->state.phi[0],
                                 &pr->state.phi[1],     &pr->work.pb,
                                 &pr->work.pr,          &pr->work.pd,
                                 &pr->work.pz,          &pr->work.pq,
                                 &pr->work.pn,          &pr->work.ps,
                                 &pr->mean.ones,        &pr->mean.weights,
                                 &pr->diagonal.inverse, &pr->load.constant,
                                 &pr->balance,          &pr->pressure_diagonal.inverse,
                                 &pr->openings.given,   &pr->openings.nodes,
                                 &pr->steady.edges,     &pr->steady.cycle_b,
                                 &pr->steady.cycle_x,   &pr->last.b};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) tes_vector_destroy(vectors[i]);
  for (int i = 0; i < TESI_SPLIT_GUESSES; i++) {
    tes_vector_destroy(&pr->guess.phi.value[i]);
    tes_vector_destroy(&pr->guess.spread.value[i]);
  }
  tesi_jacobi_device_destroy(ctx, &pr->diagonal.jacobi);
  tesi_jacobi_device_destroy(ctx, &pr->pressure_diagonal.jacobi);
  tesi_refined_destroy(&pr->diagonal.refined);
  tesi_refined_destroy(&pr->pressure_diagonal.refined);
  tes_problem_destroy(&pr->poisson);
  TesOperator **const operators[] = {&pr->mass, &pr->op, &pr->whole, &pr->pressure_mass};
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) tes_operator_destroy(operators[i]);
  if (pr->taylor_hood) {
    tesi_taylor_hood_faces_free(pr->taylor_hood, &pr->open);
    tesi_taylor_hood_faces_free(pr->taylor_hood, &pr->closed);
  }
  for (int c = 0; c < TESI_AXES; c++) tesi_load_plan_destroy(&pr->load.plan[c]);
  tesi_context_device(ctx)->release(ctx, &pr->load.clock);
  tesi_drive_free(&pr->drive);
  tesi_grad_div_free(&pr->grad_div);
  tesi_walls_free(ctx, &pr->walls);
  tesi_taylor_hood_destroy(&pr->taylor_hood);
  tes_space_destroy(&pr->velocity);
  tes_space_destroy(&pr->full);
  tesi_free(ctx, &pr->steady.residuals);
  tesi_steady_direct_destroy(&pr->steady.direct);
  tesi_steady_schur_destroy(&pr->steady.schur);
  tesi_steady_mass_destroy(&pr->steady.mass);
  tesi_columns_destroy(&pr->steady.columns);
  for (int k = 0; k < pr->steady.motions; k++) tes_vector_destroy(&pr->steady.motion[k]);
  tesi_free(ctx, &p->own);
}

const TesProblem *tesi_split_solved(const TesProblem *p) {
  return tesi_split_of(p)->poisson;
}

double tesi_split_reaction(const TesProblem *p) {
  return tesi_split_of(p)->steady.alpha;
}

static void mean_force(const TesProblem *p, double force[TESI_AXES]) {
  const TesiDrive *drive = &tesi_split_of(p)->drive;
  for (int c = 0; c < TESI_AXES; c++)
    if (drive->components >> c & 1) force[c] = drive->force[c];
}

const TesiOwn tesi_split_own = {.create = create,
                                .destroy = tesi_split_destroy,
                                .scheme = &tesi_split_scheme,
                                .settle = tesi_split_settle,
                                .begin = tesi_split_begin,
                                .describe = tesi_split_describe,
                                .solved = tesi_split_solved,
                                .mean_force = mean_force,
                                .reaction = tesi_split_reaction};
