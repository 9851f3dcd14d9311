#include "problem/force_shares.h"
#include <lapacke.h>
#include <string.h>
#include "basis/blas.h"
#include "parallel/exchange.h"
#include "space/slip.h"

enum { ENTRIES = 9, FACES = 0, OWN, GROUPS, OWN_GROUP, SUMS };

typedef struct Shares {
  const TesSpace *whole;
  int dim, boundary;
  int64_t length;
  double *N[SUMS]; /* [dim * dim][length] */
  double *slips;   /* [length] faces with slip */
  uint8_t *given;  /* [length] bits of components */
} Shares;

static void add_normal(void *user, int64_t node, int boundary, const double *x, const double *normal) {
  const Shares *s = user;
  const int dim = s->dim;
  double square = 0;
  (void)x;
  for (int d = 0; d < dim; d++) square += normal[d] * normal[d];
  for (int e = 0; e < dim * dim; e++) {
    const double part = normal[e / dim] * normal[e % dim] / square;
    s->N[FACES][e * s->length + node] += part;
    if (boundary == s->boundary) s->N[OWN][e * s->length + node] += part;
  }
  s->slips[node]++;
}

/* Faces with slip, of all ranks. */
static TesStatus add_normals(Shares *s) {
  TesiExchange *shared = s->whole->part[0]->layout->shared;
  const TesStatus status = tesi_slip_visit(s->whole, add_normal, s);
  for (int e = 0; e < s->dim * s->dim && status == TES_OK && shared; e++)
    for (int k = FACES; k <= OWN; k++) tesi_exchange_sum(shared, TES_DOUBLE, s->N[k] + e * s->length);
  if (status == TES_OK && shared) tesi_exchange_sum(shared, TES_DOUBLE, s->slips);
  return status;
}

static TesStatus add_given(Shares *s, const TesProblem *p, TesiForceMark mark, void *user) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  int32_t *on = NULL;
  TES_ALLOC(&on, s->length);
  for (int b = 0; b < tes_mesh_boundaries(p->mesh); b++) {
    const int to = tesi_mesh_is_group(p->mesh, b) ? GROUPS : FACES;
    bool any = false;
    for (int c = 0; c < s->dim; c++) any = any || tesi_problem_given(p, b, c);
    if (!any) continue;
    TES_TRY(mark(user, b, on));
    for (int c = 0; c < s->dim; c++)
      for (int64_t i = 0; i < s->length && tesi_problem_given(p, b, c); i++) {
        s->N[to][(c * s->dim + c) * s->length + i] += on[i];
        s->given[i] |= (uint8_t)((on[i] > 0) << c);
        if (b == s->boundary) s->N[to + 1][(c * s->dim + c) * s->length + i] += on[i];
      }
  }
done:
  tesi_free(ctx, &on);
  return status;
}

/* ---- matrices of a node ------------------------------------------------------------------------------- */

static void multiply(int dim, const double *A, const double *B, double *C) {
  double sum[ENTRIES] = {0};
  for (int e = 0; e < dim * dim; e++)
    for (int k = 0; k < dim; k++) sum[e] += A[e / dim * dim + k] * B[k * dim + e % dim];
  memcpy(C, sum, sizeof sum);
}

static void sandwich(int dim, const double *H, double *A) {
  multiply(dim, H, A, A);
  multiply(dim, A, H, A);
}

/* C <- 1 - A B */
static void complement(int dim, const double *A, const double *B, double *C) {
  multiply(dim, A, B, C);
  for (int e = 0; e < dim * dim; e++) C[e] = (e / dim == e % dim) - C[e];
}

static double trace(int dim, const double *A) {
  double sum = 0;
  for (int d = 0; d < dim; d++) sum += A[d * dim + d];
  return sum;
}

/* B <- A+ of a symmetric A. */
static TesStatus invert(TesContext *ctx, int dim, const double *A, double *B) {
  TesStatus status = TES_OK;
  double w[ENTRIES], size[3], of[ENTRIES] = {0};
  memcpy(w, A, sizeof w);
  const int info = (int)LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', dim, w, dim, size);
  if (info != 0) TES_FAIL(TES_NAN, "a normal of a boundary with slip is not finite");
  for (int k = 0; k < dim; k++)
    for (int e = 0; e < dim * dim && size[k] > 1e-6 * trace(dim, A); e++)
      of[e] += w[k * dim + e / dim] * w[k * dim + e % dim] / size[k];
  memcpy(B, of, sizeof of);
done:
  return status;
}

