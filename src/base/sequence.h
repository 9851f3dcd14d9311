/* Tasks that add to common entries, in one order.
 *
 * Two tasks that touch a common entry must not run at the same time, and the sum at an entry must not depend on
 * which thread was faster. A sequence fixes an order of all tasks once. Threads take tasks in that order. A task waits
 * until the earlier tasks that share an entry with it are done. So each sum has the order of the sequence, and nothing
 * waits for a whole colour.
 *
 * The order follows several tracks at a time: stretches of consecutive tasks, three per thread. Consecutive tasks
 * are neighbours in memory, so each track stays in the caches. Every thread holds two tasks at a time: the task that it
 * works on and the task that it asks memory for. The order is chosen such that tasks that are held at the same time
 * share nothing wherever that is possible: threads then hardly ever wait. With one thread the order is 0, 1, 2, ... The
 * order depends on the tasks and on the number of threads alone. */
#ifndef TESI_SEQUENCE_H
#define TESI_SEQUENCE_H

#include "base/base.h"
#include "base/team.h"

typedef struct TesiSequence TesiSequence;

/* The i-th of the entries that a task touches, i = 0, 1, ..; negative: the task has no more entries. An entry may be
 * repeated. */
typedef int64_t TesiTouched(const void *data, int64_t task, int64_t i);

/* The order of `tasks` tasks that touch some of `entries` entries: position k has task order[k]. Cost: one visit of all
 * touched entries, by one thread. Errors: TES_OUT_OF_MEMORY. */
TesStatus tesi_sequence_create(TesContext *ctx, int threads, int64_t tasks, int64_t entries,
                               TesiTouched *touched, const void *data, TesiSequence **sequence,
                               int64_t *order);
void tesi_sequence_destroy(TesContext *ctx, TesiSequence **sequence);

/* Positions first .. end - 1 by the calling team. A member takes a position (tesi_sequence_take()), waits for its turn
 * (tesi_sequence_wait()), works, and says so (tesi_sequence_done()). tesi_sequence_begin() comes before the team
 * starts. Every position that was taken must be worked on, in the order in which the member took them. One run at a
 * time. */
void tesi_sequence_begin(TesiSequence *s, int64_t first, int64_t end);
int64_t tesi_sequence_take(TesiSequence *s); /* -1: there are no more positions */
void tesi_sequence_wait(TesiSequence *s, int64_t position);
void tesi_sequence_done(TesiSequence *s, int64_t position);

/* All positions, each by one call of `loop` with a span of length one. */
void tesi_sequence_run(TesiSequence *s, int threads, TesiLoop *loop, const void *data);

#endif
