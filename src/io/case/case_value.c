/* Single values of a case file. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/text.h"
#include "io/case/case_reader.h"
#include "io/expression/expression.h"
#include "base/nearest.h"
#include "io/number.h"
#include "io/utf8.h"

static void *target(TesiCaseReader *r, int row) {
  return (char *)&r->draft + tesi_case_keys[row].target;
}

/* "1, 2 or 3". */
static void list_choices(const char *const *choices, char *text, size_t size) {
  size_t length = 0;
  for (int i = 0; choices[i] && length < size; i++) {
    const char *before = !i ? "" : choices[i + 1] ? ", " : " or ";
    length += (size_t)snprintf(text + length, size - length, "%s%s", before, choices[i]);
  }
}

static void range(const TesiKey *key, const char *what, char text[200]) {
  const bool below = key->low > -DBL_MAX, above = key->high < DBL_MAX;
  if (!below && !above)
    snprintf(text, 200, "%s", what);
  else if (!above)
    snprintf(text, 200, "%s %s %g", what, key->open ? ">" : ">=", key->low);
  else if (key->open)
    snprintf(text, 200, "%s > %g and < %g", what, key->low, key->high);
  else
    snprintf(text, 200, key->low == floor(key->low) ? "%s from %.0f to %.0f" : "%s from %g to %g", what,
             key->low, key->high);
}

void tesi_case_expected(const TesiKey *key, char text[200]) {
  switch (key->type) {
  case TESI_KEY_MAP:
  case TESI_KEY_ONE_OF:
    snprintf(text, 200, "keys with values");
    break;
  case TESI_KEY_CHOICE:
    list_choices(key->choices, text, 200);
    break;
  case TESI_KEY_INTEGER:
    range(key, key->automatic ? "auto or an integer" : "an integer", text);
    break;
  case TESI_KEY_INTEGERS:
    range(key, "an integer, or a list of one per direction,", text);
    break;
  case TESI_KEY_NUMBER:
    range(key, "a number", text);
    break;
  case TESI_KEY_NUMBERS:
    range(key, "a number, or a list of one per direction", text);
    break;
  case TESI_KEY_EXPRESSION:
    snprintf(text, 200, "an expression in x, y, z, t");
    break;
  case TESI_KEY_BOUNDARY:
    snprintf(text, 200, "an expression in x, y, z, t, nx, ny, nz%s",
             key->lists ? ", or a list of one per direction" : "");
    break;
  case TESI_KEY_VECTOR:
    snprintf(text, 200, "a list of expressions, one per direction");
    break;
  case TESI_KEY_FIELD:
    snprintf(text, 200, "an expression in x, y, z, t, or a list of one per direction");
    break;
  case TESI_KEY_MATRIX:
    snprintf(text, 200,
             "an expression in x, y, z, t, a list of one per direction, or a list of the rows of a matrix");
    break;
  case TESI_KEY_SPACING:
    snprintf(text, 200, "an expression in s or a list of coordinates");
    break;
  case TESI_KEY_FILE:
    snprintf(text, 200, "the name of a file");
    break;
  case TESI_KEY_NAME:
    snprintf(text, 200, "a name");
    break;
  case TESI_KEY_EVERY:
    snprintf(text, 200, "a number of steps, {time: a number > 0} or {minutes: a number > 0}");
    break;
  case TESI_KEY_CONSTANTS:
    snprintf(text, 200, "NAME: a number, or an expression without variables");
    break;
  case TESI_KEY_TABLES:
    snprintf(text, 200, "NAME: {file, interpolation: linear (the default) or cubic}");
    break;
  case TESI_KEY_POINTS:
    snprintf(text, 200, "a list of points, or NAME: point");
    break;
  case TESI_KEY_VALUES:
    snprintf(text, 200, "NAME: {KIND: WHERE, of: EXPRESSION}");
    break;
  case TESI_KEY_LINES:
    snprintf(text, 200, "a list of {from, to, count (101), file}");
    break;
  case TESI_KEY_PICTURE:
    snprintf(text, 200, "the name of a file, or keys with values");
    break;
  }
}

