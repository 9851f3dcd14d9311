/* VTKHDF files of which a thread writes the steps while their caller goes on (TesVtkhdfDesc.behind): what the caller
 * may change meanwhile, when steps are in the file, and which call tells a failure. t8_vtkhdf kills such writers and
 * lets their disk be full.
 * Labels: threads
 *
 *   build/tests/t8_vtkhdf_behind */
#include "failing_allocator.h"

#ifdef TESI_HDF5
#include "vtkhdf_testing.h"

static bool has_threads(void) {
  hbool_t safe = false;
  return H5is_library_threadsafe(&safe) >= 0 && safe;
}

/* One description is used for all steps, and its numbers change as soon as the call returns. With one thread, copies
 * are values at nodes, with two they are numbers of the file. */
static void steps_behind(void **state) {
  enum { STEPS = 12 };
  (void)state;
  for (int threads = 1; threads <= 2; threads++) {
    TesContext *ctx;
    TesVtkhdf *file;
    assert_int_equal(tes_context_create(&(TesContextDesc){.threads = threads}, &ctx, NULL, 0), TES_OK);
    const TesVtkhdfDesc desc = {.path = "behind.vtkhdf", .steps = true, .behind = true};
    assert_int_equal(tes_vtkhdf_create(ctx, &desc, &file), TES_OK);
    Made m = step_of(0);
    for (int64_t step = 0; step < STEPS; step++) {
      m = step_of(step);
      assert_int_equal(write_made(file, &m), TES_OK);
      m.time = -1e9, m.node[1] = NAN;
    }
    assert_int_equal(tes_vtkhdf_write(file, NULL, 0), TES_OK);
    const hid_t h = open_file("behind.vtkhdf"); /* before it is closed */
    assert_int_equal(steps_of(h), STEPS);
    for (int64_t step = 0; step < STEPS; step++) {
      m = step_of(step);
      check_step(h, true, step, &m);
    }
    H5Fclose(h);
    assert_int_equal(tes_vtkhdf_write(file, NULL, 0), TES_OK);
    tes_vtkhdf_destroy(&file);
    assert_int_equal(tes_context_memory(ctx), 0);
    tes_context_destroy(&ctx);
  }
}

/* The call that writes a large step returns before the step is there, and one that waits after it. */
static void a_call_does_not_wait(void **state) {
  enum { CELLS = 40000 };
  (void)state;
  if (!has_threads()) skip();
  TesVtkhdf *file;
  const TesVtkhdfDesc desc = {.path = "large.vtkhdf", .steps = true, .behind = true};
  assert_int_equal(tes_vtkhdf_create(host, &desc, &file), TES_OK);
  Made small = step_of(0), large = made(2, 3, CELLS, 1);
  assert_int_equal(write_made(file, &small), TES_OK);
  assert_int_equal(write_made(file, &large), TES_OK);
  hid_t h = open_file("large.vtkhdf");
  assert_int_equal(steps_of(h), 1);
  H5Fclose(h);
  assert_int_equal(tes_vtkhdf_write(file, NULL, 0), TES_OK);
  h = open_file("large.vtkhdf");
  assert_int_equal(steps_of(h), 2);
  check_step(h, true, 1, &large);
  H5Fclose(h);
  tes_vtkhdf_destroy(&file);
}

/* Failures of the thread are those of the next call, or of the one that waits. */
static TesStatus write_three(TesContext *ctx, void *user) {
  TesVtkhdf *file = NULL;
  const TesVtkhdfDesc desc = {.path = "room.vtkhdf", .steps = true, .behind = true};
  TesStatus status = tes_vtkhdf_create(ctx, &desc, &file);
  (void)user;
  for (int64_t step = 0; step < 3 && status == TES_OK; step++) {
    Made m = step_of(step);
    status = write_made(file, &m);
  }
  if (status == TES_OK) status = tes_vtkhdf_write(file, NULL, 0);
  tes_vtkhdf_destroy(&file);
  return status;
}

static void memory_is_out(void **state) {
  (void)state;
  assert_true(every_allocation_fails(write_three, NULL) > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_behind), cmocka_unit_test(a_call_does_not_wait),
                                     cmocka_unit_test(memory_is_out)};
  return cmocka_run_group_tests(tests, begin, end);
}
#else
int main(void) {
  return 77; /* there are no such files: t8_vtkhdf */
}
#endif
