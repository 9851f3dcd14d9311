#include "parallel/host.h"

#ifdef TESI_P4EST
#include "parallel/mpi.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "base/leaks.h"

static void finalize(void) {
  int finalized = 0;
  __lsan_disable();
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Finalize();
  __lsan_enable();
}

/* Open MPI prints a backtrace when a signal ends the process (opal_signal lists the signals). For a process without
 * mpirun it starts a daemon, and both keep a folder that all such processes of a user share: a process that ends
 * removes the folder while the next process starts, which then fails. Open MPI also tries all networks, which takes a
 * quarter of a second, and lets hwloc query each device of the machine. One rank needs none of this. Other MPI
 * libraries ignore these names. */
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
  for (int i = 0; i < COUNT; i++) /* not for processes that this process may start */
    if (ours[i]) unsetenv(settings[i][0]);
}

static void begin_once(void) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized) return;
  begin(tes_communicator_launched(NULL) == 1);
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

enum { TOGETHER = 16, TAG = 1, LARGEST = 1 << 30 }; /* numbers reduced at once; bytes per message */

typedef struct State {
  MPI_Comm comm, meetings; /* own duplicates */
  int requests;
  MPI_Request *request; /* [2 size] */
  double *values;       /* [size][TOGETHER] */
} State;

/* Each rank receives all numbers of all ranks, and adds them in the same order. */
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

static void broadcast(const TesCommunicator *communicator, int root, int64_t bytes, void *data) {
  const State *s = communicator->state;
  for (int64_t at = 0; at < bytes; at += LARGEST)
    MPI_Bcast((char *)data + at, (int)(bytes - at < LARGEST ? bytes - at : LARGEST), MPI_BYTE, root, s->comm);
}

/* Sleeps longer and longer, up to 5 ms: other ranks may compute for a long time. */
static bool meet(const TesCommunicator *communicator, double seconds, int own, int *all) {
  const State *s = communicator->state;
  const double start = tesi_now();
  MPI_Request request;
  int done = 0;
  MPI_Iallgather(&own, 1, MPI_INT, all, 1, MPI_INT, s->meetings, &request);
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  for (long sleep = 1000; !done && tesi_now() - start < seconds; sleep += sleep < 5000000 ? sleep / 4 : 0) {
    nanosleep(&(struct timespec){.tv_nsec = sleep}, NULL);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  return done;
}

static void stop(const TesCommunicator *communicator, int exit_status) {
  MPI_Abort(((const State *)communicator->state)->comm, exit_status);
}

static const TesiCommTable table = {reduce, begin_messages, end_messages, broadcast, meet, stop};

MPI_Comm tesi_mpi_of(const TesCommunicator *communicator) {
  const MPI_Comm self = tesi_mpi_self();
  return communicator && communicator->table == &table ? ((const State *)communicator->state)->comm : self;
}

void tesi_communicator_host(const TesCommunicator *communicator, int *rank, int *ranks) {
  MPI_Comm host;
  *rank = 0, *ranks = 1;
  if (!communicator || communicator->table != &table) return;
  MPI_Comm_split_type(((const State *)communicator->state)->comm, MPI_COMM_TYPE_SHARED, communicator->rank,
                      MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, rank);
  MPI_Comm_size(host, ranks);
  MPI_Comm_free(&host);
}

static void release(State *s) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized && s->meetings != MPI_COMM_NULL) MPI_Comm_free(&s->meetings);
  if (!finalized && s->comm != MPI_COMM_NULL) MPI_Comm_free(&s->comm);
  free(s->request);
  free(s->values);
  free(s);
}

void tes_communicator_destroy(TesCommunicator **communicator) {
  if (!communicator || !*communicator) return;
  if ((*communicator)->state) release((*communicator)->state);
  free(*communicator);
  *communicator = NULL;
}

static TesStatus create(MPI_Comm of, TesCommunicator **communicator) {
  TesCommunicator *c = *communicator = calloc(1, sizeof *c);
  State *s = c ? calloc(1, sizeof *s) : NULL;
  if (s) {
    c->table = &table;
    c->state = s;
    s->comm = s->meetings = MPI_COMM_NULL;
    MPI_Comm_rank(of, &c->rank);
    MPI_Comm_size(of, &c->size);
    s->request = calloc(2 * (size_t)c->size, sizeof *s->request);
    s->values = calloc((size_t)c->size * TOGETHER, sizeof *s->values);
    if (s->request && s->values && MPI_Comm_dup(of, &s->comm) == MPI_SUCCESS &&
        MPI_Comm_dup(of, &s->meetings) == MPI_SUCCESS)
      return TES_OK;
  }
  tes_communicator_destroy(communicator);
  return TES_OUT_OF_MEMORY;
}

TesStatus tes_communicator_create(int handle, TesCommunicator **communicator) {
  int initialized = 0;
  *communicator = NULL;
  MPI_Initialized(&initialized);
  const MPI_Comm of = initialized ? MPI_Comm_f2c((MPI_Fint)handle) : MPI_COMM_NULL;
  return of == MPI_COMM_NULL ? TES_INVALID_INPUT : create(of, communicator);
}

TesStatus tes_communicator_of_all(TesCommunicator **communicator) {
  tesi_mpi_self();
  return create(MPI_COMM_WORLD, communicator);
}
#else
void tesi_communicator_host(const TesCommunicator *communicator, int *rank, int *ranks) {
  (void)communicator;
  *rank = 0, *ranks = 1;
}

TesStatus tes_communicator_create(int handle, TesCommunicator **communicator) {
  (void)handle;
  *communicator = NULL;
  return TES_MISSING;
}

TesStatus tes_communicator_of_all(TesCommunicator **communicator) {
  *communicator = NULL;
  return TES_MISSING;
}

void tes_communicator_destroy(TesCommunicator **communicator) {
  if (communicator) *communicator = NULL;
}
#endif
