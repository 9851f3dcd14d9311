/* Trees whose leaves all have the same level. The neighbours of a leaf follow from its coordinates, as the leaves of a
 * tree lie along the Morton curve. The surface of a tree is left to leaf_entities.h, except in a box of trees whose
 * leaves all have the same level. */
#ifndef TESI_LEAF_LATTICE_H
#define TESI_LEAF_LATTICE_H

#include "mesh/forest/leaf_entities.h"

typedef struct TesiLattice {
  const TesMesh *forest;
  bool whole;     /* a box, all leaves of one level */
  int8_t *level;  /* [trees] level of the leaves, -1: several levels */
  int64_t *first; /* [trees] leaf */
} TesiLattice;

/* For each entity of a cell, the first cell that has it: see tesi_lattice_member(). Negative: not known. */
typedef struct TesiFirsts {
  int64_t key[TESI_PATTERNS];
} TesiFirsts;

/* For a forest on one rank. */
TesStatus tesi_lattice_create(TesContext *ctx, const TesMesh *f, TesiLattice *lattice);
void tesi_lattice_destroy(TesContext *ctx, TesiLattice *lattice);
/* Number of leaves that have entities which the lattice does not know. */
int64_t tesi_lattice_leaves_out(const TesiLattice *lattice);
void tesi_lattice_find_firsts(const TesiLattice *lattice, int64_t cell, TesiFirsts *firsts);
/* The first cell that has an entity, and the entity's pattern in that cell. */
TesiMember tesi_lattice_member(int dim, const TesiFirsts *firsts, int pattern);

#endif
