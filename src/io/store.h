/* Arrays with checksums in an HDF5 file. On several ranks the file belongs to rank 0. All ranks call these functions,
 * all get the same status, and all get the data that were read. */
#ifndef TESI_STORE_H
#define TESI_STORE_H

#include "base/base.h"

typedef struct TesiStore TesiStore;
typedef enum TesiStoreType {
  TESI_STORE_BYTES,
  TESI_STORE_INT32,
  TESI_STORE_INT64,
  TESI_STORE_DOUBLE
} TesiStoreType;

/* Errors: TES_MISSING in a build without HDF5. A new file is written beside `path` and replaces it when it is
 * complete on the disk. */
TesStatus tesi_store_create(TesContext *ctx, const char *path, TesiStore **store);
TesStatus tesi_store_put(TesiStore *store, const char *name, TesiStoreType type, int64_t count,
                         const void *data);
/* An array of `blocks` blocks, one after the other. Each block holds the entries of all ranks, one rank after the
 * other: on this rank count[block] entries at part[block]. Rank 0 holds only a slice at a time. */
TesStatus tesi_store_put_parts(TesiStore *store, const char *name, TesiStoreType type, int blocks,
                               const int64_t *count, const void *const *part);
TesStatus tesi_store_commit(TesiStore **store); /* destroys it either way */
TesStatus tesi_store_open(TesContext *ctx, const char *path, TesiStore **store);
/* Allocates *data (free with tesi_free). expected >= 0: the count it must have. A wrong checksum or type is refused. */
TesStatus tesi_store_get(TesiStore *store, const char *name, TesiStoreType type, int64_t expected,
                         void *pointer_to_data, int64_t *count);
/* The same array slice by slice: `take` gets entries first .. first + count - 1, each entry once. If the checksum is
 * wrong, `take` has been given wrong entries. */
typedef void (*TesiStoreTake)(void *user, int64_t first, int64_t count, const void *data);
TesStatus tesi_store_read(TesiStore *store, const char *name, TesiStoreType type, int64_t expected,
                          TesiStoreTake take, void *user);
/* Whether the file has this array. */
bool tesi_store_has(TesiStore *store, const char *name);
/* Closes the store; an uncommitted file is removed. *store may be NULL. */
void tesi_store_close(TesiStore **store);

#endif
