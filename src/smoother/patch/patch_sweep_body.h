/* The nested vertex-patch sweep of one precision and one SIMD width; see docs/decisions/0005-nested-patch-sweep.md
 * and patch_plan.h.
 * Included once by patch_double_simd.c and patch_float_simd.c. */
#include "base/team.h"
#include "smoother/patch/patch_work.h"

/* Each degree has its own names of kernels: load_line_1, ... load_line_10, load_line_0. */
#define DEGREE_NAME(name) TESI_PASTE(name, PATCH_DEGREE)
#define cell_to_modes DEGREE_NAME(cell_to_modes)
#define cell_to_nodes DEGREE_NAME(cell_to_nodes)
#define load_cells DEGREE_NAME(load_cells)
#define store_cells DEGREE_NAME(store_cells)
#define chunk_to_row DEGREE_NAME(chunk_to_row)
#define line_to_row DEGREE_NAME(line_to_row)
#define chunk_to_line DEGREE_NAME(chunk_to_line)
#define row_to_line DEGREE_NAME(row_to_line)
#define line_to_vertices DEGREE_NAME(line_to_vertices)
#define cell_coefficients DEGREE_NAME(cell_coefficients)
#define condense_end DEGREE_NAME(condense_end)
#define update_end DEGREE_NAME(update_end)
#define expand_end DEGREE_NAME(expand_end)
#define smooth_line_end DEGREE_NAME(smooth_line_end)
#define fill_coefficients DEGREE_NAME(fill_coefficients)
#define fill_graded DEGREE_NAME(fill_graded)
#define condense DEGREE_NAME(condense)
#define gather_vertices DEGREE_NAME(gather_vertices)
#define update_odd DEGREE_NAME(update_odd)
#define update_even DEGREE_NAME(update_even)
#define expand DEGREE_NAME(expand)
#define smooth_line DEGREE_NAME(smooth_line)
#define smooth_lines DEGREE_NAME(smooth_lines)
#define face_chunk DEGREE_NAME(face_chunk)
#define face_rows DEGREE_NAME(face_rows)
#define face_row DEGREE_NAME(face_row)
#define face_cell DEGREE_NAME(face_cell)
#define couple_cell DEGREE_NAME(couple_cell)
#define multiply_rows DEGREE_NAME(multiply_rows)
#define subtract_coupling DEGREE_NAME(subtract_coupling)
#define nodes_to_modes_columns DEGREE_NAME(nodes_to_modes_columns)
#define modes_to_nodes_columns DEGREE_NAME(modes_to_nodes_columns)
#define nodes_to_modes_symmetric DEGREE_NAME(nodes_to_modes_symmetric)
#define modes_to_nodes_symmetric DEGREE_NAME(modes_to_nodes_symmetric)
#define outer_forward DEGREE_NAME(outer_forward)
#define outer_inverse DEGREE_NAME(outer_inverse)
#define outer_back DEGREE_NAME(outer_back)
#define h_to_modes_columns DEGREE_NAME(h_to_modes_columns)
#define modes_to_h_columns DEGREE_NAME(modes_to_h_columns)
#define middle_forward DEGREE_NAME(middle_forward)
#define middle_inverse DEGREE_NAME(middle_inverse)
#define middle_back DEGREE_NAME(middle_back)
#define cell_rows_to_modes DEGREE_NAME(cell_rows_to_modes)
#define cell_rows_to_nodes DEGREE_NAME(cell_rows_to_nodes)
#define face_line DEGREE_NAME(face_line)
#define load_line DEGREE_NAME(load_line)
#define load_old DEGREE_NAME(load_old)
#define store_line DEGREE_NAME(store_line)
#define couple_2d DEGREE_NAME(couple_2d)
#define slab_2d DEGREE_NAME(slab_2d)
#define ring_row DEGREE_NAME(ring_row)
#define mode_rows DEGREE_NAME(mode_rows)
#define load_b DEGREE_NAME(load_b)
#define load_x DEGREE_NAME(load_x)
#define load_face_line DEGREE_NAME(load_face_line)
#define load_face DEGREE_NAME(load_face)
#define couple_slab DEGREE_NAME(couple_slab)
#define load_cell DEGREE_NAME(load_cell)
#define couple_symmetric DEGREE_NAME(couple_symmetric)
#define subtract_faces DEGREE_NAME(subtract_faces)
#define load_lines DEGREE_NAME(load_lines)
#define smooth_block DEGREE_NAME(smooth_block)
#define store_row DEGREE_NAME(store_row)
#define store_cell DEGREE_NAME(store_cell)
#define load_cells_to DEGREE_NAME(load_cells_to)
#define slab_3d DEGREE_NAME(slab_3d)

