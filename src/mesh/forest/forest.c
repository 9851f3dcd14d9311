/* Forests: creation, refinement, coarsening, references. */
#include "mesh/forest/forest.h"
#include <math.h>
#include <string.h>
#include "mesh/forest/close_marks.h"
#include "parallel/rank_slices.h"

enum { MANY_TREES = 10000 }; /* longer times are written to the log */

int64_t tesi_mesh_memory(int dim, int64_t cells, int degree, int geometry_degree) {
  const double n = degree > 0 ? pow(degree + 1, dim) : 0, fresh = degree > 0 ? pow(degree, dim) : 0,
               m = degree > 0 ? pow((geometry_degree ? geometry_degree : 2) + 1, dim) * dim : 0;
  /* Peak memory: p4est's quadrants, twice while they change, and our arrays. A space needs p4est's numbering and ours,
   * masks and one vector. */
  const double forest = 2 * 32 + 18, space = 2 * 4 * n + 16 + 8 * fresh, geometry = 8 * m;
  const double bytes = (double)cells * (forest + (degree > 0 ? space + geometry : 0));
  return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

TesStatus tesi_forest_afford(TesContext *context, int64_t bytes, const char *what, int64_t cells) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const size_t available = tes_memory_available();
  const double gib = 1024.0 * 1024 * 1024;
  if (bytes > 0 && (uint64_t)bytes > available)
    TES_FAIL(TES_OUT_OF_MEMORY, "%s of %lld cells needs about %.1f GiB, and %.1f GiB are free", what,
             (long long)cells, (double)bytes / gib, (double)available / gib);
done:
  return status;
}

/* Makes the mesh object around a forest of p4est. It takes the forest over even if it fails. */
static TesStatus wrap(TesContext *ctx, TesiTrees *coarse, int geometry_degree, void *p4est, TesMesh **forest) {
  TesStatus status = TES_OK;
  TesMesh *f = NULL;
  const TesiP4est *functions = tesi_p4est(coarse->dim);
  *forest = NULL;
  TES_TRY(tesi_mesh_new(ctx, TES_MESH_FOREST, coarse->dim, geometry_degree, &f));
  f->coarse = tesi_trees_retain(coarse);
  f->p4est = functions;
  f->depth = functions->depth;
  f->forest = p4est;
  p4est = NULL;
  f->cells = f->leaves.cells = functions->cells(f->forest);
  TES_ALLOC(&f->leaves.tree, f->leaves.cells);
  TES_ALLOC(&f->leaves.level, f->leaves.cells);
  TES_ALLOC(&f->leaves.child, f->leaves.cells);
  TES_ALLOC(&f->leaves.origin, 3 * f->leaves.cells);
  functions->leaves(f->forest, &f->leaves);
  double level = 0;
  for (int64_t c = 0; c < f->leaves.cells; c++) level = fmax(level, f->leaves.level[c]);
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &level);
  f->max_level = (int)level;
  *forest = f;
  f = NULL;
done:
  if (p4est) functions->destroy(p4est);
  tes_mesh_destroy(&f);
  return status;
}

/* The number of cells of a uniform forest, computed before the forest is made. */
static TesStatus check_level(TesContext *context, const TesiTrees *c, int level) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const int highest = tesi_p4est(c->dim)->max_level;
  const double cells = (double)c->trees * pow(2, (double)level * c->dim);
  TES_CHECK(level >= 0 && level <= highest, "%d uniform refinements, expected 0..%d", level, highest);
  if (cells > INT32_MAX)
    TES_FAIL(TES_OUT_OF_MEMORY, "%d refinements of %lld trees make %.3g cells; 2^31 - 1 are possible", level,
             (long long)c->trees, cells);
  TES_TRY(tesi_forest_afford(ctx, tesi_mesh_memory(c->dim, (int64_t)cells, 0, 0), "a forest", (int64_t)cells));
done:
  return status;
}

TesStatus tesi_mesh_create_forest(TesContext *ctx, const TesMeshDesc *desc, TesMesh **forest) {
  TesStatus status = TES_OK;
  TesiTrees *coarse = NULL;
  *forest = NULL;
  TES_TRY(tesi_trees_create(ctx, desc, &coarse));
  TES_TRY(tesi_p4est_check(ctx));
  TES_TRY(check_level(ctx, coarse, desc->refine));
  const TesiP4est *functions = tesi_p4est(coarse->dim);
  const double start = tesi_now();
  TES_TRY(functions->connect(ctx, coarse, &coarse->connectivity));
  const double connected = tesi_now();
  TES_TRY(wrap(ctx, coarse, desc->geometry_degree,
               functions->create(tesi_context_communicator(ctx), coarse->connectivity, desc->refine), forest));
  if (coarse->trees >= MANY_TREES)
    tesi_log(ctx, TES_LOG_DETAIL, "mesh: %lld trees connected in %.2f s, refined in %.2f s",
             (long long)coarse->trees, connected - start, tesi_now() - connected);
done:
  tesi_trees_release(&coarse);
  return status;
}

