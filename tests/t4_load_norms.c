/* Run: ctest -R t4_load_norms. Loads and norms against their definitions, exact integrals, and orders of convergence. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "space/space.h"
#include "tessera/load.h"
#include "tessera/norms.h"
#include "testing.h"

static TesContext *make_context(int threads, int simd_bits) {
  TesContext *context;
  const TesContextDesc desc = {.threads = threads, .simd_bits = simd_bits};
  assert_int_equal(tes_context_create(&desc, &context, NULL, 0), TES_OK);
  return context;
}

static TesSpace *make_space(TesContext *context, int dim, int degree, const int cells[3], int natural) {
  TesMesh *mesh;
  TesSpace *space;
  double x[3][64];
  TesMeshDesc box = {.dim = dim};
  uint64_t seed = 17;
  for (int d = 0; d < 3; d++) {
    box.cells[d] = cells[d], box.coordinates[d] = x[d], x[d][0] = -0.25;
    for (int i = 0; i < cells[d]; i++) x[d][i + 1] = x[d][i] + (1 + 0.4 * test_random(&seed)) / cells[d];
  }
  assert_ok(context, tes_mesh_create(context, &box, &mesh));
  TesSpaceDesc desc = {.mesh = mesh, .degree = degree};
  uint8_t given[6] = {1, 1, 1, 1, 1, 1};
  for (int f = 0; f < 6; f++) given[f] = !(natural >> f & 1);
  desc.given = given;
  assert_ok(context, tes_space_create(context, &desc, &space));
  tes_mesh_destroy(&mesh);
  return space;
}

static double smooth(double x, double y, double z) {
  return sin(2 * x + 0.3) * cos(y - 0.2) + 0.5 * exp(0.7 * z) * x * y;
}

static void smooth_values(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                          double *out) {
  (void)user, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = smooth(x[i], y[i], z[i]);
}

static const char smooth_text[] = "sin(2*x + 0.3)*cos(y - 0.2) + 0.5*exp(0.7*z)*x*y";

/* Integral of f(x) over one direction times each basis function, with many points: nodes[] x weights as [point][node]. */
typedef struct Line {
  int points;
  double *x, *phi; /* [points], [points][nodes], weights included */
} Line;

static Line make_line(const TesiAxis *axis) {
  enum { Q = 28 };
  const int k = axis->degree;
  double nodes[TESI_MAX_POINTS], point[Q], weight[Q], B[Q * TESI_MAX_POINTS];
  Line line = {.points = k ? axis->cells * Q : 1};
  line.x = calloc((size_t)line.points, sizeof(double));
  line.phi = calloc((size_t)line.points * (size_t)axis->nodes, sizeof(double));
  if (!k) {
    line.phi[0] = 1;
    return line;
  }
  tesi_gauss_lobatto(k + 1, nodes, NULL);
  tesi_gauss(Q, point, weight);
  tesi_lagrange(k + 1, nodes, Q, point, B, NULL);
  for (int c = 0; c < axis->cells; c++)
    for (int q = 0; q < Q; q++) {
      line.x[c * Q + q] = axis->x[c * k] + axis->h[c] * point[q];
      for (int i = 0; i <= k; i++)
        line.phi[(c * Q + q) * axis->nodes + c * k + i] = axis->h[c] * weight[q] * B[q * (k + 1) + i];
    }
  return line;
}

/* The end of an axis instead: one point, where the end node is 1. */
static Line make_end(const TesiAxis *axis, int end) {
  Line line = {
      .points = 1, .x = calloc(1, sizeof(double)), .phi = calloc((size_t)axis->nodes, sizeof(double))};
  line.x[0] = axis->x[end ? axis->nodes - 1 : 0];
  line.phi[end ? axis->nodes - 1 : 0] = 1;
  return line;
}

static void free_line(Line *line) {
  free(line->x), free(line->phi);
}

/* b_i += sum over all points of f phi_i, from the definition, with four times the points that are needed. */
static void integrate(const TesSpace *space, const Line line[3], double *b) {
  const TesiAxis *axis = space->axis;
  for (int r = 0; r < line[2].points; r++)
    for (int q = 0; q < line[1].points; q++)
      for (int p = 0; p < line[0].points; p++) {
        const double f = smooth(line[0].x[p], line[1].x[q], line[2].x[r]);
        for (int k = 0, at = 0; k < axis[2].nodes; k++)
          for (int j = 0; j < axis[1].nodes; j++) {
            const double yz = f * line[2].phi[r * axis[2].nodes + k] * line[1].phi[q * axis[1].nodes + j];
            for (int i = 0; i < axis[0].nodes && yz != 0; i++)
              b[at + i] += yz * line[0].phi[p * axis[0].nodes + i];
            at += axis[0].nodes;
          }
      }
}

