/** \file vtkhdf.h
 *  VTKHDF files for ParaView and VTK: all steps of a run in one HDF5 file, with the fields of VTU files (vtu.h).
 *
 *  Cells of any degree are Lagrange quadrilaterals and hexahedra. The mesh is written once per change and used by the
 *  following steps. Numbers are float64, shuffled and compressed by zlib in chunks, by the threads of the context.
 *
 *  A file of one solution (version 1.0 of the format) is read by VTK 9.1 and newer, a file of steps (version 2.0) by
 *  VTK 9.4 and newer. If the process ends at any moment, even killed, the file has all earlier steps; so has a file
 *  that is read during a run. The file appears under its name with the first step.
 *
 *  HDF5 is an optional part of a build: TES_MISSING without it. On several ranks, rank 0 writes the cells of all. */
#ifndef TESSERA_VTKHDF_H
#define TESSERA_VTKHDF_H

#include "problem.h"
#include "vtu.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesVtkhdf TesVtkhdf;

typedef struct TesVtkhdfDesc {
  const char *path;
  bool steps; /**< several solutions, each with its time; false: one solution */
  /** With `steps`: if the file exists, its steps up to the time `last` stay, and new steps are appended. Otherwise the
   *  file begins anew. */
  bool goes_on;
  double last;
  /** With `steps`: from the second step on, a call copies the numbers of its step, and a thread compresses and writes
   *  them meanwhile. One step at a time: the next call waits for it, and so do tes_vtkhdf_write() with NULL and
   *  tes_vtkhdf_destroy(). The status and message of a step that fails are those of the next call. If HDF5 was built
   *  without support for threads, each call writes its step. */
  bool behind;
} TesVtkhdfDesc;

/** Errors: TES_MISSING, TES_IO (the file cannot be written), TES_INVALID_INPUT (the existing file has no
 *  steps), TES_OUT_OF_MEMORY. */
TesStatus tes_vtkhdf_create(TesContext *context, const TesVtkhdfDesc *desc, TesVtkhdf **file);
/** Closes the file; an incomplete solution is removed. With `behind`, a failure of the last step is not told:
 *  tes_vtkhdf_write() with NULL tells it. */
void tes_vtkhdf_destroy(TesVtkhdf **file);

/** Writes the fields of tes_vtu_write() at a time. All steps of a file have the same fields. Errors: as of
 *  tes_vtu_write(); after TES_IO the file accepts no more steps. With desc NULL nothing is written: the call returns
 *  when all steps are in the file, with the status of the last one. */
TesStatus tes_vtkhdf_write(TesVtkhdf *file, const TesVtuDesc *desc, double time);
/** Writes the fields of tes_vtu_write_problem(). */
TesStatus tes_vtkhdf_write_problem(TesVtkhdf *file, const TesProblem *problem, double time, int cell_count,
                                   const TesVtuArray *cell_fields);

#ifdef __cplusplus
}
#endif
#endif
