/* The choice of cells to be refined; it does not depend on the number of ranks. */
#include <math.h>
#include <string.h>
#include "parallel/comm.h"
#include "tessera/adapt.h"

/* The part of a difference that is due to the solver's tolerance. */
#define EQUAL 1e-6

typedef struct Cells {
  TesContext *context;
  TesMarking marking;
  int64_t cells;
  const double *indicator;
} Cells;

/* Over the cells of all ranks with an indicator of at least `least`: the sum of their indicators, or their number. */
static double sum_from(const Cells *c, double least) {
  double sum = 0;
  for (int64_t i = 0; i < c->cells; i++)
    if (c->indicator[i] >= least) sum += c->marking == TES_MARK_BULK ? c->indicator[i] : 1;
  tesi_reduce(c->context, TESI_SUM, 1, &sum);
  return sum;
}

/* The largest threshold above which the cells make up `most`; 0 if there is no positive threshold. Numbers that are
 * not negative have the same order as their bits. */
static double find_least(const Cells *c, double most) {
  uint64_t low = 0, high;
  const double infinite = INFINITY;
  memcpy(&high, &infinite, sizeof high);
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    double value;
    memcpy(&value, &middle, sizeof value);
    if (sum_from(c, value) >= most)
      low = middle;
    else
      high = middle;
  }
  double least;
  memcpy(&least, &low, sizeof least);
  return least;
}

/* Number of cells with indicator 0 on lower ranks. */
static double zeros_before(const Cells *c, double zeros) {
  const TesCommunicator *communicator = tesi_context_communicator(c->context);
  double before = 0;
  for (int r = 0; r < tes_communicator_size(communicator); r++) {
    double of_rank = r == tes_communicator_rank(communicator) ? zeros : 0;
    tesi_reduce(c->context, TESI_SUM, 1, &of_rank);
    if (r < tes_communicator_rank(communicator)) before += of_rank;
  }
  return before;
}

/* If the fraction is larger than the share of cells with an indicator, the first of the cells without one are marked
 * too. */
static int64_t mark_zeros(const Cells *c, double wanted, int8_t *mark) {
  double zeros = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < c->cells; i++) zeros += c->indicator[i] == 0;
  double at = zeros_before(c, zeros);
  for (int64_t i = 0; i < c->cells; i++)
    if (c->indicator[i] == 0 && at++ < wanted) mark[i] = 1, count++;
  return count;
}

int64_t tes_mark_cells(TesContext *context, TesMarking marking, double fraction, int64_t cells,
                       const double *indicator, int8_t *mark) {
  const Cells c = {context, marking, cells, indicator};
  int64_t count = 0;
  memset(mark, 0, (size_t)cells);
  const double most = (1 - EQUAL) * fraction * sum_from(&c, 0), least = find_least(&c, most);
  for (int64_t i = 0; i < cells; i++)
    if (indicator[i] > (1 - EQUAL) * least) mark[i] = 1, count++;
  if (least == 0 && marking == TES_MARK_FRACTION)
    count += mark_zeros(&c, ceil(most) - (double)tesi_reduce_count(context, count), mark);
  return count;
}
