/* tessera study: a case, solved for lists of values of one or two keys; a table of sizes, errors, orders and times. */
#include "study.h"
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const char help[] =
    "usage: tessera study CASE.yaml --over KEY=a,b,.. [OPTION]...\n\n"
    "Solves a case for each of these values (mesh.refine=0..3: whole numbers) and prints a row each: "
    "unknowns, "
    "iterations, errors and values of\noutput.values with their orders, limits and times. With two --over "
    "all "
    "pairs are solved.\n\n"
    "  --over KEY=a,b,..      values of a key; at most twice, the last one varies fastest\n"
    "  --set key.path=value   replaces or adds a value of the case; repeatable\n"
    "  --csv FILE             writes the table, to the standard output for '-'\n"
    "  --json FILE            the same as JSON\n"
    "  --plot FILE.svg        draws errors, and values by their distance to their limit, over the unknowns\n"
    "                         or over the steps in time; FILE.pdf: as PDF\n"
    "  --exact NAME=x,..      what values go to, in the place of extrapolated limits\n"
    "  --draw NAME[,NAME]     what is drawn: columns; solve_s: the time       (errors, or values)\n"
    "  --device D --threads N --ranks N --simd BITS --deterministic\n"
    "  --verbose | --quiet    more, or nothing but errors\n"
    "  --help                 this text\n\n"
    "An order is that of an error, or of the differences of a value, in the length of the cells or, where "
    "the cells "
    "stay, in the step in time.\nThe files of the case (output.vtu and the like) are not written.\n";

enum { SET = CLI_OWN_OPTIONS, OVER, CSV, PLOT, DRAW, EXACT, DETERMINISTIC, HELP };

static const struct option long_options[] = {{"set", required_argument, NULL, SET},
                                             {"over", required_argument, NULL, OVER},
                                             CLI_COMMON_OPTIONS,
                                             {"ranks", required_argument, NULL, CLI_RANKS},
                                             {"csv", required_argument, NULL, CSV},
                                             {"plot", required_argument, NULL, PLOT},
                                             {"draw", required_argument, NULL, DRAW},
                                             {"exact", required_argument, NULL, EXACT},
                                             {"deterministic", no_argument, NULL, DETERMINISTIC},
                                             {"help", no_argument, NULL, HELP},
                                             {0}};

/* Refuses files of single solves: each solve would overwrite the files of the previous one. */
static const char *const no_files[STUDY_OUTPUTS] = {
    "output.vtu=null",        "output.vtkhdf=null", "output.png=null",   "output.series=null",
    "output.checkpoint=null", "output.json=null",   "output.lines=null", "output.points=null",
    "output.folder=null",     "output.plot=null",   "output.film=null"};

/* ---- options ------------------------------------------------------------------------------------------- */

/* The comma that ends a value: commas within brackets or quotes do not. */
static char *end_of_value(char *at) {
  int depth = 0;
  char quote = 0;
  for (; *at; at++) {
    if (quote)
      quote = *at == quote ? 0 : quote;
    else if (*at == '"' || *at == '\'')
      quote = *at;
    else if (strchr("([{", *at))
      depth++;
    else if (strchr(")]}", *at))
      depth--;
    else if (*at == ',' && depth == 0)
      break;
  }
  return at;
}

/* A text "0..3" is replaced by its numbers. */
static char *written_out(const char *text) {
  const char *values = strchr(text, '=') + 1;
  int first, last, end = 0;
  char *copy = malloc(strlen(text) + 16 * STUDY_VALUES);
  if (!copy) return NULL;
  strcpy(copy, text);
  if (sscanf(values, "%d..%d%n", &first, &last, &end) != 2 || values[end] || last < first ||
      last - first >= STUDY_VALUES)
    return copy;
  char *at = copy + (values - text);
  for (int i = first; i <= last; i++) at += sprintf(at, "%s%d", i > first ? "," : "", i);
  return copy;
}

bool study_parse_key(Study *study, const char *text) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1]) {
    cli_usage_error("--over %s: expected KEY=a,b,.., e.g. --over mesh.refine=0,1,2", text);
    return false;
  }
  if (study->keys == STUDY_KEYS) {
    cli_usage_error("more than %d --over", STUDY_KEYS);
    return false;
  }
  StudyKey *key = &study->key[study->keys++];
  *key = (StudyKey){.text = written_out(text)};
  if (!key->text) return false;
  char *at = key->text + (equals - text);
  *at++ = 0;
  for (;; at++) {
    char *end = end_of_value(at);
    const bool more = *end == ',';
    if (key->values == STUDY_VALUES || end == at) {
      cli_usage_error("--over %s: %s", text, end == at ? "a value is empty" : "more than 64 values");
      return false;
    }
    *end = 0;
    key->value[key->values++] = at;
    at = end;
    if (!more) return true;
  }
}

/* The next entry of "NAME=NUMBER,.."; *at <- the text after it. False: there is none, or it is wrong. */
static bool next_exact(const char **at, const char **name, int *length, double *number) {
  char *end;
  *name = *at, *length = (int)strcspn(*at, "=,");
  if (*length == 0 || (*at)[*length] != '=') return false;
  *number = strtod(*at + *length + 1, &end);
  if (end == *at + *length + 1 || (*end && *end != ',') || !isfinite(*number)) return false;
  *at = end + (*end == ',');
  return true;
}

