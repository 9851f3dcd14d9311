/* One slab: an interval of the outer direction, all patches of its colour at once.
 * Included with PATCH_DEGREE. */

/* The values of a face on one line, or NULL where they are zero. */
static const Real *face_line(const TesiPatchPlan *plan, Work *work, const Real weight[2], const Real *lower,
                             const Real *upper) {
  if (weight[0] == 0) lower = NULL;
  if (weight[1] == 0) upper = NULL;
  if (!lower || (!upper && weight[0] == 1)) return lower ? lower : upper;
  for (int i = 0; i < plan->nodes; i++)
    work->values[i] = weight[0] * lower[i] + (upper ? weight[1] * upper[i] : 0);
  return work->values;
}

/* Nodes to modes of bubble rows and lines: m planes of one line of the slab. */
static void load_line(const Slab *slab, const Real *values, Real *const *modes) {
  const TesiPatchPlan *plan = slab->plan;
  Work *work = slab->work;
  for (int i = 0; i < slab->kind->m; i++)
    line_to_row(plan, plan->dual, values + i * slab->plane, work->plane[i]);
  outer_forward(plan, slab->kind, (const Real *const *)work->plane, modes, plan->row.begin, plan->row.end);
}

/* The old values of one line: the whole line, or only the vertices that the first colour in x reads. */
static void load_old(const Slab *slab, const Real *values, bool whole, Real *const *modes) {
  const TesiPatchPlan *plan = slab->plan;
  Work *work = slab->work;
  const int from = whole ? plan->row.begin : slab->old_from, to = whole ? plan->row.end : slab->old_to;
  if (!values) {
    for (int i = 0; i < slab->kind->m; i++) memset(modes[i] + from, 0, sizeof(Real) * (size_t)(to - from));
    return;
  }
  for (int i = 0; i < slab->kind->m; i++)
    if (whole)
      line_to_row(plan, plan->coefficients, values + i * slab->plane, work->plane[i]);
    else
      line_to_vertices(plan, slab->sweep == TES_BACKWARD, values + i * slab->plane, work->plane[i]);
  outer_inverse(plan, slab->kind, (const Real *const *)work->plane, modes, from, to);
}

static void store_line(const Slab *slab, Real *const *modes, Real *values) {
  const TesiPatchPlan *plan = slab->plan;
  outer_back(plan, slab->kind, (const Real *const *)modes, slab->work->plane);
  for (int i = 0; i < slab->kind->m; i++) row_to_line(plan, slab->work->plane[i], values + i * slab->plane);
}

/* ---- 2D: a slab has one row per mode ---------------------------------------------------------------------- */

static void couple_2d(const Slab *slab, Real *const *rows) {
  const TesiPatchPlan *plan = slab->plan;
  const TesiPatchKind *kind = slab->kind;
  Work *work = slab->work;
  for (int side = 0; side < 2; side++) {
    const int first = kind->symmetric && side ? kind->below + 1 : 0;
    const int count = kind->symmetric && !side ? kind->below + 1 : kind->m - first;
    const int table = kind->symmetric ? 0 : side;
    Real weight[2];
    face_weights(kind, side, weight);
    const Real *values = face_line(plan, work, weight, slab->lower, slab->upper);
    if (!values || count == 0) continue;
    line_to_row(plan, plan->coefficients, values, work->face);
    face_row(plan, work->face, &work->line, work->mass[0], work->stiffness[0]);
    subtract_coupling(count, (const Real *)kind->stiffness[table] + first,
                      (const Real *)kind->mass[table] + first, work->mass[0], work->stiffness[0],
                      rows + first, plan->row.begin, plan->row.end);
  }
}

static void slab_2d(const Slab *slab) {
  const TesiPatchPlan *plan = slab->plan;
  Work *work = slab->work;
  const ptrdiff_t first = slab->interval->first * slab->plane;
  load_line(slab, slab->b + first, work->line_row);
  couple_2d(slab, work->line_row);
  load_old(slab, slab->zero ? NULL : slab->x + first, false, work->old_row);
  smooth_lines(plan, slab->kind->m, 0, slab->kind->lambda, &work->line, slab->sweep, work->old, work->lines);
  store_line(slab, work->line_row, slab->x + first);
}

/* ---- 3D: cells of the middle direction stream through a ring of four ----------------------------------- */

