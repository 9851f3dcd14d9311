/* Boxes with periodic directions by way of open boxes. There the last node is the first one.
 * A vector on it is spread on an open box, where a node of the periodic direction may stand several times, and what
 * is computed there comes back as a sum over the copies. So what is made for open boxes serves periodic directions:
 *   operators    A = F' A_open F, F the spread on the box cut open (tesi_periodic_cut()): the first nodes of a
 *                periodic direction stand once more behind its last ones
 *   transfers    the open embedding in between; of fine copies one counts
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

/* The box of `axis` cut open at the first node of each periodic direction. Its own nodes: all, copies too. */
TeskPeriodic tesi_periodic_cut(const TesiAxis axis[3]);
/* The same, its own nodes: one of each. */
TeskPeriodic tesi_periodic_single(const TesiAxis axis[3]);

TesStatus tesi_periodic_create(TesContext *ctx, TesPrecision precision, const TeskPeriodic *box,
                               TesiPeriodic *periodic);
/* y <- x on the open box; own: zeros on nodes that are not its own. Addresses are device memory. */
TesStatus tesi_periodic_spread(const TesiPeriodic *periodic, const void *x, bool own, void *y);
/* x <- base + factor times the sum over own copies in y; base NULL: zero; it may be x. */
TesStatus tesi_periodic_collect(const TesiPeriodic *periodic, const void *y, const void *base, double factor,
                                void *x);

/* The plain versions, node by node; host arrays. */
void tesi_periodic_spread_ref(const TeskPeriodic *box, const double *x, bool own, double *y);
void tesi_periodic_collect_ref(const TeskPeriodic *box, const double *y, const double *base, double factor,
                               double *x);

#endif
