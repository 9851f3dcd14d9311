/* Robin terms of mapped operators: an inner operator without Robin terms is applied first, then boundary mass terms
 * face by face. */
#ifndef TESI_MAPPED_ROBIN_H
#define TESI_MAPPED_ROBIN_H

#include "operator/assembled/matrix.h"

/* Whether a form has Robin terms on faces of the mesh. */
bool tesi_robin_faces(const TesOperatorDesc *desc);
/* Completes an operator around the inner operator without Robin terms, and takes ownership of it. */
TesStatus tesi_robin_init(TesOperator *op, TesOperator **inner);
/* The inner operator; op itself if op has no Robin terms. */
const TesOperator *tesi_robin_inner(const TesOperator *op);
/* Adds the entries of the Robin terms to a matrix in compressed rows, which has a place for each pair of nodes of a
 * cell. */
void tesi_mapped_add_faces(const TesOperator *op, TesiMatrix *matrix);
TesStatus tesi_mapped_add_faces_device(const TesOperator *op, const TesiDeviceMatrix *matrix);
/* y <- y + sign R x with the Robin terms only, on the host, for vectors of the operator's precision. every: Dirichlet
 * values of x count too. */
void tesi_robin_add(const TesOperator *op, TesPrecision precision, double sign, bool every, const void *x,
                    void *y);
/* y <- y + R x with the terms of one boundary (-1: of all boundaries), in float64 on the host. Values and rows of
 * given nodes are included. */
void tesi_robin_add_whole(const TesOperator *op, int boundary, const double *x, double *y);
/* d <- d + the diagonal of the Robin terms. */
void tesi_robin_add_diagonal(const TesOperator *op, double *d);
/* Both functions on the operator's device, in its precision, without Dirichlet values. */
TesStatus tesi_robin_add_here(const TesOperator *op, double sign, const void *x, void *y);
TesStatus tesi_robin_add_diagonal_here(const TesOperator *op, void *d);
/* Whether the coefficient of a Robin term is positive somewhere. */
bool tesi_robin_holds(const TesOperator *op);
/* b <- b - R u with the Robin terms, Dirichlet values of u included. */
void tesi_mapped_subtract_faces(const TesOperator *op, const double *u, double *b);

#endif
