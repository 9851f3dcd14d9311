#include "mesh/forest/tree_parts.h"
#include <stdlib.h>
#include <string.h>
#include "base/ascending.h"
#include "base/team.h"

enum { CORNERS = 4, FEW = 48, CHUNK = 2048 };

/* The vertices of a part, ascending, then zeros. */
typedef struct Key {
  int32_t vertex[CORNERS];
} Key;

/* Bucket v has the parts whose least vertex is v: begin[v] .. begin[v + 1] - 1 of `part`. */
typedef struct Buckets {
  const TesiTrees *trees;
  TesiPartKind kind;
  int threads;
  int32_t *begin;   /* [vertices + 2] */
  int32_t *part;    /* tree * parts + number */
  int32_t *grouped; /* per bucket, at its place: groups one after another, the last member of each as ~part */
  int32_t *members; /* [vertices + 1]: of groups, in the buckets before */
  int32_t *groups;  /* [vertices + 1]: in the buckets before */
  TesiPartGroups to; /* of all buckets */
} Buckets;

TesiPartKind tesi_tree_faces(int dim) {
  static const int plane[4][2] = {{0, 2}, {1, 3}, {0, 1}, {2, 3}},
                   space[6][4] = {{0, 2, 4, 6}, {1, 3, 5, 7}, {0, 1, 4, 5},
                                  {2, 3, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}};
  return dim == 2 ? (TesiPartKind){4, 2, plane[0]} : (TesiPartKind){6, 4, space[0]};
}

static Key key_of(const Buckets *b, int32_t part) {
  const TesiPartKind *kind = &b->kind;
  const int32_t *vertices = b->trees->vertices + ((int64_t)(part / kind->parts) << b->trees->dim);
  const int *corner = kind->corner + part % kind->parts * kind->corners;
  Key key = {{0}};
  for (int i = 0; i < kind->corners; i++) {
    const int32_t v = vertices[corner[i]];
    int at = i;
    for (; at > 0 && key.vertex[at - 1] > v; at--) key.vertex[at] = key.vertex[at - 1];
    key.vertex[at] = v;
  }
  return key;
}

static int32_t least_vertex(const Buckets *b, const int32_t *vertices, int number) {
  const int *corner = b->kind.corner + number * b->kind.corners;
  int32_t least = vertices[corner[0]];
  for (int i = 1; i < b->kind.corners; i++) least = tesi_min(least, vertices[corner[i]]);
  return least;
}

/* Adds 1 to a number of all threads; returns the number before. */
static int32_t take(const Buckets *b, int32_t *number) {
  return b->threads > 1 ? __atomic_fetch_add(number, 1, __ATOMIC_RELAXED) : (*number)++;
}

static void count_parts(const void *data, TesiSpan span) {
  const Buckets *b = data;
  for (int64_t t = span.first; t < span.end; t++)
    for (int p = 0; p < b->kind.parts; p++)
      take(b, &b->begin[least_vertex(b, b->trees->vertices + (t << b->trees->dim), p) + 2]);
}

static void place_parts(const void *data, TesiSpan span) {
  const Buckets *b = data;
  for (int64_t t = span.first; t < span.end; t++)
    for (int p = 0; p < b->kind.parts; p++)
      b->part[take(b, &b->begin[least_vertex(b, b->trees->vertices + (t << b->trees->dim), p) + 1])] =
          (int32_t)(t * b->kind.parts + p);
}

/* Threads have filled a bucket in any order. */
static void sort_parts(int32_t count, int32_t *part) {
  if (count > FEW) qsort(part, (size_t)count, sizeof *part, tesi_ascending_int32);
  for (int32_t i = 1; count <= FEW && i < count; i++) {
    const int32_t moved = part[i];
    int32_t at = i;
    for (; at > 0 && part[at - 1] > moved; at--) part[at] = part[at - 1];
    part[at] = moved;
  }
}

