/* Loops over threads: a team of the library's own, whose waiting threads leave room for others.
 *
 * Each thread of a user has a team: it is made at the first call that asks for more than one thread, kept, grown
 * when more are asked for, and ended with its thread or the process. A call gives every member its part, works
 * itself as member 0, and returns when all are done.
 *
 * A loop is a function of its data and of a span of indices, and stands before the call that runs it:
 *
 *     typedef struct Scale {
 *       double a, *y;
 *     } Scale;
 *
 *     static void scale(const void *data, TesiSpan span) {
 *       const Scale *s = data;
 *       for (int64_t i = span.first; i < span.end; i++) s->y[i] *= s->a;
 *     }
 *
 *     tesi_team_for(tesi_team_threads(ctx, n), n, scale, &(Scale){a, y});
 *
 * Spans of tesi_team_for() and tesi_team_part() depend on the count and on the number of threads alone: thread t
 * has the t-th of nearly equal parts, the longer ones first. So memory is touched by the thread that works on it,
 * and sums a span have one order.
 *
 * How a thread waits (for work or for the others): it checks about 64 times, then spins for 0.2 ms as long as no
 * other program wants its core, then sleeps until it is woken, which costs both sides 5 to 50 us. Another program
 * wants the core if in the last 20 ms the system has taken the core away from this thread, or was late in giving it
 * back.
 * docs/decisions/0015-threads-leave-room.md has the figures.
 *
 * Calls from inside a loop, or from inside a parallel region of OpenMP, run on the calling thread alone. Nothing
 * here fails: if the system gives fewer threads, the team is smaller. Loops must not leave by exit() or
 * longjmp(). After fork() the child makes a new team. */
#ifndef TESI_TEAM_H
#define TESI_TEAM_H

#include <stdint.h>
#include "tessera/context.h"

/* Indices first .. end - 1, for member `thread` of the team; `thread` selects per-thread memory. */
typedef struct TesiSpan {
  int64_t first, end;
  int thread;
} TesiSpan;
typedef void TesiLoop(const void *data, TesiSpan span);

/* The useful number of threads for simple loops that read or write `work` numbers, about half a nanosecond each; a
 * caller that does more per number counts it several times. It is 1 below TESI_TEAM_WORK (or the environment variable
 * TESSERA_TEAM_WORK, which tests of threads set to 1), else all threads of the context. */
enum { TESI_TEAM_WORK = 16384 };
int tesi_team_threads(const TesContext *ctx, int64_t work);

/* One span per thread, of nearly equal lengths. */
void tesi_team_for(int threads, int64_t count, TesiLoop *loop, const void *data);
/* Spans of `chunk` indices, each taken by the first free thread: for work that differs from index to index. */
void tesi_team_share(int threads, int64_t count, int64_t chunk, TesiLoop *loop, const void *data);

/* The same in steps: all members run `body`, which divides its loops itself and waits for the others where
 * necessary. */
typedef struct TesiTeamMember {
  int thread, threads;
  struct TesiTeam *team;
} TesiTeamMember;
typedef void TesiBody(const void *data, const TesiTeamMember *me);

void tesi_team_run(int threads, TesiBody *body, const void *data);
/* The member's span of first .. end - 1, divided as by tesi_team_for(). */
TesiSpan tesi_team_part(const TesiTeamMember *me, int64_t first, int64_t end);
/* Returns when all members have called it; then all see what the others wrote before. */
void tesi_team_wait(const TesiTeamMember *me);

/* The next index that no thread has taken, for a loop whose work differs from index to index. */
static inline int64_t tesi_team_take(int64_t *next) {
  return __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
}
/* *least <- min(*least, value), from any thread. */
static inline void tesi_team_least(int64_t *least, int64_t value) {
  int64_t old = __atomic_load_n(least, __ATOMIC_RELAXED);
  while (value < old &&
         !__atomic_compare_exchange_n(least, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

#endif
