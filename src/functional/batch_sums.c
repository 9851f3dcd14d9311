/* Sums over cells into vectors: see TesiSums. */
#include "base/team.h"
#include "functional/batch.h"
#include "functional/batch_faces.h"

static void cells_of_task(const TesiBatches *b, int64_t task, int64_t *first, int64_t *end) {
  const int64_t count = tesi_batches_of_task(b, task, first) * TESI_BATCH;
  *first *= TESI_BATCH;
  *end = *first + count < b->cells ? *first + count : b->cells;
}

static int threads_for(const TesiBatches *b) {
  return tesi_team_threads(b->context, b->cells * b->view->cell_nodes);
}

/* floor[t] <- one above the largest number of task t. */
static void find_largest(const void *data, TesiSpan span) {
  const TesiSums *sums = data;
  const TesiBatches *b = sums->batches;
  const TesiCellView *s = b->view;
  for (int64_t t = span.first; t < span.end; t++) {
    int64_t first, end;
    int32_t largest = 0;
    cells_of_task(b, t, &first, &end);
    for (int64_t i = first * s->cell_nodes; i < end * s->cell_nodes; i++)
      largest = tesi_max(largest, tesi_cells_node(s->index[i]));
    sums->floor[t] = largest + 1;
  }
}

/* floor[t]: one above the largest number of tasks before t. */
static void set_floors(const TesiSums *sums) {
  const TesiBatches *b = sums->batches;
  int64_t most = 0, *floor = sums->floor;
  tesi_team_for(threads_for(b), b->tasks, find_largest, sums);
  for (int64_t t = 0; t < b->tasks; t++) {
    const int64_t own = floor[t];
    floor[t] = most;
    most = own > most ? own : most;
  }
}

static void count_tasks(const void *data, TesiSpan span) {
  const TesiSums *sums = data;
  const TesiBatches *b = sums->batches;
  const TesiCellView *s = b->view;
  for (int64_t t = span.first; t < span.end; t++) {
    int64_t first, end, count = 0;
    cells_of_task(b, t, &first, &end);
    for (int64_t i = first * s->cell_nodes; i < end * s->cell_nodes; i++)
      count += tesi_cells_node(s->index[i]) < sums->floor[t];
    sums->first[t + 1] = count;
  }
}

/* first[t + 1] <- how many entries task t puts aside; then sums of them. */
static void count_aside(const TesiSums *sums) {
  const TesiBatches *b = sums->batches;
  tesi_team_for(threads_for(b), b->tasks, count_tasks, sums);
  for (int64_t t = 0; t < b->tasks; t++) sums->first[t + 1] += sums->first[t];
}

TesStatus tesi_sums_create(const TesiBatches *b, bool given, double *values, TesiSums *sums) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  *sums = (TesiSums){.batches = b, .values = values, .given = given};
  if (b->box) return TES_OK;
  TES_ALLOC(&sums->floor, b->tasks);
  TES_ALLOC(&sums->first, b->tasks + 1);
  TES_ALLOC(&sums->at, b->tasks);
  set_floors(sums);
  count_aside(sums);
  TES_ALLOC(&sums->node, sums->first[b->tasks]);
  TES_ALLOC(&sums->aside, sums->first[b->tasks]);
  for (int64_t t = 0; t < b->tasks; t++) sums->at[t] = sums->first[t];
done:
  return status;
}

void tesi_sums_finish(TesiSums *sums) {
  const TesiBatches *b = sums->batches;
  if (b->box && !sums->given) tesi_box_clear(b->box, sums->values);
  for (int64_t t = 0; sums->floor && t < b->tasks; t++)
    for (int64_t i = sums->first[t]; i < sums->at[t]; i++) sums->values[sums->node[i]] += sums->aside[i];
}

void tesi_sums_free(TesiSums *sums) {
  if (!sums->batches) return;
  TesContext *ctx = sums->batches->context;
  tesi_free(ctx, &sums->floor);
  tesi_free(ctx, &sums->first);
  tesi_free(ctx, &sums->at);
  tesi_free(ctx, &sums->node);
  tesi_free(ctx, &sums->aside);
}
