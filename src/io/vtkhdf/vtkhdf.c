/* See tessera/vtkhdf.h. The format: docs.vtk.org, "VTKHDF File Format", UnstructuredGrid. A mesh is stored as a part,
 * to which several steps may refer.
 *
 * A step exists when the attribute NSteps counts it. NSteps is written last, after everything else is in the file.
 * Until then no data of earlier steps change: chunks are new, rows of packed arrays begin at a chunk, and rewritten
 * objects (extents, indices, chunks of plain arrays) keep their old content. */
#include "tessera/vtkhdf.h"
#include <string.h>
#include "base/work.h"
#include "io/vtu/vtu.h"

#ifdef TESI_HDF5
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io/vtkhdf/vtkhdf.h"
#include "mesh/mesh.h"
#include "parallel/comm.h"
#include "tessera/report.h"

enum { FIELDS = 64, SMALL = 64 /* rows per chunk of the lists of steps */, LEAST = 4096, MOST = 16384 };

/* A field of points or cells, and the first row of each step. A field that does not change, such as data of the
 * problem, is written once per mesh. */
typedef struct Field {
  TesiHdfSet values, offsets;
  bool changes; /* it did */
  bool known;   /* of the mesh: */
  uint64_t digest, version;
  int64_t first;
} Field;

/* Numbers of a mesh in the file. */
typedef struct Part {
  int64_t part, points, cells, ids; /* its number; first rows of its arrays */
} Part;

struct TesVtkhdf {
  TesContext *ctx;
  bool elsewhere;         /* rank 0 writes the cells of all ranks, one after the other: */
  TesiSlices parts_of;    /* of the present step */
  char *path, *temporary; /* temporary: name until one step is complete; NULL afterwards */
  bool steps, goes_on, failed;
  double last;
  TesiHdfDisk disk;
  hid_t file, root, point_data, cell_data, list, count; /* list: group Steps, count: its attribute NSteps */
  TesiHdfSet points, ids, offsets, types, of_points, of_cells, of_ids; /* of_..: counts of each part */
  TesiHdfSet values, parts, first_part, first_point, first_cell, first_id;
  int point_fields, cell_fields;
  Field field[FIELDS]; /* of points, then of cells */
  int64_t step;
  const TesMesh *mesh; /* of the last part written; NULL: there is none, or it is not known */
  Part part;
};

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

/* ---- opening and closing --------------------------------------------------------------------------------------- */

static void close_sets(TesVtkhdf *f) {
  for (int i = 0; i < LISTS; i++) tesi_hdf_set_close(member(f, lists[i].at));
  for (int i = 0; i < ARRAYS; i++) tesi_hdf_set_close(member(f, arrays[i].at));
  for (int i = 0; i < FIELDS; i++) {
    tesi_hdf_set_close(&f->field[i].values);
    tesi_hdf_set_close(&f->field[i].offsets);
  }
}

static void close_file(TesVtkhdf *f) {
  close_sets(f);
  if (f->count >= 0) H5Aclose(f->count);
  const hid_t groups[] = {f->list, f->cell_data, f->point_data, f->root};
  for (int i = 0; i < 4; i++)
    if (groups[i] >= 0) H5Gclose(groups[i]);
  if (f->file >= 0) H5Fclose(f->file);
  f->file = f->root = f->point_data = f->cell_data = f->list = f->count = -1;
}

void tes_vtkhdf_destroy(TesVtkhdf **file) {
  TesVtkhdf *f = file ? *file : NULL;
  if (!f) return;
  TesContext *ctx = f->ctx;
  *file = NULL;
  close_file(f);
  if (f->temporary) unlink(f->temporary);
  tes_mesh_destroy((TesMesh **)&f->mesh);
  tesi_slices_free(&f->parts_of);
  tesi_free(ctx, &f->path);
  tesi_free(ctx, &f->temporary);
  tesi_free(ctx, &f);
}

/* The message for a failure of HDF5, with the system's message if there is one. */
static TesStatus refuse(TesVtkhdf *f) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  f->failed = true;
  if (f->disk.error) TES_FAIL(TES_IO, "cannot write %s: %s", f->path, strerror(f->disk.error));
  TES_FAIL(TES_IO, "cannot write %s: HDF5 refuses it", f->path);
