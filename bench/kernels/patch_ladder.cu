/* The vertex-patch smoother, patch by patch, in the variants of patch-smoothers-cui-2024, section 4, and in
 * ours: to be measured, not to be fast. For each patch of one colour, from its (2k+1)^d closed nodes u and (2k-1)^d
 * inner values of b, here in 3D:
 *   r = b - A u = b - [Kx My Mz + ry Mx Ky Mz + rz Mx My Kz + r0 Mx My Mz] u       7 contractions, matrices of width 1
 *   u_I <- u_I + (S (x) S (x) S) (lambda_x + ry lambda_y + rz lambda_z + r0)^-1 (S (x) S (x) S)' r      6 contractions
 * (2D: 4 and 4 contractions). DENSE: with the inverse of the patch's matrix instead. SHORTCUT: u_I is taken as 0, and
 * the solution for r is u_I itself, which is correct for an exact local solver. Multiply-adds per patch: about
 * 13 (2k-1)^4, DENSE (2k-1)^6; in 2D 8 (2k-1)^3, DENSE (2k-1)^4. Between contractions all data are in shared memory.
 * DATA: values are moved and nothing is computed, so x_I <- x_I + scale b.
 *
 * PHASES: 1 residual to memory, 2 solve from memory (GLOBAL: the residual of the operator, not scaled), 3 both
 * (fused). FORM of a contraction:
 *   0 basic         arrays with the pitches of the closed patch, threads over the closed patch, some idle
 *   1 linear        the same arrays, threads over the results by a linear index
 *   2 conflict_free arrays without gaps (odd pitches: neighbours meet different banks)
 *     LAYERS, for 1 and 2: the results layer by layer, as in the paper: no conflicts, but idle threads
 *   3 lines         a thread owns a line in registers, entries of the matrix are immediates
 *   4 even_odd      the same with the even and odd halves of the matrices: half the multiplications
 *   5 tiles         tensor cores: 16 x 8 results of 8 lines per step (m16n8k8), matrix and lines padded with zeros
 * ROUND of form 5: 0 none (float64), 1 TF32, 2 TF32 in three products (the value's leading part and its remainder).
 *
 * Macros: real, DIM, DEGREE, PATCHES (per block), TEAM (threads per patch; whole warps in form 5), PHASES, FORM, ROUND,
 * LAYERS, SHORTCUT, DENSE, GLOBAL, DATA, NOTES. Tables: tesk_m, tesk_k (closed patch, [M][N]), tesk_s (modes, (node,
 * mode)), and their halves tesk_me, tesk_mo, .., if FORM needs them.
 * NOTES, in the emulator only: the number of accesses to shared memory that a thread notes, for patch_conflicts.c. */
#include "kernel.h"
#include "tables.h"

#define K DEGREE
#define M (2 * K - 1)
#define N (2 * K + 1)
#if DIM == 3
#define DEEP(n) (n) /* what a third direction has */
#else
#define DEEP(n) 1
#endif
#define MD (M * M * DEEP(M))
#define ND (N * N * DEEP(N))
#if FORM < 2
#define ROW(n) N
#define PLANE(n0, n1) (N * N)
#define SIZE(n0, n1, n2) ND
#else
#define ROW(n) (n)
#define PLANE(n0, n1) ((n0) * (n1))
#define SIZE(n0, n1, n2) ((n0) * (n1)*DEEP(n2))
#endif
enum { MASS, STIFFNESS, TO_MODES, TO_NODES };
/* One patch: U closed, P and Q after x, V after y (2D: after x); later results take the place of what is no longer
 * needed. */
#define SIZE_U SIZE(N, N, N)
#define SIZE_P SIZE(M, N, N)
#define SIZE_V SIZE(M, DIM == 3 ? M : N, N)
#define SIZE_PATCH (SIZE_U + 2 * SIZE_P + SIZE_V)
#define SIZE_MATRICES (2 * M * N + M * M + M) /* M, K, S, lambda after the patches */
#define THREADS (PATCHES * TEAM)
#define FOR_TASKS(id, n) for (int id = (int)threadIdx.x % TEAM; id < (n); id += TEAM)

typedef struct TeskLadder {
  int cells[3], colour[3];
  int pitch;
  long long plane;
  double ry, rz, r0, scale;
} TeskLadder;

