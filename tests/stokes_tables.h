/* Tables of Stokes: errors and fractional iterations that two independent prototypes found, in all their digits, and
 * those of stokes-multigrid-cui-2025. A quick test takes the rows of few unknowns, a slow one the others.
 * TESSERA_TEST_SHOW=1 prints every number. */
#ifndef TESI_STOKES_TABLES_H
#define TESI_STOKES_TABLES_H

#include <stdio.h>
#include "kernels/flow_solution.h"
#include "kernels/left_gmres.h"
#include "kernels/stokes_published.h"
#include "problem/problem.h"
#include "testing.h"

/* One solve in float64; what is 0 is as usual: V(1,1) (pre -1: V(0,1)), standard penalties (1: those of
 * auto, 2: of the paper), sigma 0.5, 1e-8, a square. */
typedef struct Setting {
  int dim, degree, cells, pre;
  int penalty;
  int random; /* a seed; 0: the manufactured flow */
  double sigma, tolerance, alpha, aspect;
} Setting;

static TesContext *tables_context;
static bool tables_slow;

/* Whether the row is this test's: of the slow one from so many unknowns on. */
static inline bool tables_has(const Setting *s) {
  return ((s->dim + 1) * pow(s->cells * (s->degree + 1), s->dim) > 3e4) == tables_slow;
}

static inline TesProblem *tables_problem(const Setting *s) {
  static const TesPenalty penalties[] = {TES_PENALTY_STANDARD, TES_PENALTY_AUTO, TES_PENALTY_PAPER};
  TesContext *ctx = tables_context;
  TesMesh *mesh;
  TesFunction *alpha;
  TesProblem *problem;
  uint64_t seed = (uint64_t)s->random;
  const TesMeshDesc box = {.kind = TES_MESH_BOX,
                           .dim = s->dim,
                           .cells = {s->cells, s->cells, s->cells},
                           .upper = {s->aspect > 0 ? s->aspect : 1, 1, 1}};
  TesProblemDesc desc = {.equation = TES_STOKES,
                         .degree = s->degree,
                         .solver = {.tolerance = s->tolerance > 0 ? s->tolerance : 1e-8,
                                    .pre = s->pre ? s->pre : 1,
                                    .penalty = penalties[s->penalty],
                                    .precision = TES_SOLVE_DOUBLE}};
  assert_ok(ctx, tes_mesh_create(ctx, &box, &mesh));
  assert_ok(ctx, tes_function_create_constant(ctx, s->alpha, &alpha));
  desc.solver.colours = TES_COLOURS_LEXICOGRAPHIC; /* the order of the prototypes */
  if (s->random)
    desc.add_load = flow_random_load, desc.add_load_user = &seed;
  else
    assert_ok(ctx, flow_manufacture(ctx, s->dim, s->sigma > 0 ? s->sigma : 0.5, 0, &desc));
  desc.mesh = mesh, desc.data.c = alpha;
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  flow_forget(&desc);
  tes_function_destroy(&alpha);
  tes_mesh_destroy(&mesh);
  return problem;
}

/* Iterations, fractional and whole, right-preconditioned; and the errors where the solution is known. */
static inline double tables_right(const Setting *s, int *iterations, TesFlowResult *flow) {
  TesProblem *problem = tables_problem(s);
  TesSolveResult result;
  assert_ok(tables_context, tes_problem_solve(problem, &result));
  const double fractional = result.fractional_iterations;
  if (iterations) *iterations = result.iterations;
  if (flow) assert_ok(tables_context, tes_problem_flow(problem, flow));
  tes_problem_destroy(&problem);
  return fractional;
}

static inline double tables_left(const Setting *s, int *iterations) {
  TesProblem *p = tables_problem(s);
  double residual[LEFT_GMRES_MOST + 1];
  int count;
  const double tolerance = s->tolerance > 0 ? s->tolerance : 1e-8;
  assert_ok(tables_context,
            left_gmres(tables_context, p->op, p->multigrid, p->b, tolerance, residual, &count));
  if (iterations) *iterations = count;
  tes_problem_destroy(&p);
  return left_gmres_count(residual, count, tolerance);
}

/* Fails, with the row, where the number is further away than `most`. */
static inline void tables_near(const Setting *s, const char *what, double is, double expected, double most) {
  char text[200];
  snprintf(text, sizeof text,
           "%dD RT_%d, %d cells, pre %d, alpha %g, aspect %g: %s %.5g, expected %.5g +- %.2g", s->dim,
           s->degree, s->cells, s->pre, s->alpha, s->aspect, what, is, expected, most);
  if (getenv("TESSERA_TEST_SHOW")) puts(text);
  if (!(fabs(is - expected) <= most)) fail_msg("%s", text);
}

