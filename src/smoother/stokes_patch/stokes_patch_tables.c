/* Data of vertex patches in the precision of the operator: matrices of the intervals, and data that the patches of a
 * kind share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/afford.h"
#include "base/real.h"
#include "smoother/stokes_patch/stokes_patch.h"

/* Where numbers are appended. */
typedef struct Writer {
  TesPrecision precision;
  void *numbers;
  int64_t at;
} Writer;

static void put_number(Writer *w, double value) {
  tesi_number_set(w->precision, w->numbers, w->at++, value);
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

static int64_t put_G(Writer *w, const TesiStokesLocalAxis *l, bool transposed) {
  const int M = l->nodes, n = l->modes / 2;
  if (!l->symmetric) return put_all(w, l->G, l->modes, M, transposed, 1);
  const int64_t start = put(w, &(Piece){l->G, M, 0, n, n, n - 1, transposed, 1});
  put(w, &(Piece){l->G, M, n, n, 0, n, transposed, 1});
  return start;
}

/* nu is included in the terms of the outside. */
static void put_outer(Writer *w, const TesiStokesPatchOuter *o, int n, int nodes, double nu,
                      TesiStokesPatchTable *t) {
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
}

/* to[N][N] <- Zd_like' Zd: from the eigenvectors of one interval to those of another. */
static void compare_modes(const TesiStokesLocalAxis *l, const TesiStokesLocalAxis *like, double *to) {
  const int N = l->modes;
  for (int r = 0; r < N; r++)
    for (int c = 0; c < N; c++) {
      to[r * N + c] = 0;
      for (int j = 0; j < N; j++) to[r * N + c] += like->Zd[j * N + r] * l->Zd[j * N + c];
    }
}

static TesStatus put_like(TesContext *ctx, Writer *w, const TesiStokesLocalAxis *l,
                          const TesiStokesLocalAxis *like, TesiStokesPatchTable *t) {
  TesStatus status = TES_OK;
  const int N = l->modes;
  double *A = NULL, norm = 0;
  TES_ALLOC(&A, N * N);
  compare_modes(l, like, A);
  t->to_like = put_all(w, A, N, N, false, 1);
  t->from_like = put_all(w, A, N, N, true, 1);
  for (int j = 0; j < N; j++) norm += l->e[j] * l->e[j];
  t->constant_modes = put_all(w, l->e, 1, N, false, 1 / sqrt(norm));
done:
  tesi_free(ctx, &A);
  return status;
}

static TesStatus fill_table(TesContext *ctx, const TesiStokesPatchPlan *p, TesPrecision precision, int d,
                            int type, int like) {
  TesStatus status = TES_OK;
  const TesiStokesPatchAxis *a = &p->axis[d];
  const TesiStokesLocalAxis *l = &a->local[type];
  const TesiStokesPatchOuter *o = &a->outer[type];
  const int M = l->nodes, N = l->modes;
  const int64_t size = 2 * M * M + 4 * N * N + 2 * N * M + N + o->size;
  TesiStokesPatchTable *t;
  TES_TRY(tesi_alloc(ctx, sizeof *t + (size_t)size * tesi_precision_size(precision), 1, &a->table[type]));
  t = a->table[type];
  *t = (TesiStokesPatchTable){.nodes = M, .modes = N, .like = like, .symmetric = l->symmetric};
  Writer w = {precision, t + 1, 0};
  for (int back = 0; back < 2; back++) {
    int64_t *const Zc = back ? &t->Zc_back : &t->Zc_forward, *const Zd = back ? &t->Zd_back : &t->Zd_forward;
    *Zc = l->symmetric ? put_halves(&w, l->Zc, M, !back) : put_all(&w, l->Zc, M, M, !back, 1);
    *Zd = l->symmetric ? put_halves(&w, l->Zd, N, !back) : put_all(&w, l->Zd, N, N, !back, 1);
  }
  t->G = put_G(&w, l, false);
  t->G_transposed = put_G(&w, l, true);
  TES_TRY(put_like(ctx, &w, l, &a->local[like], t));
  for (int side = 0; side < 2; side++) t->end[side] = o->end[side], t->neighbour[side] = o->neighbour[side];
  t->first = o->end[0];
  if (o->values) put_outer(&w, o, p->space->degree + 1, M, p->stokes->nu, t);
done:
  return status;
}

/* ---- kinds --------------------------------------------------------------------------------------------- */

static TesiStokesLocal local_of(const TesiStokesPatchPlan *p, int kind) {
  const TesiStokesPatchAxis *a = p->axis;
  const int type[3] = {kind % a[0].types, kind / a[0].types % a[1].types, kind / a[0].types / a[1].types};
  TesiStokesLocal l = {.dim = p->space->dim, .nu = p->stokes->nu, .alpha = p->stokes->alpha, .closed = true};
  for (int d = 0; d < 3; d++) {
    l.axis[d] = &a[d].local[type[d]];
    if (d < l.dim && l.axis[d]->nodes >= l.axis[d]->modes) l.closed = false; /* ends that are unknowns */
  }
  return l;
}

static void put_reciprocals(Writer *w, const TesiStokesLocal *l, int i) {
  int extent[3];
  for (int d = 0; d < 3; d++) extent[d] = d >= l->dim ? 1 : d == i ? l->axis[d]->nodes : l->axis[d]->modes;
  for (int j = 0; j < extent[0] * extent[1] * extent[2]; j++) {
    const int m[3] = {j % extent[0], j / extent[0] % extent[1], j / extent[0] / extent[1]};
    double sum = 0;
    for (int d = 0; d < l->dim; d++) sum += d == i ? l->axis[d]->lc[m[d]] : l->axis[d]->ld[m[d]];
    put_number(w, 1 / (l->nu * sum + l->alpha));
  }
}

/* Size of the data of a kind, without or with S^+. */
static int64_t count_numbers(const TesiStokesPatchPlan *p, int kind, bool inverse) {
  const TesiStokesLocal l = local_of(p, kind);
  TesiStokesBlock block[8];
  const int blocks = tesi_stokes_local_blocks(&l, block), all = tesi_stokes_local_pressures(&l);
  int64_t count = 0;
  for (int b = 0; b < blocks && inverse; b++) count += (int64_t)block[b].size * block[b].size;
  for (int i = 0; i < l.dim; i++) count += all / l.axis[i]->modes * l.axis[i]->nodes;
  return count;
}

/* The kind with other types per direction. */
static int kind_of(const TesiStokesPatchPlan *p, int kind, int *const other[3]) {
  const TesiStokesPatchAxis *a = p->axis;
  const int x = other[0][kind % a[0].types], y = other[1][kind / a[0].types % a[1].types],
            z = other[2][kind / a[0].types / a[1].types];
  return x + a[0].types * (y + a[1].types * z);
}

/* The kind that stores S^+ for a kind: itself, or a kind whose mirror image it is; -1: no S^+. */
static int keeper_of(const TesiStokesPatchPlan *p, int kind, int *const like[3]) {
  int *const image[3] = {p->axis[0].image, p->axis[1].image, p->axis[2].image};
  const int other = kind_of(p, kind, image);
  if (kind_of(p, kind, like) != kind) return -1;
  return kind_of(p, other, like) == other ? other : kind;
}

/* Copies S^+ of a kind to its place; S: block after block, or NULL: `from` has it, in the same precision. */
static void put_inverses(Writer *w, TesiStokesPatchKind *k, const double *S, const TesiStokesPatchKind *from) {
  for (int b = 0; b < k->blocks; b++) {
    const int64_t count = (int64_t)k->block[b].size * k->block[b].size;
    const size_t size = tesi_precision_size(w->precision);
    k->S[b] = w->at;
    if (S) {
      put_all(w, S, k->block[b].size, k->block[b].size, false, 1);
      S += count;
      continue;
    }
    memcpy((char *)w->numbers + (size_t)w->at * size,
           (const char *)from->inverses + (size_t)from->S[b] * size, (size_t)count * size);
    w->at += count;
  }
}

/* The source of a kind's data: S^+ of the kind `keeper`, which is itself or an earlier kind. It is made from S or, if S
 * is NULL, from a kind of the level below. */
typedef struct Source {
  int like, keeper;
  const double *S;
  const TesiStokesPatchKind *below;
} Source;

static TesStatus fill_kind(TesContext *ctx, TesPrecision precision, TesiStokesPatchPlan *p, int kind,
                           const Source *from) {
  TesStatus status = TES_OK;
  const TesiStokesLocal l = local_of(p, kind);
  const bool own = from->keeper == kind;
  const size_t size = (size_t)count_numbers(p, kind, own) * tesi_precision_size(precision);
  TesiStokesPatchKind *k;
  TES_TRY(tesi_alloc(ctx, sizeof *k + size, 1, &p->kind[kind]));
  k = p->kind[kind];
  k->closed = l.closed;
  k->like = from->like;
  if (from->keeper >= 0) {
    k->inverses = (TesiStokesPatchKind *)p->kind[from->keeper] + 1;
    k->blocks = tesi_stokes_local_blocks(&l, k->block);
    memcpy(k->S, ((TesiStokesPatchKind *)p->kind[from->keeper])->S, sizeof k->S);
  }
  Writer w = {precision, k + 1, 0};
  if (own) put_inverses(&w, k, from->S, from->below);
  for (int i = 0; i < l.dim; i++) {
    k->reciprocal[i] = w.at;
    put_reciprocals(&w, &l, i);
  }
done:
  return status;
}

/* ---- levels -------------------------------------------------------------------------------------------- */

typedef struct Scaled {
  const TesiStokesLocalAxis *local, *below;
  double *scale;
} Scaled;

static bool is_scaled(const void *user, int t) {
  const Scaled *s = user;
  return tesi_stokes_local_scales(s->local, &s->below[t], s->scale);
}

/* The type of the level below whose intervals are scaled intervals of a type; -1: none. */
static int scaled_type(const TesiStokesPatchAxis *a, int type, const TesiStokesPatchAxis *below,
                       double *scale) {
  const Scaled s = {&a->local[type], below->local, scale};
  const int t = tesi_near_find(&below->by_shape, tesi_stokes_local_shape(s.local), is_scaled, &s);
  return t >= 0 && is_scaled(&s, t) ? t : -1;
}

/* The kind of the level below with the same S^+, or NULL: its patches are the patches of a kind with all lengths
 * scaled. */
static const TesiStokesPatchKind *same_below(const TesSmoother *smoother, const TesiStokesPatchPlan *p,
                                             const TesiStokesPatchPlan *below, int kind) {
  const TesiStokesPatchAxis *a = p->axis;
  const int type[3] = {kind % a[0].types, kind / a[0].types % a[1].types, kind / a[0].types / a[1].types};
  double scale[3] = {1, 1, 1};
  int other = 0, step = 1;
  if (!below || smoother->below->op->precision != smoother->op->precision || a[0].span != below->axis[0].span ||
      p->stokes->alpha != 0 || below->stokes->alpha != 0 || p->stokes->nu != below->stokes->nu)
    return NULL;
  for (int d = 0; d < p->space->dim; d++) {
    const int t = scaled_type(&a[d], type[d], &below->axis[d], &scale[d]);
    if (t < 0 || fabs(scale[d] - scale[0]) > 1e-12 * scale[0]) return NULL;
    other += step * t, step *= below->axis[d].types;
  }
  const TesiStokesPatchKind *k = below->kind[other];
  const bool exact = k->blocks > 0 && k->like == other && k->closed == local_of(p, kind).closed;
  return exact ? k : NULL;
}

/* ---- graded cells: one S^+ for patches that are nearly the same ---------------------------------------- */

/* Whether two types have the same ends, and cells whose widths differ by less than a factor of 1.5. */
static bool are_like(const TesiStokesPatchPlan *p, int d, int one, int other) {
  const TesiStokesPatchAxis *a = &p->axis[d];
  const TesiStokesPatchOuter *o = &a->outer[one], *b = &a->outer[other];
  const TesiAxis *axis = tesi_modal(p->space, d);
  const int v = a->first[one], w = a->first[other];
  for (int s = 0; s < 2; s++) {
    const double ratio = axis->h[(v + s) % axis->cells] / axis->h[(w + s) % axis->cells];
    if (o->end[s] != b->end[s] || o->neighbour[s] != b->neighbour[s] || ratio > 1.5 || ratio < 1 / 1.5)
      return false;
  }
  return a->local[one].nodes == a->local[other].nodes;
}

/* like[types] <- for each type the first type that is like it. There are few types that are unlike all earlier types,
 * since their widths differ by factors. */
static TesStatus find_like(TesContext *ctx, const TesiStokesPatchPlan *p, int d, int *like) {
  TesStatus status = TES_OK;
  int *model = NULL, models = 0;
  TES_ALLOC(&model, p->axis[d].types);
  for (int t = 0; t < p->axis[d].types; t++) {
    int m = 0;
    while (m < models && !are_like(p, d, t, model[m])) m++;
    if (m == models) model[models++] = t;
    like[t] = model[m];
  }
done:
  tesi_free(ctx, &model);
  return status;
}

static double bytes_of(const TesSmoother *smoother, const TesiStokesPatchPlan *p, int *const like[3]) {
  double all = 0;
  for (int i = 0; i < p->kinds; i++) all += (double)count_numbers(p, i, keeper_of(p, i, like) == i);
  return all * (double)tesi_precision_size(smoother->op->precision);
}

/* Every kind has its own S^+. If all together would exceed a gibibyte, or half of the free memory, several kinds share
 * one, unless exact solves are wanted. */
static TesStatus choose_like(const TesSmoother *smoother, TesiStokesPatchPlan *p, int *const like[3]) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const double room = (double)tes_memory_available() / 2, gib = 1 << 30;
  const char *given = getenv("TESSERA_STOKES_TABLES"); /* bytes, for tests */
  const double most = given ? atof(given) : fmin(room, gib);
  const bool exact = smoother->local == TES_LOCAL_EXACT;
  for (int d = 0; d < 3; d++)
    for (int t = 0; t < p->axis[d].types; t++) like[d][t] = t;
  p->iterates = smoother->local == TES_LOCAL_CG;
  if (p->iterates || bytes_of(smoother, p, like) <= (exact ? room : most)) return TES_OK;
  for (int d = 0; d < p->space->dim && !exact; d++) TES_TRY(find_like(ctx, p, d, like[d]));
  p->iterates = !exact;
  TES_TRY(tesi_afford(
      ctx, bytes_of(smoother, p, like), room,
      exact ? "use equal cells in more directions, fewer cells, a lower degree or the local solver auto"
            : "use equal cells in more directions, fewer cells or a lower degree",
      "%d kinds of patches with Schur complements of %d need", p->kinds, p->pressures));
done:
  return status;
}

