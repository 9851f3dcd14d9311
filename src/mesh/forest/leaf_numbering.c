/* See leaf_numbering.h. Cells put their corners, edges and faces into a set. If an entity hangs, they put the entity of
 * the coarse side. No set is needed where coordinates tell which cells share an entity (leaf_lattice.h). The first cell
 * that has an entity numbers its nodes; the others copy the numbers. Each step is a parallel
 * loop over all cells. */
#include "mesh/forest/leaf_numbering.h"
#include <stdlib.h>
#include <string.h>
#include "base/work.h"
#include "mesh/forest/leaf_entities.h"
#include "mesh/forest/leaf_lattice.h"
#include "tessera/space.h"

enum { MOST_NODES = 9 * 9 * 9, SMALL = 4096 };

/* For loops over cells, each with all its neighbours. */
static int threads_for(const TesMesh *f) {
  return tesi_team_threads(f->context, 64 * f->leaves.cells);
}

/* Room for the entities of so many cells: about 7 per cell, 3 in 2D, and more if the surface is large. */
static int64_t guess_slots(const TesMesh *f, int64_t cells, int times) {
  const int a_cell = cells < SMALL ? 40 : f->dim == 2 ? 6 : 12;
  return times * a_cell * cells + 1;
}

/* ---- what hangs ------------------------------------------------------------------------------------------------- */

static bool reaches_surface(const TesMesh *f, int64_t cell) {
  const int64_t h = tesi_forest_length(f, cell), root = (int64_t)1 << f->depth;
  for (int d = 0; d < f->dim; d++) {
    const int32_t at = f->leaves.origin[3 * cell + d];
    if (at == 0 || at + h == root) return true;
  }
  return false;
}

static void put(TesiEntitySet *set, int64_t cell, int pattern) {
  const TesiSought sought = tesi_entity_seek(set, &(TesiMember){cell, false, pattern});
  tesi_entity_put(set, &sought, false);
}

typedef struct Masks {
  const TesMesh *f;
  TesiEntitySet *set;
  uint16_t *mask;
} Masks;

/* The cells that are not of the finest level: finer ones can hang on them. Across trees it is told by their edges and
 * faces on the surface of the tree. */
static void put_coarse(const void *data, TesiSpan span) {
  const Masks *m = data;
  const TesMesh *f = m->f;
  TesiEntitySet *set = m->set;
  const int patterns = f->dim == 2 ? 9 : 27, inside = f->dim == 2 ? 4 : 13;
  for (int64_t c = span.first; c < span.end; c++) {
    if (f->leaves.level[c] == f->max_level) continue;
    put(set, c, inside);
    for (int p = 0; reaches_surface(f, c) && p < patterns; p++)
      if (p != inside && tesi_pattern_free(f->dim, p) > 0 && tesi_entity_on_surface(f, c, p)) put(set, c, p);
  }
}

/* The parent's entity that has these directions free and lies on the cell's side of the others. */
static int outer_pattern(int dim, int child, int free) {
  int pattern = 0;
  for (int d = dim - 1; d >= 0; d--) pattern = 3 * pattern + (free >> d & 1 ? 1 : child >> d & 1 ? 2 : 0);
  return pattern;
}

/* A cell like the parent beside its side that has these directions free, or else that side itself. */
static TesiSought seek_outer(const TesMesh *f, const TesiEntitySet *set, int64_t cell, int free) {
  const int child = f->leaves.child[cell];
  int shift[3] = {0};
  TesiSought sought;
  for (int d = 0; d < f->dim; d++) shift[d] = free >> d & 1 ? 0 : child >> d & 1 ? 1 : -1;
  if (tesi_entity_seek_beside(set, cell, shift, &sought)) return sought;
  return tesi_entity_seek(set, &(TesiMember){cell, true, outer_pattern(f->dim, child, free)});
}