/* H: the directions that a node holds. */
static TesStatus share(TesContext *ctx, int dim, bool group, const double *H, double N[SUMS][ENTRIES],
                       double *weight, double *own, double *other) {
  TesStatus status = TES_OK;
  double F[ENTRIES], C[ENTRIES], Y[ENTRIES], R[ENTRIES], part[ENTRIES];
  for (int k = 0; k < SUMS; k++) sandwich(dim, H, N[k]);
  TES_TRY(invert(ctx, dim, N[FACES], F));
  complement(dim, N[FACES], F, C);
  memcpy(part, N[GROUPS], sizeof part);
  sandwich(dim, C, part);
  TES_TRY(invert(ctx, dim, part, Y));
  multiply(dim, Y, C, Y);
  complement(dim, N[GROUPS], Y, R);
  multiply(dim, group ? N[OWN_GROUP] : N[OWN], group ? Y : F, part);
  multiply(dim, N[FACES], F, own);
  for (int e = 0; e < dim * dim; e++) {
    other[e] = group ? 0 : -part[e];
    own[e] = group ? 0 : own[e] - part[e];
  }
  if (group)
    memcpy(weight, part, sizeof part);
  else
    multiply(dim, part, R, weight);
done:
  return status;
}

/* ---- all nodes ---------------------------------------------------------------------------------------- */

static TesStatus replace(const Shares *s, int64_t i, const double *H, int direction, TesiForceWeights *w) {
  TesContext *ctx = s->whole->context;
  TesStatus status = TES_OK;
  const int dim = s->dim;
  const bool group = tesi_mesh_is_group(s->whole->mesh, s->boundary);
  double N[SUMS][ENTRIES], weight[ENTRIES] = {0}, own[ENTRIES] = {0}, other[ENTRIES] = {0};
  for (int k = 0; k < SUMS; k++)
    for (int e = 0; e < dim * dim; e++) N[k][e] = s->N[k][e * s->length + i];
  const double mine = trace(dim, N[group ? OWN_GROUP : OWN]);
  if (mine > 0 && mine > trace(dim, N[FACES]) + trace(dim, N[GROUPS]) - 0.5)
    memcpy(weight, H, sizeof weight); /* no other support; steps of flows leave a residual along the wall */
  else if (mine > 0)
    TES_TRY(share(ctx, dim, group, H, N, weight, own, other));
  for (int c = 0; c < dim; c++) {
    w->weight[c][i] = weight[direction * dim + c];
    w->own[c][i] = own[direction * dim + c];
    w->other[c][i] = other[direction * dim + c];
  }
done:
  return status;
}

/* Of a node H is 1 - P where it is in the list of TesiSlip; else its given components hold all of it. There is no list
 * where supports hold all nodes with slip. */
static TesStatus replace_all(const Shares *s, int direction, TesiForceWeights *w) {
  TesStatus status = TES_OK;
  const TesiSlip *slip = s->whole->slip;
  const int size = s->dim * s->dim;
  const int64_t count = slip ? slip->count : 0;
  int64_t at = 0;
  for (int64_t i = 0; i < s->length && status == TES_OK; i++) {
    double H[ENTRIES];
    while (at < count && slip->node[at] < i) at++;
    if (!(s->slips[i] > 0)) continue;
    const bool listed = at < count && slip->node[at] == i;
    for (int e = 0; e < size; e++) {
      const bool one = e / s->dim == e % s->dim;
      H[e] = listed ? one - slip->P[e * count + at] : one && s->given[i] >> e % s->dim & 1;
    }
    status = replace(s, i, H, direction, w);
  }
  return status;
}

TesStatus tesi_force_share(const TesProblem *p, const TesSpace *whole, int boundary, int direction,
                           TesiForceMark mark, void *user, TesiForceWeights *weights) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  Shares s = {.whole = whole, .dim = whole->dim, .boundary = boundary, .length = whole->part[0]->length};
  for (int k = 0; k < SUMS; k++) TES_ALLOC(&s.N[k], s.dim * s.dim * s.length);
  TES_ALLOC(&s.slips, s.length);
  TES_ALLOC(&s.given, s.length);
  TES_TRY(tesi_blas_begin(ctx, s.dim));
  TES_TRY(add_normals(&s));
  TES_TRY(add_given(&s, p, mark, user));
  TES_TRY(replace_all(&s, direction, weights));
done:
  for (int k = 0; k < SUMS; k++) tesi_free(ctx, &s.N[k]);
  tesi_free(ctx, &s.slips);
  tesi_free(ctx, &s.given);
  return status;
}
