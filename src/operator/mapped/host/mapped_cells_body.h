/* One batch of cells: from values at nodes [slow][mid][x] to the result at nodes, in place. Included after
 * mapped_lines_body.h, mapped_tensor_body.h and mapped_points_body.h with the same LINE and LINE_UNROLL.
 *
 *   in      u <- I u in x and y, plane by plane
 *   lines   u <- I u and d <- D u in z, lines in registers (mass alone: u <- I' w I u)
 *   planes  in each plane of points: D in y and in x to planes of their own, factors row by row, then D' in x and in y
 *   out     u <- I' (u + D' d) in z; I' in y and x, plane by plane */

/* Factors from weights: the polynomials of a plane, first values, then slopes in the slow direction, at most 27
 * numbers each. */
TESI_INLINE void LINE(plane_polynomials)(int dim, const TesiMappedHost *plan, const V *g, int s, V *out) {
  const V *c = g + plan->entries * plan->points;
  const Real *points = plan->points_1d, at = points[s];
  if (plan->geometry_degree == 1)
    LINE(reduce)(1, dim == 3 ? 12 : 4, at, c, out, out + POLYNOMIALS);
  else
    LINE(reduce)(2, dim == 3 ? 27 : 6, at, c, out, out + POLYNOMIALS);
}

/* The rows of the plane s. In it jx = u + y v, jy = p + x v, jz = s0 + y s1 + x (t0 + y t1). m: monomials of the
 * map about the centre of the cell, [8][3]; zz[q][3]: jz.jz, see mapped_slow_squares. */
TESI_INLINE void LINE(plane_rows)(int q, const TesiMappedHost *plan, const V *m, const V *zz, int s,
                                  EliminatedRow *row) {
  const Real *at = plan->centred_1d;
  const V *s0 = m + 12, *s1 = m + 18, *t0 = m + 15, *t1 = m + 21;
  V u[3], v[3], p[3], up[3], vp[3], uv[3];
  TESI_UNROLL for (int r = 0; r < 3; r++) {
    u[r] = m[3 + r] + at[s] * m[15 + r], v[r] = m[9 + r] + at[s] * m[21 + r];
    p[r] = m[6 + r] + at[s] * m[18 + r];
  }
  cross(u, p, up), cross(v, p, vp), cross(u, v, uv);
  const V a[3] = {dot3(u, u), dot3(u, v), dot3(v, v)}, b[2] = {dot3(u, p), dot3(v, p)}, pp = dot3(p, p);
  const V vs[2] = {dot3(v, s0), dot3(v, s1)}, vt[2] = {dot3(v, t0), dot3(v, t1)};
  const V c0[3] = {dot3(u, s0), dot3(u, s1) + vs[0], vs[1]};
  const V c1[3] = {dot3(u, t0), dot3(u, t1) + vt[0], vt[1]};
  const V y0[2] = {dot3(p, s0), dot3(p, s1)}, y1[2] = {dot3(p, t0) + vs[0], dot3(p, t1) + vs[1]};
  const V d0[3] = {dot3(s0, up), dot3(s1, up) + dot3(s0, vp), dot3(s1, vp)};
  const V d1[3] = {dot3(t0, up) + dot3(s0, uv), dot3(t1, up) + dot3(s1, uv) + dot3(t0, vp), dot3(t1, vp)};
  const V d2[2] = {dot3(t0, uv), dot3(t1, uv)};
  for (int j = 0; j < q; j++, row++, zz += 3) {
    const Real y = at[j];
    const V xy[2] = {b[0] + y * b[1], a[1] + y * a[2]};
    const V xz[2] = {c0[0] + y * (c0[1] + y * c0[2]), c1[0] + y * (c1[1] + y * c1[2])};
    const V xx = a[0] + y * (a[1] + xy[1]), inverse = 1 / xx;
    const V alpha[2] = {xy[0] * inverse, xy[1] * inverse}, beta[2] = {xz[0] * inverse, xz[1] * inverse};
    row->a = xx;
    TESI_UNROLL for (int r = 0; r < 2; r++) row->alpha[r] = alpha[r], row->beta[r] = beta[r];
    row->x[0] = pp - alpha[0] * xy[0], row->x[1] = b[1] - alpha[0] * xy[1],
    row->x[2] = a[2] - alpha[1] * xy[1];
    row->y[0] = y0[0] + y * y0[1] - alpha[0] * xz[0];
    row->y[1] = y1[0] + y * y1[1] - alpha[0] * xz[1] - alpha[1] * xz[0];
    row->y[2] = vt[0] + y * vt[1] - alpha[1] * xz[1];
    row->z[0] = zz[0] - beta[0] * xz[0], row->z[1] = zz[1] - beta[0] * xz[1];
    row->z[2] = zz[2] - beta[1] * xz[1];
    row->d[0] = inverse * (d0[0] + y * (d0[1] + y * d0[2]));
    row->d[1] = inverse * (d1[0] + y * (d1[1] + y * d1[2]));
    row->d[2] = inverse * (d2[0] + y * d2[1]);
  }
}

