/* Transfers between Raviart-Thomas spaces: the embedding of nodes and of modes in each direction, and their
 * transposes. */
#include <string.h>
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "device/kernel.h"
#include "transfer/rt/transfer_rt.h"

enum { N = TESI_MAX_POINTS };

typedef TesiTransferRt Plan;

static const char *refuses(const TesTransferDesc *desc) {
  const TesSpace *coarse = desc->coarse, *fine = desc->fine;
  if (!coarse || !fine || coarse->element->nodal || coarse->element != fine->element)
    return "both spaces have to be of element rt, or dg";
  if (coarse->dim != fine->dim || coarse->degree != fine->degree) return "degree or dimension differ";
  for (int d = 0; d < fine->dim; d++) {
    const int nc = tesi_modal(coarse, d)->cells, nf = tesi_modal(fine, d)->cells;
    if (nf != nc && nf / 2 != nc && (nf + 1) / 2 != nc)
      return "a direction has neither as many nor half as many coarse cells";
  }
  return NULL;
}

/* The coarse cell that holds fine cell f. */
static int parent(const TesiAxis *coarse, const TesiAxis *fine, int f) {
  return fine->cells == coarse->cells ? f : tesi_min(f / 2, coarse->cells - 1);
}

/* Values of the coarse nodal polynomials at the fine nodes. Values of the size of round-off are set to zero. */
static void embed_nodes(const TesiAxis *coarse, const TesiAxis *fine, TesiBand *up) {
  const int n = fine->step, p = n + 1;
  double nodes[N], points[N], B[N * N];
  tesi_gauss_lobatto(p, nodes, NULL);
  for (int f = 0; f < fine->cells; f++) {
    const int c = parent(coarse, fine, f);
    const bool last = f == fine->cells - 1 && !fine->periodic;
    for (int i = 0; i < p; i++)
      points[i] =
          (fine->vertices[f] + nodes[i] * (fine->vertices[f + 1] - fine->vertices[f]) - coarse->vertices[c]) /
          (coarse->vertices[c + 1] - coarse->vertices[c]);
    tesi_lagrange(p, nodes, p, points, B, NULL);
    for (int i = 0; i < n + last; i++) {
      const int row = tesi_axis_node(fine, f, i);
      up->first[row] = c * n;
      for (int j = 0; j < p; j++)
        if (B[i * p + j] > 1e-13 || B[i * p + j] < -1e-13)
          tesi_band_add(up, row, tesi_axis_node(coarse, c, j), B[i * p + j]);
    }
  }
}

/* Entry (fine mode, coarse mode) over a fine cell. */
static void embed_modes(const TesiAxis *coarse, const TesiAxis *fine, TesiBand *up) {
  const int n = fine->step;
  double points[N], weights[N], l[N], L[N];
  tesi_gauss(n, points, weights);
  for (int f = 0; f < fine->cells; f++) {
    const int c = parent(coarse, fine, f);
    for (int g = 0; g < n; g++) {
      const double x = fine->vertices[f] + points[g] * (fine->vertices[f + 1] - fine->vertices[f]);
      tesi_rt_legendre(n, fine->h[f], points[g], l, NULL);
      tesi_rt_legendre(n, coarse->h[c],
                       (x - coarse->vertices[c]) / (coarse->vertices[c + 1] - coarse->vertices[c]), L, NULL);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          up->first[f * n + i] = c * n;
          tesi_band_add(up, f * n + i, c * n + j, weights[g] * fine->h[f] * l[i] * L[j]);
        }
    }
  }
}

static TesStatus fill(TesContext *ctx, const TesiAxis *coarse, const TesiAxis *fine, TesiBand *up,
                      TesiBand *down) {
  TesStatus status = TES_OK;
  const bool nodes = fine->basis == TESI_NODES;
  const int n = fine->step;
  TES_TRY(tesi_band_create(ctx, fine->nodes, coarse->nodes, n + nodes, up));
  (nodes ? embed_nodes : embed_modes)(coarse, fine, up);
  TES_TRY(tesi_band_transpose(ctx, up, nodes ? 6 * n + 1 : 3 * n, down));
  if (tesi_axis_first(coarse) > 0) tesi_band_clear(down, 0);
  if (tesi_axis_end(coarse) < coarse->nodes) tesi_band_clear(down, coarse->nodes - 1);
  tesi_band_finish(up);
  tesi_band_finish(down);
done:
  return status;
}

/* to <- keep to + (a band in each direction) from, for a vector of the scalar. */
static void products(const TesTransfer *t, const TesiBand band[3][2], const TesSpace *scalar,
                     const void *from, bool keep, void *to) {
  const Plan *plan = t->plan;
  const int dim = t->fine->dim;
  int now[3] = TESI_EXTENT(scalar);
  for (int d = 0; d < dim; d++) {
    TesiBandProduct p = {.band = &band[d][scalar->axis[d].basis], .outer = 1, .inner = 1, .factor = 1};
    for (int e = 0; e < d; e++) p.inner *= now[e];
    for (int e = d + 1; e < 3; e++) p.outer *= now[e];
    p.keep = keep && d == dim - 1;
    void *const target = d == dim - 1 ? to : plan->work[d % 2];
    tesi_band_product(t->context, &p, t->precision == TES_SINGLE, from, target);
    from = target;
    now[d] = p.band->rows;
  }
}

static void *at(const TesTransfer *t, const void *v, int64_t entry) {
  return (char *)v + entry * (int64_t)tesi_precision_size(t->precision);
}

