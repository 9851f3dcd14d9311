/* The coarsest level of a Stokes problem: the whole box as one patch (operator/saddle/saddle_local.h), on the host
 * in float64. */
#include <string.h>
#include "multigrid/coarse/coarse_saddle_device.h"

enum { PRESSURES = 8192 };

struct TesiCoarseSaddle {
  TesContext *context;
  const TesiSaddle *saddle;
  TesiSaddleLocalAxis axis[3];
  int first[3]; /* unknown nodes are these and those after */
  int pressures;
  double *S;                                /* S^+ */
  double *a, *b, *schur, *p, *component[3]; /* arrays of the largest part */
};

TesStatus tesi_coarse_saddle_axis(TesContext *ctx, const TesiSaddle *s, int d, int *first_unknown,
                                  TesiSaddleLocalAxis *local) {
  TesStatus status = TES_OK;
  const TesiRtAxis *a = &s->rt->axis[d];
  const bool exists = d < s->rt->dim;
  const int first = exists ? tesi_rt_first(a) : 0, nodes = exists ? tesi_rt_end(a) - first : 1;
  int *index = NULL;
  TES_ALLOC(&index, a->nodes + a->modes);
  *first_unknown = first;
  for (int i = 0; i < nodes; i++) index[i] = first + i;
  for (int i = 0; i < a->modes; i++) index[a->nodes + i] = i;
  TES_TRY(tesi_saddle_local_create(ctx, a, exists ? &s->axis[d] : NULL, nodes, index, a->modes,
                                   index + a->nodes, local));
done:
  tesi_free(ctx, &index);
  return status;
}

TesStatus tesi_coarse_saddle_create(TesContext *ctx, const TesOperator *op, TesiCoarseSaddle **coarse) {
  TesStatus status = TES_OK;
  TesiCoarseSaddle *c = NULL;
  const TesiSaddle *s = tesi_saddle_of(op);
  const int64_t pressures = tesi_rt_size(s->rt, s->rt->dim);
  int64_t most = pressures;
  *coarse = NULL;
  TES_CHECK(pressures <= PRESSURES,
            "the coarsest mesh has %d x %d x %d cells and %lld pressures, at most %d can be solved for "
            "directly: give "
            "numbers of cells that can be halved more often",
            s->rt->axis[0].cells, s->rt->axis[1].cells, s->rt->axis[2].cells, (long long)pressures,
            PRESSURES);
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->saddle = s;
  c->pressures = (int)pressures;
  for (int d = 0; d < 3; d++) TES_TRY(tesi_coarse_saddle_axis(ctx, s, d, &c->first[d], &c->axis[d]));
  for (int i = 0; i < s->rt->dim; i++) most = tesi_rt_size(s->rt, i) > most ? tesi_rt_size(s->rt, i) : most;
  TES_ALLOC(&c->S, pressures * pressures);
  double **const arrays[] = {&c->a,           &c->b, &c->schur, &c->p, &c->component[0], &c->component[1],
                             &c->component[2]};
  for (int i = 0; i < 7; i++) TES_ALLOC(arrays[i], most);
  const TesiSaddleLocal local = {.dim = s->rt->dim,
                                 .axis = {&c->axis[0], &c->axis[1], &c->axis[2]},
                                 .nu = s->nu,
                                 .alpha = s->alpha,
                                 .closed = op->singular};
  TES_TRY(tesi_saddle_local_invert(ctx, &local, c->S));
  *coarse = c;
  c = NULL;
done:
  tesi_coarse_saddle_destroy(&c);
  return status;
}

