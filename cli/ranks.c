/* Several processes of the program that solve one case: started by mpirun or srun, or by the program itself for
 * --ranks. Rank 0 prints. Other ranks keep the messages of their failures. All ranks end with the same status. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"

static TesCommunicator *ranks; /* NULL: one */
static char failure[1024];     /* the first one; "": none */
static bool told;              /* on the terminal */
static char **arguments;       /* of the program */

const TesCommunicator *cli_ranks(void) {
  return ranks;
}

bool cli_ranks_tells(const char *text) {
  if (!failure[0]) snprintf(failure, sizeof failure, "%s", text);
  told = told || tes_communicator_rank(ranks) == 0;
  return tes_communicator_rank(ranks) == 0;
}

/* Commands that run on several ranks. */
static bool is_shared(const char *command) {
  static const char *const shared[] = {"solve", "check", "study"};
  for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
    if (!strcmp(command, shared[i])) return true;
  return false;
}

static bool is_asked_for(char **argv) {
  return argv[1] && is_shared(argv[1]);
}

int cli_ranks_begin(char **argv) {
  const char *launcher;
  const int launched = tes_communicator_launched(&launcher);
  arguments = argv;
  if (launched == 1) return 0;
  const TesStatus status = tes_communicator_of_all(&ranks);
  if (status == TES_MISSING) {
    cli_usage_error(
        "%s began %d processes, and this build has no MPI: build it with p4est and MPI (libp4est-dev, "
        "libopenmpi-dev)",
        launcher, launched);
    return tes_status_exit(status);
  }
  if (status != TES_OK) return tes_status_exit(status);
  if (tes_communicator_size(ranks) == 1) {
    cli_usage_error(
        "%s began %d processes, which MPI does not know of each other: take the mpirun of this MPI, or srun "
        "--mpi=pmix",
        launcher, launched);
    return tes_status_exit(TES_MISSING);
  }
  if (tes_communicator_rank(ranks) > 0 && !freopen("/dev/null", "w", stdout)) return tes_status_exit(TES_IO);
  if (!is_asked_for(argv) && argv[1] && argv[1][0] != '-')
    return cli_usage_error("several ranks run tessera solve, check and study; %s is for one", argv[1]);
  return 0;
}

static TesStatus status_of(int exit_status) {
  const TesStatus of[] = {TES_OK, TES_NOT_CONVERGED, TES_INVALID_INPUT, TES_MISSING, TES_IO};
  return exit_status >= 0 && exit_status < 5 ? of[exit_status] : TES_INTERNAL;
}

/* "rank 1 of 2: ...": the other ranks know of this failure, and may have ended. */
static bool is_agreed(void) {
  char mark[32];
  snprintf(mark, sizeof mark, " of %d: ", tes_communicator_size(ranks));
  const char *rank = strstr(failure, "rank "), *end = rank ? strstr(rank, mark) : NULL;
  return end && strspn(rank + 5, "0123456789") == (size_t)(end - rank - 5);
}

static int agree_on(int exit_status) {
  if (!ranks || (exit_status > 0 && is_agreed())) return exit_status;
  const TesStatus agreed = tes_communicator_agree(ranks, status_of(exit_status), failure, sizeof failure);
  if (agreed != TES_OK && !told && tes_communicator_rank(ranks) == 0 && failure[0])
    cli_usage_error("%s", failure);
  return exit_status > 0 && tes_status_exit(agreed) == 0 ? exit_status : tes_status_exit(agreed);
}

int cli_ranks_end(int exit_status) {
  const int agreed = agree_on(exit_status);
  tes_communicator_destroy(&ranks);
  return agreed;
}

/* ---- threads ------------------------------------------------------------------------------------------- */

static int number_of(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text && atoi(text) > 0 ? atoi(text) : otherwise;
}

/* Ranks of a host share its processors unless the launcher has given each rank its own. */
int cli_ranks_threads(void) {
  cpu_set_t set;
  const long all = sysconf(_SC_NPROCESSORS_ONLN);
  if (!ranks || getenv("OMP_NUM_THREADS")) return 0;
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < all) return 0;
  const int here = number_of("OMPI_COMM_WORLD_LOCAL_SIZE",
                             number_of("MPI_LOCALNRANKS", tes_communicator_size(ranks))),
            each = (int)all / here;
  return each > 1 ? each : 1;
}

/* ---- --ranks ------------------------------------------------------------------------------------------- */

static bool find_program(const char *name, char path[4096]) {
  const char *folder = getenv("PATH");
  while (folder && *folder) {
    const int length = (int)strcspn(folder, ":");
    snprintf(path, 4096, "%.*s/%s", length, folder, name);
    if (length && access(path, X_OK) == 0) return true;
    folder += length + (folder[length] == ':');
  }
  return false;
}

