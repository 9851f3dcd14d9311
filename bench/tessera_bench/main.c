/* The program that `tessera bench` starts: options, dispatch, output files. argv[0] is "bench". */
#include "bench.h"
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

typedef struct Bench {
  const char *name;
  TesStatus (*run)(TesContext *ctx, const BenchOptions *options, BenchResult *result);
  int degrees; /* 1 .. */
} Bench;
static const Bench benches[] = {{"operator", bench_operator, 20},
                                {"smoother", bench_smoother, 20},
                                {"cycle", bench_cycle, 20},
                                {"solver", bench_solver, 20},
                                {"bp", bench_bp, 15},
                                {"adaptive", bench_adaptive, 8},
                                {"kershaw", bench_kershaw, 20},
                                {"stokes", bench_stokes, 15},
                                {"stokes-tables", bench_stokes_tables, 15},
                                {"applications", bench_applications, 20},
                                {"patch-tables", bench_patch_tables, 10},
                                {"patch-figures", bench_patch_figures, 8},
                                {"scaling", bench_scaling, 1}};

/* Rows of options[]. */
enum {
  DIM,
  DEGREE,
  DOFS,
  PRECISION,
  COEFFICIENT,
  SMOOTHER,
  VARIANT,
  METHOD,
  TOLERANCE,
  BP,
  FORM,
  GEOMETRY,
  ASSEMBLED,
  NUMBERING,
  POINTS,
  LAMBDA,
  CELLS,
  CONJUGATE_GRADIENTS,
  CG_TOLERANCE,
  RIGHT_HAND_SIDE,
  PENALTY,
  PRE,
  POST,
  ALPHA,
  ASPECT,
  ELEMENT,
  DRAW,
  LEVEL,
  TABLE,
  MESH,
  FIGURE,
  WITH,
  SECONDS,
  CLOCK,
  CSV,
  PLOT,
  OPTIONS
};

/* An option. `read` stores its text (optarg) in BenchOptions at the offset `target`, and the length of a list at
 * `count`. Numbers are from lowest to highest; `words` are the allowed words, NULL ends them. Benches: those that
 * have the option; NULL: all. */
typedef struct Option {
  const char *name, *benches;
  bool (*read)(const struct Option *option, BenchOptions *o);
  size_t target, count;
  double lowest, highest;
  int most;
  const char *const *words;
} Option;

/* ---- readers ------------------------------------------------------------------------------------------- */

static void *target_of(const Option *option, BenchOptions *o) {
  return (char *)o + option->target;
}

static bool read_numbers(const Option *p, BenchOptions *o) {
  int *const count = (int *)((char *)o + p->count);
  *count = cli_parse_numbers(p->name, optarg, false, p->lowest, p->highest, p->most, target_of(p, o));
  return *count > 0;
}

static bool read_counts(const Option *p, BenchOptions *o) {
  int *const count = (int *)((char *)o + p->count);
  *count = cli_parse_numbers(p->name, optarg, true, p->lowest, p->highest, p->most, target_of(p, o));
  return *count > 0;
}

/* Integers, as int. */
static bool read_integers(const Option *p, BenchOptions *o) {
  double numbers[BENCH_LIST];
  int *const count = (int *)((char *)o + p->count), *const list = target_of(p, o);
  *count = cli_parse_numbers(p->name, optarg, true, p->lowest, p->highest, p->most, numbers);
  for (int i = 0; i < *count; i++) list[i] = (int)numbers[i];
  return *count > 0;
}

static bool read_number(const Option *p, BenchOptions *o) {
  return cli_parse_numbers(p->name, optarg, false, p->lowest, p->highest, 1, target_of(p, o)) == 1;
}

static bool read_integer(const Option *p, BenchOptions *o) {
  double number;
  if (cli_parse_numbers(p->name, optarg, true, p->lowest, p->highest, 1, &number) != 1) return false;
  *(int *)target_of(p, o) = (int)number;
  return true;
}

/* Smoothing steps; no steps are 0 here and -1 in BenchOptions. */
static bool read_steps(const Option *p, BenchOptions *o) {
  int *const steps = target_of(p, o);
  if (!read_integer(p, o)) return false;
  if (*steps == 0) *steps = -1;
  return true;
}

