/* Values of expressions at points. On several ranks each has the cells of a point that it has: of continuous quantities
 * the lowest rank that has the point takes the value, of others all hits of all ranks make the mean. */
#include <math.h>
#include "functional/functional.h"
#include "geometry/kept.h"
#include "parallel/comm.h"

/* values[stride * point] <- the mean over the point's hits. */
static TesStatus at_hits(const TesiQuantity *q, int64_t count, const TesiHit *hit, int stride, double *values) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  const bool first_alone = tesi_quantity_is_continuous(q);
  for (int64_t i = 0, sides = 0; i < count; i++) {
    double x[3], J[9], value;
    const bool first = !i || hit[i - 1].point != hit[i].point;
    sides = first ? 1 : sides + 1;
    if (!first && first_alone) continue;
    TES_TRY(tesi_mesh_points(q->mesh, hit[i].cell, 1, hit[i].xi, x, J));
    tesi_quantity_at(q, hit[i].cell, 1, hit[i].xi, x, J, NULL, &value);
    if (!isfinite(value))
      TES_FAIL(TES_NAN, "%s is %g at (%.6g, %.6g, %.6g)", tes_function_text(q->function), value, x[0], x[1],
               q->dim == 3 ? x[2] : 0);
    double *to = &values[stride * hit[i].point];
    *to = first ? value : *to + (value - *to) / (double)sides;
  }
done:
  return status;
}

/* Of each point: how far it lies outside of the cells that have it, infinity: no rank has it; its hits here; the rank
 * that takes it alone. */
typedef struct Shared {
  double *moved, *hits, *owner; /* [n] */
} Shared;

/* Leaves the hits that no other rank has nearer; *owner is of those. */
static TesStatus share(TesContext *ctx, int64_t n, int64_t *count, TesiHit *hit, Shared *s) {
  TesStatus status = TES_OK;
  const int rank = tes_communicator_rank(tesi_context_communicator(ctx));
  int64_t kept = 0;
  TES_ALLOC(&s->moved, n);
  TES_ALLOC(&s->hits, n);
  TES_ALLOC(&s->owner, n);
  for (int64_t i = 0; i < n; i++) s->moved[i] = s->owner[i] = -INFINITY;
  for (int64_t i = *count - 1; i >= 0; i--) s->moved[hit[i].point] = -hit[i].moved;
  if (tesi_ranks(ctx) > 1) tesi_reduce(ctx, TESI_MAXIMUM, (int)n, s->moved);
  for (int64_t i = 0; i < n; i++) s->moved[i] = -s->moved[i];
  for (int64_t i = 0; i < *count; i++)
    if (hit[i].moved <= s->moved[hit[i].point]) hit[kept++] = hit[i];
  *count = kept;
  for (int64_t i = 0; i < kept; i++) s->hits[hit[i].point]++, s->owner[hit[i].point] = -rank;
  if (tesi_ranks(ctx) > 1) tesi_reduce(ctx, TESI_MAXIMUM, (int)n, s->owner);
  for (int64_t i = 0; i < n; i++) s->owner[i] = -s->owner[i];
done:
  return status;
}

/* values[stride * point]: what this rank has of a quantity -> that of all ranks. */
static TesStatus gather(const TesiQuantity *q, int64_t n, const Shared *s, int stride, double *values) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  const int rank = tes_communicator_rank(tesi_context_communicator(ctx));
  const bool alone = tesi_quantity_is_continuous(q);
  double *sum = NULL;
  if (tesi_ranks(ctx) == 1) return TES_OK;
  TES_ALLOC(&sum, 2 * n);
  for (int64_t i = 0; i < n; i++) {
    const bool takes = !(alone || s->moved[i] > 0) || s->owner[i] == rank;
    const double weight = takes ? s->hits[i] : 0;
    sum[2 * i] = weight > 0 ? weight * values[stride * i] : 0;
    sum[2 * i + 1] = weight;
  }
  tesi_reduce(ctx, TESI_SUM, (int)(2 * n), sum);
  for (int64_t i = 0; i < n; i++)
    if (sum[2 * i + 1] > 0) values[stride * i] = sum[2 * i] / sum[2 * i + 1];
done:
  tesi_free(ctx, &sum);
  return status;
}

static TesStatus check_hits(const TesMesh *mesh, int64_t n, const double *x, const double *moved) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int dim = mesh->dim;
  for (int64_t i = 0; i < n; i++)
    TES_CHECK(moved[i] < INFINITY, "the point (%g, %g, %g) lies in no cell", x[i * dim], x[i * dim + 1],
              dim == 3 ? x[i * dim + 2] : 0);
