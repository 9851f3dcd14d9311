/* A model of what several ranks make of multigrid: the seconds of an iteration from the time of one rank per level, the
 * exchanges of a level and what goes over a cut. Figures of a machine were measured once (scaling.c says where), those
 * between hosts are assumed. Theory: docs/parallel.md, "Prediction". */
#ifndef TESI_SCALING_H
#define TESI_SCALING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct TesiScalingMachine {
  double level;        /* seconds of the launches of a level, whatever its size */
  double cycle, outer; /* seconds per unknown: of a level of the cycle, of products and vectors around it */
  double exchanges;    /* of a level */
  double repeated;     /* layers of cells that both sides of a cut compute; 0: none */
  double sent;         /* layers of cells of which an exchange sends the nodes; 0: the shared nodes alone */
  double near_latency, near_rate, far_latency,
      far_rate; /* of an exchange, s and bytes/s: in a host, between hosts */
  int near;     /* ranks of a host */
  double whole; /* unknowns of a level that every rank has whole, at most */
} TesiScalingMachine;

typedef struct TesiScalingProblem {
  double unknowns;
  int dim, degree;
  double layers; /* of cells of a box that is cut in its last direction; 0: trees, cut into compact parts */
  double weight; /* work per unknown beside a scalar problem's */
} TesiScalingProblem;

/* What keeps an iteration on several ranks above its time on one, divided by them. */
typedef enum TesiScalingBound {
  TESI_BOUND_WORK,      /* nothing does: less than a tenth of the time is lost */
  TESI_BOUND_LAUNCHES,  /* launches of levels, which do not shrink */
  TESI_BOUND_EXCHANGES, /* latency */
  TESI_BOUND_DATA,      /* what goes over cuts */
  TESI_BOUND_REPEATED,  /* layers that both sides compute */
  TESI_BOUND_WHOLE,     /* levels that every rank has whole */
  TESI_BOUNDS
} TesiScalingBound;

/* Meshes of trees, or boxes in layers; ranks on GPUs, or on hosts with that many cores each. */
TesiScalingMachine tesi_scaling_machine(bool gpus, bool trees, int cores);
/* Seconds of an iteration; INFINITY: more ranks than layers. bound: NULL, or what costs most beside the work. */
double tesi_scaling_seconds(const TesiScalingMachine *machine, const TesiScalingProblem *problem, int ranks,
                            TesiScalingBound *bound);

/* "launches"; static. */
const char *tesi_scaling_bound_name(TesiScalingBound bound);

#endif
