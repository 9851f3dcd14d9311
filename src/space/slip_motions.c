#include "space/slip_motions.h"
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bores, cones and spheres of Gmsh, 8 to 40 cells of either order round, have M / V up to 2.0; what a short bore of 12
 * holds has 3.4 and more, planes have V = 0. */
#define C 2.2
#define CURVED 1e-4   /* slopes of curved faces below 0.01 are kinks; motions held by less were always free */
#define PLANE 1e-9    /* slopes of planes: coordinates of files have six digits or more */
#define GIVEN 1e-10   /* relative to the motions that given values hold */
#define SLIGHT 0.0524 /* slopes below 3 degrees are reported */

enum { MOST = TESI_RIGID_MOST };

typedef struct Span {
  int count, dim; /* motions; [dim][count] vectors, orthonormal */
  double v[MOST * MOST];
} Span;

void tesi_holds_add(const TesiRigid *rigid, const double *x, int held, const double *direction,
                    const double *kinks, bool meets, TesiHolds *h) {
  const int count = rigid->count, dim = rigid->dim;
  double value[MOST * 3], part[MOST] = {0};
  tesi_rigid_at(rigid, x, value);
  for (int k = 0; k < count; k++)
    for (int l = 0; l < count; l++)
      for (int d = 0; d < dim; d++) h->S[k * count + l] += value[k * dim + d] * value[l * dim + d];
  for (int w = 0; w < dim; w++) {
    for (int k = 0; k < count; k++) {
      part[k] = 0;
      for (int d = 0; d < dim; d++) part[k] += value[k * dim + d] * direction[w * dim + d];
    }
    for (int e = 0; e < count * count; e++)
      if (w < held)
        h->M[e] += part[e / count] * part[e % count];
      else
        h->V[e] += kinks[w] * part[e / count] * part[e % count];
  }
  h->nodes++, h->meeting += meets;
}

/* ---- small matrices ------------------------------------------------------------------------------------ */

/* small <- B' A B. */
static void restrict_to(const Span *B, const double *A, double *small) {
  for (int i = 0; i < B->dim; i++)
    for (int j = 0; j < B->dim; j++) {
      double sum = 0;
      for (int k = 0; k < B->count; k++)
        for (int l = 0; l < B->count; l++)
          sum += B->v[i * B->count + k] * A[k * B->count + l] * B->v[j * B->count + l];
      small[i * B->dim + j] = sum;
    }
}

static double trace(int count, const double *A) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += A[k * count + k];
  return sum;
}

static double quotient(int count, const double *v, const double *A) {
  double sum = 0;
  for (int e = 0; e < count * count; e++) sum += v[e / count] * A[e] * v[e % count];
  return sum;
}

/* v <- v without its components in B, scaled to length 1; false: nothing is left. */
static bool orthogonalize(const Span *B, double *v) {
  double before = 0, square = 0;
  for (int k = 0; k < B->count; k++) before += v[k] * v[k];
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < B->dim; i++) {
      double part = 0;
      for (int k = 0; k < B->count; k++) part += B->v[i * B->count + k] * v[k];
      for (int k = 0; k < B->count; k++) v[k] -= part * B->v[i * B->count + k];
    }
  for (int k = 0; k < B->count; k++) square += v[k] * v[k];
  if (!(square > 1e-12 * before)) return false;
  for (int k = 0; k < B->count; k++) v[k] /= sqrt(square);
  return true;
}

static void add(Span *B, const double *v) {
  double copy[MOST];
  memcpy(copy, v, (size_t)B->count * sizeof *v);
  if (B->dim < B->count && orthogonalize(B, copy))
    memcpy(B->v + B->dim++ * B->count, copy, (size_t)B->count * sizeof *v);
}

