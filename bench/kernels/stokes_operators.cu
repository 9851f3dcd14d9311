/* The Stokes operator y <- K x on boxes of equal cells in 3D, cell by cell, in the variants of figures 8 and 9 of
 * stokes-multigrid-cui-2025: for measurements; stokes_tiles.cu is the fast kernel. A cell reads its own numbers and the
 * numbers of the next cell in each direction. It computes the face between them, so that each face is computed once.
 * Results are added to y, which must be zero before. Component i with the directions a, b across, i fastest:
 *   V = Mc u of the cell, of the next in a and of the next in b       U = Lc u - D' p + alpha V       p -= D u
 *   U += Ld V in a and b, to the modes of the cell and to the modes of the next one
 * Lc, Mc, D are of the cell, Ld of the cell and the face above it, walls included; they contain nu. With n = k + 1 a
 * cell takes 3 (n^2 (n + 1) (13 n + 4) + n^3 (n + 1)) multiply-adds (bench_stokes_operator_work); it reads
 * 9 n^2 (n + 1) + n^3 numbers and adds as many, except at walls.
 *
 * FORM
 *   0 padded         (n + 1)^3 numbers per component, matrices with rows and columns of zeros in constant memory
 *   1 basic          n^2 (n + 1) numbers, matrices in constant memory
 *   2 shared         the same, matrices in shared memory
 *     in 0 to 2 a thread has a column of results (x, y, .); a cell has TEAM threads
 *   3 conflict_free  a thread has a whole line, all threads read the same matrix entries, and CELLS cells are side by
 *                    side between the axis of odd extent and the others: lanes meet different banks in all directions
 * Macros: real, N (= n), CELLS (per block), TEAM, THREADS (CELLS TEAM; FORM 3: 256 at most), FORM, NOTES. Table:
 * tesk_matrices, [direction][BLOCKS][P][P]. NOTES, in the emulator only: the number of accesses to shared memory that a
 * thread notes (patch_conflicts.c). Shared memory per cell: 6 arrays of a component and one of the pressure (FORM 3: 4
 * and one); and the matrices from FORM 2 on. Registers on sm_90 in float64 for RT_4: padded 250, basic 236, shared 191,
 * conflict_free 242, no spills. */
#include "kernel.h"
#include "tables.h"

#define P (N + 1)
#define W (FORM == 0 ? P : N) /* modes, with padding */
#define SLAB (P * W * W)
#define PRESSURES (W * W * W)
enum { STIFFNESS, MASS, DERIVATIVE, DIAGONAL, UP = DIAGONAL + 4, DOWN, ABOVE, BLOCKS };

typedef struct TeskOperator {
  int cells[3], extent[4][3], known[3][2];
  int count, noted; /* cells; number of the block that takes notes */
  long long offset[4];
  double alpha;
} TeskOperator;

