/* Tables of results: text, CSV, JSON. */
#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cJSON.h>
#include "output_file.h"

void cli_table_begin(CliTable *table, const CliColumn *column, int columns, bool print) {
  *table = (CliTable){.column = column, .columns = columns, .print = print};
  if (!print) return;
  for (int c = 0; c < columns; c++)
    if (column[c].width)
      printf("%*s ", column[c].digits == -1 ? -column[c].width : column[c].width, column[c].name);
  printf("\n");
}

static void print_cell(const CliColumn *column, const CliCell *cell) {
  if (column->width == 0) return;
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
  if (table->print) {
    for (int c = 0; c < table->columns; c++) print_cell(&table->column[c], &cells[c]);
    printf("\n");
    fflush(stdout);
  }
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
      fprintf(out, "%.10g", cell->number);
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
