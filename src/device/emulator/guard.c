#include "device/emulator/guard.h"
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NONE = -1 };
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int process_key = NONE,
           key = NONE; /* protection of the process, and the current one, which is the same or
                                            * NONE */

#ifdef PKEY_DISABLE_ACCESS
static void make_key(void) {
  process_key = key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
}
static bool attach(void *address, size_t bytes) {
  return pkey_mprotect(address, bytes, PROT_READ | PROT_WRITE, key) == 0;
}
static void set_access(bool open) {
  pkey_set(key, open ? 0 : PKEY_DISABLE_ACCESS);
}
#else
static void make_key(void) {}
static bool attach(void *address, size_t bytes) {
  return (void)address, (void)bytes, false;
}
static void set_access(bool open) {
  (void)open;
}
#endif

static size_t whole_pages(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return bytes ? (bytes + page - 1) / page * page : page;
}

static void *map(size_t bytes, int flags, int file) {
  pthread_once(&once, make_key);
  if (bytes > SIZE_MAX / 2) return NULL;
  const size_t all = whole_pages(bytes);
  void *address = mmap(NULL, all, PROT_NONE, flags, file, 0);
  if (address == MAP_FAILED) return NULL;
  if (key == NONE || attach(address, all)) return address;
  munmap(address, all);
  return NULL;
}

void *tesi_guard_map(size_t bytes) {
  return map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

void *tesi_guard_map_file(int file, size_t bytes) {
  return map(bytes, MAP_SHARED, file);
}

void tesi_guard_unmap(void *address, size_t bytes) {
  munmap(address, whole_pages(bytes));
}

/* Blocks without pages between them by one call: a call costs microseconds, and nearly all blocks lie so. */
static void set_all(const TesiBlocks *blocks, int protection) {
  for (size_t i = 0, next; i < blocks->count; i = next) {
    char *const first = blocks->block[i].address;
    size_t bytes = whole_pages(blocks->block[i].bytes);
    for (next = i + 1; next < blocks->count && (char *)blocks->block[next].address == first + bytes; next++)
      bytes += whole_pages(blocks->block[next].bytes);
    mprotect(first, bytes, protection);
  }
}

void tesi_guard_open(const TesiBlocks *blocks) {
  if (key == NONE)
    set_all(blocks, PROT_READ | PROT_WRITE);
  else
    set_access(true);
}

void tesi_guard_close(const TesiBlocks *blocks) {
  if (key == NONE)
    set_all(blocks, PROT_NONE);
  else
    set_access(false);
}

void tesi_guard_use_key(bool allowed) {
  pthread_once(&once, make_key);
  key = allowed ? process_key : NONE;
}
