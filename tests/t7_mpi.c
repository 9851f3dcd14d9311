/* Run: ctest -R t7_mpi. Forests and boxes on several ranks against the same on one: mpirun starts as many processes as
 * the test's name ends with, each of which computes both, and compares node by node. Brief: a way to solve a case.
 * Ranks: 2 3 4
 * Ranks on the emulator: 2 3 */
#include <stdio.h>
#include <stdlib.h>
#include "device/kernel.h"
#include "geometry/locate.h"
#include "operator/operator.h"
#include "parallel/layout.h"
#include "smoother/cell_patch/cell_patch.h"
#include "smoother/smoother.h"
#include "tessera/tessera.h"
#include "testing.h"
#include "mpi_testing.h"

typedef struct Case {
  TesMeshDesc mesh;
  int degree;
  const char *where, *u, *a; /* refined where positive; values on the boundary; diffusion */
  TesCondition condition;    /* on all of the boundary, but for one that has values */
  const char *values;        /* its name; NULL: none */
} Case;

static const double graded[] = {0, 0.1, 0.15, 0.3, 0.5, 0.6, 0.8, 0.9, 1, 1.2, 1.3, 1.5, 2};
static const Case cases[] = {
    {{.kind = TES_MESH_BOX, .dim = 2, .cells = {8, 16}}, 4, NULL, "sin(3*x)*exp(y)", "1", TES_DIRICHLET, NULL},
    {{.kind = TES_MESH_BOX, .dim = 3, .cells = {4, 5, 12}}, 2, NULL, "x*y + z", "2", TES_ROBIN, "back"},
    {{.kind = TES_MESH_BOX,
      .dim = 3,
      .cells = {5, 4, 12},
      .coordinates = {NULL, NULL, graded},
      .upper = {1, 1, 0}},
     3,
     NULL,
     "cos(pi*x)*cos(pi*y)",
     "1",
     TES_NEUMANN,
     NULL},
    {{.kind = TES_MESH_BOX, .dim = 2, .cells = {3, 7}}, 1, NULL, "x + y*y", "1", TES_NEUMANN, "bottom"},
    {{.dim = 2, .cells = {8, 8}}, 2, NULL, "sin(3*x)*exp(y)", "1", TES_DIRICHLET, NULL},
    {{.dim = 2, .cells = {5, 3}, .refine = 1}, 3, "0.4 - x - y*y", "cos(2*x + y)", "1 + x*y", TES_DIRICHLET, NULL},
    {{.domain = TES_DOMAIN_BALL, .dim = 2, .refine = 2}, 4, "x - 0.5", "exp(x)*y", "1", TES_DIRICHLET, NULL},
    {{.domain = TES_DOMAIN_BALL, .dim = 3, .refine = 1},
     2,
     "y + z - 0.8",
     "x*y + z*z",
     "2 + x",
     TES_DIRICHLET,
     NULL},
    {{.dim = 3, .cells = {3, 2, 2}, .refine = 1}, 1, "0.3 - x*y", "x + 2*y*z", "1", TES_DIRICHLET, NULL},
    {{.dim = 2, .cells = {4, 4}, .refine = 2}, 3, "x - y", "cos(pi*x)*cos(pi*y)", "1", TES_NEUMANN, NULL},
    {{.domain = TES_DOMAIN_SHELL, .dim = 2, .refine = 2}, 2, "x", "x*x", "1 + y*y", TES_ROBIN, "inner"},
    {{.dim = 2, .cells = {8, 2}}, 2, "x - 0.9", "sin(x)*y", "1", TES_NEUMANN, "left"},
    {{.domain = TES_DOMAIN_L_SHAPE, .dim = 3, .refine = 1},
     3,
     "0.1 - x*x - y*y",
     "sin(x + y)*z",
     "1",
     TES_DIRICHLET,
     NULL}};

