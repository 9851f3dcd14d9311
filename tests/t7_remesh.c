/* Run: ctest -R t7_remesh. Meshes that change while steps are made. Projections from mesh to mesh: orthogonality,
 * means, the numbers of another program; solutions that elements hold exactly, whose error must be that of the steps
 * on one mesh, for all methods, bodies too; what is transported is kept; the hill that goes round beside one fine mesh;
 * memory; refusals; steady transport. */
#include "problem/adapt/remesh.h"
#include "forest_testing.h"
#include "time_testing.h"

static TesContext *ctx;

static TesMesh *make_box(int dim, int cells) {
  TesMesh *mesh;
  const TesMeshDesc desc = {.kind = TES_MESH_FOREST, .dim = dim, .cells = {cells, cells, cells}};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  return mesh;
}

/* ---- projections --------------------------------------------------------------------------------------- */

/* A space without given values, its mass matrix and a vector. */
typedef struct Level {
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *mass;
  TesVector *u;
} Level;

static Level make_level(TesMesh *mesh, int degree) {
  Level l = {.mesh = mesh};
  uint8_t *none = test_calloc((size_t)tes_mesh_boundaries(mesh) + 1, 1);
  const TesTermDesc term = {.term = TES_TERM_MASS};
  assert_ok(ctx,
            tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree, .given = none}, &l.space));
  assert_ok(ctx,
            tes_operator_create(ctx, &(TesOperatorDesc){.space = l.space, .form = {1, &term, 0}}, &l.mass));
  l.u = test_vector(ctx, l.space->length, TES_DOUBLE, 0);
  test_free(none);
  return l;
}

static void drop_level(Level *l) {
  tes_vector_destroy(&l->u);
  tes_operator_destroy(&l->mass);
  tes_space_destroy(&l->space);
  tes_mesh_destroy(&l->mesh);
}

static double integral(const Level *l) {
  double value;
  assert_ok(ctx, tes_functional_value(l->space, l->u, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &value));
  return value;
}

static double product(const Level *l, const TesVector *x, const TesVector *y) {
  TesVector *z = test_vector(ctx, l->space->length, TES_DOUBLE, 0);
  double dot;
  assert_ok(ctx, tes_operator_apply(l->mass, x, z));
  assert_ok(ctx, tes_vector_dot(y, z, &dot));
  tes_vector_destroy(&z);
  return dot;
}

/* Some cells refined, some families coarsened; not beyond `most` cells. */
static TesMesh *adapt_at_random(const TesMesh *mesh, int64_t most, bool refine, uint64_t *seed) {
  const int64_t cells = tes_mesh_info(mesh).cells;
  int8_t *mark = test_malloc((size_t)cells);
  TesMesh *next;
  const int children = 1 << tes_mesh_info(mesh).dim;
  for (int64_t c = 0; c < cells; c++) {
    const bool coarsen = test_below(seed, 3) == 0;
    mark[c] = (int8_t)(refine && cells < most && mesh->leaves.level[c] < 6 && test_below(seed, 8) == 0);
    if (!coarsen || mesh->leaves.child[c] != 0) continue;
    for (int i = 0; i < children && c + i < cells; i++) mark[c + i] = -1;
    c += tesi_min(children, (int)(cells - c)) - 1;
  }
  assert_ok(ctx, tes_mesh_adapt(mesh, mark, &next));
  test_free(mark);
  return next;
}

