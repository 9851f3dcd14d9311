/* Coloured vertex-patch sweep for the separable operator on equal cells with Dirichlet ends: one launch does both
 * x-colours of one (y, z)-colour. A block owns ROWS_A_BLOCK rows of patches and goes along x in chunks of CELLS cells.
 *
 * A row (patch interval in y and z, all of x) is solved in the eigenbasis S of the patch intervals: after the
 * transforms each mode pair is a line (Kx + nu Mx) v = f along x, on which the two x-colours are point Gauss-Seidel
 * on the vertices once the bubbles are condensed. Boundary nodes of the row (old x) are subtracted in the eigenbasis:
 *   z-faces: G = My Mx g, H = (ry Ky Mx + My Kx + r0 My Mx) g, mode jz gets rz a[jz] G + c[jz] H
 *   y-faces: G = Mx g^, H = (Kx + (rz lambda + r0) Mx) g^,     mode jy gets ry a[jy] G + c[jy] H
 * with sums of the two faces for even modes and differences for odd ones. All matrices are of cells of width 1; the
 * host passes rz = (hx/hz)^2, ry = (hx/hy)^2, r0 = c hx^2 / a and scale = hx / (a hy hz) of the right-hand side.
 *
 * Work per launch and point, multiply-adds: 4 even-odd contractions (4 (k + 1/2)) and 2 of bubbles (k - 1), instead
 * of the 12 of two separate colours. Memory: b read once, x written once; of x only the boundary rows and every 2k-th
 * column are read.
 *
 * A chunk holds the nodes [e k, (e + CELLS) k) with e of the second colour. Vertex e and the bubbles of cell e - 1
 * wait for vertex e + 1: writing lags k - 1 nodes behind reading.
 *
 * In 2D rows are too few for a GPU: they are cut into segments, with a block for each. A block begins WARM cells before
 * its segment and writes nothing there: vertex e - 1 and the bubbles of cell e - 1 come out as in the block before.
 * For this, neighbouring blocks need the old values of the vertices e - 2 and e, which one of the blocks writes:
 * these columns are saved before (tesk_patch_edges).
 *
 * Macros: real, DIM, DEGREE, CELLS (even), ROWS_A_BLOCK, THREADS, MIN_BLOCKS, PAD (rows of an odd number of values
 * in shared memory).
 * Tables: see src/basis/kernel_tables.h. */
#include "kernel.h"
#include "tables.h"

#define K DEGREE
#define M (2 * K - 1)
#define NE K
#define NO (K - 1)
#define BUBBLES (K - 1)
#define BUBBLES_E (K / 2)
#define BUBBLES_O ((K - 1) / 2)
#define CX (CELLS * K)
#define PITCH (CX | PAD)
#define P ROWS_A_BLOCK
#define WARM (CELLS < 4 ? 4 : CELLS)
#if DIM == 3
#define MZ M
#define FACE_Z (2 * K + 1) /* rows of a z-face: closed in y */
#define KINDS 2            /* z-faces, y-faces */
#else
#define MZ 1
#define FACE_Z 0
#define KINDS 1
#endif
#define FACES (FACE_Z + MZ) /* pairs of boundary rows */
#define LINES (MZ * M)

/* Shared memory, in numbers. */
#define SIZE_V (P * LINES * PITCH)
#define SIZE_B (P * LINES * CX)
#define SIZE_RAW (P * 2 * FACES * (CX + 1))
#define SIZE_F (P * FACES * 4 * PITCH)
#define SIZE_R (P * FACES * 4 * (CELLS + 1))
#define SIZE_G (P * KINDS * 4 * MZ * CX)
#define SIZE_X (P * LINES * (CELLS / 2))
#define SIZE_OFFSETS (P * 2 * FACES)

