/* Division of the work of src/kernels/mapped.cu into groups and blocks. */
#include <stdio.h>
#include <stdlib.h>
#include "operator/mapped/device/mapped_kernel.h"

/* bytes per multiprocessor, per block, and lost per block; BP1, BP3, BP5 */
enum { MOST_SHARED = 228 << 10, BLOCK_SHARED = 227 << 10, RESERVED = 1 << 10, KINDS = 3, DEGREES = 15 };

/* cells per group (0: groups are warps), least blocks per multiprocessor (with warps: groups per block), buffers,
 * stage, ahead, gradients. All zero: by rule. */
typedef struct Entry {
  signed char cells, blocks, buffers, stage, ahead, gradients;
} Entry;

/* Measured on an H200 in float64: 20 million dofs, about 15 cuts each; element vectors with a mass, global vectors
 * without. */
static const Entry element[KINDS][DEGREES] = {{{14, 6, 1, 2, 0, 0},
                                               {0, 4, 1, 0, 0, 0},
                                               {10, 4, 1, 1, 0, 0},
                                               {7, 3, 1, 1, 0, 0},
                                               {5, 3, 1, 1, 0, 0},
                                               {1, 11, 1, 2, 0, 0},
                                               {1, 8, 1, 2, 0, 0},
                                               {2, 2, 1, 1, 0, 0},
                                               {1, 8, 1, 0, 0, 0},
                                               {1, 3, 1, 1, 0, 0},
                                               {1, 2, 1, 1, 0, 0},
                                               {1, 2, 1, 1, 0, 0},
                                               {1, 1, 1, 1, 0, 0},
                                               {1, 1, 1, 1, 0, 0},
                                               {1, 1, 1, 1, 0, 0}},
                                              {{28, 2, 3, 0, 0, 0},
                                               {0, 4, 3, 0, 0, 0},
                                               {0, 4, 2, 1, 0, 0},
                                               {3, 4, 2, 1, 0, 0},
                                               {4, 2, 2, 1, 0, 0},
                                               {1, 8, 2, 1, 0, 0},
                                               {1, 5, 2, 1, 0, 0},
                                               {1, 3, 2, 1, 0, 0},
                                               {1, 4, 2, 1, 0, 0},
                                               {1, 2, 2, 2, 0, 0},
                                               {1, 2, 2, 1, 0, 0},
                                               {1, 1, 2, 1, 0, 0},
                                               {1, 1, 2, 1, 1, 0},
                                               {1, 1, 2, 2, 0, 0},
                                               {1, 1, 2, 2, 0, 0}},
                                              {{0, 4, 3, 1, 0, 0},
                                               {0, 4, 3, 0, 0, 0},
                                               {0, 4, 3, 0, 0, 0},
                                               {0, 4, 3, 0, 0, 0},
                                               {7, 2, 3, 0, 0, 0},
                                               {1, 8, 2, 0, 0, 0},
                                               {1, 8, 3, 0, 0, 0},
                                               {1, 5, 2, 1, 0, 0},
                                               {1, 3, 2, 1, 0, 0},
                                               {1, 3, 2, 1, 0, 0},
                                               {1, 3, 2, 0, 0, 0},
                                               {1, 2, 3, 0, 0, 0},
                                               {1, 1, 2, 1, 0, 0},
                                               {1, 1, 2, 1, 1, 0},
                                               {1, 1, 2, 2, 0, 0}}};
