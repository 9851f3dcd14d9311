/* Run: ctest -R t8_picture. Pictures: what is drawn has the size and the values of the mesh, what is nearer hides,
 * letters are readable shapes, files are PNG. */
#include <stdio.h>
#include "forest_testing.h"
#include "io/picture/arrows.h"
#include "io/picture/scene.h"
#include "tessera/output.h"

static TesContext *ctx;

/* ---- drawing ------------------------------------------------------------------------------------------- */

static TesiColour pixel(const TesiCanvas *canvas, int x, int y) {
  TesiColour *all, one;
  assert_ok(ctx, tesi_canvas_average(canvas, &all));
  one = all[y * canvas->width + x];
  tesi_free(ctx, &all);
  return one;
}

static void assert_colour(TesiColour got, TesiColour expected) {
  if (abs(got.r - expected.r) > 1 || abs(got.g - expected.g) > 1 || abs(got.b - expected.b) > 1)
    fail_msg("colour %d %d %d, expected %d %d %d", got.r, got.g, got.b, expected.r, expected.g, expected.b);
}

static void what_is_nearer_hides(void **state) {
  TesiCanvas *canvas;
  (void)state;
  assert_ok(ctx, tesi_canvas_create(ctx, 40, 30, &canvas));
  const TesiCorner near[3] = {{2, 2, 5, 1, 1, {0}}, {30, 2, 5, 1, 1, {0}}, {2, 28, 5, 1, 1, {0}}},
                   far[3] = {{0, 0, 1, 0, 1, {0}}, {80, 0, 1, 0, 1, {0}}, {0, 60, 1, 0, 1, {0}}};
  tesi_canvas_triangle(canvas, near, 0, 1);
  tesi_canvas_triangle(canvas, far, 0, 1);
  assert_colour(pixel(canvas, 6, 6), tesi_colour_at(1));
  assert_colour(pixel(canvas, 35, 25), tesi_colour_at(0));
  tesi_canvas_line(canvas, &(TesiCorner){.y = 6.5, .depth = 3}, &(TesiCorner){.x = 40, .y = 6.5, .depth = 3},
                   3, (TesiColour){1, 2, 3});
  assert_colour(pixel(canvas, 6, 6), tesi_colour_at(1));
  assert_colour(pixel(canvas, 36, 6), (TesiColour){1, 2, 3});
  const TesiCorner nan[3] = {{0, 0, 9, NAN, 1, {0}}, {80, 0, 9, NAN, 1, {0}}, {0, 60, 9, NAN, 1, {0}}};
  tesi_canvas_triangle(canvas, nan, 0, 1);
  assert_colour(pixel(canvas, 6, 6), (TesiColour){170, 170, 170});
  tesi_canvas_destroy(&canvas);
}

/* Brightness that the eye perceives (luma) grows all the way. */
static void the_colours_grow_brighter(void **state) {
  double before = -1;
  (void)state;
  for (int i = 0; i <= 50; i++) {
    const TesiColour c = tesi_colour_at(i / 50.);
    const double luma = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
    if (!(luma > before)) fail_msg("at %d of 50: %g after %g", i, luma, before);
    before = luma;
  }
}

/* Blue, grey in the middle, red: both ends are darker than the middle, by the same for the same distance. */
static void diverging_colours_have_a_middle(void **state) {
  TesiCanvas *canvas;
  (void)state;
  assert_ok(ctx, tesi_canvas_create(ctx, 4, 4, &canvas));
  tesi_canvas_use(canvas, true);
  const TesiColour low = tesi_canvas_colour(canvas, 0), middle = tesi_canvas_colour(canvas, 0.5),
                   high = tesi_canvas_colour(canvas, 7);
  assert_true(low.b > low.r + 100 && high.r > high.b + 100);
  assert_true(abs(middle.r - middle.b) <= 2 && abs(middle.r - middle.g) <= 2 && middle.g > 200);
  tesi_canvas_use(canvas, false);
  assert_colour(tesi_canvas_colour(canvas, 0.25), tesi_colour_at(0.25));
  tesi_canvas_destroy(&canvas);
}

