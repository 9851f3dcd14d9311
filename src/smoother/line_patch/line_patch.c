/* Set-up of patches that are lines of cells, and their host code: see line_patch.h. */
#include "smoother/line_patch/line_patch.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/afford.h"
#include "base/integer.h"
#include "base/real.h"
#include "base/simd_builds.h"
#include "base/work.h"
#include "basis/lagrange.h"
#include "device/kernel.h"

enum { MOST = TESI_CELL_PATCH_NODES, DEVICE_LANES = 32 };

void tesi_line_matrices(const TesiLinePatches *l, int64_t line, int64_t at, double *K, double *M) {
  const TesiLineCell *c = l->lines.cell + l->lines.first[line] + at;
  uint8_t end[2];
  tesi_line_ends(l->p, c, 0, end);
  if (at > 0) end[0] = TESI_END_FREE;
  if (at < l->lines.first[line + 1] - l->lines.first[line] - 1) end[1] = TESI_END_FREE;
  const size_t size = (size_t)(l->p->m->n * l->p->m->n) * sizeof *K;
  memcpy(K, l->K, size);
  memcpy(M, l->M, size);
  tesi_cell_patch_add_ends(l->p->m->n, end, K, M);
}

static int64_t length_of(const TesiLinePatches *l, int64_t line) {
  return l->lines.first[line + 1] - l->lines.first[line];
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

typedef struct Sorted {
  int64_t length, line;
} Sorted;

static int longest_first(const void *a, const void *b) {
  const Sorted *x = a, *y = b;
  if (x->length != y->length) return x->length < y->length ? 1 : -1;
  return (x->line > y->line) - (x->line < y->line);
}

static TesStatus make_batches(TesiLinePatches *l) {
  TesContext *ctx = l->p->context;
  TesStatus status = TES_OK;
  const int64_t lines = l->lines.count;
  Sorted *list = NULL;
  TES_ALLOC(&list, lines);
  for (int64_t i = 0; i < lines; i++) list[i] = (Sorted){length_of(l, i), i};
  qsort(list, (size_t)lines, sizeof *list, longest_first);
  l->batches = (lines + l->lanes - 1) / l->lanes;
  TES_ALLOC(&l->line, l->batches * l->lanes);
  TES_ALLOC(&l->first_row, l->batches + 1);
  for (int64_t i = 0; i < l->batches * l->lanes; i++) l->line[i] = i < lines ? (int32_t)list[i].line : -1;
  for (int64_t b = 0; b < l->batches; b++)
    l->first_row[b + 1] = l->first_row[b] + (list[b * l->lanes].length * (l->p->m->n - 1) + 1) * l->modes;
  l->rows = l->first_row[l->batches];
  TES_CHECK(l->rows < INT32_MAX / l->lanes, "lines of %lld cells have more than 2^31 places",
            (long long)l->p->m->cells);
done:
  tesi_free(ctx, &list);
  return status;
}

/* ---- bases, factors, index --------------------------------------------------------------------------------------- */

/* All of the lines, float64, as the arrays of TesiLinePatches. */
typedef struct Setup {
  TesiLinePatches *l;
  const double *S, *lambda; /* of the classes [n][n], [n] */
  int (*class_of)[TESI_ENDS];
  TesPrecision precision;
} Setup;

static int class_across(const Setup *s, const TesiLineCell *head, int t) {
  uint8_t end[2];
  tesi_line_ends(s->l->p, head, t, end);
  return s->class_of[end[0]][end[1]];
}

static void put_basis(const Setup *s, int64_t batch, int lane, const TesiLineCell *head) {
  const TesiLinePatches *l = s->l;
  const int n = l->p->m->n, tables = l->p->m->dim - 1;
  for (int t = 0; t < tables; t++)
    for (int i = 0; i < n * n; i++)
      tesi_number_set(s->precision, l->S, ((batch * tables + t) * n * n + i) * l->lanes + lane,
                      head ? s->S[class_across(s, head, t + 1) * n * n + i] : 0);
}

/* Adds a K + b M of a cell; T[position][n] has the entry with the position j before at j. */
static void add_band(int n, double a, const double *K, double b, const double *M, double *T) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) T[i * n + i - j] += a * K[i * n + j] + b * M[i * n + j];
}

