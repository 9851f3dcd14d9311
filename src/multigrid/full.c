#include "multigrid/full.h"
#include "device/recorded.h"
#include "multigrid/coarse/coarse.h"
#include "operator/operator.h"
#include "transfer/transfer.h"

enum { MAX_LEVELS = TESI_MULTIGRID_LEVELS };

typedef struct Level {
  TesOperator *op;       /* levels 1 .. top - 1 */
  TesTransfer *transfer; /* the right-hand side, from the level below */
  TesVector *b, *x;      /* NULL on the finest level */
  TesVector *r;          /* set if the operator does not round a residual while it computes it, else NULL */
} Level;

struct TesiFull {
  TesContext *context;
  TesMultigrid *multigrid;
  int top, cycles;
  TesiCycleKind kind;
  Level level[MAX_LEVELS];
  /* The start, with its arguments. */
  const void *b, *below;
  void *x;
  double factor;
  TesiRecorded recorded;
};

static TesStatus create_level(TesiFull *full, int l) {
  TesContext *ctx = full->context;
  TesStatus status = TES_OK;
  Level *level = &full->level[l];
  const TesOperator *op = tes_multigrid_level(full->multigrid, l).op;
  const TesSpace *space = op->space;
  if (l > 0) TES_TRY(tesi_multigrid_transfer(full->multigrid, l, TES_DOUBLE, &level->transfer));
  if (l == full->top) return TES_OK;
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &level->b));
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &level->x));
  if (l > 0) {
    TES_TRY(tesi_operator_on(op, space, TES_DOUBLE, &level->op));
    if (level->op->table->correct_residual)
      TES_TRY(tesi_operator_reserve(level->op));
    else
      TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &level->r));
  }
done:
  return status;
}

/* The passes of float64 transfers use the workspace of correct_residual, which saves 7 bytes per unknown on devices. */
static TesStatus share_work(TesiFull *full, const TesOperator *finest) {
  TesStatus status = finest->table->correct_residual ? tesi_operator_reserve(finest) : TES_OK;
  for (int l = 1; l <= full->top && status == TES_OK; l++) {
    void *work = l == full->top ? finest->work : full->level[l].op->work;
    if (work) tesi_transfer_lend(full->level[l].transfer, work);
  }
  return status;
}

TesStatus tesi_full_create(TesMultigrid *multigrid, const TesOperator *op, int cycles, TesiCycleKind kind,
                           TesiFull **full) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiFull *f = NULL;
  *full = NULL;
  TES_NEW(&f);
  f->context = tesi_context_retain(ctx);
  f->multigrid = multigrid;
  f->cycles = cycles;
  f->kind = kind;
  f->top = tes_multigrid_levels(multigrid) - 1;
  for (int l = 0; l <= f->top; l++) TES_TRY(create_level(f, l));
  TES_TRY(share_work(f, op));
  *full = f;
  f = NULL;
done:
  tesi_full_destroy(&f);
  return status;
}

void tesi_full_destroy(TesiFull **full) {
  if (!full || !*full) return;
  TesiFull *f = *full;
  TesContext *ctx = f->context;
  *full = NULL;
  for (int l = 0; l < MAX_LEVELS; l++) {
    Level *level = &f->level[l];
    tes_operator_destroy(&level->op);
    tes_transfer_destroy(&level->transfer);
    tes_vector_destroy(&level->b);
    tes_vector_destroy(&level->x);
    tes_vector_destroy(&level->r);
  }
  tesi_recorded_release(ctx, &f->recorded);
  tesi_free(ctx, &f);
  tes_context_destroy(&ctx);
}

/* One cycle on level l, 0 < l < top, for the correction of x. */
static TesStatus improve(TesiFull *full, int l, const TesVector *b, double factor) {
  TesContext *ctx = full->context;
  TesStatus status = TES_OK;
  Level *level = &full->level[l];
  TesVector *r, *e;
  double norm;
  tesi_multigrid_vectors(full->multigrid, l, &r, &e);
  const TesiCorrection correction = {.b = b->data, .x = level->x->data, .factor = factor, .r = r->data};
  if (level->r) {
    TES_TRY(tes_operator_residual(level->op, b, level->x, level->r));
    TES_TRY(tes_vector_copy(level->r, factor, r));
  } else {
    TES_TRY(level->op->table->correct_residual(level->op, &correction, tesi_has_kernels(ctx) ? NULL : &norm));
  }
  TES_TRY(tesi_multigrid_cycle_level(full->multigrid, l, full->kind, r, e));
  TES_TRY(tes_vector_axpy(1 / factor, e, level->x));
done:
  return status;
}

typedef struct Run {
  TesiFull *full;
  const TesVector *b;
  TesVector *const *below; /* NULL: b restricted */
  double factor;
  TesVector *x;
} Run;

static const TesVector *right_hand_side(const Run *r, int l) {
  return l == r->full->top ? r->b : r->below ? r->below[l] : r->full->level[l].b;
}

/* x <- A^-1 b on the coarsest level, through the cycle's vectors if its solver takes no others. If the coarsest level
 * is the finest too, x is 0, and the first cycle solves. */
static TesStatus solve_coarsest(const TesiFull *full, double factor, const TesVector *b, TesVector *x) {
  TesContext *ctx = full->context;
  TesStatus status = TES_OK;
  TesiCoarse *coarse = tesi_multigrid_coarse(full->multigrid);
  TesVector *of_b, *of_x;
  if (tesi_coarse_takes_double(coarse)) return tesi_coarse_solve(coarse, b, x);
  if (full->top == 0) return tes_vector_fill(x, 0);
  tesi_multigrid_vectors(full->multigrid, 0, &of_b, &of_x);
  TES_TRY(tes_vector_copy(b, factor, of_b));
  TES_TRY(tesi_coarse_solve(coarse, of_b, of_x));
  TES_TRY(tes_vector_copy(of_x, 1 / factor, x));
done:
  return status;
}

static TesStatus run(void *user) {
  const Run *r = user;
  TesiFull *full = r->full;
  TesContext *ctx = full->context;
  TesStatus status = TES_OK;
  const int top = full->top;
  for (int l = top; l > 0 && !r->below; l--)
    TES_TRY(tes_transfer_restrict(full->level[l].transfer, right_hand_side(r, l), full->level[l - 1].b));
  TES_TRY(solve_coarsest(full, r->factor, right_hand_side(r, 0), top == 0 ? r->x : full->level[0].x));
  for (int l = 1; l <= top; l++) {
    TES_TRY(tes_transfer_prolongate(full->level[l].transfer, full->level[l - 1].x, l == top && r->below,
                                    l == top ? r->x : full->level[l].x));
    for (int c = 0; c < full->cycles && l < top; c++)
      TES_TRY(improve(full, l, right_hand_side(r, l), r->factor));
  }
done:
  return status;
}

TesStatus tesi_full_start(TesiFull *full, const TesVector *b, TesVector *const *below, double factor,
                          TesVector *x) {
  Run r = {full, b, below, factor, x};
  if (full->b != b->data || full->below != below || full->x != x->data || full->factor != factor) {
    tesi_recorded_release(full->context, &full->recorded);
    full->b = b->data, full->below = below, full->x = x->data, full->factor = factor;
  }
  return tesi_recorded_run(full->context, &full->recorded, run, &r);
}
