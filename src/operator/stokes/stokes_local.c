#include "operator/stokes/stokes_local.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "basis/blas.h"
#include "basis/eigen.h"

/* G = Zd' D Zc. */
static TesStatus project(TesContext *ctx, const double *D, TesiStokesLocalAxis *l) {
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

/* The place of an entry after mirroring of the interval, and its sign; n: modes of a cell. */
static int mirrored(bool node, int n, int count, int i, int *sign) {
  *sign = node || i % n % 2 == 0 ? 1 : -1;
  return node ? count - 1 - i : (count / n - 1 - i / n) * n + i % n;
}

/* Whether B[rows][columns] mirrored is sign A, to round-off. */
static bool is_image(int n, const double *A, const double *B, bool row_nodes, int rows, bool column_nodes,
                     int columns, int sign) {
  double largest = 0, difference = 0;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      int of_row, of_column;
      const int mi = mirrored(row_nodes, n, rows, i, &of_row),
                mj = mirrored(column_nodes, n, columns, j, &of_column);
      const double image = of_row * of_column * sign * B[mi * columns + mj];
      largest = fmax(largest, fabs(A[i * columns + j]));
      difference = fmax(difference, fabs(A[i * columns + j] - image));
    }
  return difference <= 1e-12 * largest;
}

static bool is_mirrored(int n, const double *A, bool row_nodes, int rows, bool column_nodes, int columns,
                        int sign) {
  return is_image(n, A, A, row_nodes, rows, column_nodes, columns, sign);
}

static bool is_symmetric(const TesiStokesLocalAxis *l) {
  const int M = l->nodes, N = l->modes, n = l->n;
  const double *Lc = l->matrices, *Mc = Lc + M * M, *Ld = Mc + M * M, *D = Ld + N * N;
  return M == N - 1 && N % (2 * n) == 0 && is_mirrored(n, Lc, true, M, true, M, 1) &&
         is_mirrored(n, Mc, true, M, true, M, 1) && is_mirrored(n, Ld, false, N, false, N, 1) &&
         is_mirrored(n, D, false, N, true, M, -1);
}

/* Ld z = ld z with even and odd z. The modes of the upper half, in reverse order and with their signs, make Ld
 * centrosymmetric. */
static TesStatus diagonalize_modes(TesContext *ctx, const double *one, TesiStokesLocalAxis *l) {
  TesStatus status = TES_OK;
  const int M = l->nodes, N = l->modes, half = N / 2;
  const double *Ld = l->matrices + 2 * M * M;
  double *A = NULL, *Z = NULL;
  TES_ALLOC(&A, N * N);
  TES_ALLOC(&Z, N * N);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < N; i++) {
      int sign = 1, other = 1;
      const int from = i < half ? i : mirrored(false, l->n, N, N - 1 - i, &sign);
      for (int j = 0; j < N; j++) {
        const int column = j < half ? j : mirrored(false, l->n, N, N - 1 - j, &other);
        if (pass == 0)
          A[i * N + j] = (i < half ? 1 : sign) * (j < half ? 1 : other) * Ld[from * N + column];
        else
          l->Zd[from * N + j] = (i < half ? 1 : sign) * Z[i * N + j];
      }
    }
    if (pass == 0) TES_TRY(tesi_eigen_symmetric(ctx, N, A, one, Z, l->ld));
  }
done:
  tesi_free(ctx, &A);
  tesi_free(ctx, &Z);
  return status;
}

static TesStatus diagonalize(TesContext *ctx, TesiStokesLocalAxis *l) {
  TesStatus status = TES_OK;
  const int M = l->nodes, N = l->modes;
  const double *Lc = l->matrices, *Mc = Lc + M * M, *Ld = Mc + M * M, *D = Ld + N * N;
  double *one = NULL;
  TES_ALLOC(&one, N * N);
  for (int i = 0; i < N; i++) one[i * N + i] = 1;
  l->symmetric = is_symmetric(l);
  if (l->symmetric) {
    TES_TRY(tesi_eigen_symmetric(ctx, M, Lc, Mc, l->Zc, l->lc));
    TES_TRY(diagonalize_modes(ctx, one, l));
  } else {
    TES_TRY(tesi_eigen(ctx, M, Lc, Mc, l->Zc, l->lc));
    TES_TRY(tesi_eigen(ctx, N, Ld, one, l->Zd, l->ld));
  }
  TES_TRY(project(ctx, D, l));
done:
  tesi_free(ctx, &one);
  return status;
}

