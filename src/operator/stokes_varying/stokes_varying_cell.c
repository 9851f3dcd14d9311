/* The contributions of a cell and its faces to the rows of the cell: sum factorisation with tables of the unit
 * cell. */
#include <string.h>
#include "operator/stokes_varying/stokes_varying.h"
#include "tensor/contract.h"

enum { AXES = 3 };

/* Arrays of a thread: local values of the cell and of a neighbour, sums; at points derivatives and others. */
typedef struct Work {
  double *u[TESI_RT_PARTS], *other[AXES], *out[TESI_RT_PARTS], *gradient[AXES * AXES], *values, *jump, *mean,
      *scratch[2];
} Work;
enum { WORK_ARRAYS = 2 * TESI_RT_PARTS + AXES + AXES * AXES + 5 };

static int64_t array_size(const TesiStokesVarying *s) {
  int64_t size = 1;
  for (int d = 0; d < s->stokes.space->dim; d++)
    size *= tesi_max(s->cell.points, s->stokes.space->degree + 2);
  return size;
}

int64_t tesi_stokes_varying_work(const TesiStokesVarying *s) {
  return WORK_ARRAYS * array_size(s);
}

static Work divide_work(const TesiStokesVarying *s, double *memory) {
  const int64_t size = array_size(s);
  Work w;
  double **const arrays[] = {w.u, w.other, w.out, w.gradient};
  const int counts[] = {TESI_RT_PARTS, AXES, TESI_RT_PARTS, AXES * AXES};
  for (int a = 0; a < 4; a++)
    for (int i = 0; i < counts[a]; i++, memory += size) arrays[a][i] = memory;
  double **const singles[] = {&w.values, &w.jump, &w.mean, &w.scratch[0], &w.scratch[1]};
  for (int i = 0; i < 5; i++, memory += size) *singles[i] = memory;
  return w;
}

/* Tables of the three directions at the points of a cell (face -1), or of a face with normal `face`. */
static void pick_tables(const TesiStokesVarying *s, int face, int end, const TesiRtTables *t[3]) {
  for (int d = 0; d < 3; d++) t[d] = d == face ? &s->end[end] : &s->cell;
}

static const double *table_of(const TesiRtTables *t, bool nodal, bool derivative) {
  return (nodal ? t->nodal : t->modal)[derivative];
}

/* How many entries are not zero: 0, 1 (*at: which), or 2 for more. */
static int count_entries(int n, const double *v, int *at) {
  int count = 0;
  for (int i = 0; i < n && count < 2; i++)
    if (v[i] != 0) *at = i, count++;
  return count;
}

/* The result of evaluate() for one basis function, as a product of columns of the tables. For columns of dense
 * matrices this costs a sixth. */
static void evaluate_one(int dim, const double *const table[3], const int points[3], const int e[3], int at,
                         double factor, double *values) {
  const int j[3] = {at % e[0], at / e[0] % e[1], at / e[0] / e[1]};
  for (int z = 0, i = 0; z < points[2]; z++)
    for (int y = 0; y < points[1]; y++) {
      const double of_line = factor * (dim == 3 ? table[2][z * e[2] + j[2]] : 1) * table[1][y * e[1] + j[1]];
      for (int x = 0; x < points[0]; x++, i++) values[i] = of_line * table[0][x * e[0] + j[0]];
    }
}

/* values <- a part, or its derivative in a direction of the unit cell (-1: none), at the points. */
static void evaluate(const TesiStokesVarying *s, const TesiRtTables *const t[3], const Work *w, int part,
                     int derivative, const double *local, double *values) {
  const TesSpace *space = s->stokes.space;
  int e[3], points[3], at = 0;
  const double *from = local, *table[3];
  for (int d = 0; d < 3; d++) {
    e[d] = tesi_rt_extent(space, part, d);
    points[d] = d < space->dim ? t[d]->points : 1;
    table[d] = table_of(t[d], d == part, d == derivative);
  }
  if (count_entries(e[0] * e[1] * e[2], local, &at) < 2) {
    evaluate_one(space->dim, table, points, e, at, local[at], values);
    return;
  }
  for (int d = 0; d < space->dim; d++) {
    double *to = d == space->dim - 1 ? values : w->scratch[d % 2];
    tesi_contract(table[d], points[d], e[d], false, e, d, from, to);
    from = to;
  }
}

