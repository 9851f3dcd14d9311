/** \file mpi.h
 *  A communicator made from an MPI communicator, for programs that include <mpi.h> themselves; tessera.h leaves this
 *  header out.
 *
 *      MPI_Init(&argc, &argv);
 *      TesCommunicator *ranks;
 *      tes_communicator_create_mpi(MPI_COMM_WORLD, &ranks);
 *      tes_context_create(&(TesContextDesc){.communicator = ranks}, &context, NULL, 0);
 *
 *  examples/ranks.c is such a program. */
#ifndef TESSERA_MPI_H
#define TESSERA_MPI_H

#include <mpi.h>
#include "communicator.h"

/** From any communicator of this MPI library, which is duplicated. All its processes call this function. The program
 *  initialises MPI before, and finalises it after tes_communicator_destroy(). Errors: those of
 *  tes_communicator_create(). */
static inline TesStatus tes_communicator_create_mpi(MPI_Comm of, TesCommunicator **communicator) {
  return tes_communicator_create((int)MPI_Comm_c2f(of), communicator);
}

#endif
