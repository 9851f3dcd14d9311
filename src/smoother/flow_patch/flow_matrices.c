/* Matrices of cells and their faces: see flow_patch.h. Integrals have the points of the operator. */
#include <math.h>
#include <string.h>
#include <lapacke.h>
#include "base/team.h"
#include "basis/blas.h"
#include "operator/dg/dg.h"
#include "smoother/flow_patch/flow_patch.h"

enum { MOST = TESI_MAX_POINTS };

/* Modes of the unit cell at the points of a line, and products of two modes, by [point][i n + j]; i is the test
 * function. */
typedef struct Tables {
  int q, n;
  double *value, *slope_tests, *slope; /* l_i l_j, l_i' l_j, l_i l_j' */
} Tables;

static TesStatus make_tables(TesContext *ctx, const TesiBatches *b, Tables *t) {
  TesStatus status = TES_OK;
  const int n = b->n;
  *t = (Tables){.q = b->q, .n = n};
  TES_ALLOC(&t->value, 3LL * b->q * n * n);
  t->slope_tests = t->value + b->q * n * n, t->slope = t->slope_tests + b->q * n * n;
  for (int p = 0; p < b->q; p++) {
    double l[MOST], dl[MOST];
    tesi_rt_legendre(n, 1, b->point[p], l, dl);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const int at = (p * n + i) * n + j;
        t->value[at] = l[i] * l[j], t->slope_tests[at] = dl[i] * l[j], t->slope[at] = l[i] * dl[j];
      }
  }
done:
  return status;
}

/* M[test][trial] += sum over points g prod over directions T[d][point]; `count` directions, x fastest in points and
 * modes. work: [2][half]. */
static void add_moments(const Tables *t, int count, const double *const T[3], const double *g, double *work,
                        int64_t half, double *M) {
  const int q = t->q, n = t->n, pairs = n * n;
  int64_t inner = 1, outer = 1;
  const double *from = g;
  for (int d = 0; d < count; d++) outer *= q;
  for (int d = 0; d < count; d++) { /* [outer][q][inner] becomes [outer][pairs][inner] */
    double *to = work + d % 2 * half;
    outer /= q;
    for (int64_t o = 0; o < outer; o++)
      for (int r = 0; r < pairs; r++) {
        double *line = to + (o * pairs + r) * inner;
        memset(line, 0, (size_t)inner * sizeof *line);
        for (int p = 0; p < q; p++) {
          const double factor = T[d][p * pairs + r], *in = from + (o * q + p) * inner;
          for (int64_t i = 0; i < inner; i++) line[i] += factor * in[i];
        }
      }
    from = to, inner *= pairs;
  }
  int modes = 1;
  for (int d = 0; d < count; d++) modes *= n;
  for (int64_t k = 0; k < inner; k++) { /* pairs of all directions become rows and columns */
    int64_t row = 0, column = 0, step = 1, rest = k;
    for (int d = 0; d < count; d++, rest /= pairs, step *= n)
      row += step * (rest % pairs / n), column += step * (rest % pairs % n);
    M[row * modes + column] += from[k];
  }
}

typedef struct Build {
  TesContext *context;
  TesiFlowPatch *p;
  const TesiStokes *stokes;
  Tables tables;
  double *work; /* [threads][share] */
  int64_t half, share;
  int *failed;
} Build;

static double volume_of(const TesSpace *space, const int place[3], int without) {
  double volume = 1;
  for (int d = 0; d < space->dim; d++)
    if (d != without) volume *= space->axis[d].h[place[d]];
  return volume;
}

/* A += the term of the velocity inside a cell. */
static void add_volume(const Build *b, int64_t cell, const int place[3], double *work, double *A) {
  const TesiFlowPatch *p = b->p;
  const TesiTransport *t = p->transport;
  const TesiBatches *batches = t->batches;
  const int x = p->space->axis[0].cells;
  const int64_t n = tesi_batches_array(batches), points = batches->points,
                batch = cell / x * batches->task_batches + cell % x / TESI_BATCH, lane = cell % x % TESI_BATCH;
  const double *numbers = t->numbers + (t->uniform ? 0 : batch) * t->arrays * n,
               scale = (t->conservative ? -1 : 1) / volume_of(p->space, place, -1);
  double *g = work;
  for (int d = 0; d < p->space->dim; d++) {
    const double *T[3] = {b->tables.value, b->tables.value, b->tables.value};
    T[d] = t->conservative ? b->tables.slope_tests : b->tables.slope;
    for (int64_t i = 0; i < points; i++) {
      const int64_t at = i * TESI_BATCH + lane;
      g[i] = scale * numbers[at] * numbers[(1 + d) * n + at];
    }
    add_moments(&b->tables, p->space->dim, T, g, work + points, b->half, A);
  }
}

/* The factor of (b.n) for the cell's own trace at a face, by the cases of the operator. */
static double own_speed(const TesiUpwind *u, bool end, int face, double speed) {
  const double in = fmin(speed, 0);
  if (!end || u->end[face] == TESI_WEAK) return u->conservative ? speed - in : -in;
  if (u->end[face] == TESI_OPEN) return u->conservative ? speed : 0;
  return u->conservative ? 0 : -speed;
}

