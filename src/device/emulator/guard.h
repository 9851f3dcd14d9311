/* Memory of the emulator: pages that the host cannot touch, so that a host read of device memory, which ends a program
 * on a GPU, ends it here too. The pages belong to a protection key where the processor has such keys: opening and
 * closing cost some nanoseconds, and other threads stay outside. Elsewhere each block is opened by mprotect(). */
#ifndef TESI_GUARD_H
#define TESI_GUARD_H

#include "device/kernel.h"

/* Whole pages of zeros, closed; NULL: there is no memory. */
void *tesi_guard_map(size_t bytes);
/* Of a file of this length, which other processes may map too. */
void *tesi_guard_map_file(int file, size_t bytes);
void tesi_guard_unmap(void *address, size_t bytes);

/* Between these two the calling thread reads and writes the blocks. They do not nest. */
void tesi_guard_open(const TesiBlocks *blocks);
void tesi_guard_close(const TesiBlocks *blocks);

/* Whether later blocks may have a key; tests leave it out to see the other way. No block may be there. */
void tesi_guard_use_key(bool allowed);

#endif
