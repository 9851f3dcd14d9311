/* Run: ctest -R t7_choice. What is chosen by itself, row by row of the table, and that what is asked for stays. */
#include <math.h>
#include "problem/choice.h"
#include "problem/survey.h"
#include "testing.h"

typedef struct Row {
  TesiSituation at;
  TesSmootherKind smoother;
  TesMethod method;
  bool full_start;
} Row;

static void check(const Row *row) {
  const TesiChoice got = tesi_choose(&row->at);
  assert_int_equal(got.smoother, row->smoother);
  assert_int_equal(got.method, row->method);
  assert_int_equal(got.full_start, row->full_start);
}

static void boxes(void **state) {
  (void)state;
  const TesMeshKind box = TES_MESH_BOX;
  const Row rows[] = {
      {{.mesh = box, .constant = true}, TES_SMOOTHER_PATCH, TES_METHOD_FMG, false},
      {{.mesh = box, .constant = true, .smoother = TES_SMOOTHER_PATCH},
       TES_SMOOTHER_PATCH,
       TES_METHOD_FMG,
       false},
      {{.mesh = box, .constant = true, .guess = true}, TES_SMOOTHER_PATCH, TES_METHOD_VCYCLE, false},
      {{.mesh = box, .constant = true, .stretch = TESI_STRETCHED}, TES_SMOOTHER_PATCH, TES_METHOD_GMRES, false},
      {{.mesh = box, .constant = true, .stretch = TESI_STRETCHED, .smoother = TES_SMOOTHER_PATCH},
       TES_SMOOTHER_PATCH,
       TES_METHOD_GMRES,
       false},
      {{.mesh = box}, TES_SMOOTHER_AUTO, TES_METHOD_GMRES, false},
      {{.mesh = box, .smoother = TES_SMOOTHER_PATCH}, TES_SMOOTHER_PATCH, TES_METHOD_GMRES, false},
      {{.mesh = box, .constant = true, .smoother = TES_SMOOTHER_PATCH_ADDITIVE},
       TES_SMOOTHER_PATCH_ADDITIVE,
       TES_METHOD_CG,
       false},
      {{.mesh = box, .smoother = TES_SMOOTHER_JACOBI}, TES_SMOOTHER_JACOBI, TES_METHOD_CG, false},
      {{.mesh = box, .stretch = TESI_STRETCHED, .smoother = TES_SMOOTHER_CHEBYSHEV},
       TES_SMOOTHER_CHEBYSHEV,
       TES_METHOD_CG,
       false},
      {{.mesh = box, .constant = true, .smoother = TES_SMOOTHER_GAUSS_SEIDEL},
       TES_SMOOTHER_GAUSS_SEIDEL,
       TES_METHOD_GMRES,
       false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check(&rows[i]);
}

static void other_meshes(void **state) {
  (void)state;
  for (TesMeshKind kind = TES_MESH_FOREST; kind <= TES_MESH_CELLS; kind++)
    for (int i = 0; i < 6; i++) {
      static const TesSmootherKind smoothers[] = {TES_SMOOTHER_CHEBYSHEV, TES_SMOOTHER_CELL_PATCH,
                                                  TES_SMOOTHER_LINE_PATCH};
      const TesSmootherKind chosen = smoothers[i / 2];
      const TesiSituation at = {.mesh = kind, .constant = i & 1, .stretch = (TesiStretch)(i / 2)};
      check(&(Row){at, chosen, TES_METHOD_CG, true});
      TesiSituation patch = at;
      patch.smoother = TES_SMOOTHER_CELL_PATCH;
      check(&(Row){patch, TES_SMOOTHER_CELL_PATCH, TES_METHOD_CG, true});
      patch.guess = true;
      check(&(Row){patch, TES_SMOOTHER_CELL_PATCH, TES_METHOD_CG, false});
      TesiSituation asked = at;
      asked.method = TES_METHOD_CG;
      check(&(Row){asked, chosen, TES_METHOD_CG, false});
    }
}

/* For every situation there is a choice, and what was asked for is part of it. */
static void what_is_asked_for_stays(void **state) {
  (void)state;
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_CELLS; kind++)
    for (TesSmootherKind smoother = TES_SMOOTHER_AUTO; smoother <= TES_SMOOTHER_GAUSS_SEIDEL_MORTON;
         smoother++)
      for (TesMethod method = TES_METHOD_AUTO; method <= TES_METHOD_CG; method++)
        for (int i = 0; i < 24; i++) {
          const TesiSituation at = {kind, i & 1, (TesiStretch)(i / 8), i & 4, smoother, method};
          const TesiChoice got = tesi_choose(&at);
          assert_int_not_equal(got.method, TES_METHOD_AUTO);
          if (smoother != TES_SMOOTHER_AUTO) assert_int_equal(got.smoother, smoother);
          if (method != TES_METHOD_AUTO) assert_int_equal(got.method, method);
          if (got.full_start) assert_int_equal(got.method, TES_METHOD_CG);
        }
}

/* Sections of a cube have the cube root squared of its nodes, whatever directions its cells lie in. Boxes round cells
 * of split tetrahedra are wider than the cells, and factors were taken for three times as dear. */
static void factors_of_tetrahedra(void **state) {
  TesContext *ctx;
  TesMesh *mesh;
  TesProblem *p;
  TesiSurvey survey;
  (void)state;
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET}, &ctx, NULL, 0), TES_OK);
  const TesMeshDesc desc = {.kind = TES_MESH_FOREST,
                            .dim = 3,
                            .domain = TES_DOMAIN_FILE,
                            .file = TESI_SOURCE_DIR "/tests/data/tetrahedra-cube.msh",
                            .split = true};
  if (!tes_has_part("p4est")) skip();
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  assert_ok(ctx, tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh, .degree = 2}, &p));
  assert_ok(ctx, tesi_survey(p, &survey));
  const double flops = 20 * pow((double)p->space->all_dofs, 2);
  if (!(survey.factor_flops > flops / 1.5 && survey.factor_flops < 1.5 * flops))
    fail_msg("%g flops, expected %g", survey.factor_flops, flops);
  tes_problem_destroy(&p);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(boxes), cmocka_unit_test(other_meshes),
                                     cmocka_unit_test(factors_of_tetrahedra),
                                     cmocka_unit_test(what_is_asked_for_stays)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