/* The entries of Ld[N][N] of cell `far` become the mirrored entries of the other cell. */
static void repeat_near(int N, TesiStokesFar far, double *Ld) {
  const int n = N / 2, to = far * n, from = n - to;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      Ld[(to + i) * N + to + j] = ((i + j) % 2 ? -1 : 1) * Ld[(from + i) * N + from + j];
}

TesStatus tesi_stokes_local_create(TesContext *ctx, const TesiStokesAxis *s, int nodes, const int *node,
                                   int modes, const int *mode, TesiStokesFar far, TesiStokesLocalAxis *l) {
  TesStatus status = TES_OK;
  const int M = nodes, N = modes;
  *l = (TesiStokesLocalAxis){.nodes = M, .modes = N, .n = s ? s->modal.step : 1};
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
  if (far != TESI_STOKES_FAR_NONE) repeat_near(N, far, Ld);
  TES_TRY(diagonalize(ctx, l));
  for (int q = 0; q < N; q++)
    for (int b = 0; b < N && mode[q] % l->n == 0; b++)
      l->e[b] += l->Zd[q * N + b] * sqrt(s->modal.h[mode[q] / l->n]);
done:
  return status;
}

void tesi_stokes_local_free(TesContext *ctx, TesiStokesLocalAxis *l) {
  double **const arrays[] = {&l->Zc, &l->Zd, &l->lc, &l->ld, &l->G, &l->e, &l->matrices};
  for (int i = 0; i < 7; i++) tesi_free(ctx, arrays[i]);
}

/* Whether b mirrored is a, to round-off. */
bool tesi_stokes_local_mirrors(const TesiStokesLocalAxis *a, const TesiStokesLocalAxis *b) {
  const int M = a->nodes, N = a->modes, n = a->n;
  if (M != b->nodes || N != b->modes) return false;
  const double *A = a->matrices, *B = b->matrices;
  return is_image(n, A, B, true, M, true, M, 1) && is_image(n, A + M * M, B + M * M, true, M, true, M, 1) &&
         is_image(n, A + 2 * M * M, B + 2 * M * M, false, N, false, N, 1) &&
         is_image(n, A + 2 * M * M + N * N, B + 2 * M * M + N * N, false, N, true, M, -1);
}

void tesi_stokes_local_mirror(const TesiStokesLocalAxis *from, TesiStokesLocalAxis *l) {
  const int M = l->nodes, N = l->modes;
  for (int i = 0; i < M; i++) {
    int sign;
    memcpy(l->Zc + i * M, from->Zc + mirrored(true, l->n, M, i, &sign) * M, sizeof *l->Zc * (size_t)M);
    l->lc[i] = from->lc[i];
  }
  for (int i = 0; i < N; i++) {
    int sign;
    const double *row = from->Zd + mirrored(false, l->n, N, i, &sign) * N;
    for (int j = 0; j < N; j++) l->Zd[i * N + j] = sign * row[j];
    l->ld[i] = from->ld[i];
    l->e[i] = from->e[i];
  }
  for (int i = 0; i < N * M; i++) l->G[i] = -from->G[i];
}

double tesi_stokes_local_key(const TesiStokesLocalAxis *l) {
  const int M = l->nodes, N = l->modes, sizes[4] = {M * M, M * M, N * N, N * M};
  double key = 1;
  for (int i = 0, at = 0; i < 4; at += sizes[i++]) {
    double largest = 0;
    for (int j = at; j < at + sizes[i]; j++) largest = fmax(largest, fabs(l->matrices[j]));
    if (largest > 0) key *= largest;
  }
  return key;
}

double tesi_stokes_local_shape(const TesiStokesLocalAxis *l) {
  double square = 0, largest = 0;
  for (int i = 0; i < l->modes; i++) square += l->e[i] * l->e[i];             /* as lengths */
  for (int j = 0; j < l->nodes; j++) largest = fmax(largest, fabs(l->lc[j])); /* as 1 / lengths^2 */
  return largest > 0 ? largest * square * square : 1;
}

