/* The V-cycle on the host. A smoothing step reads one vector and writes another; then both are exchanged.
 * Within a cycle matrices have float32 values: half of the memory traffic of a solve. Their rounding changes a cycle,
 * in the norm of energy, by 6e-8 times the root of the condition. Residuals between cycles need the float64 values: a
 * cycle would amplify their rounding by the condition itself. */
#include "base/team.h"
#include "multigrid/coarse/aggregation/hierarchy.h"

typedef struct First {
  const TesiAggregationLevel *level;
  const double *b;
} First;

/* The first step from zero. */
static void first_span(const void *data, TesiSpan span) {
  const TesiAggregationLevel *level = ((const First *)data)->level;
  const double *b = ((const First *)data)->b;
  for (int64_t i = span.first; i < span.end; i++)
    level->x[i] = level->p[i] = level->s[0] * level->inverse[i] * b[i];
}

/* Steps from `first` on; *x is the place of the iterate, before and after; *y is the other place. */
static void smooth(const TesContext *ctx, const TesiAggregationLevel *level, int first, const double *b,
                   double **x, double **y) {
  for (int k = first; k < TESI_AGGREGATION_STEPS; k++) {
    double *const from = *x;
    tesi_block_run(ctx, &(TesiBlockTask){.way = TESI_BLOCK_STEP,
                                         .rounded = true,
                                         .A = &level->A,
                                         .x = from,
                                         .b = b,
                                         .d = level->inverse,
                                         .s = level->s[k],
                                         .c = level->c[k],
                                         .p = level->p,
                                         .y = *y});
    *x = *y, *y = from;
  }
}

typedef struct Dense {
  int64_t n;
  const double *inverse, *b;
  double *x;
} Dense;

static void dense_span(const void *data, TesiSpan span) {
  enum { LANES = 8 };
  const Dense *d = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const double *row = d->inverse + i * d->n;
    double lane[LANES] = {0}, sum = 0;
    int64_t j = 0;
    for (; j + LANES <= d->n; j += LANES)
      for (int l = 0; l < LANES; l++) lane[l] += row[j + l] * d->b[j + l];
    for (int l = 0; l < LANES; l++) sum += lane[l];
    for (; j < d->n; j++) sum += row[j] * d->b[j];
    d->x[i] = sum;
  }
}

static const double *solve(const TesiHierarchy *h, int l, const double *b);

/* Returns the place of the level's x. */
static const double *cycle(const TesiHierarchy *h, int l, const double *b) {
  const TesContext *ctx = h->context;
  const TesiAggregationLevel *level = &h->level[l], *below = level + 1;
  double *x = level->x, *y = level->y;
  if (l + 1 == h->levels) {
    tesi_team_for(tesi_team_threads(ctx, level->length * level->length), level->length, dense_span,
                  &(Dense){level->length, h->inverse, b, x});
    return x;
  }
  tesi_team_for(tesi_team_threads(ctx, level->length), level->length, first_span, &(First){level, b});
  smooth(ctx, level, 1, b, &x, &y);
  tesi_block_run(
      ctx,
      &(TesiBlockTask){.way = TESI_BLOCK_RESIDUAL, .rounded = true, .A = &level->A, .x = x, .b = b, .y = y});
  tesi_block_run(ctx, &(TesiBlockTask){
                          .way = TESI_BLOCK_MULTIPLY, .rounded = true, .A = &level->R, .x = y, .y = below->b});
  const double *correction = solve(h, l + 1, below->b);
  tesi_block_run(
      ctx, &(TesiBlockTask){.way = TESI_BLOCK_ADD, .rounded = true, .A = &level->P, .x = correction, .y = x});
  smooth(ctx, level, 0, b, &x, &y);
  return x;
}

typedef struct Advance {
  const TesiAggregationLevel *level;
  int k;
  const double *z;
} Advance;

static void advance_span(const void *data, TesiSpan span) {
  const Advance *a = data;
  const TesiAggregationLevel *level = a->level;
  const double gain = level->gain[a->k], keep = level->keep[a->k];
  for (int64_t i = span.first; i < span.end; i++) {
    level->q[i] = (a->k ? keep * level->q[i] : 0) + gain * a->z[i];
    level->sum[i] = (a->k ? level->sum[i] : 0) + level->q[i];
  }
}

static const double *solve(const TesiHierarchy *h, int l, const double *b) {
  const TesContext *ctx = h->context;
  const TesiAggregationLevel *level = &h->level[l];
  if (level->cycles == 1) return cycle(h, l, b);
  for (int k = 0; k < level->cycles; k++) {
    if (k)
      tesi_block_run(ctx,
                     &(TesiBlockTask){
                         .way = TESI_BLOCK_RESIDUAL, .A = &level->A, .x = level->sum, .b = b, .y = level->r});
    const double *z = cycle(h, l, k ? level->r : b);
    tesi_team_for(tesi_team_threads(ctx, level->length), level->length, advance_span, &(Advance){level, k, z});
  }
  return level->sum;
}

typedef struct Copy {
  const double *from;
  double *to;
} Copy;

static void copy_span(const void *data, TesiSpan span) {
  const Copy *c = data;
  for (int64_t i = span.first; i < span.end; i++) c->to[i] = c->from[i];
}

static void copy(const TesiHierarchy *h, const double *from, double *x) {
  const int64_t n = h->level[0].length;
  tesi_team_for(tesi_team_threads(h->context, n), n, copy_span, &(Copy){from, x});
}

void tesi_hierarchy_cycle(const TesiHierarchy *h, const double *b, double *x) {
  copy(h, cycle(h, 0, b), x);
}

void tesi_hierarchy_solve(const TesiHierarchy *h, const double *b, double *x) {
  copy(h, solve(h, 0, b), x);
}
