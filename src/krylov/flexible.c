/* See flexible.h. */
#include "krylov/flexible.h"
#include <math.h>
#include "base/work.h"
#include "krylov/explain.h"
#include "krylov/floor.h"
#include "parallel/comm.h"

enum { M = TESI_FLEXIBLE_RESTART };

typedef struct State {
  TesVector *own_v[M + 1], *own_z[M], **v, **z; /* own: without columns */
  double H[M + 1][M], c[M], s[M], g[M + 1];
  TesiColumns *columns; /* of the description */
  double L[M][M];       /* v_i . v_k, k < i, where there are columns */
  double size;          /* |b| */
  int iterations;
  TesiFloor floor;
  double allowed; /* TesSolveResult.floor */
} State;

static TesStatus residual(const TesiFlexible *f, const TesVector *b, const TesVector *x, TesVector *r) {
  const TesStatus status = f->apply(f->user, x, r);
  return status == TES_OK ? tes_vector_xpay(b, -1, r) : status;
}

static void record(const TesiFlexible *f, State *s, double relative) {
  f->residuals[s->iterations] = relative;
  if (f->monitor) f->monitor(f->monitor_user, s->iterations, relative);
}

static TesStatus take_vectors(const TesiFlexible *f, State *s, int column) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const TesiLayout *layout = s->v[0]->layout;
  if (!s->v[column + 1]) TES_TRY(tesi_vector_create_on(layout, TES_DOUBLE, &s->v[column + 1]));
  if (!s->z[column]) TES_TRY(tesi_vector_create_on(layout, TES_DOUBLE, &s->z[column]));
done:
  return status;
}

/* v[j + 1] <- without its parts in v[0] .. v[j]; its norm. With all products in one pass of the columns modified
 * Gram-Schmidt is a triangular system: h_i = v_i . w - sum_{k<i} (v_i . v_k) h_k (Swirydowicz et al. 2020, "Low
 * synchronization Gram-Schmidt and GMRES"). */
static TesStatus orthogonalise(State *s, int j) {
  TesContext *ctx = s->v[0]->context;
  TesStatus status = TES_OK;
  TesVector *const w = s->v[j + 1];
  double product[2 * M], h[M], square;
  if (!s->columns) {
    for (int i = 0; i <= j; i++) {
      TES_TRY(tes_vector_dot(s->v[i], w, &s->H[i][j]));
      TES_TRY(tes_vector_axpy(-s->H[i][j], s->v[i], w));
    }
    return tes_vector_norm(w, &s->H[j + 1][j]);
  }
  TES_TRY(tesi_columns_products(s->columns, j + 1, s->v, w, s->v[j], product));
  for (int i = 0; i <= j; i++) {
    s->L[j][i] = product[2 * i + 1];
    h[i] = product[2 * i];
    for (int k = 0; k < i; k++) h[i] -= s->L[i][k] * h[k];
    s->H[i][j] = h[i];
  }
  TES_TRY(tesi_columns_subtract(s->columns, j + 1, h, s->v, w, &square));
  s->H[j + 1][j] = sqrt(square);
done:
  return status;
}

/* Makes column j orthogonal and rotates it; g[j + 1] is the residual then. */
static TesStatus add_column(const TesiFlexible *f, State *s, int j) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  TES_TRY(take_vectors(f, s, j));
  TES_TRY(f->precondition(f->user, s->v[j], s->z[j]));
  TES_TRY(f->apply(f->user, s->z[j], s->v[j + 1]));
  TES_TRY(orthogonalise(s, j));
  if (s->H[j + 1][j] > 0) TES_TRY(tes_vector_copy(s->v[j + 1], 1 / s->H[j + 1][j], s->v[j + 1]));
  TES_TRY(tesi_lap(ctx, f->laps, f->own_lap));
  for (int i = 0; i < j; i++) {
    const double a = s->H[i][j], b = s->H[i + 1][j];
    s->H[i][j] = s->c[i] * a + s->s[i] * b;
    s->H[i + 1][j] = -s->s[i] * a + s->c[i] * b;
  }
  const double length = hypot(s->H[j][j], s->H[j + 1][j]);
  s->c[j] = length > 0 ? s->H[j][j] / length : 1, s->s[j] = length > 0 ? s->H[j + 1][j] / length : 0;
  s->H[j][j] = length;
  s->g[j + 1] = -s->s[j] * s->g[j];
  s->g[j] *= s->c[j];
done:
  return status;
}

static TesStatus correct(State *s, int columns, TesVector *x) {
  double y[M];
  TesStatus status = TES_OK;
  for (int i = columns - 1; i >= 0; i--) {
    y[i] = s->g[i];
    for (int k = i + 1; k < columns; k++) y[i] -= s->H[i][k] * y[k];
    y[i] = s->H[i][i] != 0 ? y[i] / s->H[i][i] : 0;
  }
  if (s->columns) {
    for (int i = 0; i < columns; i++) y[i] = -y[i];
    return tesi_columns_subtract(s->columns, columns, y, s->z, x, NULL);
  }
  for (int i = 0; i < columns && status == TES_OK; i++) status = tes_vector_axpy(y[i], s->z[i], x);
  return status;
}

