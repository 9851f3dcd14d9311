/* Lines in x, both colours at once: (K + mu M) v = b smoothed by patches around odd, then even vertices (or reversed).
 * A patch solve is exact, and a bubble gets its final value in the last patch that covers it. So the bubbles are
 * eliminated first. Point Gauss-Seidel on the vertices remains, and the bubbles follow from the final vertex values. In
 * H, for a cell of width h and nu = (c + mu) h^2 / a:
 *   w_j = (p_j + nu q_j) / (lambda_j + nu),   d_j = h/a / (lambda_j + nu),
 *   f_left -= sum w_j b_j,  f_right -= sum +-w_j b_j,
 *   t_00 = a/h (1 + nu (1/3 - sum r_j nu / (lambda_j + nu))),
 *   t_01 = a/h (-1 + nu (1/6 - sum +-r_j nu / (lambda_j + nu))),
 *   v_j = d_j b_j - w_j (v_left +- v_right)
 * with + for even and - for odd bubbles; 1, -1, 1/3, 1/6 are stiffness and mass of the linear vertex functions,
 * which have the same Schur complement and no cancellation.
 * Included with PATCH_DEGREE. */

/* Cells of one width, lines innermost: w[B], d[B] to out[2 B][stride]; t_00 and t_01. */
TESI_INLINE void cell_coefficients(const TesiPatchPlan *plan, V nu, Real conductance, int stride, Real *out,
                                   V *same, V *other) {
  const int k = DEGREE(plan), B = k - 1, E = k / 2;
  const Real *lam = plan->lambda, *p = plan->p, *q = plan->q, *r = plan->r;
  V even = {0}, odd = {0};
  UNROLL for (int j = 0; j < B; j++) {
    const V inverse = 1 / (lam[j] + nu);
    store(out + j * stride, (p[j] + nu * q[j]) * inverse);
    store(out + (B + j) * stride, inverse / conductance);
    if (j < E)
      even += r[j] * inverse;
    else
      odd += r[j] * inverse;
  }
  *same = conductance * (1 + nu * ((Real)(1.0 / 3) - nu * (even + odd)));
  *other = conductance * (nu * ((Real)(1.0 / 6) - nu * (even - odd)) - 1);
}

/* Equal cells: out[2 B + 4][stride]. For lines i < count with mu = outer + lambda[i]: w[B], d[B], then t_01, 1 / t
 * inside, at vertex 0, at the last vertex. If the last cell differs, another block for this cell follows: w[B], d[B],
 * t_01,
 * 1 / t at its lower and its upper vertex. */
static void fill_coefficients(const TesiPatchPlan *plan, int count, Real outer, const Real *lambda,
                              int stride, Real *out) {
  const int B = DEGREE(plan) - 1;
  const Real conductance = (Real)(plan->a / plan->h), factor = (Real)(plan->h * plan->h / plan->a);
  const Real conductance_end = (Real)(plan->a / plan->h_end),
             factor_end = (Real)(plan->h_end * plan->h_end / plan->a);
  const Real reaction = (Real)plan->c, alpha0 = (Real)plan->alpha[0], alpha1 = (Real)plan->alpha[1];
  Real *const end = out + (2 * B + 4) * stride;
  for (int i = 0; i < count; i += LANES) {
    const V shift = reaction + outer + load(lambda + i);
    V same, other, same_end, other_end;
    cell_coefficients(plan, shift * factor, conductance, stride, out + i, &same, &other);
    store(out + 2 * B * stride + i, other);
    store(out + (2 * B + 1) * stride + i, 1 / (same + same));
    store(out + (2 * B + 2) * stride + i, 1 / (same + alpha0));
    store(out + (2 * B + 3) * stride + i, 1 / (same + alpha1));
    if (!plan->odd_end) continue;
    cell_coefficients(plan, shift * factor_end, conductance_end, stride, end + i, &same_end, &other_end);
    store(end + 2 * B * stride + i, other_end);
    store(end + (2 * B + 1) * stride + i, 1 / (same + same_end));
    store(end + (2 * B + 2) * stride + i, 1 / (same_end + alpha1));
  }
}

