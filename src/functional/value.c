/* Values of finite element functions: integrals and means of u over the domain or a boundary, which kernels can do,
 * and at a point. Those of expressions stand in value_expression.c. */
#include "base/team.h"
#include "device/kernel.h"
#include "functional/batch_faces.h"
#include "functional/functional.h"

/* ---- integrals: u is multiplied with the load of 1 ----------------------------------------------------- */

/* Integrals of the nodal basis along one direction: the Gauss-Lobatto weights, exact for degree k <= 2k - 1. */
static void set_axis(const TesiAxis *axis, double *w) {
  double nodes[TESI_MAX_POINTS], weights[TESI_MAX_POINTS];
  const int k = axis->degree;
  if (k == 0) {
    w[0] = 1;
    return;
  }
  tesi_gauss_lobatto(k + 1, nodes, weights);
  for (int c = 0; c < axis->cells; c++)
    for (int i = 0; i <= k; i++) w[c * k + i] += axis->h[c] * weights[i];
}

typedef struct Rows {
  const TesiAxis *axis;
  double *const *line, *w;
} Rows;

static void multiply_rows(const void *data, TesiSpan span) {
  const Rows *rows = data;
  const int nx = rows->axis[0].nodes, ny = rows->axis[1].nodes;
  for (int64_t row = span.first; row < span.end; row++) {
    const double yz = rows->line[1][row % ny] * rows->line[2][row / ny];
    for (int x = 0; x < nx; x++) rows->w[row * nx + x] = yz * rows->line[0][x];
  }
}

/* w <- int phi_i over a box, products of those along its directions. */
static TesStatus multiply_axes(const TesSpace *space, double *w) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = space->axis;
  double *line[3] = {NULL, NULL, NULL};
  for (int d = 0; d < 3; d++) {
    TES_ALLOC(&line[d], axis[d].nodes);
    set_axis(&axis[d], line[d]);
  }
  tesi_team_for(tesi_team_threads(ctx, space->length), (int64_t)axis[1].nodes * axis[2].nodes, multiply_rows,
                &(Rows){axis, line, w});
  tesi_exchange_sum(space->layout->shared, TES_DOUBLE, w);
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &line[d]);
  return status;
}

TesStatus tesi_functional_weights(const TesSpace *space, const TesValue *what, TesVector *w) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  TesFunction *one = NULL;
  const TesFunction **g = NULL;
  const int boundaries = tes_mesh_boundaries(space->mesh);
  const bool boundary = what->where == TES_ON_BOUNDARY;
  TES_CHECK(!boundary || (what->number >= 0 && what->number < boundaries), "boundary %d, the mesh has %d",
            what->number, boundaries);
  if (tesi_space_box(space) && !boundary && !tesi_has_kernels(ctx)) return multiply_axes(space, w->data);
  TES_TRY(tes_function_create_constant(ctx, 1, &one));
  TES_ALLOC(&g, boundaries + 1);
  if (boundary) g[what->number] = one;
  TES_TRY(tesi_functional_load(
      &(TesiLoad){.space = space, .f = boundary ? NULL : one, .g = boundary ? g : NULL}, true, w));
done:
  tes_function_destroy(&one);
  tesi_free(ctx, &g);
  return status;
}

/* sum <- w . u in float64, whatever precision u has; u NULL: 1. */
static TesStatus multiply(const TesVector *w, const TesVector *u, double *sum) {
  TesContext *ctx = w->context;
  TesStatus status = TES_OK;
  TesVector *copy = NULL;
  if (u && u->precision == TES_DOUBLE) return tes_vector_dot(w, u, sum);
  TES_TRY(tes_vector_create(ctx, w->length, TES_DOUBLE, &copy));
  TES_TRY(u ? tes_vector_copy(u, 1, copy) : tes_vector_fill(copy, 1));
  TES_TRY(tes_vector_dot(w, copy, sum));
done:
  tes_vector_destroy(&copy);
  return status;
}

static TesStatus integral(const TesSpace *space, const TesVector *u, const TesValue *what, double *value) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesVector *w = NULL;
  double size = 1;
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &w));
  TES_TRY(tesi_functional_weights(space, what, w));
  TES_TRY(multiply(w, u, value));
  if (what->kind == TES_VALUE_MEAN) {
    TES_TRY(multiply(w, NULL, &size));
    TES_CHECK(size > 0, "the mean over boundary %d, which has no face", what->number);
  }
  *value /= size;
done:
  tes_vector_destroy(&w);
  return status;
}

/* ---- points -------------------------------------------------------------------------------------------- */

TesStatus tesi_functional_locate(const TesSpace *space, const double *x, int64_t *cell, double *xi) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_one_rank(ctx, "looking for the cell of a point"));
  TES_TRY(tes_mesh_locate(space->mesh, 1, x, cell, xi));
  TES_CHECK(*cell >= 0, "the point (%g, %g, %g) lies in no cell", x[0], x[1], space->dim == 3 ? x[2] : 0);
done:
  return status;
}

/* -------------------------------------------------------------------------------------------------------- */

TesStatus tes_functional_value(const TesSpace *space, const TesVector *u, const TesValue *what, double *value) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  TesVector of_u[TESI_SCALARS];
  const TesVector *vector[TESI_SCALARS];
  TES_CHECK(space->element->nodal, "a value over a space of element rt, whose problem knows it");
  TES_CHECK(!u || u->length == space->length, "a vector of length %lld, the space has %lld nodes",
            (long long)u->length, (long long)space->length);
  TES_CHECK(u || !what->of, "an expression of a function that is not given");
  TES_TRY(tesi_value_check_place(space->mesh, what));
  for (int c = 0; u && c < space->scalars; c++)
    of_u[c] = tesi_space_scalar_range(space, u, c), vector[c] = &of_u[c];
  if (!what->of && what->kind <= TES_VALUE_MEAN && what->where != TES_ON_MATERIAL)
    TES_TRY(integral(space->scalar[0], u ? vector[0] : NULL, what, value));
  else if (u)
    TES_TRY(tesi_functional_expression(
        space->scalar[0], tesi_fields_of(space->dim, space->scalars, space->scalar, vector, field), field,
        what, value));
  else
    *value = 1;
done:
  return status;
}
