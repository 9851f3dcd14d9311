/* Run: ctest -R t7_equations. A small equation that only this test has: one backward Euler step of heat, u / dt -
 * div(a grad u) = f + u_old / dt, with its own form and its own load, over the table of equations alone. And
 * another one of a component a direction: the vector Laplacian. On boxes and forests, on the host and in the
 * emulator, against manufactured solutions; through VTU files and checkpoints. And boundaries by name: numbers,
 * priorities, refusals. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "problem/problem.h"
#include "tessera/tessera.h"
#include "context_testing.h"

typedef struct Heat {
  double dt;
  const TesFunction *old;
} Heat;

static int heat_form(const TesProblem *p, TesTermDesc *term) {
  const Heat *heat = p->user;
  term[0] = (TesTermDesc){.term = TES_TERM_DIFFUSION, .a = {p->numbered.data.a, p->numbered.a}};
  term[1] = (TesTermDesc){.term = TES_TERM_MASS, .factor = 1 / heat->dt};
  return 2;
}

static TesStatus heat_load(const TesProblem *p, TesVector *b) {
  const Heat *heat = p->user;
  TesContext *on = p->context;
  TesVector *old = NULL;
  TesStatus status = tesi_problem_load(p, p->numbered.data.f, p->numbered.f, false, b);
  if (status == TES_OK) status = tes_vector_create(on, tes_vector_length(b), TES_DOUBLE, &old);
  if (status == TES_OK)
    status = tes_functional_load(&(TesLoadDesc){.space = p->space, .f = {heat->old}}, old);
  if (status == TES_OK) status = tes_vector_axpy(1 / heat->dt, old, b);
  tes_vector_destroy(&old);
  return status;
}

static int heat_shown(const TesProblem *p, TesiShown *shown) {
  shown[0] = (TesiShown){"u_old", {((const Heat *)p->user)->old}, NULL};
  return 1;
}

static const TesiEquation heat = {.name = "heat", .form = heat_form, .load = heat_load, .shown = heat_shown};

static TesFunction *expression(TesContext *on, const char *text) {
  TesFunction *f;
  assert_ok(on, tes_function_create_expression(on, text, &f));
  return f;
}

/* u = (1 + t) w(x), w = sin(x + 2y), from t = 0 to dt, so that one step is exact in time: f = w - (1 + dt) div(a
 * grad w), a = 1 + x/2. */
typedef struct Manufactured {
  TesFunction *a, *f, *u, *old, *flux;
} Manufactured;

static Manufactured manufacture(TesContext *on, double dt) {
  char f[200], u[80], flux[100];
  snprintf(u, sizeof u, "%g*sin(x + 2*y)", 1 + dt);
  snprintf(f, sizeof f, "sin(x + 2*y) - %g*(0.5*cos(x + 2*y) - 5*(1 + x/2)*sin(x + 2*y))", 1 + dt);
  snprintf(flux, sizeof flux, "%g*(1 + x/2)*2*cos(x + 2*y)", 1 + dt); /* at the top */
  return (Manufactured){expression(on, "1 + x/2"), expression(on, f), expression(on, u),
                        expression(on, "sin(x + 2*y)"), expression(on, flux)};
}

static void forget(Manufactured *m) {
  TesFunction **all[] = {&m->a, &m->f, &m->u, &m->old, &m->flux};
  for (int i = 0; i < 5; i++) tes_function_destroy(all[i]);
}

/* One cell of the forest is refined once more. False: a build without p4est. */
static bool make_mesh(TesContext *on, TesMeshKind kind, int dim, int refine, TesMesh **mesh) {
  const bool box = kind == TES_MESH_BOX;
  TesFunction *corner = expression(on, "0.1 - x - y");
  const TesStatus status = tes_mesh_create(
      on,
      &(TesMeshDesc){
          .kind = kind, .dim = dim, .cells = {2, 2, 2}, .refine = refine, .refine_where = box ? NULL : corner},
      mesh);
  tes_function_destroy(&corner);
  return status != TES_MISSING;
}

static bool has_text(const char *path, const char *text) {
  static char bytes[1 << 16];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t n = fread(bytes, 1, sizeof bytes - 1, file);
  fclose(file);
  for (size_t i = 0; i + strlen(text) <= n; i++)
    if (!memcmp(bytes + i, text, strlen(text))) return true;
  return false;
}

