/* Run: ctest -R t9_own_equation. Labels: heavy. An equation that exists in this file alone, Fisher's
 *
 *   u_t - div(a grad u) = u (1 - u) + f
 *
 * with explicit Euler steps and lumped masses. The table, its row and the formula of a step are all that is written
 * here. With them the program has the problem `fisher`: this test is that program, and runs itself. */
#include "command.h"
#include "problem/in_time.h"
#include "problem/support.h"

#define PROGRAM TESI_BUILD_DIR "/tests/t9_own_equation"
#include "program_testing.h"

/* ---- the equation -------------------------------------------------------------------------------------- */

static TesStatus load_all(const TesProblem *p, const TesOperator *whole, TesVector *b) {
  return tesi_problem_load(p, p->numbered.data.f, p->numbered.f, whole, b);
}

/* b <- b + M r, r the function that is u (1 - u) at nodes. */
static TesStatus react(const TesProblem *p, const TesVector *u, TesVector *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *r = NULL, *product = NULL;
  double *values = NULL;
  TES_ALLOC(&values, u->length);
  TES_TRY(tes_vector_create(ctx, u->length, TES_DOUBLE, &r));
  TES_TRY(tes_vector_create(ctx, u->length, TES_DOUBLE, &product));
  TES_TRY(tes_vector_get(u, values));
  for (int64_t i = 0; i < u->length; i++) values[i] *= 1 - values[i];
  TES_TRY(tes_vector_set(r, values));
  TES_TRY(tes_operator_apply(p->in_time->mass, r, product));
  TES_TRY(tes_vector_axpy(1, product, b));
done:
  tes_vector_destroy(&r), tes_vector_destroy(&product);
  tesi_free(ctx, &values);
  return status;
}

/* u <- u + dt m^-1 (F - K u + M r) */
static TesStatus euler(TesiStepper *s, const TesiTimeMethod *method, double time, TesVector *u) {
  const TesiEvolution *e = &s->evolution;
  TesContext *ctx = e->context;
  TesStatus status = TES_OK;
  const double sigma = method->sigma / s->dt;
  TES_TRY(e->load(e->user, time, s->b));
  TES_TRY(e->subtract(e->user, sigma, time, s->old[0], s->b));
  TES_TRY(tesi_stepper_add_mass(s, sigma, s->old[0]));
  TES_TRY(e->carry(e->user, s->old[0], s->b));
  TES_TRY(e->lumped(e->user, time + s->dt, s->dt, s->b, u));
done:
  return status;
}

static void tell(const TesProblemDesc *desc, int dim, TesiTold *told) {
  (void)dim;
  tesi_told_add(told, "u_t - div(a grad u) = u (1 - u) + f\ndata      a = %s",
                tesi_told_text(desc->data.a, "1"));
}

static const TesiTimeMethod steps = {.name = "euler", .carries = true, .old = 1, .step = euler, .sigma = 1};
static const TesiSupport row = {
    .equation = (TesEquation)TESI_OWN_EQUATION,
    .element = TES_ELEMENT_Q,
    .meshes = TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES,
    .usual = TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES,
    .degree = {.usual = 2, .least = 1, .most = 8},
    .has = TESI_HAS_ALWAYS | TESI_HAS_IN_TIME | TESI_BIT(TESI_HAS_A) | TESI_BIT(TESI_HAS_ADAPT) |
           TESI_BIT(TESI_HAS_REMESH) | TESI_BIT(TESI_HAS_FIELD_AVERAGE),
    .words = {[TESI_OF_CONDITION] = TESI_WORD(TESI_NAMED_DIRICHLET) | TESI_WORD(TESI_NAMED_NEUMANN),
              [TESI_OF_TIME_METHOD] = 1},
    .smoother = TESI_SMOOTHERS(1),
    .only_in_time = true,
    .unknowns = "u",
    .tell = tell};
static const TesiEquation fisher = {.name = "fisher",
                                    .support = &row,
                                    .in_time = true,
                                    .form = tesi_diffusion_form,
                                    .load = tesi_diffusion_load,
                                    .load_all = load_all,
                                    .react = react,
                                    .method = &steps,
                                    .shown = tesi_diffusion_shown};

/* ---- what it has --------------------------------------------------------------------------------------- */

