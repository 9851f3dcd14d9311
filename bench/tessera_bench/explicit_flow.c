/* tessera bench applications --table 4: explicit steps of Algorithm 4 on the cavity of adaptive-multigrid-liebchen,
 * section 5.3, beside its Table 4: N x N x 2N cells of the pressure on (0,1) x (0,1) x (0,2), spaced by cosines, Re =
 * 1000, steps of 1e-4 from rest. Milliseconds: of the paper, its seconds divided by 40,000 steps; of ours, medians.
 * First ten steps are made from rest, and their energy is printed. Then steps are timed in runs of ten that continue
 * from there, and parts separately in runs of ten. The time of a solve by multigrid is the time of the step minus the
 * other parts, since the solve begins with the increment of the previous step.
 *
 * Last the assembled form: the same steps by multigrid, in which all parts multiply with sparse matrices
 * (iso_matrices.h), as the paper's do. Columns: the software that multiplies, and MiB of all matrices without those
 * of the cycle. */
#include <math.h>
#include <stdlib.h>
#include "bench.h"
#include "operator/assembled/assembled.h"
#include "problem/flow/explicit/explicit_flow.h"

enum {
  CELLS,
  WHO,
  VELOCITIES,
  PRESSURES,
  SETUP,
  MOMENTUM,
  SIDE,
  SOLVE,
  UPDATE,
  STEP,
  CYCLES,
  ENERGY,
  UNKNOWNS,
  MEMORY,
  MATRICES,
  COLUMNS
};
static const CliColumn columns[COLUMNS] = {{"cells", 5, 0},     {"who", 28, -1},       {"velocities", 10, 0},
                                           {"pressures", 9, 0}, {"init s", 7, 2},      {"momentum", 9, 4},
                                           {"pres-rhs", 9, 4},  {"pres-solve", 10, 4}, {"pres-up", 8, 4},
                                           {"step ms", 9, 4},   {"cycles", 6, 1},      {"energy", 16, -3},
                                           {"unknowns", 0, 0},  {"mib", 8, 1},         {"matrix mib", 10, 1}};

/* Table 4 of the paper, seconds of 40,000 steps: momentum, right-hand side, solve, update, sum. */
static const struct {
  const char *who;
  double seconds[5];
} paper[] = {{"paper, EPYC 7773X, 8 threads", {8733.7, 1385.8, 14967.4, 1667.0, 26754.2}},
             {"paper, H100, cuSPARSE", {1510.3, 279.1, 1297.6, 305.0, 3392.0}},
             {"paper, H100, own kernels", {231.1, 53.2, 1303.4, 72.2, 1660.0}}};

enum { PAPER_CELLS = 32, STEPS = 10 };
static const double step_length = 1e-4;

/* The object of a measurement: a part, or whole steps. */
typedef struct Part {
  TesiExplicitFlow *flow;
  int what, cycles;
} Part;

static TesStatus begin(TesiExplicitFlow *flow) {
  TesContext *ctx = flow->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_vector_copy(flow->given, 1, flow->u[flow->now]));
  TES_TRY(tes_vector_fill(flow->p, 0));
  TES_TRY(tesi_explicit_flow_begin(flow));
done:
  return status;
}

static TesStatus run_once(Part *part) {
  TesiExplicitFlow *f = part->flow;
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  switch (part->what) {
  case MOMENTUM:
    TES_TRY(tesi_explicit_flow_momentum(f));
    break;
  case SIDE:
    TES_TRY(tesi_explicit_flow_divergence(f, f->u[f->now]));
    break;
  case SOLVE:
    TES_TRY(tesi_coarse_solve(f->direct, f->b, f->q));
    break;
  case UPDATE: /* with rate 0 and increment 0 the pressure does not change */
    TES_TRY(tesi_explicit_flow_pressure(f, 0, f->load));
    break;
  default:
    TES_TRY(tesi_explicit_flow_step(f));
    part->cycles += f->cycles;
  }
done:
  return status;
}

static TesStatus run(void *data) {
  Part *part = data;
  TesContext *ctx = part->flow->context;
  TesStatus status = TES_OK;
  for (int i = 0; i < STEPS; i++) TES_TRY(run_once(part));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
done:
  return status;
}

/* Ways to solve for the pressure, and the assembled form of the second one. */
typedef enum Way { DIRECT, MULTIGRID, ASSEMBLED, WAYS } Way;

static TesStatus create(TesContext *ctx, int cells, Way way, TesiExplicitFlow **flow) {
  static const uint8_t walls[] = {7, 7, 7, 7, 7, 7};
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  double *x[2] = {NULL}, *u = NULL;
  for (int d = 0; d < 2; d++) {
    const int n = (d + 1) * cells;
    TES_ALLOC(&x[d], n + 1);
    for (int i = 0; i <= n; i++) x[d][i] = (d + 1) * (1 - cos(acos(-1) * i / n)) / 2;
  }
  const TesMeshDesc desc = {
      .dim = 3, .cells = {cells, cells, 2 * cells}, .coordinates = {x[0], x[0], x[1]}, .kind = TES_MESH_BOX};
  TES_TRY(tes_mesh_create(ctx, &desc, &mesh));
  TES_TRY(tesi_explicit_flow_create(mesh, NULL, walls, 1e-3, step_length, way == DIRECT, flow));
  if (way == ASSEMBLED) TES_TRY(tesi_explicit_flow_assemble(*flow));
  const TesiIso *iso = (*flow)->iso;
  TES_ALLOC(&u, 3 * iso->nodes);
  for (int64_t i = 0; i < 3 * iso->nodes; i++) u[i] = 0;
  for (int64_t i = iso->axis[0].fine - 1; i < iso->nodes; i += iso->axis[0].fine) u[iso->nodes + i] = 1;
  TES_TRY(tes_vector_set((*flow)->given, u));
done:
  tesi_free(ctx, &x[0]);
  tesi_free(ctx, &x[1]);
  tesi_free(ctx, &u);
  tes_mesh_destroy(&mesh);
  return status;
}

