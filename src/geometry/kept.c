/* Sets of points that a mesh keeps: a list, the newest first, which threads walk under one lock. */
#include "geometry/kept.h"
#include <string.h>

typedef struct TesiKept {
  int64_t n, count;
  double *x;    /* [n][dim] */
  TesiHit *hit; /* [count] */
  struct TesiKept *next;
} TesiKept;

void tesi_kept_destroy(TesContext *ctx, TesiKept **kept) {
  while (*kept) {
    TesiKept *k = *kept;
    *kept = k->next;
    tesi_free(ctx, &k->x);
    tesi_free(ctx, &k->hit);
    tesi_free(ctx, &k);
  }
}

/* Bits decide, so that hits of -0 are not those of 0. */
static const TesiKept *find(const TesMesh *mesh, int64_t n, const double *x) {
  const size_t bytes = (size_t)(n * mesh->dim) * sizeof *x;
  const TesiKept *k = mesh->kept;
  while (k && (k->n != n || memcmp(k->x, x, bytes))) k = k->next;
  return k;
}

static TesStatus copy(TesContext *ctx, const TesiKept *k, TesiHit **hit, int64_t *count) {
  TesStatus status = TES_OK;
  TES_ALLOC(hit, k->count);
  if (k->count) memcpy(*hit, k->hit, (size_t)k->count * sizeof **hit);
  *count = k->count;
done:
  return status;
}

TesStatus tesi_kept_find(const TesMesh *mesh, int64_t n, const double *x, TesiHit **hit, int64_t *count,
                         bool *found) {
  TesStatus status = TES_OK;
  *hit = NULL, *count = 0;
#pragma omp critical(tesi_kept)
  {
    const TesiKept *k = n ? find(mesh, n, x) : NULL;
    *found = k;
    if (k) status = copy(mesh->context, k, hit, count);
  }
  return status;
}

static void add(TesMesh *mesh, TesiKept **new) {
  TesiKept **end = &mesh->kept;
#pragma omp critical(tesi_kept)
  if (!find(mesh, (*new)->n, (*new)->x)) {
    (*new)->next = mesh->kept;
    mesh->kept = *new;
    *new = NULL;
    for (int i = 0; i < TESI_KEPT_SETS && *end; i++) end = &(*end)->next;
    tesi_kept_destroy(mesh->context, end);
  }
}

TesStatus tesi_kept_add(const TesMesh *mesh, int64_t n, const double *x, int64_t count, const TesiHit *hit) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesiKept *new = NULL;
  if (!n) return TES_OK;
  TES_NEW(&new);
  new->n = n, new->count = count;
  TES_ALLOC(&new->x, n * mesh->dim);
  TES_ALLOC(&new->hit, count);
  memcpy(new->x, x, (size_t)(n * mesh->dim) * sizeof *x);
  if (count) memcpy(new->hit, hit, (size_t)count * sizeof *hit);
  add((TesMesh *)mesh, &new);
done:
  if (new) tesi_kept_destroy(ctx, &new);
  return status;
}