/* The solution is written, read, and is the start of the same problem again, which it solves. */
static void through_files(TesContext *on, const TesProblemDesc *desc, const TesProblem *problem,
                          const char *const *texts) {
  const char *const vtu = TESI_BUILD_DIR "/t7_equations.vtu", *const file = TESI_BUILD_DIR "/t7_equations.h5";
  const TesCheckpointField field = {"u", tes_problem_solution(problem)};
  const TesCheckpointDesc checkpoint = {.space = tes_problem_space(problem), .count = 1, .fields = &field};
  TesProblemDesc again = *desc;
  TesCheckpoint *read;
  TesVector *guess;
  TesProblem *second;
  TesSolveResult result;
  assert_ok(on, tes_vtu_write_problem(problem, 0, NULL, vtu));
  for (int i = 0; texts[i]; i++)
    if (!has_text(vtu, texts[i])) fail_msg("no %s in %s", texts[i], vtu);
  remove(vtu);
  if (!tes_has_part("hdf5")) return;
  assert_ok(on, tes_checkpoint_write(on, &checkpoint, file));
  assert_ok(on, tes_checkpoint_read(on, file, 0, &read));
  assert_ok(on, tes_checkpoint_restart(read, "u", desc->mesh, desc->degree, &guess));
  again.guess = guess, again.solver.tolerance = 1e-7;
  again.mesh = tes_space_mesh(tes_checkpoint_space(read));
  assert_ok(on, tesi_problem_create(on, problem->equation, problem->user, &again, &second));
  assert_ok(on, tes_problem_solve(second, &result));
  assert_int_equal(result.iterations, 0);
  tes_problem_destroy(&second);
  tes_vector_destroy(&guess);
  tes_checkpoint_destroy(&read);
  remove(file);
}

/* L2 error of a step on a mesh; negative: a build without p4est. */
static double step_error(TesContext *on, TesMeshKind kind, int refine, bool files) {
  const double dt = 0.125;
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  double l2, h1;
  if (!make_mesh(on, kind, 2, refine, &mesh)) return -1;
  Manufactured m = manufacture(on, dt);
  const Heat step = {dt, m.old};
  const TesBoundary boundary[] = {{.g = {m.u}}, {.name = "top", .condition = TES_NEUMANN, .g = {m.flux}}};
  const TesProblemDesc desc = {.mesh = mesh,
                               .degree = 3,
                               .data = {.a = m.a, .f = {m.f}},
                               .exact = {m.u},
                               .boundary = boundary,
                               .boundaries = 2,
                               .solver = {.tolerance = 1e-10}};
  assert_ok(on, tesi_problem_create(on, &heat, &step, &desc, &problem));
  assert_ok(on, tes_problem_solve(problem, &result));
  assert_true(result.iterations > 0 && result.iterations < 30);
  assert_ok(on, tes_problem_errors(problem, &l2, &h1));
  static const char *const texts[] = {"\"u_old\"", "\"error\"", "\"u\"", NULL};
  if (files) through_files(on, &desc, problem, texts);
  tes_problem_destroy(&problem);
  forget(&m);
  tes_mesh_destroy(&mesh);
  return l2;
}

static void heat_on_every_kind_of_mesh(void **state) {
  (void)state;
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++) {
    const double coarse = step_error(ctx, kind, 1, true), fine = step_error(ctx, kind, 2, false);
    if (coarse < 0) continue;
    print_message("kind %d: %.3e, %.3e, order %.2f\n", (int)kind, coarse, fine, log2(coarse / fine));
    assert_true(fine > 0 && log2(coarse / fine) > 3.7); /* degree + 1 */
  }
}

static void heat_in_the_emulator(void **state) {
  (void)state;
  TesContext *emulator;
  char message[500];
  if (tes_context_create(&(TesContextDesc){.device = "emulator"}, &emulator, message, sizeof message))
    fail_msg("%s", message);
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++) {
    const double there = step_error(emulator, kind, 1, true), here = step_error(ctx, kind, 1, false);
    assert_near(there, here, 1e-5 * fabs(here));
  }
  tes_context_destroy(&emulator);
}

/* ---- the vector Laplacian ------------------------------------------------------------------------------ */

