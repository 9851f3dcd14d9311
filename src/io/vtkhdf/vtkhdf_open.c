/* Opens and closes VTKHDF files: see vtkhdf.c. */
#ifdef TESI_HDF5
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "io/vtkhdf/vtkhdf.h"

enum { SMALL = 64 /* rows per chunk of the lists of steps */, LEAST = 4096, MOST = 16384 };

/* The lists of steps, without the lists of fields. */
static const struct {
  const char *name;
  size_t at;
  bool is_number, wide; /* wide: one column */
} lists[] = {{"Values", offsetof(TesVtkhdf, values), true, false},
             {"NumberOfParts", offsetof(TesVtkhdf, parts), false, false},
             {"PartOffsets", offsetof(TesVtkhdf, first_part), false, false},
             {"PointOffsets", offsetof(TesVtkhdf, first_point), false, false},
             {"CellOffsets", offsetof(TesVtkhdf, first_cell), false, true},
             {"ConnectivityIdOffsets", offsetof(TesVtkhdf, first_id), false, true}};
/* Arrays of the mesh. `rows` 0: the first mesh determines the rows per chunk, and the array is packed. */
static const struct {
  const char *name;
  size_t at;
  int components, rows;
} arrays[] = {{"Points", offsetof(TesVtkhdf, points), 3, 0},
              {"Connectivity", offsetof(TesVtkhdf, ids), 0, 0},
              {"Offsets", offsetof(TesVtkhdf, offsets), 0, LEAST},
              {"Types", offsetof(TesVtkhdf, types), 0, LEAST},
              {"NumberOfPoints", offsetof(TesVtkhdf, of_points), 0, SMALL},
              {"NumberOfCells", offsetof(TesVtkhdf, of_cells), 0, SMALL},
              {"NumberOfConnectivityIds", offsetof(TesVtkhdf, of_ids), 0, SMALL}};
enum { LISTS = sizeof lists / sizeof *lists, ARRAYS = sizeof arrays / sizeof *arrays };

static TesiHdfSet *member(TesVtkhdf *f, size_t at) {
  return (TesiHdfSet *)(void *)((char *)f + at);
}

static void close_sets(TesVtkhdf *f) {
  for (int i = 0; i < LISTS; i++) tesi_hdf_set_close(member(f, lists[i].at));
  for (int i = 0; i < ARRAYS; i++) tesi_hdf_set_close(member(f, arrays[i].at));
  for (int i = 0; i < TESI_VTKHDF_FIELDS; i++) {
    tesi_hdf_set_close(&f->field[i].values);
    tesi_hdf_set_close(&f->field[i].offsets);
  }
}

void tesi_vtkhdf_close(TesVtkhdf *f) {
  close_sets(f);
  if (f->count >= 0) H5Aclose(f->count);
  const hid_t groups[] = {f->list, f->cell_data, f->point_data, f->root};
  for (int i = 0; i < 4; i++)
    if (groups[i] >= 0) H5Gclose(groups[i]);
  if (f->file >= 0) H5Fclose(f->file);
  f->file = f->root = f->point_data = f->cell_data = f->list = f->count = -1;
}

/* ---- a new file ------------------------------------------------------------------------------------------------- */