/* T <- L D L': 1 / D at 0, L at 1 .. k. A matrix that is singular up to rounding (a line without ends and mass) gives
 * bounded factors. */
static void factorize(int n, int64_t positions, double *T) {
  for (int64_t i = 0; i < positions; i++) {
    const double whole = T[i * n];
    const int64_t most = tesi_min64(n - 1, i);
    for (int64_t j = most; j > 0; j--) {
      double entry = T[i * n + j];
      for (int64_t k = j + 1; k <= most; k++)
        entry -= T[i * n + k] * T[(i - j) * n + (k - j)] / T[(i - k) * n];
      T[i * n + j] = entry * T[(i - j) * n];
      T[i * n] -= entry * T[i * n + j];
    }
    T[i * n] = 1 / fmax(T[i * n], 1e-13 * whole);
  }
}

/* Removes the rows and columns of an end without unknowns. */
static void cut_ends(const TesiLinePatches *l, int64_t line, double *T) {
  const int n = l->p->m->n;
  const int64_t last = length_of(l, line) * (n - 1);
  uint8_t first_end[2], last_end[2];
  const TesiLineCell *head = l->lines.cell + l->lines.first[line];
  tesi_line_ends(l->p, head, 0, first_end);
  tesi_line_ends(l->p, head + length_of(l, line) - 1, 0, last_end);
  for (int j = 0; first_end[0] == TESI_END_GONE && j < n; j++) T[j * n + j] = j == 0;
  for (int j = 0; last_end[1] == TESI_END_GONE && j < n; j++) T[last * n + j] = j == 0;
}

static void make_band(const Setup *s, int64_t line, int mode, double *T) {
  const TesiLinePatches *l = s->l;
  const int n = l->p->m->n, k = n - 1;
  const int64_t length = length_of(l, line);
  const TesiLineCell *head = l->lines.cell + l->lines.first[line];
  double K[MOST * MOST], M[MOST * MOST], lambda[3] = {0};
  for (int t = 1; t < l->p->m->dim; t++)
    lambda[t] = s->lambda[class_across(s, head, t) * n + (t == 1 ? mode % n : mode / n)];
  memset(T, 0, (size_t)((length * k + 1) * n) * sizeof *T);
  for (int64_t at = 0; at < length; at++) {
    const double *g = l->p->g[head[at].cell];
    double mass = g[3];
    for (int t = 1; t < l->p->m->dim; t++) mass += lambda[t] * g[head[at].axis[t]];
    const bool inner = at > 0 && at < length - 1;
    if (!inner) tesi_line_matrices(l, line, at, K, M);
    add_band(n, g[head[at].axis[0]], inner ? l->K : K, mass, inner ? l->M : M, T + at * k * n);
  }
  cut_ends(l, line, T);
  factorize(n, length * k + 1, T);
}

/* Puts a line, or no line, in its lane. T: workspace for the longest line. */
static void put_line(const Setup *s, int64_t batch, int lane, double *T) {
  const TesiLinePatches *l = s->l;
  const int n = l->p->m->n;
  const int64_t line = l->line[batch * l->lanes + lane], first = l->first_row[batch];
  const int64_t positions = line < 0 ? 0 : length_of(l, line) * (n - 1) + 1;
  const TesiLineCell *head = line < 0 ? NULL : l->lines.cell + l->lines.first[line];
  put_basis(s, batch, lane, head);
  for (int64_t row = first; row < l->first_row[batch + 1]; row++)
    l->index[row * l->lanes + lane] =
        (row - first) / l->modes < positions
            ? (int32_t)tesi_line_place(l->p, head, length_of(l, line), row - first)
            : -1;
  for (int mode = 0; mode < l->modes; mode++) {
    if (head) make_band(s, line, mode, T);
    for (int64_t row = first + mode, at = 0; row < l->first_row[batch + 1]; row += l->modes, at++)
      for (int j = 0; j < n; j++)
        tesi_number_set(s->precision, l->factor, (row * n + j) * l->lanes + lane,
                        at < positions ? T[at * n + j] : j == 0);
  }
}

