/* The bodies of separable_kernels.h, included by it twice: for literal degrees (UNROLL unrolls wholly, small arrays are
 * registers) and for a degree known at run time. BODY(name) names them. */

/* Sums and differences of mirrored values; the middle value counts as a sum. */
TESI_INLINE void BODY(split)(int n, const V *u, V *e, V *o) {
  UNROLL for (int j = 0; j < n / 2; j++) {
    e[j] = u[j] + u[n - 1 - j];
    o[j] = u[j] - u[n - 1 - j];
  }
  if (n % 2) e[n / 2] = u[n / 2];
}

/* (W l)' u from the half of u with the parity of P_k. */
TESI_INLINE V BODY(dot_rank)(int k, const Real *dot, const V *e, const V *o) {
  const V *half = k % 2 ? o : e;
  V sum = dot[0] * half[0];
  UNROLL for (int j = 1; j < (k + 2) / 2; j++) sum += dot[j] * half[j];
  return sum;
}

/* The same if no other half is needed. */
TESI_INLINE V BODY(dot_rank_only)(int k, const Real *dot, const V *u) {
  V sum = k % 2 ? dot[0] * (u[0] - u[k]) : dot[0] * (u[0] + u[k]);
  UNROLL for (int j = 1; j < (k + 1) / 2; j++) sum += dot[j] * (k % 2 ? u[j] - u[k - j] : u[j] + u[k - j]);
  if (k % 2 == 0) sum += dot[k / 2] * u[k / 2];
  return sum;
}

/* u + rank * d */
TESI_INLINE void BODY(add_rank)(int k, const Real *rank, V d, const V *u, V *out) {
  const V mirrored = k % 2 ? -d : d;
  UNROLL for (int j = 0; j < (k + 1) / 2; j++) {
    out[j] = u[j] + rank[j] * d;
    out[k - j] = u[k - j] + rank[j] * mirrored;
  }
  if (k % 2 == 0) out[k / 2] = u[k / 2] + rank[k / 2] * d;
}

/* out = stiffness u, plus rank * d when with_rank. Constants are in the null space of the stiffness: the even half
 * acts on differences from the innermost sum, so that cancellation costs no digits for smooth u. The last column, the
 * sums of the rows, is the reaction term. */
TESI_INLINE void BODY(stiffness)(int k, const Real *even, const Real *odd, V *e, const V *o, bool reaction,
                                 bool with_rank, const Real *rank, V d, V *out) {
  const int n = k + 1, E = (n + 1) / 2, O = n / 2;
  const V inner = e[E - 1];
  V twice = inner;
  if (n % 2) twice += inner;
  UNROLL for (int j = 0; j < E - 1; j++) e[j] -= twice;
  UNROLL for (int i = 0; i < E; i++) {
    V sum = {0};
    if (reaction) sum = even[i * E + E - 1] * inner;
    UNROLL for (int j = 0; j < E - 1; j++) sum += even[i * E + j] * e[j];
    if (with_rank && k % 2 == 0) sum += rank[i] * d;
    out[i] = sum;
  }
  UNROLL for (int i = 0; i < O; i++) {
    V difference = odd[i * O] * o[0];
    UNROLL for (int j = 1; j < O; j++) difference += odd[i * O + j] * o[j];
    if (with_rank && k % 2 != 0) difference += rank[i] * d;
    out[n - 1 - i] = out[i] - difference;
    out[i] += difference;
  }
}

#define RECORD(k, record)                                                                                    \
  const int n = (k) + 1, E = (n + 1) / 2, O = n / 2;                                                         \
  const Real rho = record[0], *even = record + 1, *odd = even + E * E, *weight = odd + O * O,                \
             *rank = weight + E;

TESI_INLINE void BODY(x_cells)(int k, int cells, const Real *record, ptrdiff_t stride, const Real *dot,
                               const V *u, V *t, V *s, V carry[2]) {
  V carry_t = carry[0], carry_s = carry[1];
  for (int c = 0; c < cells; c++, record += stride, u += k, t += k, s += k) {
    RECORD(k, record)
    V e[N], o[N], mass[N], stiff[N];
    BODY(split)(n, u, e, o);
    BODY(add_rank)(k, rank, BODY(dot_rank)(k, dot, e, o), u, mass);
    BODY(stiffness)(k, even, odd, e, o, true, false, NULL, carry_t, stiff);
    t[0] = mass[0] + rho * carry_t;
    s[0] = stiff[0] + rho * carry_s;
    UNROLL for (int i = 1; i < k; i++) t[i] = mass[i], s[i] = stiff[i];
    carry_t = mass[k], carry_s = stiff[k];
    (void)weight;
  }
  carry[0] = carry_t, carry[1] = carry_s;
}

TESI_INLINE void BODY(y_cell)(int k, const Real *record, const Real *dot, int vectors, const Real *t,
                              const Real *s, ptrdiff_t pitch, Real *U, Real *W, ptrdiff_t out_pitch,
                              Real *carry_U, Real *carry_W) {
  RECORD(k, record)
  (void)weight;
  for (int v = 0; v < vectors * LANES; v += LANES) {
    V a[N], b[N], e[N], o[N], mass[N], stiff[N];
    UNROLL for (int i = 0; i < n; i++) a[i] = *(const V *)&t[i * pitch + v];
    UNROLL for (int i = 0; i < n; i++) b[i] = *(const V *)&s[i * pitch + v];
    BODY(split)(n, a, e, o);
    BODY(add_rank)(k, rank, BODY(dot_rank)(k, dot, e, o), a, mass);
    BODY(stiffness)(k, even, odd, e, o, false, true, rank, BODY(dot_rank_only)(k, dot, b), stiff);
    *(V *)&U[v] = mass[0] + rho * *(V *)&carry_U[v];
    *(V *)&W[v] = stiff[0] + b[0] + rho * *(V *)&carry_W[v];
    UNROLL for (int i = 1; i < k; i++) {
      *(V *)&U[i * out_pitch + v] = mass[i];
      *(V *)&W[i * out_pitch + v] = stiff[i] + b[i];
    }
    *(V *)&carry_U[v] = mass[k];
    *(V *)&carry_W[v] = stiff[k] + b[k];
  }
}

TESI_INLINE void BODY(last_cell)(int k, const Real *record, const Real *dot, int vectors, const Real *U,
                                 const Real *W, ptrdiff_t pitch, Real *out, ptrdiff_t out_pitch, Real *carry,
                                 const Real *scale, Real scale_row) {
  RECORD(k, record)
  (void)rho;
  for (int v = 0; v < vectors * LANES; v += LANES) {
    V a[N], b[N], e[N], o[N], stiff[N];
    UNROLL for (int i = 0; i < n; i++) a[i] = *(const V *)&U[i * pitch + v];
    UNROLL for (int i = 0; i < n; i++) b[i] = *(const V *)&W[i * pitch + v];
    BODY(split)(n, a, e, o);
    BODY(stiffness)(k, even, odd, e, o, false, true, rank, BODY(dot_rank_only)(k, dot, b), stiff);
    const V p = load(&scale[v]) * scale_row;
    store(&out[v], p * (stiff[0] + weight[0] * b[0] + *(V *)&carry[v]));
    UNROLL for (int i = 1; i < k; i++) {
      const int half = i < n - 1 - i ? i : n - 1 - i;
      store(&out[i * out_pitch + v], p * (stiff[i] + weight[half] * b[i]));
    }
    *(V *)&carry[v] = stiff[k] + weight[0] * b[k];
  }
}
#undef RECORD
