/* Finds p4est, if the build has it. */
#include "mesh/forest/forest_p4est.h"

#ifdef TESI_P4EST
#include <p4est.h>
#include "base/leaks.h"
#include "parallel/mpi.h"

/* Messages and signal handlers of p4est stay off. */
static void initialize(void) {
  const MPI_Comm self = tesi_mpi_self();
  __lsan_disable();
  if (sc_package_id < 0) sc_init(self, 0, 0, NULL, SC_LP_ERROR);
  if (p4est_package_id < 0) p4est_init(NULL, SC_LP_ERROR);
  __lsan_enable();
}

bool tesi_p4est_is_built(void) {
  return true;
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
bool tesi_p4est_is_built(void) {
  return false;
}

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