#define DEGREE(plan) ((void)(plan), PATCH_DEGREE)
#define DEGREE_MAX PATCH_DEGREE
#define UNROLL TESI_UNROLL
/* Vectors of columns processed together, as many as registers allow. */
#define WIDTH_MAX 2
#define NODE_WIDTH (TESI_SIMD_BITS == 512 && PATCH_DEGREE <= 5 ? 2 : 1)
#define H_WIDTH (TESI_SIMD_BITS == 512 ? 2 : 1)
#if TESI_DEGREES >= 1
#define PATCH_DEGREE 1
#include "smoother/patch/patch_degree_body.h"
#endif
#if TESI_DEGREES >= 2
#define PATCH_DEGREE 2
#include "smoother/patch/patch_degree_body.h"
#endif
#if TESI_DEGREES >= 3
#define PATCH_DEGREE 3
#include "smoother/patch/patch_degree_body.h"
#endif
#if TESI_DEGREES >= 4
#define PATCH_DEGREE 4
#include "smoother/patch/patch_degree_body.h"
#endif
#if TESI_DEGREES >= 5
#define PATCH_DEGREE 5
#include "smoother/patch/patch_degree_body.h"
#endif
#if TESI_DEGREES >= 6
#define PATCH_DEGREE 6
#include "smoother/patch/patch_degree_body.h"
#endif
#if TESI_DEGREES >= 7
#define PATCH_DEGREE 7
#include "smoother/patch/patch_degree_body.h"
#endif
#if TESI_DEGREES >= 8
#define PATCH_DEGREE 8
#include "smoother/patch/patch_degree_body.h"
#endif
#if TESI_DEGREES >= 9
#define PATCH_DEGREE 9
#include "smoother/patch/patch_degree_body.h"
#endif
#if TESI_DEGREES >= 10
#define PATCH_DEGREE 10
#include "smoother/patch/patch_degree_body.h"
#endif
#undef DEGREE
#undef DEGREE_MAX
#undef UNROLL
#undef NODE_WIDTH
#undef H_WIDTH
#define NODE_WIDTH 1
#define H_WIDTH 1
#define DEGREE(plan) ((plan)->degree)
#define DEGREE_MAX 20
#define UNROLL
#define PATCH_DEGREE 0
#include "smoother/patch/patch_degree_body.h"

/* ---- the sweep ----------------------------------------------------------------------------------------- */

static void run_slab(const Slab *slab) {
  const bool flat = slab->plan->dim == 2;
  switch (slab->plan->degree) {
#define CASE(k)                                                                                              \
  case k:                                                                                                    \
    flat ? slab_2d_##k(slab) : slab_3d_##k(slab);                                                            \
    break;
    TESI_EACH_DEGREE(CASE)
#undef CASE
  default:
    flat ? slab_2d_0(slab) : slab_3d_0(slab);
  }
}

typedef struct Sweep {
  const TesiPatchPlan *plan;
  const Real *b;
  Real *x;
  ptrdiff_t plane;
  TesSweep order;
  bool zero_guess;
} Sweep;

static bool in_first_colour(const Sweep *sweep, int p) {
  return sweep->plan->outer.interval[p].colour == (sweep->order == TES_BACKWARD);
}

