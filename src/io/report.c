#include "io/report.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "io/file.h"
#include "io/utf8.h"

/* cJSON returns NULL if there is no memory. `complete` collects this, so that it is checked once, at the end. */
typedef struct Writer {
  cJSON *root;
  bool complete;
} Writer;

static void put(Writer *w, cJSON *object, const char *name, cJSON *item) {
  const bool added = object && item && cJSON_AddItemToObject(object, name, item);
  if (!added) cJSON_Delete(item);
  w->complete &= added;
}

static void append(Writer *w, cJSON *array, cJSON *item) {
  const bool added = array && item && cJSON_AddItemToArray(array, item);
  if (!added) cJSON_Delete(item);
  w->complete &= added;
}

/* JSON has no NaN and no infinities. */
static cJSON *number(double value) {
  return isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull();
}

static void put_number(Writer *w, const char *name, double value) {
  put(w, w->root, name, number(value));
}

static void put_known(Writer *w, const char *name, double value) {
  if (value != 0) put_number(w, name, value);
}

/* Texts come from files and the system. JSON is UTF-8, so bytes that are not UTF-8 are replaced. */
static void make_utf8(char *text) {
  for (int length; *text; text += length) {
    length = tesi_utf8_length(text);
    if (length) continue;
    *text = '?';
    length = 1;
  }
}

static cJSON *text_item(const char *text) {
  cJSON *item = cJSON_CreateString(text);
  if (item) make_utf8(item->valuestring);
  return item;
}

static void put_text(Writer *w, const char *name, const char *text) {
  if (text && *text) put(w, w->root, name, text_item(text));
}

static void put_residuals(Writer *w, const TesReport *r) {
  cJSON *array = cJSON_CreateArray();
  for (int i = 0; i < r->residual_count; i++) append(w, array, number(r->residuals[i]));
  put(w, w->root, "residuals", array);
}

static void put_levels(Writer *w, const TesReport *r) {
  put_number(w, "levels", r->level_count);
  if (!r->level_count) return;
  cJSON *array = cJSON_CreateArray();
  for (int i = 0; i < r->level_count; i++) {
    cJSON *level = cJSON_CreateObject();
    put(w, level, "cells", number((double)r->levels[i].cells));
    put(w, level, "dofs", number((double)r->levels[i].dofs));
    append(w, array, level);
  }
  put(w, w->root, "hierarchy", array);
}

static void put_steps(Writer *w, const TesReport *r) {
  if (!r->step_count) return;
  cJSON *array = cJSON_CreateArray();
  for (int i = 0; i < r->step_count; i++) {
    const TesReportStep *s = &r->steps[i];
    cJSON *step = cJSON_CreateObject();
    put(w, step, "cells", number((double)s->cells));
    put(w, step, "dofs", number((double)s->dofs));
    put(w, step, "hanging", number((double)s->hanging));
    put(w, step, "iterations", number(s->iterations));
    put(w, step, "estimate", number(s->estimate));
    put(w, step, "upper", number(s->upper));
    put(w, step, "error", number(s->error));
    put(w, step, "effectivity", number(s->effectivity));
    put(w, step, "goal", number(s->goal));
    put(w, step, "l2", number(s->l2));
    put(w, step, "h1", number(s->h1));
    append(w, array, step);
  }
  put(w, w->root, "steps", array);
}

static void put_flow(Writer *w, const TesReportFlow *f) {
  if (!f) return;
  cJSON *flux = cJSON_CreateObject();
  put_number(w, "velocity_dofs", (double)f->velocity_dofs);
  put_number(w, "pressure_dofs", (double)f->pressure_dofs);
  put_number(w, "divergence_l2", f->divergence_l2);
  put_number(w, "divergence_relative", f->divergence_relative);
  for (int i = 0; i < f->fluxes; i++) put(w, flux, f->boundary[i], number(f->flux[i]));
  put(w, w->root, "flux", flux);
  if (isfinite(f->velocity_estimate)) {
    cJSON *estimate = cJSON_CreateObject();
    put(w, estimate, "velocity", number(f->velocity_estimate));
    put(w, estimate, "pressure", number(f->pressure_estimate));
    put(w, w->root, "error_estimate", estimate);
  }
  if (isnan(f->velocity_l2)) return;
  cJSON *errors = cJSON_CreateObject();
  put(w, errors, "velocity_l2", number(f->velocity_l2));
  if (!isnan(f->pressure_l2)) put(w, errors, "pressure_l2", number(f->pressure_l2));
  put(w, errors, "divergence_l2", number(f->divergence_l2));
  put(w, w->root, "errors", errors);
}

static void put_balance(Writer *w, const TesReportBalance *b) {
  if (!b) return;
  cJSON *balance = cJSON_CreateObject(), *flux = cJSON_CreateObject();
  put(w, balance, "in", number(b->in));
  put(w, balance, "out", number(b->out));
  put(w, balance, "sources", number(b->sources));
  put(w, balance, "stored", number(b->stored));
  put(w, balance, "defect", number(b->defect));
  put(w, w->root, "balance", balance);
  for (int i = 0; i < b->fluxes; i++) put(w, flux, b->boundary[i], number(b->flux[i]));
  put(w, w->root, "flux", flux);
}

