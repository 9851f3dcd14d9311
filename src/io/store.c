/* See store.h. */
#include "io/store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/text.h"
#include "io/file.h"
#include "parallel/rank_slices.h"

#ifdef TESI_HDF5
#include "io/vtkhdf/vtkhdf.h"

enum { SLICE = 64 << 20 }; /* bytes in memory at one time */

struct TesiStore {
  TesContext *ctx;
  bool elsewhere; /* the file belongs to another rank */
  hid_t file;
  TesiHdfDisk state;
  int disk;          /* descriptor of a written file, for fsync */
  char *path, *part; /* part: name during writing; NULL: the file is only read */
};

static hid_t type_of(TesiStoreType type) {
  const hid_t types[] = {H5T_NATIVE_UCHAR, H5T_NATIVE_INT32, H5T_NATIVE_INT64, H5T_NATIVE_DOUBLE};
  return types[type];
}

static size_t size_of(TesiStoreType type) {
  return (const size_t[]){1, 4, 8, 8}[type];
}

void tesi_store_close(TesiStore **store) {
  TesiStore *s = *store;
  *store = NULL;
  if (!s) return;
  TesContext *ctx = s->ctx;
  if (s->file >= 0) H5Fclose(s->file);
  if (s->disk >= 0) close(s->disk);
  if (s->part) unlink(s->part);
  tesi_free(ctx, &s->path);
  tesi_free(ctx, &s->part);
  tesi_free(ctx, &s);
}

static TesStatus begin(TesContext *context, const char *path, TesiStore **store) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  *store = NULL;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* messages are given here, not by HDF5 */
  TES_NEW(store);
  (*store)->ctx = ctx;
  (*store)->elsewhere = tesi_ranks(ctx) > 1 && tes_communicator_rank(tesi_context_communicator(ctx)) > 0;
  (*store)->file = -1;
  (*store)->disk = -1;
  TES_TRY(tesi_copy_text(ctx, path, &(*store)->path));
done:
  if (status != TES_OK && *store) tesi_store_close(store);
  return status;
}

/* HDF5 (1.10) reads freed memory at the end of the process if a file could not be written when it was closed, as on a
 * full disk. The driver of `disk` hides such failures from HDF5. */
static TesStatus refuse(const TesiStore *s, const char *name) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  if (s->state.error) TES_FAIL(TES_IO, "cannot write %s: %s", s->path, strerror(s->state.error));
  TES_FAIL(TES_IO, "cannot write %s%s%s: HDF5 refuses it, or memory is out", name ? name : "",
           name ? " of " : "", s->path);
done:
  return status;
}

/* The file during writing. */
static TesStatus create_part(TesiStore *s) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  enum { LONGEST = 250 }; /* for longer names: the system allows 255 bytes */
  const char *path = s->path, *slash = strrchr(path, '/');
  const size_t length = strlen(path) + 6;
  const int folder = slash ? (int)(slash - path) + 1 : 0;
  struct stat there;
  if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) /* a new file will replace it */
    TES_FAIL(TES_IO, "cannot write %s: it is %s", path,
             S_ISDIR(there.st_mode) ? "a folder" : "no ordinary file");
  TES_ALLOC(&s->part, length);
  snprintf(s->part, length, "%.*s%.*s.part", folder, path, LONGEST, path + folder);
  s->disk = open(s->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (s->disk < 0) {
    tesi_free(ctx, &s->part); /* the file is not ours */
    TES_FAIL(TES_IO, "cannot write %s: %s", path, strerror(errno));
  }
  s->file = tesi_hdf_create_closed(s->part, &s->state);
  if (s->file < 0) TES_TRY(refuse(s, NULL));
done:
  return status;
}

static TesStatus open_by(TesContext *ctx, const char *path, TesStatus (*open_here)(TesiStore *s),
                         TesiStore **store) {
  TesStatus status = TES_OK;
  TesiStore *s = NULL;
  *store = NULL;
  status = begin(ctx, path, &s);
  if (status == TES_OK && !s->elsewhere) status = open_here(s);
  TES_TRY(tesi_file_agree(ctx, status));
  *store = s;
  s = NULL;
done:
  tesi_store_close(&s);
  return status;
}

TesStatus tesi_store_create(TesContext *ctx, const char *path, TesiStore **store) {
  return open_by(ctx, path, create_part, store);
}

/* ---- writing arrays ------------------------------------------------------------------------------------ */

/* An array in the file, whose entries before `at` have been transferred. */
typedef struct Array {
  TesiStore *store;
  const char *name;
  TesiStoreType type;
  hid_t set;
  int64_t all, at;
  uint64_t sum;
} Array;