done:
  return status;
}

static TesStatus check_path(TesContext *ctx, const char *path) {
  TesStatus status = TES_OK;
  struct stat there;
  TES_CHECK(path && *path, "the name of the file to write is empty");
  if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
    TES_FAIL(TES_IO, "cannot write %s: it is %s", path,
             S_ISDIR(there.st_mode) ? "a folder" : "no ordinary file");
  if (!H5Zfilter_avail(H5Z_FILTER_DEFLATE))
    TES_FAIL(TES_MISSING, "this HDF5 has no zlib (filter deflate), which VTKHDF files are compressed by");
done:
  return status;
}

TesStatus tes_vtkhdf_create(TesContext *context, const TesVtkhdfDesc *desc, TesVtkhdf **file) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesVtkhdf *f = NULL;
  TES_REFUSE_NULL(context, desc, file);
  *file = NULL;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* messages are given here, not by HDF5 */
  const bool elsewhere = tesi_ranks(ctx) > 1 && tes_communicator_rank(tesi_context_communicator(ctx)) > 0;
  TES_TRY(tesi_file_agree(ctx, elsewhere ? TES_OK : check_path(ctx, desc->path)));
  TES_NEW(&f);
  *f = (TesVtkhdf){.ctx = ctx, .elsewhere = elsewhere, .steps = desc->steps, .last = desc->last};
  f->file = f->root = f->point_data = f->cell_data = f->list = f->count = -1;
  f->goes_on = desc->steps && desc->goes_on && access(desc->path, F_OK) == 0;
  f->path = tesi_strdup(ctx, desc->path);
  const size_t size = strlen(desc->path) + 48;
  TES_ALLOC(&f->temporary, size);
  if (!f->path) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the name of a file");
  snprintf(f->temporary, size, "%s.%ld.part", desc->path, (long)getpid());
  tesi_broadcast(ctx, 0, sizeof f->goes_on, &f->goes_on);
  if (f->goes_on || elsewhere) tesi_free(ctx, &f->temporary);
  if (!f->goes_on) TES_TRY(tes_file_check(ctx, desc->path));
  *file = f;
  f = NULL;
