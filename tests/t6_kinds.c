/* Run: ctest -R t6_kinds. What every kind promises, whoever calls it (decision 14): it takes a description or refuses
 * it with a reason; no term of a form is ignored; all operators that take the same form on the same space are the same
 * operator, and that of each other's plain version; and nodes where values are given stay zero in all that operators,
 * smoothers, transfers and cycles give, where diagonals are one. On boxes, cells and forests with hanging nodes, of one
 * component and of two, of Stokes and of discontinuous elements, on the host and in the emulator. */
#include "functional_testing.h"
#include "stokes_testing.h"
#include "device/kernel.h"
#include "operator/operator.h"
#include "smoother/smoother.h"

static const char *const operators[] = {"separable",         "quadrature", "mapped",    "stokes",
                                        "stokes_varying",    "dg",         "transport", "assembled",
                                        "assembled_hanging", "elasticity", "parts"};
enum { OPERATORS = sizeof operators / sizeof *operators };

/* How often each kind took what it was asked for. */
static int taken[OPERATORS], smoothed[TES_SMOOTHER_GAUSS_SEIDEL_MORTON + 1], coarsened;

/* known[i]: the value of entry i is given. */
static bool *find_known(TesContext *ctx, const TesSpace *space) {
  bool *known = calloc((size_t)space->length, 1);
  if (!space->element->nodal) { /* of Raviart-Thomas elements the space itself tells */
    double *v = malloc((size_t)space->length * sizeof *v);
    for (int64_t i = 0; i < space->length; i++) v[i] = 1;
    tesi_rt_clear(space, v);
    for (int64_t i = 0; i < space->length; i++) known[i] = v[i] == 0;
    free(v);
    return known;
  }
  for (int s = 0; s < space->scalars; s++) {
    const TesiCellView *cells;
    assert_ok(ctx, tesi_space_cells(space->scalar[s], &cells));
    for (int64_t i = 0; i < cells->length - cells->dofs; i++)
      known[space->first[s] + cells->constrained[i]] = true;
  }
  return known;
}

/* Random numbers, zero where values are given; seed 0: all NaN. */
static TesVector *make(TesContext *ctx, const TesSpace *space, TesPrecision precision, uint64_t seed) {
  TesVector *v;
  bool *known = find_known(ctx, space);
  double *values = malloc((size_t)space->length * sizeof *values);
  for (int64_t i = 0; i < space->length; i++) values[i] = !seed ? NAN : known[i] ? 0 : test_random(&seed);
  assert_ok(ctx, tes_vector_create(ctx, space->length, precision, &v));
  assert_ok(ctx, tes_vector_set(v, values));
  free(values);
  free(known);
  return v;
}

/* All entries are numbers, those that are known are `expected`. */
static void assert_known(TesContext *ctx, const TesSpace *space, const TesVector *v, double expected,
                         const char *what) {
  bool *known = find_known(ctx, space);
  double *values = malloc((size_t)space->length * sizeof *values);
  assert_ok(ctx, tes_vector_get(v, values));
  for (int64_t i = 0; i < space->length; i++) {
    if (!isfinite(values[i])) fail_msg("%s: entry %lld is %g", what, (long long)i, values[i]);
    if (known[i] && values[i] != expected)
      fail_msg("%s: the given entry %lld is %g, not %g", what, (long long)i, values[i], expected);
  }
  free(values);
  free(known);
}

static void assert_same(TesContext *ctx, const TesVector *a, const TesVector *b, double tolerance,
                        const char *what) {
  const double difference = flow_difference(ctx, a, b);
  if (!(difference <= tolerance)) fail_msg("%s differ by %.3g", what, difference);
}

/* A form that every kind over cells takes; one that moves, for transport, and one that strains, for elasticity; of
 * Stokes its own. */
typedef enum What { PLAIN, MOVES, STRAINS } What;