static bool create_array(Array *a) {
  const hsize_t length = (hsize_t)a->all;
  const hid_t space = H5Screate_simple(1, &length, NULL);
  a->sum = TESI_HASH;
  a->set = H5Dcreate2(a->store->file, a->name, type_of(a->type), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(space);
  return a->set >= 0;
}

/* Reads or writes `count` entries of the file from number `first` on. */
static bool move_entries(const Array *a, bool read, int64_t first, int64_t count, void *data) {
  const hsize_t from = (hsize_t)first, n = (hsize_t)count;
  if (!count) return true;
  const hid_t there = H5Dget_space(a->set), here = H5Screate_simple(1, &n, NULL), type = type_of(a->type);
  bool well =
      there >= 0 && here >= 0 && H5Sselect_hyperslab(there, H5S_SELECT_SET, &from, NULL, &n, NULL) >= 0;
  well = well && (read ? H5Dread(a->set, type, here, there, H5P_DEFAULT, data)
                       : H5Dwrite(a->set, type, here, there, H5P_DEFAULT, data)) >= 0;
  if (there >= 0) H5Sclose(there);
  if (here >= 0) H5Sclose(here);
  return well;
}

static bool append(Array *a, int64_t count, const void *data) {
  const bool well = move_entries(a, false, a->at, count, (void *)data);
  a->sum = tesi_hash(a->sum, data, (size_t)count * size_of(a->type));
  a->at += count;
  return well && !a->store->state.error;
}

static bool end_array(Array *a) {
  const hid_t scalar = H5Screate(H5S_SCALAR),
              note = H5Acreate2(a->set, "checksum", H5T_NATIVE_UINT64, scalar, H5P_DEFAULT, H5P_DEFAULT);
  const bool well = note >= 0 && H5Awrite(note, H5T_NATIVE_UINT64, &a->sum) >= 0;
  if (note >= 0) H5Aclose(note);
  H5Sclose(scalar);
  return well && !a->store->state.error;
}

static int64_t slice_of(TesiStoreType type) {
  return SLICE / (int64_t)size_of(type);
}

/* Writes a block slice by slice, from the entries of all ranks. */
static TesStatus put_block(Array *a, const TesiSlices *parts, const void *part, void *slice) {
  TesContext *ctx = parts->context;
  TesStatus status = TES_OK;
  const int64_t most = slice_of(a->type);
  for (int64_t at = 0; at < parts->all; at += most) {
    const int64_t n = parts->all - at < most ? parts->all - at : most;
    TES_TRY(tesi_slices_collect(parts, size_of(a->type), part, at, n, slice));
    if (!a->store->elsewhere && !append(a, n, slice)) status = refuse(a->store, a->name);
    TES_TRY(tesi_file_agree(ctx, status));
  }
done:
  return status;
}

TesStatus tesi_store_put_parts(TesiStore *store, const char *name, TesiStoreType type, int blocks,
                               const int64_t *count, const void *const *part) {
  enum { MOST = 16 };
  TesContext *ctx = store->ctx;
  TesStatus status = TES_OK;
  Array a = {.store = store, .name = name, .type = type, .set = -1};
  TesiSlices parts[MOST] = {{0}};
  void *slice = NULL;
  int64_t longest = 0;
  TES_CHECK(blocks <= MOST, "%d blocks of an array, expected 1..%d", blocks, MOST);
  for (int b = 0; b < blocks; b++) {
    TES_TRY(tesi_slices_create(ctx, count[b], &parts[b]));
    a.all += parts[b].all;
    longest = parts[b].all > longest ? parts[b].all : longest;
  }
  if (longest > slice_of(type)) longest = slice_of(type);
  if (!store->elsewhere) status = tesi_alloc(ctx, (size_t)longest + 1, size_of(type), &slice);
  if (status == TES_OK && !store->elsewhere && !create_array(&a)) status = refuse(store, name);
  TES_TRY(tesi_file_agree(ctx, status));
  for (int b = 0; b < blocks; b++) TES_TRY(put_block(&a, &parts[b], part[b], slice));
  if (!store->elsewhere && !end_array(&a)) status = refuse(store, name);
  TES_TRY(tesi_file_agree(ctx, status));
done:
  for (int b = 0; b < blocks && b < MOST; b++) tesi_slices_free(&parts[b]);
  if (a.set >= 0) H5Dclose(a.set);
  tesi_free(ctx, &slice);
  return status;
}

/* Data that all ranks have are written by the rank that has the file. */
TesStatus tesi_store_put(TesiStore *store, const char *name, TesiStoreType type, int64_t count,
                         const void *data) {
  TesStatus status = TES_OK;
  Array a = {.store = store, .name = name, .type = type, .set = -1, .all = count};
  if (!store->elsewhere && !(create_array(&a) && append(&a, count, data) && end_array(&a)))
    status = refuse(store, name);
  if (a.set >= 0) H5Dclose(a.set);
  return tesi_file_agree(store->ctx, status);
}

/* Synchronises the file before it gets its name, so that it survives a crash afterwards. */
static TesStatus commit(TesiStore *s) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const bool closed = H5Fclose(s->file) >= 0;
  s->file = -1;
  if (!closed || s->state.error) TES_TRY(refuse(s, NULL));
  if (fsync(s->disk) != 0 || rename(s->part, s->path) != 0)
    TES_FAIL(TES_IO, "cannot write %s: %s", s->path, strerror(errno));
  tesi_free(ctx, &s->part);
done:
  return status;
}