/* Even-odd: w <- modes of the values v on a patch interval; even modes first. */
#define DEFINE_TO_MODES(name, EVEN, ODD)                                                                     \
  TESK_DEVICE void name(const real *v, real *w) {                                                            \
    real e[NE], o[NE];                                                                                       \
    TESK_UNROLL                                                                                              \
    for (int i = 0; i < NO; i++) {                                                                           \
      e[i] = v[i] + v[M - 1 - i];                                                                            \
      o[i] = v[i] - v[M - 1 - i];                                                                            \
    }                                                                                                        \
    e[NO] = v[NO];                                                                                           \
    TESK_UNROLL                                                                                              \
    for (int j = 0; j < NE; j++) {                                                                           \
      real sum = 0;                                                                                          \
      TESK_UNROLL                                                                                            \
      for (int i = 0; i < NE; i++) sum += EVEN(i * NE + j) * e[i];                                           \
      w[j] = sum;                                                                                            \
    }                                                                                                        \
    TESK_UNROLL                                                                                              \
    for (int j = 0; j < NO; j++) {                                                                           \
      real sum = 0;                                                                                          \
      TESK_UNROLL                                                                                            \
      for (int i = 0; i < NO; i++) sum += ODD(i * NO + j) * o[i];                                            \
      w[NE + j] = sum;                                                                                       \
    }                                                                                                        \
  }
DEFINE_TO_MODES(dual_to_modes, tesk_se, tesk_so)   /* S' v */
DEFINE_TO_MODES(primal_to_modes, tesk_ie, tesk_io) /* S^-1 v */

/* v <- S w */
TESK_DEVICE void to_nodes(const real *w, real *v) {
  TESK_UNROLL
  for (int i = 0; i < NE; i++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int j = 0; j < NE; j++) even += tesk_se(i * NE + j) * w[j];
    if (i < NO) {
      TESK_UNROLL
      for (int j = 0; j < NO; j++) odd += tesk_so(i * NO + j) * w[NE + j];
      v[i] = even + odd;
      v[M - 1 - i] = even - odd;
    } else {
      v[i] = even;
    }
  }
}

/* gm <- M g, gk <- K g on one cell. */
TESK_DEVICE void cell_products(const real *g, real *gm, real *gk) {
  real e[(K + 2) / 2], o[(K + 2) / 2];
  TESK_UNROLL
  for (int i = 0; i < (K + 1) / 2; i++) {
    e[i] = g[i] + g[K - i];
    o[i] = g[i] - g[K - i];
  }
  if (K % 2 == 0) e[K / 2] = g[K / 2];
  TESK_UNROLL
  for (int i = 0; i < (K + 2) / 2; i++) {
    real me = 0, mo = 0, ke = 0, ko = 0;
    TESK_UNROLL
    for (int j = 0; j < (K + 2) / 2; j++) {
      me += tesk_me(i * ((K + 2) / 2) + j) * e[j];
      ke += tesk_ke(i * ((K + 2) / 2) + j) * e[j];
    }
    if (2 * i != K) {
      TESK_UNROLL
      for (int j = 0; j < (K + 1) / 2; j++) {
        mo += tesk_mo(i * ((K + 1) / 2) + j) * o[j];
        ko += tesk_ko(i * ((K + 1) / 2) + j) * o[j];
      }
      gm[K - i] = me - mo;
      gk[K - i] = ke - ko;
    }
    gm[i] = me + mo;
    gk[i] = ke + ko;
  }
}

/* ---- the line step: two cells, left vertex of the second colour ---------------------------------------- */
typedef struct Line {
  real pending[K]; /* bubble modes of the cell before, not yet solved */
  real right;      /* its condensed contribution to its right vertex */
  real vertex;     /* final value of its left vertex */
  real old;        /* old value of its right vertex */
} Line;

/* Bubble modes of one cell from its K - 1 inner values, and their contributions to the two vertices. w: coupling per
 * mode. */
TESK_DEVICE void condense(const real *f, const real *w, real *modes, real *left, real *right) {
  real e[K], o[K], even = 0, odd = 0;
  TESK_UNROLL
  for (int i = 0; i < BUBBLES_O; i++) {
    e[i] = f[i] + f[BUBBLES - 1 - i];
    o[i] = f[i] - f[BUBBLES - 1 - i];
  }
  if (BUBBLES % 2) e[BUBBLES_O] = f[BUBBLES_O];
  TESK_UNROLL
  for (int j = 0; j < BUBBLES_E; j++) {
    real sum = 0;
    TESK_UNROLL
    for (int i = 0; i < BUBBLES_E; i++) sum += tesk_be(i * BUBBLES_E + j) * e[i];
    modes[j] = sum;
    even += w[j] * sum;
  }
  TESK_UNROLL
  for (int j = 0; j < BUBBLES_O; j++) {
    real sum = 0;
    TESK_UNROLL
    for (int i = 0; i < BUBBLES_O; i++) sum += tesk_bo(i * BUBBLES_O + j) * o[i];
    modes[BUBBLES_E + j] = sum;
    odd += w[BUBBLES_E + j] * sum;
  }
  *left = even + odd;
  *right = even - odd;
}

