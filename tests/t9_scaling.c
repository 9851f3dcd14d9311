/* Run: ctest -R t9_scaling. The prediction for several ranks: what was measured on one and two GPUs, what must hold of
 * any model, and the tables of tessera check. */
#include "parallel/scaling.h"
#include "program_testing.h"

/* Milliseconds of an iteration on one and two H200, degree 4 (bench/results/h200/solve.csv, measurement ranks). The
 * smallest box is measured within noise of a fifth. */
static void as_measured(void **state) {
  static const struct {
    double unknowns, layers, one, two, within;
  } rows[] = {{2048383, 32, 0.515, 0.619, 0.2},
              {16581375, 64, 2.37, 1.81, 0.13},
              {133432831, 128, 16.1, 9.15, 0.05},
              {18202479, 0, 6.12, 3.85, 0.08},
              {74909055, 0, 23.2, 12.8, 0.05}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const TesiScalingMachine m = tesi_scaling_machine(true, rows[i].layers == 0, 16);
    const TesiScalingProblem p = {rows[i].unknowns, 3, 4, rows[i].layers, 1, {0}};
    const double one = 1e3 * tesi_scaling_seconds(&m, &p, 1, NULL),
                 two = 1e3 * tesi_scaling_seconds(&m, &p, 2, NULL);
    assert_near(one, rows[i].one, rows[i].within * rows[i].one);
    assert_near(two, rows[i].two, rows[i].within * rows[i].two);
  }
}

/* Never more than so many times as fast; larger problems take longer, and gain more; no more ranks than layers; between
 * hosts an exchange takes longer. */
static void as_any_model(void **state) {
  (void)state;
  for (int kind = 0; kind < 8; kind++) {
    const bool gpus = kind & 1, trees = kind & 2;
    const int dim = kind & 4 ? 3 : 2;
    const TesiScalingMachine m = tesi_scaling_machine(gpus, trees, 16);
    for (int ranks = 1; ranks <= 64; ranks *= 2) {
      double before = 0, gained = 0;
      for (double cells = 64; cells <= 1024; cells *= 2) {
        const TesiScalingProblem p = {pow(cells * 3, dim), dim, 3, trees ? 0 : cells, 1, {0}};
        const double seconds = tesi_scaling_seconds(&m, &p, ranks, NULL),
                     gain = tesi_scaling_seconds(&m, &p, 1, NULL) / seconds;
        assert_true(seconds > before && gain >= gained * (1 - 1e-12) && gain <= ranks * (1 + 1e-12));
        before = seconds, gained = gain;
      }
    }
    const TesiScalingProblem thin = {1e6, dim, 2, 4, 1, {0}};
    assert_true(isinf(tesi_scaling_seconds(&m, &thin, 5, NULL)) != 0);
    assert_true(isfinite(tesi_scaling_seconds(&m, &thin, 4, NULL)) != 0);
  }
}

static void tables(void **state) {
  TesiScalingBound bound;
  (void)state;
  write_file("box.yaml", "problem: poisson\nmesh: {box: {cells: [64, 64, 64]}}\nspace: {degree: 4}\n"
                         "data: {f: 1}\nboundary: {all: {dirichlet: 0}}\n");
  assert_run("check box.yaml --ranks 1,2,128 --device cuda", 0);
  const TesiScalingMachine m = tesi_scaling_machine(true, false, 1);
  const TesiScalingProblem p = {255. * 255 * 255, 3, 4, 64, 1, {64, 64}};
  char row[200];
  const double two = tesi_scaling_seconds(&m, &p, 2, &bound);
  snprintf(row, sizeof row, " %.3g %9.3g   %s\n", 1e3 * two, tesi_scaling_seconds(&m, &p, 1, NULL) / two,
           tesi_scaling_bound_name(bound));
  assert_output(row);
  assert_output("\nbest      128\n");
  assert_run("check box.yaml --ranks 1..3", 0);
  assert_output("for ranks on hosts like this one");
  assert_run("check box.yaml --ranks 2,0", 2);
  assert_output("--ranks 2,0: expected whole numbers");
  assert_run("check box.yaml --device cuda:1 --ranks 2", 2);
  assert_output("expected cpu or cuda");
  assert_run("check box.yaml --ranks 1,2 --device emulator", 2);
  assert_output("expected cpu or cuda");
  assert_run("check box.yaml --device GPU", 2); /* as solve names them */
  assert_output("expected auto, cpu, cuda, cuda:N or emulator");
  write_file("dg.yaml", "problem: transport\nmesh: {box: {cells: [2, 2]}}\nspace: {element: dg, degree: 9}\n"
                        "data: {b: [1, 0]}\n");
  assert_run("check dg.yaml", 0);
  assert_run("check dg.yaml --device emulator", 3);
  assert_output("on devices with kernels, got 9: take --device cpu");
}

/* `info` tells where two GPUs begin to be worth it: there they are 1.5 times as fast, somewhat below they are not. */
static void second_gpu(void **state) {
  (void)state;
  assert_run("info --json", 0);
  cJSON *json = cJSON_Parse(output);
  const cJSON *item = cJSON_GetObjectItem(json, "second_gpu_worth_unknowns");
  const bool told = cJSON_IsNumber(item); /* not by a build without MPI */
  const double worth = told ? item->valuedouble : 0;
  cJSON_Delete(json);
  if (!told) skip();
  const TesiScalingMachine m = tesi_scaling_machine(true, false, 1);
  for (int below = 0; below < 2; below++) {
    const double unknowns = worth * (below ? 0.5 : 1.0);
    const TesiScalingProblem p = {unknowns, 3, 4, cbrt(unknowns) / 4, 1, {0}};
    const double gain = tesi_scaling_seconds(&m, &p, 1, NULL) / tesi_scaling_seconds(&m, &p, 2, NULL);
    assert_int_equal(gain >= 1.5, !below);
  }
}

/* A problem that one rank alone has is refused as mpirun would find it refused. */
static void one_rank_alone(void **state) {
  (void)state;
  write_file("iso.yaml", "problem: navier_stokes\nmesh: {box: {cells: [4, 4]}}\nspace: {element: iso}\n"
                         "data: {nu: 0.1}\ntime: {end: 1, step: 0.1}\nboundary: {all: {velocity: [0, 0]}}\n");
  assert_run("check iso.yaml --ranks 1,2", 0);
  assert_run("check " CASES "taylor-green-rt.yaml --ranks 1,2", 0); /* periodic where ranks cut */
  assert_run("check box.yaml --ranks 1,2 --set solver.smoother=gauss_seidel", 2);
  assert_output("gauss_seidel works on one rank");
  assert_run("check box.yaml --ranks 1,2 --set solver.coarse=sparse", 2);
  assert_output("sparse works on one rank");
}

/* Two GPUs as measured, and what the processor makes of the same. */
static void element_rt(void **state) {
  (void)state;
  write_file("rt.yaml",
             "problem: stokes\nmesh: {box: {cells: [64, 64, 64]}}\nspace: {element: rt, degree: 2}\n"
             "boundary: {all: {velocity: [0, 0, 0]}}\n");
  assert_run("check rt.yaml --ranks 1,2 --device cuda", 0);
  assert_output("best      2");
  assert_run("check rt.yaml --ranks 1,2,200", 0);
  assert_output("more ranks than layers of cells");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_measured),    cmocka_unit_test(as_any_model),
                                     cmocka_unit_test(tables),         cmocka_unit_test(second_gpu),
                                     cmocka_unit_test(one_rank_alone), cmocka_unit_test(element_rt)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