/* Every letter has ink, of its own shape, between the descender and the height of capitals. */
static void letters_differ(void **state) {
  uint64_t seen[128] = {0};
  (void)state;
  for (int c = 33; c < 127; c++) {
    const char text[2] = {(char)c, 0};
    TesiCanvas *canvas;
    TesiColour *all;
    uint64_t hash = 0;
    int ink = 0;
    assert_ok(ctx, tesi_canvas_create(ctx, 30, 40, &canvas));
    tesi_canvas_text(canvas, 5, 28, 20, 0, (TesiColour){0, 0, 0}, text);
    assert_ok(ctx, tesi_canvas_average(canvas, &all));
    for (int i = 0; i < 30 * 40; i++) {
      const bool dark = all[i].r < 128;
      ink += dark;
      hash = hash * 1099511628211u + dark;
      if (dark && (i / 30 < 3 || i / 30 > 39)) fail_msg("'%c' leaves its line", c);
    }
    if (ink < 8) fail_msg("'%c' has no ink", c);
    for (int other = 33; other < c; other++)
      if (seen[other] == hash) fail_msg("'%c' looks like '%c'", c, other);
    seen[c] = hash;
    tesi_free(ctx, &all);
    tesi_canvas_destroy(&canvas);
  }
  assert_near(tesi_text_width(10, "abc"), tesi_text_width(10, "cba"), 1e-12);
  assert_true(tesi_text_width(10, "W") > 2 * tesi_text_width(10, "i"));
  /* UTF-8: letters that the font has; others, and bytes that are none, are left out */
  assert_near(tesi_text_width(10, "\xc3\xa4"), tesi_text_width(10, "a"), 1e-12);
  assert_true(tesi_text_width(10, "\xce\xbb\xc2\xb2") > 5);
  assert_near(tesi_text_width(10, "a\xff\xe2\x88\x87\xc3z"), tesi_text_width(10, "az"), 1e-12);
}

/* Inside of a letter is white, as of the letter beside it: the o has a hole, the full stop none. */
static void letters_have_holes(void **state) {
  TesiCanvas *canvas;
  (void)state;
  assert_ok(ctx, tesi_canvas_create(ctx, 120, 60, &canvas));
  tesi_canvas_text(canvas, 10, 50, 40, 0, (TesiColour){0, 0, 0}, "O.");
  const int middle = 10 + (int)(tesi_text_width(40, "O") / 2),
            dot = 10 + (int)(tesi_text_width(40, "O") + tesi_text_width(40, ".") / 2);
  assert_int_equal(pixel(canvas, middle, 30).r, 255);
  assert_int_equal(pixel(canvas, middle, 11).r, 0);
  assert_int_equal(pixel(canvas, middle, 48).r, 0);
  assert_int_equal(pixel(canvas, dot, 48).r, 0);
  assert_int_equal(pixel(canvas, dot, 30).r, 255);
  tesi_canvas_destroy(&canvas);
  /* cut off at all sides of a canvas */
  assert_ok(ctx, tesi_canvas_create(ctx, 5, 5, &canvas));
  tesi_canvas_text(canvas, -20, 20, 40, 0, (TesiColour){0, 0, 0}, "WOW@");
  tesi_canvas_destroy(&canvas);
}

/* ---- scenes -------------------------------------------------------------------------------------------- */

typedef struct Sum {
  double area, integral, low, high, lines;
} Sum;

static void add_triangle(void *user, const TesiCorner c[3]) {
  Sum *s = user;
  const double area = fabs((c[1].x - c[0].x) * (c[2].y - c[0].y) - (c[2].x - c[0].x) * (c[1].y - c[0].y)) / 2;
  s->area += area;
  s->integral += area * (c[0].value + c[1].value + c[2].value) / 3;
  for (int i = 0; i < 3; i++) s->low = fmin(s->low, c[i].value), s->high = fmax(s->high, c[i].value);
}

static void add_line(void *user, const TesiCorner *a, const TesiCorner *b) {
  ((Sum *)user)->lines += hypot(a->x - b->x, a->y - b->y);
}

