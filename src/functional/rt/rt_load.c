/* Loads, boundary values and fluxes of velocities. */
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "device/kernel.h"
#include "functional/batch_faces.h"
#include "functional/rt/rt_functional.h"

enum { MOST = TESI_RT_POINTS * TESI_RT_POINTS * TESI_RT_POINTS };

/* The paper: (k + 1)(k + 2) in place of k (k + 1). */
double tesi_rt_penalty(TesPenalty penalty, int k) {
  const double once =
      (int)penalty % TESI_PENALTY_DOUBLED == TES_PENALTY_PAPER ? (k + 1) * (k + 2) : k * (k + 1);
  return (int)penalty >= TESI_PENALTY_DOUBLED ? 2 * once : once;
}

/* With auto RT_1 has 8 / h: with 4 / h the counts grow with the level. */
double tesi_rt_boundary_penalty(TesPenalty penalty, int k, double h) {
  return 2 * tesi_rt_penalty(penalty, k) / h *
         (penalty % TESI_PENALTY_DOUBLED == TES_PENALTY_AUTO && k == 1 ? 2 : 1);
}

/* Values of a function at points x[3][count]; false where one is not finite. */
static bool evaluate(const TesFunction *f, int count, const double *x, double *values) {
  tesi_function_values(f, count, x, x + count, x + 2 * count, 0, values);
  for (int q = 0; q < count; q++)
    if (!isfinite(values[q])) return false;
  return true;
}

static bool load_line(const TesSpace *space, const TesiRtTables *t, const TesFunction *f, int part, int along,
                      int64_t line, double *work, double *b) {
  double *x = work, *w = x + 3 * MOST, *values = w + MOST, *local = values + MOST;
  int cell[3];
  tesi_rt_line(space, along, line, cell);
  for (; cell[along] < tesi_modal(space, along)->cells; cell[along]++) {
    const int count = tesi_rt_points(space, t, cell, x, w);
    if (!evaluate(f, count, x, values)) return false;
    for (int q = 0; q < count; q++) values[q] *= w[q];
    tesi_rt_moments(space, t, part, values, local);
    tesi_rt_add(space, part, cell, local, b);
  }
  return true;
}

typedef struct Lines {
  const TesSpace *space;
  const TesiRtTables *t;
  const TesFunction *f;
  int part, along;
  double *work, *b; /* work: [threads][6 MOST] */
  int64_t *bad;     /* the first line in which f is not finite */
} Lines;

static void load_lines(const void *data, TesiSpan span) {
  const Lines *l = data;
  for (int64_t i = span.first; i < span.end; i++)
    if (!load_line(l->space, l->t, l->f, l->part, l->along, i, l->work + (int64_t)span.thread * 6 * MOST, l->b))
      tesi_team_least(l->bad, i);
}

/* A component of the velocity, or, part = dim, the unknown of element dg. */
static TesStatus load_part(const TesSpace *space, const TesiRtTables *t, int part, const TesFunction *f,
                           double *b) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int i = part % space->dim;
  const int64_t lines = tesi_rt_lines(space, i);
  const int threads = tes_context_threads(ctx);
  int64_t bad = lines;
  double *work = NULL, x[3 * MOST];
  TES_ALLOC(&work, (int64_t)threads * 6 * MOST);
  tesi_team_for(threads, lines, load_lines, &(Lines){space, t, f, part, i, work, b, &bad});
  for (int c = 0; bad < lines && c < tesi_modal(space, i)->cells; c++) { /* the message */
    int cell[3];
    tesi_rt_line(space, i, bad, cell);
    cell[i] = c;
    const int count = tesi_rt_points(space, t, cell, x, NULL);
    TES_TRY(tes_function_evaluate(f, count, x, x + count, x + 2 * count, 0, work));
  }
done:
  tesi_free(ctx, &work);
  return status;
}

/* ---- faces --------------------------------------------------------------------------------------------- */

/* One cell's part of the face at `end` of direction d. */
typedef struct Face {
  const TesSpace *space;
  const TesiRtTables *t;
  int d, end, cell[3];
} Face;