TesStatus tesi_store_commit(TesiStore **store) {
  TesContext *ctx = (*store)->ctx;
  const TesStatus status = tesi_file_agree(ctx, (*store)->elsewhere ? TES_OK : commit(*store));
  tesi_store_close(store);
  return status;
}

/* ---- reading arrays ------------------------------------------------------------------------------------ */

static TesStatus open_here(TesiStore *s) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  if (access(s->path, R_OK) != 0) TES_FAIL(TES_IO, "cannot read %s: %s", s->path, strerror(errno));
  s->file = H5Fopen(s->path, H5F_ACC_RDONLY, H5P_DEFAULT);
  TES_CHECK(s->file >= 0, "%s is no HDF5 file, or is damaged", s->path);
done:
  return status;
}

TesStatus tesi_store_open(TesContext *ctx, const char *path, TesiStore **store) {
  return open_by(ctx, path, open_here, store);
}

/* Checks class and size of the stored array, before memory is allocated for it. */
static bool same_type(hid_t set, TesiStoreType type) {
  const hid_t stored = H5Dget_type(set);
  const bool same = stored >= 0 && H5Tget_size(stored) == size_of(type) &&
                    H5Tget_class(stored) == H5Tget_class(type_of(type));
  if (stored >= 0) H5Tclose(stored);
  return same;
}

static bool read_sum(hid_t set, uint64_t *sum) {
  const hid_t note = H5Aopen(set, "checksum", H5P_DEFAULT);
  const bool read = note >= 0 && H5Aread(note, H5T_NATIVE_UINT64, sum) >= 0;
  if (note >= 0) H5Aclose(note);
  return read;
}

static TesStatus open_array(Array *a, int64_t expected) {
  TesContext *ctx = a->store->ctx;
  TesStatus status = TES_OK;
  const char *path = a->store->path;
  a->sum = TESI_HASH;
  a->set = H5Dopen2(a->store->file, a->name, H5P_DEFAULT);
  const hid_t space = a->set < 0 ? -1 : H5Dget_space(a->set);
  a->all = space < 0 ? -1 : (int64_t)H5Sget_simple_extent_npoints(space);
  if (space >= 0) H5Sclose(space);
  TES_CHECK(a->all >= 0 && same_type(a->set, a->type), "%s is damaged or no checkpoint: %s is missing", path,
            a->name);
  TES_CHECK(expected < 0 || a->all == expected, "%s is damaged: %s has %lld entries, expected %lld", path,
            a->name, (long long)a->all, (long long)expected);
  /* A damaged length could ask for any amount of memory, so it is compared with the size of the file. */
  TES_CHECK((uint64_t)a->all * size_of(a->type) <= H5Dget_storage_size(a->set),
            "%s is damaged: %s is cut short", path, a->name);
done:
  return status;
}

static TesStatus check_sum(const Array *a) {
  TesContext *ctx = a->store->ctx;
  TesStatus status = TES_OK;
  uint64_t sum = 0;
  TES_CHECK(read_sum(a->set, &sum), "%s is damaged: %s cannot be read", a->store->path, a->name);
  TES_CHECK(sum == a->sum, "%s is damaged: the checksum of %s is wrong", a->store->path, a->name);
done:
  return status;
}

static TesStatus read_entries(Array *a, int64_t count, void *data) {
  TesContext *ctx = a->store->ctx;
  TesStatus status = TES_OK;
  TES_CHECK(move_entries(a, true, a->at, count, data), "%s is damaged: %s cannot be read", a->store->path,
            a->name);
  a->sum = tesi_hash(a->sum, data, (size_t)count * size_of(a->type));
  a->at += count;
done:
  return status;
}

static TesStatus read_slices(Array *a, TesiStoreTake take, void *user, void *slice) {
  TesContext *ctx = a->store->ctx;
  TesStatus status = TES_OK;
  const int64_t most = slice_of(a->type);
  for (int64_t at = 0; at < a->all; at += most) {
    const int64_t n = a->all - at < most ? a->all - at : most;
    if (!a->store->elsewhere) status = read_entries(a, n, slice);
    TES_TRY(tesi_file_agree(ctx, status));
    tesi_broadcast(ctx, 0, n * (int64_t)size_of(a->type), slice);
    take(user, at, n, slice);
  }
done:
  return status;
}