/* B <- its vectors of which A, relative to D in it, is at most `most`. */
static TesStatus keep(TesContext *ctx, const double *A, const double *D, double most, Span *B) {
  TesStatus status = TES_OK;
  double a[MOST * MOST], d[MOST * MOST], size[MOST], trace = 0;
  const Span old = *B;
  if (!old.dim) return TES_OK;
  restrict_to(B, A, a), restrict_to(B, D, d);
  for (int i = 0; i < old.dim; i++) trace += d[i * old.dim + i];
  for (int i = 0; i < old.dim; i++) d[i * old.dim + i] += 1e-9 * trace + 1e-300;
  const int info = (int)LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'L', old.dim, a, old.dim, d, old.dim, size);
  if (info != 0) TES_FAIL(TES_NAN, "the normals of boundaries with slip are not finite");
  B->dim = 0;
  for (int i = 0; i < old.dim; i++) {
    double v[MOST] = {0};
    if (!(size[i] <= most)) continue;
    for (int k = 0; k < old.count * old.dim; k++)
      v[k % old.count] += a[i * old.dim + k / old.count] * old.v[k];
    add(B, v);
  }
done:
  return status;
}

/* ---- ---------------------------------------------------------------------------------------------------- */

typedef struct Search {
  TesContext *context;
  int count, dim, boundaries;
  const double *H;
  const TesiHolds *holds;
  bool given; /* what given values hold counts */
} Search;

/* D = C V + epsilon S, by node. */
static void make_doubt(int count, const TesiHolds *h, double *D) {
  const bool curved = trace(count, h->V) > PLANE * trace(count, h->S);
  for (int e = 0; e < count * count; e++)
    D[e] = (h->meeting > 0 ? C * h->V[e] * h->nodes / h->meeting : 0) + (curved ? CURVED : PLANE) * h->S[e];
}

/* B <- the motions of B that given values do not hold. */
static TesStatus leave_given(const Search *s, Span *B) {
  double one[MOST * MOST] = {0};
  const double size = trace(s->count, s->H);
  for (int k = 0; k < s->count; k++) one[k * s->count + k] = GIVEN * size;
  return size > 0 ? keep(s->context, s->H, one, 1, B) : TES_OK;
}

/* B <- the motions of B that only kinks hold. */
static TesStatus loosen(const Search *s, Span *B) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double D[MOST * MOST];
  if (s->given) TES_TRY(leave_given(s, B));
  for (int b = 0; b < s->boundaries; b++) {
    if (!(s->holds[b].nodes > 0)) continue;
    make_doubt(s->count, &s->holds[b], D);
    TES_TRY(keep(ctx, s->holds[b].M, D, 1, B));
  }
done:
  return status;
}

/* The families of motions in which a search looks, simple families first: translations; rotations about axes in each
 * direction; all motions. So a bore along a coordinate axis slides along this axis exactly, and not along the axis of
 * its kinks. False: no more families. */
