#include "space/slip.h"
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include "base/team.h"
#include "basis/blas.h"
#include "device/upload.h"
#include "geometry/geometry.h"
#include "parallel/comm.h"
#include "parallel/exchange.h"

/* Of the trace of T: two faces that meet at 30 degrees have tan(15 degrees)^2 of the larger eigenvalue. */
#define SMOOTH 0.065

enum { ENTRIES = 6, THREADS = 256, BLOCKS = 1024 };

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
    const int64_t node = tesi_cells_node(v->index[cell * v->cell_nodes + i[0] + i[1] * step[1] + i[2] * step[2]]);
    tesi_face_normal(dim, J + p * dim * dim, face, normal);
    for (int r = 0; r < dim; r++) square += normal[r] * normal[r];
    for (int r = 0; r < dim; r++)
      for (int c = r; c < dim; c++)
        s->T[entry_of(r, c) * v->length + node] += normal[r] * normal[c] / square;
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

/* P[dim][dim] of a node; *held <- how many directions it takes beside given components. */
static TesStatus find_projection(const Normals *s, int64_t node, double *P, int *held) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  const int dim = s->space->dim;
  const int64_t n = s->view[0]->length;
  double T[9], size[3], trace = 0;
  *held = 0;
  for (int r = 0; r < dim; r++) trace += s->T[r * n + node];
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++) {
      const bool given = s->given[node] >> r & 1 || s->given[node] >> c & 1;
      T[r * dim + c] = given ? 0 : s->T[entry_of(r, c) * n + node] / trace;
      P[r * dim + c] = r == c && !given;
    }
  const int info = (int)LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', dim, T, dim, size);
  if (info != 0) TES_FAIL(TES_NAN, "a normal of a boundary with slip is not finite");
  for (int k = 0; k < dim; k++) {
    const double *w = T + k * dim;
    if (!(size[k] > SMOOTH)) continue;
    ++*held;
    for (int i = 0; i < dim * dim; i++) P[i] -= w[i / dim] * w[i % dim];
  }
done:
  return status;
}

/* ---- creation ------------------------------------------------------------------------------------------ */

static TesStatus list_nodes(Normals *s, TesiSlip *slip) {
  TesContext *ctx = slip->context;
  TesStatus status = TES_OK;
  const int size = slip->dim * slip->dim;
  const TesiLayout *layout = s->view[0]->layout;
  double P[9], *rows = NULL;
  int64_t most = 0;
  for (int64_t i = 0; i < slip->length; i++) most += s->T[i] + s->T[slip->length + i] + s->T[2 * slip->length + i] > 0;
  TES_ALLOC(&slip->node, most);
  TES_ALLOC(&slip->given, most);
  TES_ALLOC(&rows, size * most);
  TES_TRY(tesi_blas_begin(ctx, slip->dim));
  for (int64_t i = 0; i < slip->length; i++) {
    int held;
    if (!(s->T[i] + s->T[slip->length + i] + s->T[2 * slip->length + i] > 0)) continue;
    TES_TRY(find_projection(s, i, P, &held));
    if (!held) continue;
    for (int e = 0; e < size; e++) rows[slip->count * size + e] = P[e];
    slip->given[slip->count] = s->given[i];
    slip->node[slip->count++] = (int32_t)i;
    slip->held += held;
    slip->held_owned += tesi_layout_owns(layout, i) ? held : 0;
  }
  TES_ALLOC(&slip->P, size * slip->count);
  for (int64_t i = 0; i < slip->count; i++)
    for (int e = 0; e < size; e++) slip->P[e * slip->count + i] = rows[i * size + e];
done:
  tesi_free(ctx, &rows);
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
  TES_TRY(list_nodes(&s, made));
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

void tesi_slip_finish_ref(const TesiSlip *slip, const double *scale, const double *x, const double *w, double *y) {
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
  void *arguments[] = {&y, (void *)&slip->device_node, (void *)&slip->device_P[precision], &scale, &x, &w, &count, &length};
  return tesi_kernel_launch(ctx, &slip->kernel[precision], grid, THREADS, 0, arguments);
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
