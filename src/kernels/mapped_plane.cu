/* The kernel of src/kernels/mapped.cu for quadrilaterals: a thread has one point (j, i) of a cell, the contractions read shared memory.
 * Shared memory: 4 q^2 numbers a cell. Flops a cell: 4 contractions of I and I', 4 of D and D', 2 q a result; a point: 6 (stiffness),
 * 2 (mass). Bytes a cell: 8 (2 n^2 + s q^2), s = 1 mass, 3 stiffness, 4 both; index 4 n^2. Macros: as there. */
#include "kernel.h"
#include "mapped_arguments.h"
#include "tables.h"

#define STORED 0 /* GEOMETRY */
#define VERTICES 1
#define AFFINE 2
#define ELEMENT 0 /* OUTPUT */
#define ATOMIC 1
#define COLOURED 2
#define THREADS (GROUP * GROUPS)
#define FACTORS (3 * STIFFNESS + MASS)
#define NODES (N * N)
#define POINTS (Q * Q)

typedef struct Task {
  long long cell;
  int valid, i, j;
} Task;

TESK_DEVICE real load_node(const TeskMapped *a, const real *x, const Task *task, int component) {
  const int node = task->j * N + task->i;
#if OUTPUT == ELEMENT
  return x[(task->cell * COMPONENTS + component) * NODES + node];
#else
  const int i = a->index[task->cell * NODES + node];
  return i < 0 ? 0 : x[(long long)i * COMPONENTS + component];
#endif
}

TESK_DEVICE void store_node(const TeskMapped *a, const real *x, real *y, const Task *task, int component,
                            real value) {
  const int node = task->j * N + task->i;
#if OUTPUT == ELEMENT
  y[(task->cell * COMPONENTS + component) * NODES + node] = value;
#else
  const int i = a->index[task->cell * NODES + node];
  const long long at = (long long)(i < 0 ? ~i : i) * COMPONENTS + component;
  if (i < 0)
    y[at] = x[at];
  else
#if OUTPUT == ATOMIC
    TESK_ADD(y + at, value);
#else
    y[at] += value;
#endif
#endif
}

/* g <- G g at the thread's point; returns the factor of the mass. */
TESK_DEVICE real apply_factors(const TeskMapped *a, const Task *task, real g[2]) {
  const real weight = (real)(a->weight[task->j] * a->weight[task->i]);
  real m[3] = {0, 0, 0}, mass = 0;
#if GEOMETRY == STORED
  const factor *f = (const factor *)a->geometry + task->cell * FACTORS * POINTS + task->j * Q + task->i;
  for (int s = 0; s < 3 * STIFFNESS; s++) m[s] = (real)f[s * POINTS];
  if (MASS) mass = (real)a->mass * (real)f[3 * STIFFNESS * POINTS];
  (void)weight;
#elif GEOMETRY == AFFINE
  const real *f = (const real *)a->geometry + task->cell * FACTORS;
  for (int s = 0; s < 3 * STIFFNESS; s++) m[s] = (real)a->stiffness * weight * f[s];
  if (MASS) mass = (real)a->mass * weight * f[3 * STIFFNESS];
#else
  const real *v = (const real *)a->geometry + task->cell * 8;
  const real xi = (real)a->point[task->i], eta = (real)a->point[task->j];
  real J[2][2]; /* [coordinate][direction] */
  for (int d = 0; d < 2; d++) {
    J[d][0] = (1 - eta) * (v[2 + d] - v[d]) + eta * (v[6 + d] - v[4 + d]);
    J[d][1] = (1 - xi) * (v[4 + d] - v[d]) + xi * (v[6 + d] - v[2 + d]);
  }
  const real det = J[0][0] * J[1][1] - J[0][1] * J[1][0], scale = (real)a->stiffness * weight / det;
  m[0] = scale * (J[0][1] * J[0][1] + J[1][1] * J[1][1]);
  m[1] = -scale * (J[0][0] * J[0][1] + J[1][0] * J[1][1]);
  m[2] = scale * (J[0][0] * J[0][0] + J[1][0] * J[1][0]);
  mass = (real)a->mass * weight * det;
#endif
  const real g0 = g[0];
  g[0] = m[0] * g0 + m[1] * g[1];
  g[1] = m[1] * g0 + m[2] * g[1];
  return mass;
}

/* sum of c over l < length of matrix(l) s[l stride] */
#define CONTRACT(sum, length, s, stride, entry)                                                              \
  for (int l = 0; l < (length); l++) (sum) += (entry) * (s)[l * (stride)];

/* The thread's value of a vector of nodes at its point; B is work space. */
TESK_DEVICE real to_point(real value, const Task *task, real *A, real *B) {
#if COLLOCATED
  (void)task, (void)A, (void)B;
  return value;
#else
  real sum = 0;
  if (task->j < N && task->i < N) A[task->j * Q + task->i] = value;
  __syncthreads();
  if (task->j < N) {
    CONTRACT(sum, N, A + task->j * Q, 1, tesk_i(task->i * N + l))
    B[task->j * Q + task->i] = sum;
  }
  __syncthreads();
  sum = 0;
  CONTRACT(sum, N, B + task->i, Q, tesk_i(task->j * N + l))
  return sum;
#endif
}