/* ---- notes ---------------------------------------------------------------------------------------------- */
#if NOTES
enum { NOTE_MATRIX, NOTE_IN, NOTE_OLD, NOTE_OUT, NOTE_KINDS };
static struct {
  long long *log; /* [thread][NOTES]: count, number of the contraction, then (key, place) */
  const real *memory;
} tesk_notes;
/* Lanes that reach one access with the same counters access together. */
TESK_DEVICE void note(int kind, int step, int j, const real *p) {
  long long *mine = tesk_notes.log + (long long)threadIdx.x * NOTES, n = mine[0];
  if (n + 4 > NOTES) return;
  mine[n + 2] = ((mine[1] * 4096 + step) * 64 + j) * NOTE_KINDS + kind;
  mine[n + 3] = p - tesk_notes.memory;
  mine[0] = n + 2;
}
#define NOTE(kind, step, j, p) note(kind, step, j, p)
#define NOTE_NEXT() (tesk_notes.log[(long long)threadIdx.x * NOTES + 1]++)
#else
#define NOTE(kind, step, j, p) ((void)0)
#define NOTE_NEXT() ((void)0)
#endif

/* ---- lines in registers -------------------------------------------------------------------------------- */
#if FORM == 3 || FORM == 4
TESK_DEVICE real entry(int which, int i, int j) {
  return which == MASS        ? tesk_m(i * N + j)
         : which == STIFFNESS ? tesk_k(i * N + j)
         : which == TO_MODES  ? tesk_s(j * M + i)
                              : tesk_s(i * M + j);
}

#if FORM == 3
TESK_DEVICE void multiply_line(int which, const real *v, real *w) {
  TESK_UNROLL
  for (int i = 0; i < M; i++) {
    real sum = 0;
    TESK_UNROLL
    for (int j = 0; j < (which < TO_MODES ? N : M); j++) sum += entry(which, i, j) * v[j];
    w[i] = sum;
  }
}
#else
/* Halves: of mass and stiffness E[K][K + 1], O[K - 1][K]; of the modes (node, mode) E[K][K], O[K - 1][K - 1], even
 * modes first. */
TESK_DEVICE real even_entry(int which, int i, int j) {
  return which == MASS        ? tesk_me(i * (K + 1) + j)
         : which == STIFFNESS ? tesk_ke(i * (K + 1) + j)
         : which == TO_MODES  ? tesk_se(j * K + i)
                              : tesk_se(i * K + j);
}
TESK_DEVICE real odd_entry(int which, int i, int j) {
  return which == MASS        ? tesk_mo(i * K + j)
         : which == STIFFNESS ? tesk_ko(i * K + j)
         : which == TO_MODES  ? tesk_so(j * (K - 1) + i)
                              : tesk_so(i * (K - 1) + j);
}

TESK_DEVICE void multiply_line(int which, const real *v, real *w) {
  const int closed = which < TO_MODES, evens = closed ? K + 1 : K, odds = closed ? K : K - 1,
            last = closed ? N - 1 : M - 1;
  real e[K + 1], o[K + 1];
  TESK_UNROLL
  for (int j = 0; j < evens; j++) {
    e[j] = which == TO_NODES ? v[j] : j < odds ? v[j] + v[last - j] : v[j];
    if (j < odds) o[j] = which == TO_NODES ? v[K + j] : v[j] - v[last - j];
  }
  TESK_UNROLL
  for (int i = 0; i < K; i++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int j = 0; j < evens; j++) even += even_entry(which, i, j) * e[j];
    if (i < K - 1) {
      TESK_UNROLL
      for (int j = 0; j < odds; j++) odd += odd_entry(which, i, j) * o[j];
    }
    if (which == TO_MODES) {
      w[i] = even;
      if (i < K - 1) w[K + i] = odd;
    } else {
      w[i] = even + odd;
      if (i < K - 1) w[M - 1 - i] = even - odd;
    }
  }
}
#endif
#endif

/* ---- contractions -------------------------------------------------------------------------------------- */
/* Entry of a matrix in shared memory. */
TESK_DEVICE int place_of_entry(int which, int i, int j) {
  return which == MASS        ? i * N + j
         : which == STIFFNESS ? M * N + i * N + j
         : which == TO_MODES  ? 2 * M * N + j * M + i
                              : 2 * M * N + i * M + j;
}
TESK_DEVICE real shared_entry(const real *matrices, int which, int i, int j) {
  return matrices[place_of_entry(which, i, j)];
}

