/* Run: ctest -R t6_aggregation_solve. The coarsest level by smoothed aggregation: counts of conjugate gradients beside
 * PyAMG's, what a solve leaves of an error on bodies that are free, on rollers, of several materials, with hanging
 * nodes; symmetry; bits for numbers of threads; failing allocations; refusals. */
#include "aggregation_testing.h"
#include "failing_allocator.h"
#include "multigrid/coarse/aggregation/aggregation.h"
#include "multigrid/coarse/coarse.h"

/* A body of cells whose inner vertices are moved by a fifth of a cell, as a Gmsh file. Its names: left, at x = 0; soft
 * and hard, whose cells take turns. */
static TesMesh *moved_body(TesContext *ctx, const int cells[3], double length, const char *path) {
  const int n[3] = {cells[0] + 1, cells[1] + 1, cells[2] + 1};
  const double h[3] = {length / cells[0], 1. / cells[1], 1. / cells[2]};
  FILE *file = fopen(path, "w");
  TesMesh *mesh = NULL;
  uint64_t seed = 3;
  int number = 0;
  assert_non_null(file);
  fprintf(
      file,
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n2 1 \"left\"\n3 2 \"soft\"\n3 3 \"hard\"\n"
      "$EndPhysicalNames\n$Nodes\n%d\n",
      n[0] * n[1] * n[2]);
  for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
    const int at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
    fprintf(file, "%d", i + 1);
    for (int d = 0; d < 3; d++) {
      bool inside = true;
      for (int e = 0; e < 3; e++) inside = inside && at[e] > 0 && at[e] < cells[e];
      fprintf(file, " %.17g", h[d] * (at[d] + (inside ? 0.2 * test_random(&seed) : 0)));
    }
    fprintf(file, "\n");
  }
  fprintf(file, "$EndNodes\n$Elements\n%d\n", cells[0] * cells[1] * cells[2] + cells[1] * cells[2]);
  for (int i = 0; i < cells[1] * cells[2]; i++) {
    const int v = 1 + (i / cells[1] * n[1] + i % cells[1]) * n[0], up = n[0] * n[1];
    fprintf(file, "%d 3 2 1 1 %d %d %d %d\n", ++number, v, v + n[0], v + n[0] + up, v + up);
  }
  for (int i = 0; i < cells[0] * cells[1] * cells[2]; i++) {
    const int at[3] = {i % cells[0], i / cells[0] % cells[1], i / cells[0] / cells[1]},
              v = 1 + (at[2] * n[1] + at[1]) * n[0] + at[0], tag = 2 + (at[0] + at[1] + at[2]) / 2 % 2;
    fprintf(file, "%d 5 2 %d %d", ++number, tag, tag);
    for (int up = 0; up <= n[0] * n[1]; up += n[0] * n[1])
      fprintf(file, " %d %d %d %d", v + up, v + up + 1, v + up + n[0] + 1, v + up + n[0]);
    fprintf(file, "\n");
  }
  fprintf(file, "$EndElements\n");
  assert_int_equal(fclose(file), 0);
  const TesStatus status =
      tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_FILE, .file = path}, &mesh);
  remove(path);
  if (status == TES_MISSING) skip();
  assert_ok(ctx, status);
  return mesh;
}

typedef enum Hold { CLAMPED, FREE, ROLLERS } Hold; /* all components on the left, none, the first alone */

typedef struct Body {
  bool elastic;
  Hold hold;
  double jump; /* of the modulus from cell to cell; 0: one material */
} Body;

/* Degree 1. Of two materials: the second is `jump` times as stiff. */
static TesOperator *make_operator(TesContext *ctx, const TesMesh *mesh, const Body *body) {
  TesSpace *space;
  TesOperator *op;
  uint8_t given[9] = {0};
  TesFunction *soft, *hard;
  for (int b = 0; b < tes_mesh_boundaries(mesh) && body->hold != FREE; b++)
    if (!strcmp(tes_mesh_boundary_name(mesh, b), "left"))
      given[b] = body->elastic && body->hold == CLAMPED ? 7 : 1;
  assert_ok(ctx, tes_function_create_constant(ctx, 1, &soft));
  assert_ok(ctx, tes_function_create_constant(ctx, body->jump, &hard));
  const TesFunction *const by_material[2] = {soft, hard};
  const TesCoefficient a = {.all = soft, .material = body->jump > 0 ? by_material : NULL};
  const TesTermDesc elastic[] = {{.term = TES_TERM_STRAIN, .a = a}, {.term = TES_TERM_GRAD_DIV, .a = a}},
                    diffusion = {.term = TES_TERM_DIFFUSION, .a = a};
  assert_ok(
      ctx,
      tes_space_create(
          ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .components = body->elastic ? 3 : 1, .given = given},
          &space));
  assert_ok(ctx, tes_operator_create(ctx,
                                     &(TesOperatorDesc){.space = space,
                                                        .form = body->elastic ? (TesForm){2, elastic, 0}
                                                                              : (TesForm){1, &diffusion, 0}},
                                     &op));
  tes_space_destroy(&space);
  tes_function_destroy(&soft);
  tes_function_destroy(&hard);
  return op;
}

