/* The march of a problem through time: one loop for all schemes.
 *
 *   choose the length, try, judge, go back or commit, go on, end where nothing changes any more
 *
 * A scheme is a row of functions. It lists the state that its steps depend on (time/state.h); whoever writes, reads,
 * averages or moves a state needs nothing else. */
#ifndef TESI_MARCH_H
#define TESI_MARCH_H

#include "tessera/solver.h"
#include "tessera/time.h"
#include "time/average.h"

/* What limits the next step. */
typedef struct TesiLimits {
  double crossed; /* distances of nodes that a flow crosses a unit of time; 0: none */
  double longest; /* a step beyond it is unstable whatever the flow; INFINITY: none */
} TesiLimits;

/* Every function gets the user's data; NULL stands for one that the scheme does not need. */
typedef struct TesiScheme {
  const char *name;
  int order;     /* that local errors are told of: they are like dt^(order + 1) */
  double stable; /* distances of nodes that the flow may cross in a step; 0: any number */
  bool patient;  /* longer steps wait until ten steps have allowed them */
  TesiStateList list;
  /* Before a step: limits, which are none before. */
  TesStatus (*begin)(void *user, TesiLimits *limits);
  /* One try of a step. */
  TesStatus (*advance)(void *user, double dt, TesSolveResult *result);
  /* After a try: *size |u|; *error the absolute local error in the same norm, -1: not known yet. */
  TesStatus (*judge)(void *user, double dt, double *size, double *error);
  /* The try is good enough: what is left of the step is made. */
  TesStatus (*complete)(void *user, double dt, TesSolveResult *result);
  /* The try was not good enough, or it failed: the state is that before it. */
  TesStatus (*undo)(void *user);
  /* The try becomes the state. NULL: the scheme tries in place. */
  TesStatus (*commit)(void *user, double dt);
  /* The step is made and counted: data become those of the time. */
  TesStatus (*arrive)(void *user);
  /* |u|, and that of what the last step changed. */
  TesStatus (*change)(void *user, double *size, double *change);
  /* A state was set from outside, as of a file: what else the scheme knows of it. */
  TesStatus (*resume)(void *user);
} TesiScheme;

typedef struct TesiMarch {
  TesTimeDesc desc;
  double dt, time; /* dt: of the next step, as far as is known; time: of the state */
  double before;   /* the time of the state before */
  double last;     /* length of the step that is made or was made last */
  int steps, step; /* in all, done; a steady state lowers the first */
  int all_steps;   /* to the end of time */
  bool varies;     /* steps differ; then the two are estimates before the end */
  bool chosen;     /* by cfl: dt is a length that the flow allowed */
  double base;     /* of their ladder */
  int since;       /* steps of this length by the flow; of patient schemes, steps that allowed a longer one */
  double largest;  /* |u| so far, where it is asked for */
  double crossed;  /* by the flow since the mesh was changed, in cells */
  bool warned;     /* of unstable steps */
  bool left;       /* the values at the beginning of this step are in the means */
  TesiAverage average;
} TesiMarch;

/* Of a description that is right, at its start; before the first step. */
void tesi_march_begin(TesiMarch *march, const TesTimeDesc *desc);
/* The length of the next step: that of `step`; by `cfl` on the ladder, down at once, up by a rung after ten steps; by
 * `tolerance` that of the last judgement, no longer than a stable one. The last two steps are alike. */
double tesi_march_choose(TesiMarch *march, const TesiScheme *scheme, const TesiLimits *limits);
/* One step, unless the end is reached. After a failure the state is that before it, as far as the scheme undoes. */
TesStatus tesi_march_step(TesContext *context, TesiMarch *march, const TesiScheme *scheme, void *user,
                          TesSolveResult *result);
/* The time at the end of the step under way. */
double tesi_march_next(const TesiMarch *march);
/* Of a scheme that writes over the values that are averaged while it tries: they are about to go. */
TesStatus tesi_march_leave(TesiMarch *march, double dt);
/* How many steps there will be, as far as is known. */
void tesi_march_count(TesiMarch *march);

/* What the next steps depend on: of the march, the scheme and the means. */
void tesi_march_list(TesiMarch *march, const TesiScheme *scheme, void *user, TesiState *state);
/* A state was set: it is that of this time and step. */
TesStatus tesi_march_resume(TesContext *context, TesiMarch *march, const TesiScheme *scheme, void *user,
                            double time, int64_t step);

#endif
