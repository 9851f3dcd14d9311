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

/* Factors from weights: the polynomials of a plane, values and then slopes in the slow direction, each 27 at most. */
TESI_INLINE void LINE(plane_polynomials)(int dim, const TesiMappedHost *plan, const V *g, int s, V *out) {
  const V *c = g + plan->entries * plan->points;
  const Real *points = plan->points_1d, at = points[s];
  if (plan->geometry_degree == 1)
    LINE(reduce)(1, dim == 3 ? 12 : 4, at, c, out, out + POLYNOMIALS);
  else
    LINE(reduce)(2, dim == 3 ? 27 : 6, at, c, out, out + POLYNOMIALS);
}

/* ax[x][3]: the part of the cofactor a that a plane has in common. */
TESI_INLINE void LINE(plane_cofactors)(int q, const TesiMappedHost *plan, const V *tables, int s, V *ax) {
  const Real *at = plan->points_1d;
  for (int i = 0; i < q; i++) linear3(tables + 9 * i, at[s], tables + 9 * i + 6, ax + 3 * i);
}

TESI_INLINE void LINE(row_column)(const TesiMappedHost *plan, const V *m, int s, int j, V jx[3]) {
  const Real *at = plan->points_1d, y = at[j], z = at[s];
  TESI_UNROLL for (int r = 0; r < 3; r++) jx[r] = m[3 + r] + y * m[9 + r] + z * (m[15 + r] + y * m[21 + r]);
}

/* m: monomials of the map, NULL where the determinant is not wanted. */
TESI_INLINE void LINE(row_cofactors)(int q, const TesiMappedHost *plan, const V *m, const V *tables, int s,
                                     int j, Real weight, CofactorRow *row) {
  const V *b = tables + 9 * q + 9 * j, *c = tables + 18 * q + 9 * s;
  const Real *at = plan->points_1d;
  TESI_UNROLL for (int r = 0; r < 3; r++) row->jx[r] = (V){0};
  if (m) LINE(row_column)(plan, m, s, j, row->jx);
  TESI_UNROLL for (int r = 0; m && r < 3; r++) row->jx[r] *= 1 / weight;
  linear3(b, at[s], b + 3, row->b), linear3(c, at[j], c + 6, row->c);
  TESI_UNROLL for (int r = 0; r < 3; r++) row->bx[r] = b[6 + r], row->cx[r] = c[3 + r];
  row->y = at[j];
}

/* Row (s, j) of points: gx, gy, gz to fluxes. */
TESI_INLINE void LINE(row_flux)(int dim, int q, const TesiMappedHost *plan, const V *g, const V *jacobian,
                                const V *ax, int s, int j, V *gx, V *gy, V *gz) {
  const Real *w = plan->weights_1d;
  const Real weight = dim == 3 ? w[s] * w[j] : w[s];
  const V *row = g + (int64_t)(dim == 3 ? s * q + j : s) * q * plan->entries;
  CofactorRow common;
  if (plan->factors == TES_FACTORS_STORED)
    LINE(row_stored)(dim, q, plan->entries, row, gx, gy, gz);
  else if (plan->factors == TES_FACTORS_WEIGHTS && plan->geometry_degree == 1 && dim == 3) {
    LINE(row_cofactors)(q, plan, NULL, jacobian, s, j, 1, &common);
    LINE(row_vertices_3d)
    (q, &common, ax, jacobian + 3, plan->points_1d, w, row, plan->entries, gx, gy, gz);
  } else if (plan->factors == TES_FACTORS_WEIGHTS && plan->geometry_degree == 1)
    LINE(row_weights)(dim, q, 1, plan, jacobian, jacobian + POLYNOMIALS, row, j, gx, gy, gz);
  else if (plan->factors == TES_FACTORS_WEIGHTS)
    LINE(row_weights)(dim, q, 2, plan, jacobian, jacobian + POLYNOMIALS, row, j, gx, gy, gz);
  else if (plan->factors == TES_FACTORS_AFFINE)
    LINE(row_affine)(dim, q, g, w, weight, gx, gy, gz);
  else if (dim == 3) {
    LINE(row_cofactors)(q, plan, g, jacobian, s, j, weight * (Real)plan->a, &common);
    LINE(row_vertices_3d)(q, &common, ax, jacobian + 3, plan->points_1d, w, NULL, 0, gx, gy, gz);
  } else
    LINE(row_vertices_2d)(q, jacobian + 2 * s, jacobian + 2 * q, w, weight * (Real)plan->a, gx, gz);
}

