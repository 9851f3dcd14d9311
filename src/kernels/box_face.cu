/* v <- 0 at the nodes of a face, one thread per node. Macros: real (of the vector), POINTS, NODES (not used). */
#include "kernel.h"
#include "box_points.h"

TESK_KERNEL(tesk_clear, 128, 1, (real *)v, (TeskFace)face) {
  const long long count = face_nodes(&face);
  for (long long i = (long long)blockIdx.x * TESK_BOX_THREADS + threadIdx.x; i < count;
       i += (long long)gridDim.x * TESK_BOX_THREADS)
    v[face_node(&face, i)] = 0;
}
