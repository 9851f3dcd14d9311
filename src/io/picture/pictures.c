/* Pictures of one run, which get the same range of colours and the same frame. Each is drawn with the extent known so
 * far, and its scene is recorded. At the end, pictures whose extent was too narrow are drawn again. */
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include "base/grow.h"
#include "base/text.h"
#include "base/work.h"
#include "io/picture/picture.h"
#include "parallel/comm.h"

/* A triangle, or a line from corner 0 to 1. */
typedef struct Piece {
  float corner[3][7]; /* x, y, depth, value, light, vector */
  int corners;
} Piece;

typedef struct Kept {
  char *path;
  TesiPictureFrame frame;
  TesiExtent extent;     /* the extent with which it was drawn */
  int64_t first, pieces; /* of the record; pieces -1: there was no room */
} Kept;

/* Bytes for the records of a run: about 25 million triangles. */
#define MOST ((int64_t)2 << 30)

struct TesPictures {
  TesContext *context;
  TesiExtent extent; /* of all */
  int count;
  int64_t room;
  Kept *kept;
  FILE *record; /* all records, one after the other; NULL: there is no temporary file */
  int64_t pieces;
  TesiPictureSource source; /* of the present picture */
  const TesiSceneSink *sink;
};

/* ---- records ------------------------------------------------------------------------------------------- */

static void record(TesPictures *p, int corners, const TesiCorner *const *corner) {
  Kept *k = &p->kept[p->count - 1];
  Piece piece = {.corners = corners};
  if (k->pieces < 0) return;
  for (int i = 0; i < corners; i++) {
    const float of[7] = {(float)corner[i]->x,        (float)corner[i]->y,     (float)corner[i]->depth,
                         (float)corner[i]->value,    (float)corner[i]->light, (float)corner[i]->vector[0],
                         (float)corner[i]->vector[1]};
    memcpy(piece.corner[i], of, sizeof of);
  }
  if ((p->pieces + 1) * (int64_t)sizeof piece > MOST || fwrite(&piece, sizeof piece, 1, p->record) != 1) {
    k->pieces = -1;
    return;
  }
  k->pieces++, p->pieces++;
}

static void record_triangle(void *user, const TesiCorner corner[3]) {
  TesPictures *p = user;
  record(p, 3, (const TesiCorner *const[]){&corner[0], &corner[1], &corner[2]});
  p->sink->triangle(p->sink->user, corner);
}

static void record_line(void *user, const TesiCorner *from, const TesiCorner *to) {
  TesPictures *p = user;
  record(p, 2, (const TesiCorner *const[]){from, to});
  p->sink->line(p->sink->user, from, to);
}

static TesStatus draw_and_record(void *user, double detail, const TesiSceneSink *sink) {
  TesPictures *p = user;
  p->sink = sink;
  return p->source.draw(p->source.user, detail, &(TesiSceneSink){record_triangle, record_line, p});
}

typedef struct Replay {
  const TesPictures *pictures;
  const Kept *kept;
} Replay;

/* A record that cannot be read is a failure: otherwise only a part of the picture would be drawn. */
static TesStatus replay(void *user, double detail, const TesiSceneSink *sink) {
  const TesPictures *p = ((const Replay *)user)->pictures;
  const Kept *k = ((const Replay *)user)->kept;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  Piece piece;
  (void)detail;
  if (fseeko(p->record, (off_t)(k->first * (int64_t)sizeof piece), SEEK_SET) != 0)
    TES_FAIL(TES_IO, "cannot read the record of %s", k->path);
  for (int64_t i = 0; i < k->pieces; i++) {
    TesiCorner corner[3];
    if (fread(&piece, sizeof piece, 1, p->record) != 1)
      TES_FAIL(TES_IO, "cannot read the record of %s", k->path);
    for (int c = 0; c < 3; c++) {
      const float *of = piece.corner[c];
      corner[c] = (TesiCorner){of[0], of[1], of[2], of[3], of[4], {of[5], of[6]}};
    }
    if (piece.corners == 3)
      sink->triangle(sink->user, corner);
    else
      sink->line(sink->user, &corner[0], &corner[1]);
  }
done:
  return status;
}

/* ---- the run ------------------------------------------------------------------------------------------- */

static void destroy(TesPictures **pictures) {
  TesPictures *p = *pictures;
  TesContext *ctx = p->context;
  if (p->record) fclose(p->record);
  for (int i = 0; i < p->count; i++) tesi_free(ctx, &p->kept[i].path);
  tesi_free(ctx, &p->kept);
  tesi_free(ctx, pictures);
  tes_context_destroy(&ctx);
}

TesStatus tesi_pictures_add(TesContext *ctx, TesPictures **pictures, const TesiPictureFrame *frame,
                            TesiExtent *extent, TesiPictureSource *source, const char *path) {
  TesStatus status = TES_OK;
  char *name = NULL;
  TES_TRY(tesi_copy_text(ctx, path, &name));
  if (!*pictures) {
    TES_NEW(pictures);
    **pictures = (TesPictures){
        .context = tesi_context_retain(ctx), .extent = tesi_extent_of_nothing, .record = tmpfile()};
  }
  TesPictures *p = *pictures;
  TES_GROW(&p->kept, p->count, p->count + 1, &p->room);
  tesi_extent_add(&p->extent, extent);
  *extent = p->extent;
  p->kept[p->count++] = (Kept){
      .path = name, .frame = *frame, .extent = *extent, .first = p->pieces, .pieces = p->record ? 0 : -1};
  name = NULL;
  p->source = *source;
  *source = (TesiPictureSource){draw_and_record, p};
done:
  tesi_free(ctx, &name);
  return status;
}

/* Whether the extent of a picture is smaller than the extent of the run. Extents are equal on all ranks; records may
 * be missing on some. */
static bool is_narrower(const TesPictures *p, const Kept *k) {
  const TesiExtent *a = &k->extent, *b = &p->extent;
  const bool fits = !memcmp(a->low, b->low, sizeof a->low) && !memcmp(a->high, b->high, sizeof a->high),
             colours = !memcmp(a->value, b->value, sizeof a->value) ||
                       k->frame.desc.range[0] < k->frame.desc.range[1],
             arrows = tesi_arrow_longest(&a->arrows) == tesi_arrow_longest(&b->arrows);
  return !(fits && colours && arrows) && !tesi_reduce_any(p->context, k->pieces < 0);
}

TesStatus tes_pictures_finish(TesPictures **run) {
  TesPictures *p = run ? *run : NULL;
  TesStatus status = TES_OK;
  if (!p) return TES_OK;
  TesContext *ctx = tesi_context_retain(p->context);
  tesi_work_begin_results(ctx, false, "drawing pictures in one range");
  for (int i = 0; i < p->count && status == TES_OK; i++)
    if (is_narrower(p, &p->kept[i]))
      status = tesi_picture_draw(ctx, &p->kept[i].frame, &p->extent,
                                 &(TesiPictureSource){replay, &(Replay){p, &p->kept[i]}}, p->kept[i].path);
  tesi_work_end(ctx);
  destroy(run);
  tes_context_destroy(&ctx);
  return status;
}
