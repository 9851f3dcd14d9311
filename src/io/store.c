/* See store.h. */
#include "io/store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "parallel/comm.h"

#ifdef TESI_HDF5
#include <hdf5.h>

struct TesiStore {
  TesContext *ctx;
  hid_t file;        /* one that is written is in memory until it is whole */
  int disk;          /* and then goes here */
  char *path, *part; /* part: the name while it is written; NULL: only read */
};

static uint64_t checksum(const void *data, size_t bytes) { /* FNV-1a */
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
  return hash;
}

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
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* messages are ours to give */
  TES_NEW(store);
  (*store)->ctx = ctx;
  (*store)->file = -1;
  (*store)->disk = -1;
  (*store)->path = tesi_strdup(ctx, path);
  if (!(*store)->path) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the name of a file");
done:
  if (status != TES_OK && *store) tesi_store_close(store);
  return status;
}

/* HDF5 (1.10) reads freed memory at the end of the process when a file could not be written at its close, as on a
 * full disk: it writes to memory. */
static hid_t create_in_memory(const char *name) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const bool chosen = H5Pset_fapl_core(access, 1 << 20, 0) >= 0;
  const hid_t file = chosen ? H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access) : -1;
  H5Pclose(access);
  return file;
}

TesStatus tesi_store_create(TesContext *context, const char *path, TesiStore **store) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiStore *s = NULL;
  enum { LONGEST = 250 }; /* of a name that becomes longer: 255 bytes are a file's */
  const size_t length = strlen(path) + 6;
  const char *slash = strrchr(path, '/');
  const int folder = slash ? (int)(slash - path) + 1 : 0;
  struct stat there;
  *store = NULL;
  TES_TRY(tesi_one_rank(ctx, "a checkpoint"));
  if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) /* a new file will take its place */
    TES_FAIL(TES_IO, "cannot write %s: it is %s", path,
             S_ISDIR(there.st_mode) ? "a folder" : "no ordinary file");
  TES_TRY(begin(ctx, path, &s));
  TES_ALLOC(&s->part, length);
  snprintf(s->part, length, "%.*s%.*s.part", folder, path, LONGEST, path + folder);
  s->disk = open(s->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (s->disk < 0) {
    tesi_free(ctx, &s->part); /* it is not ours */
    TES_FAIL(TES_IO, "cannot write %s: %s", path, strerror(errno));
  }
  s->file = create_in_memory(s->part);
  if (s->file < 0) TES_FAIL(TES_IO, "cannot write %s: HDF5 refuses it", path);
  *store = s;
  s = NULL;
done:
  tesi_store_close(&s);
  return status;
}