/* Columns until the tolerance, the restart or the last iteration. */
static TesStatus cycle(const TesiFlexible *f, State *s, TesVector *x, double *relative) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  int j = 0;
  while (j < M && s->iterations<f->max_iterations && * relative> f->tolerance) {
    TES_TRY(tesi_work_go_on(ctx));
    if (tesi_any_interrupted(ctx)) return TES_INTERRUPTED;
    TES_TRY(add_column(f, s, j));
    *relative = fabs(s->g[++j]) / s->size;
    s->iterations++;
    record(f, s, *relative);
    if (!isfinite(*relative)) return TES_NAN;
  }
  TES_TRY(correct(s, j, x));
done:
  return status;
}

typedef struct Flexible {
  const TesiFlexible *desc;
  const TesVector *b;
} Flexible;

static TesStatus residual_of(void *user, const TesVector *x, TesVector *r) {
  const Flexible *f = user;
  return residual(f->desc, f->b, x, r);
}

/* Whether an iteration whose residual is made anew, and above the tolerance, is at the floor of float64. */
static TesStatus settle(const TesiFlexible *f, State *s, const TesVector *b, const TesVector *x,
                        double claimed, bool *reached) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const int n = s->iterations;
  const bool stalls = tesi_floor_stalls(&s->floor, n, f->residuals[n]), last = n == f->max_iterations;
  Flexible user = {f, b};
  TesiFloorSystem system = {.residual = residual_of, .user = &user, .b = b};
  TesiFloorState state;
  *reached = false;
  if (!stalls && !last && claimed > 0.3 * f->residuals[n]) return TES_OK;
  tesi_floor_groups(f->space, &system);
  TES_TRY(tesi_floor_look(&s->floor, &system, x, n, claimed * s->size, last, &state));
  *reached = state == TESI_FLOOR_REACHED;
  if (*reached) s->allowed = s->floor.allowed / s->size;
done:
  return status;
}

static TesStatus iterate(const TesiFlexible *f, State *s, const TesVector *b, TesVector *x) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  double norm, relative = 1;
  bool reached = false;
  if (!s->v[0]) TES_TRY(tesi_vector_create_on(b->layout, TES_DOUBLE, &s->v[0]));
  TES_TRY(tes_vector_norm(b, &s->size));
  if (s->size == 0) {
    TES_TRY(tes_vector_fill(x, 0));
    record(f, s, 0);
    goto done;
  }
  for (bool first = true;; first = false) {
    TES_TRY(residual(f, b, x, s->v[0]));
    TES_TRY(tes_vector_norm(s->v[0], &norm));
    relative = norm / s->size;
    if (first) record(f, s, relative);
    const double claimed = f->residuals[s->iterations];
    f->residuals[s->iterations] = relative;
    if (!isfinite(relative)) return TES_NAN;
    if (relative <= f->tolerance) break;
    TES_TRY(settle(f, s, b, x, claimed, &reached));
    if (reached) break;
    if (s->iterations == f->max_iterations) return TES_NOT_CONVERGED;
    TES_TRY(tes_vector_copy(s->v[0], 1 / norm, s->v[0]));
    s->g[0] = norm;
    TES_TRY(cycle(f, s, x, &relative));
  }
done:
  return status;
}

TesStatus tesi_flexible_solve(const TesiFlexible *f, const TesVector *b, TesVector *x, TesSolveResult *result) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  State *s = NULL;
  const double start = tesi_now();
  TES_NEW(&s);
  tesi_floor_begin(&s->floor);
  s->columns = f->columns;
  s->v = f->columns ? f->columns->v : s->own_v, s->z = f->columns ? f->columns->z : s->own_z;
  status = iterate(f, s, b, x);
  *result = (TesSolveResult){.iterations = s->iterations,
                             .fractional_iterations = NAN,
                             .residual_count = s->iterations + 1,
                             .residuals = f->residuals,
                             .seconds = tesi_now() - start,
                             .floor = s->allowed};
  const double last = f->residuals[s->iterations], first = f->residuals[0];
  if (s->iterations > 0 && last > 0 && first > last)
    result->fractional_iterations = s->iterations * log(f->tolerance / first) / log(last / first);
  status = tesi_explain_unsolved(ctx,
                                 &(TesiUnsolved){.method = TES_METHOD_GMRES,
                                                 .residuals = f->residuals,
                                                 .iterations = s->iterations,
                                                 .tolerance = f->tolerance},
                                 status);
done:
  if (s) tesi_floor_end(&s->floor);
  for (int i = 0; s && i <= M; i++) tes_vector_destroy(&s->own_v[i]);
  for (int i = 0; s && i < M; i++) tes_vector_destroy(&s->own_z[i]);
  tesi_free(ctx, &s);
  return status;
}
