/* Run: ctest -R t0_near. Things found by a number that equal things nearly share: the least number of an accepted one,
 * none where no key is near, and few comparisons however many things there are, since set-up of spaces looks up every
 * cell. */
#include <math.h>
#include "base/near.h"
#include "testing.h"

enum { MANY = 6400 };

typedef struct Asked {
  const double *key;
  double wanted;
  int count;
} Asked;

static bool is_equal(const void *user, int number) {
  Asked *asked = (Asked *)user;
  asked->count++;
  return fabs(asked->key[number] - asked->wanted) <= 1e-10 * asked->wanted;
}

static TesContext *context(void) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  return ctx;
}

/* Widths from 1 to 1.3, each another: multiples of the golden ratio never come back. */
static void few_comparisons(void **state) {
  (void)state;
  TesContext *ctx = context();
  static double key[MANY];
  TesiNear near = {0};
  Asked asked = {.key = key};
  assert_ok(ctx, tesi_near_create(ctx, MANY, &near));
  for (int i = 0; i < MANY; i++) {
    key[i] = 1 + 0.3 * fmod(0.6180339887498949 * (i + 1), 1);
    asked.wanted = key[i];
    assert_int_equal(tesi_near_find(&near, key[i], is_equal, &asked), -1);
    tesi_near_add(&near, key[i]);
  }
  for (int i = 0; i < MANY; i++) {
    asked.wanted = key[i];
    assert_int_equal(tesi_near_find(&near, key[i] * (1 + 3e-11), is_equal, &asked), i);
  }
  assert_true(asked.count < 20 * MANY); /* all with all would be 40 million */
  tesi_near_free(ctx, &near);
  tes_context_destroy(&ctx);
}

static void the_least_number(void **state) {
  (void)state;
  TesContext *ctx = context();
  const double key[] = {2, 1, 1, 3e-12, 1 + 1e-11, 3e12};
  const int least[] = {0, 1, 1, 3, 1, 5};
  TesiNear near = {0};
  Asked asked = {.key = key};
  assert_ok(ctx, tesi_near_create(ctx, 6, &near));
  for (int i = 0; i < 6; i++) tesi_near_add(&near, key[i]);
  for (int i = 0; i < 6; i++) {
    asked.wanted = key[i];
    assert_int_equal(tesi_near_find(&near, key[i], is_equal, &asked), least[i]);
  }
  tesi_near_free(ctx, &near);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(few_comparisons), cmocka_unit_test(the_least_number)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
