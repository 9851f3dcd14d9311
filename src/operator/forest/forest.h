/* Operators over forests as the other files see them. */
#ifndef TESI_FOREST_FOREST_H
#define TESI_FOREST_FOREST_H

#include "operator/operator.h"
#include "tessera/forest_operator.h"

/* The operator on mapped cells inside one over a forest; NULL for operators of other kinds. */
const TesOperator *tesi_forest_inner(const TesOperator *op);
/* The entries of the Robin terms, added to a matrix in compressed rows that has a place for all pairs of nodes of a cell. */
void tesi_forest_add_faces(const TesOperator *op, TesMatrix *matrix);
TesStatus tesi_forest_add_faces_device(const TesOperator *op, const TesDeviceMatrix *matrix);
/* b <- b - R u with the Robin terms, Dirichlet values of u included. */
void tesi_forest_subtract_faces(const TesOperator *op, const double *u, double *b);

#endif
