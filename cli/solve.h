/* One solve of the program: options, state, and the functions that print and report it. */
#ifndef CLI_SOLVE_H
#define CLI_SOLVE_H

#include <stdio.h>
#include "command.h"

enum { SOLVE_OVERRIDES = 64, SOLVE_LEVELS = 32, SOLVE_STEPS = 1000, SOLVE_TEXT = 200 };

struct Solve;
typedef struct SolveOptions {
  CliCommon common;
  const char *path, *vtu, *png, *restart;
  const char *overrides[SOLVE_OVERRIDES];
  int override_count;
  bool to_stdout; /* the report goes to the standard output, and nothing else does */
  /* Called at the end, after success or failure; NULL: not called. A study keeps its row in this way. */
  void (*ended)(void *user, const struct Solve *s);
  void *user;
  /* For callers other than the program. */
  const char *text; /* the case; `path` is its name in messages. NULL: the file is read */
  void (*log)(void *user, TesLogLevel level,
              const char *line);             /* gets all lines that would be printed, except failures */
  void (*progress)(void *user, double part); /* part: the fraction that is done, at most 1 */
  TesProblem **keep; /* *keep <- the problem at its end, which the caller then owns; NULL: it is destroyed */
} SolveOptions;

/* The outputs of the case; arrays are as long as in the case. */
typedef struct SolveOutputs {
  bool known;
  int step; /* in time: their step */
  int fields;
  const char *field[TES_PROBLEM_FIELDS];
  double *point, *moved, *value; /* [points][fields], [points], [values] */
  double (*place)[3];            /* [values], of largest and smallest values */
  int lines;                     /* that were written */
} SolveOutputs;

/* The state of a solution in time. */
enum { SOLVE_COUNTS = 1000 };
typedef struct SolveInTime {
  TesReportInTime report;      /* of a problem with `time`; also of its initial state */
  int64_t count[SOLVE_COUNTS]; /* [its]: steps that took this number of iterations; the last entry: or more */
  double first_step_seconds, output_seconds;
  /* times of the last checkpoint, row of the series, file, step of output.vtkhdf, and picture */
  double written, told, filed, stored, drawn;
  int file_step, stored_step, picture_step; /* steps of the last file, step of output.vtkhdf, and picture */
  TesReportRemesh *remesh;                  /* [remesh_room] of the report */
  int64_t remesh_room;
  double adapt_seconds; /* of all changes of the mesh */
  double change[2]; /* changes per unit of time, and their steps: before half of the steps so far, and later */
  int change_step[2];
  FILE *series;
} SolveInTime;

/* Values of steps from a time on, for output.average. */
typedef struct SolveSamples {
  size_t count, room;
  double *row;  /* [count][1 + values]: time, values */
  double *note; /* for the last checkpoint: a key of the values' names, and the rows */
  int statistics;
  TesReportStatistic *statistic; /* [statistics] */
} SolveSamples;

/* All data of one solve, from which the report is made. Problems of adaptive steps no longer exist then, so their
 * data are stored here. */
typedef struct Solve {
  TesContext *context;
  const SolveOptions *options;
  TesCase *input;
  TesMesh *own_mesh;
  const TesMesh *mesh;       /* own_mesh, or the mesh of the checkpoint */
  TesCheckpoint *checkpoint; /* of a restart */
  TesVector *guess;          /* of a restart: the start of the first iteration */
  int first_step;            /* the step of the checkpoint */
  int folder_made; /* characters of output.folder to the end of the first folder that was made; 0: none */
  TesStatus status, outcome; /* of the whole solve; of the iteration, before files are written */
  char message[1024]; /* of a failure, with the place of the output at fault; "": the context's message */
  char refusal[1024]; /* files that clash, or cannot be made; the report is not written then */
  bool has_solver, solved, has_errors;
  double error_l2, error_h1;
  bool is_flow; /* if true, `flow` replaces these two */
  TesFlowResult flow;
  TesFlowEstimate estimate;
  TesReportBalance balance; /* of transport; fluxes 0: not known */
  TesReportForces forces;   /* of elasticity; dim 0: not known */
  SolveInTime in_time;
  int64_t velocity_dofs, pressure_dofs;
  double started, setup_seconds, errors_seconds, vtu_seconds;
  double previous_residual, solve_started;
  TesEnergy energy[3];     /* at the start, after the set-up (adaptive: NaN), after the solve */
  const char *vtu;         /* written */
  const char *vtkhdf;      /* the same */
  TesVtkhdf *steps_file;   /* output.vtkhdf, while it is written */
  char *png, *plot, *film; /* the same */
  TesPictures *pictures;   /* of the steps of a run */
  int frames, frame_room;  /* of output.film */
  char **frame;            /* [frames] pictures */
  bool has_checkpoint;     /* the case's own checkpoint was written */
  SolveOutputs outputs;
  SolveSamples samples;
  /* Data of the last step; levels finest first. */
  TesReportLevel levels[SOLVE_LEVELS];
  int level_count;
  char text[4][SOLVE_TEXT]; /* method, smoother, operator, precision */
  TesProblemTimes setup;
  double tolerance, floor, *residuals;
  int64_t dofs;
  TesSolveResult result; /* seconds: of all steps */
  /* Data of all steps. */
  TesMultigridTimes cycle;
  int64_t all_dofs;
  int iterations;
  TesReportStep steps[SOLVE_STEPS];
  int step_count;
  TesPvdEntry *files;
  int file_count, file_room;
  char *collection; /* PVD file that lists them */
  char *pieces;     /* the file that lists the pieces of several ranks */
} Solve;

