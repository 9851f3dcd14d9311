/* data.a as a matrix: a list of its diagonal, or of its rows. */
#include "io/case/case_reader.h"
#include "io/expression/expression.h"

enum { AXES = 3 };

static TesStatus read_entry(TesiCaseReader *r, int row, const TesiYaml *node, TesFunction **entry) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  char message[TESI_EXPRESSION_MESSAGE];
  if (node->kind != TESI_YAML_SCALAR || !*node->text || tesi_yaml_is_null(node))
    return tesi_case_error(r, row, node, "expected an expression in x, y, z, t as an entry of the matrix");
  status = tesi_function_from_text(ctx, node->text, tesi_space_names, entry, message);
  if (status == TES_OK) status = tesi_case_mark(r, row, node, *entry);
  return status == TES_INVALID_INPUT ? tesi_case_error(r, row, node, "%s", message) : status;
}

/* A row of the matrix, or the whole matrix if the list is the diagonal. */
static TesStatus read_list(TesiCaseReader *r, int row, const TesiYaml *list, int dim, int step,
                           TesFunction **entry) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  if (list->kind != TESI_YAML_LIST || list->count != dim)
    return tesi_case_error(r, row, list, "expected a row of %d expressions, as the matrix has %d rows", dim,
                           dim);
  for (const TesiYaml *item = list->first; item; item = item->next, entry += step)
    TES_TRY(read_entry(r, row, item, entry));
done:
  return status;
}

/* Constants are checked here, without a point. */
static TesStatus check_constants(TesiCaseReader *r, int row, const TesiYaml *node, int dim,
                                 TesFunction *const *entry) {
  double a[AXES * AXES] = {0};
  for (int i = 0; i < dim * dim; i++)
    if (entry[i] && !tes_function_constant(entry[i], &a[i])) return TES_OK;
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < i; j++)
      if (a[i * dim + j] != a[j * dim + i])
        return tesi_case_error(r, row, node,
                               "the matrix is not symmetric: entry %d, %d is %g, entry %d, %d is %g", j + 1,
                               i + 1, a[j * dim + i], i + 1, j + 1, a[i * dim + j]);
  const double minor = a[0] * a[dim + 1] - a[1] * a[1];
  const double det =
      dim == 2 ? minor
               : minor * a[8] - a[5] * (a[0] * a[5] - a[1] * a[2]) + a[2] * (a[1] * a[5] - a[4] * a[2]);
  if (!(a[0] > 0 && minor > 0 && det > 0))
    return tesi_case_error(r, row, node, "the matrix is not positive definite");
  return TES_OK;
}

TesStatus tesi_case_matrix(TesiCaseReader *r, int row, const TesiYaml *node, TesFunction **to) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesFunction *entry[AXES * AXES] = {NULL};
  const int dim = node->count, errors = r->error_count;
  const bool rows = node->first && node->first->kind == TESI_YAML_LIST;
  bool good;
  TES_TRY(tesi_case_check_entries(r, row, node, &good));
  if (!good) goto done;
  int i = 0;
  for (const TesiYaml *item = node->first; rows && item; item = item->next, i++)
    TES_TRY(read_list(r, row, item, dim, 1, &entry[i * dim]));
  if (!rows) TES_TRY(read_list(r, row, node, dim, dim + 1, entry));
  if (r->error_count == errors) TES_TRY(check_constants(r, row, node, dim, entry));
  if (r->error_count > errors) goto done;
  tes_function_destroy(to);
  TES_TRY(tes_function_create_matrix(ctx, dim, (const TesFunction *const *)entry, to));
  TES_TRY(tesi_case_mark(r, row, node, *to));
done:
  for (i = 0; i < AXES * AXES; i++) tes_function_destroy(&entry[i]);
  return status;
}
