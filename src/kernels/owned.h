/* Entries of a vector that this rank counts in sums; the others are copies of entries that other ranks own. The host
 * includes this text too. Macro: ranked, on several ranks. */
#ifndef TESK_OWNED_H
#define TESK_OWNED_H

enum { TESK_OWNED = 4 };
typedef struct TeskOwned {
  long long first[TESK_OWNED], end[TESK_OWNED]; /* ranges */
  /* Of a range, in a box that ranks cut by a grid: the entries of a run, the runs of a plane, and from one run and one
   * plane to the next; run 0: all entries of the range. */
  long long run[TESK_OWNED], rows[TESK_OWNED], stride[TESK_OWNED], plane[TESK_OWNED];
} TeskOwned;

#ifdef TESK_DEVICE
TESK_DEVICE int owns(const TeskOwned *own, long long i) {
#ifdef ranked
  int found = 0;
  TESK_UNROLL
  for (int k = 0; k < TESK_OWNED; k++) {
    int here = i >= own->first[k] && i < own->end[k];
    if (here && own->run[k]) {
      const long long in_plane = (i - own->first[k]) % own->plane[k];
      here = in_plane % own->stride[k] < own->run[k] && in_plane / own->stride[k] < own->rows[k];
    }
    found |= here;
  }
  return found;
#else
  (void)own, (void)i;
  return 1;
#endif
}
#endif

#endif
