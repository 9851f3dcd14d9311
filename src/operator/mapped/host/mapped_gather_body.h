/* Nodes of a batch into vectors u[node], and back. Included after tensor/simd_real.h and quadrature_rows.h.
 * JOIN(n): whether rows of n nodes are literal, for the rows that lanes share. */

#if TESI_SIMD_BITS == 512 && defined(__AVX512F__)
#include <immintrin.h>
#endif

/* The first node of a joined row; the number is negative where the row is stored, not added. */
TESI_INLINE int64_t mapped_first(int32_t number) {
  return number < 0 ? ~number : number;
}

/* All bits set in the lanes whose bit is set. */
TESI_INLINE LaneMask mapped_lanes(unsigned bits) {
  LaneMask lane;
  for (int l = 0; l < LANES; l++) lane[l] = 1 << l;
  return (((LaneMask){0} + (int)bits) & lane) == lane;
}

/* v in the lanes whose bit is set, 0 in others (whatever they hold, NaN too). */
TESI_INLINE V mapped_keep(V v, unsigned bits) {
#if TESI_SIMD_BITS == 512 && defined(__AVX512F__) && !defined(TESI_REAL_SINGLE)
  return (V)_mm512_maskz_mov_pd((__mmask8)bits, (__m512d)v);
#elif TESI_SIMD_BITS == 512 && defined(__AVX512F__)
  return (V)_mm512_maskz_mov_ps((__mmask16)bits, (__m512)v);
#else
  return (V)((LaneMask)v & mapped_lanes(bits));
#endif
}

TESI_INLINE V mapped_gather(const Real *x, const int32_t *index) {
#if TESI_SIMD_BITS == 512 && defined(__AVX512F__) && !defined(TESI_REAL_SINGLE)
  return (V)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)index), x, 8);
#elif TESI_SIMD_BITS == 512 && defined(__AVX512F__)
  return (V)_mm512_i32gather_ps(_mm512_loadu_si512(index), x, 4);
#else
  V v;
  for (int l = 0; l < LANES; l++) v[l] = x[index[l]];
  return v;
#endif
}

TESI_INLINE void mapped_scatter(V v, const int32_t *index, Real *y) {
  Real values[LANES];
  store(values, v);
  TESI_UNROLL for (int l = 0; l < LANES; l++) y[index[l]] += values[l];
}

/* One number per node and lane. Several components: their values follow one another at each node. */
static void mapped_gather_any(const TesiMappedHost *plan, const int32_t *index, int component, const Real *x,
                              V *u) {
  const int C = plan->components;
  for (int64_t p = 0; p < plan->nodes; p++, index += LANES) {
    if (C == 1) {
      u[p] = mapped_gather(x, index);
      continue;
    }
    Real values[LANES];
    for (int l = 0; l < LANES; l++) values[l] = x[(int64_t)index[l] * C + component];
    u[p] = load(values);
  }
}

static void mapped_scatter_any(const TesiMappedHost *plan, const int32_t *index, int component, const V *u,
                               Real *y) {
  const int C = plan->components;
  for (int64_t p = 0; p < plan->nodes; p++, index += LANES) {
    if (C == 1) {
      mapped_scatter(u[p], index, y);
      continue;
    }
    Real values[LANES];
    store(values, u[p]);
    for (int l = 0; l < LANES; l++) y[(int64_t)index[l] * C + component] += values[l];
  }
}

/* The first `few` < RUN numbers of each lane are added at y + at[lane]. */
TESI_INLINE void mapped_scatter_few(int few, const int32_t *at, const V *u, Real *y) {
  typedef Real Two __attribute__((vector_size(2 * sizeof(Real)), may_alias, aligned(sizeof(Real))));
  Real runs[LANES * RUN];
  V c[RUN] = {0};
  TESI_UNROLL for (int i = 0; i < few; i++) c[i] = u[i];
  store_runs(RUN, NULL, c, runs);
  TESI_UNROLL for (int l = 0; l < LANES; l++) {
    Real *to = y + at[l];
    const Real *from = runs + l * RUN;
    if (few >= 2) *(Two *)to += *(const Two *)from;
    if (few % 2) to[few - 1] += from[few - 1];
  }
}

