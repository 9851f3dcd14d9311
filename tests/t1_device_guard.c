/* Run: ctest -R t1_device_guard. A host that reads or writes memory of the emulator is ended by the system, as with a
 * GPU: in a process of its own each time, by protection keys where the processor has them, and by pages. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "device/device.h"
#include "device/emulator/guard.h"
#include "device/vector.h"
#include "device_testing.h"

enum { LENGTH = 3000 };
typedef void (*Access)(TesContext *ctx, TesVector *v);

static void read_last(TesContext *ctx, TesVector *v) {
  (void)ctx;
  (void)((const volatile double *)v->data)[LENGTH - 1];
}
static void write_first(TesContext *ctx, TesVector *v) {
  (void)ctx;
  ((volatile double *)v->data)[0] = 1;
}
static void read_after_a_kernel(TesContext *ctx, TesVector *v) {
  if (tesi_context_device(ctx)->fill(ctx, TES_DOUBLE, LENGTH, 2, v->data) != TES_OK) return;
  read_last(ctx, v);
}
static void read_after_a_dot(TesContext *ctx, TesVector *v) {
  double square;
  if (tes_vector_dot(v, v, &square) != TES_OK) return;
  read_last(ctx, v);
}
static void none(TesContext *ctx, TesVector *v) {
  double values[LENGTH];
  if (tes_vector_get(v, values) != TES_OK || tesi_context_device(ctx)->synchronize(ctx) != TES_OK) abort();
}

/* The signal that ended a process which made a vector of an emulator and accessed it; 0: none did. */
static int signal_of(Access access, bool by_key) {
  int result = 0;
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    TesContext *ctx = NULL;
    TesVector *v = NULL;
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGSEGV, SIG_DFL);
    tesi_guard_use_key(by_key);
    if (tes_context_create(&(TesContextDesc){.device = "emulator"}, &ctx, NULL, 0) != TES_OK) _exit(2);
    if (tes_vector_create(ctx, LENGTH, TES_DOUBLE, &v) != TES_OK) _exit(3);
    access(ctx, v);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &result, 0), child);
  if (WIFEXITED(result)) assert_int_equal(WEXITSTATUS(result), 0);
  return WIFSIGNALED(result) ? WTERMSIG(result) : 0;
}

static void host_accesses_are_seen(void **state) {
  const Access accesses[] = {read_last, write_first, read_after_a_kernel, read_after_a_dot};
  (void)state;
  for (int by_key = 0; by_key < 2; by_key++) {
    assert_int_equal(signal_of(none, by_key), 0);
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
      assert_int_equal(signal_of(accesses[i], by_key), SIGSEGV);
  }
}

/* Copies whose host side is device memory. */
static void copies_of_device_memory_are_refused(void **state) {
  TesContext *ctx = test_device("emulator");
  TesVector *x, *y;
  (void)state;
  if (!ctx) skip();
  const TesiDevice *device = tesi_context_device(ctx);
  assert_ok(ctx, tes_vector_create(ctx, LENGTH, TES_DOUBLE, &x));
  assert_ok(ctx, tes_vector_create(ctx, LENGTH, TES_DOUBLE, &y));
  assert_int_equal(device->to_host(ctx, x->data, y->data, 8), TES_INTERNAL);
  tes_context_clear(ctx);
  assert_int_equal(device->to_device(ctx, x->data, (double *)y->data + LENGTH - 1, 8), TES_INTERNAL);
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(host_accesses_are_seen),
                                     cmocka_unit_test(copies_of_device_memory_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
