/* What `tessera bench` starts: options, dispatch, output files. argv[0] is "bench". */
#include "bench.h"
#include <getopt.h>
#include <stdio.h>
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
                                {"stokes", bench_stokes, 15},
                                {"stokes-tables", bench_stokes_tables, 15},
                                {"applications", bench_applications, 20},
                                {"patch-tables", bench_patch_tables, 10},
                                {"patch-figures", bench_patch_figures, 8}};

enum {
  DIM = CLI_OWN_OPTIONS,
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
  HELP
};

static const struct option long_options[] = {{"dim", required_argument, NULL, DIM},
                                             {"degree", required_argument, NULL, DEGREE},
                                             {"dofs", required_argument, NULL, DOFS},
                                             {"precision", required_argument, NULL, PRECISION},
                                             {"coefficient", required_argument, NULL, COEFFICIENT},
                                             {"smoother", required_argument, NULL, SMOOTHER},
                                             {"variant", required_argument, NULL, VARIANT},
                                             {"method", required_argument, NULL, METHOD},
                                             {"tolerance", required_argument, NULL, TOLERANCE},
                                             {"bp", required_argument, NULL, BP},
                                             {"form", required_argument, NULL, FORM},
                                             {"geometry", required_argument, NULL, GEOMETRY},
                                             {"assembled", required_argument, NULL, ASSEMBLED},
                                             {"numbering", required_argument, NULL, NUMBERING},
                                             {"points", required_argument, NULL, POINTS},
                                             {"lambda", required_argument, NULL, LAMBDA},
                                             {"cells", required_argument, NULL, CELLS},
                                             {"cg", required_argument, NULL, CONJUGATE_GRADIENTS},
                                             {"cg-tolerance", required_argument, NULL, CG_TOLERANCE},
                                             {"rhs", required_argument, NULL, RIGHT_HAND_SIDE},
                                             {"penalty", required_argument, NULL, PENALTY},
                                             {"pre", required_argument, NULL, PRE},
                                             {"post", required_argument, NULL, POST},
                                             {"alpha", required_argument, NULL, ALPHA},
                                             {"aspect", required_argument, NULL, ASPECT},
                                             {"element", required_argument, NULL, ELEMENT},
                                             {"draw", required_argument, NULL, DRAW},
                                             {"level", required_argument, NULL, LEVEL},
                                             {"table", required_argument, NULL, TABLE},
                                             {"mesh", required_argument, NULL, MESH},
                                             {"figure", required_argument, NULL, FIGURE},
                                             {"with", required_argument, NULL, WITH},
                                             {"seconds", required_argument, NULL, SECONDS},
                                             {"clock", required_argument, NULL, CLOCK},
                                             CLI_COMMON_OPTIONS,
                                             {"csv", required_argument, NULL, CSV},
                                             {"plot", required_argument, NULL, PLOT},
                                             {"help", no_argument, NULL, HELP},
                                             {0}};

static int whole_list(const char *option, const char *text, int lowest, int highest, int most, int *list) {
  double numbers[BENCH_LIST];
  const int count = cli_parse_numbers(option, text, true, lowest, highest, most, numbers);
  for (int i = 0; i < count; i++) list[i] = (int)numbers[i];
  return count;
}

static bool one_number(const char *option, double lowest, double highest, double *value) {
  return cli_parse_numbers(option, optarg, false, lowest, highest, 1, value) == 1;
}

static bool parse_precision(BenchOptions *o) {
  static const char *const names[] = {"double", "single", "mixed", "all", NULL};
  const int choice = cli_parse_choice("precision", optarg, names);
  o->double_precision = choice == 0 || choice == 3;
  o->single_precision = choice == 1 || choice == 3;
  o->mixed = choice == 2 || choice == 3;
  return choice >= 0;
}