static bool is_unknown(const TesSpace *space, int64_t i) {
  bool unknown = true;
  for (int d = 0; d < 3; d++) {
    const TesiAxis *axis = &space->axis[d];
    const int node = (int)(i % axis->nodes);
    unknown = unknown && node >= tesi_axis_first(axis) && node < tesi_axis_end(axis);
    i /= axis->nodes;
  }
  return unknown;
}

static void check_load(TesContext *context, const TesSpace *space, const TesFunction *f, bool faces) {
  const size_t n = (size_t)space->length;
  const TesFunction *g[6] = {NULL};
  double *expected = calloc(n, sizeof *expected), *values = malloc(n * sizeof *values), scale = 0;
  Line line[3];
  TesVector *b;
  for (int d = 0; d < 3; d++) line[d] = make_line(&space->axis[d]);
  integrate(space, line, expected);
  for (int face = 0; faces && face < 2 * space->dim; face++) {
    if (!space->axis[face / 2].natural[face % 2]) continue;
    const Line whole = line[face / 2];
    line[face / 2] = make_end(&space->axis[face / 2], face % 2);
    integrate(space, line, expected);
    free_line(&line[face / 2]);
    line[face / 2] = whole;
    g[face] = f;
  }
  assert_ok(context, tes_vector_create(context, space->length, TES_DOUBLE, &b));
  assert_ok(context, tes_vector_fill(b, NAN));
  assert_ok(context, tes_load_assemble(space, f, g, b));
  assert_ok(context, tes_vector_get(b, values));
  for (size_t i = 0; i < n; i++) scale = fmax(scale, fabs(expected[i]));
  for (size_t i = 0; i < n; i++) {
    if (is_unknown(space, (int64_t)i))
      assert_near(values[i], expected[i],
                  (space->degree < 3 ? 1e-6 : 1e-9) * scale); /* degree + 3 points against 28 */
    else
      assert_true(values[i] == 0);
  }
  tes_vector_destroy(&b);
  for (int d = 0; d < 3; d++) free_line(&line[d]);
  free(expected), free(values);
}

static void loads_follow_the_definition(void **state) {
  (void)state;
  for (int bits = 128; bits <= 512; bits *= 2) {
    if (!test_has_simd(bits)) continue;
    TesContext *context = make_context(2, bits);
    TesFunction *f;
    assert_ok(context, tes_function_create_callback(context, smooth_values, NULL, NULL, &f));
    for (int degree = 1; degree <= 12; degree++) {
      TesSpace *space = make_space(context, 2, degree, (int[]){degree < 4 ? 9 : 2, 3, 1}, 0x6 + degree % 3);
      check_load(context, space, f, degree % 2 == 0);
      tes_space_destroy(&space);
    }
    TesSpace *space = make_space(context, 3, 2, (int[]){3, 1, 2}, 0x35);
    check_load(context, space, f, true);
    tes_space_destroy(&space), tes_function_destroy(&f);
    assert_int_equal(tes_context_memory(context), 0);
    tes_context_destroy(&context);
  }
}

/* With u the nodal values of a polynomial: sum b_i u_i = int f u, here of x y z on [0, 2] x [0, 1] x [0, 3] times itself. */
static void product(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                    double *out) {
  (void)user, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = x[i] * y[i] * z[i];
}

static TesVector *interpolate(TesContext *context, const TesSpace *space, TesFunctionEvaluate f) {
  TesVector *u;
  const TesiAxis *axis = space->axis;
  assert_ok(context, tes_vector_create(context, space->length, TES_DOUBLE, &u));
  double *values = tes_vector_data(u);
  for (int k = 0, at = 0; k < axis[2].nodes; k++)
    for (int j = 0; j < axis[1].nodes; j++)
      for (int i = 0; i < axis[0].nodes; i++, at++) {
        const double z = space->dim == 3 ? axis[2].x[k] : 0;
        f(NULL, 1, &axis[0].x[i], &axis[1].x[j], &z, 0, &values[at]);
      }
  return u;
}

