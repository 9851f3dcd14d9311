/* Mapped operators with Robin terms: an inner operator without them, whose kernels handle hanging nodes, and then the
 * boundary mass terms, face by face. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/real.h"
#include "operator/form.h"
#include "operator/mapped/face_mass.h"
#include "operator/mapped/mapped_robin.h"
#include "operator/mapped/mapped.h"
#include "space/space.h"
#include "basis/lagrange.h"
#include "functional/groups.h"
#include "mesh/group_owners.h"
#include "mesh/inner_faces.h"

typedef struct Plan {
  TesOperator *inner;
  TesiFaceMass mass; /* alpha w|J| */
  /* [faces] the boundary of each face. An edge or corner of a group is a face of which only one line of points, or
   * one point, counts: then the rule also has the ends of the face as points. */
  int32_t *name;
  bool held; /* some coefficient is positive */
} Plan;

static bool has_faces(const TesOperator *op);

void tesi_mapped_subtract_faces(const TesOperator *op, const double *u, double *b) {
  if (has_faces(op)) tesi_face_mass_add(&((const Plan *)op->plan)->mass, TES_DOUBLE, -1, true, u, b);
}

void tesi_robin_add(const TesOperator *op, TesPrecision precision, double sign, bool every, const void *x,
                    void *y) {
  if (has_faces(op)) tesi_face_mass_add(&((const Plan *)op->plan)->mass, precision, sign, every, x, y);
}

void tesi_robin_add_whole(const TesOperator *op, int boundary, const double *x, double *y) {
  const Plan *plan = has_faces(op) ? op->plan : NULL;
  const TesiFaceMass *mass = plan ? &plan->mass : NULL;
  double u[TESI_CELL_MOST], v[TESI_CELL_MOST];
  for (int64_t i = 0; mass && i < mass->faces; i++) {
    const TesiCellView *s = mass->space;
    const int64_t cell = mass->cell[i];
    const int32_t *index = s->index + cell * s->cell_nodes;
    if (boundary >= 0 && plan->name[i] != boundary) continue;
    for (int p = 0; p < s->cell_nodes; p++) u[p] = x[tesi_cells_node(index[p])];
    tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell], u);
    tesi_face_mass_term(mass, i, u, v);
    tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], v);
    for (int p = 0; p < s->cell_nodes; p++) y[tesi_cells_node(index[p])] += v[p];
  }
}

bool tesi_robin_holds(const TesOperator *op) {
  return has_faces(op) && ((const Plan *)op->plan)->held;
}

void tesi_mapped_add_faces(const TesOperator *op, TesiMatrix *matrix) {
  if (has_faces(op)) tesi_face_mass_entries(&((const Plan *)op->plan)->mass, matrix);
}

TesStatus tesi_mapped_add_faces_device(const TesOperator *op, const TesiDeviceMatrix *matrix) {
  const Plan *plan = has_faces(op) ? op->plan : NULL;
  return plan ? tesi_robin_kernel_columns(op->context, plan->mass.kernel, NULL, matrix) : TES_OK;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  const Plan *plan = op->plan;
  const TesStatus status = plan->inner->table->apply(plan->inner, x, y);
  return status == TES_OK ? tesi_face_mass_add_here(op->context, &plan->mass, 1, x, y) : status;
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  const Plan *plan = op->plan;
  const TesStatus status = plan->inner->table->residual(plan->inner, b, x, r);
  return status == TES_OK ? tesi_face_mass_add_here(op->context, &plan->mass, -1, x, r) : status;
}

