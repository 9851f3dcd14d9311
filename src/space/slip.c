#include "space/slip_motions.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "basis/blas.h"
#include "device/upload.h"
#include "geometry/geometry.h"
#include "parallel/comm.h"
#include "parallel/exchange.h"

/* Fraction of the trace of T: if two faces meet at 30 degrees, the smaller eigenvalue is tan(15 degrees)^2 of the
 * larger. */
#define SMOOTH 0.065
/* What stands still. */
#define STILL 1e-6
/* A direction with a smaller part outside the loose motions is a kink. */
#define KINK 0.5

enum { ENTRIES = 6, NUMBER = ENTRIES, ROWS, MOTIONS = TESI_RIGID_MOST, THREADS = 256, BLOCKS = 1024 };

/* xx, yy, zz, yz, xz, xy */
static int entry_of(int r, int c) {
  return r == c ? r : 6 - r - c;
}

typedef struct Normals {
  const TesSpace *space;
  const TesiCellView *view[3];
  double *T;      /* [ROWS][length]; row NUMBER: the sum of the faces' boundaries */
  uint8_t *given; /* [length] bits of components */
} Normals;

static double trace_of(const Normals *s, int64_t node) {
  const int64_t n = s->view[0]->length;
  return s->T[node] + s->T[n + node] + s->T[2 * n + node];
}

/* ---- normals ------------------------------------------------------------------------------------------- */

TesStatus tesi_slip_visit(const TesSpace *space, TesiFaceVisit visit, void *user) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiGeometry *geometry;
  const TesiCellView *v;
  TES_TRY(tesi_mesh_geometry(space->mesh, &geometry));
  TES_TRY(tesi_space_cells(space->part[0], &v));
  for (int64_t c = 0; c < v->cells; c++)
    for (int f = 0, name; f < 2 * space->dim; f++)
      if (tes_mesh_on_boundary(space->mesh, c, f, &name) && name >= 0 && space->slips[name])
        TES_TRY(tesi_face_nodes(v, geometry, c, f, name, visit, user));
done:
  return status;
}

static void add_normal(void *user, int64_t node, int boundary, const double *x, const double *normal) {
  const Normals *s = user;
  const int dim = s->space->dim;
  const int64_t n = s->view[0]->length;
  double square = 0;
  (void)x;
  s->T[NUMBER * n + node] += boundary;
  for (int r = 0; r < dim; r++) square += normal[r] * normal[r];
  for (int r = 0; r < dim; r++)
    for (int c = r; c < dim; c++) s->T[entry_of(r, c) * n + node] += normal[r] * normal[c] / square;
}

static TesStatus gather(Normals *s) {
  const TesSpace *space = s->space;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  for (int c = 0; c < space->dim; c++) TES_TRY(tesi_space_cells(space->part[c], &s->view[c]));
  const TesiCellView *v = s->view[0];
  TES_ALLOC(&s->T, ROWS * v->length);
  TES_ALLOC(&s->given, v->length);
  TES_TRY(tesi_slip_visit(space, add_normal, s));
  for (int e = 0; e < ROWS && v->layout->shared; e++)
    tesi_exchange_sum(v->layout->shared, TES_DOUBLE, s->T + e * v->length);
  for (int c = 0; c < space->dim; c++)
    for (int64_t i = 0; i < s->view[c]->length - s->view[c]->dofs; i++)
      s->given[s->view[c]->constrained[i]] |= (uint8_t)(1 << c);
done:
  return status;
}

/* L[dim][dim] <- the map from given components g to the others, by which w' T (u_w w + g) = 0 for each direction w. */
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

/* w[dim][dim] <- by rows, the directions of a node beside its given components, the *held first; part[dim] <- for each
 * direction the share of the normals along it. */
