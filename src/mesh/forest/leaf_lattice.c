/* See leaf_lattice.h. */
#include "mesh/forest/leaf_lattice.h"
#include "base/integer.h"

/* Trees have their leaves one after another. */
static void find_levels(const TesMesh *f, TesiLattice *l) {
  for (int32_t t = 0; t < f->coarse->trees; t++) l->level[t] = -1;
  for (int64_t c = 0, end; c < f->leaves.cells; c = end) {
    const int32_t tree = f->leaves.tree[c];
    bool same = true;
    for (end = c; end < f->leaves.cells && f->leaves.tree[end] == tree; end++)
      same = same && f->leaves.level[end] == f->leaves.level[c];
    l->first[tree] = c;
    if (same) l->level[tree] = f->leaves.level[c];
  }
}

TesStatus tesi_lattice_create(TesContext *ctx, const TesMesh *f, TesiLattice *lattice) {
  TesStatus status = TES_OK;
  *lattice = (TesiLattice){.forest = f, .whole = f->coarse->box[0] > 0};
  TES_ALLOC(&lattice->level, f->coarse->trees);
  TES_ALLOC(&lattice->first, f->coarse->trees);
  find_levels(f, lattice);
  for (int32_t t = 0; t < f->coarse->trees; t++)
    lattice->whole = lattice->whole && lattice->level[t] >= 0 && lattice->level[t] == lattice->level[0];
done:
  return status;
}

void tesi_lattice_destroy(TesContext *ctx, TesiLattice *lattice) {
  tesi_free(ctx, &lattice->level);
  tesi_free(ctx, &lattice->first);
}

int64_t tesi_lattice_leaves_out(const TesiLattice *lattice) {
  const TesMesh *f = lattice->forest;
  int64_t left = lattice->whole ? 0 : f->leaves.cells;
  for (int32_t t = 0; t < f->coarse->trees && !lattice->whole; t++) {
    const int64_t inner = lattice->level[t] > 0 ? ((int64_t)1 << lattice->level[t]) - 2 : 0;
    left -= inner * inner * (f->dim == 3 ? inner : 1);
  }
  return left;
}

/* Keys: a cell, and the lower 5 bits tell where it lies, from 26 down to 0: of a cell that lies at several places, in
 * periodic boxes, the one as whose lesser pattern it has the entity comes first. */
static const int64_t nobody = INT64_MAX, unknown = -1;

/* One direction: what the place before, the own and the place behind add to the number of the leaf and of the tree. */
typedef struct Steps {
  int64_t leaf[3], tree[3], key[3]; /* key: 0, nobody or unknown */
} Steps;

/* The tree before or behind. */
static void cross(const TesiLattice *l, int32_t tree, int d, int i, Steps *s) {
  const TesiTrees *c = l->forest->coarse;
  int64_t stride = 1;
  if (!l->whole) {
    s->key[i] = unknown;
    return;
  }
  for (int e = 0; e < d; e++) stride *= c->box[e];
  const int64_t own = tree / stride % c->box[d];
  int64_t other = own + i - 1;
  if (c->periodic[d]) other = (other + c->box[d]) % c->box[d];
  if (other < 0 || other >= c->box[d]) s->key[i] = nobody;
  s->tree[i] = (other - own) * stride;
}

/* code: number of the leaf in its tree, whose bits are those of its coordinates in turn. One coordinate goes up by one
 * when the bits of the others, set before, carry on. */
static Steps steps_along(const TesiLattice *l, int32_t tree, int d, uint64_t code) {
  const int dim = l->forest->dim;
  const uint64_t every = dim == 3 ? 0x1249249249249249u : 0x5555555555555555u,
                 bits = every << d & (((uint64_t)1 << dim * l->level[tree]) - 1), own = code & bits;
  Steps s = {.leaf = {(int64_t)((own - 1) & bits), (int64_t)own, (int64_t)(((own | ~bits) + 1) & bits)}};
  if (own == 0) cross(l, tree, d, 0, &s);
  if (own == bits) cross(l, tree, d, 2, &s);
  return s;
}

/* Entities on the low side are shared with the place before, those on the high side with the place behind. */
static void share(int count, int stride, int64_t *key) {
  for (int i = 0; i < count; i++) {
    int64_t *k = key + i % stride + i / stride * 3 * stride;
    const int64_t own = k[stride];
    k[0] = tesi_min64(k[0], own), k[2 * stride] = tesi_min64(own, k[2 * stride]);
  }
}

void tesi_lattice_find_firsts(const TesiLattice *l, int64_t cell, TesiFirsts *firsts) {
  const TesMesh *f = l->forest;
  const int32_t tree = f->leaves.tree[cell];
  const int level = l->level[tree], patterns = f->dim == 2 ? 9 : 27;
  int64_t *key = firsts->key;
  Steps s[3] = {{.key = {0}}, {.key = {0}}, {.key = {0}}};
  for (int d = 0; d < f->dim && level >= 0; d++)
    s[d] = steps_along(l, tree, d, (uint64_t)(cell - l->first[tree]));
  for (int i = 0; i < patterns; i++) {
    const int x = i % 3, y = i / 3 % 3, z = i / 9;
    const int64_t to = tree + s[0].tree[x] + s[1].tree[y] + s[2].tree[z];
    key[i] = level < 0 ? unknown : s[0].key[x] | s[1].key[y] | s[2].key[z];
    if (!key[i]) key[i] = (l->first[to] + s[0].leaf[x] + s[1].leaf[y] + s[2].leaf[z]) << 5 | (26 - i);
  }
  for (int d = 0, stride = 1; d < f->dim; d++, stride *= 3) share(patterns / 3, stride, key);
}

TesiMember tesi_lattice_member(int dim, const TesiFirsts *firsts, int pattern) {
  const int place = 26 - (int)(firsts->key[pattern] & 31);
  TesiMember member = {firsts->key[pattern] >> 5, false, 0};
  for (int d = 0, third = 1; d < dim; d++, third *= 3) {
    const bool beside = tesi_pattern_at(place, d) != 1;
    const int own = tesi_pattern_at(pattern, d);
    member.pattern += third * (beside ? 2 - own : own);
  }
  return member;
}
