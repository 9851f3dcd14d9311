/* Computations on boxes with periodic directions, where the last node is the first node, by means of open boxes. A
 * vector is spread to an open box, which may have several copies of a node. The result on the open box is summed over
 * the copies. In this way code for open boxes serves periodic directions:
 *   operators    A = F' A_open F, F the spread on the box cut open (tesi_periodic_cut()): the first nodes of a
 *                periodic direction stand once more behind its last ones
 *   transfers the open embedding in between; one copy of each fine node counts
 *   sweeps       on boxes that reach round a periodic direction, or leave one vertex of it out
 *   (smoother/smoother_periodic.c) */
#ifndef TESI_PERIODIC_H
#define TESI_PERIODIC_H

#include "device/kernel.h"
#include "kernels/periodic_arguments.h"
#include "space/space.h"

typedef struct TesiPeriodic {
  TesContext *context;
  TesPrecision precision;
  TeskPeriodic box;
  int64_t length, open_length;
  TesiKernel spread, collect; /* on devices with kernels */
} TesiPeriodic;

/* The box of `axis` cut open at the first node of each periodic direction. All nodes, including copies, are its own
 * nodes. */
TeskPeriodic tesi_periodic_cut(const TesiAxis axis[3]);
/* The same, with one own node among the copies of a node. */
TeskPeriodic tesi_periodic_single(const TesiAxis axis[3]);

TesStatus tesi_periodic_create(TesContext *ctx, TesPrecision precision, const TeskPeriodic *box,
                               TesiPeriodic *periodic);
/* y <- x on the open box; own: nodes that are not own nodes get zero. Addresses are device memory. */
TesStatus tesi_periodic_spread(const TesiPeriodic *periodic, const void *x, bool own, void *y);
/* x <- base + factor times the sum over own copies in y; base NULL: zero; it may be x. */
TesStatus tesi_periodic_collect(const TesiPeriodic *periodic, const void *y, const void *base, double factor,
                                void *x);

/* Plain versions, node by node, with host arrays. */
void tesi_periodic_spread_ref(const TeskPeriodic *box, const double *x, bool own, double *y);
void tesi_periodic_collect_ref(const TeskPeriodic *box, const double *y, const double *base, double factor,
                               double *x);

#endif
