/* x <- x + K_p^+ r for patches of a Stokes problem, or the whole of a small one, by fast diagonalization and S^+
 * (src/operator/stokes/stokes_local.h): any degree, ends and cells. One block per patch, one thread per number;
 * barriers between the contractions. S^+ is for viscosity 1, and each patch has its own nu:
 *   F^_i = Z' F_i / Lam_i    q = -Zd' g - sum over i of G F^_i    p = nu S^+ q    u^_i = F^_i + G' p / Lam_i
 *   u = Z u^, p <- Zd p
 * Memory of a block: dim + 2 arrays of the largest part of a patch, in shared memory, or with GLOBAL_WORK in global
 * memory. About 40 registers. Flops per patch with N = 2 n modes per direction: 4 dim (dim + 2) N^(dim + 1) +
 * 2 N^(2 dim). Bytes: r read, x read and written, and S^+, N^(2 dim) numbers, from the L2 cache, which bounds the
 * time.
 * tesk_stokes_patch_exact does the same with the inverse matrix over all n unknowns of a patch, n = dim (N -+ 1)
 * N^(dim - 1) + N^dim: 2 n^2 flops and n^2 numbers from memory. Macros: real, THREADS, GLOBAL_WORK. */
#include "kernel.h"
#include "stokes_arguments.h"

#define FOR_ALL(id, n) for (int id = (int)threadIdx.x; id < (n); id += THREADS)

typedef struct Patch {
  const TeskStokesPatches *all;
  const TeskStokesPatch *its;
  const TeskStokesKind *kind[3];
} Patch;

TESK_DEVICE int extent_of(const Patch *p, int part, int d) {
  return d >= p->all->parts.dim ? 1 : d == part ? p->kind[d]->nodes : p->kind[d]->modes;
}

/* Tables of direction d. */
TESK_DEVICE const real *numbers_of(const Patch *p, int d) {
  return (const real *)p->kind[d]->numbers;
}
TESK_DEVICE const real *eigenvectors(const Patch *p, int part, int d) {
  const int M = p->kind[d]->nodes;
  return numbers_of(p, d) + (d == part ? 0 : M * M);
}
TESK_DEVICE const real *gradient(const Patch *p, int d) {
  const int M = p->kind[d]->nodes, N = p->kind[d]->modes;
  return numbers_of(p, d) + M * M + N * N;
}
TESK_DEVICE const real *eigenvalues(const Patch *p, int part, int d) {
  const int M = p->kind[d]->nodes, N = p->kind[d]->modes;
  return gradient(p, d) + N * M + (d == part ? 0 : M);
}

/* The place of number `id` of a part of the patch in a vector. */
TESK_DEVICE long long place_of(const Patch *p, int part, int id) {
  const TeskParts *parts = &p->all->parts;
  long long place = parts->offset[part], step = 1;
  for (int d = 0; d < parts->dim; d++) {
    const int e = extent_of(p, part, d), whole = d == part ? p->all->nodes[d] : p->all->modes[d];
    const int at = p->its->vertex[d] * p->all->n + id % e + (d == part ? p->kind[d]->first : 0);
    place += step * (at < whole ? at : at - whole);
    step *= parts->extent[part][d];
    id /= e;
  }
  return place;
}

TESK_DEVICE int size_of(const Patch *p, int part) {
  return extent_of(p, part, 0) * extent_of(p, part, 1) * extent_of(p, part, 2);
}

/* to = A from along a direction, A[rows][columns], or A' with `transposed`; [outer][.][inner]. */
TESK_DEVICE void contract(const real *A, int rows, int columns, int transposed, int inner, int outer,
                          const real *from, real *to) {
  const int in = transposed ? rows : columns, out = transposed ? columns : rows;
  const int row_step = transposed ? 1 : columns, step = transposed ? columns : 1;
  __syncthreads();
  FOR_ALL(id, inner * out * outer) {
    const int i = id % inner, r = id / inner % out, o = id / inner / out;
    const real *v = from + o * in * inner + i, *a = A + r * row_step;
    real sum = 0;
    for (int c = 0; c < in; c++) sum += a[c * step] * v[c * inner];
    to[id] = sum;
  }
}

/* *a <- Z' *a or Z *a in all directions; *a and *b are swapped as needed. */
TESK_DEVICE void transform(const Patch *p, int part, int back, real **a, real **b) {
  int inner = 1, outer = size_of(p, part);
  for (int d = 0; d < p->all->parts.dim; d++) {
    const int n = extent_of(p, part, d);
    real *const other = *b;
    outer /= n;
    contract(eigenvectors(p, part, d), n, n, !back, inner, outer, *a, *b);
    *b = *a;
    *a = other;
    inner *= n;
  }
  __syncthreads();
}

TESK_DEVICE real inverse_eigenvalue(const Patch *p, int part, int id) {
  real sum = 0;
  for (int d = 0; d < p->all->parts.dim; d++) {
    const int e = extent_of(p, part, d);
    sum += eigenvalues(p, part, d)[id % e];
    id /= e;
  }
  return 1 / ((real)p->its->nu * sum + (real)p->all->alpha);
}

