/** \file checkpoint.h
 *  Checkpoints: one HDF5 file with a mesh of kind box or forest, a space over the mesh and vectors of the space. A
 *  computation goes on from it later, on any device.
 *
 *  The file holds the coarse mesh itself (for a box, the coordinates), so that neither the Gmsh file nor the
 *  description is needed. Vectors are stored as float64.
 *  Every array has a checksum. An old file of the same name is replaced only when the new file is complete. HDF5 is an
 *  optional part of a build: TES_MISSING without it.
 */
#ifndef TESSERA_CHECKPOINT_H
#define TESSERA_CHECKPOINT_H

#include "problem.h"
#include "space.h"
#include "vector.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesCheckpointField {
  const char *name; /**< 1..63 characters */
  const TesVector *vector;
} TesCheckpointField;

typedef struct TesCheckpointDesc {
  /** The space has any number of components, or element rt. For a steady flow with element q it is the product of the
   *  spaces of velocity and pressure, with one field "velocity, pressure". */
  const TesSpace *space;
  int count; /**< 0..16 */
  const TesCheckpointField *fields;
  double time;  /**< of the computation; the library does not read it */
  int64_t step; /**< the same */
  int states;   /**< the same, 0..4096 */
  const double *state;
  const char *const *state_name; /**< [states] each 1..63 characters, equal names in a row; NULL: none */
  int64_t notes;                 /**< the same, any number */
  const double *note;
} TesCheckpointDesc;

/** All ranks call it. Rank 0 writes the one file, 64 MiB at a time. Values are in the order in which one rank numbers
 *  them, so that any number of ranks can read the file. Errors: TES_INVALID_INPUT (a vector of another length, names),
 *  TES_IO (unwritable, disk full), TES_OUT_OF_MEMORY, TES_MISSING. */
TesStatus tes_checkpoint_write(TesContext *context, const TesCheckpointDesc *desc, const char *path);

/** Checks, before a computation, that a checkpoint can be written to this path; an existing file is not changed.
 * Errors: TES_IO, TES_MISSING. */
TesStatus tes_checkpoint_check(TesContext *context, const char *path);

typedef struct TesCheckpoint TesCheckpoint;

/** Reads a checkpoint and makes its mesh and space. geometry_degree: as in TesMeshDesc. Errors: TES_IO
 *  (no such file), TES_INVALID_INPUT (no HDF5 file, no checkpoint of Tessera, a newer version, damage: which part),
 *  TES_OUT_OF_MEMORY, TES_MISSING. */
TesStatus tes_checkpoint_read(TesContext *context, const char *path, int geometry_degree,
                              TesCheckpoint **checkpoint);
/** The same for a computation over `mesh`. If the checkpoint and `mesh` are the same box of equal cells, but one is of
 *  kind box and the other a forest, the checkpoint's mesh gets the kind of `mesh`. (On several ranks some boxes are
 *  forests.) */
TesStatus tes_checkpoint_read_for(TesContext *context, const char *path, const TesMesh *mesh,
                                  TesCheckpoint **checkpoint);
void tes_checkpoint_destroy(TesCheckpoint **checkpoint);

/** *u <- the field of this name at the nodes of the space of this degree over the checkpoint's mesh. A computation over
 *  `mesh` starts from it. Both meshes have the same coarse mesh or are the same box; for element rt the cells are the
 *  same too.
 *  Errors: TES_INVALID_INPUT (another mesh: what differs; no such field), TES_OUT_OF_MEMORY. */
TesStatus tes_checkpoint_restart(const TesCheckpoint *checkpoint, const char *name, const TesMesh *mesh,
                                 int degree, TesVector **u);

/** Its space, owned by it; the mesh is tes_space_mesh(). */
const TesSpace *tes_checkpoint_space(const TesCheckpoint *checkpoint);
/** All other contents, owned by the checkpoint. */
typedef struct TesCheckpointContents {
  double time;
  int64_t step;
  int fields;
  const char *name[16];          /**< [fields] */
  int states;                    /**< 0 in files that are older than this number */
  const double *state;           /**< [states] */
  const char *const *state_name; /**< [states]; NULL: none were written */
  int64_t notes;                 /**< 0: none were written */
  const double *note;            /**< [notes] */
} TesCheckpointContents;
const TesCheckpointContents *tes_checkpoint_contents(const TesCheckpoint *checkpoint);
/** This rank's values of a field, [tes_space_length()], owned by the checkpoint; NULL when there is no such name. */
const double *tes_checkpoint_values(const TesCheckpoint *checkpoint, const char *name);

/** *function <- u, v, w (components; u of one), p (of flows), ut, vt or wt (of elasticity in time) of the checkpoint as
 *  a function of space: initial values, or a velocity that carries, over any mesh. It is defined on the checkpoint's
 *  mesh and up to a hundredth of a cell beside it. Elsewhere its value is not finite, so that whoever evaluates it
 *  refuses the point. The checkpoint may be destroyed before it. Cost per value: a search of the cells near the point,
 *  and (k + 1)^dim flops, on the host. Errors: TES_INVALID_INPUT (no such field), TES_OUT_OF_MEMORY. */
TesStatus tes_checkpoint_function(const TesCheckpoint *checkpoint, const char *name, TesFunction **function);

/** Writes the solution "u" of a problem in time, the older solutions "u-1", .. that its method and its guesses use, and
 *  all else that the next step depends on. Errors: as tes_checkpoint_write(); TES_INVALID_INPUT (a steady problem). */
TesStatus tes_problem_write(const TesProblem *problem, const char *path);
/** Numbers of the caller, such as results measured so far, for the checkpoints of a problem in time
 *  (TesCheckpointContents.note). The caller owns them; they must live until the next call or the problem's end. Errors:
 *  TES_INVALID_INPUT (a negative number of them, a steady problem). */
TesStatus tes_problem_note(TesProblem *problem, int64_t notes, const double *note);
/** The problem goes on from the checkpoint, with the same bits as a run that was not interrupted. It gets the
 *  checkpoint's mesh; degree, method, step and start must be equal. Errors: TES_INVALID_INPUT (the message says what
 *  differs; a steady problem or checkpoint; a checkpoint of the end of time). */
TesStatus tes_problem_read(TesProblem *problem, const TesCheckpoint *checkpoint);

#ifdef __cplusplus
}
#endif
#endif