/* On a device with kernels some cases, of each kind: the emulator takes its time. */
static bool is_left_out(size_t c) {
  static const bool kept[sizeof cases / sizeof *cases] = {
      [0] = true, [3] = true, [5] = true, [8] = true, [10] = true};
  return tesi_has_kernels(together) && !kept[c];
}

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

static void create_mesh(TesContext *ctx, const Case *is, TesMesh **mesh) {
  TesMeshDesc desc = is->mesh;
  TesFunction *where = is->where ? expression(ctx, is->where) : NULL;
  desc.kind = is->mesh.kind ? is->mesh.kind : TES_MESH_FOREST;
  desc.refine_where = where;
  desc.refine_times = !where ? 0 : desc.dim == 2 ? 2 : 1;
  assert_ok(ctx, tes_mesh_create(ctx, &desc, mesh));
  tes_function_destroy(&where);
}

/* ---- node by node -------------------------------------------------------------------------------------- */

static double *values_of(TesContext *ctx, const TesVector *v) {
  double *values = malloc((size_t)tes_vector_length(v) * sizeof *values);
  assert_ok(ctx, tes_vector_get(v, values));
  return values;
}

static void compare(const char *what, const TesVector *whole, const TesVector *part, const int64_t *match,
                    double tolerance) {
  double *x = values_of(alone, whole), *y = values_of(together, part), largest = 0, a, b;
  for (int64_t i = 0; i < tes_vector_length(whole); i++) largest = fmax(largest, fabs(x[i]));
  for (int64_t i = 0; i < tes_vector_length(part); i++)
    if (!(fabs(y[i] - x[match[i]]) <= tolerance * largest))
      fail_msg("%s: node %lld is %.16g, not %.16g", what, (long long)i, y[i], x[match[i]]);
  assert_ok(alone, tes_vector_norm(whole, &a));
  assert_ok(together, tes_vector_norm(part, &b));
  assert_near(b, a, tolerance * a + 1e-300);
  assert_ok(alone, tes_vector_maximum(whole, &a));
  assert_ok(together, tes_vector_maximum(part, &b));
  assert_near(b, a, tolerance * a + 1e-300);
  free(x);
  free(y);
}

/* What is not done on several ranks says so, on each of them. */
static void the_rest_is_refused(void **state) {
  (void)state;
  if (world->size == 1) return;
  TesSpace *space;
  TesMesh *mesh;
  TesOperator *op = NULL;
  TesSmoother *smoother;
  TesMultigrid *multigrid;
  const TesMeshDesc flat = {.dim = 2, .cells = {8, 1}}, box = {.dim = 2, .cells = {8, 8}};
  assert_int_equal(tes_mesh_create(together, &flat, &mesh), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(together), "1 cells in direction y are cut between ranks"));
  tes_context_clear(together);
  assert_ok(together, tes_mesh_create(together, &box, &mesh));
  assert_ok(together, tes_space_create(together, &(TesSpaceDesc){.mesh = mesh}, &space));
  const TesOperatorDesc quadrature = {.space = space, .kind = "quadrature"};
  assert_int_equal(tes_operator_create(together, &quadrature, &op), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(together), "this one is of kind quadrature"));
  tes_context_clear(together);
  assert_ok(together, tes_operator_create(together, &(TesOperatorDesc){.space = space}, &op));
  const TesSmootherDesc points = {.op = op, .kind = TES_SMOOTHER_GAUSS_SEIDEL};
  assert_int_equal(tes_smoother_create(together, &points, &smoother), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(together), "so is for one rank"));
  tes_context_clear(together);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  create_mesh(together, &(Case){.mesh = {.dim = 2, .cells = {8, 8}}}, &mesh);
  assert_ok(together, tes_space_create(together, &(TesSpaceDesc){.mesh = mesh}, &space));
  assert_ok(together, tes_operator_create(together, &(TesOperatorDesc){.space = space}, &op));
  const TesMultigridDesc algebraic = {.op = op, .coarse = TES_COARSE_AMG};
  assert_int_equal(tes_multigrid_create(together, &algebraic, &multigrid), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(together), "solver.coarse: amg is for one rank"));
  tes_context_clear(together);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
}

