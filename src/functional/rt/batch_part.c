/* Batches of elements rt and dg: a part is read as nodal values of Q_(k+1). */
#include "functional/batch.h"
#include "functional/rt/rt_functional.h"

enum { NODES = TESI_RT_LOCAL * TESI_RT_LOCAL * TESI_RT_LOCAL };

void tesi_batches_read_part(const TesiBatches *b, const TesiBatch *batch, const double *u, double *local) {
  double nodes[NODES];
  for (int l = 0; l < TESI_BATCH; l++) {
    if (l < batch->count) tesi_rt_node_values(b->space, b->tables, b->part, batch->first + l, u, nodes);
    for (int64_t i = 0; i < b->nodes; i++) local[i * TESI_BATCH + l] = nodes[i];
  }
}
