/* The nested vertex-patch sweep of one precision and one SIMD width; see docs/decisions/0002-nested-patch-sweep.md and patch_plan.h.
 * Included once by patch_double_simd.c and patch_float_simd.c. */
#include "smoother/patch_work.h"

#define DEGREE_NAME(name) TESI_PASTE(name, PATCH_DEGREE)

#define DEGREE(plan) ((void)(plan), PATCH_DEGREE)
#define DEGREE_MAX PATCH_DEGREE
#define UNROLL TESI_UNROLL
#define PATCH_DEGREE 1
#include "smoother/patch_degree_body.h"
#define PATCH_DEGREE 2
#include "smoother/patch_degree_body.h"
#define PATCH_DEGREE 3
#include "smoother/patch_degree_body.h"
#define PATCH_DEGREE 4
#include "smoother/patch_degree_body.h"
#define PATCH_DEGREE 5
#include "smoother/patch_degree_body.h"
#define PATCH_DEGREE 6
#include "smoother/patch_degree_body.h"
#define PATCH_DEGREE 7
#include "smoother/patch_degree_body.h"
#define PATCH_DEGREE 8
#include "smoother/patch_degree_body.h"
#define PATCH_DEGREE 9
#include "smoother/patch_degree_body.h"
#define PATCH_DEGREE 10
#include "smoother/patch_degree_body.h"
#undef DEGREE
#undef DEGREE_MAX
#undef UNROLL
#define DEGREE(plan) ((plan)->degree)
#define DEGREE_MAX 20
#define UNROLL
#define PATCH_DEGREE 0
#include "smoother/patch_degree_body.h"

/* ---- the sweep ---------------------------------------------------------------------------------------------------------------- */

static void run_slab(const Slab *slab) {
  const bool flat = slab->plan->dim == 2;
  switch (slab->plan->degree) {
#define CASE(k)                                                                                              \
  case k:                                                                                                    \
    flat ? slab_2d_##k(slab) : slab_3d_##k(slab);                                                            \
    break;
    CASE(1)
    CASE(2)
    CASE(3)
    CASE(4)
    CASE(5)
    CASE(6)
    CASE(7)
    CASE(8)
    CASE(9)
    CASE(10)
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
  const TesiPatchAxis *outer = &plan->outer;
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

/* Second-colour slab p may follow its neighbours at once when both are this thread's own. */
static bool is_own(const TesiPatchAxis *outer, int p, int first, int last) {
  return (p == 0 || p > first) && (p == outer->count - 1 || p < last - 1);
}

/* Slabs first <= p < last: each one of the second colour right behind its upper neighbour, while the caches hold both. */
static void smooth_range(const Sweep *sweep, Work *work, int first, int last) {
  const TesiPatchAxis *outer = &sweep->plan->outer;
  for (int p = first; p <= last; p++) {
    if (p < last && in_first_colour(sweep, p)) smooth_slab(sweep, work, p);
    if (p > first && !in_first_colour(sweep, p - 1) && is_own(outer, p - 1, first, last))
      smooth_slab(sweep, work, p - 1);
  }
#pragma omp barrier
  for (int p = first; p < last; p++)
    if (!in_first_colour(sweep, p) && !is_own(outer, p, first, last)) smooth_slab(sweep, work, p);
}

/* Zeroes the planes that no slab of the first colour writes. */
static void clear_rest(const Sweep *sweep) {
  const TesiPatchAxis *outer = &sweep->plan->outer;
  int plane = 0;
  for (int p = 0; p <= outer->count; p++) {
    if (p < outer->count && !in_first_colour(sweep, p)) continue;
    const int end = p < outer->count ? outer->interval[p].first : outer->nodes;
    memset(sweep->x + plane * sweep->plane, 0, sizeof(Real) * (size_t)((end - plane) * sweep->plane));
    if (p < outer->count) plane = outer->interval[p].end;
  }
}

static void smooth_all(const TesiPatchPlan *plan, const Real *b, Real *x, TesSweep order, bool zero_guess) {
  const Sweep sweep = {plan,  b,
                       x,     plan->dim == 2 ? plan->nodes : (ptrdiff_t)plan->nodes * plan->middle.nodes,
                       order, zero_guess};
  const int count = plan->outer.count, threads = plan->threads;
  if (zero_guess) clear_rest(&sweep);
#pragma omp parallel num_threads(threads)
  {
    Work work;
    const int all = omp_get_num_threads(), t = omp_get_thread_num();
    place_work(plan, &(Arena){plan->work[t], 0}, &work);
    smooth_range(&sweep, &work, (int)((int64_t)count * t / all), (int)((int64_t)count * (t + 1) / all));
  }
}