/* Coarsened alone, the new functions are among the old ones: there (u - P u, w) = 0 for all new w. */
static void check_orthogonal(int dim, int degree, uint64_t *seed) {
  TesMesh *mesh = make_box(dim, 4);
  while (mesh->cells < 80) {
    TesMesh *next = adapt_at_random(mesh, dim == 2 ? 200 : 100, true, seed);
    tes_mesh_destroy(&mesh);
    mesh = next;
  }
  TesMesh *coarse = adapt_at_random(mesh, 0, false, seed);
  while (coarse->cells == mesh->cells) {
    tes_mesh_destroy(&coarse);
    coarse = adapt_at_random(mesh, 0, false, seed);
  }
  Level old = make_level(mesh, degree), new = make_level(coarse, degree);
  assert_true(new.space->length < old.space->length);
  tes_vector_destroy(&old.u);
  old.u = test_vector(ctx, old.space->length, TES_DOUBLE, 7);
  TesVector *w = test_vector(ctx, new.space->length, TES_DOUBLE, 11),
            *fine = test_vector(ctx, old.space->length, TES_DOUBLE, 0);
  assert_ok(ctx, tesi_move_projected(old.space, old.u, new.mass, 1e-10, new.u));
  assert_ok(ctx, tes_space_carry(new.space, new.u, old.space, fine));
  assert_ok(ctx, tes_vector_axpy(-1, fine, old.u)); /* the difference */
  assert_ok(ctx, tes_space_carry(new.space, w, old.space, fine));
  const double size = sqrt(product(&old, old.u, old.u) * product(&old, fine, fine));
  assert_true(size > 1e-3);
  assert_near(product(&old, old.u, fine), 0, 1e-9 * size);
  tes_vector_destroy(&w);
  tes_vector_destroy(&fine);
  drop_level(&old);
  drop_level(&new);
}

static void projections_are_orthogonal(void **state) {
  uint64_t seed = 3;
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= (dim == 2 ? 8 : 3); degree++) check_orthogonal(dim, degree, &seed);
}

/* 100 meshes, each with cells refined and coarsened at random. */
static void check_means(int dim, int degree, int meshes) {
  uint64_t seed = (uint64_t)(10 * dim + degree);
  TesFunction *f = expression(ctx, "1 + exp(-20*(pow(x - 0.4, 2) + pow(y - 0.6, 2)))");
  Level old = make_level(make_box(dim, 4), degree);
  assert_ok(ctx, tes_space_interpolate(old.space, (const TesFunction *[]){f}, old.u));
  const double mean = integral(&old);
  for (int i = 0; i < meshes; i++) {
    Level new = make_level(adapt_at_random(old.mesh, dim == 2 ? 150 : 80, true, &seed), degree);
    assert_ok(ctx, tesi_move_projected(old.space, old.u, new.mass, 1e-10, new.u));
    drop_level(&old);
    old = new;
  }
  assert_near(integral(&old), mean, 1e-12 * mean);
  drop_level(&old);
  tes_function_destroy(&f);
}

static void means_stay(void **state) {
  (void)state;
  const int meshes = test_brief() ? 20 : 100;
  for (int degree = 1; degree <= 4; degree++) check_means(2, degree, meshes);
  check_means(3, 2, meshes);
}

/* A hill of width 0.07 on half as many cells: the change of its integral and the L2 norm of the change, of its own
 * norm; as an independent program has it. */
static void hills_change_as_known(void **state) {
  static const struct {
    int degree, cells;
    double changed;
  } rows[] = {{1, 64, 9.3e-3}, {4, 16, 1.6e-3}};
  (void)state;
  TesFunction *hill = expression(ctx, "exp(-(pow(x - 0.5, 2) + pow(y - 0.75, 2))/(2*0.0049))");
  for (int i = 0; i < 2; i++) {
    TesMesh *fine = make_box(2, 1), *next;
    int8_t marks[5000];
    for (int n = 1; n < rows[i].cells; n *= 2) {
      memset(marks, 1, sizeof marks);
      assert_ok(ctx, tes_mesh_adapt(fine, marks, &next));
      tes_mesh_destroy(&fine);
      fine = next;
    }
    memset(marks, -1, sizeof marks);
    assert_ok(ctx, tes_mesh_adapt(fine, marks, &next));
    Level old = make_level(fine, rows[i].degree), new = make_level(next, rows[i].degree);
    assert_ok(ctx, tes_space_interpolate(old.space, (const TesFunction *[]){hill}, old.u));
    const double size = sqrt(product(&old, old.u, old.u));
    assert_ok(ctx, tesi_move_projected(old.space, old.u, new.mass, 1e-10, new.u));
    assert_near(integral(&new), integral(&old), 1e-14 * integral(&old));
    TesVector *back = test_vector(ctx, old.space->length, TES_DOUBLE, 0);
    assert_ok(ctx, tes_space_carry(new.space, new.u, old.space, back));
    assert_ok(ctx, tes_vector_axpy(-1, old.u, back));
    const double changed = sqrt(product(&old, back, back)) / size;
    print_message("degree %d, %d cells: changed by %.3e\n", rows[i].degree, rows[i].cells, changed);
    assert_near(changed, rows[i].changed, 0.05 * rows[i].changed);
    tes_vector_destroy(&back);
    drop_level(&old);
    drop_level(&new);
  }
  tes_function_destroy(&hill);
}

