/* Geometry and coefficients at the points of mapped.cu, which includes this file after its macros, Cell and the
 * reads. A Column has a thread's data for its z-line of points. apply_factors multiplies a gradient by G there and
 * returns the factor of the mass. */
#ifndef TESK_MAPPED_GEOMETRY_H
#define TESK_MAPPED_GEOMETRY_H

/* ---- what is staged ------------------------------------------------------------------------------------ */
/* STAGE: while a group works on the nodes, the geometry of its cells is copied to shared memory: the vertices, or the
 * factors of the first LAYERS of Q layers of points. With LAYERS < Q a group has one cell, each factor is a separate
 * copy, and the other layers are loaded when needed. Data that begin between two multiples of 16 bytes are copied
 * from the lower multiple. */
#if GEOMETRY == STORED
#define CELL_BYTES ((long long)(FACTORS * POINTS) * (int)sizeof(factor))
#define PIECE_BYTES ((long long)POINTS * (int)sizeof(factor))
#define PIECE_PITCH ((LAYERS * Q * Q * (int)sizeof(factor) + 31) / 16 * 16)
#elif GEOMETRY == HALVES
#define CELL_NUMBERS ((FACTORS + 1) / 2 * POINTS + 1)
#define CELL_BYTES ((long long)CELL_NUMBERS * (int)sizeof(unsigned))
#elif GEOMETRY == WEIGHTS
#define CELL_EDGE (CELL_DEGREE + 1)
#define CELL_NUMBERS ((1 + MASS) * POINTS + 3 * (CELL_EDGE * CELL_EDGE * CELL_EDGE - 1))
#define CELL_BYTES ((long long)CELL_NUMBERS * (int)sizeof(real))
#else
#define CELL_BYTES ((long long)21 * (int)sizeof(real))
#endif
#define DOWN_16(bytes) ((bytes) & ~15ll)
#define UP_16(bytes) DOWN_16((bytes) + 15)

#if STAGE
TESK_DEVICE void stage(const TeskMapped *a, long long first, unsigned char *staged, TeskArrival *arrival) {
  const long long left = a->cells - first, cells = left < CELLS ? left : CELLS, start = first * CELL_BYTES;
  const unsigned char *const geometry = (const unsigned char *)a->geometry;
  if (left <= 0) return;
#if LAYERS == Q
  const long long from = DOWN_16(start), bytes = UP_16(start + cells * CELL_BYTES) - from;
  TESK_EXPECT(arrival, bytes);
  TESK_BULK(staged, geometry + from, bytes, arrival);
#else
  long long bytes = 0;
  (void)cells;
  for (int s = 0; s < FACTORS; s++) {
    const long long from = start + s * PIECE_BYTES;
    bytes += UP_16(from + LAYERS * Q * Q * (int)sizeof(factor)) - DOWN_16(from);
  }
  TESK_EXPECT(arrival, bytes);
  for (int s = 0; s < FACTORS; s++) {
    const long long from = start + s * PIECE_BYTES;
    TESK_BULK(staged + s * PIECE_PITCH, geometry + DOWN_16(from),
              UP_16(from + LAYERS * Q * Q * (int)sizeof(factor)) - DOWN_16(from), arrival);
  }
#endif
}
#endif

/* ---- geometry: the factors of the points of a z-line --------------------------------------------------- */
#if GEOMETRY == STORED
typedef struct Column {
  const factor *g; /* of the first point */
#if STAGE && LAYERS < Q
  const unsigned char *staged; /* the same of the first factor, there */
  int start;                   /* where the cell begins, modulo 16 */
#endif
} Column;

TESK_DEVICE Column make_column(const TeskMapped *a, Cell cell, long long first, int c, int l,
                               const unsigned char *staged) {
  Column column;
#if STAGE && LAYERS == Q
  (void)a;
  column.g =
      (const factor *)(staged + (first * CELL_BYTES & 15)) + (cell.valid ? c : 0) * FACTORS * POINTS + l;
#else
  (void)first, (void)c, (void)staged;
  column.g = (const factor *)a->geometry + cell.number * FACTORS * POINTS + l;
#endif
#if STAGE && LAYERS < Q
  column.staged = staged + l * (int)sizeof(factor);
  column.start = (int)(first * CELL_BYTES & 15);
#endif
  return column;
}

TESK_DEVICE real read_factor(const Column *c, int s, int k) {
#if !STAGE
  return (real)TESK_STREAM(c->g + s * POINTS + k * Q * Q);
#elif LAYERS == Q
  return (real)c->g[s * POINTS + k * Q * Q];
#else
  if (k >= LAYERS) return (real)TESK_STREAM(c->g + s * POINTS + k * Q * Q);
  const int begin = (c->start + (int)(s * PIECE_BYTES)) & 15;
  return (real)((const factor *)(c->staged + s * PIECE_PITCH + begin))[k * Q * Q];
#endif
}

