/* The time of functions of x and t, in device memory: recorded kernels find it there. The host includes this too. */
#ifndef TESK_CLOCK_H
#define TESK_CLOCK_H

typedef struct TeskClock {
  double time;
  long long refused; /* not 0: a value was not finite */
} TeskClock;

#endif
