/* The cells of rt_convection.h, eight at a time. */
#include "operator/rt_convection/rt_convection.h"
#include "tensor/simd.h"

typedef double Lanes __attribute__((vector_size(64), may_alias));
typedef long long Bits __attribute__((vector_size(64), may_alias));
enum { LANES = TESI_RT_CONVECTION_LANES, LINE = TESI_RT_POINTS };

/* The place of a component for each cell: its first entry, and the distance from its lower to its upper node along
 * its own direction. */
typedef struct Place {
  int64_t first[LANES], upper[LANES];
} Place;

typedef struct Cells {
  const TesiRtConvection *c;
  int count, cell[LANES][3];
  int64_t number[LANES];
  Place own[3];
  int64_t stride[3][3];
  Lanes h[3], root[3]; /* widths; 1 / sqrt(width) */
  Lanes *u[3], *v[3], *sum, *a, *b, *near, *at_face[2], *out[3];
} Cells;

static void find_place(const TesSpace *space, int i, const int cell[3], int l, Place *place) {
  int64_t first = space->first[i], stride = 1, upper = 0;
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *a = &space->scalar[i]->axis[d];
    const int node = tesi_axis_node(a, cell[d], 0);
    first += stride * node;
    if (d == i) upper = stride * (tesi_axis_node(a, cell[d], a->step) - node);
    stride *= space->scalar[i]->axis[d].nodes;
  }
  place->first[l] = first, place->upper[l] = upper;
}

/* Cells after the last repeat the last cell. */
static void begin_batch(Cells *s, int dim, int64_t batch) {
  const TesSpace *space = s->c->space;
  s->count = 0;
  for (int l = 0; l < LANES; l++) {
    const int64_t number = batch * LANES + l;
    s->number[l] = number < s->c->cells ? number : s->c->cells - 1;
    s->count += number < s->c->cells;
    tesi_rt_cell(space, s->number[l], s->cell[l]);
    for (int d = 0; d < dim; d++) {
      s->h[d][l] = tesi_modal(space, d)->h[s->cell[l][d]];
      s->root[d][l] = 1 / __builtin_sqrt(s->h[d][l]);
      find_place(space, d, s->cell[l], l, &s->own[d]);
    }
  }
  for (int i = 0; i < dim; i++) {
    int64_t stride = 1;
    for (int d = 0; d < 3; d++) {
      s->stride[i][d] = stride;
      stride *= space->scalar[i]->axis[d].nodes;
    }
  }
}

/* Entries of component i, [z][y][x], times scale. */
TESI_INLINE void gather(const Cells *s, int dim, int n, int i, const Place *place, const Lanes *scale,
                        Lanes *out) {
  const double *restrict u = s->c->u;
  const int64_t *stride = s->stride[i];
  const int e[3] = {i == 0 ? n + 1 : n, i == 1 ? n + 1 : n, dim == 2 ? 1 : i == 2 ? n + 1 : n};
  for (int z = 0; z < e[2]; z++)
    for (int y = 0; y < e[1]; y++)
      for (int x = 0; x < e[0]; x++, out++) {
        const int at[3] = {x, y, z};
        const bool upper = at[i] == n;
        const int64_t rest = x * stride[0] + y * stride[1] + z * stride[2] - (upper ? n * stride[i] : 0);
        Lanes v;
        for (int l = 0; l < LANES; l++) v[l] = u[place->first[l] + rest + (upper ? place->upper[l] : 0)];
        *out = *scale * v;
      }
}

/* out[o][r][i] <- sum over c of T[r * row + c * column] in[o][c][i]. */
typedef struct Product {
  int outer, inner, rows, columns;
  const double *T;
  int row, column;
} Product;

TESI_INLINE void multiply(const Product *p, int columns, const Lanes *in, Lanes *out) {
  for (int o = 0; o < p->outer; o++)
    for (int i = 0; i < p->inner; i++) {
      Lanes line[LINE];
      TESI_UNROLL
      for (int c = 0; c < columns; c++) line[c] = in[(o * columns + c) * p->inner + i];
      for (int r = 0; r < p->rows; r++) {
        const double *t = p->T + r * p->row;
        Lanes sum = t[0] * line[0];
        TESI_UNROLL
        for (int c = 1; c < columns; c++) sum += t[c * p->column] * line[c];
        out[(o * p->rows + r) * p->inner + i] = sum;
      }
    }
}