/* A point is in cells of one rank or, at a cut, of several; each finds those that it has. */
/* Numbers of cells with many factors of two and others are cut into parts that are nearly equal, in pairs. */
static void parts_are_equal(void **state) {
  (void)state;
  static const int cells[] = {48, 80, 96, 112, 160};
  for (int i = 0; i < 5; i++) {
    TesMesh *mesh;
    const TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = 2, .cells = {256, cells[i]}};
    assert_ok(together, tes_mesh_create(together, &desc, &mesh));
    const double mean = 256. * cells[i] / tesi_ranks(together), own = (double)tes_mesh_info(mesh).cells;
    assert_true(own <= 1.125 * mean);
    assert_int_equal((int)own / 256 % 2, 0);
    tes_mesh_destroy(&mesh);
  }
}

static void points_have_ranks(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const double x[3] = {0.37, 0.41, 0.23};
    TesMesh *whole, *part;
    int64_t cell;
    double xi[3], at[3];
    create_mesh(alone, &cases[c], &whole);
    create_mesh(together, &cases[c], &part);
    assert_ok(alone, tes_mesh_locate(whole, 1, x, &cell, NULL));
    const bool inside = cell >= 0;
    assert_ok(together, tes_mesh_locate(part, 1, x, &cell, xi));
    assert_int_equal(tesi_reduce_any(together, cell >= 0), inside);
    if (cell >= 0) assert_ok(together, tesi_mesh_points(part, cell, 1, xi, at, NULL));
    for (int d = 0; d < part->dim && cell >= 0; d++) assert_near(at[d], x[d], 1e-12);
    tes_mesh_destroy(&whole);
    tes_mesh_destroy(&part);
  }
}

/* What fails on one rank fails on all, with its message. */
static void failures_are_of_all(void **state) {
  (void)state;
  const int last = world->size - 1;
  char text[120];
  TesStatus status = TES_OK;
  if (world->rank == last)
    status = tesi_fail(together, TES_IO, __FILE__, __LINE__, __func__, "cannot write %s", "x.vtu");
  assert_int_equal(tesi_agree(together, status), TES_IO);
  snprintf(text, sizeof text, world->size > 1 ? "rank %d of %d: cannot write x.vtu" : "cannot write x.vtu",
           last, world->size);
  assert_string_equal(tes_context_message(together), text);
  tes_context_clear(together);
  assert_int_equal(tesi_agree(together, TES_NOT_CONVERGED), TES_NOT_CONVERGED);
  assert_string_equal(tes_context_message(together), "");
  double values[40];
  for (int i = 0; i < 40; i++) values[i] = world->rank + i;
  tesi_reduce(together, TESI_SUM, 40, values);
  for (int i = 0; i < 40; i++) assert_true(values[i] == world->size * (last / 2.0 + i));
  int word = world->rank == last ? 7 : 0;
  tesi_broadcast(together, last, sizeof word, &word);
  assert_int_equal(word, 7);
}

/* ---- layouts ------------------------------------------------------------------------------------------- */

