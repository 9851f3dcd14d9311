/* Run: ctest -R t4_taylor_hood. What couples a velocity of Q_k and a pressure of Q_(k-1), and convection, against
 * the plain version from the definition: graded boxes, forests with hanging nodes, curved and skew cells, 2D and
 * 3D; that gradient and divergence are transposed; polynomials whose integrals are known; terms of open boundaries;
 * the same bits for any number of threads.
 * Labels: threads */
#include "taylor_hood_testing.h"

static void assert_close(const TesVector *v, const double *expected, const char *what, const char *part) {
  const double *values = tes_vector_data_const(v);
  double distance = 0, size = 0;
  for (int64_t i = 0; i < tes_vector_length(v); i++) {
    distance = test_larger(distance, fabs(values[i] - expected[i]));
    size = test_larger(size, fabs(expected[i]));
  }
  if (!(distance <= 1e-12 * size)) fail_msg("%s, %s: off by %g of %g", what, part, distance, size);
}

static void check_passes(const Place *p, const char *what) {
  const int dim = p->taylor_hood->dim;
  const int64_t n = tes_space_length(p->velocity), m = tes_space_length(p->pressure);
  TesVector *u = make_vector(p->ctx, dim * n, 7, false), *q = make_vector(p->ctx, m, 9, false),
            *div = make_vector(p->ctx, m, 0, true), *grad = make_vector(p->ctx, dim * n, 0, true);
  double *plain = calloc((size_t)(dim * n), sizeof *plain), rate, plain_rate, left, right;
  assert_ok(p->ctx, tesi_taylor_hood_divergence(p->taylor_hood, u, div));
  assert_ok(p->ctx, tesi_taylor_hood_divergence_ref(p->taylor_hood, tes_vector_data(u), plain));
  assert_close(div, plain, what, "divergence");
  assert_ok(p->ctx, tesi_taylor_hood_gradient(p->taylor_hood, q, grad));
  assert_ok(p->ctx, tesi_taylor_hood_gradient_ref(p->taylor_hood, tes_vector_data(q), plain));
  assert_close(grad, plain, what, "gradient");
  assert_ok(p->ctx, tes_vector_dot(u, grad, &left));
  assert_ok(p->ctx, tes_vector_dot(q, div, &right));
  assert_near(left, right, 1e-12 * (double)n);
  const int64_t cells = tes_mesh_info(p->mesh).cells;
  TesVector *reach = make_vector(p->ctx, cells, 0, true);
  double *cell = tes_vector_data(reach), *plain_cell = calloc((size_t)cells, sizeof *plain_cell);
  assert_ok(p->ctx, tesi_taylor_hood_reach(p->taylor_hood, u, &rate, reach));
  assert_ok(p->ctx, tesi_taylor_hood_reach_ref(p->taylor_hood, tes_vector_data(u), &plain_rate, plain_cell));
  assert_near(rate, plain_rate, 1e-12 * plain_rate);
  for (int64_t i = 0; i < cells; i++) assert_near(cell[i], plain_cell[i], 1e-12 * plain_rate);
  assert_ok(p->ctx, tesi_taylor_hood_grad_div(p->taylor_hood, reach, u, grad));
  assert_ok(p->ctx, tesi_taylor_hood_grad_div_ref(p->taylor_hood, cell, tes_vector_data(u), plain));
  assert_close(grad, plain, what, "grad-div");
  free(plain_cell), tes_vector_destroy(&reach);
  assert_ok(p->ctx, tes_vector_fill(grad, NAN));
  assert_ok(p->ctx, tesi_taylor_hood_convection(p->taylor_hood, u, grad, &rate));
  assert_ok(p->ctx, tesi_taylor_hood_convection_ref(p->taylor_hood, tes_vector_data(u), plain, &plain_rate));
  assert_close(grad, plain, what, "convection");
  assert_near(rate, plain_rate, 1e-12 * plain_rate);
  free(plain);
  TesVector *const all[] = {u, q, div, grad};
  for (int i = 0; i < 4; i++) tes_vector_destroy((TesVector **)&all[i]);
}

static void check_boundaries(const Place *p, const char *what) {
  const int dim = p->taylor_hood->dim, names = tes_mesh_boundaries(p->mesh);
  const int64_t n = tes_space_length(p->velocity);
  TesFunction *const g[4] = {expression(p->ctx, "1 + x*nx"), NULL, expression(p->ctx, "y - 2"),
                             expression(p->ctx, "x*y")};
  TesiGiven boundary[8] = {{.priority = 0}};
  TesVector *u = make_vector(p->ctx, dim * n, 3, false), *b = make_vector(p->ctx, dim * n, 0, false);
  double *plain = calloc((size_t)(dim * n), sizeof *plain);
  for (int of = 0; of < 2; of++)
    for (int i = 0; i < names; i++) {
      bool wanted[9] = {false};
      TesiTaylorHoodFaces faces;
      for (int c = 0; c <= dim; c++) boundary[i].g[c] = g[c];
      wanted[i] = true;
      assert_ok(p->ctx, tesi_taylor_hood_faces_create(p->taylor_hood, wanted, &faces));
      assert_true(faces.count > 0);
      assert_ok(p->ctx, tes_vector_fill(b, 0));
      memset(plain, 0, (size_t)(dim * n) * sizeof *plain);
      assert_ok(p->ctx, of ? tesi_taylor_hood_stress(p->taylor_hood, &faces, boundary, tes_vector_data(b))
                           : tesi_taylor_hood_backflow(p->taylor_hood, &faces, u, b));
      assert_ok(p->ctx, tesi_taylor_hood_boundary_ref(p->taylor_hood, i, of ? boundary[i].g : NULL,
                                                      tes_vector_data(u), plain));
      assert_close(b, plain, what, of ? "stress" : "backflow");
      tesi_taylor_hood_faces_free(p->taylor_hood, &faces);
    }
  free(plain);
  tes_vector_destroy(&u), tes_vector_destroy(&b);
  for (int c = 0; c < 4; c++) tes_function_destroy((TesFunction **)&g[c]);
}

