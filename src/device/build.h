/* Building a program: from the cache, or by the device's compiler and then kept there, in a thread of its own. As
 * many run at once as there are processors; NVRTC compiles in parallel. */
#ifndef TESI_BUILD_H
#define TESI_BUILD_H

#include "device/kernel.h"

typedef struct TesiBuild TesiBuild;

typedef struct TesiBuilt {
  const char *image; /* of the build */
  size_t bytes;
  double seconds;      /* of the compiler */
  bool compiled, kept; /* not read from the cache; is in the cache now */
} TesiBuilt;

/* Copies what it needs. */
TesStatus tesi_build_start(TesContext *ctx, const struct TesiKernelTable *table,
                           const TesiCompilation *compilation, const char *name, const char *key,
                           TesiBuild **build);
/* Waits for the compiler and returns its status and message. May be called again. */
TesStatus tesi_build_wait(TesContext *ctx, TesiBuild *build, TesiBuilt *built);
/* Waits if need be; NULL and pointer to NULL are fine. */
void tesi_build_destroy(TesiBuild **build);

#endif