/* ---- steps --------------------------------------------------------------------------------------------- */

/* All steps, with the mesh looked at before each; how often it changed. */
static int run(TesProblem *problem, const TesAdaptDesc *adapt) {
  int changed = 0;
  TesSolveResult result;
  TesRemesh remesh;
  while (tes_problem_info(problem).step < tes_problem_info(problem).steps) {
    assert_ok(ctx, tes_problem_remesh(problem, adapt, &remesh));
    changed += remesh.changed;
    assert_int_equal(remesh.cells, tes_mesh_info(tes_space_mesh(tes_problem_space(problem))).cells);
    assert_ok(ctx, tes_problem_step(problem, &result));
  }
  return changed;
}

/* Elements of degree 2 hold the solution: with another mesh every second step, refined and coarsened at random, the
 * error is that of the steps, but for its form in space. */
static void exact_solutions_keep_their_error(void **state) {
  (void)state;
  Heat h = make_heat(ctx, "exp(-t)*cos(3*t)", "exp(-t)*(-cos(3*t) - 3*sin(3*t))");
  TesMesh *mesh;
  assert_true(make_mesh(ctx, TES_MESH_FOREST, 4, &mesh));
  const TesBoundary boundary[] = {{.g = {h.u}}, {.name = "top", .condition = TES_NEUMANN, .g = {h.flux}}};
  for (int i = 0; i < METHODS; i++) {
    TesProblemDesc desc = {.equation = TES_TRANSPORT,
                           .mesh = mesh,
                           .degree = 2,
                           .balance = true,
                           .data = {.a = h.a, .c = h.c, .f = {h.f}},
                           .exact = {h.u},
                           .boundaries = 2,
                           .boundary = boundary,
                           .time = {.end = 1, .step = 0.05, .method = methods[i].method},
                           .solver = {.tolerance = 1e-12}};
    double error[2], h1;
    uint64_t seed = 5;
    for (int k = 0; k < 2; k++) {
      TesProblem *problem;
      TesSolveResult result;
      TesRemesh remesh;
      assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
      for (int step = 0; step < 20; step++) {
        assert_ok(ctx, tes_problem_step(problem, &result));
        if (!k || step % 2) continue;
        TesMesh *next = adapt_at_random(tes_space_mesh(tes_problem_space(problem)), 60, true, &seed);
        assert_ok(ctx, tesi_change_mesh(problem, next, &remesh));
        tes_mesh_destroy(&next);
      }
      assert_ok(ctx, tes_problem_errors(problem, &error[k], &h1));
      assert_near(tes_problem_info(problem).balance.defect, 0, 1e-9);
      tes_problem_destroy(&problem);
    }
    print_message("method %d: %.6e on one mesh, %.6e on many\n", (int)methods[i].method, error[0], error[1]);
    assert_near(error[1], error[0], 5e-3 * error[0]);
  }
  tes_mesh_destroy(&mesh);
  forget(&h);
}