/* The position of the word, for an enumeration in this order. */
static bool read_choice(const Option *p, BenchOptions *o) {
  const int choice = cli_parse_choice(p->name, optarg, p->words);
  if (choice >= 0) *(int *)target_of(p, o) = choice;
  return choice >= 0;
}

/* Whether the text is the second of two words. */
static bool read_second(const Option *p, BenchOptions *o) {
  const int choice = cli_parse_choice(p->name, optarg, p->words);
  *(bool *)target_of(p, o) = choice == 1;
  return choice >= 0;
}

static bool read_word(const Option *p, BenchOptions *o) {
  const int choice = cli_parse_choice(p->name, optarg, p->words);
  if (choice >= 0) *(const char **)target_of(p, o) = p->words[choice];
  return choice >= 0;
}

/* Words that are numbers. */
static bool read_numeral(const Option *p, BenchOptions *o) {
  const int choice = cli_parse_choice(p->name, optarg, p->words);
  if (choice >= 0) *(int *)target_of(p, o) = atoi(p->words[choice]);
  return choice >= 0;
}

static bool read_text(const Option *p, BenchOptions *o) {
  *(const char **)target_of(p, o) = optarg;
  return true;
}

static bool read_precision(const Option *p, BenchOptions *o) {
  const int choice = cli_parse_choice(p->name, optarg, p->words);
  o->double_precision = choice == 0 || choice == 3;
  o->single_precision = choice == 1 || choice == 3;
  o->mixed = choice == 2 || choice == 3;
  return choice >= 0;
}

/* TesFactors, and curved cells. */
static bool read_geometry(const Option *p, BenchOptions *o) {
  const int choice = cli_parse_choice(p->name, optarg, p->words);
  o->curved = choice == 7;
  o->geometry = choice == 7 ? TES_FACTORS_STORED : (TesFactors)choice;
  return choice >= 0;
}

static bool read_clock(const Option *p, BenchOptions *o) {
  const int choice = cli_parse_choice(p->name, optarg, p->words);
  (void)o;
  if (choice == 1) bench_use_processor_clock();
  return choice >= 0;
}

/* ---- the options --------------------------------------------------------------------------------------- */

/* In the order of BenchDrawn, TesSmootherKind, TesMethod, TesPenalty, TesNumberingOrder. */
static const char *const drawn[] = {"time",   "errors",    "operator", "iterations",
                                    "memory", "registers", "roofline", NULL};
static const char *const smoothers[] = {
    "auto",       "patch",      "patch_additive",      "jacobi", "chebyshev", "gauss_seidel",
    "cell_patch", "line_patch", "gauss_seidel_morton", NULL};
static const char *const methods[] = {"auto", "vcycle", "fmg", "gmres", "cg", NULL};
static const char *const penalties[] = {"auto", "standard", "paper", NULL};
static const char *const numberings[] = {"cells", "lexicographic", "shuffled", NULL};

static const char *const precisions[] = {"double", "single", "mixed", "all", NULL};
static const char *const coefficients[] = {"constant", "variable", NULL};
static const char *const forms[] = {"global", "element", NULL};
static const char *const geometries[] = {"auto",    "stored", "vertices", "affine", "matrix",
                                         "weights", "halves", "curved",   NULL};
static const char *const sides[] = {"manufactured", "random", NULL};
static const char *const elements[] = {"q", "dg", NULL};
static const char *const switches[] = {"on", "off", NULL};
static const char *const meshes[] = {"face", "edge", "vertex", "uniform", "shells", NULL};
static const char *const figures[] = {"3",  "5",  "7",  "8",  "9",  "10", "11", "12",
                                      "15", "16", "17", "18", "19", "20", NULL};
static const char *const clocks[] = {"wall", "cpu", NULL};

