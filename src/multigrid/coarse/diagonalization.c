#include "multigrid/coarse/diagonalization.h"
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "basis/eigen.h"
#include "tensor/matmul.h"

struct TesiDiagonalization {
  TesContext *context;
  int first[3], n[3], nodes[3];
  double *S[3], *T[3], *lambda[3]; /* [n][n], its transpose, [n] */
  double *u, *v;                   /* unknowns only: [n2][n1][n0] */
  TesiMatmul multiply;
  int threads;
  double smallest; /* eigenvalues of A below this are taken as zero */
};

/* Directions with the same matrices have the same modes: copies them. */
static bool copy_modes(TesiDiagonalization *D, int d, double *const K[3], double *const M[3]) {
  const size_t bytes = (size_t)D->n[d] * (size_t)D->n[d] * sizeof(double);
  for (int e = 0; e < d; e++)
    if (D->n[e] == D->n[d] && !memcmp(K[e], K[d], bytes) && !memcmp(M[e], M[d], bytes)) {
      memcpy(D->S[d], D->S[e], bytes);
      memcpy(D->lambda[d], D->lambda[e], (size_t)D->n[d] * sizeof(double));
      return true;
    }
  return false;
}

/* K[e], M[e]: the matrices of the unknowns of earlier directions; fills K[d], M[d]. */
static TesStatus fill(TesiDiagonalization *D, const TesOperator *op, int d, double *K_all[3],
                      double *M_all[3]) {
  TesContext *ctx = D->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = &op->space->axis[d];
  const int nodes = D->nodes[d] = axis->nodes, first = D->first[d] = tesi_axis_first(axis),
            n = D->n[d] = tesi_axis_end(axis) - first;
  TES_ALLOC(&K_all[d], (int64_t)nodes * nodes);
  TES_ALLOC(&M_all[d], (int64_t)nodes * nodes);
  double *const K = K_all[d], *const M = M_all[d];
  TES_ALLOC(&D->S[d], (int64_t)n * n);
  TES_ALLOC(&D->lambda[d], n);
  if (d < op->space->dim)
    TES_TRY(tesi_operator_axis_matrices(op, d, K, M));
  else
    M[0] = 1; /* a direction that does not exist: one mode of eigenvalue 0 */
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      K[i * n + j] =
          K[(i + first) * nodes + j + first]; /* in place: an entry is never written before it is read */
      M[i * n + j] = M[(i + first) * nodes + j + first];
    }
  if (!copy_modes(D, d, K_all, M_all)) TES_TRY(tesi_eigen(ctx, n, K, M, D->S[d], D->lambda[d]));
  TES_ALLOC(&D->T[d], (int64_t)n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) D->T[d][i * n + j] = D->S[d][j * n + i];
done:
  return status;
}

TesStatus tesi_diagonalization_create(TesContext *ctx, const TesOperator *separable,
                                      TesiDiagonalization **diagonalization) {
  TesStatus status = TES_OK;
  TesiDiagonalization *D = NULL;
  double *K[3] = {NULL}, *M[3] = {NULL};
  *diagonalization = NULL;
  TES_NEW(&D);
  D->context = tesi_context_retain(ctx);
  double largest = 0;
  int64_t size = 1;
  for (int d = 0; d < 3; d++) {
    TES_TRY(fill(D, separable, d, K, M));
    largest += D->lambda[d][D->n[d] - 1];
    size *= D->n[d];
  }
  D->smallest = 1e-13 * largest;
  D->multiply = tesi_matmul(tes_context_simd_bits(ctx));
  D->threads = tesi_team_threads(ctx, 4 * size);
  TES_ALLOC(&D->u, size);
  TES_ALLOC(&D->v, size);
  *diagonalization = D;
  D = NULL;
done:
  for (int d = 0; d < 3; d++) {
    tesi_free(ctx, &K[d]);
    tesi_free(ctx, &M[d]);
  }
  tesi_diagonalization_destroy(&D);
  return status;
}