/* d += e_p' C' R C e_p for all nodes of the cells with Robin faces. */
static void add_diagonal(const TesiFaceMass *mass, TesPrecision precision, void *d) {
  const TesiCellView *s = mass->space;
  double u[TESI_CELL_MOST], v[TESI_CELL_MOST];
  for (int64_t i = 0; i < mass->faces; i++)
    for (int a = 0; a < mass->rule.nodes; a++) {
      const int64_t cell = mass->cell[i];
      const int p = tesi_face_node(s->dim, s->n, mass->face[i], a);
      const int32_t node = s->index[cell * s->cell_nodes + p];
      if (node < 0) continue;
      memset(u, 0, sizeof u);
      u[p] = 1;
      tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell], u);
      tesi_face_mass_term(mass, i, u, v);
      double sum = 0;
      for (int k = 0; k < s->cell_nodes; k++) sum += u[k] * v[k];
      tesi_number_add(precision, d, node, sum);
    }
}

void tesi_robin_add_diagonal(const TesOperator *op, double *d) {
  if (has_faces(op)) add_diagonal(&((const Plan *)op->plan)->mass, TES_DOUBLE, d);
}

TesStatus tesi_robin_add_here(const TesOperator *op, double sign, const void *x, void *y) {
  return has_faces(op) ? tesi_face_mass_add_here(op->context, &((const Plan *)op->plan)->mass, sign, x, y)
                       : TES_OK;
}

TesStatus tesi_robin_add_diagonal_here(const TesOperator *op, void *d) {
  const Plan *plan = has_faces(op) ? op->plan : NULL;
  if (plan && plan->mass.kernel) return tesi_robin_kernel_columns(op->context, plan->mass.kernel, d, NULL);
  if (plan) add_diagonal(&plan->mass, op->precision, d);
  return TES_OK;
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  const Plan *plan = op->plan;
  const TesStatus status = plan->inner->table->diagonal(plan->inner, d);
  return status == TES_OK ? tesi_robin_add_diagonal_here(op, d) : status;
}

static TesStatus apply_ref(const TesOperator *op, const double *x, double *y) {
  const Plan *plan = op->plan;
  const TesStatus status = plan->inner->table->apply_ref(plan->inner, x, y);
  if (status == TES_OK) tesi_face_mass_add(&plan->mass, TES_DOUBLE, 1, false, x, y);
  return status;
}

static TesCost cost(const TesOperator *op) {
  const Plan *plan = op->plan;
  const TesCost inner = plan->inner->table->cost(plan->inner);
  const double n = plan->mass.rule.n, q = plan->mass.rule.q, faces = (double)plan->mass.faces;
  const double lines = plan->mass.rule.dim == 3 ? n + q : 1;
  return (TesCost){.flops = inner.flops + faces * 4 * n * q * lines,
                   .bytes = inner.bytes + faces * 8 * plan->mass.rule.points};
}