/* Bubble values from modes and the final vertices. */
TESK_DEVICE void expand(const real *modes, const real *w, const real *inverse, real left, real right, real *u) {
  real e[K], o[K];
  const real sum = left + right, difference = left - right;
  TESK_UNROLL
  for (int j = 0; j < BUBBLES_E; j++) e[j] = inverse[j] * modes[j] - w[j] * sum;
  TESK_UNROLL
  for (int j = 0; j < BUBBLES_O; j++)
    o[j] = inverse[BUBBLES_E + j] * modes[BUBBLES_E + j] - w[BUBBLES_E + j] * difference;
  TESK_UNROLL
  for (int i = 0; i < BUBBLES_E; i++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int j = 0; j < BUBBLES_E; j++) even += tesk_be(i * BUBBLES_E + j) * e[j];
    if (i < BUBBLES_O) {
      TESK_UNROLL
      for (int j = 0; j < BUBBLES_O; j++) odd += tesk_bo(i * BUBBLES_O + j) * o[j];
      u[i] = even + odd;
      u[BUBBLES - 1 - i] = even - odd;
    } else {
      u[i] = even;
    }
  }
}

/* v: 2 K values of the cells e, e + 1 become the solution one cell to the left. table: [2 BUBBLES + 2][LINES] at this
 * line. */
TESK_DEVICE void line_step(Line *line, real *v, const real *table, int e, int n, real next_old) {
  real w[K], inverse[K], modes0[K], modes1[K], f[K], u[K], left0, right0, left1, right1;
  TESK_UNROLL
  for (int j = 0; j < BUBBLES; j++) w[j] = table[j * LINES];
  TESK_UNROLL
  for (int i = 0; i < BUBBLES; i++) f[i] = v[1 + i];
  condense(f, w, modes0, &left0, &right0);
  TESK_UNROLL
  for (int i = 0; i < BUBBLES; i++) f[i] = v[K + 1 + i];
  condense(f, w, modes1, &left1, &right1);
  const real over_diagonal = table[2 * BUBBLES * LINES], off = table[(2 * BUBBLES + 1) * LINES];
  const real f0 = v[0] - line->right - left0, f1 = v[K] - right0 - left1;
  real v1 = over_diagonal * (f1 - off * (line->old + next_old));
  if (e + 1 < 1 || e + 1 >= n) v1 = 0;
  real v0 = over_diagonal * (f0 - off * (line->vertex + v1));
  if (e < 1 || e >= n) v0 = 0;
  TESK_UNROLL
  for (int j = 0; j < BUBBLES; j++) inverse[j] = table[(BUBBLES + j) * LINES];
  expand(line->pending, w, inverse, line->vertex, v0, u);
  TESK_UNROLL
  for (int i = 0; i < BUBBLES; i++) v[i] = u[i];
  v[BUBBLES] = v0;
  expand(modes0, w, inverse, v0, v1, u);
  TESK_UNROLL
  for (int i = 0; i < BUBBLES; i++) v[K + i] = u[i];
  v[K + BUBBLES] = v1;
  TESK_UNROLL
  for (int j = 0; j < BUBBLES; j++) line->pending[j] = modes1[j];
  line->right = right1;
  line->vertex = v1;
  line->old = next_old;
}

/* ---- boundary rows ------------------------------------------------------------------------------------- */
/* x-products of one cell for one pair of boundary rows: the sum (part 0) or the difference (part 1) of the two rows.
 * F[row][part][M, K][PITCH] holds left vertices and inner nodes, R[row][part][M, K][CELLS + 1] the contribution of
 * the cell before to vertices. */