/* Whether a line in x of the closed patch contains inner nodes, which a shortcut takes as zero. */
TESK_DEVICE int is_hollow(int which, int direction, int y, int z) {
  return SHORTCUT && which < TO_MODES && direction == 0 && y > 0 && y < N - 1 &&
         (DIM == 2 || (z > 0 && z < N - 1));
}

#if FORM == 5
/* c[r] <- a 16 x 8 tile of matrix times lines; lane: rows lane / 4 and lane / 4 + 8, lines 2 (lane % 4) and the next.
 * The emulator has no warps: each lane sums its own four results from shared memory, with operands rounded as the
 * hardware rounds. */
#ifdef TESK_EMULATOR
TESK_DEVICE real round_value(real v) {
#if ROUND
  union {
    float value;
    unsigned bits;
  } u = {(float)v};
  u.bits = (u.bits + 0x1000u) & ~0x1fffu; /* rounds to nearest, ties away from zero */
  return u.value;
#else
  return v;
#endif
}
#else
#if ROUND
TESK_DEVICE unsigned to_tf32(float v) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
  return bits;
}
TESK_DEVICE void mma(float *c, const unsigned *a, const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
               "{%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
TESK_DEVICE void multiply_tile(float *c, const float *a, const float *b) {
  unsigned ah[4], bh[2];
  TESK_UNROLL
  for (int i = 0; i < 4; i++) ah[i] = to_tf32(a[i]);
  TESK_UNROLL
  for (int i = 0; i < 2; i++) bh[i] = to_tf32(b[i]);
#if ROUND == 2
  unsigned al[4], bl[2];
  TESK_UNROLL
  for (int i = 0; i < 4; i++) al[i] = to_tf32(a[i] - __uint_as_float(ah[i]));
  TESK_UNROLL
  for (int i = 0; i < 2; i++) bl[i] = to_tf32(b[i] - __uint_as_float(bh[i]));
  mma(c, al, bh);
  mma(c, ah, bl);
#endif
  mma(c, ah, bh);
}
#else
TESK_DEVICE void multiply_tile(double *c, const double *a, const double *b) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
  TESK_UNROLL
  for (int half = 0; half < 2; half++) {
    TESK_UNROLL
    for (int step = 0; step < 2; step++)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                   : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                   : "d"(a[2 * step + half]), "d"(b[step]));
  }
#endif
}
#endif
#endif

#define STEPS ((N + 7) / 8)

/* Lines 8 tile .. 8 tile + 7, of which line l begins at first(l): outer l / lines_0, inner l % lines_0. */
TESK_DEVICE void contract_tiles(const real *matrices, int which, const real *in, int in_stride, int in_outer,
                                real *out, int out_stride, int out_outer, int inner_step, int inner,
                                int outer, real weight, int add) {
  const int inputs = which < TO_MODES ? N : M, lane = (int)threadIdx.x % 32, group = lane / 4,
            member = lane % 4;
  const int lines = inner * outer;
#ifndef TESK_EMULATOR
  real a[STEPS][4];
  TESK_UNROLL
  for (int step = 0; step < STEPS; step++) {
    TESK_UNROLL
    for (int i = 0; i < 4; i++) {
      const int row = group + i % 2 * 8, column = 8 * step + member + i / 2 * 4;
      a[step][i] = row < M && column < inputs ? shared_entry(matrices, which, row, column) : 0;
    }
  }
#endif
  for (int tile = (int)threadIdx.x % TEAM / 32; tile < (lines + 7) / 8; tile += TEAM / 32) {
    real c[4] = {0, 0, 0, 0};
#ifndef TESK_EMULATOR
    const int line = tile * 8 + group, good = line < lines;
    const real *from = in + line % inner * inner_step + line / inner * in_outer;
    TESK_UNROLL
    for (int step = 0; step < STEPS; step++) {
      real b[2];
      TESK_UNROLL
      for (int i = 0; i < 2; i++) {
        const int j = 8 * step + member + 4 * i;
        b[i] = good && j < inputs ? from[j * in_stride] : 0;
      }
      if (8 * step < inputs) multiply_tile(c, a[step], b);
    }
#endif
    for (int r = 0; r < 4; r++) {
      const int row = group + r / 2 * 8, mine = tile * 8 + 2 * member + r % 2;
      if (row >= M || mine >= lines) continue;
#ifdef TESK_EMULATOR
      const real *from = in + mine % inner * inner_step + mine / inner * in_outer;
      for (int j = 0; j < inputs; j++) {
        const real e = shared_entry(matrices, which, row, j), v = from[j * in_stride];
        c[r] += round_value(e) * round_value(v);
        if (ROUND == 2)
          c[r] += round_value(e) * round_value(v - round_value(v)) +
                  round_value(e - round_value(e)) * round_value(v);
      }
#endif
      real *to = out + mine % inner * inner_step + mine / inner * out_outer + row * out_stride;
      *to = weight * c[r] + (add ? *to : 0);
    }
  }
}
#endif