static TesContext *make_context(int threads) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .threads = threads}, &ctx, NULL, 0),
                   TES_OK);
  return ctx;
}

static void passes_are_their_definition(void **state) {
  TesContext *ctx = make_context(0);
  (void)state;
  for (int kind = 0; kind < PLACES; kind++)
    for (int dim = 2; dim <= 3; dim++)
      for (int degree = 2; degree <= (dim == 2 ? 6 : 3); degree++) {
        Place p;
        char what[80];
        snprintf(what, sizeof what, "%s in %dD, degree %d", kinds[kind], dim, degree);
        if (make_place(ctx, kind, dim, degree, &p)) check_passes(&p, what);
        if (p.taylor_hood && degree < 4) check_boundaries(&p, what);
        leave(&p);
      }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* u = (x^2 y, y - x): div u = 2 x y + 1, (u . grad) u = (2 x^3 y^2 + x^2 (y - x), -x^2 y + y - x). */
static void polynomials_are_known(void **state) {
  TesContext *ctx = make_context(0);
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    Place p;
    TesFunction *const f[] = {expression(ctx, "x*x*y"), expression(ctx, "y - x"),
                              expression(ctx, "2*x*y + 1"), expression(ctx, "2*pow(x,3)*y*y + x*x*(y - x)"),
                              expression(ctx, "-x*x*y + y - x")};
    if (make_place(ctx, kind, 2, 3, &p)) {
      const int64_t n = tes_space_length(p.velocity), m = tes_space_length(p.pressure);
      TesVector *u = make_vector(ctx, 2 * n, 1, true), *b = make_vector(ctx, 2 * n, 1, true),
                *div = make_vector(ctx, m, 1, true), *of = NULL, *known = make_vector(ctx, n, 1, true);
      double rate;
      for (int c = 0; c < 2; c++) {
        assert_ok(ctx, tes_space_interpolate(p.velocity, (const TesFunction *[]){f[c]}, known));
        memcpy((double *)tes_vector_data(u) + c * n, tes_vector_data(known), (size_t)n * sizeof(double));
      }
      assert_ok(ctx, tesi_taylor_hood_convection(p.taylor_hood, u, b, &rate));
      for (int c = 0; c < 2; c++) {
        assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = p.velocity, .f = {f[3 + c]}}, known));
        for (int64_t i = 0; i < n; i++)
          assert_near(((double *)tes_vector_data(b))[c * n + i], ((double *)tes_vector_data(known))[i], 1e-13);
      }
      assert_ok(ctx, tesi_taylor_hood_divergence(p.taylor_hood, u, div));
      assert_ok(ctx, tes_vector_create(ctx, m, TES_DOUBLE, &of));
      assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = p.pressure, .f = {f[2]}}, of));
      assert_close(div, tes_vector_data(of), kinds[kind], "2 x y + 1");
      TesVector *const all[] = {u, b, div, of, known};
      for (int i = 0; i < 5; i++) tes_vector_destroy((TesVector **)&all[i]);
    }
    leave(&p);
    for (int i = 0; i < 5; i++) tes_function_destroy((TesFunction **)&f[i]);
  }
  tes_context_destroy(&ctx);
}

/* The bits of 1, 2 and 3 threads. */
static void threads_change_no_bit(void **state) {
  (void)state;
  for (int kind = 0; kind < PLACES; kind++) {
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
      TesContext *ctx = make_context(threads);
      Place p;
      double rate;
      if (make_place(ctx, kind, 2, 3, &p)) {
        const int64_t n = 2 * tes_space_length(p.velocity);
        TesVector *u = make_vector(ctx, n, 5, false), *b = make_vector(ctx, n, 0, true);
        assert_ok(ctx, tesi_taylor_hood_convection(p.taylor_hood, u, b, &rate));
        if (!first)
          first = memcpy(malloc((size_t)n * sizeof *first), tes_vector_data(b), (size_t)n * sizeof *first);
        assert_memory_equal(first, tes_vector_data(b), (size_t)n * sizeof *first);
        tes_vector_destroy(&u), tes_vector_destroy(&b);
      }
      leave(&p);
      tes_context_destroy(&ctx);
    }
    free(first);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(passes_are_their_definition),
                                     cmocka_unit_test(polynomials_are_known),
                                     cmocka_unit_test(threads_change_no_bit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