void tesi_coarse_saddle_destroy(TesiCoarseSaddle **coarse) {
  TesiCoarseSaddle *c = *coarse;
  if (!c) return;
  TesContext *ctx = c->context;
  *coarse = NULL;
  for (int d = 0; d < 3; d++) tesi_saddle_local_free(ctx, &c->axis[d]);
  double **const arrays[] = {
      &c->S, &c->a, &c->b, &c->schur, &c->p, &c->component[0], &c->component[1], &c->component[2]};
  for (int i = 0; i < 8; i++) tesi_free(ctx, arrays[i]);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

/* y <- A x or A' x in direction d; A[rows][columns]. extent, of x, becomes that of y. */
static void contract(const double *A, int rows, int columns, bool transposed, int extent[3], int d,
                     const double *x, double *y) {
  const int out = transposed ? columns : rows, in = transposed ? rows : columns,
            inner = d == 0   ? 1
                    : d == 1 ? extent[0]
                             : extent[0] * extent[1],
            outer = extent[0] * extent[1] * extent[2] / (inner * in);
  for (int o = 0; o < outer; o++)
    for (int r = 0; r < out; r++)
      for (int i = 0; i < inner; i++) {
        double sum = 0;
        for (int c = 0; c < in; c++)
          sum += (transposed ? A[c * columns + r] : A[r * columns + c]) * x[(o * in + c) * inner + i];
        y[(o * out + r) * inner + i] = sum;
      }
  extent[d] = out;
}

static void extents_of(const TesiCoarseSaddle *c, int part, int extent[3]) {
  for (int d = 0; d < 3; d++) extent[d] = d == part ? c->axis[d].nodes : c->axis[d].modes;
  for (int d = c->saddle->rt->dim; d < 3; d++) extent[d] = 1;
}

/* x <- Z' x or Z x. */
static void transform(TesiCoarseSaddle *c, int part, bool back, double *x) {
  int extent[3];
  extents_of(c, part, extent);
  for (int d = 0; d < c->saddle->rt->dim; d++) {
    const TesiSaddleLocalAxis *a = &c->axis[d];
    const int n = extent[d];
    contract(d == part ? a->Zc : a->Zd, n, n, !back, extent, d, x, c->a);
    memcpy(x, c->a, sizeof *x * (size_t)(extent[0] * extent[1] * extent[2]));
  }
}

/* x <- x / Lam_i. */
static void divide(const TesiCoarseSaddle *c, int i, double *x) {
  int extent[3];
  extents_of(c, i, extent);
  for (int j = 0; j < extent[0] * extent[1] * extent[2]; j++) {
    const int m[3] = {j % extent[0], j / extent[0] % extent[1], j / extent[0] / extent[1]};
    double sum = 0;
    for (int d = 0; d < c->saddle->rt->dim; d++) sum += d == i ? c->axis[d].lc[m[d]] : c->axis[d].ld[m[d]];
    x[j] /= c->saddle->nu * sum + c->saddle->alpha;
  }
}

/* Between a part of a vector and its unknowns. */
static void copy_unknowns(const TesiCoarseSaddle *c, int part, bool out, double *vector, double *x) {
  const TesiRt *rt = c->saddle->rt;
  int extent[3];
  extents_of(c, part, extent);
  for (int j = 0; j < extent[0] * extent[1] * extent[2]; j++) {
    int m[3] = {j % extent[0], j / extent[0] % extent[1], j / extent[0] / extent[1]};
    if (part < rt->dim) m[part] += c->first[part];
    double *entry =
        vector + rt->offset[part] + m[0] + rt->extent[part][0] * (m[1] + (int64_t)rt->extent[part][1] * m[2]);
    if (out)
      *entry = x[j];
    else
      x[j] = *entry;
  }
}

static void find_pressure(TesiCoarseSaddle *c, double *b) {
  const int dim = c->saddle->rt->dim, n = c->pressures;
  int extent[3];
  copy_unknowns(c, dim, false, b, c->p);
  transform(c, dim, false, c->p);
  for (int j = 0; j < n; j++) c->schur[j] = -c->p[j];
  for (int i = 0; i < dim; i++) {
    copy_unknowns(c, i, false, b, c->component[i]);
    transform(c, i, false, c->component[i]);
    divide(c, i, c->component[i]);
    extents_of(c, i, extent);
    contract(c->axis[i].G, c->axis[i].modes, c->axis[i].nodes, false, extent, i, c->component[i], c->b);
    for (int j = 0; j < n; j++) c->schur[j] -= c->b[j];
  }
  for (int r = 0; r < n; r++) {
    c->p[r] = 0;
    for (int j = 0; j < n; j++) c->p[r] += c->S[(int64_t)r * n + j] * c->schur[j];
  }
}

void tesi_coarse_saddle_solve(TesiCoarseSaddle *c, double *b, double *x) {
  const int dim = c->saddle->rt->dim;
  int extent[3];
  find_pressure(c, b);
  for (int i = 0; i < dim; i++) {
    extents_of(c, dim, extent);
    contract(c->axis[i].G, c->axis[i].modes, c->axis[i].nodes, true, extent, i, c->p, c->b);
    divide(c, i, c->b);
    for (int j = 0; j < extent[0] * extent[1] * extent[2]; j++) c->component[i][j] += c->b[j];
    transform(c, i, true, c->component[i]);
    copy_unknowns(c, i, true, x, c->component[i]);
  }
  transform(c, dim, true, c->p);
  copy_unknowns(c, dim, true, x, c->p);
}
