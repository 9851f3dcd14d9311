/* Transfers cell by cell: families, who writes a node, tables, chunks; the loops are in transfer_cells_body.h. */
#include "transfer/cells/transfer_cells.h"
#include <string.h>
#include "base/real.h"
#include "base/simd_builds.h"
#include "base/work.h"
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "device/kernel.h"
#include "space/space.h"

enum { CELLS_A_CHUNK = 64, ROOM = 16 }; /* numbers of the widest vector */

/* Both directions: from a vector of one space to one of the other. */
typedef struct Job {
  const TesiCellsTransfer *t;
  const void *from;
  void *to;
} Job;

static void prolongate_chunks(const void *data, TesiSpan span) {
  const Job *job = data;
  const TesiCellsTransfer *t = job->t;
  for (int64_t k = span.first; k < span.end; k++) {
    const int64_t c = k * CELLS_A_CHUNK, end = c + CELLS_A_CHUNK < t->cells ? c + CELLS_A_CHUNK : t->cells;
    t->prolongate(t, c, end, job->from, job->to);
  }
}

/* What another rank writes comes from there. */
static void clear_others(const TesiCellsTransfer *t, TesPrecision precision, void *fine) {
  for (int64_t i = 0; i < t->others_count; i++) tesi_number_set(precision, fine, t->others[i], 0);
}

static TesStatus prolongate(const TesTransfer *transfer, const void *coarse, bool add, void *fine) {
  const TesiCellsTransfer *t = transfer->plan;
  if (!add) memset(fine, 0, (size_t)transfer->fine_length * tesi_precision_size(transfer->precision));
  if (add) clear_others(t, transfer->precision, fine);
  tesi_team_for(t->threads, (t->cells + CELLS_A_CHUNK - 1) / CELLS_A_CHUNK, prolongate_chunks,
                &(Job){t, coarse, fine});
  tesi_exchange_sum(t->shared, transfer->precision, fine);
  return TES_OK;
}

static void restrict_chunk(const void *data, TesiSpan chunk) {
  const Job *job = data;
  const TesiCellsTransfer *t = job->t;
  t->restrict_(t, t->chunk[chunk.first].first, t->chunk[chunk.first].end, job->from, job->to);
}

static TesStatus restrict_(const TesTransfer *transfer, const void *fine, void *coarse) {
  const TesiCellsTransfer *t = transfer->plan;
  memset(coarse, 0, (size_t)transfer->coarse_length * tesi_precision_size(transfer->precision));
  tesi_sequence_run(t->sequence, t->threads, restrict_chunk, &(Job){t, fine, coarse});
  tesi_exchange_sum(transfer->coarse->layout->sum, transfer->precision, coarse);
  return TES_OK;
}

static void destroy(TesTransfer *transfer) {
  TesContext *ctx = transfer->context;
  TesiCellsTransfer *t = transfer->plan;
  if (!t) return;
  for (int i = 0; i < 2; i++) tesi_free(ctx, &t->E[i]), tesi_free(ctx, &t->T[i]);
  for (int i = 0; i < 2; i++) tesi_free(ctx, &t->half[i]), tesi_free(ctx, &t->half_transposed[i]);
  tesi_free(ctx, &t->family);
  tesi_free(ctx, &t->own);
  tesi_free(ctx, &t->others);
  tesi_free(ctx, &t->chunk);
  tesi_sequence_destroy(ctx, &t->sequence);
  tesi_cells_kernels_destroy(ctx, &t->kernels);
  tesi_cells_destroy(&t->coarse);
  tesi_cells_destroy(&t->fine);
  tesi_free(ctx, &transfer->plan);
}

static const TesiTransferTable table = {.prolongate = prolongate,
                                        .restrict_ = restrict_,
                                        .destroy = destroy,
                                        .prolongate_ref = tesi_cells_prolongate_ref,
                                        .restrict_ref = tesi_cells_restrict_ref};

static const TesiTransferTable table_of_kernels = {.prolongate = tesi_cells_kernels_prolongate,
                                                   .restrict_ = tesi_cells_kernels_restrict,
                                                   .expect = tesi_cells_kernels_expect,
                                                   .prolongate_all = tesi_cells_kernels_prolongate_all,
                                                   .restrict_all = tesi_cells_kernels_restrict_all,
                                                   .destroy = destroy,
                                                   .prolongate_ref = tesi_cells_prolongate_ref,
                                                   .restrict_ref = tesi_cells_restrict_ref};

