/* "Did you mean ...?": the known name nearest to a misspelt one. */
#ifndef TESI_NEAREST_H
#define TESI_NEAREST_H

#include <stddef.h>

enum { TESI_NEAREST_LENGTH = 32 };

/* Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, without regard to case;
 * large if one of them is longer than TESI_NEAREST_LENGTH. */
int tesi_name_distance(const char *a, const char *b);
/* Whether a name at this distance is worth a hint: the distance is at most a third of its length, or 1; single letters
 * have no near names. */
int tesi_name_is_near(const char *name, int distance);

/* Keeps the best candidate of a search. Begin with {.name = misspelt name}. */
typedef struct TesiNearest {
  const char *name, *best;
  int distance;
} TesiNearest;
void tesi_nearest_try(TesiNearest *nearest, const char *candidate);
/* "the mesh has no WHAT called NAME; it has: A, B; did you mean 'B'?" Entries of `known` may be NULL. */
void tesi_mesh_lacks(const char *what, const char *name, int count, const char *const *known, char *text,
                     size_t size);

#endif
