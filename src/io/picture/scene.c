/* Cells, faces and cuts are divided evenly in reference coordinates, as finely as the picture can show, and evaluated
 * there. */
#include "io/picture/scene.h"
#include <math.h>
#include "functional/batch_faces.h"

enum { POINTS = TESI_QUANTITY_POINTS, MOST_2D = 23, MOST_3D = 7 };

/* A lattice of points of a cell or its face. */
typedef struct Lattice {
  double xi[3 * POINTS], x[3 * POINTS], J[9 * POINTS], value[POINTS];
  double drawn[3 * POINTS];  /* where x is drawn */
  double vector[3 * POINTS]; /* 0 if there are no arrows */
  TesiCorner corner[POINTS];
} Lattice;

/* The eye looks along -view; right and up are the axes of the picture. */
static const double right[3] = {0.8660254037844386, 0.5, 0},
                    up[3] = {-0.2113091308703499, 0.3659981507706667, 0.9063077870366499},
                    view[3] = {0.4531538935183250, -0.7848855672213958, 0.4226182617406994},
                    lamp[3] = {0.12, -0.68, 0.72};

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Pieces per direction: enough that none is longer than `detail`. detail 0: few, but enough to show the bend of
 * polynomials. */
static int pieces(const TesiScene *s, double length, int most) {
  int bends = 1;
  for (int i = 0; i < s->quantity->sources; i++)
    bends = tesi_max(bends, s->quantity->source[i].space->degree);
  if (s->detail <= 0) return tesi_min(most, bends > 1 ? 4 : 1);
  const double wanted = ceil(length / s->detail);
  return (int)fmin(fmax(wanted, 1), most);
}

/* Values at the points of the lattice, and the places where these are drawn. */
static void evaluate(const TesiScene *s, int64_t cell, int n, Lattice *l) {
  const int dim = s->mesh->dim;
  tesi_quantity_at(s->quantity, cell, n, l->xi, l->x, l->J, NULL, l->value);
  for (int i = 0; i < n * dim; i++) l->drawn[i] = l->x[i];
  for (int d = 0; d < dim && s->warp != 0; d++) {
    double moved[POINTS];
    tesi_quantity_at(s->displacement[d], cell, n, l->xi, l->x, l->J, NULL, moved);
    for (int p = 0; p < n; p++) l->drawn[p * dim + d] += s->warp * moved[p];
  }
  for (int d = 0; d < dim && s->vector[0]; d++) {
    double part[POINTS];
    tesi_quantity_at(s->vector[d], cell, n, l->xi, l->x, l->J, NULL, part);
    for (int p = 0; p < n; p++) l->vector[p * dim + d] = part[p];
  }
}

/* Point p in the plane of the directions e and f. */
static TesiCorner corner_in_plane(const Lattice *l, int dim, int p, int e, int f) {
  const double *at = l->drawn + dim * p, *v = l->vector + dim * p;
  return (TesiCorner){at[e], at[f], 0, l->value[p], 1, {v[e], v[f]}};
}

/* The longest edge of a cell. */
static TesStatus measure(const TesiScene *s, int64_t cell, Lattice *l, double *length) {
  const int dim = s->mesh->dim, corners = 1 << dim;
  for (int i = 0; i < corners * dim; i++) l->xi[i] = i / dim >> (i % dim) & 1;
  const TesStatus status = tesi_mesh_points(s->mesh, cell, corners, l->xi, l->x, NULL);
  *length = 0;
  for (int v = 0; v < corners && status == TES_OK; v++)
    for (int d = 0; d < dim; d++) {
      double sum = 0;
      for (int r = 0; r < dim; r++) sum += pow(l->x[v * dim + r] - l->x[(v ^ 1 << d) * dim + r], 2);
      *length = fmax(*length, sqrt(sum));
    }
  return status;
}

static void send(const TesiSceneSink *sink, const TesiCorner *a, const TesiCorner *b, const TesiCorner *c) {
  sink->triangle(sink->user, (const TesiCorner[3]){*a, *b, *c});
}

/* The (m + 1)^2 corners of a lattice as triangles, and its outline. */
static void send_lattice(const TesiScene *s, const TesiSceneSink *sink, int m, const TesiCorner *c) {
  const int n = m + 1;
  for (int j = 0; j < m; j++)
    for (int i = 0; i < m; i++) {
      const TesiCorner *p = c + j * n + i;
      send(sink, p, p + 1, p + n + 1);
      send(sink, p, p + n + 1, p + n);
    }
  for (int i = 0; i < m && s->edges; i++) {
    sink->line(sink->user, &c[i], &c[i + 1]);
    sink->line(sink->user, &c[m * n + i], &c[m * n + i + 1]);
    sink->line(sink->user, &c[i * n], &c[(i + 1) * n]);
    sink->line(sink->user, &c[i * n + m], &c[(i + 1) * n + m]);
  }
}

/* ---- in the plane -------------------------------------------------------------------------------------- */

