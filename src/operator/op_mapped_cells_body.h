/* One batch of cells: from values at nodes [slow][mid][x] to the result at nodes, in place. Included after
 * op_mapped_lines_body.h and op_mapped_points_body.h with the same LINE and LINE_UNROLL.
 *
 *   in      u <- I u in x and y, plane by plane
 *   lines   u <- I u and d <- D u in z, a line at a time in registers (mass alone: u <- I' w I u)
 *   planes  in each plane of points: D in y to a plane of its own, then rows: D in x, factors, D' in x, then D' in y
 *   out     u <- I' (u + D' d) in z; I' in y and x, plane by plane */

/* u[n^dim] -> values[n][mid][q]: x and, in 3D, y. */
TESI_INLINE void LINE(in)(int dim, int n, int q, const Real *tables, const V *u, V *values, V *plane) {
  for (int s = 0; s < n; s++) {
    V *const rows = dim == 3 ? plane : values + s * q;
    const int mid = dim == 3 ? n : 1;
    for (int j = 0; j < mid; j++)
      LINE(interpolate)(q, n, tables, TESI_I_EVEN, u + (s * mid + j) * n, 1, rows + j * q, 1);
    for (int i = 0; dim == 3 && i < q; i++)
      LINE(interpolate)(q, n, tables, TESI_I_EVEN, plane + i, q, values + s * q * q + i, q);
  }
}

TESI_INLINE void LINE(out)(int dim, int n, int q, const Real *tables, const V *values, V *u, V *plane) {
  for (int s = 0; s < n; s++) {
    const V *const rows = dim == 3 ? plane : values + s * q;
    const int mid = dim == 3 ? n : 1;
    for (int i = 0; dim == 3 && i < q; i++)
      LINE(interpolate)(n, q, tables, TESI_IT_EVEN, values + s * q * q + i, q, plane + i, q);
    for (int j = 0; j < mid; j++)
      LINE(interpolate)(n, q, tables, TESI_IT_EVEN, rows + j * q, 1, u + (s * mid + j) * n, 1);
  }
}

/* Slow lines: values [n or q][count] -> values [q][count], and their derivatives. */
TESI_INLINE void LINE(lines)(int n, int q, int count, bool interpolates, const Real *tables, V *values,
                             V *d) {
  for (int i = 0; i < count; i++) {
    V u[MAPPED_N];
    if (interpolates) {
      LINE(interpolate)(q, n, tables, TESI_I_EVEN, values + i, count, u, 1);
      LINE_UNROLL for (int s = 0; s < q; s++) values[s * count + i] = u[s];
    } else {
      LINE_UNROLL for (int s = 0; s < q; s++) u[s] = values[s * count + i];
    }
    LINE(differentiate)(q, tables, TESI_DM_EVEN, u, 1, d + i, count);
  }
}

TESI_INLINE void LINE(lines_out)(int n, int q, int count, bool interpolates, const Real *tables, V *values,
                                 const V *d) {
  for (int i = 0; i < count; i++) {
    V u[MAPPED_N];
    LINE(differentiate)(q, tables, TESI_DMT_EVEN, d + i, count, u, 1);
    LINE_UNROLL for (int s = 0; s < q; s++) u[s] += values[s * count + i];
    if (interpolates)
      LINE(interpolate)(n, q, tables, TESI_IT_EVEN, u, 1, values + i, count);
    else
      LINE_UNROLL for (int s = 0; s < q; s++) values[s * count + i] = u[s];
  }
}

/* Jacobian columns of the trilinear map from its monomials c[2^dim][dim]: jx[slow][mid], jy[slow][x], jz[mid][x] (2D: jx[slow], jz[x]),
 * each [dim]. */
