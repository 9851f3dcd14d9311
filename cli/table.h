/* Tables of results: printed as they grow, then written as CSV or JSON, or drawn (tes_figure_write()). */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdio.h>
#include "command.h"

enum { CLI_COLUMNS = 36, CLI_BESIDE = 3 };

typedef struct CliColumn {
  const char *name; /* in CSV and JSON, and as the heading */
  int width;        /* on the terminal; 0: the column is not shown there */
  int digits;       /* after the point; -1: a text; -2, -3: 4 or 10 significant digits */
} CliColumn;

/* A number; or, if `text` is not NULL, a text, which must live as long as the table. NaN is printed as '-', and as
 * null in JSON. */
typedef struct CliCell {
  double number;
  const char *text;
} CliCell;

typedef struct CliTable {
  const CliColumn *column;
  int columns, rows, room;
  CliCell *cells; /* [rows][columns] */
  bool print;
  int width;        /* of the terminal; 0: no limit */
  const int *block; /* [columns] number of the column's block, from 0; NULL: one block */
  int lead, shown; /* number of columns that are repeated in front of each block; number of blocks that fit */
  const char *comment; /* one line: the command, machine and date */
} CliTable;

void cli_table_begin(CliTable *table, const CliColumn *column, int columns, bool print);
/* The same for a narrow terminal. Columns of a block stay together. As many blocks are printed as fit, after the
 * first `lead` columns. */
void cli_table_begin_blocks(CliTable *table, const CliColumn *column, int columns, const int *block, int lead,
                            bool print);
/* Prints the blocks that did not fit, as many side by side as fit. */
void cli_table_print_rest(const CliTable *table);
/* False: no memory. */
bool cli_table_add(CliTable *table, const CliCell *cells);
void cli_table_end(CliTable *table);
/* In quotes if the text contains a comma. */
void cli_print_csv_text(FILE *out, const char *text);
/* Files appear complete or not at all; "-" is the standard output. Errors: TES_IO, TES_OUT_OF_MEMORY. */
TesStatus cli_table_write_csv(TesContext *ctx, const CliTable *table, const char *path);
TesStatus cli_table_write_json(TesContext *ctx, const CliTable *table, const char *path);

/* A line drawn beside each line, dashed, in its colour: column `y` (0: none) over column `x` (0: the plot's x).
 * `name` follows the line's name in the legend; NULL: the column's name. marks: single values, drawn as marks. */
typedef struct CliBeside {
  int y, x;
  const char *name;
  bool marks;
} CliBeside;

/* How a table is drawn: column `y` over column `x` (logarithmic axes with log_x, log_y), one line for each value of
 * column `series`. beside: lines beside each line, such as bounds or values of others. */
typedef struct CliPlot {
  const char *title, *subtitle, *x_label, *y_label; /* subtitle: machine and threads, or NULL */
  int x, y, series;
  CliBeside beside[CLI_BESIDE];
  bool log_x, log_y;
} CliPlot;
/* Draws a table as SVG. Errors: TES_INVALID_INPUT if nothing can be drawn, TES_IO, TES_OUT_OF_MEMORY. */
TesStatus cli_table_plot(TesContext *ctx, const CliTable *table, const CliPlot *plot, const char *path);

#endif