typedef struct Filling {
  const Setup *s;
  double *T; /* a thread */
  int64_t size;
} Filling;

static void fill_batches(const void *data, TesiSpan span) {
  const Filling *f = data;
  for (int64_t b = span.first; b < span.end; b++)
    for (int lane = 0; lane < f->s->l->lanes; lane++) put_line(f->s, b, lane, f->T + span.thread * f->size);
}

static TesStatus make_classes(TesiLinePatches *l, int (*class_of)[TESI_ENDS], double **S, double **lambda) {
  TesContext *ctx = l->p->context;
  TesStatus status = TES_OK;
  const int n = l->p->m->n;
  int classes = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t line = 0; line < l->lines.count; line++)
      for (int t = 1; t < l->p->m->dim; t++) {
        uint8_t end[2];
        tesi_line_ends(l->p, l->lines.cell + l->lines.first[line], t, end);
        int *k = &class_of[end[0]][end[1]];
        if (pass == 0 && *k < 0) *k = classes++;
        if (pass == 1 && (*lambda)[*k * n] == 0)
          TES_TRY(tesi_cell_patch_basis(ctx, n, end, *S + *k * n * n, *lambda + *k * n));
      }
    if (pass > 0) break;
    TES_ALLOC(S, classes * n * n);
    TES_ALLOC(lambda, classes * n);
  }
done:
  return status;
}

static TesStatus check_memory(const TesiLinePatches *l) {
  const TesiMapped *m = l->p->m;
  const double number = (double)tesi_precision_size(m->precision),
               bytes = (double)(l->rows * l->lanes) * ((m->n + 1) * number + 4 + 8);
  return tesi_afford(l->p->context, bytes, (double)tes_memory_available(),
                     "use solver.smoother: chebyshev, or refine less",
                     "lines of %lld cells of degree %d need", (long long)m->cells, m->degree);
}

