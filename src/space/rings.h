/* Boxes with periodic directions by way of open boxes. A periodic direction is a ring: its last node is its first one.
 * A vector on it is spread on an open box, where a node of the ring may stand several times, and what is computed there
 * comes back as a sum over the copies. So what is made for open boxes serves rings:
 *   operators    A = F' A_open F, F the spread on the box cut open (tesi_rings_cut()): the first nodes of a ring stand
 *                once more behind its last ones
 *   transfers    the open embedding in between; of fine copies one counts
 *   sweeps       on boxes that reach round a ring, or leave one vertex of it out (smoother/smoother_rings.c) */
#ifndef TESI_RINGS_H
#define TESI_RINGS_H

#include "device/kernel.h"
#include "kernels/rings_arguments.h"
#include "space/space.h"

typedef struct TesiRings {
  TesContext *context;
  TesPrecision precision;
  TeskRings box;
  int64_t length, open_length;
  TesiKernel spread, collect; /* on devices with kernels */
} TesiRings;

/* The box of `axis` cut open at the first node of each ring. Its own nodes: all, copies too. */
TeskRings tesi_rings_cut(const TesiAxis axis[3]);
/* The same, its own nodes: one of each. */
TeskRings tesi_rings_single(const TesiAxis axis[3]);

TesStatus tesi_rings_create(TesContext *ctx, TesPrecision precision, const TeskRings *box, TesiRings *rings);
/* y <- x on the open box; own: zeros on nodes that are not its own. Addresses are device memory. */
TesStatus tesi_rings_spread(const TesiRings *rings, const void *x, bool own, void *y);
/* x <- base + factor times the sum over own copies in y; base NULL: zero; it may be x. */
TesStatus tesi_rings_collect(const TesiRings *rings, const void *y, const void *base, double factor, void *x);

/* The plain versions, node by node; host arrays. */
void tesi_rings_spread_ref(const TeskRings *box, const double *x, bool own, double *y);
void tesi_rings_collect_ref(const TeskRings *box, const double *y, const double *base, double factor,
                            double *x);

#endif