/* Row y of mode 0, in work->b or work->x. */
static inline Real *ring_row(const Slab *slab, Real *base, int y) {
  const int k = DEGREE(slab->plan);
  return base + ((y / k & 3) * k + y % k) * slab->plan->row.pitch;
}

static void mode_rows(const Slab *slab, Real *base, int y, Real **rows) {
  Real *row = ring_row(slab, base, y);
  for (int i = 0; i < slab->kind->m; i++) rows[i] = row + i * slab->work->mode_stride;
}

static void load_b(const Slab *slab, int y) {
  Real *rows[2 * DEGREE_MAX];
  if (!is_middle_unknown(slab->plan, y)) return;
  mode_rows(slab, slab->work->b, y, rows);
  load_line(slab, slab->b + line_at(slab, y), rows);
}

/* Vertex rows that bound blocks of the first colour are needed completely. */
static void load_x(const Slab *slab, int y) {
  const int k = DEGREE(slab->plan);
  const bool unknown = is_middle_unknown(slab->plan, y), vertex = y % k == 0;
  const bool whole = vertex && (!unknown || (y / k + 1) % 2 != (slab->sweep == TES_BACKWARD));
  Real *rows[2 * DEGREE_MAX];
  mode_rows(slab, slab->work->x, y, rows);
  load_old(slab, slab->zero || !unknown ? NULL : slab->x + line_at(slab, y), whole, rows);
}

/* Mx g, Kx g of the line y of one face, at place r of its cell. */
static void load_face_line(const Slab *slab, int side, int y, Real *row) {
  const TesiPatchPlan *plan = slab->plan;
  const ptrdiff_t offset = (ptrdiff_t)y * plan->nodes;
  Real weight[2];
  face_weights(slab->kind, side, weight);
  const Real *values = face_line(plan, slab->work, weight, slab->lower ? slab->lower + offset : NULL,
                                 slab->upper ? slab->upper + offset : NULL);
  if (values && is_middle_unknown(plan, y))
    line_to_row(plan, plan->coefficients, values, row);
  else
    memset(row, 0, sizeof(Real) * (size_t)plan->row.pitch);
}

/* G and H of one face on cell y of the middle direction: rows lower vertex, bubbles; upper vertex in the carry. */
static void load_face(const Slab *slab, int side, int cell) {
  const TesiPatchPlan *plan = slab->plan;
  const int k = DEGREE(plan), pitch = plan->row.pitch;
  Work *work = slab->work;
  Real *mass = work->mass[side], *stiffness = work->stiffness[side], *face = work->face;
  if (cell == 0) {
    load_face_line(slab, side, 0, face);
    face_row(plan, face, &work->line, mass, stiffness);
    memset(work->carry[side], 0, sizeof(Real) * (size_t)(2 * pitch));
    for (int i = 0; i < pitch; i++) work->carry[side][pitch + i] = (Real)plan->middle.alpha[0] * mass[i];
  } else {
    memcpy(mass, mass + k * pitch, sizeof *mass * (size_t)pitch);
    memcpy(stiffness, stiffness + k * pitch, sizeof *mass * (size_t)pitch);
  }
  for (int r = 1; r <= k; r++) load_face_line(slab, side, cell * k + r, face + r * pitch);
  cell_rows_to_modes(plan, plan->coefficients, face + pitch, plan->row.begin, plan->row.end);
  for (int r = 1; r <= k; r++)
    face_row(plan, face + r * pitch, &work->line, mass + r * pitch, stiffness + r * pitch);
  face_cell(plan, ((const Real *)plan->middle.h)[cell], ((const Real *)plan->middle.k)[cell], mass, stiffness,
            work->G[side], work->H[side], work->carry[side]);
  if (cell == plan->middle.cells - 1)
    for (int i = 0; i < pitch; i++)
      work->carry[side][pitch + i] += (Real)plan->middle.alpha[1] * mass[k * pitch + i];
}

