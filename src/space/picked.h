/* Some of many entries, and their numbers among them: a byte an entry, and how many stand before each 64 of them. */
#ifndef TESI_PICKED_H
#define TESI_PICKED_H

#include "base/base.h"

enum { TESI_PICKED_BLOCK = 64 };

typedef struct TesiPicked {
  int64_t length, count;
  uint8_t *mark;   /* [length] 1: picked; filled by the caller between begin and number */
  int64_t *before; /* [blocks + 1] */
} TesiPicked;

/* mark: zeros */
TesStatus tesi_picked_begin(TesContext *ctx, int64_t length, TesiPicked *picked);
/* Again after each change of the marks. */
void tesi_picked_number(const TesContext *ctx, TesiPicked *picked);
void tesi_picked_free(TesContext *ctx, TesiPicked *picked);

/* How many picked entries stand before entry i. */
static inline int64_t tesi_picked_before(const TesiPicked *picked, int64_t i) {
  int64_t at = picked->before[i / TESI_PICKED_BLOCK];
  for (int64_t k = i / TESI_PICKED_BLOCK * TESI_PICKED_BLOCK; k < i; k++) at += picked->mark[k];
  return at;
}

/* The first picked entry from i on; length: none. */
static inline int64_t tesi_picked_from(const TesiPicked *picked, int64_t i) {
  while (i < picked->length && !picked->mark[i]) {
    const int64_t block = i / TESI_PICKED_BLOCK;
    i = picked->before[block] == picked->before[block + 1] ? (block + 1) * TESI_PICKED_BLOCK : i + 1;
  }
  return i < picked->length ? i : picked->length;
}

#endif