static TesStatus find_directions(const Normals *s, int64_t node, double *w, double *part, int *held) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  const int dim = s->space->dim;
  const int64_t n = s->view[0]->length;
  double T[9], size[3];
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++) {
      const bool given = s->given[node] >> r & 1 || s->given[node] >> c & 1;
      T[r * dim + c] = given ? 0 : s->T[entry_of(r, c) * n + node] / trace_of(s, node);
    }
  const int info = (int)LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', dim, T, dim, size);
  if (info != 0) TES_FAIL(TES_NAN, "a normal of a boundary with slip is not finite");
  *held = 0;
  for (int pass = 0, at = 0; pass < 2; pass++)
    for (int k = 0; k < dim; k++) {
      if ((size[k] > SMOOTH) != (pass == 0)) continue;
      part[at] = fmax(size[k], 0);
      memcpy(w + dim * at++, T + k * dim, (size_t)dim * sizeof *w);
      *held += pass == 0;
    }
done:
  return status;
}

/* ---- motions along the faces --------------------------------------------------------------------------- */

/* v[dim] <- v without its components along basis[count][dim]; returns the length that is left. */
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

/* w[held][dim] <- the same without parts along the loose motions at x, orthonormal; returns how many there are: those
 * that go along such a motion are kinks. */
static int smooth(const TesiAlong *m, int dim, const double *x, int held, double *w) {
  double value[MOTIONS * 3], basis[(MOTIONS + 3) * 3];
  int found = 0, kept = 0;
  tesi_rigid_at(&m->rigid, x, value);
  for (int k = 0; k < m->loose && found < dim - 1; k++) {
    double *v = basis + found * dim;
    for (int d = 0; d < dim; d++) v[d] = 0;
    for (int e = 0; e < m->rigid.count * dim; e++)
      v[e % dim] += m->vector[k * m->rigid.count + e / dim] * value[e];
    const double left = subtract(dim, found, basis, v);
    for (int d = 0; d < dim; d++) v[d] /= left;
    found += left > STILL;
  }
  for (int h = 0; h < held; h++) {
    double *v = basis + found * dim;
    memcpy(v, w + h * dim, (size_t)dim * sizeof *v);
    const double left = found < dim ? subtract(dim, found, basis, v) : 0;
    if (left < KINK) continue;
    for (int d = 0; d < dim; d++) w[kept * dim + d] = v[d] /= left;
    found++, kept++;
  }
  return kept;
}

/* Finds what given values hold, and what faces with slip hold by boundaries, then the motions that neither holds. */
static TesStatus find_along(const Normals *s, const TesiSlip *slip, const double *x, const double *w,
                            const double *part, const int *held, TesiAlong *along) {
  TesContext *ctx = slip->context;
  TesStatus status = TES_OK;
  const TesiLayout *layout = s->view[0]->layout;
  const TesMesh *mesh = s->space->mesh;
  const int dim = slip->dim, count = along->rigid.count, names = tes_mesh_boundaries(mesh);
  const int numbers = (int)(sizeof(TesiHolds) / sizeof(double));
  double H[MOTIONS * MOTIONS] = {0}, value[MOTIONS * 3];
  TesiHolds *holds = NULL;
  TES_ALLOC(&holds, names + 1);
  for (int64_t i = 0; i < slip->length; i++) {
    if (!s->given[i] || !tesi_layout_owns(layout, i)) continue;
    tesi_rigid_at(&along->rigid, x + i * dim, value);
    for (int e = 0; e < count * count; e++)
      for (int d = 0; d < dim; d++)
        H[e] += s->given[i] >> d & 1 ? value[e / count * dim + d] * value[e % count * dim + d] : 0;
  }
  for (int64_t i = 0; i < slip->count; i++) {
    const int64_t node = slip->node[i];
    const double faces = trace_of(s, node), name = s->T[NUMBER * slip->length + node] / faces;
    if (tesi_layout_owns(layout, node))
      tesi_holds_add(&along->rigid, x + node * dim, held[i], w + i * dim * dim, part + i * dim, faces > 1.5,
                     &holds[(int)(name + 0.5)]);
  }
  tesi_reduce(ctx, TESI_SUM, MOTIONS * MOTIONS, H);
  for (int b = 0; b < names; b++) tesi_reduce(ctx, TESI_SUM, numbers, (double *)&holds[b]);
  TES_TRY(tesi_along_find(mesh, H, holds, along));
done:
  tesi_free(ctx, &holds);
  return status;
}