static int vector_form(const TesProblem *p, TesTermDesc *term) {
  term[0] = (TesTermDesc){.term = TES_TERM_DIFFUSION, .a = {p->numbered.data.a, p->numbered.a}};
  return 1;
}

static TesStatus vector_load(const TesProblem *p, TesVector *b) {
  return tesi_problem_load(p, p->numbered.data.f, p->numbered.f, false, b);
}

static int vector_shown(const TesProblem *p, TesiShown *shown) {
  const TesFunction *const *f = p->numbered.data.f;
  shown[0] = (TesiShown){"f", {f[0], f[1], tes_mesh_info(p->mesh).dim == 3 ? f[2] : NULL}, NULL};
  shown[1] = (TesiShown){"a", {p->numbered.data.a}, p->numbered.a};
  return 2;
}

static const TesiEquation vector_laplacian = {.name = "vector laplacian",
                                              .form = vector_form,
                                              .load = vector_load,
                                              .shown = vector_shown,
                                              .vector = true};

/* u_c = (c + 1) sin(x + 2y + z/2 + c), a = 1 + x/2; component 1 is free at the top. */
typedef struct Field {
  int dim;
  TesFunction *a, *u[3], *f[3], *flux; /* flux: of component 1 */
  TesBoundary boundary[2];
} Field;

static void make_field(TesContext *on, int dim, Field *m) {
  char text[200];
  const double square = dim == 3 ? 5.25 : 5; /* of the wave vector */
  *m = (Field){.dim = dim, .a = expression(on, "1 + x/2")};
  for (int c = 0; c < dim; c++) {
    snprintf(text, sizeof text, "%d*sin(x + 2*y + z/2 + %d)", c + 1, c);
    m->u[c] = expression(on, text);
    snprintf(text, sizeof text, "%d*((1 + x/2)*%g*sin(x + 2*y + z/2 + %d) - 0.5*cos(x + 2*y + z/2 + %d))",
             c + 1, square, c, c);
    m->f[c] = expression(on, text);
  }
  m->flux = expression(on, "2*(1 + x/2)*2*cos(x + 2*y + z/2 + 1)");
  m->boundary[0] = (TesBoundary){.g = {m->u[0], m->u[1], m->u[2]}};
  m->boundary[1] = (TesBoundary){.name = "top", .components = 5, .g = {m->u[0], m->flux, m->u[2]}};
}

static void forget_field(Field *m) {
  for (int c = 0; c < 3; c++) {
    tes_function_destroy(&m->u[c]);
    tes_function_destroy(&m->f[c]);
  }
  tes_function_destroy(&m->a);
  tes_function_destroy(&m->flux);
}

static TesProblemDesc field_problem(const Field *m, const TesMesh *mesh, int degree) {
  return (TesProblemDesc){.mesh = mesh,
                          .degree = degree,
                          .data = {.a = m->a, .f = {m->f[0], m->f[1], m->f[2]}},
                          .exact = {m->u[0], m->u[1], m->u[2]},
                          .boundary = m->boundary,
                          .boundaries = 2,
                          .solver = {.tolerance = 1e-12, .precision = TES_SOLVE_DOUBLE}};
}

/* Component c by itself: the same numbers. */
static void compare_component(TesContext *on, const Field *m, const TesProblem *problem, int c) {
  TesProblemDesc desc = field_problem(m, problem->mesh, tes_space_degree(problem->space));
  TesBoundary boundary[2] = {m->boundary[0], m->boundary[1]};
  TesProblem *alone;
  TesSolveResult result;
  TesVector *part;
  desc.data.f[0] = m->f[c], desc.exact[0] = m->u[c], desc.boundary = boundary;
  for (int i = 0; i < 2; i++) boundary[i].g[0] = m->boundary[i].g[c], boundary[i].components = 0;
  if (c == 1) boundary[1].condition = TES_NEUMANN;
  assert_ok(on, tes_problem_create(on, &desc, &alone));
  assert_ok(on, tes_problem_solve(alone, &result));
  assert_ok(on, tes_vector_part(problem->space, problem->u, c, &part));
  const int64_t n = tes_vector_length(part);
  assert_int_equal(n, tes_space_length(tes_problem_space(alone)));
  double *values = calloc((size_t)n, sizeof *values), *expected = calloc((size_t)n, sizeof *expected);
  assert_ok(on, tes_vector_get(part, values));
  assert_ok(on, tes_vector_get(tes_problem_solution(alone), expected));
  for (int64_t i = 0; i < n; i++)
    assert_near(values[i], expected[i], 1e-10); /* both to 1e-12 in the residual */
  free(values);
  free(expected);
  tes_vector_destroy(&part);
  tes_problem_destroy(&alone);
}

