/* The levels of a multigrid over forests: meshes coarsened as a whole, then degrees; operators and transfers between them. */
#include "geometry/geometry.h"
#include "multigrid/coarse/coarse.h"
#include "multigrid/multigrid.h"
#include "space/forest_space.h"
#include "tessera/transfer.h"

enum { MAX_LEVELS = 32, SMALL = 1000 };

typedef struct Levels {
  TesContext *context;
  const TesForestMultigridDesc *desc;
  int count; /* finest first while they are made */
  TesForestSpace *space[MAX_LEVELS];
  TesGeometry *geometry[MAX_LEVELS];
  const char **dirichlet; /* names, NULL behind the last; NULL: all boundaries */
  TesOperator *op[MAX_LEVELS];
  TesTransfer *transfer[MAX_LEVELS];
  TesiCoarse *coarse;
} Levels;

/* The names with Dirichlet conditions; all, with faces that have no name, stays NULL. */
static TesStatus list_dirichlet(Levels *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesForestSpace *space = s->desc->diffusion.space;
  const TesForest *forest = tes_forest_space_forest(space);
  const int names = tes_forest_boundaries(forest);
  int count = 0;
  if (tes_forest_space_dirichlet(space, -1)) return TES_OK;
  TES_ALLOC(&s->dirichlet, names + 1);
  for (int i = 0; i < names; i++)
    if (tes_forest_space_dirichlet(space, i)) s->dirichlet[count++] = tes_forest_boundary_name(forest, i);
done:
  return status;
}

static TesStatus add_level(Levels *s, const TesForest *forest, int degree) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int l = s->count;
  const TesForestSpaceDesc space = {.forest = forest, .degree = degree, .dirichlet = s->dirichlet};
  TES_CHECK(l < MAX_LEVELS, "more than %d levels", MAX_LEVELS);
  s->count++;
  TES_TRY(tes_forest_space_create(ctx, &space, &s->space[l]));
  if (forest == tes_forest_space_forest(s->space[l - 1]))
    s->geometry[l] = tesi_geometry_retain(s->geometry[l - 1]);
  else
    TES_TRY(tes_geometry_create_forest(forest, s->desc->geometry_degree, &s->geometry[l]));
done:
  return status;
}

static TesStatus coarsen_meshes(Levels *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesForest *coarse = NULL;
  for (;;) {
    const TesForestSpace *last = s->space[s->count - 1];
    TES_TRY(tes_forest_coarsen(tes_forest_space_forest(last), &coarse));
    if (!coarse) break;
    TES_TRY(add_level(s, coarse, tes_forest_space_degree(last)));
    tes_forest_destroy(&coarse);
  }
done:
  tes_forest_destroy(&coarse);
  return status;
}

static TesStatus coarsen_degrees(Levels *s, int64_t small) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  for (;;) {
    const TesForestSpace *last = s->space[s->count - 1];
    const int degree = tes_forest_space_degree(last);
    if (degree == 1 || tes_forest_space_length(last) <= small) break;
    TES_TRY(add_level(s, tes_forest_space_forest(last), degree / 2));
  }
done:
  return status;
}

static TesStatus make_spaces(Levels *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TES_TRY(list_dirichlet(s));
  s->space[0] = tesi_forest_space_retain(s->desc->diffusion.space);
  s->geometry[0] = tesi_geometry_retain(s->desc->diffusion.geometry);
  s->count = 1;
  if (s->desc->degree_first) TES_TRY(coarsen_degrees(s, 0));
  TES_TRY(coarsen_meshes(s));
  TES_TRY(coarsen_degrees(s, SMALL));
  for (int l = 0; l < s->count / 2; l++) {
    TesForestSpace *space = s->space[l];
    TesGeometry *geometry = s->geometry[l];
    s->space[l] = s->space[s->count - 1 - l], s->space[s->count - 1 - l] = space;
    s->geometry[l] = s->geometry[s->count - 1 - l], s->geometry[s->count - 1 - l] = geometry;
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
    diffusion.space = s->space[l], diffusion.geometry = s->geometry[l];
    if (l > 0) diffusion.ignore_hanging = false;
    TES_TRY(tes_operator_create_forest(ctx, &diffusion, &s->op[l]));
    if (l > 0) {
      const TesForestTransferDesc transfer = {s->space[l - 1], s->space[l], diffusion.precision};
      TES_TRY(tes_transfer_create_forest(ctx, &transfer, &s->transfer[l]));
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
  TesContext *ctx = s->context;
  for (int l = 0; l < MAX_LEVELS; l++) {
    tes_forest_space_destroy(&s->space[l]);
    tes_geometry_destroy(&s->geometry[l]);
    tes_operator_destroy(&s->op[l]);
    tes_transfer_destroy(&s->transfer[l]);
  }
  tesi_coarse_destroy(&s->coarse);
  tesi_free(ctx, &s->dirichlet);
}

TesStatus tes_multigrid_create_forest(TesContext *context, const TesForestMultigridDesc *desc,
                                      TesMultigrid **multigrid) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  Levels s = {.context = context, .desc = desc};
  *multigrid = NULL;
  TES_CHECK(desc->diffusion.space && desc->diffusion.geometry, "a multigrid needs a space and a geometry");
  TES_TRY(make_spaces(&s));
  TES_TRY(make_operators(&s));
  TesiMultigridLevels levels = {.count = s.count,
                                .op = s.op,
                                .transfer = s.transfer,
                                .forest = s.space,
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
