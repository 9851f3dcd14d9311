/* The parts of a VTKHDF writer; in builds with HDF5. */
#ifndef TESI_VTKHDF_H
#define TESI_VTKHDF_H

#include <hdf5.h>
#include <pthread.h>
#include "io/vtu/vtu.h"
#include "mesh/mesh.h"
#include "tessera/vtkhdf.h"

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
/* data <- rows from `first` on; false: the file does not have them. */
bool tesi_hdf_get(const TesiHdfSet *set, hsize_t first, hsize_t count, hid_t type, void *data);
/* The attributes of the root group: an unstructured grid by this version of the format. */
bool tesi_hdf_put_kind(hid_t root, int major);
bool tesi_hdf_put_number(TesiHdfSet *set, hsize_t row, double value);

/* ---- steps that a thread writes while the caller goes on ------------------------------------------------------- */

enum { TESI_VTKHDF_FIELDS = 64 };

/* An array of a step, as tesi_vtu_item_gather() passes it. */
typedef struct TesiVtkhdfKept {
  char *data;
  size_t bytes, room;
} TesiVtkhdfKept;

typedef struct TesiVtkhdfBehind {
  TesContext *alone; /* of the thread; NULL: each call writes its step */
  bool runs;         /* a step is being written: until tesi_vtkhdf_await() the caller leaves the file alone */
  pthread_t thread;
  atomic_bool awaited; /* the caller waits: its cores are free */
  TesStatus status;
  /* the step: */
  double time;
  bool new_mesh;
  TesVtuDesc desc;
  TesiVtuCells cells;
  TesVtuArray array[TESI_VTKHDF_FIELDS];
  TesiVtkhdfKept kept[TESI_VTKHDF_FIELDS + 2]; /* coordinates, connectivity, fields of points, of cells */
} TesiVtkhdfBehind;

/* ---- the file -------------------------------------------------------------------------------------------------- */

/* A field of points or cells, and the first row of each step. A field that does not change, such as data of the
 * problem, is written once per mesh. */
typedef struct TesiVtkhdfField {
  TesiHdfSet values, offsets;
  bool changes; /* it did */
  bool known;   /* of the mesh: */
  uint64_t digest, version;
  int64_t first;
} TesiVtkhdfField;

/* Numbers of a mesh in the file. */
typedef struct TesiVtkhdfPart {
  int64_t part, points, cells, ids; /* its number; first rows of its arrays */
} TesiVtkhdfPart;

struct TesVtkhdf {
  TesContext *owner, *ctx; /* of the caller; of the thread that writes */
  bool elsewhere;          /* rank 0 writes the cells of all ranks, one after the other: */
  TesiSlices parts_of;     /* of the present step */
  char *path, *temporary;  /* temporary: name until one step is complete; NULL afterwards */
  bool steps, goes_on, failed;
  double last;
  TesiHdfDisk disk;
  hid_t file, root, point_data, cell_data, list, count; /* list: group Steps, count: its attribute NSteps */
  TesiHdfSet points, ids, offsets, types, of_points, of_cells, of_ids; /* of_..: counts of each part */
  TesiHdfSet values, parts, first_part, first_point, first_cell, first_id;
  int point_fields, cell_fields;
  TesiVtkhdfField field[TESI_VTKHDF_FIELDS]; /* of points, then of cells */
  int64_t step;
  const TesMesh *mesh; /* of the last part written; NULL: there is none, or it is not known */
  TesiVtkhdfPart part;
  TesiVtkhdfBehind behind;
};

/* vtkhdf_open.c: makes all groups and arrays of a file, empty, or opens them. */
TesStatus tesi_vtkhdf_begin(TesVtkhdf *f, const TesVtuDesc *d, int nodes);
TesStatus tesi_vtkhdf_continue(TesVtkhdf *f, const TesVtuDesc *d);
void tesi_vtkhdf_close(TesVtkhdf *f);
/* vtkhdf.c: the message for a failure of HDF5, with the system's message if there is one. */
TesStatus tesi_vtkhdf_refuse(TesVtkhdf *f);
/* Writes a step, on the rank that has the file. */
TesStatus tesi_vtkhdf_put_step(TesVtkhdf *f, const TesiVtuCells *cells, double time, bool new_mesh);
/* Whether a field has the version of the step before, over the same mesh. */
bool tesi_vtkhdf_is_known(const TesiVtkhdfField *field, const TesVtuArray *array);

/* vtkhdf_behind.c. Copies the arrays of a step that its file needs, from all ranks, and has a thread write the step. */
TesStatus tesi_vtkhdf_write_behind(TesVtkhdf *f, const TesiVtuCells *cells, double time, bool new_mesh);
/* Waits for the step that is being written, if there is one; its status and message become those of the caller. */
TesStatus tesi_vtkhdf_await(TesVtkhdf *f);
/* Passes an array of the step to `take`: the copy, or what ranks have. */
TesStatus tesi_vtkhdf_pass(TesVtkhdf *f, const TesiVtuCells *cells, const TesiVtuItem *item, TesiVtuTake take,
                           void *user);
/* Waits, and releases all. */
void tesi_vtkhdf_end_behind(TesVtkhdf *f);

#endif