/* Lines of a few entries stay in registers. */
TESI_APART void contract(int outer, int inner, int rows, int columns, const double *T, int row, int column,
                         const Lanes *in, Lanes *out) {
  const Product p = {outer, inner, rows, columns, T, row, column};
  switch (columns) {
  case 2:
    multiply(&p, 2, in, out);
    return;
  case 3:
    multiply(&p, 3, in, out);
    return;
  case 4:
    multiply(&p, 4, in, out);
    return;
  case 5:
    multiply(&p, 5, in, out);
    return;
  case 6:
    multiply(&p, 6, in, out);
    return;
  case 7:
    multiply(&p, 7, in, out);
    return;
  case 8:
    multiply(&p, 8, in, out);
    return;
  default:
    multiply(&p, columns, in, out);
  }
}

/* values[q^m] <- the function of component i from its coefficients, in the m directions except `without` (-1: in
 * all). Directions of i are nodal. `in` is overwritten. */
TESI_INLINE const double *table_of(const Cells *s, int i, int d) {
  return (d == i ? s->c->table.nodal : s->c->table.modal)[0];
}

TESI_INLINE void evaluate(const Cells *s, int dim, int n, int q, int i, int without, Lanes *in, Lanes *spare,
                          Lanes *values) {
  int e[3] = {1, 1, 1}, left = dim - (without >= 0), done = 0;
  for (int d = 0; d < dim; d++) e[d] = d == without ? 1 : d == i ? n + 1 : n;
  const Lanes *from = in;
  for (int d = 0; d < dim; d++) {
    if (d == without) continue;
    const int inner = d == 0 ? 1 : d == 1 ? e[0] : e[0] * e[1], outer = e[0] * e[1] * e[2] / inner / e[d];
    Lanes *to = ++done == left ? values : from == in ? spare : in;
    contract(outer, inner, q, e[d], table_of(s, i, d), e[d], 1, from, to);
    e[d] = q;
    from = to;
  }
}

/* The transpose: out <- coefficients; `in` is overwritten. */
TESI_INLINE void integrate(const Cells *s, int dim, int n, int q, int i, int without, Lanes *in, Lanes *spare,
                           Lanes *out) {
  int e[3] = {1, 1, 1}, left = dim - (without >= 0), done = 0;
  for (int d = 0; d < dim; d++) e[d] = d == without ? 1 : q;
  const Lanes *from = in;
  for (int d = 0; d < dim; d++) {
    if (d == without) continue;
    const int rows = d == i ? n + 1 : n;
    const int inner = d == 0 ? 1 : d == 1 ? e[0] : e[0] * e[1], outer = e[0] * e[1] * e[2] / inner / q;
    Lanes *to = ++done == left ? out : from == in ? spare : in;
    contract(outer, inner, rows, q, table_of(s, i, d), 1, rows, from, to);
    e[d] = rows;
    from = to;
  }
}

/* The scale of component i: Legendre modes of a cell of width h are the modes of [0, 1] over sqrt(h). */
TESI_INLINE void find_scale(const Cells *s, int dim, int i, Lanes *scale) {
  *scale = s->root[i == 0];
  if (dim == 3) *scale *= s->root[i == 2 ? 1 : 2];
}

/* out[i] <- int (u . grad u_i) v over the cells; the velocity at the points stays in s->v. */
TESI_INLINE void add_volume(Cells *s, int dim, int n, int q) {
  const TesiRtTables *t = &s->c->table;
  const int points = dim == 2 ? q * q : q * q * q;
  const double *w = t->w;
  Lanes volume = s->h[0] * s->h[1];
  if (dim == 3) volume *= s->h[2];
  for (int i = 0; i < dim; i++) {
    const int size = (n + 1) * n * (dim == 3 ? n : 1);
    Lanes scale;
    find_scale(s, dim, i, &scale);
    gather(s, dim, n, i, &s->own[i], &scale, s->u[i]);
    memcpy(s->a, s->u[i], (size_t)size * sizeof *s->a);
    evaluate(s, dim, n, q, i, -1, s->a, s->b, s->v[i]);
  }
  for (int i = 0; i < dim; i++) {
    for (int d = 0; d < dim; d++) {
      const int inner = d == 0 ? 1 : d == 1 ? q : q * q;
      const Lanes factor = 1 / s->h[d];
      contract(points / inner / q, inner, q, q, s->c->derivative, q, 1, s->v[i], s->a);
      for (int p = 0; p < points; p++) {
        const Lanes product = factor * s->v[d][p] * s->a[p];
        if (d)
          s->sum[p] += product;
        else
          s->sum[p] = product;
      }
    }
    for (int p = 0; p < points; p++)
      s->sum[p] *= volume * (w[p % q] * w[p / q % q] * (dim == 3 ? w[p / q / q] : 1));
    integrate(s, dim, n, q, i, -1, s->sum, s->a, s->out[i]);
  }
}