done:
  tes_vtkhdf_destroy(&f);
  return status;
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
                        int64_t rows, Field *field) {
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

/* Makes all groups and arrays of a file, empty: nothing is added to its groups afterwards. */
static TesStatus begin_file(TesVtkhdf *f, const TesVtuDesc *d, int nodes) {
  const int64_t points = f->parts_of.all * nodes;
  bool well = true;
  f->file = tesi_hdf_create(f->temporary, &f->disk);
  if (f->file < 0) return refuse(f);
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
  return well && !f->disk.error ? TES_OK : refuse(f);
}

/* ---- continuing a file ---------------------------------------------------------------------------------------- */

static bool open_fields(hid_t data, hid_t list, const char *name, int count, const TesVtuArray *of,
                        Field *field) {
  const hid_t offsets = H5Gopen2(list, name, H5P_DEFAULT);
  H5G_info_t there = {.nlinks = 0};
  bool well = data >= 0 && offsets >= 0 && H5Gget_info(data, &there) >= 0 && there.nlinks == (hsize_t)count;
  for (int i = 0; i < count && well; i++) {
    field[i] = (Field){.values = tesi_hdf_set_open(data, of[i].name),
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
    const hsize_t at = (hsize_t)f->step, one = 1;
    const hid_t in_file = H5Dget_space(f->values.set), in_memory = H5Screate_simple(1, &one, NULL);
    const bool read = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &at, NULL, &one, NULL) >= 0 &&
                      H5Dread(f->values.set, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, &time) >= 0;
    H5Sclose(in_file);
    H5Sclose(in_memory);
    if (!read) return false;
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

static TesStatus continue_file(TesVtkhdf *f, const TesVtuDesc *d) {
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

/* ---- arrays ----------------------------------------------------------------------------------------------------- */

/* The destination of the chunks of an array. */
typedef struct Chunks {
  TesVtkhdf *f;
  TesiHdfSet *set;
  hsize_t row;
} Chunks;

static TesStatus put_chunk(void *user, const void *packed, size_t size) {
  Chunks *c = user;
  const hsize_t at[2] = {c->row, 0};
  c->row += c->set->rows;
  if (H5Dwrite_chunk(c->set->set, H5P_DEFAULT, 0, at, size, packed) < 0) c->f->failed = true;
  return c->f->failed || c->f->disk.error ? refuse(c->f) : TES_OK;
}

/* Passes numbers to a stream, if there is one. */
typedef struct Numbers {
  TesiVtuStream *stream;
  uint64_t digest;
} Numbers;

static TesStatus take_numbers(void *user, const void *data, size_t bytes) {
  Numbers *n = user;
  const char *from = data;
  uint64_t digest = n->digest, word;
  for (size_t i = 0; i < bytes; i += sizeof word) {
    memcpy(&word, from + i, sizeof word);
    digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
    digest ^= digest >> 29;
  }
  n->digest = digest;
  return n->stream ? tesi_vtu_stream_write(n->stream, data, bytes) : TES_OK;
}

/* Writes rows of a packed array, from the next chunk on: *first. *digest: of the numbers. */
static TesStatus put_packed(TesVtkhdf *f, const TesiVtuCells *cells, const TesiVtuItem *item,
                            int64_t per_cell, TesiHdfSet *set, int64_t *first, uint64_t *digest) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  Numbers numbers = {NULL, 1};
  const hsize_t rows = (hsize_t)(f->parts_of.all * per_cell),
                columns = (hsize_t)(set->components ? set->components : 1),
                begin = (set->end + set->rows - 1) / set->rows * set->rows, all[2] = {begin + rows, columns};
  Chunks chunks = {f, set, begin};
  const TesiVtuStreamDesc desc = {.bytes = f->parts_of.all * (int64_t)item->bytes,
                                  .block = set->rows * columns * 8,
                                  .level = cells->desc->compression ? cells->desc->compression : 1,
                                  .shuffle = 8,
                                  .whole = true,
                                  .put = put_chunk,
                                  .user = &chunks};
  if (H5Dset_extent(set->set, all) < 0) TES_TRY(refuse(f));
  set->end = begin + rows;
  TES_TRY(tesi_vtu_stream_begin(ctx, &desc, &numbers.stream));
  TES_TRY(tesi_vtu_item_gather(cells, &f->parts_of, item, take_numbers, &numbers));
  TES_TRY(tesi_vtu_stream_end(&numbers.stream));
  *first = (int64_t)begin;
  *digest = numbers.digest;
done:
  tesi_vtu_stream_discard(&numbers.stream);
  return status;
}

/* Offsets of all cells, including the end of the last one, and types. */
static TesStatus put_topology(TesVtkhdf *f, const TesiVtuCells *cells, const Part *part) {
  enum { AT_ONCE = 1024 };
  TesStatus status = TES_OK;
  const int64_t n = f->parts_of.all;
  int64_t offsets[AT_ONCE];
  unsigned char types[AT_ONCE];
  bool well = true;
  memset(types, tesi_vtu_type(cells->desc->dim), sizeof types);
  for (int64_t c = 0; c <= n && well; c += AT_ONCE) {
    const int64_t some = n + 1 - c < AT_ONCE ? n + 1 - c : AT_ONCE, typed = n - c < AT_ONCE ? n - c : AT_ONCE;
    for (int64_t i = 0; i < some; i++) offsets[i] = (c + i) * cells->nodes;
    well = tesi_hdf_put(&f->offsets, (hsize_t)(part->cells + part->part + c), (hsize_t)some, H5T_NATIVE_INT64,
                        offsets) &&
           (!typed ||
            tesi_hdf_put(&f->types, (hsize_t)(part->cells + c), (hsize_t)typed, H5T_NATIVE_UCHAR, types));
  }
  return well ? status : refuse(f);
}

/* Writes a mesh that the file does not have. Data that a killed process left after the last step are skipped. */
static TesStatus put_mesh(TesVtkhdf *f, const TesiVtuCells *cells) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  const TesVtuDesc *d = cells->desc;
  const int64_t n = f->parts_of.all, points = n * cells->nodes;
  const TesiVtuItem at = tesi_vtu_item(cells, TESI_VTU_POINTS, &d->coordinates, d->dim),
                    ids = tesi_vtu_item(cells, TESI_VTU_CONNECTIVITY, NULL, 0);
  hsize_t part = f->of_points.end, first = f->types.end;
  uint64_t digest;
  if (part < f->of_cells.end) part = f->of_cells.end;
  if (part < f->of_ids.end) part = f->of_ids.end;
  if (f->offsets.end > part && first < f->offsets.end - part) first = f->offsets.end - part;
  Part new = {.part = (int64_t)part, .cells = (int64_t)first};
  TES_TRY(put_packed(f, cells, &at, cells->nodes, &f->points, &new.points, &digest));
  TES_TRY(put_packed(f, cells, &ids, cells->nodes, &f->ids, &new.ids, &digest));
  TES_TRY(put_topology(f, cells, &new));
  if (!tesi_hdf_put_integer(&f->of_points, part, points) || !tesi_hdf_put_integer(&f->of_cells, part, n) ||
      !tesi_hdf_put_integer(&f->of_ids, part, points))
    TES_TRY(refuse(f));
  f->part = new;
  for (int i = 0; i < FIELDS; i++) f->field[i].known = false;
done:
  return status;
}

/* Whether a field equals the field of the previous step, over the same mesh: then its rows serve this step too. */
static TesStatus stays(const TesiVtuCells *cells, const TesiSlices *parts, const TesiVtuItem *item,
                       Field *field, bool *same) {
  TesContext *ctx = cells->ctx;
  TesStatus status = TES_OK;
  Numbers numbers = {NULL, 1};
  const uint64_t version = item->array->version;
  *same = field->known && version && version == field->version;
  field->version = version;
  if (*same || !field->known || field->changes) return TES_OK;
  TES_TRY(tesi_vtu_item_gather(cells, parts, item, take_numbers, &numbers));
  *same = numbers.digest == field->digest;
  field->changes = !*same;
done:
  return status;
}

static TesStatus put_fields(TesVtkhdf *f, const TesiVtuCells *cells, TesiVtuKind kind, int count,
                            const TesVtuArray *of, Field *field) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  const int per_cell = kind == TESI_VTU_POINTS ? cells->nodes : 1;
  for (int i = 0; i < count; i++) {
    const TesiVtuItem item = tesi_vtu_item(cells, kind, &of[i], of[i].components ? of[i].components : 1);
    bool same;
    TES_TRY(stays(cells, &f->parts_of, &item, &field[i], &same));
    if (!same)
      TES_TRY(put_packed(f, cells, &item, per_cell, &field[i].values, &field[i].first, &field[i].digest));
    field[i].known = true;
    if (f->steps && !tesi_hdf_put_integer(&field[i].offsets, (hsize_t)f->step, field[i].first))
      TES_TRY(refuse(f));
  }
done:
  return status;
}

static bool put_step(TesVtkhdf *f, double time) {
  const hsize_t row = (hsize_t)f->step;
  return tesi_hdf_put_number(&f->values, row, time) && tesi_hdf_put_integer(&f->parts, row, 1) &&
         tesi_hdf_put_integer(&f->first_part, row, f->part.part) &&
         tesi_hdf_put_integer(&f->first_point, row, f->part.points) &&
         tesi_hdf_put_integer(&f->first_cell, row, f->part.cells) &&
         tesi_hdf_put_integer(&f->first_id, row, f->part.ids);
}

/* Writes all data of a step first, then counts the step. */
static TesStatus commit(TesVtkhdf *f, double time) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  const int64_t steps = f->step + 1;
  bool well = !f->steps || put_step(f, time);
  well = well && H5Fflush(f->file, H5F_SCOPE_GLOBAL) >= 0 && !f->disk.error;
  if (well && f->steps)
    well = H5Awrite(f->count, H5T_NATIVE_INT64, &steps) >= 0 && H5Fflush(f->file, H5F_SCOPE_GLOBAL) >= 0;
  if (!well || f->disk.error) return refuse(f);
  f->step = steps;
  if (f->temporary && rename(f->temporary, f->path) != 0)
    TES_FAIL(TES_IO, "cannot write %s: %s", f->path, strerror(errno));
  tesi_free(ctx, &f->temporary);
done:
  return status;
}

