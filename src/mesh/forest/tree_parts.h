/* Faces, edges and corners of trees are the same if they have the same vertices. */
#ifndef TESI_TREE_PARTS_H
#define TESI_TREE_PARTS_H

#include "mesh/forest/trees.h"

/* Parts of one kind: each tree has `parts` parts with `corners` corners; corner[parts][corners] are numbers in the
 * tree. */
typedef struct TesiPartKind {
  int parts, corners;
  const int *corner;
} TesiPartKind;

/* Groups of two or more, by their least vertex; a member is tree * parts + part, ascending in a group. */
typedef struct TesiPartGroups {
  int32_t groups, members;
  int32_t *first;  /* [groups + 1] */
  int32_t *member; /* [members] */
} TesiPartGroups;

/* Faces with their corners in lexicographic order. */
TesiPartKind tesi_tree_faces(int dim);

/* By sorting: buckets of the least vertex, within which vertices are compared, by threads. Time and memory grow with
 * the number of parts, as long as few of them share a vertex. Groups do not depend on the number of threads. Freed by
 * tesi_part_groups_free(), after failure too. */
TesStatus tesi_part_groups(TesContext *ctx, const TesiTrees *trees, TesiPartKind kind, TesiPartGroups *groups);
void tesi_part_groups_free(TesContext *ctx, TesiPartGroups *groups);

#endif