static void put_errors(Writer *w, const TesReport *r) {
  put_flow(w, r->flow);
  put_balance(w, r->balance);
  if (!r->has_errors) return;
  cJSON *errors = cJSON_CreateObject();
  put(w, errors, "l2", number(r->error_l2));
  put(w, errors, "h1", number(r->error_h1));
  if (r->in_time && !isnan(r->in_time->l2_space_time))
    put(w, errors, "l2_space_time", number(r->in_time->l2_space_time));
  put(w, w->root, "errors", errors);
}

static void put_remeshes(Writer *w, const TesReportInTime *t) {
  if (!t->adaptive) return;
  cJSON *array = cJSON_CreateArray();
  for (int64_t i = 0; i < t->remeshes; i++) {
    const TesReportRemesh *r = &t->remesh[i];
    cJSON *remesh = cJSON_CreateObject();
    put(w, remesh, "step", number((double)r->step));
    put(w, remesh, "time", number(r->time));
    put(w, remesh, "cells", number((double)r->cells));
    put(w, remesh, "dofs", number((double)r->dofs));
    if (!isnan(r->divergence)) put(w, remesh, "divergence_removed", number(r->divergence));
    append(w, array, remesh);
  }
  put(w, w->root, "remeshes", array);
}

static void put_in_time(Writer *w, const TesReportInTime *t) {
  if (!t) return;
  cJSON *iterations = cJSON_CreateArray();
  put_number(w, "time", t->time);
  put_number(w, "time_steps", (double)t->steps);
  for (int i = 0; i < 3; i++) append(w, iterations, number(t->iterations[i]));
  put(w, w->root, "iterations_per_step", iterations);
  if (t->mean_forces) {
    cJSON *force = cJSON_CreateArray();
    for (int i = 0; i < t->mean_forces; i++) append(w, force, number(t->mean_force[i]));
    put(w, w->root, "mean_force", force);
  }
  put_text(w, "series", t->series);
  put_remeshes(w, t);
}

static void put_times(Writer *w, const TesReport *r) {
  cJSON *times = cJSON_CreateObject();
  put(w, times, "setup", number(r->setup_seconds));
  put(w, times, "solve", number(r->solve_seconds));
  for (int i = 0; i < r->time_count; i++) put(w, times, r->times[i].name, number(r->times[i].seconds));
  put(w, w->root, "times", times);
}

static void put_energy(Writer *w, const TesReportEnergy *e) {
  if (!e || (!isfinite(e->gpu) && !isfinite(e->cpu))) return;
  cJSON *energy = cJSON_CreateObject();
  if (isfinite(e->gpu)) put(w, energy, "gpu", number(e->gpu));
  if (isfinite(e->cpu)) put(w, energy, "cpu", number(e->cpu));
  if (isfinite(e->setup)) put(w, energy, "setup", number(e->setup));
  if (isfinite(e->solve)) put(w, energy, "solve", number(e->solve));
  put(w, w->root, "energy", energy);
}

static void put_solver(Writer *w, const TesReport *r) {
  if (!r->solver_count) return;
  cJSON *solver = cJSON_CreateObject();
  for (int i = 0; i < r->solver_count; i++) put(w, solver, r->solver[i].name, text_item(r->solver[i].text));
  put(w, w->root, "solver", solver);
}

static void put_list(Writer *w, cJSON *object, const char *name, int count, const double *value) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < count; i++) append(w, list, number(value[i]));
  put(w, object, name, list);
}

static void put_forces(Writer *w, const TesReportForces *f) {
  double defect[3];
  if (!f) return;
  cJSON *balance = cJSON_CreateObject();
  for (int i = 0; i < f->dim; i++) defect[i] = f->load[i] + f->reaction[i];
  put_list(w, balance, "load", f->dim, f->load);
  put_list(w, balance, "reaction", f->dim, f->reaction);
  put_list(w, balance, "defect", f->dim, defect);
  put(w, w->root, "balance", balance);
}

/* The list to which a field belongs; NULL: it has its own name. */
static const char *list_of(const TesReportPoint *p, const char *field) {
  static const struct {
    bool flow;
    const char *list, *fields;
  } all[] = {{true, "velocity", " u v w "},
             {false, "displacement", " u v w "},
             {false, "stress", " sxx syy szz sxy syz sxz "},
             {false, "velocity", " ut vt wt "}};
  char word[80];
  snprintf(word, sizeof word, " %s ", field);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if ((all[i].flow ? p->flow : p->elastic) && strstr(all[i].fields, word)) return all[i].list;
  return NULL;
}

static void put_fields(Writer *w, cJSON *point, const TesReportPoint *p) {
  for (int f = 0; f < p->fields; f++) {
    const char *name = p->field[f], *list = list_of(p, name);
    if (list && !cJSON_GetObjectItem(point, list)) put(w, point, list, cJSON_CreateArray());
    if (list)
      append(w, cJSON_GetObjectItem(point, list), number(p->value[f]));
    else
      put(w, point, p->flow && !strcmp(name, "p") ? "pressure" : name, number(p->value[f]));
  }
}

