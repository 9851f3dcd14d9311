/* Run: ctest -R t1_recorded. Loops of recorded work that the device ends, beside the host's: how often bodies run for
 * limits that change between replays, none among them, loops in loops, what a replay asks of the device, and what
 * happens to a body that cannot be recorded. */
#include "device/kernel.h"
#include "device/recorded.h"
#include "device_testing.h"

/* Integers in device memory: limit[2] is given; count[1] runs over the inner loop, count[0] over the outer one. */
typedef struct Numbers {
  int limit[2], count[2], go_on[2], total;
} Numbers;

static const char text[] = "#include \"kernel.h\"\n"
                           "typedef struct Numbers { int limit[2], count[2], go_on[2], total; } Numbers;\n"
                           "TESK_KERNEL(tesk_begin, 32, 1, (Numbers *)n, (int)level) {\n"
                           "  if (threadIdx.x) return;\n"
                           "  n->count[level] = 0;\n"
                           "  n->go_on[level] = n->limit[level] > 0;\n"
                           "}\n"
                           "TESK_KERNEL(tesk_count, 32, 1, (Numbers *)n, (int)level) {\n"
                           "  if (threadIdx.x) return;\n"
                           "  n->count[level]++;\n"
                           "  if (level == 1) n->total += 1 + 1000 * n->count[0];\n"
                           "  n->go_on[level] = n->count[level] < n->limit[level];\n"
                           "}\n";

typedef struct Fixture {
  TesContext *ctx;
  TesiKernel begin, count;
  Numbers *numbers; /* device */
  bool nested, waits;
} Fixture;

static TesStatus launch(const Fixture *f, const TesiKernel *kernel, int level) {
  Numbers *numbers = f->numbers;
  return tesi_kernel_launch(f->ctx, kernel, (TesiGrid){1, 1, 1}, 32, 0, (void *[]){&numbers, &level});
}

static TesStatus inner(void *user) {
  const Fixture *f = user;
  return launch(f, &f->count, 1);
}

static TesStatus outer(void *user) {
  Fixture *f = user;
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  if (f->nested) {
    TES_TRY(launch(f, &f->begin, 1));
    TES_TRY(tesi_recorded_while(ctx, &f->numbers->go_on[1], inner, f));
  }
  if (f->waits) {
    int total;
    TES_TRY(tesi_context_device(ctx)->to_host(ctx, &total, &f->numbers->total, sizeof total));
  }
  TES_TRY(launch(f, &f->count, 0));
done:
  return status;
}

static TesStatus whole(void *user) {
  Fixture *f = user;
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  TES_TRY(launch(f, &f->begin, 0));
  TES_TRY(tesi_recorded_while(ctx, &f->numbers->go_on[0], outer, f));
done:
  return status;
}

static void set_up(TesContext *ctx, Fixture *f) {
  const TesiProgramDesc desc = {.file = "recorded_test.cu", .text = text};
  TesiProgram *program;
  void *memory;
  f->ctx = ctx;
  assert_ok(ctx, tesi_program_get(ctx, &desc, &program));
  assert_ok(ctx, tesi_kernel_get(ctx, program, "tesk_begin", 0, &f->begin));
  assert_ok(ctx, tesi_kernel_get(ctx, program, "tesk_count", 0, &f->count));
  assert_ok(ctx, tesi_context_device(ctx)->allocate(ctx, sizeof(Numbers), &memory));
  f->numbers = memory;
}

/* One run with these limits: counts as by two loops on the host. Returns what it asked of the device. */
static TesiCounts check_run(Fixture *f, TesiRecorded *recorded, int rows, int columns) {
  TesContext *ctx = f->ctx;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesiKernelState *state = tesi_context_device_state(ctx);
  Numbers n = {.limit = {rows, columns}, .count = {-1, -1}, .go_on = {7, 7}};
  int total = 0;
  for (int i = 0; i < rows && f->nested; i++) total += columns * (1 + 1000 * i);
  assert_ok(ctx, device->to_device(ctx, f->numbers, &n, sizeof n));
  const TesiCounts before = state->counts;
  assert_ok(ctx, tesi_recorded_run(ctx, recorded, whole, f));
  TesiCounts asked = state->counts;
  asked.to_host -= before.to_host, asked.graphs -= before.graphs;
  assert_ok(ctx, device->to_host(ctx, &n, f->numbers, sizeof n));
  assert_int_equal(n.count[0], rows);
  assert_int_equal(n.total, total);
  if (f->nested && rows > 0) assert_int_equal(n.count[1], columns);
  return asked;
}

static void check_device(const char *name, bool nested, bool waits) {
  static const int limits[][2] = {{3, 2}, {3, 2}, {5, 1}, {0, 4}, {1, 0}, {40, 7}, {2, 2}};
  TesContext *ctx = test_device(name);
  Fixture f = {.nested = nested, .waits = waits};
  TesiRecorded recorded = {0};
  if (!ctx) return;
  set_up(ctx, &f);
  const bool loops = tesi_recorded_can_loop(ctx);
  if (!strcmp(name, "emulator")) assert_true(loops);
  if (!loops) print_message("%s: loops are the host's\n", name);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    const TesiCounts asked = check_run(&f, &recorded, limits[i][0], limits[i][1]);
    const bool alone = i >= 1 && loops && !waits; /* one graph, and nothing for the host */
    assert_int_equal(asked.graphs, alone ? 1 : 0);
    if (alone) assert_int_equal(asked.to_host, 0);
  }
  assert_int_equal(recorded.refused, waits || !loops);
  tesi_recorded_release(ctx, &recorded);
  tesi_context_device(ctx)->release(ctx, &(void *){f.numbers});
  tes_context_destroy(&ctx);
}

static void loops_run_as_often_as_the_device_says(void **state) {
  (void)state;
  check_device("emulator", false, false);
  check_device("cuda", false, false);
}

static void loops_stand_in_loops(void **state) {
  (void)state;
  check_device("emulator", true, false);
  check_device("cuda", true, false);
}

static void what_waits_for_the_host_is_not_recorded(void **state) {
  (void)state;
  check_device("emulator", true, true);
  check_device("cuda", true, true);
}

static TesStatus count_down(void *user) {
  int *left = user;
  --*left;
  return TES_OK;
}

static void hosts_loop_too(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  int left = 4;
  if (!ctx) return;
  assert_false(tesi_recorded_can_loop(ctx));
  assert_ok(ctx, tesi_recorded_while(ctx, &left, count_down, &left));
  assert_int_equal(left, 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loops_run_as_often_as_the_device_says), cmocka_unit_test(loops_stand_in_loops),
      cmocka_unit_test(what_waits_for_the_host_is_not_recorded), cmocka_unit_test(hosts_loop_too)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
