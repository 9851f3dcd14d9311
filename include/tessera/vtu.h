/** \file vtu.h
 *  VTU files for ParaView and VTK (9.1 or newer): cells of any degree as Lagrange quadrilaterals and hexahedra, so that
 *  curved cells and solutions of high degree are shown exactly.
 *
 *  Arrays are appended raw, in blocks compressed by zlib. Memory: a few MiB per thread, independent of the size of the
 *  mesh.
 */
#ifndef TESSERA_VTU_H
#define TESSERA_VTU_H

#include "function.h"
#include "problem.h"
#include "space.h"
#include "vector.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Values in all cells, given as an array or by a function that fills some cells at a time.
 *
 *  A cell has n = (degree + 1)^dim nodes, lexicographic (x fastest). Shapes, slowest index first:
 *    coordinates   [cells][dim][n]
 *    point fields  [cells][components][n]
 *    cell fields   [cells][components] */
typedef struct TesVtuArray {
  const char *name; /**< name shown by ParaView; not needed for coordinates; without < > & and quotes */
  /** 1, 2 or 3; 0 means 1. Two components are written as three with a last component 0, since VTK's vectors have three.
   *  6: a symmetric tensor, in VTK's order xx, yy, zz, xy, yz, xz */
  int components;
  const double *values;
  /** Used when values is NULL: writes the values of cells first, ..., first + count - 1 to `values`. Called from one
   *  thread, in ascending order, once for each cell. Another status than TES_OK ends the writing. */
  TesStatus (*fill)(void *user, int64_t first, int64_t count, double *values);
  void *user;
  /** 0, or a number that changes with the values: a VTKHDF file that had this number in the step before, over the same
   *  mesh, reuses the values of that step and does not call `fill`. */
  uint64_t version;
} TesVtuArray;

typedef struct TesVtuDesc {
  int dim;    /**< 2 or 3 */
  int degree; /**< 1..20 */
  int64_t cells;
  /** Positions of the nodes in one direction of the reference cell [0, 1], [degree + 1]; NULL: Gauss-Lobatto
   *  points. VTK's nodes are equispaced: all values are interpolated to them. */
  const double *nodes;
  TesVtuArray coordinates;
  const TesVtuArray *point_fields;
  int point_field_count;
  const TesVtuArray *cell_fields;
  int cell_field_count;
  TesPrecision precision; /**< precision of the numbers in the file; TES_SINGLE halves the file */
  int compression;        /**< zlib level 1..9; 0 means 1, the fastest */
} TesVtuDesc;

/** Writes a VTU file. It appears complete or not at all. Errors: TES_INVALID_INPUT, TES_IO (unwritable path, disk
 *  full, a pipe), TES_OUT_OF_MEMORY, and what `fill` returns. */
TesStatus tes_vtu_write(TesContext *context, const TesVtuDesc *desc, const char *path);

/** A field over a space: vector - function at its nodes. If `vector` or `function` is NULL, the field is the other
 *  one. */
typedef struct TesVtuField {
  const char *name;
  const TesVector *
      vector; /**< over all nodes of the space, boundary values included; it has the components of the space */
  const TesFunction *function[3]; /**< by component; without a vector there are as many components as functions */
  /** Fields of one component: [materials], the function in cells of this material; NULL inside: `function` there too.
   * NULL: `function` everywhere. */
  const TesFunction *const *material;
} TesVtuField;

/** Writes fields over a space on a mesh of any kind, e.g. {"u", u}, {"error", u, {exact}}, {"a", NULL, {a}} (a
 *  function alone is shown as it is): Cells have the larger degree of space and geometry, and the mapping of the mesh:
 *  if the mapping is a polynomial, the file has the function exactly. A cell on a hanging face shows the interpolation
 *  from the coarse side, so that the picture has no gaps. A cell in which a function is not finite at a node is blank
 *  (NaN). Fields of cells: "level" on a forest, "material" (number of the name) where there
 *  are any, and the caller's. Spaces of up to three components, which ParaView shows as vectors. Errors as
 *  tes_vtu_write(). */
TesStatus tes_vtu_write_fields(const TesSpace *space, int count, const TesVtuField *fields, int cell_count,
                               const TesVtuArray *cell_fields, const char *path);
/** Writes the solution "u" of a problem, functions of its data, and "error" if the exact solution is known. Flows have
 *  velocity, pressure, divergence and vorticity, with the degree of the velocity, cell by cell. Cells and their fields
 *  are those of tes_vtu_write_fields(). */
TesStatus tes_vtu_write_problem(const TesProblem *problem, int cell_count, const TesVtuArray *cell_fields,
                                const char *path);

/** One file of a series in time. */
typedef struct TesPvdEntry {
  double time;
  const char *file; /**< relative to the folder of the series */
} TesPvdEntry;

/** Writes a PVD file, the list of the VTU files of a series. Errors as above. */
TesStatus tes_pvd_write(TesContext *context, int count, const TesPvdEntry *entries, const char *path);

#ifdef __cplusplus
}
#endif
#endif
