/* The data of a problem in time on a device: loads and boundary values whose kernels take the time from device memory,
 * made once, so that a step evaluates nothing on the host, allocates nothing and can be recorded. */
#ifndef TESI_IN_TIME_DATA_H
#define TESI_IN_TIME_DATA_H

#include "functional/rt/rt_load_device.h"
#include "functional/given_nodes_device.h"
#include "functional/load_plan.h"
#include "problem/problem.h"

/* What is NULL is done by the host, or not needed; clock NULL: all. The first clock is that of boundary values. */
enum { TESI_CLOCKS = 2 };
typedef struct TesiTimedData {
  void *clock[TESI_CLOCKS];
  double when[TESI_CLOCKS];
  bool loads,
      gives; /* F of all rows, where it depends on time, and given values are made here, by component: */
  TesiLoadPlan *load[TESI_AXES];    /* NULL: 0 */
  TesiGivenNodes *given[TESI_AXES]; /* the nodes with values; NULL: none */
  TesiModalLoad *modal;             /* of element dg, in the place of load[] */
} TesiTimedData;

/* Of a problem whose operators are there, on one rank: continuous elements, a part a component, or element dg. */
TesStatus tesi_timed_data_create(TesProblem *problem);
void tesi_timed_data_destroy(TesProblem *problem);
/* The time of a clock for what is queued from now on; b <- F(time), by the clock that is at it, or the first one. */
TesStatus tesi_timed_data_at(TesProblem *problem, int clock, double time);
TesStatus tesi_timed_data_load(TesProblem *problem, double time, TesVector *b);
/* x <- x with the boundary values of the first clock, or with zeros there; where they are made here. */
TesStatus tesi_timed_data_give(const TesProblem *problem, TesVector *x);
TesStatus tesi_timed_data_clear(const TesProblem *problem, TesVector *x);
/* After a solve that ended with `outcome`, not a number: tells which function is none, where one is. */
TesStatus tesi_timed_data_explain(TesProblem *problem, double time, TesStatus outcome);

#endif
