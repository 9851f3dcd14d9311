/* Run: ctest -R t7_explicit_flow. Algorithm 4 (src/problem/flow/explicit/) beside figures of an independent program
 * with assembled sparse matrices: lid-driven cavities to six digits, with the pressure by fast diagonalization, by
 * cycles (to their tolerance) and on the emulator; the Taylor-Green vortex against its exact solution. */
#include <stdio.h>
#include "device_testing.h"
#include "problem/flow/explicit/explicit_flow.h"

static const double PI = 3.14159265358979323846;

typedef struct Cavity {
  int dim, cells[3];
  bool graded, watertight;
  double nu, k;
  int steps;
  double energy, middle[2];
} Cavity;

/* The lid x = 1 moves in y; the third direction is two long. */
static TesMesh *make_mesh(TesContext *ctx, const Cavity *c) {
  double x[3][80];
  TesMesh *mesh;
  for (int d = 0; d < c->dim; d++)
    for (int i = 0; i <= c->cells[d]; i++) {
      const double s = (double)i / c->cells[d];
      x[d][i] = (d == 2 ? 2 : 1) * (c->graded ? (1 - cos(PI * s)) / 2 : s);
    }
  const TesMeshDesc desc = {.dim = c->dim,
                            .cells = {c->cells[0], c->cells[1], c->cells[2]},
                            .coordinates = {x[0], x[1], c->dim == 3 ? x[2] : NULL},
                            .kind = TES_MESH_BOX};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  return mesh;
}

static TesiExplicitFlow *make_cavity(TesContext *ctx, const Cavity *c, bool direct) {
  static const uint8_t walls[] = {7, 7, 7, 7, 7, 7};
  TesMesh *mesh = make_mesh(ctx, c);
  TesiExplicitFlow *flow;
  assert_ok(ctx, tesi_explicit_flow_create(mesh, NULL, walls, c->nu, c->k, direct, &flow));
  const TesiIso *iso = flow->iso;
  const int64_t n = iso->nodes;
  double *g = calloc((size_t)(c->dim * n), sizeof *g);
  for (int64_t i = 0; i < n; i++) {
    const int at[3] = {(int)(i % iso->axis[0].fine), (int)(i / iso->axis[0].fine % iso->axis[1].fine),
                       (int)(i / iso->axis[0].fine / iso->axis[1].fine)};
    bool corner = false;
    for (int d = 1; d < c->dim; d++) corner = corner || at[d] == 0 || at[d] == iso->axis[d].fine - 1;
    g[n + i] = at[0] == iso->axis[0].fine - 1 && !(corner && c->watertight);
  }
  assert_ok(ctx, tes_vector_set(flow->given, g));
  assert_ok(ctx, tes_vector_set(flow->u[0], g));
  free(g);
  tes_mesh_destroy(&mesh);
  return flow;
}

static double *velocity(const TesiExplicitFlow *flow) {
  double *u = calloc((size_t)(flow->iso->dim * flow->iso->nodes), sizeof *u);
  assert_ok(flow->context, tes_vector_get(flow->u[flow->now], u));
  return u;
}

static void check_cavity(TesContext *ctx, const Cavity *c, bool direct, double digits) {
  TesiExplicitFlow *flow = make_cavity(ctx, c, direct);
  const TesiIso *iso = flow->iso;
  double energy;
  for (int step = 0; step < c->steps; step++) assert_ok(ctx, tesi_explicit_flow_step(flow));
  assert_ok(ctx, tesi_explicit_flow_energy(flow, &energy));
  assert_near(energy, c->energy, digits * c->energy);
  double *u = velocity(flow);
  const int64_t middle =
      ((int64_t)(iso->axis[2].fine / 2) * iso->axis[1].fine + iso->axis[1].fine / 2) * iso->axis[0].fine +
      iso->axis[0].fine / 2;
  for (int d = 0; d < 2; d++)
    assert_near(u[d * iso->nodes + middle], c->middle[d], digits * fabs(c->middle[1]));
  free(u);
  tesi_explicit_flow_destroy(&flow);
}

static const Cavity cavities[] = {
    {2, {16, 16}, false, false, 1e-2, 1e-3, 100, 9.704692970e-3, {0.0001501461, -0.01983227}},
    {2, {16, 16}, false, false, 1e-2, 1e-3, 4000, 2.985312129e-2, {0.05394974, -0.1715691}},
    {2, {16, 16}, false, true, 1e-2, 1e-3, 2000, 2.891892567e-2, {0.04077659, -0.1669253}},
    {2, {16, 16}, true, false, 1e-3, 1e-3, 4000, 1.670218255e-2, {0.04969429, -0.07585349}},
    {3, {8, 8, 16}, true, false, 1e-3, 1e-3, 2000, 2.209272895e-2, {8.168052e-3, -3.293050e-2}},
};