static TesStatus fill(TesiLinePatches *l) {
  TesContext *ctx = l->p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = l->p->m;
  const size_t size = tesi_precision_size(m->precision);
  const int n = m->n, threads = tesi_team_threads(ctx, 32 * l->rows * l->lanes);
  int class_of[TESI_ENDS][TESI_ENDS];
  double *S = NULL, *lambda = NULL, *T = NULL;
  memset(class_of, -1, sizeof class_of);
  TES_TRY(make_classes(l, class_of, &S, &lambda));
  TES_TRY(tesi_alloc(ctx, (size_t)(l->batches * (m->dim - 1) * n * n * l->lanes), size, &l->S));
  TES_TRY(tesi_alloc(ctx, (size_t)(l->rows * l->lanes), sizeof *l->index, &l->index));
  TES_TRY(tesi_alloc(ctx, (size_t)(l->rows * n * l->lanes), size, &l->factor));
  const int64_t longest = l->batches ? l->first_row[1] / l->modes * n : 0;
  TES_ALLOC(&T, threads * longest);
  const Setup setup = {.l = l, .S = S, .lambda = lambda, .class_of = class_of, .precision = m->precision};
  TES_TRY(tesi_work_share(ctx, threads, l->batches, 1, fill_batches, &(Filling){&setup, T, longest}));
done:
  tesi_free(ctx, &S);
  tesi_free(ctx, &lambda);
  tesi_free(ctx, &T);
  return status;
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

/* The diagonal of A_l in a row, from the factors of each term: D[position][terms] along the line, and across. */
static void add_diagonal(const TesiLinePatches *l, int64_t line, double *D, const TesiPatchDiagonals *all) {
  const TesiCellPatches *p = l->p;
  const int n = p->m->n, k = n - 1, dim = p->m->dim;
  const int64_t length = length_of(l, line);
  const TesiLineCell *head = l->lines.cell + l->lines.first[line];
  double K[3][MOST * MOST], M[3][MOST * MOST];
  memset(D, 0, (size_t)(4 * (length * k + 1)) * sizeof *D);
  for (int64_t at = 0; at < length; at++) {
    tesi_line_matrices(l, line, at, K[0], M[0]);
    for (int i = 0; i < n; i++)
      for (int term = 0; term <= dim; term++)
        D[4 * (at * k + i) + term] +=
            p->g[head[at].cell][term < dim ? head[at].axis[term] : 3] * (term == 0 ? K : M)[0][i * (n + 1)];
  }
  for (int t = 1; t < dim; t++) {
    uint8_t end[2];
    tesi_line_ends(p, head, t, end);
    tesi_cell_patch_matrices(n, end, K[t], M[t]);
  }
  for (int64_t row = 0; row < (length * k + 1) * l->modes; row++) {
    const int64_t node = tesi_line_place(p, head, length, row);
    if (node < 0) continue;
    const int mode = (int)(row % l->modes), i[3] = {0, mode % n, mode / n};
    double entry = 0;
    for (int term = 0; term <= dim; term++) {
      double product = D[4 * (row / l->modes) + term];
      for (int t = 1; t < dim; t++) product *= (t == term ? K : M)[t][i[t] * (n + 1)];
      entry += product;
    }
    tesi_patch_diagonals_add(all, node, entry);
  }
}

static TesStatus make_weights(TesiLinePatches *l, TesiCellPatches *p, const TesOperator *op) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiPatchDiagonals all = {0};
  double *D = NULL;
  int64_t longest = 0;
  for (int64_t line = 0; line < l->lines.count; line++)
    if (length_of(l, line) > longest) longest = length_of(l, line);
  TES_TRY(tesi_patch_diagonals_create(ctx, p->m->nodes, &all));
  TES_ALLOC(&D, 4 * (longest * (p->m->n - 1) + 1));
  for (int64_t line = 0; line < l->lines.count; line++) add_diagonal(l, line, D, &all);
  TES_TRY(tesi_cell_patch_weights(p, op, &all));
done:
  tesi_patch_diagonals_free(ctx, &all);
  tesi_free(ctx, &D);
  return status;
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

/* The places of each node, in the order of places. */
static TesStatus make_gather(TesiLinePatches *l) {
  TesContext *ctx = l->p->context;
  TesStatus status = TES_OK;
  const int64_t places = l->rows * l->lanes, nodes = l->p->m->nodes;
  int64_t used = 0;
  TES_ALLOC(&l->first, nodes + 2);
  for (int64_t i = 0; i < places; i++)
    if (l->index[i] >= 0) l->first[l->index[i] + 2]++, used++;
  TES_ALLOC(&l->entry, used);
  for (int64_t i = 0; i < nodes; i++) l->first[i + 2] += l->first[i + 1];
  for (int64_t i = 0; i < places; i++)
    if (l->index[i] >= 0) l->entry[l->first[l->index[i] + 1]++] = i;
done:
  return status;
}

static TesStatus host_create(TesiLinePatches *l) {
  TesContext *ctx = l->p->context;
  TesStatus status = TES_OK;
  const TesPrecision precision = l->p->m->precision;
  const int bits = tes_context_simd_bits(ctx);
  l->run = precision == TES_DOUBLE ? TESI_SIMD_PICK(bits, tesi_line_patches_run_double)
                                   : TESI_SIMD_PICK(bits, tesi_line_patches_run_float);
  TES_TRY(tesi_alloc(ctx, (size_t)(l->rows * l->lanes), tesi_precision_size(precision), &l->values));
  TES_TRY(make_gather(l));
done:
  return status;
}

typedef struct Apply {
  const TesiLinePatches *l;
  const void *r;
  void *z;
} Apply;

static void run_batches(const void *data, TesiSpan span) {
  const Apply *a = data;
  for (int64_t b = span.first; b < span.end; b++) a->l->run(a->l, b, a->r);
}

static void gather_double(const void *data, TesiSpan span) {
  const Apply *a = data;
  const double *values = a->l->values;
  double *z = a->z;
  for (int64_t i = span.first; i < span.end; i++) {
    double sum = 0;
    for (int64_t e = a->l->first[i]; e < a->l->first[i + 1]; e++) sum += values[a->l->entry[e]];
    z[i] = sum;
  }
}

static void gather_single(const void *data, TesiSpan span) {
  const Apply *a = data;
  const float *values = a->l->values;
  float *z = a->z;
  for (int64_t i = span.first; i < span.end; i++) {
    float sum = 0;
    for (int64_t e = a->l->first[i]; e < a->l->first[i + 1]; e++) sum += values[a->l->entry[e]];
    z[i] = sum;
  }
}

/* ---- all devices ------------------------------------------------------------------------------------------------- */

static TesStatus set_up(TesiLinePatches *l, TesiCellPatches *p, const TesOperator *op) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool kernels = tesi_has_kernels(ctx);
  l->lanes =
      kernels ? DEVICE_LANES : tes_context_simd_bits(ctx) / 8 / (int)tesi_precision_size(p->m->precision);
  l->modes = (int)(p->m->cell_nodes / p->m->n);
  tesi_cell_matrices(p->m->n - 1, l->M, l->K);
  TES_TRY(tesi_lines_find(p, &l->lines));
  tesi_free(ctx, &p->across);
  TES_TRY(make_batches(l));
  TES_TRY(check_memory(l));
  TES_TRY(make_weights(l, p, op));
  TES_TRY(fill(l));
  if (kernels)
    TES_TRY(tesi_line_kernels_create(l));
  else
    TES_TRY(host_create(l));
done:
  return status;
}

