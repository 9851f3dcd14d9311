#include "multigrid/full.h"
#include "device/kernel.h"
#include "multigrid/coarse.h"
#include "operator/operator.h"
#include "tessera/transfer.h"

enum { MAX_LEVELS = 32 };

typedef struct Level {
  TesOperator *op;       /* levels 1 .. top - 1 */
  TesTransfer *transfer; /* from the level below */
  TesVector *b, *x;      /* NULL on the finest level */
} Level;

struct TesiFull {
  TesContext *context;
  TesMultigrid *multigrid;
  int top;
  Level level[MAX_LEVELS];
  /* The start for these arguments: recorded when it is asked for the second time, where the device can. */
  const void *b;
  void *x, *graph;
  double factor;
  bool not_recordable;
};

bool tesi_full_possible(const TesMultigrid *multigrid) {
  const TesOperator *finest = tes_multigrid_operator(multigrid, tes_multigrid_levels(multigrid) - 1);
  return finest->precision == TES_SINGLE && finest->table->correct_residual;
}

static TesStatus create_level(TesiFull *full, int l) {
  TesContext *ctx = full->context;
  TesStatus status = TES_OK;
  Level *level = &full->level[l];
  const TesOperator *op = tes_multigrid_operator(full->multigrid, l);
  const TesSpace *space = op->space;
  if (l > 0) {
    const TesTransferDesc transfer = {tes_multigrid_space(full->multigrid, l - 1), space, TES_DOUBLE};
    TES_TRY(tes_transfer_create(ctx, &transfer, &level->transfer));
  }
  if (l == full->top) return TES_OK;
  TES_TRY(tes_vector_create(ctx, space->length, TES_DOUBLE, &level->b));
  TES_TRY(tes_vector_create(ctx, space->length, TES_DOUBLE, &level->x));
  if (l > 0) {
    TesDiffusionDesc desc = {.space = space, .a = op->a_function, .c = op->c_function, .form = op->form};
    for (int face = 0; face < 6; face++) desc.alpha[face] = op->alpha_function[face];
    TES_TRY(tes_operator_create_diffusion(ctx, &desc, &level->op));
  }
done:
  return status;
}

TesStatus tesi_full_create(TesMultigrid *multigrid, TesiFull **full) {
  TesContext *ctx = tes_multigrid_operator(multigrid, 0)->context;
  TesStatus status = TES_OK;
  TesiFull *f = NULL;
  *full = NULL;
  TES_NEW(&f);
  f->context = tesi_context_retain(ctx);
  f->multigrid = multigrid;
  f->top = tes_multigrid_levels(multigrid) - 1;
  for (int l = 0; l <= f->top; l++) TES_TRY(create_level(f, l));
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
  }
  if (f->graph) tesi_context_device(ctx)->graph_release(ctx, &f->graph);
  tesi_free(ctx, &f);
  tes_context_destroy(&ctx);
}

/* One cycle on level l, 0 < l < top, for the correction of x. */
static TesStatus improve(TesiFull *full, int l, double factor) {
  TesContext *ctx = full->context;
  TesStatus status = TES_OK;
  Level *level = &full->level[l];
  TesVector *r, *e;
  double norm;
  tesi_multigrid_vectors(full->multigrid, l, &r, &e);
  const TesiCorrection correction = {
      .b = level->b->data, .x = level->x->data, .factor = factor, .r = r->data};
  TES_TRY(level->op->table->correct_residual(level->op, &correction, tesi_has_kernels(ctx) ? NULL : &norm));
  TES_TRY(tesi_multigrid_cycle_level(full->multigrid, l, r, e));
  TES_TRY(tes_vector_axpy(1 / factor, e, level->x));
done:
  return status;
}

static TesStatus start(TesiFull *full, const TesVector *b, double factor, TesVector *x) {
  TesContext *ctx = full->context;
  TesStatus status = TES_OK;
  const int top = full->top;
  for (int l = top; l > 0; l--)
    TES_TRY(tes_transfer_restrict(full->level[l].transfer, l == top ? b : full->level[l].b,
                                  full->level[l - 1].b));
  TES_TRY(tesi_coarse_solve(tesi_multigrid_coarse(full->multigrid), top == 0 ? b : full->level[0].b,
                            top == 0 ? x : full->level[0].x));
  for (int l = 1; l <= top; l++) {
    TES_TRY(tes_transfer_prolongate(full->level[l].transfer, full->level[l - 1].x, false,
                                    l == top ? x : full->level[l].x));
    if (l < top) TES_TRY(improve(full, l, factor));
  }
done:
  return status;
}

TesStatus tesi_full_start(TesiFull *full, const TesVector *b, double factor, TesVector *x) {
  TesContext *ctx = full->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const bool known = full->b == b->data && full->x == x->data && full->factor == factor;
  if (!device->graph_begin || full->not_recordable) return start(full, b, factor, x);
  if (!known) {
    if (full->graph) device->graph_release(ctx, &full->graph);
    full->b = b->data, full->x = x->data, full->factor = factor;
    return start(full, b, factor, x);
  }
  if (!full->graph) {
    TES_TRY(device->graph_begin(ctx));
    status = start(full, b, factor, x);
    const TesStatus ended = device->graph_end(ctx, &full->graph);
    if (status != TES_OK || ended != TES_OK) { /* something waits for the host */
      tes_context_clear(ctx);
      full->not_recordable = true;
      if (full->graph) device->graph_release(ctx, &full->graph);
      return start(full, b, factor, x);
    }
  }
  TES_TRY(device->graph_run(ctx, full->graph));
done:
  return status;
}
