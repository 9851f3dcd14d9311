#include "operator/separable/separable_cut.h"
#include <stdio.h>
#include <stdlib.h>

TesiSeparableCut tesi_separable_default_cut(int dim, int k, TesPrecision precision) {
  /* [precision][degree], the fastest of about ten on an H200: x, y, nodes, blocks, layers, joint, pad, in_place,
   * task_y */
  static const TesiSeparableCut cuts3[2][9] = {{{0},
                                                {30, 14, 2, 2, 32, 0, 1, 0, 0},
                                                {16, 6, 3, 3, 32, 0, 0, 0, 0},
                                                {10, 6, 2, 2, 32, 0, 0, 0, 0},
                                                {8, 3, 2, 2, 32, 1, 1, 0, 0},
                                                {4, 4, 3, 2, 32, 0, 0, 0, 0},
                                                {4, 4, 2, 1, 32, 0, 0, 1, 2},
                                                {2, 2, 2, 2, 32, 1, 1, 0, 1},
                                                {2, 4, 3, 1, 32, 1, 1, 1, 2}},
                                               {{0},
                                                {30, 14, 2, 2, 32, 0, 1, 0, 0},
                                                {16, 6, 3, 3, 32, 0, 0, 0, 0},
                                                {8, 4, 2, 4, 32, 0, 0, 0, 0},
                                                {8, 4, 3, 2, 32, 0, 0, 0, 0},
                                                {6, 4, 3, 1, 32, 0, 0, 0, 0},
                                                {4, 2, 2, 3, 32, 0, 0, 0, 0},
                                                {4, 2, 3, 2, 32, 0, 0, 0, 0},
                                                {2, 2, 2, 2, 32, 1, 1, 0, 1}}};
  if (dim == 3) return cuts3[precision][k];
  return (TesiSeparableCut){tesi_max(1, 32 / k), tesi_max(1, 16 / k), 1, 1, 1, 0, 0, 0, 0};
}

bool tesi_separable_is_tiled(const TesiSeparableCut *cut) {
  return cut->nodes == 0;
}

/* The padding that lets a row of `row` numbers continue in the bank after the end of a plane of `size` numbers. */
static int choose_skew(int size, int row, bool single) {
  const int banks = single ? 32 : 16;
  return ((row - size) % banks + banks) % banks;
}

bool tesi_separable_given_cut(TesiSeparableCut *cut) {
  const char *given = getenv("TESSERA_SEPARABLE_CUT");
  return given && sscanf(given, "%d,%d,%d,%d,%d,%d,%d,%d,%d", &cut->x, &cut->y, &cut->nodes, &cut->blocks,
                         &cut->layers, &cut->joint, &cut->pad, &cut->in_place, &cut->task_y) == 9;
}

static void describe_tiles(const TesOperator *op, const TesiSeparableCut cut, const char *tables,
                           TesiSeparableText *t) {
  const int k = op->space->degree, nx = cut.x * k + 1, ny = cut.y * k + 1, row_g = cut.x * (k + 1) | 1;
  const int plane_f = ny * (nx | 1), plane_g = ny * row_g + choose_skew(ny * row_g, nx, false);
  t->threads = (unsigned)((nx * ny + 31) / 32 * 32);
  t->shared = (size_t)(2 * k * (plane_f + plane_g)) * tesi_precision_size(op->precision);
  t->residual = 7;
  t->desc = (TesiProgramDesc){.file = "separable_tiles.cu",
                              .real = op->precision,
                              .macros = {{"DIM", 3},
                                         {"DEGREE", k},
                                         {"TILE_X", cut.x},
                                         {"TILE_Y", cut.y},
                                         {"THREADS", (int)t->threads},
                                         {"MIN_BLOCKS", cut.blocks},
                                         {"HALO", cut.pad},
                                         {"RESIDUAL", 0}},
                              .tables = tables};
}

bool tesi_separable_is_graded(const TesOperator *op) {
  bool graded = tesi_diffusion_of(op)->a == 0;
  for (int d = 0; d < op->space->dim; d++) graded = graded || !op->space->axis[d].uniform;
  return graded;
}

