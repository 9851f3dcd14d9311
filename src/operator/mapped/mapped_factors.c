/* The factors of geometry and coefficient at quadrature points, cell by cell: G = w |J| J^-1 a J^-T and c w |J|, or
 * what they are multiplied with. */
#include <omp.h>
#include <string.h>
#include "operator/mapped/mapped_fill.h"

/* g NULL: they are only checked. */
static TesStatus fill(const TesiMapped *m, int q, const double *point, const double *weight,
                      bool weights_only, int64_t first, int64_t count, double *g) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  const int threads = tes_context_threads(ctx);
  TesiFill f = {0};
  double *work = NULL;
  int64_t bad = INT64_MAX;
  TES_TRY(tesi_fill_create(m, q, point, weight, weights_only, &f));
  const int64_t size = f.numbers * f.points, share = f.work + size * TESI_LANES;
  TES_ALLOC(&work, threads * share);
#pragma omp parallel for schedule(static) reduction(min : bad) num_threads(threads)
  for (int64_t c = 0; c < count; c += TESI_LANES) {
    const int cells = (int)tesi_min64(TESI_LANES, count - c);
    double *own = work + omp_get_thread_num() * share, *out = own + f.work;
    int32_t cell[TESI_LANES];
    for (int l = 0; l < TESI_LANES; l++) cell[l] = (int32_t)(first + c + (l < cells ? l : 0));
    bad = tesi_fill_worst(bad, tesi_fill_cells(&f, cell, own, out), cell);
    if (g) tesi_lanes_spread(size, out, cells, size, g + c * size);
  }
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