/* Iterations of conjugate gradients to 1e-8 with one cycle, for random numbers where nothing is given. */
static int count(TesContext *ctx, const TesOperator *op, int *levels) {
  TesiBlockMatrix A;
  TesiHierarchy *h;
  double *motion, *B;
  int vectors, loose, steps = 0;
  assert_ok(ctx, tesi_elasticity_assemble(op, &A));
  assert_ok(ctx, tesi_elasticity_near_null(op, &vectors, &loose, &motion));
  const int64_t n = op->length, nodes = n / 3;
  B = zeros(n * vectors);
  for (int64_t i = 0; i < n * vectors; i++) B[(i % nodes * 3 + i % n / nodes) * vectors + i / n] = motion[i];
  assert_ok(
      ctx,
      tesi_hierarchy_create(
          ctx, &(TesiHierarchyDesc){.A = &A, .vectors = vectors, .loose = loose, .B = B, .last = 1500}, &h));
  double *r = random_numbers(n, 5), *z = zeros(n), *p = zeros(n), *q = zeros(n), rz = 0;
  for (int64_t i = 0; i < n; i++) {
    bool given = true;
    for (int k = 0; k < vectors; k++) given = given && B[i * vectors + k] == 0;
    if (given) r[i] = 0;
  }
  const double first = inner(n, r, r);
  for (; steps < 200 && !(inner(n, r, r) <= 1e-16 * first); steps++) {
    tesi_hierarchy_cycle(h, r, z);
    const double next = inner(n, r, z);
    for (int64_t i = 0; i < n; i++) p[i] = z[i] + (steps ? next / rz : 0) * p[i];
    tesi_block_run(ctx, &(TesiBlockTask){.way = TESI_BLOCK_MULTIPLY, .A = &h->level[0].A, .x = p, .y = q});
    const double alpha = next / inner(n, p, q);
    for (int64_t i = 0; i < n; i++) r[i] -= alpha * q[i];
    rz = next;
  }
  *levels = h->levels;
  print_message("%lld unknowns, %d levels, matrices %.2f times: %d iterations\n", (long long)n, h->levels,
                h->complexity, steps);
  assert_true(h->complexity < 1.2);
  double *all[] = {B, r, z, p, q};
  for (int i = 0; i < 5; i++) test_free(all[i]);
  tesi_free(ctx, &motion);
  tesi_hierarchy_destroy(&h);
  return steps;
}

/* PyAMG 5.4.1 on matrices of scikit-fem with as many cells, vertices moved as far, nu 0.25 to 0.3: six motions,
 * symmetric strength 0, prolongation by Jacobi 4/3, chebyshev of degree 3, two levels: 13 for the cube of 12^3 cells,
 * 20 for the beam 10:1 of 40 x 8 x 8 cells, 39 for 50:1 of 100 x 6 x 6. */
static void counts_are_those_of_pyamg(void **state) {
  static const struct {
    int cells[3];
    double length;
    int most;
  } bodies[] = {{{12, 12, 12}, 1, 13}, {{40, 8, 8}, 10, 21}, {{100, 6, 6}, 50, 42}};
  TesContext *ctx = make_context(1);
  (void)state;
  for (size_t i = 0; i < (test_brief() ? 1 : sizeof bodies / sizeof *bodies); i++) {
    int levels;
    TesMesh *mesh = moved_body(ctx, bodies[i].cells, bodies[i].length, "t6_aggregation_count.msh");
    TesOperator *op = make_operator(ctx, mesh, &(Body){.elastic = true});
    const int steps = count(ctx, op, &levels);
    assert_true(levels > 1);
    assert_in_range(steps, 6, bodies[i].most);
    tes_operator_destroy(&op);
    tes_mesh_destroy(&mesh);
  }
  tes_context_destroy(&ctx);
}

/* Zero where values are given, and A x for some x: so in the range of A. */
static TesVector *right_hand_side(TesContext *ctx, const TesOperator *op, uint64_t seed) {
  TesVector *x, *b;
  double *values = random_numbers(op->length, seed);
  assert_ok(ctx, tes_vector_create(ctx, op->length, TES_DOUBLE, &x));
  assert_ok(ctx, tes_vector_create(ctx, op->length, TES_DOUBLE, &b));
  for (int s = 0; s < op->space->scalars; s++) {
    const TesiCellView *view;
    assert_ok(ctx, tesi_space_cells(op->space->scalar[s], &view));
    for (int64_t i = 0; i < view->length - view->dofs; i++)
      values[op->space->first[s] + view->constrained[i]] = 0;
  }
  assert_ok(ctx, tes_vector_set(x, values));
  assert_ok(ctx, tes_operator_apply(op, x, b));
  tes_vector_destroy(&x);
  test_free(values);
  return b;
}

