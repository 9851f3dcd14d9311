#ifdef TESI_P4EST
#include "parallel/mpi.h"
#include <stdbool.h>
#include <stdlib.h>
#include "base/leaks.h"

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

static void begin_once(void) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized) return;
  begin(!getenv("OMPI_COMM_WORLD_SIZE"));
  atexit(finalize);
}

MPI_Comm tesi_mpi(void) {
  static bool ready;
#pragma omp critical(tesi_mpi)
  if (!ready) {
    __lsan_disable();
    begin_once();
    __lsan_enable();
    ready = true;
  }
  return MPI_COMM_SELF;
}
#endif