static bool candidates(int dim, int count, int number, Span *B) {
  *B = (Span){.count = count};
  if (number > (dim == 3 ? 6 : 2)) return false;
  if (number < dim) {
    B->v[number] = 1, B->dim = 1;
    return true;
  }
  const int plane = number - dim;
  if (dim == 3 && plane < 3) { /* xy, xz, yz */
    static const int of[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    B->v[of[plane][0]] = B->v[count + of[plane][1]] = B->v[2 * count + 3 + plane] = 1, B->dim = 3;
    return true;
  }
  for (int k = 0; k < count; k++) B->v[k * count + k] = 1;
  B->dim = count;
  return true;
}

/* B <- its part that is orthogonal to `found`. */
static void take_away(const Span *found, Span *B) {
  Span both = *found;
  const Span all = *B;
  B->dim = 0;
  for (int i = 0; i < all.dim; i++) {
    const int before = both.dim;
    add(&both, all.v + i * all.count);
    if (both.dim > before) add(B, both.v + before * both.count);
  }
}

/* v <- the vector of B that is nearest to L; returns the square of the cosine of the angle between them. */
static TesStatus nearest(TesContext *ctx, const Span *B, const Span *L, double *v, double *cosine) {
  TesStatus status = TES_OK;
  double project[MOST * MOST] = {0}, A[MOST * MOST], size[MOST];
  *cosine = 0;
  if (!B->dim || !L->dim) return TES_OK;
  for (int i = 0; i < L->dim; i++)
    for (int e = 0; e < L->count * L->count; e++)
      project[e] += L->v[i * L->count + e / L->count] * L->v[i * L->count + e % L->count];
  restrict_to(B, project, A);
  const int info = (int)LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', B->dim, A, B->dim, size);
  if (info != 0) TES_FAIL(TES_NAN, "the normals of boundaries with slip are not finite");
  for (int k = 0; k < B->count; k++) v[k] = 0;
  for (int k = 0; k < B->count * B->dim; k++)
    v[k % B->count] += A[(B->dim - 1) * B->dim + k / B->count] * B->v[k];
  *cosine = size[B->dim - 1];
done:
  return status;
}

/* partner <- the vector of L that is nearest to v. */
static void find_partner(const double *v, const Span *L, Span *partner) {
  double sum[MOST] = {0};
  *partner = (Span){.count = L->count};
  for (int i = 0; i < L->dim; i++) {
    double part = 0;
    for (int k = 0; k < L->count; k++) part += L->v[i * L->count + k] * v[k];
    for (int k = 0; k < L->count; k++) sum[k] += part * L->v[i * L->count + k];
  }
  add(partner, sum);
}

/* The square of the sine of the mean angle between a motion and the faces. */
static double miss(const Search *s, const double *v) {
  double M = 0, S = 0;
  for (int b = 0; b < s->boundaries; b++)
    M += quotient(s->count, v, s->holds[b].M), S += quotient(s->count, v, s->holds[b].S);
  return S > 0 ? M / S : 0;
}

/* found += the loose motions that it does not yet have. */
static TesStatus search(const Search *s, Span *found) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  Span L, B, partner;
  candidates(s->dim, s->count, s->dim == 3 ? 6 : 2, &L);
  take_away(found, &L);
  TES_TRY(loosen(s, &L));
  for (int number = 0; candidates(s->dim, s->count, number, &B); number++) {
    double v[MOST], cosine;
    take_away(found, &B);
    TES_TRY(nearest(ctx, &B, &L, v, &cosine));
    if (!(cosine > 0)) continue;
    find_partner(v, &L, &partner);
    if (1 - cosine > fmax(miss(s, partner.v), 1e-8)) continue; /* farther away than kinks explain */
    B.dim = 0, add(&B, v);
    TES_TRY(loosen(s, &B));
    if (B.dim) add(found, v), take_away(&partner, &L);
  }
  for (int i = 0; i < L.dim; i++) add(found, L.v + i * s->count);
done:
  return status;
}

/* If there are rotations about three axes, they are rotations about one point c, and go along spheres about it at all
 * nodes: w x (x - c) has the translation -w x c. Axes that were found with kinks miss each other a little. */
static void meet(Span *loose) {
  double W[9], t[9] = {0}, c[3];
  lapack_int pivot[3];
  if (loose->count != 6 || loose->dim != 3) return;
  for (int k = 0; k < 3; k++) { /* columns: motions; solution: combinations that rotate about x, y, z */
    const double *v = loose->v + k * 6, w[3] = {v[5], -v[4], v[3]};
    memcpy(W + 3 * k, w, sizeof w);
  }
  double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  if (LAPACKE_dgesv(LAPACK_COL_MAJOR, 3, 3, W, 3, pivot, one, 3) != 0) return;
  for (int axis = 0; axis < 3; axis++)
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 3; d++) t[3 * axis + d] += one[3 * axis + k] * loose->v[k * 6 + d];
  c[0] = (t[5] - t[7]) / 2, c[1] = (t[6] - t[2]) / 2, c[2] = (t[1] - t[3]) / 2;
  const double turns[3][6] = {{0, c[2], -c[1], 0, 0, 1}, {-c[2], 0, c[0], 0, -1, 0}, {c[1], -c[0], 0, 1, 0, 0}};
  for (int axis = 0; axis < 3; axis++)
    for (int d = 0; d < 3; d++)
      if (!(fabs(t[3 * axis + d] - turns[axis][d]) < 0.2)) return; /* the axes do not meet: a plane */
  loose->dim = 0;
  for (int axis = 0; axis < 3; axis++) add(loose, turns[axis]);
}