static uint16_t mask_of(const TesMesh *f, const TesiEntitySet *set, int64_t cell) {
  const int all = (1 << f->dim) - 1;
  TesiSought face[3], edge[3];
  unsigned faces = 0, edges = 0;
  if (f->leaves.level[cell] == 0) return 0;
  for (int d = 0; d < f->dim; d++) face[d] = seek_outer(f, set, cell, all & ~(1 << d));
  for (int d = 0; f->dim == 3 && d < 3; d++) edge[d] = seek_outer(f, set, cell, 1 << d);
  for (int d = 0; d < f->dim; d++) faces |= (unsigned)tesi_entity_is_in(set, &face[d]) << d;
  for (int d = 0; f->dim == 3 && d < 3; d++)
    if (!(faces & ~(1u << d))) edges |= (unsigned)tesi_entity_is_in(set, &edge[d]) << d;
  return (uint16_t)(faces || edges ? (unsigned)f->leaves.child[cell] | faces << 3 | edges << 6 : 0);
}

static void fill_masks(const void *data, TesiSpan span) {
  const Masks *m = data;
  for (int64_t c = span.first; c < span.end; c++) m->mask[c] = mask_of(m->f, m->set, c);
}

static TesStatus find_masks(const TesMesh *f, uint16_t *mask) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  TesiEntitySet set = {0};
  const Masks masks = {f, &set, mask};
  int least = f->max_level;
  for (int64_t c = 0; c < f->leaves.cells; c++)
    least = f->leaves.level[c] < least ? f->leaves.level[c] : least;
  for (int times = 1; least < f->max_level && times; times = atomic_load(&set.full) ? 2 * times : 0) {
    tesi_entity_set_destroy(ctx, &set);
    TES_TRY(tesi_entity_set_create(ctx, f, guess_slots(f, f->leaves.cells, times), &set));
    TES_TRY(tesi_work_for(ctx, threads_for(f), f->leaves.cells, put_coarse, &masks));
  }
  if (least == f->max_level) return TES_OK;
  TES_TRY(tesi_work_for(ctx, threads_for(f), f->leaves.cells, fill_masks, &masks));
done:
  tesi_entity_set_destroy(ctx, &set);
  return status;
}

