/* Run: ctest -R t5_patch_kernels. Smoothers patch by patch in kernels against their plain versions: exact and
 * surrogate local solves, multiplicative and additive, graded cells, every boundary condition; degrees beyond the
 * specialised ones; Jacobi, Chebyshev and point Gauss-Seidel over the operators' kernels. On the emulator, and on a
 * GPU where there is one. Brief: every smoother on one box in 2D and one in
 * 3D, in one precision each, in turns; global memory; beyond the specialised degrees one in 2D and one in 3D.
 * Quick: 1-3
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "device_testing.h"
#include "smoother_testing.h"

static const char *const devices[] = {"emulator", "cuda"};

/* One forward and one backward step, from x and from zero, against the plain version. */
static void check(TesContext *ctx, const Case *c, TesPrecision precision, TesSmootherDesc desc,
                  const char *kernel) {
  Setup s;
  setup(&s, ctx, c, precision, desc);
  if (kernel && !strstr(tes_smoother_describe(s.smoother), kernel))
    fail_msg("%s", tes_smoother_describe(s.smoother));
  double *x = malloc(sizeof *x * (size_t)s.n), *y = malloc(sizeof *y * (size_t)s.n);
  for (int sweep = 0; sweep < 2; sweep++) {
    sweep_once(&s, false, (TesSweep)sweep, sweep == 1, x);
    sweep_once(&s, true, (TesSweep)sweep, sweep == 1, y);
    assert_equal_vectors(s.n, x, y, precision == TES_DOUBLE ? 1e-11 : 1e-4, c,
                         tes_smoother_describe(s.smoother));
  }
  free(x), free(y);
  teardown(&s);
}

static const Case shapes[] = {
    {.dim = 2, .cells = {4, 3}, .graded = true},
    {.dim = 2, .cells = {3, 5}, .natural = 0x6, .alpha = 1.5, .a = 2, .c = 3},
    {.dim = 2, .cells = {2, 1}, .natural = 0xb, .c = 1},
    {.dim = 3, .cells = {2, 3, 1}, .natural = 0x30, .alpha = 1},
    {.dim = 3, .cells = {1, 2, 3}, .graded = true, .natural = 0x3, .c = 0.5, .alpha = 2}};

typedef struct Kind {
  TesSmootherDesc desc;
  bool variable;
  int largest[2]; /* degree in 2D and 3D; half as much on the emulator, which is slow */
  const char *name;
} Kind;

static void run_shape(TesContext *ctx, bool emulated, const Kind *kind, int degree, int shape) {
  Case c = shapes[shape];
  c.degree = degree, c.variable = kind->variable;
  if (degree > 5 - c.dim) c.cells[0] = c.cells[2] = 1, c.cells[1] = 2;
  const int largest = kind->largest[c.dim - 2];
  if (degree > (emulated ? tesi_max(1, largest / 2) : largest)) return;
  if (test_brief() && shape != (c.dim == 2 ? degree % 3 : 3 + degree % 2)) return;
  const bool single = (degree / 2 + c.dim) % 2; /* where one precision is enough */
  tesi_fiber_order((TesiOrder)((degree + shape) % 3), (uint64_t)degree);
  if (!test_brief() || !single) check(ctx, &c, TES_DOUBLE, kind->desc, kind->name);
  if (test_brief() ? single : !emulated || (degree + shape) % 2)
    check(ctx, &c, TES_SINGLE, kind->desc, kind->name);
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void run_kinds(const Kind *kinds, int count) {
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int k = 0; ctx && k < count; k++)
      for (int degree = 1; degree <= 10; degree++)
        for (int shape = 0; shape < (int)(sizeof shapes / sizeof *shapes) && test_degree(degree); shape++)
          run_shape(ctx, d == 0, &kinds[k], degree, shape);
    tes_context_destroy(&ctx);
  }
}

static void exact_patches_equal_the_plain_sweep(void **state) {
  (void)state;
  static const Kind kinds[] = {{{.kind = TES_SMOOTHER_PATCH}, false, {10, 4}, "patch by patch"},
                               {{.kind = TES_SMOOTHER_PATCH_ADDITIVE}, false, {5, 3}, "patch additive"}};
  run_kinds(kinds, sizeof kinds / sizeof *kinds);
}

static void surrogates_equal_their_plain_versions(void **state) {
  (void)state;
  static const Kind kinds[] = {
      {{.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_RANK1}, true, {6, 4}, "rank1"},
      {{.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_SCALED, .omega = 0.8}, true, {2, 1}, "scaled"},
      {{.kind = TES_SMOOTHER_PATCH_ADDITIVE, .local = TES_LOCAL_RANK1, .omega = 0.3}, true, {4, 2}, "additive"},
      {{.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_NODAL}, true, {5, 3}, "nodal"}};
  run_kinds(kinds, sizeof kinds / sizeof *kinds);
}

static void point_smoothers_equal_their_plain_versions(void **state) {
  (void)state;
  static const Kind kinds[] = {{{.kind = TES_SMOOTHER_JACOBI}, true, {4, 3}, "jacobi"},
                               {{.kind = TES_SMOOTHER_CHEBYSHEV}, true, {4, 3}, "chebyshev"},
                               {{.kind = TES_SMOOTHER_GAUSS_SEIDEL}, false, {4, 2}, "Gauss-Seidel"}};
  run_kinds(kinds, sizeof kinds / sizeof *kinds);
}

/* In global memory, as the highest degrees need it. */
static void large_patches_work_in_global_memory(void **state) {
  (void)state;
  static const Case cases[] = {{.dim = 2, .degree = 3, .cells = {5, 4}, .natural = 2},
                               {.dim = 3, .degree = 2, .cells = {3, 2, 3}}};
  if (!test_degree(2) && !test_degree(3)) return;
  setenv("TESSERA_PATCH_GLOBAL", "1", 1);
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (size_t i = 0; ctx && i < sizeof cases / sizeof *cases; i++)
      if (test_degree(cases[i].degree))
        check(ctx, &cases[i], TES_DOUBLE,
              (TesSmootherDesc){.kind = TES_SMOOTHER_PATCH_ADDITIVE, .omega = 0.4}, "global memory");
    tes_context_destroy(&ctx);
  }
  unsetenv("TESSERA_PATCH_GLOBAL");
}

/* High degrees work in shared memory, then in global memory. */
static void degrees_beyond_take_the_general_path(void **state) {
  (void)state;
  static const Case cases[] = {{.dim = 2, .degree = 12, .cells = {2, 3}},
                               {.dim = 3, .degree = 9, .cells = {2, 1, 2}},
                               {.dim = 2, .degree = 20, .cells = {1, 2}, .natural = 1},
                               {.dim = 3, .degree = 16, .cells = {2, 2, 1}},
                               {.dim = 3, .degree = 20, .cells = {1, 1, 2}}};
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    const size_t count = test_brief() ? 2 : sizeof cases / sizeof *cases;
    for (size_t i = 0; ctx && i < count; i++)
      for (int precision = 0; precision < 2; precision++)
        if (test_degree(cases[i].degree) && (d || cases[i].dim == 2))
          check(ctx, &cases[i], (TesPrecision)precision, (TesSmootherDesc){.kind = TES_SMOOTHER_PATCH},
                "slower");
    tes_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(exact_patches_equal_the_plain_sweep),
                                     cmocka_unit_test(surrogates_equal_their_plain_versions),
                                     cmocka_unit_test(point_smoothers_equal_their_plain_versions),
                                     cmocka_unit_test(large_patches_work_in_global_memory),
                                     cmocka_unit_test(degrees_beyond_take_the_general_path)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
