/* tessera bench scaling: the model of src/parallel/scaling.h for 1 to 8192 GPUs, for Poisson with degree 4 on boxes
 * and on trees: milliseconds of an iteration, speed-up, efficiency, and the largest cost besides the work. */
#include "parallel/scaling.h"
#include <math.h>
#include "bench.h"

enum { MESH, DOFS, GPUS, MS, SPEED_UP, EFFICIENCY, BOUND, SERIES, COLUMNS };
static const CliColumn columns[COLUMNS] = {
    [MESH] = {"mesh", 6, -1},          [DOFS] = {"dofs", 9, -2},
    [GPUS] = {"gpus", 5, 0},           [MS] = {"ms", 10, 3},
    [SPEED_UP] = {"speed_up", 9, 2},   [EFFICIENCY] = {"efficiency", 10, 2},
    [BOUND] = {"beside_work", 22, -1}, [SERIES] = {"line", 0, -1}};

enum { DEGREE = 4, DIM = 3, MOST = 8192 };
/* Unknowns of a GPU of 139 GiB, at 52 bytes per unknown (tessera check). */
static const double MOST_UNKNOWNS = 2.5e9;

static bool add(bool trees, double dofs, const char *line, CliTable *table) {
  const TesiScalingMachine machine = tesi_scaling_machine(true, trees, 0);
  const double cells = round(cbrt(dofs) / DEGREE);
  const TesiScalingProblem problem = {.unknowns = dofs,
                                      .dim = DIM,
                                      .degree = DEGREE,
                                      .layers = trees ? 0 : cells,
                                      .across = {cells, cells},
                                      .weight = 1};
  const double one = tesi_scaling_seconds(&machine, &problem, 1, NULL);
  for (int gpus = 1; gpus <= MOST; gpus *= 2) {
    TesiScalingBound bound;
    const double seconds = tesi_scaling_seconds(&machine, &problem, gpus, &bound);
    if (dofs / gpus > MOST_UNKNOWNS || isinf(seconds)) continue;
    const CliCell row[COLUMNS] = {[MESH] = {0, trees ? "trees" : "box"},
                                  [DOFS] = {dofs, NULL},
                                  [GPUS] = {gpus, NULL},
                                  [MS] = {1e3 * seconds, NULL},
                                  [SPEED_UP] = {one / seconds, NULL},
                                  [EFFICIENCY] = {one / seconds / gpus, NULL},
                                  [BOUND] = {0, gpus == 1 ? "-" : tesi_scaling_bound_name(bound)},
                                  [SERIES] = {0, line}};
    if (!cli_table_add(table, row)) return false;
  }
  return true;
}

TesStatus bench_scaling(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  static char line[2 * BENCH_LIST][40];
  TesStatus status = TES_OK;
  const BenchOptions *o = options;
  cli_table_begin(&result->table, columns, COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot =
      (CliPlot){.title = "Model of several GPUs: speed-up of an iteration, degree 4",
                .subtitle = "fitted to one and two NVIDIA H200; 15 us and 45 GB/s between hosts of eight",
                .x_label = "GPUs",
                .y_label = "speed-up",
                .x = GPUS,
                .y = SPEED_UP,
                .series = SERIES,
                .log_x = true,
                .log_y = true};
  for (int trees = 0; trees < 2; trees++)
    for (int i = 0; i < o->sizes; i++) {
      char *const text = line[trees * BENCH_LIST + i];
      snprintf(text, sizeof line[0], "%s, %.3g", trees ? "trees" : "box", o->dofs[i]);
      if (!add(trees, o->dofs[i], text, &result->table)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
    }
done:
  return status;
}
