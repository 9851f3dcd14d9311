/* Derived values of a case, from other values, from constants and from each other: {of: "2*drag/(U*U*D)"}. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "io/case/case_reader.h"
#include "io/expression/expression.h"

enum { MOST = TESI_EXPRESSION_VARIABLES - 1 };

/* order: number of derived values in front of it */
struct TesCaseDerived {
  TesFunction *function;
  int count, order, of[MOST]; /* numbers of the values that are the expression's variables */
};

void tesi_case_free_derived(TesContext *ctx, TesCaseDerived **derived) {
  if (!*derived) return;
  tes_function_destroy(&(*derived)->function);
  tesi_free(ctx, derived);
}

/* Keeps the expression; its names are looked up when all values are known. */
TesStatus tesi_case_read_derived(TesiCaseReader *r, const TesiYaml *of, TesCaseValue *v) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TES_NEW(&v->derived);
  TES_TRY(tesi_copy_text(ctx, of->text, &v->value.of));
done:
  return status;
}

/* Whether the text uses the name as a value: not as a part of another name, and not as a function. */
static bool is_word_of(const char *text, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += length) {
    const char before = at > text ? at[-1] : ' ', behind = at[length];
    const bool whole =
        !isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)behind) && behind != '_';
    if (whole && at[length + strspn(at + length, " ")] != '(') return true;
  }
  return false;
}

/* Whether the name has another meaning in expressions: a constant such as e, a function, or a constant or table of
 * the case. */
static bool is_taken(const TesContext *ctx, const char *name) {
  const TesiWords *words = tesi_words_of(ctx);
  return tesi_expression_knows(name) ||
         (words && (tesi_words_find_constant(words, name) >= 0 || tesi_words_find_table(words, name) >= 0));
}

/* A value used by the expression whose name has another meaning there; NULL: none. */
static const char *find_ambiguous(const TesCase *c, const char *text) {
  for (int i = 0; i < c->values; i++)
    if (is_word_of(text, c->value[i].name) && is_taken(c->context, c->value[i].name)) return c->value[i].name;
  return NULL;
}

/* Numbers of the values whose names the expression may use: all but its own. */
static int list_names(const TesCase *c, const TesCaseValue *v, bool all, const char *name[MOST + 1],
                      int number[MOST]) {
  int n = 0;
  for (int i = 0; i < c->values && n < MOST; i++) {
    if (is_taken(c->context, c->value[i].name)) continue;
    if (all ? &c->value[i] == v : !is_word_of(v->value.of, c->value[i].name)) continue;
    name[n] = c->value[i].name;
    number[n++] = i;
  }
  name[n] = NULL;
  return n;
}

static TesStatus parse(TesiCaseReader *r, int row, const TesiYaml *of, TesCaseValue *v) {
  const TesCase *c = &r->draft.c;
  const char *name[MOST + 1];
  char message[TESI_EXPRESSION_MESSAGE];
  int number[MOST];
  const char *ambiguous = find_ambiguous(c, v->value.of);
  if (ambiguous) {
    snprintf(message, sizeof message,
             "%.60s is a value, and a constant or function of expressions: give the value another name",
             ambiguous);
  } else {
    v->derived->count = list_names(c, v, false, name, v->derived->of);
    TesStatus status = tesi_function_from_text(r->ctx, v->value.of, name, &v->derived->function, message);
    if (status != TES_INVALID_INPUT) return status;
    list_names(c, v, true, name, number); /* for the message */
    status = tesi_function_from_text(r->ctx, v->value.of, name, &v->derived->function, message);
    if (status != TES_INVALID_INPUT) return status;
  }
  return tesi_case_error(r, row, of, "%s%s", message,
                         strstr(message, "unknown name")
                             ? " (without point, mean, integral, force, error, max or min a value is made of "
                               "other values and of constants)"
                             : "");
}

/* Finds an order in which each derived value comes after the values that it uses. Returns the number of a value that
 * depends on itself; -1: there is such an order. */
