/* A model for the speed of multigrid on several ranks: the seconds of an iteration from the time of one rank per
 * level, the exchanges of a level, and the traffic over a cut. The figures of a machine were measured once (scaling.c
 * says where); the figures between hosts are assumed. Theory: docs/parallel.md, "Prediction". */
#ifndef TESI_SCALING_H
#define TESI_SCALING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct TesiScalingMachine {
  double level;        /* seconds of the launches of a level, whatever its size */
  double cycle, outer; /* seconds per unknown: of levels of a cycle; of products and vectors outside */
  double exchanges;    /* of a level */
  double repeated;     /* layers of cells that both sides of a cut compute; 0: none */
  double sent;         /* layers of cells of which an exchange sends the nodes; 0: the shared nodes alone */
  double near_latency, near_rate, far_latency,
      far_rate; /* of an exchange, s and bytes/s: inside a host, between hosts */
  int near;     /* ranks of a host */
  double whole; /* most unknowns of a level that every rank holds whole */
} TesiScalingMachine;

typedef struct TesiScalingProblem {
  double unknowns;
  int dim, degree;
  double layers; /* of cells of a box that is cut in its last direction; 0: trees, cut into compact parts */
  double weight; /* work per unknown, relative to a scalar problem */
  double across[2]; /* layers of the directions before, the later one first, where ranks may cut them too; else 0 */
} TesiScalingProblem;

/* The main reason why an iteration on n ranks takes more than 1 / n of the time on one rank. */
typedef enum TesiScalingBound {
  TESI_BOUND_WORK,      /* no cause: less than a tenth of the time is lost */
  TESI_BOUND_LAUNCHES,  /* launches of levels, which do not shrink */
  TESI_BOUND_EXCHANGES, /* latency */
  TESI_BOUND_DATA,      /* traffic over cuts */
  TESI_BOUND_REPEATED,  /* layers that both sides compute */
  TESI_BOUND_WHOLE,     /* levels that every rank holds whole */
  TESI_BOUNDS
} TesiScalingBound;

/* Meshes of trees, or boxes in layers; ranks on GPUs, or ranks on hosts with that many cores each. */
TesiScalingMachine tesi_scaling_machine(bool gpus, bool trees, int cores);
/* How many parts of each direction of a box are the fastest, the last direction first. Other directions than the last
 * one are cut where parts have twice the layers that both sides of a cut compute, and an iteration is a twentieth
 * shorter then, or where the last one has too few layers. False: more ranks than cells. */
bool tesi_scaling_grid(const TesiScalingMachine *machine, const TesiScalingProblem *problem, int ranks,
                       int parts[3]);
/* Seconds of an iteration on the fastest grid; INFINITY: more ranks than layers. bound (or NULL): the largest cost
 * beside the work. */
double tesi_scaling_seconds(const TesiScalingMachine *machine, const TesiScalingProblem *problem, int ranks,
                            TesiScalingBound *bound);

/* "launches"; static. */
const char *tesi_scaling_bound_name(TesiScalingBound bound);

#endif
