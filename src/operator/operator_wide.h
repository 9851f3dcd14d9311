/* Operators of boxes over more than the layers of cells of this rank: the same form on a box that takes in layers of
 * other ranks. It knows nothing of ranks and belongs to a context that has one, so that smoothers and direct solvers
 * made for it do too. What reaches over a cut is computed by both sides: a rank gets the values in the other's layers
 * first, works on all of the wide box, and keeps what is its own. */
#ifndef TESI_OPERATOR_WIDE_H
#define TESI_OPERATOR_WIDE_H

#include "operator/operator.h"

typedef struct TesiWide TesiWide;

/* How many layers more at each cut, at least. The first layer has a number, counted over all ranks, that `step`
 * divides, or 2: this keeps the colours of vertices. */
typedef struct TesiReach {
  int layers, step;
} TesiReach;
static inline TesiReach tesi_reach_all(void) {
  return (TesiReach){1 << 25, 2};
}

/* space: of element q with one component, rt or dg, on several ranks, which outlives it. All ranks call this, and the
 * functions below. */
TesStatus tesi_wide_create_space(const TesSpace *space, TesiReach reach, TesiWide **wide);
/* The same with an operator over the wide box. */
TesStatus tesi_wide_create(const TesOperator *op, TesiReach reach, TesiWide **wide);
void tesi_wide_destroy(TesiWide **wide);
/* Of the wide box, and of one rank. */
const TesOperator *tesi_wide_operator(const TesiWide *wide);
const TesSpace *tesi_wide_space(const TesiWide *wide);
/* Whether the wide box ends at a face within the whole one. */
bool tesi_wide_ends(const TesiWide *wide, int face);
/* Takes over a failure of a call with the wide operator's context: returns its status, and copies its message to the
 * context of the ranks. */
TesStatus tesi_wide_report(const TesiWide *wide, TesStatus status);

/* Layers of cells of the wide box that are the rank's, *first .. *end - 1; of element dg. */
void tesi_wide_cells(const TesiWide *wide, int *first, int *end);
/* The entries of a wide vector that a vector of the rank has; of one component. */
void *tesi_wide_own(const TesiWide *wide, TesPrecision precision, const void *of);
/* to <- x and what other ranks have of the wide box, of nodes on cuts the owner's: `to` has the length of the wide
 * operator; x may be tesi_wide_own() of it. Addresses are where vectors are; the _host function takes host memory on
 * every device. */
TesStatus tesi_wide_fill(TesiWide *wide, TesPrecision precision, const void *x, void *to);
void tesi_wide_fill_host(TesiWide *wide, TesPrecision precision, const void *x, void *to);
/* The same where x is a wide vector whose own entries are right. */
TesStatus tesi_wide_refresh(TesiWide *wide, TesPrecision precision, void *x);
void tesi_wide_refresh_host(TesiWide *wide, TesPrecision precision, void *x);
/* The same on devices with kernels where x stands in another order: there the numbers of some layers of cells are
 * `blocks` blocks, and block() tells where one begins and how long it is, of layers first .. end - 1 of the wide box.
 * Of spaces whose first component has modes in the last direction. */
typedef struct TesiWideOrder {
  int blocks;
  void (*block)(const void *of, int number, int first, int end, int64_t *start, int64_t *count);
  const void *of;
} TesiWideOrder;
TesStatus tesi_wide_set_order(TesiWide *wide, const TesiWideOrder *order);
TesStatus tesi_wide_refresh_ordered(TesiWide *wide, TesPrecision precision, void *x);
/* x <- the entries of `from` that belong to this rank; x may be tesi_wide_own() of it. Every copy of a node on a cut
 * becomes the value of its owner. */
TesStatus tesi_wide_take(TesiWide *wide, TesPrecision precision, const void *from, void *x);
/* The same where both sides of a cut have computed its nodes: copies stay as they are. */
TesStatus tesi_wide_cut(const TesiWide *wide, TesPrecision precision, const void *from, void *x);
void tesi_wide_cut_host(const TesiWide *wide, TesPrecision precision, const void *from, void *x);
void tesi_wide_take_host(TesiWide *wide, TesPrecision precision, const void *from, void *x);

#endif