TESI_INLINE void LINE(jacobians)(int dim, int q, const Real *at, const V *c, V *jx, V *jy, V *jz) {
  if (dim == 2) {
    for (int i = 0; i < q; i++) TESI_UNROLL for (int r = 0; r < 2; r++) {
        jx[2 * i + r] = c[2 + r] + at[i] * c[6 + r];
        jz[2 * i + r] = c[4 + r] + at[i] * c[6 + r];
      }
    return;
  }
  for (int s = 0; s < q; s++) TESI_UNROLL for (int r = 0; r < 3; r++) {
      const V x = c[3 + r] + at[s] * c[15 + r], xy = c[9 + r] + at[s] * c[21 + r];   /* x + y xy, at z = s */
      const V y = c[6 + r] + at[s] * c[18 + r];                                      /* y + x xy */
      const V z = c[12 + r] + at[s] * c[18 + r], zx = c[15 + r] + at[s] * c[21 + r]; /* z + x zx, at y = s */
      for (int i = 0; i < q; i++) {
        jx[(s * q + i) * 3 + r] = x + at[i] * xy;
        jy[(s * q + i) * 3 + r] = y + at[i] * xy;
        jz[(s * q + i) * 3 + r] = z + at[i] * zx;
      }
    }
}

/* Row (s, j) of points: u its values, gx, gy, gz to fluxes, m the mass term. */
TESI_INLINE void LINE(row_flux)(int dim, int q, const TesiMappedHost *plan, const V *g, const V *jacobian,
                                int s, int j, const V *u, V *gx, V *gy, V *gz, V *m) {
  const Real *w = plan->weights_1d;
  const Real weight = dim == 3 ? w[s] * w[j] : w[s];
  const V factor = (V){0} + (Real)plan->mass_factor;
  const V *jx = jacobian, *jy = jx + 3 * q * q, *jz = jy + 3 * q * q;
  if (plan->factors == TES_FACTORS_STORED) {
    const V *row = g + (int64_t)(dim == 3 ? s * q + j : s) * q * plan->entries;
    if (plan->mass)
      LINE(row_stored)(dim, q, true, factor, row, u, gx, gy, gz, m);
    else
      LINE(row_stored)(dim, q, false, factor, row, u, gx, gy, gz, m);
  } else if (plan->factors == TES_FACTORS_AFFINE) {
    LINE(row_affine)(dim, q, plan->mass, factor, g, w, weight, u, gx, gy, gz, m);
  } else if (dim == 3) {
    LINE(row_vertices_3d)
    (q, plan->mass, (Real)(plan->mass_factor / plan->a), jx + 3 * (s * q + j), jy + 3 * s * q, jz + 3 * j * q,
     w, weight * (Real)plan->a, u, gx, gy, gz, m);
  } else {
    LINE(row_vertices_2d)
    (q, plan->mass, (Real)(plan->mass_factor / plan->a), jx + 2 * s, jz, w, weight * (Real)plan->a, u, gx, gz,
     m);
  }
}

/* values, d [q][mid][q]: D and factors and D' in the plane s; d becomes the flux in the slow direction. */
TESI_INLINE void LINE(plane)(int dim, int q, const TesiMappedHost *plan, const Real *tables, const V *g,
                             const V *jacobian, int s, V *values, V *d, V *plane) {
  const int mid = dim == 3 ? q : 1;
  for (int i = 0; dim == 3 && i < q; i++)
    LINE(differentiate)(q, tables, TESI_DM_EVEN, values + i, q, plane + i, q);
  for (int j = 0; j < mid; j++) {
    V gx[MAPPED_N], m[MAPPED_N], *u = values + j * q;
    LINE(differentiate)(q, tables, TESI_DM_EVEN, u, 1, gx, 1);
    LINE(row_flux)(dim, q, plan, g, jacobian, s, j, u, gx, plane + j * q, d + j * q, m);
    LINE(differentiate)(q, tables, TESI_DMT_EVEN, gx, 1, u, 1);
    if (plan->mass) LINE_UNROLL for (int i = 0; i < q; i++) u[i] += m[i];
  }
  for (int i = 0; dim == 3 && i < q; i++) LINE(add_transposed)(q, tables, plane + i, q, values + i, q);
}

/* Stiffness, with or without mass. u [n^dim] in place; work: values, d [q^dim], plane, Jacobians. */
TESI_INLINE void LINE(stiffness)(int dim, int n, int q, bool interpolates, const TesiMappedHost *plan,
                                 const V *g, V *u, V *work) {
  const Real *tables = plan->tables;
  const int count = dim == 3 ? q * q : q;
  V *values = interpolates ? work : u, *d = work + count * q, *plane = d + count * q,
    *jacobian = plane + q * q;
  if (plan->factors == TES_FACTORS_VERTICES)
    LINE(jacobians)(dim, q, plan->points_1d, g, jacobian, jacobian + 3 * q * q, jacobian + 6 * q * q);
  if (interpolates) LINE(in)(dim, n, q, tables, u, values, plane);
  LINE(lines)(n, q, count, interpolates, tables, values, d);
  for (int s = 0; s < q; s++)
    LINE(plane)(dim, q, plan, tables, g, jacobian, s, values + s * count, d + s * count, plane);
  LINE(lines_out)(n, q, count, interpolates, tables, values, d);
  if (interpolates) LINE(out)(dim, n, q, tables, values, u, plane);
}

