/* `constants` and `tables`: names for all expressions of the case. They are read before all other keys. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "io/case/case_reader.h"
#include "io/expression/expression.h"
#include "io/file.h"
#include "io/number.h"

enum { LARGEST_TABLE = 16 << 20, KNOTS = 100000 };

/* A map of names; NULL, with an error, if the value is something else. */
static TesStatus find_map(TesiCaseReader *r, const char *key, const TesiYaml **map) {
  *map = r->root->kind == TESI_YAML_MAP ? tesi_yaml_find(r->root, key) : NULL;
  if (!*map || tesi_yaml_is_null(*map)) {
    *map = NULL;
    return TES_OK;
  }
  if ((*map)->kind == TESI_YAML_MAP) return TES_OK;
  const TesStatus status = tesi_case_wrong(r, tesi_case_row(key), *map);
  *map = NULL;
  return status;
}

/* False, with an error: this cannot be a name. */
static TesStatus check_name(TesiCaseReader *r, int row, const TesiYaml *node, const TesiWords *words,
                            bool *good) {
  const char *refused = tesi_word_refused(words, node->key);
  TesiYaml at_key = *node;
  at_key.line = node->key_line, at_key.column = node->key_column;
  *good = !refused;
  return refused ? tesi_case_error(r, row, &at_key, "%.60s: %s", node->key, refused) : TES_OK;
}

/* ---- constants ----------------------------------------------------------------------------------------- */

/* *slope <- the derivative of a constant by the constant r->by, if there is one. */
static TesStatus find_slope(const TesiCaseReader *r, const TesiYaml *node, double *slope) {
  TesFunction *function = NULL;
  char message[TESI_EXPRESSION_MESSAGE];
  *slope = r->by && !strcmp(r->by, node->key);
  if (!r->by || *slope == 1) return TES_OK;
  const TesStatus status =
      tesi_function_slope_of_text(r->ctx, node->text, tesi_space_names, &function, message);
  if (status == TES_OK) tes_function_constant(function, slope);
  tes_function_destroy(&function);
  return status;
}

static TesStatus read_constant(TesiCaseReader *r, int row, const TesiYaml *node, TesiWords *words) {
  static const char *const none[] = {NULL};
  char message[TESI_EXPRESSION_MESSAGE] = "";
  TesiTerms terms = {.ctx = r->ctx};
  double value = NAN;
  int root = 0;
  if (node->kind != TESI_YAML_SCALAR || !*node->text)
    return tesi_case_error(r, row, node, "%.60s: expected a number or an expression without variables",
                           node->key);
  TesStatus status = TES_OK;
  if (!tesi_number_parse(node->text, &value)) {
    status = tesi_expression_parse(&terms, node->text, none, &root, message);
    if (status == TES_OK && terms.term[root].op == TESI_OP_CONSTANT) value = terms.term[root].value;
    tesi_terms_free(&terms);
  }
  if (status == TES_INVALID_INPUT) return tesi_case_error(r, row, node, "%.60s: %s", node->key, message);
  if (status == TES_OK && !isfinite(value))
    return tesi_case_error(r, row, node, "%.60s: '%.60s' is infinite or undefined", node->key, node->text);
  double slope = 0;
  if (status == TES_OK) status = find_slope(r, node, &slope);
  /* a number without a unit is in the system already, whatever it is */
  const TesiDimension dimension = terms.dimension.written ? terms.dimension : (TesiDimension){0};
  if (status == TES_OK) tesi_words_add_constant(words, node->key, value, slope, dimension);
  return status;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static char *skip_blanks(char *at) {
  return at + strspn(at, " \t\r,;");
}

/* Reads a number at *at, and moves *at behind it. */
static bool take_number(char **at, double *value) {
  const bool negative = **at == '-';
  if (**at == '-' || **at == '+') ++*at;
  const size_t length = tesi_number_read(*at, value);
  *at += length;
  if (negative) *value = -*value;
  return length > 0 && isfinite(*value);
}

/* Reads s and y from one line. */
static bool take_pair(char *line, double *s, double *y) {
  char *at = skip_blanks(line);
  if (!take_number(&at, s) || !strchr(" \t,;", *at)) return false;
  at = skip_blanks(at);
  if (!take_number(&at, y)) return false;
  at = skip_blanks(at);
  return *at == 0 || *at == '#';
}

/* Reads pairs from the text, which is cut into lines here; the first line may be a heading. On failure `why` has the
 * reason. */
static int read_pairs(char *text, double *s, double *y, char why[200]) {
  int n = 0, number = 0;
  for (char *line = text, *next; line && !*why; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    number++;
    const char *first = skip_blanks(line);
    if (!*first || *first == '#') continue;
    const bool pair = take_pair(line, &s[n], &y[n]);
    if (!pair && n == 0 && !strchr("+-.0123456789", *first)) continue;
    if (!pair)
      snprintf(why, 200, ":%d: expected two numbers, got '%.60s'", number, line);
    else if (n && !(s[n] > s[n - 1]))
      snprintf(why, 200, ":%d: %.10g is not above %.10g before it: the first column must ascend", number,
               s[n], s[n - 1]);
    else if (++n == KNOTS && next)
      snprintf(why, 200, ": more than %d lines", KNOTS);
  }
  if (n < 2 && !*why) snprintf(why, 200, ": a table has two lines at least, this has %d", n);
  return n;
}

static TesStatus read_file(TesiCaseReader *r, int row, const TesiYaml *node, const TesiYaml *at,
                           const char *path, bool cubic, TesiWords *words) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  char *text = NULL, why[200] = "";
  double *s = NULL, *y = NULL;
  size_t length, lines = 1;
  TES_TRY(tesi_file_read(ctx, path, LARGEST_TABLE, &text, &length));
  for (size_t i = 0; i < length; i++) {
    lines += text[i] == '\n';
    if (!text[i]) text[i] = '?'; /* read as text */
  }
  lines = lines < KNOTS ? lines : KNOTS;
  TES_ALLOC(&s, lines + 1);
  TES_ALLOC(&y, lines + 1);
  const int n = read_pairs(text, s, y, why);
  if (*why)
    TES_TRY(tesi_case_error(r, row, at, "%.60s: %.200s%s", node->key, path, why));
  else
    TES_TRY(tesi_words_add_table(words, node->key, n, s, y, cubic));
done:
  tesi_free(ctx, &text);
  tesi_free(ctx, &s);
  tesi_free(ctx, &y);
  return status;
}

