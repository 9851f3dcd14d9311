/* The rows of a study. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "study.h"

enum { ERRORS = 8, FIXED = 6 }; /* columns besides keys and measures */

typedef struct Named {
  const char *name;
  double value;
} Named;

/* Errors that the solve has found. */
static int list_errors(const Solve *s, Named list[ERRORS]) {
  int n = 0;
  if (s->is_flow) {
    const bool exact = s->input->problem.exact[0] != NULL;
    if (exact) list[n++] = (Named){"velocity_l2", s->flow.velocity_l2};
    if (exact) list[n++] = (Named){"pressure_l2", s->flow.pressure_l2};
    list[n++] = (Named){"divergence_l2", s->flow.divergence_l2};
  } else if (s->has_errors) {
    list[n++] = (Named){"l2", s->error_l2};
    list[n++] = (Named){"h1", s->error_h1};
    if (s->in_time.report.steps) list[n++] = (Named){"l2_space_time", s->in_time.report.l2_space_time};
  }
  return n;
}

static char *joined(const char *a, const char *b) {
  char *text = malloc(strlen(a) + strlen(b) + 1);
  if (text) strcpy(text, a), strcat(text, b);
  return text;
}

static double *unknown(int count) {
  double *numbers = malloc((size_t)count * sizeof *numbers);
  for (int i = 0; numbers && i < count; i++) numbers[i] = NAN;
  return numbers;
}

static StudyMeasure *find_measure(const Study *study, const char *name, bool error) {
  for (int i = 0; i < study->measures; i++)
    if (study->measure[i].error == error && !strcmp(study->measure[i].name, name)) return &study->measure[i];
  return NULL;
}

/* Errors stand before values. */
static bool add_measure(Study *study, const char *name, bool error) {
  if (find_measure(study, name, error)) return true;
  StudyMeasure *more = realloc(study->measure, (size_t)(study->measures + 1) * sizeof *more);
  int at = 0;
  if (!more) return false;
  study->measure = more;
  while (at < study->measures && (!error || more[at].error)) at++;
  memmove(more + at + 1, more + at, (size_t)(study->measures++ - at) * sizeof *more);
  StudyMeasure *m = &more[at];
  *m = (StudyMeasure){.name = joined(name, ""),
                      .order_name = joined(name, "_order"),
                      .limit_name = error ? NULL : joined(name, "_limit"),
                      .error = error,
                      .number = unknown(study->rows),
                      .order = unknown(study->rows),
                      .limit = error ? NULL : unknown(study->rows)};
  return m->name && m->order_name && m->number && m->order && (error || (m->limit_name && m->limit));
}

/* The errors that list_errors() will find. */
bool study_add_measures(Study *study, const TesCase *c) {
  static const char *const of_flows[] = {"velocity_l2", "pressure_l2", "divergence_l2", NULL},
                           *const of_others[] = {"l2", "h1", "l2_space_time", NULL};
  const bool exact = c->problem.exact[0] != NULL, timed = c->problem.time.end > c->problem.time.start;
  const char *const *name = c->about.flow ? of_flows + (exact ? 0 : 2) : of_others + (exact ? 0 : 3);
  bool good = true;
  for (; *name && good; name++)
    if (timed || *name != of_others[2]) good = add_measure(study, *name, true);
  for (int i = 0; i < c->values && good; i++) good = add_measure(study, c->value[i].name, false);
  return good;
}

static void refuse_name(const Study *study, const char *option, const char *name, int length, bool drawn) {
  char list[400] = "";
  for (int i = 0; i < study->measures; i++)
    if (drawn || !study->measure[i].error)
      snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "",
               study->measure[i].name);
  if (drawn) snprintf(list + strlen(list), sizeof list - strlen(list), "%ssolve_s", *list ? ", " : "");
  cli_usage_error("%s: the table has no %s '%.*s'; it has: %s", option, drawn ? "error or value" : "value",
                  length, name, *list ? list : "none");
}

/* Names end at a comma, or at an equals sign. */
bool study_knows(const Study *study, const char *option, const char *names, bool drawn) {
  for (const char *at = names; at && *at;) {
    const int length = (int)strcspn(at, "=,");
    bool known = drawn && length == 7 && !strncmp(at, "solve_s", 7);
    if (known && strlen(names) > 7) {
      cli_usage_error("%s %s: solve_s is drawn alone", option, names);
      return false;
    }
    for (int i = 0; i < study->measures && !known; i++)
      known = (drawn || !study->measure[i].error) && (int)strlen(study->measure[i].name) == length &&
              !strncmp(study->measure[i].name, at, (size_t)length);
    if (!known) {
      refuse_name(study, option, at, length, drawn);
      return false;
    }
    at += strcspn(at, ",");
    at += *at == ',';
  }
  return true;
}

static int width(const char *name, int least) {
  const int length = (int)strlen(name);
  return length > least ? length : least;
}

static void add_column(Study *study, int *n, const char *name, int wide, int digits, int block) {
  study->block[*n] = block;
  study->column[(*n)++] = (CliColumn){name, wide, digits};
}

