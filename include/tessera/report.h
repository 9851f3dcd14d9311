/** \file report.h
 *  What a solve tells in numbers, and its JSON form: the contract that scripts rely on.
 *
 *  A plain struct: the caller fills it and owns all it points to; zero means unknown. Fields that are unknown are left
 *  out of the JSON text, except those marked "always". Numbers that are NaN or infinite become null, since JSON has no
 *  such numbers.
 */
#ifndef TESSERA_REPORT_H
#define TESSERA_REPORT_H

#include <stdbool.h>
#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A part of the time, e.g. {"smoother", 0.31}. */
typedef struct TesReportTime {
  const char *name;
  double seconds;
} TesReportTime;

/** A line of text about the solver, e.g. {"smoother", "coloured vertex patches, reversed after"}. */
typedef struct TesReportText {
  const char *name, *text;
} TesReportText;

/** A level of the multigrid hierarchy. */
typedef struct TesReportLevel {
  int64_t cells, dofs;
} TesReportLevel;

/** A step of an adaptive solution. NaN where unknown. */
typedef struct TesReportStep {
  int64_t cells, dofs, hanging;
  int iterations;
  double estimate, upper, error, effectivity, goal, l2, h1;
} TesReportStep;

/** The solution at a point: {`name`, `x` [dim], a member a field, `moved`}; of flows `velocity` [dim] and `pressure`
 * in the place of the fields. */
typedef struct TesReportPoint {
  const char *name; /**< NULL: it has none */
  double x[3];
  int dim, fields;
  bool flow; /**< fields are the components of the velocity, then the pressure */
  /** Fields are the displacement, the stress (xx, yy, xy; 3D: xx, yy, zz, xy, yz, xz), von Mises and, in time, u_t:
   *  members `displacement`, `stress`, `von_mises`, `velocity`. */
  bool elastic;
  const char *const *field; /**< [fields] */
  const double *value;      /**< [fields] */
  /** told where not 0: how far outside of the mesh it lay, in lengths of a cell, before it was moved to it */
  double moved;
} TesReportPoint;

/** A value of the solution. */
typedef struct TesReportValue {
  const char *name;
  double value;
  const double *place; /**< [dim] of a largest or smallest value, `places` {NAME: [..]}; NULL: none */
} TesReportValue;
/** A value since a time: `statistics` {NAME: {`mean`, `rms`, `min`, `max`, `frequency`}}. */
typedef struct TesReportStatistic {
  const char *name;
  double mean, rms; /**< rms: of the distance from the mean */
  double min, max;
  double frequency; /**< the frequency of largest power; NaN (null): the value does not oscillate */
} TesReportStatistic;
/** Elasticity: `balance` {`load`, `reaction`, `defect`}, lists by direction: all loads, what supports do to the body,
 *  and their sum. */
typedef struct TesReportForces {
  int dim;
  double load[3], reaction[3];
} TesReportForces;

/** What the solution of a flow is like. */
typedef struct TesReportFlow {
  int64_t velocity_dofs, pressure_dofs; /**< `velocity_dofs`, `pressure_dofs` */
  double velocity_l2,
      pressure_l2; /**< `errors` {`velocity_l2`, `pressure_l2`, `divergence_l2`}; NaN: unknown, left out */
  double divergence_l2, divergence_relative;   /**< both also beside `errors` */
  double velocity_estimate, pressure_estimate; /**< `error_estimate` {`velocity`, `pressure`}; NaN: left out */
  const char *const *boundary;                 /**< [fluxes] names */
  const double *flux;                          /**< `flux` {boundary: integral of u.n} */
  int fluxes;
} TesReportFlow;

/** What went in and out of transport (TesBalance). */
typedef struct TesReportBalance {
  double in, out, sources, stored, defect; /**< `balance` {..} */
  const char *const *boundary;             /**< [fluxes] names */
  const double *flux;                      /**< `flux` {boundary: int (b.n) u - a du/dn}, at the end */
  int fluxes;
} TesReportBalance;

/** A change of the mesh in time: {`step`, `time`, `cells`, `dofs`}. */
typedef struct TesReportRemesh {
  int64_t step; /**< that was made before it */
  double time;
  int64_t cells, dofs; /**< of the new mesh */
  double divergence;   /**< `divergence_removed`; NaN: left out */
} TesReportRemesh;