static void smooth_slab(const Sweep *sweep, Work *work, int p) {
  const TesiPatchPlan *plan = sweep->plan;
  const TesiNestedAxis *outer = &plan->outer;
  const TesiPatchInterval *interval = &outer->interval[p];
  Slab slab = {.plan = plan,
               .work = work,
               .interval = interval,
               .kind = &outer->kind[outer->kind_of[p]],
               .b = sweep->b,
               .x = sweep->x,
               .plane = sweep->plane,
               .sweep = sweep->order};
  slab.zero = sweep->zero_guess && in_first_colour(sweep, p);
  if (!slab.zero && interval->first > (outer->natural[0] ? 0 : 1))
    slab.lower = sweep->x + (interval->first - 1) * sweep->plane;
  if (!slab.zero && interval->end < outer->nodes - (outer->natural[1] ? 0 : 1))
    slab.upper = sweep->x + interval->end * sweep->plane;
  slab.faces = slab.lower || slab.upper;
  slab.old_from = sweep->order == TES_FORWARD ? plan->row.begin : plan->row.odd;
  slab.old_to = sweep->order == TES_FORWARD ? plan->row.odd : plan->row.bubbles;
  run_slab(&slab);
}

/* A slab of the second colour may directly follow its neighbours if this thread sweeps both of them. */
static bool is_own(const TesiNestedAxis *outer, int p, int first, int last) {
  return (p == 0 || p > first) && (p == outer->count - 1 || p < last - 1);
}

/* Slabs first <= p < last: each slab of the second colour directly follows its upper neighbour, while the caches hold
 * both. */
static void smooth_range(const Sweep *sweep, Work *work, const TesiTeamMember *me, int first, int last) {
  const TesiNestedAxis *outer = &sweep->plan->outer;
  for (int p = first; p <= last; p++) {
    if (p < last && in_first_colour(sweep, p)) smooth_slab(sweep, work, p);
    if (p > first && !in_first_colour(sweep, p - 1) && is_own(outer, p - 1, first, last))
      smooth_slab(sweep, work, p - 1);
  }
  tesi_team_wait(me);
  for (int p = first; p < last; p++)
    if (!in_first_colour(sweep, p) && !is_own(outer, p, first, last)) smooth_slab(sweep, work, p);
}

/* One colour after the other, with slabs distributed in turn: for few slabs, whose ranges would be uneven. */
static void smooth_colours(const Sweep *sweep, Work *work, const TesiTeamMember *me) {
  for (int colour = 0; colour < 2; colour++) {
    if (colour > 0) tesi_team_wait(me);
    for (int p = 0, i = 0; p < sweep->plan->outer.count; p++)
      if (in_first_colour(sweep, p) == (colour == 0) && i++ % me->threads == me->thread)
        smooth_slab(sweep, work, p);
  }
}

/* Zeroes the planes that no slab of the first colour writes. */
static void clear_rest(const Sweep *sweep) {
  const TesiNestedAxis *outer = &sweep->plan->outer;
  int plane = 0;
  for (int p = 0; p <= outer->count; p++) {
    if (p < outer->count && !in_first_colour(sweep, p)) continue;
    const int end = p < outer->count ? outer->interval[p].first : outer->nodes;
    memset(sweep->x + plane * sweep->plane, 0, sizeof(Real) * (size_t)((end - plane) * sweep->plane));
    if (p < outer->count) plane = outer->interval[p].end;
  }
}

static void smooth_share(const void *data, const TesiTeamMember *me) {
  const Sweep *sweep = data;
  const int64_t count = sweep->plan->outer.count, t = me->thread, all = me->threads;
  Work work;
  place_work(sweep->plan, &(Arena){sweep->plan->work[t], 0}, &work);
  if (count <= 4 * all)
    smooth_colours(sweep, &work, me);
  else
    smooth_range(sweep, &work, me, (int)(count * t / all), (int)(count * (t + 1) / all));
}

static void smooth_all(const TesiPatchPlan *plan, const Real *b, Real *x, TesSweep order, bool zero_guess) {
  const Sweep sweep = {plan,  b,
                       x,     plan->dim == 2 ? plan->nodes : (ptrdiff_t)plan->nodes * plan->middle.nodes,
                       order, zero_guess};
  if (zero_guess) clear_rest(&sweep);
  tesi_team_run(plan->threads, smooth_share, &sweep);
}