void tesi_separable_describe(const TesOperator *op, const TesiSeparableCut cut, const char *tables,
                             TesiSeparableText *t) {
  const TesSpace *space = op->space;
  const int k = space->degree, dim = space->dim, planes = dim == 3 ? k : 1, nx = (cut.x + 1) * k + 1,
            ny = (cut.y + 1) * k + 1, row_f = nx | cut.pad, row_g = cut.x * k | cut.pad;
  const bool single = op->precision == TES_SINGLE;
  bool natural = false;
  if (tesi_separable_is_tiled(&cut)) {
    describe_tiles(op, cut, tables, t);
    return;
  }
  for (int d = 0; d < dim; d++) {
    natural = natural || space->axis[d].end[0] != TESI_STRONG || space->axis[d].end[1] != TESI_STRONG;
  }
  const int skew = dim == 3 ? choose_skew(ny * (cut.in_place ? row_f : row_g), cut.x * k, single) : 0;
  t->threads = dim == 2 ? 256 /* threads take a block's nodes in turns */
                        : (unsigned)(((nx * ny + cut.nodes - 1) / cut.nodes + 31) / 32 * 32);
  t->shared = (size_t)(2 * planes * (ny * (row_f + (cut.in_place ? 0 : row_g)) + skew)) *
              tesi_precision_size(op->precision);
  const int task_y = cut.task_y ? cut.task_y : 2 - cut.y % 2;
  t->residual = 14;
  t->desc = (TesiProgramDesc){.file = "separable.cu",
                              .real = op->precision,
                              .macros = {{"DIM", dim},
                                         {"DEGREE", k},
                                         {"TILE_X", cut.x},
                                         {"TILE_Y", cut.y},
                                         {"NODES", cut.nodes},
                                         {"THREADS", (int)t->threads},
                                         {"MIN_BLOCKS", cut.blocks},
                                         {"GRADED", tesi_separable_is_graded(op)},
                                         {"NATURAL", natural},
                                         {"JOINT", cut.joint},
                                         {"PAD", cut.pad},
                                         {"IN_PLACE", cut.in_place},
                                         {"TASK_Y", task_y},
                                         {"SKEW", skew},
                                         {"RESIDUAL", 0}},
                              .tables = tables};
}

/* Candidates: the default, larger and smaller blocks, each with the x-stage in place and not, and blocks without a
 * halo in y at degrees where these were the fastest. Small blocks are for small boxes, which need many of them. */
int tesi_separable_list_cuts(int k, TesPrecision precision, TesiSeparableCut cuts[TESI_TUNING_CANDIDATES]) {
  static const TesiSeparableCut others[] = {{4, 4, 3, 1, 32, 1, 1, 1, 2}, {2, 4, 3, 1, 32, 1, 1, 1, 2},
                                            {3, 4, 3, 1, 32, 1, 1, 1, 2}, {4, 4, 4, 1, 32, 1, 1, 1, 2},
                                            {2, 4, 3, 2, 32, 1, 1, 1, 1}, {4, 4, 2, 1, 32, 0, 0, 1, 2},
                                            {2, 2, 2, 2, 32, 1, 1, 1, 1}, {2, 2, 2, 2, 32, 1, 1, 0, 1}};
  static const TesiSeparableCut tiled[2][2] = {{{9, 1, 0, 1, 0, 0, 1, 0, 0}, {5, 1, 0, 2, 0, 0, 1, 0, 0}},
                                               {{6, 1, 0, 1, 0, 0, 1, 0, 0}, {6, 1, 0, 1, 0, 0, 0, 0, 0}}};
  const int size = precision == TES_SINGLE ? 4 : 8;
  int count = 1;
  cuts[0] = tesi_separable_default_cut(3, k, precision);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const TesiSeparableCut *c = &others[i];
    const int nx = (c->x + 1) * k + 1, ny = (c->y + 1) * k + 1;
    const int shared = 2 * k * ny * (nx + (c->in_place ? 0 : c->x * k)) * size;
    if (shared < 222 << 10 && nx * ny / c->nodes >= 32 && nx * ny / c->nodes <= 992) cuts[count++] = *c;
  }
  for (int i = 0; i < 2 && k >= 7 && precision == TES_DOUBLE; i++) cuts[count++] = tiled[k - 7][i];
  return count;
}

/* Equal cells, Dirichlet faces. */
bool tesi_separable_is_plain(const TesOperator *op) {
  bool plain = op->space->dim == 3 && tesi_diffusion_of(op)->a != 0;
  for (int d = 0; d < op->space->dim; d++) {
    const TesiAxis *axis = &op->space->axis[d];
    plain = plain && axis->uniform && axis->end[0] == TESI_STRONG && axis->end[1] == TESI_STRONG;
  }
  return plain;
}
