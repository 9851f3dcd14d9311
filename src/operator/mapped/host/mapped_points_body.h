/* The work at quadrature points, one row in x at a time: turns gradients into fluxes, by the kind of factors.
 * Included like mapped_lines_body.h. On entry gx, gy, gz are the reference derivatives of the row; on return they are
 * fluxes. */

#ifndef MAPPED_SECOND
/* Their monomials: behind the weights, or alone. */
TESI_INLINE const V *mapped_monomials(const TesiMappedHost *plan, const V *g) {
  return g + (plan->factors == TES_FACTORS_WEIGHTS ? plan->entries * plan->points : 0);
}

/* f <- G g with the symmetric G at factors[]. */
TESI_INLINE void flux_3d(const V *G, V x, V y, V z, V *gx, V *gy, V *gz) {
  *gx = G[0] * x + G[1] * y + G[2] * z;
  *gy = G[1] * x + G[3] * y + G[4] * z;
  *gz = G[2] * x + G[4] * y + G[5] * z;
}

TESI_INLINE void cross(const V a[3], const V b[3], V out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

TESI_INLINE V dot3(const V a[3], const V b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The common data of the points of a row in x. Columns of J: jx is constant, jy and jz are linear in x, so that with
 *   alpha = jx.jy / A, beta = jx.jz / A, A = jx.jx   (linear)
 *   X = jy.jy - alpha jx.jy, Y = jy.jz - alpha jx.jz, Z = jz.jz - beta jx.jz, D = |J| / A   (quadratic, A D^2 = X Z
 *   - Y^2)
 * the metric |J| (J'J)^-1 is, after gy <- gy - alpha gx and gz <- gz - beta gx,
 *   fx = D gx - alpha fy - beta fz, (fy, fz) = (Z gy - Y gz, X gz - Y gy) / D.
 * Polynomials are in x - 1/2, where points lie in pairs: c[0] + x^2 c[2] + x c[1] for both, of X and Z half c[1]. */
typedef struct EliminatedRow {
  V a, alpha[2], beta[2], x[3], y[3], z[3], d[3];
} EliminatedRow;

enum { ELIMINATED_ROW = sizeof(EliminatedRow) / sizeof(V) };

TESI_INLINE void eliminated_flux(V alpha, V beta, V x, V y, V z, V first, V second, V *gx, V *gy, V *gz) {
  const V v = *gy - alpha * *gx, w = *gz - beta * *gx;
  const V fy = second * (z * v - y * w), fz = second * (x * w - y * v);
  *gx = first * *gx - alpha * fy - beta * fz;
  *gy = fy, *gz = fz;
}
#endif

/* Value, and slope if asked for, at t of the polynomials c[m + 1][count]. */
TESI_INLINE void LINE(reduce)(int m, int count, Real t, const V *c, V *value, V *slope) {
  LINE_UNROLL for (int i = 0; i < count; i++) {
    V a = c[count + i], b = {0};
    if (m == 2) b = c[2 * count + i];
    if (slope) slope[i] = a;
    if (m == 2) {
      if (slope) slope[i] += 2 * t * b;
      a += t * b;
    }
    value[i] = c[i] + t * a;
  }
}

/* Factors from weights: fluxes of row_vertices_3d() with the weight w a / |J| of each point. Jacobians come from the
 * polynomials, along the row, of the position and of its derivatives in y and z, [m + 1][3]. */
TESI_INLINE void LINE(row_weights_3d)(int q, int m, int entries, const Real *at, const V *x, const V *y,
                                      const V *z, const V *g, V *gx, V *gy, V *gz) {
  LINE_UNROLL for (int i = 0; i < q; i++, g += entries) {
    V jx[3], jy[3], jz[3], position[3], a[3], b[3], c[3], t[3];
    LINE(reduce)(m, 3, at[i], x, position, jx);
    LINE(reduce)(m, 3, at[i], y, jy, NULL);
    LINE(reduce)(m, 3, at[i], z, jz, NULL);
    cross(jy, jz, a);
    cross(jz, jx, b);
    cross(jx, jy, c);
    TESI_UNROLL for (int r = 0; r < 3; r++) t[r] = (a[r] * gx[i] + b[r] * gy[i] + c[r] * gz[i]) * g[0];
    gx[i] = dot3(a, t), gy[i] = dot3(b, t), gz[i] = dot3(c, t);
  }
}

TESI_INLINE void LINE(row_weights_2d)(int q, int m, int entries, const Real *at, const V *x, const V *z,
                                      const V *g, V *gx, V *gz) {
  LINE_UNROLL for (int i = 0; i < q; i++, g += entries) {
    V jx[2], jz[2], position[2];
    LINE(reduce)(m, 2, at[i], x, position, jx);
    LINE(reduce)(m, 2, at[i], z, jz, NULL);
    const V t0 = (jz[1] * gx[i] - jx[1] * gz[i]) * g[0], t1 = (jx[0] * gz[i] - jz[0] * gx[i]) * g[0];
    gx[i] = jz[1] * t0 - jz[0] * t1;
    gz[i] = jx[0] * t1 - jx[1] * t0;
  }
}

/* Row (s, j) of points; the polynomials of the plane s, value and slope in the slow direction, [m + 1][m + 1][3]
 * (2D: [m + 1][2]). */
TESI_INLINE void LINE(row_weights)(int dim, int q, int m, const TesiMappedHost *plan, const V *value,
                                   const V *slope, const V *g, int j, V *gx, V *gy, V *gz) {
  const Real *at = plan->points_1d;
  if (dim == 2) {
    LINE(row_weights_2d)(q, m, plan->entries, at, value, slope, g, gx, gz);
    return;
  }
  V x[9], y[9], z[9];
  LINE(reduce)(m, 3 * (m + 1), at[j], value, x, y);
  LINE(reduce)(m, 3 * (m + 1), at[j], slope, z, NULL);
  LINE(row_weights_3d)(q, m, plan->entries, at, x, y, z, g, gx, gy, gz);
}

TESI_INLINE void LINE(row_stored)(int dim, int q, int entries, const V *g, V *gx, V *gy, V *gz) {
  LINE_UNROLL for (int i = 0; i < q; i++, g += entries) {
    if (dim == 3) {
      flux_3d(g, gx[i], gy[i], gz[i], &gx[i], &gy[i], &gz[i]);
    } else {
      const V x = gx[i], z = gz[i];
      gx[i] = g[0] * x + g[1] * z;
      gz[i] = g[1] * x + g[2] * z;
    }
  }
}

TESI_INLINE void LINE(row_affine)(int dim, int q, const V *G, const Real *w, Real row_weight, V *gx, V *gy,
                                  V *gz) {
  LINE_UNROLL for (int i = 0; i < q; i++) {
    const Real weight = row_weight * w[i];
    if (dim == 3) {
      flux_3d(G, weight * gx[i], weight * gy[i], weight * gz[i], &gx[i], &gy[i], &gz[i]);
    } else {
      const V x = weight * gx[i], z = weight * gz[i];
      gx[i] = G[0] * x + G[1] * z;
      gz[i] = G[1] * x + G[2] * z;
    }
  }
}

/* One point of a pair. w: the point's weight times the row's weight; or w / D is at `weight`. */
TESI_INLINE void LINE(point_flux)(V d, V w, const V *weight, V alpha, V beta, V x, V y, V z, V *gx, V *gy,
                                  V *gz) {
  if (weight)
    eliminated_flux(alpha, beta, x, y, z, *weight * d * d, *weight, gx, gy, gz);
  else
    eliminated_flux(alpha, beta, x, y, z, w * d, w / d, gx, gy, gz);
}

/* Points i and q - 1 - i at once: the even part of their polynomials is the same. at: points less 1/2 and their
 * squares, [2][q].
 * weights: as in point_flux, one every `step`; NULL: none. */
TESI_INLINE void LINE(row_eliminated)(int q, const EliminatedRow *row, const Real *at, const Real *w,
                                      Real row_weight, const V *weights, int step, V *gx, V *gy, V *gz) {
  const V scale = row_weight - (V){0};
  LINE_UNROLL for (int i = 0; i < q / 2; i++) {
    const int k = q - 1 - i;
    const Real t = at[i], twice = 2 * t, square = at[q + i];
    const V x = row->x[0] + square * row->x[2], y = row->y[0] + square * row->y[2];
    const V z = row->z[0] + square * row->z[2], d = row->d[0] + square * row->d[2];
    const V weight = scale * w[i];
    LINE(point_flux)
    (d + t * row->d[1], weight, weights ? weights + i * step : NULL, row->alpha[0] + t * row->alpha[1],
     row->beta[0] + t * row->beta[1], x + twice * row->x[1], y + t * row->y[1], z + twice * row->z[1], gx + i,
     gy + i, gz + i);
    LINE(point_flux)
    (d - t * row->d[1], weight, weights ? weights + k * step : NULL, row->alpha[0] - t * row->alpha[1],
     row->beta[0] - t * row->beta[1], x - twice * row->x[1], y - t * row->y[1], z - twice * row->z[1], gx + k,
     gy + k, gz + k);
  }
  if (q % 2) {
    const int i = q / 2;
    LINE(point_flux)
    (row->d[0], scale * w[i], weights ? weights + i * step : NULL, row->alpha[0], row->beta[0], row->x[0],
     row->y[0], row->z[0], gx + i, gy + i, gz + i);
  }
}

TESI_INLINE void LINE(row_vertices_2d)(int q, const V *jx, const V *jz, const Real *w, Real row_weight, V *gx,
                                       V *gz) {
  LINE_UNROLL for (int i = 0; i < q; i++) {
    const V *z = jz + 2 * i;
    const V scale = row_weight * w[i] / (jx[0] * z[1] - jx[1] * z[0]);
    const V t0 = (z[1] * gx[i] - jx[1] * gz[i]) * scale, t1 = (jx[0] * gz[i] - z[0] * gx[i]) * scale;
    gx[i] = z[1] * t0 - z[0] * t1;
    gz[i] = jx[0] * t1 - jx[1] * t0;
  }
}