/* to <- the groups of two or more in a bucket; part[i] is -1 at the end if an earlier part has the same vertices. */
static void group_bucket(const Buckets *b, int32_t count, int32_t *part, int32_t *to, int32_t *members,
                         int32_t *groups) {
  Key few[FEW];
  for (int32_t i = 0; i < count && i < FEW; i++) few[i] = key_of(b, part[i]);
  *members = *groups = 0;
  for (int32_t i = 0; i < count; i++) {
    if (part[i] < 0) continue;
    const Key own = i < FEW ? few[i] : key_of(b, part[i]);
    int32_t *const group = to + *members, same = 1;
    group[0] = part[i];
    for (int32_t j = i + 1; j < count; j++) {
      if (part[j] < 0) continue;
      const Key other = j < FEW ? few[j] : key_of(b, part[j]);
      if (memcmp(&own, &other, sizeof own)) continue;
      group[same++] = part[j];
      part[j] = -1;
    }
    if (same < 2) continue;
    group[same - 1] = ~group[same - 1];
    *members += same, ++*groups;
  }
}

static void group_buckets(const void *data, TesiSpan span) {
  const Buckets *b = data;
  for (int64_t v = span.first; v < span.end; v++) {
    const int32_t at = b->begin[v], count = b->begin[v + 1] - at;
    sort_parts(count, b->part + at);
    group_bucket(b, count, b->part + at, b->grouped + at, &b->members[v + 1], &b->groups[v + 1]);
  }
}

static void gather(const void *data, TesiSpan span) {
  const Buckets *b = data;
  for (int64_t v = span.first; v < span.end; v++) {
    int32_t group = b->groups[v];
    for (int32_t k = b->members[v]; k < b->members[v + 1]; k++) {
      const int32_t part = b->grouped[b->begin[v] + k - b->members[v]];
      b->to.member[k] = part < 0 ? ~part : part;
      if (part < 0) b->to.first[++group] = k + 1;
    }
  }
}

static void add_up(int64_t count, int32_t *number) {
  for (int64_t v = 0; v < count; v++) number[v + 1] += number[v];
}

TesStatus tesi_part_groups(TesContext *ctx, const TesiTrees *trees, TesiPartKind kind, TesiPartGroups *groups) {
  TesStatus status = TES_OK;
  const int64_t count = trees->trees * kind.parts, vertices = trees->vertex_count;
  const int threads = tesi_team_threads(ctx, 8 * count);
  Buckets b = {.trees = trees, .kind = kind, .threads = threads};
  *groups = (TesiPartGroups){0};
  TES_CHECK(count < INT32_MAX, "%lld trees are more than p4est numbers", (long long)trees->trees);
  TES_ALLOC(&b.begin, vertices + 2);
  TES_ALLOC(&b.part, count);
  TES_ALLOC(&b.grouped, count);
  TES_ALLOC(&b.members, vertices + 1);
  TES_ALLOC(&b.groups, vertices + 1);
  tesi_team_for(threads, trees->trees, count_parts, &b);
  add_up(vertices, b.begin + 1);
  tesi_team_for(threads, trees->trees, place_parts, &b);
  tesi_team_share(threads, vertices, CHUNK, group_buckets, &b);
  add_up(vertices, b.members);
  add_up(vertices, b.groups);
  b.to.members = b.members[vertices], b.to.groups = b.groups[vertices];
  b.to.member = b.part, b.part = NULL; /* it has room for all */
  TES_ALLOC(&b.to.first, b.to.groups + 1);
  tesi_team_share(threads, vertices, CHUNK, gather, &b);
  *groups = b.to;
  b.to = (TesiPartGroups){0};
done:
  tesi_free(ctx, &b.begin);
  tesi_free(ctx, &b.part);
  tesi_free(ctx, &b.grouped);
  tesi_free(ctx, &b.members);
  tesi_free(ctx, &b.groups);
  tesi_part_groups_free(ctx, &b.to);
  return status;
}

void tesi_part_groups_free(TesContext *ctx, TesiPartGroups *groups) {
  tesi_free(ctx, &groups->first);
  tesi_free(ctx, &groups->member);
}
