/* Incomplete LU factors, row by row: see ordered_cells.h. */
#include <math.h>
#include <stdlib.h>
#include "base/ascending.h"
#include "smoother/ordered_cells/ordered_cells.h"

/* A row of A on its way to a row of the factors. */
typedef struct Row {
  const TesiMatrix *A;
  int64_t i;
  double drop, norm; /* the root of the mean square of the row of A */
  double *value;     /* [rows] */
  uint8_t *is_in;    /* [rows] whether the row has an entry there */
  int32_t *before;   /* [rows] columns before the diagonal, a heap with the least one first */
  int32_t *from;     /* [rows] columns from the diagonal on */
  int64_t befores, froms;
} Row;

static void push(Row *r, int32_t column) {
  int64_t at = r->befores++;
  for (; at > 0 && r->before[(at - 1) / 2] > column; at = (at - 1) / 2)
    r->before[at] = r->before[(at - 1) / 2];
  r->before[at] = column;
}

static int32_t pop(Row *r) {
  const int32_t least = r->before[0], last = r->before[--r->befores];
  int64_t at = 0, next;
  while ((next = 2 * at + 1) < r->befores) {
    if (next + 1 < r->befores && r->before[next + 1] < r->before[next]) next++;
    if (r->before[next] >= last) break;
    r->before[at] = r->before[next], at = next;
  }
  r->before[at] = last;
  return least;
}

static void add(Row *r, int32_t column, double value) {
  r->is_in[column] = 1;
  r->value[column] = value;
  if (column < r->i)
    push(r, column);
  else
    r->from[r->froms++] = column;
}

static void take(Row *r, int64_t i) {
  const TesiMatrix *A = r->A;
  double sum = 0;
  r->i = i, r->froms = 0;
  for (int64_t e = A->row[i]; e < A->row[i + 1]; e++) {
    add(r, A->column[e], A->value[e]);
    sum += A->value[e] * A->value[e];
  }
  r->norm = sqrt(sum / (double)(A->row[i + 1] - A->row[i]));
}

static bool is_little(const Row *r, int32_t column) {
  return r->drop > 0 && fabs(r->value[column]) < r->drop * r->norm;
}

/* What is beyond the room is counted, and not stored. */
static void store(TesiMatrix *F, int64_t room, int32_t column, double value) {
  if (F->entries < room) F->column[F->entries] = column, F->value[F->entries] = value;
  F->entries++;
}

/* A pivot that has been lost to round-off is replaced by the largest entry of its row. */
static double safe_pivot(const Row *r) {
  const double pivot = r->value[r->i];
  double largest = 0;
  for (int64_t e = r->A->row[r->i]; e < r->A->row[r->i + 1]; e++)
    largest = fmax(largest, fabs(r->A->value[e]));
  return fabs(pivot) > 1e-12 * largest ? pivot : largest > 0 ? largest : 1;
}

/* The part of L, and what its rows add to the rest. */
static void eliminate(Row *r, const int64_t *diagonal, int64_t room, TesiMatrix *F) {
  while (r->befores > 0) {
    const int32_t k = pop(r);
    r->is_in[k] = 0;
    if (is_little(r, k)) continue;
    const double factor = r->value[k] * F->value[diagonal[k]]; /* the inverse stands there */
    store(F, room, k, factor);
    for (int64_t e = diagonal[k] + 1; e < F->row[k + 1]; e++) {
      if (!r->is_in[F->column[e]]) {
        if (!(r->drop > 0)) continue;
        add(r, F->column[e], 0);
      }
      r->value[F->column[e]] -= factor * F->value[e];
    }
  }
}

/* The part of U. */
static void keep(Row *r, int64_t *diagonal, int64_t room, TesiMatrix *F) {
  if (r->drop > 0) qsort(r->from, (size_t)r->froms, sizeof *r->from, tesi_ascending_int32);
  for (int64_t n = 0; n < r->froms; n++) {
    const int32_t column = r->from[n];
    r->is_in[column] = 0;
    if (column == r->i)
      *diagonal = F->entries, store(F, room, column, 1 / safe_pivot(r));
    else if (!is_little(r, column))
      store(F, room, column, r->value[column]);
  }
}

void tesi_incomplete_free(TesContext *ctx, TesiIncomplete *f) {
  tesi_matrix_destroy(ctx, &f->F);
  tesi_free(ctx, &f->diagonal);
}

TesStatus tesi_incomplete_create(TesContext *ctx, const TesiMatrix *A, double drop, TesiIncomplete *f) {
  TesStatus status = TES_OK;
  const int64_t n = A->rows, room = A->entries * (drop > 0 ? TESI_INCOMPLETE_FILL : 1);
  Row r = {.A = A, .drop = drop};
  TES_ALLOC(&f->F.row, n + 1);
  TES_ALLOC(&f->F.column, room);
  TES_ALLOC(&f->F.value, room);
  TES_ALLOC(&f->diagonal, n);
  TES_ALLOC(&r.value, n);
  TES_ALLOC(&r.is_in, n);
  TES_ALLOC(&r.before, n);
  TES_ALLOC(&r.from, n);
  f->F.rows = n, f->F.entries = 0;
  for (int64_t i = 0; i < n && f->F.entries <= room; i++) {
    if (i % 1024 == 0) TES_TRY(tesi_work_go_on(ctx));
    take(&r, i);
    eliminate(&r, f->diagonal, room, &f->F);
    keep(&r, &f->diagonal[i], room, &f->F);
    f->F.row[i + 1] = f->F.entries;
  }
  f->failed = f->F.entries > room;
done:
  tesi_free(ctx, &r.value);
  tesi_free(ctx, &r.is_in);
  tesi_free(ctx, &r.before);
  tesi_free(ctx, &r.from);
  return status;
}

void tesi_incomplete_solve(const TesiIncomplete *f, double *z) {
  const int64_t *row = f->F.row;
  const int32_t *column = f->F.column;
  const double *value = f->F.value;
  for (int64_t i = 0; i < f->F.rows; i++) {
    double sum = z[i];
    for (int64_t e = row[i]; e < f->diagonal[i]; e++) sum -= value[e] * z[column[e]];
    z[i] = sum;
  }
  for (int64_t i = f->F.rows - 1; i >= 0; i--) {
    double sum = z[i];
    for (int64_t e = f->diagonal[i] + 1; e < row[i + 1]; e++) sum -= value[e] * z[column[e]];
    z[i] = sum * value[f->diagonal[i]];
  }
}