/** A solution in time. */
typedef struct TesReportInTime {
  double time;                   /**< `time`: where it ended */
  int64_t steps;                 /**< `time_steps`: that were made */
  int iterations[3];             /**< `iterations_per_step`: least, median, most */
  double l2_space_time;          /**< `errors.l2_space_time`; NaN: unknown, left out */
  double mean_force[3];          /**< `mean_force`: list of `mean_forces`, null where NaN */
  int mean_forces;               /**< 0: left out */
  const char *series;            /**< `series`: the file that was written; NULL: none */
  bool adaptive;                 /**< the mesh may change */
  const TesReportRemesh *remesh; /**< `remeshes` [remeshes], where it may */
  int64_t remeshes;
} TesReportInTime;

/** Joules: `energy` {`gpu`, `cpu`, `setup`, `solve`}; NaN: not known, left out. */
typedef struct TesReportEnergy {
  double gpu, cpu;     /**< from the mesh to the end of the solve */
  double setup, solve; /**< of all that can be read */
} TesReportEnergy;

typedef struct TesReport {
  TesStatus status;             /**< `status`: tes_status_name() of it; always */
  const char *message;          /**< `message`: why it failed, where it did; NULL or "": none */
  const char *case_file;        /**< `case` */
  const char *problem;          /**< `problem` */
  int iterations;               /**< `iterations`; always */
  double fractional_iterations; /**< `fractional_iterations`: interpolated to the tolerance; always */
  double tolerance;             /**< `tolerance` */
  double floor;                 /**< `floor`: TesProblemInfo.floor; 0: left out */
  const double *residuals; /**< `residuals` [residual_count], relative to |b|, the first before iteration 1; always */
  int residual_count;
  int64_t dofs;                 /**< `dofs`; always */
  int dim, degree;              /**< `dim`, `degree` */
  const TesReportLevel *levels; /**< `hierarchy` [level_count], finest first; `levels` is their number; always */
  int level_count;
  const TesReportStep *steps; /**< `steps` [step_count] of an adaptive solution */
  int step_count;
  bool has_errors;                     /**< whether the case has an exact solution */
  double error_l2, error_h1;           /**< `errors` {`l2`, `h1`}: of the solution, and of its gradient */
  const TesReportFlow *flow;           /**< of flows; in the place of the two */
  const TesReportBalance *balance;     /**< NULL: not known */
  const TesReportForces *forces;       /**< NULL: not known */
  const TesReportInTime *in_time;      /**< NULL: a steady problem */
  double setup_seconds, solve_seconds; /**< `times` {`setup`, `solve`, parts}; always */
  const TesReportTime *times;          /**< further members of `times` [time_count] */
  int time_count;
  double dofs_per_second;        /**< `dofs_per_second`; NaN (null): nothing was solved; always */
  const char *device;            /**< `device`, e.g. "cpu"; always */
  const char *precision;         /**< `precision`: "mixed", "double" or "single"; always */
  int threads;                   /**< `threads` */
  int ranks;                     /**< `ranks`; 0: one, which is left out */
  size_t memory_peak;            /**< `memory_peak`, bytes */
  const TesReportEnergy *energy; /**< NULL: not known */
  const TesReportText *solver;   /**< `solver` {...} [solver_count] */
  int solver_count;
  const char *const *warnings; /**< `warnings` [warning_count] */
  int warning_count;
  const char *png;              /**< `png`: the picture that was written last */
  const TesReportPoint *points; /**< `points` [point_count] */
  int point_count;
  const TesReportValue *values; /**< `values` {NAME: number} and `places` [value_count] */
  int value_count;
  const TesReportStatistic *statistics; /**< `statistics` [statistic_count] */
  int statistic_count;
  const char *vtu;          /**< `vtu`: the file that was written */
  const char *vtkhdf;       /**< `vtkhdf` */
  const char *const *lines; /**< `lines` [line_count]: the files that were written */
  int line_count;
} TesReport;

/** Writes the report as JSON, with `version` added, to the file `path`, or to the standard output for "-". The file
 *  appears complete or not at all. Errors: TES_IO, TES_OUT_OF_MEMORY. */
TesStatus tes_report_write(TesContext *context, const TesReport *report, const char *path);

/** Before time is spent: whether a file can be written to this path; what is there stays. NULL, "-" and what is no
 *  file, such as a pipe, are left alone. Errors: TES_IO, TES_OUT_OF_MEMORY. */
TesStatus tes_file_check(TesContext *context, const char *path);

#ifdef __cplusplus
}
#endif
#endif
