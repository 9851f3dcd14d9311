/* Picked entries and their numbers against counts, and coordinates of picked nodes against those of all. */
#include <stdlib.h>
#include <string.h>
#include "forest_testing.h"
#include "space/coordinates.h"

static TesContext *ctx;

static void check_numbers(int64_t length, int of_eight, uint64_t *seed) {
  TesiPicked p;
  int64_t count = 0, next = length;
  assert_ok(ctx, tesi_picked_begin(ctx, length, &p));
  for (int64_t i = 0; i < length; i++) p.mark[i] = test_random(seed) < of_eight / 4. - 1;
  tesi_picked_number(ctx, &p);
  for (int64_t i = 0; i < length; i++) {
    assert_int_equal(tesi_picked_before(&p, i), count);
    count += p.mark[i];
  }
  assert_int_equal(p.count, count);
  for (int64_t i = length - 1; i >= 0; i--) {
    if (p.mark[i]) next = i;
    assert_int_equal(tesi_picked_from(&p, i), next);
  }
  assert_int_equal(tesi_picked_from(&p, length), length);
  tesi_picked_free(ctx, &p);
}

static void numbers_are_counts(void **state) {
  (void)state;
  static const int64_t lengths[] = {0, 1, 63, 64, 65, 1000, 300000};
  uint64_t seed = 3;
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
    for (int of_eight = 0; of_eight <= 8; of_eight += 4) check_numbers(lengths[l], of_eight, &seed);
}

/* Nodes that hang in some cells, on any number of threads. */
static void places_are_those_of_all(void **state) {
  (void)state;
  if (!test_has_forests(ctx)) skip();
  uint64_t seed = 7;
  TesMesh *mesh;
  TesSpace *space;
  TesiPicked p;
  test_lattice(ctx, 3, (const int[3]){2, 2, 1}, 0.1, &seed, &mesh);
  for (int i = 0; i < 2; i++) test_refine(ctx, &seed, 0.4, 2000, &mesh);
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 3}, &space));
  const TesiCellView *view = space->view;
  double *all = malloc((size_t)(3 * view->length) * sizeof *all),
         *some = malloc((size_t)(3 * view->length) * sizeof *some);
  for (int64_t i = 0; i < 3 * view->length; i++) all[i] = some[i] = NAN;
  assert_ok(ctx, tesi_cells_coordinates(view, all));
  assert_ok(ctx, tesi_picked_begin(ctx, view->length, &p));
  for (int64_t i = 0; i < view->length; i++) p.mark[i] = test_random(&seed) < -0.5;
  tesi_picked_number(ctx, &p);
  assert_ok(ctx, tesi_cells_coordinates_of(view, &p, some));
  for (int64_t i = 0, at = 0; i < view->length; i++)
    if (p.mark[i]) assert_memory_equal(some + 3 * at++, all + 3 * i, 3 * sizeof *all);
  tesi_picked_free(ctx, &p);
  free(all);
  free(some);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
}

int main(void) {
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_counts),
                                     cmocka_unit_test(places_are_those_of_all)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return failed;
}
