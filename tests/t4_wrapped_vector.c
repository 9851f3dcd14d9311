/* Run: ctest -R t4_wrapped_vector. Vectors over memory of the caller: the same memory, at any multiple of a number;
 * what an operator writes there is what it writes into a vector of its own. */
#include <string.h>
#include "testing.h"
#include "tessera/tessera.h"

enum { CELLS = 4, DEGREE = 3, NODES = (CELLS * DEGREE + 1) * (CELLS * DEGREE + 1), ROOM = NODES + 8 };

static void refused(TesContext *ctx, void *data, int64_t length, TesPrecision precision, const char *why) {
  TesVector *v = NULL;
  assert_int_equal(tes_vector_wrap(ctx, data, length, precision, &v), TES_INVALID_INPUT);
  assert_null(v);
  assert_non_null(strstr(tes_context_message(ctx), why));
  tes_context_clear(ctx);
}

static void wrong_arguments_are_refused(void **state) {
  TesContext *ctx;
  double room[4] = {0};
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  refused(ctx, NULL, 1, TES_DOUBLE, "NULL");
  refused(ctx, (char *)room + 4, 2, TES_DOUBLE, "no multiple of 8 bytes");
  refused(ctx, (char *)room + 2, 2, TES_SINGLE, "no multiple of 4 bytes");
  refused(ctx, room, -1, TES_DOUBLE, "length -1");
  refused(ctx, room, 4, (TesPrecision)7, "precision is 7");
  tes_context_destroy(&ctx);
}

/* Memory that a context has: of the host for cpu, of a vector for the emulator. */
static void check_products(const char *device, int offset) {
  static double ones[ROOM], got[2][NODES];
  static double memory[2][ROOM];
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesVector *x, *y, *place[2], *wrapped[2];
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = device}, &ctx, NULL, 0), TES_OK);
  const bool is_host = !strcmp(device, "cpu");
  const TesMeshDesc box = {.dim = 2, .cells = {CELLS, CELLS}};
  assert_int_equal(tes_mesh_create(ctx, &box, &mesh), TES_OK);
  const uint8_t free_everywhere[4] = {0};
  const TesSpaceDesc desc = {.mesh = mesh, .degree = DEGREE, .given = free_everywhere};
  assert_int_equal(tes_space_create(ctx, &desc, &space), TES_OK);
  assert_int_equal(tes_space_length(space), NODES);
  assert_int_equal(tes_operator_create(ctx, &(TesOperatorDesc){.space = space}, &op), TES_OK);
  for (int i = 0; i < ROOM; i++) ones[i] = sin(i), memory[0][i] = ones[i], memory[1][i] = NAN;
  assert_int_equal(tes_vector_create(ctx, NODES, TES_DOUBLE, &x), TES_OK);
  assert_int_equal(tes_vector_create(ctx, NODES, TES_DOUBLE, &y), TES_OK);
  assert_int_equal(tes_vector_set(x, ones + offset), TES_OK);
  assert_int_equal(tes_operator_apply(op, x, y), TES_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tes_vector_create(ctx, ROOM, TES_DOUBLE, &place[i]), TES_OK);
    assert_int_equal(tes_vector_set(place[i], ones), TES_OK);
    double *data = is_host ? memory[i] : tes_vector_data(place[i]);
    assert_int_equal(tes_vector_wrap(ctx, data + offset, NODES, TES_DOUBLE, &wrapped[i]), TES_OK);
    assert_ptr_equal(tes_vector_data(wrapped[i]), data + offset);
  }
  assert_int_equal(tes_operator_apply(op, wrapped[0], wrapped[1]), TES_OK);
  assert_int_equal(tes_vector_get(y, got[0]), TES_OK);
  assert_int_equal(tes_vector_get(wrapped[1], got[1]), TES_OK);
  for (int i = 0; i < NODES; i++) assert_near(got[1][i], got[0][i], 1e-14);
  for (int i = 0; is_host && i < ROOM; i++) /* nothing beside it is written */
    assert_true(isnan(memory[1][i]) == (i < offset || i >= offset + NODES));
  for (int i = 0; i < 2; i++) tes_vector_destroy(&wrapped[i]), tes_vector_destroy(&place[i]);
  tes_vector_destroy(&x), tes_vector_destroy(&y);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

static void products_in_memory_of_the_caller(void **state) {
  (void)state;
  for (int offset = 0; offset < 4; offset++)
    check_products("cpu", offset), check_products("emulator", offset);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_arguments_are_refused),
                                     cmocka_unit_test(products_in_memory_of_the_caller)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