/* ---- (A) errors of the Galerkin solution ---- */

typedef struct KnownErrors {
  int dim, degree, cells;
  double velocity, pressure;
} KnownErrors;

static inline void tables_errors(const KnownErrors *known, double tolerance) {
  const Setting s = {.dim = known->dim, .degree = known->degree, .cells = known->cells, .tolerance = tolerance};
  TesFlowResult flow;
  if (!tables_has(&s)) return;
  tables_right(&s, NULL, &flow);
  tables_near(&s, "velocity", flow.velocity_l2, known->velocity, 0.01 * known->velocity);
  tables_near(&s, "pressure", flow.pressure_l2, known->pressure, 0.01 * known->pressure);
  tables_near(&s, "divergence", flow.divergence_relative, 0, 1e-12);
}

/* To 1e-12 but for the last one: with errors of 2e-12, what the iteration leaves at 1e-8 is seen in the third digit,
 * and the number known is that of 1e-8; to 1e-12 the velocity is 2.31e-12. */
static inline void errors_are_within_one_percent(void **state) {
  (void)state;
  static const KnownErrors known[] = {
      {2, 1, 8, 2.057e-4, 1.612e-2},  {2, 2, 8, 1.186e-5, 1.071e-3},  {2, 3, 8, 9.768e-7, 5.312e-5},
      {2, 4, 8, 4.609e-8, 2.098e-6},  {2, 1, 16, 5.646e-5, 4.058e-3}, {2, 2, 16, 1.383e-6, 1.346e-4},
      {2, 3, 16, 6.720e-8, 3.337e-6}, {2, 4, 16, 1.366e-9, 6.580e-8}, {2, 1, 32, 1.458e-5, 1.017e-3},
      {2, 2, 32, 1.693e-7, 1.685e-5}, {2, 3, 32, 4.343e-9, 2.089e-7}, {2, 4, 32, 4.197e-11, 2.058e-9},
      {3, 1, 8, 1.109e-5, 1.395e-2},  {3, 2, 8, 6.634e-7, 9.276e-4},  {3, 3, 8, 5.519e-8, 4.595e-5},
      {3, 1, 16, 3.046e-6, 3.512e-3}, {3, 2, 16, 7.735e-8, 1.166e-4}, {3, 3, 16, 3.797e-9, 2.885e-6},
      {3, 4, 16, 7.5e-11, 5.69e-8},   {3, 1, 32, 7.879e-7, 8.794e-4}, {3, 2, 32, 9.468e-9, 1.459e-5},
      {3, 3, 32, 2.45e-10, 1.81e-7}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) tables_errors(&known[i], 1e-12);
  tables_errors(&(KnownErrors){3, 4, 32, 2.35e-12, 1.78e-9}, 1e-8);
}

/* ---- (B) counts of the manufactured flow ---- */

/* 0: not known. */
static inline void tables_count(const Setting *s, double left, double right) {
  if (!tables_has(s)) return;
  if (left > 0) tables_near(s, "left", tables_left(s, NULL), left, 0.05);
  if (right > 0) tables_near(s, "right", tables_right(s, NULL, NULL), right, 0.05);
}

static inline void counts_are_those_of_the_prototypes(void **state) {
  (void)state;
  static const double square[3][8][2] = {{{6.64, 7.22},
                                          {4.68, 5.24},
                                          {3.31, 3.75},
                                          {2.57, 2.93},
                                          {2.56, 2.96},
                                          {2.49, 2.86},
                                          {2.24, 2.57},
                                          {2.27, 2.60}},
                                         {{7.84, 8.91},
                                          {4.82, 5.60},
                                          {3.29, 3.86},
                                          {2.54, 2.97},
                                          {2.54, 3.01},
                                          {2.48, 2.96},
                                          {2.23, 2.64},
                                          {2.25, 2.67}},
                                         {{9.35, 11.45},
                                          {4.88, 6.16},
                                          {3.23, 4.03},
                                          {2.53, 3.07},
                                          {2.51, 3.11},
                                          {2.44, 3.00},
                                          {2.20, 2.65},
                                          {2.23, 2.69}}},
                      cube[3][4][2] = {{{5.69, 5.94}, {3.60, 3.88}, {2.58, 2.80}, {2.30, 2.48}},
                                       {{6.79, 7.51}, {3.82, 4.48}, {2.64, 2.95}, {2.32, 2.57}},
                                       {{7.70, 8.83}, {3.84, 4.61}, {0, 2.99}, {2.32, 2.65}}};
  static const int squares[] = {16, 32, 128}, cubes[] = {8, 16, 32};
  for (int i = 0; i < 3; i++)
    for (int k = 1; k <= 8; k++) {
      tables_count(&(Setting){.dim = 2, .degree = k, .cells = squares[i]}, square[i][k - 1][0],
                   square[i][k - 1][1]);
      if (k <= 4)
        tables_count(&(Setting){.dim = 3, .degree = k, .cells = cubes[i]}, cube[i][k - 1][0],
                     cube[i][k - 1][1]);
    }
}

