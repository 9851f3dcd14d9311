/* Robin terms of mapped operators: an inner operator without these terms, followed by boundary mass terms, face by
 * face. */
#ifndef TESI_MAPPED_ROBIN_H
#define TESI_MAPPED_ROBIN_H

#include "operator/assembled/matrix.h"

/* Whether a form has Robin terms on faces of the mesh. */
bool tesi_robin_faces(const TesOperatorDesc *desc);
/* Completes an operator around the inner operator without Robin terms, and takes ownership of it. */
TesStatus tesi_robin_init(TesOperator *op, TesOperator **inner);
/* The inner operator; op itself if it has no Robin terms. */
const TesOperator *tesi_robin_inner(const TesOperator *op);
/* The entries of the Robin terms, added to a matrix in compressed rows that has a place for all pairs of nodes of a
 * cell. */
void tesi_mapped_add_faces(const TesOperator *op, TesiMatrix *matrix);
TesStatus tesi_mapped_add_faces_device(const TesOperator *op, const TesiDeviceMatrix *matrix);
/* y <- y + sign R x with the Robin terms only, on the host, for vectors of the operator's precision; every: Dirichlet
 * values of x are used too. */
void tesi_robin_add(const TesOperator *op, TesPrecision precision, double sign, bool every, const void *x,
                    void *y);
/* y <- y + R x with the terms of one boundary, -1: of all, in float64 on the host; values and rows of given nodes are
 * included. */
void tesi_robin_add_whole(const TesOperator *op, int boundary, const double *x, double *y);
/* d <- d + their diagonal. */
void tesi_robin_add_diagonal(const TesOperator *op, double *d);
/* Both where the operator runs, for its own precision, without Dirichlet values. */
TesStatus tesi_robin_add_here(const TesOperator *op, double sign, const void *x, void *y);
TesStatus tesi_robin_add_diagonal_here(const TesOperator *op, void *d);
/* Whether one of them is positive somewhere. */
bool tesi_robin_holds(const TesOperator *op);
/* b <- b - R u with the Robin terms, Dirichlet values of u included. */
void tesi_mapped_subtract_faces(const TesOperator *op, const double *u, double *b);

#endif