/* The options of bp alone. */
static bool parse_bp(int option, BenchOptions *o) {
  static const char *const forms[] = {"global", "element", NULL};
  static const char *const geometries[] = {"auto",   "stored",  "vertices", "affine",
                                           "matrix", "weights", "curved",   NULL};
  static const char *const orders[] = {"cells", "lexicographic", "shuffled", NULL};
  double number;
  int choice;
  switch (option) {
  case BP:
    return (o->bps = whole_list("bp", optarg, 1, 6, 6, o->bp)) > 0;
  case FORM:
    choice = cli_parse_choice("form", optarg, forms);
    o->element = choice == 1;
    return choice >= 0;
  case GEOMETRY:
    choice = cli_parse_choice("geometry", optarg, geometries);
    o->curved = choice == 6;
    o->geometry = choice == 6 ? TES_FACTORS_STORED : (TesFactors)choice;
    return choice >= 0;
  case NUMBERING:
    choice = cli_parse_choice("numbering", optarg, orders);
    o->numbering = (TesNumberingOrder)choice;
    return choice >= 0;
  case POINTS:
    if (!one_number("points", 1, 3, &number)) return false;
    o->points = (int)number;
    return true;
  case LAMBDA:
    return one_number("lambda", 1e-6, 1e6, &o->lambda);
  case CELLS:
    return (o->cells = cli_parse_numbers("cells", optarg, true, 1, 2e9, BENCH_LIST, o->cell_counts)) > 0;
  case CG_TOLERANCE:
    return one_number("cg-tolerance", 1e-16, 0.999, &o->cg_tolerance);
  default:
    if (!one_number("cg", 1, 1e6, &number)) return false;
    o->cg = (int)number;
    return true;
  }
}

/* Smoothing steps: 0 is none. */
static bool parse_steps(const char *option, int *steps) {
  double number;
  if (cli_parse_numbers(option, optarg, true, 0, 100, 1, &number) != 1) return false;
  *steps = number > 0 ? (int)number : -1;
  return true;
}

/* In the order of BenchDrawn. */
static const char *const drawn[] = {"time",   "errors",    "operator", "iterations",
                                    "memory", "registers", "roofline", NULL};

/* The options of stokes, of applications and of the papers' tables and figures. */
static bool parse_stokes(int option, BenchOptions *o) {
  static const char *const sides[] = {"manufactured", "random", NULL};
  static const char *const penalties[] = {"auto", "standard", "paper", NULL};
  static const char *const tables[] = {"1", "2", "3", "4", "5", "6", "7", NULL};
  static const char *const meshes[] = {"face", "edge", "vertex", "uniform", "shells", NULL};
  static const char *const figures[] = {"3",  "5",  "7",  "8",  "9",  "10", "11", "12",
                                        "15", "16", "17", "18", "19", "20", NULL};
  static const int figure[] = {3, 5, 7, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19, 20};
  int choice;
  switch (option) {
  case RIGHT_HAND_SIDE:
    choice = cli_parse_choice("rhs", optarg, sides);
    o->random = choice == 1;
    return choice >= 0;
  case PENALTY:
    choice = cli_parse_choice("penalty", optarg, penalties);
    o->penalty = (TesPenalty)choice;
    return choice >= 0;
  case PRE:
    return parse_steps("pre", &o->pre);
  case POST:
    return parse_steps("post", &o->post);
  case ALPHA:
    return one_number("alpha", 0, 1e12, &o->alpha);
  case ASPECT:
    return one_number("aspect", 1e-3, 1e3, &o->aspect);
  case LEVEL:
    return (o->levels = whole_list("level", optarg, 1, 12, BENCH_LIST, o->level)) > 0;
  case TABLE:
    choice = cli_parse_choice("table", optarg, tables);
    o->paper_table = choice + 1;
    return choice >= 0;
  case FIGURE:
    choice = cli_parse_choice("figure", optarg, figures);
    o->figure = choice >= 0 ? figure[choice] : 0;
    return choice >= 0;
  case MESH:
    choice = cli_parse_choice("mesh", optarg, meshes);
    o->mesh = choice >= 0 ? meshes[choice] : NULL;
    return choice >= 0;
  default:
    choice = cli_parse_choice("draw", optarg, drawn);
    o->drawn = (BenchDrawn)choice;
    return choice >= 0;
  }
}

