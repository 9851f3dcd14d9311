#include "multigrid/coarse/aggregation/prolongation.h"
#include <math.h>
#include <string.h>
#include "base/team.h"

/* Relative to the vector's norm on the aggregate: a smaller rest is round-off of the orthogonalization. */
static const double dependent = 1e-8;

typedef struct Tentative {
  const TesiAggregates *aggregates;
  const double *B;
  TesiBlockMatrix *T;
  double *C;
} Tentative;

/* Entry (r, k) of a member's block: T has one block per row, so that its order is that of B. */
static inline double *row_of(const TesiBlockMatrix *T, int64_t node, int r) {
  return tesi_block_at(T, node) + r * T->wide;
}

static double product(const Tentative *t, int64_t a, int k, int l) {
  double sum = 0;
  for (int64_t m = t->aggregates->first[a]; m < t->aggregates->first[a + 1]; m++)
    for (int r = 0; r < t->T->high; r++) {
      const double *v = row_of(t->T, t->aggregates->member[m], r);
      sum += v[k] * v[l];
    }
  return sum;
}

/* Column k <- factor (column k - part column l). */
static void combine(const Tentative *t, int64_t a, int k, double factor, double part, int l) {
  for (int64_t m = t->aggregates->first[a]; m < t->aggregates->first[a + 1]; m++)
    for (int r = 0; r < t->T->high; r++) {
      double *v = row_of(t->T, t->aggregates->member[m], r);
      v[k] = factor * (v[k] - part * v[l]);
    }
}

/* Gram-Schmidt, twice. */
static void orthonormalize(const Tentative *t, int64_t a) {
  const int n = t->T->wide;
  double *C = t->C + a * n * n;
  for (int k = 0; k < n; k++) {
    const double whole = sqrt(product(t, a, k, k));
    for (int pass = 0; pass < 2; pass++)
      for (int l = 0; l < k; l++) {
        const double part = product(t, a, k, l);
        combine(t, a, k, 1, part, l);
        C[l * n + k] += part;
      }
    const double rest = sqrt(product(t, a, k, k));
    const bool kept = rest > dependent * whole;
    combine(t, a, k, kept ? 1 / rest : 0, 0, k);
    C[k * n + k] = kept ? rest : 0;
  }
}

static void tentative_span(const void *data, TesiSpan span) {
  const Tentative *t = data;
  const size_t block = (size_t)(t->T->high * t->T->wide);
  for (int64_t a = span.first; a < span.end; a++) {
    for (int64_t m = t->aggregates->first[a]; m < t->aggregates->first[a + 1]; m++) {
      const int64_t node = t->aggregates->member[m];
      t->T->column[t->T->row[node]] = (int32_t)a;
      memcpy(row_of(t->T, node, 0), t->B + (size_t)node * block, block * sizeof *t->B);
    }
    orthonormalize(t, a);
  }
}

TesStatus tesi_prolongation_tentative(TesContext *ctx, const TesiAggregates *aggregates, int64_t nodes,
                                      int high, int vectors, const double *B, TesiBlockMatrix *T, double **C) {
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, nodes * high * vectors * vectors);
  *C = NULL;
  *T = (TesiBlockMatrix){.rows = nodes, .columns = aggregates->count, .high = high, .wide = vectors};
  TES_ALLOC(&T->row, nodes + 1);
  for (int64_t i = 0; i < nodes; i++) T->row[i + 1] = T->row[i] + (aggregates->of[i] >= 0);
  TES_TRY(tesi_block_allocate(ctx, T));
  TES_ALLOC(C, aggregates->count * vectors * vectors);
  tesi_team_for(threads, aggregates->count, tentative_span, &(Tentative){aggregates, B, T, *C});
done:
  return status;
}

typedef struct Smooth {
  const TesiBlockMatrix *T;
  TesiBlockMatrix *P;
  const double *inverse;
  double omega;
} Smooth;

/* P holds A T. Its rows include the aggregate of their own node, since A has a diagonal. */
static void smooth_span(const void *data, TesiSpan span) {
  const Smooth *s = data;
  const TesiBlockMatrix *P = s->P, *T = s->T;
  const int high = P->high, wide = P->wide;
  for (int64_t I = span.first; I < span.end; I++) {
    const int64_t count = P->row[I + 1] - P->row[I];
    double *value = tesi_block_at(P, I);
    for (int r = 0; r < high; r++)
      for (int64_t i = 0; i < count * wide; i++)
        value[r * count * wide + i] *= -s->omega * s->inverse[I * high + r];
    for (int64_t k = 0; k < count && T->row[I + 1] > T->row[I]; k++)
      for (int r = 0; r < high && P->column[P->row[I] + k] == T->column[T->row[I]]; r++)
        for (int c = 0; c < wide; c++) value[(r * count + k) * wide + c] += tesi_block_at(T, I)[r * wide + c];
  }
}

TesStatus tesi_prolongation_smooth(TesContext *ctx, const TesiBlockMatrix *A, const double *inverse,
                                   double omega, const TesiBlockMatrix *T, TesiBlockMatrix *P) {
  TesStatus status = TES_OK;
  TES_TRY(tesi_block_multiply(ctx, A, T, P));
  tesi_team_for(tesi_team_threads(ctx, P->row[P->rows] * P->high * P->wide), P->rows, smooth_span,
                &(Smooth){T, P, inverse, omega});
done:
  return status;
}
