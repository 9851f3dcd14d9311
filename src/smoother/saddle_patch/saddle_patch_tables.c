/* Numbers of vertex patches in the precision of the operator: matrices of the intervals, and what patches of a kind
 * share. */
#include <string.h>
#include "smoother/saddle_patch/saddle_patch.h"

/* Where numbers are appended. */
typedef struct Writer {
  TesPrecision precision;
  void *numbers;
  int64_t at;
} Writer;

static void put_number(Writer *w, double value) {
  if (w->precision == TES_DOUBLE)
    ((double *)w->numbers)[w->at++] = value;
  else
    ((float *)w->numbers)[w->at++] = (float)value;
}

/* factor A[row .. row + rows][column .. column + columns] of a matrix with `width` columns, or its transpose. */
typedef struct Piece {
  const double *A;
  int width, row, rows, column, columns;
  bool transposed;
  double factor;
} Piece;

static int64_t put(Writer *w, const Piece *p) {
  const int64_t start = w->at;
  for (int i = 0; i < (p->transposed ? p->columns : p->rows); i++)
    for (int j = 0; j < (p->transposed ? p->rows : p->columns); j++) {
      const int r = p->row + (p->transposed ? j : i), c = p->column + (p->transposed ? i : j);
      put_number(w, p->factor * p->A[(int64_t)r * p->width + c]);
    }
  return start;
}

static int64_t put_all(Writer *w, const double *A, int rows, int columns, bool transposed, double factor) {
  return put(w, &(Piece){A, columns, 0, rows, 0, columns, transposed, factor});
}

/* Z' or Z of a symmetric interval: both are products with the upper half of the rows. */
static int64_t put_halves(Writer *w, const double *Z, int size, bool forward) {
  const int even = (size + 1) / 2, odd = size / 2;
  const int64_t start = put(w, &(Piece){Z, size, 0, even, 0, even, forward, 1});
  put(w, &(Piece){Z, size, 0, odd, even, odd, forward, 1});
  return start;
}

static int64_t put_G(Writer *w, const TesiSaddleLocalAxis *l, bool transposed) {
  const int M = l->nodes, n = l->modes / 2;
  if (!l->symmetric) return put_all(w, l->G, l->modes, M, transposed, 1);
  const int64_t start = put(w, &(Piece){l->G, M, 0, n, n, n - 1, transposed, 1});
  put(w, &(Piece){l->G, M, n, n, 0, n, transposed, 1});
  return start;
}

/* nu stands in what is outside. */
static void put_outer(Writer *w, const TesiSaddlePatchOuter *o, int n, int nodes, double nu,
                      TesiSaddlePatchTable *t) {
  const int N = 2 * n;
  const double *next = o->values;
  t->stiffness = put_all(w, next, nodes, 2, false, nu);
  next += 2 * nodes;
  t->mass = put_all(w, next, nodes, N + 1, false, nu);
  next += nodes * (N + 1);
  t->derivative = put_all(w, next, N, 2, false, 1);
  next += 2 * N;
  t->penalty = put_all(w, next, N, N, false, 1);
  next += N * N;
  for (int side = 0; side < 2; side++, next += n * n) t->outer[side] = put_all(w, next, n, n, false, 1);
  t->constant = put_all(w, next, 1, 2, false, 1);
  for (int side = 0; side < 2; side++) t->end[side] = o->end[side], t->neighbour[side] = o->neighbour[side];
  t->first = o->end[0];
}

static TesStatus fill_table(TesContext *ctx, const TesiSaddlePatchPlan *p, TesPrecision precision, int d,
                            int type) {
  TesStatus status = TES_OK;
  const TesiSaddlePatchAxis *a = &p->axis[d];
  const TesiSaddleLocalAxis *l = &a->local[type];
  const TesiSaddlePatchOuter *o = &a->outer[type];
  const int M = l->nodes, N = l->modes;
  const int64_t size = 2 * M * M + 2 * N * N + 2 * N * M + o->size;
  TesiSaddlePatchTable *t;
  TES_TRY(tesi_alloc(ctx, sizeof *t + (size_t)size * tesi_precision_size(precision), 1, &a->table[type]));
  t = a->table[type];
  *t = (TesiSaddlePatchTable){.nodes = M, .modes = N, .symmetric = l->symmetric};
  Writer w = {precision, t + 1, 0};
  for (int back = 0; back < 2; back++) {
    int64_t *const Zc = back ? &t->Zc_back : &t->Zc_forward, *const Zd = back ? &t->Zd_back : &t->Zd_forward;
    *Zc = l->symmetric ? put_halves(&w, l->Zc, M, !back) : put_all(&w, l->Zc, M, M, !back, 1);
    *Zd = l->symmetric ? put_halves(&w, l->Zd, N, !back) : put_all(&w, l->Zd, N, N, !back, 1);
  }
  t->G = put_G(&w, l, false);
  t->G_transposed = put_G(&w, l, true);
  if (o->values) put_outer(&w, o, p->rt->n, M, p->saddle->nu, t);
done:
  return status;
}

/* ---- kinds --------------------------------------------------------------------------------------------- */