/* Weights of a slow line of points at (i, j), mass alone, to w[q]. det: |J| as monomials [3^dim], reduced to the slow direction. */
TESI_INLINE void LINE(line_weights)(int dim, int q, const TesiMappedHost *plan, const V *g, int i, int j,
                                    V *w) {
  const Real *weight = plan->weights_1d, *at = plan->points_1d;
  if (plan->factors == TES_FACTORS_STORED) {
    const V *line = g + (j * q + i) * q;
    LINE_UNROLL for (int s = 0; s < q; s++) {
      __builtin_prefetch(line + s + PREFETCH, 0, 2);
      w[s] = (Real)plan->mass_factor * line[s];
    }
    return;
  }
  const Real factor = (Real)plan->mass_factor * weight[i] * (dim == 3 ? weight[j] : 1);
  if (plan->factors == TES_FACTORS_AFFINE) {
    LINE_UNROLL for (int s = 0; s < q; s++) w[s] = factor * weight[s] * g[0];
    return;
  }
  V c[3];
  TESI_UNROLL for (int e = 0; e < 3; e++) {
    if (dim == 3) {
      const V *p = g + 9 * e;
      const V a = p[0] + at[i] * (p[1] + at[i] * p[2]), b = p[3] + at[i] * (p[4] + at[i] * p[5]),
              d = p[6] + at[i] * (p[7] + at[i] * p[8]);
      c[e] = a + at[j] * (b + at[j] * d);
    } else {
      c[e] = g[3 * e] + at[i] * (g[3 * e + 1] + at[i] * g[3 * e + 2]);
    }
    c[e] *= factor;
  }
  LINE_UNROLL for (int s = 0; s < q; s++) w[s] = weight[s] * (c[0] + at[s] * (c[1] + at[s] * c[2]));
}

TESI_INLINE void LINE(mass)(int dim, int n, int q, bool interpolates, const TesiMappedHost *plan, const V *g,
                            V *u, V *work) {
  const Real *tables = plan->tables;
  const int mid = dim == 3 ? q : 1, count = mid * q;
  V *values = interpolates ? work : u, *plane = work + count * q;
  if (interpolates) LINE(in)(dim, n, q, tables, u, values, plane);
  for (int j = 0; j < mid; j++)
    for (int i = 0; i < q; i++) {
      V line[MAPPED_N], w[MAPPED_N], *at = values + j * q + i;
      LINE(line_weights)(dim, q, plan, g, i, j, w);
      if (interpolates) {
        LINE(interpolate)(q, n, tables, TESI_I_EVEN, at, count, line, 1);
        LINE_UNROLL for (int s = 0; s < q; s++) line[s] *= w[s];
        LINE(interpolate)(n, q, tables, TESI_IT_EVEN, line, 1, at, count);
      } else {
        LINE_UNROLL for (int s = 0; s < q; s++) at[s * count] *= w[s];
      }
    }
  if (interpolates) LINE(out)(dim, n, q, tables, values, u, plane);
}

/* y += K x with the lower triangle of K by rows. */
TESI_INLINE void LINE(matrix)(int nodes, const V *K, V *u) {
  V x[27], y[27]; /* degree 2 in 3D at most */
  LINE_UNROLL for (int a = 0; a < nodes; a++) x[a] = u[a], y[a] = (V){0};
  LINE_UNROLL for (int a = 0; a < nodes; a++) {
    LINE_UNROLL for (int b = 0; b < a; b++, K++) {
      y[a] += K[0] * x[b];
      y[b] += K[0] * x[a];
    }
    y[a] += *K++ * x[a];
  }
  LINE_UNROLL for (int a = 0; a < nodes; a++) u[a] = y[a];
}
