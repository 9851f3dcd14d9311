/* b_i += - int 1/2 min(u.n, 0) u . v_i over open faces of the boundary, in float64; formulas:
 * operator/taylor_hood/taylor_hood.h.
 *
 * A block takes faces in turn. In each step the threads share the nodes, points or lines. The steps: read the nodes
 * of the face's cell and interpolate its hanging nodes; values at the face's points from the face's nodes; the
 * integrand times the test functions back to these nodes; from hanging nodes to the nodes that they are interpolated
 * from; atomic additions. If the bits must not vary, one block takes all faces in their order. Faces are few, so
 * nothing is tuned. Shared: 2 DIM arrays of SIZE. Flops: 4 N^(DIM-1) per point and component. Bytes per face: the
 * nodes of the cell, DIM numbers per point.
 * faces[count][2]: cell, face; normals[count][DIM][points]: outward, with weights. Macros: those of
 * taylor_hood_lines.h, CELLS 1. */
#include "kernel.h"
#include "tables.h"
#include "taylor_hood_lines.h"

#define FACE_NODES LINES_OF(N)
#define FACE_POINTS LINES_OF(Q)

/* Local number of node i of a face. */
TESK_DEVICE int face_node(int face, int i) {
  const int d = face / 2, end = face % 2 ? N - 1 : 0, first = i % N, second = i / N;
  return d == 0   ? end + first * N + second * N * N
         : d == 1 ? first + end * N + second * N * N
                  : first + second * N + end * N * N;
}

/* Value of the basis function of face node i at face point p. */
TESK_DEVICE real face_value(int i, int p) {
  return tesk_b(p % Q * N + i % N) * (DIM == 3 ? tesk_b(p / Q * N + i / N) : 1);
}

TESK_DEVICE void hang_cell(const TeskTaylorHood *a, long long cell, int transposed, real *dense) {
#if HANGING
  const int bits = TESK_READ(a->velocity_mask + cell);
  for (int i = 0; bits >> 3 && i < DIM; i++) {
    const int d = transposed ? DIM - 1 - i : i;
    FOR_ITEMS(id, DIM * FACE_NODES)
    tesk_hang_line(DIM, N, bits, d, id % FACE_NODES, transposed, a->velocity_halves,
                   dense + id / FACE_NODES * SIZE);
    __syncthreads();
  }
#else
  (void)a, (void)cell, (void)transposed, (void)dense;
#endif
}

TESK_KERNEL(tesk_backflow, THREADS, BLOCKS, (const real *TESK_RESTRICT)u, (real *)b, (const int *)faces,
            (const real *)normals, (long long)count, (TeskTaylorHood)a) {
  TESK_SHARED(memory);
  real *const dense = memory, *const values = memory + DIM * SIZE;
  for (long long f = blockIdx.x; f < count; f += gridDim.x) {
    const long long cell = faces[2 * f];
    const int face = faces[2 * f + 1];
    const real *const normal = normals + f * (DIM * FACE_POINTS);
    __syncthreads();
    FOR_ITEMS(id, DIM * NODES_OF(N))
    dense[id / NODES_OF(N) * SIZE + id % NODES_OF(N)] =
        u[id / NODES_OF(N) * a.velocities + a.velocity[cell * NODES_OF(N) + id % NODES_OF(N)]];
    __syncthreads();
    hang_cell(&a, cell, 0, dense);
    FOR_ITEMS(p, FACE_POINTS) {
      real at[DIM], along = 0;
      for (int c = 0; c < DIM; c++) {
        at[c] = 0;
        for (int i = 0; i < FACE_NODES; i++) at[c] += face_value(i, p) * dense[c * SIZE + face_node(face, i)];
        along += at[c] * normal[c * FACE_POINTS + p];
      }
      for (int c = 0; c < DIM; c++) values[c * SIZE + p] = along < 0 ? -0.5 * along * at[c] : 0;
    }
    __syncthreads();
    FOR_ITEMS(id, DIM * NODES_OF(N)) dense[id / NODES_OF(N) * SIZE + id % NODES_OF(N)] = 0;
    __syncthreads();
    FOR_ITEMS(id, DIM * FACE_NODES) {
      const int c = id / FACE_NODES, i = id % FACE_NODES;
      real sum = 0;
      for (int p = 0; p < FACE_POINTS; p++) sum += face_value(i, p) * values[c * SIZE + p];
      dense[c * SIZE + face_node(face, i)] = sum;
    }
    __syncthreads();
    hang_cell(&a, cell, 1, dense);
    FOR_ITEMS(id, DIM * NODES_OF(N)) {
      const real value = dense[id / NODES_OF(N) * SIZE + id % NODES_OF(N)];
      if (value != 0)
        TESK_ADD(b + id / NODES_OF(N) * a.velocities + a.velocity[cell * NODES_OF(N) + id % NODES_OF(N)],
                 value);
    }
  }
}
