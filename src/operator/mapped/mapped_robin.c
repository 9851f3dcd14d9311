/* Mapped operators with Robin terms: one without them, whose kernels know hanging nodes, and the boundary mass
 * terms after it, face by face. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "device/kernel.h"
#include "functional/batch_faces.h"
#include "operator/form.h"
#include "operator/mapped/device/mapped_robin_device.h"
#include "operator/mapped/mapped_robin.h"
#include "operator/mapped/mapped.h"
#include "space/space.h"

typedef struct Plan {
  TesOperator *inner;
  TesiCellView *space;
  TesiFaceRule rule;
  int64_t faces;
  int32_t *cell; /* [faces] */
  int8_t *face;
  double *weight;          /* [faces][points] alpha w|J| */
  bool held;               /* one of them is positive */
  TesiRobinKernel *kernel; /* NULL on the host */
} Plan;

static double get(TesPrecision precision, const void *x, int64_t i) {
  return precision == TES_DOUBLE ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

static void add(TesPrecision precision, void *y, int64_t i, double value) {
  if (precision == TES_DOUBLE)
    ((double *)y)[i] += value;
  else
    ((float *)y)[i] += (float)value;
}

/* v <- sum over the face's points, for u in the cell's own nodes. */
static void face_term(const Plan *plan, int64_t i, const double *u, double *v) {
  const TesiFaceRule *rule = &plan->rule;
  const int face = plan->face[i];
  double in[TESI_FACE_MOST], at[TESI_FACE_MOST], out[TESI_FACE_MOST] = {0};
  for (int a = 0; a < rule->nodes; a++) in[a] = u[tesi_face_node(rule->dim, rule->n, face, a)];
  tesi_face_interpolate(rule, in, at);
  for (int p = 0; p < rule->points; p++) at[p] *= plan->weight[i * rule->points + p];
  tesi_face_project(rule, at, out);
  memset(v, 0, (size_t)plan->space->cell_nodes * sizeof *v);
  for (int a = 0; a < rule->nodes; a++) v[tesi_face_node(rule->dim, rule->n, face, a)] = out[a];
}

/* y += sign R x; `every`: Dirichlet nodes too. */
static void add_faces(const Plan *plan, TesPrecision precision, double sign, bool every, const void *x,
                      void *y) {
  const TesiCellView *s = plan->space;
  double u[TESI_CELL_MOST], v[TESI_CELL_MOST];
  for (int64_t i = 0; i < plan->faces; i++) {
    const int64_t cell = plan->cell[i];
    const int32_t *index = s->index + cell * s->cell_nodes;
    for (int p = 0; p < s->cell_nodes; p++)
      u[p] = index[p] >= 0 ? get(precision, x, index[p]) : every ? get(precision, x, ~index[p]) : 0;
    tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell], u);
    face_term(plan, i, u, v);
    tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], v);
    for (int p = 0; p < s->cell_nodes; p++)
      if (index[p] >= 0) add(precision, y, index[p], sign * v[p]);
  }
}

static bool has_faces(const TesOperator *op);

void tesi_mapped_subtract_faces(const TesOperator *op, const double *u, double *b) {
  if (has_faces(op)) add_faces(op->plan, TES_DOUBLE, -1, true, u, b);
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
  const Plan *plan = has_faces(op) ? op->plan : NULL;
  double u[TESI_CELL_MOST], v[TESI_CELL_MOST];
  for (int64_t i = 0; plan && i < plan->faces; i++) {
    const TesiCellView *s = plan->space;
    const int32_t *index = s->index + plan->cell[i] * s->cell_nodes;
    for (int p = 0; p < s->cell_nodes; p++) {
      if (index[p] < 0) continue;
      memset(u, 0, sizeof u);
      u[p] = 1;
      tesi_hanging_read(s->dim, s->n, s->halves, s->mask[plan->cell[i]], u);
      face_term(plan, i, u, v);
      tesi_hanging_write(s->dim, s->n, s->halves, s->mask[plan->cell[i]], v);
      for (int q = 0; q < s->cell_nodes; q++)
        if (index[q] >= 0 && v[q] != 0) *entry(matrix, index[q], index[p]) += v[q];
    }
  }
}

TesStatus tesi_mapped_add_faces_device(const TesOperator *op, const TesiDeviceMatrix *matrix) {
  const Plan *plan = has_faces(op) ? op->plan : NULL;
  return plan ? tesi_robin_kernel_columns(op->context, plan->kernel, NULL, matrix) : TES_OK;
}

/* y += sign R x where the operator runs. */
static TesStatus add_here(const TesOperator *op, double sign, const void *x, void *y) {
  const Plan *plan = op->plan;
  if (plan->kernel) return tesi_robin_kernel_add(op->context, plan->kernel, sign, x, y);
  add_faces(plan, op->precision, sign, false, x, y);
  return TES_OK;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  const Plan *plan = op->plan;
  const TesStatus status = plan->inner->table->apply(plan->inner, x, y);
  return status == TES_OK ? add_here(op, 1, x, y) : status;
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  const Plan *plan = op->plan;
  const TesStatus status = plan->inner->table->residual(plan->inner, b, x, r);
  return status == TES_OK ? add_here(op, -1, x, r) : status;
}

