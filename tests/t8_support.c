/* Run: ctest -R t8_support. Rows of support: each equation has one, its facts are those of the equation's table, what
 * they refuse is refused with key and reason in case files and by tes_problem_create() alike, degrees with kernels are
 * those of the operators; docs/support.md shows them. TESSERA_UPDATE_DOCS=1 rewrites its tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "problem/problem.h"
#include "problem/support.h"
#include "tessera/tessera.h"
#include "bare_testing.h"

static const TesiSupport *row_of(TesEquation equation, TesElement element) {
  TesiRefusal refusal;
  const TesiSupport *row = tesi_support_find(equation, element, TESI_GRID, &refusal);
  assert_non_null(row);
  return row;
}

static void rows_are_those_of_the_equations(void **state) {
  (void)state;
  assert_null(tesi_support_row(tesi_equation_count));
  for (int i = 0; i < tesi_equation_count; i++) {
    const TesiEquation *e = tesi_equations[i];
    const TesiSupport *row = tesi_support_row(i);
    assert_non_null(row);
    assert_string_equal(e->name, tesi_equation_words[row->equation]);
    assert_true(row->f == e->f);
    assert_int_equal(row->flow, e->own || (e->flow && !e->flow->scalar));
    assert_int_equal(row->vector, e->vector || row->flow);
    assert_int_equal(!!(row->has & TESI_BIT(TESI_HAS_TIME)), e->in_time);
    assert_int_equal(!!(row->has & TESI_BIT(TESI_HAS_FORCE)), e->force != NULL);
    assert_true(row->meshes & TESI_ON_GRID);
    assert_true(row->degree.least <= row->degree.usual && row->degree.usual <= row->degree.most);
    assert_non_null(row->tell);
    for (int k = 0; k < i; k++)
      assert_false(tesi_support_row(k)->equation == row->equation &&
                   tesi_support_row(k)->element == row->element);
    for (const TesiLack *lack = row->lacks; lack && lack->reason; lack++)
      assert_false(row->has & TESI_BIT(lack->what));
  }
}

/* Auto: by the mesh. */
static void elements_are_found(void **state) {
  static const struct {
    TesEquation equation;
    TesElement asked;
    TesiMeshRow mesh;
    int found; /* -1: none */
  } rows[] = {{TES_STOKES, TES_ELEMENT_AUTO, TESI_GRID, TES_ELEMENT_RT},
              {TES_STOKES, TES_ELEMENT_AUTO, TESI_PERIODIC, TES_ELEMENT_RT},
              {TES_STOKES, TES_ELEMENT_AUTO, TESI_TREES, TES_ELEMENT_Q},
              {TES_STOKES, TES_ELEMENT_Q, TESI_GRID, TES_ELEMENT_Q},
              {TES_NAVIER_STOKES, TES_ELEMENT_AUTO, TESI_GRID, TES_ELEMENT_Q},
              {TES_ELASTICITY, TES_ELEMENT_AUTO, TESI_TREES, TES_ELEMENT_Q},
              {TES_ELASTICITY, TES_ELEMENT_DG, TESI_GRID, -1},
              {TES_STOKES, TES_ELEMENT_ISO, TESI_GRID, -1},
              {TES_POISSON, TES_ELEMENT_RT, TESI_GRID, -1}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    TesiRefusal refusal;
    const TesiSupport *row = tesi_support_find(rows[i].equation, rows[i].asked, rows[i].mesh, &refusal);
    assert_int_equal(row ? (int)row->element : -1, rows[i].found);
  }
}

static void words_are_joined(void **state) {
  char text[TESI_REASON];
  (void)state;
  tesi_support_who(TESI_HAS_B, text);
  assert_string_equal(text, "transport");
  tesi_support_who(TESI_HAS_A, text);
  assert_string_equal(text, "poisson and transport");
  tesi_support_who(TESI_HAS_TOLERANCE, text);
  assert_string_equal(text, "transport, elasticity, and navier_stokes with element q or rt");
  tesi_support_who(TESI_HAS_MATERIALS, text);
  assert_string_equal(text, "poisson with element q, transport with element q, and elasticity");
}

