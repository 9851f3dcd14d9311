/* The kinds of the ends of the cells. Neighbours are found by the vertices of their common face. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "basis/lagrange.h"
#include "base/team.h"
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"
#include "smoother/cell_patch/cell_patch.h"

/* cell: of this rank, or from m->cells on of other ranks. */
typedef struct Face {
  uint64_t key;
  int32_t cell;
  int8_t face;
  bool fine; /* it hangs on a coarser cell */
} Face;

/* The data that other ranks get about a face that they may share. */
typedef struct Told {
  uint64_t key;
  double thickness; /* of the cell, in the direction across the face */
  bool fine;
} Told;

static int by_key(const void *a, const void *b) {
  const Face *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->cell > y->cell) - (x->cell < y->cell);
}

/* The fine side of a hanging face. */
static bool hangs(const TesiMapped *m, int64_t cell, int face) {
  const unsigned mask = m->mask ? m->mask[cell] : 0;
  return (mask >> (3 + face / 2) & 1) && (int)(mask >> (face / 2) & 1) == (face & 1);
}

/* The number of the node that the index has at vertex v; on hanging lines it is a node of the coarse side. */
static uint64_t index_key(const TesiMapped *m, const double *number, int64_t cell, int v) {
  const int n = m->n, step[3] = {1, n, n * n};
  int at = 0;
  for (int d = 0; d < m->dim; d++) at += (v >> d & 1) * (n - 1) * step[d];
  const int32_t node = tesi_cells_node(m->index[cell * m->cell_nodes + at]);
  return tesi_random_hash(number ? (uint64_t)number[node] : (uint64_t)node);
}

/* The number of a vertex, the same in all cells. If it halves an edge or a face of the coarse side, the number comes
 * from the corners of that edge or face. */
uint64_t tesi_cell_patch_vertex_key(const TesiMapped *m, const double *number, int64_t cell, int v) {
  const int last = m->n - 1, i[3] = {(v & 1) * last, (v >> 1 & 1) * last, (v >> 2 & 1) * last};
  if (!tesi_mapped_hangs(m, cell)) return 4 * index_key(m, number, cell, v);
  const unsigned halved =
      tesi_hanging_directions(m->dim, m->n, m->mask[cell], i) & ((unsigned)v ^ m->mask[cell]);
  uint64_t sum = 0;
  for (unsigned t = 0; t < 4;
       t++) { /* a corner is repeated twice, or four times, if fewer directions are halved */
    unsigned corner = (unsigned)v, bit = 0;
    for (int d = 0; d < 3; d++)
      if (halved >> d & 1) corner ^= (t >> bit++ & 1) << d;
    sum += index_key(m, number, cell, (int)corner);
  }
  return sum;
}

/* Both sides of a hanging face have the key of the coarse face. */
static Face face_of(const TesiMapped *m, const double *number, int64_t cell, int face) {
  Face f = {.cell = (int32_t)cell, .face = (int8_t)face, .fine = hangs(m, cell, face)};
  for (int v = 0; v < 1 << m->dim; v++)
    if ((v >> (face / 2) & 1) == (face & 1))
      f.key += tesi_random_hash(f.fine ? 4 * index_key(m, number, cell, v)
                                       : tesi_cell_patch_vertex_key(m, number, cell, v));
  return f;
}

/* All nodes of the face are constrained. */
static bool constrained(const TesiMapped *m, int64_t cell, int face) {
  const int n = m->n, step = face < 2 ? 1 : face < 4 ? n : n * n;
  for (int at = 0; at < (int)m->cell_nodes; at++)
    if (at / step % n == (face & 1) * (n - 1) && m->index[cell * m->cell_nodes + at] >= 0) return false;
  return true;
}

/* Lengths of the middle lines of a cell; B, G: tesi_geometry_tables() of the point 0.5. */
static void thickness(const TesiGeometry *g, int64_t cell, const double *B, const double *G, double h[3]) {
  double x[3], J[9];
  tesi_geometry_tensor(g, cell, 1, 1, B, G, x, J);
  for (int d = 0; d < g->dim; d++) {
    double sum = 0;
    for (int r = 0; r < g->dim; r++) sum += J[r * g->dim + d] * J[r * g->dim + d];
    h[d] = sqrt(sum);
  }
}