/* Kinds first .. end - 1: the S^+ of those that store one, in S[kind - first][pressures^2], are inverted together. */
static TesStatus fill_some(const TesSmoother *smoother, const TesiStokesPatchPlan *below,
                           TesiStokesPatchPlan *p, int *const like[3], int first, int end, double *S) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const bool none = smoother->local == TES_LOCAL_CG;
  const int64_t size = (int64_t)p->pressures * p->pressures;
  TesiStokesLocal *local = NULL;
  TesiStokesInverse *one = NULL;
  TesiStokesBlock block[8];
  Source *from = NULL;
  int count = 0;
  TES_ALLOC(&local, end - first);
  TES_ALLOC(&one, 8 * (end - first));
  TES_ALLOC(&from, end - first);
  for (int i = first; i < end; i++) {
    Source *its = &from[i - first];
    *its = (Source){.like = none ? -1 : kind_of(p, i, like), .keeper = none ? -1 : keeper_of(p, i, like)};
    if (its->keeper != i) continue;
    its->below = same_below(smoother, p, below, i);
    if (its->below) continue;
    local[i - first] = local_of(p, i);
    double *at = S + (i - first) * size;
    const int blocks = tesi_stokes_local_blocks(&local[i - first], block);
    its->S = at;
    for (int b = 0; b < blocks; at += (int64_t)block[b].size * block[b].size, b++)
      one[count++] = (TesiStokesInverse){&local[i - first], block[b], at};
  }
  TES_TRY(tesi_stokes_local_invert_all(ctx, count, one));
  for (int i = first; i < end; i++) {
    TES_TRY(fill_kind(ctx, smoother->op->precision, p, i, &from[i - first]));
    p->inverses += from[i - first].keeper == i;
  }