static void spaces_are_one(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    TesMesh *whole, *part;
    TesSpace *all, *some;
    create_mesh(alone, &cases[c], &whole);
    create_mesh(together, &cases[c], &part);
    assert_int_equal(tesi_reduce_count(together, part->cells), whole->cells);
    assert_int_equal(tes_mesh_info(part).all_cells, whole->cells);
    for (int degree = 1; degree <= 4; degree += degree) {
      const TesSpaceDesc on_whole = {.mesh = whole, .degree = degree},
                         on_part = {.mesh = part, .degree = degree};
      assert_ok(alone, tes_space_create(alone, &on_whole, &all));
      assert_ok(together, tes_space_create(together, &on_part, &some));
      const TesiLayout *layout = some->layout;
      int64_t *match = match_nodes(all, some), unknowns = 0;
      bool *given = calloc((size_t)some->length, sizeof *given);
      double *copies = malloc((size_t)some->length * sizeof *copies);
      assert_int_equal(layout->global, all->length);
      assert_int_equal(tes_space_hanging(some), tes_space_hanging(all));
      const TesiCellView *view;
      assert_ok(together, tesi_space_cells(some, &view));
      for (int64_t i = 0; i < view->length - view->dofs; i++) given[view->constrained[i]] = true;
      const TesiOwned *own = &layout->block[0];
      for (int64_t i = own->start; i < own->start + own->owned; i++) unknowns += !given[i];
      assert_int_equal(tesi_reduce_count(together, unknowns), all->dofs);
      assert_int_equal(tes_space_dofs(some), all->dofs);
      for (int64_t i = 0; i < some->length; i++) copies[i] = i >= own->start && i < own->start + own->owned;
      tesi_exchange_sum(layout->shared, TES_DOUBLE, copies); /* each has one owner */
      for (int64_t i = 0; i < some->length; i++) assert_true(copies[i] == 1);
      free(match);
      free(given);
      free(copies);
      tes_space_destroy(&all);
      tes_space_destroy(&some);
    }
    tes_mesh_destroy(&whole);
    tes_mesh_destroy(&part);
  }
}

/* ---- operators ----------------------------------------------------------------------------------------- */

typedef struct Applied {
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesVector *x, *y, *r, *d;
} Applied;

static void apply(TesContext *ctx, const Case *is, Applied *to) {
  TesFunction *a = expression(ctx, is->a), *x = expression(ctx, "sin(5*x) + y*y"),
              *b = expression(ctx, "1 + x - y");
  const TesTermDesc term = {.term = TES_TERM_DIFFUSION, .a = {.all = a}};
  TesVector *load;
  create_mesh(ctx, is, &to->mesh);
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = to->mesh, .degree = is->degree}, &to->space));
  assert_ok(ctx,
            tes_operator_create(
                ctx, &(TesOperatorDesc){.space = to->space, .form = {.terms = 1, .term = &term}}, &to->op));
  TesVector **vectors[] = {&to->x, &to->y, &to->r, &to->d, &load};
  for (int i = 0; i < 5; i++) assert_ok(ctx, tesi_operator_new_vector(to->op, TES_DOUBLE, vectors[i]));
  assert_ok(ctx, tes_space_interpolate(to->space, (const TesFunction *[]){x}, to->x));
  double *values = values_of(ctx, to->x);
  const TesiCellView *view;
  assert_ok(ctx, tesi_space_cells(to->space, &view));
  for (int64_t i = 0; i < view->length - view->dofs; i++) values[view->constrained[i]] = 0;
  assert_ok(ctx, tes_vector_set(to->x, values));
  free(values);
  assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = to->space, .f = {b}}, load));
  assert_ok(ctx, tes_operator_apply(to->op, to->x, to->y));
  assert_ok(ctx, tes_operator_residual(to->op, load, to->x, to->r));
  assert_ok(ctx, tes_operator_diagonal(to->op, to->d));
  assert_ok(ctx, tes_operator_residual(to->op, load, to->x, load)); /* in place */
  double *in_place = values_of(ctx, load), *beside = values_of(ctx, to->r);
  for (int64_t i = 0; i < tes_vector_length(load); i++) assert_near(in_place[i], beside[i], 1e-13);
  free(in_place);
  free(beside);
  tes_vector_destroy(&load);
  tes_function_destroy(&a);
  tes_function_destroy(&x);
  tes_function_destroy(&b);
}

static void release(Applied *of) {
  TesVector **vectors[] = {&of->x, &of->y, &of->r, &of->d};
  for (int i = 0; i < 4; i++) tes_vector_destroy(vectors[i]);
  tes_operator_destroy(&of->op);
  tes_space_destroy(&of->space);
  tes_mesh_destroy(&of->mesh);
}

