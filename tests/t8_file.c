/* Run: ctest -R t8_file. Files appear complete or not at all, whatever the disk does. */
#include "io/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "failing_allocator.h"

static TesContext *ctx;
static char folder[64], path[96];

static int set_up(void **state) {
  (void)state;
  strcpy(folder, "/tmp/t8_file_XXXXXX");
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/out.bin", folder);
  return tesi_context_new(NULL, &ctx) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  remove(path);
  rmdir(folder);
  const size_t left = tes_context_memory(ctx);
  tes_context_destroy(&ctx);
  return left != 0;
}

/* Files in the folder: nothing temporary may stay. */
static int entries(void) {
  DIR *d = opendir(folder);
  int count = 0;
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) count += e->d_name[0] != '.';
  closedir(d);
  return count;
}

static void expect_content(const char *expected) {
  char *text;
  size_t length;
  assert_int_equal(tesi_file_read(ctx, path, 1 << 20, &text, &length), TES_OK);
  assert_string_equal(text, expected);
  assert_int_equal(length, strlen(expected));
  tesi_free(ctx, &text);
}

static void write_text(const char *text) {
  TesiFile *file;
  assert_int_equal(tesi_file_create(ctx, path, &file), TES_OK);
  assert_int_equal(tesi_file_printf(file, "%s", text), TES_OK);
  assert_int_equal(tesi_file_commit(&file), TES_OK);
  assert_null(file);
}

static void files_appear_when_complete(void **state) {
  (void)state;
  TesiFile *file;
  write_text("first");
  expect_content("first");
  assert_int_equal(tesi_file_create(ctx, path, &file), TES_OK);
  assert_int_equal(tesi_file_printf(file, "%d%s", 2, "nd"), TES_OK);
  expect_content("first");
  assert_int_equal(tesi_file_commit(&file), TES_OK);
  expect_content("2nd");
  assert_int_equal(entries(), 1);
}

