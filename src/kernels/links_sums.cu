/* Sums over all ranks (src/device/links.h): one block adds the parts of this rank's sums, packs the sums for the other
 * ranks, and stores the sums of all ranks, in their order, in place of its own parts. Phases as in links.cu. Adding
 * them gives the same bits on every rank. Bytes: the parts, and 8 per sum and rank. */
#include "kernel.h"
#include "links_arguments.h"

#define THREADS 256
#include "links_meet.h"
#include "sums.h"

/* partial[sums][stride]: `parts` parts of each sum; afterwards one part per rank. Link i leads to rank i, or from
 * `own` on to rank i + 1. */
TESK_KERNEL(tesk_links_sums, THREADS, 1, (int)phases, (TeskLinks)links, (int)sums, (int)parts, (int)stride,
            (int)own, (double *)partial) {
  TESK_SHARED(memory);
  const unsigned round = *links.round + 1;
  const double *in = (const double *)(links.in + ((round + 1) & 1) * links.half);
  for (int s = 0; s < sums && phases & TESK_LINKS_PACK; s++) {
    const double sum = add_parts(partial + (long long)s * stride, parts, (double *)memory);
    for (int i = (int)threadIdx.x; i < links.links; i += THREADS)
      ((double *)links.out[(int)((round + 1) & 1) * links.links + i])[s] = sum;
    if (threadIdx.x == 0) partial[(long long)s * stride + own] = sum;
  }
  if (phases == TESK_LINKS_BOTH) meet(links, round);
  for (int i = (int)threadIdx.x; i < links.links && phases & TESK_LINKS_TAKE; i += THREADS)
    for (int s = 0; s < sums; s++) partial[(long long)s * stride + i + (i >= own)] = in[links.first[i] + s];
  if (phases == TESK_LINKS_BOTH) end_round(links, round);
}
