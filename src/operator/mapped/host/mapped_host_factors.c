/* The factors as the host's kernels read them, one batch after another, [..][lane] in the operator's precision:
 *   stored    stiffness: [slow][mid][x][entry]; mass alone: [mid][x][slow] (lines of the slow direction)
 *   vertices  stiffness: [2^dim][dim] monomials of the map (bit d of the index: xi_d; 3D: xi_d - 1/2);
 *             mass alone: |J| as [3^dim] monomials
 *   affine    [entry]
 *   weights   [slow][mid][x][w a / |J|, with a mass term w |J| c], then the monomials of the cell's polynomial of
 *             degree m: [m + 1]^dim, x fastest, [dim]. 3D, m = 1: monomials of xi_d - 1/2, and the weights w a A /
 *             |J|, A as in mapped_points_body.h
 *   matrix    the rows of the lower triangle, with its diagonal when there is a mass term */
#include <string.h>
#include "base/integer.h"
#include "base/real.h"
#include "base/work.h"
#include "geometry/geometry.h"
#include "operator/mapped/host/mapped_dense.h"
#include "operator/mapped/host/mapped_host.h"
#include "operator/mapped/mapped_fill.h"

/* Numbers per cell. */
static int64_t numbers(const TesiMappedHost *plan) {
  switch (plan->factors) {
  case TES_FACTORS_VERTICES:
    return plan->stiffness ? (int64_t)plan->dim << plan->dim : tesi_power(3, plan->dim);
  case TES_FACTORS_AFFINE:
    return plan->entries;
  case TES_FACTORS_WEIGHTS:
    return plan->entries * plan->points + plan->dim * tesi_power(plan->geometry_degree + 1, plan->dim);
  case TES_FACTORS_MATRIX:
    return plan->nodes * (plan->nodes + (plan->mass ? 1 : -1)) / 2;
  default:
    return plan->entries * plan->points;
  }
}

/* Monomials of the trilinear map: c[bits] of prod over bits xi_d, from x[2^dim][dim]. */
static void monomials(int dim, const double *x, double *c) {
  memcpy(c, x, ((size_t)dim << dim) * sizeof *c);
  for (int d = 0; d < dim; d++)
    for (int v = 0; v < 1 << dim; v++)
      for (int r = 0; v >> d & 1 && r < dim; r++) c[v * dim + r] -= c[(v ^ 1 << d) * dim + r];
}

/* Turns the trilinear map's monomials in xi into monomials in xi - 1/2. */
static void centre(double c[8 * 3]) {
  for (int bit = 1; bit < 8; bit *= 2)
    for (int v = 0; v < 8; v++)
      for (int r = 0; !(v & bit) && r < 3; r++) c[3 * v + r] += 0.5 * c[3 * (v + bit) + r];
}

/* |J| of the trilinear map is a polynomial of degree 2 per direction: monomials [3^dim] from values at 0, 1/2, 1. */
static void determinant_monomials(const TesiMappedHost *plan, int64_t cell, double *c) {
  static const double at[3] = {0, 0.5, 1}, to[3][3] = {{1, 0, 0}, {-3, 4, -1}, {2, -4, 2}};
  double B[6], G[6], x[3 * 27], J[9 * 27], det[27];
  const int dim = plan->dim, count = dim == 3 ? 27 : 9;
  tesi_geometry_tables(plan->m->geometry, 3, at, B, G);
  tesi_geometry_tensor(plan->m->geometry, cell, 1, 3, B, G, x, J);
  tesi_geometry_determinant(dim, count, J, det);
  for (int d = 0, stride = 1; d < dim; d++, stride *= 3) {
    for (int p = 0; p < count; p++) {
      const int i = p / stride % 3, base = p - i * stride;
      c[p] = 0;
      for (int s = 0; s < 3; s++) c[p] += to[i][s] * det[base + s * stride];
    }
    memcpy(det, c, (size_t)count * sizeof *c);
  }
}

/* f[point][1 + dim][nodes] */
static TesStatus make_functions(TesContext *ctx, const TesiMappedHost *plan, double **f) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  TES_ALLOC(f, plan->points * (plan->dim + 1) * plan->nodes);
  for (int64_t p = 0; p < plan->points; p++) {
    const double xi[3] = {m->point[p % m->q], m->point[p / m->q % m->q], m->point[p / m->q / m->q % m->q]};
    tesi_mapped_functions(m, xi, *f + p * (plan->dim + 1) * plan->nodes);
  }
