/* Navier-Stokes by Algorithm 4 (explicit_flow.h) as a problem with `element` iso, whose mesh is the mesh of the
 * pressure. The cells of the problem's own mesh are these cells halved. Its solution holds velocities of Q_1 and the
 * embedded pressure, both on this mesh, so that values, errors and files are made as for continuous elements.
 * Boundary values are treated as in flow/split/. */
#include <math.h>
#include <stdio.h>
#include "functional/functional.h"
#include "operator/operator.h"
#include "problem/flow/explicit/explicit_flow.h"
#include "problem/flow/split/split.h"

enum { LOOK = 10 /* number of steps between two checks of the velocity */ };

static TesiExplicitFlow *flow_of(const TesProblem *p) {
  return tesi_split_of(p)->explicit_flow;
}

/* ---- creation ------------------------------------------------------------------------------------------ */

/* On several ranks both meshes are cut at the same places (mesh/box.c). */
static TesStatus halve(const TesMesh *coarse, TesMesh **fine) {
  TesContext *ctx = coarse->context;
  TesStatus status = TES_OK;
  double *x[3] = {NULL}, *from = NULL;
  TesMeshDesc desc = {.dim = coarse->dim, .kind = TES_MESH_BOX};
  for (int d = 0; d < coarse->dim; d++) {
    tesi_free(ctx, &from);
    TES_TRY(tesi_mesh_gather_vertices(coarse, d, &from));
    desc.ranks_along[d] = coarse->window[d].parts;
    desc.cells[d] = 2 * coarse->window[d].cells;
    TES_ALLOC(&x[d], desc.cells[d] + 1);
    for (int i = 0; i <= desc.cells[d]; i++)
      x[d][i] = i % 2 ? (from[i / 2] + from[i / 2 + 1]) / 2 : from[i / 2];
    desc.coordinates[d] = x[d];
  }
  TES_TRY(tes_mesh_create(ctx, &desc, fine));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &x[d]);
  tesi_free(ctx, &from);
  return status;
}

/* Spaces of velocities and pressures over the halved cells, with their given values. */
static TesStatus create_spaces(TesProblem *p, TesiSplit *pr) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_split_create_both(p, pr, 1, 1));
  TES_CHECK(!pr->walls.any_open,
            "boundary: element iso needs the normal velocity on all boundaries: velocity or slip");
  const TesiLayout *layout = pr->taylor_hood->pressure->layout;
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &p->u));
  pr->u = tesi_space_range(p->space, p->u, 0);
  pr->p = tesi_space_range(p->space, p->u, 1);
  TES_TRY(tesi_vector_create_on(layout, TES_DOUBLE, &pr->work.ps));
  TES_TRY(tesi_vector_create_on(layout, TES_DOUBLE, &pr->mean.ones));
  TES_TRY(tes_vector_fill(pr->mean.ones, 1));
  for (int c = 0; c < p->mesh->dim; c++) TES_TRY(tes_vector_part(pr->full, &pr->u, c, &p->component[c]));
done:
  return status;
}

/* The shortest cell of the velocity in a direction. */
static double shortest(const TesMesh *mesh, int d) {
  double h = INFINITY;
  for (int i = 0; i < mesh->box[d]; i++) h = fmin(h, mesh->coordinates[d][i + 1] - mesh->coordinates[d][i]);
  h = -h;
  tesi_reduce(mesh->context, TESI_MAXIMUM, 1, &h);
  return -h;
}

/* With lumped mass the largest eigenvalue of equal cubes is 4 / h^2, that of waves along one direction. */
static void warn_of_steps(const TesProblem *p, double nu) {
  const TesiMarch *march = &p->in_time->march;
  double h = INFINITY;
  for (int d = 0; d < p->mesh->dim; d++) h = fmin(h, shortest(p->mesh, d));
  if (march->varies || !(march->dt > h * h / (2 * nu))) return;
  tesi_log(p->context, TES_LOG_WARNING,
           "warning: steps of %.3g are unstable: diffusion over cells of %.3g, those of the velocity, is "
           "stable up "
           "to steps of %.2g; take that as time.step, or time.cfl",
           march->dt, h, h * h / (3 * nu));
}

/* Creates the steps; the problem's mesh becomes the mesh of velocities. Faces of a box are its boundaries, in their
 * order. */