extern const char *const solve_texts[4]; /* names of the texts */

/* The whole command: reads, solves, writes. Prints failures. */
TesStatus solve_run(TesContext *ctx, const SolveOptions *options);
/* Parts of the command, which `tessera check` uses too, so that it refuses the same cases as a solve. prepare: reads
 * the case, its files and its mesh. describe: the description of the problem. locate: the place of a failure.
 * tell_failure: its message. release: frees all members of s, and s itself. */
TesStatus solve_prepare(Solve *s);
TesProblemDesc solve_describe(const Solve *s);
bool solve_is_in_time(const Solve *s);
void solve_locate(Solve *s);
void solve_tell_failure(Solve *s);
void solve_release(Solve *s);
/* Destroys the problem, or gives it to the caller. */
void solve_end_problem(const Solve *s, TesProblem **problem);
/* Checks, before anything is computed, that the files of the case can be written. */
TesStatus solve_check_files(Solve *s);
/* After a failure: removes the folders made for output.folder that are empty. */
void solve_remove_folder(const Solve *s);
/* Fills in s->refusal and returns TES_INVALID_INPUT if an output would overwrite an input or another output. Without
 * a case (s->input) only options are checked. */
TesStatus solve_check_outputs(Solve *s);
/* Whether tables and the figure of a study (NULL: not asked for) would overwrite an input of a row's case, or each
 * other. `refusal` <- the reason. */
enum { SOLVE_TABLES = 3 };
bool solve_refuses_tables(const SolveOptions *options, TesCase *input, const char *const path[SOLVE_TABLES],
                          char *refusal, size_t size);
/* Paths from options or case; NULL: none. */
const char *solve_vtu_path(const Solve *s);
const char *solve_json_path(const Solve *s);
const char *solve_png_path(const Solve *s);
/* ".svg" or ".pdf" of such a picture, else ".png". */
const char *solve_picture_ending(const char *path);
/* "name.vtu", ".vtu" -> "name-007.vtu"; step -1: the collection "name.pvd". The caller frees it; NULL: no memory. */
char *solve_step_file(const char *path, const char *ending, int step);
/* *number <- the number of the last output at or before a step in time. Returns whether an output is due at this
 * step. The last step has an output of its own. */
bool solve_is_due(const Solve *s, const TesCaseEvery *every, const TesProblemInfo *info, int step,
                  int *number);
/* Levels and choices of a problem's solver, and the outcome of its iteration, for the report. */
void solve_keep_solver(Solve *s, const TesProblem *problem);
TesStatus solve_keep_result(Solve *s, const TesProblem *problem, const TesSolveResult *result);
TesStatus solve_find_errors(Solve *s, const TesProblem *problem);
/* Transport: inflow and outflow. */
TesStatus solve_keep_balance(Solve *s, const TesProblem *problem);
/* A problem with `time`, from its start to its end. */
TesStatus solve_in_time(Solve *s, const TesProblemDesc *desc);
/* The file of output number `number` at `time`, and the list of all files so far. */
TesStatus solve_write_numbered(Solve *s, const TesProblem *problem, int number, double time,
                               const double *indicator);
/* The file of a single solve; or the file of a step, and the collection of all files so far. Nothing if the case
 * wants no such file. */