/* Row (s, j) of points: gx, gy, gz to fluxes. */
TESI_INLINE void LINE(row_flux)(int dim, int q, const TesiMappedHost *plan, const V *g, const V *jacobian,
                                const EliminatedRow *rows, int s, int j, V *gx, V *gy, V *gz) {
  const Real *w = plan->weights_1d;
  const Real weight = dim == 3 ? w[s] * w[j] : w[s];
  const V *row = g + (int64_t)(dim == 3 ? s * q + j : s) * q * plan->entries;
  if (plan->factors == TES_FACTORS_STORED)
    LINE(row_stored)(dim, q, plan->entries, row, gx, gy, gz);
  else if (plan->factors == TES_FACTORS_WEIGHTS && plan->geometry_degree == 1 && dim == 3)
    LINE(row_eliminated)(q, rows + j, plan->centred_1d, w, 1, row, plan->entries, gx, gy, gz);
  else if (plan->factors == TES_FACTORS_WEIGHTS && plan->geometry_degree == 1)
    LINE(row_weights)(dim, q, 1, plan, jacobian, jacobian + POLYNOMIALS, row, j, gx, gy, gz);
  else if (plan->factors == TES_FACTORS_WEIGHTS)
    LINE(row_weights)(dim, q, 2, plan, jacobian, jacobian + POLYNOMIALS, row, j, gx, gy, gz);
  else if (plan->factors == TES_FACTORS_AFFINE)
    LINE(row_affine)(dim, q, g, w, weight, gx, gy, gz);
  else if (dim == 3) {
    LINE(row_eliminated)(q, rows + j, plan->centred_1d, w, weight * (Real)plan->a, NULL, 0, gx, gy, gz);
  } else
    LINE(row_vertices_2d)(q, jacobian + 2 * s, jacobian + 2 * q, w, weight * (Real)plan->a, gx, gz);
}

/* kept[mid][x] <- lambda c w |J| u of the plane s. */
TESI_INLINE void LINE(plane_mass)(int dim, int q, const TesiMappedHost *plan, const V *g, const V *jacobian,
                                  const EliminatedRow *rows, int s, const V *u, V *kept) {
  const Real *w = plan->weights_1d, *points = plan->centred_1d;
  const int last = plan->entries - 1, mid = dim == 3 ? q : 1;
  const bool stored = plan->factors == TES_FACTORS_STORED || plan->factors == TES_FACTORS_WEIGHTS;
  const V *jx = jacobian + 2 * s, *jz = jacobian + 2 * q;
  for (int j = 0; j < mid; j++) {
    const Real factor = (Real)plan->mass_factor, weight = factor * (dim == 3 ? w[s] * w[j] : w[s]);
    for (int i = 0; i < q; i++) {
      const int at = j * q + i;
      V m;
      if (stored)
        m = factor * g[((int64_t)s * mid * q + at) * plan->entries + last];
      else if (plan->factors == TES_FACTORS_AFFINE)
        m = weight * w[i] * g[last];
      else if (dim == 3)
        m = weight * w[i] * rows[j].a * (rows[j].d[0] + points[i] * (rows[j].d[1] + points[i] * rows[j].d[2]));
      else
        m = weight * w[i] * (jx[0] * jz[2 * i + 1] - jx[1] * jz[2 * i]);
      kept[at] = m * u[at];
    }
  }
}

