#include "base/memory_kept.h"
#include <sys/mman.h>

static void lock(TesiKept *kept) {
  while (atomic_flag_test_and_set_explicit(&kept->lock, memory_order_acquire)) {
  }
}

static void unlock(TesiKept *kept) {
  atomic_flag_clear_explicit(&kept->lock, memory_order_release);
}

static void forget(TesiKept *kept, int i) {
  kept->bytes -= kept->of[i].bytes;
  kept->of[i] = kept->of[--kept->count];
}

char *tesi_kept_take(TesiKept *kept, size_t bytes) {
  char *block = NULL;
  int best = -1;
  lock(kept);
  for (int i = 0; i < kept->count; i++)
    if (kept->of[i].bytes >= bytes && (best < 0 || kept->of[i].bytes < kept->of[best].bytes)) best = i;
  if (best >= 0) {
    block = kept->of[best].block;
    kept->of[best].block += bytes;
    kept->of[best].bytes -= bytes;
    kept->bytes -= bytes;
    if (!kept->of[best].bytes) forget(kept, best);
  }
  unlock(kept);
  return block;
}

static int find_largest(const TesiKept *kept) {
  int largest = 0;
  for (int i = 1; i < kept->count; i++)
    if (kept->of[i].bytes > kept->of[largest].bytes) largest = i;
  return largest;
}

void tesi_kept_give(TesiKept *kept, char *block, size_t bytes, size_t most) {
  lock(kept);
  if (block && bytes <= most && kept->count < TESI_KEPT_BLOCKS) {
    kept->of[kept->count].block = block;
    kept->of[kept->count++].bytes = bytes;
    kept->bytes += bytes;
    block = NULL;
  }
  while (kept->bytes > most) {
    const int i = find_largest(kept);
    munmap(kept->of[i].block, kept->of[i].bytes);
    forget(kept, i);
  }
  unlock(kept);
  if (block) munmap(block, bytes);
}