done:
  return status;
}

/* For the cells plan->cell[at] .. + 7: v[8] becomes number `number` of each cell, and so on for `count` numbers,
 * `step` apart. */
static void put(const TesiMappedHost *plan, int64_t at, int64_t number, int64_t step, int64_t count,
                const double *v) {
  const int64_t lanes = plan->kernels.lanes, all = plan->batches * lanes;
  const int64_t base = at / lanes * plan->stride + number * lanes + at % lanes;
  if (lanes >= TESI_LANES && plan->m->precision == TES_DOUBLE) {
    double *to = (double *)plan->g + base;
    for (int64_t i = 0; i < count; i++)
      for (int l = 0; l < TESI_LANES; l++) to[i * step * lanes + l] = v[i * TESI_LANES + l];
  } else if (lanes >= TESI_LANES) {
    float *to = (float *)plan->g + base;
    for (int64_t i = 0; i < count; i++)
      for (int l = 0; l < TESI_LANES; l++) to[i * step * lanes + l] = (float)v[i * TESI_LANES + l];
  } else {
    for (int64_t l = 0; l < TESI_LANES && at + l < all; l++)
      for (int64_t i = 0; i < count; i++)
        tesi_number_set(plan->m->precision, plan->g,
                        (at + l) / lanes * plan->stride + (number + i * step) * lanes + (at + l) % lanes,
                        v[i * TESI_LANES + l]);
  }
}

/* in[entry][point][8] */
static void put_points(const TesiMappedHost *plan, int64_t at, const double *in) {
  const int64_t lines = plan->points / plan->q;
  for (int e = 0; e < plan->entries; e++, in += plan->points * TESI_LANES)
    if (plan->stiffness)
      put(plan, at, e, plan->entries, plan->points, in);
    else
      for (int64_t slow = 0; slow < plan->q; slow++)
        put(plan, at, slow, plan->q, lines, in + slow * lines * TESI_LANES);
}

static int64_t triangle_work(const TesiMappedHost *plan) {
  return plan->points * (plan->dim + 1) * plan->nodes * TESI_LANES;
}

/* The weights of the points, followed by the polynomials from nodes[cell_nodes][dim][8]. */
static void put_weights(const TesiMappedHost *plan, const TesiFill *fill, int64_t at, const double *nodes,
                        double *in) {
  const int64_t count = plan->dim * plan->m->geometry->cell_nodes;
  _Alignas(64) double c[3 * 27 * TESI_LANES];
  fill->loops->monomials(plan->dim, plan->geometry_degree, nodes, c);
  if (plan->eliminates) fill->loops->eliminate(plan->q, plan->m->point, c, in);
  put_points(plan, at, in);
  put(plan, at, plan->entries * plan->points, 1, count, c);
}

/* f: from make_functions. work: for the triangles, and for what makes them. */
static void put_matrices(const TesiMappedHost *plan, const TesiFill *fill, const double *f, int64_t at,
                         const double *in, double *work) {
  double *const out = work + triangle_work(plan);
  fill->loops->triangles(plan->dim, (int)plan->nodes, plan->points, plan->stiffness, plan->mass,
                         plan->mass_factor, f, in, work, out);
  put(plan, at, 0, 1, numbers(plan), out);
}

typedef struct Points {
  const TesiMappedHost *plan;
  const TesiFill *fill;
  const double *f;        /* of make_functions, for matrices */
  double *work;           /* [threads][share] */
  int64_t share, factors; /* of a thread; of eight cells */
  int64_t first, *bad;    /* the first chunk; cells */
} Points;

