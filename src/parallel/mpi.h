/* MPI for p4est and hypre, which need it even on one rank. Only in builds with p4est (TESI_P4EST). */
#ifndef TESI_MPI_H
#define TESI_MPI_H

#include <mpi.h>
#include "parallel/comm.h"

/* The first call of any function below initialises MPI if it is not initialised; MPI is then finalised at exit. */

/* This process alone. */
MPI_Comm tesi_mpi_self(void);
/* The same handle for Fortran. */
int tesi_mpi_self_fortran(void);
/* The handle of a communicator. NULL, or a communicator not of MPI: this process alone. */
MPI_Comm tesi_mpi_of(const TesCommunicator *communicator);

#endif
