#include "krylov/floor.h"
#include <float.h>
#include <math.h>
#include "base/random.h"
#include "parallel/comm.h"

/* Number of iterations in which the residual should fall, by this factor; and the relative change of x that counts as
 * none. */
enum { PATIENCE = 4 };
static const double FALLS = 0.7, MOVES = 1e-4, FOLLOWS = 0.3;

void tesi_floor_begin(TesiFloor *f) {
  tesi_floor_end(f);
  *f = (TesiFloor){.best = INFINITY};
}

void tesi_floor_end(TesiFloor *f) {
  tes_vector_destroy(&f->x);
}

bool tesi_floor_stalls(TesiFloor *f, int iteration, double residual) {
  if (residual <= FALLS * f->best) f->best = residual, f->best_at = iteration;
  return iteration - f->best_at >= PATIENCE;
}

void tesi_floor_groups(const TesSpace *space, TesiFloorSystem *system) {
  const bool flow = space && space->element->with_pressure;
  system->groups = 0;
  if (!flow && !(space && space->product)) return;
  for (int p = 0; p <= space->parts; p++)
    if (!flow || p == 0 || p >= space->parts - 1) system->first[system->groups++] = space->part_first[p];
  system->groups--;
}

static TesStatus new_like(const TesVector *b, TesVector **v) {
  return b->layout ? tesi_vector_create_on(b->layout, TES_DOUBLE, v)
                   : tes_vector_create(b->context, b->length, TES_DOUBLE, v);
}

/* +1 or -1 */
static double sign_of(int64_t n) {
  return tesi_random_mix(((uint64_t)n + 1) * 0x9e3779b97f4a7c15u) >> 63 ? 1 : -1;
}

/* z <- x with random signs, the same in all copies of an entry. y: workspace. */
static TesStatus change_signs(const TesVector *x, TesVector *y, TesVector *z) {
  TesContext *ctx = x->context;
  TesStatus status = TES_OK;
  const TesiLayout *layout = x->layout;
  double *sign = NULL, *number = NULL;
  TES_ALLOC(&sign, x->length);
  const bool shared = layout && tesi_ranks(ctx) > 1;
  if (shared) TES_TRY(tesi_layout_numbers(layout, &number));
  for (int64_t i = 0; i < x->length; i++) sign[i] = sign_of(shared ? (int64_t)number[i] : i);
  TES_TRY(tes_vector_set(y, sign));
  TES_TRY(tesi_device_multiply(ctx, TES_DOUBLE, x->length, 1, x->data, y->data, z->data));
done:
  tesi_free(ctx, &sign);
  tesi_free(ctx, &number);
  return status;
}

static TesVector group_of(const TesiFloorSystem *s, const TesVector *v, int g) {
  TesVector range = s->groups > 1 ? tesi_vector_range(v, s->first[g], s->first[g + 1] - s->first[g]) : *v;
  range.borrow = true;
  return range;
}

/* Whether the floor is reached; *below: in all groups. y, z: workspace. */
static TesStatus measure(TesiFloor *f, const TesiFloorSystem *s, const TesVector *x, TesVector *y,
                         TesVector *z, bool *below) {
  TesContext *ctx = x->context;
  TesStatus status = TES_OK;
  double r[TESI_FLOOR_GROUPS], reached = 0, allowed = 0;
  const int groups = tesi_max(s->groups, 1);
  TES_TRY(s->residual(s->user, x, y));
  for (int g = 0; g < groups; g++) {
    const TesVector of_y = group_of(s, y, g);
    TES_TRY(tes_vector_norm(&of_y, &r[g]));
  }
  TES_TRY(change_signs(x, y, z));
  TES_TRY(s->residual(s->user, z, y)); /* b - A (s x): not below |A (s x)| by more than |b| */
  *below = true;
  for (int g = 0; g < groups; g++) {
    const TesVector of_y = group_of(s, y, g), of_b = group_of(s, s->b, g);
    double changed, b;
    TES_TRY(tes_vector_norm(&of_y, &changed));
    TES_TRY(tes_vector_norm(&of_b, &b));
    const double rounding = DBL_EPSILON * (changed + b);
    *below = *below && r[g] <= TESI_FLOOR_ROUNDINGS * rounding;
    reached = hypot(reached, r[g]), allowed = hypot(allowed, rounding);
  }
  f->reached = reached, f->allowed = allowed;
done:
  return status;
}

