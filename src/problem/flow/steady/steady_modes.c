#include "problem/flow/steady/steady_modes.h"
#include <lapacke.h>
#include <math.h>
#include "basis/blas.h"
#include "parallel/comm.h"
#include "problem/flow/split/split.h"

/* MOST: polynomials of this total degree or less, 10 in the plane and 20 in space. */
enum { DEGREE = 3, MOST = 20 };
/* Of the eigenvalues of the polynomials' mass, relative to the largest: on thin curved bodies polynomials depend on
 * each other. Of nu sigma: what float32 resolves, and where the mass alone is good enough. */
static const double independent = 1e-6, resolved = 1e-6, slow = 0.5;

struct TesiSteadyModes {
  TesContext *context;
  int count;
  TesVector *mode[MOST];
  double factor[MOST];
};

/* ---- polynomials --------------------------------------------------------------------------------------- */

/* A product of Legendre polynomials over the domain's box. */
typedef struct Polynomial {
  int power[3];
  double middle[3], half[3];
} Polynomial;

static double legendre(int degree, double t) {
  const double value[DEGREE + 1] = {1, t, (3 * t * t - 1) / 2, (5 * t * t - 3) * t / 2};
  return value[degree];
}

static void evaluate(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *value) {
  const Polynomial *p = user;
  const double *const at[3] = {x, y, z};
  (void)t;
  for (int64_t i = 0; i < n; i++) {
    value[i] = 1;
    for (int d = 0; d < 3; d++)
      if (p->power[d]) value[i] *= legendre(p->power[d], (at[d][i] - p->middle[d]) / p->half[d]);
  }
}

static TesStatus find_box(const TesSpace *space, Polynomial *box) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int dim = space->dim;
  double *x = NULL, end[6];
  for (int e = 0; e < 6; e++) end[e] = -INFINITY;
  TES_ALLOC(&x, space->length * dim);
  TES_TRY(tes_space_coordinates(space, x));
  for (int64_t i = 0; i < space->length * dim; i++) {
    double *const of = end + 2 * (i % dim);
    of[0] = fmax(of[0], -x[i]), of[1] = fmax(of[1], x[i]);
  }
  tesi_reduce(ctx, TESI_MAXIMUM, 2 * dim, end);
  for (int d = 0; d < dim; d++)
    box->middle[d] = (end[2 * d + 1] - end[2 * d]) / 2, box->half[d] = (end[2 * d + 1] + end[2 * d]) / 2;
done:
  tesi_free(ctx, &x);
  return status;
}

/* T[MOST] <- the polynomials from a power on: 1 leaves out constants. */
static TesStatus make_polynomials(const TesSpace *space, int first, TesVector **T, int *count) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesFunction *f = NULL;
  Polynomial p = {{0}, {0}, {1, 1, 1}};
  TES_TRY(find_box(space, &p));
  for (int e = first; e < (space->dim == 3 ? 64 : 16); e++) {
    int total = 0;
    for (int d = 0; d < 3; d++) total += p.power[d] = e >> 2 * d & 3;
    if (total > DEGREE) continue;
    TES_TRY(tes_function_create_callback(ctx, evaluate, &p, NULL, &f));
    TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &T[*count]));
    TES_TRY(tes_space_interpolate(space, (const TesFunction *const[]){f}, T[(*count)++]));
    tes_function_destroy(&f);
  }
done:
  tes_function_destroy(&f);
  return status;
}

/* ---- modes --------------------------------------------------------------------------------------------- */

/* S[i][j] <- x_j . B' T_i, x_j a cycle for B' T_j; M likewise. */
static TesStatus find_matrices(TesProblem *p, TesiSteadyCycle cycle, int n, TesVector *const *T, double *S,
                               double *M) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesVector *x = NULL;
  TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, &x));
  for (int j = 0; j < n; j++) {
    TES_TRY(tes_operator_apply(pr->pressure_mass, T[j], pr->work.pb));
    TES_TRY(tesi_taylor_hood_gradient(pr->taylor_hood, T[j], pr->work.r));
    TES_TRY(tesi_walls_put(&pr->walls, false, pr->work.r));
    pr->steady.cycle_norm = 0;
    TES_TRY(cycle(p, pr->work.r, x));
    TES_TRY(tesi_taylor_hood_divergence(pr->taylor_hood, x, pr->work.ps));
    for (int i = 0; i < n; i++) {
      TES_TRY(tes_vector_dot(T[i], pr->work.ps, &S[i * n + j]));
      TES_TRY(tes_vector_dot(T[i], pr->work.pb, &M[i * n + j]));
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) S[i * n + j] = S[j * n + i] = (S[i * n + j] + S[j * n + i]) / 2;
done:
  tes_vector_destroy(&x);
  return status;
}

