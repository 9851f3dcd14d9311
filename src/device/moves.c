#include "device/moves.h"
#include <string.h>
#include "device/links.h"
#include "device/upload.h"
#include "device/vector.h"

/* Up to so many ranges are a launch each. */
enum { FEW = 8 };

struct TesiMoves {
  TesContext *context;
  const TesiMoveList *list;
  void *from, *to, *count; /* on devices with kernels, of many */
};

void tesi_move_begin(TesiMoveList *moves) {
  moves->last = (TesiMove){-1, -1, 0};
}

void tesi_move_add(TesiMoveList *m, int64_t from, int64_t to, int64_t count) {
  const bool more = m->count && from == m->last.from + m->last.count && to == m->last.to + m->last.count;
  if (!count) return;
  if (more)
    m->last.count += count;
  else
    m->last = (TesiMove){from, to, count}, m->count++;
  if (m->list) m->list[m->count - 1] = m->last;
}

static void list_layout(const TesiLayout *layout, bool others, TesiMoveList *moves) {
  const int64_t runs = tesi_layout_runs(layout);
  moves->count = 0;
  for (int64_t r = 0, start; r < runs + others; r++) {
    const int64_t before = tesi_layout_others(layout, r, &start);
    if (others)
      tesi_move_add(moves, start, start, before);
    else
      tesi_move_add(moves, start + before, start + before, tesi_layout_run(layout, r).owned);
  }
}

TesStatus tesi_move_list_layout(const TesiLayout *layout, bool others, TesiMoveList *moves) {
  TesContext *ctx = layout->context;
  TesStatus status = TES_OK;
  list_layout(layout, others, moves);
  TES_ALLOC(&moves->list, moves->count);
  list_layout(layout, others, moves);
done:
  return status;
}

static TesStatus upload(TesContext *ctx, const TesiMoveList *list, TesiMoves *m) {
  TesStatus status = TES_OK;
  const int64_t n = list->count;
  const size_t bytes = (size_t)n * sizeof(long long);
  long long *numbers = NULL;
  TES_ALLOC(&numbers, 3 * n);
  for (int64_t i = 0; i < n; i++)
    numbers[i] = list->list[i].from, numbers[n + i] = list->list[i].to,
    numbers[2 * n + i] = list->list[i].count;
  TES_TRY(tesi_upload(ctx, numbers, bytes, &m->from));
  TES_TRY(tesi_upload(ctx, numbers + n, bytes, &m->to));
  TES_TRY(tesi_upload(ctx, numbers + 2 * n, bytes, &m->count));
done:
  tesi_free(ctx, &numbers);
  return status;
}

TesStatus tesi_moves_create(TesContext *ctx, const TesiMoveList *list, TesiMoves **moves) {
  TesStatus status = TES_OK;
  TesiMoves *m;
  *moves = NULL;
  TES_NEW(&m);
  *moves = m;
  *m = (TesiMoves){.context = ctx, .list = list};
  if (tesi_has_kernels(ctx) && list->count > FEW) TES_TRY(upload(ctx, list, m));
done:
  if (status != TES_OK) tesi_moves_destroy(moves);
  return status;
}

void tesi_moves_destroy(TesiMoves **moves) {
  TesiMoves *m = *moves;
  if (!m) return;
  TesContext *ctx = m->context;
  void **all[] = {&m->from, &m->to, &m->count};
  *moves = NULL;
  for (int i = 0; i < 3; i++) tesi_context_device(ctx)->release(ctx, all[i]);
  tesi_free(ctx, &m);
}

static void *at(TesPrecision precision, const void *v, int64_t entry) {
  return (char *)v + entry * (int64_t)tesi_precision_size(precision);
}

void tesi_moves_host(const TesiMoveList *list, TesiMoving how, TesPrecision precision, const void *x, void *y,
                     bool back) {
  for (int64_t i = 0; i < list->count; i++) {
    const TesiMove *m = &list->list[i];
    const size_t bytes = (size_t)m->count * tesi_precision_size(precision);
    void *mine = x ? at(precision, x, m->from) : NULL, *place = at(precision, y, m->to);
    if (how == TESI_MOVE_CLEAR)
      memset(place, 0, bytes);
    else if (mine != place)
      memcpy(back ? mine : place, back ? place : mine, bytes);
  }
}

static TesStatus run_one(TesContext *ctx, TesiMoving how, TesPrecision precision, int64_t count, void *x,
                         void *y) {
  const TesiDevice *device = tesi_context_device(ctx);
  if (how == TESI_MOVE_CLEAR) return device->fill(ctx, precision, count, 0, y);
  if (how == TESI_MOVE_SUBTRACT) return device->axpy(ctx, count, -1, precision, x, precision, y);
  return x == y ? TES_OK : device->copy(ctx, count, 1, precision, x, precision, y);
}

TesStatus tesi_moves_run(const TesiMoves *moves, TesiMoving how, TesPrecision precision, const void *x,
                         void *y, bool back) {
  TesContext *ctx = moves->context;
  TesStatus status = TES_OK;
  const TesiMoveList *list = moves->list;
  int way = how;
  if (moves->from) {
    TesiMoves of = *moves;
    long long ranges = list->count;
    void *mine = (void *)x, *arguments[] = {&mine, &of.from, &y, &of.to, &of.count, &ranges, &way},
         *backwards[] = {&y, &of.to, &mine, &of.from, &of.count, &ranges, &way};
    return tesi_links_launch(ctx, TESI_MOVE_RANGES, precision, list->count * TESI_LINKS_THREADS,
                             back ? backwards : arguments);
  }
  if (!tesi_has_kernels(ctx) && how != TESI_MOVE_SUBTRACT) {
    tesi_moves_host(list, how, precision, x, y, back);
    return TES_OK;
  }
  for (int64_t i = 0; i < list->count; i++) {
    const TesiMove *m = &list->list[i];
    void *mine = x ? at(precision, x, m->from) : NULL, *place = at(precision, y, m->to);
    TES_TRY(run_one(ctx, how, precision, m->count, back ? place : mine, back ? mine : place));
  }
done:
  return status;
}
