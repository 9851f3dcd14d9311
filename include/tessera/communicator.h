/** \file communicator.h
 *  Ranks are processes that compute together. Each rank has a part of the mesh and its own context.
 *
 *  A communicator names them; it is given in TesContextDesc. Every rank then makes the same calls in the same order,
 *  with the same descriptions. Meshes, spaces and vectors hold the cells and entries of the rank, with copies of the
 *  entries that neighbours share; sums, errors and values are of the whole mesh, and the same on all ranks. Rank 0
 *  alone writes files and the log. A feature that several ranks do not have is refused with the reason. A failure is a
 *  failure of all ranks: each returns the same status and message. If one rank failed, "rank 3 of 8: " stands before
 *  its message.
 *
 *  If a rank fails while the others wait for its part of a sum, it prints its message to stderr after 2 seconds and
 *  ends all ranks (MPI_Abort) with the exit status of its failure. */
#ifndef TESSERA_COMMUNICATOR_H
#define TESSERA_COMMUNICATOR_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The communicator of all processes that mpirun (or srun) started. It initialises MPI if the program has not; MPI is
 *  then finalised at exit. Only the calling thread may use the context. Errors: TES_MISSING (a build without MPI),
 *  TES_OUT_OF_MEMORY. */
TesStatus tes_communicator_of_all(TesCommunicator **communicator);
/** From the Fortran handle of an MPI communicator, which is duplicated. All its processes call this function. Programs
 *  in C
 *  take tes_communicator_create_mpi() of mpi.h. Errors: TES_INVALID_INPUT (MPI has not begun, no such communicator),
 *  those of tes_communicator_of_all(). */
TesStatus tes_communicator_create(int handle, TesCommunicator **communicator);
/** To be called after all contexts of the communicator are destroyed, and before MPI is finalised. */
void tes_communicator_destroy(TesCommunicator **communicator);

/** NULL: 0 and 1. */
int tes_communicator_rank(const TesCommunicator *communicator);
int tes_communicator_size(const TesCommunicator *communicator);

/** Marks the end of a part of the program in which any rank may have failed. All ranks call it. Every rank returns the
 *  largest status, and `message` (of `size` bytes) becomes the message of the lowest rank with this status. */
TesStatus tes_communicator_agree(const TesCommunicator *communicator, TesStatus status, char *message,
                                 size_t size);

/** Returns the value of rank 0 on all ranks, which all call it: for decisions that depend on a clock. */
double tes_communicator_first(const TesCommunicator *communicator, double value);

/** The number of processes that the launcher (mpirun of Open MPI or MPICH, srun) started, from the environment; 1: no
 *  launcher. *launcher (may be NULL) <- its name, NULL: none. */
int tes_communicator_launched(const char **launcher);

#ifdef __cplusplus
}
#endif
#endif