/* Points x[3][count] of the face, and weights. */
static int face_points(const Face *f, double *x, double *weights) {
  const TesSpace *space = f->space;
  const int q = f->t->points, count = space->dim == 2 ? q : q * q;
  for (int i = 0; i < count; i++) {
    int rest = i;
    weights[i] = 1;
    for (int d = 0; d < 3; d++) {
      const TesiAxis *a = tesi_modal(space, d);
      x[d * count + i] = d >= space->dim ? 0 : a->vertices[f->end ? a->cells : 0];
      if (d == f->d || d >= space->dim) continue;
      const double h = a->vertices[f->cell[d] + 1] - a->vertices[f->cell[d]];
      x[d * count + i] = a->vertices[f->cell[d]] + f->t->x[rest % q] * h;
      weights[i] *= f->t->w[rest % q] * h;
      rest /= q;
    }
  }
  return count;
}

/* moment[j] of weighted values with the functions of component i across the face, [second][first] of the other
 * directions. */
static int face_moments(const Face *f, int i, const double *values, double *moment) {
  const int q = f->t->points;
  int e[2] = {1, 1}, k = 0;
  const double *A[2] = {NULL, NULL};
  double scale = 1;
  for (int d = 0; d < f->space->dim; d++) {
    if (d == f->d) continue;
    e[k] = tesi_rt_extent(f->space, i, d);
    const TesiAxis *a = &f->space->scalar[i]->axis[d];
    A[k++] = a->basis == TESI_NODES ? f->t->nodal[0] : f->t->modal[0];
    if (a->basis == TESI_MODES) scale /= sqrt(a->h[f->cell[d]]);
  }
  for (int b = 0; b < e[1]; b++)
    for (int a = 0; a < e[0]; a++) {
      double sum = 0;
      for (int p = 0; p < (k == 2 ? q * q : q); p++)
        sum += values[p] * A[0][p % q * e[0] + a] * (k == 2 ? A[1][p / q * e[1] + b] : 1);
      moment[b * e[0] + a] = scale * sum;
    }
  return e[0] * e[1];
}

/* Numbers of the face's functions at entry j of direction d. */
static int64_t face_number(const Face *f, int i, int j, int m) {
  const TesSpace *space = f->space;
  int64_t entry = 0, step = 1;
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *a = &space->scalar[i]->axis[d];
    const int e = a->degree + 1;
    int place = j;
    if (d != f->d) place = tesi_axis_node(a, f->cell[d], m % e), m /= e;
    entry += step * place;
    step *= a->nodes;
  }
  return space->first[i] + entry;
}

/* b <- b + w[j] moment at the entries first + j, j < count, of direction d. */
static void add_face(const Face *f, int i, int moments, const double *moment, int first, int count,
                     const double *w, double *b) {
  for (int m = 0; m < moments; m++)
    for (int j = 0; j < count; j++) b[face_number(f, i, first + j, m)] += w[j] * moment[m];
}

typedef struct Load {
  TesContext *context;
  TesPenalty penalty;
  double nu, *b, flux[2];
} Load;

/* What multiplies the moments of component i on a face, along its normal. Returns how many, from entry *first on. */
static int face_weights(const Face *f, const Load *load, TesiHow how, int i, int *first, double *w) {
  const TesiAxis *a = &f->space->scalar[i]->axis[f->d];
  const int n = f->space->degree + 1, last = f->end ? a->cells - 1 : 0;
  double l[TESI_RT_LOCAL], slope[TESI_RT_LOCAL];
  if (a->basis == TESI_NODES) {
    *first = f->end ? a->nodes - 1 : 0;
    w[0] = 1;
    return 1;
  }
  tesi_rt_legendre(n, a->h[last], f->end, l, slope);
  *first = last * n;
  const double gamma = tesi_rt_boundary_penalty(load->penalty, n - 1, tesi_modal(f->space, f->d)->h[last]);
  for (int j = 0; j < n; j++)
    w[j] = how == TESI_WEAK ? load->nu * (gamma * l[j] - (f->end ? 1 : -1) * slope[j]) : l[j];
  return n;
}