TESK_DEVICE real mass_factor(const TeskMapped *a, const Column *c, int k) {
  return (real)a->mass * read_factor(c, 6 * STIFFNESS, k);
}

#if STIFFNESS
TESK_DEVICE real apply_factors(const TeskMapped *a, const Column *c, int k, real g[3]) {
  real m[6], w[3];
  TESK_UNROLL
  for (int s = 0; s < 6; s++) m[s] = read_factor(c, s, k);
  w[0] = m[0] * g[0] + m[1] * g[1] + m[2] * g[2];
  w[1] = m[1] * g[0] + m[3] * g[1] + m[4] * g[2];
  w[2] = m[2] * g[0] + m[4] * g[1] + m[5] * g[2];
  TESK_UNROLL
  for (int s = 0; s < 3; s++) g[s] = w[s];
  return MASS ? mass_factor(a, c, k) : 0;
}
#endif

#elif GEOMETRY == HALVES
/* Factors in float16, two per word, times one power of two per cell; for stored factors, whose bytes bound the time.
 * Words of a point: (G00, G01), (G02, G11), (G12, G22), (mass, -). */
typedef struct Column {
  const unsigned *g; /* of the first point */
  real scale;
} Column;

#if STAGE
#define READ_WORD(p) (*(p))
#else
#define READ_WORD(p) TESK_STREAM(p)
#endif

TESK_DEVICE Column make_column(const TeskMapped *a, Cell cell, long long first, int c, int l,
                               const unsigned char *staged) {
  Column column;
#if STAGE
  const unsigned *const words =
      (const unsigned *)(staged + (first * CELL_BYTES & 15)) + (cell.valid ? c : 0) * CELL_NUMBERS;
  (void)a;
#else
  const unsigned *const words = (const unsigned *)a->geometry + cell.number * CELL_NUMBERS;
  (void)first, (void)c, (void)staged;
#endif
  column.g = words + l;
  column.scale = TESK_FLOAT(words[CELL_NUMBERS - 1]);
  return column;
}

TESK_DEVICE real apply_factors(const TeskMapped *a, const Column *c, int k, real g[3]) {
  real m[6], w[3];
  TESK_UNROLL
  for (int s = 0; s < 3; s++) {
    const unsigned word = READ_WORD(c->g + s * POINTS + k * Q * Q);
    m[2 * s] = TESK_HALF(word), m[2 * s + 1] = TESK_UPPER_HALF(word);
  }
  w[0] = m[0] * g[0] + m[1] * g[1] + m[2] * g[2];
  w[1] = m[1] * g[0] + m[3] * g[1] + m[4] * g[2];
  w[2] = m[2] * g[0] + m[4] * g[1] + m[5] * g[2];
  TESK_UNROLL
  for (int s = 0; s < 3; s++) g[s] = c->scale * w[s];
  return MASS ? (real)a->mass * c->scale * TESK_HALF(READ_WORD(c->g + 3 * POINTS + k * Q * Q)) : 0;
}

#elif GEOMETRY == AFFINE
typedef struct Column {
  real g[6], mass, weight;
} Column;

TESK_DEVICE Column make_column(const TeskMapped *a, Cell cell, long long first, int c, int l,
                               const unsigned char *staged) {
  Column column;
  (void)first, (void)c, (void)staged;
  const real *g = (const real *)a->geometry + cell.number * FACTORS;
  column.weight = (real)(a->weight[l / Q] * a->weight[l % Q]);
  TESK_UNROLL
  for (int s = 0; s < 6 * STIFFNESS; s++) column.g[s] = (real)a->stiffness * TESK_READ(g + s);
  column.mass = MASS ? (real)a->mass * TESK_READ(g + 6 * STIFFNESS) : 0;
  return column;
}

TESK_DEVICE real mass_factor(const TeskMapped *a, const Column *c, int k) {
  return c->mass * c->weight * (real)a->weight[k];
}

TESK_DEVICE real apply_factors(const TeskMapped *a, const Column *c, int k, real g[3]) {
  const real w = c->weight * (real)a->weight[k], g0 = w * g[0], g1 = w * g[1], g2 = w * g[2];
  g[0] = c->g[0] * g0 + c->g[1] * g1 + c->g[2] * g2;
  g[1] = c->g[1] * g0 + c->g[3] * g1 + c->g[4] * g2;
  g[2] = c->g[2] * g0 + c->g[4] * g1 + c->g[5] * g2;
  return c->mass * w;
}