/* The same for one line of unequal cells, lane by lane; the diagonal inverted and zero at Dirichlet vertices. */
static void fill_graded(const TesiPatchPlan *plan, Real mu, LineTables *tables) {
  const int k = DEGREE(plan), B = k - 1, E = k / 2, cells = plan->cells, stride = tables->stride;
  const Real *lam = plan->lambda, *p = plan->p, *q = plan->q, *r = plan->r;
  const Real *width = plan->width, *conductance = plan->conductance;
  const Real shift = (Real)plan->c + mu;
  for (int c = 0; c < cells; c += LANES) {
    const V a = load(conductance + c), h = load(width + c);
    const Mask exists = lanes_below(cells - c);
    const V resistance = keep(1 / a, exists), nu = shift * h * resistance;
    V even = {0}, odd = {0};
    UNROLL for (int j = 0; j < B; j++) {
      const V inverse = 1 / (lam[j] + nu);
      store(tables->w + j * stride + c, (p[j] + nu * q[j]) * inverse);
      store(tables->d + j * stride + c, inverse * resistance);
      if (j < E)
        even += r[j] * inverse;
      else
        odd += r[j] * inverse;
    }
    store(tables->same + c, a * (1 + nu * ((Real)(1.0 / 3) - nu * (even + odd))));
    const V other = a * (nu * ((Real)(1.0 / 6) - nu * (even - odd)) - 1);
    store_split(other, tables->even_cells + c / 2, tables->odd_cells + c / 2);
  }
  const Real *same = tables->same, *mask_even = (const Real *)plan->mask + plan->row.even,
             *mask_odd = (const Real *)plan->mask + plan->row.odd;
  for (int v = 0; v <= cells; v++) {
    const Real diagonal =
        (v > 0 ? same[v - 1] : (Real)plan->alpha[0]) + (v < cells ? same[v] : (Real)plan->alpha[1]);
    if (v % 2)
      tables->inverse_odd[v / 2] = mask_odd[v / 2] / diagonal;
    else
      tables->inverse_even[v / 2 - 1] = mask_even[v / 2 - 1] / diagonal;
  }
}

/* Contributions of bubbles to the vertices of their cell: left[c] to vertex c, right[c] to vertex c + 1. */
TESI_INLINE void condense(const TesiPatchPlan *plan, const bool graded, const Real *line, const Real *w,
                          int stride, LineWork *work) {
  const int k = DEGREE(plan), B = k - 1, E = k / 2, cells = plan->cells;
  const TesiPatchRow *at = &plan->row;
  for (int c = 0; c < cells; c += LANES) {
    V even = {0}, odd = {0};
    UNROLL for (int j = 0; j < B; j++) {
      const V b = load(line + at->bubbles + j * at->stride + c);
      const V product = graded ? load(w + j * stride + c) * b : w[j * stride] * b;
      if (j < E)
        even += product;
      else
        odd += product;
    }
    V left = even + odd, right = even - odd;
    if (cells - c < LANES) {
      const Mask exists = lanes_below(cells - c);
      left = keep(left, exists), right = keep(right, exists);
    }
    store(work->left + c, left);
    store(work->right + c, right);
  }
}

/* The contributions of the bubbles of the last cell if it differs from the others. end: its block of the
 * coefficients. */
static void condense_end(const TesiPatchPlan *plan, const Real *line, const Real *end, int stride,
                         LineWork *work) {
  const int k = DEGREE(plan), B = k - 1, E = k / 2, last = plan->cells - 1;
  Real even = 0, odd = 0;
  for (int j = 0; j < B; j++) {
    const Real product = end[j * stride] * line[plan->row.bubbles + j * plan->row.stride + last];
    if (j < E)
      even += product;
    else
      odd += product;
  }
  work->left[last] = even + odd, work->right[last] = even - odd;
}

/* Gauss-Seidel at the vertices of the last cell with this parity; f of all vertices is in `work`, ordered as in a row.
 * values: at vertices of the other parity. */
static void update_end(const TesiPatchPlan *plan, int parity, const LineWork *work, const Real *equal,
                       const Real *end, int stride, const Real *values, Real *line) {
  const int B = DEGREE(plan) - 1, n = plan->cells;
  const TesiPatchRow *at = &plan->row;
  const int v = n % 2 == parity ? n : n - 1;
  const Real f = parity ? work->odd[v / 2] : work->even[v / 2 - 1], t = end[2 * B * stride],
             below = values[vertex_at(at, v - 1)];
  if (v == n - 1)
    line[vertex_at(at, v)] =
        (f - equal[2 * B * stride] * below - t * values[vertex_at(at, n)]) * end[(2 * B + 1) * stride];
  else if (plan->natural[1])
    line[vertex_at(at, v)] = (f - t * below) * end[(2 * B + 2) * stride];
}

