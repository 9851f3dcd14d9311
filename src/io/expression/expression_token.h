/* Tokens of expressions, and the wording of errors in them. */
#ifndef TESI_EXPRESSION_TOKEN_H
#define TESI_EXPRESSION_TOKEN_H

#include "io/expression/expression.h"

typedef enum TesiTokenKind {
  TESI_TOKEN_END,
  TESI_TOKEN_NUMBER,
  TESI_TOKEN_NAME,
  TESI_TOKEN_OPERATOR
} TesiTokenKind;

typedef struct TesiToken {
  TesiTokenKind kind;
  size_t first, length; /* in the text */
  double number;
  char op[3];    /* operators: "+", "<=", ... */
  char name[33]; /* names; longer names are refused */
} TesiToken;

typedef struct TesiScanner {
  const char *text;
  size_t next;
  TesiToken token; /* the current one */
  bool failed;
  char *message; /* [TESI_EXPRESSION_MESSAGE] */
} TesiScanner;

static inline bool tesi_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static inline bool tesi_is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* Moves to the next token. After a failure the current token is TESI_TOKEN_END for good. */
void tesi_scanner_advance(TesiScanner *scanner);
bool tesi_scanner_at(const TesiScanner *scanner, const char *op);
/* If the current token is this operator, moves on and returns true. */
bool tesi_scanner_accept(TesiScanner *scanner, const char *op);
/* "WHAT at column N of "TEXT"TAIL"; only the first failure is kept. */
void tesi_scanner_fail(TesiScanner *scanner, size_t at, const char *tail, const char *format, ...)
    TESI_PRINTF(4, 5);
/* "expected WHAT, found TOKEN at ...". */
void tesi_scanner_expected(TesiScanner *scanner, const char *what, const char *tail);

#endif