static TesStatus make_operator(TesContext *ctx, const TesSpace *space, TesPrecision precision,
                               const char *kind, What what, TesOperator **op) {
  TesFunction *a, *alpha;
  int natural = 0;
  while (natural < tes_mesh_boundaries(space->mesh) && tes_space_given(space, natural)) natural++;
  assert_ok(ctx, tes_function_create_constant(ctx, 2, &a));
  assert_ok(ctx, tes_function_create_constant(ctx, 3, &alpha));
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION, .a = {.all = a}},
                              {.term = TES_TERM_MASS, .factor = 0.5},
                              {.term = TES_TERM_ROBIN, .a = {.all = alpha}, .boundary = natural},
                              {.term = TES_TERM_TRANSPORT, .b = {a, alpha}}},
                    strain[] = {{.term = TES_TERM_STRAIN, .a = {.all = a}},
                                {.term = TES_TERM_GRAD_DIV, .a = {.all = alpha}},
                                {.term = TES_TERM_ROBIN, .a = {.all = alpha}, .boundary = natural}},
                    flow[] = {{.term = TES_TERM_DIFFUSION, .a = {.all = a}}, {.term = TES_TERM_DIVERGENCE}};
  const bool mixed = space->element->with_pressure, modal = space->element->weak;
  const TesOperatorDesc desc = {.space = space,
                                .form = {.terms = mixed || modal ? 2 : 3 + (what == MOVES),
                                         .term = mixed             ? flow
                                                 : what == STRAINS ? strain
                                                                   : term},
                                .precision = precision,
                                .kind = kind};
  const TesStatus status = tes_operator_create(ctx, &desc, op);
  tes_function_destroy(&a);
  tes_function_destroy(&alpha);
  return status;
}

/* A refusal names the kind and its reason, and leaves nothing behind. */
static void assert_refusal(TesContext *ctx, TesStatus status, const void *made, const char *kind) {
  const char *message = tes_context_message(ctx), *name = strstr(message, kind),
             *reason = name ? strstr(name, ": ") : NULL;
  assert_int_equal(status, TES_INVALID_INPUT);
  assert_null(made);
  if (!reason || strlen(reason) < 10)
    fail_msg("%s: no reason: %s\n%s", kind, message, tes_context_trace(ctx));
  tes_context_clear(ctx);
}

/* y <- A x by this kind is that of its own plain version and that of the first kind that took the form. */
static void check_operator(TesContext *ctx, const TesOperator *op, TesVector **first, TesVector **diagonal) {
  const TesSpace *space = op->space;
  const double round_off = op->precision == TES_SINGLE ? 1e-5 : 1e-12;
  TesVector *x = make(ctx, space, op->precision, 5), *y = make(ctx, space, op->precision, 0),
            *plain = make(ctx, space, TES_DOUBLE, 0), *exact = make(ctx, space, TES_DOUBLE, 5),
            *d = make(ctx, space, op->precision, 0);
  assert_ok(ctx, tes_operator_apply(op, x, y));
  assert_known(ctx, space, y, 0, op->kind->name);
  assert_ok(ctx, tesi_operator_apply_ref(op, exact, plain));
  assert_same(ctx, y, plain, round_off, op->kind->name);
  if (*first) assert_same(ctx, plain, *first, round_off, "plain versions of two kinds");
  assert_ok(ctx, tes_operator_residual(op, x, x, y)); /* b = x */
  assert_known(ctx, space, y, 0, op->kind->name);
  const bool told =
      !space->element->with_pressure && op->kind != &tesi_operator_transport; /* which have none */
  if (told) {
    assert_ok(ctx, tes_operator_diagonal(op, d));
    assert_known(ctx, space, d, 1, "a diagonal");
    if (*diagonal) assert_same(ctx, d, *diagonal, round_off, "diagonals of two kinds");
  }
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tes_vector_destroy(&exact);
  if (told && !*diagonal) *diagonal = d, d = NULL;
  if (!*first) *first = plain, plain = NULL;
  tes_vector_destroy(&plain);
  tes_vector_destroy(&d);
}

static void check_operators(TesContext *ctx, const TesSpace *space, TesPrecision precision, What what) {
  TesVector *first = NULL, *diagonal = NULL;
  for (int i = 0; i < OPERATORS; i++) {
    TesOperator *op;
    const TesStatus status = make_operator(ctx, space, precision, operators[i], what, &op);
    if (status == TES_MISSING) { /* a library for sparse matrices */
      tes_context_clear(ctx);
      continue;
    }
    if (status) {
      assert_refusal(ctx, status, op, operators[i]);
      continue;
    }
    taken[i]++;
    check_operator(ctx, op, &first, &diagonal);
    tes_operator_destroy(&op);
  }
  assert_non_null(first);
  tes_vector_destroy(&first);
  tes_vector_destroy(&diagonal);
}

