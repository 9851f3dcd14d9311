/** \file communicator.h
 *  Ranks: processes that compute together, each of them with a part of the mesh and a context of its own.
 *
 *  A communicator names them; it is given in TesContextDesc. Every rank then makes the same calls in the same order,
 *  with the same descriptions. Meshes, spaces and vectors hold the cells and entries of the rank, copies of what its
 *  neighbours share among them; sums, errors and values are of the whole mesh, and the same on all ranks. Files are
 *  written by rank 0, which alone writes to the log. What several ranks cannot do is refused with the reason; failures
 *  are of all ranks: each returns the same status and message, with "rank 3 of 8: " before the message of a rank that
 *  failed alone.
 *
 *  A rank that fails alone where the others wait for its part of a sum prints its message to stderr after 2 seconds and
 *  ends all ranks (MPI_Abort) with the exit status of its failure. */
#ifndef TESSERA_COMMUNICATOR_H
#define TESSERA_COMMUNICATOR_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Of all processes that mpirun (or srun) began. Begins MPI where the program has not; MPI ends at exit then. Only the
 *  calling thread may use the context. Errors: TES_MISSING (a build without MPI), TES_OUT_OF_MEMORY. */
TesStatus tes_communicator_of_all(TesCommunicator **communicator);
/** From the Fortran handle of a communicator of MPI, which is duplicated; all its processes call it. Programs in C
 *  take tes_communicator_create_mpi() of mpi.h. Errors: TES_INVALID_INPUT (MPI has not begun, no such communicator),
 *  those of tes_communicator_of_all(). */
TesStatus tes_communicator_create(int handle, TesCommunicator **communicator);
/** After all contexts that were given it, before MPI ends. */
void tes_communicator_destroy(TesCommunicator **communicator);

/** NULL: 0 and 1. */
int tes_communicator_rank(const TesCommunicator *communicator);
int tes_communicator_size(const TesCommunicator *communicator);

/** The end of a part of the program in which any rank may have failed; all ranks call it. Every rank returns the
 *  largest status, and `message` (of `size` bytes) becomes that of the lowest rank that has it. */
TesStatus tes_communicator_agree(const TesCommunicator *communicator, TesStatus status, char *message,
                                 size_t size);

/** The value that rank 0 gives, on all ranks, which all call it: for decisions by a clock. */
double tes_communicator_first(const TesCommunicator *communicator, double value);

/** How many processes the launcher of this one began, by its environment: mpirun of Open MPI or MPICH, srun; 1: there
 *  was none. *launcher (may be NULL) <- its name, NULL: none. */
int tes_communicator_launched(const char **launcher);

#ifdef __cplusplus
}
#endif
#endif