static const Entry global[KINDS][DEGREES] = {{{14, 8, 1, 0, 0, 0},
                                              {12, 4, 1, 0, 0, 0},
                                              {5, 6, 1, 0, 0, 0},
                                              {7, 4, 1, 0, 0, 0},
                                              {5, 2, 1, 1, 0, 0},
                                              {1, 12, 1, 0, 0, 0},
                                              {3, 4, 1, 0, 0, 0},
                                              {1, 5, 1, 1, 0, 0},
                                              {1, 8, 1, 0, 0, 0},
                                              {1, 3, 1, 1, 0, 0},
                                              {1, 2, 1, 1, 0, 0},
                                              {1, 2, 1, 1, 0, 0},
                                              {1, 1, 1, 1, 0, 0},
                                              {1, 1, 1, 1, 0, 0},
                                              {1, 1, 1, 1, 0, 0}},
                                             {{14, 6, 3, 0, 0, 1},
                                              {4, 16, 3, 0, 0, 0},
                                              {5, 5, 3, 0, 0, 1},
                                              {5, 4, 3, 0, 0, 0},
                                              {5, 2, 2, 1, 0, 0},
                                              {1, 8, 3, 1, 0, 1},
                                              {1, 5, 2, 1, 0, 0},
                                              {1, 4, 2, 1, 0, 0},
                                              {1, 4, 2, 1, 0, 0},
                                              {1, 2, 2, 2, 0, 0},
                                              {1, 2, 2, 1, 0, 0},
                                              {1, 1, 2, 1, 0, 0},
                                              {1, 1, 2, 0, 0, 0},
                                              {1, 1, 2, 2, 0, 0},
                                              {1, 1, 2, 2, 0, 0}},
                                             {{0, 1, 3, 0, 0, 0},
                                              {0, 4, 3, 0, 0, 0},
                                              {16, 3, 3, 0, 0, 0},
                                              {5, 5, 3, 0, 0, 0},
                                              {3, 5, 3, 0, 0, 0},
                                              {5, 2, 2, 1, 0, 0},
                                              {1, 8, 3, 0, 0, 0},
                                              {1, 5, 2, 1, 0, 0},
                                              {1, 3, 2, 1, 0, 0},
                                              {1, 3, 2, 1, 0, 0},
                                              {1, 2, 2, 1, 0, 0},
                                              {1, 2, 2, 1, 0, 0},
                                              {1, 1, 2, 1, 0, 0},
                                              {1, 1, 2, 0, 0, 0},
                                              {1, 1, 2, 2, 0, 0}}};
/* Factors computed in the kernel, global vectors. */
static const Entry computed[KINDS][DEGREES] = {{{14, 8, 1, 0, 0, 0}, {12, 4, 1, 0, 0, 0}, {5, 6, 1, 0, 0, 0}},
                                               {{7, 8, 3, 0, 0, 1},
                                                {0, 4, 3, 0, 0, 1},
                                                {5, 5, 3, 0, 0, 1},
                                                {3, 4, 3, 0, 0, 1},
                                                {5, 2, 3, 0, 0, 1},
                                                {0, 0, 0, 0, 0, 0},
                                                {3, 2, 3, 0, 0, 1},
                                                {1, 4, 3, 0, 0, 1}},
                                               {{0, 4, 3, 0, 0, 0},
                                                {7, 9, 3, 0, 0, 0},
                                                {0, 2, 3, 0, 0, 0},
                                                {5, 5, 3, 0, 0, 0},
                                                {3, 4, 3, 0, 0, 0},
                                                {3, 3, 2, 0, 0, 0}}};

int tesi_mapped_numbers(const TesiMappedKernelDesc *d) {
  const int points = d->dim == 3 ? d->q * d->q * d->q : d->q * d->q, edge = d->cell_degree + 1,
            factors = d->dim * (d->dim + 1) / 2 * d->stiffness + d->mass;
  switch (d->geometry) {
  case TESI_MAPPED_VERTICES:
    return d->dim == 3 ? 21 : 8;
  case TESI_MAPPED_AFFINE:
    return factors;
  case TESI_MAPPED_HALVES: /* as many words */
    return (factors + 1) / 2 * points + 1;
  case TESI_MAPPED_WEIGHTS:
    return (1 + d->mass) * points + d->dim * ((d->dim == 3 ? edge : 1) * edge * edge - 1);
  default:
    return factors * points;
  }
}

int tesi_mapped_stage_bytes(const TesiMappedKernelDesc *d, const TesiMappedCut *cut) {
  const int layer = d->q * d->q * (int)tesi_precision_size(d->factors), factors = 6 * d->stiffness + d->mass;
  /* copies of whole 16 bytes may need up to 15 bytes more at each end */
  if (d->geometry != TESI_MAPPED_STORED)
    return (cut->cells * tesi_mapped_numbers(d) * (int)tesi_precision_size(d->precision) + 31) / 16 * 16;
  if (cut->layers < d->q) return factors * ((cut->layers * layer + 31) / 16 * 16);
  return (cut->cells * factors * d->q * layer + 31) / 16 * 16;
}

/* Whether the factors of points are read from memory. */
static bool reads_factors(const TesiMappedKernelDesc *d) {
  return d->geometry == TESI_MAPPED_STORED || d->geometry == TESI_MAPPED_HALVES;
}

