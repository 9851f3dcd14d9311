/* The coarsest level of a Stokes problem with a viscosity that varies: the factors of its matrix, on the host in
 * float64: an inverse takes three times as long. */
#include "multigrid/coarse/coarse_stokes_varying.h"
#include <lapacke.h>
#include "operator/stokes_varying/stokes_varying.h"

enum { UNKNOWNS = 6000 };

struct TesiCoarseStokesVarying {
  TesContext *context;
  int unknowns;
  int64_t *list;   /* [unknowns] */
  double *factors; /* [unknowns][unknowns] */
  int *pivot;
  double *e, factor, *x; /* see tesi_stokes_varying_factor(); work */
};

static bool is_known(const TesSpace *space, int part, int64_t j) {
  if (part == space->dim) return false;
  for (int d = 0; d < part; d++) j /= space->scalar[part]->axis[d].nodes;
  const int node = (int)(j % space->scalar[part]->axis[part].nodes);
  const TesiAxis *a = tesi_nodal(space, part);
  return node < tesi_axis_first(a) || node >= tesi_axis_end(a);
}

static TesStatus list_unknowns(TesContext *ctx, const TesSpace *space, TesiCoarseStokesVarying *c) {
  TesStatus status = TES_OK;
  TES_ALLOC(&c->list, space->length);
  for (int part = 0; part < space->parts; part++)
    for (int64_t j = 0; j < space->scalar[part]->length; j++)
      if (!is_known(space, part, j)) c->list[c->unknowns++] = space->first[part] + j;
done:
  return status;
}

static TesStatus factorize(TesContext *ctx, const TesOperator *op, const TesSpace *space,
                           TesiCoarseStokesVarying *c) {
  TesStatus status = TES_OK;
  const TesiAxis *a = tesi_space_last(space)->axis;
  const int cells = a[0].cells * a[1].cells * a[2].cells;
  int(*cell)[3] = NULL;
  TES_ALLOC(&cell, cells);
  for (int i = 0; i < cells; i++) {
    cell[i][0] = i % a[0].cells;
    cell[i][1] = i / a[0].cells % a[1].cells;
    cell[i][2] = i / a[0].cells / a[1].cells;
  }
  TES_ALLOC(&c->factors, (int64_t)c->unknowns * c->unknowns);
  TES_ALLOC(&c->pivot, c->unknowns);
  TES_ALLOC(&c->e, c->unknowns);
  TES_ALLOC(&c->x, c->unknowns);
  TES_TRY(tesi_work_on(ctx, "the coarsest level, %d unknowns solved for directly", c->unknowns));
  TES_TRY(tesi_stokes_varying_factor(op, cells, (const int(*)[3])cell, op->singular, c->unknowns, c->list,
                                     c->factors, c->pivot, c->e, &c->factor));
done:
  tesi_free(ctx, &cell);
  return status;
}

TesStatus tesi_coarse_stokes_varying_create(TesContext *ctx, const TesOperator *op,
                                            TesiCoarseStokesVarying **coarse) {
  TesStatus status = TES_OK;
  const TesSpace *space = tesi_stokes_of(op)->space;
  TesiCoarseStokesVarying *c = NULL;
  *coarse = NULL;
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  TES_TRY(list_unknowns(ctx, space, c));
  TES_CHECK(
      c->unknowns <= UNKNOWNS,
      "the coarsest mesh has %d x %d x %d cells and %d unknowns, at most %d can be solved for directly "
      "where the viscosity varies: give numbers of cells that can be halved more often, or a lower degree",
      tesi_modal(space, 0)->cells, tesi_modal(space, 1)->cells, tesi_modal(space, 2)->cells, c->unknowns,
      UNKNOWNS);
  TES_TRY(factorize(ctx, op, space, c));
  *coarse = c;
  c = NULL;
done:
  tesi_coarse_stokes_varying_destroy(&c);
  return status;
}

void tesi_coarse_stokes_varying_destroy(TesiCoarseStokesVarying **coarse) {
  TesiCoarseStokesVarying *c = *coarse;
  if (!c) return;
  TesContext *ctx = c->context;
  *coarse = NULL;
  tesi_free(ctx, &c->list);
  tesi_free(ctx, &c->factors);
  tesi_free(ctx, &c->pivot);
  tesi_free(ctx, &c->e);
  tesi_free(ctx, &c->x);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

void tesi_coarse_stokes_varying_solve(const TesiCoarseStokesVarying *c, const double *b, double *x) {
  const int n = c->unknowns;
  double sum = 0;
  for (int i = 0; i < n; i++) c->x[i] = b[c->list[i]], sum += c->e[i] * c->x[i];
  LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', n, 1, c->factors, n, c->pivot, c->x, n);
  for (int i = 0; i < n; i++) x[c->list[i]] = c->x[i] + c->factor * sum * c->e[i];
}