static TesStatus check_fields(const TesVtkhdf *f, const TesVtuDesc *d) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  TES_CHECK(d->precision == TES_DOUBLE, "VTKHDF files have numbers of float64");
  TES_CHECK(d->point_field_count + d->cell_field_count <= FIELDS, "%d fields, at most %d fit a VTKHDF file",
            d->point_field_count + d->cell_field_count, FIELDS);
  TES_CHECK(!f->step || f->steps, "%s is a file of one solution, which it has", f->path);
  TES_CHECK(f->file < 0 || (d->point_field_count == f->point_fields && d->cell_field_count == f->cell_fields),
            "%s has steps with %d fields of points and %d of cells, a new one has %d and %d", f->path,
            f->point_fields, f->cell_fields, d->point_field_count, d->cell_field_count);
done:
  return status;
}

/* On the rank that has the file. */
static TesStatus write_here(TesVtkhdf *f, const TesiVtuCells *cells, double time, const TesMesh *mesh) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  const TesVtuDesc *d = cells->desc;
  if (f->file < 0) TES_TRY(f->goes_on ? continue_file(f, d) : begin_file(f, d, cells->nodes));
  if (!mesh || mesh != f->mesh) {
    tes_mesh_destroy((TesMesh **)&f->mesh);
    TES_TRY(put_mesh(f, cells));
    f->mesh = mesh ? tesi_mesh_retain(mesh) : NULL;
  }
  TES_TRY(put_fields(f, cells, TESI_VTU_POINTS, d->point_field_count, d->point_fields, f->field));
  TES_TRY(
      put_fields(f, cells, TESI_VTU_CELLS, d->cell_field_count, d->cell_fields, f->field + f->point_fields));
  TES_TRY(commit(f, time));