/* ---- notes ---------------------------------------------------------------------------------------------- */
#if NOTES
static struct {
  long long *log; /* [thread][NOTES]: count, number of the stage, then (key, place) */
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
#define KEY(site, z, j) (((site)*64 + (z)) * 64 + (j))

TESK_DEVICE real get(const real *p, int key) {
  NOTE(key, p);
  (void)key;
  return *p;
}
TESK_DEVICE void put(real *p, real v, int key) {
  NOTE(key, p);
  (void)key;
  *p = v;
}

TESK_DEVICE real entry(const real *matrices, int d, int block, int i, int j, int key) {
  const int place = (d * BLOCKS + block) * P * P + i * P + j;
#if FORM < 2
  (void)matrices, (void)key;
  return tesk_matrices(place);
#else
  return get(matrices + place, key);
#endif
}

/* ---- places in vectors ---------------------------------------------------------------------------------- */
typedef struct Cell {
  int at[3], exists;
} Cell;

TESK_DEVICE Cell cell_of(const TeskOperator *s, int number) {
  Cell c;
  c.exists = number < s->count;
  c.at[0] = number % s->cells[0];
  c.at[1] = number / s->cells[0] % s->cells[1];
  c.at[2] = number / s->cells[0] / s->cells[1];
  return c;
}

/* Index of number (x, y, z) of component i, along i, a and b; part 3: of the pressure, in the order of component i.
 * shift: the neighbour, 0 none. */
TESK_DEVICE long long place_of(const TeskOperator *s, const Cell *c, int part, int i, int shift, int x, int y,
                               int z) {
  const int a = (i + 1) % 3, b = (i + 2) % 3;
  int at[3];
  at[i] = c->at[i] * N + x;
  at[a] = (c->at[a] + (shift == 1)) * N + y;
  at[b] = (c->at[b] + (shift == 2)) * N + z;
  return s->offset[part] + at[0] +
         (long long)s->extent[part][0] * (at[1] + (long long)s->extent[part][1] * at[2]);
}
/* Whether there is a next cell in direction (i + shift) mod 3. */
TESK_DEVICE int has_next(const TeskOperator *s, const Cell *c, int i, int shift) {
  const int d = (i + shift) % 3;
  return c->exists && (shift == 0 || c->at[d] + 1 < s->cells[d]);
}
TESK_DEVICE int is_known(const TeskOperator *s, const Cell *c, int i, int x) {
  return (x == 0 && c->at[i] == 0 && s->known[i][0]) ||
         (x == N && c->at[i] == s->cells[i] - 1 && s->known[i][1]);
}
/* The block of Ld with the walls that the cell has in direction d. */
TESK_DEVICE int diagonal_of(const TeskOperator *s, const Cell *c, int d) {
  return DIAGONAL + (c->at[d] == 0) + 2 * (c->at[d] == s->cells[d] - 1);
}

#if FORM < 3
/* ---- a thread a column ---------------------------------------------------------------------------------- */
#define AT(x, y, z) ((x) + P * ((y) + W * (z)))

TESK_DEVICE void load(const TeskOperator *s, const Cell *c, int i, const real *from, real *U, real *pressure) {
  const int t = (int)threadIdx.x % TEAM;
  NOTE_NEXT();
  for (int slab = 0; slab < 3; slab++)
    for (int id = t; id < SLAB; id += TEAM) {
      const int x = id % P, y = id / P % W, z = id / P / W;
      const int valid = has_next(s, c, i, slab) && y < N && z < N;
      put(U + slab * SLAB + id, valid ? TESK_READ(from + place_of(s, c, i, i, slab, x, y, z)) : (real)0,
          KEY(slab, id / TEAM, 0));
    }
  for (int id = t; id < PRESSURES; id += TEAM) {
    const int x = id % W, y = id / W % W, z = id / W / W, valid = c->exists && x < N && y < N && z < N;
    put(pressure + id, valid ? TESK_READ(from + place_of(s, c, 3, i, 0, x, y, z)) : (real)0,
        KEY(3, id / TEAM, 0));
  }
}

/* Along i. out[W]: the thread's column, zero before. */
TESK_DEVICE void along(const TeskOperator *s, const Cell *c, const real *m, int i, const real *U,
                       const real *pressure, real *V, real *out, real *to) {
  const int t = (int)threadIdx.x % TEAM, x = t % P, y = t / P;
  NOTE_NEXT();
  TESK_UNROLL
  for (int z = 0; z < W; z++) {
    real v[3] = {0, 0, 0}, sum = 0, divergence = 0;
    TESK_UNROLL
    for (int j = 0; j < P; j++) {
      const real mass = entry(m, i, MASS, x, j, KEY(0, z, j));
      const real u = get(U + AT(j, y, z), KEY(1, z, j));
      v[0] += mass * u;
      v[1] += mass * get(U + SLAB + AT(j, y, z), KEY(2, z, j));
      v[2] += mass * get(U + 2 * SLAB + AT(j, y, z), KEY(3, z, j));
      sum += entry(m, i, STIFFNESS, x, j, KEY(4, z, j)) * u;
      if (x < W) divergence += entry(m, i, DERIVATIVE, x, j, KEY(5, z, j)) * u;
    }
    TESK_UNROLL
    for (int q = 0; q < W; q++)
      sum -= entry(m, i, DERIVATIVE, q, x, KEY(6, z, q)) * get(pressure + q + W * (y + W * z), KEY(7, z, q));
    for (int slab = 0; slab < 3; slab++) put(V + slab * SLAB + AT(x, y, z), v[slab], KEY(8 + slab, z, 0));
    out[z] = sum + (real)s->alpha * v[0];
    if (c->exists && x < N && y < N && z < N) TESK_ADD(to + place_of(s, c, 3, i, 0, x, y, z), -divergence);
  }
}

/* In a and b, and the results. */
TESK_DEVICE void across(const TeskOperator *s, const Cell *c, const real *m, int i, const real *V, real *out,
                        real *to) {
  const int t = (int)threadIdx.x % TEAM, x = t % P, y = t / P;
  NOTE_NEXT();
  for (int shift = 1; shift < 3; shift++) {
    const int d = (i + shift) % 3, diagonal = diagonal_of(s, c, d), next = has_next(s, c, i, shift);
    TESK_UNROLL
    for (int z = 0; z < W; z++) {
      const int row = shift == 1 ? y : z, site = 7 * shift;
      real own = 0, beyond = 0;
      TESK_UNROLL
      for (int j = 0; j < W; j++) {
        const int at = shift == 1 ? AT(x, j, z) : AT(x, y, j);
        const real mine = get(V + at, KEY(site, z, j)),
                   beside = get(V + shift * SLAB + at, KEY(site + 1, z, j));
        own += entry(m, d, diagonal, row, j, KEY(site + 2, z, j)) * mine +
               entry(m, d, UP, row, j, KEY(site + 3, z, j)) * beside;
        beyond += entry(m, d, DOWN, row, j, KEY(site + 4, z, j)) * mine +
                  entry(m, d, ABOVE, row, j, KEY(site + 5, z, j)) * beside;
      }
      out[z] += own;
      if (next && y < N && z < N && !is_known(s, c, i, x))
        TESK_ADD(to + place_of(s, c, i, i, shift, x, y, z), beyond);
    }
  }
  for (int z = 0; z < N; z++)
    if (c->exists && y < N && !is_known(s, c, i, x)) TESK_ADD(to + place_of(s, c, i, i, 0, x, y, z), out[z]);
}

TESK_DEVICE void run(const TeskOperator *s, const real *m, real *memory, const real *from, real *to) {
  const Cell c = cell_of(s, (int)blockIdx.x * CELLS + (int)threadIdx.x / TEAM);
  real *const U = memory + (int)threadIdx.x / TEAM * (6 * SLAB + PRESSURES), *const V = U + 3 * SLAB,
              *const pressure = V + 3 * SLAB;
  for (int i = 0; i < 3; i++) {
    real out[W];
    load(s, &c, i, from, U, pressure);
    __syncthreads();
    along(s, &c, m, i, U, pressure, V, out, to);
    __syncthreads();
    across(s, &c, m, i, V, out, to);
  }
}

#else
/* ---- one thread per line -------------------------------------------------------------------------------- */
/* The axis of odd extent counts fastest, then the cells, then the two others. */
#if N % 2
#define E0 N
#define E1 P
#define AT(c, x, y, z) ((y) + E0 * ((c) + CELLS * ((x) + E1 * (z))))
#else
#define E0 P
#define E1 N
#define AT(c, x, y, z) ((x) + E0 * ((c) + CELLS * ((y) + E1 * (z))))
#endif
#define FOR_LINES(id, n) for (int id = (int)threadIdx.x; id < (n)*CELLS; id += THREADS)

TESK_DEVICE void load(const TeskOperator *s, int i, const real *from, real *U, real *pressure) {
  NOTE_NEXT();
  for (int slab = 0; slab < 3; slab++) FOR_LINES(id, SLAB) {
      const int s0 = id % E0, s1 = id / (E0 * CELLS) % E1, z = id / (E0 * CELLS) / E1;
      const int x = N % 2 ? s1 : s0, y = N % 2 ? s0 : s1;
      const Cell c = cell_of(s, (int)blockIdx.x * CELLS + id / E0 % CELLS);
      put(U + slab * SLAB * CELLS + id,
          has_next(s, &c, i, slab) ? TESK_READ(from + place_of(s, &c, i, i, slab, x, y, z)) : (real)0,
          KEY(slab, id / THREADS, 0));
    }
  FOR_LINES(id, PRESSURES) {
    const int q = id / CELLS;
    const Cell c = cell_of(s, (int)blockIdx.x * CELLS + id % CELLS);
    put(pressure + id,
        c.exists ? TESK_READ(from + place_of(s, &c, 3, i, 0, q % N, q / N % N, q / N / N)) : (real)0,
        KEY(3, id / THREADS, 0));
  }
}

/* V replaces U. */
TESK_DEVICE void along(const TeskOperator *s, const real *m, int i, real *U, const real *pressure, real *out,
                       real *to) {
  NOTE_NEXT();
  FOR_LINES(id, N * N) {
    const int l = id % CELLS, y = id / CELLS % N, z = id / CELLS / N, round = id / THREADS * 16;
    const Cell c = cell_of(s, (int)blockIdx.x * CELLS + l);
    for (int slab = 2; slab >= 0; slab--) {
      real u[P], p[N];
      TESK_UNROLL
      for (int j = 0; j < P; j++) u[j] = get(U + slab * SLAB * CELLS + AT(l, j, y, z), KEY(slab, round, j));
      if (slab == 0) {
        TESK_UNROLL
        for (int q = 0; q < N; q++)
          p[q] = get(pressure + l + CELLS * (q + N * (y + N * z)), KEY(3, round, q));
      }
      TESK_UNROLL
      for (int x = 0; x < P; x++) {
        real v = 0, sum = 0, divergence = 0;
        TESK_UNROLL
        for (int j = 0; j < P; j++) {
          v += entry(m, i, MASS, x, j, KEY(4 + slab, round + x, j)) * u[j];
          if (slab == 0) sum += entry(m, i, STIFFNESS, x, j, KEY(7, round + x, j)) * u[j];
          if (slab == 0 && x < N) divergence += entry(m, i, DERIVATIVE, x, j, KEY(8, round + x, j)) * u[j];
        }
        put(U + slab * SLAB * CELLS + AT(l, x, y, z), v, KEY(9 + slab, round, x));
        if (slab > 0) continue;
        TESK_UNROLL
        for (int q = 0; q < N; q++) sum -= entry(m, i, DERIVATIVE, q, x, KEY(12, round + x, q)) * p[q];
        put(out + AT(l, x, y, z), sum + (real)s->alpha * v, KEY(13, round, x));
        if (c.exists && x < N) TESK_ADD(to + place_of(s, &c, 3, i, 0, x, y, z), -divergence);
      }
    }
  }
}

/* Line number id along a (shift 1) or b: its cell, its node x and its place across. */
TESK_DEVICE void find_line(int shift, int id, int *l, int *x, int *other) {
  if (N % 2 && shift == 1) { /* along the fastest axis */
    *l = id % CELLS, *x = id / CELLS % P, *other = id / CELLS / P;
    return;
  }
  *l = id / E0 % CELLS;
  *x = N % 2 ? id / (E0 * CELLS) : id % E0;
  *other = N % 2 ? id % E0 : id / (E0 * CELLS);
}

/* In a, or in b with the results. */
TESK_DEVICE void across(const TeskOperator *s, const real *m, int i, int shift, const real *V, real *out,
                        real *to) {
  const int d = (i + shift) % 3;
  NOTE_NEXT();
  FOR_LINES(id, P * N) {
    int l, x, other;
    find_line(shift, id, &l, &x, &other);
    const Cell c = cell_of(s, (int)blockIdx.x * CELLS + l);
    const int diagonal = diagonal_of(s, &c, d), next = has_next(s, &c, i, shift),
              known = is_known(s, &c, i, x), round = id / THREADS * 16;
    real mine[N], beside[N];
    TESK_UNROLL
    for (int j = 0; j < N; j++) {
      const int at = shift == 1 ? AT(l, x, j, other) : AT(l, x, other, j);
      mine[j] = get(V + at, KEY(0, round, j));
      beside[j] = get(V + shift * SLAB * CELLS + at, KEY(1, round, j));
    }
    TESK_UNROLL
    for (int row = 0; row < N; row++) {
      const int y = shift == 1 ? row : other, z = shift == 1 ? other : row;
      real own = get(out + AT(l, x, y, z), KEY(2, round, row)), beyond = 0;
      TESK_UNROLL
      for (int j = 0; j < N; j++) {
        own += entry(m, d, diagonal, row, j, KEY(3, round + row, j)) * mine[j] +
               entry(m, d, UP, row, j, KEY(4, round + row, j)) * beside[j];
        beyond += entry(m, d, DOWN, row, j, KEY(5, round + row, j)) * mine[j] +
                  entry(m, d, ABOVE, row, j, KEY(6, round + row, j)) * beside[j];
      }
      if (shift == 1) put(out + AT(l, x, y, z), own, KEY(7, round, row));
      if (shift == 2 && c.exists && !known) TESK_ADD(to + place_of(s, &c, i, i, 0, x, y, z), own);
      if (next && !known) TESK_ADD(to + place_of(s, &c, i, i, shift, x, y, z), beyond);
    }
  }
}

TESK_DEVICE void run(const TeskOperator *s, const real *m, real *memory, const real *from, real *to) {
  real *const U = memory, *const out = U + 3 * SLAB * CELLS, *const pressure = out + SLAB * CELLS;
  for (int i = 0; i < 3; i++) {
    load(s, i, from, U, pressure);
    __syncthreads();
    along(s, m, i, U, pressure, out, to);
    __syncthreads();
    across(s, m, i, 1, U, out, to);
    __syncthreads();
    across(s, m, i, 2, U, out, to);
    __syncthreads();
  }
}
#endif

TESK_KERNEL(tesk_stokes_operator, THREADS, 1, (const real *)from, (real *)to, (const real *)numbers,
            (TeskOperator)s, (long long *)log) {
  TESK_SHARED(memory);
  real *matrices = memory;
  real *rest = memory;
#if FORM >= 2
  rest += 3 * BLOCKS * P * P;
  for (int id = (int)threadIdx.x; id < 3 * BLOCKS * P * P; id += THREADS)
    matrices[id] = TESK_READ(numbers + id);
#else
  (void)numbers;
#endif
#if NOTES
  tesk_notes.log = (int)blockIdx.x == s.noted ? log : 0;
  tesk_notes.memory = memory;
#else
  (void)log;
#endif
  __syncthreads();
  run(&s, matrices, rest, from, to);
}
