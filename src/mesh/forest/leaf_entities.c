/* See leaf_entities.h. A slot is one word, so that threads can put entities in at a time: from its highest bit
 *   mark 1 | part of the hash 26 | cell 31 | parent 1 | pattern 5
 * and the least word of an entity stays, the mark aside. Equal parts of hashes are told apart by the names. */
#include "mesh/forest/leaf_entities.h"
#include "base/random.h"
#include "base/team.h"

enum { PROBES = 2048 };
static const uint64_t nobody = UINT64_MAX, mark_bit = (uint64_t)1 << 63;

/* ---- names ---------------------------------------------------------------------------------------------------- */

typedef struct Place {
  int tree, pattern;
  int64_t at[3]; /* centre of the entity in the tree, 0 .. 2 root */
} Place;

static Place find_place(const TesMesh *f, int64_t cell, bool parent, int pattern) {
  const TesiLeaves *l = &f->leaves;
  const int64_t h = tesi_forest_length(f, cell);
  Place p = {l->tree[cell], pattern, {0}};
  for (int d = 0; d < f->dim; d++) {
    const int64_t lower = parent && l->child[cell] >> d & 1 ? h : 0;
    p.at[d] = 2 * (l->origin[3 * cell + d] - lower) + tesi_pattern_at(pattern, d) * (parent ? 2 * h : h);
  }
  return p;
}

/* Coordinates below 2 root, and bits of free directions. */
static uint64_t pack(const TesMesh *f, int count, const int64_t *at, unsigned free) {
  const int bits = f->depth + 1;
  uint64_t packed = free;
  for (int i = 0; i < count; i++) packed = packed << bits | (uint64_t)at[i];
  return packed;
}

static unsigned free_bits(int dim, int pattern) {
  unsigned free = 0;
  for (int d = 0; d < dim; d++) free |= (unsigned)(tesi_pattern_at(pattern, d) == 1) << d;
  return free;
}

/* In a box of trees periodic sides are identified, and all trees have the same orientation: the far side of a tree is
 * the near side of the next tree. */
static TesiName name_in_box(const TesMesh *f, Place *p) {
  const TesiTrees *c = f->coarse;
  const int64_t end = (int64_t)2 << f->depth;
  int64_t tree = p->tree, number = 0, stride = 1;
  for (int d = 0; d < f->dim; d++) {
    int64_t i = tree % c->box[d];
    tree /= c->box[d];
    if (p->at[d] == end) p->at[d] = 0, i++;
    if (c->periodic[d]) i %= c->box[d];
    number += i * stride;
    stride *= c->box[d] + 1;
  }
  return (TesiName){pack(f, f->dim, p->at, free_bits(f->dim, p->pattern)), (uint64_t)number, f->dim, 0};
}

/* On the tree's edge along d. */
static TesiName name_on_edge(const TesMesh *f, const Place *p, int d, int low) {
  const int32_t *v = f->coarse->vertices + ((int64_t)p->tree << f->dim);
  const int64_t end = (int64_t)2 << f->depth;
  const uint32_t a = (uint32_t)v[low], b = (uint32_t)v[low | 1 << d];
  const bool flip = a > b;
  const int64_t at = flip ? end - p->at[d] : p->at[d];
  const unsigned free = tesi_pattern_at(p->pattern, d) == 1;
  return (TesiName){pack(f, 1, &at, free), flip ? (uint64_t)b << 32 | a : (uint64_t)a << 32 | b, 1,
                    flip && free};
}

/* On the tree's face with normal d, whose corners have bit 0 for its first direction, bit 1 for the second. */
static TesiName name_on_face(const TesMesh *f, const Place *p, int d, bool high) {
  const int e[2] = {d == 0 ? 1 : 0, d == 2 ? 1 : 2};
  const int32_t *v = f->coarse->vertices + ((int64_t)p->tree << f->dim);
  const int64_t end = (int64_t)2 << f->depth;
  int32_t corner[4];
  int least = 0;
  for (int i = 0; i < 4; i++) {
    corner[i] = v[(high ? 1 << d : 0) | (i & 1) << e[0] | (i >> 1) << e[1]];
    if (corner[i] < corner[least]) least = i;
  }
  const bool swap = corner[least ^ 1] > corner[least ^ 2];
  int64_t at[2];
  unsigned free = 0;
  int turn = 0, count = 0;
  for (int i = 0; i < 2; i++) {
    const int to = swap ? 1 - i : i;
    at[to] = least >> i & 1 ? end - p->at[e[i]] : p->at[e[i]];
    if (tesi_pattern_at(p->pattern, e[i]) != 1) continue;
    free |= 1u << to;
    turn |= (least >> i & 1) << count++;
  }
  if (count == 2 && swap) turn |= 4;
  const uint64_t face = (uint64_t)f->p4est->face(f->coarse->connectivity, p->tree, 2 * d + high);
  return (TesiName){pack(f, 2, at, free), face, 2, turn};
}

