/* Tables of results: printed as they grow, then written as CSV or JSON, or drawn (figure.h). */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdio.h>
#include "command.h"

enum { CLI_COLUMNS = 36, CLI_BESIDE = 3 };

typedef struct CliColumn {
  const char *name; /* in CSV and JSON, and as the heading */
  int width;        /* on the terminal; 0: not shown there */
  int digits;       /* behind the point; -1: a text; -2, -3: 4 or 10 significant ones */
} CliColumn;

/* A number, or a text where `text` is not NULL (it must live as long as the table). NaN is printed as '-', and null
 * in JSON. */
typedef struct CliCell {
  double number;
  const char *text;
} CliCell;

typedef struct CliTable {
  const CliColumn *column;
  int columns, rows, room;
  CliCell *cells; /* [rows][columns] */
  bool print;
  int width;           /* of the terminal, 0: any */
  const int *block;    /* [columns] a number each, from 0; NULL: one block */
  int lead, shown;     /* columns that all blocks begin with; blocks that fit beside these */
  const char *comment; /* one line: the command, machine and date */
} CliTable;

void cli_table_begin(CliTable *table, const CliColumn *column, int columns, bool print);
/* The same for a narrow terminal: columns of a block stay together, and as many blocks are printed as fit, behind the
 * first `lead` columns. */
void cli_table_begin_blocks(CliTable *table, const CliColumn *column, int columns, const int *block, int lead,
                            bool print);
/* Prints the blocks that did not fit, as many beside one another as do. */
void cli_table_print_rest(const CliTable *table);
/* False when memory is out. */
bool cli_table_add(CliTable *table, const CliCell *cells);
void cli_table_end(CliTable *table);
/* In quotes where it has a comma in it. */
void cli_print_csv_text(FILE *out, const char *text);
/* Files appear complete or not at all; "-" is the standard output. Errors: TES_IO, TES_OUT_OF_MEMORY. */
TesStatus cli_table_write_csv(TesContext *ctx, const CliTable *table, const char *path);
TesStatus cli_table_write_json(TesContext *ctx, const CliTable *table, const char *path);

/* What is drawn beside each line, dashed, in its colour: column `y` (0: nothing) over column `x` (0: that of the plot).
 * `name` stands behind the line's in the legend; NULL: the column's. `marks`: single values, shown one by one. */
typedef struct CliBeside {
  int y, x;
  const char *name;
  bool marks;
} CliBeside;

/* How a table is drawn: column `y` over column `x` (logarithmic axes with log_x, log_y), a line for each value of
 * column `series`; beside each what bounds it, or what others have. */
typedef struct CliPlot {
  const char *title, *subtitle, *x_label, *y_label; /* subtitle: machine and threads, or NULL */
  int x, y, series;
  CliBeside beside[CLI_BESIDE];
  bool log_x, log_y;
} CliPlot;
/* As SVG. Errors: TES_INVALID_INPUT where nothing can be drawn, TES_IO, TES_OUT_OF_MEMORY. */
TesStatus cli_table_plot(TesContext *ctx, const CliTable *table, const CliPlot *plot, const char *path);

#endif
