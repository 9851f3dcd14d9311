/* Local solves of vertex patches of Stokes in 3D by conjugate gradients on the Schur complement, as figure 10 of
 * stokes-multigrid-cui-2025 has them: for measurements; stokes_lanes.cu is the fast kernel. A block has one patch. Its
 * N = 2 (k + 1) modes and M = N - 1 nodes per direction are in shared memory, with all its matrices:
 *   F^_i = Z' F_i / Lam_i    r = -g - sum over i of B_i F^_i    S p = r, S = sum over i of B_i Lam_i^-1 B_i'
 *   u_i += Z (F^_i + B_i' p / Lam_i)
 * Z: eigenvectors, Zc along i and Zd across; B_i: H = D Zc along i and Zd across. Each of these products, and S in each
 * step, takes three contractions per component there and three back. As the paper counts, these are 54 contractions,
 * and 18 per step, of about N^4 multiply-adds. Bytes: r read, x read and written, 3 (3 M N^2 + N^3) numbers. S is
 * singular: the means of r and p over the cells are removed.
 *
 * FORM
 *   0 schur          a thread has a column of results (x, y, .); matrices are read by rows: bank conflicts
 *   1 conflict_free  a thread has a line along the slowest axis and writes it as the fastest one, so that after three
 *                    contractions the axes are as before; all threads read the same matrix entries. Rows of even extent
 *                    have a hole, and so do threads.
 * Macros: real, N, THREADS (a power of 2, at least N (N + 1) and N N), FORM, NOTES (as in stokes_operators.cu).
 * Arrays of a patch: 6 of a component, 7 of the pressure, and 3 (M M + N N + N M) matrices; RT_4 in float64: 113
 * and 122 KB. Registers on sm_90 in float64: 100 and 96 (RT_1), 128 (RT_4), with small arrays in local memory. */
#include "kernel.h"
#include "stokes_arguments.h"

#define M (N - 1)
#define HALF (N / 2)
#if FORM
#define PITCH(e) ((e) | 1) /* of the fastest axis */
#else
#define PITCH(e) (e)
#endif
#define SIZE (PITCH(N) * N * N)
#define MATRICES (M * M + N * N + N * M)
enum { TO_MODES, TO_NODES, TO_VELOCITY, TO_PRESSURE };

/* ---- notes ---------------------------------------------------------------------------------------------- */
#if NOTES
static struct {
  long long *log; /* [thread][NOTES]: count, number of the contraction, then (key, place) */
  const real *memory;
} tesk_notes;
TESK_DEVICE void note(int key, const real *p) {
  if (!tesk_notes.log) return;
  long long *mine = tesk_notes.log + (long long)threadIdx.x * NOTES, n = mine[0];
  if (n + 4 > NOTES) return;
  mine[n + 2] = (mine[1] << 20) + key;
  mine[n + 3] = p - tesk_notes.memory;
  mine[0] = n + 2;
}
#define NOTE(key, p) note(key, p)
#define NOTE_NEXT() ((void)(tesk_notes.log && tesk_notes.log[(long long)threadIdx.x * NOTES + 1]++))
#else
#define NOTE(key, p) ((void)0)
#define NOTE_NEXT() ((void)0)
#endif
#define KEY(site, i, j) (((site)*64 + (i)) * 64 + (j))

/* ---- a patch -------------------------------------------------------------------------------------------- */
typedef struct Patch {
  const TeskStokesPatches *all;
  const TeskStokesPatch *its;
  int first[3];                      /* node of each direction */
  real *matrices, *lc, *ld, *sums;   /* [3][MATRICES]: Zc, Zd, H; [3][M], [3][N]; [THREADS] */
  real *F[3], *reciprocal[3], *w[3]; /* F^ and 1 / Lam of components, scratch */
  real *r, *p, *q, *s;               /* of conjugate gradients */
} Patch;

TESK_DEVICE real *take(real **memory, int count) {
  real *at = *memory;
  *memory += count;
  return at;
}