#define AT(field) offsetof(BenchOptions, field)
#define LIST(field, number) AT(field), AT(number)
static const Option options[OPTIONS] = {
    [DIM] = {"dim", "operator smoother solver cycle bp adaptive stokes patch-tables patch-figures",
             read_integers, LIST(dim, dims), 2, 3, 2, NULL},
    [DEGREE] = {"degree",
                "operator smoother solver cycle bp adaptive kershaw stokes patch-tables patch-figures",
                read_integers, LIST(degree, degrees), 1, 20, BENCH_LIST, NULL},
    [DOFS] = {"dofs", "operator smoother solver cycle bp adaptive patch-tables patch-figures scaling",
              read_numbers, LIST(dofs, sizes), 1, 1e11, BENCH_LIST, NULL},
    [PRECISION] = {"precision", "operator smoother solver cycle bp adaptive stokes patch-figures",
                   read_precision, .words = precisions},
    [COEFFICIENT] = {"coefficient", "operator smoother solver cycle", read_second, AT(variable),
                     .words = coefficients},
    [SMOOTHER] = {"smoother", "smoother solver cycle kershaw stokes", read_choice, AT(smoother),
                  .words = smoothers},
    [VARIANT] = {"variant", "smoother bp stokes", read_text, .target = AT(variant)},
    [METHOD] = {"method", "solver kershaw stokes patch-tables patch-figures", read_choice, AT(method),
                .words = methods},
    [TOLERANCE] = {"tolerance", "solver kershaw stokes", read_number, AT(tolerance), 0, 1e-16, 0.999, 1, NULL},
    [BP] = {"bp", "bp", read_integers, LIST(bp, bps), 1, 6, 6, NULL},
    [FORM] = {"form", "bp", read_second, AT(element), .words = forms},
    [GEOMETRY] = {"geometry", "bp adaptive", read_geometry, .words = geometries},
    [ASSEMBLED] = {"assembled", "adaptive", read_second, AT(alone), .words = switches},
    [NUMBERING] = {"numbering", "bp", read_choice, AT(numbering), .words = numberings},
    [POINTS] = {"points", "bp", read_integer, AT(points), 0, 1, 3, 1, NULL},
    [LAMBDA] = {"lambda", "bp", read_number, AT(lambda), 0, 1e-6, 1e6, 1, NULL},
    [CELLS] = {"cells", "bp kershaw stokes applications", read_counts, LIST(cell_counts, cells), 1, 2e9,
               BENCH_LIST, NULL},
    [CONJUGATE_GRADIENTS] = {"cg", "bp", read_integer, AT(cg), 0, 1, 1e6, 1, NULL},
    [CG_TOLERANCE] = {"cg-tolerance", "bp", read_number, AT(cg_tolerance), 0, 1e-16, 0.999, 1, NULL},
    [RIGHT_HAND_SIDE] = {"rhs", "stokes", read_second, AT(random), .words = sides},
    [PENALTY] = {"penalty", "stokes", read_choice, AT(penalty), .words = penalties},
    [PRE] = {"pre", "solver stokes", read_steps, AT(pre), 0, 0, 100, 1, NULL},
    [POST] = {"post", "solver stokes", read_steps, AT(post), 0, 0, 100, 1, NULL},
    [ALPHA] = {"alpha", "stokes", read_number, AT(alpha), 0, 0, 1e12, 1, NULL},
    [ASPECT] = {"aspect", "stokes", read_number, AT(aspect), 0, 1e-3, 1e3, 1, NULL},
    [ELEMENT] = {"element", "solver", read_second, AT(modal), .words = elements},
    [DRAW] = {"draw", "stokes applications bp", read_choice, AT(drawn), .words = drawn},
    [LEVEL] = {"level", "stokes-tables applications patch-tables", read_integers, LIST(level, levels), 1, 12,
               BENCH_LIST, NULL},
    [TABLE] = {"table", "applications patch-tables adaptive", read_integer, AT(paper_table), 0, 1, 7, 1, NULL},
    [MESH] = {"mesh", "applications adaptive", read_word, AT(mesh), .words = meshes},
    [FIGURE] = {"figure", "patch-figures", read_numeral, AT(figure), .words = figures},
    [WITH] = {"with", "bp adaptive stokes applications", read_text, .target = AT(with)},
    [SECONDS] = {"seconds", NULL, read_number, AT(seconds), 0, 0, 1e4, 1, NULL},
    [CLOCK] = {"clock", NULL, read_clock, .words = clocks},
    [CSV] = {"csv", NULL, read_text, .target = AT(csv)},
    [PLOT] = {"plot", NULL, read_text, .target = AT(plot)}};

