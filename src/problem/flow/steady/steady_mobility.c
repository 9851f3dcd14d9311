#include "problem/flow/steady/steady_mobility.h"
#include <math.h>
#include <stdio.h>
#include "base/team.h"
#include "functional/fields.h"
#include "functional/scattered.h"
#include "multigrid/multigrid.h"
#include "operator/operator.h"
#include "parallel/comm.h"
#include "problem/flow/split/split.h"
#include "problem/flow/steady/steady_open.h"

/* Of larger meshes every second cell, every third one, .. is a sample. */
static const double most_samples = 1 << 19;

/* Makes the polynomials of the V-cycle of velocities half as long again, where the best length of its step shows that
 * it leaves much of a smooth error: 0.987 to 1.006 for hexahedra and cells in 2D, 1.007 to 1.17 for split tetrahedra.
 * These then take two to three iterations less, in the same time. */
static TesStatus fit_cycle(TesProblem *p, double length) {
  static const double much = 1.0065;
  const TesSolveOptions *o = &p->options;
  const int degree = tesi_multigrid_polynomial(p->multigrid);
  if (degree == 0 || o->smoother_degree || o->pre || o->post || !(length > much)) return TES_OK;
  tesi_log(p->context, TES_LOG_DETAIL, "polynomials of the velocity's cycle are longer: its step is %.3f",
           length);
  return tesi_multigrid_change(p->multigrid, degree + degree / 2, false, false);
}

/* w <- t V b, t the best length of a step; *beta <- dim volume / (b . w); b = M (1, .., 1), work.r. */
static TesStatus find_velocity(TesProblem *p, TesiSteadyCycle cycle, TesVector *w, double *beta) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  double volume, flow, energy;
  TES_TRY(tes_operator_apply(pr->pressure_mass, pr->mean.ones, pr->work.pb));
  TES_TRY(tes_vector_dot(pr->work.pb, pr->mean.ones, &volume));
  TES_TRY(tes_vector_fill(w, 1));
  TES_TRY(tes_operator_apply(pr->mass, w, pr->work.r));
  TES_TRY(tesi_walls_put(&pr->walls, false, pr->work.r));
  pr->steady.cycle_norm = 0;
  TES_TRY(cycle(p, pr->work.r, w));
  pr->steady.cycle_norm = 0;
  TES_TRY(tes_vector_dot(pr->work.r, w, &flow));
  TES_TRY(tes_operator_apply(pr->op, w, pr->work.d));
  TES_TRY(tes_vector_dot(pr->work.d, w, &energy));
  *beta = flow > 0 && energy > 0 ? p->mesh->dim * volume * energy / (flow * flow) : 0;
  if (!(*beta > 0)) goto done;
  TES_TRY(tes_vector_copy(w, flow / energy, w));
  if (!pr->steady.schur) TES_TRY(fit_cycle(p, flow / energy));
done:
  return status;
}

/* P of a velocity w, by its fields. */
static void write_text(const TesProblem *p, int count, const TesiField *field, size_t size, char *text) {
  const TesiSplit *pr = tesi_split_of(p);
  const int dim = p->mesh->dim;
  const double nu = pr->nu, alpha = pr->steady.alpha;
  int used = snprintf(text, size, "(0");
  for (int i = 0; i < count; i++) {
    const char *name = field[i].name;
    if (field[i].derivative == TESI_FIELD_VALUE)
      used += snprintf(text + used, size - (size_t)used, " + %.17g*%s - %.17g*%s*%s", 2 * nu, name,
                       nu * alpha, name, name);
    else
      used += snprintf(text + used, size - (size_t)used, " + %.17g*%s*%s", nu * nu, name, name);
  }
  snprintf(text + used, size - (size_t)used, ")/%d", dim);
}

/* Samples of beta m at the centres of cells. */
typedef struct Centres {
  const TesProblem *problem;
  const TesiQuantity *quantity;
  int64_t step;
  double beta;
  TesiSample *sample;
} Centres;

static double mobility(const TesiSplit *pr, double P, double beta) {
  const double least = 1e-8, along = fmin(1, fmax(0, pr->steady.alpha * P / pr->nu));
  const double m = beta * P / (pr->nu * (3 - 2 * along));
  return m > least ? m : least;
}

static void sample_centres(const void *data, TesiSpan span) {
  const Centres *c = data;
  const TesProblem *p = c->problem;
  const double xi[3] = {0.5, 0.5, 0.5};
  for (int64_t i = span.first; i < span.end; i++) {
    TesiSample *s = &c->sample[i];
    double P, J[9];
    *s = (TesiSample){.value = 1};
    if (tesi_mesh_points(p->mesh, i * c->step, 1, xi, s->x, J) != TES_OK) continue;
    tesi_quantity_at(c->quantity, i * c->step, 1, xi, s->x, J, NULL, &P);
    s->value = mobility(tesi_split_of(p), P, c->beta);
  }
}

static TesStatus find_mobility(const TesProblem *p, const TesVector *w, double beta, TesFunction **a) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  const int dim = p->mesh->dim;
  TesVector *part[3] = {NULL};
  const TesVector *vector[3];
  const TesSpace *space[3];
  TesiField field[TESI_FIELDS];
  char text[2000];
  TesiQuantity *quantity = NULL;
  Centres c = {.problem = p, .beta = beta};
  for (int d = 0; d < dim; d++) {
    TES_TRY(tes_vector_part(pr->full, w, d, &part[d]));
    vector[d] = part[d], space[d] = pr->full->part[d];
  }
  const int fields = tesi_fields_of(dim, dim, space, vector, field);
  write_text(p, fields, field, sizeof text, text);
  TES_TRY(tesi_quantity_create(p->mesh, text, false, fields, field, &quantity));
  c.quantity = quantity;
  c.step = (int64_t)ceil((double)tes_mesh_info(p->mesh).all_cells / most_samples);
  const int64_t count = (p->mesh->cells + c.step - 1) / c.step;
  TES_ALLOC(&c.sample, count);
  tesi_team_for(tesi_team_threads(ctx, 1000 * count), count, sample_centres, &c);
  TES_TRY(tesi_scattered_function(ctx, count, c.sample, "the mobility of the pressure", a));
done:
  for (int d = 0; d < dim; d++) tes_vector_destroy(&part[d]);
  tesi_quantity_destroy(&quantity);
  tesi_free(ctx, &c.sample);
  return status;
}

TesStatus tesi_steady_take_mobility(TesProblem *p, TesiSteadyCycle cycle) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesVector *w = NULL;
  TesFunction *a = NULL;
  double beta;
  TES_TRY(tesi_work_on(ctx, "the mobility of the pressure"));
  TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, &w));
  TES_TRY(find_velocity(p, cycle, w, &beta));
  if (!(beta > 0 && beta < INFINITY)) goto done;
  TES_TRY(find_mobility(p, w, beta, &a));
  TES_TRY(tesi_steady_take_laplacian(p, a));
  pr->steady.resistance = beta;
  tesi_log(ctx, TES_LOG_DETAIL, "mobility: walls resist as a mass term of %.3g does in the mean", beta);
done:
  tes_vector_destroy(&w);
  tes_function_destroy(&a);
  return status;
}