TesStatus solve_write_vtu(Solve *s, const TesProblem *problem);
/* The solution in output.vtkhdf, or another step in this file. Nothing if the case wants no such file. */
TesStatus solve_write_vtkhdf(Solve *s, const TesProblem *problem, double time, const double *indicator);
/* Waits for the step that is being written: before a checkpoint that follows it, and at the end. */
TesStatus solve_await_vtkhdf(Solve *s);
/* The picture of a single solve (step -1) or of a step. Nothing if the case wants no picture. */
TesStatus solve_write_png(Solve *s, const TesProblem *problem, int step);
/* Draws the series, which is a file by then, if the case wants it. */
TesStatus solve_write_plot(Solve *s);
/* Adds the picture of a step, "path" with its number, to output.film. The first picture after a restart also adds the
 * earlier ones. */
TesStatus solve_keep_frame(Solve *s, const char *path, int step);
/* Writes output.film at the end. */
TesStatus solve_write_film(Solve *s);
void solve_free_frames(Solve *s);
/* The case's checkpoint, if it has one. */
TesStatus solve_write_checkpoint(Solve *s, const TesProblem *problem, int step);
/* A largest or smallest value, which has a place. */
bool solve_has_place(const TesValue *value);
/* numbers: points and values of the last problem; outputs: these and its lines, which are written. During a run a
 * value may be no number, as a quotient at rest; check: TES_NAN if one is. */
TesStatus solve_find_numbers(Solve *s, const TesProblem *problem);
TesStatus solve_check_values(Solve *s);
TesStatus solve_find_outputs(Solve *s, const TesProblem *problem);
void solve_print_outputs(const Solve *s);
void solve_free_outputs(Solve *s);
/* For output.average (solve_statistics.c): adds the values after a step. */
TesStatus solve_add_sample(Solve *s, const TesProblem *problem);
/* Puts the values into the next checkpoint. */
TesStatus solve_note_samples(Solve *s, TesProblem *problem);
/* Takes the values of the run that is continued; reports if that run does not have the values of all
 * steps. */
TesStatus solve_take_samples(Solve *s, const TesProblem *problem);
TesStatus solve_find_statistics(Solve *s);
void solve_print_statistics(const Solve *s);
void solve_free_samples(Solve *s);
/* Replaces the mesh of the case by the mesh of the checkpoint, whose solution becomes the start. */
TesStatus solve_restart(Solve *s);
void solve_free_files(Solve *s);

/* Seconds since a fixed time. */
double solve_now(void);
/* Prints a line, unless the verbosity excludes it. */
void solve_log(const Solve *s, TesLogLevel level, const char *format, ...) CLI_PRINTF(3, 4);
void solve_print_problem(const Solve *s);
void solve_print_solver(const Solve *s, const TesProblem *problem);
void solve_print_step(const Solve *s, const TesAdaptStep *step);
/* A row of a table of steps (solve_columns.c). Columns of rank 0 are always shown; others are shown in the order of
 * their ranks, as far as they fit. */
enum { SOLVE_COLUMNS = 40 };
typedef struct SolveColumn {
  char name[24], text[24];
  int rank, width;
} SolveColumn;
typedef struct SolveColumns {
  int count;
  SolveColumn column[SOLVE_COLUMNS];
} SolveColumns;
void solve_column(SolveColumns *columns, int rank, int width, const char *name, const char *format, ...)
    CLI_PRINTF(5, 6);
/* Adds a column per value of the case, with ranks 1, 2, ..; '-' if the value is not known. */
void solve_value_columns(const Solve *s, bool known, SolveColumns *columns);
/* first: the names are printed above the row. */
void solve_print_columns(const Solve *s, TesLogLevel level, const SolveColumns *columns, bool first);
/* "12 s", "3 min", "1.5 h"; "-" if it is negative or NaN. */
void solve_print_span(double seconds, char text[32]);
void solve_monitor(void *user, int iteration, double residual);
/* Reports the fraction that is done to the caller, if the caller wants it. */
void solve_progress(const Solve *s, double part);
/* The same within a step of an adaptive solve. */
void solve_monitor_step(void *user, int iteration, double residual);
void solve_print_outcome(const Solve *s);
/* Seconds of the iterations; adaptive: of all steps with refinement, set-up and estimates. */
double solve_seconds(const Solve *s);
/* Unknowns per second of solve_seconds(); NaN if nothing was solved. */
double solve_rate(const Solve *s);

/* The JSON report, also of failures. */
TesStatus solve_write_report(const Solve *s, const char *path);
/* Joules of the solve; NaN: not known. */
TesReportEnergy solve_energy(const Solve *s);

#endif
