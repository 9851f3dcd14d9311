#include "parallel/comm.h"

#ifdef TESI_P4EST
#include "parallel/mpi.h"
#include <math.h>
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

MPI_Comm tesi_mpi_self(void) {
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

int tesi_mpi_self_fortran(void) {
  return (int)MPI_Comm_c2f(tesi_mpi_self());
}

/* ---- many ranks ---------------------------------------------------------------------------------------- */

enum { TOGETHER = 16, TAG = 1 }; /* numbers that are reduced at once */

typedef struct State {
  MPI_Comm comm;
  int requests;
  MPI_Request *request; /* [2 size] */
  double *values;       /* [size][TOGETHER] */
} State;

/* All numbers of all ranks come to each, which adds them in the same order. */
static void reduce_some(const TesCommunicator *communicator, TesiReduction reduction, int n, double *values) {
  const State *s = communicator->state;
  double own[TOGETHER];
  for (int i = 0; i < n; i++) own[i] = values[i];
  MPI_Allgather(own, n, MPI_DOUBLE, s->values, n, MPI_DOUBLE, s->comm);
  for (int i = 0; i < n; i++) {
    values[i] = s->values[i];
    for (int r = 1; r < communicator->size; r++) {
      const double other = s->values[r * n + i];
      if (reduction == TESI_SUM)
        values[i] += other;
      else if (isnan(other) || other > values[i])
        values[i] = other;
    }
  }
}

static void reduce(const TesCommunicator *communicator, TesiReduction reduction, int n, double *values) {
  for (int i = 0; communicator->size > 1 && i < n; i += TOGETHER)
    reduce_some(communicator, reduction, n - i < TOGETHER ? n - i : TOGETHER, values + i);
}

static void begin_messages(const TesCommunicator *communicator, int n, const TesiMessage *message) {
  State *s = communicator->state;
  s->requests = 0;
  for (int i = 0; i < n; i++)
    MPI_Irecv(message[i].received, (int)message[i].bytes, MPI_BYTE, message[i].rank, TAG, s->comm,
              &s->request[s->requests++]);
  for (int i = 0; i < n; i++)
    MPI_Isend(message[i].sent, (int)message[i].bytes, MPI_BYTE, message[i].rank, TAG, s->comm,
              &s->request[s->requests++]);
}

static void end_messages(const TesCommunicator *communicator) {
  State *s = communicator->state;
  MPI_Waitall(s->requests, s->request, MPI_STATUSES_IGNORE);
}

static const TesiCommTable table = {reduce, begin_messages, end_messages};

MPI_Comm tesi_mpi_of(const TesCommunicator *communicator) {
  const MPI_Comm self = tesi_mpi_self();
  return communicator && communicator->table == &table ? ((const State *)communicator->state)->comm : self;
}

void tesi_communicator_destroy(TesCommunicator **communicator) {
  if (!*communicator) return;
  State *s = (*communicator)->state;
  if (s) {
    free(s->request);
    free(s->values);
  }
  free(s);
  free(*communicator);
  *communicator = NULL;
}

TesStatus tesi_communicator_create_mpi(TesCommunicator **communicator) {
  TesCommunicator *c = *communicator = calloc(1, sizeof *c);
  State *s = c ? calloc(1, sizeof *s) : NULL;
  tesi_mpi_self();
  if (s) {
    c->table = &table;
    c->state = s;
    s->comm = MPI_COMM_WORLD;
    MPI_Comm_rank(s->comm, &c->rank);
    MPI_Comm_size(s->comm, &c->size);
    s->request = calloc(2 * (size_t)c->size, sizeof *s->request);
    s->values = calloc((size_t)c->size * TOGETHER, sizeof *s->values);
    if (s->request && s->values) return TES_OK;
  }
  tesi_communicator_destroy(communicator);
  return TES_OUT_OF_MEMORY;
}
#else
TesStatus tesi_communicator_create_mpi(TesCommunicator **communicator) {
  *communicator = NULL;
  return TES_MISSING;
}

void tesi_communicator_destroy(TesCommunicator **communicator) {
  *communicator = NULL;
}
#endif