/* Without these Open MPI's mpirun refuses to run as root. */
static const char *const for_root[] = {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"};

static bool is_refused_to_root(const char *mpirun) {
  char *real = realpath(mpirun, NULL);
  const bool open_mpi =
      real && (strstr(real, "orterun") || strstr(real, "openmpi") || strstr(real, "prterun"));
  free(real);
  return open_mpi && geteuid() == 0 && !(getenv(for_root[0]) && getenv(for_root[1]));
}

/* Options may be abbreviated. */
static bool is_ranks(const char *argument) {
  const size_t length = strcspn(argument, "=");
  return length >= strlen("--ra") && length <= strlen("--ranks") && !strncmp(argument, "--ranks", length);
}

/* "--device=cuda:all" -> "--device=cuda"; the caller frees it. */
static char *without_all(char *argument) {
  const char *value = strrchr(argument, '=');
  if (strcmp(value ? value + 1 : argument, "cuda:all") != 0) return argument;
  char *copy = strdup(argument);
  if (copy) copy[strlen(copy) - strlen(":all")] = 0;
  return copy;
}

/* Options of Open MPI only: no messages of its own if a rank fails, more ranks than processors are allowed, and
 * threads of a rank may run on any processor. */
static int launch(const char *mpirun, const char *asked, int count) {
  static const char *const options[] = {"--quiet", "--oversubscribe", "--bind-to", "none"};
  char number[16], self[4096];
  int n = 0, all = 0;
  while (arguments[all]) all++;
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  char **line = calloc((size_t)all + 16, sizeof *line), *real = realpath(mpirun, NULL);
  if (!line || length < 0) return tes_status_exit(TES_OUT_OF_MEMORY);
  self[length] = 0;
  if (!strstr(strrchr(self, '/'), "tessera") && !find_program("tessera", self)) /* used from Python */
    return cli_usage_error("%s begins the program tessera, which is not in PATH", asked);
  snprintf(number, sizeof number, "%d", count);
  line[n++] = (char *)mpirun;
  for (size_t i = 0; real && !strstr(real, "mpich") && !strstr(real, "hydra") && i < 4; i++)
    line[n++] = (char *)options[i];
  line[n++] = "-n", line[n++] = number, line[n++] = self;
  for (int i = 1; i < all; i++) {
    if (!is_ranks(arguments[i]))
      line[n++] = without_all(arguments[i]);
    else
      i += !strchr(arguments[i], '='); /* its number */
  }
  execv(mpirun, line);
  free(line), free(real);
  cli_usage_error("%s could not be started", mpirun);
  return tes_status_exit(TES_MISSING);
}

/* Starts the number of ranks that the option `asked` requests. */
static int begin_ranks(const char *asked, int count) {
  char mpirun[4096];
  const char *launcher;
  tes_communicator_launched(&launcher);
  if (launcher)
    return cli_usage_error("%s inside a program that %s began: say one or the other", asked, launcher);
  if (count == 1) return 0;
  if (!tes_has_part("mpi")) {
    cli_usage_error(
        "%s needs MPI, which this build has not: install libp4est-dev and libopenmpi-dev, and build again",
        asked);
    return tes_status_exit(TES_MISSING);
  }
  if (!find_program("mpirun", mpirun) && !find_program("mpiexec", mpirun)) {
    cli_usage_error("%s needs mpirun, which is not there: install openmpi-bin", asked);
    return tes_status_exit(TES_MISSING);
  }
  if (is_refused_to_root(mpirun)) {
    cli_usage_error("mpirun of Open MPI begins nothing for root unless %s=1 and %s=1 are set", for_root[0],
                    for_root[1]);
    return tes_status_exit(TES_MISSING);
  }
  return launch(mpirun, asked, count);
}

/* The number of ranks for a device: 2 for "cuda:0,2", the number of GPUs for "cuda:all", 0 for others. */
static int ranks_of(const char *device) {
  int count = 1;
  if (!device || strncmp(device, "cuda:", 5) != 0) return 0;
  if (!strcmp(device, "cuda:all")) return tes_gpu_count() > 1 ? tes_gpu_count() : 1;
  for (const char *at = device; *at; at++) count += *at == ',';
  return count > 1 ? count : 0;
}

/* A GPU that is twice in a list; -1: none. */
static int named_twice(const char *list) {
  bool seen[64] = {false};
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
    const int number = atoi(at);
    if (number < 0 || number >= 64) continue;
    if (seen[number]) return number;
    seen[number] = true;
  }
  return -1;
}

int cli_ranks_launch(CliCommon *common) {
  const bool all = common->device && !strcmp(common->device, "cuda:all");
  const int devices = all && common->gpus ? common->gpus : ranks_of(common->device);
  const int launched = tes_communicator_launched(NULL);
  char asked[80];
  if (devices && !all && named_twice(common->device + 5) >= 0)
    return cli_usage_error("--device %s: GPU %d is named twice", common->device,
                           named_twice(common->device + 5));
  if (devices && common->ranks)
    return cli_usage_error(
        "--ranks %d and --device %s both tell how many ranks there are: say one or the other", common->ranks,
        common->device);
  if (common->ranks)
    snprintf(asked, sizeof asked, "--ranks %d", common->ranks);
  else
    snprintf(asked, sizeof asked, "--device %s", common->device ? common->device : "auto");
  if (!common->ranks && !devices) return 0;
  if (devices && !all && launched > 1) return 0; /* a list gives the GPUs of the ranks */
  const int refused = begin_ranks(asked, common->ranks ? common->ranks : devices);
  if (all) common->device = "cuda"; /* there is one */
  return refused;
}
