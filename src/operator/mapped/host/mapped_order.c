/* Orders of cells: colours (no two cells of a colour share a node), and a space-filling curve. */
#include <string.h>
#include "base/colours.h"
#include "base/hilbert.h"
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

/* Sorts order[0] .. order[count - 1] by directions: cells with all directions first; otherwise the order stays.
 * `work` [count]. */
static void group_directions(const TesiMapped *m, int64_t count, int32_t *order, int32_t *work) {
  int64_t at = 0;
  for (int directions = 7; directions >= 0; directions--)
    for (int64_t i = 0; i < count; i++)
      if (tesi_mapped_directions(m, order[i]) == (unsigned)directions) work[at++] = order[i];
  memcpy(order, work, (size_t)count * sizeof *order);
}

TesStatus tesi_mapped_group_hanging(const TesiMapped *m, int64_t window, int32_t **order) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  int32_t *work = NULL;
  TES_ALLOC(&work, window);
  TES_ALLOC(order, m->cells);
  for (int64_t c = 0; c < m->cells; c++) (*order)[c] = (int32_t)c;
  for (int64_t first = 0; first < m->cells; first += window)
    group_directions(m, m->cells - first < window ? m->cells - first : window, *order + first, work);
done:
  tesi_free(ctx, &work);
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
  for (int k = 0; m->mask && k < *colours; k++)
    group_directions(m, (*first)[k + 1] - (*first)[k], *order + (*first)[k], work);
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
