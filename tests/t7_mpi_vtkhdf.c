/* Run: ctest -R t7_mpi_vtkhdf. A VTKHDF file of several ranks has the arrays of the file of one rank, step by step; the
 * program does the same. HDF5 alone reads them.
 * Ranks: 2 3 */
#ifdef TESI_HDF5
#include <hdf5.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "mesh/mesh.h"
#include "parallel/comm.h"
#include "tessera/tessera.h"
#include "testing.h"

#ifdef TESI_HDF5
#include "mpi_testing.h"

static char of_one[200], of_all[200];

static const TesMeshDesc meshes[] = {
    {.kind = TES_MESH_FOREST, .domain = TES_DOMAIN_BALL, .dim = 2, .refine = 1},
    {.kind = TES_MESH_FOREST, .dim = 3, .cells = {2, 1, 1}},
    {.kind = TES_MESH_BOX, .dim = 3, .cells = {3, 2, 5}},
};

static TesMesh *refined(const TesMesh *mesh) {
  TesMesh *adapted;
  const double middle[3] = {0.5, 0.5, 0.5};
  int8_t *mark = calloc((size_t)mesh->cells + 1, sizeof *mark);
  for (int64_t c = 0; c < mesh->cells; c++) {
    double x[3];
    tesi_mesh_map(mesh, c, 1, middle, x);
    mark[c] = x[0] + 0.9 * x[1] > 0.31;
  }
  assert_ok(mesh->context, tes_mesh_adapt(mesh, mark, &adapted));
  free(mark);
  return adapted;
}

static void write_steps(TesContext *ctx, const TesMesh *mesh, const TesFunction *f, TesVtkhdf *file,
                        double time) {
  TesProblem *problem;
  TesSolveResult result;
  double *cells = malloc((size_t)(mesh->cells + 1) * sizeof *cells);
  TesBoundary all[6];
  for (int i = 0; i < 6; i++) all[i] = (TesBoundary){.condition = TES_DIRICHLET};
  const TesProblemDesc desc = {.equation = TES_POISSON,
                               .mesh = mesh,
                               .degree = 3,
                               .data.f = {f},
                               .boundary = all,
                               .solver.tolerance = 1e-12};
  for (int64_t c = 0; c < mesh->cells; c++) {
    const double middle[3] = {0.5, 0.5, 0.5};
    double x[3];
    tesi_mesh_map(mesh, c, 1, middle, x);
    cells[c] = x[0] - x[1];
  }
  const TesVtuArray indicator = {.name = "indicator", .values = cells};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  assert_ok(ctx, tes_vtkhdf_write_problem(file, problem, time, 1, &indicator));
  assert_ok(ctx, tes_vtkhdf_write_problem(file, problem, time + 1, 1, &indicator));
  free(cells);
  tes_problem_destroy(&problem);
}

/* Two steps on a mesh, two on the next one, two more after the file was closed. A thread writes those of all ranks. */
static void write_file(TesContext *ctx, const TesMeshDesc *desc, const char *path) {
  TesMesh *mesh, *next = NULL;
  TesVtkhdf *file;
  TesFunction *f;
  const bool behind = path == of_all;
  assert_ok(ctx, tes_function_create_expression(ctx, "exp(x)*(1 + y)", &f));
  assert_ok(ctx, tes_mesh_create(ctx, desc, &mesh));
  assert_ok(ctx,
            tes_vtkhdf_create(ctx, &(TesVtkhdfDesc){.path = path, .steps = true, .behind = behind}, &file));
  write_steps(ctx, mesh, f, file, 0);
  if (desc->kind == TES_MESH_FOREST) next = refined(mesh);
  if (next) write_steps(ctx, next, f, file, 2);
  tes_vtkhdf_destroy(&file);
  const TesVtkhdfDesc again = {.path = path, .steps = true, .goes_on = true, .last = 1, .behind = behind};
  assert_ok(ctx, tes_vtkhdf_create(ctx, &again, &file));
  write_steps(ctx, next ? next : mesh, f, file, 2.5);
  tes_vtkhdf_destroy(&file);
  tes_mesh_destroy(&mesh);
  tes_mesh_destroy(&next);
  tes_function_destroy(&f);
}

static double *read_numbers(hid_t file, const char *name, hsize_t *count) {
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = set < 0 ? -1 : H5Dget_space(set);
  if (set < 0) return NULL;
  *count = (hsize_t)H5Sget_simple_extent_npoints(space);
  double *values = malloc((*count + 1) * sizeof *values);
  assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Dclose(set);
  return values;
}

typedef struct Compared {
  hid_t other;
  int sets;
  bool many;
} Compared;

static herr_t compare_set(hid_t file, const char *name, const H5O_info_t *info, void *user) {
  Compared *c = user;
  hsize_t n, m;
  if (info->type != H5O_TYPE_DATASET) return 0;
  double *a = read_numbers(file, name, &n), *b = read_numbers(c->other, name, &m);
  assert_non_null(b);
  assert_int_equal(n, m);
  for (hsize_t i = 0; i < n; i++)
    if (!(isnan(a[i]) && isnan(b[i]))) assert_near(a[i], b[i], 1e-8);
  c->sets++;
  c->many = c->many || n > 100;
  free(a);
  free(b);
  return 0;
}

static void files_are_the_same(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
    if (world->rank == 0) write_file(alone, &meshes[i], of_one);
    write_file(together, &meshes[i], of_all);
    if (world->rank == 0) {
      const hid_t one = H5Fopen(of_one, H5F_ACC_RDONLY, H5P_DEFAULT);
      Compared c = {.other = H5Fopen(of_all, H5F_ACC_RDONLY, H5P_DEFAULT)};
      assert_true(one >= 0 && c.other >= 0);
      assert_true(H5Ovisit(one, H5_INDEX_NAME, H5_ITER_NATIVE, compare_set, &c) >= 0);
      assert_true(c.sets > 12 && c.many);
      H5Fclose(c.other);
      H5Fclose(one);
      unlink(of_one), unlink(of_all);
    }
    tesi_reduce_any(together, false);
  }
}

static void failures_are_of_all(void **state) {
  (void)state;
  TesVtkhdf *file;
  assert_int_equal(tes_vtkhdf_create(together, &(TesVtkhdfDesc){.path = "nowhere/u.vtkhdf"}, &file), TES_IO);
  assert_non_null(strstr(tes_context_message(together), "cannot write nowhere/u.vtkhdf"));
  assert_null(strstr(tes_context_message(together), "rank"));
  tes_context_clear(together);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_the_same),
                                     cmocka_unit_test(failures_are_of_all)};
  const int status = begin_on_ranks("cpu");
  if (status) return status;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  snprintf(of_one, sizeof of_one, "%s/t7_mpi_one_%d.vtkhdf", TESI_BUILD_DIR, world->size);
  snprintf(of_all, sizeof of_all, "%s/t7_mpi_all_%d.vtkhdf", TESI_BUILD_DIR, world->size);
  return end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
#else
int main(void) {
  return 77;
}
#endif
