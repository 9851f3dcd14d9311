/* Which of many things nearly equals a given thing. Things that are equal share a number, the key, to 1e-10 of it; only
 * things with nearly the same key are compared. */
#ifndef TESI_NEAR_H
#define TESI_NEAR_H

#include "base/base.h"

typedef struct TesiNear {
  int count, slots;
  int *head, *next; /* [slots], [most]: the last one of a slot, and the one before; -1: none */
  int64_t *place;   /* [most] */
} TesiNear;

/* For at most `most` things. */
TesStatus tesi_near_create(TesContext *ctx, int most, TesiNear *near);
void tesi_near_free(TesContext *ctx, TesiNear *near);
/* Things have the numbers 0, 1, .. in the order in which they come. key: above 0. */
void tesi_near_add(TesiNear *near, double key);
/* The least number of a thing with nearly this key that is accepted; -1: none. */
int tesi_near_find(const TesiNear *near, double key, bool (*accepts)(const void *user, int number),
                   const void *user);

#endif