static void check_smoothers(TesContext *ctx, const TesOperator *op) {
  static const char *const names[] = {[TES_SMOOTHER_PATCH] = "patch",
                                      [TES_SMOOTHER_PATCH_ADDITIVE] = "patch_additive",
                                      [TES_SMOOTHER_JACOBI] = "jacobi",
                                      [TES_SMOOTHER_CHEBYSHEV] = "chebyshev",
                                      [TES_SMOOTHER_GAUSS_SEIDEL] = "gauss_seidel",
                                      [TES_SMOOTHER_CELL_PATCH] = "cell_patch",
                                      [TES_SMOOTHER_LINE_PATCH] = "line_patch",
                                      [TES_SMOOTHER_ORDERED_CELLS] = "ordered_cells",
                                      [TES_SMOOTHER_GAUSS_SEIDEL_MORTON] = "gauss_seidel_morton"};
  const TesSpace *space = op->space;
  for (int kind = TES_SMOOTHER_PATCH; kind <= TES_SMOOTHER_GAUSS_SEIDEL_MORTON; kind++) {
    TesSmoother *smoother;
    const TesStatus status =
        tes_smoother_create(ctx, &(TesSmootherDesc){.op = op, .kind = (TesSmootherKind)kind}, &smoother);
    if (status) {
      assert_refusal(ctx, status, smoother, names[kind]);
      continue;
    }
    smoothed[kind]++;
    TesVector *b = make(ctx, space, op->precision, 7), *x = make(ctx, space, op->precision, 0);
    for (int step = 0; step < 3; step++) {
      assert_ok(ctx, tes_smoother_apply(smoother, b, x, step == 1 ? TES_BACKWARD : TES_FORWARD, step == 0));
      assert_known(ctx, space, x, 0, names[kind]);
    }
    tes_vector_destroy(&b);
    tes_vector_destroy(&x);
    tes_smoother_destroy(&smoother);
  }
}

/* Restriction, prolongation, and a cycle over all levels. */
static void check_levels(TesContext *ctx, const TesOperator *op) {
  const TesSpace *fine = op->space;
  TesSpace *coarse;
  TesTransfer *transfer;
  TesMultigrid *multigrid;
  assert_ok(ctx, tes_space_coarsen(fine, &coarse));
  if (!coarse) return;
  coarsened++;
  const TesTransferDesc desc = {.coarse = coarse, .fine = fine, .precision = op->precision};
  assert_ok(ctx, tes_transfer_create(ctx, &desc, &transfer));
  TesVector *high = make(ctx, fine, op->precision, 3), *low = make(ctx, coarse, op->precision, 0);
  assert_ok(ctx, tes_transfer_restrict(transfer, high, low));
  assert_known(ctx, coarse, low, 0, "a restriction");
  assert_ok(ctx, tes_transfer_prolongate(transfer, low, true, high));
  assert_known(ctx, fine, high, 0, "a prolongation");
  assert_ok(ctx, tes_transfer_prolongate(transfer, low, false, high));
  assert_known(ctx, fine, high, 0, "a prolongation");
  tes_vector_destroy(&high);
  tes_vector_destroy(&low);
  tes_transfer_destroy(&transfer);
  tes_space_destroy(&coarse);
  assert_ok(ctx,
            tes_multigrid_create(ctx, &(TesMultigridDesc){.op = op, .precision = op->precision}, &multigrid));
  TesVector *b = make(ctx, fine, op->precision, 9), *x = make(ctx, fine, op->precision, 0);
  for (int i = 0; i < 2; i++) {
    assert_ok(ctx, tes_multigrid_cycle(multigrid, b, x, i == 0));
    assert_known(ctx, fine, x, 0, "a cycle");
  }
  tes_vector_destroy(&b);
  tes_vector_destroy(&x);
  tes_multigrid_destroy(&multigrid);
}

/* A sum of up to three terms is refused, or each of them counts: without it the product is another one. */
static void check_terms(TesContext *ctx, const TesSpace *space) {
  enum { SETS = 2 << TES_TERM_GRAD_DIV };
  TesVector *product[SETS] = {NULL}, *x = make(ctx, space, TES_DOUBLE, 3);
  TesFunction *two;
  int natural = 0;
  while (natural < tes_mesh_boundaries(space->mesh) && tes_space_given(space, natural)) natural++;
  assert_ok(ctx, tes_function_create_constant(ctx, 2, &two));
  for (unsigned set = 1; set < SETS; set++) {
    TesTermDesc term[8];
    TesOperatorDesc desc = {.space = space, .form.term = term};
    TesOperator *op;
    for (int t = 0; t <= TES_TERM_GRAD_DIV; t++)
      if (set >> t & 1)
        term[desc.form.terms++] = (TesTermDesc){.term = (TesTerm)t, .boundary = natural, .b = {two, two}};
    if (desc.form.terms > 3) continue;
    const TesStatus status = tes_operator_create(ctx, &desc, &op);
    if (status != TES_OK) {
      assert_int_equal(status, TES_INVALID_INPUT);
      assert_null(op);
      tes_context_clear(ctx);
      continue;
    }
    product[set] = make(ctx, space, TES_DOUBLE, 0);
    assert_ok(ctx, tes_operator_apply(op, x, product[set]));
    for (int i = 0; i < desc.form.terms; i++) {
      const TesVector *without = product[set & ~(1u << term[i].term)];
      if (without && !(flow_difference(ctx, product[set], without) > 1e-6))
        fail_msg("%s ignores term %d", op->kind->name, (int)term[i].term);
    }
    tes_operator_destroy(&op);
  }
  for (int i = 0; i < SETS; i++) tes_vector_destroy(&product[i]);
  tes_vector_destroy(&x);
  tes_function_destroy(&two);
}