static TesStatus find_families(TesContext *ctx, TesiCellsTransfer *t) {
  TesStatus status = TES_OK;
  const TesMesh *coarse = t->coarse->mesh, *fine = t->fine->mesh;
  TesRelation *relation = NULL;
  TES_ALLOC(&t->family, t->cells);
  if (coarse == fine) {
    for (int64_t c = 0; c < t->cells; c++) t->family[c] = (TesiCellsFamily){(int32_t)c, false};
    return TES_OK;
  }
  TES_ALLOC(&relation, t->fine_cells);
  TES_TRY(tes_mesh_relate(coarse, fine, relation));
  for (int64_t c = 0; c < t->fine_cells; c++) {
    const TesRelation *r = &relation[c];
    TES_CHECK(r->kinship != TES_KIN_PARENT, "fine cell %lld is coarser than those of the coarse forest",
              (long long)c);
    if (r->child == 0) t->family[r->from] = (TesiCellsFamily){(int32_t)c, r->kinship == TES_KIN_CHILD};
  }
done:
  tesi_free(ctx, &relation);
  return status;
}

/* Whether node p of a cell with this mask is interpolated. */
static bool hangs(int dim, int n, unsigned mask, int64_t p) {
  return mask >> 3 && tesi_hanging_directions(
                          dim, n, mask, (const int[3]){(int)(p % n), (int)(p / n % n), (int)(p / n / n)});
}

/* Corners, edges, faces and the inside of a cell, whose nodes have the same fate: 3^dim at most. */
typedef struct Entities {
  TesiCellsTransfer *t;
  int count;
  int64_t first[27]; /* its first node in a cell */
  int32_t *name; /* [fine cells][count] least number of a node, whatever way cells are turned; -1: not writable */
} Entities;

static void name_entities(TesiCellsTransfer *t, Entities *e) {
  int at[27];
  memset(at, -1, sizeof at);
  for (int64_t p = 0; p < t->fine_nodes; p++) {
    int64_t rest = p;
    int name = 0;
    for (int d = 0, power = 1; d < t->dim; d++, power *= 3, rest /= t->n)
      name += power * (rest % t->n == 0 ? 0 : rest % t->n == t->n - 1 ? 2 : 1);
    if (at[name] < 0) e->first[e->count] = p, at[name] = e->count++;
    t->entity[p] = (unsigned char)at[name];
  }
}

static void find_names(const void *data, TesiSpan span) {
  const Entities *e = data;
  const TesiCellsTransfer *t = e->t;
  for (int64_t c = span.first; c < span.end; c++) {
    const int32_t *index = t->fine->index + c * t->fine_nodes;
    int32_t *const least = e->name + c * e->count;
    for (int k = 0; k < e->count; k++) least[k] = INT32_MAX;
    for (int64_t p = 0; p < t->fine_nodes; p++) {
      int32_t *const of = &least[t->entity[p]];
      *of = index[p] < *of ? index[p] : *of;
    }
    for (int k = 0; k < e->count; k++)
      if (hangs(t->dim, t->n, t->fine->mask[c], e->first[k])) least[k] = -1;
  }
}

/* Several ranks can write a shared node; the rank of the smallest number does. seen: the nodes that this rank can
 * write; it is overwritten. */
static TesStatus share_owners(TesContext *ctx, TesiCellsTransfer *t, const Entities *e, char *seen) {
  TesStatus status = TES_OK;
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  const int32_t *entry = NULL;
  double *claim = NULL;
  t->shared = t->fine->layout->sum;
  if (!t->shared) return TES_OK;
  const double own = communicator->size - communicator->rank;
  TES_ALLOC(&claim, t->fine->length);
  for (int64_t i = 0; i < t->fine->length; i++) claim[i] = seen[i] ? own : 0;
  tesi_exchange_begin(t->shared, TES_DOUBLE, claim);
  tesi_exchange_end(t->shared, TESI_MAXIMUM, TES_DOUBLE, claim);
  for (int64_t c = 0; c < t->fine_cells; c++)
    for (int k = 0; k < e->count; k++) {
      const int32_t i = e->name[c * e->count + k];
      if (i >= 0 && claim[i] > own) t->own[c] &= ~((uint32_t)1 << k);
    }
  memset(seen, 0, (size_t)t->fine->length);
  for (int64_t c = 0; c < t->fine_cells; c++)
    for (int64_t p = 0; p < t->fine_nodes; p++)
      if (tesi_cells_own(t, c, p) >= 0) seen[tesi_cells_own(t, c, p)] = 1;
  const int64_t entries = tesi_exchange_entries(t->shared, &entry);
  TES_ALLOC(&t->others, entries);
  for (int64_t i = 0; i < entries; i++)
    if (!seen[entry[i]]) t->others[t->others_count++] = entry[i];
done:
  tesi_free(ctx, &claim);
  return status;
}

