/* Flexible right-preconditioned GMRES(restart): modified Gram-Schmidt, Givens rotations. The results of the
 * preconditioner are kept in its precision (images), so that x needs no further preconditioning, and a float32 cycle
 * needs float32 memory only. */
#include <math.h>
#include <string.h>
#include "krylov/solver.h"

/* The small least-squares problem of one restart cycle. H is upper triangular once rotated: H[j][i], column j. */
typedef struct Hessenberg {
  int size;
  double *H, *cosine, *sine, *g, *y; /* H[size][size+1], [size], [size], [size+1], [size] */
} Hessenberg;

static TesStatus make(TesContext *ctx, int size, Hessenberg *h) {
  TesStatus status = TES_OK;
  memset(h, 0, sizeof *h);
  h->size = size;
  TES_ALLOC(&h->H, size * (size + 1));
  TES_ALLOC(&h->cosine, size);
  TES_ALLOC(&h->sine, size);
  TES_ALLOC(&h->g, size + 1);
  TES_ALLOC(&h->y, size);
done:
  return status;
}

static void release(TesContext *ctx, Hessenberg *h) {
  tesi_free(ctx, &h->H);
  tesi_free(ctx, &h->cosine);
  tesi_free(ctx, &h->sine);
  tesi_free(ctx, &h->g);
  tesi_free(ctx, &h->y);
}

/* Rotates column j and the right-hand side; the new residual norm is |g[j+1]|. */
static void rotate(Hessenberg *h, int j) {
  double *column = h->H + (int64_t)j * (h->size + 1);
  for (int i = 0; i < j; i++) {
    const double a = column[i], b = column[i + 1];
    column[i] = h->cosine[i] * a + h->sine[i] * b;
    column[i + 1] = -h->sine[i] * a + h->cosine[i] * b;
  }
  const double length = hypot(column[j], column[j + 1]);
  h->cosine[j] = length > 0 ? column[j] / length : 1;
  h->sine[j] = length > 0 ? column[j + 1] / length : 0;
  column[j] = length;
  column[j + 1] = 0;
  h->g[j + 1] = -h->sine[j] * h->g[j];
  h->g[j] *= h->cosine[j];
}

static void back_substitute(Hessenberg *h, int columns) {
  for (int i = columns - 1; i >= 0; i--) {
    double sum = h->g[i];
    for (int j = i + 1; j < columns; j++) sum -= h->H[(int64_t)j * (h->size + 1) + i] * h->y[j];
    const double pivot = h->H[(int64_t)i * (h->size + 1) + i];
    h->y[i] = pivot != 0 ? sum / pivot : 0;
  }
}

static TesStatus need(TesSolver *s, TesVector **vector, TesPrecision precision) {
  return *vector ? TES_OK : tesi_operator_new_vector(s->desc.op, precision, vector);
}

/* One Arnoldi step: basis[j+1] and column j from basis[j]. */
static TesStatus arnoldi(TesSolver *s, Hessenberg *h, int j) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double *column = h->H + (int64_t)j * (h->size + 1);
  TES_TRY(need(s, &s->images[j], s->mg_b ? TES_SINGLE : TES_DOUBLE));
  TES_TRY(need(s, &s->basis[j + 1], TES_DOUBLE));
  TES_TRY(tesi_solver_precondition(s, s->basis[j], 1, s->images[j]));
  const TesVector *image = s->images[j];
  if (s->mg_b) { /* r is free during a restart cycle: the float64 copy that the operator needs */
    TES_TRY(tes_vector_copy(image, 1, s->r));
    image = s->r;
  }
  TES_TRY(tes_operator_apply(s->desc.op, image, s->basis[j + 1]));
  for (int i = 0; i <= j; i++) {
    TES_TRY(tes_vector_dot(s->basis[i], s->basis[j + 1], &column[i]));
    TES_TRY(tes_vector_axpy(-column[i], s->basis[i], s->basis[j + 1]));
  }
  TES_TRY(tes_vector_norm(s->basis[j + 1], &column[j + 1]));
  if (column[j + 1] > 0) TES_TRY(tes_vector_copy(s->basis[j + 1], 1 / column[j + 1], s->basis[j + 1]));
  rotate(h, j);
