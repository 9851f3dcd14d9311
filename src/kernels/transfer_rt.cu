/* Embeddings of Raviart-Thomas spaces and their transposes, one direction per launch, for all components and the
 * pressure: y <- keep y + (band of nodes or of modes along the direction) x. One thread per entry of y, x fastest. No
 * shared memory, about 32 registers; at most 2 (n + 1) flops per entry up and 4 (n + 1) down. Traffic of all three
 * directions together, in numbers per fine entry: 1 / 8 + 2 / 4 + 2 / 2 + 1, and 1 more if the result is added.
 * In 2D, for meshes of few cells, both directions in one launch: 2 (n + 1)^2 flops per entry up and 32 n^2 down.
 * Macros: real. */
#include "kernel.h"

#define THREADS 256
#include "rt_entries.h"
#include "band_rows.h"

/* Grid: blocks of entries of y, parts. */
TESK_KERNEL(tesk_transfer_rt, THREADS, 1, (const real *TESK_RESTRICT)x, (real *)y, (TeskRtPass)pass,
            (int)keep) {
  const int part = (int)blockIdx.y, d = pass.direction;
  const TeskBand *const band = part == d ? &pass.nodes : &pass.modes;
  FOR_ENTRIES(id, size_of(&pass.to, part)) {
    const TeskEntry e = entry_of(&pass.to, part, id);
    const real sum =
        band_row(band, e.at[d], x + line_of(&pass.from, part, d, e.at), step_of(&pass.from, part, d));
    y[e.place] = (keep ? y[e.place] : 0) + sum;
  }
}

/* Directions x and y, in any order; `team` threads per entry, each with a row of the band across. Shared memory: one
 * number per thread. */
TESK_KERNEL(tesk_transfer_rt_both, THREADS, 1, (const real *TESK_RESTRICT)x, (real *)y, (TeskRtPass)first,
            (TeskRtPass)second, (int)keep, (int)team) {
  TESK_SHARED(sums);
  const int part = (int)blockIdx.y, row_step = first.from.extent[part][0], entries = THREADS / team;
  const unsigned t = threadIdx.x, id = blockIdx.x * (unsigned)entries + t % (unsigned)entries;
  const TeskRtPass *const along = first.direction == 0 ? &first : &second, *const across =
                                                                               first.direction == 0 ? &second
                                                                                                    : &first;
  const TeskBand *const rows = part == 1 ? &across->nodes : &across->modes, *const columns =
                                                                                part == 0 ? &along->nodes
                                                                                          : &along->modes;
  const real *const from = x + first.from.offset[part];
  real sum = 0;
  TeskEntry e = {{0}, {0}, 0};
  const int exists = id < size_of(&second.to, part);
  if (exists) {
    e = entry_of(&second.to, part, id);
    const real *const value = (const real *)rows->value + (long long)e.at[1] * rows->width;
    for (int j = (int)t / entries; j < rows->count[e.at[1]]; j += team) {
      const int at = rows->first[e.at[1]] + j, row = at >= rows->columns ? at - rows->columns : at;
      sum += TESK_READ(value + j) * band_row(columns, e.at[0], from + (long long)row * row_step, 1);
    }
  }
  sums[t] = sum;
  __syncthreads();
  if (t >= (unsigned)entries || !exists) return;
  for (int j = 1; j < team; j++) sum += sums[t + (unsigned)(j * entries)];
  y[e.place] = (keep ? y[e.place] : 0) + sum;
}
