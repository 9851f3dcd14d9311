/* A study as a figure: all errors in one panel; or, if values are drawn, one panel per measure. A value is drawn as
 * its distance to its limit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "study.h"

enum { NAME = 120, NOTE = 16, DRAWN = 64 };

/* The labels of the axes. */
typedef struct Axes {
  bool by_step;                     /* x: steps in time; else unknowns */
  const StudyMeasure *drawn[DRAWN]; /* none: seconds */
  int count;
  bool values; /* among them */
} Axes;

static bool is_listed(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return true;
  return false;
}

/* The measures of --draw, or all errors and values. */
static void choose(const Study *study, Axes *axes) {
  for (int i = 0; i < study->measures && axes->count < DRAWN; i++) {
    const StudyMeasure *m = &study->measure[i];
    if (study->draw && !is_listed(study->draw, m->name)) continue;
    axes->drawn[axes->count++] = m;
    axes->values = axes->values || !m->error;
  }
  axes->by_step = true;
  for (int r = 1; r < study->table.rows; r++)
    axes->by_step =
        axes->by_step && study->result[r].dofs == study->result[0].dofs && isfinite(study->result[r].step);
}

static double abscissa(const Study *study, const Axes *axes, int row) {
  const StudyRow *r = &study->result[row];
  return !r->solved ? NAN : axes->by_step ? r->step : (double)r->dofs;
}

/* The number drawn for a measure (NULL: seconds) in a row: its distance to the limit, if there is a limit. */
static double ordinate(const Study *study, const StudyMeasure *m, double limit, int row) {
  if (row >= study->table.rows) return NAN;
  if (!m) return study->result[row].solve_seconds;
  if (!isfinite(limit)) return m->number[row];
  const double distance = fabs(m->number[row] - limit), round_off = 1e-14 * fabs(limit);
  return distance > round_off ? distance : NAN;
}

/* The limit of a value: its exact number, else the limit of the row whose number is closest to its limit; NaN: there
 * is none. */
