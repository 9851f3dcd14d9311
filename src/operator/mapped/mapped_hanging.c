/* Mapped operators with hanging nodes: C' K C cell by cell, with the interpolation C of space.h. Here are tables for
 * the host's kernels, and operations on single cells. */
#include <string.h>
#include "base/real.h"
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"
#include "operator/mapped/host/mapped_host.h"

TesStatus tesi_mapped_make_halves(TesContext *context, TesiMappedHost *plan) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const int n = plan->n, size = n * n;
  double W[2 * TESI_HANGING_NODES * TESI_HANGING_NODES];
  if (!plan->m->mask) return TES_OK;
  tesi_hanging_halves(n, W);
  TES_TRY(tesi_alloc(ctx, (size_t)(4 * size), tesi_precision_size(plan->m->precision), &plan->halves));
  for (int i = 0; i < 2 * size; i++) {
    const int transposed = 2 * size + i / size * size + i % n * n + i % size / n;
    tesi_number_set(plan->m->precision, plan->halves, i, W[i]);
    tesi_number_set(plan->m->precision, plan->halves, transposed, W[i]);
  }
done:
  return status;
}

TesStatus tesi_mapped_create_subset(const TesiMapped *m, int64_t cells, const int32_t *cell, TesOperator **op) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  const TesiGeometry *g = m->geometry;
  const int64_t size = g->cell_nodes * g->dim;
  TesiGeometry *geometry = NULL;
  double *nodes = NULL;
  int32_t *part = NULL;
  TesiMappedDesc desc = m->desc;
  TES_ALLOC(&nodes, cells * size);
  TES_ALLOC(&part, cells);
  for (int64_t c = 0; c < cells; c++) {
    memcpy(nodes + c * size, g->nodes + cell[c] * size, (size_t)size * sizeof *nodes);
    part[c] = m->part ? m->part[cell[c]] : -1;
  }
  TES_TRY(tesi_geometry_create(ctx,
                               &(TesiGeometryDesc){.dim = g->dim,
                                                   .cells = cells,
                                                   .degree = g->degree,
                                                   .nodes = nodes,
                                                   .map = {g->map[0], g->map[1], g->map[2]}},
                               &geometry));
  desc.form = TESI_ELEMENT_VECTORS;
  desc.index = NULL, desc.masks = NULL;
  desc.precision = TES_DOUBLE;
  desc.factors = TES_FACTORS_STORED;
  desc.part = m->part ? part : NULL;
  desc.parts = m->parts;
  desc.part_a = (const TesFunction *const *)m->part_a;
  desc.part_c = (const TesFunction *const *)m->part_c;
  TES_TRY(tesi_mapped_create_over(ctx, &desc, geometry, op));
done:
  tesi_free(ctx, &nodes);
  tesi_free(ctx, &part);
  tesi_geometry_destroy(&geometry);
  return status;
}
