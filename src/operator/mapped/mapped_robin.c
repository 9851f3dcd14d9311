/* Mapped operators with Robin terms: one without them, whose kernels know hanging nodes, and the boundary mass
 * terms after it, face by face. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "operator/form.h"
#include "operator/mapped/face_mass.h"
#include "operator/mapped/mapped_robin.h"
#include "operator/mapped/mapped.h"
#include "space/space.h"
#include "mesh/inner_faces.h"

typedef struct Plan {
  TesOperator *inner;
  TesiFaceMass mass; /* alpha w|J| */
  bool held;         /* one of them is positive */
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
  const TesiFaceMass *mass = has_faces(op) ? &((const Plan *)op->plan)->mass : NULL;
  double u[TESI_CELL_MOST], v[TESI_CELL_MOST];
  for (int64_t i = 0; mass && i < mass->faces; i++) {
    const TesiCellView *s = mass->space;
    const int64_t cell = mass->cell[i];
    const int32_t *index = s->index + cell * s->cell_nodes;
    int name;
    const bool on = tesi_mesh_has_name(s->mesh, cell, mass->face[i], &name);
    if (!on || (boundary >= 0 && name != boundary)) continue;
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

/* The entry of a row and column that the matrix has. */
static double *entry(TesiMatrix *A, int32_t row, int32_t column) {
  int64_t low = A->row[row], high = A->row[row + 1] - 1;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (A->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return &A->value[low];
}

/* Columns C' R C e_p of the nodes p of cells with Robin faces. */
void tesi_mapped_add_faces(const TesOperator *op, TesiMatrix *matrix) {
  const TesiFaceMass *mass = has_faces(op) ? &((const Plan *)op->plan)->mass : NULL;
  double u[TESI_CELL_MOST], v[TESI_CELL_MOST];
  for (int64_t i = 0; mass && i < mass->faces; i++) {
    const TesiCellView *s = mass->space;
    const int32_t *index = s->index + mass->cell[i] * s->cell_nodes;
    for (int p = 0; p < s->cell_nodes; p++) {
      if (index[p] < 0) continue;
      memset(u, 0, sizeof u);
      u[p] = 1;
      tesi_hanging_read(s->dim, s->n, s->halves, s->mask[mass->cell[i]], u);
      tesi_face_mass_term(mass, i, u, v);
      tesi_hanging_write(s->dim, s->n, s->halves, s->mask[mass->cell[i]], v);
      for (int q = 0; q < s->cell_nodes; q++)
        if (index[q] >= 0 && v[q] != 0) *entry(matrix, index[q], index[p]) += v[q];
    }
  }
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
      if (precision == TES_DOUBLE)
        ((double *)d)[node] += sum;
      else
        ((float *)d)[node] += (float)sum;
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

bool tesi_robin_faces(const TesOperatorDesc *desc) {
  return count_faces(desc) > 0;
}

static TesStatus fill_faces(TesContext *ctx, const TesOperatorDesc *desc, Plan *plan) {
  TesStatus status = TES_OK;
  const TesMesh *forest = desc->space->mesh;
  TesiFaceMass *mass = &plan->mass;
  const TesiFaceRule *rule = &mass->rule;
  double x[3 * TESI_FACE_MOST], value[TESI_FACE_MOST];
  int64_t at = 0;
  for (int64_t c = 0; c < desc->space->mesh->cells; c++)
    for (int f = 0, name; f < 2 * desc->space->dim; f++) {
      if (!tesi_mesh_has_name(forest, c, f, &name) || !alpha_of(desc, name)) continue;
      double *weight = mass->weight + at * rule->points;
      mass->cell[at] = (int32_t)c, mass->face[at++] = (int8_t)f;
      tesi_face_geometry(rule, desc->space->mesh->geometry, c, f, x, weight, NULL);
      tesi_face_values(rule, alpha_of(desc, name), x, value);
      for (int p = 0; p < rule->points; p++) {
        if (!(value[p] >= 0) || !isfinite(value[p]))
          TES_FAIL(isfinite(value[p]) ? TES_INVALID_INPUT : tesi_function_fault(alpha_of(desc, name)),
                   "%sthe Robin coefficient on %s is %g at (%g, %g, %g) in cell %lld, expected >= 0",
                   tesi_function_where(alpha_of(desc, name)), tes_mesh_boundary_name(forest, name), value[p],
                   x[p * rule->dim], x[p * rule->dim + 1], rule->dim == 3 ? x[p * rule->dim + 2] : 0,
                   (long long)c);
        weight[p] *= value[p];
        plan->held = plan->held || value[p] > 0;
      }
    }
done:
  return status;
}

TesStatus tesi_robin_init(TesOperator *op, TesOperator **inner) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesOperatorDesc *desc = &op->desc;
  Plan *plan;
  op->table = &table;
  TES_NEW(&plan);
  op->plan = plan;
  plan->inner = *inner, *inner = NULL;
  op->data = tesi_mapped_retain(tesi_mapped_of(plan->inner));
  plan->mass.precision = op->precision;
  /* as many points a direction as a and c have, as on boxes */
  tesi_face_rule(op->space->dim, op->space->degree, tesi_mapped_of(plan->inner)->q, op->space->mesh->geometry,
                 &plan->mass.rule);
  TES_TRY(tesi_face_mass_create(op->space->view, count_faces(desc), &plan->mass));
  TES_TRY(fill_faces(ctx, desc, plan));
  op->singular = plan->inner->singular && !plan->held;
  TES_TRY(tesi_face_mass_upload(ctx, &plan->mass));
  snprintf(op->description, sizeof op->description, "%.120s; %lld Robin faces", plan->inner->description,
           (long long)plan->mass.faces);
done:
  return status;
}
