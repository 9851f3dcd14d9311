/* Pitches of shared memory for src/kernels/mapped.cu, by counting bank conflicts. */
#include <limits.h>
#include <string.h>
#include "operator/mapped/device/mapped_kernel.h"

enum { BANK_BYTES = 128 }; /* bytes that shared memory delivers per cycle */

/* One access of all threads: line l, with `lines` lines per cell, begins at sy (l / inner) + sx (l % inner). */
typedef struct Access {
  int lines, inner, outer_stride, inner_stride, times;
} Access;

/* Cycles of one access by all threads of a group: the largest number of lanes in one bank, summed over parts of a
 * warp. */
static int count_cycles(const Access *a, int cells, int cell_pitch, int banks) {
  int cycles = 0, hits[32], at[32];
  const int threads = cells * a->lines;
  for (int first = 0; first < threads; first += banks) {
    int worst = 0, lanes = threads - first < banks ? threads - first : banks;
    memset(hits, 0, sizeof hits);
    for (int i = 0; i < lanes; i++) {
      const int t = first + i, l = t % a->lines;
      at[i] = t / a->lines * cell_pitch + l / a->inner * a->outer_stride + l % a->inner * a->inner_stride;
      const int bank = at[i] % banks;
      hits[bank]++;
      worst = tesi_max(worst, hits[bank]);
    }
    cycles += worst;
  }
  return cycles * a->times;
}

static int count_all(int n, int q, const TesiMappedCut *cut, int py, int pz, int pc, const int by_z[2],
                     int banks) {
  const Access x_n = by_z[0] ? (Access){n * q, n, py, pz, 2 * (n + q)}
                             : (Access){n * q, q, pz, py, 2 * (n + q)},
               x_q = by_z[0] ? (Access){q * q, q, py, pz, 4 * q} : (Access){q * q, q, pz, py, 4 * q},
               y_q = by_z[1] ? (Access){q * q, q, 1, pz, 4 * q} : (Access){q * q, q, pz, 1, 4 * q},
               y_n = {n * n, n, pz, 1, 2 * q}, z = {q * q, q, py, 1, 7 * q};
  int cycles = count_cycles(&z, cut->cells, pc, banks);
  if (cut->buffers > 1) {
    cycles += count_cycles(&x_q, cut->cells, pc, banks);
    cycles += count_cycles(&y_q, cut->cells, pc, banks);
  }
  cycles += count_cycles(&x_n, cut->cells, pc, banks);
  return cycles + count_cycles(&y_n, cut->cells, pc, banks);
}

void tesi_mapped_pitches(int n, int q, const TesiMappedCut *cut, size_t size, int pitch[4], int by_z[2]) {
  const int banks = tesi_min(32, BANK_BYTES / (int)size);
  int best = INT_MAX;
  for (int py = q; py <= q + 1; py++)
    for (int pz = q * py; pz <= q * py + 9; pz++)
      for (int pad = 0; pad < (cut->cells > 1 ? 16 : 1); pad++)
        for (int order = 0; order < 4; order++) {
          const int orders[2] = {order & 1, order >> 1}, pb = (cut->gradients ? n : q) * pz,
                    pc = cut->buffers * pb + pad;
          const int cycles = count_all(n, q, cut, py, pz, pc, orders, banks);
          if (cycles >= best) continue;
          best = cycles;
          memcpy(pitch, (int[4]){py, pz, pb, pc}, 4 * sizeof *pitch);
          memcpy(by_z, orders, sizeof orders);
        }
}