/* The solver M is symmetric, leaves given values 0, and iterations x <- x + M (b - A x) reduce the residual. */
static void check_solver(TesContext *ctx, const TesOperator *op, double most, const char *what) {
  TesiCoarse *coarse;
  TesVector *b = right_hand_side(ctx, op, 7), *c = right_hand_side(ctx, op, 8), *Mb, *Mc, *r;
  double bMc, cMb, bMb, norm, left;
  TesVector **const made[] = {&Mb, &Mc, &r};
  for (int i = 0; i < 3; i++) assert_ok(ctx, tes_vector_create(ctx, op->length, TES_DOUBLE, made[i]));
  assert_ok(ctx, tesi_coarse_create(op, TES_DOUBLE, TES_COARSE_AGGREGATION, &coarse));
  assert_non_null(strstr(tesi_coarse_describe(coarse), "of smoothed aggregation"));
  assert_ok(ctx, tesi_coarse_solve(coarse, b, Mb));
  assert_ok(ctx, tesi_coarse_solve(coarse, c, Mc));
  assert_ok(ctx, tes_vector_dot(b, Mc, &bMc));
  assert_ok(ctx, tes_vector_dot(c, Mb, &cMb));
  assert_ok(ctx, tes_vector_dot(b, Mb, &bMb));
  assert_true(bMb > 0);
  assert_near(bMc, cMb, 1e-10 * bMb);
  assert_ok(ctx, tes_vector_norm(b, &norm));
  for (int i = 0; i < 10; i++) {
    assert_ok(ctx, tes_operator_residual(op, b, Mb, r));
    assert_ok(ctx, tesi_coarse_solve(coarse, r, Mc));
    assert_ok(ctx, tes_vector_axpy(1, Mc, Mb));
  }
  assert_ok(ctx, tes_operator_residual(op, b, Mb, r));
  assert_ok(ctx, tes_vector_norm(r, &left));
  print_message("%s: %lld unknowns, %s, 10 solves leave %.1e\n", what, (long long)op->length,
                tesi_coarse_describe(coarse), left / norm);
  if (!(left <= most * norm)) fail_msg("%s: %g of the residual is left", what, left / norm);
  double *x = zeros(op->length);
  assert_ok(ctx, tes_vector_get(Mb, x));
  for (int s = 0; s < op->space->scalars; s++) {
    const TesiCellView *view;
    assert_ok(ctx, tesi_space_cells(op->space->scalar[s], &view));
    for (int64_t i = 0; i < view->length - view->dofs; i++)
      assert_near(x[op->space->first[s] + view->constrained[i]], 0, 0);
  }
  test_free(x);
  TesVector *all[] = {b, c, Mb, Mc, r};
  for (int i = 0; i < 5; i++) tes_vector_destroy(&all[i]);
  tesi_coarse_destroy(&coarse);
}

static void bodies_are_solved_however_they_are_held(void **state) {
  static const struct {
    Body body;
    const char *what;
  } bodies[] = {{{false, CLAMPED, 0}, "Poisson"},
                {{false, FREE, 0}, "Poisson, free"},
                {{false, CLAMPED, 1e3}, "Poisson, a jumps"},
                {{true, CLAMPED, 0}, "elasticity"},
                {{true, FREE, 0}, "elasticity, free"},
                {{true, ROLLERS, 0}, "elasticity, rollers"},
                {{true, CLAMPED, 1e3}, "elasticity, two materials"}};
  static const int cells[3] = {14, 11, 12};
  TesContext *ctx = make_context(2);
  TesMesh *mesh = moved_body(ctx, cells, 1.3, "t6_aggregation.msh");
  (void)state;
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    TesOperator *op = make_operator(ctx, mesh, &bodies[i].body);
    check_solver(ctx, op, bodies[i].body.jump > 0 ? 1e-4 : 1e-8, bodies[i].what);
    tes_operator_destroy(&op);
  }
  tes_mesh_destroy(&mesh);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* Rollers on two sides, cells of two sizes; and degree 2, with a mass and springs. */
