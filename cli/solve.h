/* One solve of the program: options, state, and the parts that tell about it. */
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
  bool to_stdout; /* the report goes to the standard output, nothing else does */
  /* Called when all is solved and written, or has failed, if there is one; a study keeps its row so. */
  void (*ended)(void *user, const struct Solve *s);
  void *user;
  /* For a caller that is no program. */
  const char *text; /* the case; `path` is its name in messages. NULL: the file is read */
  void (*log)(void *user, TesLogLevel level,
              const char *line);             /* gets what is printed otherwise, but for failures */
  void (*progress)(void *user, double part); /* how much is done, at most 1 */
  TesProblem **keep; /* *keep <- the problem at its end, the caller's then; NULL: it is destroyed */
} SolveOptions;

/* What the case wants to be told of the solution; arrays as long as those of the case. */
typedef struct SolveOutputs {
  bool known;
  int step; /* in time: the step that they are of */
  int fields;
  const char *field[TES_PROBLEM_FIELDS];
  double *point, *moved, *value; /* [points][fields], [points], [values] */
  double (*place)[3];            /* [values], of largest and smallest ones */
  int lines;                     /* that were written */
} SolveOutputs;

/* A solution in time, while it is made. */
enum { SOLVE_COUNTS = 1000 };
typedef struct SolveInTime {
  TesReportInTime report;      /* of a problem with `time`; also of its start */
  int64_t count[SOLVE_COUNTS]; /* [its]: steps that took so many iterations, the last of so many or more */
  double first_step_seconds, output_seconds;
  /* when the last checkpoint was, row of the series, file, step of output.vtkhdf, and picture */
  double written, told, filed, stored, drawn;
  int file_step, stored_step, picture_step; /* of the last of these */
  TesReportRemesh *remesh;                  /* [remesh_room] of the report */
  int64_t remesh_room;
  double adapt_seconds; /* of all changes of the mesh */
  double change[2];     /* per unit of time, and at which steps: not after half of the steps, and later */
  int change_step[2];
  FILE *series;
} SolveInTime;

/* Values of steps since a time, for output.average. */
typedef struct SolveSamples {
  size_t count, room;
  double *row;  /* [count][1 + values]: time, values */
  double *note; /* of the last checkpoint: a key of the values' names, and the rows */
  int statistics;
  TesReportStatistic *statistic; /* [statistics] */
} SolveSamples;

/* All that one solve knows; the report is made from it. Problems of adaptive steps are gone by then: what it needs
 * of them is kept here. */
typedef struct Solve {
  TesContext *context;
  const SolveOptions *options;
  TesCase *input;
  TesMesh *own_mesh;
  const TesMesh *mesh;       /* the own one, or that of the checkpoint */
  TesCheckpoint *checkpoint; /* of a restart */
  TesVector *guess;          /* of a restart: where the first iteration starts */
  int first_step;            /* the number of the checkpoint's step */
  int folder_made; /* characters of output.folder to the end of the first folder that was made; 0: none */
  TesStatus status, outcome; /* of the whole; of the iteration, before files are written */
  char message[1024]; /* of a failure, with the place of the output that it is about; "": the context's */
  char refusal[1024]; /* files that clash, or cannot be made; the report is not written then */
  bool has_solver, solved, has_errors;
  double error_l2, error_h1;
  bool is_flow; /* then `flow` in the place of the two */
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
  bool has_checkpoint;     /* the case's own was written */
  SolveOutputs outputs;
  SolveSamples samples;
  /* Of the last step; levels finest first. */
  TesReportLevel levels[SOLVE_LEVELS];
  int level_count;
  char text[4][SOLVE_TEXT]; /* method, smoother, operator, precision */
  TesProblemTimes setup;
  double tolerance, floor, *residuals;
  int64_t dofs;
  TesSolveResult result; /* seconds: of all steps */
  /* Of all steps. */
  TesMultigridTimes cycle;
  int64_t all_dofs;
  int iterations;
  TesReportStep steps[SOLVE_STEPS];
  int step_count;
  TesPvdEntry *files;
  int file_count, file_room;
  char *collection; /* PVD file of them */
  char *pieces;     /* the list of the pieces that several ranks wrote */
} Solve;

extern const char *const solve_texts[4]; /* names of the texts */

/* The whole command: reads, solves, writes. Prints failures. */
TesStatus solve_run(TesContext *ctx, const SolveOptions *options);
/* Its parts, which `tessera check` takes too, so that it refuses what a solve refuses: the case, its files and its
 * mesh; what the problem is made of; the place of a failure, and its message; what all that owns, and s itself. */
TesStatus solve_prepare(Solve *s);
TesProblemDesc solve_describe(const Solve *s);
bool solve_is_in_time(const Solve *s);
void solve_locate(Solve *s);
void solve_tell_failure(Solve *s);
void solve_release(Solve *s);
/* Destroys the problem, or leaves it to the caller. */
void solve_end_problem(const Solve *s, TesProblem **problem);
/* Before anything is computed: whether the files of the case can be written. */
TesStatus solve_check_files(Solve *s);
/* Of a run that failed: what was made of output.folder, as far as it is empty. */
void solve_remove_folder(const Solve *s);
/* Fills in s->refusal, and is TES_INVALID_INPUT, where an output would overwrite an input or another output.
 * Without a case (s->input) by the options alone. */
