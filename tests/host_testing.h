/* What tests of devices compare with: a context on the processor for all tests of a program, which leave nothing behind
 * in it. Set-up and tear-down of their group. */
#ifndef TESI_HOST_TESTING_H
#define TESI_HOST_TESTING_H

#include "testing.h"

static TesContext *host;

static int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu"}, &host, NULL, 0) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  const size_t left = tes_context_memory(host);
  tes_context_destroy(&host);
  return left != 0;
}

#endif