/* A closed vortex, in the conservative form: what is carried is kept, whatever the meshes. */
static void closed_vortex_keeps_all(void **state) {
  (void)state;
  TesMesh *mesh = make_box(2, 4);
  TesFunction *a = expression(ctx, "1e-3"), *b1 = expression(ctx, "pi*sin(pi*x)*cos(pi*y)"),
              *b2 = expression(ctx, "-pi*cos(pi*x)*sin(pi*y)"),
              *u = expression(ctx, "exp(-(pow(x - 0.5, 2) + pow(y - 0.75, 2))/0.02)");
  const TesBoundary closed = {.condition = TES_FLUX};
  TesProblem *problem;
  double before, after;
  const TesValue all = {.kind = TES_VALUE_INTEGRAL};
  assert_ok(ctx, tes_problem_create(ctx,
                                    &(TesProblemDesc){.equation = TES_TRANSPORT,
                                                      .mesh = mesh,
                                                      .degree = 3,
                                                      .transport_form = TES_TRANSPORT_CONSERVATIVE,
                                                      .balance = true,
                                                      .data = {.a = a, .b = {b1, b2}},
                                                      .initial = {u},
                                                      .boundaries = 1,
                                                      .boundary = &closed,
                                                      .time = {.end = 0.2, .step = 0.005},
                                                      .solver = {.tolerance = 1e-10}},
                                    &problem));
  const TesAdaptDesc adapt = {.max_level = 2};
  TesRemesh remesh;
  assert_ok(ctx, tes_problem_remesh(problem, &adapt, &remesh));
  assert_true(remesh.changed && remesh.cells > 16);
  assert_ok(ctx, tes_problem_value(problem, &all, &before));
  assert_true(run(problem, &adapt) >= 3);
  assert_ok(ctx, tes_problem_value(problem, &all, &after));
  assert_near(after, before, 1e-10 * before);
  assert_near(tes_problem_info(problem).balance.defect, 0, 1e-10 * before);
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  TesFunction *functions[] = {a, b1, b2, u};
  for (int i = 0; i < 4; i++) tes_function_destroy(&functions[i]);
}

typedef struct Hill {
  TesFunction *a, *b1, *b2, *u;
  TesBoundary boundary;
  TesProblemDesc desc;
} Hill;

/* The hill that goes round, for a time. */
static void make_hill(Hill *h, const TesMesh *mesh, double end, double step) {
  h->a = expression(ctx, "1e-4");
  h->b1 = expression(ctx, "2*pi*(0.5 - y)"), h->b2 = expression(ctx, "2*pi*(x - 0.5)");
  h->u = expression(ctx, "0.0049/(0.0049 + 2e-4*t)*exp(-(pow(x - 0.5 + 0.25*sin(2*pi*t), 2) + pow(y - 0.5 - "
                         "0.25*cos(2*pi*t), 2))/(2*(0.0049 + 2e-4*t)))");
  h->boundary = (TesBoundary){.g = {h->u}};
  h->desc = (TesProblemDesc){.equation = TES_TRANSPORT,
                             .mesh = mesh,
                             .degree = 2,
                             .data = {.a = h->a, .b = {h->b1, h->b2}},
                             .exact = {h->u},
                             .boundaries = 1,
                             .boundary = &h->boundary,
                             .time = {.end = end, .step = step, .method = TES_TIME_CRANK_NICOLSON},
                             .solver = {.tolerance = 1e-4}};
}

static void drop_hill(Hill *h) {
  TesFunction *functions[] = {h->a, h->b1, h->b2, h->u};
  for (int i = 0; i < 4; i++) tes_function_destroy(&functions[i]);
}