static hid_t make_group(hid_t in, const char *name) {
  return H5Gcreate2(in, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

/* Rows per chunk for an array of n rows: the last chunk is nearly full. */
static hsize_t rows_for(int64_t n) {
  const int64_t chunks = (n + MOST - 1) / MOST, rows = chunks ? (n + chunks - 1) / chunks : 0;
  return (hsize_t)(rows < LEAST ? LEAST : rows);
}

static int written(const TesVtuArray *array) {
  return array->components == 2 ? 3 : array->components > 1 ? array->components : 0;
}

static bool make_fields(TesVtkhdf *f, hid_t group, const char *list, int count, const TesVtuArray *of,
                        int64_t rows, TesiVtkhdfField *field) {
  const hid_t offsets = f->steps ? make_group(f->list, list) : -1;
  bool well = group >= 0 && (offsets >= 0 || !f->steps);
  for (int i = 0; i < count && well; i++) {
    field[i].values =
        tesi_hdf_set_create(group, of[i].name, H5T_IEEE_F64LE, written(&of[i]), rows_for(rows), true);
    if (f->steps) field[i].offsets = tesi_hdf_set_create(offsets, of[i].name, H5T_STD_I64LE, 0, SMALL, false);
    well = field[i].values.set >= 0 && (field[i].offsets.set >= 0 || !f->steps);
  }
  if (offsets >= 0) H5Gclose(offsets);
  return well;
}

static bool make_lists(TesVtkhdf *f) {
  const int64_t none = 0;
  const hid_t scalar = H5Screate(H5S_SCALAR);
  bool well = true;
  f->list = make_group(f->root, "Steps");
  f->count = H5Acreate2(f->list, "NSteps", H5T_STD_I64LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(scalar);
  well = f->count >= 0 && H5Awrite(f->count, H5T_NATIVE_INT64, &none) >= 0;
  for (int i = 0; i < LISTS && well; i++) {
    TesiHdfSet *set = member(f, lists[i].at);
    *set = tesi_hdf_set_create(f->list, lists[i].name, lists[i].is_number ? H5T_IEEE_F64LE : H5T_STD_I64LE,
                               lists[i].wide, SMALL, false);
    well = set->set >= 0;
  }
  return well;
}

/* Nothing is added to the groups of a file afterwards. */
TesStatus tesi_vtkhdf_begin(TesVtkhdf *f, const TesVtuDesc *d, int nodes) {
  const int64_t points = f->parts_of.all * nodes;
  bool well = true;
  f->file = tesi_hdf_create(f->temporary, &f->disk);
  if (f->file < 0) return tesi_vtkhdf_refuse(f);
  f->root = make_group(f->file, "VTKHDF");
  well = f->root >= 0 && tesi_hdf_put_kind(f->root, f->steps ? 2 : 1) && (!f->steps || make_lists(f));
  for (int i = 0; i < ARRAYS && well; i++) {
    const hid_t type = arrays[i].components                         ? H5T_IEEE_F64LE
                       : arrays[i].at == offsetof(TesVtkhdf, types) ? H5T_STD_U8LE
                                                                    : H5T_STD_I64LE;
    TesiHdfSet *set = member(f, arrays[i].at);
    *set = tesi_hdf_set_create(f->root, arrays[i].name, type, arrays[i].components,
                               arrays[i].rows ? (hsize_t)arrays[i].rows : rows_for(points), !arrays[i].rows);
    well = set->set >= 0;
  }
  f->point_fields = d->point_field_count, f->cell_fields = d->cell_field_count;
  f->point_data = well ? make_group(f->root, "PointData") : -1;
  f->cell_data = well ? make_group(f->root, "CellData") : -1;
  well =
      well &&
      make_fields(f, f->point_data, "PointDataOffsets", f->point_fields, d->point_fields, points, f->field) &&
      make_fields(f, f->cell_data, "CellDataOffsets", f->cell_fields, d->cell_fields, f->parts_of.all,
                  f->field + f->point_fields);
  return well && !f->disk.error ? TES_OK : tesi_vtkhdf_refuse(f);
}

/* ---- continuing a file ---------------------------------------------------------------------------------------- */

static bool open_fields(hid_t data, hid_t list, const char *name, int count, const TesVtuArray *of,
                        TesiVtkhdfField *field) {
  const hid_t offsets = H5Gopen2(list, name, H5P_DEFAULT);
  H5G_info_t there = {.nlinks = 0};
  bool well = data >= 0 && offsets >= 0 && H5Gget_info(data, &there) >= 0 && there.nlinks == (hsize_t)count;
  for (int i = 0; i < count && well; i++) {
    field[i] = (TesiVtkhdfField){.values = tesi_hdf_set_open(data, of[i].name),
                                 .offsets = tesi_hdf_set_open(offsets, of[i].name)};
    well = field[i].values.set >= 0 && field[i].offsets.set >= 0 &&
           field[i].values.components == written(&of[i]);
  }
  if (offsets >= 0) H5Gclose(offsets);
  return well;
}

/* Keeps the steps up to the last time that stays. */
static bool keep_steps(TesVtkhdf *f) {
  int64_t steps = 0;
  double time;
  if (H5Aread(f->count, H5T_NATIVE_INT64, &steps) < 0 || steps < 0 || (hsize_t)steps > f->values.end)
    return false;
  for (f->step = 0; f->step < steps; f->step++) {
    if (!tesi_hdf_get(&f->values, (hsize_t)f->step, 1, H5T_NATIVE_DOUBLE, &time)) return false;
    if (time > f->last + 1e-12 * fabs(f->last)) break;
  }
  return true;
}

static bool open_all(TesVtkhdf *f) {
  bool well = true;
  f->root = H5Gopen2(f->file, "VTKHDF", H5P_DEFAULT);
  f->list = f->root < 0 ? -1 : H5Gopen2(f->root, "Steps", H5P_DEFAULT);
  f->count = f->list < 0 ? -1 : H5Aopen(f->list, "NSteps", H5P_DEFAULT);
  if (f->count < 0) return false;
  f->point_data = H5Gopen2(f->root, "PointData", H5P_DEFAULT);
  f->cell_data = H5Gopen2(f->root, "CellData", H5P_DEFAULT);
  for (int i = 0; i < LISTS && well; i++) {
    *member(f, lists[i].at) = tesi_hdf_set_open(f->list, lists[i].name);
    well = member(f, lists[i].at)->set >= 0;
  }
  for (int i = 0; i < ARRAYS && well; i++) {
    *member(f, arrays[i].at) = tesi_hdf_set_open(f->root, arrays[i].name);
    well = member(f, arrays[i].at)->set >= 0;
  }
  return well && keep_steps(f);
}

TesStatus tesi_vtkhdf_continue(TesVtkhdf *f, const TesVtuDesc *d) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  if (access(f->path, W_OK) != 0) TES_FAIL(TES_IO, "cannot write %s: %s", f->path, strerror(errno));
  f->file = tesi_hdf_open(f->path, &f->disk);
  TES_CHECK(f->file >= 0 && open_all(f),
            "%s is no VTKHDF file of steps that a run could go on in: remove it, or give another name",
            f->path);
  f->point_fields = d->point_field_count, f->cell_fields = d->cell_field_count;
  TES_CHECK(
      open_fields(f->point_data, f->list, "PointDataOffsets", f->point_fields, d->point_fields, f->field) &&
          open_fields(f->cell_data, f->list, "CellDataOffsets", f->cell_fields, d->cell_fields,
                      f->field + f->point_fields),
      "%s has steps with other fields: remove it, or give another name", f->path);
done:
  f->failed = f->failed || status != TES_OK;
  return status;
}
#else
typedef int TesiNoVtkhdfOpen; /* a C file must not be empty */
#endif
