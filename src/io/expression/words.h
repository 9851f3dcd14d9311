/* Names that a case adds to expressions: constants, and functions of one variable given by tables. A context holds the
 * words of the last case that was read; a function keeps the words with which it was made. */
#ifndef TESI_EXPRESSION_WORDS_H
#define TESI_EXPRESSION_WORDS_H

#include "base/base.h"
#include "io/expression/units.h"

enum { TESI_WORD = 33 }; /* bytes of a name, with the final 0 */

/* Between knots s[i] and s[i+1]: sum c[i][j] (s - s[i])^j; constant beyond the ends. There are at least two knots. */
typedef struct TesiTable {
  char name[TESI_WORD];
  int knots;
  double *s, (*c)[4], last; /* last: the value from the last knot on */
} TesiTable;

typedef struct TesiConstant {
  char name[TESI_WORD];
  double value;
  double slope; /* derivative of the value by the constant by which the case is differentiated; 0: there is none */
  TesiDimension dimension;
} TesiConstant;

typedef struct TesiWords {
  TesContext *ctx; /* no reference count: functions and contexts own the words */
  atomic_int references;
  int constants, tables;
  TesiUnits units; /* the system of units into which numbers are converted */
  TesiConstant *constant;
  TesiTable *table;
  int *slot, slots; /* constants by their names: number + 1, 0: none (words.c) */
} TesiWords;

/* Makes words with room for this many. */
TesStatus tesi_words_create(TesContext *ctx, int constants, int tables, TesiWords **words);
TesiWords *tesi_words_retain(const TesiWords *words);
void tesi_words_release(TesiWords **words);
/* The words of the context, NULL: none. The context keeps its own reference. */
const TesiWords *tesi_words_of(const TesContext *ctx);
void tesi_words_set(TesContext *ctx, const TesiWords *words);

/* The reason why this cannot be a new name, or NULL. Names consist of letters, digits and _, and must differ from the
 * names of expressions and outputs. */
const char *tesi_word_refused(const TesiWords *words, const char *name);
void tesi_words_add_constant(TesiWords *words, const char *name, double value, double slope,
                             TesiDimension dimension);
/* The table through points with ascending s: linear, or cubic. The cubic is C1, and monotone where the points are
 * (Fritsch and Carlson 1980), so that its values stay between the values of the neighbouring points. */
TesStatus tesi_words_add_table(TesiWords *words, const char *name, int knots, const double *s,
                               const double *y, bool cubic);

/* -1: there is none. */
int tesi_words_find_constant(const TesiWords *words, const char *name);
int tesi_words_find_table(const TesiWords *words, const char *name);

/* The polynomial of the interval that contains s, or of the last one below s, differentiated `order` times;
 * coefficients c[4] of s - s[i]. */
void tesi_table_polynomial(const TesiTable *table, int interval, int order, double c[4]);
double tesi_table_value(const TesiTable *table, int order, double s);
void tesi_table_values(const TesiTable *table, int order, int n, const double *s, double *out);

#endif
