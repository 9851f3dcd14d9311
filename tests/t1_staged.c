/* Copies by way of pinned memory, with a driver of this file: queued copies happen when the stream is waited for, as
 * late as a GPU may do them, so that a half that is filled again too early is seen.
 *
 * Labels: threads */
#include <stdlib.h>
#include <string.h>
#include "device/cuda/staged.h"
#include "testing.h"
#include "tessera/tessera.h"

enum { MOST = 3 * TESI_STAGED_HALF + 4099 };

static struct {
  char *device;
  struct {
    void *to;
    const void *from;
    size_t bytes;
  } queued[4];
  int count, pinned, pins, fail_pin, fail_copy, copies;
} gpu;

static int queue(void *to, const void *from, size_t bytes) {
  if (++gpu.copies == gpu.fail_copy) return 700;
  assert_true(gpu.count < 4);
  gpu.queued[gpu.count].to = to, gpu.queued[gpu.count].from = from, gpu.queued[gpu.count++].bytes = bytes;
  return 0;
}
static int to_device(TesiCuAddress at, const void *host, size_t bytes, TesiCuStream stream) {
  (void)stream;
  return queue(gpu.device + at, host, bytes);
}
static int to_host(void *host, TesiCuAddress at, size_t bytes, TesiCuStream stream) {
  (void)stream;
  return queue(host, gpu.device + at, bytes);
}
static int synchronize(TesiCuStream stream) {
  (void)stream;
  for (int i = 0; i < gpu.count; i++) memcpy(gpu.queued[i].to, gpu.queued[i].from, gpu.queued[i].bytes);
  gpu.count = 0;
  return 0;
}
static int pin(void **address, size_t bytes) {
  if (++gpu.pins == gpu.fail_pin) return 2;
  gpu.pinned++;
  *address = malloc(bytes);
  return 0;
}
static int unpin(void *address) {
  gpu.pinned--;
  free(address);
  return 0;
}

static const TesiCuDriver driver = {
    .to_device = to_device, .to_host = to_host, .stream_synchronize = synchronize, .pin = pin, .unpin = unpin};

static void fill(char *values, size_t bytes, int seed) {
  for (size_t i = 0; i < bytes; i++) values[i] = (char)((i * 2654435761u + (unsigned)seed) >> 7);
}

/* All of a copy arrives, and nothing beside it changes, both ways; fail_pin: the pinning that fails. */
static void check_copies(int fail_pin) {
  static const size_t sizes[] = {1,
                                 TESI_STAGED_HALF,
                                 TESI_STAGED_LEAST - 1,
                                 TESI_STAGED_LEAST,
                                 TESI_STAGED_LEAST + 1,
                                 3 * TESI_STAGED_HALF,
                                 MOST - 64};
  TesContext *ctx;
  TesiStaged staged = {0};
  char *host = malloc(MOST), *back = malloc(MOST);
  assert_int_equal(tes_context_create(&(TesContextDesc){.threads = 3}, &ctx, NULL, 0), TES_OK);
  memset(&gpu, 0, sizeof gpu);
  gpu.device = malloc(MOST), gpu.fail_pin = fail_pin;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const size_t bytes = sizes[i];
    fill(host, MOST, (int)i);
    memset(gpu.device, 1, MOST), memset(back, 2, MOST);
    assert_int_equal(tesi_staged_to_device(ctx, &driver, NULL, &staged, 32, host, bytes), 0);
    assert_memory_equal(gpu.device + 32, host, bytes);
    assert_int_equal(gpu.device[31], 1);
    assert_int_equal(gpu.device[32 + bytes], 1);
    assert_int_equal(tesi_staged_to_host(ctx, &driver, NULL, &staged, back, 32, bytes), 0);
    assert_memory_equal(back, host, bytes);
    assert_int_equal(back[bytes], 2);
  }
  assert_int_equal(gpu.pinned, fail_pin ? 0 : 2); /* once a context, none without the other */
  tesi_staged_destroy(&driver, &staged);
  assert_int_equal(gpu.pinned, 0);
  free(gpu.device), free(host), free(back);
  tes_context_destroy(&ctx);
}

static void test_copies(void **state) {
  (void)state;
  check_copies(0);
}

static void test_refused_pins(void **state) {
  (void)state;
  check_copies(1);
  check_copies(2);
}

static void test_errors(void **state) {
  (void)state;
  TesContext *ctx;
  char *host = calloc(MOST, 1);
  assert_int_equal(tes_context_create(&(TesContextDesc){.threads = 2}, &ctx, NULL, 0), TES_OK);
  for (int fail = 1; fail <= 3; fail++) {
    TesiStaged staged = {0};
    memset(&gpu, 0, sizeof gpu);
    gpu.device = malloc(MOST), gpu.fail_copy = fail;
    assert_int_equal(tesi_staged_to_device(ctx, &driver, NULL, &staged, 0, host, MOST - 64), 700);
    gpu.copies = 0;
    assert_int_equal(tesi_staged_to_host(ctx, &driver, NULL, &staged, host, 0, MOST - 64), 700);
    tesi_staged_destroy(&driver, &staged);
    free(gpu.device);
  }
  free(host);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies), cmocka_unit_test(test_refused_pins),
                                     cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