TesStatus tesi_store_put(TesiStore *store, const char *name, TesiStoreType type, int64_t count,
                         const void *data) {
  TesContext *ctx = store->ctx;
  TesStatus status = TES_OK;
  const hsize_t length = (hsize_t)count;
  const uint64_t sum = checksum(data, (size_t)count * size_of(type));
  const hid_t space = H5Screate_simple(1, &length, NULL), scalar = H5Screate(H5S_SCALAR);
  const hid_t set = H5Dcreate2(store->file, name, type_of(type), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t note =
      set < 0 ? -1 : H5Acreate2(set, "checksum", H5T_NATIVE_UINT64, scalar, H5P_DEFAULT, H5P_DEFAULT);
  const bool written = note >= 0 &&
                       (!count || H5Dwrite(set, type_of(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0) &&
                       H5Awrite(note, H5T_NATIVE_UINT64, &sum) >= 0;
  if (note >= 0) H5Aclose(note);
  if (set >= 0) H5Dclose(set);
  H5Sclose(space);
  H5Sclose(scalar);
  if (!written)
    TES_FAIL(TES_IO, "cannot write %s of %s: HDF5 refuses it, or memory is out", name, store->path);
done:
  return status;
}

static bool write_all(int disk, const char *bytes, size_t count) {
  for (ssize_t written; count > 0; bytes += written, count -= (size_t)written) {
    written = write(disk, bytes, count);
    if (written < 0 && errno == EINTR) written = 0;
    if (written < 0) return false;
  }
  return true;
}

/* The file as HDF5 would have written it; on the disk before the name changes, so that it survives a crash after it. */
TesStatus tesi_store_commit(TesiStore **store) {
  TesiStore *s = *store;
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  char *image = NULL;
  const bool flushed = H5Fflush(s->file, H5F_SCOPE_GLOBAL) >= 0;
  const ssize_t size = flushed ? H5Fget_file_image(s->file, NULL, 0) : -1;
  if (size < 0) TES_FAIL(TES_IO, "cannot write %s: HDF5 refuses it", s->path);
  TES_ALLOC(&image, size);
  if (H5Fget_file_image(s->file, image, (size_t)size) != size)
    TES_FAIL(TES_IO, "cannot write %s: HDF5 refuses it", s->path);
  if (!write_all(s->disk, image, (size_t)size) || fsync(s->disk) != 0 || rename(s->part, s->path) != 0)
    TES_FAIL(TES_IO, "cannot write %s: %s", s->path, strerror(errno));
  tesi_free(ctx, &s->part);
done:
  tesi_free(ctx, &image);
  tesi_store_close(store);
  return status;
}

TesStatus tesi_store_open(TesContext *context, const char *path, TesiStore **store) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiStore *s = NULL;
  *store = NULL;
  TES_TRY(tesi_one_rank(ctx, "a checkpoint"));
  if (access(path, R_OK) != 0) TES_FAIL(TES_IO, "cannot read %s: %s", path, strerror(errno));
  TES_TRY(begin(ctx, path, &s));
  s->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  TES_CHECK(s->file >= 0, "%s is no HDF5 file, or is damaged", path);
  *store = s;
  s = NULL;
done:
  tesi_store_close(&s);
  return status;
}

/* Class and size of what is stored, before anything is allocated for it. */
static bool same_type(hid_t set, TesiStoreType type) {
  const hid_t stored = H5Dget_type(set);
  const bool same = stored >= 0 && H5Tget_size(stored) == size_of(type) &&
                    H5Tget_class(stored) == H5Tget_class(type_of(type));
  if (stored >= 0) H5Tclose(stored);
  return same;
}

static bool read_values(hid_t set, hid_t type, int64_t count, void *data, uint64_t *sum) {
  const hid_t note = H5Aopen(set, "checksum", H5P_DEFAULT);
  const bool read = note >= 0 && H5Aread(note, H5T_NATIVE_UINT64, sum) >= 0 &&
                    (!count || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  if (note >= 0) H5Aclose(note);
  return read;
}

TesStatus tesi_store_get(TesiStore *store, const char *name, TesiStoreType type, int64_t expected,
                         void *pointer_to_data, int64_t *count) {
  TesContext *ctx = store->ctx;
  TesStatus status = TES_OK;
  void **data = pointer_to_data;
  uint64_t sum = 0;
  const hid_t set = H5Dopen2(store->file, name, H5P_DEFAULT), space = set < 0 ? -1 : H5Dget_space(set);
  const int64_t length = space < 0 ? -1 : (int64_t)H5Sget_simple_extent_npoints(space);
  *data = NULL;
  TES_CHECK(length >= 0 && same_type(set, type), "%s is damaged or no checkpoint: %s is missing", store->path,
            name);
  TES_CHECK(expected < 0 || length == expected, "%s is damaged: %s has %lld entries, expected %lld",
            store->path, name, (long long)length, (long long)expected);
  /* A damaged length could ask for any amount of memory: so it is compared with the bytes that the file holds. */
  TES_CHECK((uint64_t)length * size_of(type) <= H5Dget_storage_size(set), "%s is damaged: %s is cut short",
            store->path, name);
  TES_TRY(tesi_alloc(ctx, (size_t)length + 1, size_of(type), data));
  TES_CHECK(read_values(set, type_of(type), length, *data, &sum), "%s is damaged: %s cannot be read",
            store->path, name);
  TES_CHECK(sum == checksum(*data, (size_t)length * size_of(type)),
            "%s is damaged: the checksum of %s is wrong", store->path, name);
  if (count) *count = length;
done:
  if (status != TES_OK) tesi_free(ctx, data);
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  return status;
}

bool tesi_store_has(TesiStore *store, const char *name) {
  return H5Lexists(store->file, name, H5P_DEFAULT) > 0;
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

/* The rest is never reached: there is no store. */
TesStatus tesi_store_put(TesiStore *store, const char *name, TesiStoreType type, int64_t count,
                         const void *data) {
  (void)store, (void)name, (void)type, (void)count, (void)data;
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
