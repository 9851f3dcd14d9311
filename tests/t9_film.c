/* Run: ctest -R t9_film. output.film: an animated PNG has the rows of each picture of the run. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include "program_testing.h"

typedef struct Bytes {
  long length;
  unsigned char *at;
} Bytes;

static Bytes read_bytes(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("%s is missing", path);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  Bytes b = {ftell(file), NULL};
  rewind(file);
  b.at = malloc((size_t)b.length);
  assert_non_null(b.at);
  assert_int_equal(fread(b.at, 1, (size_t)b.length, file), b.length);
  fclose(file);
  return b;
}

static unsigned long number(const unsigned char *at) {
  return (unsigned long)at[0] << 24 | (unsigned long)at[1] << 16 | (unsigned long)at[2] << 8 | at[3];
}

/* The pixels of a picture, or of frame `frame` of a film: what zlib makes of its IDAT or fdAT chunks. */
static Bytes pixels(const char *path, int frame, int *frames) {
  const Bytes file = read_bytes(path);
  Bytes packed = {0, malloc((size_t)file.length)}, out = {0, NULL};
  unsigned long sequence = 0, width = 0, height = 0;
  int seen = -1;
  *frames = 0;
  for (long at = 8; at < file.length;) {
    const unsigned char *chunk = file.at + at;
    const unsigned long bytes = number(chunk);
    assert_int_equal(number(chunk + 8 + bytes), crc32(crc32(0, NULL, 0), chunk + 4, (uInt)bytes + 4));
    const bool control = !memcmp(chunk + 4, "fcTL", 4), more = !memcmp(chunk + 4, "fdAT", 4);
    if (!memcmp(chunk + 4, "IHDR", 4)) width = number(chunk + 8), height = number(chunk + 12);
    if (!memcmp(chunk + 4, "acTL", 4)) *frames = (int)number(chunk + 8);
    if (control || more) assert_int_equal(number(chunk + 8), sequence++);
    if (control) {
      assert_int_equal(number(chunk + 12), width);
      assert_int_equal(number(chunk + 16), height);
      seen++;
    }
    if ((more || !memcmp(chunk + 4, "IDAT", 4)) && (seen < 0 || seen == frame)) {
      const long skipped = more ? 4 : 0;
      memcpy(packed.at + packed.length, chunk + 8 + skipped, bytes - (size_t)skipped);
      packed.length += (long)bytes - skipped;
    }
    at += 12 + (long)bytes;
  }
  if (*frames) assert_int_equal(*frames, seen + 1);
  uLongf length = height * (3 * width + 1);
  out.at = malloc(length);
  assert_int_equal(uncompress(out.at, &length, packed.at, (uLong)packed.length), Z_OK);
  assert_int_equal(length, height * (3 * width + 1));
  out.length = (long)length;
  free(packed.at), free(file.at);
  return out;
}

static void assert_film(const char *film, int count) {
  for (int i = 0; i < count; i++) {
    char name[32];
    int frames, none;
    snprintf(name, sizeof name, "u-%03d.png", i);
    const Bytes frame = pixels(film, i, &frames), picture = pixels(name, 0, &none);
    assert_int_equal(frames, count);
    assert_int_equal(frame.length, picture.length);
    assert_memory_equal(frame.at, picture.at, (size_t)frame.length);
    free(frame.at), free(picture.at);
  }
}

static void write_case(const char *rest) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(file, "problem: transport\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 2}\n%s\n", rest);
  assert_int_equal(fclose(file), 0);
}

#define HEAT "data: {f: 1}\ntime: {end: 0.1, step: 0.01}\n"

static void steps_become_frames(void **state) {
  (void)state;
  if (!tes_has_part("png")) skip();
  write_case(HEAT "output: {png: {file: u.png, width: 200, every: 2}, film: f.png, checkpoint: c.h5}");
  assert_run("solve a.yaml", 0);
  assert_output("written   f.png");
  assert_film("f.png", 6);
  if (!tes_has_part("hdf5")) return;
  assert_run("solve a.yaml --restart c.h5 --set time.end=0.14", 0); /* with the pictures of before */
  assert_film("f.png", 8);
}

/* The red, green and blue of a place of a picture of this width, 0 to 1 from its upper left corner. Rows are as they
 * are or differences to the row above. */
static void colour_at(const char *path, long width, double across, double down, int colour[3]) {
  int none;
  const Bytes p = pixels(path, 0, &none);
  const long row = 3 * width + 1, rows = p.length / row, column = (long)(across * (double)width);
  for (long j = 1; j < rows; j++)
    for (long i = 1; i < row && p.at[j * row]; i++)
      p.at[j * row + i] = (unsigned char)(p.at[j * row + i] + p.at[(j - 1) * row + i]);
  for (int c = 0; c < 3; c++) colour[c] = p.at[(long)(down * (double)rows) * row + 1 + 3 * column + c];
  free(p.at);
}

/* Pixels as dark as arrows, letters among them. */
static int dark_pixels(const char *path) {
  int none, count = 0;
  const Bytes p = pixels(path, 0, &none);
  const long row = 3 * 300 + 1;
  for (long j = 0; j < p.length / row; j++)
    for (long i = 1; i < row; i++) {
      unsigned char *at = &p.at[j * row + i];
      if (p.at[j * row] && j) *at = (unsigned char)(*at + at[-row]);
      count += i % 3 == 0 && at[0] < 120 && at[-1] < 120 && at[-2] < 120;
    }
  free(p.at);
  return count;
}

