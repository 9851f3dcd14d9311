/* The list of nodes with given values on a device (src/kernels/given.cu). The values are functions of x and t at the
 * time of a clock in device memory (device_text.h). One launch sets them; it can be recorded. */
#ifndef TESI_GIVEN_NODES_DEVICE_H
#define TESI_GIVEN_NODES_DEVICE_H

#include "device/kernel.h"
#include "device/vector.h"
#include "space/space.h"

typedef struct TesiGivenNodes TesiGivenNodes;

/* mark[length]: 1 + the number of the node's function g[number], 0: no given value; g NULL inside: 0. *given stays NULL
 * if the host must set the values: a function without text or of the normal. A space of one component, one rank. */
TesStatus tesi_given_nodes_create(const TesSpace *space, const double *mark, int count,
                                  const TesFunction *const *g, void *clock, TesiGivenNodes **given);
void tesi_given_nodes_destroy(TesiGivenNodes **given);
/* u <- the values at the given nodes, or zeros there. */
TesStatus tesi_given_nodes_put(const TesiGivenNodes *given, TesVector *u);
TesStatus tesi_given_nodes_clear(const TesiGivenNodes *given, TesVector *u);

#endif
