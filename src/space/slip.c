#include "space/slip.h"
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/team.h"
#include "basis/blas.h"
#include "device/upload.h"
#include "geometry/geometry.h"
#include "parallel/comm.h"
#include "parallel/exchange.h"

/* Of the trace of T: two faces that meet at 30 degrees have tan(15 degrees)^2 of the larger eigenvalue. */
#define SMOOTH 0.065
/* A rigid motion whose mean square along the normals is a smaller part of the largest one goes along the faces: normals
 * of a curved face are not those of a sphere or a cylinder to the last bit, and lose their parts along the motion. So
 * it is free on all levels of a mesh. */
#define KINKS 1e-4
/* What stands still. */
#define STILL 1e-6

enum { ENTRIES = 6, MOTIONS = 6, THREADS = 256, BLOCKS = 1024 };

/* xx, yy, zz, yz, xz, xy */
static int entry_of(int r, int c) {
  return r == c ? r : 6 - r - c;
}

typedef struct Normals {
  const TesSpace *space;
  const TesiCellView *view[3];
  double *T;      /* [ENTRIES][length] */
  uint8_t *given; /* [length] bits of components */
} Normals;

static double trace_of(const Normals *s, int64_t node) {
  const int64_t n = s->view[0]->length;
  return s->T[node] + s->T[n + node] + s->T[2 * n + node];
}

/* ---- normals ------------------------------------------------------------------------------------------- */

/* Nodes that hang are in another cell of the boundary by themselves. */
static TesStatus add_face(const Normals *s, const TesiGeometry *geometry, int64_t cell, int face) {
  enum { MOST = 16 * 16 };
  const TesiCellView *v = s->view[0];
  const int dim = v->dim, n = v->n, a = face / 2 == 0 ? 1 : 0, b = face / 2 == 2 ? 1 : 2;
  const int points = dim == 3 ? n * n : n;
  double xi[3 * MOST] = {0}, x[3 * MOST], J[9 * MOST];
  for (int p = 0; p < points; p++) {
    xi[p * dim + face / 2] = face & 1;
    xi[p * dim + a] = v->node[p % n];
    if (dim == 3) xi[p * dim + b] = v->node[p / n];
  }
  const TesStatus status = tesi_geometry_evaluate(geometry, cell, points, xi, x, J);
  for (int p = 0; p < points && status == TES_OK; p++) {
    const int step[3] = {1, n, n * n};
    int i[3] = {0};
    double normal[3] = {0}, square = 0;
    i[face / 2] = face & 1 ? n - 1 : 0, i[a] = p % n;
    if (dim == 3) i[b] = p / n;
    if (tesi_hanging_directions(dim, n, v->mask[cell], i)) continue;
    const int64_t node =
        tesi_cells_node(v->index[cell * v->cell_nodes + i[0] + i[1] * step[1] + i[2] * step[2]]);
    tesi_face_normal(dim, J + p * dim * dim, face, normal);
    for (int r = 0; r < dim; r++) square += normal[r] * normal[r];
    for (int r = 0; r < dim; r++)
      for (int c = r; c < dim; c++) s->T[entry_of(r, c) * v->length + node] += normal[r] * normal[c] / square;
  }
  return status;
}

static TesStatus gather(Normals *s) {
  const TesSpace *space = s->space;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiGeometry *geometry;
  TES_TRY(tesi_mesh_geometry(space->mesh, &geometry));
  for (int c = 0; c < space->dim; c++) TES_TRY(tesi_space_cells(space->part[c], &s->view[c]));
  const TesiCellView *v = s->view[0];
  TES_ALLOC(&s->T, ENTRIES * v->length);
  TES_ALLOC(&s->given, v->length);
  for (int64_t c = 0; c < v->cells; c++)
    for (int f = 0, name; f < 2 * space->dim; f++)
      if (tes_mesh_on_boundary(space->mesh, c, f, &name) && name >= 0 && space->slips[name])
        TES_TRY(add_face(s, geometry, c, f));
  for (int e = 0; e < ENTRIES && v->layout->shared; e++)
    tesi_exchange_sum(v->layout->shared, TES_DOUBLE, s->T + e * v->length);
  for (int c = 0; c < space->dim; c++)
    for (int64_t i = 0; i < s->view[c]->length - s->view[c]->dofs; i++)
      s->given[s->view[c]->constrained[i]] |= (uint8_t)(1 << c);
done:
  return status;
}

