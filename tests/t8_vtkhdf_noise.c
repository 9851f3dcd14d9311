/* Run: ctest -R t8_vtkhdf_noise. Numbers of which some are noise and others zero come out of VTKHDF files as they were,
 * and take no more room than their bits. Skipped without HDF5. */
#ifdef TESI_HDF5
#include <hdf5.h>
#endif
#include "tessera/vtkhdf.h"
#include "testing.h"

#ifdef TESI_HDF5
enum { CELLS = 20000 };
static double expected[CELLS], found[CELLS];

static TesStatus fill(void *user, int64_t first, int64_t count, double *values) {
  (void)user;
  memcpy(values, expected + first, (size_t)count * sizeof *values);
  return TES_OK;
}

static TesStatus fill_places(void *user, int64_t first, int64_t count, double *values) {
  (void)user;
  for (int64_t i = 0; i < count * 8; i++) values[i] = (double)(first * 8 + i);
  return TES_OK;
}

/* Zeros in the first cells, then numbers whose 52 bits are noise. */
static void noise_is_kept(void **state) {
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  for (int quiet = 0; quiet <= CELLS; quiet += 5000) {
    uint64_t seed = 3;
    for (int c = 0; c < CELLS; c++)
      expected[c] = c < quiet ? 0 : test_random(&seed) + ldexp(test_random(&seed), -30);
    const TesVtuArray cells = {.name = "noise", .fill = fill}, x = {.fill = fill_places};
    const TesVtuDesc desc = {
        .dim = 2, .degree = 1, .cells = CELLS, .coordinates = x, .cell_fields = &cells, .cell_field_count = 1};
    TesVtkhdf *file;
    assert_ok(ctx, tes_vtkhdf_create(ctx, &(TesVtkhdfDesc){.path = "noise.vtkhdf"}, &file));
    assert_ok(ctx, tes_vtkhdf_write(file, &desc, 0));
    tes_vtkhdf_destroy(&file);
    const hid_t h = H5Fopen("noise.vtkhdf", H5F_ACC_RDONLY, H5P_DEFAULT),
                set = H5Dopen2(h, "VTKHDF/CellData/noise", H5P_DEFAULT);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    assert_memory_equal(found, expected, sizeof expected);
    assert_in_range(H5Dget_storage_size(set), 8 * (CELLS - quiet) * 3 / 4,
                    8 * (CELLS - quiet) * 19 / 20 + CELLS);
    H5Dclose(set);
    H5Fclose(h);
  }
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(noise_is_kept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
  return 77;
}
#endif