/* Contraction along the own direction of component i, between its modes and the modes of the pressure. */
TESK_DEVICE void couple(const Patch *p, int i, int to_velocity, const real *from, real *to) {
  int inner = 1, outer = 1;
  for (int d = 0; d < i; d++) inner *= extent_of(p, i, d);
  for (int d = i + 1; d < 3; d++) outer *= extent_of(p, i, d);
  contract(gradient(p, i), p->kind[i]->modes, p->kind[i]->nodes, to_velocity, inner, outer, from, to);
  __syncthreads();
}

/* F^ of component i, and its part of q. */
TESK_DEVICE void load_component(const Patch *p, int i, const real *r, real **F, real *q, real **spare) {
  const int size = size_of(p, i), pressures = size_of(p, p->all->parts.dim);
  FOR_ALL(id, size)(*F)[id] = r[place_of(p, i, id)];
  transform(p, i, 0, F, spare);
  FOR_ALL(id, size)(*F)[id] *= inverse_eigenvalue(p, i, id);
  couple(p, i, 0, *F, *spare);
  FOR_ALL(id, pressures) q[id] -= (*spare)[id];
  __syncthreads();
}

TESK_DEVICE void store_component(const Patch *p, int i, const real *pressure, real **F, real **spare, real *x) {
  const int size = size_of(p, i);
  couple(p, i, 1, pressure, *spare);
  FOR_ALL(id, size)(*F)[id] += inverse_eigenvalue(p, i, id) * (*spare)[id];
  transform(p, i, 1, F, spare);
  FOR_ALL(id, size) x[place_of(p, i, id)] += (*F)[id];
  __syncthreads();
}

TESK_DEVICE void find_pressure(const Patch *p, const real *q, real *pressure) {
  const real *S = (const real *)p->its->inverse;
  const int n = size_of(p, p->all->parts.dim);
  FOR_ALL(id, n) {
    real sum = 0;
    for (int c = 0; c < n; c++) sum += S[(long long)c * n + id] * q[c];
    pressure[id] = (real)p->its->nu * sum;
  }
  __syncthreads();
}

TESK_DEVICE Patch patch_of(const TeskStokesPatches *all, const TeskStokesPatch *its) {
  Patch p;
  p.all = all;
  p.its = its;
  for (int d = 0; d < 3; d++) p.kind[d] = all->kind[d] + its->kind[d];
  return p;
}

TESK_KERNEL(tesk_stokes_patch, THREADS, 1, (TeskStokesPatches)all, (const TeskStokesPatch *)patches,
            (const real *)r, (real *)x, (real *)work) {
#if GLOBAL_WORK
  real *const memory = work + (long long)blockIdx.x * all.most * (all.parts.dim + 2);
#else
  TESK_SHARED(memory);
  (void)work;
#endif
  const int dim = all.parts.dim;
  const TeskStokesPatch its = patches[blockIdx.x];
  const Patch p = patch_of(&all, &its);
  real *F[3], *q = memory + dim * all.most, *spare = memory + (dim + 1) * all.most;
  for (int d = 0; d < 3; d++) F[d] = memory + d * all.most; /* in 2D F[2] is q: do not use it here */
  FOR_ALL(id, size_of(&p, dim)) q[id] = -r[place_of(&p, dim, id)];
  transform(&p, dim, 0, &q, &spare);
  for (int i = 0; i < dim; i++) load_component(&p, i, r, &F[i], q, &spare);
  find_pressure(&p, q, spare);
  real *pressure = spare;
  spare = q;
  for (int i = 0; i < dim; i++) store_component(&p, i, pressure, &F[i], &spare, x);
  transform(&p, dim, 1, &pressure, &spare);
  FOR_ALL(id, size_of(&p, dim)) x[place_of(&p, dim, id)] += pressure[id];
}

/* Grid, threads and memory as above. */
TESK_KERNEL(tesk_stokes_patch_exact, THREADS, 1, (TeskStokesPatches)all, (const TeskStokesPatch *)patches,
            (const real *)r, (real *)x, (real *)work) {
#if GLOBAL_WORK
  real *const memory = work + (long long)blockIdx.x * all.most * (all.parts.dim + 2);
#else
  TESK_SHARED(memory);
  (void)work;
#endif
  const TeskStokesPatch its = patches[blockIdx.x];
  const Patch p = patch_of(&all, &its);
  const real *const K = (const real *)its.inverse;
  int n = 0;
  for (int part = 0; part <= all.parts.dim; n += size_of(&p, part++))
    FOR_ALL(id, size_of(&p, part)) memory[n + id] = r[place_of(&p, part, id)];
  __syncthreads();
  for (int part = 0, first = 0; part <= all.parts.dim; first += size_of(&p, part++))
    FOR_ALL(id, size_of(&p, part)) {
      real sum = 0;
      for (int c = 0; c < n; c++) sum += TESK_READ(K + (long long)c * n + first + id) * memory[c];
      x[place_of(&p, part, id)] += sum;
    }
}