static TesiSaddleLocal local_of(const TesiSaddlePatchPlan *p, int kind) {
  const TesiSaddlePatchAxis *a = p->axis;
  const int type[3] = {kind % a[0].types, kind / a[0].types % a[1].types, kind / a[0].types / a[1].types};
  TesiSaddleLocal l = {.dim = p->rt->dim, .nu = p->saddle->nu, .alpha = p->saddle->alpha, .closed = true};
  for (int d = 0; d < 3; d++) {
    l.axis[d] = &a[d].local[type[d]];
    if (d < l.dim && l.axis[d]->nodes >= 2 * p->rt->n)
      l.closed = false; /* an open end of the box adds a node */
  }
  return l;
}

static void put_reciprocals(Writer *w, const TesiSaddleLocal *l, int i) {
  int extent[3];
  for (int d = 0; d < 3; d++) extent[d] = d >= l->dim ? 1 : d == i ? l->axis[d]->nodes : l->axis[d]->modes;
  for (int j = 0; j < extent[0] * extent[1] * extent[2]; j++) {
    const int m[3] = {j % extent[0], j / extent[0] % extent[1], j / extent[0] / extent[1]};
    double sum = 0;
    for (int d = 0; d < l->dim; d++) sum += d == i ? l->axis[d]->lc[m[d]] : l->axis[d]->ld[m[d]];
    put_number(w, 1 / (l->nu * sum + l->alpha));
  }
}

/* Numbers of a kind. */
static int64_t count_numbers(const TesiSaddlePatchPlan *p, int kind) {
  const TesiSaddleLocal l = local_of(p, kind);
  TesiSaddleBlock block[8];
  const int blocks = tesi_saddle_local_blocks(&l, block), all = tesi_saddle_local_pressures(&l);
  int64_t count = 0;
  for (int b = 0; b < blocks; b++) count += (int64_t)block[b].size * block[b].size;
  for (int i = 0; i < l.dim; i++) count += all / l.axis[i]->modes * l.axis[i]->nodes;
  return count;
}

static TesStatus fill_kind(TesContext *ctx, TesPrecision precision, TesiSaddlePatchPlan *p, int kind,
                           double *S) {
  TesStatus status = TES_OK;
  const TesiSaddleLocal l = local_of(p, kind);
  const size_t size = (size_t)count_numbers(p, kind) * tesi_precision_size(precision);
  TesiSaddlePatchKind *k;
  TES_TRY(tesi_alloc(ctx, sizeof *k + size, 1, &p->kind[kind]));
  k = p->kind[kind];
  k->closed = l.closed;
  k->blocks = tesi_saddle_local_blocks(&l, k->block);
  Writer w = {precision, k + 1, 0};
  for (int b = 0; b < k->blocks; b++) {
    TES_TRY(tesi_saddle_local_invert_block(ctx, &l, &k->block[b], S));
    k->S[b] = put_all(&w, S, k->block[b].size, k->block[b].size, false, 1);
  }
  for (int i = 0; i < l.dim; i++) {
    k->reciprocal[i] = w.at;
    put_reciprocals(&w, &l, i);
  }
done:
  return status;
}

static TesStatus check_room(const TesSmoother *smoother, const TesiSaddlePatchPlan *p) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const double most = (double)p->pressures * p->pressures,
               size = (double)tesi_precision_size(smoother->op->precision),
               room = (double)tes_memory_available() / 2;
  double all = 0;
  if (p->kinds * most * size < room) return TES_OK;
  for (int i = 0; i < p->kinds; i++) all += (double)count_numbers(p, i) * size;
  if (all > room)
    TES_FAIL(
        TES_OUT_OF_MEMORY,
        "%d kinds of patches with inverse Schur complements of up to %.3g MB need %.3g GiB, %.3g GiB are "
        "free: use equal cells in more directions, fewer cells or a lower degree",
        p->kinds, 1e-6 * most * size, all / (1 << 30), room / (1 << 30));
done:
  return status;
}

TesStatus tesi_saddle_patch_tables_create(const TesSmoother *smoother, TesiSaddlePatchPlan *p) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  double *S = NULL;
  p->kinds = 1;
  for (int d = 0; d < 3; d++) {
    TES_ALLOC(&p->axis[d].table, p->axis[d].types);
    for (int t = 0; t < p->axis[d].types; t++) TES_TRY(fill_table(ctx, p, smoother->op->precision, d, t));
    p->kinds *= p->axis[d].types;
  }
  TES_TRY(check_room(smoother, p));
  TES_ALLOC(&p->kind, p->kinds);
  TES_ALLOC(&S, (int64_t)p->pressures * p->pressures);
  for (int i = 0; i < p->kinds; i++) TES_TRY(fill_kind(ctx, smoother->op->precision, p, i, S));
done:
  tesi_free(ctx, &S);
  return status;
}

void tesi_saddle_patch_tables_free(TesContext *ctx, TesiSaddlePatchPlan *p) {
  for (int d = 0; d < 3; d++) {
    for (int t = 0; p->axis[d].table && t < p->axis[d].types; t++) tesi_free(ctx, &p->axis[d].table[t]);
    tesi_free(ctx, &p->axis[d].table);
  }
  for (int i = 0; p->kind && i < p->kinds; i++) tesi_free(ctx, &p->kind[i]);
  tesi_free(ctx, &p->kind);
}
