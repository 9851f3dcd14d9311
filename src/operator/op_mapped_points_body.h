/* The work at quadrature points, a row in x at a time: gradients to fluxes, by the kind of factors. Included like
 * op_mapped_lines_body.h. On entry gx, gy, gz are reference derivatives of the row; on return they are fluxes. */

#ifndef MAPPED_SECOND
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
#endif

TESI_INLINE void LINE(row_stored)(int dim, int q, int entries, const V *g, V *gx, V *gy, V *gz) {
  LINE_UNROLL for (int i = 0; i < q; i++, g += entries) {
    LINE_UNROLL for (int e = 0; e < dim * (dim + 1) / 2; e++) __builtin_prefetch(g + PREFETCH + e, 0, 2);
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

/* Jacobian columns jx (of the row), jy[i][3], jz[i][3]. With the cofactors a = jy x jz, b = jz x jx, c = jx x jy, which are |J| times
 * the rows of J^-1: t = (a gx + b gy + c gz) w / |J|, fluxes a.t, b.t, c.t. That is less work than the six entries of G. */
TESI_INLINE void LINE(row_vertices_3d)(int q, const V *jx, const V *jy, const V *jz, const Real *w,
                                       Real row_weight, V *gx, V *gy, V *gz) {
  const V x[3] = {jx[0], jx[1], jx[2]};
  LINE_UNROLL for (int i = 0; i < q; i++) {
    V a[3], b[3], c[3], t[3];
    cross(jy + 3 * i, jz + 3 * i, a);
    cross(jz + 3 * i, x, b);
    cross(x, jy + 3 * i, c);
    const V scale = row_weight * w[i] / dot3(x, a);
    TESI_UNROLL for (int r = 0; r < 3; r++) t[r] = (a[r] * gx[i] + b[r] * gy[i] + c[r] * gz[i]) * scale;
    gx[i] = dot3(a, t), gy[i] = dot3(b, t), gz[i] = dot3(c, t);
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