/* A chunk, TESI_LANES cells at a time. */
static void fill_chunk(const void *data, TesiSpan span) {
  const Points *p = data;
  const TesiMappedHost *plan = p->plan;
  const int64_t k = p->first + span.first, all = plan->batches * plan->kernels.lanes,
                end = plan->step[plan->chunk[k + 1] - 1].end * plan->kernels.lanes;
  double *nodes = p->work + span.thread * p->share, *out = nodes + p->fill->work;
  int64_t bad = INT64_MAX;
  for (int64_t at = plan->step[plan->chunk[k]].first * plan->kernels.lanes; at < end; at += TESI_LANES) {
    int32_t cell[TESI_LANES];
    for (int l = 0; l < TESI_LANES; l++) cell[l] = plan->cell[tesi_min64(at + l, all - 1)];
    bad = tesi_fill_worst(bad, tesi_fill_cells(p->fill, cell, nodes, out), cell);
    if (p->f)
      put_matrices(plan, p->fill, p->f, at, out, out + p->factors);
    else if (plan->factors == TES_FACTORS_WEIGHTS)
      put_weights(plan, p->fill, at, nodes, out);
    else
      put_points(plan, at, out);
  }
  tesi_team_least(p->bad, bad);
}

/* Stored factors, weights, or matrices made from factors, for chunks first .. end - 1. */
static TesStatus fill_points(TesContext *ctx, TesiMappedHost *plan, int64_t first, int64_t end) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  const bool weights = plan->factors == TES_FACTORS_WEIGHTS;
  TesiFill fill = {0};
  double *work = NULL, *f = NULL;
  int64_t bad = INT64_MAX;
  TES_TRY(tesi_fill_create(m, m->q, m->point, m->weight, weights, &fill));
  if (plan->factors == TES_FACTORS_MATRIX) TES_TRY(make_functions(ctx, plan, &f));
  const int64_t factors = fill.numbers * fill.points * TESI_LANES;
  const int64_t share = fill.work + factors + (f ? triangle_work(plan) + numbers(plan) * TESI_LANES : 0);
  TES_ALLOC(&work, plan->threads * share);
  TES_TRY(tesi_work_share(ctx, plan->threads, end - first, 1, fill_chunk,
                          &(Points){plan, &fill, f, work, share, factors, first, &bad}));
  if (bad < INT64_MAX) TES_TRY(tesi_mapped_check(m)); /* reports the first of all bad cells */
done:
  tesi_fill_destroy(&fill);
  tesi_free(ctx, &f);
  tesi_free(ctx, &work);
  return status;
}

/* The numbers of one cell for the other kinds; affine[cells][entries] is filled before. */
static void cell_numbers(const TesiMappedHost *plan, const double *affine, int64_t cell, double *out) {
  const TesiMapped *m = plan->m;
  if (plan->factors == TES_FACTORS_AFFINE) {
    memcpy(out, affine + cell * plan->entries, (size_t)plan->entries * sizeof *out);
  } else if (plan->stiffness) {
    monomials(plan->dim, m->geometry->nodes + cell * ((int64_t)plan->dim << plan->dim), out);
    if (plan->eliminates) centre(out);
  } else {
    determinant_monomials(plan, cell, out);
  }
}

typedef struct Others {
  const TesiMappedHost *plan;
  const double *affine;
  double *work; /* [threads][numbers] */
} Others;

static void fill_batches(const void *data, TesiSpan span) {
  const Others *o = data;
  const TesiMappedHost *plan = o->plan;
  const int lanes = plan->kernels.lanes;
  const int64_t count = numbers(plan);
  double *out = o->work + span.thread * count;
  for (int64_t b = span.first; b < span.end; b++)
    for (int l = 0; l < lanes; l++) {
      cell_numbers(plan, o->affine, plan->cell[b * lanes + l], out);
      for (int64_t e = 0; e < count; e++)
        tesi_number_set(plan->m->precision, plan->g, b * plan->stride + e * lanes + l, out[e]);
    }
}

static TesStatus fill_others(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  double *work = NULL, *affine = NULL;
  if (plan->factors == TES_FACTORS_AFFINE) {
    TES_ALLOC(&affine, plan->m->cells * plan->entries);
    TES_TRY(tesi_mapped_fill_affine(plan->m, 0, plan->m->cells, affine));
  } else {
    TES_TRY(tesi_mapped_check(plan->m));
  }
  TES_ALLOC(&work, plan->threads * numbers(plan));
  TES_TRY(tesi_work_for(ctx, plan->threads, plan->batches, fill_batches, &(Others){plan, affine, work}));
done:
  tesi_free(ctx, &affine);
  tesi_free(ctx, &work);
  return status;
}

