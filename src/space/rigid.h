/* Rigid motions of unit size about the centre of a mesh: translations along x, y(, z), then rotations in the planes
 * xy(, xz, yz). */
#ifndef TESI_RIGID_H
#define TESI_RIGID_H

#include "space/space.h"

enum { TESI_RIGID_MOST = 6 };

typedef struct TesiRigid {
  int dim, count; /* 3 or 6 motions */
  double middle[3], size;
} TesiRigid;

/* Centre and size of the points x[n][dim] of all ranks. */
void tesi_rigid_of(TesContext *context, int dim, int64_t n, const double *x, TesiRigid *rigid);
/* value[count][dim] at x. */
void tesi_rigid_at(const TesiRigid *rigid, const double *x, double *value);
/* text <- a description of the motions vector[loose][count], e.g.: slides along (0, 0, 1); turns about .. */
void tesi_rigid_tell(const TesiRigid *rigid, int loose, const double *vector, size_t size, char *text);

#endif
