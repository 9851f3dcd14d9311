/* The time for functions of x and t, in device memory, where recorded kernels read it. The host includes this too. */
#ifndef TESK_CLOCK_H
#define TESK_CLOCK_H

typedef struct TeskClock {
  double time;
  long long refused; /* not 0: a value was not finite */
} TeskClock;

#endif