/* out <- out + factor times the transpose of evaluate(). */
static void test(const TesiStokesVarying *s, const TesiRtTables *const t[3], const Work *w, int part,
                 int derivative, double factor, const double *values, double *out) {
  const TesSpace *space = s->stokes.space;
  int e[3], at;
  const double *from = values;
  for (int d = 0; d < 3; d++) e[d] = d < space->dim ? t[d]->points : 1;
  if (count_entries(e[0] * e[1] * e[2], values, &at) == 0) return;
  for (int d = 0; d < space->dim; d++) {
    double *to = w->scratch[d % 2];
    tesi_contract(table_of(t[d], d == part, d == derivative), t[d]->points, tesi_rt_extent(space, part, d),
                  true, e, d, from, to);
    from = to;
  }
  for (int i = 0; i < e[0] * e[1] * e[2]; i++) out[i] += factor * from[i];
}

/* Whether any number is not zero. */
static bool read_parts(const TesSpace *space, int parts, const int cell[3], const double *x,
                       double *const *local) {
  bool any = false;
  for (int p = 0; p < parts; p++) {
    const int count = tesi_rt_read(space, p, cell, x, local[p]);
    for (int i = 0; i < count && !any; i++) any = local[p][i] != 0;
  }
  return any;
}

static double weight_of(const TesiStokesVarying *s, const int cell[3], int face, int point) {
  const TesSpace *space = s->stokes.space;
  double weight = 1;
  for (int d = 0; d < space->dim; d++) {
    if (d == face) continue;
    weight *= s->cell.w[point % s->cell.points] * tesi_modal(space, d)->h[cell[d]];
    point /= s->cell.points;
  }
  return weight;
}

/* ---- the cell ------------------------------------------------------------------------------------------ */

static void add_volume(const TesiStokesVarying *s, const int cell[3], int64_t number, const Work *w) {
  const TesSpace *space = s->stokes.space;
  const int dim = space->dim, points = s->points;
  const double *nu = s->nu + number * points;
  const TesiRtTables *t[3];
  double h[3] = {1, 1, 1};
  pick_tables(s, -1, 0, t);
  for (int d = 0; d < dim; d++) h[d] = tesi_modal(space, d)->h[cell[d]];
  for (int i = 0; i < dim; i++)
    for (int a = 0; a < dim; a++) evaluate(s, t, w, i, a, w->u[i], w->gradient[i * AXES + a]);
  evaluate(s, t, w, dim, -1, w->u[dim], w->values);
  for (int q = 0; q < points; q++) {
    const double weight = weight_of(s, cell, -1, q);
    double g[AXES][AXES], divergence = 0;
    for (int i = 0; i < dim; i++)
      for (int a = 0; a < dim; a++) g[i][a] = w->gradient[i * AXES + a][q] / h[a];
    for (int i = 0; i < dim; i++) {
      divergence += g[i][i];
      for (int a = 0; a < dim; a++)
        w->gradient[i * AXES + a][q] =
            weight * (nu[q] * (g[i][a] + (s->symmetric ? g[a][i] : 0)) - (a == i ? w->values[q] : 0));
    }
    w->mean[q] = -weight * divergence;
  }
  for (int i = 0; i < dim; i++)
    for (int a = 0; a < dim; a++) test(s, t, w, i, a, 1 / h[a], w->gradient[i * AXES + a], w->out[i]);
  test(s, t, w, dim, -1, 1, w->mean, w->out[dim]);
  for (int i = 0; i < dim && s->stokes.alpha != 0; i++) {
    evaluate(s, t, w, i, -1, w->u[i], w->values);
    for (int q = 0; q < points; q++) w->values[q] *= weight_of(s, cell, -1, q) * s->stokes.alpha;
    test(s, t, w, i, -1, 1, w->values, w->out[i]);
  }
}

