/* Films: animated PNG (the APNG extension of the PNG specification, third edition), made from pictures in files. The
 * compressed rows of a picture are copied unchanged. */
#include <string.h>
#include <zlib.h>
#include "io/file.h"
#include "io/picture/png.h"
#include "parallel/comm.h"
#include "tessera/output.h"

enum {
  LARGEST = 1 << 28, /* bytes of a picture */
  HEAD = 13,         /* bytes of IHDR: width, height, depth, kind of colours, .. */
  FRAME = 26,        /* bytes of fcTL */
  PER_SECOND = 10
};

typedef struct Film {
  TesContext *context;
  TesiFile *file;
  uint32_t sequence; /* number of the next fcTL or fdAT */
  uint8_t head[HEAD];
} Film;

static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static void put_number(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* A chunk: length, type, data, checksum of type and data. Its data are `numbered`, a sequence number of 4 bytes or
 * NULL, followed by `data`. */
static TesStatus put_chunk(Film *film, const char *type, const uint8_t *numbered, const uint8_t *data,
                           uint32_t bytes) {
  TesContext *ctx = film->context;
  TesStatus status = TES_OK;
  uint8_t begin[8], end[4];
  put_number(begin, bytes + (numbered ? 4 : 0));
  memcpy(begin + 4, type, 4);
  uLong sum = crc32(crc32(0, NULL, 0), begin + 4, 4);
  if (numbered) sum = crc32(sum, numbered, 4);
  if (bytes) sum = crc32(sum, data, bytes);
  put_number(end, (uint32_t)sum);
  TES_TRY(tesi_file_write(film->file, begin, 8));
  if (numbered) TES_TRY(tesi_file_write(film->file, numbered, 4));
  if (bytes) TES_TRY(tesi_file_write(film->file, data, bytes));
  TES_TRY(tesi_file_write(film->file, end, 4));
done:
  return status;
}

/* Signature, IHDR and acTL: the number of frames, repeated without end. */
static TesStatus begin_film(Film *film, int count) {
  TesContext *ctx = film->context;
  TesStatus status = TES_OK;
  uint8_t control[8] = {0};
  put_number(control, (uint32_t)count);
  TES_TRY(tesi_file_write(film->file, signature, sizeof signature));
  TES_TRY(put_chunk(film, "IHDR", NULL, film->head, HEAD));
  TES_TRY(put_chunk(film, "acTL", NULL, control, sizeof control));
done:
  return status;
}

/* fcTL: the whole picture, shown for a tenth of a second, replacing the previous one. */
static TesStatus begin_frame(Film *film) {
  uint8_t frame[FRAME] = {0};
  put_number(frame, film->sequence++);
  memcpy(frame + 4, film->head, 8);
  frame[21] = 1, frame[23] = PER_SECOND;
  return put_chunk(film, "fcTL", NULL, frame, FRAME);
}

/* The IDAT chunks of a picture: unchanged in the first frame, as fdAT in others. */
static TesStatus add_rows(Film *film, bool first, const char *png, size_t length) {
  TesContext *ctx = film->context;
  TesStatus status = TES_OK;
  size_t bytes;
  for (const char *at = tesi_png_rows(png, length, NULL, &bytes); at;
       at = tesi_png_rows(png, length, at, &bytes)) {
    uint8_t number[4];
    if (!first) put_number(number, film->sequence++);
    TES_TRY(put_chunk(film, first ? "IDAT" : "fdAT", first ? NULL : number, (const uint8_t *)at,
                      (uint32_t)bytes));
  }
done:
  return status;
}

static TesStatus add_picture(Film *film, int count, int i, const char *path) {
  TesContext *ctx = film->context;
  TesStatus status = TES_OK;
  char *text = NULL;
  size_t length;
  TES_TRY(tesi_file_read(ctx, path, LARGEST, &text, &length));
  const uint8_t *png = (const uint8_t *)text, *head = png + sizeof signature + 8;
  TES_CHECK(length > 45 && !memcmp(png, signature, sizeof signature) && !memcmp(head - 4, "IHDR", 4),
            "%s is no PNG file", path);
  if (i == 0) {
    memcpy(film->head, head, HEAD);
    TES_TRY(begin_film(film, count));
  }
  TES_CHECK(!memcmp(film->head, head, HEAD), "%s has %u x %u pixels, the first picture of the film %u x %u",
            path, (unsigned)tesi_png_number(head), (unsigned)tesi_png_number(head + 4),
            (unsigned)tesi_png_number(film->head), (unsigned)tesi_png_number(film->head + 4));
  TES_TRY(begin_frame(film));
  TES_TRY(add_rows(film, i == 0, text, length));
done:
  tesi_free(ctx, &text);
  return status;
}

TesStatus tes_film_write(TesContext *ctx, int count, const char *const *picture, const char *path) {
  Film film = {.context = ctx};
  TesStatus status = TES_OK;
  TES_CHECK(count > 0 && picture, "a film of %d pictures", count);
  TES_TRY(tesi_file_create(ctx, path, &film.file));
  const bool elsewhere = tesi_ranks(ctx) > 1 && tes_communicator_rank(tesi_context_communicator(ctx)) > 0;
  for (int i = 0; i < count && !elsewhere && status == TES_OK; i++)
    status = add_picture(&film, count, i, picture[i]);
  TES_TRY(tesi_file_agree(ctx, status));
  if (!elsewhere) TES_TRY(put_chunk(&film, "IEND", NULL, NULL, 0));
  TES_TRY(tesi_file_commit(&film.file));
done:
  tesi_file_discard(&film.file);
  return status;
}
