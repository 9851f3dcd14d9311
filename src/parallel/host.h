/* The ranks of one host, which share its devices. */
#ifndef TESI_HOST_H
#define TESI_HOST_H

#include "parallel/comm.h"

/* *rank <- this rank's place among the ranks of its host, *ranks <- how many they are. NULL, and communicators that are
 * not of MPI: 0 of 1. All ranks call it. */
void tesi_communicator_host(const TesCommunicator *communicator, int *rank, int *ranks);

#endif
