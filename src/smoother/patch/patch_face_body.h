/* Values on the interfaces of slabs and blocks, and their contributions to the inside: mass and stiffness in x and y,
 * in H, where they cost O(1) per value: bubbles h (g_j + q_j (g_left +- g_right)), vertices the same from the other
 * side, a/h with lambda and p instead.
 *
 * Included with PATCH_DEGREE. */

/* M g and (K + c M) g of cells c .. c + LANES. Contributions to vertices are stored in work->left and right (M), left2,
 * right2 (K). */
TESI_INLINE void face_chunk(const TesiPatchPlan *plan, const FaceRow *g, int c, LineWork *work, Real *mass,
                            Real *stiffness) {
  const int k = DEGREE(plan), B = k - 1, E = k / 2;
  const TesiPatchRow *at = &plan->row;
  const V h = load((const Real *)plan->width + c), a = load((const Real *)plan->conductance + c);
  const V even = load_face_values(g, at->even + c / 2), odd = load_face_values(g, at->odd + c / 2);
  const V left = weave(load_face_values(g, at->even + c / 2 - 1), odd), right = weave(odd, even);
  const V sum = left + right, difference = left - right;
  const Real *lambda = plan->lambda, *p = plan->p, *q = plan->q, reaction = (Real)plan->c;
  const Real m0 = (Real)plan->cell.mass[0], m1 = (Real)plan->cell.mass[1];
  const Real k0 = (Real)plan->cell.stiffness[0], k1 = (Real)plan->cell.stiffness[1];
  V m_even = {0}, m_odd = {0}, k_even = {0}, k_odd = {0};
  UNROLL for (int j = 0; j < B; j++) {
    const int place = at->bubbles + j * at->stride + c;
    const V b = load_face_values(g, place), ends = j < E ? sum : difference;
    const V m = h * (b + q[j] * ends), s = a * (lambda[j] * b + p[j] * ends) + reaction * m;
    if (j < E)
      m_even += q[j] * b, k_even += p[j] * b;
    else
      m_odd += q[j] * b, k_odd += p[j] * b;
    if (plan->cells - c < LANES) {
      store_part(mass + place, m, plan->cells - c);
      store_part(stiffness + place, s, plan->cells - c);
    } else {
      store(mass + place, m);
      store(stiffness + place, s);
    }
  }
  const V ml = h * (m0 * left + m1 * right + (m_even + m_odd)),
          mr = h * (m1 * left + m0 * right + (m_even - m_odd));
  store(work->left + c, ml), store(work->right + c, mr);
  store(work->left2 + c, a * (k0 * left + k1 * right + (k_even + k_odd)) + reaction * ml);
  store(work->right2 + c, a * (k1 * left + k0 * right + (k_even - k_odd)) + reaction * mr);
}

/* mass <- M g, stiffness <- (K + c M) g, end terms of K included. */
static void face_rows(const TesiPatchPlan *plan, const FaceRow *g, LineWork *work, Real *mass,
                      Real *stiffness) {
  const TesiPatchRow *at = &plan->row;
  for (int c = 0; c < plan->cells; c += LANES) face_chunk(plan, g, c, work, mass, stiffness);
  gather_face_vertices(plan, work->left, work->right, mass);
  gather_face_vertices(plan, work->left2, work->right2, stiffness);
  const int first = at->even - 1;
  const int last = plan->cells % 2 ? at->odd + plan->cells / 2 : at->even + plan->cells / 2 - 1;
  stiffness[first] += (Real)plan->alpha[0] * (g->upper[first] + g->weight * g->lower[first]);
  stiffness[last] += (Real)plan->alpha[1] * (g->upper[last] + g->weight * g->lower[last]);
}

static void face_row(const TesiPatchPlan *plan, const Real *g, LineWork *work, Real *mass, Real *stiffness) {
  const FaceRow row = {g, g, 0};
  face_rows(plan, &row, work, mass, stiffness);
}

