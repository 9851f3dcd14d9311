/* Run: ctest -R t3_tree_parts. Groups of faces, edges and corners that trees share, against a comparison of all pairs,
 * with one thread and with several.
 * Labels: threads */
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "mesh/forest/tree_parts.h"
#include "testing.h"

enum { TREES = 90 };

static const int edges[12][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3},
                                 {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}},
                 whole[8] = {0, 1, 2, 3, 4, 5, 6, 7};

static int by_value(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

/* The vertices of a part, ascending. */
static void sorted_vertices(const TesiTrees *c, const TesiPartKind *kind, int part, int key[4]) {
  for (int i = 0; i < kind->corners; i++)
    key[i] =
        c->vertices[(part / kind->parts << c->dim) + kind->corner[part % kind->parts * kind->corners + i]];
  qsort(key, (size_t)kind->corners, sizeof *key, by_value);
}

/* Every pair of parts with the same vertices is in one group, in ascending order, and no other is; groups are in the
 * order of their least vertices. */
static void compare(const TesiTrees *c, TesiPartKind kind, const TesiPartGroups *g) {
  const int count = (int)c->trees * kind.parts;
  int *group = malloc((size_t)count * sizeof *group), least = -1;
  for (int i = 0; i < count; i++) group[i] = -1;
  assert_int_equal(g->first[0], 0);
  assert_int_equal(g->first[g->groups], g->members);
  for (int k = 0; k < g->groups; k++) {
    int key[4];
    assert_true(g->first[k + 1] - g->first[k] >= 2);
    for (int i = g->first[k]; i < g->first[k + 1]; i++) {
      assert_int_equal(group[g->member[i]], -1);
      group[g->member[i]] = k;
      if (i > g->first[k]) assert_true(g->member[i] > g->member[i - 1]);
    }
    sorted_vertices(c, &kind, g->member[g->first[k]], key);
    assert_true(key[0] >= least);
    least = key[0];
  }
  for (int i = 0; i < count; i++) {
    int own[4], other[4];
    bool alone = true;
    sorted_vertices(c, &kind, i, own);
    for (int j = 0; j < count; j++) {
      sorted_vertices(c, &kind, j, other);
      const bool same = !memcmp(own, other, (size_t)kind.corners * sizeof *own);
      if (j == i) continue;
      alone = alone && !same;
      assert_int_equal(same, group[i] >= 0 && group[i] == group[j]);
    }
    assert_int_equal(alone, group[i] < 0);
  }
  free(group);
}

/* Few vertices: large buckets and many groups; many: hardly any group. */
static void groups_are_those_of_all_pairs(void **state) {
  (void)state;
  unsigned random = 1;
  int32_t vertices[TREES << 3];
  for (int dim = 2; dim <= 3; dim++)
    for (int most = 9; most <= 900; most *= 10) {
      TesiTrees c = {.dim = dim, .trees = TREES, .vertex_count = most, .vertices = vertices};
      for (int t = 0; t < TREES; t++)
        for (int v = 0; v < 1 << dim; v++) {
          int32_t *own = vertices + (t << dim);
          for (bool again = true; again;) { /* vertices of a tree differ */
            own[v] = (int32_t)((random = random * 1664525 + 1013904223) >> 8) % most;
            again = false;
            for (int w = 0; w < v; w++) again = again || own[w] == own[v];
          }
        }
      const TesiPartKind kinds[] = {tesi_tree_faces(dim), {1 << dim, 1, whole}, {12, 2, edges[0]}};
      for (int k = 0; k < dim; k++) {
        TesiPartGroups one = {0};
        for (int threads = 1; threads <= 4; threads += 3) {
          TesContext *ctx;
          TesiPartGroups groups;
          assert_int_equal(
              tes_context_create(&(TesContextDesc){.device = "cpu", .threads = threads}, &ctx, NULL, 0),
              TES_OK);
          c.context = ctx;
          assert_ok(ctx, tesi_part_groups(ctx, &c, kinds[k], &groups));
          compare(&c, kinds[k], &groups);
          if (threads > 1) {
            assert_int_equal(groups.groups, one.groups);
            assert_memory_equal(groups.member, one.member, (size_t)one.members * sizeof *one.member);
            assert_memory_equal(groups.first, one.first, ((size_t)one.groups + 1) * sizeof *one.first);
            tesi_part_groups_free(ctx, &one);
            tesi_part_groups_free(ctx, &groups);
          } else {
            one = groups;
          }
          tes_context_destroy(&ctx);
        }
      }
    }
}

int main(void) {
  setenv("TESSERA_TEAM_WORK", "1", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(groups_are_those_of_all_pairs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
