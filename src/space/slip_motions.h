/* Which rigid motions go along all faces with slip.
 *
 * Normals of a mesh are not those of the body: where faces of cells meet on a smooth face they have kinks, and a motion
 * along the body's face has parts along them. On a boundary, with w the directions that its nodes hold, e the others,
 * and lambda the part of the faces' normals along e (the kinks: T / trace T = sum lambda e e'),
 *
 *   M = mean of (w.r)^2,   V = mean of lambda (e.r)^2 over nodes where faces meet,   S = mean of |r|^2:
 *
 * r is held by kinks alone where M <= C V + epsilon S: then its part is no larger than normals of neighbours differ in.
 * What is up to twice that, or a slope of less than 3 degrees, is told. */
#ifndef TESI_SLIP_MOTIONS_H
#define TESI_SLIP_MOTIONS_H

#include "space/slip.h"

/* What one boundary holds, sums over its nodes. */
typedef struct TesiHolds {
  double M[TESI_RIGID_MOST * TESI_RIGID_MOST], V[TESI_RIGID_MOST * TESI_RIGID_MOST],
      S[TESI_RIGID_MOST * TESI_RIGID_MOST];
  double nodes, meeting; /* and those where faces meet */
} TesiHolds;

/* What a node holds: all of its directions direction[dim][dim], held of them, the others with kinks[dim]. */
void tesi_holds_add(const TesiRigid *rigid, const double *x, int held, const double *direction,
                    const double *kinks, bool meets, TesiHolds *holds);
/* along->loose .. from what nodes with given values hold, H [count][count], and holds[boundaries]. */
TesStatus tesi_along_find(const TesMesh *mesh, const double *H, const TesiHolds *holds, TesiAlong *along);

#endif