static double find_limit(const Study *study, const StudyMeasure *m, bool *exact) {
  double limit = study_exact(study, m->name), nearest = INFINITY;
  *exact = isfinite(limit);
  for (int r = 0; r < study->table.rows && !*exact && m->limit; r++) {
    if (!(fabs(m->number[r] - m->limit[r]) < nearest)) continue;
    nearest = fabs(m->number[r] - m->limit[r]), limit = m->limit[r];
  }
  return limit;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* Lines of one figure, and the data that they point to. */
typedef struct Lines {
  TesFigureLine *line;
  char (*name)[NAME], (*note)[NOTE];
  double *number; /* [lines][2][values of the last key] */
  int count;
  bool all_positive;
} Lines;

static bool create_lines(int most, int points, Lines *l) {
  *l = (Lines){.line = calloc((size_t)most, sizeof *l->line),
               .name = calloc((size_t)most, sizeof *l->name),
               .note = calloc((size_t)most, sizeof *l->note),
               .number = calloc((size_t)(most * 2 * points), sizeof *l->number),
               .all_positive = true};
  return l->line && l->name && l->note && l->number;
}

static void free_lines(Lines *l) {
  free(l->line), free(l->name), free(l->note), free(l->number);
}

/* The order between the last row that is drawn and the row before it. */
static void note_order(const Study *study, const Axes *axes, const StudyMeasure *m, double limit, int row,
                       char note[NOTE]) {
  double ratio = 1;
  const int before = study_before(study, row, &ratio);
  if (before < 0) return;
  const double order = log(ordinate(study, m, limit, before) / ordinate(study, m, limit, row)) / log(ratio);
  if (isfinite(order)) snprintf(note, NOTE, "%s^%.1f", axes->by_step ? "dt" : "h", order);
}

/* The line of measure m (NULL: seconds) over the last key; if there are two keys, at position `group` of the first. */
static void add_line(const Study *study, const Axes *axes, const StudyMeasure *m, double limit, int group,
                     Lines *l) {
  const StudyKey *key = &study->key[study->keys - 1];
  const int n = l->count;
  double *x = l->number + 2 * key->values * n, *y = x + key->values;
  int last = -1;
  for (int i = 0; i < key->values; i++) {
    const int row = group * key->values + i;
    x[i] = row < study->table.rows ? abscissa(study, axes, row) : NAN;
    y[i] = ordinate(study, m, limit, row);
    if (isfinite(y[i]) && y[i] <= 0) l->all_positive = false;
    if (isfinite(x[i]) && isfinite(y[i]) && y[i] > 0) last = row;
  }
  const char *dot = strrchr(study->key[0].text, '.'), *what = axes->values ? "" : m ? m->name : "solve_s";
  if (study->keys > 1)
    snprintf(l->name[n], NAME, "%s=%s%s%s", dot ? dot + 1 : study->key[0].text, study->key[0].value[group],
             *what ? ": " : "", what);
  else
    snprintf(l->name[n], NAME, "%s", what);
  if (axes->values && last >= 0 && isfinite(limit)) note_order(study, axes, m, limit, last, l->note[n]);
  l->line[n] = (TesFigureLine){
      .name = l->name[n], .points = key->values, .colour = n, .x = x, .y = y, .note = l->note[n]};
  l->count++;
}

/* ---- figures ------------------------------------------------------------------------------------------- */

static void title_of(const Study *study, char title[256]) {
  snprintf(title, 256, "%.120s over %s%s%s", study->solve.path, study->key[0].text,
           study->keys > 1 ? ", " : "", study->keys > 1 ? study->key[1].text : "");
}

static const char *name_of_x(const Axes *axes) {
  return axes->by_step ? "step in time" : "unknowns";
}

static TesStatus draw_together(TesContext *ctx, const Study *study, const Axes *axes, int groups) {
  Lines l;
  char title[256];
  TesStatus status = TES_OUT_OF_MEMORY;
  title_of(study, title);
  if (create_lines(groups * (axes->count + 1), study->key[study->keys - 1].values, &l)) {
    for (int g = 0; g < groups; g++)
      for (int i = 0; i < axes->count || i == 0; i++)
        add_line(study, axes, axes->count ? axes->drawn[i] : NULL, NAN, g, &l);
    for (int i = 0; i < l.count; i++) l.line[i].note = NULL;
    const TesFigurePanel panel = {.x_label = name_of_x(axes),
                                  .y_label = axes->count ? "error" : "seconds",
                                  .line = l.line,
                                  .lines = l.count,
                                  .log_x = true,
                                  .log_y = l.all_positive};
    status = tes_figure_write(ctx, &(TesFigureDesc){title, study->machine, 1, &panel}, study->plot);
  }
  free_lines(&l);
  return status;
}

/* One measure for all values of the first key. */
static bool make_panel(const Study *study, const Axes *axes, const StudyMeasure *m, int groups, Lines *l,
                       char title[NAME], TesFigurePanel *panel) {
  bool exact = false;
  const double limit = m->error ? 0 : find_limit(study, m, &exact);
  if (!create_lines(groups, study->key[study->keys - 1].values, l)) return false;
  for (int g = 0; g < groups; g++) add_line(study, axes, m, limit, g, l);
  if (m->error)
    snprintf(title, NAME, "error %s", m->name);
  else if (isfinite(limit))
    snprintf(title, NAME, "|%.30s %c %.9g|, %s", m->name, limit < 0 ? '+' : '-', fabs(limit),
             exact ? "exact" : "extrapolated");
  else
    snprintf(title, NAME, "%.40s, without a limit", m->name);
  *panel = (TesFigurePanel){.title = title,
                            .x_label = name_of_x(axes),
                            .line = l->line,
                            .lines = l->count,
                            .log_x = true,
                            .log_y = isfinite(limit),
                            .free_y = true};
  return true;
}

static TesStatus draw_panels(TesContext *ctx, const Study *study, const Axes *axes, int groups) {
  Lines l[DRAWN] = {{0}};
  TesFigurePanel panel[DRAWN];
  char title[256], (*name)[NAME] = calloc(DRAWN, sizeof *name);
  TesStatus status = name ? TES_OK : TES_OUT_OF_MEMORY;
  title_of(study, title);
  for (int i = 0; i < axes->count && status == TES_OK; i++)
    if (!make_panel(study, axes, axes->drawn[i], groups, &l[i], name[i], &panel[i]))
      status = TES_OUT_OF_MEMORY;
  if (status == TES_OK)
    status = tes_figure_write(ctx, &(TesFigureDesc){title, study->machine, axes->count, panel}, study->plot);
  for (int i = 0; i < axes->count; i++) free_lines(&l[i]);
  free(name);
  return status;
}

TesStatus study_plot(TesContext *ctx, const Study *study) {
  const int groups = study->rows / study->key[study->keys - 1].values;
  Axes axes = {0};
  choose(study, &axes);
  return axes.values ? draw_panels(ctx, study, &axes, groups) : draw_together(ctx, study, &axes, groups);
}
