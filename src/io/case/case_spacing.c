/* Graded directions: vertices from an expression in s, or from a list. */
#include <math.h>
#include <string.h>
#include "io/case/case_reader.h"
#include "io/expression/expression.h"

static int spacing_row(int d) {
  static const char *const paths[3] = {"mesh.box.spacing.x", "mesh.box.spacing.y", "mesh.box.spacing.z"};
  return tesi_case_row(paths[d]);
}

bool tesi_case_has_list(const TesiCaseReader *r, int d) {
  const TesiYaml *node = r->node[spacing_row(d)];
  return node && node->kind == TESI_YAML_LIST;
}

/* Each coordinate must be larger than the previous one; the first wrong one is reported. */
static TesStatus check_ascending(TesiCaseReader *r, int d, const TesiYaml *node, const double *x) {
  for (int i = 1; i <= r->draft.c.mesh.cells[d]; i++)
    if (!(x[i] > x[i - 1]))
      return tesi_case_error(r, spacing_row(d), node,
                             "the coordinates must ascend, but number %d is %.10g and number %d is %.10g",
                             i - 1, x[i - 1], i, x[i]);
  return TES_OK;
}

/* If lower or upper is given, it must agree with the list; otherwise it is taken from the list. */
static TesStatus match_end(TesiCaseReader *r, int d, const char *path, double end, double *bound) {
  const int row = tesi_case_row(path);
  const double scale = fabs(end) + fabs(*bound);
  if (r->node[row] && !(fabs(*bound - end) <= 1e-12 * scale))
    return tesi_case_error(r, row, r->node[row], "is %.10g in %c, but the list of coordinates has %.10g there",
                           *bound, "xyz"[d], end);
  *bound = end;
  return TES_OK;
}

static TesStatus from_list(TesiCaseReader *r, int d, const TesiYaml *list) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesMeshDesc *box = &r->draft.c.mesh;
  double *x = NULL;
  int i = 0;
  bool valid;
  if (list->count != box->cells[d] + 1)
    return tesi_case_error(r, spacing_row(d), list, "expected %d coordinates, one more than cells, got %d",
                           box->cells[d] + 1, list->count);
  TES_ALLOC(&x, list->count);
  for (const TesiYaml *item = list->first; item; item = item->next) {
    TES_TRY(tesi_case_number(r, spacing_row(d), item, &x[i++], &valid));
    if (!valid) goto done;
  }
  TES_TRY(check_ascending(r, d, list, x));
  TES_TRY(match_end(r, d, "mesh.box.lower", x[0], &box->lower[d]));
  TES_TRY(match_end(r, d, "mesh.box.upper", x[i - 1], &box->upper[d]));
  box->coordinates[d] = x;
  x = NULL;
done:
  tesi_free(ctx, &x);
  return status;
}

/* Turns fractions in [0, 1] into coordinates; the ends are exact. */
static TesStatus scale(TesiCaseReader *r, int d, const TesiYaml *node, double *x) {
  const TesMeshDesc *box = &r->draft.c.mesh;
  const int n = box->cells[d];
  for (int i = 0; i <= n; i++)
    if (!isfinite(x[i]))
      return tesi_case_error(r, spacing_row(d), node, "is %g at s = %.6g", x[i], (double)i / n);
  if (!(fabs(x[0]) <= 1e-10) || !(fabs(x[n] - 1) <= 1e-10))
    return tesi_case_error(r, spacing_row(d), node,
                           "must be 0 at s = 0 and 1 at s = 1, but is %.10g and %.10g", x[0], x[n]);
  for (int i = 1; i < n; i++) x[i] = box->lower[d] + (box->upper[d] - box->lower[d]) * x[i];
  x[0] = box->lower[d], x[n] = box->upper[d];
  return check_ascending(r, d, node, x);
}