/* L[dim][dim] <- what given components g make of the others: w' T (u_w w + g) = 0 for each direction w. */
static void find_lift(const Normals *s, int64_t node, int held, const double *w, double *L) {
  const int dim = s->space->dim;
  const int64_t n = s->view[0]->length;
  for (int i = 0; i < dim * dim; i++) L[i] = 0;
  for (int h = 0; h < held; h++, w += dim) {
    double Tw[3] = {0}, square = 0;
    for (int e = 0; e < dim * dim; e++)
      Tw[e / dim] += s->T[entry_of(e / dim, e % dim) * n + node] * w[e % dim];
    for (int c = 0; c < dim; c++) square += w[c] * Tw[c];
    for (int e = 0; e < dim * dim; e++)
      if (s->given[node] >> e % dim & 1) L[e] -= w[e / dim] * Tw[e % dim] / square;
  }
}

/* w[dim][dim] <- the directions of a node beside given components, by rows; *held of them. */
static TesStatus find_directions(const Normals *s, int64_t node, double *w, int *held) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  const int dim = s->space->dim;
  const int64_t n = s->view[0]->length;
  double T[9], size[3];
  *held = 0;
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++) {
      const bool given = s->given[node] >> r & 1 || s->given[node] >> c & 1;
      T[r * dim + c] = given ? 0 : s->T[entry_of(r, c) * n + node] / trace_of(s, node);
    }
  const int info = (int)LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', dim, T, dim, size);
  if (info != 0) TES_FAIL(TES_NAN, "a normal of a boundary with slip is not finite");
  for (int k = 0; k < dim; k++)
    if (size[k] > SMOOTH) memcpy(w + dim * (*held)++, T + k * dim, (size_t)dim * sizeof *w);
done:
  return status;
}

/* ---- motions along the faces --------------------------------------------------------------------------- */

/* Translations, and rotations about the middle of the mesh of unit size. */
typedef struct Motions {
  int count;
  double middle[3], size;
  double vector[MOTIONS * MOTIONS]; /* [loose][count] combinations that have no part along normals */
  int loose;
} Motions;

/* value[count][dim] of the motions at x. */
static void move(const Motions *m, int dim, const double *x, double *value) {
  for (int i = 0; i < m->count * dim; i++) value[i] = i / dim < dim && i / dim == i % dim;
  for (int a = 0, k = dim; a < dim; a++)
    for (int b = a + 1; b < dim; b++, k++) {
      value[k * dim + a] = -(x[b] - m->middle[b]) / m->size;
      value[k * dim + b] = (x[a] - m->middle[a]) / m->size;
    }
}

static void find_middle(TesContext *ctx, int dim, int64_t n, const double *x, Motions *m) {
  double ends[6];
  for (int d = 0; d < 6; d++) ends[d] = -INFINITY;
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < dim; d++)
      ends[d] = fmax(ends[d], x[i * dim + d]), ends[3 + d] = fmax(ends[3 + d], -x[i * dim + d]);
  tesi_reduce(ctx, TESI_MAXIMUM, 6, ends);
  m->count = dim * (dim + 1) / 2;
  for (int d = 0; d < dim; d++)
    m->middle[d] = (ends[d] - ends[3 + d]) / 2, m->size = fmax(m->size, (ends[d] + ends[3 + d]) / 2);
}

