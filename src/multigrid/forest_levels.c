/* The levels of a multigrid over forests: meshes coarsened as a whole, then degrees; operators and transfers between them. */
#include "geometry/geometry.h"
#include "multigrid/coarse/coarse.h"
#include "multigrid/multigrid.h"
#include "space/space.h"
#include "tessera/transfer.h"

enum { MAX_LEVELS = 32, SMALL = 1000 };

typedef struct Levels {
  TesContext *context;
  const TesForestMultigridDesc *desc;
  int count; /* finest first while they are made */
  TesSpace *space[MAX_LEVELS];
  TesOperator *op[MAX_LEVELS];
  TesTransfer *transfer[MAX_LEVELS];
  TesiCoarse *coarse;
} Levels;

static TesStatus add_level(Levels *s, const TesMesh *mesh, int degree) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int l = s->count;
  TES_CHECK(l < MAX_LEVELS, "more than %d levels", MAX_LEVELS);
  s->count++;
  TES_TRY(tesi_space_create_on(s->space[l - 1], mesh, degree, &s->space[l]));
done:
  return status;
}

static TesStatus coarsen_meshes(Levels *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesMesh *coarse = NULL;
  for (;;) {
    const TesSpace *last = s->space[s->count - 1];
    TES_TRY(tes_mesh_coarsen(last->mesh, &coarse));
    if (!coarse) break;
    TES_TRY(add_level(s, coarse, last->degree));
    tes_mesh_destroy(&coarse);
  }
done:
  tes_mesh_destroy(&coarse);
  return status;
}

static TesStatus coarsen_degrees(Levels *s, int64_t small) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  for (;;) {
    const TesSpace *last = s->space[s->count - 1];
    const int degree = last->degree;
    if (degree == 1 || last->length <= small) break;
    TES_TRY(add_level(s, last->mesh, degree / 2));
  }
done:
  return status;
}

static TesStatus make_spaces(Levels *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  s->space[0] = tesi_space_retain(s->desc->diffusion.space);
  s->count = 1;
  if (s->desc->degree_first) TES_TRY(coarsen_degrees(s, 0));
  TES_TRY(coarsen_meshes(s));
  TES_TRY(coarsen_degrees(s, SMALL));
  for (int l = 0; l < s->count / 2; l++) {
    TesSpace *space = s->space[l];
    s->space[l] = s->space[s->count - 1 - l], s->space[s->count - 1 - l] = space;
  }
done:
  return status;
}

static TesStatus make_operators(Levels *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesOperator *exact = NULL;
  for (int l = 0; l < s->count; l++) {
    TesForestDiffusionDesc diffusion = s->desc->diffusion;
    diffusion.space = s->space[l];
    if (l > 0) diffusion.ignore_hanging = false;
    TES_TRY(tes_operator_create_forest(ctx, &diffusion, &s->op[l]));
    if (l > 0) {
      const TesTransferDesc transfer = {
          .coarse = s->space[l - 1], .fine = s->space[l], .precision = diffusion.precision};
      TES_TRY(tes_transfer_create(ctx, &transfer, &s->transfer[l]));
      continue;
    }
    diffusion.precision = TES_DOUBLE;
    TES_TRY(tes_operator_create_forest(ctx, &diffusion, &exact));
    TES_TRY(tesi_coarse_create_any(ctx, exact, s->desc->diffusion.precision, s->desc->coarse, &s->coarse));
  }
done:
  tes_operator_destroy(&exact);
  return status;
}

static void free_levels(Levels *s) {
  for (int l = 0; l < MAX_LEVELS; l++) {
    tes_space_destroy(&s->space[l]);
    tes_operator_destroy(&s->op[l]);
    tes_transfer_destroy(&s->transfer[l]);
  }
  tesi_coarse_destroy(&s->coarse);
}

TesStatus tes_multigrid_create_forest(TesContext *context, const TesForestMultigridDesc *desc,
                                      TesMultigrid **multigrid) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  Levels s = {.context = context, .desc = desc};
  *multigrid = NULL;
  TES_CHECK(desc->diffusion.space, "a multigrid needs a space");
  TES_TRY(make_spaces(&s));
  TES_TRY(make_operators(&s));
  TesiMultigridLevels levels = {.count = s.count,
                                .op = s.op,
                                .transfer = s.transfer,
                                .space = s.space,
                                .coarse = s.coarse,
                                .smoother = desc->smoother,
                                .pre = desc->pre,
                                .post = desc->post,
                                .symmetric = true};
  if (levels.smoother.kind == TES_SMOOTHER_AUTO) levels.smoother.kind = TES_SMOOTHER_CHEBYSHEV;
  const TesStatus made = tesi_multigrid_create_levels(ctx, &levels, multigrid);
  s.coarse = levels.coarse;
  TES_TRY(made);
done:
  free_levels(&s);
  return status;
}