TESI_INLINE void absolute(const Lanes *v, Lanes *size) {
  *size = (Lanes)((Bits)*v & 0x7fffffffffffffffLL);
}

/* most <- the larger value; NaN if either is NaN. */
TESI_INLINE void take_larger(const Lanes *v, Lanes *most) {
  Lanes a;
  absolute(v, &a);
  const Bits first = (a > *most) | (a != a);
  *most = (Lanes)(((Bits)a & first) | ((Bits)*most & ~first));
}

static double largest_rate(const Cells *s, int dim, int points) {
  double rate = 0;
  for (int d = 0; d < dim; d++) {
    Lanes most = {0};
    for (int p = 0; p < points; p++) take_larger(&s->v[d][p], &most);
    most /= s->h[d];
    for (int l = 0; l < LANES; l++)
      if (most[l] > rate || most[l] != most[l]) rate = most[l];
  }
  return rate;
}

/* The place of component i in the cells beyond a face; *mask <- 1 where there is such a cell, else 0. */
static Place beyond(const Cells *s, int i, int d, int end, Lanes *scale, Lanes *mask) {
  const TesSpace *space = s->c->space;
  const TesiAxis *a = tesi_modal(space, d);
  Place place;
  for (int l = 0; l < LANES; l++) {
    int cell[3] = {s->cell[l][0], s->cell[l][1], s->cell[l][2]};
    const int next = cell[d] + (end ? 1 : -1);
    const bool inside = next >= 0 && next < a->cells;
    (*mask)[l] = inside || a->periodic;
    if (inside || a->periodic) cell[d] = (next + a->cells) % a->cells;
    find_place(space, i, cell, l, &place);
    (*scale)[l] = 1;
    for (int e = 0; e < space->dim; e++)
      if (e != i) (*scale)[l] /= __builtin_sqrt(tesi_modal(space, e)->h[cell[e]]);
  }
  return place;
}

/* out[i], i other than d: int over the face of |u.n| (u_i - the value beyond) v where u enters. */
TESI_INLINE void add_face(Cells *s, int dim, int n, int q, int d, int end) {
  const TesiRtTables *t = &s->c->table;
  const double *own = s->c->end[end], *other = s->c->end[1 - end];
  const int points = dim == 2 ? q : q * q, m[3] = {n, n, dim == 3 ? n : 1};
  const double sign = end ? -1 : 1;
  Lanes area = {1, 1, 1, 1, 1, 1, 1, 1}, mask, *enters = s->at_face[0], *jump = s->at_face[1];
  for (int e = 0; e < dim; e++)
    if (e != d) area *= s->h[e];
  /* u.n at the points: the nodes of the face */
  {
    int inner = 1, outer = 1;
    for (int e = 0; e < 3; e++) {
      if (e < d) inner *= m[e];
      if (e > d) outer *= m[e];
    }
    for (int o = 0; o < outer; o++)
      for (int j = 0; j < inner; j++) s->a[o * inner + j] = s->u[d][(o * (n + 1) + end * n) * inner + j];
    evaluate(s, dim, n, q, d, d, s->a, s->b, enters);
  }
  for (int i = 0; i < dim; i++) {
    int e[3] = {m[0], m[1], m[2]}, inner = 1, outer = 1;
    Lanes scale;
    if (i == d) continue;
    e[i] = n + 1;
    for (int c = 0; c < 3; c++) {
      if (c < d) inner *= e[c];
      if (c > d) outer *= e[c];
    }
    const Place place = beyond(s, i, d, end, &scale, &mask);
    gather(s, dim, n, i, &place, &scale, s->near);
    for (int o = 0; o < outer; o++)
      for (int j = 0; j < inner; j++) {
        const Lanes *u = s->u[i] + o * n * inner + j, *v = s->near + o * n * inner + j;
        Lanes sum = own[0] * u[0] - other[0] * v[0];
        for (int c = 1; c < n; c++) sum += own[c] * u[c * inner] - other[c] * v[c * inner];
        s->a[o * inner + j] = sum;
      }
    evaluate(s, dim, n, q, i, d, s->a, s->b, jump);
    for (int p = 0; p < points; p++) {
      Lanes size;
      absolute(&enters[p], &size);
      jump[p] *= (sign * enters[p] + size) * area * mask * (0.5 * t->w[p % q] * (dim == 3 ? t->w[p / q] : 1));
    }
    integrate(s, dim, n, q, i, d, jump, s->a, s->b);
    for (int o = 0; o < outer; o++)
      for (int j = 0; j < inner; j++)
        for (int c = 0; c < n; c++) s->out[i][(o * n + c) * inner + j] += own[c] * s->b[o * inner + j];
  }
}

