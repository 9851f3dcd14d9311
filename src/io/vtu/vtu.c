/* VTU files: the XML part. Its offsets are filled in when the arrays after it are written. */
#include "io/vtu/vtu.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/work.h"
#include "io/number.h"
#include "parallel/comm.h"

enum { OFFSET_WIDTH = 22, LARGEST_DEGREE = 20 }; /* "..." with up to 20 digits */

typedef struct Writer {
  TesContext *ctx;
  const TesVtuDesc *desc;
  TesiFile *file;
  TesiVtuCells cells;
  TesiVtuItem *items; /* [count], in the order of the file */
  int64_t *places;    /* [count], of their offset attributes */
  int count;
} Writer;

/* ---- checks -------------------------------------------------------------------------------------------- */

enum { MOST_FIELDS = 1 << 20 };

static bool is_plain(const char *name) {
  if (!name || !*name) return false;
  for (const char *c = name; *c; c++)
    if (strchr("<>&\"'", *c) || (unsigned char)*c < 32) return false;
  return true;
}

static TesStatus check_array(TesContext *ctx, const TesVtuArray *a, const char *what, int64_t cells) {
  TesStatus status = TES_OK;
  TES_CHECK(is_plain(a->name), "%s needs a name without < > & and quotes", what);
  TES_CHECK((a->components >= 0 && a->components <= 3) || a->components == 6,
            "%s '%s' has %d components, expected 1 to 3 or 6", what, a->name, a->components);
  TES_CHECK(a->values || a->fill || !cells, "%s '%s' has neither values nor a function", what, a->name);
done:
  return status;
}

static TesStatus check_arrays(TesContext *ctx, int count, const TesVtuArray *arrays, const char *what,
                              int64_t cells) {
  TesStatus status = TES_OK;
  TES_CHECK(count >= 0 && count <= MOST_FIELDS, "%d times %s, expected 0 to %d", count, what, MOST_FIELDS);
  TES_CHECK(arrays || !count, "%d times %s, and the list is NULL", count, what);
  for (int i = 0; i < count; i++) TES_TRY(check_array(ctx, &arrays[i], what, cells));
done:
  return status;
}

TesStatus tesi_vtu_check(TesContext *ctx, const TesVtuDesc *d) {
  TesStatus status = TES_OK;
  TES_CHECK(d->dim == 2 || d->dim == 3, "dim is %d, expected 2 or 3", d->dim);
  TES_CHECK(d->degree >= 1 && d->degree <= LARGEST_DEGREE, "degree is %d, expected 1 to %d", d->degree,
            LARGEST_DEGREE);
  TES_CHECK(d->cells >= 0 && d->cells < INT64_MAX / 1000000, "there are %lld cells", (long long)d->cells);
  TES_CHECK(d->compression >= 0 && d->compression <= 9, "compression is %d, expected 0 to 9", d->compression);
  TES_CHECK(d->coordinates.values || d->coordinates.fill || !d->cells, "there are no coordinates");
  TES_CHECK(d->precision == TES_DOUBLE || d->precision == TES_SINGLE, "precision is %d, expected 0 or 1",
            (int)d->precision);
  TES_TRY(check_arrays(ctx, d->point_field_count, d->point_fields, "a point field", d->cells));
  TES_TRY(check_arrays(ctx, d->cell_field_count, d->cell_fields, "a cell field", d->cells));
done:
  return status;
}

/* ---- XML ----------------------------------------------------------------------------------------------- */

static TesStatus put_item(Writer *w, TesiVtuKind kind, const TesVtuArray *array, const char *name,
                          int components) {
  TesContext *ctx = w->ctx;
  TesStatus status = TES_OK;
  const TesiVtuItem item = tesi_vtu_item(&w->cells, kind, array, components);
  const char *type = kind == TESI_VTU_TYPES                              ? "UInt8"
                     : kind != TESI_VTU_POINTS && kind != TESI_VTU_CELLS ? (w->cells.wide ? "Int64" : "Int32")
                     : w->desc->precision == TES_SINGLE                  ? "Float32"
                                                                         : "Float64";
  TES_TRY(tesi_file_printf(w->file, "<DataArray type=\"%s\" Name=\"%.1000s\" ", type, name));
  if (item.written > 1) TES_TRY(tesi_file_printf(w->file, "NumberOfComponents=\"%d\" ", item.written));
  TES_TRY(tesi_file_printf(w->file, "format=\"appended\" offset="));
  w->places[w->count] = tesi_file_position(w->file);
  w->items[w->count++] = item;
  TES_TRY(tesi_file_printf(w->file, "%*s/>\n", OFFSET_WIDTH, ""));
done:
  return status;
}

