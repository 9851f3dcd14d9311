/* Finds lines: stretched cells that share a face across their strong direction. */
#include "smoother/line_patch/line_patch.h"

/* A cell is in a line if it is coupled so many times more strongly along the line: it is twice as long across. */
static const double STRONG = 4;

int tesi_strong_direction(const TesiCellPatches *p, int64_t cell, double *ratio) {
  const double *g = p->g[cell];
  int strong = 0;
  double next = 0;
  for (int d = 1; d < p->m->dim; d++)
    if (g[d] > g[strong]) strong = d;
  for (int d = 0; d < p->m->dim; d++)
    if (d != strong && g[d] > next) next = g[d];
  *ratio = next > 0 ? g[strong] / next : 1;
  return strong;
}

bool tesi_is_in_line(const TesiCellPatches *p, int64_t cell) {
  double ratio;
  tesi_strong_direction(p, cell, &ratio);
  return ratio >= STRONG;
}

int tesi_line_node(const TesiMapped *m, const TesiLineCell *c, const int i[3]) {
  const int n = m->n, step[3] = {1, n, n * n};
  int at = 0;
  for (int t = 0; t < m->dim; t++) at += (c->flip[t] ? n - 1 - i[t] : i[t]) * step[c->axis[t]];
  return at;
}

int64_t tesi_line_place(const TesiCellPatches *p, const TesiLineCell *line, int64_t length, int64_t row) {
  const TesiMapped *m = p->m;
  const int n = m->n, k = n - 1, modes = (int)m->cell_nodes / n, across = (int)(row % modes);
  const int64_t position = row / modes, last = position / k;
  for (int64_t at = last; at >= 0 && at * k + k >= position;
       at--) { /* one cell, or two cells at the same position */
    if (at == length) continue;
    const int i[3] = {(int)(position - at * k), across % n, across / n};
    const int node = tesi_line_node(m, line + at, i);
    if (tesi_cell_patch_has(m, line[at].cell, node)) return m->index[line[at].cell * m->cell_nodes + node];
  }
  return -1;
}

void tesi_line_ends(const TesiCellPatches *p, const TesiLineCell *c, int t, uint8_t end[2]) {
  for (int s = 0; s < 2; s++) end[s] = p->end[c->cell][c->axis[t]][s ^ c->flip[t]];
}

/* The cell's vertex at bits of the line's directions. */
static uint64_t corner(const TesiMapped *m, const TesiLineCell *c, const int bit[3]) {
  int v = 0;
  for (int t = 0; t < m->dim; t++) v |= (bit[t] ^ c->flip[t]) << c->axis[t];
  return tesi_cell_patch_vertex_key(m, NULL, c->cell, v);
}

/* Whether the side `forward` of `a` is the opposite side of b, node by node. */
static bool faces_agree(const TesiMapped *m, const TesiLineCell *a, const TesiLineCell *b, int forward) {
  for (int v = 0; v < 1 << (m->dim - 1); v++) {
    const int of_a[3] = {forward, v & 1, v >> 1}, of_b[3] = {!forward, v & 1, v >> 1};
    if (corner(m, a, of_a) != corner(m, b, of_b)) return false;
  }
  return true;
}

static bool same_sides_are_gone(const TesiCellPatches *p, const TesiLineCell *a, const TesiLineCell *b) {
  for (int t = 1; t < p->m->dim; t++) {
    uint8_t of_a[2], of_b[2];
    tesi_line_ends(p, a, t, of_a), tesi_line_ends(p, b, t, of_b);
    for (int s = 0; s < 2; s++)
      if ((of_a[s] == TESI_END_GONE) != (of_b[s] == TESI_END_GONE)) return false;
  }
  return true;
}

/* *b <- the next cell of the line after a (forward), or before it. */
static bool find_next(const TesiCellPatches *p, const TesiLineCell *a, int forward, TesiLineCell *b) {
  const TesiMapped *m = p->m;
  const TesiAcross to = p->across[a->cell][a->axis[0]][forward ^ a->flip[0]];
  double ratio;
  if (to.cell < 0 || tesi_strong_direction(p, to.cell, &ratio) != to.face / 2 || ratio < STRONG) return false;
  for (int turn = 0; turn < 8; turn++) {
    const int along = to.face / 2, u = (along + 1) % m->dim, v = (along + 2) % m->dim;
    if (m->dim == 2 && turn > 1) break;
    *b = (TesiLineCell){
        .cell = to.cell, .axis = {(int8_t)along}, .flip = {(int8_t)(forward ? to.face & 1 : !(to.face & 1))}};
    b->axis[1] = (int8_t)(turn & 4 ? v : u), b->flip[1] = turn & 1;
    b->axis[2] = (int8_t)(m->dim == 2 ? 2 : turn & 4 ? u : v), b->flip[2] = turn >> 1 & 1;
    if (faces_agree(m, a, b, forward)) return same_sides_are_gone(p, a, b);
  }
  return false;
}

/* Whether there are cells beyond the end of a line that are smaller or belong to another rank. */
static bool is_cut(const TesiCellPatches *p, const TesiLineCell *end, int forward) {
  const int axis = end->axis[0], side = forward ^ end->flip[0];
  return p->across[end->cell][axis][side].cell < 0 && p->end[end->cell][axis][side] >= TESI_END_RATIO;
}

/* The first cell of the line that contains a cell; for a closed line the cell itself. */
static TesiLineCell find_first(const TesiCellPatches *p, TesiLineCell cell) {
  TesiLineCell first = cell, before;
  while (find_next(p, &first, 0, &before)) {
    if (before.cell == cell.cell) return cell;
    first = before;
  }
  return first;
}

TesStatus tesi_lines_find(const TesiCellPatches *p, TesiLines *lines) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int64_t cells = p->m->cells;
  int64_t at = 0;
  bool *taken = NULL;
  TES_ALLOC(&lines->first, cells + 1);
  TES_ALLOC(&lines->cell, cells);
  TES_ALLOC(&taken, cells);
  for (int64_t c = 0; c < cells; c++) {
    double ratio;
    const int strong = tesi_strong_direction(p, c, &ratio);
    if (taken[c]) continue;
    TesiLineCell next = {.cell = (int32_t)c, .axis = {(int8_t)strong}};
    for (int t = 1; t < 3; t++) next.axis[t] = (int8_t)(t < p->m->dim ? (strong + t) % p->m->dim : t);
    if (ratio >= STRONG) next = find_first(p, next);
    bool more = true;
    while (more && !taken[next.cell]) {
      taken[next.cell] = true;
      lines->cell[at++] = next;
      const TesiLineCell last = next;
      more = ratio >= STRONG && find_next(p, &last, 1, &next);
    }
    const TesiLineCell *first = lines->cell + lines->first[lines->count], *last = lines->cell + at - 1;
    if (ratio >= STRONG && (is_cut(p, first, 0) || is_cut(p, last, 1))) lines->cut = true;
    lines->first[++lines->count] = at;
  }
done:
  tesi_free(ctx, &taken);
  return status;
}

void tesi_lines_release(TesContext *ctx, TesiLines *lines) {
  tesi_free(ctx, &lines->first);
  tesi_free(ctx, &lines->cell);
}