#elif GEOMETRY == WEIGHTS
/* One weight w a / |J| per point, and the cell as a polynomial x = sum c_ijp xi^i eta^j zeta^p, i, j, p <=
 * CELL_DEGREE. Along a z-line, with z = zeta, the derivatives of x by xi, eta and zeta are A = sum a_p z^p, B = sum
 * b_p z^p and C = sum c_p z^p. Rows of |J| J^-1: B x C, C x A, A x B.
 * Flops: 100 (trilinear) or 250 per line, 110 per point. */
typedef struct Column {
  const real *weight; /* of the first point */
  real a[CELL_EDGE][3], b[CELL_EDGE][3], c[CELL_DEGREE][3];
} Column;

#if STAGE
#define READ_WEIGHT(p) (*(p))
#define READ_MONOMIAL(p) (*(p))
#else
#define READ_WEIGHT(p) TESK_STREAM(p)
#define READ_MONOMIAL(p) TESK_READ(p)
#endif

TESK_DEVICE Column make_column(const TeskMapped *a, Cell cell, long long first, int c, int l,
                               const unsigned char *staged) {
  Column column;
#if STAGE
  const real *const numbers =
      (const real *)(staged + (first * CELL_BYTES & 15)) + (cell.valid ? c : 0) * CELL_NUMBERS;
#else
  const real *const numbers = (const real *)a->geometry + cell.number * CELL_NUMBERS;
  (void)first, (void)c, (void)staged;
#endif
  const real eta = (real)a->point[l / Q], xi = (real)a->point[l % Q];
  column.weight = numbers + l;
  TESK_UNROLL
  for (int p = 0; p < CELL_EDGE; p++) {
    TESK_UNROLL
    for (int d = 0; d < 3; d++) {
      /* v_i = sum_j c_ijp eta^j and its derivative s_i, i = 0, 1, 2 */
      real v[3] = {0, 0, 0}, s[3] = {0, 0, 0};
      TESK_UNROLL
      for (int i = 0; i < CELL_EDGE; i++) {
        const real *const m = numbers + (1 + MASS) * POINTS + 3 * (i + CELL_EDGE * CELL_EDGE * p - 1) + d;
        const real m0 = i + p ? READ_MONOMIAL(m) : 0, m1 = READ_MONOMIAL(m + 3 * CELL_EDGE),
                   m2 = CELL_DEGREE == 2 ? READ_MONOMIAL(m + 6 * CELL_EDGE * (CELL_DEGREE - 1)) : 0;
        s[i] = CELL_DEGREE == 2 ? m1 + 2 * eta * m2 : m1;
        v[i] = m0 + eta * (CELL_DEGREE == 2 ? m1 + eta * m2 : m1);
      }
      column.a[p][d] = CELL_DEGREE == 2 ? v[1] + 2 * xi * v[2] : v[1];
      column.b[p][d] = s[0] + xi * (CELL_DEGREE == 2 ? s[1] + xi * s[2] : s[1]);
      if (p) column.c[p - 1][d] = (real)p * (v[0] + xi * (CELL_DEGREE == 2 ? v[1] + xi * v[2] : v[1]));
    }
  }
  return column;
}

TESK_DEVICE void cross(const real u[3], const real v[3], real w[3]) {
  w[0] = u[1] * v[2] - u[2] * v[1];
  w[1] = u[2] * v[0] - u[0] * v[2];
  w[2] = u[0] * v[1] - u[1] * v[0];
}

TESK_DEVICE real apply_factors(const TeskMapped *a, const Column *c, int k, real g[3]) {
  const real z = (real)a->point[k], scale = (real)a->stiffness * READ_WEIGHT(c->weight + k * Q * Q);
  real A[3], B[3], C[3], r[3], s[3], t[3], p[3];
  TESK_UNROLL
  for (int d = 0; d < 3; d++) {
#if CELL_DEGREE == 2
    A[d] = c->a[0][d] + z * (c->a[1][d] + z * c->a[2][d]);
    B[d] = c->b[0][d] + z * (c->b[1][d] + z * c->b[2][d]);
    C[d] = c->c[0][d] + z * c->c[1][d];
#else
    A[d] = c->a[0][d] + z * c->a[1][d];
    B[d] = c->b[0][d] + z * c->b[1][d];
    C[d] = c->c[0][d];
#endif
  }
  cross(B, C, r);
  cross(C, A, s);
  cross(A, B, t);
  TESK_UNROLL
  for (int d = 0; d < 3; d++) p[d] = scale * (r[d] * g[0] + s[d] * g[1] + t[d] * g[2]);
  g[0] = r[0] * p[0] + r[1] * p[1] + r[2] * p[2];
  g[1] = s[0] * p[0] + s[1] * p[1] + s[2] * p[2];
  g[2] = t[0] * p[0] + t[1] * p[1] + t[2] * p[2];
  return MASS ? (real)a->mass * READ_WEIGHT(c->weight + (MASS * POINTS + k * Q * Q)) : 0;
}

