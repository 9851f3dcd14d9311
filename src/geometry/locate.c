/* Points are sorted into bins; each cell looks into the bins under its box, and solves F_K(xi) = x for the points
 * there. */
#include "geometry/locate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/team.h"
#include "geometry/cell_line.h"

static const double round_off = TESI_LOCATE_ROUND_OFF;

void tesi_solve_small(int dim, const double *J, const double *r, double *delta) {
  if (dim == 2) {
    const double det = J[0] * J[3] - J[1] * J[2];
    delta[0] = (J[3] * r[0] - J[1] * r[1]) / det;
    delta[1] = (-J[2] * r[0] + J[0] * r[1]) / det;
    return;
  }
  double rows[3][3], det = 0;
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < 3; i++) {
      const int d = (c + 1) % 3, e = (c + 2) % 3, k = (i + 1) % 3, l = (i + 2) % 3;
      rows[c][i] = J[k * 3 + d] * J[l * 3 + e] - J[l * 3 + d] * J[k * 3 + e];
    }
  for (int i = 0; i < 3; i++) det += J[i * 3] * rows[0][i];
  for (int c = 0; c < 3; c++) delta[c] = (rows[c][0] * r[0] + rows[c][1] * r[1] + rows[c][2] * r[2]) / det;
}

TesStatus tesi_mesh_points(const TesMesh *mesh, int64_t cell, int n, const double *xi, double *x, double *J) {
  const int dim = mesh->dim;
  int at[3];
  if (mesh->kind != TES_MESH_BOX) return tes_mesh_evaluate(mesh, cell, n, xi, x, J);
  tesi_mesh_at(mesh, cell, at);
  for (int i = 0; i < n * dim; i++) {
    const double *side = mesh->coordinates[i % dim] + at[i % dim], t = xi[i];
    x[i] = (1 - t) * side[0] + t * side[1];
  }
  for (int i = 0; J && i < n * dim * dim; i++) {
    const int r = i / dim % dim;
    J[i] = r == i % dim ? mesh->coordinates[r][at[r] + 1] - mesh->coordinates[r][at[r]] : 0;
  }
  return TES_OK;
}

/* ---- what was found ------------------------------------------------------------------------------------ */

typedef struct Found {
  TesiHit *hit; /* [capacity] */
  int64_t count, capacity;
} Found;

static TesStatus add_hit(TesContext *ctx, const TesiHit *hit, Found *found) {
  TesStatus status = TES_OK;
  TES_GROW(&found->hit, found->count, found->count + 1, &found->capacity);
  found->hit[found->count++] = *hit;
done:
  return status;
}

static int compare(const void *a, const void *b) {
  const TesiHit *p = a, *q = b;
  if (p->point != q->point) return p->point < q->point ? -1 : 1;
  if (p->moved != q->moved) return p->moved < q->moved ? -1 : 1;
  return (p->cell > q->cell) - (p->cell < q->cell);
}

/* Sorts the hits. If a point lies in a cell, cells that it only nearly lies in are dropped; else one such cell is
 * kept. */
static void select_hits(Found *found) {
  int64_t kept = 0;
  if (found->count) qsort(found->hit, (size_t)found->count, sizeof *found->hit, compare);
  for (int64_t i = 0; i < found->count; i++)
    if (!kept || found->hit[i].point != found->hit[kept - 1].point || found->hit[i].moved == 0)
      found->hit[kept++] = found->hit[i];
  found->count = kept;
}

/* ---- grids --------------------------------------------------------------------------------------------- */

/* The intervals of a direction that contain x or are within reach: at most two. */
static int find_on_line(const double *vertex, int cells, double x, double reach, int at[2], double t[2]) {
  int low = 0, high = cells - 1, count = 0;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (vertex[middle] <= x)
      low = middle;
    else
      high = middle - 1;
  }
  for (int c = low > 0 ? low - 1 : 0; c <= low + 1 && c < cells && count < 2; c++) {
    const double place = (x - vertex[c]) / (vertex[c + 1] - vertex[c]);
    const bool end = place < 0 ? c == 0 : c == cells - 1;
    if (fmax(-place, place - 1) > (end ? reach : round_off)) continue;
    at[count] = c, t[count++] = place;
  }
  return count;
}

