/* Tables of results: text, CSV, JSON. */
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cJSON.h>
#include "output_file.h"

/* Whether a column is shown with the blocks from `first` to `end` - 1. */
static bool is_shown(const CliTable *t, int c, int first, int end) {
  const int block = t->block ? t->block[c] : 0;
  return t->column[c].width && (c < t->lead || (block >= first && block < end));
}

static int width_of(const CliTable *t, int first, int end) {
  int width = 0;
  for (int c = 0; c < t->columns; c++) width += is_shown(t, c, first, end) ? t->column[c].width + 1 : 0;
  return width - 1;
}

static int blocks_of(const CliTable *t) {
  int last = 0;
  for (int c = 0; c < t->columns && t->block; c++) last = t->block[c] > last ? t->block[c] : last;
  return last + 1;
}

/* The end of the blocks that fit, beginning with `first`; there is at least one. */
static int fit_blocks(const CliTable *t, int first) {
  int end = first + 1;
  const int blocks = blocks_of(t);
  while (end < blocks && (!t->width || width_of(t, first, end + 1) <= t->width)) end++;
  return end;
}

static void print_names(const CliTable *t, int first, int end) {
  cli_progress_end();
  for (int c = 0; c < t->columns; c++)
    if (is_shown(t, c, first, end))
      printf("%*s ", t->column[c].digits == -1 ? -t->column[c].width : t->column[c].width, t->column[c].name);
  printf("\n");
}

void cli_table_begin_blocks(CliTable *table, const CliColumn *column, int columns, const int *block, int lead,
                            bool print) {
  *table = (CliTable){
      .column = column, .columns = columns, .print = print, .width = cli_width(), .block = block, .lead = lead};
  table->shown = fit_blocks(table, 0);
  if (print) print_names(table, 0, table->shown);
}

void cli_table_begin(CliTable *table, const CliColumn *column, int columns, bool print) {
  cli_table_begin_blocks(table, column, columns, NULL, 0, print);
}

static void print_cell(const CliColumn *column, const CliCell *cell) {
  if (column->digits == -1)
    printf("%-*s ", column->width, cell->text ? cell->text : "-");
  else if (isnan(cell->number))
    printf("%*s ", column->width, "-");
  else if (column->digits == -2)
    printf("%*.4g ", column->width, cell->number);
  else if (column->digits == -3)
    printf("%*.10g ", column->width, cell->number);
  else
    printf("%*.*f ", column->width, column->digits, cell->number);
}

static void print_row(const CliTable *t, int row, int first, int end) {
  cli_progress_end();
  for (int c = 0; c < t->columns; c++)
    if (is_shown(t, c, first, end)) print_cell(&t->column[c], &t->cells[row * t->columns + c]);
  printf("\n");
  fflush(stdout);
}

void cli_table_print_rest(const CliTable *t) {
  const int blocks = blocks_of(t);
  for (int first = t->shown, end; first < blocks && t->print; first = end) {
    end = fit_blocks(t, first);
    printf("\n");
    print_names(t, first, end);
    for (int row = 0; row < t->rows; row++) print_row(t, row, first, end);
  }
}

bool cli_table_add(CliTable *table, const CliCell *cells) {
  if (table->rows == table->room) {
    const int room = table->room ? 2 * table->room : 32;
    CliCell *larger = realloc(table->cells, (size_t)room * (size_t)table->columns * sizeof *larger);
    if (!larger) return false;
    table->cells = larger;
    table->room = room;
  }
  memcpy(table->cells + (size_t)table->rows * (size_t)table->columns, cells,
         (size_t)table->columns * sizeof *cells);
  table->rows++;
  if (table->print) print_row(table, table->rows - 1, 0, table->shown);
  return true;
}

void cli_table_end(CliTable *table) {
  free(table->cells);
  table->cells = NULL;
}

static void print_csv_row(FILE *out, const CliTable *table, int row) {
  for (int c = 0; c < table->columns; c++) {
    const CliCell *cell = &table->cells[row * table->columns + c];
    if (c) fputc(',', out);
    if (table->column[c].digits == -1)
      cli_print_csv_text(out, cell->text ? cell->text : "");
    else if (!isnan(cell->number))
      fprintf(out, "%.10g", cell->number + 0.);
  }
  fputc('\n', out);
}

void cli_print_csv_text(FILE *out, const char *text) {
  if (!strpbrk(text, ",\"\n")) {
    fputs(text, out);
    return;
  }
  fputc('"', out);
  for (; *text; text++) *text == '"' ? fputs("\"\"", out) : fputc(*text, out);
  fputc('"', out);
}

TesStatus cli_table_write_csv(TesContext *ctx, const CliTable *table, const char *path) {
  char *text;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out) return TES_OUT_OF_MEMORY;
  if (table->comment) fprintf(out, "# %s\n", table->comment);
  for (int c = 0; c < table->columns; c++) {
    if (c) fputc(',', out);
    cli_print_csv_text(out, table->column[c].name);
  }
  fputc('\n', out);
  for (int row = 0; row < table->rows; row++) print_csv_row(out, table, row);
  return cli_file_commit(ctx, out, &text, path);
}

static cJSON *json_row(const CliTable *table, int row) {
  cJSON *object = cJSON_CreateObject();
  for (int c = 0; c < table->columns; c++) {
    const CliCell *cell = &table->cells[row * table->columns + c];
    if (table->column[c].digits == -1)
      cJSON_AddStringToObject(object, table->column[c].name, cell->text ? cell->text : "");
    else if (isfinite(cell->number))
      cJSON_AddNumberToObject(object, table->column[c].name, cell->number);
    else
      cJSON_AddNullToObject(object, table->column[c].name);
  }
  return object;
}

TesStatus cli_table_write_json(TesContext *ctx, const CliTable *table, const char *path) {
  char *text, *printed;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out) return TES_OUT_OF_MEMORY;
  cJSON *root = cJSON_CreateObject(), *rows = cJSON_AddArrayToObject(root, "rows");
  cJSON_AddStringToObject(root, "version", tes_version());
  cJSON_AddStringToObject(root, "comment", table->comment ? table->comment : "");
  for (int row = 0; row < table->rows; row++) cJSON_AddItemToArray(rows, json_row(table, row));
  printed = cJSON_Print(root);
  if (printed) fprintf(out, "%s\n", printed);
  const bool complete = printed != NULL;
  cJSON_Delete(root);
  free(printed);
  if (complete) return cli_file_commit(ctx, out, &text, path);
  fclose(out), free(text);
  return TES_OUT_OF_MEMORY;
}