/* The largest number of cells that marks can lead to is known only after the balance; it rarely exceeds twice the
 * number of refined cells. */
static int64_t guess_cells(const TesMesh *f, const int8_t *mark) {
  int64_t refined = 0;
  for (int64_t c = 0; c < f->leaves.cells; c++) refined += mark[c] > 0;
  return f->leaves.cells + 2 * refined * ((1 << f->dim) - 1);
}

static bool only_refine(int64_t cells, const int8_t *mark) {
  for (int64_t c = 0; c < cells; c++)
    if (mark[c] < 0) return false;
  return true;
}

TesStatus tesi_forest_adapt(const TesMesh *forest, const int8_t *mark, bool move, TesMesh **adapted) {
  TesContext *ctx = forest->context;
  TesStatus status = TES_OK;
  int8_t *closed = NULL;
  *adapted = NULL;
  TES_CHECK(forest->kind == TES_MESH_FOREST,
            "a mesh of kind %s is not refined cell by cell: mesh.kind forest is",
            forest->kind == TES_MESH_BOX ? "box" : "cells");
  const int64_t cells = guess_cells(forest, mark);
  for (int64_t c = 0; c < forest->leaves.cells; c++)
    TES_CHECK(mark[c] <= 0 || forest->leaves.level[c] < forest->p4est->max_level,
              "cell %lld is of level %d already, the highest", (long long)c, forest->leaves.level[c]);
  TES_TRY(tesi_forest_afford(ctx, tesi_mesh_memory(forest->dim, cells, 0, 0), "a forest", cells));
  TES_TRY(tesi_work_on(ctx, "refining %lld cells", (long long)forest->cells));
  if (tesi_ranks(ctx) == 1 && only_refine(forest->cells, mark)) {
    TES_ALLOC(&closed, forest->cells);
    for (int64_t c = 0; c < forest->cells; c++) closed[c] = mark[c] > 0;
    TES_TRY(tesi_forest_close_marks(forest, closed));
  }
  TES_TRY(wrap(ctx, forest->coarse, forest->geometry_degree,
               forest->p4est->adapt(forest->forest, closed ? closed : mark, closed != NULL, move), adapted));
done:
  tesi_free(ctx, &closed);
  return status;
}

TesStatus tes_mesh_adapt(const TesMesh *forest, const int8_t *mark, TesMesh **adapted) {
  const TesStatus status = tesi_agree(forest->context, tesi_forest_adapt(forest, mark, false, adapted));
  if (status != TES_OK) tes_mesh_destroy(adapted);
  return status;
}

TesStatus tesi_mesh_share_out(const TesMesh *forest, TesMesh **mesh) {
  TesContext *ctx = forest->context;
  TesStatus status = TES_OK;
  int8_t *none = NULL;
  *mesh = NULL;
  TES_ALLOC(&none, forest->cells);
  TES_TRY(tesi_forest_adapt(forest, none, true, mesh));
done:
  tesi_free(ctx, &none);
  return status;
}

/* forest->coarser stays NULL if no family can be coarsened. */
static TesStatus make_coarser(TesMesh *forest) {
  TesContext *ctx = forest->context;
  TesStatus status = TES_OK;
  TesMesh *coarser = NULL;
  int8_t *mark = NULL;
  if (forest->coarser || forest->max_level == 0) return TES_OK;
  TES_TRY(tesi_work_on(ctx, "coarsening %lld cells", (long long)forest->cells));
  if (tesi_ranks(ctx) == 1) {
    TES_ALLOC(&mark, forest->cells);
    TES_TRY(tesi_forest_close_families(forest, mark));
  }
  TES_TRY(wrap(ctx, forest->coarse, forest->geometry_degree,
               forest->p4est->adapt(forest->forest, mark, mark != NULL, false), &coarser));
  if (forest->p4est->all_cells(coarser->forest) == forest->p4est->all_cells(forest->forest))
    tes_mesh_destroy(&coarser);
  forest->coarser = coarser;
done:
  tesi_free(ctx, &mark);
  return status;
}

