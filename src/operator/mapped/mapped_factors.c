/* The factors of geometry and coefficient at quadrature points, cell by cell: G = w |J| J^-1 a J^-T and c w |J|, or
 * the weights from which kernels compute them. */
#include <string.h>
#include "base/integer.h"
#include "base/work.h"
#include "operator/mapped/mapped_fill.h"

typedef struct Cells {
  const TesiFill *fill;
  int64_t first, count, share, *bad;
  double *work, *g; /* [threads][share], [count][numbers][points] */
} Cells;

/* Groups of TESI_LANES cells. */
static void fill_groups(const void *data, TesiSpan span) {
  const Cells *f = data;
  const int64_t size = f->fill->numbers * f->fill->points;
  double *own = f->work + span.thread * f->share, *out = own + f->fill->work;
  int64_t bad = INT64_MAX;
  for (int64_t c = span.first * TESI_LANES; c < tesi_min64(span.end * TESI_LANES, f->count); c += TESI_LANES) {
    const int cells = (int)tesi_min64(TESI_LANES, f->count - c);
    int32_t cell[TESI_LANES];
    for (int l = 0; l < TESI_LANES; l++) cell[l] = (int32_t)(f->first + c + (l < cells ? l : 0));
    bad = tesi_fill_worst(bad, tesi_fill_cells(f->fill, cell, own, out), cell);
    if (f->g) tesi_lanes_spread(size, out, cells, size, f->g + c * size);
  }
  tesi_team_least(f->bad, bad);
}

/* g NULL: the factors are only checked. */
static TesStatus fill(const TesiMapped *m, int q, const double *point, const double *weight,
                      bool weights_only, int64_t first, int64_t count, double *g) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, count * m->cell_points);
  TesiFill f = {0};
  double *work = NULL;
  int64_t bad = INT64_MAX;
  TES_TRY(tesi_fill_create(m, q, point, weight, weights_only, &f));
  const int64_t share = f.work + f.numbers * f.points * TESI_LANES;
  TES_ALLOC(&work, threads * share);
  TES_TRY(tesi_work_for(ctx, threads, (count + TESI_LANES - 1) / TESI_LANES, fill_groups,
                        &(Cells){&f, first, count, share, &bad, work, g}));
  TES_TRY(tesi_fill_tell(&f, bad));
done:
  tesi_fill_destroy(&f);
  tesi_free(ctx, &work);
  return status;
}

TesStatus tesi_mapped_fill_factors(const TesiMapped *m, int64_t first, int64_t count, double *g) {
  return fill(m, m->q, m->point, m->weight, false, first, count, g);
}

TesStatus tesi_mapped_fill_weights(const TesiMapped *m, int64_t first, int64_t count, double *g) {
  return fill(m, m->q, m->point, m->weight, true, first, count, g);
}

TesStatus tesi_mapped_fill_affine(const TesiMapped *m, int64_t first, int64_t count, double *g) {
  const double middle = 0.5;
  return fill(m, 1, &middle, NULL, false, first, count, g);
}

TesStatus tesi_mapped_check(const TesiMapped *m) {
  return fill(m, m->q, m->point, m->weight, m->stiffness, 0, m->cells, NULL);
}

TesStatus tesi_mapped_fill_vertices(const TesiMapped *m, int64_t first, int64_t count, double *x) {
  const int64_t size = (int64_t)m->dim << m->dim;
  memcpy(x, m->geometry->nodes + first * size, (size_t)(count * size) * sizeof *x);
  return TES_OK;
}