/* Which motions have next to no part along the directions w[count][dim][dim], held[count], of the nodes. */
static TesStatus find_loose(const TesiSlip *slip, const TesiLayout *layout, const double *x, const double *w,
                            const int *held, Motions *m) {
  TesContext *ctx = slip->context;
  TesStatus status = TES_OK;
  const int dim = slip->dim, count = m->count;
  double N[MOTIONS * MOTIONS] = {0}, size[MOTIONS];
  for (int64_t i = 0; i < slip->count; i++) {
    double value[MOTIONS * 3];
    if (!tesi_layout_owns(layout, slip->node[i])) continue;
    move(m, dim, x + slip->node[i] * dim, value);
    for (int h = 0; h < held[i]; h++) {
      double along[MOTIONS] = {0};
      for (int e = 0; e < count * dim; e++) along[e / dim] += value[e] * w[(i * dim + h) * dim + e % dim];
      for (int e = 0; e < count * count; e++) N[e] += along[e / count] * along[e % count];
    }
  }
  tesi_reduce(ctx, TESI_SUM, count * count, N);
  const int info = (int)LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', count, N, count, size);
  if (info != 0) TES_FAIL(TES_NAN, "the normals of boundaries with slip are not finite");
  while (m->loose < count && size[m->loose] <= KINKS * size[count - 1]) m->loose++;
  memcpy(m->vector, N, (size_t)(m->loose * count) * sizeof *N);
done:
  return status;
}

/* v[dim] <- v without its parts along basis[count][dim]; returns what is left of it. */
static double subtract(int dim, int count, const double *basis, double *v) {
  double square = 0;
  for (int k = 0; k < 2 * count; k++) { /* twice, for rounding */
    const double *b = basis + k % count * dim;
    double part = 0;
    for (int d = 0; d < dim; d++) part += b[d] * v[d];
    for (int d = 0; d < dim; d++) v[d] -= part * b[d];
  }
  for (int d = 0; d < dim; d++) square += v[d] * v[d];
  return sqrt(square);
}

/* w[held][dim] <- the same without parts along the loose motions at x, orthonormal. */
static void smooth(const Motions *m, int dim, const double *x, int held, double *w) {
  double value[MOTIONS * 3], basis[(MOTIONS + 3) * 3];
  int found = 0;
  move(m, dim, x, value);
  for (int k = 0; k < m->loose && found < dim - held; k++) {
    double *v = basis + found * dim;
    for (int d = 0; d < dim; d++) v[d] = 0;
    for (int e = 0; e < m->count * dim; e++) v[e % dim] += m->vector[k * m->count + e / dim] * value[e];
    const double left = subtract(dim, found, basis, v);
    for (int d = 0; d < dim; d++) v[d] /= left;
    found += left > STILL;
  }
  for (int h = 0; h < held; h++) {
    double *v = w + h * dim;
    const double left = subtract(dim, found, basis, v);
    for (int d = 0; d < dim; d++) basis[found * dim + d] = v[d] /= left;
    found++;
  }
}

/* ---- creation ------------------------------------------------------------------------------------------ */

/* Nodes, how many directions each has, and these, [count][dim][dim]. */
static TesStatus list_nodes(const Normals *s, TesiSlip *slip, int **held, double **w) {
  TesContext *ctx = slip->context;
  TesStatus status = TES_OK;
  int64_t most = 0;
  for (int64_t i = 0; i < slip->length; i++) most += trace_of(s, i) > 0;
  TES_ALLOC(&slip->node, most);
  TES_ALLOC(&slip->given, most);
  TES_ALLOC(held, most);
  TES_ALLOC(w, slip->dim * slip->dim * most);
  TES_ALLOC(&slip->L, slip->dim * slip->dim * most);
  TES_TRY(tesi_blas_begin(ctx, MOTIONS));
  for (int64_t i = 0; i < slip->length; i++) {
    int *own = &(*held)[slip->count];
    if (!(trace_of(s, i) > 0)) continue;
    const int64_t at = slip->count * slip->dim * slip->dim;
    TES_TRY(find_directions(s, i, *w + at, own));
    if (!*own) continue;
    find_lift(s, i, *own, *w + at, slip->L + at);
    slip->held += *own;
    slip->held_owned += tesi_layout_owns(s->view[0]->layout, i) ? *own : 0;
    slip->given[slip->count] = s->given[i];
    slip->node[slip->count++] = (int32_t)i;
  }
done:
  return status;
}

