/* Runs one block's threads as fibers, from barrier to barrier, in a chosen order: a missing barrier or a wrong index
 * gives wrong results, because values that others should have written are still NaN or old. There is one emulator per
 * process: contexts take turns by a lock. */
#ifndef TESI_FIBER_H
#define TESI_FIBER_H

#include "base/base.h"
#define TESK_EMULATOR_HOST
#include "kernels/emulator.h"

typedef enum TesiOrder { TESI_ORDER_FORWARD, TESI_ORDER_REVERSE, TESI_ORDER_SHUFFLED } TesiOrder;

/* The order of threads and blocks in later launches; tests try all orders. */
void tesi_fiber_order(TesiOrder order, uint64_t seed);
TeskEmulator *tesi_fiber_emulator(void);
/* Runs all blocks. False, with a message, if not all threads reach a barrier, or if memory is exhausted. */
bool tesi_fiber_launch(const TeskKernel *kernel, TeskDim grid, unsigned threads, size_t shared,
                       void **arguments, char *message, size_t message_size);

#endif
