/* Pictures of one run, which get one range of colours and one frame: each is drawn over what was seen so far, and its
 * scene is recorded, so that what turns out too narrow at the end is drawn once more. */
#include <stdio.h>
#include <string.h>
#include "base/work.h"
#include "io/picture/picture.h"
#include "parallel/comm.h"

/* A triangle, or a line from corner 0 to 1. */
typedef struct Piece {
  float corner[3][5]; /* x, y, depth, value, light */
  int corners;
} Piece;

typedef struct Kept {
  char *path;
  TesiPictureFrame frame;
  TesiExtent extent; /* that it was drawn with */
  FILE *record;      /* NULL: there was no room for one */
} Kept;

struct TesPictures {
  TesContext *context;
  TesiExtent extent; /* of all */
  int count, room;
  Kept *kept;
  TesiPictureSource source; /* of the picture that is being drawn */
  const TesiSceneSink *sink;
};

/* ---- records ------------------------------------------------------------------------------------------- */

static void record(TesPictures *p, int corners, const TesiCorner *const *corner) {
  Kept *k = &p->kept[p->count - 1];
  Piece piece = {.corners = corners};
  if (!k->record) return;
  for (int i = 0; i < corners; i++) {
    const float of[5] = {(float)corner[i]->x, (float)corner[i]->y, (float)corner[i]->depth,
                         (float)corner[i]->value, (float)corner[i]->light};
    memcpy(piece.corner[i], of, sizeof of);
  }
  if (fwrite(&piece, sizeof piece, 1, k->record) == 1) return;
  fclose(k->record);
  k->record = NULL;
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

static TesStatus replay(void *user, double detail, const TesiSceneSink *sink) {
  FILE *file = user;
  Piece piece;
  (void)detail;
  rewind(file);
  while (fread(&piece, sizeof piece, 1, file) == 1) {
    TesiCorner corner[3];
    for (int i = 0; i < 3; i++) {
      const float *c = piece.corner[i];
      corner[i] = (TesiCorner){c[0], c[1], c[2], c[3], c[4]};
    }
    if (piece.corners == 3)
      sink->triangle(sink->user, corner);
    else
      sink->line(sink->user, &corner[0], &corner[1]);
  }
  return TES_OK;
}

/* ---- the run ------------------------------------------------------------------------------------------- */

static void destroy(TesPictures **pictures) {
  TesPictures *p = *pictures;
  TesContext *ctx = p->context;
  for (int i = 0; i < p->count; i++) {
    if (p->kept[i].record) fclose(p->kept[i].record);
    tesi_free(ctx, &p->kept[i].path);
  }
  tesi_free(ctx, &p->kept);
  tesi_free(ctx, pictures);
  tes_context_destroy(&ctx);
}

static TesStatus make_room(TesPictures *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  Kept *larger = NULL;
  if (p->count < p->room) return TES_OK;
  TES_ALLOC(&larger, 2 * p->room + 16);
  if (p->kept) memcpy(larger, p->kept, (size_t)p->count * sizeof *larger);
  tesi_free(ctx, &p->kept);
  p->kept = larger, p->room = 2 * p->room + 16;
done:
  return status;
}

TesStatus tesi_pictures_add(TesContext *ctx, TesPictures **pictures, const TesiPictureFrame *frame,
                            TesiExtent *extent, TesiPictureSource *source, const char *path) {
  TesStatus status = TES_OK;
  char *name = tesi_strdup(ctx, path);
  if (!name) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the name of a picture");
  if (!*pictures) {
    TES_NEW(pictures);
    **pictures = (TesPictures){.context = tesi_context_retain(ctx), .extent = tesi_extent_of_nothing};
  }
  TesPictures *p = *pictures;
  TES_TRY(make_room(p));
  tesi_extent_add(&p->extent, extent);
  *extent = p->extent;
  p->kept[p->count++] = (Kept){.path = name, .frame = *frame, .extent = *extent, .record = tmpfile()};
  name = NULL;
  p->source = *source;
  *source = (TesiPictureSource){draw_and_record, p};
done:
  tesi_free(ctx, &name);
  return status;
}

/* Whether a picture shows less than the run spans. Ranks agree in extents, not in whether there is a record. */
static bool is_narrower(const TesPictures *p, const Kept *k) {
  const TesiExtent *a = &k->extent, *b = &p->extent;
  const bool fits = !memcmp(a->low, b->low, sizeof a->low) && !memcmp(a->high, b->high, sizeof a->high),
             colours = !memcmp(a->value, b->value, sizeof a->value) ||
                       k->frame.desc.range[0] < k->frame.desc.range[1];
  return !(fits && colours) && !tesi_reduce_any(p->context, !k->record);
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
                                 &(TesiPictureSource){replay, p->kept[i].record}, p->kept[i].path);
  tesi_work_end(ctx);
  destroy(run);
  tes_context_destroy(&ctx);
  return status;
}
