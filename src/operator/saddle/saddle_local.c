#include "operator/saddle/saddle_local.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>
#include "basis/blas.h"
#include "basis/eigen.h"

/* G = Zd' D Zc. */
static TesStatus project(TesContext *ctx, const double *D, TesiSaddleLocalAxis *l) {
  TesStatus status = TES_OK;
  const int M = l->nodes, N = l->modes;
  double *DZ = NULL;
  TES_ALLOC(&DZ, N * M);
  for (int q = 0; q < N; q++)
    for (int j = 0; j < M; j++)
      for (int a = 0; a < M; a++) DZ[q * M + a] += D[q * M + j] * l->Zc[j * M + a];
  for (int b = 0; b < N; b++)
    for (int q = 0; q < N; q++)
      for (int a = 0; a < M; a++) l->G[b * M + a] += l->Zd[q * N + b] * DZ[q * M + a];
done:
  tesi_free(ctx, &DZ);
  return status;
}

static void pick(const TesiBand *band, int rows, const int *row, int columns, const int *column, double *A) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) A[i * columns + j] = tesi_band_entry(band, row[i], column[j]);
}

static TesStatus diagonalize(TesContext *ctx, TesiSaddleLocalAxis *l) {
  TesStatus status = TES_OK;
  const int M = l->nodes, N = l->modes;
  const double *Lc = l->matrices, *Mc = Lc + M * M, *Ld = Mc + M * M, *D = Ld + N * N;
  double *one = NULL;
  TES_ALLOC(&one, N * N);
  for (int i = 0; i < N; i++) one[i * N + i] = 1;
  TES_TRY(tesi_eigen(ctx, M, Lc, Mc, l->Zc, l->lc));
  TES_TRY(tesi_eigen(ctx, N, Ld, one, l->Zd, l->ld));
  TES_TRY(project(ctx, D, l));
done:
  tesi_free(ctx, &one);
  return status;
}

TesStatus tesi_saddle_local_create(TesContext *ctx, const TesiRtAxis *a, const TesiSaddleAxis *s, int nodes,
                                   const int *node, int modes, const int *mode, TesiSaddleLocalAxis *l) {
  TesStatus status = TES_OK;
  const int M = nodes, N = modes;
  *l = (TesiSaddleLocalAxis){.nodes = M, .modes = N};
  TES_ALLOC(&l->Zc, M * M);
  TES_ALLOC(&l->Zd, N * N);
  TES_ALLOC(&l->lc, M);
  TES_ALLOC(&l->ld, N);
  TES_ALLOC(&l->G, N * M);
  TES_ALLOC(&l->e, N);
  TES_ALLOC(&l->matrices, 2 * M * M + N * N + N * M);
  if (!s) {
    l->Zd[0] = l->e[0] = 1;
    return TES_OK;
  }
  double *Lc = l->matrices, *Mc = Lc + M * M, *Ld = Mc + M * M, *D = Ld + N * N;
  pick(&s->stiffness, M, node, M, node, Lc);
  pick(&s->mass, M, node, M, node, Mc);
  pick(&s->penalty, N, mode, N, mode, Ld);
  pick(&s->derivative, N, mode, M, node, D);
  TES_TRY(diagonalize(ctx, l));
  for (int q = 0; q < N; q++)
    for (int b = 0; b < N && mode[q] % a->n == 0; b++)
      l->e[b] += l->Zd[q * N + b] * sqrt(a->h[mode[q] / a->n]);
done:
  return status;
}

void tesi_saddle_local_free(TesContext *ctx, TesiSaddleLocalAxis *l) {
  double **const arrays[] = {&l->Zc, &l->Zd, &l->lc, &l->ld, &l->G, &l->e, &l->matrices};
  for (int i = 0; i < 7; i++) tesi_free(ctx, arrays[i]);
}

bool tesi_saddle_local_equal(const TesiSaddleLocalAxis *a, const TesiSaddleLocalAxis *b) {
  const int M = a->nodes, N = a->modes, sizes[4] = {M * M, M * M, N * N, N * M};
  if (M != b->nodes || N != b->modes) return false;
  for (int i = 0, at = 0; i < 4; at += sizes[i++]) {
    double largest = 0, difference = 0;
    for (int j = at; j < at + sizes[i]; j++) {
      largest = fmax(largest, fabs(a->matrices[j]));
      difference = fmax(difference, fabs(a->matrices[j] - b->matrices[j]));
    }
    if (difference > 1e-12 * largest) return false;
  }
  return true;
}

int tesi_saddle_local_pressures(const TesiSaddleLocal *l) {
  return l->axis[0]->modes * l->axis[1]->modes * l->axis[2]->modes;
}

/* S <- S + the part of component i: dense along direction i, diagonal across. */
static void add_component(const TesiSaddleLocal *l, int i, double *S) {
  const int *const N = (const int[]){l->axis[0]->modes, l->axis[1]->modes, l->axis[2]->modes};
  const int n = tesi_saddle_local_pressures(l), step = i == 0 ? 1 : i == 1 ? N[0] : N[0] * N[1];
  const TesiSaddleLocalAxis *a = l->axis[i];
  for (int row = 0; row < n; row++) {
    const int m[3] = {row % N[0], row / N[0] % N[1], row / N[0] / N[1]};
    double across = l->alpha;
    for (int d = 0; d < l->dim; d++)
      if (d != i) across += l->nu * l->axis[d]->ld[m[d]];
    for (int other = 0; other < N[i]; other++) {
      double sum = 0;
      for (int z = 0; z < a->nodes; z++)
        sum += a->G[m[i] * a->nodes + z] * a->G[other * a->nodes + z] / (l->nu * a->lc[z] + across);
      S[(int64_t)row * n + row + (other - m[i]) * step] += sum;
    }
  }
}

/* e e' factor is added. */
static void add_constant(const TesiSaddleLocal *l, double factor, double *S) {
  const int n = tesi_saddle_local_pressures(l), Nx = l->axis[0]->modes, Ny = l->axis[1]->modes;
  double norm = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int r = 0; r < n; r++) {
      const double e = l->axis[0]->e[r % Nx] * l->axis[1]->e[r / Nx % Ny] * l->axis[2]->e[r / Nx / Ny];
      if (pass == 0) norm += e * e;
      for (int c = 0; c < n && pass == 1; c++)
        S[(int64_t)r * n + c] += factor / norm * e * l->axis[0]->e[c % Nx] * l->axis[1]->e[c / Nx % Ny] *
                                 l->axis[2]->e[c / Nx / Ny];
    }
}

TesStatus tesi_saddle_local_invert(TesContext *ctx, const TesiSaddleLocal *l, double *S) {
  TesStatus status = TES_OK;
  const int n = tesi_saddle_local_pressures(l);
  double trace = 0;
  memset(S, 0, sizeof *S * (size_t)n * (size_t)n);
  for (int i = 0; i < l->dim; i++) add_component(l, i, S);
  for (int r = 0; r < n; r++) trace += S[(int64_t)r * n + r] / n;
  if (l->closed) add_constant(l, trace, S);
  TES_TRY(tesi_blas_begin(ctx, n));
  int info = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'U', n, S, n);
  if (info == 0) info = LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'U', n, S, n);
  if (info != 0)
    TES_FAIL(TES_INTERNAL, "a Schur complement of %d pressures is not positive definite (LAPACK: %d)", n,
             info);
  for (int r = 0; r < n; r++)
    for (int c = 0; c < r; c++) S[(int64_t)r * n + c] = S[(int64_t)c * n + r];
  if (l->closed) add_constant(l, -1 / trace, S);
done:
  return status;
}