static bool parse_option(int option, BenchOptions *o) {
  static const char *const coefficients[] = {"constant", "variable", NULL};
  static const char *const smoothers[] = {
      "auto",       "patch",      "patch_additive",      "jacobi", "chebyshev", "gauss_seidel",
      "cell_patch", "line_patch", "gauss_seidel_morton", NULL}; /* in the order of TesSmootherKind */
  static const char *const methods[] = {"auto", "vcycle", "fmg", "gmres", "cg", NULL};
  static const char *const clocks[] = {"wall", "cpu", NULL}, *const switches[] = {"on", "off", NULL};
  int choice;
  switch (option) {
  case DIM:
    return (o->dims = whole_list("dim", optarg, 2, 3, 2, o->dim)) > 0;
  case DEGREE:
    return (o->degrees = whole_list("degree", optarg, 1, 20, BENCH_LIST, o->degree)) > 0;
  case DOFS:
    return (o->sizes = cli_parse_numbers("dofs", optarg, false, 1, 1e11, BENCH_LIST, o->dofs)) > 0;
  case PRECISION:
    return parse_precision(o);
  case COEFFICIENT:
    choice = cli_parse_choice("coefficient", optarg, coefficients);
    o->variable = choice == 1;
    return choice >= 0;
  case SMOOTHER:
    choice = cli_parse_choice("smoother", optarg, smoothers);
    o->smoother = (TesSmootherKind)choice;
    return choice >= 0;
  case VARIANT:
    o->variant = optarg;
    return true;
  case METHOD:
    choice = cli_parse_choice("method", optarg, methods);
    o->method = (TesMethod)choice;
    return choice >= 0;
  case BP:
  case FORM:
  case GEOMETRY:
  case NUMBERING:
  case POINTS:
  case LAMBDA:
  case CELLS:
  case CONJUGATE_GRADIENTS:
  case CG_TOLERANCE:
    return parse_bp(option, o);
  case RIGHT_HAND_SIDE:
  case PENALTY:
  case PRE:
  case POST:
  case ALPHA:
  case ASPECT:
  case DRAW:
  case LEVEL:
  case TABLE:
  case MESH:
  case FIGURE:
    return parse_stokes(option, o);
  case ELEMENT:
    choice = cli_parse_choice("element", optarg, (const char *const[]){"q", "dg", NULL});
    o->broken = choice == 1;
    return choice >= 0;
  case ASSEMBLED:
    choice = cli_parse_choice("assembled", optarg, switches);
    o->alone = choice == 1;
    return choice >= 0;
  case TOLERANCE:
    return one_number("tolerance", 1e-16, 0.999, &o->tolerance);
  case SECONDS:
    return one_number("seconds", 0, 1e4, &o->seconds);
  case CLOCK:
    choice = cli_parse_choice("clock", optarg, clocks);
    if (choice == 1) bench_use_processor_clock();
    return choice >= 0;
  case CSV:
    o->csv = optarg;
    return true;
  case PLOT:
    o->plot = optarg;
    return true;
  case WITH:
    o->with = optarg;
    return true;
  default:
    return cli_parse_common(option, &o->common);
  }
}

/* Options that not all benchmarks have, and those that do. */
static const struct {
  int option;
  const char *benches;
} special[] = {{DIM, "operator smoother solver cycle bp adaptive stokes patch-tables patch-figures"},
               {DEGREE, "operator smoother solver cycle bp adaptive stokes patch-tables patch-figures"},
               {DOFS, "operator smoother solver cycle bp adaptive patch-tables patch-figures"},
               {PRECISION, "operator smoother solver cycle bp adaptive stokes patch-figures"},
               {COEFFICIENT, "operator smoother solver cycle"},
               {SMOOTHER, "smoother solver cycle stokes"},
               {VARIANT, "smoother bp stokes"},
               {METHOD, "solver stokes patch-tables patch-figures"},
               {TOLERANCE, "solver stokes"},
               {FIGURE, "patch-figures"},
               {BP, "bp"},
               {FORM, "bp"},
               {GEOMETRY, "bp adaptive"},
               {ASSEMBLED, "adaptive"},
               {NUMBERING, "bp"},
               {POINTS, "bp"},
               {LAMBDA, "bp"},
               {CELLS, "bp stokes applications"},
               {CONJUGATE_GRADIENTS, "bp"},
               {CG_TOLERANCE, "bp"},
               {RIGHT_HAND_SIDE, "stokes"},
               {PENALTY, "stokes"},
               {PRE, "solver stokes"},
               {POST, "solver stokes"},
               {ALPHA, "stokes"},
               {ASPECT, "stokes"},
               {ELEMENT, "solver"},
               {DRAW, "stokes applications bp"},
               {LEVEL, "stokes-tables applications patch-tables"},
               {TABLE, "applications patch-tables adaptive"},
               {MESH, "applications adaptive"},
               {WITH, "bp adaptive stokes applications"}};

