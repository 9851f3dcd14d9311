#include "space/rigid.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "parallel/comm.h"

void tesi_rigid_of(TesContext *ctx, int dim, int64_t n, const double *x, TesiRigid *r) {
  double ends[6];
  for (int d = 0; d < 6; d++) ends[d] = -INFINITY;
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < dim; d++)
      ends[d] = fmax(ends[d], x[i * dim + d]), ends[3 + d] = fmax(ends[3 + d], -x[i * dim + d]);
  tesi_reduce(ctx, TESI_MAXIMUM, 6, ends);
  *r = (TesiRigid){.dim = dim, .count = dim * (dim + 1) / 2};
  for (int d = 0; d < dim; d++)
    r->middle[d] = (ends[d] - ends[3 + d]) / 2, r->size = fmax(r->size, (ends[d] + ends[3 + d]) / 2);
}

void tesi_rigid_at(const TesiRigid *r, const double *x, double *value) {
  const int dim = r->dim;
  for (int i = 0; i < r->count * dim; i++) value[i] = i / dim < dim && i / dim == i % dim;
  for (int a = 0, k = dim; a < dim; a++)
    for (int b = a + 1; b < dim; b++, k++) {
      value[k * dim + a] = -(x[b] - r->middle[b]) / r->size;
      value[k * dim + b] = (x[a] - r->middle[a]) / r->size;
    }
}

/* ---- in words ------------------------------------------------------------------------------------------ */

/* Scales v[i] to unit length and rounds to three digits: round-off becomes 0, and the largest entry is positive. */
static void tell_vector(int dim, const double *v, double scale, size_t size, char *text) {
  double of[3], largest = 0;
  for (int d = 0; d < dim; d++) {
    of[d] = fabs(v[d]) < 1e-3 * scale ? 0 : v[d];
    if (fabs(v[d]) > fabs(largest) * 1.0001) largest = v[d];
  }
  const double sign = scale == 1 && largest < 0 ? -1 : 1;
  for (int d = 0; d < dim; d++) of[d] = of[d] == 0 ? 0 : sign * of[d];
  if (dim == 3)
    snprintf(text, size, "(%.3g, %.3g, %.3g)", of[0], of[1], of[2]);
  else
    snprintf(text, size, "(%.3g, %.3g)", of[0], of[1]);
}

/* t[3] and w[3] of a combination of motions: r(x) = t + w x (x - middle) / size. */
static void take_apart(const TesiRigid *r, const double *v, double *t, double *w) {
  for (int d = 0; d < 3; d++) t[d] = d < r->dim ? v[d] : 0, w[d] = 0;
  w[2] = v[r->dim];
  if (r->dim == 3) w[1] = -v[4], w[0] = v[5];
}

static double length_of(const double *v) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void tell_slide(int dim, const double *t, size_t size, char *text) {
  const double length = length_of(t), unit[3] = {t[0] / length, t[1] / length, t[2] / length};
  char along[60];
  tell_vector(dim, unit, 1, sizeof along, along);
  snprintf(text, size, "it slides along %s", along);
}

/* A point of the axis of rotation, which is the line along w of points x with t + w x (x - middle) / size along w:
 * middle + size w x t / w.w. */
static void tell_turn(const TesiRigid *r, const double *t, const double *w, size_t size, char *text) {
  const double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], length = sqrt(square);
  const double unit[3] = {w[0] / length, w[1] / length, w[2] / length};
  double point[3] = {0};
  char at[60], along[60];
  for (int d = 0; d < r->dim; d++)
    point[d] =
        r->middle[d] + r->size * (w[(d + 1) % 3] * t[(d + 2) % 3] - w[(d + 2) % 3] * t[(d + 1) % 3]) / square;
  tell_vector(r->dim, point, r->size, sizeof at, at);
  tell_vector(3, unit, 1, sizeof along, along);
  snprintf(text, size, r->dim == 3 ? "it turns about the axis through %s along %s" : "it turns about %s", at,
           along);
}

/* v <- v minus its component along `of`. */
static void subtract(int count, const double *of, double *v) {
  double part = 0, square = 0;
  for (int k = 0; k < count; k++) part += of[k] * v[k], square += of[k] * of[k];
  for (int k = 0; k < count && square > 0; k++) v[k] -= part / square * of[k];
}

/* Moves rotations to the end of the list; one vector keeps each direction of w. *slides <- the number of vectors
 * without rotation. A rotation about a very distant axis counts as a slide. */
static void separate(const TesiRigid *r, int loose, double (*v)[TESI_RIGID_MOST], int *slides) {
  *slides = loose;
  while (*slides > 0) {
    double swap[TESI_RIGID_MOST], largest = 0.05;
    int at = -1, entry = -1;
    for (int k = 0; k < *slides; k++) {
      double square = 0;
      for (int e = 0; e < r->count; e++) square += v[k][e] * v[k][e];
      for (int e = r->dim; e < r->count; e++)
        if (fabs(v[k][e]) > largest * sqrt(square)) largest = fabs(v[k][e]) / sqrt(square), at = k, entry = e;
    }
    if (at < 0) return;
    const int last = --*slides;
    memcpy(swap, v[at], sizeof swap), memcpy(v[at], v[last], sizeof swap), memcpy(v[last], swap, sizeof swap);
    for (int k = 0; k < loose; k++) {
      const double factor = k == last ? 0 : v[k][entry] / v[last][entry];
      for (int e = 0; e < r->count; e++) v[k][e] -= factor * v[last][e];
    }
  }
}

void tesi_rigid_tell(const TesiRigid *r, int loose, const double *vector, size_t size, char *text) {
  double v[TESI_RIGID_MOST][TESI_RIGID_MOST] = {{0}}, t[3], w[3];
  int slides;
  size_t used = 0;
  snprintf(text, size, "%s", loose == r->count ? "it is held nowhere" : "");
  if (loose == r->count) return;
  for (int k = 0; k < loose; k++) memcpy(v[k], vector + k * r->count, (size_t)r->count * sizeof(double));
  separate(r, loose, v, &slides);
  for (int k = 0; k < loose && used + 1 < size; k++) {
    take_apart(r, v[k], t, w);
    for (int s = 0; s < slides && k >= slides; s++)
      subtract(3, (double[]){v[s][0], v[s][1], r->dim == 3 ? v[s][2] : 0}, t);
    char one[160];
    if (k < slides)
      tell_slide(r->dim, t, sizeof one, one);
    else
      tell_turn(r, t, w, sizeof one, one);
    used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "; " : "", one);
  }
}