static TesStatus put_fields(Writer *w, const char *element, TesiVtuKind kind, int count,
                            const TesVtuArray *fields) {
  TesContext *ctx = w->ctx;
  TesStatus status = TES_OK;
  TES_TRY(tesi_file_printf(w->file, "<%s", element));
  if (count)
    TES_TRY(tesi_file_printf(w->file, " %s=\"%.1000s\"", fields->components > 1 ? "Vectors" : "Scalars",
                             fields->name));
  TES_TRY(tesi_file_printf(w->file, ">\n"));
  for (int i = 0; i < count; i++)
    TES_TRY(put_item(w, kind, &fields[i], fields[i].name, fields[i].components ? fields[i].components : 1));
  TES_TRY(tesi_file_printf(w->file, "</%s>\n", element));
done:
  return status;
}

static TesStatus put_head(Writer *w) {
  TesContext *ctx = w->ctx;
  TesStatus status = TES_OK;
  const TesVtuDesc *d = w->desc;
  const uint16_t one = 1;
  const char *order = *(const unsigned char *)&one ? "LittleEndian" : "BigEndian";
  TES_TRY(
      tesi_file_printf(w->file,
                       "<?xml version=\"1.0\"?>\n<!-- written by Tessera %s -->\n"
                       "<VTKFile type=\"UnstructuredGrid\" version=\"2.2\" byte_order=\"%s\" "
                       "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n<UnstructuredGrid>\n"
                       "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
                       tes_version(), order, (long long)d->cells * w->cells.nodes, (long long)d->cells));
  TES_TRY(put_fields(w, "PointData", TESI_VTU_POINTS, d->point_field_count, d->point_fields));
  TES_TRY(put_fields(w, "CellData", TESI_VTU_CELLS, d->cell_field_count, d->cell_fields));
  TES_TRY(tesi_file_printf(w->file, "<Points>\n"));
  TES_TRY(put_item(w, TESI_VTU_POINTS, &d->coordinates, "Points", d->dim));
  TES_TRY(tesi_file_printf(w->file, "</Points>\n<Cells>\n"));
  TES_TRY(put_item(w, TESI_VTU_CONNECTIVITY, NULL, "connectivity", 0));
  TES_TRY(put_item(w, TESI_VTU_OFFSETS, NULL, "offsets", 0));
  TES_TRY(put_item(w, TESI_VTU_TYPES, NULL, "types", 0));
  TES_TRY(tesi_file_printf(w->file,
                           "</Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_"));
done:
  return status;
}

/* ---- arrays -------------------------------------------------------------------------------------------- */

enum { BLOCK = 1 << 18 };

/* The present array: [number of blocks, block size, size of a last partial block, compressed sizes], blocks. */
typedef struct Blocks {
  TesiFile *file;
  uint64_t *sizes; /* that header */
  int64_t done;
} Blocks;

static TesStatus put_block(void *user, const void *packed, size_t size) {
  Blocks *blocks = user;
  blocks->sizes[3 + blocks->done++] = size;
  return tesi_file_write(blocks->file, packed, size);
}

static TesStatus put_array(Writer *w, int i, int64_t begin) {
  TesContext *ctx = w->ctx;
  TesStatus status = TES_OK;
  const TesiVtuItem *item = &w->items[i];
  TesiVtuStream *stream = NULL;
  Blocks blocks = {.file = w->file};
  char offset[OFFSET_WIDTH + 1];
  const int64_t header = tesi_file_position(w->file), bytes = w->desc->cells * (int64_t)item->bytes,
                count = (bytes + BLOCK - 1) / BLOCK;
  const int length = snprintf(offset, sizeof offset, "\"%lld\"", (long long)(header - begin));
  const TesiVtuStreamDesc desc = {.bytes = bytes,
                                  .block = BLOCK,
                                  .level = w->desc->compression ? w->desc->compression : 1,
                                  .put = put_block,
                                  .user = &blocks};
  TES_TRY(tesi_file_patch(w->file, w->places[i], offset, (size_t)length));
  TES_ALLOC(&blocks.sizes, 3 + count);
  blocks.sizes[0] = (uint64_t)count;
  blocks.sizes[1] = BLOCK;
  blocks.sizes[2] = (uint64_t)(bytes % BLOCK);
  TES_TRY(tesi_file_write(w->file, blocks.sizes, (size_t)(3 + count) * sizeof *blocks.sizes));
  TES_TRY(tesi_vtu_stream_begin(ctx, &desc, &stream));
  TES_TRY(tesi_vtu_item_write(&w->cells, item, tesi_vtu_stream_write, stream));
  TES_TRY(tesi_vtu_stream_end(&stream));
  TES_TRY(tesi_file_patch(w->file, header, blocks.sizes, (size_t)(3 + count) * sizeof *blocks.sizes));
done:
  tesi_vtu_stream_discard(&stream);
  tesi_free(ctx, &blocks.sizes);
  return status;
}