/* The same reason from a description and from a case file, behind its place. */
static void both_readers_refuse(void **state) {
  static const struct {
    const char *text;
    TesProblemDesc desc;
    const char *place, *reason;
  } rows[] = {{"problem: stokes\nspace: {degree: 16}\n",
               {.equation = TES_STOKES, .degree = 16},
               "a.yaml:2:17: ",
               "space.degree: expected 1 to 15 for stokes with element rt, got 16"},
              {"problem: poisson\nsolver: {local_solver: cg}\n",
               {.equation = TES_POISSON, .solver = {.local = TES_LOCAL_CG}},
               "a.yaml:2:24: ",
               "solver.local_solver: poisson with element q has auto, exact, mean, scaled, rank1 and nodal; "
               "cg belongs to "
               "stokes with element rt"},
              {"problem: transport\nsolver: {smoother: cell_patch}\nspace: {element: dg}\ntime: {end: 1, "
               "step: 1, method: "
               "newmark}\n",
               {.equation = TES_TRANSPORT,
                .element = TES_ELEMENT_DG,
                .time = {.end = 1, .step = 1, .method = TES_TIME_NEWMARK}},
               "a.yaml:4:33: ",
               "time.method: transport with element dg has auto, backward_euler, crank_nicolson, bdf2, bdf3, "
               "bdf4, sdirk2, "
               "sdirk3 and imex_bdf2; newmark belongs to elasticity"},
              {"problem: poisson\ntime: {end: 1, step: 1}\n",
               {.equation = TES_POISSON, .time = {.end = 1, .step = 1}},
               "a.yaml:2:7: ",
               "time: belongs to transport, elasticity and navier_stokes; poisson is steady"},
              {"problem: navier_stokes\n",
               {.equation = TES_NAVIER_STOKES},
               "a.yaml: ",
               "time: is missing: navier_stokes is solved in time"},
              {"problem: elasticity\nspace: {element: rt}\n",
               {.equation = TES_ELASTICITY, .element = TES_ELEMENT_RT},
               "a.yaml:2:18: ",
               "space.element: elasticity has the element q; rt belongs to stokes and navier_stokes"}};
  TesContext *ctx;
  TesMesh *mesh;
  (void)state;
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET}, &ctx, NULL, 0), TES_OK);
  assert_int_equal(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {2, 2}}, &mesh), TES_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[300], expected[400];
    TesCase *c;
    TesProblem *p;
    TesProblemDesc desc = rows[i].desc;
    desc.mesh = mesh;
    assert_int_equal(tes_problem_create(ctx, &desc, &p), TES_INVALID_INPUT);
    assert_string_equal(tes_context_message(ctx), rows[i].reason);
    tes_context_clear(ctx);
    snprintf(text, sizeof text, "%smesh: {box: {cells: [2, 2]}}\n%s", rows[i].text,
             desc.equation == TES_ELASTICITY ? "data: {lambda: 1, mu: 1}\n" : "");
    assert_int_equal(tes_case_parse(ctx, text, "a.yaml", 0, NULL, &c), TES_INVALID_INPUT);
    snprintf(expected, sizeof expected, "%s%s", rows[i].place, rows[i].reason);
    assert_string_equal(tes_context_message(ctx), expected);
    tes_context_clear(ctx);
  }
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