/* kept[mid][x] <- lambda c w |J| u of the plane s. */
TESI_INLINE void LINE(plane_mass)(int dim, int q, const TesiMappedHost *plan, const V *g, const V *jacobian,
                                  const V *ax, int s, const V *u, V *kept) {
  const Real *w = plan->weights_1d, *points = plan->points_1d;
  const int last = plan->entries - 1, mid = dim == 3 ? q : 1;
  const bool stored = plan->factors == TES_FACTORS_STORED || plan->factors == TES_FACTORS_WEIGHTS;
  const V *jx = jacobian + 2 * s, *jz = jacobian + 2 * q;
  for (int j = 0; j < mid; j++) {
    const Real factor = (Real)plan->mass_factor, weight = factor * (dim == 3 ? w[s] * w[j] : w[s]);
    V column[3] = {0};
    if (dim == 3 && plan->factors == TES_FACTORS_VERTICES) LINE(row_column)(plan, g, s, j, column);
    for (int i = 0; i < q; i++) {
      const int at = j * q + i;
      V m;
      if (stored)
        m = factor * g[((int64_t)s * mid * q + at) * plan->entries + last];
      else if (plan->factors == TES_FACTORS_AFFINE)
        m = weight * w[i] * g[last];
      else if (dim == 3) {
        V a[3];
        linear3(ax + 3 * i, points[j], jacobian + 9 * i + 3, a);
        m = weight * w[i] * dot3(column, a);
      } else
        m = weight * w[i] * (jx[0] * jz[2 * i + 1] - jx[1] * jz[2 * i]);
      kept[at] = m * u[at];
    }
  }
}

/* values, d [q][mid][q]: D and factors and D' in the plane s; d becomes the flux in the slow direction. */
TESI_INLINE void LINE(plane)(int dim, int q, const TesiMappedHost *plan, Ahead *ahead, const V *g,
                             const V *jacobian, int s, V *values, V *d, V *plane) {
  const Real *tables = plan->tables;
  const int mid = dim == 3 ? q : 1;
  V *ax = plane + q * q + 27 * q, *kept = ax + 3 * q, polynomials[2 * POLYNOMIALS];
  if (mapped_has_cofactors(plan)) {
    LINE(plane_cofactors)(q, plan, jacobian, s, ax);
  } else if (plan->factors == TES_FACTORS_WEIGHTS) {
    LINE(plane_polynomials)(dim, plan, g, s, polynomials);
    jacobian = polynomials;
  }
  if (plan->mass) LINE(plane_mass)(dim, q, plan, g, jacobian, ax, s, values, kept);
  for (int i = 0; dim == 3 && i < q; i++)
    LINE(differentiate)(q, tables, TESI_DM_EVEN, values + i, q, plane + i, q);
  for (int j = 0; j < mid; j++) {
    V gx[MAPPED_N], *u = values + j * q;
    mapped_prefetch(ahead);
    LINE(differentiate)(q, tables, TESI_DM_EVEN, u, 1, gx, 1);
    LINE(row_flux)(dim, q, plan, g, jacobian, ax, s, j, gx, plane + j * q, d + j * q);
    LINE(differentiate)(q, tables, TESI_DMT_EVEN, gx, 1, u, 1);
  }
  for (int i = 0; dim == 3 && i < q; i++) LINE(add_transposed)(q, tables, plane + i, q, values + i, q);
  for (int i = 0; plan->mass && i < mid * q; i++) values[i] += kept[i];
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

/* Slow lines of mass alone: values [n or q][count] -> I' w I values. */
TESI_INLINE void LINE(mass)(int dim, int n, int q, bool interpolates, const TesiMappedHost *plan,
                            Ahead *ahead, const V *g, V *values) {
  const Real *tables = plan->tables;
  const int mid = dim == 3 ? q : 1, count = mid * q;
  for (int j = 0; j < mid; j++)
    for (int i = 0; i < q; i++) {
      mapped_prefetch(ahead);
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
}

/* u <- K u with the lower triangle of K by rows. Rows of stiffness alone sum to 0: its diagonal is left out, and
 * (K u)_a = sum over b of K_ab (u_b - u_a). */
TESI_INLINE void LINE(matrix)(int nodes, bool mass, const V *K, V *u) {
  V x[27], y[27]; /* degree 2 in 3D at most */
  LINE_UNROLL for (int a = 0; a < nodes; a++) x[a] = u[a], y[a] = (V){0};
  LINE_UNROLL for (int a = 0; a < nodes; a++) {
    LINE_UNROLL for (int b = 0; b < a; b++, K++) {
      __builtin_prefetch(K + PREFETCH, 0, 2);
      if (mass) {
        y[a] += *K * x[b];
        y[b] += *K * x[a];
      } else {
        const V d = x[b] - x[a];
        y[a] += *K * d;
        y[b] -= *K * d;
      }
    }
    if (mass) y[a] += *K++ * x[a];
  }
  LINE_UNROLL for (int a = 0; a < nodes; a++) u[a] = y[a];
}
