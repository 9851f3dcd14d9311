/* The program's commands, and what they share. A command gets its own arguments (argv[0] is its name) and returns
 * the exit status of the program: 0, 1, 2, 3 or 4 (tes_status_exit). */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdio.h>
#include "tessera/tessera.h"

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* The program; also of programs that add an equation first (tests/t9_own_equation.c). */
int cli_run(int argc, char **argv);
int cli_solve(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_new(int argc, char **argv);
int cli_study(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_info(int argc, char **argv);

/* Before everything else in a program, and its exit status in the end: what was printed and did not arrive is an
 * error too. */
void cli_begin(char **argv);
int cli_end(int exit_status);

/* One line to stderr, "tessera: ...", and the exit status for bad usage. */
int cli_usage_error(const char *format, ...) CLI_PRINTF(1, 2);

/* getopt_long, which tells wrong options as all else is told: '?' then, -1 at the end. */
struct option;
int cli_next_option(int argc, char **argv, const struct option *options);

/* Several processes, one case (ranks.c). Before a command: 0, or the exit status of a refusal. */
int cli_ranks_begin(char **argv);
/* The exit status of all ranks; rank 0 prints why where it did not yet. */
int cli_ranks_end(int exit_status);
/* NULL: one process. */
const TesCommunicator *cli_ranks(void);
/* Keeps the message of a failure; whether this process prints it. */
bool cli_ranks_tells(const char *text);
/* Threads of each; 0: as many as OpenMP would use. */
int cli_ranks_threads(void);

/* Options that all commands have. */
typedef struct CliCommon {
  const char *device, *json;
  int threads, simd_bits, deterministic, ranks; /* ranks 0: not asked for */
  int gpus;                                     /* how many --device cuda:all takes; 0: all */
  TesVerbosity verbosity;
} CliCommon;

/* Begins the program again under mpirun where --ranks or a device of several GPUs ask for that; returns the exit status
 * of a refusal, 0 for one rank. */
int cli_ranks_launch(CliCommon *common);

/* Their rows of getopt_long. Numbers of a command's own options begin with CLI_OWN_OPTIONS. */
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
/* Takes one of them with optarg; false: it is none, or its argument is wrong, which was told then. */
bool cli_parse_common(int option, CliCommon *common);
/* A context for the options; prints what went wrong and returns its status otherwise. Ctrl-C then interrupts it. */
TesStatus cli_context_create(const CliCommon *common, TesContext **context);
void cli_context_destroy(TesContext **context);
/* Ctrl-C from now on. A stage ends within half a second of it, the program with it where need be; NULL: what follows
 * hears of it and ends in its own time. */
void cli_interrupt_begin(TesContext *context);
void cli_interrupt_end(void);
void cli_interrupt_stage(const char *title);
/* What goes on in the stage, as "TITLE: PART"; other lines say nothing of it. */
void cli_interrupt_part(const char *line);
/* "model name" of the first processor. */
void cli_processor_name(size_t size, char *name);
/* The name of a GPU, or false and why there is none. */
enum { CLI_DEVICE_NAME = 512 };
bool cli_find_gpu(const char *device, char text[CLI_DEVICE_NAME]);
/* What computes, for titles: "Intel Xeon .., 2 threads, 512-bit SIMD", or the name of a device. */
void cli_describe_machine(const TesContext *context, size_t size, char *text);
/* Columns of the terminal on the standard output, else of the environment (COLUMNS); 0: any number. */
int cli_width(void);
/* A line; on a narrow terminal it goes on below its second column. */
void cli_print_line(FILE *out, const char *line);
/* A line that the next one overwrites on a terminal; in a log only now and then. The end comes before anything else is
 * printed. */
void cli_progress(const char *line);
void cli_progress_end(void);
/* The log of a context, with its progress. */
void cli_log(void *user, TesLogLevel level, const char *line);
/* What the library warned of in this process, each once, up to 16; how many. */
int cli_warnings(const char *const **list);
/* Prints the message, for "" that of the context (its trace too when verbose), to stderr. */
void cli_print_failure(TesContext *context, TesStatus status, const char *message);
/* A refusal with its place in the case: that of the key that it begins with ("solver.method: ..."), or of what that
 * stands in, else the file. The message itself where it names a place already, "" where there is no case. */
void cli_locate(const TesCase *input, const char *message, char *text, size_t size);

/* Numbers of an option: "4", "1,2,7", "1..8" (whole numbers; every one) or "1e3..1e7" (factors of four in between).
 * Returns their count, or -1 after telling what is wrong. Whole: all must be. */
int cli_parse_numbers(const char *option, const char *text, bool whole, double lowest, double highest,
                      int most, double *numbers);
/* The position of `text` in the NULL-terminated list, or -1 after telling what is allowed. */
int cli_parse_choice(const char *option, const char *text, const char *const *choices);

#endif