/* Extent of component i along d; i = 3: the pressure. */
TESK_DEVICE int extent_of(int i, int d) {
  return i == d ? M : N;
}
TESK_DEVICE int size_of(int i) {
  return PITCH(extent_of(i, 0)) * extent_of(i, 1) * extent_of(i, 2);
}
/* Number id of an array as (x, y, z); 0: a hole. */
TESK_DEVICE int split(int i, int id, int at[3]) {
  const int row = PITCH(extent_of(i, 0));
  at[0] = id % row;
  at[1] = id / row % extent_of(i, 1);
  at[2] = id / row / extent_of(i, 1);
  return at[0] < extent_of(i, 0);
}
TESK_DEVICE long long place_of(const Patch *p, int i, const int at[3]) {
  const TeskParts *parts = &p->all->parts;
  long long place = parts->offset[i], step = 1;
  for (int d = 0; d < 3; d++) {
    place += step * (p->its->vertex[d] * HALF + at[d] + (d == i ? p->first[d] : 0));
    step *= parts->extent[i][d];
  }
  return place;
}
#define FOR_ALL(id, count) for (int id = (int)threadIdx.x; id < (count); id += THREADS)

TESK_DEVICE void load_tables(Patch *p) {
  for (int d = 0; d < 3; d++) {
    const TeskStokesKind *kind = p->all->kind[d] + p->its->kind[d];
    const real *from = (const real *)kind->numbers, *G = from + M * M + N * N;
    real *to = p->matrices + d * MATRICES;
    p->first[d] = kind->first;
    FOR_ALL(id, M * M + N * N) to[id] = from[id];
    FOR_ALL(id, N * M) {
      real sum = 0;
      for (int j = 0; j < N; j++) sum += from[M * M + id / M * N + j] * G[j * M + id % M];
      to[M * M + N * N + id] = sum;
    }
    FOR_ALL(id, M) p->lc[d * M + id] = G[N * M + id];
    FOR_ALL(id, N) p->ld[d * N + id] = G[N * M + M + id];
  }
  __syncthreads();
  for (int i = 0; i < 3; i++) FOR_ALL(id, size_of(i)) {
      int at[3];
      real sum = 0;
      if (!split(i, id, at)) continue;
      for (int d = 0; d < 3; d++) sum += d == i ? p->lc[d * M + at[d]] : p->ld[d * N + at[d]];
      p->reciprocal[i][id] = 1 / ((real)p->its->nu * sum + (real)p->all->alpha);
    }
}

/* ---- contractions --------------------------------------------------------------------------------------- */
/* The matrix of a direction: A[i][j] = matrix[i * row + j * column], outputs x inputs. */
typedef struct Matrix {
  const real *at;
  int row, column, outputs, inputs;
} Matrix;

TESK_DEVICE Matrix matrix_of(const Patch *p, int what, int i, int d) {
  Matrix m;
  const real *tables = p->matrices + d * MATRICES;
  const int along = i == d, transposed = what == TO_MODES || what == TO_VELOCITY;
  const int couples = along && what >= TO_VELOCITY;
  const int rows = !along || couples ? N : M, columns = along ? M : N;
  m.at = !along ? tables + M * M : couples ? tables + M * M + N * N : tables;
  m.row = transposed ? 1 : columns;
  m.column = transposed ? columns : 1;
  m.outputs = transposed ? columns : rows;
  m.inputs = transposed ? rows : columns;
  return m;
}