/* "expected ..., got ...". */
TesStatus tesi_case_wrong(TesiCaseReader *r, int row, const TesiYaml *node) {
  char expected[200];
  tesi_case_expected(&tesi_case_keys[row], expected);
  if (node->kind == TESI_YAML_SCALAR && *node->text)
    return tesi_case_error(r, row, node, "expected %s, got '%.60s'", expected, node->text);
  return tesi_case_error(r, row, node, "expected %s, got %s", expected,
                         node->kind == TESI_YAML_MAP    ? "keys with values"
                         : node->kind == TESI_YAML_LIST ? "a list"
                                                        : "nothing");
}

static bool in_range(const TesiKey *key, double value) {
  return key->open ? value > key->low && value < key->high : value >= key->low && value <= key->high;
}

/* The `problem` that is called by this name elsewhere; NULL: not known. */
static const char *problem_called(const char *name) {
  static const char *const names[][2] = {{"laplace", "poisson"},
                                         {"diffusion", "poisson"},
                                         {"electrostatics", "poisson"},
                                         {"heat", "transport"},
                                         {"advection", "transport"},
                                         {"convection", "transport"},
                                         {"elastic", "elasticity"},
                                         {"linear_elasticity", "elasticity"},
                                         {"solid", "elasticity"},
                                         {"mechanics", "elasticity"},
                                         {"navier-stokes", "navier_stokes"},
                                         {"flow", "navier_stokes"},
                                         {"incompressible", "navier_stokes"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcasecmp(names[i][0], name)) return names[i][1];
  return NULL;
}

static TesStatus read_choice(TesiCaseReader *r, int row, const TesiYaml *node) {
  const char *const *choices = tesi_case_keys[row].choices;
  TesiNearest nearest = {.name = node->text};
  char expected[200];
  for (int i = 0; choices[i]; i++) {
    tesi_nearest_try(&nearest, choices[i]);
    if (strcmp(choices[i], node->text)) continue;
    *(int *)target(r, row) = i;
    return TES_OK;
  }
  if (!strcmp(tesi_case_keys[row].path, "problem") && problem_called(node->text))
    nearest.best = problem_called(node->text);
  if (!nearest.best) return tesi_case_wrong(r, row, node);
  tesi_case_expected(&tesi_case_keys[row], expected);
  return tesi_case_error(r, row, node, "expected %s, got '%.60s'; did you mean '%s'?", expected, node->text,
                         nearest.best);
}

static TesStatus read_integer(TesiCaseReader *r, int row, const TesiYaml *node, int *value) {
  const TesiKey *key = &tesi_case_keys[row];
  int number;
  if (node->kind != TESI_YAML_SCALAR) return tesi_case_wrong(r, row, node);
  if (key->automatic && !strcmp(node->text, "auto")) {
    *value = -1;
    return TES_OK;
  }
  if (!tesi_integer_parse(node->text, &number) || !in_range(key, number))
    return tesi_case_wrong(r, row, node);
  *value = number;
  return TES_OK;
}

/* A decimal number, or an expression without variables; message: the reason why it is neither. */
static TesStatus constant(TesiCaseReader *r, const char *text, double *value, bool *is_constant,
                          char *message) {
  TesiTerms terms = {.ctx = r->ctx};
  int root = 0;
  *is_constant = tesi_number_parse(text, value);
  if (*is_constant) return TES_OK;
  static const char *const none[] = {NULL};
  TesStatus status = tesi_expression_parse(&terms, text, none, &root, message);
  if (!status && terms.term[root].op == TESI_OP_CONSTANT) {
    *value = terms.term[root].value;
    *is_constant = true;
  }
  tesi_terms_free(&terms);
  return status == TES_INVALID_INPUT ? TES_OK : status;
}

TesStatus tesi_case_part(TesiCaseReader *r, int row, const char *like, const char *text, double *value,
                         bool *valid) {
  char message[TESI_EXPRESSION_MESSAGE];
  TesStatus status = like ? tesi_case_check_unit_like(r, row, tesi_case_row(like), text) : TES_OK;
  if (status == TES_OK) status = constant(r, text, value, valid, message);
  *valid = status == TES_OK && *valid && isfinite(*value);
  return status;
}

/* A number that depends on the datum by which the case is differentiated. */
static bool depends(const TesiCaseReader *r, const char *text) {
  enum { VARIED = 4 };
  static const char *const none[] = {NULL};
  char message[TESI_EXPRESSION_MESSAGE];
  TesiTerms terms = {.ctx = r->ctx, .varied = VARIED};
  int root = 0;
  const TesStatus status = tesi_expression_parse(&terms, text, none, &root, message);
  const bool varies = status == TES_OK && terms.term[root].op != TESI_OP_CONSTANT;
  tesi_terms_free(&terms);
  return varies;
}

TesStatus tesi_case_number(TesiCaseReader *r, int row, const TesiYaml *node, double *value, bool *valid) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  char message[TESI_EXPRESSION_MESSAGE] = "";
  double number = 0;
  *valid = false;
  if (node->kind != TESI_YAML_SCALAR) return tesi_case_wrong(r, row, node);
  TES_TRY(tesi_case_check_unit(r, row, node));
  TES_TRY(constant(r, node->text, &number, valid, message));
  if (strstr(message, " unit")) return tesi_case_error(r, row, node, "%s", message);
  *valid = *valid && isfinite(number) &&
           (tesi_case_keys[row].type == TESI_KEY_SPACING || in_range(&tesi_case_keys[row], number));
  if (*valid && r->by && depends(r, node->text))
    return tesi_case_refuse(r, tesi_case_keys[row].path, TESI_CASE_FIXED, r->by);
  if (*valid)
    *value = number;
  else
    TES_TRY(tesi_case_wrong(r, row, node));
done:
  return status;
}