/* With a third of the unknowns of one fine mesh at most the same error within a tenth. */
static void hill_goes_round(void **state) {
  (void)state;
  TesMesh *coarse = make_box(2, 8), *fine = make_box(2, 32);
  double error[2], h1;
  int64_t dofs[2];
  for (int k = 0; k < 2; k++) {
    Hill h;
    TesProblem *problem;
    TesSolveResult result;
    make_hill(&h, k ? coarse : fine, 0.25, 0.005);
    assert_ok(ctx, tes_problem_create(ctx, &h.desc, &problem));
    if (k)
      assert_true(run(problem, &(TesAdaptDesc){.every = 4, .max_level = 2}) >= 10);
    else
      assert_ok(ctx, tes_problem_solve(problem, &result));
    assert_ok(ctx, tes_problem_errors(problem, &error[k], &h1));
    dofs[k] = tes_space_dofs(tes_problem_space(problem));
    tes_problem_destroy(&problem);
    drop_hill(&h);
  }
  print_message("errors %.4e and %.4e, unknowns %lld and %lld\n", error[0], error[1], (long long)dofs[0],
                (long long)dofs[1]);
  assert_near(error[1], error[0], 0.1 * error[0]);
  assert_true(3 * dofs[1] <= dofs[0]);
  tes_mesh_destroy(&coarse);
  tes_mesh_destroy(&fine);
}

/* max_dofs bounds meshes, and memory is that of the mesh, not of how many there were. */
static void memory_does_not_grow(void **state) {
  (void)state;
  Hill h;
  TesProblem *problem;
  TesMesh *mesh = make_box(2, 4);
  TesSolveResult result;
  TesRemesh remesh;
  const int steps = test_brief() ? 60 : 400;
  double bytes_early = 0, bytes_late = 0;
  make_hill(&h, mesh, 1, 1.0 / steps);
  h.desc.degree = 1;
  const TesAdaptDesc adapt = {.every = 1, .max_level = 3, .max_dofs = 300};
  assert_ok(ctx, tes_problem_create(ctx, &h.desc, &problem));
  for (int i = 0; i < steps; i++) {
    assert_ok(ctx, tes_problem_remesh(problem, &adapt, &remesh));
    assert_true(remesh.dofs <= 300);
    assert_ok(ctx, tes_problem_step(problem, &result));
    const double bytes = (double)tes_context_memory(ctx) / (double)remesh.cells;
    if (i >= steps / 2)
      bytes_late = fmax(bytes_late, bytes);
    else
      bytes_early = fmax(bytes_early, bytes);
  }
  print_message("bytes a cell: at most %.0f, later %.0f\n", bytes_early, bytes_late);
  assert_true(bytes_late < 1.1 * bytes_early);
  tes_problem_destroy(&problem);
  drop_hill(&h);
  tes_mesh_destroy(&mesh);
}

static void expect_refusal(TesProblem *problem, const TesAdaptDesc *adapt, const char *message) {
  TesRemesh remesh;
  assert_int_equal(tes_problem_remesh(problem, adapt, &remesh), TES_INVALID_INPUT);
  if (!strstr(tes_context_message(ctx), message)) fail_msg("got: %s", tes_context_message(ctx));
  tes_context_clear(ctx);
}

/* u = (x y, x x) sin(3 t), which elements of degree 2 hold: lambda and mu are 1 (in plane stress lambda is 2/3). */
typedef struct Body {
  TesFunction *u[2], *f[2], *traction[2], *density, *one;
} Body;

static Body make_body(TesPlane plane) {
  static const char *const pull[] = {"-4", "-11/3"}, *const top[] = {"y", "2/3*y"};
  const char *text[] = {
      "x*y*sin(3*t)", "x*x*sin(3*t)", "-9*(2 + x)*x*y*sin(3*t)", NULL, "3*x*sin(3*t)", NULL, "2 + x", "1"};
  char f[80], traction[80];
  Body b;
  TesFunction **const all[] = {&b.u[0],        &b.u[1],        &b.f[0],    &b.f[1],
                               &b.traction[0], &b.traction[1], &b.density, &b.one};
  snprintf(f, sizeof f, "(-9*(2 + x)*x*x + %s)*sin(3*t)", pull[plane == TES_PLANE_STRESS]);
  snprintf(traction, sizeof traction, "%s*sin(3*t)", top[plane == TES_PLANE_STRESS]);
  text[3] = f, text[5] = traction;
  for (int i = 0; i < 8; i++) assert_ok(ctx, tes_function_create_expression(ctx, text[i], all[i]));
  return b;
}

