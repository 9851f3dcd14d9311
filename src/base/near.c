#include "base/near.h"
#include <math.h>

/* Places are intervals of equal length in the logarithm of the key: nearly equal keys have the same place or
 * neighbouring places. */
static int64_t place_of(double key) {
  return (int64_t)floor(log(key) * 1e9);
}

static int slot_of(const TesiNear *near, int64_t place) {
  uint64_t h = (uint64_t)place * UINT64_C(0x9e3779b97f4a7c15);
  return (int)((h ^ h >> 32) & (uint64_t)(near->slots - 1));
}

TesStatus tesi_near_create(TesContext *ctx, int most, TesiNear *near) {
  TesStatus status = TES_OK;
  *near = (TesiNear){.slots = 1};
  while (near->slots < most) near->slots *= 2;
  TES_ALLOC(&near->head, near->slots);
  TES_ALLOC(&near->next, most);
  TES_ALLOC(&near->place, most);
  for (int i = 0; i < near->slots; i++) near->head[i] = -1;
done:
  return status;
}

void tesi_near_free(TesContext *ctx, TesiNear *near) {
  tesi_free(ctx, &near->head);
  tesi_free(ctx, &near->next);
  tesi_free(ctx, &near->place);
}

void tesi_near_add(TesiNear *near, double key) {
  const int number = near->count++;
  near->place[number] = place_of(key);
  int *head = &near->head[slot_of(near, near->place[number])];
  near->next[number] = *head;
  *head = number;
}

int tesi_near_find(const TesiNear *near, double key, bool (*accepts)(const void *user, int number),
                   const void *user) {
  const int64_t first = place_of(key * (1 - 1e-10)), last = place_of(key * (1 + 1e-10));
  int least = -1;
  for (int64_t place = first; place <= last; place++)
    for (int i = near->head[slot_of(near, place)]; i >= 0; i = near->next[i])
      if (near->place[i] == place && (least < 0 || i < least) && accepts(user, i)) least = i;
  return least;
}