done:
  return status;
}

static void free_shared(TesContext *ctx, Shared *s) {
  tesi_free(ctx, &s->moved);
  tesi_free(ctx, &s->hits);
  tesi_free(ctx, &s->owner);
}

TesStatus tesi_point_hits(const TesMesh *mesh, const double *x, double reach, TesiHit **hit, int64_t *count,
                          int64_t *all) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  Shared shared = {NULL, NULL, NULL};
  TES_TRY(tesi_mesh_find(mesh, 1, x, reach, hit, count));
  TES_TRY(share(ctx, 1, count, *hit, &shared));
  TES_TRY(check_hits(mesh, 1, x, shared.moved));
  if (shared.moved[0] > 0 && shared.owner[0] != tes_communicator_rank(tesi_context_communicator(ctx)))
    *count = 0;
  *all = tesi_reduce_count(ctx, *count);
done:
  free_shared(ctx, &shared);
  return status;
}

TesStatus tesi_quantity_point(const TesiQuantity *q, const double *x, double *value) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  TesiHit *hit = NULL;
  int64_t count, all;
  TES_TRY(tesi_point_hits(q->mesh, x, 0, &hit, &count, &all));
  *value = 0;
  TES_TRY(tesi_agree(ctx, at_hits(q, count, hit, 1, value)));
  if (tesi_ranks(ctx) == 1) goto done;
  *value *= (double)count / (double)all;
  tesi_reduce(ctx, TESI_SUM, 1, value);
done:
  tesi_free(ctx, &hit);
  return status;
}

/* The points of a lattice in each cell of this rank, x fastest. */
static TesStatus lattice_hits(const TesMesh *mesh, int64_t n, TesiHit **hit) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int64_t cells = mesh->cells, each = cells ? n / cells : 0;
  const int64_t line = llround(pow((double)each, 1. / mesh->dim));
  TES_CHECK(each * cells == n && (mesh->dim == 3 ? line * line * line : line * line) == each &&
                (line > 1 || !n),
            "%lld points, expected %lld times (p)^%d with p > 1", (long long)n, (long long)cells, mesh->dim);
  TES_ALLOC(hit, n);
  for (int64_t i = 0; i < n; i++) {
    TesiHit *h = &(*hit)[i];
    h->point = i, h->cell = i / each;
    for (int64_t d = 0, at = i % each; d < mesh->dim; d++, at /= line)
      h->xi[d] = (double)(at % line) / (double)(line - 1);
  }
done:
  return status;
}

TesStatus tesi_fields_at(const TesMesh *mesh, int fields, const TesiField *field, int64_t n, const double *x,
                         int count, const char *const *of, double *values, double *moved, bool holes) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesiQuantity *q = NULL;
  TesiHit *hit = NULL;
  Shared shared = {NULL, NULL, NULL};
  int64_t hits;
  bool kept = false;
  TES_CHECK(n >= 0 && n <= INT32_MAX / 2 && count >= 0,
            "%d values at %lld points are asked for, expected none or more", count, (long long)n);
  if (!x) {
    hits = n;
    TES_TRY(tesi_agree(ctx, lattice_hits(mesh, n, &hit)));
  } else {
    if (moved) TES_TRY(tesi_kept_find(mesh, n, x, &hit, &hits, &kept));
    if (!kept) TES_TRY(tesi_mesh_find(mesh, n, x, moved ? 0.01 : 0, &hit, &hits));
    TES_TRY(share(ctx, n, &hits, hit, &shared));
    if (!holes) TES_TRY(check_hits(mesh, n, x, shared.moved));
    if (!count && moved && !kept) TES_TRY(tesi_kept_add(mesh, n, x, hits, hit));
  }
  for (int64_t i = 0; i < n * count && holes; i++) values[i] = NAN;
  for (int64_t i = 0; i < n && moved; i++)
    moved[i] = !x ? 0 : shared.moved[i] < INFINITY ? shared.moved[i] : NAN;
  for (int i = 0; i < count; i++) {
    TES_TRY(tesi_quantity_create(mesh, of[i] ? of[i] : field->name, false, fields, field, &q));
    TES_TRY(tesi_agree(ctx, at_hits(q, hits, hit, count, values + i)));
    if (x) TES_TRY(gather(q, n, &shared, count, values + i));
    tesi_quantity_destroy(&q);
  }
done:
  tesi_quantity_destroy(&q);
  free_shared(ctx, &shared);
  tesi_free(ctx, &hit);
  return status;
}
