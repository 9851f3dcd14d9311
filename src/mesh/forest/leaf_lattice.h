/* Trees whose leaves are all of one level: who lies beside a leaf follows from its coordinates, as the leaves of a tree
 * lie along Morton's curve. What is on the surface of a tree is left to leaf_entities.h, but in a box of trees all of
 * whose leaves are of one level. */
#ifndef TESI_LEAF_LATTICE_H
#define TESI_LEAF_LATTICE_H

#include "mesh/forest/leaf_entities.h"

typedef struct TesiLattice {
  const TesMesh *forest;
  bool whole;     /* a box, all leaves of one level */
  int8_t *level;  /* [trees] of the leaves, -1: of several levels */
  int64_t *first; /* [trees] leaf */
} TesiLattice;

/* The first cell that has each entity of a cell: see tesi_lattice_member(). Negative: not known. */
typedef struct TesiFirsts {
  int64_t key[TESI_PATTERNS];
} TesiFirsts;

/* Of a forest that is on one rank. */
TesStatus tesi_lattice_create(TesContext *ctx, const TesMesh *f, TesiLattice *lattice);
void tesi_lattice_destroy(TesContext *ctx, TesiLattice *lattice);
/* How many leaves have entities that are not known here. */
int64_t tesi_lattice_leaves_out(const TesiLattice *lattice);
void tesi_lattice_find_firsts(const TesiLattice *lattice, int64_t cell, TesiFirsts *firsts);
/* The first cell that has an entity, and as which of its own. */
TesiMember tesi_lattice_member(int dim, const TesiFirsts *firsts, int pattern);

#endif