/* The other side of face f, among the faces first .. end - 1 with the same key. */
static uint8_t end_of(const TesiCellPatches *p, const Face *f, const Face *first, const Face *end,
                      double (*const h)[3]) {
  const TesiMapped *m = p->m;
  const Face *other = NULL;
  if (f->fine || constrained(m, f->cell, f->face)) return TESI_END_GONE;
  for (const Face *o = first; o < end; o++)
    if (o != f && (!other || o->fine)) other = o;
  if (!other) return TESI_END_FREE;
  if (p->across && !other->fine && other->cell < m->cells)
    p->across[f->cell][f->face / 2][f->face & 1] = (TesiAcross){other->cell, other->face};
  const double ratio = h[other->cell][other->face / 2] / h[f->cell][f->face / 2];
  return (uint8_t)(TESI_END_MIDDLE + (int)lrint(fmin(fmax(2 * log2(ratio), -6), 6)));
}

enum { BUCKETS = 1024 };

static int bucket_of(const Face *f) {
  return (int)(f->key >> 54);
}

/* to[count] <- the faces sorted by bucket: bucket b has start[b] .. start[b + 1] - 1; start[BUCKETS + 1] is zero at
 * entry. */
static void distribute(const Face *faces, int64_t count, int64_t *start, Face *to) {
  int64_t next[BUCKETS];
  for (int64_t i = 0; i < count; i++) start[bucket_of(&faces[i]) + 1]++;
  for (int b = 0; b < BUCKETS; b++) {
    start[b + 1] += start[b];
    next[b] = start[b];
  }
  for (int64_t i = 0; i < count; i++) to[next[bucket_of(&faces[i])]++] = faces[i];
}

/* Computes the ends at the faces of a bucket, after sorting the bucket. */
static void find_ends(const TesiCellPatches *p, Face *face, int64_t count, double (*const h)[3]) {
  qsort(face, (size_t)count, sizeof *face, by_key);
  for (int64_t i = 0, j; i < count; i = j) {
    for (j = i + 1; j < count && face[j].key == face[i].key;) j++;
    for (int64_t k = i; k < j; k++)
      if (face[k].cell < p->m->cells)
        p->end[face[k].cell][face[k].face / 2][face[k].face & 1] = end_of(p, &face[k], face + i, face + j, h);
  }
}

/* The faces of all cells, in the order of the cells, then by bucket. */
typedef struct Faces {
  const TesiCellPatches *p;
  double B[TESI_GEOMETRY_DEGREE + 1], G[TESI_GEOMETRY_DEGREE + 1];
  int64_t start[BUCKETS + 1];
  const double *number; /* numbers of nodes over all ranks; NULL: one rank */
  Face *face, *sorted;
  double (*h)[3];
} Faces;

static void list_faces(const void *data, TesiSpan span) {
  const Faces *s = data;
  const TesiMapped *m = s->p->m;
  const int faces = 2 * m->dim;
  for (int64_t c = span.first; c < span.end; c++) {
    thickness(m->geometry, c, s->B, s->G, s->h[c]);
    for (int f = 0; f < faces; f++) s->face[c * faces + f] = face_of(m, s->number, c, f);
  }
}

static void sort_buckets(const void *data, TesiSpan span) {
  const Faces *s = data;
  for (int64_t b = span.first; b < span.end; b++)
    find_ends(s->p, s->sorted + s->start[b], s->start[b + 1] - s->start[b], s->h);
}

/* *told <- the faces whose vertices are all shared with other ranks. */
static TesStatus tell_faces(const Faces *s, const TesiLayout *layout, int64_t *count, Told **told) {
  TesContext *ctx = layout->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = s->p->m;
  const int faces = 2 * m->dim, n = m->n, step[3] = {1, n, n * n};
  const int32_t *entry = NULL;
  const int64_t entries = tesi_exchange_entries(layout->shared, &entry);
  bool *shared = NULL;
  *count = 0;
  TES_ALLOC(&shared, layout->length);
  TES_ALLOC(told, m->cells * faces);
  for (int64_t i = 0; i < entries; i++) shared[entry[i]] = true;
  for (int64_t c = 0; c < m->cells; c++)
    for (int f = 0; f < faces; f++) {
      const Face *face = &s->face[c * faces + f];
      bool all = true;
      for (int v = 0; v < 1 << m->dim; v++) {
        int at = 0;
        for (int d = 0; d < m->dim; d++) at += (v >> d & 1) * (n - 1) * step[d];
        if ((v >> (f / 2) & 1) == (f & 1))
          all = all && shared[tesi_cells_node(m->index[c * m->cell_nodes + at])];
      }
      if (all) (*told)[(*count)++] = (Told){face->key, s->h[c][f / 2], face->fine};
    }
done:
  tesi_free(ctx, &shared);
  return status;
}

