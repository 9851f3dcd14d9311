/* The places of the cells of a forest in their trees, and the relation of the cells of two forests. */
#include <math.h>
#include "mesh/forest/forest.h"

void tesi_mesh_origin(const TesMesh *forest, int64_t cell, double origin[3]) {
  for (int d = 0; d < 3; d++) origin[d] = 0;
  if (!forest->coarse) return;
  for (int d = 0; d < 3; d++) origin[d] = ldexp(forest->leaves.origin[3 * cell + d], -forest->depth);
}

/* Points of a cell of a grid. */
static void map_box(const TesMesh *m, int64_t cell, int n, const double *xi, double *x) {
  int at[3];
  tesi_mesh_at(m, tesi_mesh_box_cell(m, cell), at);
  for (int p = 0; p < n; p++)
    for (int d = 0; d < m->dim; d++) {
      const double *c = m->coordinates[d] + at[d];
      x[p * m->dim + d] = c[0] + xi[p * m->dim + d] * (c[1] - c[0]);
    }
}

void tesi_mesh_map(const TesMesh *forest, int64_t cell, int n, const double *xi, double *x) {
  double origin[3];
  if (!forest->coarse) {
    map_box(forest, cell, n, xi, x);
    return;
  }
  const double h = ldexp(1, -forest->leaves.level[cell]);
  tesi_mesh_origin(forest, cell, origin);
  for (int p = 0; p < n; p++) {
    double at[3] = {0};
    for (int d = 0; d < forest->dim; d++) at[d] = origin[d] + h * xi[p * forest->dim + d];
    tesi_forest_evaluate_tree(forest, cell, 1, at, x + p * forest->dim);
  }
}

bool tesi_mesh_lies_in(const TesMesh *inner, int64_t c, const TesMesh *outer, int64_t d) {
  const TesiLeaves *l = &inner->leaves, *m = &outer->leaves;
  const int32_t size = tesi_forest_length(outer, d);
  if (l->tree[c] != m->tree[d] || l->level[c] < m->level[d]) return false;
  for (int r = 0; r < inner->dim; r++)
    if (l->origin[3 * c + r] < m->origin[3 * d + r] || l->origin[3 * c + r] >= m->origin[3 * d + r] + size)
      return false;
  return true;
}

TesStatus tes_mesh_relate(const TesMesh *from, const TesMesh *to, TesRelation *relation) {
  TesContext *ctx = to->context;
  TesStatus status = TES_OK;
  const int children = 1 << to->dim;
  int64_t old = 0;
  TES_CHECK(from->kind == TES_MESH_FOREST && to->kind == TES_MESH_FOREST, "only forests are related");
  TES_CHECK(from->dim == to->dim && tesi_trees_are_same(from->coarse, to->coarse),
            "the forests stand on different coarse meshes");
  for (int64_t c = 0; c < to->leaves.cells; c++) {
    TES_CHECK(old < from->leaves.cells, "the forests do not match at cell %lld", (long long)c);
    const int finer = to->leaves.level[c] - from->leaves.level[old];
    TES_CHECK(finer >= -1 && finer <= 1, "cell %lld differs by %d levels, expected one at most", (long long)c,
              finer);
    const int8_t kinship = finer == 0 ? TES_KIN_SAME : finer > 0 ? TES_KIN_CHILD : TES_KIN_PARENT;
    TES_CHECK(finer < 0 ? tesi_mesh_lies_in(from, old, to, c) : tesi_mesh_lies_in(to, c, from, old),
              "the forests do not match at cell %lld", (long long)c);
    relation[c] = (TesRelation){(int32_t)old, kinship, finer > 0 ? to->leaves.child[c] : 0};
    if (finer < 0)
      old += children;
    else if (finer == 0 || to->leaves.child[c] == children - 1)
      old++;
  }
  TES_CHECK(old == from->leaves.cells, "the forests do not match");
done:
  return status;
}
