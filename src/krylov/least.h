/* The start of a solve from the solutions of earlier solves with the same operator: x <- base + sum over i < count of
 * c_i (v_i - v_(i+1)) with the least |b - A x|, where v are the last solutions, the newest first. The images
 * a_i = A (v_i - v_(i+1)) are kept, so that a step costs one application, for the newest (Fischer 1998, "Projection
 * techniques for iterative solution of Ax = b with successive right-hand sides"; there the basis is orthogonal, here
 * the normal equations of at most three directions are solved).
 *
 * Entries with given values are 0 in images; x is to be given its values afterwards. */
#ifndef TESI_LEAST_H
#define TESI_LEAST_H

#include "device/kernel.h"
#include "device/vector.h"
#include "kernels/least_arguments.h"

enum { TESI_LEAST_STAGES = 4 };
typedef struct TesiLeast {
  TesContext *context;
  int count;                    /* of directions with images; 0: there is no start */
  int fresh;                    /* how many images are to be made, the first ones: 0, 1 or all */
  double when[TESK_LEAST + 1];  /* the times of the solutions, by which they are known again */
  int shape[TESI_LEAST_STAGES]; /* of the last plan of each stage: count and fresh */
  TesVector *image[TESK_LEAST];
  TesiKernel kernel[3]; /* of devices with kernels */
  void *memory;         /* device: parts of products, coefficients */
  unsigned parts;
} TesiLeast;

/* directions: the largest number of them. Requests kernels on devices with kernels. */
TesStatus tesi_least_create(TesContext *ctx, const TesiLayout *layout, int directions, TesiLeast **least);
void tesi_least_destroy(TesiLeast **least);
/* Another operator: no image is of use. */
void tesi_least_forget(TesiLeast *least);
/* A solve with so many directions follows, whose solutions have these times, when[count + 1]; stage: its number in its
 * step. Returns whether the work is that of this stage in the step before. */
bool tesi_least_plan(TesiLeast *least, int stage, int count, const double *when);
/* If one of several images is to be made, the older ones move by one place. Call it once after a plan. */
TesStatus tesi_least_move(TesiLeast *least);
/* x <- the start, r <- its residual, from a base and its residual, which is 0 at entries with given values. reduce: the
 * host computes the coefficients, and adds up the products of all ranks. queue: kernels alone, on one rank, which can
 * be recorded. */
typedef TesStatus TesiLeastStart(const TesiLeast *least, TesVector *const *solution, const TesVector *base,
                                 const TesVector *of_base, TesVector *x, TesVector *r);
TesiLeastStart tesi_least_reduce, tesi_least_queue;

#endif
