/* See png.h; written by libpng. */
#include "io/picture/png.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef TESI_PNG
#include <png.h>
#endif

#ifdef TESI_PNG
static void put_bytes(png_structp png, png_bytep data, png_size_t size) {
  if (fwrite(data, 1, size, png_get_io_ptr(png)) != size) png_error(png, "no memory");
}

static void put_nothing(png_structp png) {
  (void)png;
}

static void keep_quiet(png_structp png, png_const_charp text) {
  (void)png, (void)text;
}

/* libpng jumps back if it fails; no variable of ours changes in between. */
static bool encode(png_structp png, png_infop info, FILE *out, int width, int height, TesiColour *pixels) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_write_fn(png, out, put_bytes, put_nothing);
  png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  /* rows differ little from the row above: one filter is enough, at a level four times as fast as the last */
  png_set_filter(png, 0, PNG_FILTER_UP);
  png_set_compression_level(png, 6);
  png_write_info(png, info);
  for (int j = 0; j < height; j++) png_write_row(png, (png_bytep)(pixels + (int64_t)j * width));
  png_write_end(png, info);
  return true;
}

TesStatus tesi_png_encode(TesContext *ctx, int width, int height, TesiColour *pixels, const char *path,
                          char **bytes, size_t *length) {
  TesStatus status = TES_OK;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, keep_quiet);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  FILE *out = info ? open_memstream(bytes, length) : NULL;
  const bool encoded = out && encode(png, info, out, width, height, pixels);
  const bool closed = out && fclose(out) == 0;
  if (!encoded || !closed) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the picture %s", path);
done:
  png_destroy_write_struct(&png, &info);
  return status;
}
#else
TesStatus tesi_png_encode(TesContext *ctx, int width, int height, TesiColour *pixels, const char *path,
                          char **bytes, size_t *length) {
  TesStatus status = TES_OK;
  (void)width, (void)height, (void)pixels, (void)bytes, (void)length;
  TES_FAIL(TES_MISSING, "%s: this build has no pictures: install libpng-dev and build again", path);
done:
  return status;
}
#endif

uint32_t tesi_png_number(const void *at) {
  const uint8_t *byte = at;
  return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
}

uint32_t tesi_png_size(const char *png, int direction) {
  return tesi_png_number(png + 16 + 4 * direction);
}

/* Chunks of length, type, data and checksum follow the signature; IDAT are parts of the rows. */
const char *tesi_png_rows(const char *png, size_t length, const char *before, size_t *part) {
  for (size_t at = before ? (size_t)(before - png) + *part + 4 : 8; at + 12 <= length;) {
    const size_t bytes = tesi_png_number(png + at);
    if (bytes > length - at - 12) break;
    *part = bytes;
    if (!memcmp(png + at + 4, "IDAT", 4)) return png + at + 8;
    at += 12 + bytes;
  }
  return NULL;
}
