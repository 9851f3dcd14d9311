/* Run: ctest -R t7_mpi_iso. Parts of explicit steps with velocities on halved cells on several ranks, with copies
 * summed, against their definition on one: graded boxes, given components that differ by face, loads, nodes at cuts
 * that are given. NaN are there first.
 * Ranks: 2 3 4
 * Ranks on the emulator: 2 3 */
#include "device/copies.h"
#include "operator/iso/iso.h"
#include "mpi_testing.h"

typedef struct Case {
  int dim, cells[3];
  uint8_t given[6];
  bool loaded;
} Case;

static const Case cases[] = {{2, {3, 5}, {3, 1, 2, 3}, true},
                             {2, {4, 8}, {3, 3, 3, 3}, false},
                             {3, {2, 3, 4}, {7, 5, 2, 7, 4, 4}, true},
                             {3, {3, 2, 7}, {1, 1, 2, 2, 4, 4}, false}};
enum { CASES = sizeof cases / sizeof *cases };
static const double k = 0.03, nu = 0.7;

/* The pressure's cells, or these halved. */
static TesMesh *create_mesh(TesContext *ctx, const Case *is, int parts) {
  double x[3][64];
  TesMesh *mesh;
  TesMeshDesc desc = {.dim = is->dim, .kind = TES_MESH_BOX};
  for (int d = 0; d < is->dim; d++) {
    for (int i = 0; i <= is->cells[d]; i++) x[d][parts * i] = (d + 1) * (i + 0.3 * sin(1.7 * i));
    for (int i = 1; i < parts * is->cells[d]; i += 2)
      if (parts == 2) x[d][i] = (x[d][i - 1] + x[d][i + 1]) / 2;
    desc.cells[d] = parts * is->cells[d], desc.coordinates[d] = x[d];
  }
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  return mesh;
}

typedef struct Side {
  TesContext *ctx;
  TesMesh *coarse, *fine;
  TesSpace *velocity, *pressure;
  TesiIso *iso;
} Side;

static Side create(TesContext *ctx, const Case *is) {
  static const uint8_t none[6];
  Side s = {.ctx = ctx, .coarse = create_mesh(ctx, is, 1), .fine = create_mesh(ctx, is, 2)};
  TesSpaceDesc desc = {.mesh = s.coarse, .degree = 1, .given = none};
  assert_ok(ctx, tes_space_create(ctx, &desc, &s.pressure));
  desc.mesh = s.fine, desc.components = is->dim;
  assert_ok(ctx, tes_space_create(ctx, &desc, &s.velocity));
  assert_ok(ctx, tesi_iso_create(s.coarse, is->given, &s.iso));
  assert_int_equal(s.iso->nodes * is->dim, s.velocity->length);
  return s;
}

static void release(Side *s) {
  tesi_iso_destroy(&s->iso);
  tes_space_destroy(&s->velocity), tes_space_destroy(&s->pressure);
  tes_mesh_destroy(&s->coarse), tes_mesh_destroy(&s->fine);
}

/* Numbers of the entries that one rank has, the same on any number of ranks; seed 0: NaN. */
static double *numbers(const Side *s, const TesSpace *space, uint64_t seed) {
  double *number, *values = malloc((size_t)space->length * sizeof *values);
  assert_ok(s->ctx, tesi_layout_numbers(space->layout, &number));
  for (int64_t i = 0; i < space->length; i++) {
    uint64_t own = seed + 7919 * (uint64_t)number[i];
    test_random(&own);
    values[i] = seed ? test_random(&own) : NAN;
  }
  tesi_free(s->ctx, &number);
  return values;
}

static TesVector *vector(const Side *s, const TesSpace *space, uint64_t seed) {
  double *values = numbers(s, space, seed);
  TesVector *v;
  assert_ok(s->ctx, tesi_vector_create_on(space->layout, TES_DOUBLE, &v));
  assert_ok(s->ctx, tes_vector_set(v, values));
  free(values);
  return v;
}