/* Expressions know the components and their derivatives: the integral of those less the exact ones, in 2D where z
 * is 0 and in 3D. */
static void compare_value(TesContext *on, const TesProblem *problem) {
  const TesValue what = {.kind = TES_VALUE_INTEGRAL,
                         .of = "vy - 4*cos(x + 2*y + z/2 + 1) + u - sin(x + 2*y + z/2)"};
  double value;
  assert_ok(on, tes_problem_value(problem, &what, &value));
  assert_near(value, 0, 1e-2);
}

/* L2 error; negative: a build without p4est. */
static double field_error(TesContext *on, TesMeshKind kind, int dim, int refine, bool thorough) {
  static const char *const texts[] = {"Name=\"u\" NumberOfComponents=\"3\"",
                                      "Name=\"error\" NumberOfComponents=\"3\"",
                                      "Name=\"f\" NumberOfComponents=\"3\"", "\"a\"", NULL};
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  Field m;
  double l2, h1;
  if (!make_mesh(on, kind, dim, refine, &mesh)) return -1;
  make_field(on, dim, &m);
  const TesProblemDesc desc = field_problem(&m, mesh, 2);
  assert_ok(on, tesi_problem_create(on, &vector_laplacian, NULL, &desc, &problem));
  assert_ok(on, tes_problem_solve(problem, &result));
  assert_true(result.iterations > 0 && result.iterations < 40);
  assert_ok(on, tes_problem_errors(problem, &l2, &h1));
  for (int c = 0; c < dim && thorough; c++) compare_component(on, &m, problem, c);
  if (thorough) compare_value(on, problem);
  if (thorough) through_files(on, &desc, problem, texts);
  tes_problem_destroy(&problem);
  forget_field(&m);
  tes_mesh_destroy(&mesh);
  return l2;
}

static void vectors_on_every_kind_of_mesh(void **state) {
  (void)state;
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++)
    for (int dim = 2; dim <= 3; dim++) {
      const double coarse = field_error(ctx, kind, dim, 1, true), fine = field_error(ctx, kind, dim, 2, false);
      if (coarse < 0) continue;
      print_message("kind %d, %dD: %.3e, %.3e, order %.2f\n", (int)kind, dim, coarse, fine,
                    log2(coarse / fine));
      assert_true(fine > 0 && log2(coarse / fine) > 2.7); /* degree + 1 */
    }
}

static void vectors_in_the_emulator(void **state) {
  (void)state;
  TesContext *emulator;
  char message[500];
  if (tes_context_create(&(TesContextDesc){.device = "emulator"}, &emulator, message, sizeof message))
    fail_msg("%s", message);
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++)
    for (int dim = 2; dim <= 3; dim++) {
      const double there = field_error(emulator, kind, dim, 1, dim == 2),
                   here = field_error(ctx, kind, dim, 1, false);
      assert_near(there, here, 1e-8 * fabs(here));
    }
  tes_context_destroy(&emulator);
}

/* Component 1 has fluxes alone: it is determined up to a constant, and gets the mean of the exact solution. */
static void constants_of_a_component(void **state) {
  (void)state;
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++) {
    TesFunction *u[2] = {expression(ctx, "x*x - y"), expression(ctx, "3 + x")}, *f = expression(ctx, "-2"),
                *zero = expression(ctx, "0"), *one = expression(ctx, "1"), *minus = expression(ctx, "-1");
    const TesBoundary boundary[] = {{.components = 1, .g = {u[0]}},
                                    {.name = "left", .components = 1, .g = {u[0], minus}},
                                    {.name = "right", .components = 1, .g = {u[0], one}}};
    TesMesh *mesh;
    TesProblem *problem;
    TesSolveResult result;
    double l2, h1;
    if (make_mesh(ctx, kind, 2, 1, &mesh)) {
      const TesProblemDesc desc = {.mesh = mesh,
                                   .degree = 2,
                                   .data = {.f = {f, zero}},
                                   .exact = {u[0], u[1]},
                                   .boundary = boundary,
                                   .boundaries = 3,
                                   .solver = {.tolerance = 1e-12, .precision = TES_SOLVE_DOUBLE}};
      assert_ok(ctx, tesi_problem_create(ctx, &vector_laplacian, NULL, &desc, &problem));
      assert_ok(ctx, tes_problem_solve(problem, &result));
      assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
      assert_near(l2, 0, 1e-10);
      tes_problem_destroy(&problem);
      tes_mesh_destroy(&mesh);
    }
    TesFunction **all[] = {&u[0], &u[1], &f, &zero, &one, &minus};
    for (int i = 0; i < 6; i++) tes_function_destroy(all[i]);
  }
}

