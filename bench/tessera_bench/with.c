/* --with [NAME=]FILE,...: draws the rows of earlier tables of the same benchmark, for example from other machines,
 * together with the rows measured now. Columns are found by their names. NAME, or the file's name, follows the names
 * of the file's lines in the legend. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"

enum { FILES = 8, NAME = 96 };

/* The texts and numbers of the cells of one file. */
typedef struct Source {
  char *text;
  char (*name)[NAME]; /* names in the series column, one per row */
} Source;

static TesStatus read_text(TesContext *ctx, const char *path, char **text) {
  TesStatus status = TES_OK;
  FILE *in = fopen(path, "rb");
  if (!in) TES_FAIL(TES_IO, "--with: %s: %s", path, strerror(errno));
  if (fseek(in, 0, SEEK_END) != 0) TES_FAIL(TES_IO, "--with: %s: %s", path, strerror(errno));
  const long size = ftell(in);
  if (size < 0 || size > 1 << 30) TES_FAIL(TES_IO, "--with: %s is no table: a file of less than 1 GiB", path);
  TES_ALLOC(text, size + 1);
  rewind(in);
  if (fread(*text, 1, (size_t)size, in) != (size_t)size)
    TES_FAIL(TES_IO, "--with: %s cannot be read to its end", path);
done:
  if (in) fclose(in);
  return status;
}

/* The line at *at, terminated in place; NULL: there is none. */
static char *next_line(char **at) {
  char *line = *at;
  if (!line || !*line) return NULL;
  char *end = strchr(line, '\n');
  *at = end ? end + 1 : NULL;
  if (end) *end = 0;
  return line;
}

/* The field at *at, terminated in place and without its quotes; NULL: the line has ended. */
static char *next_field(char **at) {
  char *from = *at, *const field = *at, *to = *at;
  if (!from) return NULL;
  if (*from == '"') {
    for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
      if (*from == '"') from++;
      *to++ = *from;
    }
    if (*from) from++;
  } else
    while (*from && *from != ',') *to++ = *from++;
  *at = *from == ',' ? from + 1 : NULL;
  *to = 0;
  return field;
}

/* The column of our table for a field of the file; -1: none. */
typedef struct Header {
  int count, column[4 * CLI_COLUMNS];
} Header;

static TesStatus read_header(TesContext *ctx, const char *path, int number, char *line, const CliTable *table,
                             const CliPlot *plot, Header *header) {
  TesStatus status = TES_OK;
  const int needed[] = {plot->x, plot->y, plot->series};
  for (char *name; (name = next_field(&line)) && header->count < 4 * CLI_COLUMNS; header->count++) {
    header->column[header->count] = -1;
    for (int c = 0; c < table->columns; c++)
      if (!strcmp(name, table->column[c].name)) header->column[header->count] = c;
  }
  for (int i = 0; i < 3; i++) {
    bool found = false;
    for (int f = 0; f < header->count; f++) found = found || header->column[f] == needed[i];
    TES_CHECK(found, "--with: %s:%d: no column '%s', which the figure needs: it is no table of this benchmark",
              path, number, table->column[needed[i]].name);
  }
done:
  return status;
}

static TesStatus read_row(TesContext *ctx, const char *path, int number, char *line, const CliTable *table,
                          const Header *header, CliCell *row) {
  TesStatus status = TES_OK;
  for (int c = 0; c < table->columns; c++) row[c] = (CliCell){NAN, table->column[c].digits == -1 ? "" : NULL};
  for (int f = 0; f < header->count; f++) {
    const char *field = next_field(&line);
    char *end = NULL;
    const int c = header->column[f];
    TES_CHECK(field, "--with: %s:%d: %d fields, expected %d", path, number, f, header->count);
    if (c < 0 || !*field) continue;
    if (table->column[c].digits == -1) {
      row[c].text = field;
      continue;
    }
    row[c].number = strtod(field, &end);
    TES_CHECK(!*end, "--with: %s:%d: column '%s': '%s' is no number", path, number, table->column[c].name,
              field);
  }
done:
  return status;
}

