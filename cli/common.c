/* Functions that commands share: contexts, messages, numbers and choices on the command line. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "command.h"

/* OpenBLAS starts its threads when it is loaded. Each thread asks for 128 MiB, and asks for ever if `ulimit -v`
 * leaves no room; the program could not even end then. So, if there is a limit, the program starts again with one
 * such thread. */
static void restart_with_one_blas_thread(char **argv) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (getenv("OPENBLAS_NUM_THREADS") || setenv("OPENBLAS_NUM_THREADS", "1", 1) != 0) return;
  execv("/proc/self/exe", argv);
}

void cli_begin(char **argv) {
  restart_with_one_blas_thread(argv);
  signal(SIGXFSZ, SIG_IGN); /* a file-size limit or a closed pipe is reported as an error of the write */
  signal(SIGPIPE, SIG_IGN);
}

int cli_end(int exit_status) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return cli_ranks_end(exit_status);
  fputs("tessera: the standard output cannot be written\n", stderr);
  return cli_ranks_end(exit_status > 1 ? exit_status : tes_status_exit(TES_IO));
}

/* "tessera:" in bold red on a terminal, unless NO_COLOR is set and not empty (no-color.org). */
static void begin_failure(void) {
  const char *no = getenv("NO_COLOR");
  cli_progress_end();
  const bool coloured = isatty(STDERR_FILENO) && !(no && *no);
  fputs(coloured ? "\033[1;31mtessera:\033[0m " : "tessera: ", stderr);
}

/* One line of a failure, printed by the rank that prints. */
static void print_failure(const char *text) {
  if (!cli_ranks_tells(text)) return;
  begin_failure();
  fprintf(stderr, "%s\n", text);
}

int cli_usage_error(const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  print_failure(text);
  return tes_status_exit(TES_INVALID_INPUT);
}

enum { OPTIONS = 64 };

/* The fault of the option at which getopt_long() stopped. */
static void refuse_option(const char *command, const char *given, bool without_value,
                          const struct option *options) {
  char text[64];
  if (without_value) {
    cli_usage_error("%s needs a value (tessera %s --help)", given, command);
    return;
  }
  snprintf(text, sizeof text, "%.*s", (int)strcspn(given, "="), given);
  const char *names[OPTIONS + 1] = {NULL}, *near;
  for (int i = 0; i < OPTIONS && options[i].name; i++) names[i] = options[i].name;
  if ((near = tes_nearest_name(text + strspn(text, "-"), names)))
    cli_usage_error("%s has no option '%s'; did you mean '--%s'? (tessera %s --help)", command, given, near,
                    command);
  else
    cli_usage_error("%s has no option '%s' (tessera %s --help)", command, given, command);
}

int cli_next_option(int argc, char **argv, const struct option *options) {
  const char *given = argv[optind < argc ? optind : argc - 1];
  opterr = 0;
  const int option = getopt_long(argc, argv, ":h", options, NULL);
  if (option == 'h')
    for (const struct option *o = options; o->name; o++)
      if (!strcmp(o->name, "help")) return o->val;
  if (option != ':' && option != '?') return option;
  if (optind > 1 && argv[optind - 1][0] == '-') given = argv[optind - 1];
  refuse_option(argv[0], given, option == ':', options);
  return '?';
}

static bool verbose;

static bool parse_simd(CliCommon *common) {
  static const char *const widths[] = {"128", "256", "512", NULL};
  const int choice = cli_parse_choice("simd", optarg, widths);
  common->simd_bits = 128 << (choice < 0 ? 0 : choice);
  return choice >= 0;
}

static bool parse_count(const char *option, double most, int *count) {
  double number = 0;
  const bool good = cli_parse_numbers(option, optarg, true, 1, most, 1, &number) == 1;
  *count = (int)number;
  return good;
}

bool cli_parse_common(int option, CliCommon *common) {
  switch (option) {
  case CLI_DEVICE:
    common->device = optarg;
    return true;
  case CLI_THREADS:
    return parse_count("threads", 4096, &common->threads);
  case CLI_RANKS:
    return parse_count("ranks", 65536, &common->ranks);
  case CLI_SIMD:
    return parse_simd(common);
  case CLI_JSON:
    common->json = optarg;
    return true;
  case CLI_VERBOSE:
  case CLI_QUIET:
    common->verbosity = option == CLI_QUIET ? TES_QUIET : TES_VERBOSE;
    return true;
  default:
    return false;
  }
}

TesStatus cli_context_create(const CliCommon *common, TesContext **context) {
  char message[512];
  const TesContextDesc desc = {.device = common->device,
                               .threads = common->threads ? common->threads : cli_ranks_threads(),
                               .communicator = cli_ranks(),
                               .simd_bits = common->simd_bits,
                               .deterministic = common->deterministic,
                               .verbosity = common->verbosity,
                               .log = cli_log};
  const TesStatus status = tes_context_create(&desc, context, message, sizeof message);
  if (status != TES_OK) {
    print_failure(message);
    return status;
  }
  verbose = common->verbosity >= TES_VERBOSE;
  cli_interrupt_begin(*context);
  return TES_OK;
}

void cli_context_destroy(TesContext **context) {
  cli_interrupt_end();
  tes_context_destroy(context);
}

void cli_processor_name(size_t size, char *name) {
  FILE *file = fopen("/proc/cpuinfo", "r");
  char line[512];
  snprintf(name, size, "unknown");
  while (file && fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) || !colon) continue;
    line[strcspn(line, "\n")] = 0;
    snprintf(name, size, "%.*s", (int)size - 1, colon + 2);
    break;
  }
  if (file) fclose(file);
}

