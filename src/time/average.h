/* Time averages of vectors and of their squares, entry by entry, by the trapezoidal rule from some time on. */
#ifndef TESI_AVERAGE_H
#define TESI_AVERAGE_H

#include "time/state.h"

enum { TESI_AVERAGES = 4, TESI_AVERAGE_POWERS = 2 };

/* A value that is averaged. */
typedef struct TesiAveraged {
  const char *name; /* name of its mean in states; the mean of squares is NAME-squares */
  const TesSpace *space;
  const TesVector *value;
  TesVector *const *old; /* place of the value before a step, when the step is made; NULL: it is in `value` until
                          * then */
  /* to <- the square of a value; NULL: entry by entry. */
  TesStatus (*square)(void *user, const TesVector *value, TesVector *to);
  void *user;
  TesVector *mean[TESI_AVERAGE_POWERS];        /* [0] means of values, [1] of squares */
  TesVector component[TESI_AVERAGE_POWERS][3]; /* views of their components, for spaces of several components */
  TesVector *work;                             /* a square; NULL: not needed */
} TesiAveraged;

typedef struct TesiAverage {
  int count;         /* 0: nothing is averaged */
  double from, time; /* beginning, and length of the averaged time */
  TesiAveraged of[TESI_AVERAGES];
} TesiAverage;

/* Adds a value, whose means begin as 0, and makes its vectors. */
TesStatus tesi_average_follow(TesiAverage *average, const TesiAveraged *of);
void tesi_average_free(TesiAverage *average);
/* Adds the values at the beginning (`end` false) or the end of a step. */
TesStatus tesi_average_add(TesiAverage *average, double begin, double end, bool at_end);
void tesi_average_list(TesiAverage *average, TesiState *state);

#endif