/* expected: of the whole box. */
static void compare(const char *what, const Side *s, const TesSpace *space, const TesVector *v,
                    const double *expected) {
  double *values = malloc((size_t)space->length * sizeof *values), *number;
  assert_ok(s->ctx, tes_vector_get(v, values));
  assert_ok(s->ctx, tesi_layout_numbers(space->layout, &number));
  for (int64_t i = 0; i < space->length; i++) {
    const double right = expected[(int64_t)number[i]];
    if (!(fabs(values[i] - right) <= 1e-13 * (1 + fabs(right))))
      fail_msg("%s on rank %d: entry %lld is %.17g, not %.17g", what, world->rank, (long long)number[i],
               values[i], right);
  }
  tesi_free(s->ctx, &number);
  free(values);
}

static void momentum_is_one(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++) {
    Side one = create(alone, &cases[c]), many = create(together, &cases[c]);
    double *u = numbers(&one, one.velocity, 1), *s = numbers(&one, one.pressure, 2),
           *given = numbers(&one, one.velocity, 3), *load = numbers(&one, one.velocity, 4),
           *next = numbers(&one, one.velocity, 0);
    assert_ok(alone, tesi_iso_momentum_ref(one.iso, k, nu, u, s, given, cases[c].loaded ? load : NULL, next));
    TesVector *v[] = {vector(&many, many.velocity, 1), vector(&many, many.pressure, 2),
                      vector(&many, many.velocity, 3), vector(&many, many.velocity, 4),
                      vector(&many, many.velocity, 0)};
    const TesiIsoStep step = {k, nu, v[0], v[1], v[2], cases[c].loaded ? v[3] : NULL, v[4]};
    assert_ok(together, tesi_iso_momentum(many.iso, &step));
    assert_ok(together, tesi_sum_copies(together, many.velocity->layout->shared, TES_DOUBLE, v[4]->data));
    compare("a velocity", &many, many.velocity, v[4], next);
    for (int i = 0; i < 5; i++) tes_vector_destroy(&v[i]);
    free(u), free(s), free(given), free(load), free(next);
    release(&one), release(&many);
  }
}

/* b, and the pressure p + q + rate n^-1 b that it makes. */
static void pressures_are_one(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++) {
    Side one = create(alone, &cases[c]), many = create(together, &cases[c]);
    double *u = numbers(&one, one.velocity, 1), *b = numbers(&one, one.pressure, 0),
           *p = numbers(&one, one.pressure, 5), *q = numbers(&one, one.pressure, 6),
           *mass = calloc((size_t)one.pressure->length, sizeof *mass);
    TesVector *v[] = {vector(&many, many.velocity, 1), vector(&many, many.pressure, 0),
                      vector(&many, many.pressure, 5), vector(&many, many.pressure, 6),
                      vector(&many, many.pressure, 0)};
    assert_ok(alone, tesi_iso_divergence_ref(one.iso, -3, u, b));
    assert_ok(together, tesi_iso_divergence(many.iso, -3, v[0], v[1]));
    assert_ok(together, tesi_sum_copies(together, many.pressure->layout->shared, TES_DOUBLE, v[1]->data));
    compare("a divergence", &many, many.pressure, v[1], b);
    const TesSpace *space = one.pressure;
    for (int64_t i = 0; i < space->length; i++) {
      int64_t rest = i;
      mass[i] = 1;
      for (int d = 0; d < space->dim; d++) {
        const int n = space->axis[d].cells, at = (int)(rest % (n + 1));
        const double *x = one.coarse->coordinates[d];
        mass[i] *= (x[at < n ? at + 1 : n] - x[at ? at - 1 : 0]) / 2;
        rest /= n + 1;
      }
      p[i] += q[i] + 0.4 * b[i] / mass[i];
    }
    assert_ok(together, tesi_iso_pressure(many.iso, 0.4, v[3], v[1], v[2], v[4]));
    compare("a pressure", &many, many.pressure, v[2], p);
    free(u), free(b), free(p), free(q), free(mass);
    for (int i = 0; i < 5; i++) tes_vector_destroy(&v[i]);
    release(&one), release(&many);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(momentum_is_one), cmocka_unit_test(pressures_are_one)};
  const int status = begin_on_ranks(NULL);
  return status ? status : end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
