/* Run: ctest -R t4_taylor_hood_kernels. Velocities and pressures on devices with kernels: divergence, gradient,
 * convection, the grad-div term and backflow against the plain version from the definition, in all degrees, 2D and
 * 3D, on graded boxes, forests with hanging nodes, curved and skew cells, in the emulator in three orders of its
 * threads, and on a GPU where there is one; the same bits where they are asked for.
 * Quick: 2,3
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "device_testing.h"
#include "taylor_hood_testing.h"

static const char *const devices[] = {"emulator", "cuda"};

static double *copy_of(const TesVector *v) {
  double *values = malloc((size_t)tes_vector_length(v) * sizeof *values);
  assert_ok(v->context, tes_vector_get(v, values));
  return values;
}

static void assert_close(const TesVector *v, const double *expected, const char *what, const char *part) {
  double *values = copy_of(v), distance = 0, size = 0;
  for (int64_t i = 0; i < tes_vector_length(v); i++) {
    distance = test_larger(distance, fabs(values[i] - expected[i]));
    size = test_larger(size, fabs(expected[i]));
  }
  free(values);
  if (!(distance <= 1e-12 * size)) fail_msg("%s, %s: off by %g of %g", what, part, distance, size);
}

/* gamma: what the cells reach. */
static void check_grad_div(const Place *p, const TesVector *u, const double *of_u, const char *what) {
  const int64_t n = tes_vector_length(u), cells = tes_mesh_info(p->mesh).cells;
  TesVector *gamma = make_vector(p->ctx, cells, 0, true), *out = make_vector(p->ctx, n, 0, true);
  double *plain = calloc((size_t)n, sizeof *plain), *plain_gamma = calloc((size_t)cells, sizeof *plain), most,
         plain_most;
  assert_ok(p->ctx, tesi_taylor_hood_reach(p->taylor_hood, u, &most, gamma));
  assert_ok(p->ctx, tesi_taylor_hood_reach_ref(p->taylor_hood, of_u, &plain_most, plain_gamma));
  assert_near(most, plain_most, 1e-12 * plain_most);
  assert_close(gamma, plain_gamma, what, "reach");
  assert_ok(p->ctx, tesi_taylor_hood_grad_div(p->taylor_hood, gamma, u, out));
  assert_ok(p->ctx, tesi_taylor_hood_grad_div_ref(p->taylor_hood, plain_gamma, of_u, plain));
  assert_close(out, plain, what, "grad-div");
  assert_ok(p->ctx, tesi_taylor_hood_reach(p->taylor_hood, u, &most, NULL));
  assert_near(most, plain_most, 1e-12 * plain_most);
  free(plain), free(plain_gamma);
  tes_vector_destroy(&gamma), tes_vector_destroy(&out);
}

static void check_passes(const Place *p, const char *what) {
  TesiTaylorHood *m = p->taylor_hood;
  const int64_t n = m->dim * tes_space_length(p->velocity), of_p = tes_space_length(p->pressure);
  TesVector *u = make_vector(p->ctx, n, 7, false), *q = make_vector(p->ctx, of_p, 9, false),
            *div = make_vector(p->ctx, of_p, 0, true), *out = make_vector(p->ctx, n, 0, true);
  double *plain = calloc((size_t)n, sizeof *plain), *of_u = copy_of(u), *of_q = copy_of(q), rate, plain_rate;
  assert_ok(p->ctx, tesi_taylor_hood_divergence(m, u, div));
  assert_ok(p->ctx, tesi_taylor_hood_divergence_ref(m, of_u, plain));
  assert_close(div, plain, what, "divergence");
  assert_ok(p->ctx, tesi_taylor_hood_gradient(m, q, out));
  assert_ok(p->ctx, tesi_taylor_hood_gradient_ref(m, of_q, plain));
  assert_close(out, plain, what, "gradient");
  check_grad_div(p, u, of_u, what);
  assert_ok(p->ctx, tes_vector_fill(out, NAN));
  assert_ok(p->ctx, tesi_taylor_hood_convection(m, u, out, &rate));
  assert_ok(p->ctx, tesi_taylor_hood_convection_ref(m, of_u, plain, &plain_rate));
  assert_close(out, plain, what, "convection");
  assert_near(rate, plain_rate, 1e-12 * plain_rate);
  free(plain), free(of_u), free(of_q);
  TesVector *const all[] = {u, q, div, out};
  for (int i = 0; i < 4; i++) tes_vector_destroy((TesVector **)&all[i]);
}

