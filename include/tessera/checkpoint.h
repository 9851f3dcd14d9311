/** \file checkpoint.h
 *  Checkpoints: a mesh of kind box or forest, a space over it and vectors of that space in one HDF5 file, with
 *  which a computation goes on later, on any device.
 *
 *  The file holds the coarse mesh (of a box its coordinates) itself, so that neither the Gmsh file nor the
 *  description is needed; vectors are stored as float64.
 *  Every array has a checksum. Files appear complete or not at all: what was there before stays until the new one
 *  is whole. HDF5 is an optional part of a build: TES_MISSING without it.
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
  /** Of any number of components, or of element rt. Of the velocity and pressure of a steady flow with element q: one
   *  field "velocity, pressure" of their product. */
  const TesSpace *space;
  int count; /**< 0..16 */
  const TesCheckpointField *fields;
  double time;  /**< of the computation: for the caller */
  int64_t step; /**< the same */
  int states;   /**< the same, 0..4096 */
  const double *state;
  const char *const *state_name; /**< [states] each 1..63 characters, equal ones behind each other; NULL: none */
  int64_t notes;                 /**< the same, any number */
  const double *note;
} TesCheckpointDesc;

/** On several ranks, which all call this, rank 0 writes the one file, and holds 64 MiB of it at a time; values stand in
 *  it as one rank numbers them, so that any number of ranks reads it. Errors: TES_INVALID_INPUT (a vector of another
 *  length, names), TES_IO (unwritable, disk full), TES_OUT_OF_MEMORY, TES_MISSING. */
TesStatus tes_checkpoint_write(TesContext *context, const TesCheckpointDesc *desc, const char *path);

/** Whether a checkpoint can be written to this path, before anything is computed; what is there stays. Errors:
 * TES_IO, TES_MISSING. */
TesStatus tes_checkpoint_check(TesContext *context, const char *path);

typedef struct TesCheckpoint TesCheckpoint;

/** Reads a checkpoint and makes its mesh and space. geometry_degree: of the mesh, as in TesMeshDesc. Errors: TES_IO
 *  (no such file), TES_INVALID_INPUT (no HDF5 file, no checkpoint of Tessera, a newer version, damage: which part),
 *  TES_OUT_OF_MEMORY, TES_MISSING. */
TesStatus tes_checkpoint_read(TesContext *context, const char *path, int geometry_degree,
                              TesCheckpoint **checkpoint);
/** The same for a computation over `mesh`: a box of equal cells, which may be of kind box here and a forest there, is
 *  of the mesh's kind in the checkpoint, if it has the same cells. (On several ranks some boxes are forests.) */
TesStatus tes_checkpoint_read_for(TesContext *context, const char *path, const TesMesh *mesh,
                                  TesCheckpoint **checkpoint);
void tes_checkpoint_destroy(TesCheckpoint **checkpoint);

/** *u <- the field of this name at the nodes of the space of this degree over the checkpoint's mesh, where a
 *  computation over `mesh` goes on: the same coarse mesh, or the same box (of element rt with the same cells).
 *  Errors: TES_INVALID_INPUT (another mesh: what differs; no such field), TES_OUT_OF_MEMORY. */
TesStatus tes_checkpoint_restart(const TesCheckpoint *checkpoint, const char *name, const TesMesh *mesh,
                                 int degree, TesVector **u);

/** Its space, owned by it; the mesh is tes_space_mesh(). */
const TesSpace *tes_checkpoint_space(const TesCheckpoint *checkpoint);
/** What else it holds, owned by it. */
typedef struct TesCheckpointContents {
  double time;
  int64_t step;
  int fields;
  const char *name[16];          /**< [fields] */
  int states;                    /**< 0 in files of before there were any */
  const double *state;           /**< [states] */
  const char *const *state_name; /**< [states]; NULL: none were written */
  int64_t notes;                 /**< 0: none were written */
  const double *note;            /**< [notes] */
} TesCheckpointContents;
const TesCheckpointContents *tes_checkpoint_contents(const TesCheckpoint *checkpoint);
/** Values of a field, [tes_space_length()], of this rank, owned by the checkpoint; NULL when there is no such name. */
const double *tes_checkpoint_values(const TesCheckpoint *checkpoint, const char *name);

/** *function <- u, v, w (components; u of one), p (of flows), ut, vt or wt (of elasticity in time) of the checkpoint as
 *  a function of space: initial values, or a velocity that carries, over any mesh. It is a number where the
 *  checkpoint's mesh is, or next to it by less than a hundredth of a cell; elsewhere it is not finite, so that
 *  what takes it refuses the point. It holds what it needs of the checkpoint. Cost a value: the cells near it, and
 *  (k + 1)^dim flops; evaluated on the host. Errors: TES_INVALID_INPUT (no such field), TES_OUT_OF_MEMORY. */
TesStatus tes_checkpoint_function(const TesCheckpoint *checkpoint, const char *name, TesFunction **function);

/** A problem in time: writes its solution "u", older solutions "u-1", .. that its method and guesses use, and all
 *  else that the next step depends on. Errors: as tes_checkpoint_write(); TES_INVALID_INPUT (a steady problem). */
TesStatus tes_problem_write(const TesProblem *problem, const char *path);
/** Numbers of the caller that go into the checkpoints of a problem in time, as TesCheckpointContents.note: of what was
 *  measured so far, say. They stay the caller's, and must live until the next call or the problem's end. Errors:
 *  TES_INVALID_INPUT (a negative number of them, a steady problem). */
TesStatus tes_problem_note(TesProblem *problem, int64_t notes, const double *note);
/** The problem goes on from the checkpoint, with the same bits as a run that was not interrupted. Its mesh is the
 *  mesh of the checkpoint; degree, method, step and start must be equal. Errors: TES_INVALID_INPUT (the message says
 *  what differs; a steady problem or checkpoint; a checkpoint of the end of time). */
TesStatus tes_problem_read(TesProblem *problem, const TesCheckpoint *checkpoint);

#ifdef __cplusplus
}
#endif
#endif