static void couple_slab(const Slab *slab, int cell) {
  const TesiPatchPlan *plan = slab->plan;
  const int k = DEGREE(plan), pitch = plan->row.pitch;
  Work *work = slab->work;
  Real *rows = ring_row(slab, work->b, cell * k);
  Real *top = ring_row(slab, work->b, (cell + 1) * k);
  const bool with_top = cell == plan->middle.cells - 1 && plan->middle.natural[1];
  const int sides = slab->kind->symmetric && k == 1 ? 1 : 2; /* only one mode, which is even */
  for (int side = 0; side < sides && slab->faces; side++) load_face(slab, side, cell);
  for (int mode = 0; mode < slab->kind->m; mode++) {
    int side[2];
    Real stiffness[2], mass[2];
    const int faces = slab->faces ? select_faces(slab->kind, mode, side, stiffness, mass) : 0;
    const Real *G[2], *H[2];
    for (int f = 0; f < faces; f++) G[f] = work->G[side[f]], H[f] = work->H[side[f]];
    Real *vertex = rows + mode * work->mode_stride;
    couple_cell(plan, faces, stiffness, mass, G, H, vertex, vertex + pitch);
    for (int f = 0; f < faces && with_top; f++) {
      Real *top_row = top + mode * work->mode_stride;
      subtract_coupling(1, stiffness + f, mass + f, work->carry[side[f]], work->carry[side[f]] + pitch,
                        &top_row, plan->row.begin, plan->row.end);
    }
  }
}

static void load_cell(const Slab *slab, int cell) {
  const TesiPatchPlan *plan = slab->plan;
  const int k = DEGREE(plan);
  Work *work = slab->work;
  for (int r = 0; r < k; r++) load_b(slab, cell * k + r);
  if (cell == plan->middle.cells - 1) load_b(slab, (cell + 1) * k);
  couple_slab(slab, cell);
  for (int r = cell ? 1 : 0; r <= k; r++) load_x(slab, cell * k + r);
  Real *bubbles = ring_row(slab, work->x, cell * k) + plan->row.pitch;
  for (int mode = 0; mode < slab->kind->m && k > 1; mode++)
    cell_rows_to_modes(plan, plan->coefficients, bubbles + mode * work->mode_stride, slab->old_from,
                       slab->old_to);
}

/* The coupling of a symmetric block. Since H = (K + lambda M) g in x, M g is multiplied by stiffness + lambda mass, and
 * K g by mass. */
static void couple_symmetric(const Slab *slab, const TesiPatchKind *kind, Real lambda,
                             const BlockFaces *faces, Coupling *coupling) {
  const Real *stiffness = kind->stiffness[0], *mass = kind->mass[0];
  Work *work = slab->work;
  for (int side = 0; side < 2; side++) {
    const FaceRow row = {faces->lower, faces->upper, side ? -1 : 1};
    coupling->G[side] = work->block_mass[side], coupling->H[side] = work->block_stiffness[side];
    if (side == 0 || kind->below > 0)
      face_rows(slab->plan, &row, &work->line, work->block_mass[side], work->block_stiffness[side]);
  }
  for (int j = 0; j < kind->m; j++)
    coupling->stiffness[j] = stiffness[j] + lambda * mass[j], coupling->mass[j] = mass[j];
}

/* The same for other kinds, after their transform. */
static void subtract_faces(const Slab *slab, const TesiPatchKind *kind, Real lambda, const BlockFaces *faces) {
  const TesiPatchPlan *plan = slab->plan;
  Work *work = slab->work;
  for (int side = 0; side < 2; side++) {
    const Real *row = side ? faces->upper : faces->lower;
    const Real *stiffness = kind->stiffness[side], *mass = kind->mass[side];
    Real shifted[2 * DEGREE_MAX];
    if (!row) continue;
    face_row(plan, row, &work->line, work->block_mass[0], work->block_stiffness[0]);
    for (int j = 0; j < kind->m; j++) shifted[j] = stiffness[j] + lambda * mass[j];
    subtract_coupling(kind->m, shifted, mass, work->block_mass[0], work->block_stiffness[0], work->line_row,
                      plan->row.begin, plan->row.end);
  }
}

