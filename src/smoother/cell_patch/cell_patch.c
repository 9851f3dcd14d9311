/* Set-up of cell patches: see cell_patch.h. */
#include "smoother/cell_patch/cell_patch.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/integer.h"
#include "base/simd_builds.h"
#include "base/team.h"
#include "basis/eigen.h"
#include "device/copies.h"
#include "device/kernel.h"
#include "operator/mapped/mapped_robin.h"
#include "smoother/line_patch/line_patch.h"
#include "smoother/spectrum.h"

enum { MOST = TESI_CELL_PATCH_NODES, WINDOW = 512 };

TesStatus tesi_cell_patch_basis(TesContext *ctx, int n, const uint8_t end[2], double *S, double *lambda) {
  TesStatus status = TES_OK;
  double M[MOST * MOST], K[MOST * MOST], own[MOST * MOST];
  const int first = end[0] == TESI_END_GONE, size = n - first - (end[1] == TESI_END_GONE);
  for (int i = 0; i < n; i++) lambda[i] = 1;
  if (size == 0) return TES_OK;
  tesi_cell_patch_matrices(n, end, K, M);
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) { /* in place: an entry is never written before it is read */
      K[i * size + j] = K[(i + first) * n + j + first];
      M[i * size + j] = M[(i + first) * n + j + first];
    }
  TES_TRY(tesi_eigen(ctx, size, K, M, own, lambda));
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) S[(i + first) * n + j] = own[i * size + j];
done:
  return status;
}

static TesStatus make_classes(TesiCellPatches *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  const int n = m->n;
  memset(p->class_of, -1, sizeof p->class_of);
  for (int64_t c = 0; c < m->cells; c++)
    for (int d = 0; d < m->dim; d++) {
      int *k = &p->class_of[p->end[c][d][0]][p->end[c][d][1]];
      if (*k < 0) *k = p->classes++;
    }
  TES_ALLOC(&p->S, p->classes * n * n);
  TES_ALLOC(&p->lambda, p->classes * n);
  for (int a = 0; a < TESI_ENDS; a++)
    for (int b = 0; b < TESI_ENDS; b++) {
      const int k = p->class_of[a][b];
      const uint8_t end[2] = {(uint8_t)a, (uint8_t)b};
      if (k >= 0) TES_TRY(tesi_cell_patch_basis(ctx, n, end, p->S + k * n * n, p->lambda + k * n));
    }
done:
  return status;
}

/* Without a mass term, a cell with neither neighbour nor Dirichlet face has a singular matrix. */
static void keep_definite(const TesiCellPatches *p, int64_t c) {
  double *g = p->g[c];
  for (int d = 0; d < p->m->dim; d++)
    if (p->end[c][d][0] != TESI_END_FREE || p->end[c][d][1] != TESI_END_FREE) return;
  if (g[3] == 0) g[3] = g[0] + g[1] + g[2];
}

/* The arrays g[count][size] of cells from `first` on. */
typedef struct Means {
  const TesiCellPatches *p;
  int64_t first, size;
  const double *g;
} Means;

static void take_means(const void *data, TesiSpan span) {
  const Means *of = data;
  const TesiMapped *m = of->p->m;
  const int of_direction[3] = {0, m->dim == 2 ? 2 : 3, 5};
  for (int64_t c = span.first; c < span.end; c++) {
    double mean[7] = {0}, *factors = of->p->g[of->first + c];
    for (int64_t i = 0; i < of->size; i++) mean[i / m->cell_points] += of->g[c * of->size + i];
    for (int d = 0; m->stiffness && d < m->dim; d++) factors[d] = mean[of_direction[d]];
    if (m->mass) factors[3] = m->lambda * mean[m->factors - 1];
    keep_definite(of->p, of->first + c);
  }
}

static TesStatus make_factors(TesiCellPatches *p) {
  enum { NUMBERS = 1 << 20 }; /* at a time: 8 MiB */
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  const int64_t size = m->factors * m->cell_points;
  const int64_t block = tesi_min64(m->cells, NUMBERS / size + 1);
  const int threads = tesi_team_threads(ctx, m->cells * size);
  double *g = NULL;
  TES_ALLOC(&g, block * size);
  for (int64_t first = 0; first < m->cells; first += block) {
    const int64_t count = tesi_min64(block, m->cells - first);
    TES_TRY(tesi_mapped_fill_factors(m, first, count, g));
    tesi_team_for(threads, count, take_means, &(Means){p, first, size, g});
  }
done:
  tesi_free(ctx, &g);
  return status;
}