#if FORM == 0
/* to[z][y][x] <- the product along d, or with `add` += it. e: extents of `from`; e[d] becomes the extent of `to`. */
TESK_DEVICE void contract(const Matrix m, int d, int e[3], const real *from, real *to, int add) {
  const int step = d == 0 ? 1 : d == 1 ? e[0] : e[0] * e[1];
  const int in[3] = {e[0], e[1], e[2]};
  e[d] = m.outputs;
  NOTE_NEXT();
  __syncthreads();
  const int x = (int)threadIdx.x % e[0], y = (int)threadIdx.x / e[0];
  if (y < e[1])
    for (int z = 0; z < e[2]; z++) {
      const int row = d == 0 ? x : d == 1 ? y : z;
      const real *line = from + (d == 0 ? 0 : x) + in[0] * ((d == 1 ? 0 : y) + in[1] * (d == 2 ? 0 : z)),
                 *a = m.at + row * m.row;
      real *out = to + x + e[0] * (y + e[1] * z), sum = 0;
      TESK_UNROLL
      for (int j = 0; j < M; j++) {
        NOTE(KEY(0, z, j), a + j * m.column);
        NOTE(KEY(1, z, j), line + j * step);
        sum += a[j * m.column] * line[j * step];
      }
      if (m.inputs == N) {
        NOTE(KEY(0, z, M), a + M * m.column);
        NOTE(KEY(1, z, M), line + M * step);
        sum += a[M * m.column] * line[M * step];
      }
      if (add) NOTE(KEY(2, z, 0), out);
      NOTE(KEY(3, z, 0), out);
      *out = add ? *out + sum : sum;
    }
}
#else
/* Makes a line along the slowest axis the fastest axis of `to`; e: extents of `from`, which rotate. */
TESK_DEVICE void contract(const Matrix m, int e[3], const real *from, real *to, int add) {
  const int row = PITCH(e[0]), lines = row * e[1], t = (int)threadIdx.x;
  const int s0 = t % row, s1 = t / row, whole = PITCH(m.outputs);
  NOTE_NEXT();
  __syncthreads();
  if (t < lines && s0 < e[0]) {
    real v[N], *out = to + whole * (s0 + e[0] * s1);
    TESK_UNROLL
    for (int j = 0; j < N; j++) {
      if (j < m.inputs) NOTE(KEY(0, 0, j), from + t + j * lines);
      v[j] = j < m.inputs ? from[t + j * lines] : (real)0;
    }
    for (int i = 0; i < m.outputs; i++) {
      const real *a = m.at + i * m.row;
      real sum = 0;
      TESK_UNROLL
      for (int j = 0; j < M; j++) {
        NOTE(KEY(1, i, j), a + j * m.column);
        sum += a[j * m.column] * v[j];
      }
      if (m.inputs == N) {
        NOTE(KEY(1, i, M), a + M * m.column);
        sum += a[M * m.column] * v[M];
      }
      if (add) NOTE(KEY(2, i, 0), out + i);
      NOTE(KEY(3, i, 0), out + i);
      out[i] = add ? out[i] + sum : sum;
    }
  }
  e[2] = e[1], e[1] = e[0], e[0] = m.outputs;
}
#endif

/* to <- the matrices of component i in all directions times from; scratch: w[0], w[1]. `to` may be `from`. */
TESK_DEVICE void transform(const Patch *p, int what, int i, const real *from, real *to, int add) {
  int e[3];
  for (int d = 0; d < 3; d++) e[d] = what == TO_VELOCITY ? N : extent_of(i, d);
  for (int d = 2; d >= 0; d--) {
    const real *in = d == 2 ? from : p->w[d];
    real *out = d == 0 ? to : p->w[d - 1];
#if FORM == 0
    contract(matrix_of(p, what, i, d), d, e, in, out, add && d == 0);
#else
    contract(matrix_of(p, what, i, d), e, in, out, add && d == 0);
#endif
  }
  __syncthreads();
}

/* ---- conjugate gradients -------------------------------------------------------------------------------- */
/* to <- to + sign S from. */
TESK_DEVICE void add_schur(const Patch *p, const real *from, real *to) {
  for (int i = 0; i < 3; i++) {
    transform(p, TO_VELOCITY, i, from, p->w[2], 0);
    FOR_ALL(id, size_of(i)) p->w[2][id] *= p->reciprocal[i][id];
    transform(p, TO_PRESSURE, i, p->w[2], to, 1);
  }
}

/* Sum of the products, the same on all threads. */
TESK_DEVICE real inner_product(const Patch *p, const real *a, const real *b) {
  real sum = 0;
  FOR_ALL(id, SIZE) {
    int at[3];
    if (split(3, id, at)) sum += a[id] * b[id];
  }
  p->sums[threadIdx.x] = sum;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < half) p->sums[threadIdx.x] += p->sums[threadIdx.x + half];
  }
  __syncthreads();
  sum = p->sums[0];
  __syncthreads();
  return sum;
}

/* Constants are the first modes of the eight cells, which are equal. */
TESK_DEVICE void remove_constant(real *v) {
  __syncthreads();
  if (threadIdx.x == 0) {
    real sum = 0;
    for (int pass = 0; pass < 2; pass++)
      for (int c = 0; c < 8; c++) {
        real *at = v + c % 2 * HALF + PITCH(N) * (c / 2 % 2 * HALF + N * (c / 4 * HALF));
        if (pass)
          *at -= sum / 8;
        else
          sum += *at;
      }
  }
  __syncthreads();
}