static void put_points(Writer *w, const TesReport *r) {
  if (!r->point_count) return;
  cJSON *array = cJSON_CreateArray();
  for (int i = 0; i < r->point_count; i++) {
    const TesReportPoint *p = &r->points[i];
    cJSON *point = cJSON_CreateObject(), *x = cJSON_CreateArray();
    for (int d = 0; d < p->dim; d++) append(w, x, number(p->x[d]));
    put(w, point, "x", x);
    if (p->name) put(w, point, "name", text_item(p->name));
    put_fields(w, point, p);
    if (p->moved != 0) put(w, point, "moved", number(p->moved));
    append(w, array, point);
  }
  put(w, w->root, "points", array);
}

static void put_values(Writer *w, const TesReport *r) {
  if (!r->value_count) return;
  cJSON *values = cJSON_CreateObject();
  for (int i = 0; i < r->value_count; i++) put(w, values, r->values[i].name, number(r->values[i].value));
  put(w, w->root, "values", values);
  cJSON *places = NULL;
  for (int i = 0; i < r->value_count; i++) {
    if (!r->values[i].place) continue;
    if (!places) places = cJSON_CreateObject();
    put(w, places, r->values[i].name, cJSON_CreateDoubleArray(r->values[i].place, r->dim));
  }
  if (places) put(w, w->root, "places", places);
}

static void put_statistics(Writer *w, const TesReport *r) {
  if (!r->statistic_count) return;
  cJSON *statistics = cJSON_CreateObject();
  for (int i = 0; i < r->statistic_count; i++) {
    const TesReportStatistic *s = &r->statistics[i];
    cJSON *of = cJSON_CreateObject();
    put(w, of, "mean", number(s->mean));
    put(w, of, "rms", number(s->rms));
    put(w, of, "min", number(s->min));
    put(w, of, "max", number(s->max));
    put(w, of, "frequency", number(s->frequency));
    put(w, statistics, s->name, of);
  }
  put(w, w->root, "statistics", statistics);
}

static void put_texts(Writer *w, const char *name, int count, const char *const *texts) {
  if (!count) return;
  cJSON *array = cJSON_CreateArray();
  for (int i = 0; i < count; i++) append(w, array, text_item(texts[i]));
  put(w, w->root, name, array);
}

static void put_all(Writer *w, const TesReport *r) {
  put_text(w, "status", tes_status_name(r->status));
  put_text(w, "message", r->message);
  put_text(w, "case", r->case_file);
  put_text(w, "problem", r->problem);
  put_known(w, "dim", r->dim);
  put_known(w, "degree", r->degree);
  put_number(w, "dofs", (double)r->dofs);
  put_levels(w, r);
  put_number(w, "iterations", r->iterations);
  put_number(w, "fractional_iterations", r->fractional_iterations);
  put_known(w, "tolerance", r->tolerance);
  put_known(w, "floor", r->floor);
  put_residuals(w, r);
  put_steps(w, r);
  put_in_time(w, r->in_time);
  put_errors(w, r);
  put_forces(w, r->forces);
  put_times(w, r);
  put_number(w, "dofs_per_second", r->dofs_per_second);
  put_text(w, "device", r->device ? r->device : "unknown");
  put_text(w, "precision", r->precision ? r->precision : "unknown");
  put_known(w, "threads", r->threads);
  if (r->ranks > 1) put_known(w, "ranks", r->ranks);
  put_known(w, "memory_peak", (double)r->memory_peak);
  put_energy(w, r->energy);
  put_solver(w, r);
  put_texts(w, "warnings", r->warning_count, r->warnings);
  put_points(w, r);
  put_values(w, r);
  put_statistics(w, r);
  put_text(w, "vtu", r->vtu);
  put_text(w, "vtkhdf", r->vtkhdf);
  put_text(w, "png", r->png);
  put_texts(w, "lines", r->line_count, r->lines);
  put_text(w, "version", tes_version());
}

TesStatus tesi_report_text(TesContext *ctx, const TesReport *report, char **text) {
  TesStatus status = TES_OK;
  Writer w = {cJSON_CreateObject(), true};
  char *printed = NULL;
  *text = NULL;
  put_all(&w, report);
  printed = w.complete ? cJSON_Print(w.root) : NULL;
  if (!printed) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the report");
  TES_TRY(tesi_copy_text(ctx, printed, text));
done:
  cJSON_free(printed);
  cJSON_Delete(w.root);
  return status;
}

TesStatus tes_report_write(TesContext *context, const TesReport *report, const char *path) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  char *text = NULL;
  TesiFile *file = NULL;
  TES_REFUSE_NULL(context, report, path);
  TES_TRY(tesi_report_text(ctx, report, &text));
  TES_TRY(tesi_file_create(ctx, path, &file));
  TES_TRY(tesi_file_write(file, text, strlen(text)));
  TES_TRY(tesi_file_write(file, "\n", 1));
  TES_TRY(tesi_file_commit(&file));
done:
  tesi_file_discard(&file);
  tesi_free(ctx, &text);
  return status;
}
