/* The bodies of transfer_box_kernels.h, included by it twice: for literal degrees (UNROLL unrolls wholly, small
 * arrays are registers) and for a degree known at run time. BODY(name) names them. Formulas: transfer_box_plan.h. */

TESI_INLINE void BODY(lift_mirrored)(int k, const Real *even, const V *u, V *w) {
  const int E = k / 2 + 1, O = (k + 1) / 2;
  const Real *odd = even + k * E;
  V e[N], o[N];
  UNROLL for (int j = 0; j < O; j++) {
    e[j] = u[j] + u[k - j];
    o[j] = u[j] - u[k - j];
  }
  if (k % 2 == 0) e[k / 2] = u[k / 2];
  UNROLL for (int f = 1; f < k; f++) {
    V a = even[(f - 1) * E] * e[0], b = odd[(f - 1) * O] * o[0];
    UNROLL for (int j = 1; j < E; j++) a += even[(f - 1) * E + j] * e[j];
    UNROLL for (int j = 1; j < O; j++) b += odd[(f - 1) * O + j] * o[j];
    w[f] = a + b;
    w[2 * k - f] = a - b;
  }
  w[k] = e[k / 2];
  if (k % 2) {
    w[k] = even[(k - 1) * E] * e[0];
    UNROLL for (int j = 1; j < E; j++) w[k] += even[(k - 1) * E + j] * e[j];
  }
}

/* u[0..k] -> w[0..step-1] */
TESI_INLINE void BODY(lift)(int k, TesiEmbeddingKind kind, const Real *table, const V *u, V *w) {
  w[0] = u[0];
  if (kind == TESI_IDENTITY)
    for (int i = 1; i < k; i++) w[i] = u[i];
  if (kind == TESI_MIRRORED) BODY(lift_mirrored)(k, table, u, w);
  if (kind == TESI_GENERAL || kind == TESI_THREE) {
    UNROLL for (int f = 1; f < tesi_transfer_step(kind, k); f++) {
      const Real *row = table + (f - 1) * (k + 1);
      V sum = row[0] * u[0];
      UNROLL for (int p = 1; p <= k; p++) sum += row[p] * u[p];
      w[f] = sum;
    }
  }
}

TESI_INLINE void BODY(lower_mirrored)(int k, const Real *even, const V *v, V *s) {
  const int E = k / 2 + 1, O = (k + 1) / 2;
  const Real *odd = even + k * E;
  V e[N], o[N];
  UNROLL for (int f = 1; f < k; f++) {
    e[f] = v[f] + v[2 * k - f];
    o[f] = v[f] - v[2 * k - f];
  }
  e[k] = v[k];
  UNROLL for (int p = 0; p < O; p++) {
    const int middle = k % 2 ? k : 1; /* what the sum begins with */
    V a = even[(middle - 1) * E + p] * e[middle], b = {0};
    UNROLL for (int f = k % 2 ? 1 : 2; f < k; f++) a += even[(f - 1) * E + p] * e[f];
    if (k > 1) b = odd[p] * o[1];
    UNROLL for (int f = 2; f < k; f++) b += odd[(f - 1) * O + p] * o[f];
    s[p] = a + b;
    s[k - p] = a - b;
  }
  if (k % 2 == 0) {
    V a = e[k];
    UNROLL for (int f = 1; f < k; f++) a += even[(f - 1) * E + k / 2] * e[f];
    s[k / 2] = a;
  }
}

/* v[1..step-1] -> s[0..k] */
TESI_INLINE void BODY(lower)(int k, TesiEmbeddingKind kind, const Real *table, const V *v, V *s) {
  s[0] = (V){0};
  if (kind == TESI_IDENTITY) {
    s[k] = (V){0};
    for (int i = 1; i < k; i++) s[i] = v[i];
  }
  if (kind == TESI_MIRRORED) BODY(lower_mirrored)(k, table, v, s);
  if (kind == TESI_GENERAL || kind == TESI_THREE) {
    UNROLL for (int p = 0; p <= k; p++) {
      V sum = table[p] * v[1];
      UNROLL for (int f = 2; f < tesi_transfer_step(kind, k); f++) sum += table[(f - 1) * (k + 1) + p] * v[f];
      s[p] = sum;
    }
  }
}

TESI_INLINE void BODY(lift_cells)(int k, TesiEmbeddingKind kind, int cells, const Real *table,
                                  ptrdiff_t stride, const V *u, V *w) {
  const int step = tesi_transfer_step(kind, k);
  for (int c = 0; c < cells; c++, table += stride, u += k, w += step) {
    V values[3 * N];
    BODY(lift)(k, kind, table, u, values);
    UNROLL for (int f = 0; f < step; f++) w[f] = values[f];
  }
  w[0] = u[0];
}

TESI_INLINE void BODY(lower_cells)(int k, TesiEmbeddingKind kind, int cells, const Real *table,
                                   ptrdiff_t stride, const V *v, V *s, V *carry) {
  const int step = tesi_transfer_step(kind, k);
  V left = *carry;
  for (int c = 0; c < cells; c++, table += stride, v += step, s += k) {
    V values[N];
    BODY(lower)(k, kind, table, v, values);
    s[0] = left + v[0] + values[0];
    UNROLL for (int p = 1; p < k; p++) s[p] = values[p];
    left = values[k];
  }
  s[0] = left + v[0];
  *carry = left;
}

TESI_INLINE void BODY(lift_rows)(int k, TesiEmbeddingKind kind, const Real *table, ptrdiff_t count,
                                 const Real *first, const Real *middle, ptrdiff_t pitch, const Real *last,
                                 Real *out, ptrdiff_t out_pitch, bool end, bool add) {
  const int step = tesi_transfer_step(kind, k);
  for (ptrdiff_t i = 0; i < count; i += LANES) {
    V u[N], w[3 * N];
    u[0] = load(first + i);
    UNROLL for (int p = 1; p < k; p++) u[p] = load(middle + (p - 1) * pitch + i);
    u[k] = load(last + i);
    BODY(lift)(k, kind, table, u, w);
    if (add) {
      UNROLL for (int f = 0; f < step; f++) {
        Real *to = out + f * out_pitch + i;
        store(to, load(to) + w[f]);
      }
    } else {
      UNROLL for (int f = 0; f < step; f++) store(out + f * out_pitch + i, w[f]);
    }
    if (end) {
      Real *to = out + step * out_pitch + i;
      if (add) u[k] += load(to);
      store(to, u[k]);
    }
  }
}

TESI_INLINE void BODY(lower_rows)(int k, TesiEmbeddingKind kind, const Real *table, ptrdiff_t count,
                                  const Real *from, ptrdiff_t pitch, bool end, Real *out, ptrdiff_t out_pitch,
                                  Real *carry) {
  const int step = tesi_transfer_step(kind, k);
  for (ptrdiff_t i = 0; i < count; i += LANES) {
    V v[3 * N], s[N];
    UNROLL for (int f = 0; f < step; f++) v[f] = load(from + f * pitch + i);
    BODY(lower)(k, kind, table, v, s);
    store(out + i, load(carry + i) + v[0] + s[0]);
    UNROLL for (int p = 1; p < k; p++) store(out + p * out_pitch + i, s[p]);
    if (end) s[k] += load(from + step * pitch + i);
    store(carry + i, s[k]);
  }
}
