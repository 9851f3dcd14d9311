#include "mesh/forest/close_marks.h"
#include <string.h>
#include "base/work.h"
#include "mesh/forest/leaf_entities.h"

/* The vertices of the marked leaves of a level, by their hashes; a slot of 0 is free. */
typedef struct Closing {
  const TesMesh *forest;
  int8_t *mark;
  bool families;                  /* marks of siblings are equal */
  int level, vertices, vertex[8]; /* 2^dim patterns */
  uint64_t most;                  /* slots - 1, slots a power of two */
  _Atomic uint64_t *slot;
  _Atomic int64_t *marked; /* [max_level + 1] */
} Closing;

static uint64_t hash_at(const Closing *of, int64_t cell, int vertex) {
  const TesiName name = tesi_entity_name(of->forest, cell, false, of->vertex[vertex]);
  const uint64_t hash = tesi_name_hash(&name);
  return hash ? hash : 1;
}

static void put(const Closing *of, uint64_t hash) {
  for (uint64_t at = hash & of->most;; at = (at + 1) & of->most) {
    uint64_t there = atomic_load_explicit(&of->slot[at], memory_order_relaxed);
    if (there == hash || (!there && atomic_compare_exchange_strong(&of->slot[at], &there, hash))) return;
    if (there == hash) return;
  }
}

static bool is_in(const Closing *of, uint64_t hash) {
  for (uint64_t at = hash & of->most;; at = (at + 1) & of->most) {
    const uint64_t there = atomic_load_explicit(&of->slot[at], memory_order_relaxed);
    if (!there || there == hash) return there != 0;
  }
}

static bool is_marked(const Closing *of, int64_t cell) {
  return __atomic_load_n(&of->mark[cell], __ATOMIC_RELAXED);
}

static void count_marked(const void *data, TesiSpan span) {
  const Closing *of = data;
  for (int64_t c = span.first; c < span.end; c++)
    if (of->mark[c])
      atomic_fetch_add_explicit(&of->marked[of->forest->leaves.level[c]], 1, memory_order_relaxed);
}

/* A leaf, or all leaves of its family. */
static void mark_leaf(const Closing *of, int64_t cell) {
  const TesiLeaves *leaves = &of->forest->leaves;
  const int64_t first = of->families ? cell - leaves->child[cell] : cell;
  for (int64_t c = first; c < first + (of->families ? of->vertices : 1); c++)
    if (!__atomic_exchange_n(&of->mark[c], 1, __ATOMIC_RELAXED))
      atomic_fetch_add_explicit(&of->marked[leaves->level[c]], 1, memory_order_relaxed);
}

static void put_vertices(const void *data, TesiSpan span) {
  const Closing *of = data;
  for (int64_t c = span.first; c < span.end; c++)
    for (int v = 0; of->mark[c] && of->forest->leaves.level[c] == of->level && v < of->vertices; v++)
      put(of, hash_at(of, c, v));
}

static void mark_larger(const void *data, TesiSpan span) {
  const Closing *of = data;
  for (int64_t c = span.first; c < span.end; c++) {
    if (of->forest->leaves.level[c] != of->level - 1) continue;
    for (int v = 0; v < of->vertices && !is_marked(of, c); v++)
      if (is_in(of, hash_at(of, c, v))) mark_leaf(of, c);
  }
}

static TesStatus close(const TesMesh *forest, bool families, int8_t *mark) {
  TesContext *ctx = forest->context;
  TesStatus status = TES_OK;
  Closing of = {.forest = forest, .mark = mark, .families = families, .vertices = 1 << forest->dim};
  const int threads = tesi_team_threads(ctx, 64 * forest->cells);
  for (int v = 0; v < of.vertices; v++) of.vertex[v] = 2 * ((v & 1) + 3 * (v >> 1 & 1) + 9 * (v >> 2));
  TES_ALLOC(&of.marked, forest->max_level + 1);
  TES_TRY(tesi_work_for(ctx, threads, forest->cells, count_marked, &of));
  for (of.level = forest->max_level; of.level > 0; of.level--) {
    const int64_t most = of.marked[of.level] * of.vertices;
    if (!most) continue;
    for (of.most = 63; (int64_t)of.most < 2 * most;) of.most = 2 * of.most + 1;
    TES_ALLOC(&of.slot, of.most + 1);
    TES_TRY(tesi_work_for(ctx, threads, forest->cells, put_vertices, &of));
    TES_TRY(tesi_work_for(ctx, threads, forest->cells, mark_larger, &of));
    tesi_free(ctx, &of.slot);
  }
done:
  tesi_free(ctx, &of.slot);
  tesi_free(ctx, &of.marked);
  return status;
}

TesStatus tesi_forest_close_marks(const TesMesh *forest, int8_t *mark) {
  return close(forest, false, mark);
}

/* Whether the leaves from `cell` on are a family: 2^dim leaves of one level, beginning with a first child. */
static bool is_family(const TesiLeaves *leaves, int64_t cell, int siblings) {
  if (leaves->level[cell] == 0 || leaves->child[cell] != 0 || cell + siblings > leaves->cells) return false;
  for (int i = 1; i < siblings; i++)
    if (leaves->level[cell + i] != leaves->level[cell]) return false;
  return true;
}

TesStatus tesi_forest_close_families(const TesMesh *forest, int8_t *mark) {
  TesContext *ctx = forest->context;
  TesStatus status = TES_OK;
  const int siblings = 1 << forest->dim;
  for (int64_t c = 0; c < forest->cells; c++) mark[c] = 1;
  for (int64_t c = 0; c < forest->cells; c++)
    if (is_family(&forest->leaves, c, siblings)) memset(mark + c, 0, (size_t)siblings);
  TES_TRY(close(forest, true, mark));
  for (int64_t c = 0; c < forest->cells; c++) mark[c] = mark[c] ? 0 : -1;
done:
  return status;
}