/* A degree that the row has on the processor and not with kernels is missing there, before anything is made. */
static void degrees_with_kernels(void **state) {
  TesContext *ctx;
  TesMesh *mesh;
  TesProblem *p;
  char message[200];
  TesFunction *one;
  (void)state;
  if (tes_context_create(&(TesContextDesc){.device = "emulator", .verbosity = TES_QUIET}, &ctx, message,
                         sizeof message) != TES_OK)
    skip();
  assert_int_equal(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {2, 2, 2}}, &mesh), TES_OK);
  assert_int_equal(tes_function_create_constant(ctx, 1, &one), TES_OK);
  const TesProblemDesc descs[] = {
      {.equation = TES_TRANSPORT,
       .element = TES_ELEMENT_DG,
       .degree = 9,
       .data = {.b = {one, one, one}},
       .time = {.end = 1, .step = 1}},
      {.equation = TES_NAVIER_STOKES, .element = TES_ELEMENT_RT, .degree = 5, .time = {.end = 1}}};
  for (size_t i = 0; i < sizeof descs / sizeof *descs; i++) {
    TesProblemDesc desc = descs[i];
    desc.mesh = mesh;
    assert_int_equal(tes_problem_create(ctx, &desc, &p), TES_MISSING);
    assert_non_null(strstr(tes_context_message(ctx), "on devices with kernels, got"));
    assert_non_null(strstr(tes_context_message(ctx), "take --device cpu"));
    tes_context_clear(ctx);
  }
  /* No device has these: transfers and fluxes through boundaries end at degree 8. */
  const TesProblemDesc none[] = {
      {.mesh = mesh, .equation = TES_ELASTICITY, .degree = 9},
      {.mesh = mesh, .equation = TES_TRANSPORT, .degree = 9, .data = {.b = {one, one, one}}}};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tes_problem_create(ctx, &none[i], &p), TES_INVALID_INPUT);
    assert_non_null(strstr(tes_context_message(ctx), "space.degree: expected 1 to 8 for "));
    assert_null(strstr(tes_context_message(ctx), "device"));
    tes_context_clear(ctx);
  }
  tes_function_destroy(&one);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

static char *file_text(const char *path) {
  static char text[65536];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}

/* What stands between two marks of a file is `table`; TESSERA_UPDATE_DOCS=1 rewrites it. */
static void assert_printed(const char *file, const char *open, const char *close, const char *table) {
  const char *update = getenv("TESSERA_UPDATE_DOCS");
  char path[300];
  snprintf(path, sizeof path, TESI_SOURCE_DIR "/%s", file);
  char *text = file_text(path), *begin = strstr(text, open), *end = strstr(text, close);
  assert_non_null(begin);
  assert_non_null(end);
  begin += strlen(open);
  if (update && *update) {
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fprintf(to, "%.*s%s%s", (int)(begin - text), text, table, end);
    assert_int_equal(fclose(to), 0);
    return;
  }
  *end = 0;
  if (strcmp(begin, table)) fail_msg("%s lags behind: run TESSERA_UPDATE_DOCS=1 t8_support", file);
}

/* docs/support.md and the head of problem.h are what the program knows. */
static void the_pages_are_printed(void **state) {
  static char table[32768];
  (void)state;
  assert_true(tes_case_help("", TES_CASE_HELP_SUPPORT, table, sizeof table) < sizeof table);
  assert_printed("docs/support.md", "<!-- support -->\n", "<!-- /support -->\n", table);
  assert_true(tesi_support_head(table, sizeof table) < sizeof table);
  assert_printed("include/tessera/problem.h",
                 " *\n *  Printed from the rows of the library (t8_support):\n *\n",
                 " *\n *  All of it, with conditions", table);
}

/* What a row of the matrix has not has a reason of mathematics, of the element or of its meshes. */
static void what_is_missing_has_a_reason(void **state) {
  const TesiSupport *row;
  TesiHas what;
  (void)state;
  for (int k = 0; tesi_support_feature(k, &what); k++)
    for (int i = 0; (row = tesi_support_row(i)); i++)
      if (!(row->has & TESI_BIT(what)) && !tesi_support_why(row, what))
        fail_msg("row %d has not %s, and does not say why", i, tesi_has_key(what));
}

