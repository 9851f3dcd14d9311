#include "operator/wide_blocks.h"

/* In a ring a part above may also be the part below, and a wide box that is all of the ring has the layers of a part in
 * two runs. */
enum { RUNS = 4 };

/* Layers that follow each other in two vectors. */
typedef struct Run {
  int64_t from, to, count;
} Run;
typedef struct Runs {
  int count;
  Run run[RUNS];
} Runs;

/* ---- directions ---------------------------------------------------------------------------------------- */

TesStatus tesi_wide_line_create(const TesMesh *mesh, int d, TesiReach reach, TesiWideLine *line) {
  const TesiWindow *w = &mesh->window[d];
  *line = (TesiWideLine){.cells = w->cells,
                         .parts = w->parts,
                         .part = w->part,
                         .ring = mesh->box_periodic[d],
                         .layers = tesi_min(reach.layers[d], w->cells),
                         .step = tesi_max(reach.step, 2)};
  return tesi_mesh_gather_parts(mesh, d, &line->first);
}

static int64_t modulo(int64_t i, int64_t n) {
  return (i % n + n) % n;
}

TesiWideWindow tesi_wide_part(const TesiWideLine *line, int part) {
  return (TesiWideWindow){line->first[part], line->first[part + 1]};
}

TesiWideWindow tesi_wide_window(const TesiWideLine *line, int part) {
  int first = line->first[part] - line->layers, end = line->first[part + 1] + line->layers;
  if (!line->ring) first = tesi_max(first, 0), end = tesi_min(end, line->cells);
  first -= (int)modulo(first, line->step);
  const bool round = line->ring && end - first >= line->cells;
  return round ? (TesiWideWindow){0, line->cells} : (TesiWideWindow){first, end};
}

bool tesi_wide_is_round(const TesiWideLine *line, TesiWideWindow wide) {
  return line->ring && wide.end - wide.first == line->cells;
}

/* A direction of a piece. */
typedef struct Layers {
  const TesiWideLine *line;
  bool nodes;
  int step;
} Layers;

static Layers layers_of(const TesiWidePiece *piece, const TesiWideLine line[3], int d) {
  return (Layers){&line[d], piece->nodes[d], piece->step[d]};
}

/* A ring has as many layers as cells times step; an open box has the layer of its last node too. */
static int64_t count_layers(Layers l, TesiWideWindow w) {
  return (int64_t)(w.end - w.first) * l.step + (l.nodes && !tesi_wide_is_round(l.line, w));
}

/* The number of layer i of a window in the whole box. */
static int64_t number_of(Layers l, TesiWideWindow w, int64_t i) {
  const int64_t number = (int64_t)w.first * l.step + i;
  return l.line->ring ? modulo(number, (int64_t)l.line->cells * l.step) : number;
}

/* The place of a layer of the whole box in a window; -1: it is not there. */
static int64_t place_of(Layers l, TesiWideWindow w, int64_t number) {
  const int64_t i = number - (int64_t)w.first * l.step,
                place = l.line->ring ? modulo(i, (int64_t)l.line->cells * l.step) : i;
  return place >= 0 && place < count_layers(l, w) ? place : -1;
}

/* The lower part owns the nodes on a cut; at the seam of a ring the first one does. */
static bool owns(Layers l, TesiWideWindow w, int64_t number) {
  const int64_t first = (int64_t)w.first * l.step, end = (int64_t)w.end * l.step;
  return l.nodes ? (number > first && number <= end) || (number == 0 && first == 0)
                 : number >= first && number < end;
}

static void add_layer(Runs *runs, int64_t from, int64_t to) {
  Run *last = runs->count ? &runs->run[runs->count - 1] : NULL;
  if (last && from == last->from + last->count && to == last->to + last->count)
    last->count++;
  else if (runs->count < RUNS)
    runs->run[runs->count++] = (Run){from, to, 1};
}

/* The layers that the wide box of part `to` needs of part `from`, from the wide box there. */
static Runs needed_layers(Layers l, int from, int to) {
  const TesiWideWindow wide = tesi_wide_window(l.line, to), there = tesi_wide_window(l.line, from),
                       other = tesi_wide_part(l.line, from);
  Runs runs = {0};
  for (int64_t i = 0; i < count_layers(l, wide); i++) {
    const int64_t number = number_of(l, wide, i);
    if (owns(l, other, number)) add_layer(&runs, place_of(l, there, number), i);
  }
  return runs;
}

/* ---- products ------------------------------------------------------------------------------------------ */

/* nodes: layers of both vectors by direction. */
static void add_product(const Runs runs[3], int64_t nodes[3][2], int64_t from_at, int64_t to_at,
                        TesiMoveList *blocks) {
  for (int r = 0; r < runs[2].count * runs[1].count * runs[0].count; r++) {
    const Run *x = &runs[0].run[r % runs[0].count], *y = &runs[1].run[r / runs[0].count % runs[1].count],
              *z = &runs[2].run[r / runs[0].count / runs[1].count];
    for (int64_t k = 0; k < z->count; k++)
      for (int64_t j = 0; j < y->count; j++)
        tesi_move_add(blocks, from_at + ((z->from + k) * nodes[1][0] + y->from + j) * nodes[0][0] + x->from,
                      to_at + ((z->to + k) * nodes[1][1] + y->to + j) * nodes[0][1] + x->to, x->count);
  }
}

int64_t tesi_wide_length(const TesiWidePiece *piece, const TesiWideLine line[3]) {
  int64_t length = 1;
  for (int d = 0; d < 3; d++)
    length *= count_layers(layers_of(piece, line, d), tesi_wide_window(&line[d], line[d].part));
  return length;
}

/* A part that is cut from a ring has its last layer, which is the first one of the next part. */
void tesi_wide_add_own(const TesiWidePiece *piece, const TesiWideLine line[3], TesiMoveList *blocks) {
  Runs runs[3] = {{0}};
  int64_t nodes[3][2];
  for (int d = 0; d < 3; d++) {
    const Layers l = layers_of(piece, line, d);
    const TesiWideWindow own = tesi_wide_part(&line[d], line[d].part),
                         wide = tesi_wide_window(&line[d], line[d].part);
    nodes[d][0] = count_layers(l, own), nodes[d][1] = count_layers(l, wide);
    for (int64_t i = 0; i < nodes[d][0]; i++) add_layer(&runs[d], i, place_of(l, wide, number_of(l, own, i)));
  }
  add_product(runs, nodes, piece->at, piece->wide_at, blocks);
}

void tesi_wide_add_needed(const TesiWidePiece *piece, const TesiWideLine line[3], const int from[3],
                          const int to[3], int64_t at, TesiMoveList *blocks) {
  Runs runs[3];
  int64_t nodes[3][2];
  for (int d = 0; d < 3; d++) {
    const Layers l = layers_of(piece, line, d);
    runs[d] = needed_layers(l, from[d], to[d]);
    nodes[d][0] = count_layers(l, tesi_wide_window(&line[d], from[d]));
    nodes[d][1] = count_layers(l, tesi_wide_window(&line[d], to[d]));
  }
  add_product(runs, nodes, at, at, blocks);
}