/* Adds to y. Contributions to upper nodes are put aside, unless there is no cell above. */
TESI_INLINE void scatter(const Cells *s, int dim, int n, int i) {
  const TesiRtConvection *c = s->c;
  const TesiAxis *axis = tesi_modal(c->space, i);
  const int64_t *stride = s->stride[i];
  const int e[3] = {i == 0 ? n + 1 : n, i == 1 ? n + 1 : n, dim == 2 ? 1 : i == 2 ? n + 1 : n};
  Lanes scale;
  double *restrict y = c->y;
  int64_t aside = c->aside_at[i];
  const Lanes *from = s->out[i];
  find_scale(s, dim, i, &scale);
  for (int z = 0; z < e[2]; z++)
    for (int j = 0; j < e[1]; j++)
      for (int x = 0; x < e[0]; x++, from++) {
        const int at[3] = {x, j, z};
        const Lanes v = scale * *from;
        if (at[i] < n) {
          const int64_t rest = x * stride[0] + j * stride[1] + z * stride[2];
          for (int l = 0; l < s->count; l++) y[s->own[i].first[l] + rest] = v[l];
          continue;
        }
        const int64_t rest = x * stride[0] + j * stride[1] + z * stride[2] - n * stride[i];
        for (int l = 0; l < s->count; l++) {
          if (s->cell[l][i] == axis->cells - 1 && !axis->periodic)
            y[s->own[i].first[l] + s->own[i].upper[l] + rest] = v[l];
          else
            c->aside[aside + s->number[l] * c->aside_size[i]] = v[l];
        }
        aside++;
      }
}

static Lanes *take(double **work, int64_t count) {
  Lanes *v = (Lanes *)*work;
  *work += count * LANES;
  return v;
}

TESI_INLINE void run(const TesiRtConvection *c, int dim, int n, int q, int64_t first, int64_t end,
                     double *work) {
  const int64_t points = dim == 2 ? q * q : q * q * q, size = (int64_t)(n + 1) * n * (dim == 3 ? n : 1);
  Cells s = {.c = c};
  for (int i = 0; i < dim; i++) s.u[i] = take(&work, size);
  for (int i = 0; i < dim; i++) s.out[i] = take(&work, size);
  for (int i = 0; i < dim; i++) s.v[i] = take(&work, points);
  s.sum = take(&work, points), s.a = take(&work, points), s.b = take(&work, points);
  s.near = take(&work, size);
  for (int i = 0; i < 2; i++) s.at_face[i] = take(&work, points);
  for (int64_t batch = first; batch < end; batch++) {
    begin_batch(&s, dim, batch);
    add_volume(&s, dim, n, q);
    c->rates[batch] = largest_rate(&s, dim, (int)points);
    for (int d = 0; d < dim; d++)
      for (int side = 0; side < 2; side++) add_face(&s, dim, n, q, d, side);
    for (int i = 0; i < dim; i++) scatter(&s, dim, n, i);
  }
}

void TESI_SIMD(tesi_rt_convection_cells)(const TesiRtConvection *c, int64_t first, int64_t end, double *work) {
  if (c->space->dim == 2)
    run(c, 2, c->n, c->q, first, end, work);
  else
    run(c, 3, c->n, c->q, first, end, work);
}
