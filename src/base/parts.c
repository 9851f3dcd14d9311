/* The optional parts of a build. Their compile definitions are set for the library only. */
#include <string.h>
#include "base/base.h"

bool tes_has_part(const char *name) {
#ifdef TESI_P4EST
  if (!strcmp(name, "p4est") || !strcmp(name, "mpi")) return true;
#endif
#ifdef TESI_HDF5
  if (!strcmp(name, "hdf5")) return true;
#endif
#ifdef TESI_HYPRE
  if (!strcmp(name, "hypre")) return true;
#endif
#ifdef TESI_MUMPS
  if (!strcmp(name, "mumps")) return true;
#endif
#ifdef TESI_PNG
  if (!strcmp(name, "png")) return true;
#endif
#ifdef TESI_QUICK
  if (!strcmp(name, "quick")) return true;
#endif
  (void)name;
  return false;
}