static Entry look_up(const TesiMappedKernelDesc *d) {
  const int kind = !d->stiffness ? 0 : d->collocated ? 2 : 1, degree = d->n - 1;
  const bool usual = kind == 2 || d->q == d->n + 1;
  if (!usual || degree > DEGREES || d->dim != 3) return (Entry){0};
  if (!reads_factors(d)) return computed[kind][degree - 1];
  return d->output == TESI_MAPPED_ELEMENT ? element[kind][degree - 1] : global[kind][degree - 1];
}

/* For degree + 1 Gauss points, stiffness, global vectors (operators over forests), degrees 1 to 8, in the notation of
 * TESSERA_MAPPED_CUT: stored factors; weights with trilinear cells; weights with cells of second degree; halves; each
 * without and with hanging nodes. Measured on an H200 on the ball refined on shells; degree 1, and trilinear cells
 * beyond degree 2, by analogy. */
enum { GAUSS_DEGREES = 8 };
static const char *const gauss[4][2][GAUSS_DEGREES] = {
    {{"0,4,1,0,0,1,1,2", "0,4,1,7,0,1,1,1", "0,4,1,0,0,1,1,2", "0,4,1,0,0,2,1,2", "3,0,2,4,0,2,1,2",
      "1,0,2,8,0,2,1,2", "1,0,2,8,0,1,1,1", "1,0,2,5,0,2,1,2"},
     {"0,4,1,0,0,1,1,2", "0,4,1,7,0,1,1,1", "0,4,1,7,0,1,1,2", "0,4,1,6,0,2,1,2", "3,0,2,4,0,2,1,2",
      "1,0,2,8,0,2,1,2", "1,0,2,8,0,1,1,1", "1,0,2,4,0,2,1,2"}},
    {{"0,4,1,7,0,2,1,1", "0,4,1,7,0,2,1,1", "0,4,1,5,0,2,1,2", "5,0,2,5,0,2,1,2", "3,0,2,4,0,2,1,2",
      "1,0,2,8,0,2,1,2", "1,0,2,8,0,2,1,1", "1,0,2,5,0,2,1,1"},
     {"0,4,1,5,0,2,1,1", "0,4,1,5,0,2,1,1", "0,4,1,5,0,2,1,2", "5,0,2,5,0,2,1,2", "3,0,2,4,0,2,1,1",
      "1,0,2,8,0,2,1,1", "1,0,2,8,0,2,1,1", "3,0,2,2,0,2,1,2"}},
    {{"0,4,1,5,0,2,1,2", "0,4,1,5,0,2,1,2", "0,4,1,5,0,2,1,2", "5,0,2,5,0,2,1,2", "3,0,2,4,0,2,1,2",
      "1,0,2,8,0,2,1,2", "1,0,2,8,0,2,1,1", "1,0,2,5,0,2,1,1"},
     {"0,4,1,5,0,2,1,2", "0,4,1,5,0,2,1,2", "0,4,1,5,0,2,1,2", "5,0,2,5,0,2,1,2", "3,0,2,4,0,2,1,1",
      "1,0,2,8,0,2,1,1", "1,0,2,8,0,2,1,1", "3,0,2,2,0,2,1,2"}},
    {{"0,4,1,0,0,1,1,2", "0,4,1,7,0,1,1,1", "0,4,1,0,0,1,1,2", "0,4,1,0,0,1,1,2", "3,0,2,4,0,2,1,2",
      "1,0,2,8,0,2,1,2", "1,0,2,8,0,1,1,1", "1,0,2,5,0,2,1,2"},
     {"0,4,1,0,0,1,1,2", "0,4,1,7,0,1,1,1", "0,4,1,7,0,1,1,2", "5,0,2,5,0,2,1,2", "3,0,2,4,0,2,1,2",
      "1,0,2,8,0,2,1,2", "1,0,2,8,0,1,1,1", "1,0,2,4,0,2,1,2"}}};

static const char *look_up_gauss(const TesiMappedKernelDesc *d) {
  const int rows[] = {
      [TESI_MAPPED_STORED] = 0, [TESI_MAPPED_WEIGHTS] = d->cell_degree, [TESI_MAPPED_HALVES] = 3};
  if (d->dim != 3 || !d->stiffness || d->collocated || d->q != d->n || d->n > GAUSS_DEGREES + 1) return NULL;
  if (d->output == TESI_MAPPED_ELEMENT || (!reads_factors(d) && d->geometry != TESI_MAPPED_WEIGHTS))
    return NULL;
  return gauss[rows[d->geometry]][d->hanging][d->n - 2];
}