/* One cell of the middle direction: from mass[k + 1] = Mx g and stiffness[k + 1] = Kx g on its rows (lower vertex,
 * bubbles, upper vertex), G = My Mx g and H = (Ky Mx + My Kx) g on the lower vertex and bubbles; the contribution of
 * the cell below to the lower vertex is in `carry`, which then gets the contribution to the upper vertex. */
static void face_cell(const TesiPatchPlan *plan, Real h, Real a, const Real *mass, const Real *stiffness,
                      Real *G, Real *H, Real *carry) {
  const int k = DEGREE(plan), B = k - 1, E = k / 2, pitch = plan->row.pitch;
  const Real *lambda = plan->lambda, *p = plan->p, *q = plan->q;
  const Real m0 = (Real)plan->cell.mass[0], m1 = (Real)plan->cell.mass[1];
  const Real k0 = (Real)plan->cell.stiffness[0], k1 = (Real)plan->cell.stiffness[1];
  for (int c = plan->row.begin; c < plan->row.end; c += LANES) {
    const V ml = load(mass + c), mr = load(mass + k * pitch + c), sl = load(stiffness + c),
            sr = load(stiffness + k * pitch + c);
    V m_even = {0}, m_odd = {0}, s_even = {0}, s_odd = {0}, p_even = {0}, p_odd = {0};
    UNROLL for (int j = 0; j < B; j++) {
      const V m = load(mass + (1 + j) * pitch + c), s = load(stiffness + (1 + j) * pitch + c);
      const V m_ends = j < E ? ml + mr : ml - mr, s_ends = j < E ? sl + sr : sl - sr;
      store(G + (1 + j) * pitch + c, h * (m + q[j] * m_ends));
      store(H + (1 + j) * pitch + c, h * (s + q[j] * s_ends) + a * (lambda[j] * m + p[j] * m_ends));
      if (j < E)
        m_even += q[j] * m, s_even += q[j] * s, p_even += p[j] * m;
      else
        m_odd += q[j] * m, s_odd += q[j] * s, p_odd += p[j] * m;
    }
    store(G + c, load(carry + c) + h * (m0 * ml + m1 * mr + m_even + m_odd));
    store(carry + c, h * (m1 * ml + m0 * mr + m_even - m_odd));
    store(H + c, load(carry + pitch + c) + h * (m0 * sl + m1 * sr + s_even + s_odd) +
                     a * (k0 * ml + k1 * mr + p_even + p_odd));
    store(carry + pitch + c,
          h * (m1 * sl + m0 * sr + s_even - s_odd) + a * (k1 * ml + k0 * mr + p_even - p_odd));
  }
}

/* Transforms the bubble rows b of one cell and one outer mode from nodes to modes, and subtracts stiffness G + mass H
 * of up to two interfaces from vertex row and bubbles. */
static void couple_cell(const TesiPatchPlan *plan, int faces, const Real *stiffness, const Real *mass,
                        const Real *const *G, const Real *const *H, Real *vertex, Real *bubbles) {
  const int k = DEGREE(plan), B = k - 1, pitch = plan->row.pitch;
  for (int c = plan->row.begin; c < plan->row.end; c += LANES) {
    V u[DEGREE_MAX], m[DEGREE_MAX], v = load(vertex + c);
    UNROLL for (int i = 0; i < B; i++) u[i] = load(bubbles + i * pitch + c);
    cell_to_modes(k, plan->dual, u, m);
    for (int f = 0; f < faces; f++) {
      const Real s = stiffness[f], t = mass[f];
      const Real *g = G[f] + c, *h = H[f] + c;
      v -= s * load(g) + t * load(h);
      UNROLL for (int j = 0; j < B; j++) m[j] -= s * load(g + (1 + j) * pitch) + t * load(h + (1 + j) * pitch);
    }
    store(vertex + c, v);
    UNROLL for (int j = 0; j < B; j++) store(bubbles + j * pitch + c, m[j]);
  }
}
