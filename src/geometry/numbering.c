/* Numbers of nodes: puts slots of shared entities (entities.c) into the requested order. */
#include <string.h>
#include "base/integer.h"
#include "base/random.h"
#include "base/team.h"
#include "geometry/entities.h"

typedef struct Slots {
  const TesiGeometry *g;
  int k;
  int64_t *slot;
} Slots;

static void fill_slots(const void *data, TesiSpan span) {
  const TesiGeometry *g = ((const Slots *)data)->g;
  int64_t *slot = ((const Slots *)data)->slot;
  const int k = ((const Slots *)data)->k, n = k + 1;
  const int64_t nodes[2] = {(int64_t)g->box[0] * k + 1, (int64_t)g->box[1] * k + 1},
                points = tesi_power(n, g->dim);
  for (int64_t c = span.first; c < span.end; c++) {
    const int64_t box = g->cell_of_box ? g->cell_of_box[c] : c;
    const int64_t at[3] = {box % g->box[0], box / g->box[0] % g->box[1], box / g->box[0] / g->box[1]};
    for (int64_t p = 0; p < points; p++)
      slot[c * points + p] =
          at[0] * k + p % n + nodes[0] * (at[1] * k + p / n % n + nodes[1] * (at[2] * k + p / n / n));
  }
}

/* A structured box needs no look-up: the lexicographic position is the slot. */
static int64_t box_slots(const TesiGeometry *g, int k, int64_t *slot) {
  int64_t nodes = 1;
  for (int d = 0; d < g->dim; d++) nodes *= (int64_t)g->box[d] * k + 1;
  tesi_team_for(tesi_team_threads(g->context, g->cells * tesi_power(k + 1, g->dim)), g->cells, fill_slots,
                &(Slots){g, k, slot});
  return nodes;
}

static void box_boundary(const TesiGeometry *g, int k, char *boundary) {
  const int64_t nx = (int64_t)g->box[0] * k, ny = (int64_t)g->box[1] * k,
                nz = g->dim == 3 ? (int64_t)g->box[2] * k : 0;
  for (int64_t z = 0, at = 0; z <= nz; z++)
    for (int64_t y = 0; y <= ny; y++)
      for (int64_t x = 0; x <= nx; x++, at++)
        boundary[at] = x == 0 || x == nx || y == 0 || y == ny || (g->dim == 3 && (z == 0 || z == nz));
}

/* number[slots] <- numbers in the order of first use, -1: no cell has the slot; returns how many. */
static int64_t number_by_cells(int64_t entries, const int64_t *slot, int64_t slots, int32_t *number) {
  int64_t count = 0;
  memset(number, -1, (size_t)slots * sizeof *number);
  for (int64_t i = 0; i < entries; i++)
    if (number[slot[i]] < 0) number[slot[i]] = (int32_t)count++;
  return count;
}

static TesStatus shuffle_numbers(TesContext *ctx, uint64_t seed, int64_t slots, int64_t count,
                                 int32_t *number) {
  TesStatus status = TES_OK;
  int32_t *to = NULL;
  TES_ALLOC(&to, count);
  for (int64_t i = 0; i < count; i++) to[i] = (int32_t)i;
  tesi_random_shuffle(seed, count, to);
  for (int64_t s = 0; s < slots; s++)
    if (number[s] >= 0) number[s] = to[number[s]];
done:
  tesi_free(ctx, &to);
  return status;
}

static TesStatus check_desc(TesContext *ctx, const TesiGeometry *g, const TesNumberingDesc *desc) {
  TesStatus status = TES_OK;
  TES_CHECK(desc->degree >= 1 && desc->degree <= 15, "degree is %d, expected 1..15", desc->degree);
  TES_CHECK(desc->order >= TES_NUMBER_BY_CELLS && desc->order <= TES_NUMBER_SHUFFLED,
            "order is %d, expected 0..2", (int)desc->order);
  TES_CHECK(desc->order != TES_NUMBER_LEXICOGRAPHIC || g->box[0],
            "only the cells of a box have a lexicographic order; number by cells");
  TES_CHECK(g->vertices || !desc->dirichlet, "a geometry without vertex numbers knows no boundary");
  double nodes = (double)g->cells * (double)tesi_power(desc->degree, g->dim);
  TES_CHECK(nodes < 4e9, "about %.3g nodes, at most 2^31-1 are possible", nodes);
done:
  return status;
}

typedef struct Numbers {
  const int64_t *slot; /* [entries] */
  const int32_t *number;
  const char *boundary; /* [slots], or NULL */
  int32_t *index;
} Numbers;

static void put_numbers(const void *data, TesiSpan span) {
  const Numbers *s = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const int32_t node = s->number[s->slot[i]];
    s->index[i] = s->boundary && s->boundary[s->slot[i]] ? -1 - node : node;
  }
}

TesStatus tesi_geometry_number(const TesiGeometry *geometry, const TesNumberingDesc *desc, int32_t *index,
                               int64_t *nodes) {
  const TesiGeometry *g = geometry;
  TesContext *ctx = g->context;
  TesStatus status = TES_OK;
  int64_t *slot = NULL, slots = 0;
  int32_t *number = NULL;
  char *boundary = NULL;
  const int64_t entries = g->cells * tesi_power(desc->degree + 1, g->dim);
  TES_TRY(check_desc(ctx, g, desc));
  TES_ALLOC(&slot, entries);
  if (g->box[0]) {
    slots = box_slots(g, desc->degree, slot);
    if (desc->dirichlet) {
      TES_ALLOC(&boundary, slots);
      box_boundary(g, desc->degree, boundary);
    }
  } else
    TES_TRY(tesi_entities_slots(g, desc->degree, slot, &slots, desc->dirichlet ? &boundary : NULL));
  TES_ALLOC(&number, slots);
  int64_t count = slots;
  if (desc->order == TES_NUMBER_LEXICOGRAPHIC)
    for (int64_t s = 0; s < slots && slots <= INT32_MAX; s++) number[s] = (int32_t)s;
  else if (slots <= INT32_MAX)
    count = number_by_cells(entries, slot, slots, number);
  TES_CHECK(slots <= INT32_MAX, "%lld nodes, at most 2^31-1 are possible", (long long)slots);
  if (desc->order == TES_NUMBER_SHUFFLED) TES_TRY(shuffle_numbers(ctx, desc->seed, slots, count, number));
  tesi_team_for(tesi_team_threads(ctx, entries), entries, put_numbers,
                &(Numbers){slot, number, boundary, index});
  *nodes = count;
done:
  tesi_free(ctx, &slot);
  tesi_free(ctx, &number);
  tesi_free(ctx, &boundary);
  return status;
}
