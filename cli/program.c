/* Finds the command and calls it. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "command.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *help;
} commands[] = {
    {"solve", cli_solve, "solve the problem of a case file"},
    {"check", cli_check, "read a case file and tell its mesh, boundaries and unknowns; solve nothing"},
    {"new", cli_new, "print a commented case file to begin with"},
    {"study", cli_study, "solve a case for lists of values; errors, orders, iterations and times in a table"},
    {"bench", cli_bench, "measure operators, smoothers and solvers; print the papers' tables"},
    {"info", cli_info, "tell version, built-in parts, processor, memory and devices"},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int print_help(FILE *out) {
  fprintf(out, "usage: tessera COMMAND [OPTION]...\n\n"
               "High-order finite elements on quadrilaterals and hexahedra, matrix-free, with "
               "multigrid.\n\ncommands:\n");
  for (int i = 0; i < COMMANDS; i++) fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
  fprintf(
      out,
      "\n'tessera COMMAND --help' tells the options of a command; 'tessera --version' the version.\n"
      "exit status: 0 converged; 1 not converged; 2 invalid input; 3 missing device or component; 4 out of "
      "memory or I/O\n");
  return 0;
}

/* Arrays of a cell are on the stack: forests of high degree use 400 KiB of it. If the stack ends, the program gets a
 * signal without a message. */
static bool has_stack(void) {
  const rlim_t least = 1 << 20;
  struct rlimit stack;
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY || stack.rlim_cur >= least)
    return true;
  cli_usage_error("the stack is limited to %llu KiB, at least %llu are needed: ulimit -s %llu",
                  (unsigned long long)stack.rlim_cur >> 10, (unsigned long long)least >> 10,
                  (unsigned long long)least >> 10);
  return false;
}

/* A case instead of a command, or a misspelt command. */
static int refuse(const char *name) {
  static const char *const endings[] = {".yaml", ".yml"};
  const char *known[COMMANDS + 1] = {NULL};
  for (int i = 0; i < COMMANDS; i++) known[i] = commands[i].name;
  for (int i = 0; i < 2; i++) {
    const size_t length = strlen(name), end = strlen(endings[i]);
    if (length > end && !strcmp(name + length - end, endings[i]))
      return cli_usage_error("a command is missing; say: tessera solve %s (or check; tessera --help)", name);
  }
  const char *near = tes_nearest_name(name, known);
  if (near)
    return cli_usage_error("there is no command '%s'; did you mean '%s'? (tessera --help)", name, near);
  return cli_usage_error(
      "there is no command '%s'; expected solve, check, new, study, bench or info (tessera --help)", name);
}

int cli_run(int argc, char **argv) {
  cli_begin(argv);
  const int refused = cli_ranks_begin(argv);
  if (refused) return cli_ranks_end(refused);
  if (argc < 2) {
    if (tes_communicator_rank(cli_ranks()) == 0) print_help(stderr);
    return cli_ranks_end(tes_status_exit(TES_INVALID_INPUT));
  }
  const char *name = argv[1];
  if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
    return cli_end(print_help(stdout));
  if (!strcmp(name, "--version")) return cli_end(printf("tessera %s\n", tes_version()) < 0);
  if (!has_stack()) return cli_ranks_end(tes_status_exit(TES_OUT_OF_MEMORY));
  for (int i = 0; i < COMMANDS; i++)
    if (!strcmp(name, commands[i].name)) return cli_end(commands[i].run(argc - 1, argv + 1));
  return cli_ranks_end(refuse(name));
}
