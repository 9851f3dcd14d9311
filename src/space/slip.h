/* Faces with slip: vectors of dim components have no normal component there, u.n = 0 at their nodes.
 *
 * With T = sum of n n' over the faces at a node (n: the cell's unit normal there) the removed directions are the
 * eigenvectors of T whose eigenvalues are not small against its trace. So the normals of a smooth face give one
 * direction, their mean; the normals at an edge span a plane, and at a corner the whole space. Components with given
 * values are removed before. Vectors are multiplied by P = I - sum of w w' over the removed directions w. */
#ifndef TESI_SLIP_H
#define TESI_SLIP_H

#include "device/kernel.h"
#include "space/face_nodes.h"
#include "space/rigid.h"

/* Kinks with a larger angle are reported. */
#define TESI_KINKS_TOLD 0.01

/* Rigid motions along all faces (slip_motions.h). */
typedef struct TesiAlong {
  TesiRigid rigid;
  int loose;
  double vector[TESI_RIGID_MOST * TESI_RIGID_MOST]; /* [loose][count], combinations */
  double kinks; /* the largest angle, as the mean over a boundary, between the boundary and such a motion */
  double slope; /* for the motion `least` that faces hold least: the angle by which they hold it; 0: all are held
                 * well */
  double least[TESI_RIGID_MOST];
  char bent[120], sloped[120]; /* names of the boundaries */
} TesiAlong;

/* Warns about the space of a problem: if `free`, about kinks that hold nothing; about slopes that alone hold a
 * motion. */
void tesi_along_tell(const TesSpace *space, bool free);

typedef struct TesiSlip {
  TesContext *context;
  int dim;
  int64_t count, length; /* nodes with removed directions; entries per component */
  int64_t held,
      held_owned; /* number of removed directions beside given components; the part of it at nodes of this
                             * rank */
  int32_t *node;  /* [count], ascending */
  uint8_t *given; /* [count] bits of the components with given values */
  double *P;      /* [dim][dim][count] */
  double *L;      /* [count][dim][dim] map from given components to the others, so that u.n = 0 */
  TesiAlong along;
  void *device_node, *device_P[2]; /* with kernels; P by precision */
  TesiKernel kernel[2];
} TesiSlip;

static inline bool tesi_slip_given(const TesiSlip *slip, int64_t i, int component) {
  return slip->given[i] >> component & 1;
}

/* The slip of the space's boundaries; NULL: no node has a removed direction. like: its motions along faces are taken,
 * for example those of a finer level; NULL: they are computed. */
TesStatus tesi_slip_create(const TesSpace *space, const TesiSlip *like, TesiSlip **slip);
void tesi_slip_destroy(TesiSlip **slip);
/* At all nodes y <- P y + scale (x - w), scale[count] in float64, or (scale NULL) P y; addresses are device memory. */
TesStatus tesi_slip_finish(const TesiSlip *slip, TesPrecision precision, const double *scale, const void *x,
                           const void *w, void *y);
/* The same on the host, in float64. */
void tesi_slip_finish_ref(const TesiSlip *slip, const double *scale, const double *x, const double *w,
                          double *y);
/* u <- u corrected at nodes with given components, so that u.n = 0. Float64, on the device. */
TesStatus tesi_slip_lift(const TesiSlip *slip, TesVector *u);
/* u += displacements g[boundaries] (NULL: 0) along the normals of round faces with slip, away from the axis or the
 * centre: for a shaft along its outer normal, for a bore against it. Float64, on the device. Errors: TES_INVALID_INPUT
 * (a boundary that is not round). */
TesStatus tesi_slip_push(const TesSpace *space, const TesFunction *const *g, TesVector *u);
/* Visits the nodes of all faces with slip. */
TesStatus tesi_slip_visit(const TesSpace *space, TesiFaceVisit visit, void *user);
/* block[dim][dim] <- P block or (right) block P, P of a node in the list. */
void tesi_slip_block(const TesiSlip *slip, int64_t i, bool right, double *block);
/* y <- P y for a vector of a space; no change if the space has no slip. */
TesStatus tesi_space_project(const TesSpace *space, TesPrecision precision, void *y);

#endif
