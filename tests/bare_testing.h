/* A context without a device for all tests of a program; nothing of it may be held at the end. */
#ifndef TESI_BARE_TESTING_H
#define TESI_BARE_TESTING_H

#include "base/context_new.h"
#include "testing.h"

static TesContext *ctx;

static inline int set_up(void **state) {
  (void)state;
  return tesi_context_new(NULL, &ctx) != TES_OK;
}

static inline int tear_down(void **state) {
  (void)state;
  const size_t left = tes_context_memory(ctx);
  tes_context_destroy(&ctx);
  return left != 0;
}

#endif