TesStatus tesi_case_check_entries(TesiCaseReader *r, int row, const TesiYaml *list, bool *good) {
  const bool of_mesh =
      !strncmp(tesi_case_keys[row].path, "mesh.", strlen("mesh.")); /* compared in case_mesh.c */
  const int dim = of_mesh ? 0 : tesi_case_dim(r);
  *good = dim ? list->count == dim : list->count == 2 || list->count == 3;
  if (*good) return TES_OK;
  if (!dim) return tesi_case_error(r, row, list, "expected 2 or 3 entries, got %d", list->count);
  return tesi_case_error(r, row, list, "expected %d entries, as dim is %d, got %d", dim, dim, list->count);
}

/* One value, or a list of two or three. */
static TesStatus read_directions(TesiCaseReader *r, int row, const TesiYaml *node) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const bool integers = tesi_case_keys[row].type == TESI_KEY_INTEGERS, list = node->kind == TESI_YAML_LIST;
  int *to_integers = target(r, row), n = 0;
  double *to_numbers = target(r, row);
  bool valid;
  if (node->kind == TESI_YAML_MAP) return tesi_case_wrong(r, row, node);
  if (list) TES_TRY(tesi_case_check_entries(r, row, node, &valid));
  if (list && !valid) goto done;
  for (const TesiYaml *item = list ? node->first : node; n < 3; n++) {
    if (integers)
      TES_TRY(read_integer(r, row, item, &to_integers[n]));
    else
      TES_TRY(tesi_case_number(r, row, item, &to_numbers[n], &valid));
    if (list && !(item = item->next)) break;
    if (!list) break;
  }
  for (int d = 1; d < 3 && !list; d++) {
    if (integers)
      to_integers[d] = to_integers[0];
    else
      to_numbers[d] = to_numbers[0];
  }
  r->entries[row] = list ? node->count : 0;
