/* Lines of the numbers of cells, one line per thread. Define before: real, THREADS, CELLS (per block). LINE_LOOP says
 * how loops are unrolled; if it is not defined, they are unrolled completely. */
#ifndef TESK_CELL_LINES_H
#define TESK_CELL_LINES_H

#ifndef LINE_LOOP
#define LINE_LOOP TESK_UNROLL
#endif
/* Numbers 0 .. count - 1 of each cell of the block. */
#define EACH(id, count) TESK_ROLL for (int id = (int)threadIdx.x; id < CELLS * (count); id += THREADS)

/* name: to[r stride] <- sum over c of T[r][c] from[c step]; entry: T[r][c], an expression of r and c. */
#define CONTRACTION(name, rows, columns, entry)                                                              \
  TESK_DEVICE void name(const real *from, int step, real *to, int stride) {                                  \
    real line[columns];                                                                                      \
    LINE_LOOP                                                                                                \
    for (int c = 0; c < columns; c++) line[c] = from[c * step];                                              \
    LINE_LOOP                                                                                                \
    for (int r = 0; r < rows; r++) {                                                                         \
      real sum = 0;                                                                                          \
      LINE_LOOP                                                                                              \
      for (int c = 0; c < columns; c++) sum += (entry)*line[c];                                              \
      to[r * stride] = sum;                                                                                  \
    }                                                                                                        \
  }

#endif
