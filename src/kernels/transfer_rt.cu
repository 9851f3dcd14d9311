/* Embeddings of Raviart-Thomas spaces and their transposes, a direction a launch for all components and the pressure:
 * y <- keep y + (band of nodes or of modes along the direction) x. A thread an entry of y, x fastest. No shared
 * memory, about 32 registers; at most 2 (n + 1) flops an entry up and 4 (n + 1) down. Bytes of all three directions
 * together, in numbers a fine entry: (1 / 8 + 2 / 4 + 2 / 2 + 1, and 1 where it is added to). Macros: real. */
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
