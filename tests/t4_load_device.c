/* Run: ctest -R t4_load_device. Loads, boundary values and errors by kernels against the host's, to 1e-12: volume and fluxes, cells of any
 * widths, every face; functions without text, and values that are not finite, which the host does and tells of. Brief: all, of the degrees named. */
#include <math.h>
#include <string.h>
#include "kernel_testing.h"
#include "tessera/load.h"
#include "tessera/norms.h"

static const char load_text[] = "sin(2*x + 0.3)*cos(y - 0.2) + exp(0.7*z)*x*y", flux_text[] = "1 + x*y - z";

static TesSpace *make_space(TesContext *ctx, int dim, int degree, unsigned natural) {
  TesMesh *mesh;
  TesSpace *space;
  const double x[] = {-0.2, 0.1, 0.5, 0.55, 1}, y[] = {0, 0.3, 0.4, 1.1}, z[] = {0.5, 0.7, 1.3};
  const TesMeshDesc box = {.dim = dim, .cells = {4, 3, 2}, .coordinates = {x, y, z}};
  assert_ok(ctx, tes_mesh_create(ctx, &box, &mesh));
  TesSpaceDesc desc = {.mesh = mesh, .degree = degree};
  uint8_t given[6] = {1, 1, 1, 1, 1, 1};
  for (int face = 0; face < 6; face++) given[face] = !(natural >> face & 1);
  desc.given = given;
  assert_ok(ctx, tes_space_create(ctx, &desc, &space));
  tes_mesh_destroy(&mesh);
  return space;
}

/* values: of the load, the lifting, and the two norms of (load - exact) behind each other; length + length + 2. */
static double *make(TesContext *ctx, int dim, int degree, unsigned natural, int64_t *length) {
  TesFunction *f, *flux;
  TesVector *b, *u;
  TesSpace *space = make_space(ctx, dim, degree, natural);
  *length = tes_space_length(space);
  double *values = test_malloc((size_t)(2 * *length + 2) * sizeof *values);
  assert_ok(ctx, tes_function_create_expression(ctx, load_text, &f));
  assert_ok(ctx, tes_function_create_expression(ctx, flux_text, &flux));
  assert_ok(ctx, tes_vector_create(ctx, *length, TES_DOUBLE, &b));
  assert_ok(ctx, tes_vector_create(ctx, *length, TES_DOUBLE, &u));
  assert_ok(ctx, tes_vector_fill(b, NAN)); /* outputs are written wholly */
  assert_ok(ctx, tes_vector_fill(u, NAN));
  const TesFunction *g[6] = {NULL}, *lifted[6] = {NULL};
  for (int face = 0; face < 2 * dim; face++) *(natural >> face & 1 ? &g[face] : &lifted[face]) = flux;
  lifted[1] = NULL; /* zero there */
  assert_ok(ctx, tes_load_assemble(space, f, g, b));
  assert_ok(ctx, tes_load_lifting(space, lifted, u));
  assert_ok(ctx, tes_norms_error(space, b, f, values + 2 * *length, values + 2 * *length + 1));
  assert_ok(ctx, tes_vector_get(b, values));
  assert_ok(ctx, tes_vector_get(u, values + *length));
  tes_vector_destroy(&b);
  tes_vector_destroy(&u);
  tes_function_destroy(&f);
  tes_function_destroy(&flux);
  tes_space_destroy(&space);
  return values;
}

static void check(TesContext *host, TesContext *ctx, int dim, int degree, unsigned natural) {
  if (!test_degree(degree)) return;
  int64_t length = 0;
  double *expected = make(host, dim, degree, natural, &length),
         *got = make(ctx, dim, degree, natural, &length), largest[3] = {0, 0, 0};
  for (int64_t i = 0; i < 2 * length + 2; i++)
    largest[i / length] = fmax(largest[i / length], fabs(expected[i]));
  for (int64_t i = 0; i < 2 * length + 2; i++) assert_near(got[i], expected[i], 1e-12 * largest[i / length]);
  test_free(expected);
  test_free(got);
}

static void run_all(const char *device, int most) {
  TesContext *ctx = test_device(device), *host;
  if (!ctx) return;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &host, NULL, 0), TES_OK);
  check(host, ctx, 2, 1, 0x0);
  check(host, ctx, 2, 4, 0x6);
  check(host, ctx, 3, 1, 0x3f);
  check(host, ctx, 3, 2, 0x19);
  check(host, ctx, 3, 3, 0x0);
  for (int degree = 4; degree <= most; degree++) check(host, ctx, 3, degree, 0x21);
  tes_context_destroy(&host);
  tes_context_destroy(&ctx);
}

static void kernels_give_the_hosts_values(void **state) {
  (void)state;
  run_all("emulator", 3);
}

static void a_gpu_gives_the_hosts_values(void **state) {
  (void)state;
  run_all("cuda", 9);
}

static void ones(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                 double *out) {
  (void)user, (void)x, (void)y, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = 1;
}

/* A function of the caller's has no text: the sum of its load is the volume all the same. */
static void functions_without_text_are_the_hosts(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  if (!ctx) return;
  TesSpace *space = make_space(ctx, 2, 2, 0xf);
  TesFunction *f;
  TesVector *b, *one;
  double sum;
  assert_ok(ctx, tes_function_create_callback(ctx, ones, NULL, NULL, &f));
  assert_ok(ctx, tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &b));
  assert_ok(ctx, tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &one));
  assert_ok(ctx, tes_vector_fill(one, 1));
  assert_ok(ctx, tes_load_assemble(space, f, NULL, b));
  assert_ok(ctx, tes_vector_dot(b, one, &sum));
  assert_near(sum, 1.2 * 1.1, 1e-12);
  tes_vector_destroy(&b);
  tes_vector_destroy(&one);
  tes_function_destroy(&f);
  tes_space_destroy(&space);
  tes_context_destroy(&ctx);
}

static void values_that_are_not_finite_are_told(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  if (!ctx) return;
  TesSpace *space = make_space(ctx, 2, 2, 0);
  TesFunction *f;
  TesVector *b;
  assert_ok(ctx, tes_function_create_expression(ctx, "sqrt(0.5 - x)", &f));
  assert_ok(ctx, tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &b));
  assert_int_equal(tes_load_assemble(space, f, NULL, b), TES_NAN);
  assert_non_null(strstr(tes_context_message(ctx), "sqrt(0.5 - x)"));
  tes_context_clear(ctx);
  const TesFunction *g[6] = {f, f, f, f};
  assert_int_equal(tes_load_lifting(space, g, b), TES_NAN);
  tes_vector_destroy(&b);
  tes_function_destroy(&f);
  tes_space_destroy(&space);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_give_the_hosts_values),
                                     cmocka_unit_test(a_gpu_gives_the_hosts_values),
                                     cmocka_unit_test(functions_without_text_are_the_hosts),
                                     cmocka_unit_test(values_that_are_not_finite_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
