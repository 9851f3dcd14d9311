#include "problem/below.h"
#include "operator/operator.h"

enum { LEVELS = TESI_MULTIGRID_LEVELS };

typedef struct Level {
  const TesSpace *space;
  const TesOperator *op; /* float64 */
  TesOperator *made;     /* the form of op, but on the finest level */
  TesSpace *whole;       /* without given values */
  TesTransfer *up;       /* between these operators, from the level below */
} Level;

typedef struct Ladder {
  TesContext *context;
  const TesProblem *problem;
  int top;
  Level level[LEVELS];
} Ladder;

/* Whether some given value is not zero. */
static bool is_moved(const TesProblem *p) {
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++)
    for (int c = 0; c < TESI_AXES; c++)
      if (tesi_problem_given(p, i, c) && !tesi_function_is_zero(p->numbered.given[i].g[c])) return true;
  return false;
}

static TesStatus new_vector(const Ladder *ladder, int l, TesVector **v) {
  return tesi_vector_create_on(ladder->level[l].space->layout, TES_DOUBLE, v);
}

static TesStatus create_level(Ladder *ladder, int l) {
  TesContext *ctx = ladder->context;
  TesStatus status = TES_OK;
  const TesProblem *p = ladder->problem;
  Level *level = &ladder->level[l];
  level->space = tes_multigrid_level(p->multigrid, l).space;
  level->op = p->op;
  if (l < ladder->top) {
    TES_TRY(tesi_operator_on(p->op, level->space, TES_DOUBLE, &level->made));
    level->op = level->made;
  }
  TES_TRY(tesi_problem_create_whole(level->space, &level->whole));
  if (l == 0) goto done;
  const TesTransferDesc up = {
      .coarse = ladder->level[l - 1].whole, .fine = level->whole, .precision = TES_DOUBLE};
  TES_TRY(tes_transfer_create(ctx, &up, &level->up));
done:
  return status;
}

static void destroy_levels(Ladder *ladder) {
  for (int l = 0; l <= ladder->top; l++) {
    Level *level = &ladder->level[l];
    tes_transfer_destroy(&level->up);
    tes_space_destroy(&level->whole);
    tes_operator_destroy(&level->made);
  }
}

/* u <- u_D, b <- N - A u_D of a level. */
static TesStatus lift(const Ladder *ladder, int l, TesVector *u, TesVector *b) {
  TesContext *ctx = ladder->context;
  TesStatus status = TES_OK;
  const TesProblem *p = ladder->problem;
  const Level *level = &ladder->level[l];
  const TesiFlowEquation *flow = p->equation->flow;
  if (!flow) TES_TRY(tesi_problem_values(p, level->space, u));
  if (flow && flow->values) TES_TRY(flow->values(p, level->space, u));
  if (flow) TES_TRY(flow->load_faces(p, level->op, b));
  TES_TRY(tes_operator_lift(level->op, u, b));
done:
  return status;
}

/* With the letters of below.h: b <- N - A w on the levels below the finest. On the finest level: start, and *face <-
 * N - A u_D. */
static TesStatus climb(const Ladder *ladder, TesiBelow *below, TesVector **face) {
  TesContext *ctx = ladder->context;
  TesStatus status = TES_OK;
  TesVector *u = NULL, *inside = NULL;
  for (int l = 0; l <= ladder->top; l++) {
    TesVector **b = l == ladder->top ? face : &below->b[l];
    TES_TRY(new_vector(ladder, l, b));
    TES_TRY(new_vector(ladder, l, &u));
    TES_TRY(lift(ladder, l, u, *b));
    if (l == ladder->top) break;
    if (inside) {
      TES_TRY(tes_operator_residual(ladder->level[l].op, *b, inside, *b));
      TES_TRY(tes_vector_axpy(1, inside, u));
      tes_vector_destroy(&inside);
    }
    TES_TRY(new_vector(ladder, l + 1, &inside));
    TES_TRY(tes_transfer_prolongate(ladder->level[l + 1].up, u, false, inside));
    TES_TRY(tesi_problem_clear_on(ladder->problem, ladder->level[l + 1].space, inside));
    tes_vector_destroy(&u);
  }
  below->start = inside, inside = NULL;
done:
  tes_vector_destroy(&u);
  tes_vector_destroy(&inside);
  return status;
}

/* b <- b + the restriction of F. For a singular operator the incompatible part of b is removed; it is a net flux that
 * quadrature causes. load: F on the finest level, overwritten. */
static TesStatus descend(const Ladder *ladder, TesVector **load, TesiBelow *below) {
  TesContext *ctx = ladder->context;
  TesStatus status = TES_OK;
  TesVector *coarse = NULL;
  for (int l = ladder->top - 1; l >= 0; l--) {
    const Level *level = &ladder->level[l];
    TES_TRY(new_vector(ladder, l, &coarse));
    TES_TRY(tes_transfer_restrict(ladder->level[l + 1].up, *load, coarse));
    TES_TRY(tesi_problem_clear_on(ladder->problem, level->space, coarse));
    TES_TRY(tes_vector_axpy(1, coarse, below->b[l]));
    TES_TRY(tesi_operator_remove_null(level->op, below->b[l]));
    tes_vector_destroy(load);
    *load = coarse, coarse = NULL;
  }
done:
  tes_vector_destroy(&coarse);
  return status;
}

TesStatus tesi_below_create(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  Ladder *ladder = NULL;
  TesVector *load = NULL;
  const int top = tes_multigrid_levels(p->multigrid) - 1;
  if (p->chosen.method != TES_METHOD_FMG || top == 0 || !is_moved(p)) return TES_OK;
  TES_NEW(&ladder);
  TES_NEW(&p->below);
  *ladder = (Ladder){.context = ctx, .problem = p, .top = top};
  for (int l = 0; l <= top; l++) TES_TRY(create_level(ladder, l));
  TES_TRY(climb(ladder, p->below, &load));
  TES_TRY(tes_vector_copy(load, -1, load));
  TES_TRY(tes_vector_axpy(1, p->b, load));
  TES_TRY(descend(ladder, &load, p->below));
done:
  if (ladder) destroy_levels(ladder);
  tesi_free(ctx, &ladder);
  tes_vector_destroy(&load);
  return status;
}

void tesi_below_destroy(TesProblem *p) {
  if (!p->below) return;
  for (int l = 0; l < LEVELS; l++) tes_vector_destroy(&p->below->b[l]);
  tes_vector_destroy(&p->below->start);
  tesi_free(p->context, &p->below);
}