/* A body that is drawn moved has the size of the moved body, on its surface and on a cut of it. */
static void warped_scenes_are_moved(void **state) {
  TesMesh *mesh;
  TesiQuantity *q[4];
  static const char *const of[] = {"z", "x", "0*x", "0*x"};
  (void)state;
  assert_ok(ctx,
            tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {3, 2, 2}, .upper = {3, 2, 1}}, &mesh));
  for (int i = 0; i < 4; i++) assert_ok(ctx, tesi_quantity_create(mesh, of[i], false, 0, NULL, &q[i]));
  for (int slice = 0; slice <= 3; slice += 3) {
    Sum sum = {.low = INFINITY, .high = -INFINITY};
    const TesiScene scene = {.quantity = q[0],
                             .mesh = mesh,
                             .slice = slice,
                             .at = 0.25,
                             .edges = true,
                             .detail = 0.02,
                             .warp = 0.5,
                             .displacement = {q[1], q[2], q[3]}};
    assert_ok(ctx, tesi_scene_draw(&scene, &(TesiSceneSink){add_triangle, add_line, &sum}));
    /* x is stretched by 1.5: so are all faces but those across it */
    const double surface = 2 * (2 * 0.453153893518325 + 4.5 * 0.7848855672213958 + 9 * 0.4226182617406994);
    assert_near(sum.area, slice ? 9 : surface, 1e-9);
    assert_near(sum.high, slice ? 0.25 : 1, 1e-12);
  }
  for (int i = 0; i < 4; i++) tesi_quantity_destroy(&q[i]);
  tes_mesh_destroy(&mesh);
}

static Sum sum_of(const TesMesh *mesh, const char *of, int slice, double at) {
  Sum sum = {.low = INFINITY, .high = -INFINITY};
  TesiQuantity *q;
  assert_ok(ctx, tesi_quantity_create(mesh, of, false, 0, NULL, &q));
  const TesiScene scene = {
      .quantity = q, .mesh = mesh, .slice = slice, .at = at, .edges = true, .detail = 0.02};
  assert_ok(ctx, tesi_scene_draw(&scene, &(TesiSceneSink){add_triangle, add_line, &sum}));
  tesi_quantity_destroy(&q);
  return sum;
}

static void scenes_have_the_size_of_the_mesh(void **state) {
  TesMesh *mesh;
  (void)state;
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {3, 2}, .upper = {3, 2}}, &mesh));
  Sum s = sum_of(mesh, "x + y", 0, 0);
  assert_near(s.area, 6, 1e-12);
  assert_near(s.integral, 15, 1e-10);
  assert_near(s.low, 0, 1e-14);
  assert_near(s.high, 5, 1e-14);
  assert_near(s.lines, 24, 1e-10); /* each cell's own outline */
  tes_mesh_destroy(&mesh);
  assert_ok(ctx,
            tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {3, 2, 4}, .upper = {3, 2, 1}}, &mesh));
  s = sum_of(mesh, "x + y + z", 3, 0.3);
  assert_near(s.area, 6, 1e-10);
  assert_near(s.integral, 15 + 6 * 0.3, 1e-9);
  assert_near(s.lines, 24, 1e-9);
  s = sum_of(mesh, "1", 1, 2.2);
  assert_near(s.area, 2, 1e-10);
  assert_near(sum_of(mesh, "1", 1, 3.5).area, 0, 0);
  for (int i = 0; i <= 4; i++) assert_near(sum_of(mesh, "1", 3, 0.25 * i).area, 6, 1e-10); /* along faces */
  /* each face is seen under the angle of its normal with the view: twice the shadow */
  s = sum_of(mesh, "z", 0, 0);
  assert_near(s.area, 2 * (2 * 0.453153893518325 + 3 * 0.7848855672213958 + 6 * 0.4226182617406994), 1e-9);
  tes_mesh_destroy(&mesh);
  if (!test_has_forests(ctx)) return;
  assert_ok(ctx,
            tes_mesh_create(
                ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = 3, .refine = 1, .geometry_degree = 4},
                &mesh));
  assert_near(sum_of(mesh, "1", 0, 0).area, 2 * M_PI, 0.02);
  assert_near(sum_of(mesh, "1", 2, 0.1).area, M_PI * 0.99, 0.02);
  tes_mesh_destroy(&mesh);
}

/* Faces of curved cells that lie in a plane but for round-off: neither holes nor rags, whose outline would be longer
 * than that of quarters of the disk. */
static void faces_in_the_plane_of_a_cut(void **state) {
  (void)state;
  TesMesh *mesh;
  if (!test_has_forests(ctx)) skip();
  for (int refine = 1; refine <= 2; refine++) {
    assert_ok(ctx,
              tes_mesh_create(
                  ctx,
                  &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = 3, .refine = refine, .geometry_degree = 4},
                  &mesh));
    const Sum ball = sum_of(mesh, "1", 3, 0), below = sum_of(mesh, "1", 3, -1e-4),
              above = sum_of(mesh, "1", 3, 1e-4);
    assert_near(ball.area, below.area, 1e-4);
    assert_near(ball.lines, below.lines, 1e-2 * below.lines);
    assert_near(above.lines, below.lines, 1e-2 * below.lines);
    tes_mesh_destroy(&mesh);
  }
}

