/* Whether a computation can go on from a checkpoint. */
#ifndef TESI_CHECKPOINT_H
#define TESI_CHECKPOINT_H

#include "tessera/checkpoint.h"
#include "time/state.h"

/* Names and numbers that data refer to must be the same, and the cells of the coarse mesh at the same places. path:
 * of the checkpoint, for the message (TES_INVALID_INPUT). */
TesStatus tesi_checkpoint_compare(const char *path, const TesMesh *found, const TesMesh *mesh);

/* The file that it was read from. */
const char *tesi_checkpoint_path(const TesCheckpoint *checkpoint);

/* As tes_checkpoint_write(), of vectors over spaces of their own: over[count], NULL: all are over desc->space. A vector
 * of fewer entries stands at the beginning of its field, zeros behind it. */
TesStatus tesi_checkpoint_write(TesContext *context, const TesCheckpointDesc *desc,
                                const TesSpace *const *over, const char *path);
/* v <- the field of this name, which there is, over a space that it was written over. */
TesStatus tesi_checkpoint_take(const TesCheckpoint *checkpoint, const char *name, const TesSpace *space,
                               TesVector *v);

/* component[dim] <- u, v, w of the checkpoints whose names match a pattern of the shell, as functions of space and
 * time, linear in time between two checkpoints, for a run from one time to another, which lie between the first and the
 * last. Any number of ranks: each reads for itself. Cost: every file is read once here, and again when its time comes;
 * three are in memory. Errors: TES_INVALID_INPUT (no file, one time alone, another dimension, no such field, a run that
 * is longer, or has no length), TES_IO. */
TesStatus tesi_checkpoint_series(TesContext *ctx, const char *pattern, int dim, double from, double to,
                                 TesFunction *component[3]);
/* Whether a name is such a pattern: it has *, ? or [, and is no file. */
bool tesi_is_pattern(const char *path);

/* Velocity and pressure of continuous elements, which are a product of two spaces: the name of such a solution; it is
 * written as the fields "u" and "pressure", as flows in time are, and read from these at the nodes of that degree. */
extern const char tesi_flow_name[];
TesStatus tesi_flow_write(const TesCheckpointDesc *desc, const char *path);
TesStatus tesi_flow_restart(const TesCheckpoint *checkpoint, int degree, TesVector **u);

/* A state with its time and step into a file, and notes of the caller. */
TesStatus tesi_state_write(const TesiState *state, double time, int64_t step, int64_t notes,
                           const double *note, const char *path);
/* Numbers, then vectors of the state <- those of the checkpoint. Refuses another space, fixed numbers that differ, and
 * vectors that are missing. Numbers of old files have no names and are known by their order. */
TesStatus tesi_state_read(const TesCheckpoint *checkpoint, TesiStateList list, void *user);

#endif
