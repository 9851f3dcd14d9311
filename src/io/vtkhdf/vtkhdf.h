/* The parts of a VTKHDF writer; in builds with HDF5. */
#ifndef TESI_VTKHDF_H
#define TESI_VTKHDF_H

#include <hdf5.h>
#include "base/base.h"

/* ---- how HDF5 reaches the disk ---------------------------------------------------------------------------------- */

/* The state of the writes to a file. */
typedef struct TesiHdfDisk {
  int error; /* errno of the first write that failed; 0: none failed */
} TesiHdfDisk;

/* Opens a file, or creates it. Negative: HDF5 refuses, or disk->error has the reason. `disk` must outlive the file. */
hid_t tesi_hdf_create(const char *path, TesiHdfDisk *disk);
hid_t tesi_hdf_open(const char *path, TesiHdfDisk *disk);
/* The same for a file that nobody reads before it is closed. */
hid_t tesi_hdf_create_closed(const char *path, TesiHdfDisk *disk);

/* ---- arrays that grow ------------------------------------------------------------------------------------------- */

typedef struct TesiHdfSet {
  hid_t set;      /* negative: not there */
  int components; /* columns; 0: one dimension */
  hsize_t rows;   /* of a chunk */
  hsize_t end;    /* rows so far */
} TesiHdfSet;

/* Packed: shuffled and compressed. */
TesiHdfSet tesi_hdf_set_create(hid_t group, const char *name, hid_t type, int components, hsize_t rows,
                               bool packed);
TesiHdfSet tesi_hdf_set_open(hid_t group, const char *name);
void tesi_hdf_set_close(TesiHdfSet *set);
/* Rows from `first` on <- data of this type in memory. */
bool tesi_hdf_put(TesiHdfSet *set, hsize_t first, hsize_t count, hid_t type, const void *data);
bool tesi_hdf_put_integer(TesiHdfSet *set, hsize_t row, int64_t value);
/* The attributes of the root group: an unstructured grid by this version of the format. */
bool tesi_hdf_put_kind(hid_t root, int major);
bool tesi_hdf_put_number(TesiHdfSet *set, hsize_t row, double value);

#endif