/* The suffix for names of a file's lines: "a" of a=results/cpu.csv, "cpu" of results/cpu.csv. *path becomes the path
 * of the file. */
typedef struct Label {
  const char *text;
  int length;
} Label;

static Label split_label(const char **path) {
  const char *equals = strchr(*path, '='), *first = strchr(*path, '/');
  if (equals && (!first || equals < first)) {
    const Label label = {*path, (int)(equals - *path)};
    *path = equals + 1;
    return label;
  }
  const char *slash = strrchr(*path, '/'), *base = slash ? slash + 1 : *path, *dot = strrchr(base, '.');
  return (Label){base, (int)(dot ? (size_t)(dot - base) : strlen(base))};
}

/* A paper's results are in every table: they keep their names, and are drawn once. */
static bool is_paper(const char *series) {
  return series && (!strncmp(series, "paper, ", 7) || strstr(series, ", paper, "));
}

static bool is_there(const CliTable *table, const CliPlot *plot, const CliCell *row) {
  for (int r = 0; r < table->rows; r++) {
    const CliCell *other = &table->cells[r * table->columns];
    if (other[plot->x].number == row[plot->x].number && other[plot->series].text &&
        !strcmp(other[plot->series].text, row[plot->series].text))
      return true;
  }
  return false;
}

static void name_series(Label label, const CliTable *table, int series, CliCell *row, char name[NAME]) {
  if (row[series].text)
    snprintf(name, NAME, "%s, %.*s", row[series].text, label.length, label.text);
  else
    snprintf(name, NAME, "%s %g, %.*s", table->column[series].name, row[series].number, label.length,
             label.text);
  row[series].text = name;
}

static int count_lines(const char *text) {
  int lines = 1;
  for (; *text; text++) lines += *text == '\n';
  return lines;
}

static TesStatus add_file(TesContext *ctx, const char *path, const CliPlot *plot, Source *source,
                          CliTable *all) {
  TesStatus status = TES_OK;
  Header header = {0};
  CliCell row[CLI_COLUMNS];
  int number = 0, rows = 0;
  const Label label = split_label(&path);
  TES_TRY(read_text(ctx, path, &source->text));
  TES_ALLOC(&source->name, count_lines(source->text));
  char *at = source->text;
  for (char *line; (line = next_line(&at));) {
    number++;
    if (*line == '#' || !*line) continue;
    if (!header.count) {
      TES_TRY(read_header(ctx, path, number, line, all, plot, &header));
      continue;
    }
    TES_TRY(read_row(ctx, path, number, line, all, &header, row));
    rows++;
    if (!is_paper(row[plot->series].text))
      name_series(label, all, plot->series, row, source->name[rows - 1]);
    else if (is_there(all, plot, row))
      continue;
    if (!cli_table_add(all, row)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
  }
  TES_CHECK(rows > 0, "--with: %s has no rows", path);
done:
  return status;
}

TesStatus bench_plot_with(TesContext *ctx, const BenchOptions *o, const CliTable *ours, const CliPlot *plot) {
  TesStatus status = TES_OK;
  CliTable all;
  Source source[FILES] = {{NULL, NULL}};
  char *paths = NULL;
  int files = 0;
  cli_table_begin(&all, ours->column, ours->columns, false);
  for (int row = 0; row < ours->rows; row++)
    if (!cli_table_add(&all, ours->cells + row * ours->columns))
      TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
  TES_ALLOC(&paths, strlen(o->with) + 1);
  memcpy(paths, o->with, strlen(o->with) + 1);
  for (char *at = paths, *path; (path = next_field(&at)); files++) {
    TES_CHECK(files < FILES, "--with: at most %d files", FILES);
    TES_TRY(add_file(ctx, path, plot, &source[files], &all));
  }
  TES_TRY(cli_table_plot(ctx, &all, plot, o->plot));
done:
  for (int f = 0; f < FILES; f++) tesi_free(ctx, &source[f].text), tesi_free(ctx, &source[f].name);
  tesi_free(ctx, &paths);
  cli_table_end(&all);
  return status;
}
