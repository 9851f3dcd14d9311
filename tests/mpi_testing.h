/* What tests on several ranks share: all ranks as one communicator, a context of each rank alone, and one of all. */
#ifndef MPI_TESTING_H
#define MPI_TESTING_H

#include <stdlib.h>
#include "parallel/comm.h"
#include "tessera/tessera.h"

static TesCommunicator *world;
static TesContext *alone, *together;

/* 0; else the exit status: 77 without MPI. device: NULL: of TESSERA_TEST_DEVICE, else the processor. */
static inline int begin_on_ranks(const char *device) {
  const char *wished = device ? device : getenv("TESSERA_TEST_DEVICE");
  TesContextDesc desc = {.device = wished ? wished : "cpu", .threads = 1, .verbosity = TES_QUIET};
  const TesStatus status = tes_communicator_of_all(&world);
  if (status != TES_OK) return status == TES_MISSING ? 77 : 1;
  if (tes_context_create(&desc, &alone, NULL, 0) != TES_OK) return 1;
  desc.communicator = world;
  return tes_context_create(&desc, &together, NULL, 0) != TES_OK;
}

/* The exit status of a program of which so many tests failed. */
static inline int end_on_ranks(int failed) {
  if (failed && world->size > 1) abort(); /* others may wait for this one */
  tes_context_destroy(&alone);
  tes_context_destroy(&together);
  tes_communicator_destroy(&world);
  return failed;
}

#endif