/* The rows for getopt_long: CLI_OWN_OPTIONS + row, then options of all commands; help is the last. */
enum { HELP = CLI_OWN_OPTIONS + OPTIONS };
static const struct option more_options[] = {CLI_COMMON_OPTIONS, {"help", no_argument, NULL, HELP}, {0}};
enum { MORE = sizeof more_options / sizeof *more_options };

static void list_options(struct option list[OPTIONS + MORE]) {
  for (int i = 0; i < OPTIONS; i++)
    list[i] = (struct option){options[i].name, required_argument, NULL, CLI_OWN_OPTIONS + i};
  memcpy(list + OPTIONS, more_options, sizeof more_options);
}

static bool was_given(uint64_t given, int option) {
  return given >> option & 1;
}

static bool is_of_solves(const BenchOptions *o) {
  return (o->figure >= 10 && o->figure <= 12) || o->figure == 16 || o->figure == 18;
}

/* Checks which options go together in tables and figures of the vertex-patch paper. Returns 0 or an exit status. */
static int check_patch_options(const Bench *bench, const BenchOptions *o, uint64_t given) {
  const bool tables = !strcmp(bench->name, "patch-tables"), figures = !strcmp(bench->name, "patch-figures");
  if (tables && was_given(given, TABLE) && o->paper_table < 5)
    return cli_usage_error("bench patch-tables: --table 5, 6 or 7; 1 to 3 are shown without it");
  if (tables && was_given(given, TABLE) && was_given(given, LEVEL))
    return cli_usage_error("bench patch-tables takes --level or --table, not both");
  if (tables && was_given(given, DOFS) && !was_given(given, TABLE))
    return cli_usage_error("bench patch-tables takes --dofs with --table");
  if (was_given(given, METHOD) && ((tables && o->paper_table != 7) || (figures && !is_of_solves(o))))
    return cli_usage_error("bench %s takes --method with %s", bench->name,
                           tables ? "--table 7" : "--figure 10, 11, 12, 16 or 18");
  if (tables && !was_given(given, LEVEL) && (was_given(given, DIM) || was_given(given, DEGREE)))
    return cli_usage_error("bench patch-tables takes --dim and --degree with --level");
  if (figures && is_of_solves(o) && o->figure != 18 && was_given(given, PRECISION))
    return cli_usage_error("bench patch-figures: figure %d is of mixed precision", o->figure);
  if (figures && !o->figure)
    return cli_usage_error("bench patch-figures needs --figure 3, 5, 7 to 12, or 15 to 20");
  if (figures && (o->figure == 5 || o->figure == 12 || o->figure > 15) && was_given(given, DIM) &&
      (o->dims > 1 || o->dim[0] != 3))
    return cli_usage_error("bench patch-figures: figure %d is of 3D", o->figure);
  return 0;
}

/* The quantities that --plot can draw, and the tables that have them. */
static int check_figure(const char *bench, const BenchOptions *o, uint64_t given) {
  const bool stokes = !strcmp(bench, "stokes"), two = stokes || !strcmp(bench, "bp");
  const char *form = !two ? "" : o->variant ? " --variant" : " without --variant", *has = "time";
  if (o->variant) has = stokes ? "time operator roofline" : "time registers";
  if (stokes && !o->variant) has = "time errors operator iterations";
  if (!strcmp(bench, "applications")) has = "time memory";
  if (o->with && !o->plot)
    return cli_usage_error("--with needs --plot FILE.svg: it adds lines to that figure");
  if (o->seconds == 0 && !o->with)
    return cli_usage_error("--seconds 0 measures nothing: it is for --with FILE --plot FILE.svg");
  if (was_given(given, DRAW) && !bench_has_name(has, drawn[o->drawn]))
    return cli_usage_error("bench %s%s: --draw %s, expected one of: %s", bench, form, drawn[o->drawn], has);
  return 0;
}

