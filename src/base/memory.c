/* Accounted memory: a header of 64 bytes before each block keeps its sizes and the alignment. Large blocks come
 * directly from the system, if the context has no allocator of its own. They are zero already. So each thread is the
 * first to touch the part that it fills, and pages that are not filled cost nothing. Released blocks are kept for a
 * while (memory_kept.h), and all threads clear them when they are used again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/context_impl.h"
#include "base/memory_mark.h"
#include "base/team.h"

enum { HEADER = 64, LARGE = 256 << 20, MAPPED = 8 << 20, HUGE_PAGE = 2 << 20 };

typedef struct Header {
  size_t bytes, mapped; /* size for the user; size from the system, 0: from the allocator */
} Header;

static void keep_most(atomic_size_t *most, size_t now) {
  size_t before = atomic_load(most);
  while (now > before && !atomic_compare_exchange_weak(most, &before, now)) {
  }
}

static TesContext *who_counts(TesContext *ctx) {
  return ctx->lender ? ctx->lender : ctx;
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

/* Asks for huge pages for a large block, since a miss of the TLB costs as much as a miss of the caches. The system may
 * ignore it. */
static void advise(char *block, size_t bytes) {
#ifdef MADV_HUGEPAGE
  enum { PAGE = 4096 };
  if (bytes < 2 * HUGE_PAGE) return;
  char *const first = block + (PAGE - (uintptr_t)block % PAGE) % PAGE;
  madvise(first, (bytes - (size_t)(first - block)) / PAGE * PAGE, MADV_HUGEPAGE);
#else
  (void)block, (void)bytes;
#endif
}

/* The system grants a block that is larger than the memory of the machine, and kills the process when it is filled. So
 * such blocks are refused here; kept blocks are released first. */
static bool fits(TesContext *ctx, size_t bytes) {
  if (bytes < LARGE || bytes < tes_memory_available()) return true;
  tesi_kept_give(&ctx->kept, NULL, 0, 0);
  return bytes < tes_memory_available();
}

static void unmap(char *block, size_t bytes) {
  if (bytes) munmap(block, bytes);
}

/* A new block of zeros on huge pages, whose size is a multiple of huge pages. */
static char *map_zeros(size_t wanted) {
  const size_t all = wanted + HUGE_PAGE;
  char *const first = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (first == MAP_FAILED) return NULL;
  const size_t before = (HUGE_PAGE - (uintptr_t)first % HUGE_PAGE) % HUGE_PAGE;
  unmap(first, before);
  unmap(first + before + wanted, all - before - wanted);
  advise(first + before, wanted);
  return first + before;
}

typedef struct Clear {
  char *block;
  size_t bytes;
} Clear;

enum { PART = 1 << 18 };

static void clear(const void *data, TesiSpan span) {
  const Clear *c = data;
  const size_t first = (size_t)span.first * PART, end = (size_t)span.end * PART;
  memset(c->block + first, 0, (end < c->bytes ? end : c->bytes) - first);
}

/* A kept block with its zeros restored, or a new block. */
static char *take_mapped(TesContext *ctx, size_t bytes, size_t mapped) {
  char *block = tesi_kept_take(&ctx->kept, mapped);
  if (block) {
    tesi_team_for(ctx->threads, (int64_t)((bytes + PART - 1) / PART), clear, &(Clear){block, bytes});
    return block;
  }
  block = map_zeros(mapped);
  if (block) return block;
  tesi_kept_give(&ctx->kept, NULL, 0, 0);
  return map_zeros(mapped);
}

/* *mapped: see Header. */
static char *take(TesContext *ctx, size_t bytes, size_t *mapped) {
  *mapped = 0;
  if (!fits(ctx, bytes)) return NULL;
  if (TESI_MAPS && ctx->maps && bytes >= MAPPED && bytes < SIZE_MAX / 2) {
    *mapped = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    return take_mapped(ctx, bytes, *mapped);
  }
  char *block = ctx->allocator.allocate(ctx->allocator.user, bytes);
  if (!block) return NULL;
  advise(block, bytes);
  return memset(block, 0, bytes);
}

TesStatus tesi_alloc(TesContext *ctx, size_t count, size_t size, void *pointer_to_pointer) {
  void **pointer = pointer_to_pointer;
  *pointer = NULL;
  const TesStatus asked = tesi_work_go_on(ctx);
  if (asked != TES_OK) return asked;
  if (size && count > (SIZE_MAX - HEADER) / size)
    return tesi_fail(ctx, TES_OUT_OF_MEMORY, __FILE__, __LINE__, __func__,
                     "%zu items of %zu bytes exceed the address space", count, size);
  const size_t bytes = count * size;
  size_t mapped;
  char *block = take(ctx, bytes + HEADER, &mapped);
  if (!block)
    return tesi_fail(ctx, TES_OUT_OF_MEMORY, __FILE__, __LINE__, __func__,
                     "no memory for %.3g GiB more; %.3g GiB are held already", (double)bytes / (1 << 30),
                     (double)tes_context_memory(ctx) / (1 << 30));
  memcpy(block, &(Header){bytes, mapped}, sizeof(Header));
  account(who_counts(ctx), bytes);
  *pointer = block + HEADER;
  return TES_OK;
}

/* The limit of kept memory: see memory_kept.h. */
static size_t most_kept(const TesContext *ctx) {
  const size_t held = atomic_load(&ctx->memory), peak = atomic_load(&ctx->memory_peak);
  return peak - held < held ? peak - held : held;
}

void tesi_free(TesContext *ctx, void *pointer_to_pointer) {
  void **pointer = pointer_to_pointer;
  if (!*pointer) return;
  char *block = (char *)*pointer - HEADER;
  Header header;
  memcpy(&header, block, sizeof header);
  atomic_fetch_sub(&who_counts(ctx)->memory, header.bytes);
  if (header.mapped)
    tesi_kept_give(&ctx->kept, block, header.mapped, most_kept(who_counts(ctx)));
  else
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

/* The rest of the address space that `ulimit -v` allows. */
static size_t address_space(void) {
  struct rlimit limit;
  const size_t pages = read_number("/proc/self/statm", "");
  if (pages == SIZE_MAX || getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return SIZE_MAX;
  const size_t used = pages * (size_t)sysconf(_SC_PAGESIZE);
  return limit.rlim_cur > used ? (size_t)limit.rlim_cur - used : 0;
}

size_t tes_memory_available(void) {
  const size_t kib = read_number("/proc/meminfo", "MemAvailable:");
  size_t available = kib == SIZE_MAX ? SIZE_MAX : kib * 1024;
  const size_t limit = read_number("/sys/fs/cgroup/memory.max", ""),
               used = read_number("/sys/fs/cgroup/memory.current", "");
  if (limit != SIZE_MAX && used != SIZE_MAX && limit > used && limit - used < available)
    available = limit - used;
  const size_t space = address_space();
  return space < available ? space : available;
}