/* Right-hand sides of the lines of one block and mode. zero: the faces are zero. */
static void load_lines(const Slab *slab, const TesiPatchInterval *interval, const TesiPatchKind *kind,
                       int mode, bool zero, const Real *const *b) {
  const TesiPatchPlan *plan = slab->plan;
  const Real lambda = ((const Real *)slab->kind->lambda)[mode];
  const ptrdiff_t offset = mode * slab->work->mode_stride;
  BlockFaces faces = {NULL, NULL};
  if (interval->first > 0 && !zero) faces.lower = ring_row(slab, slab->work->x, interval->first - 1) + offset;
  if (interval->end < plan->middle.nodes && !zero)
    faces.upper = ring_row(slab, slab->work->x, interval->end) + offset;
  if (kind->symmetric && !zero) {
    Coupling coupling;
    couple_symmetric(slab, kind, lambda, &faces, &coupling);
    middle_forward(plan, kind, &coupling, b, slab->work->line_row);
  } else {
    middle_forward(plan, kind, NULL, b, slab->work->line_row);
    subtract_faces(slab, kind, lambda, &faces);
  }
}

/* The patches of one colour in y in a block: both colours in x, for all modes of z. */
static void smooth_block(const Slab *slab, int p, bool zero) {
  const TesiPatchPlan *plan = slab->plan;
  const TesiPatchInterval *interval = &plan->middle.interval[p];
  const TesiPatchKind *kind = &plan->middle.kind[plan->middle.kind_of[p]];
  Work *work = slab->work;
  Real *b[2 * DEGREE_MAX], *x[2 * DEGREE_MAX];
  for (int i = 0; i < kind->m; i++) {
    b[i] = ring_row(slab, work->b, interval->first + i);
    x[i] = ring_row(slab, work->x, interval->first + i);
  }
  for (int mode = 0; mode < slab->kind->m; mode++) {
    load_lines(slab, interval, kind, mode, zero, (const Real *const *)b);
    middle_inverse(plan, kind, (const Real *const *)x, work->old_row, slab->old_from, slab->old_to);
    smooth_lines(plan, kind->m, ((const Real *)slab->kind->lambda)[mode], kind->lambda, &work->line,
                 slab->sweep, work->old, work->lines);
    middle_back(plan, kind, (const Real *const *)work->line_row, x);
    for (int i = 0; i < kind->m; i++) b[i] += work->mode_stride, x[i] += work->mode_stride;
  }
}

static void store_row(const Slab *slab, int y) {
  Real *rows[2 * DEGREE_MAX], *x = slab->x + line_at(slab, y);
  mode_rows(slab, slab->work->x, y, rows);
  if (is_middle_unknown(slab->plan, y)) {
    store_line(slab, rows, x);
    return;
  }
  for (int i = 0; i < slab->kind->m; i++)
    memset(x + i * slab->plane, 0, sizeof *x * (size_t)slab->plan->nodes);
}

static void store_cell(const Slab *slab, int cell) {
  const int k = DEGREE(slab->plan);
  Real *bubbles = ring_row(slab, slab->work->x, cell * k) + slab->plan->row.pitch;
  for (int mode = 0; mode < slab->kind->m; mode++)
    cell_rows_to_nodes(slab->plan, bubbles + mode * slab->work->mode_stride);
  for (int r = 0; r < k; r++) store_row(slab, cell * k + r);
  if (cell == slab->plan->middle.cells - 1) store_row(slab, (cell + 1) * k);
}

/* All cells below node `end`. */
static void load_cells_to(const Slab *slab, int end, int *loaded) {
  const int k = DEGREE(slab->plan), cells = slab->plan->middle.cells;
  for (; *loaded < cells && *loaded * k < end; ++*loaded) load_cell(slab, *loaded);
}

/* Smooths a block of the first colour as soon as its cells are loaded, a block of the second colour one block later,
 * and stores a cell when nothing will change it any more. At most four cells are in memory. */
static void slab_3d(const Slab *slab) {
  const TesiNestedAxis *middle = &slab->plan->middle;
  const int k = DEGREE(slab->plan), first = slab->sweep == TES_BACKWARD;
  int loaded = 0, stored = 0;
  for (int p = 0; p <= middle->count; p++) {
    if (p < middle->count && middle->interval[p].colour == first) {
      load_cells_to(slab, middle->interval[p].end, &loaded);
      smooth_block(slab, p, slab->zero);
    }
    if (p == 0 || middle->interval[p - 1].colour == first) continue;
    load_cells_to(slab, middle->interval[p - 1].end, &loaded);
    smooth_block(slab, p - 1, false);
    const int done = p < middle->count ? (middle->interval[p].first + k - 1) / k : middle->cells;
    for (; stored < done; stored++) store_cell(slab, stored);
  }
  for (; stored < middle->cells; stored++) store_cell(slab, stored);
}