/* Names and numbers of the papers' meshes. */
static int check_meshes(const char *bench, const BenchOptions *o, uint64_t given) {
  const bool ball = !strcmp(bench, "adaptive"), cube = o->paper_table == 2 || o->paper_table == 3,
             of_ball = o->mesh && (!strcmp(o->mesh, "uniform") || !strcmp(o->mesh, "shells"));
  if (was_given(given, MESH) && ball != of_ball)
    return cli_usage_error("bench %s: --mesh %s", bench, ball ? "uniform or shells" : "face, edge or vertex");
  if (was_given(given, MESH) && !ball && !cube)
    return cli_usage_error("bench applications: --mesh is for tables 2 and 3");
  if (ball && was_given(given, TABLE) && o->paper_table != 2)
    return cli_usage_error("bench adaptive: --table 2, the sizes of the paper's largest meshes");
  if (ball && was_given(given, TABLE) && was_given(given, DOFS))
    return cli_usage_error("bench adaptive takes --dofs or --table 2, not both");
  return 0;
}

/* Refuses options that a benchmark would ignore, before anything is measured. `given`: one bit per option. Returns 0
 * or an exit status. */
static int check_options(const Bench *bench, const BenchOptions *o, uint64_t given) {
  for (int i = 0; i < OPTIONS; i++)
    if (was_given(given, i) && options[i].benches && !bench_has_name(options[i].benches, bench->name))
      return cli_usage_error("bench %s has no --%s; that is for: %s", bench->name, options[i].name,
                             options[i].benches);
  for (int k = 0; was_given(given, DEGREE) && k < o->degrees; k++)
    if (o->degree[k] > bench->degrees)
      return cli_usage_error("bench %s: degree %d, expected 1 to %d", bench->name, o->degree[k],
                             bench->degrees);
  if (strcmp(bench->name, "solver") != 0 && strcmp(bench->name, "stokes") != 0 && o->figure != 18 &&
      !o->single_precision && !o->double_precision)
    return cli_usage_error("bench %s: --precision double, single or all; mixed is for solver and stokes",
                           bench->name);
  if (!strcmp(bench->name, "adaptive") &&
      (o->geometry == TES_FACTORS_AFFINE || o->geometry == TES_FACTORS_MATRIX))
    return cli_usage_error("bench adaptive: --geometry auto, curved, vertices, stored, weights or halves");
  if (was_given(given, DOFS) && was_given(given, CELLS))
    return cli_usage_error("bench bp takes --dofs or --cells, not both");
  if (o->aspect != 1 && !o->random)
    return cli_usage_error("--aspect needs --rhs random: the manufactured flow is that of the unit square");
  const bool cube = o->paper_table == 2 || o->paper_table == 3;
  if (!strcmp(bench->name, "applications") && was_given(given, o->paper_table == 4 ? LEVEL : CELLS))
    return cli_usage_error("bench applications takes --level with tables 1 to 3 and --cells with table 4");
  for (int l = 0; was_given(given, LEVEL) && l < o->levels; l++)
    if (cube ? o->level[l] > 6 : o->level[l] < 3)
      return cli_usage_error("--level %d, expected %s", o->level[l],
                             cube ? "1 to 6 with tables 2 and 3" : "3 or more");
  if (!strcmp(bench->name, "applications") && o->paper_table > 4)
    return cli_usage_error("bench applications: --table 1, 2, 3 or 4");
  if (was_given(given, CG_TOLERANCE) && !o->cg) return cli_usage_error("--cg-tolerance needs --cg N");
  int refused = check_patch_options(bench, o, given);
  if (!refused) refused = check_meshes(bench->name, o, given);
  return refused ? refused : check_figure(bench->name, o, given);
}

/* Reports files that cannot be written, before any measurement. */
static TesStatus check_outputs(TesContext *ctx, const BenchOptions *o) {
  TesStatus status = TES_OK;
  const char *const paths[] = {o->csv, o->common.json, o->plot};
  for (int i = 0; i < 3; i++) TES_TRY(tes_file_check(ctx, paths[i]));
done:
  return status;
}

