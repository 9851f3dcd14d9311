/** \file output.h
 *  Files for people and scripts beside VTU: the solution along a line as CSV. */
#ifndef TESSERA_OUTPUT_H
#define TESSERA_OUTPUT_H

#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** count >= 2 points from one end to the other, both included, equally far from each other. */
typedef struct TesLineDesc {
  double from[3], to[3];
  int count; /**< 0 means 101 */
} TesLineDesc;
/** Writes all fields of the solution along a line as CSV: a line of names, "s,x,y,u" (3D: s,x,y,z), s the distance from the beginning, then a line
 *  a point. Fields are left empty where the line runs outside of the mesh; a point that misses it by less than a hundredth of a cell's
 *  length is moved to it, as tes_problem_sample() does. *missed (may be NULL) <- points outside. Errors: TES_INVALID_INPUT (no point in the
 *  mesh), TES_IO. */
TesStatus tes_line_write(const TesProblem *problem, const TesLineDesc *desc, const char *path, int *missed);

#ifdef __cplusplus
}
#endif
#endif