static void check_space(TesContext *ctx, const TesSpace *space) {
  if (!tesi_has_kernels(ctx)) check_terms(ctx, space);
  for (int p = 0; p < 2; p++) {
    TesOperator *op;
    const TesPrecision precision = p ? TES_SINGLE : TES_DOUBLE;
    check_operators(ctx, space, precision, PLAIN);
    if (!p && tes_space_components(space) == 1) check_operators(ctx, space, precision, MOVES);
    if (tes_space_components(space) == space->dim) check_operators(ctx, space, precision, STRAINS);
    assert_ok(ctx, make_operator(ctx, space, precision, NULL, PLAIN, &op));
    check_smoothers(ctx, op);
    check_levels(ctx, op);
    tes_operator_destroy(&op);
    if (p || tes_space_components(space) > 1) continue;
    assert_ok(ctx, make_operator(ctx, space, precision, NULL, MOVES, &op));
    check_smoothers(ctx, op);
    tes_operator_destroy(&op);
  }
}

/* The same mesh with two components, the second free on one more boundary. */
static void check_components(TesContext *ctx, const TestPlace *p) {
  TesSpace *space;
  uint8_t given[16];
  for (int b = 0; b < p->boundaries; b++) given[b] = !(p->is.natural >> b & 1) ? b == 1 ? 1 : 3 : 0;
  const TesSpaceDesc desc = {.mesh = p->mesh, .degree = p->is.degree, .components = 2, .given = given};
  assert_ok(ctx, tes_space_create(ctx, &desc, &space));
  check_space(ctx, space);
  tes_space_destroy(&space);
}

/* Discontinuous elements, which are there on the host alone. */
static void check_modal(TesContext *ctx) {
  TesMesh *mesh;
  TesSpace *space;
  const uint8_t given[] = {1, 1, 1, 0};
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {4, 6}, .upper = {1, 1}}, &mesh));
  const TesSpaceDesc desc = {.mesh = mesh, .degree = 2, .given = given, .element = TES_ELEMENT_DG};
  assert_ok(ctx, tes_space_create(ctx, &desc, &space));
  check_space(ctx, space);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
}

static void check_all(const char *device) {
  static const TestCase cases[] = {{TEST_BOX, 2, 3, 2, 4},
                                   {TEST_BOX, 3, 2, 2, 4},
                                   {TEST_CELLS, 2, 2, 2, 4},
                                   {TEST_LATTICE, 2, 3, 1, 9},
                                   {TEST_UNIT, 3, 2, 4, 15}};
  static const Flow flows[] = {{.dim = 2, .degree = 1, .cells = {4, 3}, .given = "vvvo", .nu = 1},
                               {.dim = 3, .degree = 1, .cells = {2, 2, 2}, .given = "vvsvvo", .nu = 1}};
  TesContext *ctx;
  const TesContextDesc desc = {.device = device, .verbosity = TES_QUIET};
  if (tes_context_create(&desc, &ctx, NULL, 0) != TES_OK) skip();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (cases[i].kind > TEST_CELLS && !test_has_forests(ctx)) continue;
    TestPlace p = test_place(ctx, &cases[i]);
    check_space(ctx, p.space);
    if (i % 3 == 0) check_components(ctx, &p);
    test_place_free(&p);
  }
  for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
    TesSpace *space = flow_space(ctx, &flows[i]);
    check_space(ctx, space);
    tes_space_destroy(&space);
  }
  if (!strcmp(device, "cpu")) check_modal(ctx);
  tes_context_destroy(&ctx);
}

static void on_the_host(void **state) {
  (void)state;
  check_all("cpu");
  for (int i = 0; i < OPERATORS; i++)
    if (!taken[i]) fail_msg("no form was for the kind %s", operators[i]);
  for (int i = TES_SMOOTHER_PATCH; i <= TES_SMOOTHER_GAUSS_SEIDEL_MORTON; i++) assert_true(smoothed[i] > 0);
  assert_true(coarsened >= 6);
}

static void in_the_emulator(void **state) {
  (void)state;
  check_all("emulator");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(on_the_host), cmocka_unit_test(in_the_emulator)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