/* ---- arrows -------------------------------------------------------------------------------------------- */

typedef struct Arrows {
  TesiArrows *points; /* 20 pixels a length */
  TesiArrowSize size;
} Arrows;

static void add_arrows(void *user, const TesiCorner c[3]) {
  Arrows *a = user;
  TesiCorner at[3] = {c[0], c[1], c[2]};
  for (int i = 0; i < 3; i++) at[i].x = 20 * c[i].x, at[i].y = 60 - 20 * c[i].y;
  tesi_arrow_size_triangle(&a->size, c);
  tesi_arrows_sample(a->points, at);
}

static void no_line(void *user, const TesiCorner *a, const TesiCorner *b) {
  (void)user, (void)a, (void)b;
}

/* Of the field (x, 1 - y, x + y), what stands at each point of the grid, and the mean square. */
static Arrows arrows_of(const TesMesh *mesh, int slice) {
  static const char *const of[] = {"1", "x", "1 - y", "x + y"};
  Arrows a = {.size = {0}};
  TesiQuantity *q[4];
  const int dim = tes_mesh_info(mesh).dim;
  for (int i = 0; i <= dim; i++) assert_ok(ctx, tesi_quantity_create(mesh, of[i], false, 0, NULL, &q[i]));
  TesiScene scene = {.quantity = q[0], .mesh = mesh, .slice = slice, .at = 0.3, .detail = 0.05};
  for (int d = 0; d < dim; d++) scene.vector[d] = q[d + 1];
  assert_ok(ctx, tesi_arrows_create(ctx, 0, 0, 60, 60, 7, &a.points));
  assert_ok(ctx, tesi_scene_draw(&scene, &(TesiSceneSink){add_arrows, no_line, &a}));
  for (int i = 0; i <= dim; i++) tesi_quantity_destroy(&q[i]);
  return a;
}

static void arrows_stand_on_a_grid(void **state) {
  (void)state;
  for (int slice = 0; slice <= 3; slice += 3) {
    TesMesh *mesh;
    const TesMeshDesc desc = {.dim = slice ? 3 : 2, .cells = {3, 2, 2}, .upper = {3, 2, 1}};
    assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
    Arrows a = arrows_of(mesh, slice);
    assert_int_equal(a.points->columns, 8);
    assert_int_equal(a.points->rows, 8);
    int inside = 0;
    for (int i = 0; i < 64; i++) {
      const double x = (5.5 + i % 8 * 7) / 20,
                   y = (60 - 5.5 - i / 8 * 7) / 20; /* 5.5: the rest on both sides */
      if (y > 2) {
        assert_true(a.points->point[i].depth == -INFINITY);
        continue;
      }
      inside++;
      assert_near(a.points->point[i].vector[0], x, 1e-9);
      assert_near(a.points->point[i].vector[1], 1 - y, 1e-9);
    }
    assert_int_equal(inside, 40);
    /* means of x^2 and (1 - y)^2: 3 and 1/3, at corners of pieces alone; largest: 9 + 1 */
    assert_near(a.size.square / a.size.area, 10. / 3, 0.02);
    assert_near(tesi_arrow_longest(&a.size), sqrt(10), 1e-9);
    tesi_arrow_size_add(&a.size, &(TesiArrowSize){.largest = 1e8}); /* a singular point */
    assert_near(tesi_arrow_longest(&a.size), 2.5 * sqrt(10. / 3), 0.02);
    tesi_arrows_destroy(&a.points);
    tes_mesh_destroy(&mesh);
  }
}

