/* Sums over all ranks by ranks that write into each other's memory (src/device/links.h), in one launch: one block adds
 * the parts of this rank's sums, puts them into the memory of all others, and stores the parts of all ranks, in their
 * order, in place of its own parts. Adding them gives the same bits on every rank. Bytes: the parts, and 8 per sum
 * and rank. */
#include "kernel.h"
#include "links_arguments.h"

#define THREADS 256
#include "links_meet.h"
#include "sums.h"

/* partial[sums][stride]: `parts` parts of each sum; afterwards one part per rank. Link i leads to rank i, or from
 * `own` on to rank i + 1. */
TESK_KERNEL(tesk_meet_sums, THREADS, 1, (TeskLinks)links, (int)sums, (int)parts, (int)stride, (int)own,
            (double *)partial) {
  TESK_SHARED(memory);
  const unsigned round = *links.round + 1;
  const double *in = (const double *)(links.in + ((round + 1) & 1) * links.half);
  for (int s = 0; s < sums; s++) {
    const double sum = add_parts(partial + (long long)s * stride, parts, (double *)memory);
    for (int i = (int)threadIdx.x; i < links.links; i += THREADS)
      ((double *)links.out[(int)((round + 1) & 1) * links.links + i])[s] = sum;
    if (threadIdx.x == 0) partial[(long long)s * stride + own] = sum;
  }
  meet(links, round);
  for (int i = (int)threadIdx.x; i < links.links; i += THREADS)
    for (int s = 0; s < sums; s++) partial[(long long)s * stride + i + (i >= own)] = in[links.first[i] + s];
  end_round(links, round);
}
