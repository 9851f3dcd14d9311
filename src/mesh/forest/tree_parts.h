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

/* Groups of two or more; a member is tree * parts + part, ascending in a group. */
typedef struct TesiPartGroups {
  int32_t groups, members;
  int32_t *first;  /* [groups + 1] */
  int32_t *member; /* [members] */
} TesiPartGroups;

/* By sorting: buckets of the least vertex, within which vertices are compared. Time and memory grow with the number
 * of parts, as long as few of them share a vertex. Freed by tesi_part_groups_free(), after failure too. */
TesStatus tesi_part_groups(TesContext *ctx, const TesiTrees *trees, TesiPartKind kind, TesiPartGroups *groups);
void tesi_part_groups_free(TesContext *ctx, TesiPartGroups *groups);

#endif