static TesStatus draw_cell(const TesiScene *s, const TesiSceneSink *sink, int64_t cell, Lattice *l) {
  TesStatus status = TES_OK;
  double length = 0;
  status = measure(s, cell, l, &length);
  const int m = pieces(s, length, MOST_2D), n = (m + 1) * (m + 1);
  for (int p = 0; p < n; p++)
    l->xi[2 * p] = p % (m + 1) / (double)m, l->xi[2 * p + 1] = p / (m + 1) / (double)m;
  if (status == TES_OK) status = tesi_mesh_points(s->mesh, cell, n, l->xi, l->x, l->J);
  if (status != TES_OK) return status;
  evaluate(s, cell, n, l);
  for (int p = 0; p < n; p++) l->corner[p] = corner_in_plane(l, 2, p, 0, 1);
  send_lattice(s, sink, m, l->corner);
  return status;
}

/* ---- the surface in space ------------------------------------------------------------------------------ */

static TesStatus draw_face(const TesiScene *s, const TesiSceneSink *sink, int64_t cell, int face, Lattice *l) {
  double length = 0;
  TesStatus status = measure(s, cell, l, &length);
  const int m = pieces(s, length, MOST_2D), n = (m + 1) * (m + 1);
  for (int p = 0; p < n; p++) {
    const double t[2] = {p % (m + 1) / (double)m, p / (m + 1) / (double)m};
    for (int d = 0, e = 0; d < 3; d++) l->xi[3 * p + d] = d == face / 2 ? face & 1 : t[e++];
  }
  if (status == TES_OK) status = tesi_mesh_points(s->mesh, cell, n, l->xi, l->x, l->J);
  if (status != TES_OK) return status;
  evaluate(s, cell, n, l);
  for (int p = 0; p < n; p++) {
    const double *at = l->drawn + 3 * p, *v = l->vector + 3 * p;
    double normal[3];
    tesi_face_normal(3, l->J + 9 * p, face, normal);
    const double bright = dot(normal, lamp) / sqrt(dot(normal, normal));
    l->corner[p] = (TesiCorner){dot(at, right), dot(at, up),          dot(at, view),
                                l->value[p],    0.72 + 0.28 * bright, {dot(v, right), dot(v, up)}};
  }
  send_lattice(s, sink, m, l->corner);
  return status;
}

/* ---- a cut --------------------------------------------------------------------------------------------- */

/* The points where the plane cuts between two lattice points: corners in the two other directions. */
static TesiCorner cut_edge(const TesiScene *s, const Lattice *l, int a, int b) {
  const int d = s->slice - 1, e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  const double from = l->x[3 * a + d], t = (s->at - from) / (l->x[3 * b + d] - from);
  TesiCorner c = corner_in_plane(l, 3, a, e, f);
  const TesiCorner other = corner_in_plane(l, 3, b, e, f);
  c.x += t * (other.x - c.x), c.y += t * (other.y - c.y), c.value += t * (other.value - c.value);
  for (int k = 0; k < 2; k++) c.vector[k] += t * (other.vector[k] - c.vector[k]);
  return c;
}

/* The side of the plane; points on it count as above, so that neighbouring cells agree. */
static bool is_above(const TesiScene *s, const Lattice *l, int p) {
  return l->x[3 * p + s->slice - 1] >= s->at;
}

static void cut_tetrahedron(const TesiScene *s, const TesiSceneSink *sink, const Lattice *l, const int v[4]) {
  int above[4], below[4], n = 0, m = 0;
  for (int i = 0; i < 4; i++)
    if (is_above(s, l, v[i]))
      above[n++] = v[i];
    else
      below[m++] = v[i];
  if (n == 0 || m == 0) return;
  TesiCorner c[4];
  if (n == 2) {
    c[0] = cut_edge(s, l, above[0], below[0]), c[1] = cut_edge(s, l, above[0], below[1]);
    c[2] = cut_edge(s, l, above[1], below[1]), c[3] = cut_edge(s, l, above[1], below[0]);
    send(sink, &c[0], &c[1], &c[2]);
    send(sink, &c[0], &c[2], &c[3]);
    return;
  }
  const int *one = n == 1 ? above : below, *three = n == 1 ? below : above;
  for (int i = 0; i < 3; i++) c[i] = cut_edge(s, l, one[0], three[i]);
  send(sink, &c[0], &c[1], &c[2]);
}

static void cut_triangle(const TesiScene *s, const TesiSceneSink *sink, const Lattice *l, const int v[3]) {
  TesiCorner c[3];
  int n = 0;
  for (int i = 0; i < 3; i++)
    if (is_above(s, l, v[i]) != is_above(s, l, v[(i + 1) % 3])) c[n++] = cut_edge(s, l, v[i], v[(i + 1) % 3]);
  if (n == 2) sink->line(sink->user, &c[0], &c[1]);
}

