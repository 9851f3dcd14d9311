/* Integrals over boundary faces: see taylor_hood.h. Faces are few, so one thread does them in their order. */
#include <math.h>
#include <string.h>
#include "device/copies.h"
#include "operator/taylor_hood/taylor_hood_device.h"

enum { MOST = TESI_MAX_POINTS * TESI_MAX_POINTS, NODES = 16 * 16 * 16 };

TesStatus tesi_taylor_hood_faces_create(const TesiTaylorHood *m, const bool *wanted,
                                        TesiTaylorHoodFaces *faces) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  *faces = (TesiTaylorHoodFaces){.count = 0};
  tesi_face_rule(m->dim, m->velocity->degree, m->over->q, m->over->geometry, &faces->rule);
  for (int64_t i = 0; i < m->faces; i++) faces->count += wanted[m->face[i].boundary];
  TES_ALLOC(&faces->face, faces->count);
  for (int64_t i = 0, at = 0; i < m->faces; i++)
    if (wanted[m->face[i].boundary]) faces->face[at++] = m->face[i];
done:
  return status;
}

void tesi_taylor_hood_faces_free(const TesiTaylorHood *m, TesiTaylorHoodFaces *faces) {
  const TesiDevice *device = tesi_context_device(m->context);
  tesi_free(m->context, &faces->face);
  device->release(m->context, &faces->list);
  device->release(m->context, &faces->normals);
}

/* Weights, points and outer normals of a face; values of a velocity there. */
typedef struct Face {
  int points;
  double x[3 * MOST], weight[MOST], normal[3 * MOST], u[3][MOST];
} Face;

static void place(const TesiTaylorHood *m, const TesiTaylorHoodFaces *faces, int64_t i, Face *at) {
  const TesiBoundaryFace *face = &faces->face[i];
  at->points = faces->rule.points;
  m->over->kind->face(m->over, &faces->rule, face->cell, face->face, at->x, at->weight, at->normal);
}

static void read_face(const TesiTaylorHood *m, const TesiTaylorHoodFaces *faces, int64_t i, const double *u,
                      Face *at) {
  const TesiBoundaryFace *face = &faces->face[i];
  const TesiFaceRule *rule = &faces->rule;
  double local[NODES], nodes[MOST];
  for (int c = 0; c < m->dim; c++) {
    tesi_space_read_cell(m->velocity, face->cell, u + c * m->velocity->length, local);
    for (int p = 0; p < rule->nodes; p++) nodes[p] = local[tesi_face_node(m->dim, rule->n, face->face, p)];
    tesi_face_interpolate(rule, nodes, at->u[c]);
  }
}

/* b_i += sum over points of value * phi_i, for component c. */
static void add_face(const TesiTaylorHood *m, const TesiTaylorHoodFaces *faces, int64_t i, int c,
                     const double *value, double *b) {
  const TesiBoundaryFace *face = &faces->face[i];
  const TesiFaceRule *rule = &faces->rule;
  const TesiBatches *over = m->over;
  double local[MOST] = {0};
  tesi_face_project(rule, value, local);
  if (over->kind->constrain) over->kind->constrain(over, rule, face->cell, face->face, local);
  for (int p = 0; p < rule->nodes; p++) {
    bool given;
    const int64_t node =
        over->kind->node(over, face->cell, tesi_face_node(m->dim, rule->n, face->face, p), &given);
    b[c * m->velocity->length + node] += local[p];
  }
}

static double normal_part(const TesiTaylorHood *m, const Face *at, int p) {
  double sum = 0;
  for (int c = 0; c < m->dim; c++) sum += at->u[c][p] * at->normal[c * at->points + p];
  return sum;
}

/* *sum <- the vector to which the faces of this rank are added: b itself, or on several ranks a new velocity. */
static TesStatus begin_sum(const TesiTaylorHood *m, double *b, double **sum) {
  *sum = b;
  if (tesi_ranks(m->context) == 1) return TES_OK;
  return tesi_alloc(m->context, (size_t)(m->dim * m->velocity->length) + 1, sizeof **sum, sum);
}

/* b <- b + the sums of all ranks. */
static void end_sum(const TesiTaylorHood *m, double *b, double **sum) {
  const int64_t n = m->velocity->length;
  if (!*sum || *sum == b) return;
  for (int c = 0; c < m->dim; c++) tesi_exchange_sum(m->velocity->layout->shared, TES_DOUBLE, *sum + c * n);
  for (int64_t i = 0; i < m->dim * n; i++) b[i] += (*sum)[i];
  tesi_free(m->context, sum);
}