static bool check_exact(const char *text) {
  const char *at = text, *name;
  int length;
  double number;
  while (*at && next_exact(&at, &name, &length, &number)) continue;
  if (*at) cli_usage_error("--exact %s: expected NAME=NUMBER,.., e.g. --exact drag=5.5795", text);
  return !*at;
}

double study_exact(const Study *study, const char *wanted) {
  const char *at = study->exact ? study->exact : "", *name;
  int length;
  double number;
  while (*at && next_exact(&at, &name, &length, &number))
    if ((int)strlen(wanted) == length && !strncmp(wanted, name, (size_t)length)) return number;
  return NAN;
}

static bool parse_option(int option, Study *study) {
  SolveOptions *o = &study->solve;
  switch (option) {
  case SET:
    if (o->override_count == SOLVE_OVERRIDES - STUDY_OUTPUTS - STUDY_KEYS) {
      cli_usage_error("more than %d --set", SOLVE_OVERRIDES - STUDY_OUTPUTS - STUDY_KEYS);
      return false;
    }
    o->overrides[o->override_count++] = optarg;
    return true;
  case OVER:
    return study_parse_key(study, optarg);
  case CSV:
    study->csv = optarg;
    return true;
  case PLOT:
    study->plot = optarg;
    return true;
  case DRAW:
    study->draw = optarg;
    return true;
  case EXACT:
    study->exact = optarg;
    return check_exact(optarg);
  case DETERMINISTIC:
    o->common.deterministic = 1;
    return true;
  default:
    return cli_parse_common(option, &o->common);
  }
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void keep_row(void *user, const Solve *s) {
  study_keep(user, s);
}

/* Appends the "KEY=value" of a row to all other overrides; `text` stores it. */
static void set_row(const Study *study, int row, char *text[STUDY_KEYS], SolveOptions *o) {
  *o = study->solve;
  if (o->common.verbosity == TES_NORMAL) o->common.verbosity = TES_QUIET;
  for (int i = 0; i < STUDY_OUTPUTS; i++) o->overrides[o->override_count++] = no_files[i];
  for (int k = 0; k < study->keys; k++) {
    sprintf(text[k], "%s=%s", study->key[k].text, study->key[k].value[study_position(study, row, k)]);
    o->overrides[o->override_count++] = text[k];
  }
}

/* Calls a function for all rows, until one call fails. */
static TesStatus for_rows(TesContext *ctx, Study *study,
                          TesStatus (*call)(TesContext *ctx, Study *study, const SolveOptions *o)) {
  TesStatus status = TES_OK;
  char *text[STUDY_KEYS] = {NULL};
  SolveOptions *o = malloc(sizeof *o);
  bool good = o != NULL;
  for (int k = 0; k < study->keys && good; k++) {
    size_t longest = 0;
    for (int i = 0; i < study->key[k].values; i++)
      longest = strlen(study->key[k].value[i]) > longest ? strlen(study->key[k].value[i]) : longest;
    text[k] = malloc(strlen(study->key[k].text) + longest + 2);
    good = text[k] != NULL;
  }
  if (!good) status = TES_OUT_OF_MEMORY;
  for (study->row = 0; study->row < study->rows && status == TES_OK; study->row++) {
    set_row(study, study->row, text, o);
    status = call(ctx, study, o);
  }
  for (int k = 0; k < STUDY_KEYS; k++) free(text[k]);
  free(o);
  return status;
}

static TesStatus check_files(TesContext *ctx, const Study *study) {
  const char *const path[] = {study->csv, study->json, study->plot};
  TesStatus status = TES_OK;
  for (int i = 0; i < 3 && status == TES_OK; i++) status = tes_file_check(ctx, path[i]);
  if (status != TES_OK) cli_print_failure(ctx, status, "");
  return status;
}

/* Reads all cases before the first one is solved. */
static TesStatus check_row(TesContext *ctx, Study *study, const SolveOptions *o) {
  const char *const path[SOLVE_TABLES] = {study->csv, study->json, study->plot};
  char refusal[1024];
  TesCase *input = NULL;
  TesStatus status = tes_case_read(ctx, o->path, o->override_count, o->overrides, &input);
  if (status != TES_OK) {
    cli_print_failure(ctx, status, "");
  } else if (solve_refuses_tables(o, input, path, refusal, sizeof refusal)) {
    status = TES_INVALID_INPUT;
    cli_usage_error("%s", refusal);
  } else if (!study_add_measures(study, input)) {
    status = TES_OUT_OF_MEMORY;
  }
  tes_case_destroy(&input);
  return status;
}

static TesStatus check_rows(TesContext *ctx, Study *study) {
  TesStatus status = check_files(ctx, study);
  if (status == TES_OK) status = for_rows(ctx, study, check_row);
  if (status != TES_OK) return status;
  return study_knows(study, "--draw", study->draw, true) && study_knows(study, "--exact", study->exact, false)
             ? TES_OK
             : TES_INVALID_INPUT;
}

static TesStatus solve_row(TesContext *ctx, Study *study, const SolveOptions *o) {
  char line[256];
  snprintf(line, sizeof line, "row %d of %d", study->row + 1, study->rows);
  if (study->solve.common.verbosity >= TES_NORMAL) cli_progress(line);
  const TesStatus status = solve_run(ctx, o);
  cli_progress_end();
  return study->status != TES_OK ? study->status : tes_status_exit(status) > 1 ? status : TES_OK;
}

/* ---- the command --------------------------------------------------------------------------------------- */

static void describe(int argc, char **argv, TesContext *ctx, Study *study) {
  char date[32];
  const time_t now = time(NULL);
  size_t used = 0;
  strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
  cli_describe_machine(ctx, sizeof study->machine, study->machine);
  for (int i = 0; i < argc && used < sizeof study->comment; i++)
    used += (size_t)snprintf(study->comment + used, sizeof study->comment - used, "%s ",
                             i ? argv[i] : "tessera study");
  if (used < sizeof study->comment)
    snprintf(study->comment + used, sizeof study->comment - used, "| %s | %s", study->machine, date);
  study->table.comment = study->comment;
}

/* The existing rows are written even if a later row failed. */
static TesStatus write_files(TesContext *ctx, const Study *study) {
  TesStatus status = TES_OK;
  if (study->table.rows == 0) return TES_OK;
  if (study->csv) status = cli_table_write_csv(ctx, &study->table, study->csv);
  if (status == TES_OK && study->json) status = cli_table_write_json(ctx, &study->table, study->json);
  if (status == TES_OK && study->plot) status = study_plot(ctx, study);
  return status;
}

/* 1 if a solve did not converge. */
static int exit_of(const Study *study, TesStatus status) {
  if (status != TES_OK) return tes_status_exit(status);
  for (int r = 0; r < study->table.rows; r++)
    if (strcmp(study->result[r].status, tes_status_name(TES_OK)) != 0) return 1;
  return 0;
}

static int run(int argc, char **argv, Study *study) {
  TesContext *ctx;
  CliCommon quiet = study->solve.common;
  if (quiet.verbosity == TES_NORMAL) quiet.verbosity = TES_QUIET;
  TesStatus status = cli_context_create(&quiet, &ctx);
  if (status != TES_OK) return tes_status_exit(status);
  study->rows = study->key[0].values * (study->keys > 1 ? study->key[1].values : 1);
  study->result = calloc((size_t)study->rows, sizeof *study->result);
  study->solve.ended = keep_row, study->solve.user = study;
  if (!study->result) status = TES_OUT_OF_MEMORY;
  if (status == TES_OK) status = check_rows(ctx, study);
  if (status == TES_OK) status = for_rows(ctx, study, solve_row);
  cli_table_print_rest(&study->table);
  describe(argc, argv, ctx, study);
  const TesStatus written = write_files(ctx, study);
  cli_context_destroy(&ctx);
  return exit_of(study, status == TES_OK ? written : status);
}

static int refuse(const Study *study, int argc) {
  if (optind + 1 != argc) return cli_usage_error("study takes one case file (tessera study --help)");
  if (!study->keys) return cli_usage_error("study needs --over KEY=a,b,.., e.g. --over mesh.refine=0,1,2");
  if (!strcmp(study->solve.path, "-"))
    return cli_usage_error("study reads its case from a file, not from '-'");
  const char *dot = study->plot ? strrchr(study->plot, '.') : NULL;
  if (dot && (!strcasecmp(dot, ".png") || !strcasecmp(dot, ".jpg") || !strcasecmp(dot, ".eps")))
    return cli_usage_error("--plot %s: figures are SVG or PDF: call it %.*s.svg or %.*s.pdf", study->plot,
                           (int)(dot - study->plot), study->plot, (int)(dot - study->plot), study->plot);
  if (study->draw && !study->plot) return cli_usage_error("--draw needs --plot FILE.svg");
  if (study->exact && !study->plot) return cli_usage_error("--exact needs --plot FILE.svg");
  return 0;
}

int cli_study(int argc, char **argv) {
  Study *study = calloc(1, sizeof *study);
  int status = 0;
  if (!study) return tes_status_exit(TES_OUT_OF_MEMORY);
  for (int option; !status && (option = cli_next_option(argc, argv, long_options)) != -1;) {
    if (option == HELP) {
      free(study);
      return fputs(help, stdout) < 0;
    }
    if (!parse_option(option, study)) status = tes_status_exit(TES_INVALID_INPUT);
  }
  if (!status) {
    study->solve.path = optind < argc ? argv[optind] : "-";
    study->json = study->solve.common.json;
    study->solve.common.json = NULL;
    if ((study->csv && !strcmp(study->csv, "-")) || (study->json && !strcmp(study->json, "-")))
      study->solve.common.verbosity = TES_QUIET; /* the standard output has nothing else */
    status = refuse(study, argc);
  }
  if (!status) status = cli_ranks_launch(&study->solve.common);
  if (!status) status = run(argc, argv, study);
  study_free(study);
  free(study);
  return status;
}