/* out[z][y][x] <- weight times the matrix along `direction` times `in`; with `add` the product is added to out. n0,
 * n1, n2 are the sizes of out (n2 is 1 in 2D). `in` has N or M numbers along `direction`, and the sizes of out in the
 * others. All threads must call it, after a barrier for `in`. */
TESK_DEVICE void contract(const real *matrices, int which, int direction, const real *in, real *out, int n0,
                          int n1, int n2, real weight, int add) {
  const int inputs = which < TO_MODES ? N : M;
  const int i0 = direction == 0 ? inputs : n0, i1 = direction == 1 ? inputs : n1;
  const int row_in = ROW(i0), plane_in = PLANE(i0, i1), row_out = ROW(n0), plane_out = PLANE(n0, n1);
  const int stride_in = direction == 0 ? 1 : direction == 1 ? row_in : plane_in;
  (void)stride_in;
  NOTE_NEXT();
#if FORM <= 2
#if FORM == 0
  FOR_TASKS(id, ND) {
    const int x = id % N, y = id / N % N, z = id / N / N;
    if (x >= n0 || y >= n1 || z >= n2) continue;
#elif LAYERS
  FOR_TASKS(id, TEAM * n2) {
    const int x = id % TEAM % n0, y = id % TEAM / n0, z = id / TEAM;
    if (y >= n1) continue;
#else
  FOR_TASKS(id, n0 * n1 * n2) {
    const int x = id % n0, y = id / n0 % n1, z = id / n0 / n1;
#endif
    const int i = direction == 0 ? x : direction == 1 ? y : z;
    const real *from = in + (direction == 0 ? 0 : x) + (direction == 1 ? 0 : y) * row_in +
                       (direction == 2 ? 0 : z) * plane_in;
    real sum = 0;
    if (is_hollow(which, direction, y, z)) {
      for (int side = 0; side < 2; side++) {
        NOTE(NOTE_MATRIX, id / TEAM, 62 + side, matrices + place_of_entry(which, i, side * (N - 1)));
        NOTE(NOTE_IN, id / TEAM, 62 + side, from + side * (N - 1));
      }
      sum = shared_entry(matrices, which, i, 0) * from[0] +
            shared_entry(matrices, which, i, N - 1) * from[N - 1];
    } else {
      TESK_UNROLL
      for (int j = 0; j < inputs; j++) {
        NOTE(NOTE_MATRIX, id / TEAM, j, matrices + place_of_entry(which, i, j));
        NOTE(NOTE_IN, id / TEAM, j, from + j * stride_in);
        sum += shared_entry(matrices, which, i, j) * from[j * stride_in];
      }
    }
    real *to = out + x + y * row_out + z * plane_out;
    if (add) NOTE(NOTE_OLD, id / TEAM, 0, to);
    NOTE(NOTE_OUT, id / TEAM, 0, to);
    *to = weight * sum + (add ? *to : 0);
  }
#elif FORM <= 4
  /* lines: inner and outer are the other two directions */
  const int inner = direction == 0 ? n1 : n0, outer = direction == 2 ? n1 : n2;
  const int stride_out = direction == 0 ? 1 : direction == 1 ? row_out : plane_out;
  FOR_TASKS(id, inner * outer) {
    const int a = id % inner, b = id / inner;
    const real *from = in + (direction == 0 ? a * row_in : a) + (direction == 2 ? b * row_in : b * plane_in);
    real *to = out + (direction == 0 ? a * row_out : a) + (direction == 2 ? b * row_out : b * plane_out),
         v[N], w[M];
    if (is_hollow(which, direction, a, b)) {
      const real first = from[0], last = from[N - 1];
      NOTE(NOTE_IN, id / TEAM, 62, from);
      NOTE(NOTE_IN, id / TEAM, 63, from + N - 1);
      TESK_UNROLL
      for (int i = 0; i < M; i++) w[i] = entry(which, i, 0) * first + entry(which, i, N - 1) * last;
    } else {
      TESK_UNROLL
      for (int j = 0; j < inputs; j++) {
        NOTE(NOTE_IN, id / TEAM, j, from + j * stride_in);
        v[j] = from[j * stride_in];
      }
      multiply_line(which, v, w);
    }
    TESK_UNROLL
    for (int i = 0; i < M; i++) {
      if (add) NOTE(NOTE_OLD, id / TEAM, i, to + i * stride_out);
      NOTE(NOTE_OUT, id / TEAM, i, to + i * stride_out);
      to[i * stride_out] = weight * w[i] + (add ? to[i * stride_out] : 0);
    }
  }
  (void)matrices;
#else
  const int inner = direction == 0 ? n1 : n0, outer = direction == 2 ? n1 : n2;
  const int outer_in = direction == 2 ? row_in : plane_in, outer_out = direction == 2 ? row_out : plane_out;
  if (direction == 0) { /* rows: their distances differ between in and out, so the lines follow plane by plane */
    contract_tiles(matrices, which, in, 1, row_in, out, 1, row_out, 0, 1, inner * outer, weight, add);
  } else {
    contract_tiles(matrices, which, in, stride_in, outer_in, out, direction == 1 ? row_out : plane_out,
                   outer_out, 1, inner, outer, weight, add);
  }
#endif
}

/* ---- patches ------------------------------------------------------------------------------------------- */
/* Place of inner node `id` in buffers; in vectors, its distance from the first closed node. */
TESK_DEVICE int place(int id) {
  return id % M + id / M % M * ROW(M) + id / M / M * PLANE(M, M);
}
TESK_DEVICE long long node_of(const TeskLadder *a, int id) {
  return (DIM == 3 ? (id / M / M + 1) * a->plane : 0) + (id / M % M + 1) * a->pitch + id % M + 1;
}

#if PHASES & 1 && !DATA
/* P <- -A u from U. */
TESK_DEVICE void apply(const real *matrices, real *U, real *P, real *Q, real *V, const TeskLadder *a) {
#if DIM == 2
  contract(matrices, MASS, 0, U, Q, M, N, 1, 1, 0);
  contract(matrices, STIFFNESS, 0, U, V, M, N, 1, 1, 0);
  __syncthreads();
  contract(matrices, MASS, 1, V, P, M, M, 1, -1, 0);
  __syncthreads();
  contract(matrices, STIFFNESS, 1, Q, P, M, M, 1, -(real)a->ry, 1);
  __syncthreads();
  if (a->r0 != 0) contract(matrices, MASS, 1, Q, P, M, M, 1, -(real)a->r0, 1);
  __syncthreads();
#else
  contract(matrices, MASS, 0, U, P, M, N, N, 1, 0);
  contract(matrices, STIFFNESS, 0, U, Q, M, N, N, 1, 0);
  __syncthreads();
  contract(matrices, MASS, 1, P, U, M, M, N, 1, 0);
  contract(matrices, MASS, 1, Q, V, M, M, N, 1, 0);
  __syncthreads();
  contract(matrices, STIFFNESS, 1, P, V, M, M, N, (real)a->ry, 1);
  __syncthreads();
  if (a->r0 != 0) FOR_TASKS(id, MD + 2 * M * M) V[place(id)] += (real)a->r0 * U[place(id)];
  __syncthreads();
  contract(matrices, MASS, 2, V, P, M, M, M, -1, 0);
  __syncthreads();
  contract(matrices, STIFFNESS, 2, U, P, M, M, M, -(real)a->rz, 1);
  __syncthreads();
#endif
}
#endif

#if PHASES & 2 && !DATA
#if DENSE
/* The patch's solution, from P to P by Q. */
TESK_DEVICE void solve_dense(const real *inverse, real *P, real *Q) {
  FOR_TASKS(id, MD) {
    real sum = 0;
    for (int j = 0; j < MD; j++) sum += inverse[j * MD + id] * P[place(j)];
    Q[place(id)] = sum;
  }
  __syncthreads();
  FOR_TASKS(id, MD) P[place(id)] = Q[place(id)];
  __syncthreads();
}
#else
/* The patch's solution, from P to P by Q: through the modes, which are in Q, and in 2D in P. */
TESK_DEVICE void solve(const real *matrices, real *P, real *Q, const TeskLadder *a) {
  const real *lambda = matrices + 2 * M * N + M * M;
  real *const modes = DIM == 3 ? Q : P;
  contract(matrices, TO_MODES, 0, P, Q, M, M, DEEP(M), 1, 0);
  __syncthreads();
  contract(matrices, TO_MODES, 1, Q, P, M, M, DEEP(M), 1, 0);
  __syncthreads();
#if DIM == 3
  contract(matrices, TO_MODES, 2, P, Q, M, M, M, 1, 0);
  __syncthreads();
#endif
  FOR_TASKS(id, MD)
  modes[place(id)] /= lambda[id % M] + (real)a->ry * lambda[id / M % M] +
                      (DIM == 3 ? (real)a->rz * lambda[id / M / M] : 0) + (real)a->r0;
  __syncthreads();
#if DIM == 3
  contract(matrices, TO_NODES, 2, Q, P, M, M, M, 1, 0);
  __syncthreads();
#endif
  contract(matrices, TO_NODES, 1, P, Q, M, M, DEEP(M), 1, 0);
  __syncthreads();
  contract(matrices, TO_NODES, 0, Q, P, M, M, DEEP(M), 1, 0);
  __syncthreads();
}
#endif
#endif

/* The patches of one colour: teams along x, one each in blockIdx.y and z. numbers: M, K [M][N], S [M][M], lambda [M];
 * inverse [MD][MD]: DENSE only. r: nodes, between separate phases. Teams without a patch compute too, but do not
 * write. */
TESK_KERNEL(tesk_patch_ladder, THREADS, 1, (real *)x, (const real *)b, (const real *)numbers,
            (const real *)inverse, (real *)r, (TeskLadder)a, (long long *)log) {
  TESK_SHARED(memory);
  const int team = (int)threadIdx.x / TEAM, patch = (int)blockIdx.x * PATCHES + team,
            on = patch < (a.cells[0] - a.colour[0]) / 2;
  const long long corner = ((a.colour[2] + 2 * (long long)blockIdx.z) * a.plane +
                            (a.colour[1] + 2 * (long long)blockIdx.y) * a.pitch + a.colour[0] + 2 * patch) *
                           K;
  real *const matrices = memory + PATCHES * SIZE_PATCH, *const U = memory + team * SIZE_PATCH,
              *const P = U + SIZE_U, *const Q = P + SIZE_P, *const V = Q + SIZE_P;
  (void)U, (void)Q, (void)V, (void)log;
#if NOTES
  tesk_notes.log = log;
  tesk_notes.memory = memory;
#endif
  for (int id = (int)threadIdx.x; id < SIZE_MATRICES; id += THREADS) matrices[id] = numbers[id];
#if PHASES & 1
  FOR_TASKS(id, ND) {
    const int ix = id % N, iy = id / N % N, iz = id / N / N;
    const int inside = ix > 0 && iy > 0 && ix < N - 1 && iy < N - 1 && (DIM == 2 || (iz > 0 && iz < N - 1));
    U[ix + iy * ROW(N) + iz * PLANE(N, N)] =
        !on || (SHORTCUT && inside) ? 0 : x[corner + iz * a.plane + iy * a.pitch + ix];
  }
  __syncthreads();
#if !DATA
  apply(matrices, U, P, Q, V, &a);
#endif
  FOR_TASKS(id, MD) {
    const real value = (DATA ? 0 : P[place(id)]) + (on ? (real)a.scale * b[corner + node_of(&a, id)] : 0);
#if PHASES == 1
    if (on) r[corner + node_of(&a, id)] = value;
#else
    P[place(id)] = value;
#endif
  }
#else
  FOR_TASKS(id, MD) P[place(id)] = on ? (GLOBAL ? (real)a.scale : 1) * r[corner + node_of(&a, id)] : 0;
#endif
#if PHASES & 2
  __syncthreads();
#if !DATA && DENSE
  solve_dense(inverse, P, Q);
#elif !DATA
  solve(matrices, P, Q, &a);
#endif
  FOR_TASKS(id, MD) {
    const long long node = corner + node_of(&a, id);
    if (on) x[node] = P[place(id)] + (SHORTCUT ? 0 : x[node]);
  }
#endif
}
