/* Run: ctest -R t1_device_cache. The kernel cache: what is written is read; what is damaged is absent; it can be
 * trimmed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/context_new.h"
#include "device/cache.h"
#include "device/sha256.h"
#include "testing.h"

static char folder[] = "/tmp/tessera-cache-test-XXXXXX";
static const char *const key = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static int set_up(void **state) {
  TesContext *ctx;
  assert_non_null(mkdtemp(folder));
  setenv("TESSERA_CACHE_DIR", folder, 1);
  assert_int_equal(tesi_context_new(NULL, &ctx), TES_OK);
  *state = ctx;
  return 0;
}

static int tear_down(void **state) {
  TesContext *ctx = *state;
  tesi_cache_trim(0);
  rmdir(folder);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return 0;
}

static void checksums_are_those_of_the_standard(void **state) {
  (void)state;
  TesiSha256 sha;
  char hex[65];
  tesi_sha256_init(&sha);
  tesi_sha256_add(&sha, "abc", 3);
  tesi_sha256_hex(&sha, hex);
  assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void expect(TesContext *ctx, const char *wanted_key, const char *expected) {
  char *image;
  size_t bytes;
  assert_int_equal(tesi_cache_read(ctx, "kernel", wanted_key, &image, &bytes), TES_OK);
  if (expected) {
    assert_non_null(image);
    assert_int_equal(bytes, strlen(expected));
    assert_memory_equal(image, expected, bytes);
  } else {
    assert_null(image);
  }
  tesi_free(ctx, &image);
}

static void damage(long position, int byte, int cut) {
  char path[512];
  snprintf(path, sizeof path, "%s/kernel-%.32s.bin", folder, key);
  FILE *file = fopen(path, "rb+");
  assert_non_null(file);
  if (cut)
    assert_int_equal(ftruncate(fileno(file), position), 0);
  else {
    fseek(file, position, SEEK_SET);
    fputc(byte, file);
  }
  fclose(file);
}

static void damaged_records_are_absent_and_written_anew(void **state) {
  TesContext *ctx = *state;
  char other[65];
  expect(ctx, key, NULL);
  assert_true(tesi_cache_write("kernel", key, "machine code", 12));
  expect(ctx, key, "machine code");
  memcpy(other, key, 65);
  other[63] = 'x'; /* same file name, other key */
  expect(ctx, other, NULL);
  static const struct {
    long position;
    int byte, cut;
  } faults[] = {{0, 'X', 0}, {70, 'X', 0}, {154, 'X', 0}, {158, 0, 1}, {20, 0, 1}, {164, '+', 0}};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    damage(faults[i].position, faults[i].byte, faults[i].cut);
    expect(ctx, key, NULL);
    assert_true(tesi_cache_write("kernel", key, "machine code", 12));
    expect(ctx, key, "machine code");
  }
}

static void it_is_counted_trimmed_and_cleared(void **state) {
  TesContext *ctx = *state;
  int files;
  size_t bytes, left;
  char name[16];
  tesi_cache_trim(0);
  for (int i = 0; i < 5; i++) {
    snprintf(name, sizeof name, "k%d", i);
    assert_true(tesi_cache_write(name, key, "0123456789", 10));
  }
  tesi_cache_usage(&files, &bytes);
  assert_int_equal(files, 5);
  assert_int_equal(tesi_cache_trim(bytes / 2), 3);
  tesi_cache_usage(&files, &left);
  assert_int_equal(files, 2);
  assert_true(left <= bytes / 2);
  tesi_cache_trim(0);
  tesi_cache_usage(&files, &left);
  assert_int_equal(files, 0);
  setenv("TESSERA_CACHE_DIR", "none", 1);
  assert_false(tesi_cache_write("kernel", key, "x", 1));
  expect(ctx, key, NULL);
  setenv("TESSERA_CACHE_DIR", folder, 1);
}

/* Writes beyond the bound remove what was used least recently, never the newest. */
static void its_size_is_bounded(void **state) {
  TesContext *ctx = *state;
  enum { BYTES = 20000 };
  static char image[BYTES];
  char name[16];
  size_t bytes;
  int files;
  tesi_cache_trim(0);
  setenv("TESSERA_CACHE_MIB", "0.1", 1);
  for (int i = 0; i < 12; i++) {
    memset(image, 'a' + i, BYTES);
    snprintf(name, sizeof name, "b%d", i);
    assert_true(tesi_cache_write(name, key, image, BYTES));
    tesi_cache_usage(&files, &bytes);
    assert_true(bytes <= tesi_cache_limit());
    char *back;
    size_t length;
    assert_int_equal(tesi_cache_read(ctx, name, key, &back, &length), TES_OK);
    assert_non_null(back);
    tesi_free(ctx, &back);
    usleep(2000);
  }
  static const char *const odd[] = {"", "x", "-1", "3 MiB", "nan"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    setenv("TESSERA_CACHE_MIB", odd[i], 1);
    assert_int_equal(tesi_cache_limit(), (size_t)512 << 20);
  }
  unsetenv("TESSERA_CACHE_MIB");
  tesi_cache_trim(0);
}

/* One of several processes: writes and reads the same few entries, each full of one letter; one process removes
 * them meanwhile. */
static int disturb(TesContext *ctx, int process) {
  static char image[30000];
  char name[16];
  for (int i = 0; i < 60; i++) {
    const int entry = (i * 7 + process) % 5, letter = 'a' + entry;
    char *back;
    size_t bytes;
    snprintf(name, sizeof name, "p%d", entry);
    memset(image, letter, sizeof image);
    if (process == 0 && i % 10 == 9) tesi_cache_trim(0);
    if (!tesi_cache_write(name, key, image, sizeof image)) return 1;
    if (tesi_cache_read(ctx, name, key, &back, &bytes) != TES_OK) return 2;
    if (back && (bytes != sizeof image || memcmp(back, image, bytes))) return 3;
    tesi_free(ctx, &back);
  }
  return 0;
}

static void processes_do_not_disturb_each_other(void **state) {
  TesContext *ctx = *state;
  enum { PROCESSES = 6 };
  pid_t child[PROCESSES];
  int status, files;
  for (int p = 0; p < PROCESSES; p++) {
    child[p] = fork();
    assert_true(child[p] >= 0);
    if (child[p] == 0) _exit(disturb(ctx, p));
  }
  for (int p = 0; p < PROCESSES; p++) {
    assert_int_equal(waitpid(child[p], &status, 0), child[p]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
  tesi_cache_usage(&files, NULL);
  assert_true(files <= 5); /* and no temporary files */
  tesi_cache_trim(0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(checksums_are_those_of_the_standard),
                                     cmocka_unit_test(damaged_records_are_absent_and_written_anew),
                                     cmocka_unit_test(it_is_counted_trimmed_and_cleared),
                                     cmocka_unit_test(its_size_is_bounded),
                                     cmocka_unit_test(processes_do_not_disturb_each_other)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
