/* Whether a computation can continue from a checkpoint. */
#ifndef TESI_CHECKPOINT_H
#define TESI_CHECKPOINT_H

#include "tessera/checkpoint.h"
#include "time/state.h"

/* Refuses a checkpoint (TES_INVALID_INPUT) whose mesh does not fit: names and numbers to which data refer must be
 * equal, and the cells of the coarse mesh must be at the same places. path: of the checkpoint, for the message. */
TesStatus tesi_checkpoint_compare(const char *path, const TesMesh *found, const TesMesh *mesh);

/* The file from which it was read. */
const char *tesi_checkpoint_path(const TesCheckpoint *checkpoint);

/* As tes_checkpoint_write(), for vectors over several spaces: over[count]; NULL: all are over desc->space. A shorter
 * vector is stored at the beginning of its field, with zeros after it. */
TesStatus tesi_checkpoint_write(TesContext *context, const TesCheckpointDesc *desc,
                                const TesSpace *const *over, const char *path);
/* v <- the field of this name, which must exist, over the space for which it was written. */
TesStatus tesi_checkpoint_take(const TesCheckpoint *checkpoint, const char *name, const TesSpace *space,
                               TesVector *v);

/* component[dim] <- u, v, w of the checkpoints whose names match a shell pattern, as functions of space and time,
 * linear in time between two checkpoints. They serve a run between two times, which must lie between the first and
 * the last checkpoint. On several ranks each rank reads for itself. Cost: every file is read once here, and again
 * when its time comes; three are in memory. Errors: TES_INVALID_INPUT (no file, a single time, another dimension, no
 * such field, a run beyond these times or without length), TES_IO. */
TesStatus tesi_checkpoint_series(TesContext *ctx, const char *pattern, int dim, double from, double to,
                                 TesFunction *component[3]);
/* Refuses a checkpoint of a solution of another kind. */
typedef enum TesiSolutionKind {
  TESI_SOLUTION_SCALAR,
  TESI_SOLUTION_DISPLACEMENT,
  TESI_SOLUTION_FLOW
} TesiSolutionKind;
TesStatus tesi_checkpoint_expect(const TesCheckpoint *checkpoint, TesiSolutionKind expected);
/* Whether a name is such a pattern: it contains *, ? or [, and no file has this name. */
bool tesi_is_pattern(const char *path);

/* The name of a solution that is velocity and pressure of continuous elements, a product of two spaces. It is written
 * as the fields "u" and "pressure", like flows in time, and is read from these at the nodes of their degree. */
extern const char tesi_flow_name[];
TesStatus tesi_flow_write(const TesCheckpointDesc *desc, const char *path);
TesStatus tesi_flow_restart(const TesCheckpoint *checkpoint, int degree, TesVector **u);

/* Writes a state with its time and step, and notes of the caller, to a file. */
TesStatus tesi_state_write(const TesiState *state, double time, int64_t step, int64_t notes,
                           const double *note, const char *path);
/* Numbers, then vectors of the state <- the values in the checkpoint. Refuses another space, fixed numbers that
 * differ, and missing vectors. Numbers in old files have no names and are found by their order. */
TesStatus tesi_state_read(const TesCheckpoint *checkpoint, TesiStateList list, void *user);

#endif
