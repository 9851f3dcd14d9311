/* Run: ctest -R t7_device_solve. A solve on a device with kernels allocates no vector: all is there after set-up or, for the basis of GMRES,
 * after the first solve. Counted by an allocator, on the emulator, whose device memory is the host's. */
#include <stdlib.h>
#include "testing.h"
#include "tessera/tessera.h"

typedef struct Counter {
  size_t large; /* a block from this size on counts */
  int count;
} Counter;

static void *allocate(void *user, size_t bytes) {
  Counter *counter = user;
  if (bytes >= counter->large) counter->count++;
  return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void release(void *user, void *block) {
  (void)user;
  free(block);
}

static int count_in_solve(TesMethod method, const char *a_text, bool first) {
  Counter counter = {(size_t)-1, 0};
  TesContext *ctx;
  TesMesh *mesh;
  TesFunction *a;
  TesPoisson *poisson;
  TesSolveResult result;
  char message[1024];
  const TesContextDesc desc = {.device = "emulator", .allocator = {allocate, release, &counter}};
  if (tes_context_create(&desc, &ctx, message, sizeof message) != TES_OK) fail_msg("%s", message);
  assert_int_equal(tes_mesh_create_box(ctx, &(TesBoxDesc){.dim = 2, .cells = {16, 16}}, &mesh), TES_OK);
  assert_int_equal(tes_function_create_expression(ctx, a_text, &a), TES_OK);
  const TesPoissonDesc problem = {.mesh = mesh, .degree = 2, .a = a, .method = method};
  if (tes_poisson_create(ctx, &problem, &poisson) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  if (!first && tes_poisson_solve(poisson, &result) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  counter.large = (size_t)tes_space_length(tes_poisson_space(poisson)) * sizeof(float);
  if (tes_poisson_solve(poisson, &result) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  const int count = counter.count;
  tes_poisson_destroy(&poisson);
  tes_function_destroy(&a);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
  return count;
}

static void solves_allocate_no_vectors(void **state) {
  (void)state;
  assert_int_equal(count_in_solve(TES_METHOD_FMG, "1", false), 0);
  assert_int_equal(count_in_solve(TES_METHOD_VCYCLE, "1", false), 0);
  assert_int_equal(count_in_solve(TES_METHOD_CG, "1", false), 0);
  assert_int_equal(count_in_solve(TES_METHOD_GMRES, "1", false), 0);
  assert_int_equal(count_in_solve(TES_METHOD_GMRES, "1 + x", false), 0);
}

/* The counter counts: the first solve of GMRES makes its basis. */
static void the_counter_counts(void **state) {
  (void)state;
  assert_true(count_in_solve(TES_METHOD_GMRES, "1", true) >= 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(solves_allocate_no_vectors),
                                     cmocka_unit_test(the_counter_counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