/* Weighted values of what is given for component i; false: nothing is. */
static TesStatus face_values(TesContext *ctx, const Face *f, const TesiGiven *on, int i, bool *any,
                             double *values) {
  TesStatus status = TES_OK;
  enum { FACE = TESI_RT_POINTS * TESI_RT_POINTS };
  double x[3 * FACE], normal[3 * FACE] = {0}, w[FACE], other[FACE];
  const int count = face_points(f, x, w), outwards = f->end ? 1 : -1;
  const bool mixed = f->space->element->with_pressure;
  const TesFunction *given = on->g[i],
                    *pressure = mixed && on->how[i] == TESI_OPEN && i == f->d ? on->g[f->space->dim] : NULL;
  *any = given || pressure;
  if (!*any) return TES_OK;
  memset(values, 0, sizeof *values * (size_t)count);
  for (int q = 0; q < count; q++) normal[f->d * count + q] = outwards;
  if (given) TES_TRY(tesi_boundary_values(given, count, x, normal, values));
  if (pressure) {
    TES_TRY(tesi_boundary_values(pressure, count, x, normal, other));
    for (int q = 0; q < count; q++) values[q] -= outwards * other[q];
  }
  for (int q = 0; q < count; q++) values[q] *= w[q];
done:
  return status;
}

typedef TesStatus (*VisitFace)(void *user, const Face *f, const TesiGiven *given);

/* All cells' faces on the boundary, one after the other. */
static TesStatus visit_faces(const TesSpace *space, const TesiRtTables *t, const TesiGiven *given,
                             VisitFace visit, void *user) {
  TesStatus status = TES_OK;
  for (int d = 0; d < space->dim; d++)
    for (int end = 0; end < 2 && !tesi_modal(space, d)->periodic; end++) {
      if (tesi_mesh_cut(space->mesh, 2 * d + end)) continue;
      for (int64_t l = 0; l < tesi_rt_lines(space, d) && status == TES_OK; l++) {
        Face f = {.space = space, .t = t, .d = d, .end = end};
        tesi_rt_line(space, d, l, f.cell);
        f.cell[d] = end ? tesi_modal(space, d)->cells - 1 : 0;
        status = visit(user, &f, given ? &given[2 * d + end] : NULL);
      }
    }
  return status;
}

/* Scalars that have a load: the components, or the unknown of element dg. */
static int loaded_of(const TesSpace *space) {
  return space->element->with_pressure ? space->dim : 1;
}

static TesStatus load_face(void *user, const Face *f, const TesiGiven *given) {
  Load *load = user;
  TesContext *ctx = load->context;
  TesStatus status = TES_OK;
  double values[MOST], moment[MOST], w[TESI_RT_LOCAL];
  for (int i = 0; i < loaded_of(f->space); i++) {
    bool any;
    int first;
    if (given->how[i] == TESI_STRONG) continue; /* known nodes: a lifting */
    TES_TRY(face_values(ctx, f, given, i, &any, values));
    if (!any) continue;
    const int moments = face_moments(f, i, values, moment),
              count = face_weights(f, load, given->how[i], i, &first, w);
    add_face(f, i, moments, moment, first, count, w, load->b);
  }
done:
  return status;
}

static TesStatus lift_face(void *user, const Face *f, const TesiGiven *given) {
  Load *load = user;
  TesContext *ctx = load->context;
  TesStatus status = TES_OK;
  double values[MOST], moment[MOST];
  bool any;
  int first;
  double one;
  if (given->how[f->d] != TESI_STRONG) return TES_OK;
  TES_TRY(face_values(ctx, f, given, f->d, &any, values));
  if (!any) return TES_OK;
  const int moments = face_moments(f, f->d, values, moment);
  const int points = f->space->dim == 2 ? f->t->points : f->t->points * f->t->points;
  for (int q = 0; q < points; q++) load->flux[1] += fabs(values[q]);
  face_weights(f, load, TESI_STRONG, f->d, &first, &one);
  add_face(f, f->d, moments, moment, first, 1, &one, load->b);
  for (int c = 0; c < f->space->dim; c++) {
    if (c == f->d) continue;
    TES_TRY(face_values(ctx, f, given, c, &any, values));
    for (int q = 0; q < points && any; q++) load->flux[0] += fabs(values[q]);
  }
done:
  return status;
}

/* ---- vectors ------------------------------------------------------------------------------------------- */

/* Whether something is given on a face. */
static bool any_face(const TesSpace *space, const TesiGiven *given) {
  bool any = false;
  for (int i = 0; given && i < 2 * space->dim; i++)
    for (int c = 0; c <= space->dim && !tesi_modal(space, i / 2)->periodic; c++)
      any = any || !tesi_function_is_zero(given[i].g[c]);
  return any;
}

bool tesi_rt_lifts(const TesSpace *space, const TesiGiven *given) {
  bool any = false;
  for (int i = 0; i < 2 * space->dim; i++)
    any = any || (!tesi_modal(space, i / 2)->periodic && given[i].how[i / 2] == TESI_STRONG &&
                  !tesi_function_is_zero(given[i].g[i / 2]));
  return any;
}