static TesStatus from_expression(TesiCaseReader *r, int d, const TesiYaml *node) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesMeshDesc *box = &r->draft.c.mesh;
  const int n = box->cells[d];
  static const char *const names[] = {"s", NULL};
  char message[TESI_EXPRESSION_MESSAGE];
  TesFunction *f = NULL;
  double *s = NULL, *x = NULL, slope;
  if (r->by && tesi_function_slope_of_text(ctx, node->text, names, &f, message) == TES_OK) {
    const bool fixed = tes_function_constant(f, &slope) && slope == 0;
    tes_function_destroy(&f);
    if (!fixed) return tesi_case_refuse(r, tesi_case_keys[spacing_row(d)].path, TESI_CASE_FIXED, r->by);
  }
  status = tesi_function_from_text(ctx, node->text, names, &f, message);
  if (status == TES_INVALID_INPUT) return tesi_case_error(r, spacing_row(d), node, "%s", message);
  TES_TRY(status);
  TES_ALLOC(&s, n + 1);
  TES_ALLOC(&x, n + 1);
  for (int i = 0; i <= n; i++) s[i] = (double)i / n;
  tesi_expression_values(f, n + 1, s, x);
  TES_TRY(scale(r, d, node, x));
  box->coordinates[d] = x;
  x = NULL;
done:
  tesi_free(ctx, &s);
  tesi_free(ctx, &x);
  tes_function_destroy(&f);
  return status;
}

TesStatus tesi_case_spacing(TesiCaseReader *r, int d) {
  const TesiYaml *node = r->node[spacing_row(d)];
  if (!node || (tesi_yaml_is_null(node) && *node->text)) return TES_OK;
  if (d >= tesi_case_dim(r))
    return tesi_case_error(r, spacing_row(d), node, "a box of dim %d has no such direction", tesi_case_dim(r));
  if (node->kind == TESI_YAML_LIST) return from_list(r, d, node);
  if (node->kind == TESI_YAML_SCALAR && *node->text) return from_expression(r, d, node);
  return tesi_case_error(r, spacing_row(d), node, "expected an expression in s or a list of %d coordinates",
                         r->draft.c.mesh.cells[d] + 1);
}

/* ---- trees of several ranks ---------------------------------------------------------------------------- */

/* Equal cells between two ends -> cells between given coordinates, linear in each. */
typedef struct Grading {
  TesContext *context;
  int d, cells;
  double lower, upper, *x; /* [cells + 1] */
} Grading;

static void evaluate_grading(void *user, int64_t n, const double *x, const double *y, const double *z,
                             double t, double *out) {
  const Grading *g = user;
  const double *from = g->d == 0 ? x : g->d == 1 ? y : z;
  (void)t;
  for (int64_t i = 0; i < n; i++) {
    const double at = fmin(fmax((from[i] - g->lower) / (g->upper - g->lower) * g->cells, 0), g->cells),
                 near = round(at);
    const int cell = tesi_min((int)at, g->cells - 1);
    out[i] =
        fabs(at - near) < 1e-9 ? g->x[(int)near] : g->x[cell] + (at - cell) * (g->x[cell + 1] - g->x[cell]);
  }
}

static void destroy_grading(void *user) {
  Grading *g = user;
  TesContext *ctx = g->context;
  tesi_free(ctx, &g->x);
  tesi_free(ctx, &g);
}

static TesStatus create_grading(TesiCaseReader *r, int d) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesMeshDesc *box = &r->draft.c.mesh;
  Grading *g = NULL;
  TES_NEW(&g);
  *g = (Grading){ctx, d, box->cells[d], box->lower[d], box->upper[d], (double *)box->coordinates[d]};
  box->coordinates[d] = NULL;
  TES_TRY(
      tesi_function_create(ctx, evaluate_grading, g, destroy_grading, "mesh.box.spacing", &r->draft.map[d]));
  g = NULL;
done:
  if (g) destroy_grading(g);
  return status;
}

TesStatus tesi_case_map_spacing(TesiCaseReader *r) {
  static const char *const axes[] = {"x", "y", "z"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesMeshDesc *box = &r->draft.c.mesh;
  box->geometry_degree = 1;
  for (int d = 0; d < box->dim; d++)
    TES_TRY(box->coordinates[d] ? create_grading(r, d)
                                : tes_function_create_expression(ctx, axes[d], &r->draft.map[d]));
done:
  return status;
}