static void describe(const TesiExplicitFlow *flow, int cells, Way way, CliCell *row) {
  row[CELLS].number = cells;
  row[WHO].text = way == DIRECT      ? "tessera, direct"
                  : way == MULTIGRID ? "tessera, multigrid"
                                     : bench_text("matrices, %s", tesi_iso_matrices_how(flow->matrices));
  row[VELOCITIES].number = (double)(3 * flow->iso->nodes);
  row[PRESSURES].number = (double)flow->iso->pressures;
  row[UNKNOWNS].number = row[VELOCITIES].number + row[PRESSURES].number;
  row[MATRICES].number = NAN;
  if (way == ASSEMBLED)
    row[MATRICES].number =
        (tesi_iso_matrices_bytes(flow->matrices) + tesi_assembled_bytes(flow->assembled)) / 1048576;
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, int cells, Way way, CliCell *row) {
  TesStatus status = TES_OK;
  Part part = {.flow = NULL};
  BenchTime time;
  double energy, others = 0;
  const double start = tesi_now(), before = bench_memory(ctx);
  const bool direct = way == DIRECT;
  TES_TRY(create(ctx, cells, way, &part.flow));
  row[SETUP].number = tesi_now() - start;
  describe(part.flow, cells, way, row);
  part.what = STEP;
  TES_TRY(begin(part.flow));
  TES_TRY(run(&part));
  row[MEMORY].number = (bench_memory(ctx) - before) / 1048576;
  TES_TRY(tesi_explicit_flow_energy(part.flow, &energy));
  part.cycles = 0;
  TES_TRY(bench_time(run, &part, o->seconds, &time));
  row[STEP].number = 1e3 * time.median / STEPS;
  row[CYCLES].number = direct ? NAN : (double)part.cycles / STEPS / (time.calls + 1); /* and the warm-up */
  row[ENERGY].number = energy;
  for (int what = MOMENTUM; what <= UPDATE; what++) {
    if (what == SOLVE && !direct) continue;
    part.what = what;
    TES_TRY(bench_time(run, &part, o->seconds, &time));
    row[what].number = 1e3 * time.median / STEPS;
    others += row[what].number;
  }
  if (!direct) row[SOLVE].number = row[STEP].number - others;
done:
  tesi_explicit_flow_destroy(&part.flow);
  return status;
}

static bool add_paper(CliTable *table) {
  for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) {
    CliCell row[COLUMNS] = {[CELLS] = {PAPER_CELLS, NULL}, [WHO] = {0, paper[i].who}};
    const int n = 2 * PAPER_CELLS + 1, m = PAPER_CELLS + 1;
    row[VELOCITIES].number = 3. * n * n * (2 * n - 1);
    row[PRESSURES].number = 1. * m * m * (2 * m - 1);
    for (int j = 0; j < 5; j++) row[MOMENTUM + j].number = paper[i].seconds[j] / 40;
    row[UNKNOWNS].number = row[VELOCITIES].number + row[PRESSURES].number;
    row[SETUP].number = row[CYCLES].number = row[ENERGY].number = row[MEMORY].number = NAN;
    row[MATRICES].number = NAN;
    if (!cli_table_add(table, row)) return false;
  }
  return true;
}

/* Figures 9 and 10 of the paper: milliseconds of a step and, dashed, of the pressure's solve; or memory. */
static CliPlot describe_plot(const BenchOptions *o) {
  CliPlot plot = {.title = "Algorithm 4, a step; dashed: the pressure's solve",
                  .x_label = "unknowns",
                  .y_label = "ms",
                  .x = UNKNOWNS,
                  .y = STEP,
                  .series = WHO,
                  .beside = {{.y = SOLVE, .name = "solve"}},
                  .log_x = true,
                  .log_y = true};
  if (o->drawn != BENCH_DRAW_MEMORY) return plot;
  plot.title = "Algorithm 4, memory";
  plot.y_label = "MiB", plot.y = MEMORY, plot.beside[0].y = 0;
  return plot;
}

TesStatus bench_explicit_flow(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  CliTable *table = &result->table;
  cli_table_begin(table, columns, COLUMNS, options->common.verbosity >= TES_NORMAL);
  result->plot = describe_plot(options);
  if (options->seconds == 0) return TES_OK;
  for (int i = 0; i < options->cells && !tesi_context_interrupted(ctx); i++) {
    const int cells = (int)options->cell_counts[i];
    TES_CHECK(cells >= 2 && cells <= 512, "--cells %d, expected 2 to 512 across", cells);
    if (cells == PAPER_CELLS && !add_paper(table)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
    for (Way way = DIRECT; way < WAYS; way++) {
      CliCell row[COLUMNS] = {{0, NULL}};
      const TesStatus measured = measure(ctx, options, cells, way, row);
      if (way == ASSEMBLED && bench_leaves_out(ctx, measured)) continue;
      TES_TRY(measured);
      if (!cli_table_add(table, row)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
    }
  }
done:
  return status;
}
