/* The disk cache of compiled kernels. One file per kernel: <name>-<first digits of the key>.bin in the folder
 *   $TESSERA_CACHE_DIR ("none": no cache), $XDG_CACHE_HOME/tessera/kernels, ~/.cache/tessera/kernels or, without a
 *   home, a private folder of the user (mode 0700) below /tmp.
 * Safe for several processes: files are written under another name and renamed; a record carries its full key and the
 * checksum of its contents, and anything that does not match is treated as absent and written anew. */
#ifndef TESI_CACHE_H
#define TESI_CACHE_H

#include "base/base.h"

enum { TESI_CACHE_PATH = 1024 };

/* The folder, created when missing; false when there is no cache (switched off, not writable, or not ours). */
bool tesi_cache_folder(char folder[TESI_CACHE_PATH]);
/* A compiled kernel, or *image NULL when it is not there. To be freed with tesi_free. */
TesStatus tesi_cache_read(TesContext *ctx, const char *name, const char *key, char **image, size_t *bytes);
/* Stores an image. Never fails: if the cache cannot be written, there is a warning, once per context. */
bool tesi_cache_write(const char *name, const char *key, const void *image, size_t bytes);
/* The largest size of the cache in bytes: $TESSERA_CACHE_MIB (default 512). A write that exceeds it trims the cache to
 * half of it. */
size_t tesi_cache_limit(void);
/* Files and bytes in the cache. */
void tesi_cache_usage(int *files, size_t *bytes);
/* Removes the files used least recently until at most `bytes` are left; 0 clears the cache. Returns the files
 * removed. */
int tesi_cache_trim(size_t bytes);

#endif