static double error_of_body(const TesMesh *mesh, TesPlane plane, TesTimeMethod method, bool changes) {
  Body b = make_body(plane);
  TesMesh *next;
  TesProblem *problem;
  TesSolveResult result;
  TesRemesh remesh;
  uint64_t seed = 9;
  double l2, h1;
  const TesBoundary boundary[] = {
      {.g = {b.u[0], b.u[1]}}, {.name = "top", .condition = TES_NEUMANN, .g = {b.traction[0], b.traction[1]}}};
  const TesProblemDesc desc = {.equation = TES_ELASTICITY,
                               .mesh = mesh,
                               .degree = 2,
                               .plane = plane,
                               .data = {.a = b.one, .lambda = b.one, .c = b.density, .f = {b.f[0], b.f[1]}},
                               .exact = {b.u[0], b.u[1]},
                               .boundaries = 2,
                               .boundary = boundary,
                               .time = {.end = 1, .step = 0.05, .method = method},
                               .solver = {.tolerance = 1e-10}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  for (int step = 0; step < 20; step++) {
    assert_ok(ctx, tes_problem_step(problem, &result));
    if (!changes || step % 2) continue;
    next = adapt_at_random(tes_space_mesh(tes_problem_space(problem)), 60, true, &seed);
    assert_ok(ctx, tesi_change_mesh(problem, next, &remesh));
    tes_mesh_destroy(&next);
  }
  assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
  tes_problem_destroy(&problem);
  TesFunction **const all[] = {&b.u[0],        &b.u[1],        &b.f[0],    &b.f[1],
                               &b.traction[0], &b.traction[1], &b.density, &b.one};
  for (int i = 0; i < 8; i++) tes_function_destroy(all[i]);
  return l2;
}

/* Displacements, velocities and accelerations go from mesh to mesh. */
static void bodies_keep_their_error(void **state) {
  static const TesTimeMethod of[] = {TES_TIME_NEWMARK, TES_TIME_GENERALIZED_ALPHA, TES_TIME_BACKWARD_EULER};
  TesMesh *mesh = make_box(2, 4);
  (void)state;
  for (int i = 0; i < 6; i++) {
    const TesPlane plane = i % 2 ? TES_PLANE_STRESS : TES_PLANE_STRAIN;
    const double error = error_of_body(mesh, plane, of[i / 2], false);
    assert_true(error > 1e-6 && error < 0.1);
    assert_near(error_of_body(mesh, plane, of[i / 2], true), error, 0.1 * error);
  }
  tes_mesh_destroy(&mesh);
}

static void what_has_no_mesh_to_change_is_refused(void **state) {
  (void)state;
  Hill h;
  TesProblem *problem;
  TesMesh *forest = make_box(2, 4), *box, *other = make_box(2, 8);
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = 2, .cells = {4, 4}}, &box));
  make_hill(&h, box, 1, 0.1);
  const TesAdaptDesc good = {.every = 1, .max_level = 1};
  assert_ok(ctx, tes_problem_create(ctx, &h.desc, &problem));
  expect_refusal(problem, &good, "only meshes of kind forest are adapted");
  tes_problem_destroy(&problem);
  h.desc.mesh = forest;
  assert_ok(ctx, tes_problem_create(ctx, &h.desc, &problem));
  expect_refusal(problem, &(TesAdaptDesc){.every = 1}, "max_level or max_dofs must bound");
  expect_refusal(problem, &(TesAdaptDesc){.every = -1, .max_level = 1}, "adapt.every is -1, expected 0..");
  expect_refusal(problem, &(TesAdaptDesc){.max_level = 1, .estimator = TES_ESTIMATE_DWR},
                 "residual estimator");
  expect_refusal(problem, &(TesAdaptDesc){.max_level = 1, .first = other}, "other trees");
  tes_problem_destroy(&problem);
  h.desc.data.b[0] = h.desc.data.b[1] = NULL;
  assert_ok(ctx, tes_problem_create(ctx, &h.desc, &problem));
  expect_refusal(problem, &(TesAdaptDesc){.max_level = 1}, "adapt.every: there is no flow");
  tes_problem_destroy(&problem);
  h.desc.time = (TesTimeDesc){0};
  assert_ok(ctx, tes_problem_create(ctx, &h.desc, &problem));
  expect_refusal(problem, &good, "a steady problem");
  tes_problem_destroy(&problem);
  drop_hill(&h);
  tes_mesh_destroy(&forest);
  tes_mesh_destroy(&other);
  tes_mesh_destroy(&box);
}

