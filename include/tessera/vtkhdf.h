/** \file vtkhdf.h
 *  VTKHDF files for ParaView and VTK: all steps of a run in one HDF5 file, with the fields of VTU files (vtu.h).
 *
 *  Cells of any degree are Lagrange quadrilaterals and hexahedra. The mesh is written when it is new and stays for the
 *  steps that follow. Numbers are float64, shuffled and compressed by zlib in chunks of the threads of the context.
 *
 *  A file of one solution (version 1.0 of the format) is read by VTK 9.1 and newer, a file of steps (version 2.0) by
 *  VTK 9.4 and newer. A process that ends at any moment, killed too, leaves a file that has all steps before; a file
 *  that is read while a run goes on has them as well. The file appears under its name with the first step.
 *
 *  HDF5 is an optional part of a build: TES_MISSING without it. One rank. */
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
  bool steps; /**< several solutions, each with its time; else one */
  /** With `steps`: where the file is there, its steps up to the time `last` stay, and those that are written follow.
   *  Else, and where there is none, it begins anew. */
  bool goes_on;
  double last;
} TesVtkhdfDesc;

/** Errors: TES_MISSING, TES_IO (the file cannot be written), TES_INVALID_INPUT (several ranks; a file to go on in that
 *  is none of steps), TES_OUT_OF_MEMORY. */
TesStatus tes_vtkhdf_create(TesContext *context, const TesVtkhdfDesc *desc, TesVtkhdf **file);
/** Closes the file; a solution that was not written whole vanishes. */
void tes_vtkhdf_destroy(TesVtkhdf **file);

/** Writes what tes_vtu_write() writes, at a time. All steps of a file have the same fields. Errors: those of
 *  tes_vtu_write(); after TES_IO the file takes no more. */
TesStatus tes_vtkhdf_write(TesVtkhdf *file, const TesVtuDesc *desc, double time);
/** Writes what tes_vtu_write_problem() writes. */
TesStatus tes_vtkhdf_write_problem(TesVtkhdf *file, const TesProblem *problem, double time, int cell_count,
                                   const TesVtuArray *cell_fields);

#ifdef __cplusplus
}
#endif
#endif
