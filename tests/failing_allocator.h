/* Lets every n-th allocation fail, n = 1, 2, 3, ... until the work passes: nothing may leak or crash, and what
 * fails must say that memory is out. */
#ifndef TESI_FAILING_ALLOCATOR_H
#define TESI_FAILING_ALLOCATOR_H

#include <stdatomic.h>
#include <stdlib.h>
#include "base/context_new.h"
#include "testing.h"

typedef struct FailingAllocator {
  atomic_long count, live; /* allocations so far, blocks held now */
  long fail_at;            /* this allocation and all later ones fail; 0: none */
} FailingAllocator;

static inline void *failing_allocate(void *user, size_t bytes) {
  FailingAllocator *a = user;
  const long number = atomic_fetch_add(&a->count, 1) + 1;
  void *block = a->fail_at && number >= a->fail_at ? NULL : aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (block) atomic_fetch_add(&a->live, 1);
  return block;
}

static inline void failing_release(void *user, void *block) {
  FailingAllocator *a = user;
  if (block) atomic_fetch_sub(&a->live, 1);
  free(block);
}

static inline void failing_log(void *user, TesLogLevel level, const char *line) {
  (void)user, (void)level, (void)line;
}

static inline TesContext *failing_context(FailingAllocator *allocator) {
  TesContext *ctx = NULL;
  const TesContextDesc desc = {.device = "cpu",
                               .threads = 2,
                               .allocator = {failing_allocate, failing_release, allocator},
                               .log = failing_log};
  assert_int_equal(tes_context_create(&desc, &ctx, NULL, 0), TES_OK);
  return ctx;
}

/* `work` makes things and destroys them again; it returns the first failure. Returns how many allocations it makes.
 * sparse 0: every allocation fails once; sparse s: the first s do, then fewer and fewer (steps of n/s), for long
 * work. */
static inline long allocations_fail(TesStatus (*work)(TesContext *ctx, void *user), void *user, int sparse) {
  for (long n = 1;; n += sparse ? 1 + n / sparse : 1) {
    FailingAllocator allocator = {0};
    TesContext *ctx = failing_context(&allocator);
    const long before = atomic_load(&allocator.count);
    allocator.fail_at = before + n;
    const TesStatus status = work(ctx, user);
    const long count = atomic_load(&allocator.count) - before;
    if (count >= n) {
      if (status != TES_OUT_OF_MEMORY)
        fail_msg("allocation %ld of %ld failed: status is %s, \"%s\"", n, count, tes_status_name(status),
                 tes_context_message(ctx));
    } else if (status != TES_OK) {
      fail_msg("no allocation failed: status is %s, \"%s\"", tes_status_name(status),
               tes_context_message(ctx));
    }
    assert_int_equal(tes_context_memory(ctx), 0);
    tes_context_destroy(&ctx);
    assert_int_equal(atomic_load(&allocator.live), 0);
    if (count < n) return count;
  }
}

static inline long every_allocation_fails(TesStatus (*work)(TesContext *ctx, void *user), void *user) {
  return allocations_fail(work, user, 0);
}

#endif
