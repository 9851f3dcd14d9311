/* Run: ctest -R t7_equations. A small equation that only this test has: one backward Euler step of heat, u / dt - div(a grad u) = f + u_old / dt, with
 * its own form and its own load, over the table of equations alone. On boxes and forests, on the host and in the emulator, against a
 * manufactured solution; through VTU files and checkpoints. And boundaries by name: numbers, priorities, refusals. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "problem/problem.h"
#include "tessera/tessera.h"
#include "testing.h"

static TesContext *ctx;

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
  TesStatus status = tesi_problem_load(p, p->numbered.data.f, p->numbered.f, b);
  if (status == TES_OK) status = tes_vector_create(on, tes_vector_length(b), TES_DOUBLE, &old);
  if (status == TES_OK) status = tes_functional_load(&(TesLoadDesc){.space = p->space, .f = heat->old}, old);
  if (status == TES_OK) status = tes_vector_axpy(1 / heat->dt, old, b);
  tes_vector_destroy(&old);
  return status;
}

static int heat_shown(const TesProblem *p, TesiShown *shown) {
  shown[0] = (TesiShown){"u_old", ((const Heat *)p->user)->old, NULL};
  return 1;
}

static const TesiEquation heat = {"heat", 0, heat_form, heat_load, heat_shown, NULL};

static TesFunction *expression(TesContext *on, const char *text) {
  TesFunction *f;
  assert_ok(on, tes_function_create_expression(on, text, &f));
  return f;
}

/* u = (1 + t) w(x), w = sin(x + 2y), from t = 0 to dt, so that one step is exact in time: f = w - (1 + dt) div(a grad w), a = 1 + x/2. */
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
static bool make_mesh(TesContext *on, TesMeshKind kind, int refine, TesMesh **mesh) {
  const bool box = kind == TES_MESH_BOX;
  TesFunction *corner = expression(on, "0.1 - x - y");
  const TesStatus status = tes_mesh_create(
      on,
      &(TesMeshDesc){
          .kind = kind, .dim = 2, .cells = {2, 2}, .refine = refine, .refine_where = box ? NULL : corner},
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
static void through_files(TesContext *on, const TesProblemDesc *desc, const Heat *step, TesProblem *problem) {
  const char *const vtu = TESI_BUILD_DIR "/t7_equations.vtu", *const file = TESI_BUILD_DIR "/t7_equations.h5";
  const TesCheckpointField field = {"u", tes_problem_solution(problem)};
  const TesCheckpointDesc checkpoint = {.space = tes_problem_space(problem), .count = 1, .fields = &field};
  TesProblemDesc again = *desc;
  TesCheckpoint *read;
  TesVector *guess;
  TesProblem *second;
  TesSolveResult result;
  assert_ok(on, tes_vtu_write_problem(problem, 0, NULL, vtu));
  assert_true(has_text(vtu, "\"u_old\"") && has_text(vtu, "\"error\"") && has_text(vtu, "\"u\""));
  remove(vtu);
  if (!tes_has_part("hdf5")) return;
  assert_ok(on, tes_checkpoint_write(on, &checkpoint, file));
  assert_ok(on, tes_checkpoint_read(on, file, 0, &read));
  assert_ok(on, tes_checkpoint_restart(read, "u", desc->mesh, desc->degree, &guess));
  again.guess = guess, again.solver.tolerance = 1e-7;
  again.mesh = tes_space_mesh(tes_checkpoint_space(read));
  assert_ok(on, tesi_problem_create(on, &heat, step, &again, &second));
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
  if (!make_mesh(on, kind, refine, &mesh)) return -1;
  Manufactured m = manufacture(on, dt);
  const Heat step = {dt, m.old};
  const TesBoundary boundary[] = {{.g = m.u}, {.name = "top", .condition = TES_NEUMANN, .g = m.flux}};
  const TesProblemDesc desc = {.mesh = mesh,
                               .degree = 3,
                               .data = {.a = m.a, .f = m.f},
                               .exact = m.u,
                               .boundary = boundary,
                               .boundaries = 2,
                               .solver = {.tolerance = 1e-10}};
  assert_ok(on, tesi_problem_create(on, &heat, &step, &desc, &problem));
  assert_ok(on, tes_problem_solve(problem, &result));
  assert_true(result.iterations > 0 && result.iterations < 30);
  assert_ok(on, tes_problem_errors(problem, &l2, &h1));
  if (files) through_files(on, &desc, &step, problem);
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

/* ---- boundaries by name -------------------------------------------------------------------------------------------------- */

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
      if (!make_mesh(ctx, kind, 1, &mesh)) continue;
      const TesBoundary boundary[] = {{.name = "top", .g = two},
                                      {.name = "left", .g = one, .priority = priority},
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
      "the condition of boundary top is 7, expected 0..2",
      "the mesh has no material called steel; it has: none", "equation is 9, expected 0..0",
      "the guess has 3 values, the space of the problem has 81 nodes"};
  TesMesh *mesh;
  TesVector *guess;
  assert_true(make_mesh(ctx, TES_MESH_BOX, 1, &mesh));
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

static int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  const size_t left = tes_context_memory(ctx);
  tes_context_destroy(&ctx);
  return left != 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heat_on_every_kind_of_mesh), cmocka_unit_test(heat_in_the_emulator),
      cmocka_unit_test(corners_go_by_priority), cmocka_unit_test(wrong_names_are_told)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
