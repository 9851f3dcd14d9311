#include "base/nearest.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tessera/status.h"

static int smallest(int a, int b, int c) {
  const int m = a < b ? a : b;
  return m < c ? m : c;
}

static int same(char a, char b) {
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment, three rows of the table kept. */
int tesi_name_distance(const char *a, const char *b) {
  const size_t na = strlen(a), nb = strlen(b);
  if (na > TESI_NEAREST_LENGTH || nb > TESI_NEAREST_LENGTH) return 1000;
  int rows[3][TESI_NEAREST_LENGTH + 1], *before = rows[0], *last = rows[1], *row = rows[2];
  for (size_t j = 0; j <= nb; j++) last[j] = (int)j;
  for (size_t i = 1; i <= na; i++) {
    row[0] = (int)i;
    for (size_t j = 1; j <= nb; j++) {
      row[j] = smallest(last[j] + 1, row[j - 1] + 1, last[j - 1] + !same(a[i - 1], b[j - 1]));
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) && before[j - 2] + 1 < row[j])
        row[j] = before[j - 2] + 1;
    }
    int *free_row = before;
    before = last, last = row, row = free_row;
  }
  return last[nb];
}

int tesi_name_is_near(const char *name, int distance) {
  const int length = (int)strlen(name);
  return length > 1 && distance <= (length < 6 ? 1 : length / 3);
}

void tesi_nearest_try(TesiNearest *nearest, const char *candidate) {
  const int distance = tesi_name_distance(nearest->name, candidate);
  if (!tesi_name_is_near(nearest->name, distance) || (nearest->best && distance >= nearest->distance)) return;
  nearest->best = candidate;
  nearest->distance = distance;
}

void tesi_mesh_lacks(const char *what, const char *name, int count, const char *const *known, char *text,
                     size_t size) {
  TesiNearest nearest = {.name = name};
  char list[400] = "";
  int listed = 0, left = 0;
  for (int i = 0; i < count; i++) {
    const size_t used = strlen(list);
    if (!known[i]) continue;
    tesi_nearest_try(&nearest, known[i]);
    if (used + strlen(known[i]) + 3 < sizeof list && !left)
      snprintf(list + used, sizeof list - used, "%s%s", listed++ ? ", " : "", known[i]);
    else
      left++;
  }
  int n = snprintf(text, size, "the mesh has no %s called %.100s; it has: %s", what, name,
                   listed ? list : "none");
  if (left && (size_t)n < size) n += snprintf(text + n, size - (size_t)n, " and %d more", left);
  if (nearest.best && (size_t)n < size)
    snprintf(text + n, size - (size_t)n, "; did you mean '%s'?", nearest.best);
}

const char *tes_nearest_name(const char *name, const char *const *known) {
  TesiNearest nearest = {.name = name};
  for (; *known; known++) tesi_nearest_try(&nearest, *known);
  return nearest.best;
}