/* The diagonals of K and M of each class: of_class[classes][2][MOST]. */
static void class_diagonals(const TesiCellPatches *p, double (*of_class)[2][MOST]) {
  const int n = p->m->n;
  double K[MOST * MOST], M[MOST * MOST];
  for (int a = 0; a < TESI_ENDS; a++)
    for (int b = 0; b < TESI_ENDS; b++) {
      const int k = p->class_of[a][b];
      if (k < 0) continue;
      tesi_cell_patch_matrices(n, (const uint8_t[2]){(uint8_t)a, (uint8_t)b}, K, M);
      for (int i = 0; i < n; i++) of_class[k][0][i] = K[i * (n + 1)], of_class[k][1][i] = M[i * (n + 1)];
    }
}

/* d[n^dim] <- the diagonal of A_c. */
static void surrogate_diagonal(const TesiCellPatches *p, int64_t c, double (*const of_class)[2][MOST],
                               double *d) {
  const TesiMapped *m = p->m;
  const int n = m->n;
  double(*D[3])[MOST];
  for (int e = 0; e < m->dim; e++) D[e] = of_class[p->class_of[p->end[c][e][0]][p->end[c][e][1]]];
  for (int64_t at = 0; at < m->cell_nodes; at++) {
    const int i[3] = {(int)(at % n), (int)(at / n % n), (int)(at / n / n)};
    d[at] = 0;
    for (int t = 0; t <= m->dim; t++) {
      double product = p->g[c][t < m->dim ? t : 3];
      for (int e = 0; e < m->dim; e++) product *= D[e][e != t][i[e]];
      d[at] += product;
    }
  }
}

TesStatus tesi_patch_diagonals_create(TesContext *ctx, int64_t nodes, TesiPatchDiagonals *d) {
  TesStatus status = TES_OK;
  TES_ALLOC(&d->sum, nodes);
  TES_ALLOC(&d->inverse, nodes);
  TES_ALLOC(&d->count, nodes);
done:
  return status;
}

void tesi_patch_diagonals_free(TesContext *ctx, TesiPatchDiagonals *d) {
  tesi_free(ctx, &d->sum);
  tesi_free(ctx, &d->inverse);
  tesi_free(ctx, &d->count);
}

/* At a node of a stiff and a soft patch (a that jumps, a flat tetrahedron that was split) B A has the eigenvalue W^2
 * times stiff over soft. With the mean alone it is half of the jump: above 100 iterations with jumps of 1e4. With 2.5
 * times the harmonic mean 11 iterations are enough. Split tetrahedra and Kershaw's cells keep their counts with 2. */
static const double APART = 2.5;

TesStatus tesi_cell_patch_weights(TesiCellPatches *p, const TesOperator *op, const TesiPatchDiagonals *d) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  double *diagonal = NULL;
  TES_ALLOC(&diagonal, m->nodes);
  TES_TRY(tesi_diagonal_ref(op, diagonal));
  tesi_exchange_sum(p->sum, TES_DOUBLE, d->sum);
  tesi_exchange_sum(p->sum, TES_DOUBLE, d->inverse);
  tesi_exchange_sum(p->sum, TES_DOUBLE, d->count);
  for (int64_t i = 0; i < m->nodes; i++) {
    const double most = APART / d->inverse[i], square = d->count[i] * d->count[i];
    diagonal[i] = square > 0 ? sqrt(fmin(d->sum[i] / square, most) / diagonal[i]) : 0;
  }
  TES_TRY(tesi_operator_vector(op, &p->weight));
  TES_TRY(tesi_operator_set(op, diagonal, p->weight));
done:
  tesi_free(ctx, &diagonal);
  return status;
}

static TesStatus make_weights(TesiCellPatches *p, const TesOperator *op) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  TesiPatchDiagonals all = {0};
  double own[MOST * MOST * MOST];
  double(*of_class)[2][MOST] = NULL;
  TES_TRY(tesi_patch_diagonals_create(ctx, m->nodes, &all));
  TES_ALLOC(&of_class, p->classes);
  class_diagonals(p, of_class);
  for (int64_t c = 0; c < m->cells; c++) {
    surrogate_diagonal(p, c, of_class, own);
    for (int64_t at = 0; at < m->cell_nodes; at++)
      if (tesi_cell_patch_has(m, c, at))
        tesi_patch_diagonals_add(&all, m->index[c * m->cell_nodes + at], own[at]);
  }
  TES_TRY(tesi_cell_patch_weights(p, op, &all));
