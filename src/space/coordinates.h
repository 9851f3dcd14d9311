/* Coordinates of some nodes: of boundaries, which are few. */
#ifndef TESI_COORDINATES_H
#define TESI_COORDINATES_H

#include "space/space.h"

/* As tesi_cells_coordinates(), of the nodes that are wanted[length], and maybe of others; the rest of x is kept. */
TesStatus tesi_cells_coordinates_of(const TesiCellView *cells, const uint8_t *wanted, double *x);

#endif
