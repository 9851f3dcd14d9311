/* Whether p4est is there, and MPI for it. */
#include "mesh/forest/forest_p4est.h"

#ifdef TESI_P4EST
#include <mpi.h>
#include <p4est.h>
#include <stdlib.h>

static void finalize(void) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Finalize();
}

/* p4est calls MPI even on one rank. Its own messages and signal handlers stay off. */
static void initialize(void) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (!initialized) {
    MPI_Init(NULL, NULL);
    atexit(finalize);
  }
  sc_init(MPI_COMM_SELF, 0, 0, NULL, SC_LP_ERROR);
  p4est_init(NULL, SC_LP_ERROR);
}

const TesiP4est *tesi_p4est(int dim) {
  static bool ready;
#pragma omp critical(tesi_p4est)
  if (!ready) {
    initialize();
    ready = true;
  }
  return dim == 2 ? &tesi_p4est_2d : &tesi_p4est_3d;
}

TesStatus tesi_p4est_check(TesContext *ctx) {
  (void)ctx;
  return TES_OK;
}
#else
const TesiP4est *tesi_p4est(int dim) {
  (void)dim;
  return NULL;
}

TesStatus tesi_p4est_check(TesContext *ctx) {
  TesStatus status = TES_OK;
  TES_FAIL(TES_MISSING,
           "this mesh is a forest, and Tessera was built without p4est: install libp4est-dev and "
           "build with -DTESSERA_P4EST=ON");
done:
  return status;
}
#endif