/* f = b minus the contributions of the bubbles, at even and odd vertices. */
TESI_INLINE void gather_vertices(const TesiPatchPlan *plan, const Real *line, LineWork *work) {
  const TesiPatchRow *at = &plan->row;
  const int count = at->bubbles - at->odd;
  const bool bubbles = DEGREE(plan) > 1;
  for (int i = 0; i < count; i += LANES) {
    const Real *left = work->left + 2 * i + 1, *right = work->right + 2 * i;
    V sent[2] = {{0}, {0}};
    if (bubbles) {
      sent[0] = load(right) + load(left), sent[1] = load(right + LANES) + load(left + LANES);
      unzip_prime(2, sent);
    }
    store(work->odd + i, load(line + at->odd + i) - sent[0]);
    store(work->even + i, load(line + at->even + i) - sent[1]);
  }
  work->even[-1] = line[at->even - 1] - (bubbles ? work->left[0] : 0);
}

/* Gauss-Seidel at odd vertices, with the values at even vertices. */
TESI_INLINE void update_odd(const TesiPatchPlan *plan, const bool graded, const LineWork *work,
                            const LineTables *tables, const Real *end, int stride, const Real *even,
                            Real *line) {
  const TesiPatchRow *at = &plan->row;
  const Real *mask = (const Real *)plan->mask + at->odd;
  Real *odd = line + at->odd;
  for (int i = 0; i < at->bubbles - at->odd; i += LANES) {
    const V below = load(even + i - 1), above = load(even + i), f = load(work->odd + i);
    if (graded)
      store(odd + i, (f - load(tables->even_cells + i) * below - load(tables->odd_cells + i) * above) *
                         load(tables->inverse_odd + i));
    else
      store(odd + i, (f - end[0] * (below + above)) * (end[stride] * load(mask + i)));
  }
  const int last = plan->cells / 2;
  if (!graded && plan->cells % 2 && plan->natural[1])
    odd[last] = (work->odd[last] - end[0] * even[last - 1]) * end[3 * stride];
}

/* At even vertices, with the values at odd vertices. */
TESI_INLINE void update_even(const TesiPatchPlan *plan, const bool graded, const LineWork *work,
                             const LineTables *tables, const Real *end, int stride, const Real *odd,
                             Real *line) {
  const TesiPatchRow *at = &plan->row;
  const Real *mask = (const Real *)plan->mask + at->even;
  Real *even = line + at->even;
  for (int i = 0; i < at->odd - at->even; i += LANES) {
    const V below = load(odd + i), above = load(odd + i + 1), f = load(work->even + i);
    if (graded)
      store(even + i, (f - load(tables->odd_cells + i) * below - load(tables->even_cells + i + 1) * above) *
                          load(tables->inverse_even + i));
    else
      store(even + i, (f - end[0] * (below + above)) * (end[stride] * load(mask + i)));
  }
  const int last = plan->cells / 2 - 1;
  if (!graded && plan->cells % 2 == 0 && plan->natural[1])
    even[last] = (work->even[last] - end[0] * odd[last]) * end[3 * stride];
  if (plan->natural[0])
    even[-1] = graded ? (work->even[-1] - tables->even_cells[0] * odd[0]) * tables->inverse_even[-1]
                      : (work->even[-1] - end[0] * odd[0]) * end[2 * stride];
}

/* Bubbles, computed from the final vertex values. */
TESI_INLINE void expand(const TesiPatchPlan *plan, const bool graded, const Real *w, const Real *d,
                        int stride, Real *line) {
  const int k = DEGREE(plan), B = k - 1, E = k / 2, cells = plan->cells;
  const TesiPatchRow *at = &plan->row;
  for (int c = 0; c < cells; c += LANES) {
    const Real *even = line + at->even + c / 2, *odd = line + at->odd + c / 2;
    const V left = weave(load(even - 1), load(odd)), right = weave(load(odd), load(even));
    const V sum = left + right, difference = left - right;
    UNROLL for (int j = 0; j < B; j++) {
      Real *bubble = line + at->bubbles + j * at->stride + c;
      const V ends = j < E ? sum : difference, b = load(bubble);
      const V value = graded ? load(d + j * stride + c) * b - load(w + j * stride + c) * ends
                             : d[j * stride] * b - w[j * stride] * ends;
      if (cells - c < LANES)
        store_part(bubble, value, cells - c);
      else
        store(bubble, value);
    }
  }
}