TesStatus solve_check_outputs(Solve *s);
/* Of options or case; NULL: none. */
const char *solve_vtu_path(const Solve *s);
const char *solve_json_path(const Solve *s);
const char *solve_png_path(const Solve *s);
/* "name.vtu", ".vtu" -> "name-007.vtu", of step -1 the collection "name.pvd"; the caller frees; NULL: no memory. */
char *solve_step_file(const char *path, const char *ending, int step);
/* The number of the last output at or before a step in time, and whether it is due at that step; the last step has one
 * of its own. */
bool solve_is_due(const Solve *s, const TesCaseEvery *every, const TesProblemInfo *info, int step,
                  int *number);
/* Levels and choices of a problem's solver, and the outcome of its iteration, for the report. */
void solve_keep_solver(Solve *s, const TesProblem *problem);
TesStatus solve_keep_result(Solve *s, const TesProblem *problem, const TesSolveResult *result);
TesStatus solve_find_errors(Solve *s, const TesProblem *problem);
/* Of transport: what went in and out. */
TesStatus solve_keep_balance(Solve *s, const TesProblem *problem);
/* A problem with `time`, from its start to its end. */
TesStatus solve_in_time(Solve *s, const TesProblemDesc *desc);
/* The file of an output of number `number` at `time`, and the list of all so far. */
TesStatus solve_write_numbered(Solve *s, const TesProblem *problem, int number, double time,
                               const double *indicator);
/* The file of a single solve, or that of a step and the collection of all so far; nothing where none is wanted. */
TesStatus solve_write_vtu(Solve *s, const TesProblem *problem);
/* The solution in output.vtkhdf, or a step more there; nothing where none is wanted. */
TesStatus solve_write_vtkhdf(Solve *s, const TesProblem *problem, double time, const double *indicator);
/* The picture of a single solve (step -1) or of a step; nothing where none is wanted. */
TesStatus solve_write_png(Solve *s, const TesProblem *problem, int step);
/* A picture of the series that is on disk, if the case wants it. */
TesStatus solve_write_plot(Solve *s);
/* The picture of a step, "path" with its number, becomes a part of output.film; the first one of a restart brings those
 * of before. */
TesStatus solve_keep_frame(Solve *s, const char *path, int step);
/* output.film, at the end. */
TesStatus solve_write_film(Solve *s);
void solve_free_frames(Solve *s);
/* The case's checkpoint, if it has one. */
TesStatus solve_write_checkpoint(Solve *s, const TesProblem *problem, int step);
/* A largest or smallest value, which has a place. */
bool solve_has_place(const TesValue *value);
/* Points and values of the last problem; with its lines, which are written. */
TesStatus solve_find_numbers(Solve *s, const TesProblem *problem);
TesStatus solve_find_outputs(Solve *s, const TesProblem *problem);
void solve_print_outputs(const Solve *s);
void solve_free_outputs(Solve *s);
/* Of output.average (solve_statistics.c): the values after a step; what is told of all. */
TesStatus solve_add_sample(Solve *s, const TesProblem *problem);
/* They go into the checkpoint that is written next. */
TesStatus solve_note_samples(Solve *s, TesProblem *problem);
/* Those of the run that goes on at a time; where it kept none of all steps that is told. */
TesStatus solve_take_samples(Solve *s, double time);
TesStatus solve_find_statistics(Solve *s);
void solve_print_statistics(const Solve *s);
void solve_free_samples(Solve *s);
/* Replaces the mesh of the case by that of the checkpoint, and takes its solution as the start. */
TesStatus solve_restart(Solve *s);
void solve_free_files(Solve *s);

/* Seconds since some time. */
double solve_now(void);
/* Lines for people, dropped where nobody wants to hear them. */
void solve_log(const Solve *s, TesLogLevel level, const char *format, ...) CLI_PRINTF(3, 4);
void solve_print_problem(const Solve *s);
void solve_print_solver(const Solve *s, const TesProblem *problem);
void solve_print_step(const Solve *s, const TesAdaptStep *step);
/* A row of a table of steps (solve_columns.c). Columns of rank 0 are always shown, others in the order of their ranks
 * as far as they fit. */
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
/* A column a value of the case, of ranks 1, 2, ..; '-' where it is not known. */
void solve_value_columns(const Solve *s, bool known, SolveColumns *columns);
/* The first row has the names above it. */
void solve_print_columns(const Solve *s, TesLogLevel level, const SolveColumns *columns, bool first);
/* "12 s", "3 min", "1.5 h"; "-" where it is negative or NaN. */
void solve_print_span(double seconds, char text[32]);
void solve_monitor(void *user, int iteration, double residual);
/* Tells the caller, where it wants to know, how much is done. */
void solve_progress(const Solve *s, double part);
/* The same within a step of an adaptive solve: progress. */
void solve_monitor_step(void *user, int iteration, double residual);
void solve_print_outcome(const Solve *s);
/* The time of the iterations; adaptive: of all steps with refinement, set-up and estimates. */
double solve_seconds(const Solve *s);
/* Unknowns a second of that time; NaN where nothing was solved. */
double solve_rate(const Solve *s);

/* The JSON report, also of failures. */
TesStatus solve_write_report(const Solve *s, const char *path);
/* Joules of the solve; NaN: not known. */
TesReportEnergy solve_energy(const Solve *s);

#endif
