/* Recursive descent with precedence climbing:
 *   expression = binary(1) [ "?" expression ":" expression ]
 *   binary(p)  = unary { operator of precedence >= p, binary(its precedence + 1) }
 *   unary      = { "-" | "+" | "!" } power
 *   power      = primary [ ( "^" | "**" ) unary ]: from the right, so that -x^2 = -(x^2) and 2^3^2 = 2^9
 *   primary    = number | name | name "(" expression { "," expression } ")" | "(" expression ")" */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/expression/expression_token.h"
#include "base/nearest.h"

typedef struct Parser {
  TesiScanner scanner;
  TesiTerms *terms;
  const char *const *variables; /* NULL ends the list */
  const TesiWords *words;       /* of the context */
  int depth;
  enum { OTHER, NUMBER, QUANTITY } last; /* of the last primary; QUANTITY: a number with a unit */
  TesiDimension dimension;               /* of what was parsed last */
} Parser;

static const struct {
  const char *name;
  double value;
} constants[] = {{"pi", 3.14159265358979323846}, {"e", 2.7182818284590452354}};

static const struct Function {
  const char *name;
  TesiOp op;
  int operands;
} functions[] = {
#define OP(constant, operands, name, value) {name, TESI_OP_##constant, operands},
    TESI_OP_LIST(OP)
#undef OP
        {"abs", TESI_OP_FABS, 1},
    {"min", TESI_OP_FMIN, 2},
    {"max", TESI_OP_FMAX, 2},
};

/* swap: a > b is b < a. */
static const struct Binary {
  const char *text;
  TesiOp op;
  int precedence;
  bool swap;
} binaries[] = {
    {"||", TESI_OP_OR, 1, false},         {"&&", TESI_OP_AND, 2, false},
    {"==", TESI_OP_EQUAL, 3, false},      {"!=", TESI_OP_NOT_EQUAL, 3, false},
    {"<", TESI_OP_LESS, 4, false},        {">", TESI_OP_LESS, 4, true},
    {"<=", TESI_OP_LESS_EQUAL, 4, false}, {">=", TESI_OP_LESS_EQUAL, 4, true},
    {"+", TESI_OP_ADD, 5, false},         {"-", TESI_OP_SUBTRACT, 5, false},
    {"*", TESI_OP_MULTIPLY, 6, false},    {"/", TESI_OP_DIVIDE, 6, false},
    {"%", TESI_OP_FMOD, 6, false},
};

static int expression(Parser *p);
static int unary(Parser *p);

static const struct Function *find_function(const char *name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (functions[i].name && !strcmp(functions[i].name, name)) return &functions[i];
  return NULL;
}

static int find_variable(const Parser *p, const char *name) {
  for (int i = 0; p->variables[i]; i++)
    if (!strcmp(p->variables[i], name)) return i;
  return -1;
}

/* Whether the first variables are the coordinates. */
static bool in_space(const Parser *p) {
  for (int d = 0; d < 3; d++)
    if (!p->variables[d] || strcmp(p->variables[d], tesi_space_names[d]) != 0) return false;
  return true;
}

/* r, the distance from the origin. */
static bool is_radius(const Parser *p, const char *name) {
  return !strcmp(name, "r") && in_space(p);
}

static int radius(TesiTerms *terms) {
  int sum = 0;
  for (int d = 0; d < 3; d++) {
    const int x = tesi_term_variable(terms, d), square = tesi_term(terms, TESI_OP_MULTIPLY, x, x, 0);
    sum = d ? tesi_term(terms, TESI_OP_ADD, sum, square, 0) : square;
  }
  return tesi_term(terms, TESI_OP_SQRT, sum, 0, 0);
}

static const double *find_constant(const TesiWords *words, const char *name) {
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
    if (!strcmp(constants[i].name, name)) return &constants[i].value;
  const int word = tesi_words_find_constant(words, name);
  return word >= 0 ? &words->constant[word].value : NULL;
}

bool tesi_expression_knows(const char *name) {
  return find_function(name) || find_constant(NULL, name);
}

