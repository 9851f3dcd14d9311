/* Lines from the definition: A_l as a dense matrix, by elimination. No eigenvectors, no bands. */
#include <string.h>
#include "smoother/line_patch/line_patch.h"
#include "smoother/solve_ref.h"

enum { MOST = TESI_CELL_PATCH_NODES };

/* Adds cell `at` of the line to A among positions and nodes across, [positions modes]^2. */
static void add_cell(const TesiLinePatches *l, int64_t line, int64_t at, int64_t size, double *A) {
  const TesiCellPatches *p = l->p;
  const int dim = p->m->dim, n = p->m->n, k = n - 1, modes = l->modes;
  const TesiLineCell *c = l->lines.cell + l->lines.first[line] + at,
                     *head = l->lines.cell + l->lines.first[line];
  double K[3][MOST * MOST], M[3][MOST * MOST];
  tesi_line_matrices(l, line, at, K[0], M[0]);
  for (int t = 1; t < dim; t++) {
    uint8_t end[2];
    tesi_line_ends(p, head, t, end);
    tesi_cell_patch_matrices(n, end, K[t], M[t]);
  }
  for (int i = 0; i < n * modes; i++)
    for (int j = 0; j < n * modes; j++) {
      const int of_i[3] = {i / modes, i % modes % n, i % modes / n},
                of_j[3] = {j / modes, j % modes % n, j % modes / n};
      double sum = 0;
      for (int term = 0; term <= dim; term++) {
        double product = p->g[c->cell][term < dim ? c->axis[term] : 3];
        for (int t = 0; t < dim; t++) product *= (t == term ? K : M)[t][of_i[t] * n + of_j[t]];
        sum += product;
      }
      A[(at * k * modes + i) * size + at * k * modes + j] += sum;
    }
}

/* Replaces rows and columns of sides without unknowns by those of the identity. */
static void take_away_sides(const TesiLinePatches *l, int64_t line, int64_t size, double *A) {
  const TesiCellPatches *p = l->p;
  const int n = p->m->n, modes = l->modes;
  const int64_t last = size / modes - 1;
  uint8_t end[3][2];
  const TesiLineCell *head = l->lines.cell + l->lines.first[line],
                     *tail = l->lines.cell + l->lines.first[line + 1] - 1;
  for (int t = 0; t < p->m->dim; t++) tesi_line_ends(p, head, t, end[t]);
  uint8_t of_tail[2];
  tesi_line_ends(p, tail, 0, of_tail);
  end[0][1] = of_tail[1];
  for (int64_t i = 0; i < size; i++) {
    const int64_t at[3] = {i / modes, i % modes % n, i % modes / n}, most[3] = {last, n - 1, n - 1};
    bool gone = false;
    for (int t = 0; t < p->m->dim; t++)
      gone = gone || (at[t] == 0 && end[t][0] == TESI_END_GONE) ||
             (at[t] == most[t] && end[t][1] == TESI_END_GONE);
    for (int64_t j = 0; gone && j < size; j++) A[i * size + j] = A[j * size + i] = i == j;
  }
}

static TesStatus add_line(const TesiLinePatches *l, int64_t line, const double *weight, const double *r,
                          double *z) {
  TesContext *ctx = l->p->context;
  TesStatus status = TES_OK;
  const int64_t length = l->lines.first[line + 1] - l->lines.first[line];
  const int64_t size = (length * (l->p->m->n - 1) + 1) * l->modes;
  double *A = NULL, *x = NULL;
  TES_ALLOC(&A, size * size);
  TES_ALLOC(&x, size);
  for (int64_t at = 0; at < length; at++) add_cell(l, line, at, size, A);
  take_away_sides(l, line, size, A);
  for (int64_t i = 0; i < size; i++) {
    const int64_t node = tesi_line_place(l->p, l->lines.cell + l->lines.first[line], length, i);
    x[i] = node < 0 ? 0 : weight[node] * r[node];
  }
  tesi_solve_ref(size, A, x);
  for (int64_t i = 0; i < size; i++) {
    const int64_t node = tesi_line_place(l->p, l->lines.cell + l->lines.first[line], length, i);
    if (node >= 0) z[node] += x[i];
  }
done:
  tesi_free(ctx, &A);
  tesi_free(ctx, &x);
  return status;
}

TesStatus tesi_line_patches_apply_ref(const TesiCellPatches *p, const double *r, double *z) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  double *weight = NULL;
  const TesVector w = {.context = ctx, .length = m->length, .precision = m->precision, .data = p->weight};
  TES_TRY(tesi_vector_read(&w, &weight));
  memset(z, 0, (size_t)m->length * sizeof *z);
  for (int64_t line = 0; line < p->lines->lines.count; line++)
    TES_TRY(add_line(p->lines, line, weight, r, z));
done:
  tesi_free(ctx, &weight);
  return status;
}