TesStatus tesi_line_patches_create(TesiCellPatches *p, const TesOperator *op) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_NEW(&p->lines);
  p->lines->p = p;
  TES_TRY(set_up(p->lines, p, op));
done:
  return status;
}

void tesi_line_patches_destroy(TesContext *ctx, TesiLinePatches **lines) {
  TesiLinePatches *l = *lines;
  const TesiDevice *device = tesi_context_device(ctx);
  if (!l) return;
  tesi_lines_release(ctx, &l->lines);
  tesi_free(ctx, &l->first_row);
  tesi_free(ctx, &l->line);
  tesi_free(ctx, &l->index);
  tesi_free(ctx, &l->factor);
  tesi_free(ctx, &l->S);
  tesi_free(ctx, &l->values);
  tesi_free(ctx, &l->first);
  tesi_free(ctx, &l->entry);
  tesi_gather_release(ctx, &l->gather);
  device->release(ctx, &l->batch_device);
  device->release(ctx, &l->first_device);
  device->release(ctx, &l->index_device);
  device->release(ctx, &l->factor_device);
  device->release(ctx, &l->S_device);
  tesi_free(ctx, lines);
}

TesStatus tesi_line_patches_apply(const TesiCellPatches *p, const void *r, void *z) {
  const TesiLinePatches *l = p->lines;
  if (!l->run) return tesi_line_kernels_apply(l, r, z);
  const Apply apply = {l, r, z};
  tesi_team_share(tesi_team_threads(p->context, 4 * l->rows * l->lanes), l->batches, 1, run_batches, &apply);
  tesi_team_for(tesi_team_threads(p->context, 2 * l->rows * l->lanes), p->m->nodes,
                p->m->precision == TES_DOUBLE ? gather_double : gather_single, &apply);
  return TES_OK;
}

TesCost tesi_line_patches_cost(const TesiCellPatches *p) {
  const TesiLinePatches *l = p->lines;
  const double places = (double)(l->rows * l->lanes), n = p->m->n, dim = p->m->dim;
  const double size = (double)tesi_precision_size(p->m->precision), length = (double)p->m->length;
  const double entry = l->run ? 8 : 4; /* places of a node */
  return (TesCost){.flops = places * (4 * (dim - 1) * n + 4 * (n - 1) + 3),
                   .bytes = places * (4 + entry + (n + 4) * size) + length * (3 * size + entry)};
}