/* "; did you mean 'sin'?", or the list of variables. */
static void fail_unknown(Parser *p, const TesiToken *name) {
  const char *const n = name->name;
  if (n[0] == 'n' && n[1] >= 'x' && n[1] <= 'z' && !n[2]) {
    tesi_scanner_fail(&p->scanner, name->first, "; the normal nx, ny, nz is known on boundaries alone",
                      "unknown name '%s'", name->name);
    return;
  }
  TesiNearest nearest = {.name = name->name};
  char tail[240], list[200] = "";
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (functions[i].name) tesi_nearest_try(&nearest, functions[i].name);
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
    tesi_nearest_try(&nearest, constants[i].name);
  for (int i = 0; p->words && i < p->words->constants; i++)
    tesi_nearest_try(&nearest, p->words->constant[i].name);
  for (int i = 0; p->words && i < p->words->tables; i++) tesi_nearest_try(&nearest, p->words->table[i].name);
  for (size_t i = 0; p->variables[i]; i++) {
    tesi_nearest_try(&nearest, p->variables[i]);
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", p->variables[i]);
  }
  if (is_radius(p, "r")) snprintf(list + strlen(list), sizeof list - strlen(list), ", r");
  if (nearest.best)
    snprintf(tail, sizeof tail, "; did you mean '%s'?", nearest.best);
  else
    snprintf(tail, sizeof tail, "; variables here: %s", *list ? list : "none");
  tesi_scanner_fail(&p->scanner, name->first, tail, "unknown name '%s'", name->name);
}

/* ---- dimensions ---------------------------------------------------------------------------------------- */

static const TesiDimension pure = {.is = TESI_DIMENSION_NUMBER},
                           of_length = {TESI_DIMENSION_KNOWN, false, {1}},
                           of_time = {TESI_DIMENSION_KNOWN, false, {0, 0, 1}};

static TesiDimension dimension_of_variable(const Parser *p, int variable) {
  if (!in_space(p)) return (TesiDimension){0};
  const bool normal = variable > TESI_EXPRESSION_TIME && p->variables[variable][0] == 'n' &&
                      strspn(p->variables[variable] + 1, "xyz") == 1 && !p->variables[variable][2];
  return variable < TESI_EXPRESSION_TIME    ? of_length
         : variable == TESI_EXPRESSION_TIME ? of_time
         : normal                           ? pure
                                            : (TesiDimension){0};
}

/* p->dimension <- of a sum, a comparison or the like of what was parsed last and of `left`. */
static void join(Parser *p, const char *by, size_t at, TesiDimension left) {
  if (!tesi_dimension_join(left, p->dimension, &p->dimension) && !p->terms->composed)
    tesi_scanner_fail(&p->scanner, at, "", "'%s' joins units of different kinds", by);
}

