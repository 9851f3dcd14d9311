/* Whether p4est is there, and MPI for it. */
#include "mesh/forest/forest_p4est.h"

#ifdef TESI_P4EST
#include <mpi.h>
#include <p4est.h>
#include <stdlib.h>

/* MPI leaves memory behind when it begins and ends: not for our leak checks. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TESI_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TESI_ADDRESS_SANITIZER
#endif
#ifdef TESI_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable() ((void)0)
#define __lsan_enable() ((void)0)
#endif

static void finalize(void) {
  int finalized = 0;
  __lsan_disable();
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Finalize();
  __lsan_enable();
}

/* Open MPI prints a backtrace where a signal ends the process (opal_signal: which ones). It starts a daemon for a
 * process that no mpirun began, and both keep a folder that all such processes of a user share: one that ends removes
 * it while the next one begins, which then fails. It also tries all networks, which takes a quarter of a second, and
 * has hwloc ask each device of the machine what it is. None of that is of use to one rank. Other MPI libraries ignore
 * these names. */
static void begin(bool alone) {
  static const char *const settings[][2] = {
      {"OMPI_MCA_opal_signal", ""},
      {"OMPI_MCA_ess_singleton_isolated", "1"},
      {"OMPI_MCA_orte_create_session_dirs", "false"},
      {"OMPI_MCA_pml", "ob1"},
      {"OMPI_MCA_btl", "self"},
      {"HWLOC_COMPONENTS", "-pci,-gl,-opencl,-cuda,-nvml,-rsmi,-levelzero"}};
  enum { COUNT = sizeof settings / sizeof *settings };
  bool ours[COUNT];
  for (int i = 0; i < COUNT; i++)
    ours[i] = (i == 0 || alone) && !getenv(settings[i][0]) && !setenv(settings[i][0], settings[i][1], 1);
  MPI_Init(NULL, NULL);
  for (int i = 0; i < COUNT; i++) /* not for the processes that this one may start */
    if (ours[i]) unsetenv(settings[i][0]);
}

/* p4est calls MPI even on one rank. Its own messages and signal handlers stay off. */
static void initialize(void) {
  int initialized = 0;
  __lsan_disable();
  MPI_Initialized(&initialized);
  if (!initialized) {
    begin(!getenv("OMPI_COMM_WORLD_SIZE"));
    atexit(finalize);
  }
  if (sc_package_id < 0) sc_init(MPI_COMM_SELF, 0, 0, NULL, SC_LP_ERROR);
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