static void hanging_nodes_masses_and_springs(void **state) {
  TesContext *ctx = make_context(2);
  TesFunction *corner = expression(ctx, "0.3 - x - y");
  Place p = {.ctx = ctx};
  static const uint8_t given[8] = {1, 0, 2};
  (void)state;
  for (int degree = test_brief() ? 2 : 1; degree <= 2; degree++)
    for (int dim = 2; dim <= 3; dim++) {
      TesOperator *op;
      char what[80];
      const int n = dim == 3 ? 10 - 2 * test_brief() : degree == 1 ? 40 : 20;
      const TesStatus status = tes_mesh_create(ctx,
                                               &(TesMeshDesc){.dim = dim,
                                                              .cells = {n, n, degree == 1 ? n : 3},
                                                              .refine_where = corner,
                                                              .kind = TES_MESH_FOREST},
                                               &p.mesh);
      if (status == TES_MISSING) skip();
      assert_ok(ctx, status);
      assert_ok(ctx,
                tes_space_create(
                    ctx, &(TesSpaceDesc){.mesh = p.mesh, .degree = degree, .components = dim, .given = given},
                    &p.space));
      assert_true(tes_space_hanging(p.space) > 0);
      assert_ok(ctx, create(&p, degree == 1 ? 0 : VARIES | MASS | SPRINGS, TES_DOUBLE, &op));
      snprintf(what, sizeof what, "hanging nodes, %dD, degree %d", dim, degree);
      check_solver(ctx, op, 1e-8, what);
      tes_operator_destroy(&op);
      leave(&p);
    }
  tes_function_destroy(&corner);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

static void bits_do_not_depend_on_threads(void **state) {
  static const int cells[3] = {14, 11, 12};
  (void)state;
  assert_int_equal(setenv("TESSERA_TEAM_WORK", "1", 1), 0);
  for (int elastic = 0; elastic < 2; elastic++) {
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
      TesContext *ctx = make_context(threads);
      TesMesh *mesh = moved_body(ctx, cells, 1.3, "t6_aggregation_bits.msh");
      TesOperator *op = make_operator(ctx, mesh, &(Body){.elastic = elastic});
      TesiAggregation *aggregation;
      double *b = random_numbers(op->length, 5), *x = zeros(op->length);
      assert_ok(ctx, tesi_aggregation_create(op, &aggregation));
      assert_ok(ctx, tesi_aggregation_solve(aggregation, b, x));
      if (first) assert_memory_equal(first, x, (size_t)op->length * sizeof *x);
      if (first)
        test_free(x);
      else
        first = x;
      test_free(b);
      tesi_aggregation_destroy(&aggregation);
      tes_operator_destroy(&op);
      tes_mesh_destroy(&mesh);
      tes_context_destroy(&ctx);
    }
    test_free(first);
  }
  assert_int_equal(unsetenv("TESSERA_TEAM_WORK"), 0);
}

static TesStatus make_and_solve(TesContext *ctx, void *user) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  TesOperator *op = NULL;
  TesiAggregation *aggregation = NULL;
  static const uint8_t given[6] = {7};
  const TesTermDesc elastic[] = {{.term = TES_TERM_STRAIN}, {.term = TES_TERM_GRAD_DIV}};
  (void)user;
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {9, 8, 8}, .kind = TES_MESH_BOX}, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .components = 3, .given = given},
                           &space));
  TES_TRY(tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {2, elastic, 0}}, &op));
  TES_TRY(tesi_aggregation_create(op, &aggregation));
done:
  tesi_aggregation_destroy(&aggregation);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

static void allocations_may_fail(void **state) {
  (void)state;
  assert_true(allocations_fail(make_and_solve, NULL, 20) > 100);
}

static void other_operators_are_refused(void **state) {
  TesContext *ctx = make_context(1);
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesiCoarse *coarse;
  TesFunction *one, *velocity[3];
  (void)state;
  const TesStatus status =
      tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {4, 4}, .kind = TES_MESH_FOREST}, &mesh);
  if (status == TES_MISSING) skip();
  assert_ok(ctx, status);
  assert_ok(ctx, tes_function_create_constant(ctx, 1, &one));
  for (int d = 0; d < 3; d++) assert_ok(ctx, tes_function_create_constant(ctx, 1, &velocity[d]));
  const TesTermDesc terms[] = {{.term = TES_TERM_DIFFUSION},
                               {.term = TES_TERM_TRANSPORT, .b = {velocity[0], velocity[1]}}};
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1}, &space));
  assert_ok(ctx, tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {2, terms, 0}}, &op));
  assert_int_equal(tesi_coarse_create(op, TES_DOUBLE, TES_COARSE_AGGREGATION, &coarse), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "symmetric"));
  tes_context_clear(ctx);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&one);
  for (int d = 0; d < 3; d++) tes_function_destroy(&velocity[d]);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_those_of_pyamg),
                                     cmocka_unit_test(bodies_are_solved_however_they_are_held),
                                     cmocka_unit_test(hanging_nodes_masses_and_springs),
                                     cmocka_unit_test(bits_do_not_depend_on_threads),
                                     cmocka_unit_test(allocations_may_fail),
                                     cmocka_unit_test(other_operators_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