/* ---- faces --------------------------------------------------------------------------------------------- */

/* A face of a cell with normal d at an end; the cell beyond it, if there is one. */
typedef struct Face {
  int d, end, beyond[3];
  bool inner;
  double gamma;
} Face;

static Face face_of(const TesiStokesVarying *s, const int cell[3], int d, int end) {
  const TesiAxis *a = tesi_modal(s->stokes.space, d);
  const int k = s->stokes.space->degree, c = cell[d], next = c + (end ? 1 : -1);
  Face f = {.d = d, .end = end, .beyond = {cell[0], cell[1], cell[2]}};
  f.inner = a->periodic || (next >= 0 && next < a->cells);
  f.beyond[d] = (next + a->cells) % a->cells;
  f.gamma = f.inner ? tesi_penalty_factor(s->penalty, k, a->h[c], a->h[f.beyond[d]])
                    : tesi_rt_boundary_penalty(s->penalty, k, a->h[c]);
  return f;
}

/* mean <- mean + share s t_i(u), s the sign of the cell's outer normal. */
static void add_stress(const TesiStokesVarying *s, const Work *w, const Face *f, const int cell[3], int end,
                       int i, double factor, double *const *local) {
  const TesSpace *space = s->stokes.space;
  const double normal = factor / tesi_modal(space, f->d)->h[cell[f->d]],
               along = factor / tesi_modal(space, i)->h[cell[i]];
  const TesiRtTables *t[3];
  pick_tables(s, f->d, end, t);
  evaluate(s, t, w, i, f->d, local[i], w->values);
  for (int q = 0; q < s->face_points; q++) w->mean[q] += normal * w->values[q];
  if (!s->symmetric) return;
  evaluate(s, t, w, f->d, i, local[f->d], w->values);
  for (int q = 0; q < s->face_points; q++) w->mean[q] += along * w->values[q];
}

static void add_component(const TesiStokesVarying *s, const Work *w, const Face *f, const int cell[3], int i,
                          const double *nu) {
  const TesSpace *space = s->stokes.space;
  const TesiRtTables *t[3], *beyond[3];
  const double share = f->inner ? 0.5 : 1, sign = f->end ? 1 : -1;
  pick_tables(s, f->d, f->end, t);
  pick_tables(s, f->d, !f->end, beyond);
  evaluate(s, t, w, i, -1, w->u[i], w->jump);
  memset(w->mean, 0, sizeof *w->mean * (size_t)s->face_points);
  add_stress(s, w, f, cell, f->end, i, share * sign, w->u);
  if (f->inner) {
    add_stress(s, w, f, f->beyond, !f->end, i, share * sign, w->other);
    evaluate(s, beyond, w, i, -1, w->other[i], w->values);
    for (int q = 0; q < s->face_points; q++) w->jump[q] -= w->values[q];
  }
  for (int q = 0; q < s->face_points; q++) {
    const double weight = weight_of(s, cell, f->d, q) * nu[q];
    w->values[q] = weight * (f->gamma * w->jump[q] - w->mean[q]);
    w->jump[q] *= -weight * share * sign;
  }
  test(s, t, w, i, -1, 1, w->values, w->out[i]);
  test(s, t, w, i, f->d, 1 / tesi_modal(space, f->d)->h[cell[f->d]], w->jump, w->out[i]);
  if (s->symmetric) test(s, t, w, f->d, i, 1 / tesi_modal(space, i)->h[cell[i]], w->jump, w->out[f->d]);
}