/* In the interior of a tree. */
static TesiName name_inside(const TesMesh *f, const Place *p) {
  return (TesiName){pack(f, f->dim, p->at, free_bits(f->dim, p->pattern)), (uint64_t)p->tree, f->dim, 0};
}

bool tesi_entity_on_surface(const TesMesh *f, int64_t cell, int pattern) {
  const Place p = find_place(f, cell, false, pattern);
  const int64_t end = (int64_t)2 << f->depth;
  bool surface = false;
  for (int d = 0; d < f->dim; d++) surface = surface || p.at[d] == 0 || p.at[d] == end;
  return surface && !f->coarse->box[0];
}

TesiName tesi_entity_name(const TesMesh *f, int64_t cell, bool parent, int pattern) {
  Place p = find_place(f, cell, parent, pattern);
  const int64_t end = (int64_t)2 << f->depth;
  int kind = 0, inside = 0, across = 0, corner = 0;
  if (f->coarse->box[0]) return name_in_box(f, &p);
  for (int d = 0; d < f->dim; d++) {
    if (p.at[d] > 0 && p.at[d] < end)
      kind++, inside = d;
    else
      across = d, corner |= (p.at[d] > 0) << d;
  }
  if (kind == f->dim) return name_inside(f, &p);
  if (kind == 0)
    return (TesiName){0, (uint64_t)f->coarse->vertices[((int64_t)p.tree << f->dim) + corner], 0, 0};
  return kind == 1 ? name_on_edge(f, &p, inside, corner) : name_on_face(f, &p, across, corner >> across & 1);
}

/* ---- the set -------------------------------------------------------------------------------------------------- */

uint64_t tesi_name_hash(const TesiName *n) {
  return tesi_random_mix(n->position + 0x9e3779b97f4a7c15u * (4 * n->coarse + (uint64_t)n->kind + 1));
}

static uint64_t word_of(uint64_t hash, const TesiMember *m) {
  return (hash & 0x3ffffff) << 37 | (uint64_t)m->cell << 6 | (uint64_t)m->parent << 5 | (uint64_t)m->pattern;
}

static TesiMember member_of(uint64_t word) {
  return (TesiMember){(int64_t)(word >> 6 & 0x7fffffff), word >> 5 & 1, (int)(word & 31)};
}

static void clear_slots(const void *data, TesiSpan span) {
  const TesiEntitySet *set = data;
  for (int64_t i = span.first; i < span.end; i++) atomic_init(&set->slot[i], nobody);
}

TesStatus tesi_entity_set_create(TesContext *context, const TesMesh *f, int64_t slots, TesiEntitySet *set) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  *set = (TesiEntitySet){.forest = f, .slots = slots};
  TES_CHECK(slots <= INT32_MAX, "%lld cells are too many", (long long)f->leaves.cells);
  TES_ALLOC(&set->slot, slots);
  tesi_team_for(tesi_team_threads(ctx, slots), slots, clear_slots, set);
done:
  return status;
}

void tesi_entity_set_destroy(TesContext *ctx, TesiEntitySet *set) {
  tesi_free(ctx, &set->slot);
}

static bool is_entity(const TesiEntitySet *set, uint64_t word, uint64_t own, const TesiName *name) {
  if ((word ^ own) << 1 >> 38) return false;
  const TesiMember m = member_of(word);
  const TesiName n = tesi_entity_name(set->forest, m.cell, m.parent, m.pattern);
  return n.position == name->position && n.coarse == name->coarse && n.kind == name->kind;
}

static int64_t first_probe(const TesiEntitySet *set, uint64_t hash) {
  return (int64_t)((hash >> 32) * (uint64_t)set->slots >> 32);
}

/* The slot keeps the smaller word, and a mark. */
static void keep_least(_Atomic uint64_t *slot, uint64_t word, uint64_t own, uint64_t mark) {
  for (;;) {
    const uint64_t least = (own < (word & ~mark_bit) ? own : word & ~mark_bit) | (word & mark_bit) | mark;
    if (least == word || atomic_compare_exchange_weak(slot, &word, least)) return;
  }
}