TESK_DEVICE void face_products(int task, const real *raw, real *F, real *R) {
  const int cell = task % CELLS, part = task / CELLS % 2, row = task / CELLS / 2; /* row = p FACES + q */
  const real *lower = raw + 2 * row * (CX + 1) + cell * K, *upper = lower + CX + 1;
  real g[K + 1], gm[K + 1], gk[K + 1];
  TESK_UNROLL
  for (int i = 0; i <= K; i++) g[i] = part ? lower[i] - upper[i] : lower[i] + upper[i];
  cell_products(g, gm, gk);
  real *f = F + (row * 2 + part) * 2 * PITCH + cell * K, *r = R + (row * 2 + part) * 2 * (CELLS + 1);
  TESK_UNROLL
  for (int i = 0; i < K; i++) {
    f[i] = gm[i];
    f[PITCH + i] = gk[i];
  }
  if (cell == CELLS - 1) { /* the last cell of the chunk before */
    r[0] = r[CELLS];
    r[CELLS + 1] = r[2 * CELLS + 1];
  }
  r[cell + 1] = gm[K];
  r[CELLS + 1 + cell + 1] = gk[K];
}

/* Value of row `row` at column s: f and r of its part and product. */
TESK_DEVICE real face_value(const real *f, const real *r, int s) {
  return s % K ? f[s] : f[s] + r[s / K];
}

#if DIM == 3
/* The G and H of one column of one pair of faces: kind 0 z-faces (modes in y), 1 y-faces (modes in z). */
TESK_DEVICE void face_modes(int task, const real *F, const real *R, real *G, real rz, real ry, real r0) {
  const int s = task % CX, part = task / CX % 2, kind = task / CX / 2 % 2, p = task / CX / 4;
  const int first = p * FACES + (kind ? FACE_Z : 1);
  const real *f = F + (first * 2 + part) * 2 * PITCH, *r = R + (first * 2 + part) * 2 * (CELLS + 1);
  const real weight = kind ? rz : ry;
  real v[M], gm[M], gk[M], m_sum = 0, m_difference = 0, k_sum = 0, k_difference = 0;
  TESK_UNROLL
  for (int i = 0; i < M; i++) v[i] = face_value(f + i * 4 * PITCH, r + i * 4 * (CELLS + 1), s);
  primal_to_modes(v, gm);
  f += PITCH;
  r += CELLS + 1;
  TESK_UNROLL
  for (int i = 0; i < M; i++) v[i] = face_value(f + i * 4 * PITCH, r + i * 4 * (CELLS + 1), s);
  primal_to_modes(v, gk);
  if (!kind) { /* edges of the z-face, where it meets the y-faces */
    const real k_lower = face_value(f - 4 * PITCH, r - 4 * (CELLS + 1), s),
               k_upper = face_value(f + M * 4 * PITCH, r + M * 4 * (CELLS + 1), s);
    f -= PITCH;
    r -= CELLS + 1;
    const real m_lower = face_value(f - 4 * PITCH, r - 4 * (CELLS + 1), s),
               m_upper = face_value(f + M * 4 * PITCH, r + M * 4 * (CELLS + 1), s);
    m_sum = m_lower + m_upper;
    m_difference = m_lower - m_upper;
    k_sum = k_lower + k_upper;
    k_difference = k_lower - k_upper;
  }
  real *g = G + ((p * 2 + kind) * 4 + part) * M * CX + s;
  TESK_UNROLL
  for (int j = 0; j < M; j++) {
    const real m_edge = j < NE ? m_sum : m_difference, k_edge = j < NE ? k_sum : k_difference;
    const real value = gm[j] + tesk_c(j) * m_edge;
    g[j * CX] = value;
    g[(2 * M + j) * CX] =
        weight * (tesk_lambda(j) * gm[j] + tesk_a(j) * m_edge) + gk[j] + tesk_c(j) * k_edge + r0 * value;
  }
}
#else
TESK_DEVICE void face_modes(int task, const real *F, const real *R, real *G, real rz, real ry, real r0) {
  const int s = task % CX, part = task / CX % 2, p = task / CX / 2;
  const real *f = F + (p * 2 + part) * 2 * PITCH, *r = R + (p * 2 + part) * 2 * (CELLS + 1);
  const real value = face_value(f, r, s);
  G[(p * 4 + part) * CX + s] = value;
  G[(p * 4 + 2 + part) * CX + s] = face_value(f + PITCH, r + CELLS + 1, s) + r0 * value;
}
#endif