/* Whether the host reaches the vector's numbers. */
static bool is_near(const TesVector *v) {
  return !tesi_has_kernels(v->context) && v->precision == TES_DOUBLE;
}

/* The entries of a vector while the host fills them, zero at first: the entries of the vector itself, or of a copy. */
static TesStatus begin_host(TesVector *v, double **numbers) {
  TesContext *ctx = v->context;
  TesStatus status = TES_OK;
  *numbers = NULL;
  if (!is_near(v)) {
    TES_ALLOC(numbers, v->length);
  } else {
    TES_TRY(tes_vector_fill(v, 0));
    *numbers = v->data;
  }
done:
  return status;
}

static TesStatus end_host(TesVector *v, double **numbers, TesStatus status) {
  TesContext *ctx = v->context;
  if (is_near(v)) return status;
  if (status == TES_OK) status = tes_vector_set(v, *numbers);
  tesi_free(ctx, numbers);
  return status;
}

/* load->b, zeros, <- the load of the cells and faces of this rank. */
static TesStatus load_all(const TesSpace *space, const TesFunction *const *f, const TesiGiven *given,
                          bool faces, Load *load) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiRtTables t;
  tesi_rt_tables(space->degree + 1, space->degree + 5, &t);
  for (int i = 0; i < loaded_of(space); i++)
    if (f[i]) TES_TRY(load_part(space, &t, i, f[i], load->b));
  if (faces) TES_TRY(visit_faces(space, &t, given, load_face, load));
  tesi_rt_clear(space, load->b);
done:
  return tesi_agree(ctx, status);
}

TesStatus tesi_rt_load(const TesSpace *space, const TesFunction *const *f, double nu, const TesiGiven *given,
                       TesPenalty penalty, TesVector *b) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  Load load = {.context = ctx, .nu = nu, .penalty = penalty};
  const bool faces = any_face(space, given);
  bool any = faces;
  for (int i = 0; i < loaded_of(space); i++) any = any || f[i];
  if (!any) return tes_vector_fill(b, 0);
  TES_TRY(begin_host(b, &load.b));
  TES_TRY(load_all(space, f, given, faces, &load));
  tesi_exchange_sum(space->layout->sum, TES_DOUBLE, load.b);
done:
  return end_host(b, &load.b, status);
}

TesStatus tesi_rt_lifting(const TesSpace *space, const TesiGiven *given, TesVector *u, double flux[2]) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiRtTables t;
  Load load = {.context = ctx};
  flux[0] = flux[1] = 0;
  if (!tesi_rt_lifts(space, given)) return tes_vector_fill(u, 0);
  tesi_rt_tables(space->degree + 1, space->degree + 5, &t);
  TES_TRY(begin_host(u, &load.b));
  TES_TRY(tesi_agree(ctx, visit_faces(space, &t, given, lift_face, &load)));
  tesi_reduce(ctx, TESI_SUM, 2, load.flux);
  flux[0] = load.flux[0] + load.flux[1], flux[1] = load.flux[1];
done:
  return end_host(u, &load.b, status);
}

typedef struct Fluxes {
  const double *u;
  double *flux;
} Fluxes;

/* The mode 0 across the face carries the mean. */
static TesStatus flux_face(void *user, const Face *f, const TesiGiven *given) {
  (void)given;
  const Fluxes *fluxes = user;
  double area = 1, one;
  int first;
  for (int d = 0; d < f->space->dim; d++)
    if (d != f->d) area *= tesi_modal(f->space, d)->h[f->cell[d]];
  face_weights(f, NULL, TESI_STRONG, f->d, &first, &one);
  fluxes->flux[2 * f->d + f->end] +=
      (f->end ? 1 : -1) * sqrt(area) * fluxes->u[face_number(f, f->d, first, 0)];
  return TES_OK;
}

TesStatus tesi_rt_fluxes(const TesSpace *space, const TesVector *u, double flux[6]) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  memset(flux, 0, 6 * sizeof *flux);
  TES_TRY(tesi_vector_read(u, &values));
  TES_TRY(visit_faces(space, NULL, NULL, flux_face, &(Fluxes){values, flux}));
  tesi_reduce(ctx, TESI_SUM, 6, flux);
done:
  tesi_free(ctx, &values);
  return status;
}
