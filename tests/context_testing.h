/* One context on the host for all tests of a program, which leave nothing behind in it. Set-up and tear-down of their
 * group. */
#ifndef TESI_CONTEXT_TESTING_H
#define TESI_CONTEXT_TESTING_H

#include "testing.h"

static TesContext *ctx;

static int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  const size_t left = tes_context_memory(ctx);
  tes_context_destroy(&ctx);
  return left != 0;
}

#endif