TESK_DEVICE real to_node(real value, const Task *task, real *A, real *B) {
#if COLLOCATED
  (void)task, (void)A, (void)B;
  return value;
#else
  real sum = 0;
  A[task->j * Q + task->i] = value;
  __syncthreads();
  if (task->j < N) {
    CONTRACT(sum, Q, A + task->i, Q, tesk_i(l * N + task->j))
    B[task->j * Q + task->i] = sum;
  }
  __syncthreads();
  sum = 0;
  if (task->j < N && task->i < N) CONTRACT(sum, Q, B + task->j * Q, 1, tesk_i(l * N + task->i))
  return sum;
#endif
}

#if HANGING
/* Hanging nodes (mapped_hanging.h says how), on the values at the nodes: W, or W', along x on the side in y and along y on the side in x. */
TESK_DEVICE real hang(real value, const Task *task, int directions, int mask, int transposed, real *A) {
  const int is_node = task->j < N && task->i < N, node = task->j * Q + task->i;
  for (int d = 0; d < 2; d++) {
    if (!(directions >> d & 1)) continue;
    const int stride = d == 0 ? 1 : Q, at = d == 0 ? task->i : task->j, across = d == 0 ? task->j : task->i,
              side = mask >> (1 - d) & 1 ? N - 1 : 0, upper = mask >> d & 1, row = upper ? N - 1 - at : at,
              step = upper ? -stride : stride;
    if (is_node) A[node] = value;
    __syncthreads();
    if (is_node && across == side && (mask >> (4 - d) & 1)) {
      const real *const line = A + across * (Q + 1 - stride) + upper * (N - 1) * stride;
      value = 0;
      for (int l = 0; l < N; l++)
        value += (transposed ? tesk_w(l * N + row) : tesk_w(row * N + l)) * line[l * step];
    }
    __syncthreads();
  }
  return value;
}
#endif

/* D' G D + mass W at the thread's point */
TESK_DEVICE real at_point(const TeskMapped *a, const Task *task, real value, real *A, real *B) {
  real g[2] = {0, 0}, sum = 0;
  A[task->j * Q + task->i] = value;
  __syncthreads();
  if (STIFFNESS) {
    CONTRACT(g[0], Q, A + task->j * Q, 1, tesk_d(task->i * Q + l))
    CONTRACT(g[1], Q, A + task->i, Q, tesk_d(task->j * Q + l))
  }
  const real mass = apply_factors(a, task, g);
  if (MASS) sum = mass * value;
  if (STIFFNESS) {
    __syncthreads();
    A[task->j * Q + task->i] = g[0];
    B[task->j * Q + task->i] = g[1];
    __syncthreads();
    CONTRACT(sum, Q, A + task->j * Q, 1, tesk_d(l * Q + task->i))
    CONTRACT(sum, Q, B + task->i, Q, tesk_d(l * Q + task->j))
  }
  return sum;
}

TESK_KERNEL(tesk_mapped, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)x, (real *)y, (TeskMapped)a) {
  TESK_SHARED(memory);
  const int t = (int)threadIdx.x % GROUP, group = (int)threadIdx.x / GROUP;
  const int mine = t < CELLS * POINTS, c = mine ? t / POINTS : 0;
  const long long at = ((long long)blockIdx.x * GROUPS + group) * CELLS + c;
  real *const A = memory + ((mine ? group * CELLS + c : GROUPS * CELLS) * 4) * POINTS, *const B = A + POINTS,
              *const E = B + POINTS, *const F = E + POINTS;
  Task task = {0, mine && at < a.cells, t % POINTS % Q, t % POINTS / Q};
  task.cell = task.valid ? at : 0;
#if ORDERED
  task.cell = a.order[task.cell];
#endif
  const int is_node = task.valid && task.i < N && task.j < N;
#if HANGING
  const long long head = (long long)blockIdx.x * GROUPS * CELLS;
  const int directions = a.masks[ORDERED ? a.order[head] : head] >> TESK_DIRECTIONS,
            mask = task.valid ? a.masks[task.cell] : 0;
#endif
  for (int component = 0; component < COMPONENTS; component++) {
    real value = is_node ? load_node(&a, x, &task, component) : 0;
    if (component) __syncthreads();
#if HANGING
    if (directions) value = hang(value, &task, directions, mask, 0, A);
#endif
    value = to_point(value, &task, A, B);
    value = at_point(&a, &task, value, E, F);
    value = to_node(value, &task, A, B);
#if HANGING
    if (directions) value = hang(value, &task, directions, mask, 1, A);
#endif
    if (is_node) store_node(&a, x, y, &task, component, value);
  }
}