/* A += the contribution of the cell's own traces at a face; also computes its F. */
static void add_face(const Build *b, int64_t cell, const int place[3], int face, double *work, double *A) {
  const TesiFlowPatch *p = b->p;
  const TesiUpwind *u = &p->transport->upwind;
  const double *T[3] = {b->tables.value, b->tables.value, NULL};
  const int d = face / 2, across = p->across;
  int next[3], step = 1;
  const double *ends = p->ends[face % 2];
  const bool end = tesi_flow_behind(p->space, place, face, next) < 0;
  double speeds[MOST * MOST], own[MOST * MOST], in[MOST * MOST], *G = work + 2 * b->half;
  double *F = p->inflow + (cell * 2 * p->space->dim + face) * across * across;
  bool *enters = &p->enters[cell * 2 * p->space->dim + face];
  tesi_flow_speeds(p, cell, face, speeds);
  const double scale = 1 / volume_of(p->space, place, d), normal = 1 / p->space->axis[d].h[place[d]];
  for (int i = 0; i < u->points; i++) {
    own[i] = scale * normal * own_speed(u, end, face, speeds[i]);
    in[i] = end ? 0 : scale * fmin(speeds[i], 0);
    *enters = *enters || in[i] < 0;
  }
  memset(G, 0, sizeof *G * (size_t)(across * across));
  add_moments(&b->tables, p->space->dim - 1, T, own, work, b->half, G);
  if (*enters) add_moments(&b->tables, p->space->dim - 1, T, in, work, b->half, F);
  for (int e = 0; e < d; e++) step *= p->n;
  for (int s = 0; s < across; s++)
    for (int t = 0; t < across; t++) { /* rows and columns of the face's modes s and t */
      double *at = A + (s % step + s / step * step * p->n) * p->modes + t % step + t / step * step * p->n;
      for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->n; j++)
          at[i * step * p->modes + j * step] += ends[i] * ends[j] * G[s * across + t];
    }
}

/* A += diffusion and mass: in direction d they couple modes that differ in direction d only. */
static void add_symmetric(const Build *b, const int place[3], double *A) {
  const TesiFlowPatch *p = b->p;
  for (int r = 0; r < p->modes; r++) A[r * p->modes + r] += p->alpha;
  for (int d = 0; d < p->space->dim; d++) {
    int step = 1;
    for (int e = 0; e < d; e++) step *= p->n;
    for (int r = 0; r < p->modes; r++) {
      const int i = r / step % p->n, first = place[d] * p->n;
      for (int j = 0; j < p->n; j++)
        A[r * p->modes + r + (j - i) * step] +=
            p->nu * tesi_band_entry(&b->stokes->axis[d].penalty, first + i, first + j);
    }
  }
}

static void build_cells(const void *data, TesiSpan span) {
  const Build *b = data;
  const TesiFlowPatch *p = b->p;
  double *work = b->work + span.thread * b->share;
  lapack_int pivot[4096];
  for (int64_t cell = span.first; cell < span.end; cell++) {
    double *A = p->inverse + cell * p->modes * p->modes;
    int place[3];
    tesi_rt_cell(p->space, cell, place);
    add_volume(b, cell, place, work, A);
    for (int f = 0; f < 2 * p->space->dim; f++) add_face(b, cell, place, f, work, A);
    add_symmetric(b, place, A);
    lapack_int info = LAPACKE_dgetrf_work(LAPACK_ROW_MAJOR, p->modes, p->modes, A, p->modes, pivot);
    if (info == 0)
      info = LAPACKE_dgetri_work(LAPACK_ROW_MAJOR, p->modes, A, p->modes, pivot, work,
                                 (lapack_int)(2 * b->half));
    if (info != 0) {
#pragma omp atomic write
      *b->failed = 1;
    }
  }
}

/* C: couples the modes of a cell and of its neighbour along an axis. In a periodic direction of two cells both faces
 * have the same neighbour. */
static TesStatus take_jumps(TesContext *ctx, const TesiStokes *s, int d, TesiFlowPatch *p) {
  TesStatus status = TES_OK;
  const TesiAxis *a = &p->space->axis[d];
  const int n = p->n;
  TES_ALLOC(&p->jump[d], 2LL * a->cells * n * n);
  for (int c = 0; c < a->cells; c++)
    for (int side = 0; side < 2; side++) {
      int next = c + (side ? 1 : -1);
      if (!a->periodic && (next < 0 || next >= a->cells)) continue;
      if (a->periodic && a->cells == 2 && side) continue;
      next = (next + a->cells) % a->cells;
      for (int i = 0; i < n * n; i++)
        p->jump[d][(c * 2 + side) * n * n + i] =
            s->nu * tesi_band_entry(&s->axis[d].penalty, c * n + i / n, next * n + i % n);
    }
done:
  return status;
}

TesStatus tesi_flow_matrices(const TesOperator *op, TesiFlowPatch *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiBatches *batches = p->transport->batches;
  const int64_t matrix = (int64_t)p->modes * p->modes, face = (int64_t)p->across * p->across;
  int failed = 0;
  Build b = {.context = ctx,
             .p = p,
             .stokes = tesi_stokes_of(p->transport->symmetric),
             .half = matrix + (int64_t)batches->points * p->n * p->n,
             .failed = &failed};
  b.share = 3 * b.half + batches->points;
  for (int s = 0; s < 2; s++) tesi_rt_legendre(p->n, 1, s, p->ends[s], NULL);
  for (int d = 0; d < p->space->dim; d++) TES_TRY(take_jumps(ctx, b.stokes, d, p));
  TES_ALLOC(&p->inverse, p->cells * matrix);
  TES_ALLOC(&p->inflow, p->cells * 2 * p->space->dim * face);
  TES_ALLOC(&p->enters, p->cells * 2 * p->space->dim);
  TES_ALLOC(&b.work, p->threads * b.share);
  TES_TRY(make_tables(ctx, batches, &b.tables));
  TES_TRY(tesi_blas_begin(ctx, 1)); /* the threads of the team each have cells */
  tesi_team_for(p->threads, p->cells, build_cells, &b);
  TES_CHECK(!failed, "a cell has no inverse: neither diffusion, c nor a velocity determines u in it");
done:
  tesi_free(ctx, &b.tables.value);
  tesi_free(ctx, &b.work);
  return status;
}