/* What is nearer to the eye gives the arrow. */
static void hidden_arrows_are_not_drawn(void **state) {
  static const double depth[] = {2, 5, 3};
  TesiArrows *arrows;
  TesiCanvas *canvas;
  (void)state;
  assert_ok(ctx, tesi_arrows_create(ctx, 0, 0, 40, 40, 40 / 0.85, &arrows));
  for (int i = 0; i < 3; i++) {
    const double d = depth[i];
    const TesiCorner c[3] = {{0, 0, d, 0, 1, {d, 0}}, {80, 0, d, 0, 1, {d, 0}}, {0, 80, d, 0, 1, {d, 0}}};
    tesi_arrows_sample(arrows, c);
  }
  assert_int_equal(arrows->columns * arrows->rows, 1);
  assert_near(arrows->point[0].vector[0], 5, 1e-12);
  assert_ok(ctx, tesi_canvas_create(ctx, 60, 40, &canvas));
  tesi_arrows_draw(arrows, 10, 1, canvas); /* half as long as the longest one: from (10, 20) to (30, 20) */
  assert_true(pixel(canvas, 12, 20).r < 100 && pixel(canvas, 25, 20).r < 100);
  assert_int_equal(pixel(canvas, 5, 20).r + pixel(canvas, 34, 20).r + pixel(canvas, 20, 30).r, 3 * 255);
  assert_true(pixel(canvas, 22, 22).r < 100);  /* the head is wide behind */
  assert_true(pixel(canvas, 14, 22).r == 255); /* the shaft is not */
  tesi_canvas_destroy(&canvas);
  tesi_arrows_destroy(&arrows);
}

/* ---- files --------------------------------------------------------------------------------------------- */

static void files_are_png(void **state) {
  static const unsigned char magic[] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10};
  char path[] = "/tmp/tessera-t8-picture-XXXXXX";
  unsigned char head[24];
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  (void)state;
  const int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {4, 4}}, &mesh));
  assert_ok(ctx, tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh}, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  const TesStatus status = tes_picture_write(problem, &(TesPictureDesc){.width = 300, .of = "u*u + ux"}, path);
  assert_int_equal(status, tes_has_part("png") ? TES_OK : TES_MISSING);
  if (status == TES_OK) {
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    assert_memory_equal(head, magic, 8);
    assert_int_equal(head[18] * 256 + head[19], 300);
    fclose(file);
    assert_int_equal(tes_picture_write(problem, &(TesPictureDesc){.slice = 3}, path), TES_INVALID_INPUT);
    tes_context_clear(ctx);
    assert_int_equal(tes_picture_write(problem, &(TesPictureDesc){.width = 7}, path), TES_INVALID_INPUT);
    tes_context_clear(ctx);
    assert_int_equal(tes_picture_write(problem, &(TesPictureDesc){.range = {2, 1}}, path), TES_INVALID_INPUT);
    tes_context_clear(ctx);
    assert_int_equal(tes_picture_write(problem, &(TesPictureDesc){.warp = 1}, path), TES_INVALID_INPUT);
    assert_non_null(strstr(tes_context_message(ctx), "elasticity has one, poisson has none"));
    tes_context_clear(ctx);
    assert_int_equal(tes_picture_write(problem, &(TesPictureDesc){.arrows = {"ux"}}, path), TES_INVALID_INPUT);
    assert_non_null(strstr(tes_context_message(ctx), "one per direction"));
    tes_context_clear(ctx);
    assert_ok(ctx, tes_picture_write(problem, &(TesPictureDesc){.arrows = {"ux", "uy"}}, path));
    assert_int_equal(tes_picture_write(problem, &(TesPictureDesc){.of = "nx"}, path), TES_INVALID_INPUT);
    tes_context_clear(ctx);
    assert_int_equal(tes_picture_write(problem, &(TesPictureDesc){0}, "/nowhere/at/all.png"), TES_IO);
  }
  tes_context_clear(ctx);
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  remove(path);
}

static int begin(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET}, &ctx, NULL, 0);
}

static int end(void **state) {
  (void)state;
  const int left = tes_context_memory(ctx) != 0;
  tes_context_destroy(&ctx);
  return left;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(diverging_colours_have_a_middle),
                                     cmocka_unit_test(warped_scenes_are_moved),
                                     cmocka_unit_test(what_is_nearer_hides),
                                     cmocka_unit_test(the_colours_grow_brighter),
                                     cmocka_unit_test(letters_differ),
                                     cmocka_unit_test(letters_have_holes),
                                     cmocka_unit_test(scenes_have_the_size_of_the_mesh),
                                     cmocka_unit_test(faces_in_the_plane_of_a_cut),
                                     cmocka_unit_test(arrows_stand_on_a_grid),
                                     cmocka_unit_test(hidden_arrows_are_not_drawn),
                                     cmocka_unit_test(files_are_png)};
  return cmocka_run_group_tests(tests, begin, end);
}