/* Cells per group: whole warps with as few idle lanes as possible, and not many more than `threads` threads. */
static int fill_warps(int lanes, int threads) {
  int best = 1;
  double fill = 0;
  for (int cells = 1; cells * lanes <= threads || cells == 1; cells++) {
    const int used = cells * lanes, full = (used + 31) / 32 * 32;
    if (used > fill * full * 1.02) {
      fill = (double)used / full;
      best = cells;
    }
  }
  return best;
}

/* The table's entry. Numbers that are not 0 in the other table or in
 * "cells,groups,warps,blocks,buffers,stage,ahead,gradients" of TESSERA_MAPPED_CUT replace its numbers (warps: 1 yes,
 * 2 no; stage: 1, 2, 3 for none, shared, L2; ahead and gradients: 1 no, 2 yes): for measurements. */
static Entry choose_entry(const TesiMappedKernelDesc *d, int *groups) {
  int given[8] = {0};
  const int lanes = d->dim == 2 ? d->q : d->q * d->q;
  const char *measured = getenv("TESSERA_MAPPED_CUT"), *text = measured ? measured : look_up_gauss(d);
  Entry e = look_up(d);
  if (text)
    sscanf(text, "%d,%d,%d,%d,%d,%d,%d,%d", given, given + 1, given + 2, given + 3, given + 4, given + 5,
           given + 6, given + 7);
  const bool ruled = e.blocks == 0 || given[0] || given[2];
  if (ruled) e = (Entry){.cells = (signed char)(lanes <= 32 ? 0 : fill_warps(lanes, 256)), .stage = 1};
  if (ruled && !reads_factors(d) && d->geometry != TESI_MAPPED_WEIGHTS) e.stage = 0;
  if (given[2] == 1 && lanes <= 32) e.cells = 0;
  if (given[2] == 2 && e.cells == 0) e.cells = (signed char)fill_warps(lanes, 256);
  if (given[0] && e.cells) e.cells = (signed char)given[0];
  if (d->dim == 2 && e.cells == 0) e.cells = (signed char)fill_warps(lanes, 128);
  *groups = e.cells ? 1 : given[1] ? given[1] : e.blocks ? e.blocks : 4;
  if (e.cells == 0 || ruled) e.blocks = 0;
  if (given[3]) e.blocks = (signed char)given[3];
  if (given[4]) e.buffers = (signed char)given[4];
  if (given[5]) e.stage = (signed char)(given[5] - 1);
  if (given[6]) e.ahead = (signed char)(given[6] - 1);
  if (given[7]) e.gradients = (signed char)(given[7] - 1);
  return e;
}

/* Shared memory of a block, without padding by pitches. */
static int block_bytes(const TesiMappedKernelDesc *d, const TesiMappedCut *cut) {
  const int layers = cut->gradients ? d->n : d->q;
  const int own =
      cut->cells * cut->buffers * layers * d->q * (d->q + 1) * (int)tesi_precision_size(d->precision);
  return cut->groups * (own + (cut->stage == 1 ? tesi_mapped_stage_bytes(d, cut) + 16 : 0));
}

static bool fits(const TesiMappedKernelDesc *d, const TesiMappedCut *cut) {
  const int bytes = block_bytes(d, cut);
  return bytes <= BLOCK_SHARED && cut->blocks * (bytes + RESERVED) <= MOST_SHARED;
}

/* Chooses the data that are staged in shared memory, in as many layers as fit. Blocks that stay for many cells must
 * all fit on a multiprocessor: fewer of them are used then, unless the cut gives their number. */
static void choose_stage(const TesiMappedKernelDesc *d, const Entry *e, TesiMappedCut *cut) {
  const bool stored = d->geometry == TESI_MAPPED_STORED,
             weights = d->geometry == TESI_MAPPED_WEIGHTS || d->geometry == TESI_MAPPED_HALVES;
  cut->stage = stored || weights || (d->geometry == TESI_MAPPED_VERTICES && e->stage == 1) ? e->stage : 0;
  if (cut->stage == 1 && !cut->ahead && !fits(d, cut) && (!e->blocks || block_bytes(d, cut) > BLOCK_SHARED))
    cut->stage = stored || weights ? 2 : 0;
  if (!cut->ahead) return;
  if (cut->stage == 2) cut->stage = 0;
  while (cut->stage && stored && cut->cells == 1 && !fits(d, cut) && (e->blocks || cut->blocks == 1))
    if (--cut->layers == 0) cut->stage = 0;
  while (!fits(d, cut) && cut->blocks > 1) cut->blocks--;
  if (!fits(d, cut)) cut->stage = 0;
}

