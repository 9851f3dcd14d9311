/* The uniform force that keeps a mean velocity: see split.h.
 *
 * With A = sigma M + nu K of the step, m the integrals of the velocity's basis functions, and s_c the solution of
 * A s_c = m in component c, zero where values are given, a force F_c adds F_c s_c to the new velocity. The step is
 * made with the previous force, and the mean velocity is then corrected:
 *
 *   F_c += (U_c |domain| - m . u_c) / (m . s_c),    u += (what was added) s_c,
 *
 * so that the new velocity solves the momentum equation with the new force, implicitly. */
#include <math.h>
#include "operator/operator.h"
#include "problem/flow/split/split.h"

static bool is_driven(const TesiSplit *pr, int c) {
  return pr->drive.components >> c & 1;
}

/* Whether a direction is periodic: then the integral of x_c n_c over the boundary is not the volume (Gauss), but
 * minus the volume of bodies inside. */
static TesStatus measure_boundary(const TesiTaylorHood *m, double integral[3]) {
  enum { MOST = TESI_MAX_POINTS * TESI_MAX_POINTS };
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TesiTaylorHoodFaces faces = {.count = 0};
  bool *wanted = NULL;
  double x[3 * MOST], weight[MOST], normal[3 * MOST];
  TES_ALLOC(&wanted, m->over->boundaries + 1);
  for (int i = 0; i < m->over->boundaries; i++) wanted[i] = true;
  TES_TRY(tesi_taylor_hood_faces_create(m, wanted, &faces));
  for (int c = 0; c < 3; c++) integral[c] = 0;
  for (int64_t i = 0; i < faces.count; i++) {
    m->over->kind->face(m->over, &faces.rule, faces.face[i].cell, faces.face[i].face, x, weight, normal);
    for (int c = 0; c < m->dim; c++)
      for (int p = 0; p < faces.rule.points; p++) {
        const int at = c * faces.rule.points + p;
        integral[c] += weight[p] * x[at] * normal[at];
      }
  }
  tesi_reduce(ctx, TESI_SUM, 3, integral);
done:
  tesi_taylor_hood_faces_free(m, &faces);
  tesi_free(ctx, &wanted);
  return status;
}

static TesStatus create_weights(TesiSplit *pr) {
  TesContext *ctx = pr->full->context;
  TesStatus status = TES_OK;
  TesiDrive *d = &pr->drive;
  TesVector *one = NULL;
  TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, &one));
  TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, &d->weights));
  TES_TRY(tes_vector_fill(one, 1));
  TES_TRY(tes_operator_apply(pr->mass, one, d->weights));
  const TesVector first = tesi_space_scalar_range(pr->full, d->weights, 0),
                  ones = tesi_space_scalar_range(pr->full, one, 0);
  TES_TRY(tes_vector_dot(&first, &ones, &d->volume));
done:
  tes_vector_destroy(&one);
  return status;
}

TesStatus tesi_drive_create(TesProblem *p, const TesProblemDesc *desc) {
  static const char *const axes[3] = {"x", "y", "z"};
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesiDrive *d = &pr->drive;
  double integral[3];
  d->components = desc->mean_components & ((1u << p->mesh->dim) - 1);
  if (!d->components) return TES_OK;
  TES_TRY(create_weights(pr));
  TES_TRY(measure_boundary(pr->taylor_hood, integral));
  for (int c = 0; c < p->mesh->dim; c++) {
    if (!is_driven(pr, c)) continue;
    TES_CHECK(integral[c] < 0.5 * d->volume,
              "data.mean_velocity: in direction %s it is kept by a force where the domain is periodic in %s, "
              "and this "
              "one is not",
              axes[c], axes[c]);
    d->mean[c] = desc->mean_velocity[c];
    TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, &d->response[c]));
  }
  d->sigma = NAN;
done:
  return status;
}

void tesi_drive_free(TesiDrive *d) {
  tes_vector_destroy(&d->weights);
  for (int c = 0; c < 3; c++) tes_vector_destroy(&d->response[c]);
}

/* The component c of a velocity. */
static TesVector component_of(const TesiSplit *pr, const TesVector *u, int c) {
  return tesi_space_scalar_range(pr->full, u, c);
}

TesStatus tesi_drive_load(const TesiSplit *pr, TesVector *b) {
  TesStatus status = TES_OK;
  for (int c = 0; c < pr->taylor_hood->dim && status == TES_OK; c++) {
    if (!is_driven(pr, c)) continue;
    TesVector to = component_of(pr, b, c);
    const TesVector weights = component_of(pr, pr->drive.weights, c);
    status = tes_vector_axpy(pr->drive.force[c], &weights, &to);
  }
  return status;
}

/* s_c of the present operator. */
static TesStatus find_response(TesiSplit *pr, int c) {
  TesContext *ctx = pr->full->context;
  TesStatus status = TES_OK;
  TesiDrive *d = &pr->drive;
  TesVector to = component_of(pr, pr->work.r, c), part = component_of(pr, d->response[c], c);
  const TesVector weights = component_of(pr, d->weights, c);
  double norm;
  TES_TRY(tes_vector_fill(pr->work.r, 0));
  TES_TRY(tes_vector_copy(&weights, 1, &to));
  TES_TRY(tesi_walls_put(&pr->walls, false, pr->work.r));
  TES_TRY(tes_vector_norm(pr->work.r, &norm));
  TES_TRY(tesi_split_cg(pr, norm, 1e-10 * norm, pr->work.r, d->response[c]));
  TES_TRY(tes_vector_dot(&weights, &part, &d->gain[c]));
done:
  return status;
}

TesStatus tesi_drive_keep(TesiSplit *pr, TesVector *x) {
  TesContext *ctx = pr->full->context;
  TesStatus status = TES_OK;
  TesiDrive *d = &pr->drive;
  const bool same = d->sigma == pr->sigma && !pr->grad_div.gamma;
  for (int c = 0; c < pr->taylor_hood->dim; c++) {
    double sum;
    if (!is_driven(pr, c)) continue;
    if (!same) TES_TRY(find_response(pr, c));
    const TesVector weights = component_of(pr, d->weights, c), part = component_of(pr, x, c);
    TES_TRY(tes_vector_dot(&weights, &part, &sum));
    const double more = (d->mean[c] * d->volume - sum) / d->gain[c];
    TES_TRY(tes_vector_axpy(more, d->response[c], x));
    d->force[c] += more;
  }
  d->sigma = pr->sigma;
done:
  return status;
}
