/* A library for LD_PRELOAD that troubles a program on several ranks (tests/t9_chaos.py). It reads the environment:
 *   CHAOS_SEED=n    calls of MPI wait at random, other times on each rank
 *   CHAOS_RANK=r, CHAOS_ALLOC=n   the n-th allocation of Tessera on rank r finds no memory
 *   CHAOS_RANK=r, CHAOS_KILL=n    rank r is killed at its n-th call of MPI
 *   CHAOS_TELL=1    each rank tells its numbers of allocations and calls
 * It looks at all calls: collectives of a communicator are the same on all its ranks, with the same bytes and the same
 * root; a message has the length that is waited for; no request and no communicator is left at the end. What is not so
 * is told ("chaos: ..") and ends the program with status 99. */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FAULT = 99, OPEN = 4096 };

typedef struct Posted {
  MPI_Request request;
  int bytes; /* expected; -1: any */
} Posted;

static atomic_long allocations;
static long calls, communicators;
static Posted posted[OPEN];
static int posts;

static long setting(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : -1;
}

static int world_rank(void) {
  return (int)setting("OMPI_COMM_WORLD_RANK");
}

static void fault(const char *what, const char *call) {
  fprintf(stderr, "chaos: rank %d: %s: %s\n", world_rank(), call, what);
  fflush(NULL);
  PMPI_Abort(MPI_COMM_WORLD, FAULT);
}

/* Tessera alone calls it. */
void *aligned_alloc(size_t alignment, size_t size) {
  static void *(*real)(size_t, size_t);
  static long fails = -2;
  if (fails == -2) fails = setting("CHAOS_RANK") == world_rank() ? setting("CHAOS_ALLOC") : -1;
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "aligned_alloc");
  return atomic_fetch_add(&allocations, 1) + 1 == fails ? NULL : real(alignment, size);
}

/* ---- before each call ---------------------------------------------------------------------------------- */

static void trouble(void) {
  static long seed = -2, kills = -1;
  static unsigned long state;
  if (seed == -2) {
    seed = setting("CHAOS_SEED");
    state = (unsigned long)seed * 7919 + (unsigned long)world_rank() * 104729 + 1;
    kills = setting("CHAOS_RANK") == world_rank() ? setting("CHAOS_KILL") : -1;
  }
  if (++calls == kills) raise(SIGKILL);
  if (seed < 0) return;
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  const unsigned draw = (unsigned)(state >> 40);
  if (draw % 64 == 0) nanosleep(&(struct timespec){.tv_nsec = 1000L * (draw / 64 % 3000)}, NULL);
}

/* A collective has the same name, bytes and root on all ranks; bytes -1: they may differ. */
static void compare(const char *call, long bytes, int root, MPI_Comm comm) {
  int size, same = 1;
  trouble();
  PMPI_Comm_size(comm, &size);
  if (size == 1) return;
  long own[3] = {0, bytes, root};
  for (const char *at = call; *at; at++) own[0] = own[0] * 31 + *at;
  long *all = malloc((size_t)size * sizeof own);
  PMPI_Allgather(own, 3, MPI_LONG, all, 3, MPI_LONG, comm);
  for (int r = 0; r < size; r++) same = same && !memcmp(all + 3L * r, own, sizeof own);
  free(all);
  if (!same) fault("the ranks call different collectives", call);
}

static long bytes_of(int count, MPI_Datatype type) {
  int size;
  PMPI_Type_size(type, &size);
  return (long)count * size;
}

int MPI_Allgather(const void *a, int n, MPI_Datatype s, void *b, int m, MPI_Datatype t, MPI_Comm comm) {
  compare("MPI_Allgather", bytes_of(m, t), 0, comm);
  return PMPI_Allgather(a, n, s, b, m, t, comm);
}

int MPI_Allgatherv(const void *a, int n, MPI_Datatype s, void *b, const int *m, const int *at, MPI_Datatype t,
                   MPI_Comm comm) {
  compare("MPI_Allgatherv", -1, 0, comm);
  return PMPI_Allgatherv(a, n, s, b, m, at, t, comm);
}

int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm) {
  compare("MPI_Allreduce", bytes_of(n, t), 0, comm);
  return PMPI_Allreduce(a, b, n, t, op, comm);
}