/* Keys, sizes, measures with orders and limits, times. A narrow terminal first shows unknowns, status and measures. */
static bool make_columns(Study *study) {
  int n = 0;
  const size_t most = (size_t)(study->keys + FIXED + 3 * study->measures);
  const int last = 1 + study->measures;
  study->column = calloc(most, sizeof *study->column);
  study->block = calloc(most, sizeof *study->block);
  if (!study->column || !study->block) return false;
  for (int k = 0; k < study->keys; k++) {
    int widest = width(study->key[k].text, 0);
    for (int i = 0; i < study->key[k].values; i++) widest = width(study->key[k].value[i], widest);
    add_column(study, &n, study->key[k].text, widest, -1, 0);
  }
  add_column(study, &n, "cells", 9, 0, last);
  add_column(study, &n, "dofs", 10, 0, 0);
  add_column(study, &n, "iterations", 10, 0, last);
  for (int i = 0; i < study->measures; i++) {
    const StudyMeasure *m = &study->measure[i];
    add_column(study, &n, m->name, width(m->name, m->error ? 10 : 16), m->error ? -2 : -3, 1 + i);
    add_column(study, &n, m->order_name, width(m->order_name, 6), 2, 1 + i);
    if (m->limit) add_column(study, &n, m->limit_name, width(m->limit_name, 16), -3, 1 + i);
  }
  add_column(study, &n, "setup_s", 8, 3, last);
  add_column(study, &n, "solve_s", 8, 3, last);
  add_column(study, &n, "status", 12, -1, 0);
  cli_table_begin_blocks(&study->table, study->column, n, study->block, study->keys,
                         study->solve.common.verbosity >= TES_NORMAL);
  return true;
}

static void keep_result(const Solve *s, StudyRow *r) {
  const int dim = tes_mesh_info(s->mesh).dim;
  r->solved = true;
  r->degree = s->input->problem.degree;
  r->cells = s->levels[0].cells;
  r->dofs = s->dofs;
  r->iterations = s->in_time.report.steps || s->input->adaptive ? s->iterations : s->result.iterations;
  r->length = pow((double)r->cells, -1.0 / dim);
  r->step = s->input->problem.time.step > 0 ? s->input->problem.time.step : NAN;
  r->setup_seconds = s->setup_seconds;
  r->solve_seconds = s->result.seconds;
}

static void add_row(Study *study) {
  const StudyRow *r = &study->result[study->row];
  CliCell *cell = calloc((size_t)study->table.columns, sizeof *cell);
  int n = 0;
  if (!cell) {
    study->status = TES_OUT_OF_MEMORY;
    return;
  }
  for (int k = 0; k < study->keys; k++)
    cell[n++].text = study->key[k].value[study_position(study, study->row, k)];
  cell[n++].number = r->solved ? (double)r->cells : NAN;
  cell[n++].number = r->solved ? (double)r->dofs : NAN;
  cell[n++].number = r->solved ? r->iterations : NAN;
  for (int i = 0; i < study->measures; i++) {
    const StudyMeasure *m = &study->measure[i];
    cell[n++].number = m->number[study->row];
    cell[n++].number = m->order[study->row];
    if (m->limit) cell[n++].number = m->limit[study->row];
  }
  cell[n++].number = r->solved ? r->setup_seconds : NAN;
  cell[n++].number = r->solved ? r->solve_seconds : NAN;
  cell[n++].text = r->status;
  if (!cli_table_add(&study->table, cell)) study->status = TES_OUT_OF_MEMORY;
  free(cell);
}

static double *number_of(Study *study, const char *name, bool error) {
  StudyMeasure *m = find_measure(study, name, error);
  return m ? &m->number[study->row] : NULL;
}

/* Failures of the whole study, such as wrong values, end it. A solve that does not converge is a row. */
void study_keep(Study *study, const Solve *s) {
  Named errors[ERRORS];
  if (s->status != TES_OK && tes_status_exit(s->status) != 1) study->status = s->status;
  if (s->status == TES_INTERRUPTED) study->status = s->status;
  if (study->status != TES_OK || !s->input) return;
  if (!study->column && !make_columns(study)) {
    study->status = TES_OUT_OF_MEMORY;
    return;
  }
  study->result[study->row].status = tes_status_name(s->status);
  if (s->solved) keep_result(s, &study->result[study->row]);
  const int count = s->solved ? list_errors(s, errors) : 0;
  for (int i = 0; i < count; i++) {
    double *number = number_of(study, errors[i].name, true);
    if (number) *number = errors[i].value;
  }
  for (int i = 0; s->outputs.known && i < s->input->values; i++) {
    double *number = number_of(study, s->input->value[i].name, false);
    if (number) *number = s->outputs.value[i];
  }
  study_find_orders(study, study->row);
  add_row(study);
}

void study_free(Study *study) {
  for (int i = 0; i < study->measures; i++) {
    StudyMeasure *m = &study->measure[i];
    free(m->name), free(m->order_name), free(m->limit_name);
    free(m->number), free(m->order), free(m->limit);
  }
  for (int k = 0; k < study->keys; k++) free(study->key[k].text);
  free(study->measure), free(study->column), free(study->block), free(study->result);
  cli_table_end(&study->table);
}