static void add_faces(const TesiStokesVarying *s, const int cell[3], int64_t number, bool any,
                      const double *x, const Work *w) {
  const TesSpace *space = s->stokes.space;
  const double *nu = s->face_nu + number * 2 * space->dim * s->face_points;
  for (int side = 0; side < 2 * space->dim; side++) {
    const int d = side / 2, end = side % 2;
    const Face f = face_of(s, cell, d, end);
    if (!f.inner && tesi_modal(space, d)->end[end] != TESI_WEAK) continue;
    const bool beyond = f.inner && read_parts(space, space->dim, f.beyond, x, w->other);
    if (!any && !beyond) continue;
    for (int i = 0; i < space->dim; i++)
      if (i != d) add_component(s, w, &f, cell, i, nu + side * s->face_points);
  }
}

void tesi_stokes_varying_cell(const TesiStokesVarying *s, const int cell[3], const double *x, double *work,
                              double *y) {
  const TesSpace *space = s->stokes.space;
  const Work w = divide_work(s, work);
  const int64_t number = tesi_rt_cell_number(s->stokes.space, cell);
  for (int p = 0; p < space->parts; p++) memset(w.out[p], 0, sizeof *w.out[p] * (size_t)array_size(s));
  const bool any = read_parts(space, space->parts, cell, x, w.u);
  if (any) add_volume(s, cell, number, &w);
  add_faces(s, cell, number, any, x, &w);
  for (int p = 0; p < space->parts; p++) tesi_rt_add(space, p, cell, w.out[p], y);
}

TesStatus tesi_stokes_varying_matrix(TesContext *ctx, const TesiStokesVarying *s, int cells,
                                     const int (*cell)[3], int n, const int64_t *list, double *zero,
                                     double *work, double *K) {
  const TesSpace *space = s->stokes.space;
  const int64_t length = space->first[space->parts];
  double *x = zero, *y = zero + length;
  TesStatus status = TES_OK;
  for (int j = 0; j < n; j++) {
    TES_TRY(tesi_work_go_on(ctx));
    x[list[j]] = 1;
    for (int c = 0; c < cells; c++) tesi_stokes_varying_cell(s, cell[c], x, work, y);
    for (int i = 0; i < n; i++) K[(int64_t)i * n + j] = y[list[i]];
    for (int c = 0; c < cells; c++)
      for (int p = 0; p < space->parts; p++) tesi_rt_clear_cell(space, p, cell[c], y);
    x[list[j]] = 0;
  }
done:
  return status;
}

/* g: given values of component i at the points of a boundary face, weighted. They act like a jump of -g. */
void tesi_stokes_varying_face(const TesiStokesVarying *s, const int cell[3], int d, int end, int i,
                              const double *g, double *work, double *b) {
  const TesSpace *space = s->stokes.space;
  const Work w = divide_work(s, work);
  const Face f = face_of(s, cell, d, end);
  const double *nu = s->face_nu + (tesi_rt_cell_number(s->stokes.space, cell) * 2 * space->dim + 2 * d + end) *
                                      s->face_points;
  const TesiRtTables *t[3];
  pick_tables(s, d, end, t);
  const int parts[2] = {i, d};
  for (int k = 0; k < 2; k++) memset(w.out[parts[k]], 0, sizeof **w.out * (size_t)array_size(s));
  for (int q = 0; q < s->face_points; q++) {
    w.values[q] = nu[q] * f.gamma * g[q];
    w.jump[q] = -nu[q] * (end ? 1 : -1) * g[q];
  }
  test(s, t, &w, i, -1, 1, w.values, w.out[i]);
  test(s, t, &w, i, d, 1 / tesi_modal(space, d)->h[cell[d]], w.jump, w.out[i]);
  if (s->symmetric) test(s, t, &w, d, i, 1 / tesi_modal(space, i)->h[cell[i]], w.jump, w.out[d]);
  for (int k = 0; k < 2; k++) tesi_rt_add(space, parts[k], cell, w.out[parts[k]], b);
}