TesStatus tesi_mesh_coarsen_forest(const TesMesh *forest, TesMesh **coarse) {
  TesStatus status;
#pragma omp critical(tesi_mesh_coarsen)
  status = make_coarser((TesMesh *)forest);
  *coarse = forest->coarser ? tesi_mesh_retain(forest->coarser) : NULL;
  return status;
}

/* A position on the curve through all trees. Positions in a tree count cells of the deepest level, which takes dim *
 * depth = 60 bits at most. */
typedef struct Place {
  int64_t tree;
  uint64_t position;
  bool right; /* all leaves before `begin` cover the curve without gaps */
} Place;

/* Whether the leaves, from a position on, cover their trees without gaps in Morton order: each leaf begins where the
 * leaf before it ends. */
static void go_on(const TesiTrees *coarse, const TesiP4est *p4est, const TesiLeaves *l, Place *at) {
  const int dim = coarse->dim, depth = p4est->depth;
  for (int64_t c = 0; c < l->cells && at->right; c++) {
    uint64_t begin = 0;
    at->right = l->level[c] >= 0 && l->level[c] <= p4est->max_level && l->tree[c] == at->tree;
    for (int d = 0; d < dim && at->right; d++) {
      const int32_t origin = l->origin[3 * c + d], size = (int32_t)1 << (depth - l->level[c]);
      at->right = origin >= 0 && origin <= ((int32_t)1 << depth) - size && origin % size == 0;
      for (int b = 0; b < depth && at->right; b++) begin |= (uint64_t)(origin >> b & 1) << (b * dim + d);
    }
    at->right = at->right && begin == at->position;
    if (!at->right) return;
    at->position += (uint64_t)1 << (dim * (depth - l->level[c]));
    if (at->position == (uint64_t)1 << (dim * depth)) {
      at->position = 0;
      at->tree++;
    }
  }
}

/* Rank after rank. */
static bool leaves_are_complete(const TesContext *ctx, const TesiTrees *coarse, const TesiP4est *p4est,
                                const TesiLeaves *l) {
  const int ranks = tesi_ranks(ctx), rank = tes_communicator_rank(tesi_context_communicator(ctx));
  Place at = {.right = true};
  for (int r = 0; r < ranks; r++) {
    if (ranks == 1 || r == rank) go_on(coarse, p4est, l, &at);
    tesi_broadcast(ctx, r, sizeof at, &at);
  }
  return at.right && at.position == 0 && at.tree == coarse->trees;
}

/* *of_trees [trees + 1] <- the number of the first leaf of each tree. */
static TesStatus count_of_trees(const TesiTrees *coarse, const TesiLeaves *leaves, double **of_trees) {
  TesContext *ctx = coarse->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_agree(ctx, tesi_alloc(ctx, (size_t)coarse->trees + 1, sizeof **of_trees, of_trees)));
  for (int64_t c = 0; c < leaves->cells; c++) (*of_trees)[leaves->tree[c] + 1]++;
  tesi_reduce(ctx, TESI_SUM, (int)coarse->trees + 1, *of_trees);
  for (int64_t t = 0; t < coarse->trees; t++) (*of_trees)[t + 1] += (*of_trees)[t];
done:
  return status;
}

TesStatus tesi_forest_rebuild(TesContext *ctx, TesiTrees *coarse, int geometry_degree,
                              const TesiLeaves *leaves, TesMesh **forest) {
  TesStatus status = TES_OK;
  TesiSlices parts = {0};
  double *of_trees = NULL;
  *forest = NULL;
  TES_TRY(tesi_p4est_check(ctx));
  const TesiP4est *functions = tesi_p4est(coarse->dim);
  TES_CHECK(leaves_are_complete(ctx, coarse, functions, leaves),
            "the cells do not cover the trees of the mesh");
  if (!coarse->connectivity) TES_TRY(functions->connect(ctx, coarse, &coarse->connectivity));
  TES_TRY(tesi_slices_create(ctx, leaves->cells, &parts));
  if (tesi_ranks(ctx) > 1) TES_TRY(count_of_trees(coarse, leaves, &of_trees));
  void *p4est =
      functions->rebuild(tesi_context_communicator(ctx), coarse->connectivity, leaves, parts.begin, of_trees);
  TES_CHECK(p4est, "neighbouring cells differ by more than one level");
  TES_TRY(wrap(ctx, coarse, geometry_degree, p4est, forest));
done:
  tesi_slices_free(&parts);
  tesi_free(ctx, &of_trees);
  return status;
}