static TesStatus put_arrays(Writer *w) {
  TesContext *ctx = w->ctx;
  TesStatus status = TES_OK;
  const int64_t begin = tesi_file_position(w->file);
  for (int i = 0; i < w->count; i++) TES_TRY(put_array(w, i, begin));
  TES_TRY(tesi_file_printf(w->file, "\n</AppendedData>\n</VTKFile>\n"));
done:
  return status;
}

/* A name in quotes of XML. */
static TesStatus put_name(TesiFile *file, const char *name) {
  static const char special[] = "<>&\"'", *const written[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
  TesStatus status = TES_OK;
  for (const char *c = name; *c && status == TES_OK; c++) {
    const char *found = strchr(special, *c), *text = found ? written[found - special] : c;
    status = tesi_file_write(file, text, found ? strlen(text) : 1);
  }
  return status;
}

/* ---- pieces of several ranks --------------------------------------------------------------------------- */

enum { ENDING = 32 };

/* "folder/name.vtu" -> "folder/name_0003.vtu"; rank -1: "folder/name.pvtu". The caller frees. */
static TesStatus name_piece(TesContext *ctx, const char *path, int rank, char **name) {
  TesStatus status = TES_OK;
  const size_t length = strlen(path), own = strlen(".vtu");
  const int stem = (int)(length > own && !strcmp(path + length - own, ".vtu") ? length - own : length);
  TES_ALLOC(name, length + ENDING);
  if (rank < 0)
    snprintf(*name, length + ENDING, "%.*s.pvtu", stem, path);
  else
    snprintf(*name, length + ENDING, "%.*s_%04d.vtu", stem, path, rank);
done:
  return status;
}

/* The arrays of a piece, as put_fields() and put_item() write them. */
static TesStatus put_shared_fields(Writer *w, TesiFile *file, const char *element, TesiVtuKind kind,
                                   int count, const TesVtuArray *fields) {
  TesContext *ctx = w->ctx;
  TesStatus status = TES_OK;
  TES_TRY(tesi_file_printf(file, "<P%s", element));
  if (count && fields->name)
    TES_TRY(tesi_file_printf(file, " %s=\"%.1000s\"", fields->components > 1 ? "Vectors" : "Scalars",
                             fields->name));
  TES_TRY(tesi_file_printf(file, ">\n"));
  for (int i = 0; i < count; i++) {
    const int components = fields[i].components ? fields[i].components : 1,
              written = tesi_vtu_item(&w->cells, kind, &fields[i], components).written;
    TES_TRY(tesi_file_printf(file, "<PDataArray type=\"%s\" Name=\"%.1000s\" NumberOfComponents=\"%d\"/>\n",
                             w->desc->precision == TES_SINGLE ? "Float32" : "Float64",
                             fields[i].name ? fields[i].name : "Points", tesi_max(written, 1)));
  }
  TES_TRY(tesi_file_printf(file, "</P%s>\n", element));
done:
  return status;
}

static TesStatus put_pieces(Writer *w, TesiFile *file, const char *path) {
  TesContext *ctx = w->ctx;
  TesStatus status = TES_OK;
  char *name = NULL;
  for (int r = 0; r < tesi_ranks(ctx); r++) {
    TES_TRY(name_piece(ctx, path, r, &name));
    const char *slash = strrchr(name, '/');
    TES_TRY(tesi_file_printf(file, "<Piece Source=\""));
    TES_TRY(put_name(file, slash ? slash + 1 : name));
    TES_TRY(tesi_file_printf(file, "\"/>\n"));
    tesi_free(ctx, &name);
  }
done:
  tesi_free(ctx, &name);
  return status;
}

/* The file that lists the pieces, written by rank 0. */
static TesStatus write_list(Writer *w, const char *path) {
  TesContext *ctx = w->ctx;
  TesStatus status = TES_OK;
  const TesVtuDesc *d = w->desc;
  TesVtuArray points = d->coordinates;
  TesiFile *file = NULL;
  char *name = NULL;
  points.name = NULL, points.components = d->dim;
  TES_TRY(name_piece(ctx, path, -1, &name));
  TES_TRY(tesi_file_create(ctx, name, &file));
  TES_TRY(tesi_file_printf(file,
                           "<?xml version=\"1.0\"?>\n<VTKFile type=\"PUnstructuredGrid\" version=\"2.2\">\n"
                           "<PUnstructuredGrid GhostLevel=\"0\">\n"));
  TES_TRY(put_shared_fields(w, file, "PointData", TESI_VTU_POINTS, d->point_field_count, d->point_fields));
  TES_TRY(put_shared_fields(w, file, "CellData", TESI_VTU_CELLS, d->cell_field_count, d->cell_fields));
  TES_TRY(put_shared_fields(w, file, "Points", TESI_VTU_POINTS, 1, &points));
  TES_TRY(put_pieces(w, file, path));
  TES_TRY(tesi_file_printf(file, "</PUnstructuredGrid>\n</VTKFile>\n"));
  TES_TRY(tesi_file_commit(&file));
done:
  tesi_file_discard(&file);
  tesi_free(ctx, &name);
  return status;
}

/* -------------------------------------------------------------------------------------------------------- */

static TesStatus prepare(Writer *w, const char *path) {
  TesContext *ctx = w->ctx;
  TesStatus status = TES_OK;
  const int count = w->desc->point_field_count + w->desc->cell_field_count + 4;
  char *piece = NULL;
  TES_TRY(tesi_vtu_cells_create(ctx, w->desc, &w->cells));
  TES_ALLOC(&w->items, count);
  TES_ALLOC(&w->places, count);
  if (tesi_ranks(ctx) > 1) TES_TRY(name_piece(ctx, path, tesi_context_communicator(ctx)->rank, &piece));
  TES_TRY(tesi_file_create_piece(ctx, piece ? piece : path, &w->file));
  if (!tesi_file_can_patch(w->file))
    TES_FAIL(TES_IO, "cannot write %s: a VTU file needs a regular file, no pipe or device", path);
done:
  tesi_free(ctx, &piece);
  return status;
}

TesStatus tes_vtu_write(TesContext *context, const TesVtuDesc *desc, const char *path) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  Writer w = {.ctx = ctx, .desc = desc, .cells = {.ctx = ctx}};
  TES_REFUSE_NULL(context, desc, path);
  tesi_work_begin_results(ctx, false, "writing %s", path);
  TES_TRY(tesi_vtu_check(ctx, desc));
  TES_TRY(prepare(&w, path));
  TES_TRY(put_head(&w));
  TES_TRY(put_arrays(&w));
  TES_TRY(tesi_file_commit(&w.file));
  if (tesi_ranks(ctx) > 1) TES_TRY(write_list(&w, path));
done:
  tesi_work_end(ctx);
  tesi_file_discard(&w.file);
  tesi_vtu_cells_free(&w.cells);
  tesi_free(ctx, &w.items);
  tesi_free(ctx, &w.places);
  return status;
}