/* Added to what is there. */
static void check_backflow(const Place *p, const char *what) {
  const int64_t n = p->taylor_hood->dim * tes_space_length(p->velocity);
  TesVector *u = make_vector(p->ctx, n, 3, false), *b = make_vector(p->ctx, n, 4, false);
  double *of_u = copy_of(u), *plain = copy_of(b);
  bool wanted[9] = {false};
  TesiTaylorHoodFaces faces;
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++) {
    wanted[i] = true;
    assert_ok(p->ctx, tesi_taylor_hood_boundary_ref(p->taylor_hood, i, NULL, of_u, plain));
  }
  assert_ok(p->ctx, tesi_taylor_hood_faces_create(p->taylor_hood, wanted, &faces));
  assert_true(faces.count > 0);
  assert_ok(p->ctx, tesi_taylor_hood_backflow(p->taylor_hood, &faces, u, b));
  assert_close(b, plain, what, "backflow");
  tesi_taylor_hood_faces_free(p->taylor_hood, &faces);
  free(of_u), free(plain);
  tes_vector_destroy(&u), tes_vector_destroy(&b);
}

static void check_place(TesContext *ctx, int kind, int dim, int degree) {
  Place p;
  char what[80];
  snprintf(what, sizeof what, "%s in %dD, degree %d", kinds[kind], dim, degree);
  if (make_place(ctx, kind, dim, degree, &p)) {
    check_passes(&p, what);
    check_backflow(&p, what);
  }
  leave(&p);
}

/* The plain version of high degrees in 3D takes long: boxes alone. */
static void passes_are_their_definition(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int order = TESI_ORDER_FORWARD;
         ctx && order <= (test_brief() ? TESI_ORDER_FORWARD : TESI_ORDER_SHUFFLED); order++) {
      tesi_fiber_order(order, 7);
      for (int kind = 0; kind < PLACES; kind++)
        for (int dim = 2; dim <= 3; dim++)
          for (int degree = 2; degree <= (test_brief() ? 6 - dim : 8); degree++)
            if (test_degree(degree) && (order == TESI_ORDER_FORWARD || degree <= (dim == 2 ? 4 : 2)) &&
                (dim == 2 || degree <= 3 || (kind == 0 && degree != 7)))
              check_place(ctx, kind, dim, degree);
    }
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    if (ctx) tes_context_destroy(&ctx);
  }
}

/* Colour by colour, whatever the order of the threads. */
static void bits_are_the_same(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    double *bits[2] = {NULL};
    int64_t n = 0;
    for (int i = 0; i < 2; i++) {
      TesContext *ctx = test_context(&(TesContextDesc){.device = devices[d], .deterministic = true});
      Place p;
      double rate;
      if (!ctx) continue;
      tesi_fiber_order(i ? TESI_ORDER_REVERSE : TESI_ORDER_FORWARD, 1);
      if (make_place(ctx, 1, 2, 3, &p)) {
        bool wanted[9] = {true, true, true, true};
        TesiTaylorHoodFaces faces;
        n = 2 * tes_space_length(p.velocity);
        TesVector *u = make_vector(ctx, n, 5, false), *b = make_vector(ctx, n, 0, true);
        assert_ok(ctx, tesi_taylor_hood_faces_create(p.taylor_hood, wanted, &faces));
        assert_ok(ctx, tesi_taylor_hood_convection(p.taylor_hood, u, b, &rate));
        assert_ok(ctx, tesi_taylor_hood_backflow(p.taylor_hood, &faces, u, b));
        bits[i] = copy_of(b);
        tesi_taylor_hood_faces_free(p.taylor_hood, &faces);
        tes_vector_destroy(&u), tes_vector_destroy(&b);
      }
      leave(&p);
      tes_context_destroy(&ctx);
    }
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    for (int64_t i = 0; bits[0] && i < n; i++) assert_true(bits[0][i] == bits[1][i]);
    free(bits[0]), free(bits[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(passes_are_their_definition),
                                     cmocka_unit_test(bits_are_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