/* d += e_p' C' R C e_p for all nodes of the cells with Robin faces. */
static void add_diagonal(const Plan *plan, TesPrecision precision, void *d) {
  const TesiCellView *s = plan->space;
  double u[TESI_CELL_MOST], v[TESI_CELL_MOST];
  for (int64_t i = 0; i < plan->faces; i++)
    for (int a = 0; a < plan->rule.nodes; a++) {
      const int64_t cell = plan->cell[i];
      const int p = tesi_face_node(s->dim, s->n, plan->face[i], a);
      const int32_t node = s->index[cell * s->cell_nodes + p];
      if (node < 0) continue;
      memset(u, 0, sizeof u);
      u[p] = 1;
      tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell], u);
      face_term(plan, i, u, v);
      double sum = 0;
      for (int k = 0; k < s->cell_nodes; k++) sum += u[k] * v[k];
      add(precision, d, node, sum);
    }
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Plan *plan = op->plan;
  TES_TRY(plan->inner->table->diagonal(plan->inner, d));
  if (plan->kernel)
    TES_TRY(tesi_robin_kernel_columns(ctx, plan->kernel, d, NULL));
  else
    add_diagonal(plan, op->precision, d);
done:
  return status;
}

static TesStatus apply_ref(const TesOperator *op, const double *x, double *y) {
  const Plan *plan = op->plan;
  const TesStatus status = plan->inner->table->apply_ref(plan->inner, x, y);
  if (status == TES_OK) add_faces(plan, TES_DOUBLE, 1, false, x, y);
  return status;
}

static TesCost cost(const TesOperator *op) {
  const Plan *plan = op->plan;
  const TesCost inner = plan->inner->table->cost(plan->inner);
  const double n = plan->rule.n, q = plan->rule.q, faces = (double)plan->faces;
  const double lines = plan->rule.dim == 3 ? n + q : 1;
  return (TesCost){.flops = inner.flops + faces * 4 * n * q * lines,
                   .bytes = inner.bytes + faces * 8 * plan->rule.points};
}

static void destroy(TesOperator *op) {
  Plan *plan = op->plan;
  if (!plan) return;
  tes_operator_destroy(&plan->inner);
  tesi_cells_destroy(&plan->space);
  tesi_robin_kernel_destroy(op->context, &plan->kernel);
  tesi_free(op->context, &plan->cell);
  tesi_free(op->context, &plan->face);
  tesi_free(op->context, &plan->weight);
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
  return op->table == &table;
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
      count += tes_mesh_on_boundary(forest, c, f, &name) && alpha_of(desc, name);
  return count;
}

bool tesi_robin_faces(const TesOperatorDesc *desc) {
  return count_faces(desc) > 0;
}

static TesStatus fill_faces(TesContext *ctx, const TesOperatorDesc *desc, Plan *plan) {
  TesStatus status = TES_OK;
  const TesMesh *forest = desc->space->mesh;
  const TesiFaceRule *rule = &plan->rule;
  double x[3 * TESI_FACE_MOST], value[TESI_FACE_MOST];
  int64_t at = 0;
  TES_ALLOC(&plan->cell, plan->faces);
  TES_ALLOC(&plan->face, plan->faces);
  TES_ALLOC(&plan->weight, plan->faces * rule->points);
  for (int64_t c = 0; c < desc->space->mesh->cells; c++)
    for (int f = 0, name; f < 2 * desc->space->dim; f++) {
      if (!tes_mesh_on_boundary(forest, c, f, &name) || !alpha_of(desc, name)) continue;
      double *weight = plan->weight + at * rule->points;
      plan->cell[at] = (int32_t)c, plan->face[at++] = (int8_t)f;
      tesi_face_geometry(rule, desc->space->mesh->geometry, c, f, x, weight, NULL);
      tesi_face_values(rule, alpha_of(desc, name), x, value);
      for (int p = 0; p < rule->points; p++) {
        TES_CHECK(value[p] >= 0 && isfinite(value[p]),
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
  plan->space = tesi_cells_retain(op->space->view);
  plan->faces = count_faces(desc);
  tesi_face_rule(op->space->dim, op->space->degree, op->space->degree + 2, op->space->mesh->geometry,
                 &plan->rule);
  TES_TRY(fill_faces(ctx, desc, plan));
  op->singular = plan->inner->singular && !plan->held;
  const TesiRobinDesc kernel = {.space = plan->space,
                                .rule = &plan->rule,
                                .faces = plan->faces,
                                .cell = plan->cell,
                                .face = plan->face,
                                .weight = plan->weight,
                                .precision = op->precision};
  if (tesi_has_kernels(ctx)) TES_TRY(tesi_robin_kernel_create(ctx, &kernel, &plan->kernel));
  snprintf(op->description, sizeof op->description, "%.120s; %lld Robin faces", plan->inner->description,
           (long long)plan->faces);
done:
  return status;
}
