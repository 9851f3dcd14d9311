/* Memory of the emulator: pages that the host cannot access. A host read of device memory ends a program on a GPU; so
 * it does here. If the processor has protection keys, the pages belong to a key: opening and closing takes some
 * nanoseconds, and only affects the calling thread. Otherwise mprotect() opens them. */
#ifndef TESI_GUARD_H
#define TESI_GUARD_H

#include "device/kernel.h"

/* Whole pages of zeros, closed; NULL: out of memory. */
void *tesi_guard_map(size_t bytes);
/* Pages of a file of this length, which other processes can map too. */
void *tesi_guard_map_file(int file, size_t bytes);
void tesi_guard_unmap(void *address, size_t bytes);

/* Between these two calls the calling thread may read and write the blocks. They do not nest. */
void tesi_guard_open(const TesiBlocks *blocks);
void tesi_guard_close(const TesiBlocks *blocks);

/* Whether later blocks may have a key; tests switch keys off to cover the other way. There must be no blocks. */
void tesi_guard_use_key(bool allowed);

#endif
