/** \file report.h
 *  The numbers that a solve reports, and their JSON form, on which scripts rely.
 *
 *  The report is a plain struct: the caller fills it and owns all that it points to. Zero means unknown. Unknown fields
 *  are left out of the JSON text, except those marked "always". Numbers that are NaN or infinite become null, since
 *  JSON has no such numbers.
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

/** A detail of the solver as text, e.g. {"smoother", "coloured vertex patches, reversed after"}. */
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

/** The solution at a point: {`name`, `x` [dim], one member per field, `moved`}; flows have `velocity` [dim] and
 * `pressure` in the place of the fields. */
typedef struct TesReportPoint {
  const char *name; /**< NULL: the point has no name */
  double x[3];
  int dim, fields;
  bool flow; /**< fields are the components of the velocity, then the pressure */
  /** Fields are the displacement, the stress (xx, yy, xy; 3D: xx, yy, zz, xy, yz, xz), von Mises and, in time, u_t:
   *  members `displacement`, `stress`, `von_mises`, `velocity`. */
  bool elastic;
  const char *const *field; /**< [fields] */
  const double *value;      /**< [fields] */
  /** written if not 0: distance from the mesh, in cell lengths, before the point was moved to the mesh */
  double moved;
} TesReportPoint;

/** A value of the solution. */
typedef struct TesReportValue {
  const char *name;
  double value;
  const double *place; /**< [dim] place of a largest or smallest value, `places` {NAME: [..]}; NULL: none */
} TesReportValue;
/** Statistics of a value since some time: `statistics` {NAME: {`mean`, `rms`, `min`, `max`, `frequency`}}. */
typedef struct TesReportStatistic {
  const char *name;
  double mean, rms; /**< rms: of the deviation from the mean */
  double min, max;
  double frequency; /**< the frequency with the largest power; NaN (null): the value does not oscillate */
} TesReportStatistic;
/** Elasticity: `balance` {`load`, `reaction`, `defect`}, lists by direction: the sum of all loads, the force of the
 *  supports on the body, and the sum of both. */
typedef struct TesReportForces {
  int dim;
  double load[3], reaction[3];
} TesReportForces;

/** Numbers of a flow. */
typedef struct TesReportFlow {
  int64_t velocity_dofs, pressure_dofs; /**< `velocity_dofs`, `pressure_dofs` */
  double velocity_l2,
      pressure_l2; /**< `errors` {`velocity_l2`, `pressure_l2`, `divergence_l2`}; NaN: unknown, left out */
  double divergence_l2, divergence_relative;   /**< both are also written beside `errors` */
  double velocity_estimate, pressure_estimate; /**< `error_estimate` {`velocity`, `pressure`}; NaN: left out */
  const char *const *boundary;                 /**< [fluxes] names */
  const double *flux;                          /**< `flux` {boundary: integral of u.n} */
  int fluxes;
} TesReportFlow;

/** Inflow and outflow of transport (TesBalance). */
typedef struct TesReportBalance {
  double in, out, sources, stored, defect; /**< `balance` {..} */
  const char *const *boundary;             /**< [fluxes] names */
  const double *flux;                      /**< `flux` {boundary: int (b.n) u - a du/dn}, at the end */
  int fluxes;
} TesReportBalance;

/** A change of the mesh in time: {`step`, `time`, `cells`, `dofs`}. */
typedef struct TesReportRemesh {
  int64_t step; /**< index of the last step before the change */
  double time;
  int64_t cells, dofs; /**< of the new mesh */
  double divergence;   /**< `divergence_removed`; NaN: left out */
} TesReportRemesh;

/** A solution in time. */
typedef struct TesReportInTime {
  double time;                   /**< `time`: the time at the end */
  int64_t steps;                 /**< `time_steps`: number of steps */
  int iterations[3];             /**< `iterations_per_step`: least, median, most */
  double l2_space_time;          /**< `errors.l2_space_time`; NaN: unknown, left out */
  double mean_force[3];          /**< `mean_force`: list of `mean_forces`, null where NaN */
  int mean_forces;               /**< 0: left out */
  const char *series;            /**< `series`: the file; NULL: none */
  bool adaptive;                 /**< the mesh may change */
  const TesReportRemesh *remesh; /**< `remeshes` [remeshes], where it may */
  int64_t remeshes;
} TesReportInTime;

/** Joules: `energy` {`gpu`, `cpu`, `setup`, `solve`}; NaN: not known, left out. */
typedef struct TesReportEnergy {
  double gpu, cpu;     /**< from the mesh to the end of the solve */
  double setup, solve; /**< of all GPUs and processors whose counters can be read */
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
  const TesReportFlow *flow;           /**< flows; written in the place of l2 and h1 */
  const TesReportBalance *balance;     /**< NULL: not known */
  const TesReportForces *forces;       /**< NULL: not known */
  const TesReportInTime *in_time;      /**< NULL: a steady problem */
  double setup_seconds, solve_seconds; /**< `times` {`setup`, `solve`, parts}; always */
  const TesReportTime *times;          /**< further members of `times` [time_count] */
  int time_count;
  double dofs_per_second;        /**< `dofs_per_second`; NaN (null): there was no solve; always */
  const char *device;            /**< `device`, e.g. "cpu"; always */
  const char *precision;         /**< `precision`: "mixed", "double" or "single"; always */
  int threads;                   /**< `threads` */
  int ranks;                     /**< `ranks`; 0: one rank, which is left out */
  size_t memory_peak;            /**< `memory_peak`, bytes */
  const TesReportEnergy *energy; /**< NULL: not known */
  const TesReportText *solver;   /**< `solver` {...} [solver_count] */
  int solver_count;
  const char *const *warnings; /**< `warnings` [warning_count] */
  int warning_count;
  const char *png;              /**< `png`: the last picture */
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

/** Writes the report as JSON, with `version` added, to the file `path`, or to the standard output for "-". An old file
 *  is replaced only when the new file is complete. Errors: TES_IO, TES_OUT_OF_MEMORY. */
TesStatus tes_report_write(TesContext *context, const TesReport *report, const char *path);

/** Checks, before a computation, that a file can be written to this path; an existing file is not changed. NULL, "-"
 *  and special files such as pipes are not checked. Errors: TES_IO, TES_OUT_OF_MEMORY. */
TesStatus tes_file_check(TesContext *context, const char *path);

#ifdef __cplusplus
}
#endif
#endif