static bool was_given(uint64_t given, int option) {
  return given >> (option - DIM) & 1;
}

static bool is_of_solves(const BenchOptions *o) {
  return (o->figure >= 10 && o->figure <= 12) || o->figure == 16 || o->figure == 18;
}

/* Tables and figures of the vertex-patch paper: which options mean something with which. 0 or an exit status. */
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

/* What --plot draws, and of which tables. */
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

/* Meshes of the papers by name and number. */
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

/* What a benchmark would pass over in silence is refused before anything is measured; `given`: a bit an option. 0
 * or an exit status. */
static int check_options(const Bench *bench, const BenchOptions *o, uint64_t given) {
  for (size_t i = 0; i < sizeof special / sizeof *special; i++)
    if (was_given(given, special[i].option) && !bench_has_name(special[i].benches, bench->name))
      return cli_usage_error("bench %s has no --%s; that is for: %s", bench->name,
                             long_options[special[i].option - DIM].name, special[i].benches);
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
    return cli_usage_error("bench adaptive: --geometry auto, curved, vertices, stored or weights");
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

/* Files that cannot be written are told before the time is spent. */
static TesStatus check_outputs(TesContext *ctx, const BenchOptions *o) {
  TesStatus status = TES_OK;
  const char *const paths[] = {o->csv, o->common.json, o->plot};
  for (int i = 0; i < 3; i++) TES_TRY(tes_file_check(ctx, paths[i]));
done:
  return status;
}

/* The line that makes a table of results worth keeping: command, machine, date. */
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
  if (measured) plot.subtitle = o->machine;
  if (o->csv && measured) TES_TRY(cli_table_write_csv(ctx, &result->table, o->csv));
  if (o->common.json && measured) TES_TRY(cli_table_write_json(ctx, &result->table, o->common.json));
  if (o->plot)
    TES_TRY(o->with ? bench_plot_with(ctx, o, &result->table, &plot)
                    : cli_table_plot(ctx, &result->table, &plot, o->plot));
done:
  return status;
}

/* The rows that are there are written also where a later one fails, or Ctrl-C ends it. */
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

/* Both dimensions where the paper draws both, float64 (with mixed in figure 18, float32 in rooflines). */
static void set_figure_defaults(uint64_t given, BenchOptions *o) {
  const bool sizes = o->figure == 18;
  if (!was_given(given, DIM) && o->figure != 5 && o->figure != 12 && o->figure < 16)
    o->dims = 2, o->dim[0] = 2, o->dim[1] = 3;
  if (!was_given(given, PRECISION)) o->single_precision = o->figure > 18, o->mixed = sizes;
  if (!was_given(given, DEGREE) && (o->figure == 7 || o->figure == 8)) o->degrees = 4;
  if (!was_given(given, DEGREE) && sizes) o->degrees = 1, o->degree[0] = 7;
}

/* Of applications: by table. */
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
  uint64_t given = 0;
  for (int option; (option = cli_next_option(argc, argv, long_options)) != -1;) {
    if (option == HELP) return print_help();
    if (!parse_option(option, &o)) return tes_status_exit(TES_INVALID_INPUT);
    if (option >= DIM) given |= UINT64_C(1) << (option - DIM);
  }
  if (optind + 1 != argc)
    return cli_usage_error("bench takes one name: operator, smoother, cycle, solver, bp, adaptive, stokes, "
                           "stokes-tables, applications, patch-tables or patch-figures "
                           "(tessera bench --help)");
  o.name = argv[optind];
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
      "there is no benchmark '%s'; expected operator, smoother, cycle, solver, bp, adaptive, "
      "stokes, stokes-tables, applications, patch-tables or patch-figures",
      o.name);
}

int main(int argc, char **argv) {
  cli_begin(argv);
  return cli_end(measure(argc, argv));
}
