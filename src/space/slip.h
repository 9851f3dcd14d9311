/* Faces with slip, on which vectors of dim components have none along the normal: u.n = 0 at their nodes.
 *
 * With T = sum of n n' over the faces at a node (n: the cell's unit normal there) the directions that are taken away
 * are the eigenvectors of T whose eigenvalues are no small part of its trace. So normals of one smooth face are one,
 * their mean, and those of an edge or a corner span a plane or all. Components with given values are taken away before.
 * P = I - sum of w w' over the directions w is what vectors are multiplied with. */
#ifndef TESI_SLIP_H
#define TESI_SLIP_H

#include "device/kernel.h"
#include "space/face_nodes.h"
#include "space/rigid.h"

/* Kinks of a greater angle are told. */
#define TESI_KINKS_TOLD 0.01

/* Rigid motions along all faces (slip_motions.h). */
typedef struct TesiAlong {
  TesiRigid rigid;
  int loose;
  double vector[TESI_RIGID_MOST * TESI_RIGID_MOST]; /* [loose][count], combinations */
  double kinks; /* the largest angle, as a mean over a boundary, by which its normals miss such a motion */
  double slope; /* of the motion that is held least, `least`: the angle by which faces hold it; 0: none is near */
  double least[TESI_RIGID_MOST];
  char bent[120], sloped[120]; /* names of the boundaries */
} TesiAlong;

/* Warns of a space of the problem: of kinks that hold nothing, where `free`, and of slopes that hold alone. */
void tesi_along_tell(const TesSpace *space, bool free);

typedef struct TesiSlip {
  TesContext *context;
  int dim;
  int64_t count, length;    /* nodes with such directions; entries of a component */
  int64_t held, held_owned; /* how many directions beside given components, and of nodes of this rank */
  int32_t *node;            /* [count], ascending */
  uint8_t *given;           /* [count] bits of the components that have values */
  double *P;                /* [dim][dim][count] */
  double *L;                /* [count][dim][dim] what given components make of the others, so that u.n = 0 */
  TesiAlong along;
  void *device_node, *device_P[2]; /* with kernels; P by precision */
  TesiKernel kernel[2];
} TesiSlip;

static inline bool tesi_slip_given(const TesiSlip *slip, int64_t i, int component) {
  return slip->given[i] >> component & 1;
}

/* Of the space's boundaries with slip; NULL: no node has a direction. like: whose motions along faces are taken, as
 * those of a finer level; NULL: they are found. */
TesStatus tesi_slip_create(const TesSpace *space, const TesiSlip *like, TesiSlip **slip);
void tesi_slip_destroy(TesiSlip **slip);
/* At all nodes y <- P y + scale (x - w), scale[count] in float64, or (scale NULL) P y; addresses are device memory. */
TesStatus tesi_slip_finish(const TesiSlip *slip, TesPrecision precision, const double *scale, const void *x,
                           const void *w, void *y);
/* The same on the host, in float64. */
void tesi_slip_finish_ref(const TesiSlip *slip, const double *scale, const double *x, const double *w,
                          double *y);
/* u <- u at nodes where components are given: u.n = 0 with these values. Float64, of the device. */
TesStatus tesi_slip_lift(const TesiSlip *slip, TesVector *u);
/* u += displacements g[boundaries] (NULL: 0) along the normals of faces with slip, away from the axis or the middle of
 * what is round: of a shaft along its outer normal, of a bore against it. Float64, of the device. Errors:
 * TES_INVALID_INPUT (a boundary that is not round). */
TesStatus tesi_slip_push(const TesSpace *space, const TesFunction *const *g, TesVector *u);
/* Of all faces with slip. */
TesStatus tesi_slip_visit(const TesSpace *space, TesiFaceVisit visit, void *user);
/* block[dim][dim] <- P block or (right) block P, P of a node in the list. */
void tesi_slip_block(const TesiSlip *slip, int64_t i, bool right, double *block);
/* y <- P y of a vector of a space; nothing where it has no slip. */
TesStatus tesi_space_project(const TesSpace *space, TesPrecision precision, void *y);

#endif