static bool at_points(const TesiMappedHost *plan) {
  return plan->factors == TES_FACTORS_STORED || plan->factors == TES_FACTORS_MATRIX ||
         plan->factors == TES_FACTORS_WEIGHTS;
}

TesStatus tesi_mapped_begin_factors(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  plan->entries = plan->factors == TES_FACTORS_WEIGHTS ? 1 + plan->mass : plan->m->factors;
  plan->geometry_degree = plan->m->geometry->degree;
  plan->eliminates = plan->dim == 3 && plan->stiffness &&
                     (plan->factors == TES_FACTORS_VERTICES ||
                      (plan->factors == TES_FACTORS_WEIGHTS && plan->geometry_degree == 1));
  plan->stride = numbers(plan) * plan->kernels.lanes;
  plan->a = plan->factors == TES_FACTORS_VERTICES ? plan->m->a[0] : 1;
  plan->mass_factor = plan->m->lambda * (plan->factors == TES_FACTORS_VERTICES ? plan->m->c : 1);
  TES_TRY(tesi_alloc(ctx, (size_t)(plan->batches * plan->stride), tesi_precision_size(plan->m->precision),
                     &plan->g));
  if (!at_points(plan)) TES_TRY(fill_others(ctx, plan));
done:
  return status;
}

TesStatus tesi_mapped_fill_chunks(TesContext *ctx, TesiMappedHost *plan, int64_t first, int64_t end) {
  return first < end && at_points(plan) ? fill_points(ctx, plan, first, end) : TES_OK;
}

/* Half table of T [rows][columns]: even on sums, odd on differences of mirrored entries; `changes`: T maps even to
 * odd. */
static void set_half(TesiMappedHost *plan, int table, bool odd, bool changes, int rows, int columns,
                     const double *T) {
  const int count_in = odd ? columns / 2 : (columns + 1) / 2;
  const int count_out = odd != changes ? rows / 2 : (rows + 1) / 2;
  for (int i = 0; i < count_out; i++)
    for (int j = 0; j < count_in; j++) {
      const double a = T[i * columns + j], b = T[i * columns + columns - 1 - j];
      tesi_number_set(plan->m->precision, plan->tables, (int64_t)table * TESI_MAPPED_HALF + i * count_in + j,
                      j == columns - 1 - j ? a : 0.5 * (odd ? a - b : a + b));
    }
}

static void set_halves(TesiMappedHost *plan, int table, bool changes, int rows, int columns, const double *T) {
  double transposed[TESI_MAPPED_POINTS * TESI_MAPPED_POINTS];
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) transposed[j * rows + i] = T[i * columns + j];
  for (int odd = 0; odd < 2; odd++) {
    set_half(plan, table + odd, odd, changes, rows, columns, T);
    set_half(plan, table + 2 + odd, odd, changes, columns, rows, transposed);
  }
}

TesStatus tesi_mapped_make_tables(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  const size_t size = tesi_precision_size(m->precision);
  TES_TRY(tesi_alloc(ctx, TESI_MAPPED_TABLES * TESI_MAPPED_HALF, size, &plan->tables));
  TES_TRY(tesi_alloc(ctx, (size_t)m->q, size, &plan->points_1d));
  TES_TRY(tesi_alloc(ctx, (size_t)m->q, size, &plan->weights_1d));
  TES_TRY(tesi_alloc(ctx, (size_t)(2 * m->q), size, &plan->centred_1d));
  set_halves(plan, TESI_I_EVEN, false, m->q, m->n, m->I);
  set_halves(plan, TESI_DM_EVEN, true, m->q, m->q, m->D);
  for (int i = 0; i < m->q; i++) {
    tesi_number_set(plan->m->precision, plan->points_1d, i, m->point[i]);
    tesi_number_set(plan->m->precision, plan->weights_1d, i, m->weight[i]);
    const double centred = m->point[i] - 0.5;
    tesi_number_set(plan->m->precision, plan->centred_1d, i, centred);
    tesi_number_set(plan->m->precision, plan->centred_1d, m->q + i, centred * centred);
  }
done:
  return status;
}
