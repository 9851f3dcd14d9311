/* Mass terms on faces of the boundary, int_faces w u v, with weights of any sign at the points of faces: Robin terms of
 * mapped operators, and the flux of a velocity through a boundary. Hanging nodes are read and written as in cells. */
#ifndef TESI_FACE_MASS_H
#define TESI_FACE_MASS_H

#include "functional/batch_faces.h"
#include "operator/assembled/matrix.h"
#include "operator/mapped/device/mapped_robin_device.h"
#include "space/space.h"

/* The faces face[faces] of cells cell[faces], with weight[faces][points]. All members zero: no faces. */
typedef struct TesiFaceMass {
  TesiCellView *space;
  TesiFaceRule rule;
  int64_t faces;
  int32_t *cell;
  int8_t *face;
  double *weight;
  TesPrecision precision;  /* length of the vectors to which terms are added */
  TesiRobinKernel *kernel; /* NULL on the host */
} TesiFaceMass;

/* Allocates arrays for this many faces, over the space of the rule. The caller fills cell, face and weight, then
 * uploads. */
TesStatus tesi_face_mass_create(const TesiCellView *space, int64_t faces, TesiFaceMass *mass);
TesStatus tesi_face_mass_upload(TesContext *ctx, TesiFaceMass *mass);
void tesi_face_mass_free(TesContext *ctx, TesiFaceMass *mass);
/* v[cell nodes] <- sum over the points of face i, for u at the cell's own nodes. */
void tesi_face_mass_term(const TesiFaceMass *mass, int64_t i, const double *u, double *v);
/* y += sign R x on host arrays. `every`: x at Dirichlet nodes counts too. */
void tesi_face_mass_add(const TesiFaceMass *mass, TesPrecision precision, double sign, bool every,
                        const void *x, void *y);
/* Adds the entries of R to a matrix in compressed rows, which has a place for each pair of nodes of a cell. */
void tesi_face_mass_entries(const TesiFaceMass *mass, TesiMatrix *matrix);
/* y += sign R x on the operator's device, without Dirichlet nodes. */
TesStatus tesi_face_mass_add_here(TesContext *ctx, const TesiFaceMass *mass, double sign, const void *x,
                                  void *y);

#endif
