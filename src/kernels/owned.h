/* Entries of a vector that this rank counts in sums; the others are copies of entries that other ranks own. The host
 * includes this text too. Macro: ranked, on several ranks. */
#ifndef TESK_OWNED_H
#define TESK_OWNED_H

enum { TESK_OWNED = 4 };
typedef struct TeskOwned {
  long long first[TESK_OWNED], end[TESK_OWNED]; /* ranges */
} TeskOwned;

#ifdef TESK_DEVICE
TESK_DEVICE int owns(const TeskOwned *own, long long i) {
#ifdef ranked
  int found = 0;
  TESK_UNROLL
  for (int k = 0; k < TESK_OWNED; k++) found |= i >= own->first[k] && i < own->end[k];
  return found;
#else
  (void)own, (void)i;
  return 1;
#endif
}
#endif

#endif
