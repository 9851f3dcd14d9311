/* MPI, which p4est and hypre call even on one rank. Only in builds with p4est (TESI_P4EST). */
#ifndef TESI_MPI_H
#define TESI_MPI_H

#include <mpi.h>

/* The communicator that they get: this process alone. The first call begins MPI where nobody did; it ends then at
 * exit. */
MPI_Comm tesi_mpi(void);

#endif
