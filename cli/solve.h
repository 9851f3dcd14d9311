/* One solve of the program: options, state, and the parts that tell about it. */
#ifndef CLI_SOLVE_H
#define CLI_SOLVE_H

#include "command.h"
#include "tessera/case.h"
#include "tessera/report.h"

enum { SOLVE_OVERRIDES = 64, SOLVE_LEVELS = 32 };

typedef struct SolveOptions {
  CliCommon common;
  const char *path, *vtu, *restart;
  const char *overrides[SOLVE_OVERRIDES];
  int override_count;
  bool to_stdout; /* the report goes to the standard output, nothing else does */
} SolveOptions;

enum { SOLVE_STEPS = 1000 };

/* What a solve over a forest leaves for the report: meshes and solvers of its steps are gone by then. */
typedef struct SolveForest {
  TesMesh *mesh;
  TesReportStep steps[SOLVE_STEPS];
  int step_count;
  bool adaptive;
  TesReportLevel levels[SOLVE_LEVELS]; /* of the last step, finest first */
  int level_count;
  int64_t dofs;      /* of the last step */
  int64_t all_dofs;  /* of all steps */
  int iterations;    /* of all steps */
  double *residuals; /* of the last step */
  double tolerance;
  TesPoissonTimes setup;   /* of the last step */
  TesMultigridTimes cycle; /* of all steps */
  char text[4][200];       /* method, smoother, operator, precision */
  const char *coarse;      /* how the coarsest level is solved */
  TesPvdEntry files[SOLVE_STEPS];
  int file_count;
  char *collection;                             /* PVD file of them */
  const TesFunction **material_a, **material_f; /* [materials], for VTU files; owned by solve_forest() */
  double *guess;                                /* of a restart: where the first iteration starts */
  int first_step;                               /* the number of the checkpoint's step */
} SolveForest;

/* All that one solve knows; the report is made from it. */
typedef struct Solve {
  TesContext *context;
  const SolveOptions *options;
  TesCase *input;
  TesMesh *mesh;
  TesPoisson *poisson;
  TesSolveResult result;
  TesStatus status, outcome; /* of the whole; of the iteration, before files are written */
  bool solved, has_errors;
  double error_l2, error_h1;
  double started, setup_seconds, errors_seconds, vtu_seconds;
  double previous_residual, solve_started;
  const char *vtu;     /* written */
  SolveForest *forest; /* NULL: a box */
} Solve;

/* The whole command: reads, solves, writes. Prints failures. */
TesStatus solve_run(TesContext *ctx, const SolveOptions *options);

/* Meshes of trees, uniform or adaptive. */
TesStatus solve_forest(Solve *s);
void solve_forest_free(Solve *s);
/* Before anything is computed: whether the files of the case can be written and a restart makes sense. */
TesStatus solve_outputs_check(const Solve *s);
/* The case's checkpoint, if it has one. */
TesStatus solve_checkpoint_write(Solve *s, const TesForestPoisson *poisson, int step);
/* Replaces the mesh of the case by that of the checkpoint, and takes its solution as the start. */
TesStatus solve_checkpoint_read(Solve *s);
/* Values of the case as the library's. */
TesCondition solve_condition(TesCaseCondition condition);
void solve_fill_method(const TesCase *c, TesMethod *method, TesSmootherKind *smoother,
                       TesSolvePrecision *precision, int *pre, int *post);

/* Lines for people. */
void solve_print_problem(const Solve *s);
void solve_print_levels(const Solve *s);
void solve_monitor(void *user, int iteration, double residual);
void solve_print_outcome(const Solve *s);
/* Unknowns a second, over all steps of an adaptive solve. */
double solve_rate(const Solve *s);

/* The JSON report, also of failures. */
TesStatus solve_write_report(const Solve *s, const char *path);
/* The solution as VTU, with the error as a second field where the exact solution is known. */
TesStatus solve_write_vtu(const Solve *s, const char *path);

#endif
