/* Finds among many items an item that nearly equals a given item. Each item has a number, its key; keys of nearly equal
 * items differ by at most 1e-10 of their value. Only items with nearly the same key are compared. */
#ifndef TESI_NEAR_H
#define TESI_NEAR_H

#include "base/base.h"

typedef struct TesiNear {
  int count, slots;
  int *head, *next; /* [slots] the last item of a slot, [most] the item before it in the slot; -1: none */
  int64_t *place;   /* [most] */
} TesiNear;

/* For at most `most` items. */
TesStatus tesi_near_create(TesContext *ctx, int most, TesiNear *near);
void tesi_near_free(TesContext *ctx, TesiNear *near);
/* Items get the numbers 0, 1, .. in the order in which they are added. key: above 0. */
void tesi_near_add(TesiNear *near, double key);
/* The smallest number of an accepted item with nearly this key; -1: none. */
int tesi_near_find(const TesiNear *near, double key, bool (*accepts)(const void *user, int number),
                   const void *user);

#endif