static void operators_are_one(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    Applied whole, part;
    if (is_left_out(c)) continue;
    apply(alone, &cases[c], &whole);
    apply(together, &cases[c], &part);
    int64_t *match = match_nodes(whole.space, part.space);
    compare("x", whole.x, part.x, match, 1e-13);
    compare("A x", whole.y, part.y, match, 1e-12);
    compare("b - A x", whole.r, part.r, match, 1e-12);
    compare("diagonal", whole.d, part.d, match, 1e-12);
    free(match);
    release(&whole);
    release(&part);
  }
}

/* ---- smoothers ----------------------------------------------------------------------------------------- */

static void smooth(const Applied *of, TesSmootherKind kind, TesSweep sweep, bool plain, TesVector *x) {
  TesContext *ctx = of->op->context;
  TesSmoother *smoother;
  const TesSmootherDesc desc = {
      .op = of->op, .kind = kind, .omega = kind == TES_SMOOTHER_PATCH_ADDITIVE ? 0.3 : 0};
  assert_ok(ctx, tes_smoother_create(ctx, &desc, &smoother));
  assert_ok(ctx, tes_vector_copy(of->x, 1, x));
  if (plain) {
    assert_ok(ctx, tesi_smoother_apply_ref(smoother, of->r, x, sweep, false));
  } else {
    assert_ok(ctx, tes_smoother_apply(smoother, of->r, x, sweep, false));
    assert_ok(ctx, tes_smoother_apply(smoother, of->y, x, !sweep, false)); /* from what it left at the cuts */
  }
  tes_smoother_destroy(&smoother);
}

static void expect_equal_copies(const TesSpace *space, const TesVector *v) {
  TesiExchange *shared = space->layout->shared;
  const int32_t *entry = NULL;
  double *least = values_of(together, v), *most = values_of(together, v);
  for (int64_t i = 0; i < space->length; i++) least[i] = -least[i];
  tesi_exchange_begin(shared, TES_DOUBLE, least);
  tesi_exchange_end(shared, TESI_MAXIMUM, TES_DOUBLE, least);
  tesi_exchange_begin(shared, TES_DOUBLE, most);
  tesi_exchange_end(shared, TESI_MAXIMUM, TES_DOUBLE, most);
  for (int64_t i = 0, n = tesi_exchange_entries(shared, &entry); i < n; i++)
    assert_true(-least[entry[i]] == most[entry[i]]);
  free(least);
  free(most);
}

/* Vertex patches of boxes: the step of one rank. All copies are the same to the last bit. */
static void sweeps_are_one(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases && cases[c].mesh.kind == TES_MESH_BOX; c++) {
    Applied whole, part;
    TesVector *x, *y;
    if (is_left_out(c)) continue;
    apply(alone, &cases[c], &whole);
    apply(together, &cases[c], &part);
    assert_ok(alone, tesi_operator_new_vector(whole.op, TES_DOUBLE, &x));
    assert_ok(together, tesi_operator_new_vector(part.op, TES_DOUBLE, &y));
    int64_t *match = match_nodes(whole.space, part.space);
    for (int k = 0; k < 8; k++) {
      const TesSmootherKind kind = k & 1 ? TES_SMOOTHER_PATCH_ADDITIVE : TES_SMOOTHER_PATCH;
      const TesSweep sweep = k & 2 ? TES_BACKWARD : TES_FORWARD;
      smooth(&whole, kind, sweep, k & 4, x);
      smooth(&part, kind, sweep, k & 4, y);
      compare("a sweep", x, y, match, 1e-11);
      expect_equal_copies(part.space, y);
    }
    free(match);
    tes_vector_destroy(&x);
    tes_vector_destroy(&y);
    release(&whole);
    release(&part);
  }
}