TesStatus tesi_store_read(TesiStore *store, const char *name, TesiStoreType type, int64_t expected,
                          TesiStoreTake take, void *user) {
  TesContext *ctx = store->ctx;
  TesStatus status = TES_OK;
  Array a = {.store = store, .name = name, .type = type, .set = -1};
  void *slice = NULL;
  if (!store->elsewhere) status = open_array(&a, expected);
  TES_TRY(tesi_file_agree(ctx, status));
  tesi_broadcast(ctx, 0, sizeof a.all, &a.all);
  const int64_t most = a.all < slice_of(type) ? a.all : slice_of(type);
  TES_TRY(tesi_agree(ctx, tesi_alloc(ctx, (size_t)most + 1, size_of(type), &slice)));
  TES_TRY(read_slices(&a, take, user, slice));
  TES_TRY(tesi_file_agree(ctx, store->elsewhere ? TES_OK : check_sum(&a)));
done:
  if (a.set >= 0) H5Dclose(a.set);
  tesi_free(ctx, &slice);
  return status;
}

/* Rank 0 reads, and all ranks get the data. */
TesStatus tesi_store_get(TesiStore *store, const char *name, TesiStoreType type, int64_t expected,
                         void *pointer_to_data, int64_t *count) {
  TesContext *ctx = store->ctx;
  TesStatus status = TES_OK;
  Array a = {.store = store, .name = name, .type = type, .set = -1};
  void **data = pointer_to_data;
  *data = NULL;
  if (!store->elsewhere) status = open_array(&a, expected);
  TES_TRY(tesi_file_agree(ctx, status));
  tesi_broadcast(ctx, 0, sizeof a.all, &a.all);
  status = tesi_alloc(ctx, (size_t)a.all + 1, size_of(type), data);
  if (status == TES_OK && !store->elsewhere) status = read_entries(&a, a.all, *data);
  if (status == TES_OK && !store->elsewhere) status = check_sum(&a);
  TES_TRY(tesi_file_agree(ctx, status));
  tesi_broadcast(ctx, 0, a.all * (int64_t)size_of(type), *data);
  if (count) *count = a.all;
done:
  if (status != TES_OK) tesi_free(ctx, data);
  if (a.set >= 0) H5Dclose(a.set);
  return status;
}

bool tesi_store_has(TesiStore *store, const char *name) {
  bool has = !store->elsewhere && H5Lexists(store->file, name, H5P_DEFAULT) > 0;
  tesi_broadcast(store->ctx, 0, sizeof has, &has);
  return has;
}
#else
static TesStatus missing(TesContext *ctx) {
  TesStatus status = TES_OK;
  TES_FAIL(
      TES_MISSING,
      "checkpoints are HDF5 files, and Tessera was built without HDF5: install libhdf5-dev and build with "
      "-DTESSERA_HDF5=ON");
done:
  return status;
}

TesStatus tesi_store_create(TesContext *ctx, const char *path, TesiStore **store) {
  (void)path;
  *store = NULL;
  return missing(ctx);
}

TesStatus tesi_store_open(TesContext *ctx, const char *path, TesiStore **store) {
  (void)path;
  *store = NULL;
  return missing(ctx);
}

/* These functions are never reached, since there is no store. */
TesStatus tesi_store_put(TesiStore *store, const char *name, TesiStoreType type, int64_t count,
                         const void *data) {
  (void)store, (void)name, (void)type, (void)count, (void)data;
  return TES_INTERNAL;
}

TesStatus tesi_store_put_parts(TesiStore *store, const char *name, TesiStoreType type, int blocks,
                               const int64_t *count, const void *const *part) {
  (void)store, (void)name, (void)type, (void)blocks, (void)count, (void)part;
  return TES_INTERNAL;
}

TesStatus tesi_store_read(TesiStore *store, const char *name, TesiStoreType type, int64_t expected,
                          TesiStoreTake take, void *user) {
  (void)store, (void)name, (void)type, (void)expected, (void)take, (void)user;
  return TES_INTERNAL;
}

TesStatus tesi_store_commit(TesiStore **store) {
  (void)store;
  return TES_INTERNAL;
}

TesStatus tesi_store_get(TesiStore *store, const char *name, TesiStoreType type, int64_t expected,
                         void *pointer_to_data, int64_t *count) {
  (void)store, (void)name, (void)type, (void)expected, (void)pointer_to_data, (void)count;
  return TES_INTERNAL;
}

bool tesi_store_has(TesiStore *store, const char *name) {
  (void)store, (void)name;
  return false;
}

void tesi_store_close(TesiStore **store) {
  *store = NULL;
}
#endif
