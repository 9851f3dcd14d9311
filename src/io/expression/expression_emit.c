/* Terms as C text, one statement per term. The texts of expression_ops.h are templates, in which a, b, c stand for
 * the operands. If functions of t alone are called, the text has two parts, so that loops over points can call the
 * first part once. */
#include <stdio.h>
#include <string.h>
#include "io/expression/expression.h"
#include "io/number.h"

typedef struct Writer {
  char *buffer;
  size_t size, length; /* length may be larger than size: the length of the complete text */
  const short
      /* [terms] index of a term that the first part has computed; -1: other terms; NULL: there is no first part */
      *early;
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
  else if (w->early && w->early[i] >= 0)
    snprintf(text, sizeof text, "early[%d]", w->early[i]);
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

static void put_number(Writer *w, const char *before, double value) {
  char text[40];
  put(w, before);
  tesi_number_write(text, sizeof text - 3, value);
  put(w, text);
}

/* DECLARATION_table0_1: table 0, differentiated once. */
static void put_table_name(Writer *w, const char *name, const TesiTerm *term) {
  char text[48];
  put(w, name);
  snprintf(text, sizeof text, "_table%d_%d", term->b, term->c);
  put(w, text);
}

/* A separate function: knots, polynomials, and the search of tesi_table_value(). */
static void put_table(Writer *w, const TesiTable *table, const TesiTerm *term, const char *declaration,
                      const char *real) {
  const int n = table->knots;
  double c[4];
  char text[200];
  put_table_name(w, declaration, term);
  snprintf(text, sizeof text, "(%s s) {\n  static const %s k[%d] = {", real, real, n);
  put(w, text);
  for (int i = 0; i < n; i++) put_number(w, i ? ", " : "", table->s[i]);
  snprintf(text, sizeof text, "};\n  static const %s c[%d][4] = {", real, n - 1);
  put(w, text);
  for (int i = 0; i < n - 1; i++) {
    tesi_table_polynomial(table, i, term->c, c);
    for (int j = 0; j < 4; j++) put_number(w, j ? ", " : i ? ", {" : "{", c[j]);
    put(w, "}");
  }
  snprintf(text, sizeof text, "};\n  int low = 0, high = %d;\n  if (s != s) return s;\n", n - 1);
  put(w, text);
  put_number(w, "  if (s < k[0]) return ", term->c ? 0 : table->c[0][0]);
  put_number(w, ";\n  if (s >= k[high]) return ", term->c ? 0 : table->last);
  put(w, ";\n  while (high - low > 1) {\n    const int middle = (low + high) / 2;\n"
         "    if (s < k[middle]) high = middle; else low = middle;\n  }\n  s -= k[low];\n"
         "  return ((c[low][3] * s + c[low][2]) * s + c[low][1]) * s + c[low][0];\n}\n");
}

/* Each table, once for each derivative of it in use. */
static void put_tables(Writer *w, const TesiTerms *terms, int root, const bool *needed,
                       const char *declaration, const char *real) {
  for (int i = 0; i <= root; i++) {
    const TesiTerm *term = &terms->term[i];
    bool first = needed[i] && term->op == TESI_OP_TABLE;
    for (int j = 0; j < i && first; j++)
      first = !(needed[j] && terms->term[j].op == TESI_OP_TABLE && terms->term[j].b == term->b &&
                terms->term[j].c == term->c);
    if (first) put_table(w, &terms->words->table[term->b], term, declaration, real);
  }
}

/* The last word of a declaration: "static double f" -> "f". */
static const char *name_of(const char *declaration) {
  const char *blank = strrchr(declaration, ' ');
  return blank ? blank + 1 : declaration;
}

/* "const double v7 = ...;" for the terms i < end that are wanted. */
static void put_statements(Writer *w, const TesiTerms *terms, int end, const bool *wanted,
                           const char *declaration, const char *real) {
  char name[24];
  for (int i = 0; i < end; i++) {
    if (!wanted[i] || !tesi_op_operands[terms->term[i].op]) continue;
    snprintf(name, sizeof name, " v%d = ", i);
    put(w, "  const ");
    put(w, real);
    put(w, name);
    if (terms->term[i].op == TESI_OP_TABLE) {
      put_table_name(w, name_of(declaration), &terms->term[i]);
      put(w, "(");
      put_operand(w, terms, terms->term[i].a);
      put(w, ")");
    } else {
      put_value(w, terms, &terms->term[i]);
    }
    put(w, ";\n");
  }
}

/* DECLARATION, more of its name, and (real x, real y, real z, real t. */
static void put_head(Writer *w, const char *declaration, const char *more, const char *real) {
  static const char *const variables[4] = {"x", "y", "z", "t"};
  put(w, declaration);
  put(w, more);
  for (int d = 0; d < 4; d++) {
    put(w, d ? ", " : "(");
    put(w, real);
    put(w, " ");
    put(w, variables[d]);
  }
}

static void put_return(Writer *w, const TesiTerms *terms, int root) {
  put(w, "  return ");
  put_operand(w, terms, root);
  put(w, ";\n}\n");
}

/* Whether an operation takes many instructions: functions do, which follow the operators in expression_ops.h. */
static bool is_call(TesiOp op) {
  return op >= TESI_OP_FMOD;
}

/* of_time[i]: the term is needed and depends on t alone. early[i]: its index among those that other terms need; -1:
 * other terms. Returns the number of early terms; 0 if no function of t alone is called, since nothing is gained
 * then. */
static int split(const TesiTerms *terms, int root, const bool *needed, bool *of_time, short *early) {
  bool timed[TESI_EXPRESSION_TERMS], called = false; /* timed: the term depends on t, and on nothing else */
  int count = 0;
  for (int i = 0; i <= root; i++) {
    const TesiTerm *term = &terms->term[i];
    const int operands = tesi_op_operands[term->op];
    bool other = term->op == TESI_OP_VARIABLE && term->a != TESI_EXPRESSION_TIME;
    timed[i] = term->op == TESI_OP_VARIABLE && !other;
    for (int k = 0; k < operands; k++) {
      const int of = tesi_term_operand(term, k);
      timed[i] = timed[i] || timed[of];
      other = other || (!timed[of] && terms->term[of].op != TESI_OP_CONSTANT);
    }
    timed[i] = timed[i] && !other;
    of_time[i] = timed[i] && needed[i] && operands;
    called = called || (of_time[i] && is_call((TesiOp)term->op));
    early[i] = -1;
  }
  if (!called || of_time[root]) return 0;
  for (int i = 0; i <= root; i++)
    for (int k = 0; k < tesi_op_operands[terms->term[i].op] && needed[i] && !of_time[i]; k++) {
      const int of = tesi_term_operand(&terms->term[i], k);
      if (of_time[of] && early[of] < 0) early[of] = (short)count++;
    }
  return count;
}

/* #define NAME_parts n; void NAME_early(t, early[n]); DECLARATION_late(x, y, z, t, early) and a function of both. */
static void put_parts(Writer *w, const TesiTerms *terms, int root, const bool *needed, bool *of_time,
                      const short *early, int count, const char *declaration, const char *real) {
  const char *name = name_of(declaration), *result = strstr(declaration, real);
  bool late[TESI_EXPRESSION_TERMS];
  char text[160];
  for (int i = 0; i <= root; i++) late[i] = needed[i] && !of_time[i];
  snprintf(text, sizeof text, "#define %s_parts %d\n%.*svoid %s_early(%s t, %s *early) {\n", name, count,
           result ? (int)(result - declaration) : 0, declaration, name, real, real);
  put(w, text);
  put_statements(w, terms, root, of_time, declaration, real);
  for (int i = 0; i <= root; i++) {
    if (early[i] < 0) continue;
    snprintf(text, sizeof text, "  early[%d] = v%d;\n", early[i], i);
    put(w, text);
  }
  put(w, "}\n");
  put_head(w, declaration, "_late", real);
  snprintf(text, sizeof text, ", const %s *early) {\n", real);
  put(w, text);
  w->early = early;
  put_statements(w, terms, root + 1, late, declaration, real);
  put_return(w, terms, root);
  put_head(w, declaration, "", real);
  snprintf(text, sizeof text,
           ") {\n  %s early[%d];\n  %s_early(t, early);\n  return %s_late(x, y, z, t, early);\n}\n", real,
           count, name, name);
  put(w, text);
}

int tesi_terms_emit_c(const TesiTerms *terms, int root, const char *declaration, const char *real,
                      char *buffer, size_t size) {
  bool needed[TESI_EXPRESSION_TERMS], of_time[TESI_EXPRESSION_TERMS];
  short early[TESI_EXPRESSION_TERMS];
  Writer w = {buffer, size, 0, NULL};
  tesi_terms_needed(terms, root, needed);
  put_tables(&w, terms, root, needed, declaration, real);
  const int count = split(terms, root, needed, of_time, early);
  if (count) {
    put_parts(&w, terms, root, needed, of_time, early, count, declaration, real);
  } else {
    put_head(&w, declaration, "", real);
    put(&w, ") {\n");
    put_statements(&w, terms, root + 1, needed, declaration, real);
    put_return(&w, terms, root);
  }
  if (size) buffer[w.length < size ? w.length : size - 1] = 0;
  return (int)w.length;
}