static void integrals_of_polynomials_are_exact(void **state) {
  (void)state;
  TesContext *context = make_context(2, 0);
  TesFunction *f;
  assert_ok(context, tes_function_create_callback(context, product, NULL, NULL, &f));
  for (int degree = 1; degree <= 20; degree += degree < 4 ? 1 : 8) {
    TesMesh *mesh;
    TesSpace *space;
    TesVector *b;
    double dot, l2, h1, value;
    const TesMeshDesc box = {.cells = {3, 2, 1}, .upper = {2, 1, 3}};
    assert_ok(context, tes_mesh_create(context, &box, &mesh));
    TesSpaceDesc desc = {.mesh = mesh, .degree = degree, .given = (const uint8_t[6]){0}};
    assert_ok(context, tes_space_create(context, &desc, &space));
    TesVector *u = interpolate(context, space, product);
    assert_ok(context, tes_vector_create(context, space->length, TES_DOUBLE, &b));
    assert_ok(context, tes_load_assemble(space, f, NULL, b));
    assert_ok(context, tes_vector_dot(b, u, &dot));
    assert_near(dot, 8. / 3 * 1. / 3 * 9, 1e-12); /* int (xyz)^2 */
    const TesFunction *const g[6] = {[TES_FRONT] = f};
    assert_ok(context, tes_load_assemble(space, NULL, g, b));
    assert_ok(context, tes_vector_dot(b, u, &dot));
    assert_near(dot, 8. / 3 * 1. / 3 * 9, 1e-12); /* int over z = 3 of (3xy)^2 */
    assert_ok(context, tes_norms_integral(space, u, &value));
    assert_near(value, 2 * 0.5 * 4.5, 1e-12);
    assert_ok(context, tes_norms_value(space, u, (double[]){1.3, 1, 0.7}, &value));
    assert_near(value, 1.3 * 0.7, 1e-13);
    assert_ok(context, tes_norms_error(space, u, NULL, &l2, &h1));
    assert_near(l2 * l2, 8, 1e-11);
    assert_near(h1 * h1, 6 + 24 + 8. / 3, 1e-10); /* |yz|^2 + |xz|^2 + |xy|^2 */
    assert_ok(context, tes_norms_error(space, u, f, &l2, &h1));
    assert_near(l2, 0, 1e-12);
    assert_near(h1, 0, 1e-10);
    assert_int_equal(tes_norms_value(space, u, (double[]){1.3, 1.01, 0.7}, &value), TES_INVALID_INPUT);
    tes_context_clear(context);
    tes_vector_destroy(&u), tes_vector_destroy(&b), tes_space_destroy(&space), tes_mesh_destroy(&mesh);
  }
  tes_function_destroy(&f);
  assert_int_equal(tes_context_memory(context), 0);
  tes_context_destroy(&context);
}

/* Errors of the interpolant: order k+1 in L2 and k in H1, the same from a callback as from an expression. */
static void errors_converge_with_the_right_orders(void **state) {
  (void)state;
  TesContext *context = make_context(2, 0);
  TesFunction *callback, *expression;
  assert_ok(context, tes_function_create_callback(context, smooth_values, NULL, NULL, &callback));
  assert_ok(context, tes_function_create_expression(context, smooth_text, &expression));
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 4; degree++) {
      double l2[2], h1[2], other_l2, other_h1;
      for (int level = 0; level < 2; level++) {
        TesMesh *mesh;
        TesSpace *space;
        const int cells = 4 << level;
        assert_ok(context, tes_mesh_create(
                               context, &(TesMeshDesc){.dim = dim, .cells = {cells, cells, cells}}, &mesh));
        assert_ok(context,
                  tes_space_create(context, &(TesSpaceDesc){.mesh = mesh, .degree = degree}, &space));
        TesVector *u = interpolate(context, space, smooth_values);
        assert_ok(context, tes_norms_error(space, u, expression, &l2[level], &h1[level]));
        assert_ok(context, tes_norms_error(space, u, callback, &other_l2, &other_h1));
        assert_near(other_l2, l2[level], 1e-5 * l2[level]);
        assert_near(other_h1, h1[level], 1e-5 * h1[level]);
        tes_vector_destroy(&u), tes_space_destroy(&space), tes_mesh_destroy(&mesh);
      }
      assert_near(log2(l2[0] / l2[1]), degree + 1, 0.15);
      assert_near(log2(h1[0] / h1[1]), degree, 0.15);
    }
  tes_function_destroy(&callback), tes_function_destroy(&expression);
  assert_int_equal(tes_context_memory(context), 0);
  tes_context_destroy(&context);
}