/* The comment line of a table of results: command, machine, date. */
static void describe_run(int argc, char **argv, TesContext *ctx, BenchOptions *o) {
  struct utsname machine;
  char date[32];
  const time_t now = time(NULL);
  size_t used = 0;
  strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
  for (int i = 0; i < argc && used < sizeof o->comment; i++)
    used +=
        (size_t)snprintf(o->comment + used, sizeof o->comment - used, "%s ", i ? argv[i] : "tessera bench");
  if (used < sizeof o->comment && uname(&machine) == 0)
    snprintf(o->comment + used, sizeof o->comment - used,
             "| tessera %s%s | %s, %d threads, %d-bit SIMD, %s | %s", tes_version(),
             tes_has_part("quick") ? ", quick build" : "", tes_context_device(ctx), tes_context_threads(ctx),
             tes_context_simd_bits(ctx), machine.machine, date);
  cli_describe_machine(ctx, sizeof o->machine, o->machine);
}

static TesStatus write_results(TesContext *ctx, const BenchOptions *o, const BenchResult *result) {
  TesStatus status = TES_OK;
  CliPlot plot = result->plot;
  const bool measured = result->table.rows > 0;
  if (measured && !plot.subtitle) plot.subtitle = o->machine;
  if (o->csv && measured) TES_TRY(cli_table_write_csv(ctx, &result->table, o->csv));
  if (o->common.json && measured) TES_TRY(cli_table_write_json(ctx, &result->table, o->common.json));
  if (o->plot)
    TES_TRY(o->with ? bench_plot_with(ctx, o, &result->table, &plot)
                    : cli_table_plot(ctx, &result->table, &plot, o->plot));
done:
  return status;
}

/* The existing rows are written even if a later one fails, or Ctrl-C ends the program. */
static int run_bench(const Bench *bench, int argc, char **argv, BenchOptions *o) {
  TesContext *ctx;
  BenchResult result = {0};
  TesStatus status = cli_context_create(&o->common, &ctx);
  if (status != TES_OK) return tes_status_exit(status);
  describe_run(argc, argv, ctx, o);
  status = check_outputs(ctx, o);
  if (status == TES_OK) status = bench->run(ctx, o, &result);
  if (status == TES_INTERRUPTED) status = TES_OK; /* within a row */
  result.table.comment = o->comment;
  if (result.table.rows > 0 || (o->seconds == 0 && status == TES_OK)) {
    const TesStatus written = write_results(ctx, o, &result);
    if (status == TES_OK) status = written;
  }
  if (status != TES_OK) cli_print_failure(ctx, status, "");
  cli_table_end(&result.table);
  tes_context_destroy(&ctx);
  return tes_status_exit(status);
}

static void set_stokes_defaults(uint64_t given, BenchOptions *o) {
  if (!was_given(given, DEGREE)) o->degrees = 4;
  if (!was_given(given, TOLERANCE)) o->tolerance = 1e-8;
  if (!was_given(given, CELLS)) o->cells = 1, o->cell_counts[0] = 16;
}

/* Defaults: the degrees and the tolerance of nekRS's tables. */
static void set_kershaw_defaults(uint64_t given, BenchOptions *o) {
  static const int degrees[] = {3, 5, 7};
  if (!was_given(given, DEGREE)) memcpy(o->degree, degrees, sizeof degrees), o->degrees = 3;
  if (!was_given(given, TOLERANCE)) o->tolerance = 1e-8;
}

/* Defaults: both dimensions if the paper draws both; float64 (also mixed in figure 18, float32 in rooflines). */
static void set_figure_defaults(uint64_t given, BenchOptions *o) {
  const bool sizes = o->figure == 18;
  if (!was_given(given, DIM) && o->figure != 5 && o->figure != 12 && o->figure < 16)
    o->dims = 2, o->dim[0] = 2, o->dim[1] = 3;
  if (!was_given(given, PRECISION)) o->single_precision = o->figure > 18, o->mixed = sizes;
  if (!was_given(given, DEGREE) && (o->figure == 7 || o->figure == 8)) o->degrees = 4;
  if (!was_given(given, DEGREE) && sizes) o->degrees = 1, o->degree[0] = 7;
}

