/* Run: ctest -R t7_own_scheme. A scheme and a named quantity that exist in this file alone: explicit Euler of
 * u' = r(u) at the nodes of a space, and what r has produced. Listing them once is enough for steps by tolerance,
 * restarts from files, means in time and an end where nothing changes. r(u) = 1 - u, so that after n steps
 * u = 1 - (1 - u0) (1 - dt)^n. */
#include <math.h>
#include <unistd.h>
#include "io/checkpoint.h"
#include "testing.h"
#include "time/march.h"

static TesContext *ctx;
static const char file[] = "t7_own_scheme.h5";

typedef struct Euler {
  TesiMarch march;
  TesSpace *space;
  TesVector *u, *next, *old, *r;
  double produced; /* integral of r in time at the first node */
} Euler;

static TesStatus find_r(const TesVector *u, TesVector *r) {
  return tes_vector_fill(r, 1) == TES_OK ? tes_vector_axpy(-1, u, r) : TES_NAN;
}

static void list(void *user, TesiState *state) {
  Euler *e = user;
  state->space = e->space;
  tesi_state_add(state, "u", 0, e->space, e->u, TESI_STATE_PROJECTED);
  tesi_state_add_real(state, "produced", 1, &e->produced);
}

static TesStatus advance(void *user, double dt, TesSolveResult *result) {
  Euler *e = user;
  const TesStatus status = find_r(e->u, e->r);
  (void)result;
  if (status != TES_OK) return status;
  return tesi_vector_combine(2, (double[]){1, dt}, (const TesVector *const[]){e->u, e->r}, e->next);
}

/* dt^2 / 2 u'', u'' by the difference of r(next) and r(u). */
static TesStatus judge(void *user, double dt, double *size, double *error) {
  Euler *e = user;
  const double half[] = {dt / 2, -dt / 2};
  TesStatus status = tesi_vector_combine(2, half, (const TesVector *const[]){e->u, e->next}, e->old);
  if (status == TES_OK) status = tes_vector_norm(e->next, size);
  return status == TES_OK ? tes_vector_norm(e->old, error) : status;
}

static TesStatus commit(void *user, double dt) {
  Euler *e = user;
  double r[9];
  TesStatus status = tes_vector_get(e->r, r);
  e->produced += dt * r[0];
  if (status == TES_OK) status = tes_vector_copy(e->u, 1, e->old);
  return status == TES_OK ? tes_vector_copy(e->next, 1, e->u) : status;
}

static TesStatus change(void *user, double *size, double *change) {
  Euler *e = user;
  TesStatus status = tes_vector_axpy(-1, e->u, e->old);
  if (status == TES_OK) status = tes_vector_norm(e->old, change);
  return status == TES_OK ? tes_vector_norm(e->u, size) : status;
}

static const TesiScheme scheme = {.name = "euler",
                                  .order = 1,
                                  .list = list,
                                  .advance = advance,
                                  .judge = judge,
                                  .commit = commit,
                                  .change = change};

static void end(Euler *e) {
  for (int i = 0; i < 4; i++) tes_vector_destroy((TesVector **[]){&e->u, &e->next, &e->old, &e->r}[i]);
  tesi_average_free(&e->march.average);
  tes_space_destroy(&e->space);
}

static Euler make(TesTimeDesc desc, const TesMesh *mesh) {
  Euler e = {.space = NULL};
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .given = NULL}, &e.space));
  TesVector **const all[] = {&e.u, &e.next, &e.old, &e.r};
  for (int i = 0; i < 4; i++) assert_ok(ctx, tes_vector_create(ctx, 9, TES_DOUBLE, all[i]));
  assert_ok(ctx, tes_vector_fill(e.u, 3));
  tesi_march_begin(&e.march, &desc);
  assert_ok(ctx, tesi_average_follow(&e.march.average,
                                     &(TesiAveraged){.name = "mean", .space = e.space, .value = e.u}));
  return e;
}

static void go(Euler *e, int steps) {
  TesSolveResult result = {0};
  for (int i = 0; i < steps && e->march.step < e->march.steps; i++)
    assert_ok(ctx, tesi_march_step(ctx, &e->march, &scheme, e, &result));
}

static double first(const TesVector *v) {
  double values[9];
  assert_ok(ctx, tes_vector_get(v, values));
  return values[0];
}

static void list_all(void *user, TesiState *state) {
  tesi_march_list(&((Euler *)user)->march, &scheme, user, state);
}

static void a_scheme_of_a_test_has_all(void **state) {
  TesMesh *mesh;
  TesCheckpoint *checkpoint;
  TesiState listed;
  double mean = 0;
  (void)state;
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {2, 2}}, &mesh));
  Euler a = make((TesTimeDesc){.end = 100, .step = 0.1, .steady = 1e-3}, mesh), b = make(a.march.desc, mesh);
  go(&a, 7);
  for (int n = 0; n < 7; n++) mean += (2 + 2 * pow(0.9, n) + 2 * pow(0.9, n + 1)) / 14;
  assert_near(first(a.u), 1 + 2 * pow(0.9, 7), 1e-14);
  assert_near(a.produced, first(a.u) - 3, 1e-14);
  assert_near(first(a.march.average.of[0].mean[0]), mean, 1e-14);
  if (tes_has_part("hdf5")) { /* the other one goes on from a file, with the same bits */
    list_all(&a, &listed);
    assert_ok(ctx, tesi_state_write(&listed, a.march.time, a.march.step, 0, NULL, file));
    assert_ok(ctx, tes_checkpoint_read(ctx, file, 0, &checkpoint));
    const TesCheckpointContents *found = tes_checkpoint_contents(checkpoint);
    assert_ok(ctx, tesi_state_read(checkpoint, list_all, &b));
    assert_ok(ctx, tesi_march_resume(ctx, &b.march, &scheme, &b, found->time, found->step));
    tes_checkpoint_destroy(&checkpoint);
    assert_int_equal(unlink(file), 0);
  }
  go(&a, 1000), go(&b, 1000);
  /* |u' dt| / dt = 2 * 0.9^(n - 1) is at most 1e-3 times the largest u that was seen, 2.8 */
  assert_int_equal(a.march.step, 1 + (int)ceil(log(1.4e-3) / log(0.9)));
  assert_int_equal(b.march.step, a.march.step);
  assert_true(first(a.u) == first(b.u) && a.produced == b.produced);
  assert_true(first(a.march.average.of[0].mean[1]) == first(b.march.average.of[0].mean[1]));
  Euler c = make((TesTimeDesc){.end = 2, .tolerance = 1e-4}, mesh);
  go(&c, 100000);
  assert_near(first(c.u), 1 + 2 * exp(-2), 1e-2);
  assert_true(c.march.step > 20 && c.march.step < 2000 && c.march.time == 2);
  end(&a), end(&b), end(&c);
  tes_mesh_destroy(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_scheme_of_a_test_has_all)};
  if (tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tes_context_destroy(&ctx);
  return failed;
}