/* V(0,1), and RT_1 with penalties with which counts do not grow. */
static inline void counts_of_other_cycles(void **state) {
  (void)state;
  tables_count(&(Setting){.dim = 3, .degree = 1, .cells = 16, .pre = -1}, 0, 10.9);
  tables_count(&(Setting){.dim = 3, .degree = 2, .cells = 16, .pre = -1}, 0, 4.98);
  tables_count(&(Setting){.dim = 3, .degree = 3, .cells = 8, .pre = -1}, 0, 3.58);
  tables_count(&(Setting){.dim = 2, .degree = 1, .cells = 128, .penalty = 1}, 6.00, 7.62);
  tables_count(&(Setting){.dim = 3, .degree = 1, .cells = 32, .penalty = 1}, 4.77, 0);
}

/* ---- (C) the paper's tables ---- */

/* Table 1, columns of the Schur complement, by its conventions; exact solves need as many iterations as its conjugate
 * gradients. Beside: what the prototypes count there, in more digits. */
static inline void counts_are_those_of_the_paper(void **state) {
  (void)state;
  static const struct {
    int level, degree;
    double count;
  } ours[] = {{3, 3, 2.50}, {3, 4, 2.22}, {3, 8, 1.97}, {5, 3, 3.34}, {5, 4, 2.53},
              {5, 8, 2.17}, {7, 3, 3.29}, {7, 4, 2.51}, {7, 8, 2.13}};
  for (int level = STOKES_FIRST_LEVEL; level <= 8; level++)
    for (int i = 0; i < STOKES_DEGREES; i++) {
      const Setting s = {
          .dim = 2, .degree = STOKES_FIRST_DEGREE + i, .cells = 1 << (level - 1), .penalty = 2, .sigma = 0.6};
      if (!tables_has(&s)) continue;
      const double left = tables_left(&s, NULL);
      tables_near(&s, "paper", left, stokes_schur[level - STOKES_FIRST_LEVEL][i], level == 8 ? 0.3 : 0.2);
      for (size_t o = 0; o < sizeof ours / sizeof *ours; o++)
        if (ours[o].level == level && ours[o].degree == s.degree)
          tables_near(&s, "left", left, ours[o].count, 0.05);
    }
}

/* To 1e-6 on 32^3 cells: Table 2 has 3 iterations of RT_2 and of RT_4 from the left; from the right the prototypes need
 * at most 3 of RT_4, whose residual after 2 is 3.1e-7. */
static inline void few_iterations_to_six_digits(void **state) {
  (void)state;
  static const int left[] = {3, 2, 2}, right[] = {4, 3, 2};
  for (int k = 2; k <= 4; k++) {
    const Setting s = {.dim = 3, .degree = k, .cells = 32, .tolerance = 1e-6};
    int iterations;
    if (!tables_has(&s)) continue;
    tables_left(&s, &iterations);
    tables_near(&s, "left", iterations, left[k - 2], 0);
    tables_right(&s, &iterations, NULL);
    tables_near(&s, "right", iterations, right[k - 2], 0);
  }
}

/* ---- (E) random right-hand sides ---- */

static inline void random_counts(void **state) {
  (void)state;
  static const struct {
    int dim, degree, cells;
    double one, none; /* steps before */
  } known[] = {{2, 1, 32, 9.8, 17.5}, {2, 2, 32, 5.6, 7.6}, {2, 3, 32, 3.9, 5.7}, {2, 4, 32, 3.0, 4.3},
               {3, 1, 8, 7.2, 10.8},  {3, 2, 8, 4.6, 6.1},  {3, 3, 8, 3.3, 4.8}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    Setting s = {.dim = known[i].dim, .degree = known[i].degree, .cells = known[i].cells, .random = 1};
    if (!tables_has(&s)) continue;
    tables_near(&s, "random", tables_right(&s, NULL, NULL), known[i].one, 0.2);
    s.pre = -1;
    tables_near(&s, "random", tables_right(&s, NULL, NULL), known[i].none, 0.2);
  }
}