/* values, d [q][q]: D, then factors, then D' in the plane s; d becomes the flux in the slow direction. */
TESI_INLINE void LINE(plane)(int q, const TesiMappedHost *plan, Ahead *ahead, const V *g, const V *jacobian,
                             int s, V *values, V *d, V *plane) {
  const Real *tables = plan->tables;
  V *end = plane + q * q + 4 * q, *kept = end + ELIMINATED_ROW * q, *gx = kept + q * q,
    polynomials[2 * POLYNOMIALS];
  EliminatedRow *rows = (EliminatedRow *)end;
  if (plan->eliminates) {
    LINE(plane_rows)(q, plan, mapped_monomials(plan, g), jacobian, s, rows);
  } else if (plan->factors == TES_FACTORS_WEIGHTS) {
    LINE(plane_polynomials)(3, plan, g, s, polynomials);
    jacobian = polynomials;
  }
  if (plan->mass) LINE(plane_mass)(3, q, plan, g, jacobian, rows, s, values, kept);
  LINE(differentiate)(q, q, tables, TESI_DM_EVEN, values, q, 1, plane, q, 1);
  LINE(differentiate)(q, q, tables, TESI_DM_EVEN, values, 1, q, gx, 1, q);
  for (int j = 0; j < q; j++) {
    mapped_prefetch(ahead);
    LINE(row_flux)(3, q, plan, g, jacobian, rows, s, j, gx + j * q, plane + j * q, d + j * q);
  }
  LINE(differentiate)(q, q, tables, TESI_DMT_EVEN, gx, 1, q, values, 1, q);
  LINE(add_transposed)(q, q, tables, plane, q, 1, values, q, 1);
  for (int i = 0; plan->mass && i < q * q; i++) values[i] += kept[i];
}

/* The same in 2D, where planes are rows: D, then factors, then D' in all rows. */
TESI_INLINE void LINE(rows_2d)(int q, const TesiMappedHost *plan, Ahead *ahead, const V *g, const V *jacobian,
                               V *values, V *d, V *plane) {
  const Real *tables = plan->tables;
  V *gx = plane, *kept = plane + q * q + 4 * q, polynomials[2 * POLYNOMIALS];
  LINE(differentiate)(q, q, tables, TESI_DM_EVEN, values, 1, q, gx, 1, q);
  for (int s = 0; s < q; s++) {
    mapped_prefetch(ahead);
    if (plan->factors == TES_FACTORS_WEIGHTS) {
      LINE(plane_polynomials)(2, plan, g, s, polynomials);
      jacobian = polynomials;
    }
    if (plan->mass) LINE(plane_mass)(2, q, plan, g, jacobian, NULL, s, values + s * q, kept + s * q);
    LINE(row_flux)(2, q, plan, g, jacobian, NULL, s, 0, gx + s * q, NULL, d + s * q);
  }
  LINE(differentiate)(q, q, tables, TESI_DMT_EVEN, gx, 1, q, values, 1, q);
  for (int i = 0; plan->mass && i < q * q; i++) values[i] += kept[i];
}

TESI_INLINE void LINE(planes)(int dim, int q, const TesiMappedHost *plan, Ahead *ahead, const V *g,
                              const V *jacobian, V *values, V *d, V *plane) {
  if (dim == 2) LINE(rows_2d)(q, plan, ahead, g, jacobian, values, d, plane);
  for (int s = 0; dim == 3 && s < q; s++)
    LINE(plane)(q, plan, ahead, g, jacobian, s, values + s * q * q, d + s * q * q, plane);
}

/* Weights of a slow line of points at (i, j), mass alone, to w[q]. det: |J| as monomials [3^dim], reduced to the
 * slow direction. */
TESI_INLINE void LINE(line_weights)(int dim, int q, const TesiMappedHost *plan, const V *g, int i, int j,
                                    V *w) {
  const Real *weight = plan->weights_1d, *at = plan->points_1d;
  if (plan->factors == TES_FACTORS_STORED) {
    const V *line = g + (j * q + i) * q;
    LINE_UNROLL for (int s = 0; s < q; s++) w[s] = (Real)plan->mass_factor * line[s];
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
        LINE(interpolate)(1, q, n, tables, TESI_I_EVEN, at, count, 1, line, 1, 1);
        LINE_UNROLL for (int s = 0; s < q; s++) line[s] *= w[s];
        LINE(interpolate)(1, n, q, tables, TESI_IT_EVEN, line, 1, 1, at, count, 1);
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
