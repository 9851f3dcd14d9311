/* What a block of rt_cells.h has in memory: of each cell NUMBERS read and as many to write, and work A and B. Define
 * before: what rt_cells.h wants, NUMBERS, WORK_A and WORK_B. */
#ifndef TESK_RT_BLOCKS_H
#define TESK_RT_BLOCKS_H

#define CELL (2 * NUMBERS + WORK_A + WORK_B)
#define COEFFICIENTS (DIM == 3 ? P * N : P) /* of a field at a face, at most */

/* The places of a cell's numbers. */
#define OF_U(cell) (memory + (cell)*CELL)
#define OF_OUT(cell) (OF_U(cell) + NUMBERS)
#define OF_A(cell) (OF_U(cell) + 2 * NUMBERS)
#define OF_B(cell) (OF_A(cell) + WORK_A)

TESK_DEVICE void read_cells(const RT_ARGUMENTS *s, const real *TESK_RESTRICT x, real *memory) {
  EACH(id, NUMBERS) {
    const int of = id / NUMBERS, number = id - of * NUMBERS, i = number / SIZE, k = number - i * SIZE,
              row = k / EXTENT(i, 0), layer = row / EXTENT(i, 1);
    const Cell c = cell_of(s, of);
    OF_U(of)
    [number] = scale_of(s, i, c.at) *
               TESK_READ(x + place_of(s, i, c.at, k - row * EXTENT(i, 0), row - layer * EXTENT(i, 1), layer));
  }
  __syncthreads();
}

#endif