static int find_order(const TesCase *c) {
  int left = 0, placed = 0, before = -1;
  for (int i = 0; i < c->values; i++)
    if (c->value[i].derived) c->value[i].derived->order = -1, left++;
  while (placed != before && placed < left) {
    before = placed;
    for (int i = 0; i < c->values; i++) {
      TesCaseDerived *d = c->value[i].derived;
      bool ready = d && d->order < 0;
      for (int k = 0; ready && k < d->count; k++) {
        const TesCaseDerived *other = c->value[d->of[k]].derived;
        ready = !other || other->order >= 0;
      }
      if (ready) d->order = placed++;
    }
  }
  for (int i = 0; i < c->values; i++)
    if (c->value[i].derived && c->value[i].derived->order < 0) return i;
  return -1;
}

TesStatus tesi_case_resolve_derived(TesiCaseReader *r, int row, const TesiYaml *values) {
  TesStatus status = TES_OK;
  const TesCase *c = &r->draft.c;
  const int errors = r->error_count;
  int i = 0;
  for (const TesiYaml *node = values->first; node && status == TES_OK; node = node->next) {
    if (tesi_yaml_is_null(node) && *node->text) continue;
    TesCaseValue *v = &c->value[i++];
    if (v->derived) status = parse(r, row, tesi_yaml_find(node, "of"), v);
  }
  const int circle = status == TES_OK && r->error_count == errors ? find_order(c) : -1;
  if (circle < 0) return status;
  i = 0;
  for (const TesiYaml *node = values->first; node; node = node->next) {
    if (tesi_yaml_is_null(node) && *node->text) continue;
    if (i++ == circle)
      return tesi_case_error(r, row, tesi_yaml_find(node, "of"),
                             "%.60s is made of itself, by way of other values", node->key);
  }
  return status;
}

static double evaluate(const TesCaseDerived *d, const TesFunction *function, const double *number) {
  const double none = 0, *variable[MOST], *const *at = variable;
  double value;
  for (int k = 0; k < MOST; k++) variable[k] = k < d->count ? &number[d->of[k]] : &none;
  tesi_function_values_over(function, 1, at[0], at[1], at[2], *at[3], at + 4, &value);
  return value;
}

void tes_case_derive(const TesCase *input, double *values) {
  for (int order = 0; order < input->values; order++)
    for (int i = 0; i < input->values; i++) {
      const TesCaseDerived *d = input->value[i].derived;
      if (!d || d->order != order) continue;
      values[i] = evaluate(d, d->function, values);
    }
}

static TesStatus add_weights(const TesCaseDerived *d, const double *number, double of, double *weight) {
  TesStatus status = TES_OK;
  for (int k = 0; k < d->count && status == TES_OK; k++) {
    enum { FIXED = 4 }; /* variables that every function has */
    TesFunction *slope = NULL;
    status = tesi_function_slope(d->function, k - FIXED, &slope);
    if (status == TES_OK) weight[d->of[k]] += of * evaluate(d, slope, number);
    tes_function_destroy(&slope);
  }
  return status;
}

TesStatus tesi_case_weigh(const TesCase *c, const double *number, double *weight) {
  TesStatus status = TES_OK;
  for (int order = c->values - 1; order >= 0; order--)
    for (int i = 0; i < c->values && status == TES_OK; i++) {
      const TesCaseDerived *d = c->value[i].derived;
      if (d && d->order == order && weight[i] != 0) status = add_weights(d, number, weight[i], weight);
    }
  return status;
}

TesStatus tesi_case_derived_slope(const TesCase *c, int i, const double *number, double *slope) {
  const TesCaseDerived *d = c->value[i].derived;
  const char *name[MOST + 1] = {NULL};
  char message[TESI_EXPRESSION_MESSAGE] = "";
  TesFunction *function = NULL;
  for (int k = 0; k < d->count; k++) name[k] = c->value[d->of[k]].name;
  const TesStatus status = tesi_function_slope_of_text(
      c->context, c->value[i].value.of, d->count ? name : tesi_space_names, &function, message);
  *slope = status == TES_OK ? evaluate(d, function, number) : 0;
  tes_function_destroy(&function);
  return status;
}
