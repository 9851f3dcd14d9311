/* A case as the program runs it, with its files and its report, whose problem stays. */
#include "run.h"
#include <stdio.h>
#include "solve.h"

/* The report is written of failures too. */
static void keep_end(void *user, const Solve *s) {
  PyRun *run = user;
  const char *message = s->refusal[0]   ? s->refusal
                        : s->message[0] ? s->message
                                        : tes_context_message(s->context);
  snprintf(run->message, sizeof run->message, "%s", message);
  run->solved = s->solved;
  if (run->report) solve_write_report(s, run->report);
}

static void take_line(void *user, TesLogLevel level, const char *line) {
  const PyRun *run = user;
  run->log(run->user, level, line);
}

static void take_part(void *user, double part) {
  const PyRun *run = user;
  if (run->progress) run->progress(run->user, part);
}

TesStatus py_run(TesContext *context, PyRun *run) {
  SolveOptions options = {.common = {.device = tes_context_device(context), .verbosity = run->verbosity},
                          .path = run->path,
                          .text = run->text,
                          .vtu = run->vtu,
                          .png = run->png,
                          .restart = run->restart,
                          .override_count = run->override_count,
                          .ended = keep_end,
                          .log = take_line,
                          .progress = take_part,
                          .keep = &run->problem,
                          .user = run};
  run->problem = NULL, run->message[0] = 0, run->solved = false;
  if (run->override_count > SOLVE_OVERRIDES) {
    snprintf(run->message, sizeof run->message, "more than %d values are set", SOLVE_OVERRIDES);
    return TES_INVALID_INPUT;
  }
  for (int i = 0; i < run->override_count; i++) options.overrides[i] = run->overrides[i];
  return solve_run(context, &options);
}

TesStatus py_gradient(TesContext *context, PyRun *run, TesProblem *problem, const char *value, int count,
                      TesCaseDatum *datum) {
  TesCase *input;
  run->message[0] = 0;
  TesStatus status =
      tes_case_parse(context, run->text, run->path, run->override_count, run->overrides, &input);
  if (status == TES_OK) status = tes_case_gradient(input, problem, value, count, datum);
  if (status != TES_OK) snprintf(run->message, sizeof run->message, "%s", tes_context_message(context));
  tes_case_destroy(&input);
  return status;
}
