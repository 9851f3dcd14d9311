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
  double crossed; /* distances of nodes that a flow crosses per unit of time; 0: there is no flow */
  double longest; /* a step beyond it is unstable whatever the flow; INFINITY: none */
} TesiLimits;

/* Every function gets the user's data; NULL stands for one that the scheme does not need. */
typedef struct TesiScheme {
  const char *name;
  int order;     /* local errors are like dt^(order + 1) */
  double stable; /* distances of nodes that the flow may cross per step; 0: any number */
  bool patient;  /* longer steps wait until ten steps have allowed them */
  TesiStateList list;
  /* Before a step: sets the limits that there are. */
  TesStatus (*begin)(void *user, TesiLimits *limits);
  /* One try of a step. */
  TesStatus (*advance)(void *user, double dt, TesSolveResult *result);
  /* After a try: *size |u|; *error the absolute local error in the same norm, -1: not known yet. */
  TesStatus (*judge)(void *user, double dt, double *size, double *error);
  /* The try is good enough: the rest of the step is made. */
  TesStatus (*complete)(void *user, double dt, TesSolveResult *result);
  /* The try was not good enough, or it failed: the state before the try comes back. */
  TesStatus (*undo)(void *user);
  /* The try becomes the state. NULL: the scheme tries in place. */
  TesStatus (*commit)(void *user, double dt);
  /* The step is made and counted: data become those of the time. */
  TesStatus (*arrive)(void *user);
  /* The solutions before the one of now, the last one first, and their times; returns how many, at most `most`. */
  int (*older)(const void *user, int most, const TesVector **old, double *time);
  /* *size <- |u|, *change <- |u - u before the last step|. */
  TesStatus (*change)(void *user, double *size, double *change);
  /* A state was set from outside, for example from a file: the scheme completes what is not in the list. */
  TesStatus (*resume)(void *user);
} TesiScheme;

typedef struct TesiMarch {
  TesTimeDesc desc;
  double dt, time; /* dt: of the next step, as far as is known; time: of the state */
  double before;   /* the time of the state before */
  double last;     /* length of the step that is made or was made last */
  int steps, step; /* in all, done; a steady state lowers the first */
  int all_steps;   /* to the end of time */
  bool varies;     /* steps differ; then `steps` and `all_steps` are estimates before the end */
  bool chosen;     /* by cfl: dt is a length that the flow allowed */
  double base;     /* of their ladder */
  int since;       /* steps of this length by the flow; of patient schemes, steps that allowed a longer one */
  double largest;  /* |u| so far, where it is asked for */
  double change;   /* of the last step, relative to that and per unit of time */
  double crossed;  /* by the flow since the mesh was changed, in cells */
  bool warned;     /* of unstable steps */
  bool left;       /* the values at the beginning of this step are in the means */
  TesiAverage average;
} TesiMarch;

/* The march of a description that was checked, at the start of its time. */
void tesi_march_begin(TesiMarch *march, const TesTimeDesc *desc);
/* The length of the next step. With `step` it is the length that was given. With `cfl` it stands on the ladder, goes
 * down at once, and up by a rung after ten steps. With `tolerance` the last judgement gives it, and stability bounds
 * it. The last two steps are equally long. */
double tesi_march_choose(TesiMarch *march, const TesiScheme *scheme, const TesiLimits *limits);
/* One step. After a failure the state before the step comes back, as far as the scheme undoes. */
TesStatus tesi_march_step(TesContext *context, TesiMarch *march, const TesiScheme *scheme, void *user,
                          TesSolveResult *result);
/* The time at the end of the step under way. */
double tesi_march_next(const TesiMarch *march);
/* For a scheme that overwrites averaged values while it tries: called before it does, it takes them into the means. */
TesStatus tesi_march_leave(TesiMarch *march, double dt);
/* How many steps there will be, as far as is known. */
void tesi_march_count(TesiMarch *march);

/* Everything that the next steps depend on: the state of the march, of the scheme and of the means. */
void tesi_march_list(TesiMarch *march, const TesiScheme *scheme, void *user, TesiState *state);
/* A state was set, of this time and step. */
TesStatus tesi_march_resume(TesContext *context, TesiMarch *march, const TesiScheme *scheme, void *user,
                            double time, int64_t step);

#endif