bool tesi_stokes_local_equal(const TesiStokesLocalAxis *a, const TesiStokesLocalAxis *b) {
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

/* Whether a is factor b, to round-off. */
static bool is_multiple(int count, const double *a, double factor, const double *b) {
  double largest = 0, difference = 0;
  for (int i = 0; i < count; i++) {
    largest = fmax(largest, fabs(a[i]));
    difference = fmax(difference, fabs(a[i] - factor * b[i]));
  }
  return difference <= 1e-12 * largest;
}

bool tesi_stokes_local_scales(const TesiStokesLocalAxis *a, const TesiStokesLocalAxis *b, double *scale) {
  const int M = a->nodes, N = a->modes;
  double of_a = 0, of_b = 0;
  if (M != b->nodes || N != b->modes || a->symmetric != b->symmetric) return false;
  for (int i = 0; i < N; i++) of_a += a->e[i] * a->e[i], of_b += b->e[i] * b->e[i];
  *scale = of_b / of_a; /* of lengths: the squares of e sum to |1|^2 */
  const double s = *scale;
  return is_multiple(M, a->lc, s * s, b->lc) && is_multiple(N, a->ld, s * s, b->ld) &&
         is_multiple(N * M, a->G, s, b->G) && is_multiple(N, a->e, 1 / sqrt(s), b->e);
}

int tesi_stokes_local_pressures(const TesiStokesLocal *l) {
  return l->axis[0]->modes * l->axis[1]->modes * l->axis[2]->modes;
}

int tesi_stokes_local_blocks(const TesiStokesLocal *l, TesiStokesBlock block[8]) {
  int parts[3];
  for (int d = 0; d < 3; d++) parts[d] = l->axis[d]->symmetric ? 2 : 1;
  const int count = parts[0] * parts[1] * parts[2];
  for (int b = 0; b < count; b++) {
    const int part[3] = {b % parts[0], b / parts[0] % parts[1], b / parts[0] / parts[1]};
    block[b].size = 1;
    for (int d = 0; d < 3; d++) {
      block[b].extent[d] = l->axis[d]->modes / parts[d];
      block[b].first[d] = part[d] * block[b].extent[d];
      block[b].size *= block[b].extent[d];
    }
  }
  return count;
}

/* Modes of pressure `row` of a block. */
static void modes_of(const TesiStokesBlock *b, int row, int m[3]) {
  m[0] = b->first[0] + row % b->extent[0];
  m[1] = b->first[1] + row / b->extent[0] % b->extent[1];
  m[2] = b->first[2] + row / b->extent[0] / b->extent[1];
}

/* For component i: the entry of S where only direction i differs, from modes m to `other`. */
static double entry(const TesiStokesLocal *l, int i, const int m[3], int other) {
  const TesiStokesLocalAxis *a = l->axis[i];
  const double *row = a->G + m[i] * a->nodes, *column = a->G + other * a->nodes;
  double across = l->alpha, sum = 0;
  for (int d = 0; d < l->dim; d++)
    if (d != i) across += l->nu * l->axis[d]->ld[m[d]];
  for (int z = 0; z < a->nodes; z++) sum += row[z] * column[z] / (l->nu * a->lc[z] + across);
  return sum;
}

/* S <- S + the part of component i: dense along direction i, diagonal across. */
static void add_component(const TesiStokesLocal *l, int i, const TesiStokesBlock *b, double *S) {
  const int n = b->size, step = i == 0 ? 1 : i == 1 ? b->extent[0] : b->extent[0] * b->extent[1];
  for (int row = 0; row < n; row++) {
    int m[3];
    modes_of(b, row, m);
    for (int other = b->first[i]; other < b->first[i] + b->extent[i]; other++)
      S[(int64_t)row * n + row + (other - m[i]) * step] += entry(l, i, m, other);
  }
}

double tesi_stokes_local_constant(const TesiStokesLocal *l, const TesiStokesBlock *b, double *e) {
  double norm = 0, trace = 0;
  for (int r = 0; r < b->size; r++) {
    int m[3];
    modes_of(b, r, m);
    e[r] = l->axis[0]->e[m[0]] * l->axis[1]->e[m[1]] * l->axis[2]->e[m[2]];
    norm += e[r] * e[r];
    for (int i = 0; i < l->dim; i++) trace += entry(l, i, m, m[i]);
  }
  for (int r = 0; r < b->size; r++) e[r] /= sqrt(norm);
  return trace / b->size;
}

/* S <- S + factor e e'. */
static void add_constant(int n, const double *e, double factor, double *S) {
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) S[(int64_t)r * n + c] += factor * e[r] * e[c];
}