/* Whether a thread takes a layer: stiffness at Gauss points of trilinear cells with so few lines that lanes would be
 * idle. Layers are 1.6 and 1.2 times as fast as lines at degrees 1 and 2, slower at 3. A cut that was asked for uses
 * lines. */
static bool wants_layers(const TesiMappedKernelDesc *d) {
  const char *given = getenv("TESSERA_MAPPED_CUT");
  return d->dim == 3 && d->geometry == TESI_MAPPED_VERTICES && d->stiffness && !d->collocated &&
         d->q == d->n + 1 && d->n <= 3 && !d->hanging && (!given || !*given);
}

/* As many registers as the numbers of a layer need to stay out of memory. */
static TesiMappedCut cut_layers(const TesiMappedKernelDesc *d) {
  TesiMappedCut cut = {.layered = 1, .warps = 1, .group = 32, .groups = 4, .buffers = 1};
  cut.cells = cut.group / d->q;
  cut.layers = d->q;
  cut.blocks = d->n == 2 ? 3 : 2;
  return cut;
}

/* Measured: 3 to 6 % faster for collocated stiffness of degrees 1 to 3; slower for mass, and where registers are
 * short. */
static bool wants_merging(const TesiMappedKernelDesc *d) {
  return d->collocated && d->stiffness && d->geometry == TESI_MAPPED_STORED && d->n <= 4 && !d->hanging &&
         d->output == TESI_MAPPED_ATOMIC;
}

/* Measured for collocated stiffness: faster by 1.6, 0 and 0.7 % at degrees 2 to 4. */
static bool wants_wide(const TesiMappedKernelDesc *d) {
  return d->collocated && d->stiffness && d->geometry == TESI_MAPPED_STORED && d->n >= 3 && d->n <= 5 &&
         !d->hanging && d->output == TESI_MAPPED_ATOMIC;
}

TesiMappedCut tesi_mapped_choose_cut(const TesiMappedKernelDesc *d) {
  if (wants_layers(d)) return cut_layers(d);
  const int lanes = d->dim == 2 ? d->q : d->q * d->q;
  TesiMappedCut cut = {.layers = d->q};
  const Entry e = choose_entry(d, &cut.groups);
  cut.warps = e.cells == 0;
  cut.cells = cut.warps ? 32 / lanes : e.cells;
  cut.group = (cut.cells * lanes + 31) / 32 * 32;
  cut.buffers = !d->stiffness || d->dim == 2 ? 1 : e.buffers > 1 ? e.buffers : d->q <= 10 ? 3 : 2;
  cut.blocks = 1;
  if (d->dim == 2) cut.blocks = tesi_max(1, 65536 / (tesi_min(255, 48 + 10 * d->q) * cut.group));
  if (d->dim == 2) return cut;
  cut.gradients = d->stiffness && !d->collocated && e.gradients;
  if (cut.gradients) cut.buffers = 3;
  cut.ahead = !d->ordered && !d->hanging && e.ahead;
  const int threads = cut.group * cut.groups, more = cut.ahead * d->n,
            registers = tesi_min(255, (d->stiffness ? 72 + 6 * d->q : 40 + 6 * d->q) + more);
  cut.blocks = e.blocks ? e.blocks : tesi_max(1, 65536 / (registers * threads));
  cut.index_once = reads_factors(d) && !d->ordered && d->stiffness &&
                   d->n <= 5; /* measured: a gain of 2 to 5 % for these, a loss for others */
  if (!d->ordered) choose_stage(d, &e, &cut);
  cut.merge = wants_merging(d);
  cut.wide = wants_wide(d);
  return cut;
}

/* Whether an index with one code per row is faster than the full index. Measured in one run on an H200: mass 1 to 8 %
 * faster at degrees 2 to 7, collocated stiffness 2, 5 and 2 % at 2 to 4. Elsewhere it is slower, since the codes cost
 * registers. */
bool tesi_mapped_wants_rows(const TesiMappedKernelDesc *d) {
  const int degree = d->n - 1;
  if (d->dim == 2 || d->output == TESI_MAPPED_ELEMENT || d->geometry != TESI_MAPPED_STORED) return false;
  return degree >= 2 && degree <= (!d->stiffness ? 7 : !d->collocated ? 0 : d->mass ? 2 : 4);
}