done:
  return status;
}

/* A norm estimate below this part of the residual has lost its digits. */
#define FOLLOWS 0.3

/* By how much a restart cycle can reduce a residual when its basis is float32. */
#define NARROW 1e-6

/* One restart cycle from the residual solver->r of relative size `relative`. */
static TesStatus restart_cycle(TesSolver *s, const TesiArnoldi *a, double relative, const TesVector *b,
                               TesVector *x, TesiProgress *progress) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const double least = s->desc.narrow_basis ? NARROW * relative : 0;
  int columns = 0;
  TES_TRY(a->begin(s, a->data, relative));
  for (;;) {
    TES_TRY(a->step(s, a->data, columns++, &relative));
    const bool finished = relative <= s->desc.tolerance || relative <= least || columns == s->desc.restart ||
                          s->iterations + 1 >= s->desc.max_iterations;
    if (finished || !isfinite(relative)) break;
    progress->outcome = tesi_solver_record(s, s->iterations + 1, relative, &progress->stop);
    if (progress->stop) break;
  }
  const double claimed = relative;
  TES_TRY(a->correct(s, a->data, columns, x));
  TES_TRY(tesi_solver_residual(s, b, x, &relative));
  if (progress->stop)
    tesi_solver_correct(s, relative);
  else
    progress->outcome = tesi_solver_record(s, s->iterations + 1, relative, &progress->stop);
  TES_TRY(tesi_solver_settle(s, b, x, claimed, claimed < FOLLOWS * relative, progress));
done:
  return status;
}

TesStatus tesi_solver_restarted(TesSolver *s, const TesiArnoldi *arnoldi, const TesVector *b, TesVector *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double relative;
  TesiProgress progress = {.again = true};
  TES_TRY(tesi_solver_residual(s, b, x, &relative));
  progress.outcome = tesi_solver_record(s, 0, relative, &progress.stop);
  while (!progress.stop) TES_TRY(restart_cycle(s, arnoldi, s->residuals[s->iterations], b, x, &progress));
  status = progress.outcome;
done:
  return status;
}

/* ---- on the host --------------------------------------------------------------------------------------- */

static TesStatus begin(TesSolver *s, void *data, double relative) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  Hessenberg *h = data;
  TES_TRY(need(s, &s->basis[0], TES_DOUBLE));
  TES_TRY(tes_vector_copy(s->r, 1 / (relative * s->b_norm), s->basis[0]));
  memset(h->g, 0, sizeof *h->g * (size_t)(h->size + 1));
  h->g[0] = relative; /* in units of |b| */
done:
  return status;
}

static TesStatus step(TesSolver *s, void *data, int column, double *relative) {
  Hessenberg *h = data;
  const TesStatus status = arnoldi(s, h, column);
  *relative = fabs(h->g[column + 1]);
  return status;
}

static TesStatus correct(TesSolver *s, void *data, int columns, TesVector *x) {
  TesStatus status = TES_OK;
  Hessenberg *h = data;
  back_substitute(h, columns);
  for (int j = 0; j < columns && status == TES_OK; j++)
    status = tes_vector_axpy(h->y[j] * s->b_norm, s->images[j], x);
  return status;
}

TesStatus tesi_solver_gmres(TesSolver *solver, const TesVector *b, TesVector *x) {
  TesContext *ctx = solver->context;
  TesStatus status = TES_OK;
  Hessenberg h = {0};
  TES_TRY(make(ctx, solver->desc.restart, &h));
  TES_TRY(tesi_solver_restarted(solver, &(TesiArnoldi){begin, step, correct, &h}, b, x));
done:
  release(ctx, &h);
  return status;
}
