/* A study: one case, solved for all values of one or two keys. */
#ifndef CLI_STUDY_H
#define CLI_STUDY_H

#include "solve.h"
#include "table.h"

enum { STUDY_KEYS = 2, STUDY_VALUES = 64, STUDY_OUTPUTS = 11 };

/* "mesh.refine=0,1,2": `text` is cut at its commas. */
typedef struct StudyKey {
  char *text, *value[STUDY_VALUES]; /* text: the key */
  int values;
} StudyKey;

/* An error or a value of the solution, for each row. */
typedef struct StudyMeasure {
  char *name, *order_name, *limit_name;
  bool error;
  double *number, *order, *limit; /* limit NULL: errors */
} StudyMeasure;

/* The data of a row besides its measures. */
typedef struct StudyRow {
  bool solved;
  int degree, iterations;
  int64_t cells, dofs, steps;
  double length, step, setup_seconds, solve_seconds; /* length: cells^(-1/dim); step: in time, NaN: none */
  const char *status;
} StudyRow;

typedef struct Study {
  SolveOptions solve;                           /* of all rows, without the last overrides */
  const char *draw, *csv, *json, *plot, *exact; /* exact: "NAME=NUMBER,.." */
  StudyKey key[STUDY_KEYS];
  int keys;
  int rows, row; /* the row being solved */
  StudyRow *result;
  StudyMeasure *measure;
  int measures;
  CliColumn *column;
  int *block; /* of the table */
  CliTable table;
  char comment[1024], machine[256];
  TesStatus status;
} Study;

/* "KEY=a,b,..". False: the text is wrong, which has been reported. */
bool study_parse_key(Study *study, const char *text);
/* The position of row `row` in the list of key k. The last key varies fastest. */
int study_position(const Study *study, int row, int k);
/* The previous row along the key that changes sizes; -1: there is none. *ratio <- the ratio of both rows' sizes:
 * lengths of cells or, if cells are equal, of steps in time. */
int study_before(const Study *study, int row, double *ratio);
/* Fills in the orders of a row; and its limits, if the row and two rows before it determine them. */
void study_find_orders(Study *study, int row);
/* The order p and the limit in v = limit + C h^p from three rows, coarse to fine, with h0/h1 and h1/h2 given. False:
 * differences do not shrink, or change their sign. */
bool study_extrapolate(const double value[3], const double ratio[2], double *order, double *limit);

/* Adds the errors and values of a row's case, without names that are there; false: no memory. */
bool study_add_measures(Study *study, const TesCase *c);
/* Whether the table has all names of an option, --draw (errors, values or solve_s) or --exact (values). False: it has
 * not, which has been reported. */
bool study_knows(const Study *study, const char *option, const char *names, bool drawn);
void study_keep(Study *study, const Solve *s);
/* The number that --exact gives for a value; NaN: none. */
double study_exact(const Study *study, const char *name);
TesStatus study_plot(TesContext *ctx, const Study *study);
void study_free(Study *study);

#endif
