/* Accounted memory: a header of 64 bytes before each block keeps its size and the alignment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/context_impl.h"
#include "base/memory_mark.h"

enum { HEADER = 64, LARGE = 256 << 20 };

static void keep_most(atomic_size_t *most, size_t now) {
  size_t before = atomic_load(most);
  while (now > before && !atomic_compare_exchange_weak(most, &before, now)) {
  }
}

static void account(TesContext *ctx, size_t bytes) {
  const size_t now = atomic_fetch_add(&ctx->memory, bytes) + bytes;
  keep_most(&ctx->memory_peak, now);
  keep_most(&ctx->memory_high, now);
}

void tesi_memory_mark(TesContext *ctx) {
  atomic_store(&ctx->memory_high, atomic_load(&ctx->memory));
}

size_t tesi_memory_high(const TesContext *ctx) {
  return atomic_load(&ctx->memory_high);
}

/* Asks for huge pages where a block is large: a miss of the TLB costs as much as one of the caches. Advice only. */
static void advise(char *block, size_t bytes) {
#ifdef MADV_HUGEPAGE
  enum { HUGE_PAGE = 1 << 21, PAGE = 4096 };
  if (bytes < 2 * HUGE_PAGE) return;
  char *const first = block + (PAGE - (uintptr_t)block % PAGE) % PAGE;
  madvise(first, (bytes - (size_t)(first - block)) / PAGE * PAGE, MADV_HUGEPAGE);
#else
  (void)block, (void)bytes;
#endif
}

/* A block that the machine does not have would be given all the same, and the process killed while it is filled. */
static bool fits(size_t bytes) {
  return bytes < LARGE || bytes < tesi_memory_available();
}

TesStatus tesi_alloc(TesContext *ctx, size_t count, size_t size, void *pointer_to_pointer) {
  void **pointer = pointer_to_pointer;
  *pointer = NULL;
  if (size && count > (SIZE_MAX - HEADER) / size)
    return tesi_fail(ctx, TES_OUT_OF_MEMORY, __FILE__, __LINE__, __func__,
                     "%zu items of %zu bytes exceed the address space", count, size);
  const size_t bytes = count * size;
  char *block = fits(bytes) ? ctx->allocator.allocate(ctx->allocator.user, bytes + HEADER) : NULL;
  if (!block)
    return tesi_fail(ctx, TES_OUT_OF_MEMORY, __FILE__, __LINE__, __func__,
                     "no memory for %.3g GiB more; %.3g GiB are held already", (double)bytes / (1 << 30),
                     (double)tes_context_memory(ctx) / (1 << 30));
  advise(block, bytes + HEADER);
  memset(block, 0, bytes + HEADER);
  memcpy(block, &bytes, sizeof bytes);
  account(ctx, bytes);
  *pointer = block + HEADER;
  return TES_OK;
}

void tesi_free(TesContext *ctx, void *pointer_to_pointer) {
  void **pointer = pointer_to_pointer;
  if (!*pointer) return;
  char *block = (char *)*pointer - HEADER;
  size_t bytes;
  memcpy(&bytes, block, sizeof bytes);
  atomic_fetch_sub(&ctx->memory, bytes);
  ctx->allocator.release(ctx->allocator.user, block);
  *pointer = NULL;
}

char *tesi_strdup(TesContext *ctx, const char *text) {
  char *copy;
  const size_t size = strlen(text) + 1;
  if (tesi_alloc(ctx, size, 1, &copy) != TES_OK) return NULL;
  return memcpy(copy, text, size);
}

static size_t read_number(const char *path, const char *key) {
  FILE *file = fopen(path, "r");
  if (!file) return SIZE_MAX;
  char line[256];
  size_t value = SIZE_MAX;
  const size_t length = strlen(key);
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, key, length) && sscanf(line + length, "%zu", &value) == 1) break;
  fclose(file);
  return value;
}

/* What `ulimit -v` leaves of the address space. */
static size_t address_space(void) {
  struct rlimit limit;
  const size_t pages = read_number("/proc/self/statm", "");
  if (pages == SIZE_MAX || getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return SIZE_MAX;
  const size_t used = pages * (size_t)sysconf(_SC_PAGESIZE);
  return limit.rlim_cur > used ? (size_t)limit.rlim_cur - used : 0;
}

size_t tesi_memory_available(void) {
  const size_t kib = read_number("/proc/meminfo", "MemAvailable:");
  size_t available = kib == SIZE_MAX ? SIZE_MAX : kib * 1024;
  const size_t limit = read_number("/sys/fs/cgroup/memory.max", ""),
               used = read_number("/sys/fs/cgroup/memory.current", "");
  if (limit != SIZE_MAX && used != SIZE_MAX && limit > used && limit - used < available)
    available = limit - used;
  const size_t space = address_space();
  return space < available ? space : available;
}