/* "FILE", or {file: FILE, interpolation: linear}. */
static TesStatus read_table(TesiCaseReader *r, int row, const TesiYaml *node, TesiWords *words) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const bool map = node->kind == TESI_YAML_MAP;
  const TesiYaml *file = map ? tesi_yaml_find(node, "file") : node,
                 *how = map ? tesi_yaml_find(node, "interpolation") : NULL;
  const bool cubic = how && how->kind == TESI_YAML_SCALAR && !strcmp(how->text, "cubic");
  for (const TesiYaml *child = map ? node->first : NULL; child; child = child->next)
    if (child != file && child != how)
      return tesi_case_error(r, row, child, "%.60s: unknown key '%.60s'; known keys: file, interpolation",
                             node->key, child->key);
  if (!file || file->kind != TESI_YAML_SCALAR || !*file->text || tesi_yaml_is_null(file))
    return tesi_case_error(r, row, file ? file : node, "%.60s: expected {file: FILE, interpolation: linear}",
                           node->key);
  if (how && !cubic && (how->kind != TESI_YAML_SCALAR || strcmp(how->text, "linear")))
    return tesi_case_error(r, row, how, "%.60s: interpolation: expected linear or cubic", node->key);
  char **path = &r->draft.c.table[r->draft.c.tables++];
  TES_TRY(tesi_copy_text(ctx, file->text, path));
  TES_TRY(tesi_case_beside(r, file, path));
  TES_TRY(read_file(r, row, node, file, *path, cubic, words));
done:
  return status;
}

/* -------------------------------------------------------------------------------------------------------- */

/* A value that is not a word of the key is refused later, with the other keys. */
static TesiUnits find_units(const TesiCaseReader *r) {
  const TesiYaml *node = r->root->kind == TESI_YAML_MAP ? tesi_yaml_find(r->root, "units") : NULL;
  for (int i = 0; node && node->kind == TESI_YAML_SCALAR && tesi_units_words[i]; i++)
    if (!strcmp(node->text, tesi_units_words[i])) return (TesiUnits)i;
  return TESI_UNITS_NONE;
}

/* Each name is known to the names after it. */
TesStatus tesi_case_read_words(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiWords *words = NULL;
  const TesiYaml *constants, *tables;
  bool good;
  TES_TRY(find_map(r, "constants", &constants));
  TES_TRY(find_map(r, "tables", &tables));
  tesi_words_set(ctx, NULL);
  const TesiUnits units = find_units(r);
  if (!constants && !tables && !units) goto done;
  TES_TRY(tesi_words_create(ctx, constants ? constants->count : 0, tables ? tables->count : 0, &words));
  words->units = units;
  tesi_words_set(ctx, words);
  if (tables) TES_ALLOC(&r->draft.c.table, tables->count);
  for (const TesiYaml *node = constants ? constants->first : NULL; node; node = node->next) {
    if (tesi_yaml_is_null(node) && *node->text) continue;
    TES_TRY(check_name(r, tesi_case_row("constants"), node, words, &good));
    if (good) TES_TRY(read_constant(r, tesi_case_row("constants"), node, words));
  }
  for (const TesiYaml *node = tables ? tables->first : NULL; node; node = node->next) {
    if (tesi_yaml_is_null(node) && *node->text) continue;
    TES_TRY(check_name(r, tesi_case_row("tables"), node, words, &good));
    if (good) TES_TRY(read_table(r, tesi_case_row("tables"), node, words));
  }
done:
  tesi_words_release(&words);
  return status;
}
