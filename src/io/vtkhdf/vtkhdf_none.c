/* VTKHDF files in a build without HDF5. */
#include "tessera/vtkhdf.h"
#include "base/base.h"

#ifndef TESI_HDF5
TesStatus tes_vtkhdf_create(TesContext *context, const TesVtkhdfDesc *desc, TesVtkhdf **file) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TES_REFUSE_NULL(context, desc, file);
  *file = NULL;
  TES_FAIL(
      TES_MISSING,
      "VTKHDF files are HDF5 files, and Tessera was built without HDF5: install libhdf5-dev and build with "
      "-DTESSERA_HDF5=ON");
done:
  return status;
}

/* These functions are never reached, since there is no file. */
void tes_vtkhdf_destroy(TesVtkhdf **file) {
  (void)file;
}

TesStatus tes_vtkhdf_write(TesVtkhdf *file, const TesVtuDesc *desc, double time) {
  (void)file, (void)desc, (void)time;
  return TES_INTERNAL;
}

TesStatus tes_vtkhdf_write_problem(TesVtkhdf *file, const TesProblem *problem, double time, int cell_count,
                                   const TesVtuArray *cell_fields) {
  (void)file, (void)problem, (void)time, (void)cell_count, (void)cell_fields;
  return TES_INTERNAL;
}
#else
typedef int TesiVtkhdfIsThere; /* a C file must not be empty */
#endif
