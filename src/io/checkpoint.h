/* Whether a computation can go on from a checkpoint. */
#ifndef TESI_CHECKPOINT_H
#define TESI_CHECKPOINT_H

#include "tessera/checkpoint.h"

/* Names and numbers that data refer to must be the same, and the cells of the coarse mesh at the same places. path:
 * of the checkpoint, for the message (TES_INVALID_INPUT). */
TesStatus tesi_checkpoint_compare(const char *path, const TesMesh *found, const TesMesh *mesh);

/* The file that it was read from. */
const char *tesi_checkpoint_path(const TesCheckpoint *checkpoint);

/* tes_problem_write() and tes_problem_read() of flows. */
TesStatus tesi_checkpoint_write_flow(const TesProblem *problem, const char *path);
TesStatus tesi_checkpoint_read_flow(TesProblem *problem, const TesCheckpoint *checkpoint);
/* The same with element rt. */
TesStatus tesi_checkpoint_write_rt(const TesProblem *problem, const char *path);
TesStatus tesi_checkpoint_read_rt(TesProblem *problem, const TesCheckpoint *checkpoint);

#endif
