/* Run: ctest -R t0_base. Errors, memory accounting and functions of the lowest layer. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/base.h"
#include "base/context_impl.h"
#include "base/context_new.h"
#include "testing.h"

static void status_table_is_complete(void **state) {
  (void)state;
  assert_string_equal(tes_status_name(TES_OK), "converged");
  assert_int_equal(tes_status_exit(TES_OK), 0);
  assert_int_equal(tes_status_exit(TES_NOT_CONVERGED), 1);
  assert_int_equal(tes_status_exit(TES_INVALID_INPUT), 2);
  assert_int_equal(tes_status_exit(TES_MISSING), 3);
  assert_int_equal(tes_status_exit(TES_OUT_OF_MEMORY), 4);
  assert_string_equal(tes_status_name((TesStatus)999), "internal_error");
}

static void memory_is_accounted_and_zeroed(void **state) {
  (void)state;
  TesContext *ctx;
  assert_int_equal(tesi_context_new(NULL, &ctx), TES_OK);
  double *a;
  assert_int_equal(tesi_alloc(ctx, 100, sizeof *a, &a), TES_OK);
  assert_int_equal((uintptr_t)a % 64, 0);
  for (int i = 0; i < 100; i++) assert_true(a[i] == 0);
  assert_int_equal(tes_context_memory(ctx), 800);
  tesi_free(ctx, &a);
  assert_null(a);
  assert_int_equal(tes_context_memory(ctx), 0);
  assert_int_equal(tes_context_memory_peak(ctx), 800);
  assert_int_equal(tesi_alloc(ctx, SIZE_MAX / 4, 16, &a), TES_OUT_OF_MEMORY);
  assert_non_null(strstr(tes_context_message(ctx), "exceed"));
  assert_non_null(strstr(tes_context_trace(ctx), "memory.c"));
  tes_context_destroy(&ctx);
  assert_null(ctx);
}

/* Large blocks that were given back come again, in parts too, as zeros; what is kept is bounded. */
static void large_blocks_are_kept(void **state) {
  (void)state;
  enum { BLOCKS = 6, MIB = 1 << 20 };
  TesContext *ctx;
  char *block[BLOCKS] = {NULL};
  uint64_t random = 7;
  bool kept = false;
  assert_int_equal(tesi_context_new(NULL, &ctx), TES_OK);
  for (int step = 0; step < 60; step++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const int i = (int)(random >> 33) % BLOCKS;
    const size_t bytes = (9 + (random >> 40) % 14) * MIB - (random >> 50) % 5000;
    if (block[i]) {
      tesi_free(ctx, &block[i]);
    } else {
      assert_int_equal(tesi_alloc(ctx, bytes, 1, &block[i]), TES_OK);
      for (size_t k = 0; k < bytes; k += 97) assert_int_equal(block[i][k], 0);
      assert_int_equal(block[i][bytes - 1], 0);
      memset(block[i], -1, bytes);
    }
    size_t sum = 0;
    for (int k = 0; k < ctx->kept.count; k++) sum += ctx->kept.of[k].bytes;
    assert_int_equal(sum, ctx->kept.bytes);
    assert_true(sum <= tes_context_memory_peak(ctx));
    kept = kept || sum > 0;
  }
  assert_true(kept == TESI_MAPS);
  for (int i = 0; i < BLOCKS; i++) tesi_free(ctx, &block[i]);
  assert_int_equal(ctx->kept.bytes, 0); /* no more than is held */
  tes_context_destroy(&ctx);
}

/* Without a log of its own a program gets no lines of progress among its output. */
static void progress_is_for_logs(void **state) {
  (void)state;
  TesContext *ctx;
  char text[200] = "";
  FILE *file = tmpfile();
  const int kept = dup(STDOUT_FILENO);
  assert_non_null(file);
  assert_int_equal(tesi_context_new(NULL, &ctx), TES_OK);
  fflush(stdout);
  dup2(fileno(file), STDOUT_FILENO);
  tesi_log(ctx, TES_LOG_PROGRESS, "half of it");
  tesi_log(ctx, TES_LOG_INFO, "all of it");
  dup2(kept, STDOUT_FILENO);
  close(kept);
  rewind(file);
  assert_true(fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  assert_string_equal(text, "all of it\n");
  tes_context_destroy(&ctx);
}

/* More than the machine has free is refused before it is filled. */
static void too_much_is_refused(void **state) {
  (void)state;
  TesContext *ctx;
  char *block = (char *)&ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.verbosity = TES_QUIET}, &ctx, NULL, 0), TES_OK);
  const size_t free = tes_memory_available();
  assert_int_equal(tesi_alloc(ctx, free / 8 * 9, 1, &block), TES_OUT_OF_MEMORY);
  assert_null(block);
  assert_non_null(strstr(tes_context_message(ctx), "GiB"));
  tes_context_destroy(&ctx);
}

/* `ulimit -v`: what it leaves counts, though the machine has more. */
static void the_limit_of_the_address_space_is_known(void **state) {
  (void)state;
  const size_t room = (size_t)256 << 20;
  struct rlimit before, after;
  size_t pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file) skip();
  assert_int_equal(fscanf(file, "%zu", &pages), 1);
  fclose(file);
  assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
  after = before;
  after.rlim_cur = pages * (size_t)sysconf(_SC_PAGESIZE) + room;
  assert_int_equal(setrlimit(RLIMIT_AS, &after), 0);
  const size_t left = tes_memory_available();
  assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
  assert_true(left <= room && left > room / 2);
}

static void reciprocal(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                       double *out) {
  (void)user, (void)y, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = 1 / x[i];
}

static void functions_name_the_point_of_a_nan(void **state) {
  (void)state;
  TesContext *ctx;
  TesFunction *f;
  assert_int_equal(tesi_context_new(NULL, &ctx), TES_OK);
  assert_int_equal(tes_function_create_callback(ctx, reciprocal, NULL, NULL, &f), TES_OK);
  const double x[] = {1, 2, 0};
  double out[3];
  assert_int_equal(tes_function_evaluate(f, 2, x, NULL, NULL, 0, out), TES_OK);
  assert_near(out[1], 0.5, 0);
  assert_int_equal(tes_function_evaluate(f, 3, x, NULL, NULL, 0, out), TES_NAN);
  assert_non_null(strstr(tes_context_message(ctx), "(0, 0, 0)"));
  tes_function_destroy(&f);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(status_table_is_complete),
      cmocka_unit_test(memory_is_accounted_and_zeroed),
      cmocka_unit_test(large_blocks_are_kept),
      cmocka_unit_test(progress_is_for_logs),
      cmocka_unit_test(too_much_is_refused),
      cmocka_unit_test(the_limit_of_the_address_space_is_known),
      cmocka_unit_test(functions_name_the_point_of_a_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