/* LAPACK's lower triangle by columns is the upper triangle by rows of this symmetric matrix. */
static int invert_matrix(int n, double *S) {
  int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, S, n);
  if (info == 0) info = LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', n, S, n);
  for (int r = 0; r < n; r++)
    for (int c = 0; c < r; c++) S[(int64_t)r * n + c] = S[(int64_t)c * n + r];
  return info;
}

/* e[size]: work. Returns LAPACK's result. */
static int invert(const TesiStokesInverse *one, double *e) {
  const TesiStokesLocal *l = one->local;
  const TesiStokesBlock *b = &one->block;
  const int n = b->size;
  const bool constant = l->closed && b->first[0] + b->first[1] + b->first[2] == 0;
  double *S = one->S, scale = 1;
  memset(S, 0, sizeof *S * (size_t)n * (size_t)n);
  for (int i = 0; i < l->dim; i++) add_component(l, i, b, S);
  if (constant) {
    scale = tesi_stokes_local_constant(l, b, e);
    add_constant(n, e, scale, S);
  }
  const int info = invert_matrix(n, S);
  if (constant) add_constant(n, e, -1 / scale, S);
  return info;
}

typedef struct Inverses {
  const TesiStokesInverse *one;
  int most, *info;
  double *work; /* [threads][most] */
} Inverses;

static void invert_some(const void *data, TesiSpan span) {
  const Inverses *all = data;
  for (int64_t i = span.first; i < span.end; i++)
    all->info[i] = invert(&all->one[i], all->work + (int64_t)span.thread * all->most);
}

/* Several inverses: one thread each. One inverse: the threads of BLAS. */
TesStatus tesi_stokes_local_invert_all(TesContext *ctx, int count, const TesiStokesInverse *one) {
  enum { FASTER = 16 }; /* products that BLAS computes while a simple loop reads one number */
  TesStatus status = TES_OK;
  Inverses all = {.one = one};
  double work = 0;
  for (int i = 0; i < count; i++) {
    const double n = one[i].block.size;
    all.most = tesi_max(all.most, one[i].block.size);
    work += n * n * n / FASTER;
  }
  const int threads = count == 1 ? 1 : tesi_team_threads(ctx, (int64_t)work);
  TES_ALLOC(&all.info, count);
  TES_ALLOC(&all.work, (int64_t)threads * all.most);
  TES_TRY(tesi_blas_begin(ctx, count == 1 ? all.most : 1));
  tesi_team_share(threads, count, 1, invert_some, &all);
  for (int i = 0; i < count; i++)
    if (all.info[i] != 0)
      TES_FAIL(TES_INTERNAL, "a Schur complement of %d pressures is not positive definite (LAPACK: %d)",
               one[i].block.size, all.info[i]);
done:
  tesi_free(ctx, &all.info);
  tesi_free(ctx, &all.work);
  return status;
}

TesStatus tesi_stokes_local_invert(TesContext *ctx, const TesiStokesLocal *l, double *S) {
  TesStatus status = TES_OK;
  TesiStokesBlock block[8];
  const int count = tesi_stokes_local_blocks(l, block), n = tesi_stokes_local_pressures(l),
            Nx = l->axis[0]->modes, Ny = l->axis[1]->modes;
  const int64_t size = (int64_t)block[0].size * block[0].size;
  TesiStokesInverse one[8] = {{l, block[0], S}};
  double *B = NULL;
  if (count == 1) return tesi_stokes_local_invert_all(ctx, 1, one);
  TES_ALLOC(&B, count * size);
  for (int b = 0; b < count; b++) one[b] = (TesiStokesInverse){l, block[b], B + b * size};
  TES_TRY(tesi_stokes_local_invert_all(ctx, count, one));
  const double *from = B;
  memset(S, 0, sizeof *S * (size_t)n * (size_t)n);
  for (int b = 0; b < count; b++)
    for (int r = 0; r < block[b].size; r++)
      for (int c = 0; c < block[b].size; c++) {
        int m[3], o[3];
        modes_of(&block[b], r, m);
        modes_of(&block[b], c, o);
        S[(int64_t)(m[0] + Nx * (m[1] + Ny * m[2])) * n + o[0] + Nx * (o[1] + Ny * o[2])] = *from++;
      }
done:
  tesi_free(ctx, &B);
  return status;
}
