/* The data of a problem in time on a device: loads and boundary values. Their kernels read the time from device
 * memory and are made once, so that a step evaluates nothing on the host, allocates nothing and can be recorded. */
#ifndef TESI_IN_TIME_DATA_H
#define TESI_IN_TIME_DATA_H

#include "functional/rt/rt_load_device.h"
#include "functional/given_nodes_device.h"
#include "functional/load_plan.h"
#include "problem/problem.h"

/* If a member is NULL, the host does its work, or the work is not needed; clock NULL: this holds for all. The first
 * clock is the time of boundary values. */
enum { TESI_CLOCKS = 2 };
typedef struct TesiTimedData {
  void *clock[TESI_CLOCKS];
  double when[TESI_CLOCKS];
  bool loads, gives; /* Made here, by component: F of all rows if it depends on time, and given values. */
  TesiLoadPlan *load[TESI_AXES];    /* NULL: 0 */
  TesiGivenNodes *given[TESI_AXES]; /* the nodes with values; NULL: none */
  TesiModalLoad *modal;             /* of element dg, instead of load[] */
} TesiTimedData;

/* For a problem on one rank whose operators exist: continuous elements, one part per component, or element dg. */
TesStatus tesi_timed_data_create(TesProblem *problem);
void tesi_timed_data_destroy(TesProblem *problem);
/* Sets the time of a clock for the work queued from now on; b <- F(time), by the clock that is at this time, or by
 * the first clock. */
TesStatus tesi_timed_data_at(TesProblem *problem, int clock, double time);
TesStatus tesi_timed_data_load(TesProblem *problem, double time, TesVector *b);
/* x <- x with the boundary values of the first clock, or with zeros there, if boundary values are made here. */
TesStatus tesi_timed_data_give(const TesProblem *problem, TesVector *x);
TesStatus tesi_timed_data_clear(const TesProblem *problem, TesVector *x);
/* To be called with the outcome of a solve, which it returns. If the outcome is TES_NAN because of a function of the
 * data, the message names this function. */
TesStatus tesi_timed_data_explain(TesProblem *problem, double time, TesStatus outcome);

#endif