static bool can_stand_in_xml(const char *name) {
  for (const char *c = name; c && *c; c++)
    if ((unsigned char)*c < 32) return false;
  return name && *name;
}

TesStatus tes_pvd_write(TesContext *context, int count, const TesPvdEntry *entries, const char *path) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiFile *file = NULL;
  TES_CHECK(count >= 0 && (entries || !count), "a series of %d files, %s", count,
            count < 0 ? "expected 0 or more" : "and the list is NULL");
  for (int i = 0; i < count; i++) {
    TES_CHECK(can_stand_in_xml(entries[i].file),
              "file %d of a series needs a name without control characters", i);
    TES_CHECK(isfinite(entries[i].time), "the time of '%s' is %g", entries[i].file, entries[i].time);
  }
  TES_TRY(tesi_file_create(ctx, path, &file));
  TES_TRY(tesi_file_printf(
      file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n"));
  for (int i = 0; i < count; i++) {
    char time[32];
    tesi_number_write(time, sizeof time, entries[i].time);
    TES_TRY(tesi_file_printf(file, "<DataSet timestep=\"%s\" part=\"0\" file=\"", time));
    TES_TRY(put_name(file, entries[i].file));
    TES_TRY(tesi_file_printf(file, "\"/>\n"));
  }
  TES_TRY(tesi_file_printf(file, "</Collection>\n</VTKFile>\n"));
  TES_TRY(tesi_file_commit(&file));
done:
  tesi_file_discard(&file);
  return status;
}
