/* Arrays with checksums in an HDF5 file. */
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

/* TES_MISSING in a build without HDF5. A new file is made in memory, at its commit written beside `path`
 * (twice its size is needed then), and takes its place when it is whole on the disk. */
TesStatus tesi_store_create(TesContext *ctx, const char *path, TesiStore **store);
TesStatus tesi_store_put(TesiStore *store, const char *name, TesiStoreType type, int64_t count,
                         const void *data);
TesStatus tesi_store_commit(TesiStore **store); /* destroys it either way */
TesStatus tesi_store_open(TesContext *ctx, const char *path, TesiStore **store);
/* Allocates *data (free with tesi_free). expected >= 0: the count it must have. A wrong checksum or type is refused. */
TesStatus tesi_store_get(TesiStore *store, const char *name, TesiStoreType type, int64_t expected,
                         void *pointer_to_data, int64_t *count);
/* Whether there is such an array. */
bool tesi_store_has(TesiStore *store, const char *name);
/* Closes it; an uncommitted file vanishes. NULL is fine. */
void tesi_store_close(TesiStore **store);

#endif