/* Sentences of the manual that state degrees, with the numbers of the rows. */
static void sentences_state_the_degrees(void **state) {
  const TesiSupport *solid = row_of(TES_ELASTICITY, TES_ELEMENT_Q),
                    *heat = row_of(TES_TRANSPORT, TES_ELEMENT_Q),
                    *flow = row_of(TES_NAVIER_STOKES, TES_ELEMENT_Q),
                    *rt = row_of(TES_NAVIER_STOKES, TES_ELEMENT_RT),
                    *stokes = row_of(TES_STOKES, TES_ELEMENT_RT), *dg = row_of(TES_POISSON, TES_ELEMENT_DG);
  char wanted[7][120];
  const char *const pages[7] = {"docs/elasticity.md",     "docs/time.md",   "docs/navier-stokes.md",
                                "docs/navier-stokes.md",  "docs/stokes.md", "include/tessera/operator.h",
                                "include/tessera/space.h"};
  (void)state;
  snprintf(wanted[0], 120, "degrees %d to %d) `src/kernels/elasticity.cu`", solid->degree.least,
           solid->degree.kernels);
  snprintf(wanted[1], 120, "have all of this for degrees %d to %d,", heat->degree.least, heat->degree.kernels);
  snprintf(wanted[2], 120, "degrees %d to %d in space, %d to %d in the plane", rt->degree.least,
           rt->degree.kernels_in_space, rt->degree.least, rt->degree.most);
  snprintf(wanted[3], 120, "Q_k/Q_(k-1), k = %d to %d,", flow->degree.least, flow->degree.most);
  snprintf(wanted[4], 120, "of Q_k, k = %d to %d,", flow->degree.least, flow->degree.most);
  snprintf(wanted[5], 120, "Kernels for degrees %d to %d.", solid->degree.least, solid->degree.kernels);
  snprintf(wanted[6], 120,
           "1..%d over a box, 1..%d over a forest, 1..15 over cells; rt: 0 means %d, 1..%d; dg: 1..%d",
           heat->degree.most, heat->degree.on_cells, stokes->degree.usual, stokes->degree.most,
           dg->degree.most);
  for (int i = 0; i < 7; i++) {
    char path[300];
    snprintf(path, sizeof path, TESI_SOURCE_DIR "/%s", pages[i]);
    if (!strstr(file_text(path), wanted[i])) fail_msg("%s does not say '%s'", pages[i], wanted[i]);
  }
}

/* By hand, from the pages of the problems. */
static void facts_of_the_manual(void **state) {
  const TesiSupport *rt = row_of(TES_STOKES, TES_ELEMENT_RT),
                    *iso = row_of(TES_NAVIER_STOKES, TES_ELEMENT_ISO),
                    *solid = row_of(TES_ELASTICITY, TES_ELEMENT_Q),
                    *dg = row_of(TES_TRANSPORT, TES_ELEMENT_DG);
  (void)state;
  assert_int_equal(rt->meshes, TESI_ON_GRID | TESI_ON_RINGS);
  assert_int_equal(iso->meshes, TESI_ON_GRID);
  assert_int_equal(solid->meshes, TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES);
  assert_int_equal(dg->degree.kernels, 8);
  assert_true(iso->has & TESI_BIT(TESI_HAS_CFL));
  assert_false(solid->has & TESI_BIT(TESI_HAS_CFL));
  assert_true(solid->has & TESI_BIT(TESI_HAS_DWR));
  assert_false(rt->words[TESI_OF_METHOD] >> TES_METHOD_CG & 1);
  assert_false(solid->smoother[TESI_TREES] >> TES_SMOOTHER_CELL_PATCH & 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_those_of_the_equations),
                                     cmocka_unit_test(elements_are_found),
                                     cmocka_unit_test(words_are_joined),
                                     cmocka_unit_test(both_readers_refuse),
                                     cmocka_unit_test(degrees_with_kernels),
                                     cmocka_unit_test(the_pages_are_printed),
                                     cmocka_unit_test(what_is_missing_has_a_reason),
                                     cmocka_unit_test(sentences_state_the_degrees),
                                     cmocka_unit_test(facts_of_the_manual)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