/* Q[*kept][n] <- coefficients of the M-orthonormal vectors that diagonalise S; sigma[*kept]. S, M are used up. */
static TesStatus diagonalise(TesContext *ctx, int n, double *S, double *M, int *kept, double *Q,
                             double *sigma) {
  TesStatus status = TES_OK;
  double U[MOST * MOST], R[MOST * MOST] = {0};
  int m = 0;
  TES_TRY(tesi_blas_begin(ctx, n));
  *kept = 0;
  if (LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', n, M, n, sigma) != 0) return TES_OK;
  for (int j = 0; j < n; j++) {
    if (!(sigma[j] > independent * sigma[n - 1])) continue;
    for (int i = 0; i < n; i++) U[m * n + i] = M[j * n + i] / sqrt(sigma[j]);
    m++;
  }
  for (int a = 0; a < m; a++)
    for (int b = 0; b < m; b++)
      for (int e = 0; e < n * n; e++) R[a * m + b] += U[a * n + e / n] * S[e] * U[b * n + e % n];
  if (m == 0 || LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', m, R, m, sigma) != 0) return TES_OK;
  *kept = m;
  for (int e = 0; e < m * n; e++) {
    Q[e] = 0;
    for (int a = 0; a < m; a++) Q[e] += R[e / n * m + a] * U[a * n + e % n];
  }
done:
  return status;
}

/* Where no boundary is open, constants are in the null space of S. */
static TesStatus remove_means(TesProblem *p, int n, TesVector *const *T) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  if (tesi_split_of(p)->walls.any_open) return TES_OK;
  for (int j = 0; j < n; j++) TES_TRY(tesi_split_remove_mean(p, T[j]));
done:
  return status;
}

static TesStatus take_mode(TesiSteadyModes *m, int n, TesVector *const *T, const double *q, double factor) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TesVector **mode = &m->mode[m->count];
  TES_TRY(tesi_vector_create_on(T[0]->layout, TES_DOUBLE, mode));
  m->factor[m->count++] = factor;
  TES_TRY(tes_vector_fill(*mode, 0));
  for (int j = 0; j < n; j++) TES_TRY(tes_vector_axpy(q[j], T[j], *mode));
done:
  return status;
}

TesStatus tesi_steady_modes_create(TesProblem *p, TesiSteadyCycle cycle, TesiSteadyModes **modes) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  TesiSteadyModes *m = NULL;
  TesVector *T[MOST] = {NULL};
  double S[MOST * MOST], M[MOST * MOST], Q[MOST * MOST], sigma[MOST];
  int n = 0, kept;
  *modes = NULL;
  TES_NEW(&m);
  m->context = tesi_context_retain(ctx);
  TES_TRY(make_polynomials(pr->taylor_hood->pressure, pr->walls.any_open ? 0 : 1, T, &n));
  TES_TRY(remove_means(p, n, T));
  TES_TRY(find_matrices(p, cycle, n, T, S, M));
  TES_TRY(diagonalise(ctx, n, S, M, &kept, Q, sigma));
  for (int j = 0; j < kept; j++)
    if (pr->nu * sigma[j] > resolved && pr->nu * sigma[j] < slow)
      TES_TRY(take_mode(m, n, T, Q + j * n, 1 / sigma[j] - pr->nu));
  *modes = m;
  m = NULL;
done:
  for (int j = 0; j < MOST; j++) tes_vector_destroy(&T[j]);
  tesi_steady_modes_destroy(&m);
  return status;
}

void tesi_steady_modes_destroy(TesiSteadyModes **modes) {
  TesiSteadyModes *m = *modes;
  if (!m) return;
  TesContext *ctx = m->context;
  *modes = NULL;
  for (int j = 0; j < MOST; j++) tes_vector_destroy(&m->mode[j]);
  tesi_free(ctx, &m);
  tes_context_destroy(&ctx);
}

int tesi_steady_modes_count(const TesiSteadyModes *modes) {
  return modes->count;
}

TesStatus tesi_steady_modes_add(const TesiSteadyModes *m, double factor, const TesVector *r, TesVector *z) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  double part;
  for (int j = 0; j < m->count; j++) {
    TES_TRY(tes_vector_dot(m->mode[j], r, &part));
    TES_TRY(tes_vector_axpy(factor * m->factor[j] * part, m->mode[j], z));
  }
done:
  return status;
}