static void add_name(const TesMesh *mesh, int boundary, size_t size, char *names) {
  const size_t used = strlen(names);
  snprintf(names + used, size - used, "%s%.40s", used ? ", " : "", tes_mesh_boundary_name(mesh, boundary));
}

/* The angle between the loose motions and the faces. */
static void measure_kinks(const TesMesh *mesh, const Search *s, TesiAlong *a) {
  for (int b = 0; b < s->boundaries; b++) {
    double worst = 0;
    for (int k = 0; k < a->loose && s->holds[b].nodes > 0; k++) {
      const double *v = a->vector + k * s->count;
      worst = fmax(worst, quotient(s->count, v, s->holds[b].M) / quotient(s->count, v, s->holds[b].S));
    }
    a->kinks = fmax(a->kinks, sqrt(worst));
    if (sqrt(worst) > TESI_KINKS_TOLD) add_name(mesh, b, sizeof a->bent, a->bent);
  }
}

/* Of what given values leave and is not loose: the motion that is nearest to it, where faces hold it at a small angle
 * or by little more than kinks. */
static TesStatus measure_slope(const TesMesh *mesh, const Search *s, const Span *loose, TesiAlong *a) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int n = s->count;
  double M[MOST * MOST] = {0}, doubt[MOST * MOST] = {0}, D[MOST * MOST];
  Span B;
  candidates(s->dim, n, s->dim == 3 ? 6 : 2, &B);
  take_away(loose, &B);
  TES_TRY(leave_given(s, &B));
  for (int b = 0; b < s->boundaries; b++) {
    make_doubt(n, &s->holds[b], D);
    for (int e = 0; e < n * n; e++)
      M[e] += s->holds[b].M[e], doubt[e] += 2 * D[e] + SLIGHT * SLIGHT * s->holds[b].S[e];
  }
  TES_TRY(keep(ctx, M, doubt, 1, &B));
  if (!B.dim) goto done;
  memcpy(a->least, B.v, sizeof(double) * (size_t)n);
  a->slope = sqrt(miss(s, a->least));
  for (int b = 0; b < s->boundaries; b++)
    if (quotient(n, a->least, s->holds[b].M) > PLANE * quotient(n, a->least, s->holds[b].S))
      add_name(mesh, b, sizeof a->sloped, a->sloped);
done:
  return status;
}

TesStatus tesi_along_find(const TesMesh *mesh, const double *H, const TesiHolds *holds, TesiAlong *a) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  Search s = {.context = ctx,
              .count = a->rigid.count,
              .dim = a->rigid.dim,
              .boundaries = tes_mesh_boundaries(mesh),
              .H = H,
              .holds = holds,
              .given = true};
  Span loose = {.count = s.count};
  TES_TRY(search(&s, &loose));
  TES_TRY(measure_slope(mesh, &s, &loose, a));
  s.given = false; /* kinks do not hold a rotation in the plane of a face beside other supports either */
  TES_TRY(search(&s, &loose));
  meet(&loose);
  a->loose = loose.dim;
  memcpy(a->vector, loose.v, sizeof loose.v);
  measure_kinks(mesh, &s, a);
done:
  return status;
}

void tesi_along_tell(const TesSpace *space, bool free) {
  static const double degree = 57.29577951308232;
  char text[200];
  if (!space->slip) return;
  const TesiAlong *a = &space->slip->along;
  if (free && a->kinks > TESI_KINKS_TOLD)
    tesi_log(space->context, TES_LOG_WARNING,
             "warning: boundary: the mesh of %s is coarse: its normals miss motions along it by %.2g "
             "degrees, on the "
             "mean. These kinks hold nothing: where the body should be held, give a support",
             a->bent, degree * a->kinks);
  if (!(a->slope > 0)) return;
  tesi_rigid_tell(&a->rigid, 1, a->least, sizeof text, text);
  tesi_log(space->context, TES_LOG_WARNING,
           "warning: boundary: the slope of %s alone holds a rigid motion (%s), by %.2g degrees on the mean: "
           "forces there "
           "are about %.0f times those along it. Where more should hold it, give a support",
           a->sloped, text, degree * a->slope, 1 / a->slope);
}
