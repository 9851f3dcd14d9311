/* Blocks of the system that a context has released and keeps for later requests. A page that was touched before costs
 * at most a quarter of a fresh page, which the system has to find and to clear (in a virtual machine, so does its
 * host). The kept memory never exceeds the memory in use, and both together never exceed the largest memory that was in
 * use. */
#ifndef TESI_MEMORY_KEPT_H
#define TESI_MEMORY_KEPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether blocks are kept at all: sanitizers look for pointers and leaks in memory of malloc only. */
#if defined(__SANITIZE_ADDRESS__)
#define TESI_MAPS false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define TESI_MAPS false
#endif
#endif
#ifndef TESI_MAPS
#define TESI_MAPS true
#endif

enum { TESI_KEPT_BLOCKS = 32 };

typedef struct TesiKept {
  atomic_flag lock;
  int count;
  struct {
    char *block;
    size_t bytes;
  } of[TESI_KEPT_BLOCKS];
  size_t bytes; /* of all */
} TesiKept;

/* A kept block of `bytes`, a multiple of a huge page, with any content. It may be the beginning of a longer block,
 * whose rest stays. NULL: there is none. */
char *tesi_kept_take(TesiKept *kept, size_t bytes);
/* Keeps a mapped block, or returns it to the system; other kept blocks are returned until at most `most` is kept. */
void tesi_kept_give(TesiKept *kept, char *block, size_t bytes, size_t most);

#endif