/* Distance of xi from the unit cell; xi becomes its nearest point in the cell. */
static double clamp(int dim, double *xi) {
  double outside = 0;
  for (int d = 0; d < dim; d++) {
    outside = fmax(outside, fmax(-xi[d], xi[d] - 1));
    xi[d] = fmin(fmax(xi[d], 0), 1);
  }
  return outside > round_off ? outside : 0;
}

static TesStatus find_in_grid(const TesMesh *mesh, int64_t point, const double *x, double reach, Found *found) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  int at[3][2] = {{0}}, count[3] = {1, 1, 1};
  double t[3][2] = {{0}};
  for (int d = 0; d < mesh->dim; d++)
    count[d] = find_on_line(mesh->coordinates[d], mesh->box[d], x[d], reach, at[d], t[d]);
  for (int i = 0; i < count[0] * count[1] * count[2]; i++) {
    const int pick[3] = {i % count[0], i / count[0] % count[1], i / count[0] / count[1]};
    TesiHit hit = {.point = point};
    int64_t stride = 1;
    for (int d = 0; d < mesh->dim; d++) {
      hit.cell += at[d][pick[d]] * stride;
      hit.xi[d] = t[d][pick[d]];
      stride *= mesh->box[d];
    }
    hit.moved = clamp(mesh->dim, hit.xi);
    TES_TRY(add_hit(ctx, &hit, found));
  }
done:
  return status;
}

bool tesi_grid_find(const TesMesh *mesh, const double *x, double reach, int64_t *cell, double *xi) {
  int64_t stride = 1;
  *cell = 0;
  for (int d = 0; d < mesh->dim; d++) {
    int at[2];
    double t[2];
    if (!find_on_line(mesh->coordinates[d], mesh->box[d], x[d], fmax(reach, round_off), at, t)) return false;
    *cell += at[0] * stride, xi[d] = t[0];
    stride *= mesh->box[d];
  }
  clamp(mesh->dim, xi);
  return true;
}

/* ---- cells --------------------------------------------------------------------------------------------- */

/* Points sorted by bin: bin i has point[first[i]] .. point[first[i + 1] - 1]. */
typedef struct Bins {
  int dim, bins[3];
  TesiCellBox box;
  int64_t *first, *point;
} Bins;

static int bin_of(const Bins *b, int d, double x) {
  return tesi_box_bin(&b->box, d, b->bins[d], x);
}

static int64_t bin_at(const Bins *b, const int at[3]) {
  return at[0] + (int64_t)b->bins[0] * (at[1] + (int64_t)b->bins[1] * at[2]);
}

static int64_t bin_of_point(const Bins *b, const double *x) {
  int at[3] = {0};
  for (int d = 0; d < b->dim; d++) at[d] = bin_of(b, d, x[d]);
  return bin_at(b, at);
}

/* About one point per bin, in the directions in which points spread. */
static TesStatus sort_points(TesContext *ctx, int dim, int64_t n, const double *x, Bins *b) {
  enum { MOST = 200 };
  TesStatus status = TES_OK;
  *b = (Bins){.dim = dim, .bins = {1, 1, 1}};
  for (int d = 0; d < dim; d++) {
    b->box.low[d] = INFINITY, b->box.high[d] = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
      b->box.low[d] = fmin(b->box.low[d], x[i * dim + d]);
      b->box.high[d] = fmax(b->box.high[d], x[i * dim + d]);
    }
    b->bins[d] = (int)fmin(MOST, ceil(pow((double)n, 1. / dim)));
  }
  const int64_t bins = (int64_t)b->bins[0] * b->bins[1] * b->bins[2];
  TES_ALLOC(&b->first, bins + 1);
  TES_ALLOC(&b->point, n);
  for (int64_t i = 0; i < n; i++) b->first[bin_of_point(b, x + i * dim) + 1]++;
  for (int64_t i = 0; i < bins; i++) b->first[i + 1] += b->first[i];
  for (int64_t i = n - 1; i >= 0; i--) b->point[--b->first[bin_of_point(b, x + i * dim) + 1]] = i;
  /* now each first[i + 1] is the begin of bin i */
  memmove(b->first, b->first + 1, (size_t)bins * sizeof *b->first);
  b->first[bins] = n;
done:
  return status;
}

static void grow(TesiCellBox *box, int dim, int64_t n, const double *x) {
  for (int64_t i = 0; i < n * dim; i++) {
    box->low[i % dim] = fmin(box->low[i % dim], x[i]);
    box->high[i % dim] = fmax(box->high[i % dim], x[i]);
  }
}