/* ---- creation ------------------------------------------------------------------------------------------ */

/* Nodes; the number of directions that each node holds; its directions, [count][dim][dim], and their shares,
 * [count][dim]. */
static TesStatus list_nodes(const Normals *s, TesiSlip *slip, int **held, double **w, double **part) {
  TesContext *ctx = slip->context;
  TesStatus status = TES_OK;
  int64_t most = 0;
  for (int64_t i = 0; i < slip->length; i++) most += trace_of(s, i) > 0;
  TES_ALLOC(&slip->node, most);
  TES_ALLOC(&slip->given, most);
  TES_ALLOC(held, most);
  TES_ALLOC(w, slip->dim * slip->dim * most);
  TES_ALLOC(part, slip->dim * most);
  TES_ALLOC(&slip->L, slip->dim * slip->dim * most);
  TES_TRY(tesi_blas_begin(ctx, MOTIONS));
  for (int64_t i = 0; i < slip->length; i++) {
    int *own = &(*held)[slip->count];
    if (!(trace_of(s, i) > 0)) continue;
    const int64_t at = slip->count * slip->dim * slip->dim;
    TES_TRY(find_directions(s, i, *w + at, *part + slip->count * slip->dim, own));
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

static TesStatus fill(const Normals *s, const TesiSlip *like, TesiSlip *slip) {
  TesContext *ctx = slip->context;
  TesStatus status = TES_OK;
  const TesSpace *part = s->space->part[0];
  const int dim = slip->dim, size = dim * dim;
  double *w = NULL, *x = NULL, *parts = NULL;
  int *held = NULL;
  TES_TRY(list_nodes(s, slip, &held, &w, &parts));
  TES_ALLOC(&x, part->length * dim);
  TES_TRY(tes_space_coordinates(part, x));
  tesi_rigid_of(ctx, dim, part->length, x, &slip->along.rigid);
  if (like)
    slip->along = like->along;
  else
    TES_TRY(find_along(s, slip, x, w, parts, held, &slip->along));
  TES_ALLOC(&slip->P, size * slip->count);
  for (int64_t i = 0; i < slip->count; i++) {
    double *own = w + i * size;
    const int kept = smooth(&slip->along, dim, x + slip->node[i] * dim, held[i], own);
    slip->held += kept - held[i];
    slip->held_owned += tesi_layout_owns(s->view[0]->layout, slip->node[i]) ? kept - held[i] : 0;
    held[i] = kept;
    for (int e = 0; e < size; e++) {
      double sum = e / dim == e % dim && !tesi_slip_given(slip, i, e % dim);
      for (int h = 0; h < held[i]; h++) sum -= own[h * dim + e / dim] * own[h * dim + e % dim];
      slip->P[e * slip->count + i] = sum;
    }
  }
done:
  tesi_free(ctx, &held);
  tesi_free(ctx, &parts);
  tesi_free(ctx, &w);
  tesi_free(ctx, &x);
  return status;
}

static TesStatus create_on_device(TesiSlip *slip) {
  TesContext *ctx = slip->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  TES_TRY(tesi_upload(ctx, slip->node, (size_t)slip->count * sizeof *slip->node, &slip->device_node));
  for (int p = 0; p < 2; p++) {
    const TesPrecision precision = p == 0 ? TES_DOUBLE : TES_SINGLE;
    const TesiProgramDesc desc = {.file = "slip.cu", .real = precision, .macros = {{"DIM", slip->dim}}};
    TES_TRY(tesi_upload_numbers(ctx, slip->P, slip->dim * slip->dim * slip->count, precision,
                                &slip->device_P[precision]));
    TES_TRY(tesi_program_get(ctx, &desc, &program));
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_slip", 0, &slip->kernel[precision]));
  }
done:
  return status;
}

TesStatus tesi_slip_create(const TesSpace *space, const TesiSlip *like, TesiSlip **slip) {
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
  TES_TRY(fill(&s, like, made));
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
  TES_TRY(tesi_vector_read(u, &values));
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