/* ---- boundaries by name -------------------------------------------------------------------------------- */

static double value_at(const TesProblem *problem, double x, double y) {
  double value;
  assert_ok(ctx, tes_functional_value(tes_problem_space(problem), tes_problem_solution(problem),
                                      &(TesValue){.kind = TES_VALUE_POINT, .point = {x, y}}, &value));
  return value;
}

/* Where boundaries meet: the larger priority, among equals the larger number, on both kinds of mesh. */
static void corners_go_by_priority(void **state) {
  (void)state;
  TesFunction *one = expression(ctx, "1"), *two = expression(ctx, "2");
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++)
    for (int priority = 0; priority <= 1; priority++) {
      TesMesh *mesh;
      TesProblem *problem;
      TesSolveResult result;
      if (!make_mesh(ctx, kind, 2, 1, &mesh)) continue;
      const TesBoundary boundary[] = {{.name = "top", .g = {two}},
                                      {.name = "left", .g = {one}, .priority = priority},
                                      {.name = "right", .condition = TES_NEUMANN}};
      assert_ok(ctx,
                tes_problem_create(
                    ctx, &(TesProblemDesc){.mesh = mesh, .degree = 2, .boundary = boundary, .boundaries = 3},
                    &problem));
      assert_ok(ctx, tes_problem_solve(problem, &result));
      assert_near(value_at(problem, 0, 1), priority ? 1 : 2, 1e-12);
      assert_near(value_at(problem, 0, 0), priority ? 1 : 0, 1e-12); /* bottom: 0, by default */
      assert_near(value_at(problem, 0.5, 1), 2, 1e-12);
      tes_problem_destroy(&problem);
      tes_mesh_destroy(&mesh);
    }
  tes_function_destroy(&one);
  tes_function_destroy(&two);
}

static void wrong_names_are_told(void **state) {
  (void)state;
  static const TesBoundary roof = {.name = "roof", .where = "a.yaml:3:1"},
                           odd = {.name = "top", .condition = 7};
  static const TesMaterial steel = {.name = "steel"};
  static const char *const messages[] = {
      "a.yaml:3:1: the mesh has no boundary called roof; it has: left, right, bottom, top",
      "the condition of boundary top is 7, expected 0..4",
      "the mesh has no material called steel; it has: none", "equation is 9, expected 0..4",
      "the guess has 3 values, the space of the problem has 81 nodes"};
  TesMesh *mesh;
  TesVector *guess;
  assert_true(make_mesh(ctx, TES_MESH_BOX, 2, 1, &mesh));
  assert_ok(ctx, tes_vector_create(ctx, 3, TES_DOUBLE, &guess));
  const TesProblemDesc wrong[] = {{.boundary = &roof, .boundaries = 1},
                                  {.boundary = &odd, .boundaries = 1},
                                  {.material = &steel, .materials = 1},
                                  {.equation = (TesEquation)9},
                                  {.guess = guess}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    TesProblem *problem = (TesProblem *)&problem;
    TesProblemDesc desc = wrong[i];
    desc.mesh = mesh, desc.degree = 2;
    assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
    assert_null(problem);
    assert_string_equal(tes_context_message(ctx), messages[i]);
    tes_context_clear(ctx);
  }
  tes_vector_destroy(&guess);
  tes_mesh_destroy(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heat_on_every_kind_of_mesh),    cmocka_unit_test(heat_in_the_emulator),
      cmocka_unit_test(vectors_on_every_kind_of_mesh), cmocka_unit_test(vectors_in_the_emulator),
      cmocka_unit_test(constants_of_a_component),      cmocka_unit_test(corners_go_by_priority),
      cmocka_unit_test(wrong_names_are_told)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
