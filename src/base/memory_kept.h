/* Blocks of the system that a context has given back and keeps for what it asks for next: pages that were touched once
 * cost a quarter of fresh ones and less, which the system has to find and to clear (in a virtual machine its host too).
 * What is kept never exceeds what is held, nor together with it the most that was held. */
#ifndef TESI_MEMORY_KEPT_H
#define TESI_MEMORY_KEPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether there are such blocks: sanitizers look for pointers and leaks in what malloc gave. */
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

/* A block of `bytes`, a multiple of a huge page, whatever it holds; of a longer one its beginning, the rest stays.
 * NULL: there is none. */
char *tesi_kept_take(TesiKept *kept, size_t bytes);
/* Keeps a block that was mapped, or gives it back to the system, and of the others as much as is more than `most`. */
void tesi_kept_give(TesiKept *kept, char *block, size_t bytes, size_t most);

#endif
