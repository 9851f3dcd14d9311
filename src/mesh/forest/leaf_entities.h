/* Corners, edges and faces of the leaves of a forest, by names that do not depend on the cell. Equal names tell which
 * cells share a node, and which entity hangs on which.
 *
 * An entity of a cell is a pattern (basis/entity_nodes.h). Its name is its centre, in units of half the finest cell,
 * relative to the smallest entity of the coarse mesh that contains it: a tree, or a face, edge or vertex that trees
 * share, with its smallest vertex as the origin. */
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
/* Number of free directions. */
static inline int tesi_pattern_free(int dim, int pattern) {
  int free = 0;
  for (int d = 0; d < dim; d++) free += tesi_pattern_at(pattern, d) == 1;
  return free;
}

/* Whether a leaf's entity lies on the surface of its tree; never in a box, where all trees count as one tree. */
bool tesi_entity_on_surface(const TesMesh *f, int64_t cell, int pattern);
/* The name of an entity of a leaf, or of the same entity of its parent. */
TesiName tesi_entity_name(const TesMesh *f, int64_t cell, bool parent, int pattern);
uint64_t tesi_name_hash(const TesiName *name);

/* A set of entities. An entity that is put in several times stays with the cell of the smallest number, so that the
 * set does not depend on the order of threads. */
typedef struct TesiEntitySet {
  const TesMesh *forest;
  int64_t slots;
  _Atomic uint64_t *slot;
  atomic_bool full; /* the set is too small: make a larger set */
} TesiEntitySet;

/* An entity in the set, as an entity of a cell or of its parent. */
typedef struct TesiMember {
  int64_t cell;
  bool parent;
  int pattern;
} TesiMember;

TesStatus tesi_entity_set_create(TesContext *ctx, const TesMesh *f, int64_t slots, TesiEntitySet *set);
void tesi_entity_set_destroy(TesContext *ctx, TesiEntitySet *set);
/* A prepared query of the set: its slot is prefetched. */
typedef struct TesiSought {
  TesiName name;
  uint64_t hash, word;
} TesiSought;
TesiSought tesi_entity_seek(const TesiEntitySet *set, const TesiMember *member);
/* Prepares the query for the cell of the size of a leaf's parent that is shifted by so many of its sizes; false if it
 * is not in the same tree or box. */
bool tesi_entity_seek_beside(const TesiEntitySet *set, int64_t cell, const int shift[3], TesiSought *sought);
/* Puts the entity in the set and returns its slot; -1 when the set is full. mark: stored with the entity. */
int64_t tesi_entity_put(TesiEntitySet *set, const TesiSought *sought, bool mark);
/* Whether any cell has put the entity in the set. */
bool tesi_entity_is_in(const TesiEntitySet *set, const TesiSought *sought);
/* Call it some time before tesi_entity_first() of the slot. */
static inline void tesi_entity_prefetch(const TesiEntitySet *set, int64_t slot) {
  __builtin_prefetch(&set->slot[slot]);
}

TesiMember tesi_entity_first(const TesiEntitySet *set, int64_t slot);
int64_t tesi_entity_marked(const TesiEntitySet *set);

#endif