static void write_case(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static double number(const cJSON *json, const char *key, const char *inner) {
  const cJSON *item = cJSON_GetObjectItem(json, key);
  return cJSON_GetNumberValue(inner ? cJSON_GetObjectItem(item, inner) : item);
}

/* u is the same everywhere: u + dt u (1 - u). Its mean is that of the trapezoidal rule from the first step on. */
static void numbers_in_files(void **state) {
  double u = 0.1, mean = 0;
  (void)state;
  write_case(
      "a.yaml",
      "problem: fisher\nmesh: {box: {cells: [2, 2]}}\ndata: {initial: 0.1, a: 0.001}\n"
      "boundary: {all: {neumann: 0}}\ntime: {end: 1, step: 0.01}\n"
      "output: {points: {p: [0.3, 0.4]}, values: {m: {mean: domain, of: u + 0*ux}}, average: {from: 0}}");
  for (int n = 0; n < 100; n++) {
    const double next = u + 0.01 * u * (1 - u);
    if (n) mean += (u + next) / 2 / 99;
    u = next;
  }
  if (tes_has_part("hdf5")) { /* the second run goes on from the file of the first, which ends early */
    assert_run("solve a.yaml --quiet --set time.end=0.5 --set output.checkpoint=a.h5", 0);
    assert_run("solve a.yaml --quiet --restart a.h5 --json a.json", 0);
  } else {
    assert_run("solve a.yaml --quiet --json a.json", 0);
  }
  assert_run("solve a.yaml --quiet --json b.json --vtu b.vtu --set time.end=0.02", 0);
  assert_run("solve a.yaml --quiet --device emulator --set time.end=0.1", 0);
  if (tes_has_part("png")) assert_run("solve a.yaml --quiet --png a.png --set time.end=0.02", 0);
  assert_run(
      "solve a.yaml --quiet --json s.json --set time.end=100 --set time.step=0.1 --set time.steady=1e-3", 0);
  cJSON *json = read_json("a.json"), *steady = read_json("s.json");
  assert_near(number(json, "values", "m"), u, 1e-12);
  assert_near(number(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "points"), 0), "u", NULL), u, 1e-12);
  assert_near(number(cJSON_GetObjectItem(json, "statistics"), "m", "mean"), mean, 1e-12);
  int steps = 0;
  u = 0.1;
  for (double next = u, most = u; next - u > 1e-4 * most || !steps; steps++)
    u = next, next = u + 0.1 * u * (1 - u), most = fmax(most, next);
  assert_near(number(steady, "time_steps", NULL), steps, 0);
  cJSON_Delete(json), cJSON_Delete(steady);
}

/* The wave (1 + exp((x - 5t / sqrt 6) / sqrt 6))^-2 (Ablowitz and Zeppetella, 1979), on a mesh that follows it. */
static void waves_on_meshes_that_follow(void **state) {
  double l2[2];
  (void)state;
  if (!tes_has_part("p4est")) return;
  write_case(
      "w.yaml",
      "problem: fisher\nmesh: {box: {cells: [4, 2], upper: [8, 4]}, kind: forest}\n"
      "data: {exact: \"pow(1 + exp((x - 5*t/sqrt(6))/sqrt(6)), -2)\"}\n"
      "boundary: {all: {dirichlet: exact}, top: {neumann: 0}, bottom: {neumann: 0}}\n"
      "time: {end: 0.5, step: 0.0125}\nadapt: {max_level: 2, every: 10}\noutput: {average: {from: 0}}");
  for (int i = 0; i < 2; i++) {
    assert_run(i ? "solve w.yaml --quiet --json w.json --device emulator"
                 : "solve w.yaml --quiet --json w.json --vtu w.vtu",
               0);
    cJSON *json = read_json("w.json");
    assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(json, "remeshes")) > 1);
    l2[i] = number(json, "errors", "l2");
    cJSON_Delete(json);
  }
  assert_true(l2[0] < 4e-3 && fabs(l2[1] - l2[0]) < 1e-9);
}

static void words(void **state) {
  (void)state;
  assert_run("solve --keys problem", 0);
  assert_output("navier_stokes or fisher");
  assert_run("info --support", 0);
  assert_output("| fisher | u | boxes, periodic boxes, trees | 1 to 8 (2) | all |");
  assert_run("solve a.yaml --set time.method=bdf2", 2);
  assert_output("time.method: fisher has auto; bdf2 belongs to transport");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_in_files),
                                     cmocka_unit_test(waves_on_meshes_that_follow), cmocka_unit_test(words)};
  if (!tesi_equation_add(&fisher)) return 1;
  return argc > 1 ? cli_run(argc, argv) : cmocka_run_group_tests(tests, set_up, tear_down);
}