TesiDiagonalizationAxis tesi_diagonalization_axis(const TesiDiagonalization *D, int d) {
  return (TesiDiagonalizationAxis){D->n[d], D->first[d], D->nodes[d], D->S[d], D->lambda[d], D->smallest};
}

void tesi_diagonalization_destroy(TesiDiagonalization **diagonalization) {
  if (!diagonalization || !*diagonalization) return;
  TesiDiagonalization *D = *diagonalization;
  TesContext *ctx = D->context;
  *diagonalization = NULL;
  for (int d = 0; d < 3; d++) {
    tesi_free(ctx, &D->S[d]);
    tesi_free(ctx, &D->T[d]);
    tesi_free(ctx, &D->lambda[d]);
  }
  tesi_free(ctx, &D->u);
  tesi_free(ctx, &D->v);
  tesi_free(ctx, &D);
  tes_context_destroy(&ctx);
}

enum { STRIP = 64 };

typedef struct Transform {
  const TesiDiagonalization *D;
  bool transpose;
  double *u, *v;
} Transform;

/* Planes, then strips across them. */
static void transform_share(const void *data, const TesiTeamMember *me) {
  const Transform *t = data;
  const TesiDiagonalization *D = t->D;
  const int nx = D->n[0], ny = D->n[1], nz = D->n[2], plane = nx * ny;
  double *const *left = t->transpose ? D->T : D->S, *right = t->transpose ? D->S[0] : D->T[0];
  const TesiSpan planes = tesi_team_part(me, 0, nz),
                 strips = tesi_team_part(me, 0, (plane + STRIP - 1) / STRIP);
  for (int64_t z = planes.first; z < planes.end; z++) {
    double *u = t->u + z * plane, *v = t->v + z * plane;
    D->multiply(ny, nx, nx, u, nx, right, nx, v, nx);
    D->multiply(ny, nx, ny, left[1], ny, v, nx, u, nx);
  }
  tesi_team_wait(me);
  for (int c = (int)strips.first * STRIP; c < plane && c < strips.end * STRIP; c += STRIP)
    D->multiply(nz, tesi_min(STRIP, plane - c), nz, left[2], nz, t->u + c, plane, t->v + c, plane);
}

/* v <- (S2 (x) S1 (x) S0) u, or with the transposes. u is overwritten. */
static void transform(const TesiDiagonalization *D, bool transpose, double *u, double *v) {
  tesi_team_run(D->threads, transform_share, &(Transform){D, transpose, u, v});
}

static void divide(const TesiDiagonalization *D, double *v) {
  for (int z = 0; z < D->n[2]; z++)
    for (int y = 0; y < D->n[1]; y++)
      for (int x = 0; x < D->n[0]; x++) {
        const double lambda = D->lambda[0][x] + D->lambda[1][y] + D->lambda[2][z];
        double *entry = v + ((int64_t)z * D->n[1] + y) * D->n[0] + x;
        *entry = fabs(lambda) <= D->smallest ? 0 : *entry / lambda;
      }
}

void tesi_diagonalization_solve(TesiDiagonalization *D, const double *b, double *x) {
  const int64_t size = (int64_t)D->nodes[0] * D->nodes[1] * D->nodes[2];
  const size_t row = (size_t)D->n[0] * sizeof *b;
#define EACH_ROW(copy)                                                                                       \
  for (int z = 0; z < D->n[2]; z++)                                                                          \
    for (int y = 0; y < D->n[1]; y++) {                                                                      \
      const int64_t at =                                                                                     \
          ((int64_t)(z + D->first[2]) * D->nodes[1] + y + D->first[1]) * D->nodes[0] + D->first[0];          \
      const int64_t unknown = ((int64_t)z * D->n[1] + y) * D->n[0];                                          \
      copy;                                                                                                  \
    }
  EACH_ROW(memcpy(D->u + unknown, b + at, row))
  transform(D, true, D->u, D->v);
  divide(D, D->v);
  transform(D, false, D->v, D->u);
  memset(x, 0, (size_t)size * sizeof *x);
  EACH_ROW(memcpy(x + at, D->u + unknown, row))
#undef EACH_ROW
}