int MPI_Bcast(void *a, int n, MPI_Datatype t, int root, MPI_Comm comm) {
  compare("MPI_Bcast", bytes_of(n, t), root, comm);
  return PMPI_Bcast(a, n, t, root, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  compare("MPI_Barrier", 0, 0, comm);
  return PMPI_Barrier(comm);
}

/* Two communicators that libsc keeps for p4est until the process ends do not count. */
static int made(int result, const MPI_Comm *comm, const void *caller) {
  Dl_info of;
  const int kept = dladdr(caller, &of) && of.dli_fname && strstr(of.dli_fname, "libsc");
  communicators += *comm != MPI_COMM_NULL && !kept;
  return result;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy) {
  compare("MPI_Comm_dup", 0, 0, comm);
  return made(PMPI_Comm_dup(comm, copy), copy, __builtin_return_address(0));
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *part) {
  compare("MPI_Comm_split", 0, 0, comm);
  return made(PMPI_Comm_split(comm, colour, key, part), part, __builtin_return_address(0));
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part) {
  compare("MPI_Comm_split_type", type, 0, comm);
  return made(PMPI_Comm_split_type(comm, type, key, info, part), part, __builtin_return_address(0));
}

int MPI_Comm_free(MPI_Comm *comm) {
  communicators--;
  return PMPI_Comm_free(comm);
}

/* ---- messages ------------------------------------------------------------------------------------------ */

static int post(int result, const MPI_Request *request, int bytes) {
  if (*request == MPI_REQUEST_NULL) return result;
  if (posts == OPEN) fault("4096 requests are open", "MPI_Isend");
  posted[posts++] = (Posted){*request, bytes};
  return result;
}

/* Forgets the request, and tells how many bytes it is for. */
static int take(MPI_Request request) {
  for (int i = 0; i < posts; i++) {
    if (posted[i].request != request) continue;
    const int bytes = posted[i].bytes;
    posted[i] = posted[--posts];
    return bytes;
  }
  return -1;
}

static void look(const char *call, int expected, const MPI_Status *status) {
  int bytes = 0;
  if (expected < 0) return;
  PMPI_Get_count(status, MPI_BYTE, &bytes);
  if (bytes != expected) fault("a message is shorter than the one that is waited for", call);
}

/* Messages of bytes are Tessera's, which knows their length. */
int MPI_Irecv(void *a, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Request *request) {
  trouble();
  return post(PMPI_Irecv(a, n, t, from, tag, comm, request), request,
              t == MPI_BYTE && from != MPI_ANY_SOURCE && tag == 1 ? n : -1);
}

int MPI_Isend(const void *a, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  trouble();
  return post(PMPI_Isend(a, n, t, to, tag, comm, request), request, -1);
}

int MPI_Iallgather(const void *a, int n, MPI_Datatype s, void *b, int m, MPI_Datatype t, MPI_Comm comm,
                   MPI_Request *request) {
  trouble();
  return post(PMPI_Iallgather(a, n, s, b, m, t, comm, request), request, -1);
}

int MPI_Waitall(int n, MPI_Request *request, MPI_Status *ignored) {
  trouble();
  MPI_Status *status = malloc(((size_t)n + 1) * sizeof *status);
  int *expected = malloc(((size_t)n + 1) * sizeof *expected);
  for (int i = 0; i < n; i++) expected[i] = take(request[i]);
  const int result = PMPI_Waitall(n, request, status);
  for (int i = 0; i < n; i++) look("MPI_Waitall", expected[i], &status[i]);
  if (ignored != MPI_STATUSES_IGNORE) memcpy(ignored, status, (size_t)n * sizeof *status);
  free(status), free(expected);
  return result;
}

int MPI_Waitsome(int n, MPI_Request *request, int *count, int *which, MPI_Status *status) {
  trouble();
  MPI_Request *before = malloc(((size_t)n + 1) * sizeof *before);
  memcpy(before, request, (size_t)n * sizeof *before);
  const int result = PMPI_Waitsome(n, request, count, which, status);
  for (int i = 0; *count != MPI_UNDEFINED && i < *count; i++) take(before[which[i]]);
  free(before);
  return result;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  trouble();
  take(*request);
  return PMPI_Wait(request, status);
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
  const MPI_Request before = *request;
  const int result = PMPI_Test(request, done, status);
  if (*done) take(before);
  return result;
}

int MPI_Finalize(void) {
  char text[96];
  if (setting("CHAOS_TELL") > 0)
    fprintf(stderr, "chaos: rank %d: %ld allocations, %ld calls\n", world_rank(), (long)allocations, calls);
  snprintf(text, sizeof text, "%d requests and %ld communicators are left", posts, communicators);
  if (posts || communicators) fault(text, "MPI_Finalize");
  return PMPI_Finalize();
}
