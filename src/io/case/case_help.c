/* The table of keys as text. */
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"

typedef struct Writer {
  char *buffer;
  size_t size, length; /* length may be larger than size: the length of the complete text */
} Writer;

static void put(Writer *w, const char *format, ...) TESI_PRINTF(2, 3);
static void put(Writer *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const bool room = w->length < w->size;
  const int n =
      vsnprintf(room ? w->buffer + w->length : NULL, room ? w->size - w->length : 0, format, arguments);
  va_end(arguments);
  if (n > 0) w->length += (size_t)n;
}

enum { TYPE_TEXT = 700 };

/* The conditions of each equation, with all its elements. */
static void conditions_text(char text[TYPE_TEXT]) {
  const TesiSupport *row;
  int length = snprintf(text, TYPE_TEXT, "one condition;");
  for (int e = 0; tesi_equation_words[e] && length < TYPE_TEXT; e++) {
    unsigned words = 0;
    for (int i = 0; (row = tesi_support_row(i)); i++)
      if (row->equation == (TesEquation)e) words |= row->words[TESI_OF_CONDITION];
    length +=
        snprintf(text + length, (size_t)(TYPE_TEXT - length), "%s %s:", e ? ";" : "", tesi_equation_words[e]);
    for (int w = TESI_NAMED_NONE + 1, count = 0; w < TESI_NAMED_COUNT && length < TYPE_TEXT; w++)
      if (words >> w & 1)
        length += snprintf(text + length, (size_t)(TYPE_TEXT - length), "%s `%s`", count++ ? "," : "",
                           tesi_support_words[TESI_OF_CONDITION].word[w]);
  }
}

static void type_text(const TesiKey *key, char text[TYPE_TEXT]) {
  if (key->type == TESI_KEY_MAP)
    snprintf(text, TYPE_TEXT, "keys below");
  else if (key->type == TESI_KEY_ONE_OF && strcmp(key->path, "boundary.all"))
    snprintf(text, TYPE_TEXT, "one condition, as of `boundary.all`");
  else if (key->type == TESI_KEY_ONE_OF)
    conditions_text(text);
  else
    tesi_case_expected(key, text);
}

void tesi_case_key_help(const TesiKey *key, char text[TESI_CASE_HELP]) {
  char others[TESI_REASON] = "";
  for (int i = 0; i < TESI_HAS_COUNT; i++)
    if (!key->all_rows && !strcmp(tesi_has_key((TesiHas)i), key->path)) tesi_support_who((TesiHas)i, others);
  snprintf(text, TESI_CASE_HELP, "%s%s%s", others, *others ? ": " : "", key->help);
}

static void put_row(Writer *w, const TesiKey *key, TesCaseHelp format) {
  char type[TYPE_TEXT], help[TESI_CASE_HELP];
  const char *fallback = key->required        ? "required"
                         : key->fallback_note ? key->fallback_note
                         : key->fallback      ? key->fallback
                                              : "-";
  type_text(key, type);
  tesi_case_key_help(key, help);
  if (format == TES_CASE_HELP_MARKDOWN)
    put(w, "| `%s` | %s | %s | %s |\n", key->path, type, fallback, help);
  else if (key->type == TESI_KEY_MAP)
    put(w, "%s: %s%s\n", key->path, help, key->required ? " (required)" : "");
  else
    put(w, "  %s: %s\n      %s; default: %s\n", key->path, help, type, fallback);
}

/* `boundary.FACE.dirichlet` stands for the rows of all faces. */
static void put_face_rows(Writer *w, TesCaseHelp format) {
  static const char all[] = "boundary.all.";
  for (int i = 0; i < tesi_case_key_count; i++) {
    TesiKey key = tesi_case_keys[i];
    char path[64];
    if (strncmp(key.path, all, sizeof all - 1)) continue;
    snprintf(path, sizeof path, "boundary.FACE.%s", key.path + sizeof all - 1);
    key.path = path;
    put_row(w, &key, format);
  }
}

static bool below(const char *path, const char *root) {
  const size_t length = strlen(root);
  return !length || (!strncmp(path, root, length) && (!path[length] || path[length] == '.'));
}

size_t tes_case_help(const char *path, TesCaseHelp format, char *buffer, size_t size) {
  Writer w = {buffer, size, 0};
  if (!path) path = "";
  if (size) *buffer = 0;
  if (format == TES_CASE_HELP_SUPPORT) return tesi_support_table(buffer, size);
  if (*path && tesi_case_row(path) < 0) return 0;
  if (format == TES_CASE_HELP_MARKDOWN) put(&w, "| Key | Value | Default | Meaning |\n|---|---|---|---|\n");
  for (int i = 0; i < tesi_case_key_count; i++) {
    const TesiKey *key = &tesi_case_keys[i];
    if (below(key->path, path) && (!key->repeated || !strcmp(key->path, path))) put_row(&w, key, format);
    if (!strcmp(key->path, "boundary.front") && below(key->path, path)) put_face_rows(&w, format);
  }
  return w.length;
}

const char *tes_case_choice(const char *key, int value) {
  const int row = tesi_case_row(key);
  const char *const *choices = row < 0 ? NULL : tesi_case_keys[row].choices;
  for (int i = 0; choices && choices[i]; i++)
    if (i == value) return choices[i];
  return NULL;
}
