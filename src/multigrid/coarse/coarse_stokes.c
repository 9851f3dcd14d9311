/* The coarsest level of a Stokes problem: the whole box as one patch (operator/stokes/stokes_local.h), on the host
 * in float64. */
#include "multigrid/coarse/coarse_stokes_device.h"

enum { PRESSURES = 8192 };

struct TesiCoarseStokes {
  TesContext *context;
  const TesSpace *space;
  TesiStokesLocalAxis axis[3];
  TesiStokesLocal local; /* of these */
  int first[3];          /* unknown nodes: from this number on */
  double *S;             /* S^+ */
  double *part[TESI_RT_PARTS], *work;
};

TesStatus tesi_coarse_stokes_axis(TesContext *ctx, const TesiStokes *s, int d, int *first_unknown,
                                  TesiStokesLocalAxis *local) {
  TesStatus status = TES_OK;
  const bool exists = d < s->space->dim;
  const TesiAxis *a = &s->axis[d].nodal;
  const int first = exists ? tesi_axis_first(a) : 0, nodes = exists ? tesi_axis_end(a) - first : 1,
            modes = exists ? s->axis[d].modal.nodes : 1;
  int *index = NULL;
  TES_ALLOC(&index, nodes + modes);
  *first_unknown = first;
  for (int i = 0; i < nodes; i++) index[i] = first + i;
  for (int i = 0; i < modes; i++) index[nodes + i] = i;
  TES_TRY(tesi_stokes_local_create(ctx, exists ? &s->axis[d] : NULL, nodes, index, modes, index + nodes,
                                   TESI_STOKES_FAR_NONE, local));
done:
  tesi_free(ctx, &index);
  return status;
}

TesStatus tesi_coarse_stokes_create(TesContext *ctx, const TesOperator *op, TesiCoarseStokes **coarse) {
  TesStatus status = TES_OK;
  TesiCoarseStokes *c = NULL;
  const TesiStokes *s = tesi_stokes_of(op);
  const int64_t pressures = tesi_space_last(s->space)->length;
  const TesiAxis *cells = tesi_space_last(s->space)->axis;
  *coarse = NULL;
  TES_CHECK(pressures <= PRESSURES,
            "the coarsest mesh has %d x %d x %d cells and %lld pressures, at most %d can be solved for "
            "directly: give "
            "numbers of cells that can be halved more often",
            cells[0].cells, cells[1].cells, cells[2].cells, (long long)pressures, PRESSURES);
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->space = s->space;
  for (int d = 0; d < 3; d++) TES_TRY(tesi_coarse_stokes_axis(ctx, s, d, &c->first[d], &c->axis[d]));
  c->local = (TesiStokesLocal){.dim = s->space->dim,
                               .axis = {&c->axis[0], &c->axis[1], &c->axis[2]},
                               .nu = s->nu,
                               .alpha = s->alpha,
                               .closed = op->singular};
  TES_ALLOC(&c->S, pressures * pressures);
  for (int i = 0; i < s->space->parts; i++) TES_ALLOC(&c->part[i], tesi_stokes_local_size(&c->local, i));
  TES_ALLOC(&c->work, 2 * tesi_stokes_local_most(&c->local));
  TES_TRY(tesi_stokes_local_invert(ctx, &c->local, c->S));
  *coarse = c;
  c = NULL;
done:
  tesi_coarse_stokes_destroy(&c);
  return status;
}

void tesi_coarse_stokes_destroy(TesiCoarseStokes **coarse) {
  TesiCoarseStokes *c = *coarse;
  if (!c) return;
  TesContext *ctx = c->context;
  *coarse = NULL;
  for (int d = 0; d < 3; d++) tesi_stokes_local_free(ctx, &c->axis[d]);
  for (int i = 0; i < TESI_RT_PARTS; i++) tesi_free(ctx, &c->part[i]);
  tesi_free(ctx, &c->S);
  tesi_free(ctx, &c->work);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

/* Copies between a part of a vector and its unknowns. */
static void copy_unknowns(const TesiCoarseStokes *c, int part, bool out, double *vector, double *x) {
  const TesSpace *space = c->space;
  const TesiAxis *axis = space->scalar[part]->axis;
  int extent[3];
  for (int d = 0; d < 3; d++) extent[d] = d == part ? c->axis[d].nodes : c->axis[d].modes;
  for (int d = space->dim; d < 3; d++) extent[d] = 1;
  for (int j = 0; j < extent[0] * extent[1] * extent[2]; j++) {
    int m[3] = {j % extent[0], j / extent[0] % extent[1], j / extent[0] / extent[1]};
    if (part < space->dim) m[part] += c->first[part];
    double *entry =
        vector + space->first[part] + m[0] + axis[0].nodes * (m[1] + (int64_t)axis[1].nodes * m[2]);
    if (out)
      *entry = x[j];
    else
      x[j] = *entry;
  }
}

void tesi_coarse_stokes_solve(TesiCoarseStokes *c, double *b, double *x) {
  for (int i = 0; i < c->space->parts; i++) copy_unknowns(c, i, false, b, c->part[i]);
  tesi_stokes_local_solve(&c->local, c->S, c->part, c->work);
  for (int i = 0; i < c->space->parts; i++) copy_unknowns(c, i, true, x, c->part[i]);
}