typedef struct Owners {
  const Entities *e;
  uint32_t *own;
  _Atomic int32_t *first; /* [nodes] cells - the first cell that can write it; 0: none, or it is written */
  char *seen;
} Owners;

static void find_first(const void *data, TesiSpan span) {
  const Owners *o = data;
  const Entities *e = o->e;
  for (int64_t c = span.first; c < span.end; c++) {
    const int32_t value = (int32_t)(e->t->fine_cells - c);
    for (int k = 0; k < e->count; k++) {
      const int32_t i = e->name[c * e->count + k];
      if (i < 0) continue;
      int32_t now = atomic_load_explicit(&o->first[i], memory_order_relaxed);
      while (now < value && !atomic_compare_exchange_weak_explicit(
                                &o->first[i], &now, value, memory_order_relaxed, memory_order_relaxed)) {
      }
    }
  }
}

/* A node that a cell has twice is written once. */
static void take_first(const void *data, TesiSpan span) {
  const Owners *o = data;
  const Entities *e = o->e;
  for (int64_t c = span.first; c < span.end; c++)
    for (int k = 0; k < e->count; k++) {
      const int32_t i = e->name[c * e->count + k];
      if (i < 0 || o->first[i] != (int32_t)(e->t->fine_cells - c)) continue;
      o->first[i] = 0;
      o->seen[i] = 1;
      o->own[c] |= (uint32_t)1 << k;
    }
}

/* The first cell in which a node does not hang writes it. */
static TesStatus find_owners(TesContext *ctx, TesiCellsTransfer *t) {
  TesStatus status = TES_OK;
  Entities e = {.t = t};
  Owners o = {.e = &e};
  name_entities(t, &e);
  TES_ALLOC(&t->own, t->fine_cells);
  TES_ALLOC(&e.name, t->fine_cells * e.count);
  TES_ALLOC(&o.seen, t->fine->length);
  TES_ALLOC(&o.first, t->fine->length);
  o.own = t->own;
  TES_TRY(tesi_work_for(ctx, t->threads, t->fine_cells, find_names, &e));
  TES_TRY(tesi_work_for(ctx, t->threads, t->fine_cells, find_first, &o));
  TES_TRY(tesi_work_for(ctx, t->threads, t->fine_cells, take_first, &o));
  TES_TRY(share_owners(ctx, t, &e, o.seen));
done:
  tesi_free(ctx, &o.seen);
  tesi_free(ctx, &o.first);
  tesi_free(ctx, &e.name);
  return status;
}

/* A table and its transpose, in the transfer's precision. */
static TesStatus store(const TesTransfer *transfer, int rows, int columns, const double *E, void **plain,
                       void **transposed) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const size_t count = (size_t)rows * (size_t)columns + ROOM;
  TES_TRY(tesi_alloc(ctx, count, tesi_precision_size(transfer->precision), plain));
  TES_TRY(tesi_alloc(ctx, count, tesi_precision_size(transfer->precision), transposed));
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++) {
      tesi_number_set(transfer->precision, *plain, r * columns + c, E[r * columns + c]);
      tesi_number_set(transfer->precision, *transposed, c * rows + r, E[r * columns + c]);
    }
done:
  return status;
}

static TesStatus make_tables(const TesTransfer *transfer, TesiCellsTransfer *t) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  double coarse[TESI_FOREST_NODES], fine[TESI_FOREST_NODES], points[2 * TESI_FOREST_NODES],
      E[2 * TESI_FOREST_NODES * TESI_FOREST_NODES];
  tesi_gauss_lobatto(t->m, coarse, NULL);
  tesi_gauss_lobatto(t->n, fine, NULL);
  for (int refined = 0; refined < 2; refined++) {
    const int rows = refined ? 2 * t->n : t->n;
    for (int p = 0; p < rows; p++) points[p] = refined ? (fine[p % t->n] + p / t->n) / 2 : fine[p];
    tesi_lagrange(t->m, coarse, rows, points, E, NULL);
    TES_TRY(store(transfer, rows, t->m, E, &t->E[refined], &t->T[refined]));
  }
  for (int i = 0; i < 2; i++)
    TES_TRY(store(transfer, t->m, t->m, t->coarse->halves + i * t->m * t->m, &t->half[i],
                  &t->half_transposed[i]));
