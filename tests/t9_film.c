/* Run: ctest -R t9_film. output.film: an animated PNG has the rows of each picture of the run. */
#include <stdio.h>
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_become_frames),
                                     cmocka_unit_test(other_cases_are_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