static void keep_device(void *user, TesLogLevel level, const char *line) {
  (void)level;
  if (!strncmp(line, "device ", 7)) snprintf(user, CLI_DEVICE_NAME, "%s", line + 7);
}

bool cli_find_gpu(const char *device, char text[CLI_DEVICE_NAME]) {
  TesContext *ctx;
  char name[CLI_DEVICE_NAME];
  snprintf(name, sizeof name, "%s", device);
  const TesContextDesc desc = {
      .device = device, .verbosity = TES_VERBOSE, .log = keep_device, .log_user = name};
  if (tes_context_create(&desc, &ctx, text, CLI_DEVICE_NAME) != TES_OK) return false;
  tes_context_destroy(&ctx);
  snprintf(text, CLI_DEVICE_NAME, "%s", name);
  return true;
}

void cli_describe_machine(const TesContext *context, size_t size, char *text) {
  char processor[128], gpu[CLI_DEVICE_NAME];
  const char *device = tes_context_device(context);
  cli_processor_name(sizeof processor, processor);
  const int threads = tes_context_threads(context);
  if (!strcmp(device, "cpu"))
    snprintf(text, size, "%s, %d thread%s, %d-bit SIMD, Tessera %s", processor, threads,
             threads > 1 ? "s" : "", tes_context_simd_bits(context), tes_version());
  else
    snprintf(text, size, "%s, Tessera %s",
             !strncmp(device, "cuda", 4) && cli_find_gpu(device, gpu) ? gpu : device, tes_version());
}

void cli_print_failure(TesContext *context, TesStatus status, const char *message) {
  if (!message[0]) message = tes_context_message(context);
  print_failure(message[0] ? message : tes_status_text(status));
  if (tes_communicator_rank(cli_ranks()) > 0) return;
  if (verbose || status == TES_INTERNAL) fputs(tes_context_trace(context), stderr);
}

static bool begins_with(const char *text, const char *start) {
  return !strncmp(text, start, strlen(start));
}

/* The place of the longest key in the case that the message begins with; this may be a map that contains the
 * message's key. */
static const char *place_of_key(const TesCase *input, const char *message) {
  const char *where = NULL;
  size_t most = 0;
  for (int i = 0; i < input->keys; i++) {
    const size_t length = strlen(input->key[i].path);
    if (length > most && begins_with(message, input->key[i].path) && strchr(".:", message[length]))
      most = length, where = input->key[i].where;
  }
  return where;
}

/* Whether a message begins with a place: "FILE:LINE: ...", or an option. */
static bool has_place(const TesCase *input, const char *message) {
  const size_t word = strcspn(message, ": ");
  return begins_with(message, "--") || begins_with(message, input->name) ||
         (message[word] == ':' && message[word + 1] >= '0' && message[word + 1] <= '9');
}

void cli_locate(const TesCase *input, const char *message, char *text, size_t size) {
  text[0] = 0;
  if (!input || !message[0]) return;
  const char *where = place_of_key(input, message);
  if (where)
    snprintf(text, size, "%s: %s", where, message);
  else
    snprintf(text, size, "%s%s%s", has_place(input, message) ? "" : input->name,
             has_place(input, message) ? "" : ": ", message);
}

static bool parse_number(const char **text, bool whole, double *number) {
  char *end;
  errno = 0;
  *number = strtod(*text, &end);
  if (whole && end > *text && end[-1] == '.') end--; /* "1..8": strtod takes the first dot */
  if (end == *text || errno || !isfinite(*number) || (whole && *number != floor(*number))) return false;
  *text = end;
  return true;
}

static int expand(double first, double last, bool whole, int most, double *numbers) {
  int count = 0;
  for (double v = first; v < last * (1 - 1e-9) && count < most - 1; v = whole ? v + 1 : v * 4)
    numbers[count++] = v;
  numbers[count++] = last;
  return count;
}

int cli_parse_numbers(const char *option, const char *text, bool whole, double lowest, double highest,
                      int most, double *numbers) {
  const char *at = text;
  int count = 0;
  bool good = true;
  while (good && count < most) {
    double first, last;
    good = parse_number(&at, whole, &first);
    if (!good) break;
    last = first;
    if (!strncmp(at, "..", 2)) {
      at += 2;
      good = parse_number(&at, whole, &last) && last >= first;
    }
    good = good && first >= lowest && last <= highest;
    if (good)
      count += first == last ? (numbers[count] = first, 1)
                             : expand(first, last, whole, most - count, numbers + count);
    if (*at != ',') break;
    at++;
  }
  if (good && *at == 0 && count > 0) return count;
  if (most == 1)
    cli_usage_error("--%s %s: expected a %s from %g to %g", option, text, whole ? "whole number" : "number",
                    lowest, highest);
  else
    cli_usage_error("--%s %s: expected %s from %g to %g, as 'A', 'A,B,C' or 'A..B'", option, text,
                    whole ? "whole numbers" : "numbers", lowest, highest);
  return -1;
}

int cli_parse_choice(const char *option, const char *text, const char *const *choices) {
  for (int i = 0; choices[i]; i++)
    if (!strcmp(text, choices[i])) return i;
  char list[1024];
  int length = 0;
  for (int i = 0; choices[i] && length < (int)sizeof list; i++)
    length += snprintf(list + length, sizeof list - (size_t)length, "%s %s",
                       i ? (choices[i + 1] ? "," : " or") : "", choices[i]);
  cli_usage_error("--%s %s: expected%s", option, text, list);
  return -1;
}