TesStatus tesi_floor_below(const TesiFloorSystem *system, const TesVector *x, bool *below) {
  TesContext *ctx = x->context;
  TesStatus status = TES_OK;
  TesiFloor floor = {0};
  TesVector *y = NULL, *z = NULL;
  TES_TRY(new_like(x, &y));
  TES_TRY(new_like(x, &z));
  TES_TRY(measure(&floor, system, x, y, z, below));
done:
  tes_vector_destroy(&y);
  tes_vector_destroy(&z);
  return status;
}

/* Whether x has not moved, group by group. z: workspace. */
static TesStatus is_at_rest(const TesiFloor *f, const TesiFloorSystem *s, const TesVector *x, TesVector *z,
                            bool *rests) {
  TesContext *ctx = x->context;
  TesStatus status = TES_OK;
  *rests = true;
  TES_TRY(tes_vector_copy(x, 1, z));
  TES_TRY(tes_vector_axpy(-1, f->x, z));
  for (int g = 0; g < tesi_max(s->groups, 1); g++) {
    const TesVector of_z = group_of(s, z, g), of_x = group_of(s, x, g);
    double way, size;
    TES_TRY(tes_vector_norm(&of_z, &way));
    TES_TRY(tes_vector_norm(&of_x, &size));
    *rests = *rests && way <= MOVES * size;
  }
done:
  return status;
}

/* Stores x as the reference for later looks. */
static TesStatus remember(TesiFloor *f, const TesVector *x, int iteration) {
  TesContext *ctx = x->context;
  TesStatus status = TES_OK;
  if (!f->x) TES_TRY(new_like(x, &f->x));
  TES_TRY(tes_vector_copy(x, 1, f->x));
  f->since = iteration;
  f->before = f->reached;
done:
  return status;
}

static TesStatus judge(TesiFloor *f, const TesiFloorSystem *s, const TesVector *x, int iteration,
                       double claimed, bool last, TesVector *z, TesiFloorState *state) {
  TesContext *ctx = x->context;
  TesStatus status = TES_OK;
  bool rests = false;
  *state = TESI_FLOOR_WATCHED;
  if (last && claimed <= FOLLOWS * f->reached) {
    *state = TESI_FLOOR_REACHED; /* only the recurrence went on falling */
    goto done;
  }
  const bool falls = !f->x || f->reached < FALLS * f->before,
             soon = !falls && iteration - f->since < (last ? 1 : PATIENCE);
  if (!falls && !soon) TES_TRY(is_at_rest(f, s, x, z, &rests));
  if (rests)
    *state = TESI_FLOOR_REACHED;
  else if (!soon)
    TES_TRY(remember(f, x, iteration));
done:
  return status;
}

TesStatus tesi_floor_look(TesiFloor *f, const TesiFloorSystem *s, const TesVector *x, int iteration,
                          double claimed, bool last, TesiFloorState *state) {
  TesContext *ctx = x->context;
  TesStatus status = TES_OK;
  TesVector *y = NULL, *z = NULL;
  bool below;
  *state = TESI_FLOOR_ABOVE;
  if (iteration < f->next && !last) return TES_OK;
  TES_TRY(new_like(x, &y));
  TES_TRY(new_like(x, &z));
  TES_TRY(measure(f, s, x, y, z, &below));
  f->next = iteration + (below ? PATIENCE : tesi_max(PATIENCE, iteration / PATIENCE));
  if (below)
    TES_TRY(judge(f, s, x, iteration, claimed, last, z, state));
  else
    tes_vector_destroy(&f->x);
done:
  tes_vector_destroy(&y);
  tes_vector_destroy(&z);
  return status;
}