TesStatus tesi_forest_masks(const TesMesh *f, const uint16_t **mask) {
  TesContext *ctx = f->context;
  TesMesh *mesh = (TesMesh *)f;
  TesStatus status = TES_OK;
  uint16_t *made = NULL;
#pragma omp critical(tesi_forest_masks)
  if (f->kind == TES_MESH_FOREST && !mesh->mask) {
    status = tesi_alloc(ctx, (size_t)f->leaves.cells, sizeof *made, &made);
    if (status == TES_OK) status = tesi_ranks(ctx) > 1 ? tesi_shared_masks(f, made) : find_masks(f, made);
    if (status == TES_OK)
      mesh->mask = made;
    else
      tesi_free(ctx, &made);
  }
  *mask = f->mask;
  return status;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

typedef struct Numbering {
  const TesMesh *f;
  int dim, n, nodes, patterns, inside; /* of a cell; `inside`: the pattern of the cell itself */
  int32_t *index;
  const uint16_t *mask; /* of the cells */
  TesiLattice lattice;
  TesiEntitySet set;
  uint32_t *own;                       /* [cells] bits of the patterns whose nodes a cell numbers */
  int64_t *first;                      /* [cells + 1] number of the first node that a cell numbers */
  int16_t begin[28], node[MOST_NODES]; /* nodes of each pattern, ascending */
} Numbering;

static int size_of(const Numbering *s, int pattern) {
  return s->begin[pattern + 1] - s->begin[pattern];
}

/* Whether the nodes of a pattern are nodes of the parent: the pattern is on a hanging face or edge. */
static bool is_parents(const Numbering *s, unsigned mask, int pattern) {
  bool side[3] = {false};
  for (int d = 0; d < s->dim; d++) side[d] = tesi_pattern_at(pattern, d) == (mask >> d & 1 ? 2 : 0);
  for (int d = 0; d < s->dim; d++) {
    const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
    if ((mask >> (3 + d) & 1 && side[d]) || (mask >> (6 + d) & 1 && side[e] && side[f])) return true;
  }
  return false;
}

static bool is_edge(const Numbering *s, int pattern) {
  return s->dim == 3 && tesi_pattern_free(3, pattern) == 1;
}

/* The slots that the cells of a family, which are consecutive, have found so far. A sibling has already found half of
 * the slots that a cell needs. Entities of the cells by their places in the family, 0 .. 4 in each direction, then the
 * parent's own. */
typedef struct Family {
  int32_t tree, at[3]; /* the parent's origin */
  int level;
  int32_t slot[125 + TESI_PATTERNS]; /* -1: not yet */
} Family;

static void enter_family(const TesMesh *f, int64_t cell, Family *family) {
  const TesiLeaves *l = &f->leaves;
  const int64_t parent = ~(2 * (int64_t)tesi_forest_length(f, cell) - 1);
  bool same = family->tree == l->tree[cell] && family->level == l->level[cell];
  for (int d = 0; d < 3; d++) same = same && family->at[d] == (l->origin[3 * cell + d] & parent);
  if (same) return;
  family->tree = l->tree[cell], family->level = l->level[cell];
  for (int d = 0; d < 3; d++) family->at[d] = (int32_t)(l->origin[3 * cell + d] & parent);
  memset(family->slot, -1, sizeof family->slot);
}

static int32_t *slot_in_family(const TesMesh *f, int64_t cell, bool parent, int pattern, Family *family) {
  const int child = f->leaves.child[cell];
  int at[3];
  for (int d = 0; d < 3; d++) at[d] = tesi_pattern_at(pattern, d) + 2 * (child >> d & 1);
  return &family->slot[parent ? 125 + pattern : at[0] + 5 * (at[1] + 5 * at[2])];
}

/* The first node of a pattern keeps its slot, as ~slot, until it is numbered; 0: no slot, the lattice knows. Edges of
 * the coarse side are marked, to count them. */
static void put_cell(Numbering *s, int64_t cell, Family *family) {
  const unsigned mask = s->mask[cell];
  TesiSought sought[TESI_PATTERNS];
  TesiFirsts firsts;
  int32_t *slot[TESI_PATTERNS];
  bool marked[TESI_PATTERNS];
  int pattern[TESI_PATTERNS], count = 0;
  enter_family(s->f, cell, family);
  tesi_lattice_find_firsts(&s->lattice, cell, &firsts);
  for (int p = 0; p < s->patterns; p++) {
    const bool parent = mask && is_parents(s, mask, p);
    const int size = size_of(s, p);
    marked[count] = parent && is_edge(s, p);
    if (size) s->index[cell * s->nodes + s->node[s->begin[p]]] = 0;
    if (p == s->inside || (!size && !marked[count])) continue;
    if (!parent && firsts.key[p] >= 0) continue;
    slot[count] = slot_in_family(s->f, cell, parent, p, family);
    if (*slot[count] < 0) sought[count] = tesi_entity_seek(&s->set, &(TesiMember){cell, parent, p});
    pattern[count++] = p;
  }
  for (int i = 0; i < count; i++) {
    if (*slot[i] < 0) *slot[i] = (int32_t)tesi_entity_put(&s->set, &sought[i], marked[i]);
    if (size_of(s, pattern[i])) s->index[cell * s->nodes + s->node[s->begin[pattern[i]]]] = ~*slot[i];
  }
}

static void put_entities(const void *data, TesiSpan span) {
  Numbering *s = (void *)data;
  Family family = {.level = -1};
  for (int64_t c = span.first; c < span.end; c++) put_cell(s, c, &family);
}

/* Negative: the lattice knows the entity. */
static int64_t slot_of(const Numbering *s, int64_t cell, int p) {
  return ~s->index[cell * s->nodes + s->node[s->begin[p]]];
}

/* The cell that numbers the nodes of pattern p of a cell. */
static TesiMember owner_of(const Numbering *s, const TesiFirsts *firsts, int64_t cell, int p) {
  const int64_t slot = slot_of(s, cell, p);
  if (p == s->inside) return (TesiMember){cell, false, p};
  return slot >= 0 ? tesi_entity_first(&s->set, slot) : tesi_lattice_member(s->dim, firsts, p);
}

/* Prefetches the slots of a cell's patterns, except those in `known`, some cells before they are read. */
enum { AHEAD = 6 };

static void prefetch_slots(const Numbering *s, int64_t cell, uint32_t known) {
  for (int p = 0; p < s->patterns; p++)
    if (p != s->inside && size_of(s, p) && !(known >> p & 1) && slot_of(s, cell, p) >= 0)
      tesi_entity_prefetch(&s->set, slot_of(s, cell, p));
}

/* Bits of the patterns whose nodes a cell numbers. */
static uint32_t find_own(const Numbering *s, int64_t cell) {
  TesiFirsts firsts;
  uint32_t own = 0;
  tesi_lattice_find_firsts(&s->lattice, cell, &firsts);
  for (int p = 0; p < s->patterns; p++) {
    if (!size_of(s, p)) continue;
    const TesiMember owner = owner_of(s, &firsts, cell, p);
    own |= (uint32_t)(owner.cell == cell && owner.pattern == p) << p;
  }
  return own;
}

static void count_own(const void *data, TesiSpan span) {
  const Numbering *s = data;
  for (int64_t c = span.first; c < span.end; c++) {
    if (c + AHEAD < span.end) prefetch_slots(s, c + AHEAD, 0);
    s->own[c] = find_own(s, c);
    for (int p = 0; p < s->patterns; p++) s->first[c + 1] += s->own[c] >> p & 1 ? size_of(s, p) : 0;
  }
}

static void number_own(const void *data, TesiSpan span) {
  const Numbering *s = data;
  for (int64_t c = span.first; c < span.end; c++) {
    int32_t *index = s->index + c * s->nodes, next = (int32_t)s->first[c];
    for (int p = 0; p < s->patterns; p++)
      for (int i = s->begin[p]; s->own[c] >> p & 1 && i < s->begin[p + 1]; i++) index[s->node[i]] = next++;
  }
}

/* Node i of a pattern with `free` free directions: from the cell's own order to the common order, or back. */
static int turn_node(const Numbering *s, int free, int turn, bool back, int i) {
  const int m = s->n - 2;
  int at[2] = {i % m, i / m};
  if (free == 1) return turn & 1 ? m - 1 - i : i;
  for (int pass = 0; pass < 2; pass++) {
    if ((pass == 0) != back) {
      for (int k = 0; k < 2; k++)
        if (turn >> k & 1) at[k] = m - 1 - at[k];
    } else if (turn & 4) {
      const int swap = at[0];
      at[0] = at[1], at[1] = swap;
    }
  }
  return at[0] + m * at[1];
}

static void copy_pattern(const Numbering *s, int64_t cell, int p, const TesiMember *owner) {
  const int count = size_of(s, p), free = tesi_pattern_free(s->dim, p);
  const int16_t *to = s->node + s->begin[p];
  const int32_t first = s->index[owner->cell * s->nodes + s->node[s->begin[owner->pattern]]];
  const bool parent = s->mask[cell] && is_parents(s, s->mask[cell], p);
  int turn = 0, turned = 0;
  if (free && !s->f->coarse->box[0] && s->f->leaves.tree[cell] != s->f->leaves.tree[owner->cell]) {
    turn = tesi_entity_name(s->f, cell, parent, p).turn;
    turned = tesi_entity_name(s->f, owner->cell, owner->parent, owner->pattern).turn;
  }
  for (int i = 0; i < count; i++) {
    const int k = turn == turned ? i : turn_node(s, free, turned, true, turn_node(s, free, turn, false, i));
    s->index[cell * s->nodes + to[i]] = first + k;
  }
}

static void copy_others(const void *data, TesiSpan span) {
  const Numbering *s = data;
  TesiMember owner[TESI_PATTERNS];
  TesiFirsts firsts;
  for (int64_t c = span.first; c < span.end; c++) {
    if (c + AHEAD < span.end) prefetch_slots(s, c + AHEAD, s->own[c + AHEAD]);
    tesi_lattice_find_firsts(&s->lattice, c, &firsts);
    for (int p = 0; p < s->patterns; p++) {
      if (!size_of(s, p) || s->own[c] >> p & 1) continue;
      owner[p] = owner_of(s, &firsts, c, p);
      __builtin_prefetch(s->index + owner[p].cell * s->nodes + s->node[s->begin[owner[p].pattern]]);
    }
    for (int p = 0; p < s->patterns; p++)
      if (size_of(s, p) && !(s->own[c] >> p & 1)) copy_pattern(s, c, p, &owner[p]);
  }
}

/* Coarse faces that hang have (2k-1)^(dim-1) fine nodes inside, coarse edges in 3D 2k-1. A face is seen by 2^(dim-1)
 * cells, an edge by any number. */
static int64_t count_hanging(const Numbering *s) {
  const int64_t fine = 2 * (s->n - 1) - 1;
  int64_t faces = 0;
  for (int64_t c = 0; c < s->f->leaves.cells; c++)
    for (int d = 0; d < s->dim; d++) faces += s->mask[c] >> (3 + d) & 1;
  return s->dim == 2 ? faces / 2 * fine : faces / 4 * fine * fine + tesi_entity_marked(&s->set) * fine;
}

TesStatus tesi_forest_number(const TesMesh *f, int degree, int32_t *index, TesiForestNodes *nodes,
                             int64_t *hanging) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  if (tesi_ranks(ctx) > 1) return tesi_shared_number(f, degree, index, nodes, hanging);
  const int n = degree + 1, threads = threads_for(f);
  const int64_t cells = f->leaves.cells;
  Numbering s = {.f = f, .dim = f->dim, .n = n, .index = index};
  s.nodes = f->dim == 2 ? n * n : n * n * n;
  s.patterns = f->dim == 2 ? 9 : 27;
  s.inside = f->dim == 2 ? 4 : 13;
  tesi_entity_nodes(f->dim, n, s.begin, s.node);
  TES_TRY(tesi_forest_masks(f, &s.mask));
  TES_TRY(tesi_lattice_create(ctx, f, &s.lattice));
  const int64_t asking = tesi_lattice_leaves_out(&s.lattice);
  TES_ALLOC(&s.own, cells);
  TES_ALLOC(&s.first, cells + 1);
  for (int times = 1; times; times = atomic_load(&s.set.full) ? 2 * times : 0) {
    tesi_entity_set_destroy(ctx, &s.set);
    TES_TRY(tesi_entity_set_create(ctx, f, guess_slots(f, asking, times), &s.set));
    TES_TRY(tesi_work_for(ctx, threads, cells, put_entities, &s));
  }
  TES_TRY(tesi_work_for(ctx, threads, cells, count_own, &s));
  for (int64_t c = 0; c < cells; c++) s.first[c + 1] += s.first[c];
  const int64_t count = s.first[cells];
  if (count > INT32_MAX) TES_FAIL(TES_OUT_OF_MEMORY, "%lld nodes; 2^31 - 1 are possible", (long long)count);
  *nodes = (TesiForestNodes){count, count, 0, {0}};
  TES_TRY(tesi_work_for(ctx, threads, cells, number_own, &s));
  TES_TRY(tesi_work_for(ctx, threads, cells, copy_others, &s));
  *hanging = count_hanging(&s);
done:
  tesi_entity_set_destroy(ctx, &s.set);
  tesi_lattice_destroy(ctx, &s.lattice);
  tesi_free(ctx, &s.own);
  tesi_free(ctx, &s.first);
  return status;
}