static TesStatus create_flow(TesProblem *p, TesiSplit *pr) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesMesh *coarse = p->mesh, *fine = NULL;
  const bool direct = p->options.method != TES_METHOD_CG;
  TES_TRY(halve(coarse, &fine));
  p->mesh = fine;
  TES_TRY(create_spaces(p, pr));
  TES_TRY(tesi_explicit_flow_create(coarse, pr->full->layout, pr->velocity->given, pr->nu,
                                    p->in_time->march.dt, direct, &pr->explicit_flow));
  warn_of_steps(p, pr->nu);
  p->op = tesi_operator_retain(pr->explicit_flow->laplace);
  snprintf(p->text.method, sizeof p->text.method, "Algorithm 4, explicit; pressure: %s",
           direct ? "fast diagonalization" : "conjugate gradients with V-cycles");
  snprintf(p->text.precision, sizeof p->text.precision, "float64");
done:
  if (p->mesh != coarse) tes_mesh_destroy(&coarse);
  return status;
}

/* ---- data at a time ------------------------------------------------------------------------------------ */

/* v[dim][nodes] <- the given values at their entries, on the host. */
static void put_given(const TesiWalls *walls, double *v) {
  for (int64_t i = 0; i < walls->count; i++) v[walls->entry[i]] = walls->value[i];
}

/* flow->given <- the boundary values at a time. */
static TesStatus update_given(TesProblem *p, double time) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  double *v = NULL;
  if (pr->walls.at == time || (isfinite(pr->walls.at) && !pr->walls.timed)) return TES_OK;
  TES_TRY(tesi_walls_update(p, time, &pr->walls));
  TES_ALLOC(&v, pr->u.length);
  put_given(&pr->walls, v);
  TES_TRY(tes_vector_set(pr->explicit_flow->given, v));
done:
  tesi_free(ctx, &v);
  return status;
}

static TesStatus update_load(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesiExplicitFlow *flow = pr->explicit_flow;
  const TesFunction *const *f = (const TesFunction *const *)p->numbered.data.f;
  bool timed = p->in_time->add_load;
  for (int c = 0; c < p->mesh->dim; c++) timed = timed || tesi_function_timed(p->in_time->numbers.data.f[c]);
  if (flow->loaded && !timed) return TES_OK;
  if (!f[0] && !f[1] && !f[2] && !p->in_time->add_load) return TES_OK;
  TES_TRY(tes_functional_load(
      &(TesLoadDesc){.space = pr->full, .f = {f[0], f[1], p->mesh->dim == 3 ? f[2] : NULL}}, flow->load));
  if (p->in_time->add_load) TES_TRY(p->in_time->add_load(p->in_time->add_load_user, pr->full, flow->load));
  flow->loaded = true;
done:
  return status;
}

/* The problem's solution <- the state of the steps. */
static TesStatus show(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesiExplicitFlow *flow = pr->explicit_flow;
  pr->is_balanced = false;
  TES_TRY(tes_vector_copy(flow->u[flow->now], 1, &pr->u));
  TES_TRY(tesi_iso_embed(flow->iso, flow->p, &pr->p));
done:
  return status;
}

/* Back to the last good state. */
static TesStatus keep(TesProblem *p) {
  TesiState state;
  tesi_problem_state(p, &state);
  flow_of(p)->kept_step = p->in_time->march.step;
  flow_of(p)->kept_time = p->in_time->march.time;
  return tesi_state_keep(&state, &flow_of(p)->kept);
}

static TesStatus begin(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesiExplicitFlow *flow = pr->explicit_flow;
  const int dim = p->mesh->dim;
  const bool by_exact = !desc->initial[0] && desc->exact[0];
  const TesFunction *const *initial = by_exact ? desc->exact : desc->initial;
  const TesFunction *pressure = initial[dim];
  double *u = NULL;
  TES_TRY(update_given(p, p->in_time->march.time));
  TES_TRY(tesi_split_interpolate(pr->full, initial, p->in_time->march.time, &pr->u));
  TES_TRY(tesi_vector_read(&pr->u, &u));
  put_given(&pr->walls, u);
  TES_TRY(tes_vector_set(flow->u[0], u));
  TES_TRY(tesi_split_interpolate(flow->pressure, &pressure, p->in_time->march.time, flow->p));
  TES_TRY(tesi_explicit_flow_begin(flow));
  TES_TRY(show(p));
  TES_TRY(tes_vector_maximum(&pr->u, &pr->speed.largest));
done:
  tesi_free(ctx, &u);
  return status;
}