static TesStatus prolongate(const TesTransfer *t, const void *coarse, bool add, void *fine) {
  const Plan *plan = t->plan;
  const TesSpace *from = t->coarse, *to = t->fine;
  if (plan->device) return tesi_transfer_rt_device_prolongate(t, coarse, add, fine);
  for (int p = 0; p < to->scalars; p++)
    products(t, plan->up, from->scalar[p], at(t, coarse, from->first[p]), add, at(t, fine, to->first[p]));
  return TES_OK;
}

static TesStatus restrict_(const TesTransfer *t, const void *fine, void *coarse) {
  const Plan *plan = t->plan;
  const TesSpace *from = t->fine, *to = t->coarse;
  if (plan->device) return tesi_transfer_rt_device_restrict(t, fine, coarse);
  for (int p = 0; p < to->scalars; p++)
    products(t, plan->down, from->scalar[p], at(t, fine, from->first[p]), false, at(t, coarse, to->first[p]));
  return TES_OK;
}

static TesStatus restrict_pressures(const TesTransfer *t, const void *fine, void *coarse) {
  const Plan *plan = t->plan;
  return plan->device ? tesi_transfer_rt_device_restrict_pressures(t, fine, coarse)
                      : restrict_(t, fine, coarse);
}

static void destroy(TesTransfer *t) {
  TesContext *ctx = t->context;
  Plan *plan = t->plan;
  if (!plan) return;
  for (int d = 0; d < 3; d++)
    for (int b = 0; b < 2; b++) {
      tesi_band_free(ctx, &plan->up[d][b]);
      tesi_band_free(ctx, &plan->down[d][b]);
    }
  tesi_transfer_rt_device_destroy(ctx, &plan->device);
  for (int i = 0; i < 2; i++)
    if (plan->work[i]) tesi_context_device(ctx)->release(ctx, &plan->work[i]);
  tesi_free(ctx, &t->plan);
}

/* y <- band x in direction d of an [n2][n1][n0] tensor, by the definition. */
static void product_ref(const TesiBand *band, const int extent[3], int d, const double *x, double *y) {
  int64_t inner = 1, outer = 1;
  for (int e = 0; e < d; e++) inner *= extent[e];
  for (int e = d + 1; e < 3; e++) outer *= extent[e];
  for (int64_t o = 0; o < outer; o++)
    for (int r = 0; r < band->rows; r++)
      for (int64_t i = 0; i < inner; i++) {
        double sum = 0;
        for (int c = 0; c < band->columns; c++)
          sum += tesi_band_entry(band, r, c) * x[(o * band->columns + c) * inner + i];
        y[(o * band->rows + r) * inner + i] = sum;
      }
}

static TesStatus reference(const TesTransfer *t, const TesiBand band[3][2], const TesSpace *from,
                           const TesSpace *to, const double *x, bool add, double *y) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  double *a = NULL, *b = NULL;
  TES_ALLOC(&a, t->fine_length);
  TES_ALLOC(&b, t->fine_length);
  for (int p = 0; p < to->scalars; p++) {
    int extent[3] = TESI_EXTENT(from->scalar[p]);
    const int64_t size = to->scalar[p]->length;
    memcpy(a, x + from->first[p], sizeof *a * (size_t)from->scalar[p]->length);
    for (int d = 0; d < to->dim; d++) {
      product_ref(&band[d][to->scalar[p]->axis[d].basis], extent, d, a, b);
      extent[d] = to->scalar[p]->axis[d].nodes;
      double *const other = a;
      a = b, b = other;
    }
    for (int64_t i = 0; i < size; i++) y[to->first[p] + i] = a[i] + (add ? y[to->first[p] + i] : 0);
  }
done:
  tesi_free(ctx, &a);
  tesi_free(ctx, &b);
  return status;
}

static TesStatus prolongate_ref(const TesTransfer *t, const double *coarse, bool add, double *fine) {
  const Plan *plan = t->plan;
  return reference(t, plan->up, t->coarse, t->fine, coarse, add, fine);
}

static TesStatus restrict_ref(const TesTransfer *t, const double *fine, double *coarse) {
  const Plan *plan = t->plan;
  return reference(t, plan->down, t->fine, t->coarse, fine, false, coarse);
}

static const TesiTransferTable table = {.prolongate = prolongate,
                                        .restrict_ = restrict_,
                                        .restrict_pressures = restrict_pressures,
                                        .writes = tesi_transfer_rt_device_writes,
                                        .prolongate_ordered = tesi_transfer_rt_device_prolongate_ordered,
                                        .destroy = destroy,
                                        .prolongate_ref = prolongate_ref,
                                        .restrict_ref = restrict_ref};

static TesStatus init(TesTransfer *t) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const TesSpace *coarse = t->coarse, *fine = t->fine;
  const size_t size = tesi_precision_size(t->precision);
  Plan *plan;
  int64_t most = 0;
  t->table = &table;
  TES_NEW(&plan);
  t->plan = plan;
  for (int d = 0; d < fine->dim; d++)
    for (int p = 0; p < fine->scalars; p++) {
      const TesiAxis *axis = &fine->scalar[p]->axis[d];
      TesiBand *up = &plan->up[d][axis->basis], *down = &plan->down[d][axis->basis];
      if (up->rows == 0) TES_TRY(fill(ctx, &coarse->scalar[p]->axis[d], axis, up, down));
    }
  if (tesi_has_kernels(ctx)) {
    TES_TRY(tesi_transfer_rt_device_create(t, &plan->device));
    goto done;
  }
  for (int p = 0; p < fine->scalars; p++)
    if (fine->scalar[p]->length > most) most = fine->scalar[p]->length;
  for (int i = 0; i < 2; i++)
    TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)most * size, &plan->work[i]));
done:
  return status;
}

const TesiTransferKind tesi_transfer_rt = {.name = "rt", .refuses = refuses, .init = init};
