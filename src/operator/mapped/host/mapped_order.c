/* Orders of cells: colours (no two cells of a colour share a node), and a space-filling curve. */
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"
#include "operator/mapped/mapped.h"

enum { MOST_COLOURS = 64 };

static int64_t decode(int32_t index) {
  return index < 0 ? ~index : index;
}

/* The lowest colour that no neighbour has; node masks say which colours the cells at a node have. */
static int colour_of(const int32_t *index, int64_t cell_nodes, uint64_t *mask) {
  uint64_t used = 0;
  int colour = 0;
  for (int64_t p = 0; p < cell_nodes; p++) used |= mask[decode(index[p])];
  while (colour < MOST_COLOURS && used >> colour & 1) colour++;
  for (int64_t p = 0; colour < MOST_COLOURS && p < cell_nodes; p++)
    mask[decode(index[p])] |= (uint64_t)1 << colour;
  return colour;
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

/* Those of order[0] .. order[count - 1] by directions, all of them first, else as they were; `work` [count]. */
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
  uint64_t *mask = NULL;
  unsigned char *colour = NULL;
  int64_t next[MOST_COLOURS + 1] = {0};
  *first = NULL, *order = NULL;
  TES_ALLOC(&mask, nodes);
  TES_ALLOC(&colour, cells);
  TES_ALLOC(order, cells);
  *colours = 0;
  for (int64_t c = 0; c < cells; c++) {
    const int own = index ? colour_of(index + c * cell_nodes, cell_nodes, mask) : 0;
    TES_CHECK(own < MOST_COLOURS, "cell %lld would need more than %d colours: too many cells share a node",
              (long long)c, MOST_COLOURS);
    colour[c] = (unsigned char)own;
    *colours = tesi_max(*colours, own + 1);
    next[own + 1]++;
  }
  TES_ALLOC(first, *colours + 1);
  for (int k = 0; k < *colours; k++) (*first)[k + 1] = next[k + 1] += next[k];
  for (int64_t c = 0; c < cells; c++) (*order)[next[colour[c]]++] = (int32_t)c;
done:
  tesi_free(ctx, &mask);
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

/* Position on the Hilbert curve of 2^bits cells a direction (Skilling, AIP Conf. Proc. 707 (2004) 381). */
static uint64_t hilbert(int dim, int bits, uint32_t x[3]) {
  for (uint32_t q = 1u << (bits - 1); q > 1; q >>= 1)
    for (int i = 0; i < dim; i++) {
      if (x[i] & q)
        x[0] ^= q - 1;
      else {
        const uint32_t t = (x[0] ^ x[i]) & (q - 1);
        x[0] ^= t, x[i] ^= t;
      }
    }
  for (int i = 1; i < dim; i++) x[i] ^= x[i - 1];
  uint32_t t = 0;
  for (uint32_t q = 1u << (bits - 1); q > 1; q >>= 1)
    if (x[dim - 1] & q) t ^= q - 1;
  uint64_t key = 0;
  for (int b = bits - 1; b >= 0; b--)
    for (int i = 0; i < dim; i++) key = key << 1 | ((x[i] ^ t) >> b & 1);
  return key;
}

/* Centre of a cell: the mean of its nodes, before a map (which bends the curve, no more). */
static void centre(const TesiGeometry *g, int64_t cell, double *x) {
  for (int r = 0; r < g->dim; r++) {
    x[r] = 0;
    for (int64_t p = 0; p < g->cell_nodes; p++) x[r] += g->nodes[(cell * g->cell_nodes + p) * g->dim + r];
    x[r] /= (double)g->cell_nodes;
  }
}

enum { BITS = 20 };

typedef struct Curve {
  const TesiGeometry *g;
  const double *low;
  double size;
  uint64_t *keys;
} Curve;

static void fill_keys(const void *data, TesiSpan span) {
  const Curve *curve = data;
  const TesiGeometry *g = curve->g;
  for (int64_t c = span.first; c < span.end; c++) {
    uint32_t at[3] = {0};
    double y[3];
    centre(g, c, y);
    for (int r = 0; r < g->dim && curve->size > 0; r++)
      at[r] = (uint32_t)((y[r] - curve->low[r]) / curve->size * ((1 << BITS) - 1));
    curve->keys[c] = hilbert(g->dim, BITS, at);
  }
}

TesStatus tesi_mapped_make_keys(const TesiMapped *m, uint64_t **keys) {
  const TesiGeometry *g = m->geometry;
  TesContext *ctx = g->context;
  TesStatus status = TES_OK;
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, x[3];
  TES_ALLOC(keys, m->cells);
  for (int64_t c = 0; c < m->cells; c++) {
    centre(g, c, x);
    for (int r = 0; r < g->dim; r++) low[r] = fmin(low[r], x[r]), high[r] = fmax(high[r], x[r]);
  }
  double size = 0;
  for (int r = 0; r < g->dim; r++) size = fmax(size, high[r] - low[r]);
  tesi_team_for(tesi_team_threads(ctx, 64 * m->cells), m->cells, fill_keys, &(Curve){g, low, size, *keys});
done:
  return status;
}
