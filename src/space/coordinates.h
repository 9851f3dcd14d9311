/* Coordinates of some nodes: of boundaries, which are few. */
#ifndef TESI_COORDINATES_H
#define TESI_COORDINATES_H

#include "space/picked.h"
#include "space/space.h"

/* x[picked->count][dim] <- where the picked ones of the view's nodes are, in their order; NULL: all. */
TesStatus tesi_cells_coordinates_of(const TesiCellView *cells, const TesiPicked *picked, double *x);

#endif