done:
  return status;
}

/* The word `exact` instead of a value of u. */
static TesStatus take_exact(TesiCaseReader *r, int row, const TesiYaml *node) {
  const char *key = tesi_key_name(&tesi_case_keys[row]);
  const bool vector = !strcmp(key, "displacement") || !strcmp(key, "velocity");
  TesFunction **to = target(r, row);
  if (strcmp(key, "dirichlet") && !vector)
    return tesi_case_error(
        r, row, node,
        "`exact` is the value of u itself, for dirichlet, displacement and velocity: write out what %s is",
        key);
  if (!r->draft.exact[0]) return tesi_case_error(r, row, node, "`exact` needs data.exact");
  for (int c = 0; c < (vector ? 3 : 1); c++) to[c] = tesi_function_retain(r->draft.exact[c]);
  return TES_OK;
}

static TesStatus read_expression(TesiCaseReader *r, int row, const TesiYaml *node) {
  char message[TESI_EXPRESSION_MESSAGE];
  const bool boundary = tesi_case_keys[row].type == TESI_KEY_BOUNDARY;
  if (boundary && !strcmp(node->text, "exact")) return take_exact(r, row, node);
  tes_function_destroy(target(r, row)); /* of a key of another problem */
  TesStatus status = tesi_case_check_unit(r, row, node);
  if (status != TES_OK) return status;
  status = tesi_function_from_text(r->ctx, node->text, boundary ? tesi_boundary_names : tesi_space_names,
                                   target(r, row), message);
  if (status == TES_OK) status = tesi_case_mark(r, row, node, *(TesFunction **)target(r, row));
  return status == TES_INVALID_INPUT ? tesi_case_error(r, row, node, "%s", message) : status;
}

/* Two or three expressions, counted in r->entries. Entries of a displacement or velocity on a boundary may be null,
 * and so may entries of a mean velocity. */
static TesStatus read_vector(TesiCaseReader *r, int row, const TesiYaml *node) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesFunction **to = target(r, row);
  const char *const *names =
      tesi_case_keys[row].type == TESI_KEY_BOUNDARY ? tesi_boundary_names : tesi_space_names;
  const char *name = tesi_key_name(&tesi_case_keys[row]);
  const bool frees = !strncmp(tesi_case_keys[row].path, "boundary.", strlen("boundary.")) &&
                     (!strcmp(name, "displacement") || !strcmp(name, "velocity")),
             mean = !strcmp(name, "mean_velocity");
  TesiCaseFace *const face = (TesiCaseFace *)(void *)((char *)to - offsetof(TesiCaseFace, g));
  char message[TESI_EXPRESSION_MESSAGE];
  bool good;
  int n = 0;
  if (frees && node->kind == TESI_YAML_SCALAR && !strcmp(node->text, "exact"))
    return take_exact(r, row, node);
  if (node->kind != TESI_YAML_LIST) return tesi_case_wrong(r, row, node);
  TES_TRY(tesi_case_check_entries(r, row, node, &good));
  if (!good) goto done;
  r->entries[row] = node->count;
  for (const TesiYaml *item = node->first; item; item = item->next, n++) {
    if ((frees || mean) && tesi_yaml_is_null(item) && *item->text) {
      if (frees) face->free |= 1u << n;
      continue;
    }
    if (item->kind != TESI_YAML_SCALAR || !*item->text) {
      TES_TRY(tesi_case_error(r, row, item, "expected an expression in x, y, z, t in entry %d", n + 1));
      continue;
    }
    tes_function_destroy(&to[n]);
    TES_TRY(tesi_case_check_unit(r, row, item));
    status = tesi_function_from_text(ctx, item->text, names, &to[n], message);
    if (status == TES_OK) status = tesi_case_mark(r, row, item, to[n]);
    if (status == TES_INVALID_INPUT) status = tesi_case_error(r, row, item, "%s", message);
    TES_TRY(status);
  }
