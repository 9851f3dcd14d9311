/* The choice of cells to be refined and coarsened: tes_problem_remesh() in tessera/adapt.h. */
#include <math.h>
#include <string.h>
#include "problem/adapt/remesh.h"
#include "parallel/comm.h"
#include "problem/support.h"
#include "space/space.h"

TesStatus tesi_adapt_check(TesContext *ctx, const TesAdaptDesc *desc, const TesMesh *mesh) {
  TesStatus status = TES_OK;
  TES_TRY(tesi_support_check_adaptation(ctx, desc));
  TES_CHECK(mesh && mesh->kind == TES_MESH_FOREST, "adapt: only meshes of kind forest are adapted");
done:
  return status;
}

/* Leaves of a mesh that a rank sends to all ranks. */
typedef struct Shown {
  int64_t cells;
  int32_t *tree, *origin;
  int8_t *level;
} Shown;

static void forget(TesContext *ctx, Shown *s) {
  tesi_free(ctx, &s->tree);
  tesi_free(ctx, &s->origin);
  tesi_free(ctx, &s->level);
}

static TesStatus show(const TesMesh *mesh, int rank, Shown *s) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const bool own = tesi_ranks(ctx) == 1 || tes_communicator_rank(tesi_context_communicator(ctx)) == rank;
  const TesiLeaves *l = &mesh->leaves;
  int64_t cells = mesh->cells;
  tesi_broadcast(ctx, rank, sizeof cells, &cells);
  *s = (Shown){.cells = cells};
  status = tesi_alloc(ctx, (size_t)cells + 1, sizeof *s->tree, &s->tree);
  if (status == TES_OK) status = tesi_alloc(ctx, 3 * (size_t)cells + 1, sizeof *s->origin, &s->origin);
  if (status == TES_OK) status = tesi_alloc(ctx, (size_t)cells + 1, sizeof *s->level, &s->level);
  TES_TRY(tesi_agree(ctx, status));
  if (own) {
    memcpy(s->tree, l->tree, (size_t)cells * sizeof *s->tree);
    memcpy(s->origin, l->origin, 3 * (size_t)cells * sizeof *s->origin);
    memcpy(s->level, l->level, (size_t)cells * sizeof *s->level);
  }
  tesi_broadcast(ctx, rank, cells * (int64_t)sizeof *s->tree, s->tree);
  tesi_broadcast(ctx, rank, 3 * cells * (int64_t)sizeof *s->origin, s->origin);
  tesi_broadcast(ctx, rank, cells * (int64_t)sizeof *s->level, s->level);
done:
  return status;
}

static bool lies_in(const TesMesh *mesh, int64_t c, const Shown *s, int64_t i) {
  const TesiLeaves *l = &mesh->leaves;
  const int32_t size = (int32_t)1 << (mesh->depth - s->level[i]);
  if (l->tree[c] != s->tree[i] || l->level[c] < s->level[i]) return false;
  for (int d = 0; d < mesh->dim; d++)
    if (l->origin[3 * c + d] < s->origin[3 * i + d] || l->origin[3 * c + d] >= s->origin[3 * i + d] + size)
      return false;
  return true;
}

/* level[cells] <- for each cell the level of the cell of the first mesh that contains it, which may be on another rank;
 * both meshes are in Morton order. */
static TesStatus find_first_levels(const TesMesh *mesh, const TesMesh *first, int8_t *level) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  Shown shown = {0};
  int64_t c = 0;
  TES_CHECK(first->kind == TES_MESH_FOREST && tesi_trees_are_same(first->coarse, mesh->coarse),
            "the first mesh stands on other trees than that of the problem");
  for (int r = 0; r < tesi_ranks(ctx); r++) {
    TES_TRY(show(first, r, &shown));
    for (int64_t at = 0; c < mesh->cells && at < shown.cells;)
      if (lies_in(mesh, c, &shown, at))
        level[c++] = shown.level[at];
      else
        at++;
    forget(ctx, &shown);
  }
  TES_CHECK(c == mesh->cells, "the mesh of the problem is coarser than the first one at cell %lld",
            (long long)c);
done:
  forget(ctx, &shown);
  return status;
}

/* Marks cells that share a node with a marked cell of any rank. Cells share the nodes of a coarse cell beside hanging
 * nodes too. */
static TesStatus add_layer(const TesiCellView *space, int8_t *mark) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *touched = NULL;
  const int n = space->cell_nodes;
  TES_TRY(tesi_agree(ctx, tesi_alloc(ctx, (size_t)space->length + 1, sizeof *touched, &touched)));
  for (int64_t c = 0; c < space->cells; c++)
    for (int i = 0; mark[c] && i < n; i++) touched[tesi_cells_node(space->index[c * n + i])] = 1;
  tesi_exchange_sum(space->layout->shared, TES_DOUBLE, touched);
  for (int64_t c = 0; c < space->cells; c++)
    for (int i = 0; i < n && !mark[c]; i++) mark[c] = touched[tesi_cells_node(space->index[c * n + i])] > 0;
done:
  tesi_free(ctx, &touched);
  return status;
}

