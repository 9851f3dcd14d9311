/* Builds a program: reads it from the cache, or compiles it in its own thread and stores it in the cache. As many
 * builds run at once as there are processors; NVRTC compiles in parallel. */
#ifndef TESI_BUILD_H
#define TESI_BUILD_H

#include "device/kernel.h"

typedef struct TesiBuild TesiBuild;

typedef struct TesiBuilt {
  const char *image; /* of the build */
  size_t bytes;
  double seconds;      /* of the compiler */
  bool compiled, kept; /* compiled, not read from the cache; it is in the cache now */
} TesiBuilt;

/* Copies the arguments that it needs later. */
TesStatus tesi_build_start(TesContext *ctx, const struct TesiKernelTable *table,
                           const TesiCompilation *compilation, const char *name, const char *key,
                           TesiBuild **build);
/* Waits for the compiler and returns its status and message. May be called again. */
TesStatus tesi_build_wait(TesContext *ctx, TesiBuild *build, TesiBuilt *built);
/* Waits if necessary; NULL and a pointer to NULL are allowed. */
void tesi_build_destroy(TesiBuild **build);

#endif