/* The box of the coefficients of a polynomial, which contains it. */
static void grow_by_control(const TesiGeometry *g, int64_t cell, TesiCellBox *box) {
  enum { MOST = TESI_GEOMETRY_DEGREE + 1 };
  double values[MOST * MOST * MOST], line[MOST];
  const int n = g->degree + 1, all = (int)g->cell_nodes;
  const double *control = tesi_line(g->degree)->control;
  for (int r = 0; r < g->dim; r++) {
    for (int i = 0; i < all; i++) values[i] = g->nodes[(cell * all + i) * g->dim + r];
    for (int stride = 1; stride < all; stride *= n)
      for (int first = 0; first < all; first++) {
        if (first / stride % n) continue;
        for (int i = 0; i < n; i++) {
          line[i] = 0;
          for (int j = 0; j < n; j++) line[i] += control[i * n + j] * values[first + j * stride];
        }
        for (int i = 0; i < n; i++) values[first + i * stride] = line[i];
      }
    for (int i = 0; i < all; i++) {
      box->low[r] = fmin(box->low[r], values[i]);
      box->high[r] = fmax(box->high[r], values[i]);
    }
  }
}

TesStatus tesi_cell_box(const TesiGeometry *g, int64_t cell, TesiCellBox *box) {
  enum { LATTICE = 5 };
  double xi[LATTICE * LATTICE * LATTICE * 3], x[LATTICE * LATTICE * LATTICE * 3];
  const int n = g->dim == 3 ? LATTICE * LATTICE * LATTICE : LATTICE * LATTICE;
  TesStatus status = TES_OK;
  *box = (TesiCellBox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  if (g->map[0]) {
    for (int i = 0; i < n; i++)
      for (int d = 0; d < g->dim; d++)
        xi[i * g->dim + d] =
            (const int[3]){i % LATTICE, i / LATTICE % LATTICE, i / LATTICE / LATTICE}[d] / (LATTICE - 1.);
    status = tesi_geometry_evaluate(g, cell, n, xi, x, NULL);
    if (status == TES_OK) grow(box, g->dim, n, x);
  } else {
    grow_by_control(g, cell, box);
  }
  for (int d = 0; d < g->dim; d++) {
    const double around = (box->high[d] - box->low[d]) / (g->map[0] ? 2 : 8);
    box->low[d] -= around, box->high[d] += around;
  }
  return status;
}

/* Newton's method for F_K(xi) = x from xi; whether it ends near the cell. */
static bool newton(const TesiGeometry *g, int64_t cell, const double *x, double *xi) {
  const int dim = g->dim;
  double size = INFINITY;
  for (int step = 0; step < 25 && size > 1e-14; step++) {
    double at[3], J[9], r[3], delta[3];
    if (tesi_geometry_evaluate(g, cell, 1, xi, at, J) != TES_OK) return false;
    for (int d = 0; d < dim; d++) r[d] = x[d] - at[d];
    tesi_solve_small(dim, J, r, delta);
    size = 0;
    for (int d = 0; d < dim; d++) {
      xi[d] += delta[d];
      size = fmax(size, fabs(delta[d]));
      if (!(fabs(xi[d] - 0.5) < 3)) return false;
    }
  }
  return size < 1e-6;
}

/* Newton's method from the centre and, if that fails, from points nearer to the corners. */
static bool invert(const TesiGeometry *g, int64_t cell, const double *x, double *xi) {
  for (int start = -1; start < 1 << g->dim; start++) {
    for (int d = 0; d < g->dim; d++) xi[d] = start < 0 ? 0.5 : start >> d & 1 ? 0.8 : 0.2;
    if (newton(g, cell, x, xi)) return true;
  }
  return false;
}

static bool is_inside(const TesiCellBox *box, int dim, const double *x) {
  bool inside = true;
  for (int d = 0; d < dim; d++) inside = inside && x[d] >= box->low[d] && x[d] <= box->high[d];
  return inside;
}

double tesi_cell_find(const TesiGeometry *g, int64_t cell, const TesiCellBox *box, const double *x,
                      double *xi) {
  return is_inside(box, g->dim, x) && invert(g, cell, x, xi) ? clamp(g->dim, xi) : INFINITY;
}

/* The points in one cell. */
static TesStatus look_in_cell(const TesiGeometry *g, int64_t cell, const Bins *bins, const double *x,
                              double reach, Found *found) {
  TesStatus status = TES_OK;
  const int dim = g->dim;
  int low[3] = {0}, high[3] = {0}, at[3];
  TesiCellBox box;
  status = tesi_cell_box(g, cell, &box);
  for (int d = 0; d < dim; d++) {
    if (box.high[d] < bins->box.low[d] || box.low[d] > bins->box.high[d]) return status;
    low[d] = bin_of(bins, d, box.low[d]), high[d] = bin_of(bins, d, box.high[d]);
  }
  for (at[2] = low[2]; at[2] <= high[2]; at[2]++)
    for (at[1] = low[1]; at[1] <= high[1]; at[1]++)
      for (at[0] = low[0]; at[0] <= high[0]; at[0]++)
        for (int64_t i = bins->first[bin_at(bins, at)]; i < bins->first[bin_at(bins, at) + 1]; i++) {
          TesiHit hit = {.point = bins->point[i], .cell = cell};
          const double *point = x + hit.point * dim;
          if (status != TES_OK) continue;
          hit.moved = tesi_cell_find(g, cell, &box, point, hit.xi);
          if (hit.moved > reach) continue;
#pragma omp critical(tesi_locate)
          status = add_hit(g->context, &hit, found);
        }
  return status;
}

enum { CELLS = 64 }; /* points that a thread takes at a time */

typedef struct Search {
  const TesiGeometry *g;
  const Bins *bins;
  const double *x;
  double reach;
  Found *found;
  int *failed;
} Search;

static void look_in_cells(const void *data, TesiSpan span) {
  const Search *s = data;
  for (int64_t cell = span.first; cell < span.end; cell++) {
    const TesStatus one = look_in_cell(s->g, cell, s->bins, s->x, s->reach, s->found);
    if (one != TES_OK) {
#pragma omp atomic write
      *s->failed = one;
    }
  }
}

static TesStatus find_in_cells(const TesMesh *mesh, int64_t n, const double *x, double reach, Found *found) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const TesiGeometry *g;
  Bins bins = {0};
  int failed = TES_OK;
  TES_TRY(tesi_mesh_geometry(mesh, &g));
  TES_TRY(sort_points(ctx, mesh->dim, n, x, &bins));
  tesi_team_share(tesi_team_threads(ctx, 16 * g->cells), g->cells, CELLS, look_in_cells,
                  &(Search){g, &bins, x, reach, found, &failed});
  TES_TRY((TesStatus)failed);
done:
  tesi_free(ctx, &bins.first);
  tesi_free(ctx, &bins.point);
  return status;
}

