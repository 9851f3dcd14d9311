/* Operators over a wide box: the layers of cells of this rank and some layers of other ranks at each cut. The form is
 * the same. The wide operator knows nothing of ranks and belongs to a context of one rank; smoothers and direct
 * solvers made for it do so too. Both sides of a cut compute what reaches over the cut. A rank first gets the values
 * in the layers of others, then works on the whole wide box, and keeps its own entries. */
#ifndef TESI_OPERATOR_WIDE_H
#define TESI_OPERATOR_WIDE_H

#include "operator/operator.h"

typedef struct TesiWide TesiWide;

/* The least number of layers added at each cut of a direction. The first layer of the wide box, counted over all ranks,
 * has a number divisible by max(step, 2): this keeps the colours of vertices. */
enum { TESI_REACH_ALL = 1 << 25 };
typedef struct TesiReach {
  int layers[3], step;
} TesiReach;
static inline TesiReach tesi_reach(int layers, int step) {
  return (TesiReach){{layers, layers, layers}, step};
}
static inline TesiReach tesi_reach_all(void) {
  return tesi_reach(TESI_REACH_ALL, 2);
}

/* op: an operator on several ranks that outlives *wide; its space is of element q with one component, rt or dg. All
 * ranks call this function and those below. */
TesStatus tesi_wide_create_space(const TesSpace *space, TesiReach reach, TesiWide **wide);
/* The same with an operator over the wide box. */
TesStatus tesi_wide_create(const TesOperator *op, TesiReach reach, TesiWide **wide);
void tesi_wide_destroy(TesiWide **wide);
/* The operator and the space of the wide box, in a context of one rank. */
const TesOperator *tesi_wide_operator(const TesiWide *wide);
const TesSpace *tesi_wide_space(const TesiWide *wide);
/* *result <- f as the wide operator's coefficient, which may lie beyond the ends of a ring. f NULL: NULL. */
TesStatus tesi_wide_continue(const TesiWide *wide, const TesFunction *f, TesFunction **result);
/* Whether the wide box ends at a face inside the whole box. */
bool tesi_wide_ends(const TesiWide *wide, int face);
/* Takes over a failure of a call that used the wide operator's context: returns its status, and copies its message to
 * the context of the ranks. */
TesStatus tesi_wide_report(const TesiWide *wide, TesStatus status);

/* The layers of cells of the wide box that this rank owns, *first .. *end - 1; for element dg. */
void tesi_wide_cells(const TesiWide *wide, int *first, int *end);
/* Whether the entries of a wide vector that a vector of this rank has follow one another; and the first of them. */
bool tesi_wide_is_together(const TesiWide *wide);
void *tesi_wide_own(const TesiWide *wide, TesPrecision precision, const void *of);
/* to <- x and the entries of other ranks in the wide box; nodes on cuts get the owner's value. `to` has the length of
 * the wide operator; x may be tesi_wide_own() of it. Addresses are in the memory of vectors; the _host function takes
 * host memory on every device. */
TesStatus tesi_wide_fill(TesiWide *wide, TesPrecision precision, const void *x, void *to);
void tesi_wide_fill_host(TesiWide *wide, TesPrecision precision, const void *x, void *to);
/* The same where x is a wide vector whose own entries are right. */
TesStatus tesi_wide_refresh(TesiWide *wide, TesPrecision precision, void *x);
void tesi_wide_refresh_host(TesiWide *wide, TesPrecision precision, void *x);
/* The same on devices with kernels for an x in another order: the numbers of some layers of cells form `blocks`
 * blocks. block() tells the start and the length of block `number` for layers first .. end - 1 of the wide box. For
 * spaces whose first component has modes in the last direction. */
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
/* The same if both sides of a cut have computed its nodes: copies stay as they are. */
TesStatus tesi_wide_cut(const TesiWide *wide, TesPrecision precision, const void *from, void *x);
void tesi_wide_cut_host(const TesiWide *wide, TesPrecision precision, const void *from, void *x);
void tesi_wide_take_host(TesiWide *wide, TesPrecision precision, const void *from, void *x);

#endif