/* Patches of cells of forests, and the weights at their nodes; fast and plain. */
static void cell_patches_are_one(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    Applied of[2];
    TesiCellPatches *patches[2];
    TesVector *z[2][3];
    if (cases[c].mesh.kind == TES_MESH_BOX || (test_brief() && c % 2) || is_left_out(c)) continue;
    for (int i = 0; i < 2; i++) {
      TesContext *ctx = i ? together : alone;
      apply(ctx, &cases[c], &of[i]);
      assert_ok(ctx, tesi_cell_patches_create(of[i].op, &patches[i]));
      for (int j = 0; j < 3; j++) assert_ok(ctx, tesi_operator_new_vector(of[i].op, TES_DOUBLE, &z[i][j]));
      assert_ok(ctx, tesi_cell_patches_apply(patches[i], of[i].r->data, z[i][0]->data));
      double *r = values_of(ctx, of[i].r), *plain = calloc((size_t)of[i].op->length, sizeof *plain);
      assert_ok(ctx, tesi_cell_patches_apply_ref(patches[i], r, plain));
      assert_ok(ctx, tes_vector_set(z[i][1], plain));
      free(r);
      free(plain);
      const TesiDevice *device = tesi_context_device(ctx);
      assert_ok(ctx, device->copy(ctx, of[i].op->length, 1, TES_DOUBLE, patches[i]->weight, TES_DOUBLE,
                                  z[i][2]->data));
    }
    int64_t *match = match_nodes(of[0].space, of[1].space);
    static const char *const names[] = {"patches of cells", "patches of cells, plain", "weights"};
    for (int j = 0; j < 3; j++) compare(names[j], z[0][j], z[1][j], match, 1e-10);
    free(match);
    for (int i = 0; i < 2; i++) {
      for (int j = 0; j < 3; j++) tes_vector_destroy(&z[i][j]);
      tesi_cell_patches_destroy(&patches[i]);
      release(&of[i]);
    }
  }
}

/* ---- solves -------------------------------------------------------------------------------------------- */

typedef struct Solved {
  TesMesh *mesh;
  TesProblem *problem;
  int iterations;
  double l2, h1, mean;
} Solved;

/* How a case is solved. */
typedef struct How {
  TesMethod method;
  TesSolvePrecision precision;
  TesSmootherKind smoother;
  TesCoarseKind coarse; /* of forests */
} How;

static void solve(TesContext *ctx, const Case *is, const How *how, Solved *to) {
  TesFunction *a = expression(ctx, is->a), *u = expression(ctx, is->u), *f;
  TesSolveResult result;
  create_mesh(ctx, is, &to->mesh);
  const bool closed = is->condition == TES_NEUMANN && !is->values;
  f = expression(ctx, closed ? "cos(pi*x)*cos(pi*y)" : "1 + x*y");
  const TesBoundary boundary[] = {{.condition = is->condition, .g = {closed ? NULL : u}},
                                  {.name = is->values, .condition = TES_DIRICHLET, .g = {u}}};
  const TesProblemDesc desc = {.mesh = to->mesh,
                               .degree = is->degree,
                               .data = {.a = a, .f = {f}},
                               .boundaries = is->values ? 2 : 1,
                               .boundary = boundary,
                               .exact = {u},
                               .solver = {.method = how->method,
                                          .tolerance = 1e-12,
                                          .precision = how->precision,
                                          .coarse = is->mesh.kind ? TES_COARSE_AUTO : how->coarse,
                                          .smoother = how->smoother}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &to->problem));
  assert_ok(ctx, tes_problem_solve(to->problem, &result));
  to->iterations = result.iterations;
  assert_ok(ctx, tes_problem_errors(to->problem, &to->l2, &to->h1));
  assert_ok(ctx, tes_problem_value(to->problem, &(TesValue){.kind = TES_VALUE_MEAN}, &to->mean));
  tes_function_destroy(&a);
  tes_function_destroy(&u);
  tes_function_destroy(&f);
}

static void compare_solved(const Solved *whole, const Solved *part, double tolerance) {
  int64_t *match = match_nodes(tes_problem_space(whole->problem), tes_problem_space(part->problem));
  compare("u", tes_problem_solution(whole->problem), tes_problem_solution(part->problem), match, tolerance);
  assert_near(part->l2, whole->l2, 1e-9 * whole->l2);
  assert_near(part->h1, whole->h1, 1e-9 * whole->h1);
  assert_near(part->mean, whole->mean, tolerance);
  free(match);
}

