/* Gmsh files. */
#include "mesh/forest/trees.h"
TesStatus tesi_trees_file(TesContext *ctx, const char *path, int dim, TesiTrees **coarse) {
  TesStatus status = TES_OK;
  (void)dim, (void)coarse;
  TES_FAIL(TES_MISSING, "%s: this version reads no mesh files", path);
done:
  return status;
}