done:
  tesi_free(ctx, &local);
  tesi_free(ctx, &one);
  tesi_free(ctx, &from);
  return status;
}

static TesStatus fill_kinds(const TesSmoother *smoother, const TesiStokesPatchPlan *below,
                            TesiStokesPatchPlan *p, int *const like[3]) {
  enum { NUMBERS = 1 << 23, MOST = 64 }; /* of S^+ that are made together; kinds */
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  double *S = NULL;
  const int64_t size = (int64_t)p->pressures * p->pressures, fit = NUMBERS / size;
  const int together = (int)tesi_max(1, tesi_min(tesi_min(fit, MOST), p->kinds));
  TES_ALLOC(&p->kind, p->kinds);
  TES_ALLOC(&S, together * size);
  for (int i = 0; i < p->kinds; i += together)
    TES_TRY(fill_some(smoother, below, p, like, i, tesi_min(i + together, p->kinds), S));
done:
  tesi_free(ctx, &S);
  return status;
}

TesStatus tesi_stokes_patch_tables_create(const TesSmoother *smoother, const TesiStokesPatchPlan *below,
                                          TesiStokesPatchPlan *p) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  int *like[3] = {NULL};
  p->kinds = 1;
  for (int d = 0; d < 3; d++) {
    TES_ALLOC(&like[d], p->axis[d].types);
    p->kinds *= p->axis[d].types;
  }
  TES_TRY(choose_like(smoother, p, like));
  for (int d = 0; d < 3; d++) {
    TES_ALLOC(&p->axis[d].table, p->axis[d].types);
    for (int t = 0; t < p->axis[d].types; t++)
      TES_TRY(fill_table(ctx, p, smoother->op->precision, d, t, like[d][t]));
  }
  TES_TRY(fill_kinds(smoother, below, p, like));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &like[d]);
  return status;
}

void tesi_stokes_patch_tables_free(TesContext *ctx, TesiStokesPatchPlan *p) {
  for (int d = 0; d < 3; d++) {
    for (int t = 0; p->axis[d].table && t < p->axis[d].types; t++) tesi_free(ctx, &p->axis[d].table[t]);
    tesi_free(ctx, &p->axis[d].table);
  }
  for (int i = 0; p->kind && i < p->kinds; i++) tesi_free(ctx, &p->kind[i]);
  tesi_free(ctx, &p->kind);
}
