/* The ranks of one host, which share its devices. */
#ifndef TESI_HOST_H
#define TESI_HOST_H

#include "parallel/comm.h"

/* *rank <- this rank's number among the ranks of its host, *ranks <- their count. Without a communicator of MPI: 0 and
 * 1. All ranks call it. */
void tesi_communicator_host(const TesCommunicator *communicator, int *rank, int *ranks);

#endif