static void bits_do_not_depend_on_threads(void **state) {
  (void)state;
  double *loads[3], norms[3][2];
  int64_t n = 0;
  for (int threads = 1; threads <= 3; threads++) {
    TesContext *context = make_context(threads, 0);
    TesFunction *f;
    TesVector *b;
    TesSpace *space = make_space(context, 3, 3, (int[]){5, 4, 6}, 0x3f);
    assert_ok(context, tes_function_create_callback(context, smooth_values, NULL, NULL, &f));
    assert_ok(context, tes_vector_create(context, space->length, TES_DOUBLE, &b));
    assert_ok(context, tes_load_assemble(space, f, NULL, b));
    n = space->length;
    loads[threads - 1] = malloc((size_t)n * sizeof(double));
    assert_ok(context, tes_vector_get(b, loads[threads - 1]));
    assert_ok(context, tes_norms_error(space, b, f, &norms[threads - 1][0], &norms[threads - 1][1]));
    tes_vector_destroy(&b), tes_function_destroy(&f), tes_space_destroy(&space),
        tes_context_destroy(&context);
  }
  for (int i = 1; i < 3; i++) {
    assert_memory_equal(loads[0], loads[i], (size_t)n * sizeof(double));
    assert_memory_equal(norms[0], norms[i], sizeof norms[0]);
  }
  for (int i = 0; i < 3; i++) free(loads[i]);
}

static void liftings_hold_the_boundary_values(void **state) {
  (void)state;
  TesContext *context = make_context(1, 0);
  TesFunction *g[6] = {NULL};
  TesVector *u;
  TesSpace *space = make_space(context, 2, 3, (int[]){2, 3, 1}, 1 << TES_TOP);
  assert_ok(context, tes_function_create_callback(context, smooth_values, NULL, NULL, &g[TES_LEFT]));
  assert_ok(context, tes_function_create_constant(context, 5, &g[TES_BOTTOM]));
  assert_ok(context, tes_vector_create(context, space->length, TES_DOUBLE, &u));
  assert_ok(context, tes_vector_fill(u, NAN));
  assert_ok(context, tes_load_lifting(space, (const TesFunction *const *)g, u));
  const double *values = tes_vector_data(u);
  const TesiAxis *axis = space->axis;
  for (int j = 0, at = 0; j < axis[1].nodes; j++)
    for (int i = 0; i < axis[0].nodes; i++, at++) {
      const double expected = j == 0 ? 5 : i == 0 ? smooth(axis[0].x[0], axis[1].x[j], 0) : 0;
      assert_near(values[at], expected, 1e-15); /* the bottom comes later than left and right */
    }
  tes_vector_destroy(&u), tes_function_destroy(&g[TES_LEFT]), tes_function_destroy(&g[TES_BOTTOM]);
  tes_space_destroy(&space), tes_context_destroy(&context);
}

static void nan_behind_half(void *user, int64_t n, const double *x, const double *y, const double *z,
                            double t, double *out) {
  (void)user, (void)y, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = sqrt(0.5 - x[i]);
}

static void nan_is_told_with_its_point(void **state) {
  (void)state;
  TesContext *context = make_context(2, 0);
  TesFunction *f;
  TesVector *b;
  double l2, h1;
  TesSpace *space = make_space(context, 2, 2, (int[]){9, 4, 1}, 0xf);
  const TesFunction *g[6] = {NULL};
  assert_ok(context, tes_function_create_callback(context, nan_behind_half, NULL, NULL, &f));
  assert_ok(context, tes_vector_create(context, space->length, TES_DOUBLE, &b));
  assert_int_equal(tes_load_assemble(space, f, NULL, b), TES_NAN);
  assert_non_null(strstr(tes_context_message(context), "nan at (0."));
  tes_context_clear(context);
  g[TES_TOP] = f;
  assert_int_equal(tes_load_assemble(space, NULL, g, b), TES_NAN);
  tes_context_clear(context);
  assert_int_equal(tes_norms_error(space, b, f, &l2, &h1), TES_NAN);
  tes_context_clear(context);
  tes_space_destroy(&space);
  space = make_space(context, 2, 2, (int[]){9, 4, 1}, 0);
  assert_int_equal(tes_load_assemble(space, NULL, g, b), TES_INVALID_INPUT); /* a flux on a Dirichlet face */
  tes_vector_destroy(&b), tes_function_destroy(&f), tes_space_destroy(&space);
  assert_int_equal(tes_context_memory(context), 0);
  tes_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_follow_the_definition),
      cmocka_unit_test(integrals_of_polynomials_are_exact),
      cmocka_unit_test(errors_converge_with_the_right_orders),
      cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(liftings_hold_the_boundary_values),
      cmocka_unit_test(nan_is_told_with_its_point),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