static TesStatus fill(const Normals *s, TesiSlip *slip) {
  TesContext *ctx = slip->context;
  TesStatus status = TES_OK;
  const TesSpace *part = s->space->part[0];
  const int dim = slip->dim, size = dim * dim;
  double *w = NULL, *x = NULL;
  int *held = NULL;
  Motions motions = {0};
  TES_TRY(list_nodes(s, slip, &held, &w));
  TES_ALLOC(&x, part->length * dim);
  TES_TRY(tes_space_coordinates(part, x));
  find_middle(ctx, dim, part->length, x, &motions);
  TES_TRY(find_loose(slip, part->layout, x, w, held, &motions));
  TES_ALLOC(&slip->P, size * slip->count);
  for (int64_t i = 0; i < slip->count; i++) {
    double *own = w + i * size;
    smooth(&motions, dim, x + slip->node[i] * dim, held[i], own);
    for (int e = 0; e < size; e++) {
      double sum = e / dim == e % dim && !tesi_slip_given(slip, i, e % dim);
      for (int h = 0; h < held[i]; h++) sum -= own[h * dim + e / dim] * own[h * dim + e % dim];
      slip->P[e * slip->count + i] = sum;
    }
  }
done:
  tesi_free(ctx, &held);
  tesi_free(ctx, &w);
  tesi_free(ctx, &x);
  return status;
}

static TesStatus create_on_device(TesiSlip *slip) {
  TesContext *ctx = slip->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  char dim[8];
  snprintf(dim, sizeof dim, "DIM=%d", slip->dim);
  TES_TRY(tesi_upload(ctx, slip->node, (size_t)slip->count * sizeof *slip->node, &slip->device_node));
  for (int p = 0; p < 2; p++) {
    const TesPrecision precision = p == 0 ? TES_DOUBLE : TES_SINGLE;
    const TesiProgramDesc desc = {.file = "slip.cu",
                                  .options = {precision == TES_SINGLE ? "real=float" : "real=double", dim}};
    TES_TRY(tesi_upload_numbers(ctx, slip->P, slip->dim * slip->dim * slip->count, precision,
                                &slip->device_P[precision]));
    TES_TRY(tesi_program_get(ctx, &desc, &program));
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_slip", 0, &slip->kernel[precision]));
  }
done:
  return status;
}

TesStatus tesi_slip_create(const TesSpace *space, TesiSlip **slip) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  Normals s = {.space = space};
  TesiSlip *made = NULL;
  *slip = NULL;
  TES_TRY(gather(&s));
  TES_NEW(&made);
  made->context = ctx;
  made->dim = space->dim;
  made->length = s.view[0]->length;
  TES_TRY(fill(&s, made));
  if (tesi_has_kernels(ctx) && made->count) TES_TRY(create_on_device(made));
  if (tesi_reduce_any(ctx, made->count > 0)) *slip = made, made = NULL;
done:
  tesi_slip_destroy(&made);
  tesi_free(ctx, &s.T);
  tesi_free(ctx, &s.given);
  return status;
}

void tesi_slip_destroy(TesiSlip **slip) {
  TesiSlip *s = *slip;
  if (!s) return;
  TesContext *ctx = s->context;
  void **const arrays[] = {&s->device_node, &s->device_P[0], &s->device_P[1]};
  for (int i = 0; i < 3; i++) tesi_context_device(ctx)->release(ctx, arrays[i]);
  tesi_free(ctx, &s->node);
  tesi_free(ctx, &s->given);
  tesi_free(ctx, &s->P);
  tesi_free(ctx, &s->L);
  tesi_free(ctx, slip);
}