#else
/* Trilinear cell x = c_0 + c_1 xi + c_2 eta + c_3 zeta + c_12 xi eta + c_13 xi zeta + c_23 eta zeta + c_123 xi eta
 * zeta; memory has, of each cell, c_1 c_2 c_3 c_12 c_13 c_23 c_123, three numbers each: a third of the operations
 * that vertices would cost. Along a z-line, with z = zeta, the derivatives of x are A = a0 + a1 z (by xi), B = b0 +
 * b1 z (by eta) and C (by zeta), constant. Rows of |J| J^-1: r = B x C = r0 + r1 z, s = C x A = s0 + s1 z, t = A x
 * B = t0 + t1 z + t2 z^2; |J| = C . t. */
typedef struct Column {
  real c[3], r0[3], r1[3], s0[3], s1[3], t0[3], t1[3], t2[3], weight;
} Column;

TESK_DEVICE void cross(const real u[3], const real v[3], real w[3]) {
  w[0] = u[1] * v[2] - u[2] * v[1];
  w[1] = u[2] * v[0] - u[0] * v[2];
  w[2] = u[0] * v[1] - u[1] * v[0];
}

TESK_DEVICE Column make_column(const TeskMapped *a, Cell cell, long long first, int c, int l,
                               const unsigned char *staged) {
  Column column;
#if STAGE
#define READ_VERTEX(p) (*(p))
  const real *v = (const real *)(staged + (first * CELL_BYTES & 15)) + (cell.valid ? c : 0) * 21;
#else
#define READ_VERTEX(p) TESK_READ(p)
  const real *v = (const real *)a->geometry + cell.number * 21;
  (void)first, (void)c, (void)staged;
#endif
  const real eta = (real)a->point[l / Q], xi = (real)a->point[l % Q];
  real a0[3], a1[3], b0[3], b1[3], t[3];
  TESK_UNROLL
  for (int d = 0; d < 3; d++) {
    const real c12 = READ_VERTEX(v + 9 + d), c13 = READ_VERTEX(v + 12 + d), c23 = READ_VERTEX(v + 15 + d),
               c123 = READ_VERTEX(v + 18 + d);
    a0[d] = READ_VERTEX(v + d) + eta * c12;
    a1[d] = c13 + eta * c123;
    b0[d] = READ_VERTEX(v + 3 + d) + xi * c12;
    b1[d] = c23 + xi * c123;
    column.c[d] = READ_VERTEX(v + 6 + d) + xi * c13 + eta * b1[d];
  }
  cross(b0, column.c, column.r0);
  cross(b1, column.c, column.r1);
  cross(column.c, a0, column.s0);
  cross(column.c, a1, column.s1);
  cross(a0, b0, column.t0);
  cross(a1, b1, column.t2);
  cross(a0, b1, column.t1);
  cross(a1, b0, t);
  TESK_UNROLL
  for (int d = 0; d < 3; d++) column.t1[d] += t[d];
  column.weight = (real)(a->weight[l / Q] * a->weight[l % Q]);
  return column;
}

TESK_DEVICE real mass_factor(const TeskMapped *a, const Column *c, int k) {
  const real z = (real)a->point[k];
  real det = 0;
  TESK_UNROLL
  for (int d = 0; d < 3; d++) det += c->c[d] * (c->t0[d] + z * (c->t1[d] + z * c->t2[d]));
  return (real)a->mass * c->weight * (real)a->weight[k] * det;
}

TESK_DEVICE real apply_factors(const TeskMapped *a, const Column *c, int k, real g[3]) {
  const real z = (real)a->point[k], w = c->weight * (real)a->weight[k];
  real det = 0, r[3], s[3], t[3], p[3];
  TESK_UNROLL
  for (int d = 0; d < 3; d++) {
    r[d] = c->r0[d] + z * c->r1[d];
    s[d] = c->s0[d] + z * c->s1[d];
    t[d] = c->t0[d] + z * (c->t1[d] + z * c->t2[d]);
    det += c->c[d] * t[d];
    p[d] = r[d] * g[0] + s[d] * g[1] + t[d] * g[2];
  }
  const real scale = (real)a->stiffness * w * TESK_RECIPROCAL(det);
  g[0] = scale * (r[0] * p[0] + r[1] * p[1] + r[2] * p[2]);
  g[1] = scale * (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]);
  g[2] = scale * (t[0] * p[0] + t[1] * p[1] + t[2] * p[2]);
  return (real)a->mass * w * det;
}
#endif

#endif
