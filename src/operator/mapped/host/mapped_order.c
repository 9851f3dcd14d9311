/* Orders of cells: colours (no two cells of a colour share a node), and a space-filling curve. */
#include <string.h>
#include "base/colours.h"
#include "base/hilbert.h"
#include "base/integer.h"
#include "base/team.h"
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"
#include "operator/mapped/mapped.h"

static int64_t decode(int32_t index) {
  return index < 0 ? ~index : index;
}

unsigned tesi_mapped_directions(const TesiMapped *m, int64_t cell) {
  const unsigned mask = m->mask ? m->mask[cell] : 0;
  unsigned directions = 0;
  for (int d = 0; d < m->dim; d++) { /* the faces along d, its edge */
    const unsigned faces =
        (TES_MASK_FACE_X | TES_MASK_FACE_Y | TES_MASK_FACE_Z) & ~((unsigned)TES_MASK_FACE_X << d);
    if (mask & (faces | (unsigned)TES_MASK_EDGE_X << d)) directions |= 1u << d;
  }
  return directions;
}

/* to[count]: from[count] by directions, cells with all directions first; otherwise the order stays. from NULL: first,
 * first + 1, ... */
static void group_directions(const TesiMapped *m, int64_t count, int64_t first, const int32_t *from,
                             int32_t *to) {
  int64_t at[9] = {0};
  for (int64_t i = 0; i < count; i++) at[8 - tesi_mapped_directions(m, from ? from[i] : first + i)]++;
  for (int k = 1; k < 9; k++) at[k] += at[k - 1];
  for (int64_t i = 0; i < count; i++) {
    const int64_t cell = from ? from[i] : first + i;
    to[at[7 - tesi_mapped_directions(m, cell)]++] = (int32_t)cell;
  }
}

typedef struct Windows {
  const TesiMapped *m;
  int64_t window;
  int32_t *order;
} Windows;

static void group_windows(const void *data, TesiSpan span) {
  const Windows *w = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const int64_t first = i * w->window;
    group_directions(w->m, tesi_min64(w->m->cells - first, w->window), first, NULL, w->order + first);
  }
}

TesStatus tesi_mapped_group_hanging(const TesiMapped *m, int64_t window, int32_t **order) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  TES_ALLOC(order, m->cells);
  tesi_team_for(tesi_team_threads(ctx, 16 * m->cells), (m->cells + window - 1) / window, group_windows,
                &(Windows){m, window, *order});
done:
  return status;
}

TesStatus tesi_colour_cells(TesContext *ctx, int64_t cells, int64_t cell_nodes, const int32_t *index,
                            int64_t nodes, int *colours, int64_t **first, int32_t **order) {
  TesStatus status = TES_OK;
  TesiColouring c = {0};
  int32_t *colour = NULL;
  *first = NULL, *order = NULL;
  TES_ALLOC(&colour, cells);
  TES_TRY(tesi_colouring_begin(ctx, nodes, &c));
  for (int64_t k = 0; index && k < cells; k++) {
    const int32_t *own = index + k * cell_nodes;
    for (int64_t p = 0; p < cell_nodes; p++) tesi_colouring_meet(&c, decode(own[p]));
    TES_TRY(tesi_colouring_choose(&c, &colour[k]));
    for (int64_t p = 0; p < cell_nodes; p++) tesi_colouring_mark(&c, decode(own[p]), colour[k]);
  }
  *colours = index ? c.colours : cells > 0;
  TES_TRY(tesi_colours_sort(ctx, cells, *colours, colour, first, order));
done:
  tesi_colouring_end(&c);
  tesi_free(ctx, &colour);
  if (status != TES_OK) {
    tesi_free(ctx, first);
    tesi_free(ctx, order);
  }
  return status;
}

TesStatus tesi_mapped_make_colours(const TesiMapped *m, int *colours, int64_t **first, int32_t **order) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  int32_t *work = NULL;
  TES_TRY(tesi_colour_cells(ctx, m->cells, m->cell_nodes, m->global ? m->index : NULL,
                            m->global ? m->nodes : 1, colours, first, order));
  TES_ALLOC(&work, m->cells);
  if (m->mask) {
    for (int k = 0; k < *colours; k++)
      group_directions(m, (*first)[k + 1] - (*first)[k], 0, *order + (*first)[k], work + (*first)[k]);
    memcpy(*order, work, (size_t)m->cells * sizeof **order);
  }
done:
  tesi_free(ctx, &work);
  if (status != TES_OK) {
    tesi_free(ctx, first);
    tesi_free(ctx, order);
  }
  return status;
}

/* Centre of a cell: the mean of its nodes, before a map is applied (a map only bends the curve). */
static void centre(const TesiGeometry *g, int64_t cell, double *x) {
  for (int r = 0; r < g->dim; r++) {
    x[r] = 0;
    for (int64_t p = 0; p < g->cell_nodes; p++) x[r] += g->nodes[(cell * g->cell_nodes + p) * g->dim + r];
    x[r] /= (double)g->cell_nodes;
  }
}

typedef struct Curve {
  const TesiGeometry *g;
  TesiHilbert curve;
  double *x; /* [cells][dim] centres */
  uint64_t *keys;
} Curve;

static void find_centres(const void *data, TesiSpan span) {
  const Curve *of = data;
  for (int64_t c = span.first; c < span.end; c++) centre(of->g, c, of->x + c * of->g->dim);
}

static void fill_keys(const void *data, TesiSpan span) {
  const Curve *of = data;
  for (int64_t c = span.first; c < span.end; c++)
    of->keys[c] = tesi_hilbert_key(&of->curve, of->x + c * of->g->dim);
}

TesStatus tesi_mapped_make_keys(const TesiMapped *m, uint64_t **keys) {
  Curve of = {.g = m->geometry};
  TesContext *ctx = of.g->context;
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, 64 * m->cells);
  TES_ALLOC(keys, m->cells);
  TES_ALLOC(&of.x, m->cells * m->dim);
  tesi_team_for(threads, m->cells, find_centres, &of);
  of.curve = tesi_hilbert_around(m->dim, m->cells, of.x, m->dim);
  of.keys = *keys;
  tesi_team_for(threads, m->cells, fill_keys, &of);
done:
  tesi_free(ctx, &of.x);
  return status;
}