done:
  return status;
}

static TesStatus check_step(const TesVtkhdf *f, const TesVtuDesc *d, TesiVtuCells *cells) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  if (f->failed) TES_FAIL(TES_IO, "%s could not be written before", f->path);
  TES_TRY(tesi_vtu_check(ctx, d));
  TES_TRY(check_fields(f, d));
  TES_TRY(tesi_vtu_cells_create(ctx, d, cells));
  cells->wide = true;
done:
  return status;
}

/* `mesh` may be NULL: a new one. */
static TesStatus write_step(TesVtkhdf *f, const TesVtuDesc *d, double time, const TesMesh *mesh) {
  TesContext *ctx = f->ctx;
  TesStatus status = TES_OK;
  TesiVtuCells cells = {.ctx = ctx};
  TES_TRY(tesi_file_agree(ctx, check_step(f, d, &cells)));
  tesi_slices_free(&f->parts_of);
  TES_TRY(tesi_slices_create(ctx, d->cells, &f->parts_of));
  cells.first = f->parts_of.first;
  status = f->elsewhere ? tesi_vtu_item_follow(&cells) : write_here(f, &cells, time, mesh);
  if (!f->elsewhere) tesi_vtu_item_release(ctx);
  status = tesi_file_agree(ctx, status);
done:
  tesi_vtu_cells_free(&cells);
  return status;
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

TesStatus tes_vtkhdf_write(TesVtkhdf *file, const TesVtuDesc *desc, double time) {
  tesi_work_begin_results(file->ctx, false, "writing %s", file->path);
  const TesStatus status = write_step(file, desc, time, NULL);
  tesi_work_end(file->ctx);
  return status;
}

typedef struct Step {
  TesVtkhdf *file;
  const TesMesh *mesh;
  double time;
} Step;

/* A sink of fields. */
static TesStatus write_fields(void *user, TesContext *ctx, const TesVtuDesc *desc) {
  const Step *step = user;
  (void)ctx;
  return write_step(step->file, desc, step->time, step->mesh);
}

TesStatus tes_vtkhdf_write_problem(TesVtkhdf *file, const TesProblem *problem, double time, int cell_count,
                                   const TesVtuArray *cell_fields) {
  Step step = {file, tes_space_mesh(tes_problem_space(problem)), time};
  tesi_work_begin_results(file->ctx, file->steps, "writing %s", file->path);
  const TesStatus status = tesi_vtu_problem(problem, cell_count, cell_fields, write_fields, &step);
  tesi_work_end(file->ctx);
  return status;
}
#endif