/* Arrows of (t, 0) grow with t, also at the first step, which knew no longer ones when it was drawn. */
static void arrows_have_one_length(void **state) {
  (void)state;
  if (!tes_has_part("png")) skip();
  write_case("data: {f: 0, initial: 1}\nboundary: {all: {neumann: 0}}\ntime: {start: 1, end: 3, step: 0.1}\n"
             "output: {png: {file: u.png, of: 1 + 0*u, title: x, width: 300, every: 10, arrows: [t, 0]}}");
  assert_run("solve a.yaml", 0);
  const int dark[3] = {dark_pixels("u-000.png"), dark_pixels("u-001.png"), dark_pixels("u-002.png")};
  if (!(dark[1] > 1.2 * dark[0] && dark[2] > 1.2 * dark[1]))
    fail_msg("dark pixels: %d, %d, %d", dark[0], dark[1], dark[2]);
}

/* u = 1/2 + t everywhere: dark at first, bright at last, and in the middle what t = 1/4 has between 1/2 and 1. */
static void a_run_has_one_range(void **state) {
  (void)state;
  if (!tes_has_part("png")) skip();
  int colour[3];
  write_case("data: {f: 1, initial: 0.5}\nboundary: {all: {neumann: 0}}\ntime: {end: 0.5, step: 0.05}\n"
             "output: {png: {file: u.png, width: 300, every: 5}, film: f.png}");
  assert_run("solve a.yaml", 0);
  static const int expected[3][3] = {{68, 1, 84}, {33, 145, 140}, {253, 231, 37}};
  for (int i = 0; i < 3; i++) {
    char name[32];
    snprintf(name, sizeof name, "u-%03d.png", i);
    colour_at(name, 300, 0.4, 0.5, colour);
    for (int c = 0; c < 3; c++) assert_in_range(colour[c] + 10, expected[i][c], expected[i][c] + 20);
  }
  assert_film("f.png", 3);
  /* a range that is given stays */
  assert_run("solve a.yaml --set \"output.png.range=[0.5, 10]\"", 0);
  colour_at("u-002.png", 300, 0.4, 0.5, colour);
  assert_in_range(colour[0], 58, 78);
}

/* A run of more pictures than a process may have files: records are one file. */
static void many_pictures_are_one_record(void **state) {
  (void)state;
  if (!tes_has_part("png")) skip();
  struct rlimit few, before;
  int colour[3];
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  few = before, few.rlim_cur = 40;
  write_case("data: {f: 1, initial: 0.5}\nboundary: {all: {neumann: 0}}\ntime: {end: 0.5, step: 0.01}\n"
             "output: {png: {file: u.png, width: 200, every: 1}}");
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  const int status = run("solve a.yaml --device cpu");
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_int_equal(status, 0);
  colour_at("u-049.png", 200, 0.4, 0.5, colour); /* near the end of the range */
  assert_in_range(colour[0], 200, 255);
  colour_at("u-025.png", 200, 0.4, 0.5, colour);
  assert_in_range(colour[0], 23, 43);
}

/* A body that moves has pictures of one size, whose frame holds all of its places. */
static void a_body_that_moves_is_a_film(void **state) {
  (void)state;
  if (!tes_has_part("png")) skip();
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs(
      "problem: elasticity\nmesh: {box: {cells: [4, 1], upper: [4, 1]}}\nspace: {degree: 2}\n"
      "data: {young: 100, poisson: 0.3, density: 1}\n"
      "boundary: {all: {traction: [0, 0]}, left: {displacement: [0, 0]}, right: {traction: [0, -0.3]}}\n"
      "time: {end: 2, step: 0.2}\noutput: {png: {file: u.png, width: 300, every: 5, warp: 1}, film: f.png}\n",
      file);
  assert_int_equal(fclose(file), 0);
  assert_run("solve a.yaml", 0);
  assert_output("written   f.png");
  assert_film("f.png", 3);
}

static void other_cases_are_refused(void **state) {
  (void)state;
  if (!tes_has_part("png")) skip();
  write_case(HEAT "output: {film: f.png}");
  assert_run("solve a.yaml", 2);
  assert_output("a.yaml:6:");
  assert_output("output.film: a film shows the pictures of output.png, which is missing");
  assert_run("check a.yaml", 2);
  write_case("output: {png: u.png, film: f.png}");
  assert_run("solve a.yaml", 2);
  assert_output("output.film: a film is for `time` and `adapt`: this case has one picture");
  write_case(HEAT "output: {png: u.png, film: f.gif}");
  assert_run("solve a.yaml", 2);
  assert_output("call it f.png");
  assert_int_equal(access("f.gif", F_OK), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_become_frames),         cmocka_unit_test(a_run_has_one_range),
      cmocka_unit_test(arrows_have_one_length),      cmocka_unit_test(many_pictures_are_one_record),
      cmocka_unit_test(a_body_that_moves_is_a_film), cmocka_unit_test(other_cases_are_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
