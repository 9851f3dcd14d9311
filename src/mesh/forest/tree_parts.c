#include "mesh/forest/tree_parts.h"
#include <string.h>

enum { CORNERS = 4 };

/* The vertices of a part, ascending, then zeros. */
typedef struct Key {
  int32_t vertex[CORNERS];
} Key;

static Key key_of(const TesiTrees *c, const TesiPartKind *kind, int64_t tree, int part) {
  Key key = {{0}};
  for (int i = 0; i < kind->corners; i++) {
    const int32_t v = c->vertices[(tree << c->dim) + kind->corner[part * kind->corners + i]];
    int at = i;
    for (; at > 0 && key.vertex[at - 1] > v; at--) key.vertex[at] = key.vertex[at - 1];
    key.vertex[at] = v;
  }
  return key;
}

/* The parts by their least vertex: bucket v has member[start[v]] .. member[start[v + 1] - 1], ascending. */
static void fill_buckets(const TesiTrees *c, const TesiPartKind *kind, int32_t *start, int32_t *member,
                         Key *keys) {
  for (int64_t t = 0; t < c->trees; t++)
    for (int p = 0; p < kind->parts; p++) start[key_of(c, kind, t, p).vertex[0] + 2]++;
  for (int64_t v = 0; v < c->vertex_count; v++) start[v + 2] += start[v + 1];
  for (int64_t t = 0; t < c->trees; t++)
    for (int p = 0; p < kind->parts; p++) {
      const Key key = key_of(c, kind, t, p);
      const int32_t at = start[key.vertex[0] + 1]++;
      keys[at] = key;
      member[at] = (int32_t)(t * kind->parts + p);
    }
}

/* Puts equal members of a bucket next to each other, in groups of two or more; returns how many members remain. */
static int32_t group_bucket(int32_t count, const Key *key, int32_t *member, int32_t *from,
                            TesiPartGroups *groups) {
  int32_t *to = groups->member + groups->members, kept = 0;
  memcpy(from, member, (size_t)count * sizeof *from);
  for (int32_t i = 0; i < count; i++) {
    int32_t same = 0;
    for (int32_t j = i; j < count && from[i] >= 0; j++) {
      if (from[j] < 0 || memcmp(&key[i], &key[j], sizeof key[i])) continue;
      to[kept + same++] = from[j];
      if (j > i) from[j] = -1;
    }
    if (same < 2) continue;
    kept += same;
    groups->first[++groups->groups] = groups->members + kept;
  }
  return kept;
}

TesStatus tesi_part_groups(TesContext *ctx, const TesiTrees *trees, TesiPartKind kind, TesiPartGroups *groups) {
  TesStatus status = TES_OK;
  const int64_t count = trees->trees * kind.parts;
  int32_t *start = NULL, *from = NULL, most = 0;
  Key *keys = NULL;
  *groups = (TesiPartGroups){0};
  TES_CHECK(count < INT32_MAX, "%lld trees are more than p4est numbers", (long long)trees->trees);
  TES_ALLOC(&start, trees->vertex_count + 2);
  TES_ALLOC(&keys, count);
  TES_ALLOC(&groups->member, count);
  TES_ALLOC(&groups->first, count / 2 + 2);
  fill_buckets(trees, &kind, start, groups->member, keys);
  for (int64_t v = 0; v < trees->vertex_count; v++)
    most = start[v + 1] - start[v] > most ? start[v + 1] - start[v] : most;
  TES_ALLOC(&from, most);
  for (int64_t v = 0; v < trees->vertex_count; v++)
    groups->members +=
        group_bucket(start[v + 1] - start[v], keys + start[v], groups->member + start[v], from, groups);
done:
  tesi_free(ctx, &start);
  tesi_free(ctx, &from);
  tesi_free(ctx, &keys);
  return status;
}

void tesi_part_groups_free(TesContext *ctx, TesiPartGroups *groups) {
  tesi_free(ctx, &groups->first);
  tesi_free(ctx, &groups->member);
}