/* S^-1 applied in place along one direction to a block of old x. */
TESK_DEVICE void column_modes(real *x, int stride) {
  real v[M], w[M];
  TESK_UNROLL
  for (int i = 0; i < M; i++) v[i] = x[i * stride];
  primal_to_modes(v, w);
  TESK_UNROLL
  for (int i = 0; i < M; i++) x[i * stride] = w[i];
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */
/* A thread's tasks in the different phases; fixed while the block marches. */
typedef struct Thread {
  int t, last; /* its number; node of the upper end in x */
  long long plane;
  const real *b_line; /* nodes: (p, y, s) */
  real *B_line, *V_line_z, *x_line;
  int s;
  int node_on;
  const real *x_column; /* lines in x: (p, jz, jy) */
  int column_on;
  int first, end;    /* cells of the segment */
  const real *edges; /* 2D: old values of vertex `first` - 2 at this line */
  int edge_step;     /* step from there to the values of `first`, `end` - 2, `end` */
  const real *x;     /* boundary rows: column raw_s of rows raw_row, raw_row + THREADS / (CX + 1), ... */
  int raw_s, raw_row;
} Thread;

/* Starts to load the data of the chunk at cell e, except old vertices. */
TESK_DEVICE void load_chunk(const Thread *me, real *raw, const int *offsets, int e) {
  if (me->t < P * M * CX) {
    const int node = e * K + me->s;
    const int valid = me->node_on && node > 0 && node < me->last;
    TESK_UNROLL
    for (int i = 0; i < MZ; i++) TESK_COPY(me->B_line + i * M * CX, me->b_line + i * me->plane + node, valid);
  }
  if (me->raw_row < THREADS / (CX + 1)) {
    const int node = e * K + me->raw_s;
    const int valid = node >= 0 && node <= me->last;
    for (int r = me->raw_row; r < 2 * P * FACES; r += THREADS / (CX + 1))
      TESK_COPY(raw + r * (CX + 1) + me->raw_s, me->x + (offsets[r] + node), valid && offsets[r] >= 0);
  }
}

/* Starts to load the old vertices e + 2, e + 4, ... of this thread's line. */
TESK_DEVICE void load_vertices(const Thread *me, real *X, int e) {
  if (me->t >= P * LINES) return;
  TESK_UNROLL
  for (int h = 0; h < CELLS / 2; h++) {
    const int vertex = e + 2 * h + 2, node = vertex * K;
    const real *from = me->x_column + node;
    if (DIM == 2 && vertex - me->first <= 0 && vertex - me->first >= -2)
      from = me->edges + (vertex - me->first + 2) / 2 * me->edge_step;
    if (DIM == 2 && vertex == me->end) from = me->edges + 3 * me->edge_step;
    TESK_COPY(X + h * P * LINES + me->t, from, me->column_on && node > 0 && node < me->last);
  }
}

/* b along z into modes. */
TESK_DEVICE void forward_z(const Thread *me, real scale) {
  real v[MZ];
  TESK_UNROLL
  for (int i = 0; i < MZ; i++) v[i] = scale * me->B_line[i * M * CX];
#if DIM == 3
  real w[M];
  dual_to_modes(v, w);
  TESK_UNROLL
  for (int i = 0; i < M; i++) me->V_line_z[i * M * PITCH] = w[i];
#else
  me->V_line_z[0] = v[0];
#endif
}

/* Transforms to modes along y, and subtracts the terms of the boundary rows, for (p, jz, s). */
TESK_DEVICE void forward_y(real *line, const real *G, int p, int jz, int s, real az, real cz, real ry) {
  real v[M], w[M];
  TESK_UNROLL
  for (int i = 0; i < M; i++) v[i] = line[i * PITCH];
  dual_to_modes(v, w);
#if DIM == 3
  const real *z_faces = G + (p * 8 + (jz < NE ? 0 : 1)) * M * CX + s,
             *y_faces = G + (p * 8 + 4) * M * CX + jz * CX + s;
#else
  const real *y_faces = G + p * 4 * CX + s;
#endif
  const real g_sum = ry * y_faces[0], g_difference = ry * y_faces[MZ * CX], h_sum = y_faces[2 * MZ * CX],
             h_difference = y_faces[3 * MZ * CX];
  TESK_UNROLL
  for (int j = 0; j < M; j++) {
    w[j] -= tesk_a(j) * (j < NE ? g_sum : g_difference) + tesk_c(j) * (j < NE ? h_sum : h_difference);
#if DIM == 3
    w[j] -= az * z_faces[j * CX] + cz * z_faces[(2 * M + j) * CX];
#endif
    line[j * PITCH] = w[j];
  }
}

TESK_DEVICE void backward_y(real *line) {
  real v[M], w[M];
  TESK_UNROLL
  for (int i = 0; i < M; i++) w[i] = line[i * PITCH];
  to_nodes(w, v);
  TESK_UNROLL
  for (int i = 0; i < M; i++) line[i * PITCH] = v[i];
}

/* Transforms the solution along z back to nodes and writes it to memory. */
TESK_DEVICE void backward_z(const Thread *me, int e) {
  const int node = e * K + me->s - (K - 1);
  const int valid = me->node_on && node > 0 && node < me->last && e >= me->first;
  real v[MZ];
#if DIM == 3
  real w[M];
  TESK_UNROLL
  for (int i = 0; i < M; i++) w[i] = me->V_line_z[i * M * PITCH];
  to_nodes(w, v);
#else
  v[0] = me->V_line_z[0];
#endif
  if (valid) {
    TESK_UNROLL
    for (int i = 0; i < MZ; i++) me->x_line[i * me->plane + node] = v[i];
  }
}

#if DIM == 2
/* edges[segment][vertex e - 2, vertex e][y] <- x, at the beginning e = i segment - shift of each segment but the
 * first; zero if there is no such vertex. */
TESK_KERNEL(tesk_patch_edges, THREADS, 1, (const real *)x, (real *)edges, (int)cells, (int)nodes_y,
            (int)pitch, (int)segment, (int)shift) {
  const int y = (int)(blockIdx.x * THREADS + threadIdx.x), i = (int)blockIdx.y,
            vertex = i / 2 * segment - shift - 2 + i % 2 * 2;
  if (y < nodes_y)
    edges[(long long)i * nodes_y + y] =
        vertex > 0 && vertex < cells ? x[(long long)y * pitch + (long long)vertex * K] : 0;
}
#endif

/* x, b: nodes [..][..][pitch] with planes `plane` apart. cells: in x. Patches of this launch: in y at vertices
 * 1 + colour_y + 2 i, i < patches_y, in z by block; colour: first of y, then of z. shift: 0 forward, 1 backward.
 * segment: cells of a segment, in 2D; edges: of tesk_patch_edges. lines [2 BUBBLES + 2][LINES]:
 * couplings, inverses, 1 / diagonal, off-diagonal of each line; modes [2][M]: rz a, c. */
TESK_KERNEL(tesk_patch_rows, THREADS, MIN_BLOCKS, (real *)x, (const real *)b, (const real *)lines,
            (const real *)modes, (int)cells, (int)patches_y, (int)colour, (int)shift, (int)segment,
            (const real *)edges, (int)pitch, (long long)plane, (real)rz, (real)ry, (real)r0, (real)scale) {
  TESK_SHARED(V);
  real *const B = V + SIZE_V, *const raw = B + SIZE_B, *const F = raw + SIZE_RAW, *const R = F + SIZE_F,
              *const G = R + SIZE_R, *const X = G + SIZE_G;
  int *const offsets = (int *)(X + SIZE_X);
  const int t = (int)threadIdx.x, row0 = (int)blockIdx.x * P; /* first patch in y */
  const int colour_y = colour % 2, colour_z = colour / 2;
  const long long inside = DIM == 3 ? plane : 0,
                  corner = (DIM == 3 ? (long long)(colour_z + 2 * (int)blockIdx.y) * K * plane : 0) +
                           (long long)(colour_y + 2 * row0) * K * pitch;
  Thread me;
  me.t = t;
  me.last = cells * K;
  me.plane = plane;
  me.x = x + corner;
  me.s = t % CX;
  const int node_y = t / CX % M, node_p = t / CX / M;
  me.node_on = t < P * M * CX && row0 + node_p < patches_y;
  me.b_line = b + corner + inside + (long long)(node_y + 1 + 2 * K * node_p) * pitch;
  me.x_line = x + corner + inside + (long long)(node_y + 1 + 2 * K * node_p) * pitch;
  me.B_line = B + (node_p * LINES + node_y) * CX + me.s;
  me.V_line_z = V + (node_p * LINES + node_y) * PITCH + me.s;
  const int line_p = t / LINES, line_j = t % LINES;
  me.column_on = t < P * LINES && row0 + line_p < patches_y;
  me.x_column = me.x + (DIM == 3 ? (long long)(line_j / M + 1) * plane : 0) +
                (long long)(line_j % M + 1 + 2 * K * line_p) * pitch;
  me.raw_s = t % (CX + 1);
  me.raw_row = t / (CX + 1);
  const int number = (int)blockIdx.z, rows_y = (int)(plane / pitch);
  me.first = number * segment - shift;
  me.end = number + 1 < (int)gridDim.z ? me.first + segment : cells + CELLS;
  me.edge_step = rows_y;
  me.edges =
      edges + (long long)number * 2 * rows_y + (colour_y + 2 * row0) * K + line_j % M + 1 + 2 * K * line_p;
  const int mode_z = t / CX % MZ, mode_p = t / CX / MZ, mode_on = t < P * MZ * CX;
  real *const V_line_y = V + (mode_p * LINES + mode_z * M) * PITCH + me.s;
  const real az = DIM == 3 && mode_on ? modes[mode_z] : 0, cz = DIM == 3 && mode_on ? modes[M + mode_z] : 0;

  /* where boundary rows begin, relative to the corner; -1 where there is no such patch */
  for (int i = t; i < SIZE_OFFSETS; i += THREADS) {
    const int side = i % 2, q = i / 2 % FACES, p = i / 2 / FACES;
    int offset = 2 * K * pitch * p;
    if (q < FACE_Z)
      offset += (int)(side * 2 * K * plane) + q * pitch;
    else
      offset += (DIM == 3 ? (int)((q - FACE_Z + 1) * plane) : 0) + side * 2 * K * pitch;
    offsets[i] = row0 + p < patches_y ? offset : -1;
  }
  for (int i = t; i < SIZE_R; i += THREADS) R[i] = 0;
  Line line;
  line.right = line.vertex = line.old = 0;
  TESK_UNROLL
  for (int j = 0; j < K; j++) line.pending[j] = 0;
  __syncthreads();
  const int begin = number ? me.first - WARM : me.first;
  load_chunk(&me, raw, offsets, begin);
  load_vertices(&me, X, begin);

  for (int e = begin;; e += CELLS) {
    const int ends = e + CELLS > cells || e + CELLS >= me.end; /* all cells are solved after this chunk */
    TESK_COPY_WAIT();
    __syncthreads();
    if (t < P * M * CX) forward_z(&me, scale);
    for (int task = t; task < P * FACES * 2 * CELLS; task += THREADS) face_products(task, raw, F, R);
#if DIM == 3
    for (int task = t; task < P * M * (CELLS / 2); task += THREADS)
      column_modes(X + task / M * LINES + task % M, M);
#endif
    __syncthreads();
    if (!ends) load_chunk(&me, raw, offsets, e + CELLS);
    for (int task = t; task < P * KINDS * 2 * CX; task += THREADS) face_modes(task, F, R, G, rz, ry, r0);
    for (int task = t; task < P * MZ * (CELLS / 2); task += THREADS) column_modes(X + task * M, 1);
    __syncthreads();
    if (mode_on) forward_y(V_line_y, G, mode_p, mode_z, me.s, az, cz, ry);
    __syncthreads();
    if (t < P * LINES) {
      TESK_UNROLL
      for (int h = 0; h < CELLS / 2; h++) {
        real v[2 * K], *const at = V + t * PITCH + h * 2 * K;
        TESK_UNROLL
        for (int i = 0; i < 2 * K; i++) v[i] = at[i];
        line_step(&line, v, lines + line_j, e + 2 * h, cells, X[h * P * LINES + t]);
        TESK_UNROLL
        for (int i = 0; i < 2 * K; i++) at[i] = v[i];
      }
    }
    if (!ends) load_vertices(&me, X, e + CELLS);
    __syncthreads();
    if (mode_on) backward_y(V_line_y);
    __syncthreads();
    if (t < P * M * CX) backward_z(&me, e);
    if (ends) break;
  }
}
