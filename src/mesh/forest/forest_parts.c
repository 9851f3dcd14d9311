/* What a forest consists of, and how two of them are related. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "mesh/forest/forest.h"

TesContext *tes_forest_context(const TesForest *forest) {
  return forest->context;
}

int tes_forest_dim(const TesForest *forest) {
  return forest->dim;
}

int64_t tes_forest_cells(const TesForest *forest) {
  return forest->leaves.cells;
}

int64_t tes_forest_trees(const TesForest *forest) {
  return forest->coarse->trees;
}

int tes_forest_max_level(const TesForest *forest) {
  return forest->max_level;
}

const int8_t *tes_forest_levels(const TesForest *forest) {
  return forest->leaves.level;
}

const int32_t *tes_forest_tree_of(const TesForest *forest) {
  return forest->leaves.tree;
}

const int8_t *tes_forest_child_of(const TesForest *forest) {
  return forest->leaves.child;
}

void tes_forest_origin(const TesForest *forest, int64_t cell, double origin[3]) {
  for (int d = 0; d < 3; d++) origin[d] = ldexp(forest->leaves.origin[3 * cell + d], -forest->p4est->depth);
}

void tes_forest_evaluate(const TesForest *forest, int64_t cell, int n, const double *xi, double *x) {
  double origin[3];
  const double h = ldexp(1, -forest->leaves.level[cell]);
  tes_forest_origin(forest, cell, origin);
  for (int p = 0; p < n; p++) {
    double at[3] = {0};
    for (int d = 0; d < forest->dim; d++) at[d] = origin[d] + h * xi[p * forest->dim + d];
    tesi_forest_evaluate_tree(forest, cell, 1, at, x + p * forest->dim);
  }
}

int tes_forest_boundaries(const TesForest *forest) {
  return forest->coarse->boundaries;
}

const char *tes_forest_boundary_name(const TesForest *forest, int boundary) {
  const TesiTrees *c = forest->coarse;
  return boundary >= 0 && boundary < c->boundaries ? c->boundary_name[boundary] : "";
}

int tes_forest_materials(const TesForest *forest) {
  return forest->coarse->materials;
}

const char *tes_forest_material_name(const TesForest *forest, int material) {
  const TesiTrees *c = forest->coarse;
  return material >= 0 && material < c->materials ? c->material_name[material] : "";
}

/* Number of a name in a list; the message lists the known ones. */
static TesStatus find(TesContext *ctx, const char *what, int count, char *const *names, const char *name,
                      int *number) {
  TesStatus status = TES_OK;
  char known[400] = "";
  size_t length = 0;
  for (int i = 0; i < count; i++) {
    if (!strcmp(names[i], name)) {
      *number = i;
      return TES_OK;
    }
    if (length < sizeof known)
      length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", names[i]);
  }
  TES_FAIL(TES_INVALID_INPUT, "the mesh has no %s called %s; it has: %s", what, name, count ? known : "none");
done:
  return status;
}

TesStatus tes_forest_find_boundary(const TesForest *forest, const char *name, int *boundary) {
  const TesiTrees *c = forest->coarse;
  return find(forest->context, "boundary", c->boundaries, c->boundary_name, name, boundary);
}

TesStatus tes_forest_find_material(const TesForest *forest, const char *name, int *material) {
  const TesiTrees *c = forest->coarse;
  return find(forest->context, "material", c->materials, c->material_name, name, material);
}

bool tes_forest_on_boundary(const TesForest *forest, int64_t cell, int face, int *boundary) {
  const int d = face / 2;
  const int32_t at = forest->leaves.origin[3 * cell + d],
                end = ((int32_t)1 << forest->p4est->depth) - tesi_forest_length(forest, cell);
  const int32_t name = forest->coarse->boundary[(int64_t)forest->leaves.tree[cell] * 2 * forest->dim + face];
  if (at != (face & 1 ? end : 0) || name == TESI_TREES_INSIDE) return false;
  if (boundary) *boundary = name;
  return true;
}

int tes_forest_material(const TesForest *forest, int64_t cell) {
  return forest->coarse->material[forest->leaves.tree[cell]];
}

int64_t tes_forest_boundary_faces(const TesForest *forest, int boundary) {
  const TesiTrees *c = forest->coarse;
  int64_t faces = 0;
  for (int64_t i = 0; boundary >= 0 && i < c->trees * 2 * c->dim; i++) faces += c->boundary[i] == boundary;
  return faces;
}

int64_t tes_forest_unnamed(const TesForest *forest, int64_t *tree, int *face) {
  const TesiTrees *c = forest->coarse;
  int64_t unnamed = 0;
  for (int64_t i = c->trees * 2 * c->dim - 1; i >= 0; i--) {
    if (c->boundary[i] != TESI_TREES_UNNAMED) continue;
    unnamed++;
    if (tree) *tree = i / (2 * c->dim);
    if (face) *face = (int)(i % (2 * c->dim));
  }
  return unnamed;
}

/* Whether cell c of `inner` lies in cell d of `outer`, or is it. */
static bool lies_in(const TesForest *inner, int64_t c, const TesForest *outer, int64_t d) {
  const TesiLeaves *l = &inner->leaves, *m = &outer->leaves;
  const int32_t size = tesi_forest_length(outer, d);
  if (l->tree[c] != m->tree[d] || l->level[c] < m->level[d]) return false;
  for (int r = 0; r < inner->dim; r++)
    if (l->origin[3 * c + r] < m->origin[3 * d + r] || l->origin[3 * c + r] >= m->origin[3 * d + r] + size)
      return false;
  return true;
}

TesStatus tes_forest_relate(const TesForest *from, const TesForest *to, TesRelation *relation) {
  TesContext *ctx = to->context;
  TesStatus status = TES_OK;
  const int children = 1 << to->dim;
  int64_t old = 0;
  TES_CHECK(from->dim == to->dim && from->coarse->identity == to->coarse->identity,
            "the forests stand on different coarse meshes");
  for (int64_t c = 0; c < to->leaves.cells; c++) {
    TES_CHECK(old < from->leaves.cells, "the forests do not match at cell %lld", (long long)c);
    const int finer = to->leaves.level[c] - from->leaves.level[old];
    TES_CHECK(finer >= -1 && finer <= 1, "cell %lld differs by %d levels, expected one at most", (long long)c,
              finer);
    const int8_t kinship = finer == 0 ? TES_KIN_SAME : finer > 0 ? TES_KIN_CHILD : TES_KIN_PARENT;
    TES_CHECK(finer < 0 ? lies_in(from, old, to, c) : lies_in(to, c, from, old),
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
