/* Arrays of an HDF5 file that grow by rows, and the attributes that identify a VTKHDF file. */
#ifdef TESI_HDF5
#include "io/vtkhdf/vtkhdf.h"
#include <string.h>

bool tesi_hdf_put_kind(hid_t root, int major) {
  static const char type[] = "UnstructuredGrid";
  const int version[2] = {major, 0};
  const hsize_t two = 2;
  const hid_t pair = H5Screate_simple(1, &two, NULL), scalar = H5Screate(H5S_SCALAR), text = H5Tcopy(H5T_C_S1);
  bool well = H5Tset_size(text, strlen(type)) >= 0 && H5Tset_strpad(text, H5T_STR_NULLPAD) >= 0;
  const hid_t number = H5Acreate2(root, "Version", H5T_STD_I64LE, pair, H5P_DEFAULT, H5P_DEFAULT),
              name = H5Acreate2(root, "Type", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
  well = well && number >= 0 && name >= 0 && H5Awrite(number, H5T_NATIVE_INT, version) >= 0 &&
         H5Awrite(name, text, type) >= 0;
  if (number >= 0) H5Aclose(number);
  if (name >= 0) H5Aclose(name);
  H5Tclose(text);
  H5Sclose(pair);
  H5Sclose(scalar);
  return well;
}

TesiHdfSet tesi_hdf_set_create(hid_t group, const char *name, hid_t type, int components, hsize_t rows,
                               bool packed) {
  const int dims = components ? 2 : 1;
  const hsize_t none[2] = {0, (hsize_t)components}, most[2] = {H5S_UNLIMITED, (hsize_t)components},
                chunk[2] = {rows, (hsize_t)components};
  const hid_t space = H5Screate_simple(dims, none, most), how = H5Pcreate(H5P_DATASET_CREATE);
  TesiHdfSet made = {.set = -1, .components = components, .rows = rows};
  bool well = H5Pset_chunk(how, dims, chunk) >= 0;
  if (packed) well = well && H5Pset_shuffle(how) >= 0 && H5Pset_deflate(how, 1) >= 0;
  if (well) made.set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  H5Sclose(space);
  H5Pclose(how);
  return made;
}

TesiHdfSet tesi_hdf_set_open(hid_t group, const char *name) {
  TesiHdfSet s = {.set = H5Lexists(group, name, H5P_DEFAULT) > 0 ? H5Dopen2(group, name, H5P_DEFAULT) : -1};
  hsize_t size[2] = {0}, chunk[2] = {0};
  if (s.set < 0) return s;
  const hid_t space = H5Dget_space(s.set), how = H5Dget_create_plist(s.set);
  const int dims = H5Sget_simple_extent_ndims(space);
  const bool well = (dims == 1 || dims == 2) && H5Sget_simple_extent_dims(space, size, NULL) == dims &&
                    H5Pget_layout(how) == H5D_CHUNKED && H5Pget_chunk(how, dims, chunk) == dims;
  s.components = dims == 2 ? (int)size[1] : 0, s.rows = chunk[0], s.end = size[0];
  H5Sclose(space);
  H5Pclose(how);
  if (!well) tesi_hdf_set_close(&s);
  return s;
}

void tesi_hdf_set_close(TesiHdfSet *set) {
  if (set->set > 0) H5Dclose(set->set);
  set->set = -1;
}

bool tesi_hdf_put(TesiHdfSet *set, hsize_t first, hsize_t count, hid_t type, const void *data) {
  const int dims = set->components ? 2 : 1;
  const hsize_t at[2] = {first, 0}, size[2] = {count, (hsize_t)set->components};
  if (set->end < first + count) set->end = first + count;
  const hsize_t all[2] = {set->end, (hsize_t)set->components};
  if (H5Dset_extent(set->set, all) < 0) return false;
  const hid_t in_file = H5Dget_space(set->set), in_memory = H5Screate_simple(dims, size, NULL);
  const bool put = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, at, NULL, size, NULL) >= 0 &&
                   H5Dwrite(set->set, type, in_memory, in_file, H5P_DEFAULT, data) >= 0;
  H5Sclose(in_file);
  H5Sclose(in_memory);
  return put;
}

bool tesi_hdf_get(const TesiHdfSet *set, hsize_t first, hsize_t count, hid_t type, void *data) {
  const int dims = set->components ? 2 : 1;
  const hsize_t at[2] = {first, 0}, size[2] = {count, (hsize_t)set->components};
  if (first > set->end || count > set->end - first) return false;
  const hid_t in_file = H5Dget_space(set->set), in_memory = H5Screate_simple(dims, size, NULL);
  const bool got = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, at, NULL, size, NULL) >= 0 &&
                   H5Dread(set->set, type, in_memory, in_file, H5P_DEFAULT, data) >= 0;
  H5Sclose(in_file);
  H5Sclose(in_memory);
  return got;
}

bool tesi_hdf_put_integer(TesiHdfSet *set, hsize_t row, int64_t value) {
  return tesi_hdf_put(set, row, 1, H5T_NATIVE_INT64, &value);
}

bool tesi_hdf_put_number(TesiHdfSet *set, hsize_t row, double value) {
  return tesi_hdf_put(set, row, 1, H5T_NATIVE_DOUBLE, &value);
}
#else
typedef int TesiNoHdfSet; /* a C file must not be empty */
#endif
