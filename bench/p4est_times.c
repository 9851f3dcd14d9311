/* Times of p4est's functions in any program, printed at its end: the name, the number of calls, seconds of the
 * calling thread and on the clock. This is a library that is loaded before the program:
 *   cc -O2 -shared -fPIC bench/p4est_times.c -o p4est_times.so
 *   python3 bench/moved_mesh.py mesh.msh 3 48
 *   LD_PRELOAD=./p4est_times.so tessera solve CASE --device cpu */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

typedef struct Times {
  const char *name;
  void *function;
  double thread, clock;
  int calls;
} Times;

/* As many words as any of the functions takes; a function does not read the surplus. */
typedef void *(*Function)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);

static int depth; /* p4est's functions call each other: only the outer call is counted */

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Function find(Times *times) {
  Function function;
  if (!times->function) times->function = dlsym(RTLD_NEXT, times->name);
  *(void **)&function = times->function;
  return function;
}

#define TIMED(call)                                                                                          \
  static Times times_of_##call = {#call, NULL, 0, 0, 0};                                                     \
  void *call(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j);      \
  void *call(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j) {     \
    Times *const times = &times_of_##call;                                                                   \
    const Function function = find(times);                                                                   \
    const double thread = seconds(CLOCK_THREAD_CPUTIME_ID), clock = seconds(CLOCK_MONOTONIC);                \
    depth++;                                                                                                 \
    void *const result = function(a, b, c, d, e, f, g, h, i, j);                                             \
    if (--depth) return result;                                                                              \
    times->thread += seconds(CLOCK_THREAD_CPUTIME_ID) - thread;                                              \
    times->clock += seconds(CLOCK_MONOTONIC) - clock;                                                        \
    times->calls++;                                                                                          \
    return result;                                                                                           \
  }                                                                                                          \
  __attribute__((destructor)) static void tell_##call(void) {                                                \
    const Times *const times = &times_of_##call;                                                             \
    if (times->calls)                                                                                        \
      fprintf(stderr, "%-32s %4d calls %9.4f s of the thread %9.4f s\n", times->name, times->calls,          \
              times->thread, times->clock);                                                                  \
  }

#define BOTH(name) TIMED(p4est_##name) TIMED(p8est_##name)
BOTH(connectivity_complete)
BOTH(new_ext)
BOTH(copy)
BOTH(refine)
BOTH(coarsen)
BOTH(balance)
BOTH(partition)
BOTH(destroy)
BOTH(connectivity_destroy)