done:
  return status;
}

TesStatus tesi_case_file_name(TesiCaseReader *r, int row, const TesiYaml *node, char **name) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  if (!strncmp(tesi_case_keys[row].path, "output.", strlen("output.")) && tesi_text_control(node->text))
    TES_TRY(tesi_case_error(
        r, row, node, "expected the name of a file without control characters, got '%.60s'", node->text));
  TES_TRY(tesi_copy_text(ctx, node->text, name));
done:
  return status;
}

TesStatus tesi_case_every(TesiCaseReader *r, int row, const TesiYaml *node, TesCaseEvery *every) {
  const TesiYaml *only = node->kind == TESI_YAML_MAP && node->count == 1 ? node->first : NULL;
  const bool time = only && !strcmp(only->key, "time"), minutes = only && !strcmp(only->key, "minutes");
  double number = 0;
  *every = (TesCaseEvery){0};
  if ((time || minutes) && !r->node[tesi_case_row("time")])
    return tesi_case_error(r, row, node, "{%s: ..} belongs to problems in time, that is, with `time`",
                           only->key);
  if (node->kind == TESI_YAML_SCALAR && tesi_integer_parse(node->text, &every->steps) && every->steps > 0)
    return TES_OK;
  bool valid = false;
  if ((time || minutes) && only->kind == TESI_YAML_SCALAR) {
    const TesStatus status =
        tesi_case_part(r, row, time ? "time.end" : "solver.tolerance", only->text, &number, &valid);
    if (status != TES_OK) return status;
  }
  if (valid && number > 0) {
    every->time = time ? number : 0, every->minutes = minutes ? number : 0;
    return TES_OK;
  }
  return tesi_case_error(r, row, node,
                         "expected a number of steps, {time: a number > 0} or {minutes: a number > 0}");
}

TesStatus tesi_case_value(TesiCaseReader *r, int row, const TesiYaml *node) {
  const TesiKey *key = &tesi_case_keys[row];
  const TesiYaml fallback = {.kind = TESI_YAML_SCALAR, .text = (char *)key->fallback};
  bool valid;
  if (node && tesi_yaml_is_null(node) && *node->text)
    node = r->node[row] = NULL; /* "null": as if it were not given */
  if ((!node && !key->fallback) || key->type >= TESI_KEY_CONSTANTS) return TES_OK;
  if (!node) node = &fallback;
  if (key->type == TESI_KEY_INTEGERS || key->type == TESI_KEY_NUMBERS) return read_directions(r, row, node);
  if (key->type == TESI_KEY_SPACING) return TES_OK;
  if (key->type == TESI_KEY_EVERY) return tesi_case_every(r, row, node, target(r, row));
  if (key->type == TESI_KEY_MATRIX && node->kind == TESI_YAML_LIST)
    return tesi_case_matrix(r, row, node, target(r, row));
  if (key->type == TESI_KEY_VECTOR ||
      ((key->type == TESI_KEY_FIELD || key->lists) && node->kind == TESI_YAML_LIST))
    return read_vector(r, row, node);
  if (node->kind != TESI_YAML_SCALAR || !*node->text) return tesi_case_wrong(r, row, node);
  switch (key->type) {
  case TESI_KEY_CHOICE:
    return read_choice(r, row, node);
  case TESI_KEY_INTEGER:
    return read_integer(r, row, node, target(r, row));
  case TESI_KEY_NUMBER:
    return tesi_case_number(r, row, node, target(r, row), &valid);
  case TESI_KEY_EXPRESSION:
  case TESI_KEY_BOUNDARY:
  case TESI_KEY_FIELD:
  case TESI_KEY_MATRIX:
    return read_expression(r, row, node);
  default:
    return tesi_case_file_name(r, row, node, target(r, row));
  }
}