/* Whether the cells from c on are all children of one cell; leaves are in Morton order. */
static bool is_family(const TesiLeaves *l, int children, int64_t c) {
  if (c + children > l->cells || l->level[c] == 0) return false;
  for (int i = 0; i < children; i++)
    if (l->child[c + i] != i || l->level[c + i] != l->level[c] || l->tree[c + i] != l->tree[c]) return false;
  return true;
}

/* Families without a mark whose sum is less than this part of the mean are coarsened, but not beyond the first mesh.
 * All cells of a family are on one rank. */
static void mark_calm(const TesMesh *mesh, double part, const int8_t *first, const double *eta2, int8_t *mark) {
  const int children = 1 << mesh->dim;
  double all = 0;
  for (int64_t c = 0; c < mesh->cells; c++) all += eta2[c];
  tesi_reduce(mesh->context, TESI_SUM, 1, &all);
  const double most = part * all / (double)tes_mesh_info(mesh).all_cells * children;
  for (int64_t c = 0; c < mesh->cells; c++) {
    double sum = 0;
    bool calm = is_family(&mesh->leaves, children, c);
    for (int i = 0; i < children && calm; i++) {
      sum += eta2[c + i];
      calm = mark[c + i] == 0 && first[c + i] < mesh->leaves.level[c + i];
    }
    for (int i = 0; calm && sum < most && i < children; i++) mark[c + i] = -1;
  }
}

/* The largest indicator of a family that is coarsened, relative to the mean. For a flow it is so small that the
 * parent, whose indicator is up to 4^degree times larger, is not refined again: the indicator of a flow falls slowly,
 * while the indicator behind a moving hill is zero. */
static double calm_part(const TesSpace *space) {
  const double part = 0.05;
  return space->scalars > 1 ? fmin(part, pow(4, -space->degree)) : part;
}

/* The mesh for one fraction; NULL: no cell changes. All components have the same cells. */
static TesStatus try_fraction(const TesSpace *space, const TesAdaptDesc *desc, double fraction,
                              const int8_t *first, const double *eta2, int8_t *mark, TesMesh **adapted) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = space->mesh;
  const TesiCellView *view;
  bool any = false;
  memset(mark, 0, (size_t)mesh->cells);
  if (fraction > 0) tes_mark_cells(ctx, desc->marking, fraction, mesh->cells, eta2, mark);
  TES_TRY(tesi_space_cells(space->scalar[0], &view));
  TES_TRY(add_layer(view, mark));
  mark_calm(mesh, calm_part(space), first, eta2, mark);
  for (int64_t c = 0; c < mesh->cells; c++) {
    const int most = desc->max_level ? tesi_min(first[c] + desc->max_level, mesh->p4est->max_level)
                                     : mesh->p4est->max_level;
    if (mark[c] > 0 && mesh->leaves.level[c] >= most) mark[c] = 0;
    any = any || mark[c];
  }
  if (tesi_reduce_any(ctx, any)) TES_TRY(tes_mesh_adapt(mesh, mark, adapted));
done:
  return status;
}

/* Whether the balance has undone all marks; if so, cells are unchanged. */
static bool is_same(const TesMesh *a, const TesMesh *b) {
  bool same = a->cells == b->cells;
  for (int64_t c = 0; same && c < a->cells; c++) same = a->leaves.level[c] == b->leaves.level[c];
  return !tesi_reduce_any(a->context, !same);
}

/* Whether the mesh has too many unknowns. */
static TesStatus passes(const TesSpace *space, const TesMesh *mesh, int64_t most, bool *too_many) {
  TesSpace *next = NULL;
  *too_many = false;
  if (!most || tes_mesh_info(mesh).all_cells <= tes_mesh_info(space->mesh).all_cells) return TES_OK;
  const TesStatus status = tesi_space_create_on(space, mesh, space->degree, &next);
  *too_many = status == TES_OK && next->layout->global > most;
  tes_space_destroy(&next);
  return status;
}

TesStatus tesi_regrid(const TesSpace *space, const TesAdaptDesc *desc, bool refine, const double *eta2,
                      TesMesh **adapted) {
  enum { HALVED = 6 };
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  int8_t *mark = NULL, *first = NULL;
  double fraction = desc->fraction > 0 ? desc->fraction : desc->marking == TES_MARK_BULK ? 0.5 : 0.2;
  bool too_many = true;
  *adapted = NULL;
  TES_ALLOC(&mark, space->mesh->cells);
  TES_ALLOC(&first, space->mesh->cells);
  TES_TRY(find_first_levels(space->mesh, desc->first, first));
  for (int i = 0; i <= HALVED && too_many; i++, fraction /= 2) {
    tes_mesh_destroy(adapted);
    if (i == HALVED || !refine) fraction = 0;
    TES_TRY(try_fraction(space, desc, fraction, first, eta2, mark, adapted));
    if (!*adapted) break;
    TES_TRY(passes(space, *adapted, desc->max_dofs, &too_many));
    too_many = too_many && fraction > 0;
  }
  if (*adapted && is_same(*adapted, space->mesh)) tes_mesh_destroy(adapted);
done:
  tesi_free(ctx, &mark);
  tesi_free(ctx, &first);
  if (status != TES_OK) tes_mesh_destroy(adapted);
  return status;
}