static void destroy(TesOperator *op) {
  Plan *plan = op->plan;
  if (!plan) return;
  tes_operator_destroy(&plan->inner);
  tesi_face_mass_free(op->context, &plan->mass);
  tesi_free(op->context, &plan->name);
  tesi_free(op->context, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .lift = tesi_mapped_lift,
                                        .apply_ref = apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

static bool has_faces(const TesOperator *op) {
  return (op->local ? op->local : op->table) == &table;
}

const TesOperator *tesi_robin_inner(const TesOperator *op) {
  return has_faces(op) ? ((const Plan *)op->plan)->inner : op;
}

static const TesFunction *alpha_of(const TesOperatorDesc *desc, int boundary) {
  const TesTermDesc *robin = boundary >= 0 ? tesi_form_term(&desc->form, TES_TERM_ROBIN, boundary) : NULL;
  return robin ? robin->a.all : NULL;
}

static bool has_robin(const TesForm *form) {
  for (int i = 0; i < form->terms; i++)
    if (form->term[i].term == TES_TERM_ROBIN) return true;
  return false;
}

static int64_t count_faces(const TesOperatorDesc *desc) {
  const TesMesh *forest = desc->space->mesh;
  int64_t count = 0;
  for (int64_t c = 0; has_robin(&desc->form) && c < desc->space->mesh->cells; c++)
    for (int f = 0, name; f < 2 * desc->space->dim; f++)
      count += tesi_mesh_has_name(forest, c, f, &name) && alpha_of(desc, name);
  return count;
}

/* The next edge or corner of a cell, after part i, that has springs; counts NULL: in any tree. */
static int64_t next_part(const TesOperatorDesc *desc, const bool *counts, int64_t cell, int64_t i) {
  const TesMesh *mesh = desc->space->mesh;
  while ((i = tesi_mesh_next_part(mesh, cell, i)) >= 0) {
    const TesTreePart *part = &mesh->coarse->part[i];
    const bool own = counts ? counts[i] : !tesi_part_is_face(mesh->dim, part->at);
    if (own && alpha_of(desc, part->boundary)) break;
  }
  return i;
}

static int64_t count_parts(const TesOperatorDesc *desc, const bool *counts) {
  int64_t count = 0;
  for (int64_t c = 0; has_robin(&desc->form) && c < desc->space->mesh->cells; c++)
    for (int64_t i = -1; (i = next_part(desc, counts, c, i)) >= 0;) count++;
  return count;
}

bool tesi_robin_faces(const TesOperatorDesc *desc) {
  return count_faces(desc) > 0 || count_parts(desc, NULL) > 0;
}

/* value[n] <- alpha at x[3][n]. */
static TesStatus find_alpha(const TesOperatorDesc *desc, int name, int64_t cell, int n, const double *x,
                            double *value) {
  TesContext *ctx = desc->space->context;
  TesStatus status = TES_OK;
  const TesFunction *alpha = alpha_of(desc, name);
  tesi_function_values(alpha, n, x, x + n, x + 2 * n, 0, value);
  for (int p = 0; p < n; p++)
    if (!(value[p] >= 0) || !isfinite(value[p]))
      TES_FAIL(isfinite(value[p]) ? TES_INVALID_INPUT : tesi_function_fault(alpha),
               "%sthe Robin coefficient on %s is %g at (%g, %g, %g) in cell %lld, expected >= 0",
               tesi_function_where(alpha), tes_mesh_boundary_name(desc->space->mesh, name), value[p], x[p],
               x[n + p], x[2 * n + p], (long long)cell);
done:
  return status;
}

/* gauss: the points of faces. The rule of the mass may also have both ends in each direction. */
static TesStatus fill_faces(TesContext *ctx, const TesOperatorDesc *desc, const TesiFaceRule *gauss,
                            Plan *plan, int64_t *at) {
  TesStatus status = TES_OK;
  const TesMesh *forest = desc->space->mesh;
  TesiFaceMass *mass = &plan->mass;
  const int q = mass->rule.q, beside = (q - gauss->q) / 2;
  double x[3 * TESI_FACE_MOST], weight[TESI_FACE_MOST], value[TESI_FACE_MOST];
  for (int64_t c = 0; c < desc->space->mesh->cells; c++)
    for (int f = 0, name; f < 2 * desc->space->dim; f++) {
      if (!tesi_mesh_has_name(forest, c, f, &name) || !alpha_of(desc, name)) continue;
      double *to = mass->weight + *at * mass->rule.points;
      mass->cell[*at] = (int32_t)c, mass->face[*at] = (int8_t)f, plan->name[(*at)++] = name;
      tesi_face_points(gauss, desc->space->mesh->geometry, c, f, x, weight, NULL);
      TES_TRY(find_alpha(desc, name, c, gauss->points, x, value));
      for (int p = 0; p < gauss->points; p++) {
        const int line = p / gauss->q + (gauss->dim == 3 ? beside : 0);
        to[p % gauss->q + beside + line * q] = weight[p] * value[p];
        plan->held = plan->held || value[p] > 0;
      }
    }
done:
  return status;
}

/* The indices of the points of an edge or corner among the points of a face that contains it. */
static TesStatus fill_part(const TesOperatorDesc *desc, const TesiFaceRule *gauss, int64_t cell, int64_t part,
                           Plan *plan, int64_t i) {
  TesiFaceMass *mass = &plan->mass;
  const TesTreePart *of = &desc->space->mesh->coarse->part[part];
  const int dim = gauss->dim, q = mass->rule.q;
  double x[3 * TESI_FACE_POINTS], w[TESI_FACE_POINTS], value[TESI_FACE_POINTS];
  int face = -1, first = 0, step = 0;
  const int n = tesi_group_points(desc->space->mesh->geometry, cell, of->at, gauss->q, gauss->point,
                                  gauss->weight, x, w);
  const TesStatus status = find_alpha(desc, of->boundary, cell, n, x, value);
  if (status != TES_OK) return status;
  for (int d = 0, t = of->at, stride = 1; d < dim; d++, t /= 3) {
    if (face < 0 && t % 3 != 1) {
      face = 2 * d + (t % 3 == 2);
      continue;
    }
    first += stride * (t % 3 == 1 ? 1 : t % 3 == 2 ? q - 1 : 0);
    if (t % 3 == 1) step = stride;
    stride *= q;
  }
  mass->cell[i] = (int32_t)cell, mass->face[i] = (int8_t)face, plan->name[i] = of->boundary;
  for (int p = 0; p < n; p++) {
    mass->weight[i * mass->rule.points + first + p * step] = w[p] * value[p];
    plan->held = plan->held || value[p] > 0;
  }
  return TES_OK;
}

/* Adds both ends to the points of the rule in each direction. */
static void add_ends(const TesiFaceRule *gauss, TesiFaceRule *rule) {
  double node[TESI_MAX_POINTS];
  *rule = *gauss;
  rule->q = gauss->q + 2;
  rule->points = gauss->dim == 3 ? rule->q * rule->q : rule->q;
  for (int p = 0; p < rule->q; p++) rule->point[p] = p == 0 ? 0 : p == rule->q - 1 ? 1 : gauss->point[p - 1];
  tesi_gauss_lobatto(rule->n, node, NULL);
  tesi_lagrange(rule->n, node, rule->q, rule->point, rule->B, rule->G);
}

static TesStatus fill(TesContext *ctx, const TesOperatorDesc *desc, const TesiFaceRule *gauss, Plan *plan) {
  TesStatus status = TES_OK;
  bool *counts = NULL;
  int64_t at = 0;
  TES_TRY(tesi_mesh_group_owners(desc->space->mesh, &counts));
  const int64_t parts = count_parts(desc, counts), all = count_faces(desc) + parts;
  plan->mass.rule = *gauss;
  if (parts) add_ends(gauss, &plan->mass.rule);
  TES_TRY(tesi_face_mass_create(desc->space->view, all, &plan->mass));
  TES_ALLOC(&plan->name, all);
  TES_TRY(fill_faces(ctx, desc, gauss, plan, &at));
  for (int64_t c = 0; parts && c < desc->space->mesh->cells; c++)
    for (int64_t i = -1; (i = next_part(desc, counts, c, i)) >= 0;)
      TES_TRY(fill_part(desc, gauss, c, i, plan, at++));
done:
  tesi_free(ctx, &counts);
  return status;
}

TesStatus tesi_robin_init(TesOperator *op, TesOperator **inner) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesOperatorDesc *desc = &op->desc;
  TesiFaceRule gauss;
  Plan *plan;
  op->table = &table;
  TES_NEW(&plan);
  op->plan = plan;
  plan->inner = *inner, *inner = NULL;
  op->data = tesi_mapped_retain(tesi_mapped_of(plan->inner));
  plan->mass.precision = op->precision;
  /* as many points per direction as for a and c, like on boxes */
  tesi_face_rule(op->space->dim, op->space->degree, tesi_mapped_of(plan->inner)->q, op->space->mesh->geometry,
                 &gauss);
  TES_TRY(fill(ctx, desc, &gauss, plan));
  op->singular = plan->inner->singular && !plan->held;
  TES_TRY(tesi_face_mass_upload(ctx, &plan->mass));
  snprintf(op->description, sizeof op->description, "%.120s; %lld Robin faces", plan->inner->description,
           (long long)plan->mass.faces);
done:
  return status;
}
