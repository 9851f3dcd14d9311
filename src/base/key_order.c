#include "base/key_order.h"
#include <string.h>
#include "base/team.h"

typedef struct Keyed {
  uint64_t key;
  int32_t at;
} Keyed;

enum { VALUES = 256 };

typedef struct Passes {
  int64_t count;
  const uint64_t *key;
  uint64_t varies;          /* bits in which keys differ */
  Keyed *list[2];           /* each pass moves one to the other */
  int64_t (*first)[VALUES]; /* [threads] places of the numbers of a thread's part, by the value of a byte */
  int32_t *order;
} Passes;

/* Places of all parts: by value, then by thread. */
static void find_places(int threads, int64_t (*first)[VALUES]) {
  int64_t sum = 0;
  for (int value = 0; value < VALUES; value++)
    for (int t = 0; t < threads; t++) {
      const int64_t count = first[t][value];
      first[t][value] = sum;
      sum += count;
    }
}

static void run_passes(const void *data, const TesiTeamMember *me) {
  const Passes *p = data;
  const TesiSpan span = tesi_team_part(me, 0, p->count);
  int64_t *const first = p->first[me->thread];
  int from = 0;
  for (int64_t i = span.first; i < span.end; i++) p->list[0][i] = (Keyed){p->key[i], (int32_t)i};
  for (int shift = 0; shift < 64; shift += 8) {
    if (!(p->varies >> shift & 255)) continue;
    const Keyed *list = p->list[from];
    memset(first, 0, VALUES * sizeof *first);
    for (int64_t i = span.first; i < span.end; i++) first[list[i].key >> shift & 255]++;
    tesi_team_wait(me);
    if (me->thread == 0) find_places(me->threads, p->first);
    tesi_team_wait(me);
    for (int64_t i = span.first; i < span.end; i++)
      p->list[!from][first[list[i].key >> shift & 255]++] = list[i];
    tesi_team_wait(me);
    from = !from;
  }
  for (int64_t i = span.first; i < span.end; i++) p->order[i] = p->list[from][i].at;
}

TesStatus tesi_order_by_key(TesContext *context, int64_t count, const uint64_t *key, int32_t *order) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, 16 * count);
  Passes p = {.count = count, .key = key, .order = order};
  TES_ALLOC(&p.first, threads);
  for (int i = 0; i < 2; i++) TES_ALLOC(&p.list[i], count);
  for (int64_t i = 0; i < count; i++) p.varies |= key[i] ^ key[0];
  tesi_team_run(threads, run_passes, &p);
done:
  tesi_free(ctx, &p.first);
  for (int i = 0; i < 2; i++) tesi_free(ctx, &p.list[i]);
  return status;
}