TesStatus tesi_mesh_find(const TesMesh *mesh, int64_t n, const double *x, double reach, TesiHit **hit,
                         int64_t *count) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  Found found = {0};
  *hit = NULL, *count = 0;
  for (int64_t i = 0; i < n * mesh->dim; i++)
    TES_CHECK(isfinite(x[i]), "coordinate %lld of point %lld is %g", (long long)(i % mesh->dim),
              (long long)(i / mesh->dim), x[i]);
  for (int64_t i = 0; i < n && mesh->kind == TES_MESH_BOX; i++)
    TES_TRY(find_in_grid(mesh, i, x + i * mesh->dim, fmax(reach, round_off), &found));
  if (mesh->kind != TES_MESH_BOX && n) TES_TRY(find_in_cells(mesh, n, x, fmax(reach, round_off), &found));
  select_hits(&found);
  *hit = found.hit, *count = found.count;
  found.hit = NULL;
done:
  tesi_free(ctx, &found.hit);
  return status;
}

TesStatus tes_mesh_locate(const TesMesh *mesh, int64_t n, const double *x, int64_t *cell, double *xi) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesiHit *hit = NULL;
  int64_t count;
  TES_TRY(tesi_mesh_find(mesh, n, x, 0, &hit, &count));
  for (int64_t i = 0; i < n; i++) cell[i] = -1;
  for (int64_t i = 0; i < n * mesh->dim && xi; i++) xi[i] = NAN;
  for (int64_t i = count - 1; i >= 0; i--) { /* for each point the first hit counts */
    cell[hit[i].point] = hit[i].cell;
    for (int d = 0; xi && d < mesh->dim; d++) xi[hit[i].point * mesh->dim + d] = hit[i].xi[d];
  }
done:
  tesi_free(ctx, &hit);
  return status;
}