static void cavities_have_all_digits(void **state) {
  TesContext *ctx = test_device("cpu");
  (void)state;
  if (!ctx) skip();
  for (size_t j = 0; j < sizeof cavities / sizeof *cavities; j++) check_cavity(ctx, &cavities[j], true, 1e-6);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* q is then known to 1e-3 of its right-hand side. */
static void cycles_find_the_same_flow(void **state) {
  TesContext *ctx = test_device("cpu");
  (void)state;
  if (!ctx) skip();
  check_cavity(ctx, &cavities[0], false, 2e-3);
  check_cavity(ctx, &cavities[2], false, 2e-3);
  tes_context_destroy(&ctx);
}

/* With kernels the steps are the processor's, to round-off. */
static void devices_make_the_same_steps(void **state) {
  static const Cavity small[] = {{2, {9, 6}, true, false, 1e-2, 1e-3, 5, 0, {0}},
                                 {3, {5, 4, 6}, true, true, 1e-2, 1e-3, 5, 0, {0}}};
  static const char *const devices[] = {"emulator", "cuda"};
  (void)state;
  for (int j = 0; j < 2; j++) {
    TesContext *ctx = test_device(devices[j]), *host;
    if (!ctx) continue;
    assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &host, NULL, 0), TES_OK);
    for (int i = 0; i < 2; i++) {
      TesiExplicitFlow *flow[2] = {make_cavity(host, &small[i], true), make_cavity(ctx, &small[i], true)};
      for (int step = 0; step < small[i].steps; step++)
        for (int f = 0; f < 2; f++) assert_ok(f ? ctx : host, tesi_explicit_flow_step(flow[f]));
      double *u = velocity(flow[0]), *v = velocity(flow[1]);
      for (int64_t n = 0; n < flow[0]->iso->dim * flow[0]->iso->nodes; n++) assert_near(v[n], u[n], 1e-12);
      free(u), free(v);
      for (int f = 0; f < 2; f++) tesi_explicit_flow_destroy(&flow[f]);
    }
    tes_context_destroy(&ctx);
    tes_context_destroy(&host);
  }
}

/* ---- Taylor-Green: orders -------------------------------------------------------------------------------- */

static const double nu_vortex = 0.01;

static double vortex(int c, const double x[2], double t) {
  const double decay = exp(-2 * PI * PI * nu_vortex * t);
  return c == 0 ? sin(PI * x[0]) * cos(PI * x[1]) * decay : -cos(PI * x[0]) * sin(PI * x[1]) * decay;
}

static void set_vortex(const TesiExplicitFlow *flow, TesVector *v, double t) {
  const TesiIso *iso = flow->iso;
  double *u = calloc((size_t)(2 * iso->nodes), sizeof *u);
  for (int64_t i = 0; i < 2 * iso->nodes; i++) {
    const int64_t node = i % iso->nodes;
    const double x[2] = {iso->axis[0].x[node % iso->axis[0].fine], iso->axis[1].x[node / iso->axis[0].fine]};
    u[i] = vortex((int)(i / iso->nodes), x, t);
  }
  assert_ok(flow->context, tes_vector_set(v, u));
  free(u);
}

/* L2 error of the velocity by 4 Gauss points per direction and cell. */
static double vortex_error(const TesiExplicitFlow *flow, double t) {
  static const double point[] = {0.0694318442029737, 0.3300094782075719, 0.6699905217924281,
                                 0.9305681557970263},
                      weight[] = {0.1739274225687269, 0.3260725774312731, 0.3260725774312731,
                                  0.1739274225687269};
  const TesiIso *iso = flow->iso;
  const TesiIsoAxis *X = &iso->axis[0], *Y = &iso->axis[1];
  double *u = velocity(flow), sum = 0;
  for (int cell = 0; cell < (X->fine - 1) * (Y->fine - 1); cell++)
    for (int p = 0; p < 16; p++) {
      const int i = cell % (X->fine - 1), j = cell / (X->fine - 1);
      const double a = point[p % 4], b = point[p / 4], hx = X->x[i + 1] - X->x[i], hy = Y->x[j + 1] - Y->x[j],
                   at[2] = {X->x[i] + a * hx, Y->x[j] + b * hy};
      for (int c = 0; c < 2; c++) {
        const double *v = u + c * iso->nodes + (int64_t)j * X->fine + i;
        const double value =
            (1 - b) * ((1 - a) * v[0] + a * v[1]) + b * ((1 - a) * v[X->fine] + a * v[X->fine + 1]);
        sum += weight[p % 4] * weight[p / 4] * hx * hy * pow(value - vortex(c, at, t), 2);
      }
    }
  free(u);
  return sqrt(sum);
}

static void vortices_converge(void **state) {
  static const struct {
    int cells, steps;
    double error;
  } rows[] = {{8, 20, 4.76696e-3}, {16, 80, 9.83234e-4}, {32, 320, 2.47626e-4}};
  static const uint8_t walls[] = {3, 3, 3, 3};
  TesContext *ctx = test_device("cpu");
  (void)state;
  if (!ctx) skip();
  for (int r = 0; r < 3; r++) {
    const Cavity place = {.dim = 2, .cells = {rows[r].cells, rows[r].cells}};
    TesMesh *mesh = make_mesh(ctx, &place);
    TesiExplicitFlow *flow;
    const double k = 0.5 / rows[r].steps;
    assert_ok(ctx, tesi_explicit_flow_create(mesh, NULL, walls, nu_vortex, k, true, &flow));
    set_vortex(flow, flow->u[0], 0);
    const TesiIso *iso = flow->iso;
    double *p = calloc((size_t)iso->pressures, sizeof *p);
    for (int64_t i = 0; i < iso->pressures; i++)
      p[i] = (cos(2 * PI * iso->axis[0].x[2 * (i % iso->axis[0].coarse)]) +
              cos(2 * PI * iso->axis[1].x[2 * (i / iso->axis[0].coarse)])) /
             4;
    assert_ok(ctx, tes_vector_set(flow->p, p));
    assert_ok(ctx, tesi_explicit_flow_begin(flow));
    free(p);
    for (int step = 1; step <= rows[r].steps; step++) {
      set_vortex(flow, flow->given, step * k);
      assert_ok(ctx, tesi_explicit_flow_step(flow));
    }
    assert_near(vortex_error(flow, 0.5), rows[r].error, 1e-5 * rows[r].error);
    tesi_explicit_flow_destroy(&flow);
    tes_mesh_destroy(&mesh);
  }
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cavities_have_all_digits),
      cmocka_unit_test(cycles_find_the_same_flow),
      cmocka_unit_test(devices_make_the_same_steps),
      cmocka_unit_test(vortices_converge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