static TesStatus create(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr;
  double alpha;
  TES_NEW(&pr);
  p->own = pr;
  p->chosen.tolerance = p->options.tolerance > 0 ? p->options.tolerance : 1e-3;
  TES_TRY(tesi_problem_flow_numbers(p, &pr->nu, &alpha));
  TES_TRY(create_flow(p, pr));
  TES_TRY(tesi_split_create_faces(p, pr));
  TES_TRY(begin(p, desc));
  TES_TRY(tesi_split_follow(p, desc));
  TES_TRY(keep(p));
  TES_TRY(tesi_split_check_flux(p));
done:
  return status;
}

/* ---- a step -------------------------------------------------------------------------------------------- */

/* The present state becomes the last good state. */
static TesStatus go_back(void *user) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  TesiState state;
  tesi_problem_state(p, &state);
  TES_TRY(tesi_state_go_back(&state, &flow_of(p)->kept));
  it->march.step = flow_of(p)->kept_step;
  it->march.time = flow_of(p)->kept_time;
  TES_TRY(tesi_in_time_at(p, it->march.time));
  TES_TRY(tesi_explicit_resume(p));
done:
  return status;
}

/* Such flows can grow however small the step is (adaptive-multigrid-liebchen). */
static void warn_of_cells(TesProblem *p, double largest) {
  const double most = 15;
  TesiSplit *pr = tesi_split_of(p);
  const TesMesh *mesh = p->mesh;
  double h = 0;
  for (int d = 0; d < mesh->dim; d++)
    for (int i = 0; i < mesh->box[d]; i++) h = fmax(h, mesh->coordinates[d][i + 1] - mesh->coordinates[d][i]);
  tesi_reduce(p->context, TESI_MAXIMUM, 1, &h);
  if (!(largest * h > most * pr->nu)) return;
  pr->warned_of_cells = true;
  tesi_log(
      p->context, TES_LOG_WARNING,
      "warning: the Reynolds number of cells, |u| h / nu, is up to %.2g at t = %.6g: above about %g the "
      "explicit "
      "method can grow below every limit of the step; look at the energy, take smaller cells or element q",
      largest * h / pr->nu, p->in_time->march.time, most);
}

/* Checks that the velocity is finite and not too large; on devices only in some steps, and at the end. Checks cells
 * in the same way: products at nodes do not conserve energy on coarse cells. */
static TesStatus look(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesiInTime *it = p->in_time;
  const bool now = it->march.step % LOOK == 0 || it->march.step == it->march.all_steps;
  double largest, given;
  if (!now && tesi_has_kernels(ctx)) return TES_OK;
  TES_TRY(tes_vector_maximum(pr->explicit_flow->u[pr->explicit_flow->now], &largest));
  if (!isfinite(largest))
    TES_FAIL(TES_NAN,
             "at t = %.6g the velocity is not finite: steps of %.3g are unstable, take a smaller time.step",
             it->march.time, it->march.last);
  TES_TRY(tes_vector_maximum(pr->explicit_flow->given, &given));
  if (pr->speed.largest > 0 && largest > 100 * fmax(pr->speed.largest, given))
    TES_FAIL(TES_DIVERGED,
             "within %d steps to t = %.6g the velocity grew from %.3g to %.3g: steps of %.3g are unstable, "
             "take a smaller "
             "time.step",
             LOOK, it->march.time, pr->speed.largest, largest, it->march.last);
  if (!now) goto done;
  pr->speed.largest = largest;
  TES_TRY(keep(p));
  if (!pr->warned_of_cells) warn_of_cells(p, largest);
done:
  return status;
}

/* The largest length of steps that may differ in length. The flow crosses few cells. Diffusion is stable below 2 /
 * (nu sum of 4 / h^2); convection by central differences with explicit Euler is stable below 2 nu / |u|^2. */