static TesStatus backflow_on_device(const TesiTaylorHood *m, TesiTaylorHoodFaces *faces, const TesVector *u,
                                    TesVector *b) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TesVector *part = NULL;
  if (tesi_ranks(ctx) == 1) return tesi_taylor_hood_device_backflow(m, faces, u, b);
  TES_TRY(tesi_vector_create_on(b->layout, TES_DOUBLE, &part));
  TES_TRY(tes_vector_fill(part, 0));
  TES_TRY(tesi_taylor_hood_device_backflow(m, faces, u, part));
  for (int c = 0; c < m->dim; c++)
    TES_TRY(tesi_sum_copies(ctx, m->velocity->layout->shared, TES_DOUBLE,
                            (double *)part->data + c * m->velocity->length));
  TES_TRY(tes_vector_axpy(1, part, b));
done:
  tes_vector_destroy(&part);
  return status;
}

TesStatus tesi_taylor_hood_backflow(const TesiTaylorHood *m, TesiTaylorHoodFaces *faces, const TesVector *u,
                                    TesVector *b) {
  Face at;
  double value[MOST], *sum;
  if (m->device) return backflow_on_device(m, faces, u, b);
  const TesStatus status = begin_sum(m, b->data, &sum);
  if (status != TES_OK) return status;
  for (int64_t i = 0; i < faces->count; i++) {
    bool turns = false;
    place(m, faces, i, &at);
    read_face(m, faces, i, u->data, &at);
    for (int p = 0; p < at.points; p++) turns = turns || normal_part(m, &at, p) < 0;
    for (int c = 0; turns && c < m->dim; c++) {
      for (int p = 0; p < at.points; p++)
        value[p] = -0.5 * at.weight[p] * fmin(normal_part(m, &at, p), 0) * at.u[c][p];
      add_face(m, faces, i, c, value, sum);
    }
  }
  end_sum(m, b->data, &sum);
  return TES_OK;
}

/* to <- to + sign f at the points of a face, times component c of the normal if c >= 0. */
static TesStatus add_function(const TesFunction *f, double sign, int c, const Face *at, double *to) {
  double value[MOST];
  if (!f) return TES_OK;
  const TesStatus status = tesi_boundary_values(f, at->points, at->x, at->normal, value);
  for (int p = 0; p < at->points && status == TES_OK; p++)
    to[p] += sign * value[p] * (c >= 0 ? at->normal[c * at->points + p] : 1);
  return status;
}

TesStatus tesi_taylor_hood_stress(const TesiTaylorHood *m, const TesiTaylorHoodFaces *faces,
                                  const TesiGiven *given, double *b) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  Face at;
  double *sum = NULL;
  TES_TRY(begin_sum(m, b, &sum));
  for (int64_t i = 0; i < faces->count; i++) {
    const TesiGiven *of = &given[faces->face[i].boundary];
    place(m, faces, i, &at);
    for (int c = 0; c < m->dim; c++) {
      double value[MOST] = {0};
      if (!of->g[c] && !of->g[m->dim]) continue;
      TES_TRY(add_function(of->g[c], 1, -1, &at, value));
      TES_TRY(add_function(of->g[m->dim], -1, c, &at, value));
      for (int p = 0; p < at.points; p++) value[p] *= at.weight[p];
      add_face(m, faces, i, c, value, sum);
    }
  }
done:
  end_sum(m, b, &sum);
  return status;
}

static bool is_still(const TesiTaylorHood *m, const TesiGiven *of) {
  for (int c = 0; c < m->dim; c++)
    if (of->g[c] && !tesi_function_is_zero(of->g[c])) return false;
  return true;
}

TesStatus tesi_taylor_hood_flux(const TesiTaylorHood *m, const TesiTaylorHoodFaces *faces,
                                const TesiGiven *given, double *net, double *through, double *total) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  Face at;
  *net = *through = *total = 0;
  for (int64_t i = 0; i < faces->count; i++) {
    const TesiGiven *of = &given[faces->face[i].boundary];
    double normal[MOST] = {0}, square[MOST] = {0};
    if (is_still(m, of)) continue;
    place(m, faces, i, &at);
    for (int c = 0; c < m->dim; c++) {
      double value[MOST] = {0};
      TES_TRY(add_function(of->g[c], 1, -1, &at, value));
      for (int p = 0; p < at.points; p++) {
        normal[p] += value[p] * at.normal[c * at.points + p];
        square[p] += value[p] * value[p];
      }
    }
    for (int p = 0; p < at.points; p++) {
      *net += at.weight[p] * normal[p];
      *through += at.weight[p] * fabs(normal[p]);
      *total += at.weight[p] * sqrt(square[p]);
    }
  }
  double all[3] = {*net, *through, *total};
  tesi_reduce(ctx, TESI_SUM, 3, all);
  *net = all[0], *through = all[1], *total = all[2];
done:
  return status;
}