static TesiSought seek_name(const TesiEntitySet *set, const TesiName *name, const TesiMember *m) {
  TesiSought s = {.name = *name, .hash = tesi_name_hash(name)};
  s.word = word_of(s.hash, m);
  __builtin_prefetch(&set->slot[first_probe(set, s.hash)]);
  return s;
}

TesiSought tesi_entity_seek(const TesiEntitySet *set, const TesiMember *m) {
  const TesiName name = tesi_entity_name(set->forest, m->cell, m->parent, m->pattern);
  return seek_name(set, &name, m);
}

/* A shift in a box goes from tree to tree, and continues at the other side in a periodic direction. */
static bool cross_box(const TesMesh *f, Place *p, int d) {
  const TesiTrees *c = f->coarse;
  const int64_t end = (int64_t)2 << f->depth;
  int64_t stride = 1;
  if (p->at[d] >= 0 && p->at[d] < end) return true;
  for (int e = 0; e < d; e++) stride *= c->box[e];
  const int64_t i = p->tree / stride % c->box[d];
  int64_t to = p->at[d] < 0 ? i - 1 : i + 1;
  p->at[d] += p->at[d] < 0 ? end : -end;
  if (c->periodic[d]) to = (to + c->box[d]) % c->box[d];
  p->tree += (int)((to - i) * stride);
  return to >= 0 && to < c->box[d];
}

bool tesi_entity_seek_beside(const TesiEntitySet *set, int64_t cell, const int shift[3], TesiSought *sought) {
  const TesMesh *f = set->forest;
  const TesiMember parent = {cell, true, f->dim == 2 ? 4 : 13};
  const int64_t size = 4 * (int64_t)tesi_forest_length(f, cell), end = (int64_t)2 << f->depth;
  Place p = find_place(f, cell, true, parent.pattern);
  bool in = true;
  for (int d = 0; d < f->dim; d++) {
    p.at[d] += shift[d] * size;
    in = in && (f->coarse->box[0] ? cross_box(f, &p, d) : p.at[d] > 0 && p.at[d] < end);
  }
  if (!in) return false;
  const TesiName name = f->coarse->box[0] ? name_in_box(f, &p) : name_inside(f, &p);
  *sought = seek_name(set, &name, &parent);
  return true;
}

int64_t tesi_entity_put(TesiEntitySet *set, const TesiSought *s, bool mark) {
  const uint64_t marked = mark ? mark_bit : 0;
  int64_t at = first_probe(set, s->hash);
  for (int probe = 0; probe < PROBES; probe++, at = at + 1 < set->slots ? at + 1 : 0) {
    uint64_t word = atomic_load_explicit(&set->slot[at], memory_order_relaxed);
    if (word == nobody && atomic_compare_exchange_strong(&set->slot[at], &word, s->word | marked)) return at;
    if (!is_entity(set, word, s->word, &s->name)) continue;
    keep_least(&set->slot[at], word, s->word, marked);
    return at;
  }
  atomic_store(&set->full, true);
  return -1;
}

bool tesi_entity_is_in(const TesiEntitySet *set, const TesiSought *s) {
  int64_t at = first_probe(set, s->hash);
  for (int probe = 0; probe < PROBES; probe++, at = at + 1 < set->slots ? at + 1 : 0) {
    const uint64_t word = atomic_load_explicit(&set->slot[at], memory_order_relaxed);
    if (word == nobody) return false;
    if (is_entity(set, word, s->word, &s->name)) return true;
  }
  return false;
}

TesiMember tesi_entity_first(const TesiEntitySet *set, int64_t slot) {
  return member_of(atomic_load_explicit(&set->slot[slot], memory_order_relaxed));
}

typedef struct Count {
  const TesiEntitySet *set;
  _Atomic int64_t *marked;
} Count;

static void count_marked(const void *data, TesiSpan span) {
  const Count *count = data;
  int64_t marked = 0;
  for (int64_t i = span.first; i < span.end; i++) {
    const uint64_t word = atomic_load_explicit(&count->set->slot[i], memory_order_relaxed);
    marked += word != nobody && word & mark_bit;
  }
  atomic_fetch_add(count->marked, marked);
}

int64_t tesi_entity_marked(const TesiEntitySet *set) {
  _Atomic int64_t marked = 0;
  tesi_team_for(tesi_team_threads(set->forest->context, set->slots), set->slots, count_marked,
                &(Count){set, &marked});
  return marked;
}