done:
  return status;
}

static void choose_build(const TesTransfer *transfer, TesiCellsTransfer *t) {
  const int bits = tes_context_simd_bits(transfer->context);
  const bool two = transfer->precision == TES_DOUBLE;
  t->prolongate = two ? TESI_SIMD_PICK(bits, tesi_cells_prolongate_double)
                      : TESI_SIMD_PICK(bits, tesi_cells_prolongate_float);
  t->restrict_ = two ? TESI_SIMD_PICK(bits, tesi_cells_restrict_double)
                     : TESI_SIMD_PICK(bits, tesi_cells_restrict_float);
}

static TesiCellsChunk chunk_of(const TesiCellsTransfer *t, int64_t k) {
  const int64_t end = (k + 1) * CELLS_A_CHUNK;
  return (TesiCellsChunk){k * CELLS_A_CHUNK, end < t->cells ? end : t->cells};
}

/* Coarse node i of those of a chunk's cells. */
static int64_t coarse_node(const void *data, int64_t chunk, int64_t i) {
  const TesiCellsTransfer *t = data;
  const TesiCellsChunk own = chunk_of(t, chunk);
  const int64_t at = own.first * t->coarse_nodes + i;
  if (at >= own.end * t->coarse_nodes) return -1;
  return tesi_cells_node(t->coarse->index[at]);
}

static TesStatus make_chunks(TesContext *ctx, TesiCellsTransfer *t) {
  TesStatus status = TES_OK;
  const int64_t chunks = (t->cells + CELLS_A_CHUNK - 1) / CELLS_A_CHUNK;
  int64_t *order = NULL;
  TES_ALLOC(&order, chunks);
  TES_ALLOC(&t->chunk, chunks);
  TES_TRY(
      tesi_sequence_create(ctx, t->threads, chunks, t->coarse->length, coarse_node, t, &t->sequence, order));
  for (int64_t k = 0; k < chunks; k++) t->chunk[k] = chunk_of(t, order[k]);
done:
  tesi_free(ctx, &order);
  return status;
}

static const char *refuses(const TesTransferDesc *desc) {
  const TesMesh *coarse = desc->coarse->mesh, *fine = desc->fine->mesh;
  if (coarse != fine && (coarse->kind != TES_MESH_FOREST || fine->kind != TES_MESH_FOREST))
    return "the meshes have to be one, or both forests";
  if (desc->fine->degree < desc->coarse->degree)
    return "the fine space has a lower degree than the coarse one";
  return desc->fine->degree > TESI_FOREST_DEGREE ? "the degree is above 8" : NULL;
}

static TesStatus take_cells(const TesSpace *space, TesiCellView **cells) {
  const TesiCellView *view;
  const TesStatus status = tesi_space_cells(space, &view);
  if (status == TES_OK) *cells = tesi_cells_retain(view);
  return status;
}

static TesStatus init(TesTransfer *transfer) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  TesiCellsTransfer *t;
  TES_NEW(&t);
  transfer->plan = t;
  transfer->table = tesi_has_kernels(ctx) ? &table_of_kernels : &table;
  TES_TRY(take_cells(transfer->coarse, &t->coarse));
  TES_TRY(take_cells(transfer->fine, &t->fine));
  t->dim = t->coarse->dim;
  t->m = t->coarse->n, t->n = t->fine->n;
  t->cells = t->coarse->cells;
  t->fine_cells = t->fine->cells;
  t->coarse_nodes = t->coarse->cell_nodes;
  t->fine_nodes = t->fine->cell_nodes;
  t->threads = t->cells > 4 * CELLS_A_CHUNK ? tes_context_threads(ctx) : 1; /* chunks for all */
  TES_TRY(find_families(ctx, t));
  TES_TRY(find_owners(ctx, t));
  TES_TRY(make_tables(transfer, t));
  choose_build(transfer, t);
  TES_TRY(tesi_has_kernels(ctx) ? tesi_cells_kernels_create(transfer, &t->kernels) : make_chunks(ctx, t));
done:
  return status;
}

const TesiTransferKind tesi_transfer_cells = {.name = "cells", .refuses = refuses, .init = init};