/* p->dimension <- of a function of the last argument and, of two, of `first`. */
static void dimension_of_call(Parser *p, const TesiToken *name, const struct Function *f, TesiDimension first) {
  switch (f->op) {
  case TESI_OP_FABS:
  case TESI_OP_FLOOR:
  case TESI_OP_CEIL:
  case TESI_OP_ROUND:
  case TESI_OP_TRUNC:
    return;
  case TESI_OP_SQRT:
  case TESI_OP_CBRT:
    p->dimension = tesi_dimension_power(p->dimension, f->op == TESI_OP_SQRT ? 1. / 2 : 1. / 3);
    return;
  case TESI_OP_FMIN:
  case TESI_OP_FMAX:
  case TESI_OP_HYPOT:
  case TESI_OP_FMOD:
    join(p, name->name, name->first, first);
    return;
  case TESI_OP_COPYSIGN:
    p->dimension = first;
    return;
  case TESI_OP_ATAN2:
    join(p, name->name, name->first, first);
    break;
  case TESI_OP_POW:
    p->dimension = (TesiDimension){0};
    return;
  default:
    if (!tesi_dimension_may_be(p->dimension, pure.power) && !p->terms->composed)
      tesi_scanner_fail(&p->scanner, name->first, "; its argument is a number without a unit",
                        "%s() of a number with a unit", f->name);
  }
  p->dimension = pure;
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* A function of the case. */
static int call_table(Parser *p, const TesiToken *name, int table) {
  if (!tesi_scanner_accept(&p->scanner, "(")) {
    tesi_scanner_fail(&p->scanner, name->first, "", "%s is a table and needs its argument in parentheses,",
                      name->name);
    return 0;
  }
  const int value = expression(p);
  if (!p->scanner.failed && !tesi_scanner_accept(&p->scanner, ")"))
    tesi_scanner_expected(&p->scanner, "')' or an operator", "");
  if (!p->terms->words) p->terms->words = tesi_words_retain(p->words);
  p->dimension = (TesiDimension){0};
  return p->scanner.failed ? 0 : tesi_term_table(p->terms, table, 0, value);
}

/* The parenthesis is the current token. */
static int call(Parser *p, const TesiToken *name, const struct Function *f) {
  int argument[3] = {0}, count = 0;
  TesiDimension first = {0};
  tesi_scanner_advance(&p->scanner);
  if (!tesi_scanner_at(&p->scanner, ")")) {
    do {
      const int value = expression(p);
      if (count == 0) first = p->dimension;
      if (count < 3) argument[count] = value;
      count++;
    } while (tesi_scanner_accept(&p->scanner, ","));
  }
  if (!p->scanner.failed && !tesi_scanner_at(&p->scanner, ")"))
    tesi_scanner_expected(&p->scanner, count < f->operands ? "',' or an operator" : "')' or an operator", "");
  if (count != f->operands)
    tesi_scanner_fail(&p->scanner, name->first, "", "%s takes %d argument%s, got %d,", f->name, f->operands,
                      f->operands > 1 ? "s" : "", count);
  dimension_of_call(p, name, f, first);
  tesi_scanner_advance(&p->scanner);
  return p->scanner.failed ? 0 : tesi_term(p->terms, f->op, argument[0], argument[1], 0);
}

/* A constant. If slopes are wanted, a constant of the case with a slope is a linear function of the slopes'
 * variable. */
static int constant_term(Parser *p, const char *name, double value) {
  TesiTerms *terms = p->terms;
  const int word = terms->varied ? tesi_words_find_constant(p->words, name) : -1;
  const double slope = word >= 0 ? p->words->constant[word].slope : 0;
  const int at = tesi_term_constant(terms, value);
  if (slope == 0) return at;
  const int moved = tesi_term(terms, TESI_OP_MULTIPLY, tesi_term_constant(terms, slope),
                              tesi_term_variable(terms, terms->varied), 0);
  return tesi_term(terms, TESI_OP_ADD, at, moved, 0);
}

/* pi and e are pure numbers. */
static TesiDimension dimension_of_constant(const Parser *p, const char *name) {
  const int word = tesi_words_find_constant(p->words, name);
  return word >= 0 ? p->words->constant[word].dimension : pure;
}

static int name(Parser *p) {
  const TesiToken token = p->scanner.token;
  const struct Function *f = find_function(token.name);
  const int variable = find_variable(p, token.name), table = tesi_words_find_table(p->words, token.name);
  const double *constant = find_constant(p->words, token.name);
  tesi_scanner_advance(&p->scanner);
  if (f && tesi_scanner_at(&p->scanner, "(")) return call(p, &token, f);
  if (f) {
    tesi_scanner_fail(&p->scanner, token.first, "",
                      "%s is a function and needs its argument%s in parentheses,", token.name,
                      f->operands > 1 ? "s" : "");
    return 0;
  }
  if (variable < 0 && table >= 0) return call_table(p, &token, table);
  p->dimension = variable >= 0 ? dimension_of_variable(p, variable)
                 : constant    ? dimension_of_constant(p, token.name)
                               : of_length;
  if (variable < 0 && !constant && is_radius(p, token.name)) return radius(p->terms);
  if (variable < 0 && !constant) {
    fail_unknown(p, &token);
    return 0;
  }
  if (tesi_scanner_at(&p->scanner, "("))
    tesi_scanner_expected(&p->scanner, "an operator", "; a product is written with *");
  return variable >= 0 ? tesi_term_variable(p->terms, variable) : constant_term(p, token.name, *constant);
}

/* Refuses 20 kN*h where h is a constant and the hour. In a number alone, as 7850 kg/m^3, a name after / is a unit. */
static void refuse_names(Parser *p, size_t first, size_t length) {
  TesiScanner *s = &p->scanner;
  int dimension[TESI_DIMENSIONS];
  const bool alone = tesi_unit_quantity(s->text, dimension);
  for (size_t i = first; i + 1 < first + length; i++) {
    if (s->text[i] != '*' && (s->text[i] != '/' || alone)) continue;
    char symbol[TESI_WORD];
    const size_t word = strspn(s->text + i + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    snprintf(symbol, sizeof symbol, "%.*s", (int)word, s->text + i + 1);
    if (find_variable(p, symbol) >= 0 || tesi_words_find_constant(p->words, symbol) >= 0)
      tesi_scanner_fail(
          s, i + 1, "; blanks around * and / make it the name; as a unit it needs a case without that name",
          "'%s' is a unit and a name of the case", symbol);
  }
}

/* The number of the current token, with the unit after it. */
static double quantity(Parser *p) {
  TesiScanner *s = &p->scanner;
  const TesiUnits system = p->words ? p->words->units : TESI_UNITS_NONE;
  const size_t end = s->token.first + s->token.length;
  const char *text = s->text + end + strspn(s->text + end, " ");
  const size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  const double number = s->token.number;
  char symbol[TESI_WORD];
  int dimension[TESI_DIMENSIONS];
  double si;
  const bool inverse = !strncmp(text, "1/", 2) && tesi_unit_read(text, &si, dimension);
  p->dimension = pure;
  if (!word || (strchr("0123456789", text[0]) && !inverse) || word >= sizeof symbol || text[word] == '(')
    return number;
  snprintf(symbol, sizeof symbol, "%.*s", (int)word, text);
  const size_t length = tesi_unit_read(text, &si, dimension), at = (size_t)(text - s->text);
  const bool variable = find_variable(p, symbol) >= 0;
  if (variable && length && system)
    tesi_scanner_fail(s, at, "; a product is written with *", "'%s' is a variable here and no unit", symbol);
  if (variable || (!length && !system)) return number; /* a product without * */
  if (!length) {
    char tail[240];
    snprintf(tail, sizeof tail, "; units are %s", tesi_unit_list());
    tesi_scanner_fail(s, at, tail, "unknown unit '%s'", symbol);
  } else if (system == TESI_UNITS_NONE) {
    tesi_scanner_fail(s, at, "; say which system numbers are in, units: SI or units: mm-N-MPa",
                      "'%.*s' is a unit", (int)length, text);
  }
  s->next = at + length;
  refuse_names(p, at, length);
  p->dimension = tesi_dimension_known(true, dimension);
  return number * si * tesi_unit_scale(system, dimension);
}

static int primary(Parser *p) {
  const TesiToken *t = &p->scanner.token;
  if (t->kind == TESI_TOKEN_NUMBER) {
    const size_t next = p->scanner.next;
    const double number = quantity(p);
    p->last = p->scanner.next == next ? NUMBER : QUANTITY;
    tesi_scanner_advance(&p->scanner);
    return tesi_term_constant(p->terms, number);
  }
  if (t->kind == TESI_TOKEN_NAME) {
    const int named = name(p);
    p->last = OTHER;
    return named;
  }
  if (!tesi_scanner_accept(&p->scanner, "(")) {
    if (!p->scanner.failed) tesi_scanner_expected(&p->scanner, "a number, a name or '('", "");
    return 0;
  }
  const int inner = expression(p);
  if (!p->scanner.failed && !tesi_scanner_accept(&p->scanner, ")"))
    tesi_scanner_expected(&p->scanner, "')' or an operator", "");
  p->last = OTHER;
  return inner;
}

/* False, with a message, if the nesting is too deep. After each enter() that returns true, p->depth-- is needed. */
static bool enter(Parser *p) {
  if (p->depth >= TESI_EXPRESSION_NESTING) {
    tesi_scanner_fail(&p->scanner, p->scanner.token.first, "", "nested deeper than %d levels",
                      TESI_EXPRESSION_NESTING);
    return false;
  }
  p->depth++;
  return true;
}

static int signed_value(Parser *p, TesiOp op) {
  if (!enter(p)) return 0;
  const int value = unary(p);
  p->depth--;
  if (op == TESI_OP_NOT) p->dimension = pure;
  return op == TESI_OP_ADD || p->scanner.failed ? value : tesi_term(p->terms, op, value, 0, 0);
}

static int power(Parser *p) {
  const int base = primary(p);
  if (p->scanner.failed || !tesi_scanner_at(&p->scanner, "^")) return base;
  const size_t at = p->scanner.token.first;
  const TesiDimension of_base = p->dimension;
  if (p->last == QUANTITY)
    tesi_scanner_fail(&p->scanner, at, "; 3 m^2 has a unit with a power, (3 m)^2 is a power of 3 m",
                      "power behind a unit");
  tesi_scanner_advance(&p->scanner);
  if (p->scanner.failed || !enter(p)) return base;
  const int exponent = unary(p);
  p->depth--;
  if (p->last == QUANTITY)
    tesi_scanner_fail(&p->scanner, at, "; the unit belongs to the exponent alone: write 8 m or 2^3*(1 m)",
                      "exponent with a unit");
  p->last = OTHER;
  if (p->scanner.failed || p->terms->status) return 0;
  const TesiTerm *n = &p->terms->term[exponent];
  p->dimension = tesi_dimension_power(of_base, n->op == TESI_OP_CONSTANT ? n->value : NAN);
  return tesi_term(p->terms, TESI_OP_POW, base, exponent, 0);
}

static int unary(Parser *p) {
  if (tesi_scanner_accept(&p->scanner, "-")) return signed_value(p, TESI_OP_NEGATE);
  if (tesi_scanner_accept(&p->scanner, "!")) return signed_value(p, TESI_OP_NOT);
  if (tesi_scanner_accept(&p->scanner, "+")) return signed_value(p, TESI_OP_ADD);
  return power(p);
}

static const struct Binary *binary_operator(const Parser *p) {
  for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
    if (tesi_scanner_at(&p->scanner, binaries[i].text)) return &binaries[i];
  return NULL;
}

static bool compares(const struct Binary *b) {
  return b->precedence == 3 || b->precedence == 4;
}

static void dimension_of_binary(Parser *p, const struct Binary *b, size_t at, TesiDimension left) {
  if (b->op == TESI_OP_MULTIPLY || b->op == TESI_OP_DIVIDE)
    p->dimension = tesi_dimension_product(left, p->dimension, b->op == TESI_OP_DIVIDE);
  else if (b->precedence > 2)
    join(p, b->text, at, left);
  if (b->precedence < 5) p->dimension = pure;
}

static int binary(Parser *p, int precedence) {
  int left = unary(p);
  const struct Binary *b, *last = NULL;
  while (!p->scanner.failed && (b = binary_operator(p)) && b->precedence >= precedence) {
    if (last && compares(b) && last->precedence == b->precedence)
      tesi_scanner_fail(&p->scanner, p->scanner.token.first, "; write a < b && b < c",
                        "second comparison in a row");
    const bool of_number = b->op == TESI_OP_DIVIDE && p->last == NUMBER;
    const size_t at = p->scanner.token.first;
    const TesiDimension of_left = p->dimension;
    tesi_scanner_advance(&p->scanner);
    const int right = binary(p, b->precedence + 1);
    if (of_number && p->last == QUANTITY)
      tesi_scanner_fail(&p->scanner, at, "; the unit belongs to the second alone: write 0.5 m or 1/(2 m)",
                        "number over a number with a unit");
    dimension_of_binary(p, b, at, of_left);
    if (p->scanner.failed) break;
    left = tesi_term(p->terms, b->op, b->swap ? right : left, b->swap ? left : right, 0);
    last = b;
  }
  return left;
}

static int expression(Parser *p) {
  if (!enter(p)) return 0;
  int value = binary(p, 1);
  if (tesi_scanner_accept(&p->scanner, "?")) {
    const int yes = expression(p);
    const TesiDimension of_yes = p->dimension;
    const size_t at = p->scanner.token.first;
    if (!p->scanner.failed && !tesi_scanner_accept(&p->scanner, ":"))
      tesi_scanner_expected(&p->scanner, "':' of a ?:", "");
    const int no = p->scanner.failed ? 0 : expression(p);
    join(p, ":", at, of_yes);
    if (!p->scanner.failed) value = tesi_term(p->terms, TESI_OP_SELECT, value, yes, no);
  }
  p->depth--;
  return value;
}

/* Text after the end of a complete expression: "2x", "x y", "1)", ... */
static void fail_trailing(Parser *p) {
  const TesiToken *t = &p->scanner.token;
  const bool product =
      t->kind == TESI_TOKEN_NAME || t->kind == TESI_TOKEN_NUMBER || tesi_scanner_at(&p->scanner, "(");
  tesi_scanner_expected(&p->scanner, "an operator or the end", product ? "; a product is written with *" : "");
}

TesStatus tesi_expression_parse(TesiTerms *terms, const char *text, const char *const *variables, int *root,
                                char *message) {
  Parser p = {.scanner = {.text = text, .message = message},
              .terms = terms,
              .variables = variables,
              .words = tesi_words_of(terms->ctx)};
  message[0] = 0;
  if (strlen(text) > TESI_EXPRESSION_TEXT) {
    snprintf(message, TESI_EXPRESSION_MESSAGE, "longer than %d bytes", TESI_EXPRESSION_TEXT);
    return TES_INVALID_INPUT;
  }
  tesi_scanner_advance(&p.scanner);
  if (!p.scanner.failed && p.scanner.token.kind == TESI_TOKEN_END) {
    snprintf(message, TESI_EXPRESSION_MESSAGE, "the expression is empty");
    return TES_INVALID_INPUT;
  }
  *root = expression(&p);
  if (!p.scanner.failed && p.scanner.token.kind != TESI_TOKEN_END) fail_trailing(&p);
  if (p.scanner.failed) return TES_INVALID_INPUT;
  terms->dimension = p.dimension;
  if (terms->status == TES_INVALID_INPUT)
    snprintf(message, TESI_EXPRESSION_MESSAGE, "more than %d different terms", TESI_EXPRESSION_TERMS);
  return terms->status;
}
