#include "table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cJSON.h>
#include "io/file.h"

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

static TesStatus write_csv_row(TesiFile *file, const CliTable *table, int row) {
  for (int c = 0; c < table->columns; c++) {
    const CliCell *cell = &table->cells[row * table->columns + c];
    const char *comma = c ? "," : "";
    TesStatus status;
    if (table->column[c].digits == -1)
      status = tesi_file_printf(file, "%s%s", comma, cell->text ? cell->text : "");
    else if (isnan(cell->number))
      status = tesi_file_printf(file, "%s", comma);
    else
      status = tesi_file_printf(file, "%s%.10g", comma, cell->number);
    if (status != TES_OK) return status;
  }
  return tesi_file_printf(file, "\n");
}

TesStatus cli_table_write_csv(TesContext *ctx, const CliTable *table, const char *path) {
  TesStatus status = TES_OK;
  TesiFile *file = NULL;
  TES_TRY(tesi_file_create(ctx, path, &file));
  if (table->comment) TES_TRY(tesi_file_printf(file, "# %s\n", table->comment));
  for (int c = 0; c < table->columns; c++)
    TES_TRY(tesi_file_printf(file, "%s%s", c ? "," : "", table->column[c].name));
  TES_TRY(tesi_file_printf(file, "\n"));
  for (int row = 0; row < table->rows; row++) TES_TRY(write_csv_row(file, table, row));
  TES_TRY(tesi_file_commit(&file));
done:
  tesi_file_discard(&file);
  return status;
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
  TesStatus status = TES_OK;
  TesiFile *file = NULL;
  char *text = NULL;
  cJSON *root = cJSON_CreateObject(), *rows = cJSON_AddArrayToObject(root, "rows");
  cJSON_AddStringToObject(root, "version", tes_version());
  cJSON_AddStringToObject(root, "comment", table->comment ? table->comment : "");
  for (int row = 0; row < table->rows; row++) cJSON_AddItemToArray(rows, json_row(table, row));
  text = cJSON_Print(root);
  if (!text) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the JSON text");
  TES_TRY(tesi_file_create(ctx, path, &file));
  TES_TRY(tesi_file_write(file, text, strlen(text)));
  TES_TRY(tesi_file_printf(file, "\n"));
  TES_TRY(tesi_file_commit(&file));
done:
  cJSON_Delete(root);
  free(text);
  tesi_file_discard(&file);
  return status;
}
