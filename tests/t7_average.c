/* Run: ctest -R t7_average. Means in time of flows and of their squares: beside trapezoidal sums of samples at a node,
 * from a time between two steps, with steps of one length and of the flow's choice; over a restart. */
#include <stdio.h>
#include "base/base.h"
#include "tessera/tessera.h"
#include "testing.h"

enum { FIRST = 5 };
static const char *const names[] = {"u", "p", "mean_u", "mean_p", "mean_uu", "mean_pp"};

typedef struct Flow {
  TesContext *ctx;
  TesMesh *mesh;
  TesFunction *lid, *zero;
  TesBoundary boundary[2];
  TesProblemDesc desc;
} Flow;

static void make_flow(Flow *s, bool chosen) {
  *s = (Flow){.ctx = NULL};
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "cpu", .deterministic = true}, &s->ctx, NULL, 0), TES_OK);
  assert_ok(s->ctx, tes_function_create_expression(s->ctx, "1 + sin(9*t)", &s->lid));
  assert_ok(s->ctx, tes_function_create_constant(s->ctx, 0, &s->zero));
  assert_ok(s->ctx, tes_mesh_create(s->ctx, &(TesMeshDesc){.dim = 2, .cells = {2, 2}}, &s->mesh));
  s->boundary[0] = (TesBoundary){.g = {s->zero, s->zero}};
  s->boundary[1] = (TesBoundary){.name = "top", .g = {s->lid, s->zero}};
  s->desc = (TesProblemDesc){.equation = TES_NAVIER_STOKES,
                             .mesh = s->mesh,
                             .degree = 3,
                             .boundaries = 2,
                             .boundary = s->boundary,
                             .time = {.end = 0.6},
                             .average = true};
  if (chosen)
    s->desc.time.cfl = 0.5, s->desc.time.max_step = 0.05;
  else
    s->desc.time.step = 0.04;
}

static void drop(Flow *s) {
  tes_function_destroy(&s->lid), tes_function_destroy(&s->zero);
  tes_mesh_destroy(&s->mesh);
  assert_int_equal(tes_context_memory(s->ctx), 0);
  tes_context_destroy(&s->ctx);
}

static void sample(const Flow *s, const TesProblem *p, double value[6]) {
  const double middle[2] = {0.5, 0.5}; /* a node of both */
  assert_ok(s->ctx, tes_problem_sample(p, 1, middle, 6, names, value, NULL));
}

/* Linear between the steps, from `from` on: the trapezoidal rule, and the same of squares. */
typedef struct Sums {
  double from, all, mean[2], square[2];
} Sums;

static void add(Sums *s, double begin, double end, const double before[6], const double after[6]) {
  const double part = end - fmax(begin, s->from), early = part * part / (2 * (end - begin));
  if (!(part > 0)) return;
  s->all += part;
  for (int i = 0; i < 2; i++) {
    s->mean[i] += early * before[i] + (part - early) * after[i];
    s->square[i] += early * before[i] * before[i] + (part - early) * after[i] * after[i];
  }
}

static void means_are_those_of_samples(void **state) {
  (void)state;
  for (int chosen = 0; chosen < 2; chosen++)
    for (int late = 0; late < 2; late++) {
      Flow s;
      TesProblem *p;
      TesSolveResult result;
      double now[6], before[6];
      make_flow(&s, chosen);
      s.desc.average_from = late ? 0.23 : 0;
      Sums sums = {.from = s.desc.average_from};
      assert_ok(s.ctx, tes_problem_create(s.ctx, &s.desc, &p));
      sample(&s, p, now);
      while (tes_problem_info(p).step < tes_problem_info(p).steps) {
        const double begin = tes_problem_info(p).time;
        memcpy(before, now, sizeof before);
        assert_ok(s.ctx, tes_problem_step(p, &result));
        sample(&s, p, now);
        add(&sums, begin, tes_problem_info(p).time, before, now);
        assert_true(sums.all > 0 || now[2] == 0);
      }
      for (int i = 0; i < 2; i++) {
        assert_near(now[2 + i], sums.mean[i] / sums.all, 1e-12);
        assert_near(now[4 + i], sums.square[i] / sums.all, 1e-12);
      }
      assert_true(now[4] > 1.001 * now[2] * now[2]);
      tes_problem_destroy(&p);
      drop(&s);
    }
}

static void checkpoints_hold_them(void **state) {
  Flow s;
  TesProblem *p, *q;
  TesSolveResult result;
  TesCheckpoint *checkpoint;
  double one[6], other[6];
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  make_flow(&s, false);
  s.desc.average_from = 0.12;
  assert_ok(s.ctx, tes_problem_create(s.ctx, &s.desc, &p));
  for (int i = 0; i < FIRST; i++) assert_ok(s.ctx, tes_problem_step(p, &result));
  assert_ok(s.ctx, tes_problem_write(p, "average.h5"));
  assert_ok(s.ctx, tes_problem_solve(p, &result));
  assert_ok(s.ctx, tes_checkpoint_read(s.ctx, "average.h5", 2, &checkpoint));
  assert_ok(s.ctx, tes_problem_create(s.ctx, &s.desc, &q));
  assert_ok(s.ctx, tes_problem_read(q, checkpoint));
  assert_ok(s.ctx, tes_problem_solve(q, &result));
  sample(&s, p, one), sample(&s, q, other);
  assert_memory_equal(one, other, sizeof one);
  tes_problem_destroy(&p), tes_problem_destroy(&q);
  /* A run without means goes on from it, too. */
  s.desc.average = false;
  assert_ok(s.ctx, tes_problem_create(s.ctx, &s.desc, &q));
  assert_ok(s.ctx, tes_problem_read(q, checkpoint));
  assert_ok(s.ctx, tes_problem_step(q, &result));
  tes_problem_destroy(&q);
  tes_checkpoint_destroy(&checkpoint);
  remove("average.h5");
  drop(&s);
}

static void only_flows_in_time_have_them(void **state) {
  Flow s;
  TesProblem *p;
  double value;
  const double middle[2] = {0.5, 0.5};
  (void)state;
  make_flow(&s, false);
  s.desc.average = false;
  assert_ok(s.ctx, tes_problem_create(s.ctx, &s.desc, &p));
  assert_int_equal(tes_problem_sample(p, 1, middle, 1, &names[2], &value, NULL), TES_INVALID_INPUT);
  tes_problem_destroy(&p);
  tesi_context_forget(s.ctx);
  s.desc.average = true, s.desc.equation = TES_POISSON, s.desc.time = (TesTimeDesc){0};
  assert_int_equal(tes_problem_create(s.ctx, &s.desc, &p), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(s.ctx), "a mean of fields belongs to "));
  drop(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(means_are_those_of_samples),
                                     cmocka_unit_test(checkpoints_hold_them),
                                     cmocka_unit_test(only_flows_in_time_have_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
