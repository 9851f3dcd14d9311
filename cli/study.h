/* A study: one case, solved for all values of one key or two. */
#ifndef CLI_STUDY_H
#define CLI_STUDY_H

#include "solve.h"
#include "table.h"

enum { STUDY_KEYS = 2, STUDY_VALUES = 64, STUDY_OUTPUTS = 10 };

/* "mesh.refine=0,1,2": `text` is cut at its commas. */
typedef struct StudyKey {
  char *text, *value[STUDY_VALUES]; /* text: the key */
  int values;
} StudyKey;

/* An error or a value of the solution; of each row. */
typedef struct StudyMeasure {
  char *name, *order_name, *limit_name;
  bool error;
  double *number, *order, *limit; /* limit NULL: errors */
} StudyMeasure;

/* What a row has beside its measures. */
typedef struct StudyRow {
  bool solved;
  int degree, iterations;
  int64_t cells, dofs, steps;
  double length, step, setup_seconds, solve_seconds; /* length: cells^(-1/dim); step: in time, NaN: none */
  const char *status;
} StudyRow;

typedef struct Study {
  SolveOptions solve;                           /* of all rows, but for the last overrides */
  const char *draw, *csv, *json, *plot, *exact; /* exact: "NAME=NUMBER,.." */
  StudyKey key[STUDY_KEYS];
  int keys;
  int rows, row; /* the row that is solved */
  StudyRow *result;
  StudyMeasure *measure;
  int measures;
  CliColumn *column;
  int *block; /* of the table */
  CliTable table;
  char comment[1024], machine[256];
  TesStatus status;
} Study;

/* "KEY=a,b,..": true where it can be used; else told. */
bool study_parse_key(Study *study, const char *text);
/* Where row `row` stands in the list of key k. The last key varies fastest. */
int study_position(const Study *study, int row, int k);
/* The row before this one along the key in which sizes change, -1: there is none; and the ratio of the two rows' sizes:
 * lengths of cells or, of equal cells, steps in time. */
int study_before(const Study *study, int row, double *ratio);
/* Fills in the orders of a row, and limits where it and two before it allow it. */
void study_find_orders(Study *study, int row);
/* The order p and limit of v = limit + C h^p through three rows, coarse to fine, with h0/h1 and h1/h2 given; false:
 * differences do not shrink, or change their sign. */
bool study_extrapolate(const double value[3], const double ratio[2], double *order, double *limit);

/* Names of what is measured, from the first row; false: no memory. */
bool study_begin(Study *study, const Solve *s);
void study_keep(Study *study, const Solve *s);
/* What --exact says of a value; NaN: nothing. */
double study_exact(const Study *study, const char *name);
TesStatus study_plot(TesContext *ctx, const Study *study);
void study_free(Study *study);

#endif