static TesStatus begin_step(void *user, TesiLimits *limits) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  const TesMesh *mesh = p->mesh;
  double stiff = 0, square = 0, largest;
  if (!p->in_time->march.varies) return TES_OK;
  for (int d = 0; d < mesh->dim; d++) {
    const TesVector u = tesi_space_range(pr->full, flow_of(p)->u[flow_of(p)->now], d);
    const double h = shortest(mesh, d);
    TES_TRY(tes_vector_maximum(&u, &largest));
    limits->crossed = fmax(limits->crossed, largest / h);
    stiff += 4 / (h * h), square += largest * largest;
  }
  limits->longest = 0.9 * fmin(2 / (pr->nu * stiff), square > 0 ? 2 * pr->nu / square : INFINITY);
done:
  return status;
}

/* k q of the previous step removes the divergence that this step left, whatever the present k is. */
static TesStatus take_length(TesiExplicitFlow *flow, double dt) {
  TesContext *ctx = flow->context;
  TesStatus status = TES_OK;
  for (int i = 0; i < 2 && flow->recorded_k != dt; i++) tesi_recorded_release(ctx, &flow->recorded[i]);
  if (flow->k > 0 && flow->k != dt) TES_TRY(tes_vector_axpy(flow->k / dt - 1, flow->q, flow->s));
  flow->k = flow->recorded_k = dt;
done:
  return status;
}

static TesStatus advance(void *user, double dt, TesSolveResult *result) {
  TesProblem *p = user;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiExplicitFlow *flow = flow_of(p);
  const double time = tesi_march_next(&p->in_time->march);
  TES_TRY(take_length(flow, dt));
  TES_TRY(update_load(p));
  TES_TRY(tesi_in_time_at(p, time));
  TES_TRY(update_given(p, time));
  if (tesi_split_of(p)->walls.timed) TES_TRY(tesi_split_check_flux(p));
  TES_TRY(tesi_explicit_flow_step(flow));
  result->iterations = flow->cycles;
done:
  return status;
}

static TesStatus arrive(void *user) {
  TesProblem *p = user;
  TesStatus status = look(p);
  if (status == TES_OK) status = show(p);
  if (status != TES_OK) (void)go_back(p);
  return status;
}

static TesStatus change(void *user, double *size, double *change) {
  return tesi_explicit_change(user, size, change);
}

TesStatus tesi_explicit_resume(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesiExplicitFlow *flow = pr->explicit_flow;
  pr->walls.at = NAN;
  TES_TRY(update_given(p, p->in_time->march.time));
  TES_TRY(tes_vector_copy(flow->p, 1, flow->s));
  TES_TRY(tes_vector_axpy(1, flow->q, flow->s));
  TES_TRY(show(p));
  TES_TRY(keep(p));
done:
  return status;
}

static void destroy(TesProblem *p) {
  TesiSplit *pr = tesi_split_of(p);
  if (pr) tesi_explicit_flow_destroy(&pr->explicit_flow);
  tesi_split_destroy(p);
}

static void list(void *user, TesiState *state) {
  const TesProblem *p = user;
  TesiSplit *pr = tesi_split_of(p);
  TesiExplicitFlow *flow = pr->explicit_flow;
  state->space = pr->velocity;
  tesi_state_add(state, "u", 0, pr->full, flow->u[flow->now], TESI_STATE_MADE);
  tesi_state_add(state, "pressure", 0, flow->pressure, flow->p, TESI_STATE_MADE);
  tesi_state_add(state, "phi", 0, flow->pressure, flow->q, TESI_STATE_MADE);
  tesi_state_add_real(state, "last", 1, &flow->k);
}

static int older(const void *user, int most, const TesVector **old, double *time) {
  const TesiExplicitFlow *flow = flow_of(user);
  const TesiMarch *march = &((const TesProblem *)user)->in_time->march;
  if (march->step == 0 || most < 1) return 0;
  old[0] = flow->u[1 - flow->now], time[0] = march->time - march->dt;
  return 1;
}

static TesStatus resume(void *user) {
  return tesi_explicit_resume(user);
}

static const TesiScheme scheme = {.name = "explicit",
                                  .order = 1,
                                  .list = list,
                                  .older = older,
                                  .stable = 0.6,
                                  .begin = begin_step,
                                  .advance = advance,
                                  .undo = go_back,
                                  .arrive = arrive,
                                  .change = change,
                                  .resume = resume};
static const TesMultigrid *multigrid(const TesProblem *p) {
  return flow_of(p)->multigrid;
}

const TesiOwn tesi_explicit_own = {
    .create = create, .destroy = destroy, .scheme = &scheme, .multigrid = multigrid};
