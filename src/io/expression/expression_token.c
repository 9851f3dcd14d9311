#include "io/expression/expression_token.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/number.h"

/* At most `size` bytes of the text around `at`, with "..." where it is cut; control characters become blanks. */
static void excerpt(char *out, size_t size, const char *text, size_t at) {
  const size_t length = strlen(text), room = size - 7;
  const size_t first = length <= room || at < room / 2 ? 0 : at - room / 2;
  const size_t count = length - first < room ? length - first : room;
  snprintf(out, size, "%s%.*s%s", first ? "..." : "", (int)count, text + first,
           first + count < length ? "..." : "");
  for (char *c = out; *c; c++)
    if ((unsigned char)*c < 32 || *c == 127) *c = ' ';
}

void tesi_scanner_fail(TesiScanner *scanner, size_t at, const char *tail, const char *format, ...) {
  if (scanner->failed) return;
  scanner->failed = true;
  scanner->token.kind = TESI_TOKEN_END;
  char what[200], around[72];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  excerpt(around, sizeof around, scanner->text, at);
  snprintf(scanner->message, TESI_EXPRESSION_MESSAGE, "%s at column %zu of \"%s\"%s", what, at + 1, around,
           tail);
}

void tesi_scanner_expected(TesiScanner *scanner, const char *what, const char *tail) {
  const TesiToken *t = &scanner->token;
  if (t->kind == TESI_TOKEN_END)
    tesi_scanner_fail(scanner, t->first, tail, "expected %s, found the end", what);
  else
    tesi_scanner_fail(scanner, t->first, tail, "expected %s, found '%.*s'", what,
                      t->length < 40 ? (int)t->length : 40, scanner->text + t->first);
}

static void scan_number(TesiScanner *scanner) {
  TesiToken *t = &scanner->token;
  t->kind = TESI_TOKEN_NUMBER;
  t->length = tesi_number_read(scanner->text + t->first, &t->number);
  if (!isfinite(t->number)) tesi_scanner_fail(scanner, t->first, "", "number too large");
}

static void scan_name(TesiScanner *scanner) {
  TesiToken *t = &scanner->token;
  const char *text = scanner->text + t->first;
  while (tesi_is_letter(text[t->length]) || tesi_is_digit(text[t->length])) t->length++;
  if (t->length >= sizeof t->name) {
    tesi_scanner_fail(scanner, t->first, "", "unknown name '%.16s...'", text);
    return;
  }
  t->kind = TESI_TOKEN_NAME;
  memcpy(t->name, text, t->length);
  t->name[t->length] = 0;
}

/* Characters that are not operators here but are operators in other languages. */
static const char *hint(const char *text) {
  if (*text == '=') return "; for equality use ==";
  if (*text == '&') return "; for 'and' use &&";
  if (*text == '|') return "; for 'or' use ||, for absolute values abs(a)";
  if (*text == '[' || *text == '{') return "; use round parentheses";
  if ((unsigned char)*text >= 128) return "; only ASCII characters have a meaning here";
  return "";
}

static void scan_operator(TesiScanner *scanner) {
  static const char *const operators[] = {"<=", ">=", "==", "!=", "&&", "||", "**", "+", "-", "*", "/",
                                          "^",  "%",  "!",  "<",  ">",  "?",  ":",  "(", ")", ","};
  TesiToken *t = &scanner->token;
  const char *text = scanner->text + t->first;
  t->kind = TESI_TOKEN_OPERATOR;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    t->length = strlen(operators[i]);
    if (strncmp(text, operators[i], t->length)) continue;
    strcpy(t->op, strcmp(operators[i], "**") != 0 ? operators[i] : "^"); /* both are powers */
    return;
  }
  if ((unsigned char)*text < 32 || (unsigned char)*text > 126)
    tesi_scanner_fail(scanner, t->first, hint(text), "unexpected character");
  else
    tesi_scanner_fail(scanner, t->first, hint(text), "unexpected '%c'", *text);
}

void tesi_scanner_advance(TesiScanner *scanner) {
  if (scanner->failed) return;
  const char *text = scanner->text;
  size_t at = scanner->next;
  while (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') at++;
  scanner->token = (TesiToken){.first = at};
  if (!text[at])
    scanner->token.kind = TESI_TOKEN_END;
  else if (tesi_is_digit(text[at]) || (text[at] == '.' && tesi_is_digit(text[at + 1])))
    scan_number(scanner);
  else if (tesi_is_letter(text[at]))
    scan_name(scanner);
  else
    scan_operator(scanner);
  scanner->next = at + scanner->token.length;
}

bool tesi_scanner_at(const TesiScanner *scanner, const char *op) {
  return scanner->token.kind == TESI_TOKEN_OPERATOR && !strcmp(scanner->token.op, op);
}

bool tesi_scanner_accept(TesiScanner *scanner, const char *op) {
  if (!tesi_scanner_at(scanner, op)) return false;
  tesi_scanner_advance(scanner);
  return true;
}