done:
  tesi_patch_diagonals_free(ctx, &all);
  tesi_free(ctx, &of_class);
  return status;
}

typedef struct Sorted {
  int64_t window;
  int key[3];
  int32_t cell;
} Sorted;

static int by_class(const void *a, const void *b) {
  const Sorted *x = a, *y = b;
  if (x->window != y->window) return x->window < y->window ? -1 : 1;
  for (int d = 0; d < 3; d++)
    if (x->key[d] != y->key[d]) return x->key[d] - y->key[d];
  return (x->cell > y->cell) - (x->cell < y->cell);
}

/* Cells of a colour in windows of neighbouring cells; within a window cells of the same class are together. */
static TesStatus sort_colour(const TesiCellPatches *p, int64_t count, int32_t *order) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  Sorted *list = NULL;
  TES_ALLOC(&list, count);
  for (int64_t i = 0; i < count; i++) {
    list[i] = (Sorted){.window = i / WINDOW, .cell = order[i]};
    for (int d = 0; d < p->m->dim; d++)
      list[i].key[d] = p->class_of[p->end[order[i]][d][0]][p->end[order[i]][d][1]];
  }
  qsort(list, (size_t)count, sizeof *list, by_class);
  for (int64_t i = 0; i < count; i++) order[i] = list[i].cell;
done:
  tesi_free(ctx, &list);
  return status;
}

static void fill_batch(TesiCellPatches *p, int64_t batch, int64_t count, const int32_t *cells) {
  const TesiMapped *m = p->m;
  const int lanes = p->lanes;
  for (int l = 0; l < lanes; l++) {
    const int64_t c = l < count ? cells[l] : -1;
    p->cell[batch * lanes + l] = (int32_t)c;
    for (int64_t at = 0; at < m->cell_nodes; at++)
      p->index[(batch * m->cell_nodes + at) * lanes + l] =
          c >= 0 && tesi_cell_patch_has(m, c, at) ? m->index[c * m->cell_nodes + at] : -1;
  }
}

static void choose_kernel(TesiCellPatches *p, TesPrecision precision) {
  const int bits = tes_context_simd_bits(p->context);
  p->run = precision == TES_DOUBLE ? TESI_SIMD_PICK(bits, tesi_cell_patches_run_double)
                                   : TESI_SIMD_PICK(bits, tesi_cell_patches_run_float);
  p->lanes = bits / 8 / (int)tesi_precision_size(precision);
}

static TesStatus make_batches(TesiCellPatches *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  int64_t *first = NULL;
  int32_t *order = NULL;
  choose_kernel(p, m->precision);
  TES_TRY(tesi_mapped_make_colours(m, &p->colours, &first, &order));
  TES_ALLOC(&p->first_of_colour, p->colours + 1);
  for (int k = 0; k < p->colours; k++) {
    const int64_t count = first[k + 1] - first[k];
    p->first_of_colour[k + 1] = p->first_of_colour[k] + (count + p->lanes - 1) / p->lanes;
    TES_TRY(sort_colour(p, count, order + first[k]));
  }
  p->batches = p->first_of_colour[p->colours];
  TES_ALLOC(&p->cell, p->batches * p->lanes);
  TES_ALLOC(&p->index, p->batches * p->lanes * m->cell_nodes);
  for (int k = 0; k < p->colours; k++)
    for (int64_t b = p->first_of_colour[k], at = first[k]; b < p->first_of_colour[k + 1]; b++, at += p->lanes)
      fill_batch(p, b, tesi_min64(p->lanes, first[k + 1] - at), order + at);
done:
  tesi_free(ctx, &first);
  tesi_free(ctx, &order);
  return status;
}

static TesStatus check_operator(const TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = tesi_mapped_of(op);
  TES_CHECK(m, "cell patches are for mapped operators; boxes have vertex patches (patch)");
  TES_CHECK(m->global && m->components == 1 && m->n <= MOST,
            "cell patches need the global form, one component and degrees up to %d", MOST - 1);
done:
  return status;
}

/* The common part of patches of cells and of lines. */
static TesStatus begin(const TesOperator *op, bool lines, TesiCellPatches **patches) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiCellPatches *p;
  TES_TRY(check_operator(op));
  TES_NEW(patches);
  p = *patches;
  p->context = tesi_context_retain(ctx);
  p->m = tesi_mapped_of(op);
  p->sum = op->space ? op->space->layout->sum : NULL;
  TES_ALLOC(&p->end, p->m->cells);
  TES_ALLOC(&p->g, p->m->cells);
  if (lines) TES_ALLOC(&p->across, p->m->cells);
  TES_TRY(tesi_cell_patches_find_ends(p, op->space ? op->space->layout : NULL));
  TES_TRY(make_factors(p));
