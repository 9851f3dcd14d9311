/* Run: ctest -R t7_mpi_copies. Sums over the copies of shared entries where vectors are: the bits that the exchange of
 * host memory gives, in both precisions; what is not shared stays as it is, which is NaN.
 * Ranks: 2 3
 * Ranks on the emulator: 2 3 */
#include <stdlib.h>
#include "device/copies.h"
#include "space/space.h"
#include "tessera/tessera.h"
#include "testing.h"
#include "mpi_testing.h"

static const TesMeshDesc cases[] = {
    {.kind = TES_MESH_BOX, .dim = 3, .cells = {3, 4, 9}},
    {.kind = TES_MESH_FOREST, .dim = 2, .cells = {5, 3}, .refine = 1},
    {.kind = TES_MESH_FOREST, .domain = TES_DOMAIN_BALL, .dim = 3, .refine = 1}};

static void set(TesPrecision precision, void *x, size_t i, double value) {
  if (precision == TES_DOUBLE)
    ((double *)x)[i] = value;
  else
    ((float *)x)[i] = (float)value;
}

static double get(TesPrecision precision, const void *x, size_t i) {
  return precision == TES_DOUBLE ? ((const double *)x)[i] : ((const float *)x)[i];
}

static void compare(TesiExchange *exchange, const TesSpace *space, TesPrecision precision, uint64_t *seed) {
  const size_t n = (size_t)space->length;
  const int32_t *entry = NULL;
  const int64_t shared = tesi_exchange_entries(exchange, &entry);
  double *values = malloc(n * sizeof *values), *after = malloc(n * sizeof *after),
         *host = malloc(n * sizeof *host);
  TesVector *x;
  for (size_t i = 0; i < n; i++) values[i] = NAN;
  for (int64_t i = 0; i < shared; i++) values[entry[i]] = test_random(seed);
  for (size_t i = 0; i < n; i++) set(precision, host, i, values[i]);
  assert_ok(together, tesi_vector_create_on(space->layout, precision, &x));
  assert_ok(together, tes_vector_set(x, values));
  tesi_exchange_sum(exchange, precision, host);
  assert_ok(together, tesi_sum_copies(together, exchange, precision, x->data));
  assert_ok(together, tes_vector_get(x, after));
  for (size_t i = 0; i < n; i++) {
    const double right = get(precision, host, i);
    assert_true(isnan(right) ? isnan(after[i]) : after[i] == right);
  }
  for (int64_t i = 0; i < shared; i++) assert_false(isnan(after[entry[i]]));
  tes_vector_destroy(&x);
  free(values);
  free(after);
  free(host);
}

/* Several times each: buffers are used again. */
static void copies_are_summed(void **state) {
  (void)state;
  uint64_t seed = 1 + (uint64_t)tes_communicator_rank(world);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    TesMesh *mesh;
    TesSpace *space;
    assert_ok(together, tes_mesh_create(together, &cases[c], &mesh));
    assert_ok(together, tes_space_create(together, &(TesSpaceDesc){.mesh = mesh, .degree = 2}, &space));
    for (int i = 0; i < 10; i++)
      compare(i & 2 ? space->layout->sum : space->layout->shared, space, i & 1 ? TES_SINGLE : TES_DOUBLE,
              &seed);
    tes_space_destroy(&space);
    tes_mesh_destroy(&mesh);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(copies_are_summed)};
  const int status = begin_on_ranks(NULL);
  if (status) return status;
  return end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
