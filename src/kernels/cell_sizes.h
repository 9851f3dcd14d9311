/* Array sizes for a cell of discontinuous Q_k with N modes and Q points per direction: the modes and the points of
 * the cell and of a face. Define before: DIM, N, Q. */
#ifndef TESK_CELL_SIZES_H
#define TESK_CELL_SIZES_H

#if DIM == 3
#define SIZE (N * N * N)
#define ACROSS (N * N)
#define POINTS (Q * Q * Q)
#define FACE (Q * Q)
#else
#define SIZE (N * N)
#define ACROSS N
#define POINTS (Q * Q)
#define FACE Q
#endif
#define FACES (2 * DIM)

#endif