/* kill -9 in the middle. */
static void killed_processes_leave_nothing(void **state) {
  (void)state;
  int status;
  const int probe = open(folder, O_WRONLY | O_TMPFILE, 0600);
  if (probe < 0) skip(); /* no files without names here */
  close(probe);
  write_text("kept");
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    static const char data[200000];
    TesiFile *file;
    if (tesi_file_create(ctx, path, &file) == TES_OK && tesi_file_write(file, data, sizeof data) == TES_OK)
      raise(SIGKILL);
    _exit(1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(entries(), 1);
  expect_content("kept");
}

static void discarded_files_leave_nothing(void **state) {
  (void)state;
  TesiFile *file;
  write_text("kept");
  assert_int_equal(tesi_file_create(ctx, path, &file), TES_OK);
  assert_int_equal(tesi_file_write(file, "lost", 4), TES_OK);
  tesi_file_discard(&file);
  assert_null(file);
  expect_content("kept");
  assert_int_equal(entries(), 1);
}

static void large_writes_and_patches(void **state) {
  (void)state;
  enum { N = 300000 };
  TesiFile *file;
  char *data = malloc(N), *back;
  size_t length;
  for (int i = 0; i < N; i++) data[i] = (char)('a' + i % 26);
  assert_int_equal(tesi_file_create(ctx, path, &file), TES_OK);
  assert_true(tesi_file_can_patch(file));
  for (int i = 0; i < N;) {
    const int n = i % 7 ? tesi_min(1 + i % 5000, N - i) : tesi_min(70000, N - i);
    assert_int_equal(tesi_file_write(file, data + i, (size_t)n), TES_OK);
    i += n;
    assert_int_equal(tesi_file_position(file), i);
  }
  memcpy(data + 123456, "PATCH", 5);
  assert_int_equal(tesi_file_patch(file, 123456, "PATCH", 5), TES_OK);
  assert_int_equal(tesi_file_write(file, "end", 3), TES_OK);
  assert_int_equal(tesi_file_commit(&file), TES_OK);
  assert_int_equal(tesi_file_read(ctx, path, 1 << 20, &back, &length), TES_OK);
  assert_int_equal(length, N + 3);
  assert_memory_equal(back, data, N);
  assert_string_equal(back + N, "end");
  tesi_free(ctx, &back);
  assert_int_equal(tesi_file_read(ctx, path, 1000, &back, &length), TES_IO);
  assert_null(back);
  tes_context_clear(ctx);
  free(data);
}

static void permissions_are_kept(void **state) {
  (void)state;
  struct stat s;
  write_text("a");
  assert_int_equal(chmod(path, 0640), 0);
  write_text("b");
  assert_int_equal(stat(path, &s), 0);
  assert_int_equal(s.st_mode & 0777, 0640);
}

static void links_are_followed(void **state) {
  (void)state;
  char link[128];
  struct stat s;
  TesiFile *file;
  write_text("old");
  snprintf(link, sizeof link, "%s/link", folder);
  assert_int_equal(symlink("out.bin", link), 0);
  assert_int_equal(tesi_file_create(ctx, link, &file), TES_OK);
  assert_int_equal(tesi_file_write(file, "new", 3), TES_OK);
  assert_int_equal(tesi_file_commit(&file), TES_OK);
  assert_int_equal(lstat(link, &s), 0);
  assert_true(S_ISLNK(s.st_mode));
  expect_content("new");
  remove(link);
}

static void expect_failure(const char *where, const char *message) {
  TesiFile *file = (TesiFile *)&file;
  tes_context_clear(ctx);
  assert_int_equal(tesi_file_create(ctx, where, &file), *where ? TES_IO : TES_INVALID_INPUT);
  assert_null(file);
  if (!strstr(tes_context_message(ctx), message)) fail_msg("message is %s", tes_context_message(ctx));
  tes_context_clear(ctx);
}

static void paths_that_cannot_be_written(void **state) {
  (void)state;
  expect_failure("", "empty");
  expect_failure("/no/such/folder/out.vtu",
                 "cannot write /no/such/folder/out.vtu: No such file or directory");
  expect_failure(folder, "it is a folder");
  if (geteuid() == 0) expect_failure("/proc/version", "cannot write /proc/version");
}

static void missing_files_are_named(void **state) {
  (void)state;
  char *text;
  size_t length;
  assert_int_equal(tesi_file_read(ctx, "/no/case.yaml", 100, &text, &length), TES_IO);
  assert_string_equal(tes_context_message(ctx), "cannot read /no/case.yaml: No such file or directory");
  tes_context_clear(ctx);
  assert_int_equal(tesi_file_read(ctx, "/tmp", 100, &text, &length), TES_IO);
  assert_string_equal(tes_context_message(ctx), "cannot read /tmp: Is a directory");
  tes_context_clear(ctx);
}

static void a_full_device_is_told(void **state) {
  (void)state;
  TesiFile *file;
  if (access("/dev/full", W_OK)) skip();
  assert_int_equal(tesi_file_create(ctx, "/dev/full", &file), TES_OK);
  assert_false(tesi_file_can_patch(file));
  assert_int_equal(tesi_file_write(file, "x", 1), TES_OK);
  assert_int_equal(tesi_file_commit(&file), TES_IO);
  assert_null(file);
  assert_string_equal(tes_context_message(ctx), "cannot write /dev/full: No space left on device");
  tes_context_clear(ctx);
}

/* In a child: the limit on file sizes stands for a full disk. Exit status 0 when all is as it should be. */
static int write_beyond_the_limit(void) {
  const struct rlimit limit = {100000, 100000};
  char block[4096] = {0};
  TesiFile *file;
  TesStatus status = TES_OK;
  signal(SIGXFSZ, SIG_IGN);
  if (setrlimit(RLIMIT_FSIZE, &limit) || tesi_file_create(ctx, path, &file)) return 1;
  for (int i = 0; i < 100 && !status; i++) status = tesi_file_write(file, block, sizeof block);
  if (status != TES_IO || !strstr(tes_context_message(ctx), "File too large")) return 2;
  tesi_file_discard(&file);
  return 0;
}

static void a_full_disk_leaves_the_old_file(void **state) {
  (void)state;
  write_text("old");
  const pid_t child = fork();
  assert_true(child >= 0);
  if (!child) _exit(write_beyond_the_limit());
  int result;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result));
  assert_int_equal(WEXITSTATUS(result), 0);
  expect_content("old");
  assert_int_equal(entries(), 1);
}

static TesStatus write_and_read(TesContext *c, void *user) {
  TesiFile *file = NULL;
  char *text = NULL;
  size_t length;
  (void)user;
  TesStatus status = tesi_file_create(c, path, &file);
  if (!status) status = tesi_file_printf(file, "%*d", 4000, 1);
  if (!status) status = tesi_file_printf(file, "%*d", 4000, 1);
  if (!status) status = tesi_file_commit(&file);
  tesi_file_discard(&file);
  if (!status) status = tesi_file_read(c, path, 1 << 20, &text, &length);
  tesi_free(c, &text);
  return status;
}

static void failing_memory_is_survived(void **state) {
  (void)state;
  assert_true(every_allocation_fails(write_and_read, NULL) >= 4);
  assert_int_equal(entries(), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(files_appear_when_complete, set_up, tear_down),
      cmocka_unit_test_setup_teardown(killed_processes_leave_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(discarded_files_leave_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(large_writes_and_patches, set_up, tear_down),
      cmocka_unit_test_setup_teardown(permissions_are_kept, set_up, tear_down),
      cmocka_unit_test_setup_teardown(links_are_followed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(paths_that_cannot_be_written, set_up, tear_down),
      cmocka_unit_test_setup_teardown(missing_files_are_named, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_full_device_is_told, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_full_disk_leaves_the_old_file, set_up, tear_down),
      cmocka_unit_test_setup_teardown(failing_memory_is_survived, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