/* ---- steady transport ---------------------------------------------------------------------------------- */

typedef struct Record {
  int steps;
  double dofs[32], error[32], effectivity[32];
} Record;

static TesStatus note(void *user, const TesAdaptStep *step) {
  Record *r = user;
  r->dofs[r->steps] = (double)step->dofs, r->error[r->steps] = step->error_l2;
  r->effectivity[r->steps++] = step->effectivity;
  print_message("  %lld unknowns, L2 %.3e, effectivity %.2f\n", (long long)step->dofs, step->error_l2,
                step->effectivity);
  return TES_OK;
}

/* A layer at the outflow, u = x (1 - exp((y - 1)/a)..): b = (0, 1). The error falls as the dofs^(3/2) of degree 2 in
 * 2D, the estimate with it. */
static void steady_transport_is_adapted(void **state) {
  (void)state;
  TesMesh *mesh = make_box(2, 4);
  TesFunction *a = expression(ctx, "0.02"), *b = expression(ctx, "1"),
              *u = expression(ctx, "(1 + x)*(1 - exp((y - 1)*50))/(1 - exp(-50))"), *f = expression(ctx, "0");
  const TesBoundary all = {.g = {u}};
  Record record = {0};
  const TesProblemDesc problem = {.equation = TES_TRANSPORT,
                                  .mesh = mesh,
                                  .degree = 2,
                                  .stabilization = TES_STREAMLINE_ALWAYS,
                                  .data = {.a = a, .b = {NULL, b}, .f = {f}},
                                  .exact = {u},
                                  .boundaries = 1,
                                  .boundary = &all};
  assert_ok(ctx, tes_adapt_run(ctx, &problem,
                               &(TesAdaptDesc){.steps = 7, .report = note, .report_user = &record}, NULL));
  const int n = record.steps - 1;
  assert_int_equal(n, 6);
  const double rate = log(record.error[1] / record.error[n]) / log(record.dofs[n] / record.dofs[1]);
  print_message("rate %.2f\n", rate);
  assert_true(rate > 1.4);
  for (int i = 1; i <= n; i++) assert_true(record.effectivity[i] > 0.5 && record.effectivity[i] < 20);
  tes_mesh_destroy(&mesh);
  TesFunction *functions[] = {a, b, u, f};
  for (int i = 0; i < 4; i++) tes_function_destroy(&functions[i]);
}

static int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET}, &ctx, NULL, 0) !=
         TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  const size_t left = tes_context_memory(ctx);
  tes_context_destroy(&ctx);
  return left != 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(projections_are_orthogonal),
                                     cmocka_unit_test(means_stay),
                                     cmocka_unit_test(hills_change_as_known),
                                     cmocka_unit_test(exact_solutions_keep_their_error),
                                     cmocka_unit_test(closed_vortex_keeps_all),
                                     cmocka_unit_test(hill_goes_round),
                                     cmocka_unit_test(bodies_keep_their_error),
                                     cmocka_unit_test(memory_does_not_grow),
                                     cmocka_unit_test(what_has_no_mesh_to_change_is_refused),
                                     cmocka_unit_test(steady_transport_is_adapted)};
  if (!tes_has_part("p4est")) return 0;
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
