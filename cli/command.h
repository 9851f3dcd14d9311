/* The program's commands, and functions that they share. A command gets its own arguments (argv[0] is its name) and
 * returns the exit status of the program: 0, 1, 2, 3 or 4 (tes_status_exit). */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdio.h>
#include "tessera/tessera.h"

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* The program. Programs that first add an equation call it too (tests/t9_own_equation.c). */
int cli_run(int argc, char **argv);
int cli_solve(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_new(int argc, char **argv);
int cli_study(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_info(int argc, char **argv);

/* To be called first in a program, and last for its exit status: output that could not be written is an error too. */
void cli_begin(char **argv);
int cli_end(int exit_status);

/* One line to stderr, "tessera: ...", and the exit status for bad usage. */
int cli_usage_error(const char *format, ...) CLI_PRINTF(1, 2);

/* getopt_long, with the program's own messages for wrong options: it returns '?' then, -1 at the end. */
struct option;
int cli_next_option(int argc, char **argv, const struct option *options);

/* Several processes for one case (ranks.c). To be called before a command: 0, or the exit status of a refusal. */
int cli_ranks_begin(char **argv);
/* The exit status of all ranks; rank 0 prints the reason if it has not printed it yet. */
int cli_ranks_end(int exit_status);
/* NULL: one process. */
const TesCommunicator *cli_ranks(void);
/* Keeps the message of a failure. Returns whether this process prints it. */
bool cli_ranks_tells(const char *text);
/* Threads of each process; 0: as many as OpenMP would use. */
int cli_ranks_threads(void);

/* Options of all commands. */
typedef struct CliCommon {
  const char *device, *json;
  int threads, simd_bits, deterministic, ranks; /* ranks 0: not given */
  int gpus;                                     /* number of GPUs for --device cuda:all; 0: all */
  TesVerbosity verbosity;
} CliCommon;

/* Starts the program again under mpirun if --ranks or a device of several GPUs requires it. Returns the exit status
 * of a refusal, or 0 for one rank. */
int cli_ranks_launch(CliCommon *common);

/* Their rows for getopt_long. Numbers of a command's own options begin with CLI_OWN_OPTIONS. */
enum {
  CLI_DEVICE = 256,
  CLI_THREADS,
  CLI_RANKS,
  CLI_SIMD,
  CLI_JSON,
  CLI_VERBOSE,
  CLI_QUIET,
  CLI_OWN_OPTIONS
};
#define CLI_COMMON_OPTIONS                                                                                   \
  {"device", required_argument, NULL, CLI_DEVICE}, {"threads", required_argument, NULL, CLI_THREADS},        \
      {"ranks", required_argument, NULL, CLI_RANKS}, {"simd", required_argument, NULL, CLI_SIMD},            \
      {"json", required_argument, NULL, CLI_JSON}, {"verbose", no_argument, NULL, CLI_VERBOSE}, {            \
    "quiet", no_argument, NULL, CLI_QUIET                                                                    \
  }
/* Takes a common option with optarg. False: it is not a common option, or its argument is wrong, which has been
 * reported. */
bool cli_parse_common(int option, CliCommon *common);
/* A context for the options, which Ctrl-C interrupts. On failure prints the reason and returns the status. */
TesStatus cli_context_create(const CliCommon *common, TesContext **context);
void cli_context_destroy(TesContext **context);
/* From now on Ctrl-C ends the present stage within half a second, and with it the program if necessary. Stage NULL:
 * the code that follows asks the context, and ends in its own time. */
void cli_interrupt_begin(TesContext *context);
void cli_interrupt_end(void);
void cli_interrupt_stage(const char *title);
/* The current part of the stage, as "TITLE: PART"; other lines are ignored. */
void cli_interrupt_part(const char *line);
/* "model name" of the first processor. */
void cli_processor_name(size_t size, char *name);
/* The name of a GPU; or false, and the reason why there is none. */
enum { CLI_DEVICE_NAME = 512 };
bool cli_find_gpu(const char *device, char text[CLI_DEVICE_NAME]);
/* The machine, for titles: "Intel Xeon .., 2 threads, 512-bit SIMD", or the name of a device. */
void cli_describe_machine(const TesContext *context, size_t size, char *text);
/* Columns of the terminal on the standard output, else of the environment (COLUMNS); 0: no limit. */
int cli_width(void);
/* Prints a line; on a narrow terminal it is continued below its second column. */
void cli_print_line(FILE *out, const char *line);
/* Whether a case gives a boundary no condition, so that the default holds, 0. */
bool cli_is_default(const TesCase *input, const TesMesh *mesh, int boundary);
/* The sum of a number over all ranks, which all call it. */
double cli_sum_of_ranks(TesContext *context, double here);
/* The number of such boundaries that have faces, and their names. All ranks call it. */
int cli_list_defaults(TesContext *context, const TesCase *input, const TesMesh *mesh, size_t size, char *text);
/* Prints a line that the next one overwrites on a terminal; in a log, a line only now and then. cli_progress_end()
 * must come before anything else is printed. */
void cli_progress(const char *line);
void cli_progress_end(void);
/* The log of a context, with its progress. */
void cli_log(void *user, TesLogLevel level, const char *line);
/* Warnings of the library in this process, each once, up to 16; returns their number. */
int cli_warnings(const char *const **list);
/* Prints the message to stderr; "": the message of the context. If verbose, also its trace. */
void cli_print_failure(TesContext *context, TesStatus status, const char *message);
/* A refusal with its place in the case: the place of the key at its beginning ("solver.method: ..."), or of the map
 * that contains this key, else the file. If the message already has a place, the message itself; "" if there is no
 * case. */
void cli_locate(const TesCase *input, const char *message, char *text, size_t size);

/* Numbers of an option: "4", "1,2,7", "1..8" (all integers between) or "1e3..1e7" (factors of four). Returns their
 * count; -1: the text is wrong, which has been reported. whole: all must be integers. */
int cli_parse_numbers(const char *option, const char *text, bool whole, double lowest, double highest,
                      int most, double *numbers);
/* The position of `text` in the NULL-terminated list; -1: it is not there, which has been reported with the list. */
int cli_parse_choice(const char *option, const char *text, const char *const *choices);

#endif