/* p <- S^+ r; r is lost. */
TESK_DEVICE void find_pressure(const Patch *p, real accuracy, int steps) {
  remove_constant(p->r);
  FOR_ALL(id, SIZE) {
    p->q[id] = p->r[id];
    p->p[id] = 0;
  }
  real rho = inner_product(p, p->r, p->r);
  const real start = rho;
  for (int step = 0; step < steps; step++) {
    FOR_ALL(id, SIZE) p->s[id] = 0;
    add_schur(p, p->q, p->s);
    const real curvature = inner_product(p, p->q, p->s);
    if (!(rho > accuracy * accuracy * start && curvature > 0)) break;
    const real size = rho / curvature;
    FOR_ALL(id, SIZE) {
      p->p[id] += size * p->q[id];
      p->r[id] -= size * p->s[id];
    }
    const real next = inner_product(p, p->r, p->r), ratio = next / rho;
    rho = next;
    FOR_ALL(id, SIZE) p->q[id] = p->r[id] + ratio * p->q[id];
  }
  remove_constant(p->p);
}

/* ---- the whole ------------------------------------------------------------------------------------------ */
TESK_DEVICE void load(const Patch *p, const real *from) {
  int at[3];
  FOR_ALL(id, SIZE) p->r[id] = split(3, id, at) ? from[place_of(p, 3, at)] : (real)0;
  for (int i = 0; i < 3; i++) {
    FOR_ALL(id, size_of(i)) p->F[i][id] = split(i, id, at) ? from[place_of(p, i, at)] : (real)0;
    transform(p, TO_MODES, i, p->F[i], p->F[i], 0);
    FOR_ALL(id, size_of(i)) p->F[i][id] *= p->reciprocal[i][id];
    transform(p, TO_PRESSURE, i, p->F[i], p->r, 1);
  }
  FOR_ALL(id, SIZE) p->r[id] = -p->r[id];
}

TESK_DEVICE void store(const Patch *p, real *to) {
  int at[3];
  for (int i = 0; i < 3; i++) {
    transform(p, TO_VELOCITY, i, p->p, p->w[2], 0);
    FOR_ALL(id, size_of(i)) p->F[i][id] += p->reciprocal[i][id] * p->w[2][id];
    transform(p, TO_NODES, i, p->F[i], p->F[i], 0);
    FOR_ALL(id, size_of(i))
    if (split(i, id, at)) to[place_of(p, i, at)] += p->F[i][id];
  }
  FOR_ALL(id, SIZE)
  if (split(3, id, at)) to[place_of(p, 3, at)] += p->p[id];
}

TESK_KERNEL(tesk_stokes_local, THREADS, 1, (TeskStokesPatches)all, (const TeskStokesPatch *)patches,
            (const real *)r, (real *)x, (double)accuracy, (int)steps, (long long *)log) {
  TESK_SHARED(memory);
  const TeskStokesPatch its = patches[blockIdx.x];
  real *at = memory;
  Patch p;
  p.all = &all;
  p.its = &its;
  p.matrices = take(&at, 3 * MATRICES);
  p.lc = take(&at, 3 * M);
  p.ld = take(&at, 3 * N);
  p.sums = take(&at, THREADS);
  for (int i = 0; i < 3; i++) p.F[i] = take(&at, SIZE);
  for (int i = 0; i < 3; i++) p.reciprocal[i] = take(&at, SIZE);
  for (int i = 0; i < 3; i++) p.w[i] = take(&at, SIZE);
  p.r = take(&at, SIZE);
  p.p = take(&at, SIZE);
  p.q = take(&at, SIZE);
  p.s = take(&at, SIZE);
#if NOTES
  tesk_notes.log = blockIdx.x == 0 ? log : 0;
  tesk_notes.memory = memory;
#else
  (void)log;
#endif
  FOR_ALL(id, 3 * SIZE)
  p.F[id / SIZE][id % SIZE] = p.reciprocal[id / SIZE][id % SIZE] = p.w[id / SIZE][id % SIZE] = 0;
  __syncthreads();
  load_tables(&p);
  __syncthreads();
  load(&p, r);
  find_pressure(&p, (real)accuracy, steps);
  store(&p, x);
}
