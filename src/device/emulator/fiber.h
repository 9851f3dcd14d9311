/* Runs one block's threads as fibers, from barrier to barrier, in a chosen order: wrong results of a missing
 * barrier or a wrong index show, because what should have been written by others is still NaN or old. One
 * process-wide emulator: the contexts that use it take turns by a lock. */
#ifndef TESI_FIBER_H
#define TESI_FIBER_H

#include "base/base.h"
#define TESK_EMULATOR_HOST
#include "kernels/emulator.h"

typedef enum TesiOrder { TESI_ORDER_FORWARD, TESI_ORDER_REVERSE, TESI_ORDER_SHUFFLED } TesiOrder;

/* The order of threads and blocks in later launches; all are tried by tests. */
void tesi_fiber_order(TesiOrder order, uint64_t seed);
TeskEmulator *tesi_fiber_emulator(void);
/* Runs all blocks. False and a message when a barrier is not reached by all threads, or memory is out. */
bool tesi_fiber_launch(const TeskKernel *kernel, TeskDim grid, unsigned threads, size_t shared,
                       void **arguments, char *message, size_t message_size);

#endif