static void release_solved(Solved *of) {
  tes_problem_destroy(&of->problem);
  tes_mesh_destroy(&of->mesh);
}

static void solves_are_one(void **state) {
  (void)state;
  static const How how[] = {
      {TES_METHOD_AUTO, TES_SOLVE_MIXED, TES_SMOOTHER_CHEBYSHEV, TES_COARSE_CG},
      {TES_METHOD_AUTO, TES_SOLVE_MIXED, TES_SMOOTHER_AUTO, TES_COARSE_AUTO},
      {TES_METHOD_CG, TES_SOLVE_MIXED, TES_SMOOTHER_CELL_PATCH, TES_COARSE_DIRECT}, /* of boxes: patch */
      {TES_METHOD_GMRES, TES_SOLVE_DOUBLE, TES_SMOOTHER_CHEBYSHEV, TES_COARSE_CG}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int k = 0; k < 4; k++) {
      Solved whole, part;
      How as = how[k];
      if (is_left_out(c) || (tesi_has_kernels(together) && k != (int)(c % 3))) continue;
      if ((k > 1 && c % 3 != (size_t)k - 2) || (test_brief() && k != (int)(c % 3))) continue;
      if (cases[c].mesh.kind == TES_MESH_BOX && as.smoother == TES_SMOOTHER_CELL_PATCH)
        as.smoother = TES_SMOOTHER_PATCH;
      solve(alone, &cases[c], &as, &whole);
      solve(together, &cases[c], &as, &part);
      compare_solved(&whole, &part, 1e-11);
      /* boxes may end on a larger coarsest level; families that cuts of few cells part stay fine */
      const int more = world->size > 3 ? 2 : 1;
      assert_in_range(part.iterations, cases[c].mesh.kind ? 1 : whole.iterations - 1, whole.iterations + more);
      release_solved(&whole);
      release_solved(&part);
    }
}

/* Lines of stretched cells end at cuts, which takes more iterations and gives the same solution: up to what the
 * tolerance leaves of two different iterations, not of one. */
static void lines_end_at_cuts(void **state) {
  (void)state;
  static const Case stretched[] = {
      {{.dim = 2, .cells = {16, 16}, .upper = {1, 0.1}}, 3, NULL, "sin(3*x)*exp(y)", "1", TES_DIRICHLET, NULL},
      {{.dim = 3, .cells = {4, 4, 8}, .upper = {1, 1, 0.25}}, 2, NULL, "x*y + z", "1", TES_NEUMANN, "left"}};
  for (int c = 0; c < (tesi_has_kernels(together) ? 1 : 2); c++)
    for (int k = 0; k < 2; k++) {
      Solved whole, part;
      const How how = {.method = TES_METHOD_CG,
                       .precision = TES_SOLVE_MIXED,
                       .smoother = k ? TES_SMOOTHER_CELL_PATCH : TES_SMOOTHER_LINE_PATCH};
      solve(alone, &stretched[c], &how, &whole);
      solve(together, &stretched[c], &how, &part);
      compare_solved(&whole, &part, 1e-10);
      assert_in_range(part.iterations, whole.iterations - 1, whole.iterations + (k ? 1 : 12));
      release_solved(&whole);
      release_solved(&part);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spaces_are_one),      cmocka_unit_test(operators_are_one),
      cmocka_unit_test(sweeps_are_one),      cmocka_unit_test(cell_patches_are_one),
      cmocka_unit_test(solves_are_one),      cmocka_unit_test(lines_end_at_cuts),
      cmocka_unit_test(the_rest_is_refused), cmocka_unit_test(points_have_ranks),
      cmocka_unit_test(parts_are_equal),

      cmocka_unit_test(failures_are_of_all)};
  const int status = begin_on_ranks(NULL);
  if (status) return status;
  return end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