/* ---- products ------------------------------------------------------------------------------------------ */

typedef struct Finish {
  const TesiSlip *slip;
  const double *scale;
  const void *x, *w;
  void *y;
} Finish;

#define FINISH(name, real)                                                                                   \
  static void name(const void *data, TesiSpan span) {                                                        \
    const Finish *f = data;                                                                                  \
    const TesiSlip *s = f->slip;                                                                             \
    const real *x = f->x, *w = f->w;                                                                         \
    real *y = f->y;                                                                                          \
    for (int64_t i = span.first; i < span.end; i++) {                                                        \
      real old[3];                                                                                           \
      for (int c = 0; c < s->dim; c++) old[c] = y[c * s->length + s->node[i]];                               \
      for (int r = 0; r < s->dim; r++) {                                                                     \
        const int64_t at = r * s->length + s->node[i];                                                       \
        real sum = f->scale ? (real)f->scale[i] * (x[at] - w[at]) : 0;                                       \
        for (int c = 0; c < s->dim; c++) sum += (real)s->P[(r * s->dim + c) * s->count + i] * old[c];        \
        y[at] = sum;                                                                                         \
      }                                                                                                      \
    }                                                                                                        \
  }
FINISH(finish_double, double)
FINISH(finish_float, float)

void tesi_slip_finish_ref(const TesiSlip *slip, const double *scale, const double *x, const double *w,
                          double *y) {
  finish_double(&(Finish){slip, scale, x, w, y}, (TesiSpan){0, slip->count, 0});
}

TesStatus tesi_slip_finish(const TesiSlip *slip, TesPrecision precision, const double *scale, const void *x,
                           const void *w, void *y) {
  TesContext *ctx = slip->context;
  long long count = slip->count, length = slip->length;
  if (!count) return TES_OK;
  if (!tesi_has_kernels(ctx)) {
    tesi_team_for(tesi_team_threads(ctx, 16 * count), count,
                  precision == TES_DOUBLE ? finish_double : finish_float, &(Finish){slip, scale, x, w, y});
    return TES_OK;
  }
  const int64_t blocks = (count + THREADS - 1) / THREADS;
  const TesiGrid grid = {(unsigned)(blocks < BLOCKS ? blocks : BLOCKS), 1, 1};
  void *arguments[] = {
      &y, (void *)&slip->device_node, (void *)&slip->device_P[precision], &scale, &x, &w, &count, &length};
  return tesi_kernel_launch(ctx, &slip->kernel[precision], grid, THREADS, 0, arguments);
}

TesStatus tesi_slip_lift(const TesiSlip *slip, TesVector *u) {
  TesContext *ctx = slip->context;
  TesStatus status = TES_OK;
  const int dim = slip->dim;
  double *values = NULL;
  TES_ALLOC(&values, u->length);
  TES_TRY(tes_vector_get(u, values));
  for (int64_t i = 0; i < slip->count; i++)
    for (int e = 0; e < dim * dim && slip->given[i]; e++)
      values[e / dim * slip->length + slip->node[i]] +=
          slip->L[i * dim * dim + e] * values[e % dim * slip->length + slip->node[i]];
  TES_TRY(tes_vector_set(u, values));
done:
  tesi_free(ctx, &values);
  return status;
}

void tesi_slip_block(const TesiSlip *slip, int64_t i, bool right, double *block) {
  const int dim = slip->dim;
  double old[9];
  for (int e = 0; e < dim * dim; e++) old[e] = block[e], block[e] = 0;
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++)
      for (int k = 0; k < dim; k++) {
        const double P = slip->P[(right ? k * dim + c : r * dim + k) * slip->count + i];
        block[r * dim + c] += P * old[right ? r * dim + k : k * dim + c];
      }
}

TesStatus tesi_space_project(const TesSpace *space, TesPrecision precision, void *y) {
  return space->slip ? tesi_slip_finish(space->slip, precision, NULL, NULL, NULL, y) : TES_OK;
}