/* Defaults of applications, by table. */
static void set_levels(BenchOptions *o) {
  const int first = o->paper_table == 1   ? 4
                    : o->paper_table == 2 ? 1
                                          : 2,
            last = o->paper_table == 1   ? 10
                   : o->paper_table == 2 ? 6
                                         : 4;
  o->levels = 0;
  for (int level = first; level <= last; level++) o->level[o->levels++] = level;
}

static int print_help(void) {
  bool good = true;
  for (int i = 0; bench_help[i]; i++) good = good && fputs(bench_help[i], stdout) >= 0;
  return !good;
}

static int measure(int argc, char **argv) {
  BenchOptions o = {.dim = {3},
                    .dims = 1,
                    .degree = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                    .degrees = 8,
                    .dofs = {4e6},
                    .sizes = 1,
                    .single_precision = true,
                    .double_precision = true,
                    .mixed = true,
                    .tolerance = 1e-9,
                    .seconds = 0.5,
                    .bp = {1, 3, 5},
                    .bps = 3,
                    .numbering = TES_NUMBER_LEXICOGRAPHIC,
                    .aspect = 1,
                    .paper_table = 1,
                    .level = {3, 4, 5, 6},
                    .levels = 4};
  struct option list[OPTIONS + MORE];
  uint64_t given = 0;
  list_options(list);
  for (int option; (option = cli_next_option(argc, argv, list)) != -1;) {
    const int row = option - CLI_OWN_OPTIONS;
    if (option == HELP) return print_help();
    if (!(row < 0 ? cli_parse_common(option, &o.common) : options[row].read(&options[row], &o)))
      return tes_status_exit(TES_INVALID_INPUT);
    if (row >= 0) given |= UINT64_C(1) << row;
  }
  if (optind + 1 != argc)
    return cli_usage_error(
        "bench takes one name: operator, smoother, cycle, solver, bp, adaptive, kershaw, stokes, "
        "stokes-tables, applications, patch-tables or patch-figures "
        "(tessera bench --help)");
  o.name = argv[optind];
  if (!strcmp(o.name, "kershaw")) set_kershaw_defaults(given, &o);
  if (!strcmp(o.name, "stokes")) set_stokes_defaults(given, &o);
  if (o.paper_table == 4 && !was_given(given, CELLS)) o.cells = 1, o.cell_counts[0] = 32;
  if (strcmp(o.name, "applications") && !was_given(given, TABLE)) o.paper_table = 0;
  if (!strcmp(o.name, "applications") && !was_given(given, LEVEL)) set_levels(&o);
  if (!strcmp(o.name, "patch-tables") && !was_given(given, DEGREE)) o.degrees = 10;
  if (!strcmp(o.name, "patch-tables") && !was_given(given, LEVEL)) o.levels = 0;
  if (!strcmp(o.name, "patch-tables") && !was_given(given, TABLE)) o.paper_table = 0;
  if (!strcmp(o.name, "patch-tables") && !was_given(given, DOFS)) o.sizes = 0;
  if (!strcmp(o.name, "patch-figures")) set_figure_defaults(given, &o);
  if (!was_given(given, METHOD) && (is_of_solves(&o) || o.paper_table == 7)) o.method = TES_METHOD_GMRES;
  if (o.seconds == 0 || (o.csv && !strcmp(o.csv, "-")) || (o.common.json && !strcmp(o.common.json, "-")))
    o.common.verbosity = TES_QUIET; /* nothing else on the standard output, or nothing at all */
  for (size_t i = 0; i < sizeof benches / sizeof *benches; i++)
    if (!strcmp(o.name, benches[i].name)) {
      const int refused = check_options(&benches[i], &o, given);
      return refused ? refused : run_bench(&benches[i], argc, argv, &o);
    }
  return cli_usage_error(
      "there is no benchmark '%s'; expected operator, smoother, cycle, solver, bp, adaptive, kershaw, "
      "stokes, stokes-tables, applications, patch-tables or patch-figures",
      o.name);
}

int main(int argc, char **argv) {
  cli_begin(argv);
  return cli_end(measure(argc, argv));
}