done:
  return status;
}

static TesStatus finish_cells(const TesOperator *op, TesiCellPatches *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TES_TRY(make_classes(p));
  TES_TRY(make_weights(p, op));
  if (tesi_has_kernels(ctx))
    TES_TRY(tesi_cell_patch_kernels_create(p, &p->kernels));
  else
    TES_TRY(make_batches(p));
done:
  return status;
}

static TesStatus create(const TesOperator *op, bool lines, TesiCellPatches **patches) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  *patches = NULL;
  TES_TRY(begin(op, lines, patches));
  if (lines)
    TES_TRY(tesi_line_patches_create(*patches, op));
  else
    TES_TRY(finish_cells(op, *patches));
done:
  if (status != TES_OK) tesi_cell_patches_destroy(patches);
  return status;
}

TesStatus tesi_cell_patches_create(const TesOperator *op, TesiCellPatches **patches) {
  return create(op, false, patches);
}

TesStatus tesi_cell_patches_create_lines(const TesOperator *op, TesiCellPatches **patches) {
  return create(op, true, patches);
}

void tesi_cell_patches_destroy(TesiCellPatches **patches) {
  TesiCellPatches *p = *patches;
  if (!p) return;
  TesContext *ctx = p->context;
  *patches = NULL;
  tesi_context_device(ctx)->release(ctx, &p->weight);
  tesi_cell_patch_kernels_destroy(ctx, &p->kernels);
  tesi_line_patches_destroy(ctx, &p->lines);
  tesi_free(ctx, &p->across);
  tesi_free(ctx, &p->S);
  tesi_free(ctx, &p->lambda);
  tesi_free(ctx, &p->end);
  tesi_free(ctx, &p->g);
  tesi_free(ctx, &p->first_of_colour);
  tesi_free(ctx, &p->cell);
  tesi_free(ctx, &p->index);
  tesi_free(ctx, &p);
  tes_context_destroy(&ctx);
}

enum { CHUNK = 4 }; /* batches */

/* z += the corrections of all cells for r. */
typedef struct Apply {
  const TesiCellPatches *p;
  const void *r;
  void *z;
} Apply;

static void apply_colours(const void *data, const TesiTeamMember *me) {
  const Apply *a = data;
  const TesiCellPatches *p = a->p;
  for (int k = 0; k < p->colours; k++) {
    const int64_t begin = p->first_of_colour[k], end = p->first_of_colour[k + 1];
    const TesiSpan chunks = tesi_team_part(me, 0, (end - begin + CHUNK - 1) / CHUNK);
    if (k > 0) tesi_team_wait(me);
    for (int64_t i = chunks.first; i < chunks.end; i++)
      p->run(p, begin + i * CHUNK, tesi_min64(begin + (i + 1) * CHUNK, end), a->r, a->z);
  }
}

static TesStatus apply_cells(const TesiCellPatches *p, const void *r, void *z) {
  const int threads = tesi_team_threads(p->context, 4 * p->m->cells * p->m->cell_nodes);
  memset(z, 0, (size_t)p->m->length * tesi_precision_size(p->m->precision));
  tesi_team_run(threads, apply_colours, &(Apply){p, r, z});
  return TES_OK;
}

TesStatus tesi_cell_patches_apply(const TesiCellPatches *p, const void *r, void *z) {
  const TesStatus status = p->lines     ? tesi_line_patches_apply(p, r, z)
                           : p->kernels ? tesi_cell_patch_kernels_apply(p, r, z)
                                        : apply_cells(p, r, z);
  return status == TES_OK ? tesi_sum_copies(p->context, p->sum, p->m->precision, z) : status;
}

TesCost tesi_cell_patches_cost(const TesiCellPatches *p) {
  if (p->lines) return tesi_line_patches_cost(p);
  const double n = p->m->n, nodes = (double)(p->m->cells * p->m->cell_nodes);
  const double vectors = (double)p->m->length * (double)tesi_precision_size(p->m->precision);
  return (TesCost){.flops = nodes * (4 * p->m->dim * n + p->m->dim + 2),
                   .bytes = p->kernels ? tesi_cell_patch_kernels_bytes(p) : 4 * nodes + 4 * vectors};
}
