/* Terms as C text: one statement a term. The texts of expression_ops.h serve as templates, in which a, b, c stand for
 * the operands. */
#include <stdio.h>
#include <string.h>
#include "io/expression/expression.h"
#include "io/number.h"

typedef struct Writer {
  char *buffer;
  size_t size, length; /* length may pass size: what would have been written */
} Writer;

static void put(Writer *w, const char *text) {
  for (; *text; text++, w->length++)
    if (w->length + 1 < w->size) w->buffer[w->length] = *text;
}

static void put_operand(Writer *w, const TesiTerms *terms, int i) {
  const TesiTerm *term = &terms->term[i];
  char text[40];
  if (term->op == TESI_OP_CONSTANT) {
    tesi_number_write(text, sizeof text - 3, term->value);
    put(w, term->value < 0 ? "(" : "");
    put(w, text);
    put(w, strpbrk(text, ".e") ? "" : ".0");
    put(w, term->value < 0 ? ")" : "");
    return;
  }
  if (term->op == TESI_OP_VARIABLE)
    snprintf(text, sizeof text, "%c", "xyzt"[term->a]);
  else
    snprintf(text, sizeof text, "v%d", i);
  put(w, text);
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static void put_value(Writer *w, const TesiTerms *terms, const TesiTerm *term) {
  static const char *const templates[TESI_OPS] = {
#define OP(constant, operands, name, value) [TESI_OP_##constant] = #value,
      TESI_OP_LIST(OP)
#undef OP
  };
  const char *text = templates[term->op];
  for (size_t i = 0; text[i];) {
    size_t n = 0;
    while (is_word(text[i + n])) n++;
    if (n == 1 && text[i] >= 'a' && text[i] <= 'c') {
      put_operand(w, terms, tesi_term_operand(term, text[i] - 'a'));
    } else {
      if (!n) n = 1;
      char piece[16];
      snprintf(piece, sizeof piece, "%.*s", (int)n, text + i);
      put(w, piece);
    }
    i += n;
  }
}

int tesi_terms_emit_c(const TesiTerms *terms, int root, const char *declaration, const char *real,
                      char *buffer, size_t size) {
  static const char *const variables[4] = {"x", "y", "z", "t"};
  bool needed[TESI_EXPRESSION_TERMS];
  Writer w = {buffer, size, 0};
  char name[24];
  tesi_terms_needed(terms, root, needed);
  put(&w, declaration);
  for (int d = 0; d < 4; d++) {
    put(&w, d ? ", " : "(");
    put(&w, real);
    put(&w, " ");
    put(&w, variables[d]);
  }
  put(&w, ") {\n");
  for (int i = 0; i <= root; i++) {
    if (!needed[i] || !tesi_op_operands[terms->term[i].op]) continue;
    snprintf(name, sizeof name, " v%d = ", i);
    put(&w, "  const ");
    put(&w, real);
    put(&w, name);
    put_value(&w, terms, &terms->term[i]);
    put(&w, ";\n");
  }
  put(&w, "  return ");
  put_operand(&w, terms, root);
  put(&w, ";\n}\n");
  if (size) buffer[w.length < size ? w.length : size - 1] = 0;
  return (int)w.length;
}
