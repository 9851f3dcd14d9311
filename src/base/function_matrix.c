/* Coefficients that are symmetric matrices: a function whose entries are functions. Its scalar value is the mean of its
 * diagonal. */
#include <stdio.h>
#include <string.h>
#include "base/base.h"

enum { AXES = 3 };

typedef struct Matrix {
  TesContext *context;
  int dim;
  TesFunction *entry[AXES][AXES]; /* NULL: 0 */
} Matrix;

static void mean_of_diagonal(void *user, int64_t n, const double *x, const double *y, const double *z,
                             double t, double *out) {
  enum { MOST = 64 };
  const Matrix *m = user;
  double value[MOST];
  for (int64_t first = 0; first < n; first += MOST) {
    const int64_t count = n - first < MOST ? n - first : MOST;
    for (int64_t i = 0; i < count; i++) out[first + i] = 0;
    for (int r = 0; r < m->dim; r++) {
      tesi_function_values(m->entry[r][r], count, x + first, y + first, z + first, t, value);
      for (int64_t i = 0; i < count; i++) out[first + i] += value[i] / m->dim;
    }
  }
}

static void destroy(void *user) {
  Matrix *m = user;
  for (int i = 0; i < AXES * AXES; i++) tes_function_destroy(&m->entry[i / AXES][i % AXES]);
  tesi_free(m->context, &m);
}

static const Matrix *matrix_of(const TesFunction *f) {
  return f ? tesi_function_user(f, mean_of_diagonal) : NULL;
}

/* Whether two symmetric entries have equal values everywhere. */
static bool same(const TesFunction *f, const TesFunction *g) {
  double a = 0, b = 0;
  if (f == g) return true;
  if ((!f || tes_function_constant(f, &a)) && (!g || tes_function_constant(g, &b))) return a == b;
  return f && g && tesi_function_has_text(f) && tesi_function_has_text(g) &&
         !strcmp(tes_function_text(f), tes_function_text(g));
}

static TesStatus check(TesContext *ctx, int dim, const TesFunction *const *entry) {
  TesStatus status = TES_OK;
  TES_CHECK(dim == 2 || dim == 3, "a matrix of dimension %d, expected 2 or 3", dim);
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++) {
      const TesFunction *f = entry[r * dim + c], *g = entry[c * dim + r];
      double a = 0, b = 0;
      TES_CHECK(f || r != c, "entry %d, %d of a matrix is missing", r, c);
      TES_CHECK(!matrix_of(f), "entry %d, %d of a matrix is a matrix", r, c);
      const bool constants = (!f || tes_function_constant(f, &a)) && (!g || tes_function_constant(g, &b));
      TES_CHECK(!constants || a == b, "the matrix is not symmetric: entry %d, %d is %g, entry %d, %d is %g",
                r + 1, c + 1, a, c + 1, r + 1, b);
    }
done:
  return status;
}

/* "[[a, b], [b, c]]" */
static TesStatus write_text(TesContext *ctx, const Matrix *m, char **text) {
  TesStatus status = TES_OK;
  size_t size = 32, used = 0;
  for (int i = 0; i < AXES * AXES; i++)
    if (m->entry[i / AXES][i % AXES]) size += strlen(tes_function_text(m->entry[i / AXES][i % AXES])) + 4;
  TES_ALLOC(text, size + 4 * AXES * AXES);
  for (int r = 0; r < m->dim; r++)
    for (int c = 0; c < m->dim; c++)
      used += (size_t)sprintf(*text + used, "%s%s%s",
                              c   ? ", "
                              : r ? "], ["
                                  : "[[",
                              m->entry[r][c] ? tes_function_text(m->entry[r][c]) : "0",
                              r == m->dim - 1 && c == r ? "]]" : "");
done:
  return status;
}

TesStatus tes_function_create_matrix(TesContext *context, int dim, const TesFunction *const *entry,
                                     TesFunction **function) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  Matrix *m = NULL;
  char *text = NULL;
  uint64_t used = 0;
  bool timed = false;
  TES_REFUSE_NULL(context, entry, function);
  *function = NULL;
  TES_TRY(check(ctx, dim, entry));
  TES_NEW(&m);
  m->context = ctx, m->dim = dim;
  for (int i = 0; i < dim * dim; i++) {
    m->entry[i / dim][i % dim] = tesi_function_retain(entry[i]);
    used |= tesi_function_uses(entry[i]);
    timed = timed || tesi_function_timed(entry[i]);
  }
  TES_TRY(write_text(ctx, m, &text));
  TES_TRY(tesi_function_create(ctx, mean_of_diagonal, m, destroy, text, function));
  m = NULL;
  tesi_function_set_timed(*function, timed);
  tesi_function_set_over(*function, NULL, used);
done:
  if (m) destroy(m);
  tesi_free(ctx, &text);
  return status;
}

bool tesi_function_is_matrix(const TesFunction *f) {
  return matrix_of(f) != NULL;
}

int tesi_function_matrix_dim(const TesFunction *f) {
  const Matrix *m = matrix_of(f);
  return m ? m->dim : 0;
}

const TesFunction *tesi_function_entry(const TesFunction *f, int r, int c, double *otherwise) {
  const Matrix *m = matrix_of(f);
  *otherwise = r == c;
  return m ? m->entry[r][c] : r == c ? f : NULL;
}

bool tesi_function_mirrored(const TesFunction *f, int r, int c) {
  const Matrix *m = matrix_of(f);
  return !m || same(m->entry[r][c], m->entry[c][r]);
}

void tesi_function_entries(const TesFunction *f, int dim, int64_t n, const double *x, const double *y,
                           const double *z, double t, double *a) {
  for (int r = 0; r < dim; r++)
    for (int c = r; c < dim; c++, a += n) {
      double otherwise;
      const TesFunction *entry = tesi_function_entry(f, r, c, &otherwise);
      for (int64_t i = 0; i < n && !entry; i++) a[i] = otherwise;
      if (entry) tesi_function_values(entry, n, x, y, z, t, a);
    }
}

TesStatus tesi_function_each(const TesFunction *matrix, TesiFunctionChange change, double first,
                             double second, TesFunction **result) {
  const Matrix *m = matrix_of(matrix);
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TesFunction *entry[AXES * AXES] = {NULL};
  *result = NULL;
  for (int i = 0; i < m->dim * m->dim; i++) {
    const int r = i / m->dim, c = i % m->dim;
    if (m->entry[r][c]) TES_TRY(change(m->entry[r][c], first, r == c ? second : 0, &entry[i]));
  }
  TES_TRY(tes_function_create_matrix(ctx, m->dim, (const TesFunction *const *)entry, result));
  TES_TRY(tesi_function_set_where(*result, tesi_function_where(matrix)));
done:
  for (int i = 0; i < AXES * AXES; i++) tes_function_destroy(&entry[i]);
  return status;
}