/* Finer meshes take few iterations more: 1.5 for RT_1, 0.6 for others. */
static inline void random_counts_do_not_grow(void **state) {
  (void)state;
  for (int dim = 2; dim <= 2 + tables_slow; dim++)
    for (int k = 1; k <= 4; k++) {
      double before = INFINITY;
      const int finest = dim == 3 ? 16 : tables_slow ? 128 : 32;
      for (int cells = dim == 3 ? 8 : finest / 2; cells <= finest; cells *= 2) {
        const Setting s = {.dim = dim, .degree = k, .cells = cells, .random = 1};
        const double count = tables_right(&s, NULL, NULL), growth = count - before;
        tables_near(&s, "growth", growth > 0 ? growth : 0, 0, k == 1 ? 1.5 : 0.6);
        before = count;
      }
    }
}

/* ---- what is not square, even, or without a mass ---- */

/* Random right-hand sides on 32^2 cells, V(1,1): iterations for cells of this aspect ratio. */
static inline void stretched_cells(void **state) {
  (void)state;
  static const int most[3][3] = {{10, 6, 4}, {10, 6, 4}, {9, 6, 5}};
  for (int i = 0; i < 3; i++)
    for (int k = 1; k <= 3; k++) {
      const Setting s = {.dim = 2, .degree = k, .cells = 32, .aspect = 2 << i, .random = 1};
      int iterations;
      if (!tables_has(&s)) continue;
      tables_right(&s, &iterations, NULL);
      tables_near(&s, "stretched", iterations, 0, most[i][k - 1]);
    }
}

/* An odd number of cells takes as many as its even neighbour, nearly. */
static inline void odd_counts(void **state) {
  (void)state;
  static const double even[] = {9.8, 5.6, 3.9};
  for (int cells = 31; cells <= 33; cells += 2)
    for (int k = 1; k <= 3; k++) {
      const Setting s = {.dim = 2, .degree = k, .cells = cells, .random = 1};
      if (tables_has(&s)) tables_near(&s, "odd", tables_right(&s, NULL, NULL), 0, 1.1 * even[k - 1] + 0.2);
    }
}

/* alpha > 0, a time step: no alpha takes more than 0.1 iterations more than none. */
static inline void masses_cost_nothing(void **state) {
  (void)state;
  static const double alphas[] = {0, 1e2, 1e3, 1e4, 1e6, 1e8};
  static const double known[4][2][6] = {{{8.9, 8.0, 6.1, 4.2, 2.9, 2.9}, {9.8, 8.9, 7.0, 4.7, 3.2, 3.2}},
                                        {{5.6, 5.2, 4.5, 3.5, 2.6, 2.6}, {5.6, 5.3, 4.7, 3.7, 2.7, 2.7}},
                                        {{3.9, 3.8, 3.5, 3.1, 2.6, 2.2}, {3.9, 3.9, 3.7, 3.3, 2.7, 2.3}},
                                        {{3.0, 2.9, 2.8, 2.8, 2.6, 2.0}, {3.0, 3.0, 2.9, 2.7, 2.6, 2.2}}};
  for (int k = 1; k <= 4; k++)
    for (int random = 0; random < 2; random++) {
      double none = 0;
      for (int a = 0; a < 6; a++) {
        const Setting s = {.dim = 2, .degree = k, .cells = 32, .alpha = alphas[a], .random = random};
        if (!tables_has(&s)) continue;
        const double count = tables_right(&s, NULL, NULL);
        tables_near(&s, random ? "random" : "smooth", count, 0,
                    known[k - 1][random][a] + (random ? 0.2 : 0.1));
        if (a == 0) none = count;
        tables_near(&s, "more", count > none ? count - none : 0, 0, 0.1);
      }
    }
}

static int tables_set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET}, &tables_context, NULL,
                            0) != TES_OK;
}

static int tables_tear_down(void **state) {
  (void)state;
  const size_t left = tes_context_memory(tables_context);
  tes_context_destroy(&tables_context);
  return left != 0;
}

static inline int tables_main(bool slow) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(errors_are_within_one_percent),
                                     cmocka_unit_test(counts_are_those_of_the_prototypes),
                                     cmocka_unit_test(counts_of_other_cycles),
                                     cmocka_unit_test(counts_are_those_of_the_paper),
                                     cmocka_unit_test(few_iterations_to_six_digits),
                                     cmocka_unit_test(random_counts),
                                     cmocka_unit_test(random_counts_do_not_grow),
                                     cmocka_unit_test(stretched_cells),
                                     cmocka_unit_test(odd_counts),
                                     cmocka_unit_test(masses_cost_nothing)};
  tables_slow = slow;
  return cmocka_run_group_tests(tests, tables_set_up, tables_tear_down);
}

#endif
