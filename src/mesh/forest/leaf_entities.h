/* Corners, edges and faces of the leaves of a forest, by names that all cells agree on: what is one node in two cells,
 * and what hangs on what.
 *
 * An entity of a cell is a pattern (basis/entity_nodes.h). Its name is its centre, in units of half the finest cell, in
 * the smallest entity of the coarse mesh that it lies in: a tree, or a face, edge or vertex that trees share, seen from
 * its least vertex. */
#ifndef TESI_LEAF_ENTITIES_H
#define TESI_LEAF_ENTITIES_H

#include "basis/entity_nodes.h"
#include "mesh/forest/forest.h"

/* position: the centre, and the free directions; coarse, kind: the entity of the coarse mesh and its dimension. turn:
 * how the entity lies in its cell: bits 1 and 2: its first and second free direction are reversed, 4: exchanged. */
typedef struct TesiName {
  uint64_t position, coarse;
  int kind, turn;
} TesiName;

static inline int tesi_pattern_at(int pattern, int d) {
  return d == 0 ? pattern % 3 : d == 1 ? pattern / 3 % 3 : pattern / 9;
}
/* How many directions are free. */
static inline int tesi_pattern_free(int dim, int pattern) {
  int free = 0;
  for (int d = 0; d < dim; d++) free += tesi_pattern_at(pattern, d) == 1;
  return free;
}

/* Whether a leaf's entity lies on the surface of its tree; never in a box, where all trees are one. */
bool tesi_entity_on_surface(const TesMesh *f, int64_t cell, int pattern);
/* Of a leaf's entity, or of the same of its parent. */
TesiName tesi_entity_name(const TesMesh *f, int64_t cell, bool parent, int pattern);

/* A set of entities. An entity that is put in several times stays with the cell of the smallest number, so that the
 * set does not depend on the order of threads. */
typedef struct TesiEntitySet {
  const TesMesh *forest;
  int64_t slots;
  _Atomic uint64_t *slot;
  atomic_bool full; /* too small: make a larger one */
} TesiEntitySet;

/* An entity in the set, as some cell has it. */
typedef struct TesiMember {
  int64_t cell;
  bool parent;
  int pattern;
} TesiMember;

TesStatus tesi_entity_set_create(TesContext *ctx, const TesMesh *f, int64_t slots, TesiEntitySet *set);
void tesi_entity_set_destroy(TesContext *ctx, TesiEntitySet *set);
/* A question to the set, prepared: its slot is on the way from memory when the question is asked. */
typedef struct TesiSought {
  TesiName name;
  uint64_t hash, word;
} TesiSought;
TesiSought tesi_entity_seek(const TesiEntitySet *set, const TesiMember *member);
/* The cell like a leaf's parent that lies so many of its sizes beside it, if it is in the same tree, or box. */
bool tesi_entity_seek_beside(const TesiEntitySet *set, int64_t cell, const int shift[3], TesiSought *sought);
/* Puts it in, and gives its slot; -1 when the set is full. mark: remembered of the entity. */
int64_t tesi_entity_put(TesiEntitySet *set, const TesiSought *sought, bool mark);
/* Whether any cell has put it in. */
bool tesi_entity_is_in(const TesiEntitySet *set, const TesiSought *sought);
/* Who is first in a slot, that should be asked for before. */
static inline void tesi_entity_prefetch(const TesiEntitySet *set, int64_t slot) {
  __builtin_prefetch(&set->slot[slot]);
}

TesiMember tesi_entity_first(const TesiEntitySet *set, int64_t slot);
int64_t tesi_entity_marked(const TesiEntitySet *set);

#endif