/* One number per entity, whose nodes follow one another. A run shorter than one load is read beyond its end;
 * mapped_batches.c makes sure that so many nodes follow it. */
static void mapped_gather_entities(const TesiMappedHost *plan, const int32_t *index, const Real *x, V *u) {
  const int16_t *begin = plan->entity, *node = begin + plan->patterns + 1;
  for (int p = 0; p < plan->patterns; p++, index += LANES) {
    const int size = begin[p + 1] - begin[p];
    const int16_t *to = node + begin[p];
    for (int s = 0; s < size; s += RUN) {
      const int t = tesi_max(tesi_min(s, size - RUN), 0);
      V c[RUN];
      if (size - s == 1) {
        u[to[s]] = mapped_gather(x + s, index);
        continue;
      }
      load_runs(0, index, x + t, c);
      TESI_UNROLL for (int i = 0; i < RUN; i++) if (i < size) u[to[t + i]] = c[i];
    }
  }
}

/* Runs do not overlap: a load across two recent stores would wait until both reach the cache. */
static void mapped_scatter_entities(const TesiMappedHost *plan, const int32_t *index, const V *u, Real *y) {
  const int16_t *begin = plan->entity, *node = begin + plan->patterns + 1;
  for (int p = 0; p < plan->patterns; p++, index += LANES) {
    const int16_t *from = node + begin[p];
    int left = begin[p + 1] - begin[p];
    Real *to = y;
    V c[4];
    for (; left >= RUN; left -= RUN, from += RUN, to += RUN) {
      load_runs(0, index, to, c);
      TESI_UNROLL for (int i = 0; i < RUN; i++) c[i] += u[from[i]];
      store_runs(0, index, c, to);
    }
    if (left == 1) mapped_scatter(u[*from], index, to);
    if (RUN == 2 || left < 2) continue;
    c[0] = u[from[0]], c[1] = u[from[1]], c[2] = u[from[left - 1]];
    if (left == 2)
      mapped_scatter_few(2, index, c, to);
    else
      mapped_scatter_few(3, index, c, to);
  }
}

/* A joined row, number by number. from: old values, NULL: 0; the first node's are in y. */
static void mapped_scatter_row(int n, const Real *from, const V *u, Real *to) {
  Real sums[TESI_MAPPED_POINTS * LANES + 1] = {0};
  const int length = (n - 1) * LANES + 1;
  for (int i = 0; i < n; i++)
    for (int l = 0; l < LANES; l++) sums[l * (n - 1) + i] += u[i][l];
  to[0] += sums[0];
  for (int i = 1; i < length; i++) to[i] = (from ? from[i] : 0) + sums[i];
}

/* Element vectors: each lane has its nodes in a row, `distance` from lane to lane; `count` lanes have a cell. */
static void mapped_gather_element(const TesiMappedHost *plan, int count, const Real *x, V *u) {
  const int nodes = (int)plan->nodes, distance = nodes * plan->components;
  if (count == LANES) {
    for (int s = 0; s < nodes; s += RUN)
      load_runs(distance, NULL, x + tesi_min(s, nodes - RUN), u + tesi_min(s, nodes - RUN));
    return;
  }
  for (int p = 0; p < nodes; p++) {
    Real values[LANES] = {0};
    for (int l = 0; l < count; l++) values[l] = x[l * distance + p];
    u[p] = load(values);
  }
}

/* y <- b + sign u, b NULL: 0 */
static void mapped_scatter_element(const TesiMappedHost *plan, int count, Real sign, const Real *b, V *u,
                                   Real *y) {
  const int nodes = (int)plan->nodes, distance = nodes * plan->components;
  for (int s = 0; s < nodes; s += RUN) {
    const int t = s, few = tesi_min(RUN, nodes - s);
    for (int l = 0; (count < LANES || few < RUN) && l < count; l++)
      for (int i = 0; i < few; i++)
        y[l * distance + t + i] = (b ? b[l * distance + t + i] : 0) + sign * u[t + i][l];
    if (count < LANES || few < RUN) continue;
    V c[RUN];
    if (b) load_runs(distance, NULL, b + t, c);
    TESI_UNROLL for (int i = 0; i < RUN; i++) c[i] = (b ? c[i] : (V){0}) + sign * u[t + i];
    store_runs(distance, NULL, c, y + t);
  }
}