/* The edges of the cell on the plane, found by cutting its six faces. */
static void cut_faces(const TesiScene *s, const TesiSceneSink *sink, const Lattice *l, int m) {
  const int step[3] = {1, m + 1, (m + 1) * (m + 1)};
  for (int face = 0; face < 6; face++) {
    const int d = face / 2, e = step[d == 0 ? 1 : 0], f = step[d == 2 ? 1 : 2];
    for (int k = 0; k < m * m; k++) {
      const int p = (face & 1 ? m * step[d] : 0) + k % m * e + k / m * f;
      cut_triangle(s, sink, l, (const int[3]){p, p + e, p + e + f});
      cut_triangle(s, sink, l, (const int[3]){p, p + e + f, p + f});
    }
  }
}

/* Points that are on the plane up to round-off count as on the plane, for all cells alike. */
static void snap(const TesiScene *s, double length, int n, Lattice *l) {
  for (int p = 0; p < n; p++) {
    double *x = &l->x[3 * p + s->slice - 1];
    if (fabs(*x - s->at) < 1e-9 * length) *x = s->at;
  }
}

/* A face in the plane, of a cell above it: it is drawn if no cell below has it too. */
static void send_face_in_plane(const TesiScene *s, const TesiSceneSink *sink, int64_t cell, int m, Lattice *l) {
  const int step[3] = {1, m + 1, (m + 1) * (m + 1)}, n = (m + 1) * (m + 1), normal = s->slice - 1;
  const int u = normal == 0 ? 1 : 0, v = normal == 2 ? 1 : 2;
  for (int face = 0; face < 6; face++) {
    const int d = face / 2, e = step[d == 0 ? 1 : 0], f = step[d == 2 ? 1 : 2];
    bool inside = tesi_mesh_on_hull(s->mesh, cell, face, NULL);
    for (int k = 0; k < n && inside; k++) {
      const int p = (face & 1 ? m * step[d] : 0) + k % (m + 1) * e + k / (m + 1) * f;
      inside = l->x[3 * p + normal] == s->at;
      l->corner[k] = corner_in_plane(l, 3, p, u, v);
    }
    if (inside) send_lattice(s, sink, m, l->corner);
  }
}

static TesStatus cut_cell(const TesiScene *s, const TesiSceneSink *sink, int64_t cell, Lattice *l) {
  static const int paths[6][2] = {{1, 3}, {1, 5}, {2, 3},
                                  {2, 6}, {4, 5}, {4, 6}}; /* corners between 0 and 7, by bits */
  double length = 0;
  TesStatus status = measure(s, cell, l, &length);
  const int m = pieces(s, length, MOST_3D), q = m + 1, n = q * q * q;
  const int step[3] = {1, q, q * q};
  int above = 0, on = 0;
  for (int p = 0; p < n; p++)
    for (int d = 0; d < 3; d++) l->xi[3 * p + d] = (const int[3]){p % q, p / q % q, p / q / q}[d] / (double)m;
  if (status == TES_OK) status = tesi_mesh_points(s->mesh, cell, n, l->xi, l->x, l->J);
  if (status != TES_OK) return status;
  snap(s, length, n, l);
  for (int p = 0; p < n; p++) {
    above += is_above(s, l, p);
    on += l->x[3 * p + s->slice - 1] == s->at;
  }
  if (above == 0 || (above == n && on < q * q)) return status;
  evaluate(s, cell, n, l);
  if (above == n) {
    send_face_in_plane(s, sink, cell, m, l);
    return status;
  }
  for (int p = 0; p < m * m * m; p++) {
    const int base = p % m + p / m % m * step[1] + p / m / m * step[2];
    int corner[8];
    for (int v = 0; v < 8; v++)
      corner[v] = base + (v & 1) * step[0] + (v >> 1 & 1) * step[1] + (v >> 2) * step[2];
    for (int i = 0; i < 6; i++)
      cut_tetrahedron(s, sink, l,
                      (const int[4]){corner[0], corner[paths[i][0]], corner[paths[i][1]], corner[7]});
  }
  if (s->edges) cut_faces(s, sink, l, m);
  return status;
}

/* -------------------------------------------------------------------------------------------------------- */

TesStatus tesi_scene_draw(const TesiScene *scene, const TesiSceneSink *sink) {
  TesContext *ctx = scene->mesh->context;
  TesStatus status = TES_OK;
  Lattice *l = NULL;
  TES_NEW(&l);
  for (int64_t cell = 0; cell < scene->mesh->cells; cell++) {
    if (scene->mesh->dim == 2)
      TES_TRY(draw_cell(scene, sink, cell, l));
    else if (scene->slice)
      TES_TRY(cut_cell(scene, sink, cell, l));
    else
      for (int face = 0; face < 6; face++)
        if (tesi_mesh_on_hull(scene->mesh, cell, face, NULL)) TES_TRY(draw_face(scene, sink, cell, face, l));
  }
done:
  tesi_free(ctx, &l);
  return status;
}
