/* Run: ctest -R t7_mpi_ordered. Cells in the order of the flow on several ranks: the matrix of a rank is a part of the
 * matrix of one rank, entry by entry; copies of a step agree to the last bit, what is solved stays, and steps that
 * follow one another solve what the flow carries across all cuts.
 * Ranks: 2 3 4
 * Ranks on the emulator: 2 */
#include "operator/assembled/matrix.h"
#include "operator/operator.h"
#include "smoother/smoother.h"
#include "mpi_testing.h"

typedef struct Case {
  TesMeshDesc mesh;
  int degree;
  const char *where, *b[3]; /* refined where positive */
} Case;

static const Case cases[] = {
    {{.dim = 2, .cells = {8, 8}}, 2, NULL, {"0.3", "-1", NULL}},
    {{.dim = 2, .cells = {4, 4}, .refine = 1}, 3, "x + y - 0.9", {"0.5 - y", "x - 0.4", NULL}},
    {{.dim = 2, .domain = TES_DOMAIN_BALL, .refine = 1}, 2, "0.3 - x", {"1 + y", "x", NULL}},
    {{.dim = 3, .cells = {2, 3, 4}}, 1, "z - 0.5", {"0.3", "-1", "0.5"}}};

typedef struct Built {
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesiMatrix A;
} Built;

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f = NULL;
  if (text) assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

static void build(TesContext *ctx, const Case *is, Built *to) {
  TesFunction *a = expression(ctx, "1e-3"), *where = expression(ctx, is->where), *b[3];
  TesMeshDesc desc = is->mesh;
  *to = (Built){0};
  for (int d = 0; d < 3; d++) b[d] = expression(ctx, is->b[d]);
  desc.kind = TES_MESH_FOREST, desc.refine_where = where, desc.refine_times = where != NULL;
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &to->mesh));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = to->mesh, .degree = is->degree}, &to->space));
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION, .a = {.all = a}},
                              {.term = TES_TERM_TRANSPORT, .b = {b[0], b[1], b[2]}}};
  const TesOperatorDesc form = {.space = to->space, .form = {.terms = 2, .term = term}};
  assert_ok(ctx, tes_operator_create(ctx, &form, &to->op));
  assert_ok(ctx, tesi_operator_probe(to->op, &to->A));
  for (int d = 0; d < 3; d++) tes_function_destroy(&b[d]);
  tes_function_destroy(&where), tes_function_destroy(&a);
}

static void release(TesContext *ctx, Built *of) {
  tesi_matrix_destroy(ctx, &of->A);
  tes_operator_destroy(&of->op);
  tes_space_destroy(&of->space);
  tes_mesh_destroy(&of->mesh);
}

static double entry_of(const TesiMatrix *A, int64_t row, int64_t column) {
  for (int64_t e = A->row[row]; e < A->row[row + 1]; e++)
    if (A->column[e] == column) return A->value[e];
  return NAN;
}

static void matrices_are_parts(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    Built whole, part;
    double largest = 0;
    int64_t shared = 0;
    build(alone, &cases[c], &whole), build(together, &cases[c], &part);
    int64_t *match = match_nodes(whole.space, part.space);
    for (int64_t e = 0; e < whole.A.entries; e++) largest = fmax(largest, fabs(whole.A.value[e]));
    for (int64_t i = 0; i < part.A.rows; i++)
      for (int64_t e = part.A.row[i]; e < part.A.row[i + 1]; e++) {
        const double value = entry_of(&whole.A, match[i], match[part.A.column[e]]);
        if (!(fabs(part.A.value[e] - value) <= 1e-12 * largest))
          fail_msg("case %d: entry %d, %d is %.16g, not %.16g", (int)c, (int)i, part.A.column[e],
                   part.A.value[e], value);
      }
    for (int64_t i = 0; i < part.A.rows; i++) shared += !tesi_layout_owns(part.space->layout, i);
    assert_true(world->size == 1 || tesi_reduce_any(together, shared > 0)); /* there are cuts */
    free(match);
    release(alone, &whole), release(together, &part);
  }
}

/* The largest difference of copies. */
static double disagreement(const TesSpace *space, const TesVector *x) {
  const int64_t n = space->length;
  double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b), most = 0;
  assert_ok(together, tes_vector_get(x, a));
  for (int64_t i = 0; i < n; i++) b[i] = a[i];
  tesi_exchange_begin(space->layout->sum, TES_DOUBLE, b);
  tesi_exchange_end(space->layout->sum, TESI_MAXIMUM, TES_DOUBLE, b);
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
  tesi_reduce(together, TESI_MAXIMUM, 1, &most);
  free(a), free(b);
  return most;
}

/* The largest residual relative to that of zero after so many steps. */
static double after_steps(const Built *of, int steps, const TesVector *b, TesVector *x) {
  TesSmoother *smoother;
  TesVector *r;
  double first, last, norm;
  const TesSmootherDesc desc = {.op = of->op, .kind = TES_SMOOTHER_ORDERED_CELLS};
  assert_ok(together, tes_smoother_create(together, &desc, &smoother));
  assert_ok(together, tesi_operator_new_vector(of->op, TES_DOUBLE, &r));
  assert_ok(together, tes_vector_norm(b, &first));
  for (int i = 0; i < steps; i++) {
    assert_ok(together, tes_smoother_apply(smoother, b, x, TES_FORWARD, i == 0));
    assert_true(disagreement(of->space, x) == 0);
  }
  assert_ok(together, tes_operator_residual(of->op, b, x, r));
  assert_ok(together, tes_vector_norm(r, &last));
  assert_ok(together, tes_vector_copy(x, 1, r));
  assert_ok(together, tes_smoother_apply(smoother, b, x, TES_FORWARD, false));
  assert_ok(together, tes_vector_axpy(-1, x, r));
  assert_ok(together, tes_vector_norm(x, &norm));
  if (last < 1e-11 * first) { /* what is solved stays */
    double change;
    assert_ok(together, tes_vector_norm(r, &change));
    assert_true(change < 1e-8 * norm);
  }
  tes_smoother_destroy(&smoother);
  tes_vector_destroy(&r);
  return last / first;
}

static void steps_solve_along_the_flow(void **state) {
  (void)state;
  static const double left[] = {1e-10, 1, 1e-2, 1e-10}; /* the vortex is not solved by steps */
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    Built part;
    TesVector *b, *x;
    TesFunction *f = expression(together, "1 + x*y");
    build(together, &cases[c], &part);
    assert_ok(together, tesi_operator_new_vector(part.op, TES_DOUBLE, &b));
    assert_ok(together, tesi_operator_new_vector(part.op, TES_DOUBLE, &x));
    assert_ok(together, tes_functional_load(&(TesLoadDesc){.space = part.space, .f = {f}}, b));
    assert_ok(together, tes_vector_fill(x, NAN));
    const double rest = after_steps(&part, 40, b, x);
    if (!(rest < left[c])) fail_msg("case %d: 40 steps leave %g of the residual", (int)c, rest);
    tes_function_destroy(&f);
    tes_vector_destroy(&b), tes_vector_destroy(&x);
    release(together, &part);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(matrices_are_parts),
                                     cmocka_unit_test(steps_solve_along_the_flow)};
  const int status = begin_on_ranks(NULL);
  if (status) return status;
  return end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