/* Bubbles of a last cell that differs, from their right-hand sides and the final vertex values. */
static void expand_end(const TesiPatchPlan *plan, const Real *end, int stride, const Real *b, Real *line) {
  const int k = DEGREE(plan), B = k - 1, E = k / 2, n = plan->cells;
  const Real left = line[vertex_at(&plan->row, n - 1)], right = line[vertex_at(&plan->row, n)];
  for (int j = 0; j < B; j++)
    line[plan->row.bubbles + j * plan->row.stride + n - 1] =
        end[(B + j) * stride] * b[j] - end[j * stride] * (j < E ? left + right : left - right);
}

/* A line whose last cell differs: as smooth_line(), then the last cell again. */
static void smooth_line_end(const TesiPatchPlan *plan, const Real *coefficients, int stride, LineWork *work,
                            TesSweep sweep, const Real *old, Real *line) {
  const int B = DEGREE(plan) - 1;
  const Real *w = coefficients, *d = w + B * stride, *equal = w + 2 * B * stride,
             *end = w + (2 * B + 4) * stride;
  const TesiPatchRow *at = &plan->row;
  Real b[DEGREE_MAX];
  for (int j = 0; j < B; j++) b[j] = line[at->bubbles + j * at->stride + plan->cells - 1];
  if (B > 0) condense(plan, false, line, w, stride, work);
  condense_end(plan, line, end, stride, work);
  gather_vertices(plan, line, work);
  for (int i = 0; i < 2; i++) {
    const int parity = sweep == TES_FORWARD ? !i : i;
    const Real *values = i ? line : old;
    if (parity)
      update_odd(plan, false, work, &work->tables, equal, stride, values + at->even, line);
    else
      update_even(plan, false, work, &work->tables, equal, stride, values + at->odd, line);
    update_end(plan, parity, work, w, end, stride, values, line);
  }
  if (B > 0) expand(plan, false, w, d, stride, line);
  expand_end(plan, end, stride, b, line);
}

/* One line: b in, v out; old holds the vertices that the first colour reads. */
TESI_INLINE void smooth_line(const TesiPatchPlan *plan, const bool graded, const Real *coefficients,
                             int stride, LineWork *work, TesSweep sweep, const Real *old, Real *line) {
  const int B = DEGREE(plan) - 1;
  const LineTables *tables = &work->tables;
  const Real *w = graded ? tables->w : coefficients, *d = graded ? tables->d : coefficients + B * stride;
  const Real *end = coefficients + 2 * B * stride;
  const int step = graded ? tables->stride : stride;
  if (B > 0) condense(plan, graded, line, w, step, work);
  gather_vertices(plan, line, work);
  if (sweep == TES_FORWARD) {
    update_odd(plan, graded, work, tables, end, stride, old + plan->row.even, line);
    update_even(plan, graded, work, tables, end, stride, line + plan->row.odd, line);
  } else {
    update_even(plan, graded, work, tables, end, stride, old + plan->row.odd, line);
    update_odd(plan, graded, work, tables, end, stride, line + plan->row.even, line);
  }
  if (B > 0) expand(plan, graded, w, d, step, line);
}

/* lines[count][pitch] with mu = outer + lambda[i]. */
static void smooth_lines(const TesiPatchPlan *plan, int count, Real outer, const Real *lambda, LineWork *work,
                         TesSweep sweep, const Real *old, Real *lines) {
  const int pitch = plan->row.pitch, stride = work->coefficient_stride;
  if (!plan->graded) fill_coefficients(plan, count, outer, lambda, stride, work->coefficients);
  for (int i = 0; i < count; i++)
    if (plan->graded) {
      fill_graded(plan, outer + lambda[i], &work->tables);
      smooth_line(plan, true, work->coefficients, stride, work, sweep, old + i * pitch, lines + i * pitch);
    } else if (plan->odd_end) {
      smooth_line_end(plan, work->coefficients + i, stride, work, sweep, old + i * pitch, lines + i * pitch);
    } else {
      smooth_line(plan, false, work->coefficients + i, stride, work, sweep, old + i * pitch,
                  lines + i * pitch);
    }
}