/* Appends the faces of other ranks to the faces of this rank's cells; *count <- the number of both. */
static TesStatus add_others(Faces *s, const TesiLayout *layout, int64_t *count) {
  TesContext *ctx = layout->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = s->p->m;
  Told *told = NULL, *others = NULL;
  Face *face = NULL;
  double(*h)[3] = NULL;
  int64_t here, there;
  TES_TRY(tell_faces(s, layout, &here, &told));
  TES_TRY(tesi_exchange_records(ctx, layout->shared, here, sizeof *told, told, &there, &others));
  TES_ALLOC(&face, *count + there);
  TES_ALLOC(&h, m->cells + there);
  memcpy(face, s->face, (size_t)*count * sizeof *face);
  memcpy(h, s->h, (size_t)m->cells * sizeof *h);
  for (int64_t i = 0; i < there; i++) {
    face[*count + i] = (Face){others[i].key, (int32_t)(m->cells + i), 0, others[i].fine};
    h[m->cells + i][0] = others[i].thickness;
  }
  tesi_free(ctx, &s->face);
  tesi_free(ctx, &s->h);
  s->face = face, s->h = h;
  *count += there;
done:
  tesi_free(ctx, &told);
  tesi_free(ctx, &others);
  if (status != TES_OK) tesi_free(ctx, &face);
  if (status != TES_OK) tesi_free(ctx, &h);
  return status;
}

TesStatus tesi_cell_patches_find_ends(TesiCellPatches *p, const TesiLayout *layout) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  int64_t count = 2 * m->dim * m->cells;
  const int threads = tesi_team_threads(ctx, 32 * count);
  const double middle = 0.5;
  const bool alone = !layout || tesi_ranks(ctx) == 1;
  double *number = NULL;
  Faces s = {.p = p};
  if (p->across) memset(p->across, -1, (size_t)m->cells * sizeof *p->across);
  TES_ALLOC(&s.face, count);
  TES_ALLOC(&s.h, m->cells);
  if (!alone) TES_TRY(tesi_layout_numbers(layout, &number));
  s.number = number;
  tesi_geometry_tables(m->geometry, 1, &middle, s.B, s.G);
  tesi_team_for(threads, m->cells, list_faces, &s);
  if (!alone) TES_TRY(add_others(&s, layout, &count));
  TES_ALLOC(&s.sorted, count);
  distribute(s.face, count, s.start, s.sorted);
  tesi_team_share(threads, BUCKETS, 8, sort_buckets, &s);
done:
  tesi_free(ctx, &number);
  tesi_free(ctx, &s.face);
  tesi_free(ctx, &s.sorted);
  tesi_free(ctx, &s.h);
  return status;
}

void tesi_cell_patch_matrices(int n, const uint8_t end[2], double *K, double *M) {
  tesi_cell_matrices(n - 1, M, K);
  tesi_cell_patch_add_ends(n, end, K, M);
}

void tesi_cell_patch_add_ends(int n, const uint8_t end[2], double *K, double *M) {
  const double k = K[0], m = M[0];
  for (int s = 0; s < 2; s++) {
    const int at = s * (n * n - 1);
    if (end[s] < TESI_END_RATIO) continue;
    const double ratio = exp2((end[s] - TESI_END_MIDDLE) / 2.0);
    K[at] += k / ratio, M[at] += m * ratio;
  }
}

bool tesi_cell_patch_has(const TesiMapped *m, int64_t cell, int64_t at) {
  const int n = m->n, i[3] = {(int)(at % n), (int)(at / n % n), (int)(at / n / n)};
  if (m->index[cell * m->cell_nodes + at] < 0) return false;
  return !m->mask || !tesi_hanging_directions(m->dim, n, m->mask[cell], i);
}
