/* A study as a figure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "figure.h"
#include "study.h"

enum { NAME = 120 };

/* What stands on the axes. */
typedef struct Axes {
  bool by_step;   /* x: steps in time; else unknowns */
  bool drawn[64]; /* by the number of a measure */
  bool seconds;   /* in the place of measures */
  bool all_positive;
} Axes;

static bool is_listed(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return true;
  return false;
}

/* --draw, or the errors, or the values, or the time. */
static void choose(const Study *study, Axes *axes) {
  int errors = 0, drawn = 0;
  for (int i = 0; i < study->measures; i++) errors += study->measure[i].error;
  for (int i = 0; i < study->measures && i < 64; i++) {
    const StudyMeasure *m = &study->measure[i];
    axes->drawn[i] = study->draw ? is_listed(study->draw, m->name) : errors == 0 || m->error;
    drawn += axes->drawn[i];
  }
  axes->seconds = drawn == 0;
  axes->by_step = true;
  for (int r = 1; r < study->table.rows; r++)
    axes->by_step =
        axes->by_step && study->result[r].dofs == study->result[0].dofs && isfinite(study->result[r].step);
}

static double abscissa(const Study *study, const Axes *axes, int row) {
  const StudyRow *r = &study->result[row];
  return !r->solved ? NAN : axes->by_step ? r->step : (double)r->dofs;
}

/* The line of measure m (NULL: seconds) over the last key, at position `first` of the first one where there are two. */
static void add_line(const Study *study, Axes *axes, const StudyMeasure *m, int first, CliLine *line,
                     char *name, double *number) {
  const StudyKey *key = &study->key[study->keys - 1];
  double *x = number, *y = number + key->values;
  const char *what = m ? m->name : "solve_s";
  for (int i = 0; i < key->values; i++) {
    const int row = first * key->values + i;
    const bool there = row < study->table.rows;
    x[i] = there ? abscissa(study, axes, row) : NAN;
    y[i] = !there ? NAN : m ? m->number[row] : study->result[row].solve_seconds;
    if (isfinite(y[i]) && y[i] <= 0) axes->all_positive = false;
  }
  if (study->keys > 1)
    snprintf(name, NAME, "%s=%s: %s", strrchr(study->key[0].text, '.') + 1, study->key[0].value[first], what);
  else
    snprintf(name, NAME, "%s", what);
  *line = (CliLine){.name = name, .points = key->values, .x = x, .y = y};
}

static TesStatus draw(TesContext *ctx, const Study *study, const Axes *axes, int lines, const CliLine *line) {
  char title[256];
  const bool errors = !axes->seconds && study->measure[0].error;
  snprintf(title, sizeof title, "%.120s over %s%s%s", study->solve.path, study->key[0].text,
           study->keys > 1 ? ", " : "", study->keys > 1 ? study->key[1].text : "");
  return cli_figure_write(ctx,
                          &(CliFigure){.title = title,
                                       .subtitle = study->machine,
                                       .x_label = axes->by_step ? "step in time" : "unknowns",
                                       .y_label = axes->seconds ? "seconds"
                                                  : errors      ? "error"
                                                                : "value",
                                       .line = line,
                                       .lines = lines,
                                       .log_x = true,
                                       .log_y = (axes->seconds || errors) && axes->all_positive,
                                       .free_y = !axes->seconds && !errors},
                          study->plot);
}

TesStatus study_plot(TesContext *ctx, const Study *study) {
  const StudyKey *key = &study->key[study->keys - 1];
  const int groups = study->rows / key->values, most = groups * (study->measures + 1);
  Axes axes = {.all_positive = true};
  CliLine *line = calloc((size_t)most, sizeof *line);
  char(*name)[NAME] = calloc((size_t)most, sizeof *name);
  double *number = calloc((size_t)(most * 2 * key->values), sizeof *number);
  TesStatus status = TES_OUT_OF_MEMORY;
  int lines = 0;
  choose(study, &axes);
  if (line && name && number) {
    for (int g = 0; g < groups; g++)
      for (int i = axes.seconds ? -1 : 0; i < (axes.seconds ? 0 : study->measures); i++) {
        if (i >= 0 && !axes.drawn[i]) continue;
        add_line(study, &axes, i >= 0 ? &study->measure[i] : NULL, g, &line[lines], name[lines],
                 number + 2 * key->values * lines);
        line[lines].colour = lines, lines++;
      }
    status = draw(ctx, study, &axes, lines, line);
  }
  free(line), free(name), free(number);
  return status;
}
