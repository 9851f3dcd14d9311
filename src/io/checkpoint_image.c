/* See checkpoint_image.h. */
#include "io/checkpoint_image.h"
#include <math.h>
#include <string.h>
#include "io/checkpoint_format.h"
#include "mesh/forest/forest.h"
#include "parallel/comm.h"

static bool is_box(const int64_t *head) {
  return (head[W_VERSION] - 1) % COMPONENTS_VERSION + 1 == BOX_VERSION;
}

void tesi_image_free(TesiImage *m) {
  TesContext *ctx = m->ctx;
  tesi_free(ctx, &m->head);
  tesi_free(ctx, &m->number);
  tesi_free(ctx, &m->components);
  tesi_free(ctx, &m->trees.nodes);
  tesi_free(ctx, &m->trees.vertices);
  tesi_free(ctx, &m->trees.boundary);
  tesi_free(ctx, &m->trees.material);
  tesi_free(ctx, &m->trees.map);
  tesi_free(ctx, &m->trees.part);
  tesi_free(ctx, &m->trees.boundary_name);
  tesi_free(ctx, &m->trees.material_name);
  for (int i = 0; i < 2; i++) tesi_free(ctx, &m->texts[i]);
  for (int d = 0; d < 3; d++) tesi_free(ctx, &m->coordinates[d]);
  tesi_free(ctx, &m->leaves.tree);
  tesi_free(ctx, &m->leaves.level);
  tesi_free(ctx, &m->leaves.origin);
  tesi_free(ctx, &m->given);
  tesi_store_close(&m->store);
  tesi_file_order_free(&m->order);
}

TesStatus tesi_image_get_names(TesiImage *m, const char *what, int64_t count, char **text, char ***names) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  int64_t length, at = 0;
  TES_TRY(tesi_store_get(m->store, what, TESI_STORE_BYTES, -1, text, &length));
  TES_ALLOC(names, count + 1);
  for (int64_t i = 0; i < count; i++) {
    TES_CHECK(at < length, "%s is damaged: %s are cut short", m->path, what);
    (*names)[i] = *text + at;
    at += (int64_t)strlen(*text + at) + 1; /* the store puts a 0 after the bytes */
  }
done:
  return status;
}

static bool forest_is_possible(const int64_t *h) {
  return h[W_TREE_DEGREE] >= 1 && h[W_TREE_DEGREE] <= TESI_TREES_DEGREE && h[W_TREES] >= 1 &&
         h[W_TREES] <= 1 << 26 && h[W_CELLS] <= INT32_MAX && h[W_DEGREE] <= TESI_FOREST_DEGREE &&
         h[W_MATERIALS] >= 0 && h[W_MATERIALS] < 1 << 24;
}

static bool box_is_possible(const int64_t *h) {
  bool possible = h[W_DEGREE] <= TESI_MAX_DEGREE && h[W_BOUNDARIES] == 2 * h[W_DIM];
  for (int d = 0; d < h[W_DIM]; d++) possible = possible && h[W_BOX + d] >= 1 && h[W_BOX + d] <= 1 << 24;
  return possible;
}

TesStatus tesi_image_get_head(TesiImage *m) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  char *text = NULL;
  int64_t *h;
  status = tesi_store_get(m->store, "format", TESI_STORE_BYTES, sizeof TESI_CHECKPOINT_FORMAT, &text, NULL);
  if (status == TES_OUT_OF_MEMORY) TES_TRY(status);
  if (status != TES_OK || strcmp(text, TESI_CHECKPOINT_FORMAT) != 0) {
    tesi_context_forget(ctx);
    TES_FAIL(TES_INVALID_INPUT, "%s is an HDF5 file, and no checkpoint of Tessera", m->path);
  }
  TES_TRY(tesi_store_get(m->store, "head", TESI_STORE_INT64, -1, &m->head, NULL));
  h = m->head;
  TES_CHECK(h[W_VERSION] >= FOREST_VERSION && h[W_VERSION] <= LAST_VERSION &&
                (h[W_VERSION] <= BOX_VERSION + COMPONENTS_VERSION ||
                 tesi_element_of_version((int)h[W_VERSION])->version),
            "%s is a checkpoint of version %lld; this is version %d", m->path, (long long)h[W_VERSION],
            LAST_VERSION);
  tesi_free(ctx, &m->head);
  TES_TRY(tesi_store_get(m->store, "head", TESI_STORE_INT64, W_COUNT, &m->head, NULL));
  h = m->head;
  TES_TRY(tesi_store_get(m->store, "numbers", TESI_STORE_DOUBLE, N_COUNT, &m->number, NULL));
  const bool box = is_box(h);
  TES_CHECK((h[W_DIM] == 2 || h[W_DIM] == 3) && h[W_CELLS] >= 1 && h[W_DEGREE] >= 1 && h[W_FIELDS] >= 0 &&
                h[W_FIELDS] <= FIELDS && h[W_BOUNDARIES] >= 0 && h[W_BOUNDARIES] < 1 << 24 &&
                (box ? box_is_possible(h) : forest_is_possible(h)),
            "%s is damaged: its head holds impossible numbers", m->path);
  if (h[W_VERSION] <= COMPONENTS_VERSION || !tesi_element_of_version((int)h[W_VERSION])->nodal) goto done;
  TES_TRY(tesi_store_get(m->store, "components", TESI_STORE_INT64, 1, &m->components, NULL));
  TES_CHECK(*m->components > 1 && *m->components <= TESI_COMPONENTS, "%s is damaged: %lld components",
            m->path, (long long)*m->components);
done:
  tesi_free(ctx, &text);
  return status;
}

static TesStatus get_trees(TesiImage *m) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  const int64_t *h = m->head;
  TesiTrees *t = &m->trees;
  t->dim = (int)h[W_DIM];
  t->degree = (int)h[W_TREE_DEGREE];
  t->trees = h[W_TREES];
  t->tree_nodes = t->degree + 1;
  for (int d = 1; d < t->dim; d++) t->tree_nodes *= t->degree + 1;
  t->boundaries = (int)h[W_BOUNDARIES];
  t->materials = (int)h[W_MATERIALS];
  t->identity = (uint64_t)h[W_IDENTITY];
  t->radius = m->number[N_RADIUS];
  t->inner = m->number[N_INNER];
  t->core = m->number[N_CORE];
  for (int d = 0; d < 3; d++) {
    t->box[d] = (int)h[W_BOX + d];
    t->periodic[d] = h[W_PERIODIC + d] != 0;
    t->centre[d] = m->number[N_CENTRE + d];
  }
  const int64_t box = (int64_t)t->box[0] * t->box[1] * (t->dim == 3 ? t->box[2] : 1);
  TES_CHECK(!t->box[0] || box == t->trees, "%s is damaged: its box has %lld trees, expected %lld", m->path,
            (long long)box, (long long)t->trees);
  TES_TRY(tesi_store_get(m->store, "tree_nodes", TESI_STORE_DOUBLE, t->trees * t->tree_nodes * t->dim,
                         &t->nodes, NULL));
  TES_TRY(tesi_store_get(m->store, "tree_vertices", TESI_STORE_INT32, t->trees << t->dim, &t->vertices, NULL));
  TES_TRY(
      tesi_store_get(m->store, "tree_boundary", TESI_STORE_INT32, t->trees * 2 * t->dim, &t->boundary, NULL));
  TES_TRY(tesi_store_get(m->store, "tree_material", TESI_STORE_INT32, t->trees, &t->material, NULL));
  if (h[W_MAPPED] & MAPPED)
    TES_TRY(tesi_store_get(m->store, "tree_map", TESI_STORE_BYTES, t->trees, &t->map, NULL));
  if (h[W_MAPPED] & GROUPED) {
    TES_TRY(tesi_store_get(m->store, "tree_parts", TESI_STORE_INT32, -1, &t->part, &t->parts));
    TES_CHECK(t->parts % PART == 0, "%s is damaged: its groups have %lld numbers", m->path,
              (long long)t->parts);
    t->parts /= PART;
  }
  TES_TRY(tesi_image_get_names(m, "boundary_names", t->boundaries, &m->texts[0], &t->boundary_name));
  TES_TRY(tesi_image_get_names(m, "material_names", t->materials, &m->texts[1], &t->material_name));
done:
  return status;
}

/* ---- forests ------------------------------------------------------------------------------------------- */

/* The entries of an array on this rank, from number `first` on. */
typedef struct Range {
  int64_t first, count;
  size_t size;
  char *to;
} Range;

static void take_range(void *user, int64_t first, int64_t count, const void *data) {
  const Range *r = user;
  const int64_t from = first > r->first ? first : r->first,
                end = first + count < r->first + r->count ? first + count : r->first + r->count;
  if (end > from)
    memcpy(r->to + (size_t)(from - r->first) * r->size, (const char *)data + (size_t)(from - first) * r->size,
           (size_t)(end - from) * r->size);
}

/* `each` numbers per cell, for the cells of this rank. */
static TesStatus get_cells(TesiImage *m, const char *name, TesiStoreType type, size_t size, int64_t each,
                           int64_t first, void *pointer_to_data) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  void **data = pointer_to_data;
  const int64_t cells = m->leaves.cells;
  TES_TRY(tesi_agree(ctx, tesi_alloc(ctx, (size_t)(each * cells) + 1, size, data)));
  Range range = {each * first, each * cells, size, *data};
  TES_TRY(tesi_store_read(m->store, name, type, each * m->head[W_CELLS], take_range, &range));
done:
  return status;
}

/* Ranks get equally many cells. */
static TesStatus get_leaves(TesiImage *m) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  TesiLeaves *l = &m->leaves;
  const int64_t cells = m->head[W_CELLS], ranks = tesi_ranks(ctx),
                rank = ranks > 1 ? tes_communicator_rank(tesi_context_communicator(ctx)) : 0,
                first = cells * rank / ranks;
  l->cells = cells * (rank + 1) / ranks - first;
  TES_TRY(get_cells(m, "cell_tree", TESI_STORE_INT32, sizeof *l->tree, 1, first, &l->tree));
  TES_TRY(get_cells(m, "cell_level", TESI_STORE_BYTES, sizeof *l->level, 1, first, &l->level));
  TES_TRY(get_cells(m, "cell_origin", TESI_STORE_INT32, sizeof *l->origin, 3, first, &l->origin));
done:
  return status;
}

static int components_in(const TesiImage *m) {
  return m->components ? (int)*m->components : 1;
}

static TesStatus make_forest_space(TesiImage *m, TesSpace **space) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  const int64_t *h = m->head;
  TesiTrees *trees = NULL;
  TesMesh *forest = NULL;
  TES_TRY(get_leaves(m));
  TES_TRY(tesi_store_get(m->store, "dirichlet", TESI_STORE_BYTES, h[W_BOUNDARIES] + 1, &m->given, NULL));
  TES_TRY(tesi_trees_restore(ctx, &m->trees, &trees));
  TES_TRY(tesi_forest_rebuild(ctx, trees, m->geometry_degree, &m->leaves, &forest));
  forest->as_grid = m->wanted && m->wanted->as_grid;
  TES_TRY(tes_space_create(ctx,
                           &(TesSpaceDesc){.mesh = forest,
                                           .degree = (int)h[W_DEGREE],
                                           .components = components_in(m),
                                           .given = m->given[h[W_BOUNDARIES]] ? NULL : m->given},
                           space));
  TES_TRY(tesi_file_order_create((*space)->scalar[0], &m->order));
  TES_CHECK((*space)->layout->global == h[W_LENGTH] &&
                (int64_t)tesi_file_order_hash((*space)->scalar[0]->view, &m->order) == h[W_NUMBERING],
            "%s: its nodes are numbered in another way than here (another version of p4est?)", m->path);
done:
  tes_mesh_destroy(&forest);
  tesi_trees_release(&trees);
  return status;
}

/* ---- boxes --------------------------------------------------------------------------------------------- */

static TesStatus get_coordinates(TesiImage *m) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  for (int d = 0; d < m->head[W_DIM]; d++)
    TES_TRY(tesi_store_get(m->store, tesi_checkpoint_axes[d], TESI_STORE_DOUBLE, m->head[W_BOX + d] + 1,
                           &m->coordinates[d], NULL));
  TES_TRY(tesi_store_get(m->store, "dirichlet", TESI_STORE_BYTES, m->head[W_BOUNDARIES] + 1, &m->given, NULL));
done:
  return status;
}

static TesStatus make_box_space(TesiImage *m, TesSpace **space) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  const int64_t *h = m->head;
  TesMesh *mesh = NULL;
  const TesiElement *element = tesi_element_of_version((int)h[W_VERSION]);
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = (int)h[W_DIM], .geometry_degree = m->geometry_degree};
  for (int d = 0; d < desc.dim; d++) {
    desc.cells[d] = (int)h[W_BOX + d];
    desc.periodic[d] = h[W_PERIODIC + d] != 0;
    desc.coordinates[d] = m->coordinates[d];
    if (m->wanted && m->wanted->kind == TES_MESH_BOX) desc.ranks_along[d] = m->wanted->window[d].parts;
  }
  TES_TRY(tes_mesh_create(ctx, &desc, &mesh));
  TES_TRY(tes_space_create(ctx,
                           &(TesSpaceDesc){.mesh = mesh,
                                           .degree = (int)h[W_DEGREE],
                                           .components = element->nodal ? components_in(m) : 0,
                                           .element = element->element,
                                           .given = m->given[h[W_BOUNDARIES]] ? NULL : m->given},
                           space));
  TES_TRY(tesi_file_order_create((*space)->scalar[0], &m->order));
  TES_CHECK((*space)->layout->global == h[W_LENGTH], "%s is damaged: its box has %lld nodes, expected %lld",
            m->path, (long long)(*space)->layout->global, (long long)h[W_LENGTH]);
done:
  tes_mesh_destroy(&mesh);
  return status;
}

/* ---- a box of the other kind --------------------------------------------------------------------------- */

static bool is_near(double a, double b, double size) {
  return fabs(a - b) <= 1e-9 * size;
}

/* Whether a forest and coordinates are one box of equal cells. */
static bool is_same_box(const TesMesh *forest, const int64_t box[3], const double *const x[3],
                        const bool periodic[3]) {
  const TesiTrees *t = forest->coarse;
  double lower[3], upper[3];
  int64_t cells[3];
  if (!tesi_mesh_box_of_trees(forest, cells) || t->deform[0]) return false;
  tesi_trees_evaluate(t, 0, 1, (const double[3]){0}, lower);
  tesi_trees_evaluate(t, t->trees - 1, 1, (const double[3]){1, 1, 1}, upper);
  for (int d = 0; d < forest->dim; d++) {
    if (cells[d] != box[d] || t->periodic[d] != periodic[d]) return false;
    const double size = upper[d] - lower[d];
    for (int64_t i = 0; i <= cells[d]; i++)
      if (!is_near(x[d][i], lower[d] + size * (double)i / (double)cells[d], size)) return false;
  }
  return true;
}

static bool is_trees_of_box(const TesiImage *m) {
  const TesMesh *w = m->wanted;
  bool periodic[3];
  if (!w || w->kind != TES_MESH_FOREST || w->dim != m->head[W_DIM]) return false;
  for (int d = 0; d < w->dim; d++) periodic[d] = m->head[W_PERIODIC + d] != 0;
  return tesi_element_of_version((int)m->head[W_VERSION])->nodal &&
         is_same_box(w, m->head + W_BOX, (const double *const *)m->coordinates, periodic);
}

static TesStatus make_wanted_space(const TesiImage *m, TesSpace **space) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  uint8_t *none = NULL;
  TES_ALLOC(&none, tes_mesh_boundaries(m->wanted) + 1);
  TES_TRY(tes_space_create(
      ctx,
      &(TesSpaceDesc){
          .mesh = m->wanted, .degree = (int)m->head[W_DEGREE], .components = components_in(m), .given = none},
      space));
done:
  tesi_free(ctx, &none);
  return status;
}

static TesStatus box_becomes_trees(TesiImage *m, TesSpace **space) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  TES_CHECK(m->head[W_DEGREE] <= TESI_FOREST_DEGREE,
            "%s holds a box of degree %lld, meshes of trees have %d at most", m->path,
            (long long)m->head[W_DEGREE], TESI_FOREST_DEGREE);
  TES_TRY(make_wanted_space(m, space));
  TES_TRY(tesi_file_order_create_box((*space)->scalar[0], &m->order));
  TES_CHECK(m->order.all * components_in(m) == m->head[W_LENGTH],
            "%s is damaged: its box has %lld nodes, expected %lld", m->path, (long long)m->head[W_LENGTH],
            (long long)m->order.all);
done:
  return status;
}

/* Whether a mesh of trees, the mesh of *space, has the cells of the wanted box. */
static bool is_box_of_trees(const TesiImage *m, const TesMesh *forest) {
  const TesMesh *w = m->wanted;
  if (!w || w->kind != TES_MESH_BOX || w->dim != forest->dim || tesi_ranks(m->ctx) > 1) return false;
  const int64_t box[3] = {w->box[0], w->box[1], w->box[2]};
  return is_same_box(forest, box, (const double *const *)w->coordinates, w->box_periodic);
}

/* Values are stored in the order of the trees' nodes; the space becomes the space of the box. */
static TesStatus trees_become_box(TesiImage *m, TesSpace **space) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  TesSpace *trees = *space;
  TesiFileOrder box = {0};
  *space = NULL;
  TES_TRY(tesi_file_order_create_box(trees->scalar[0], &box));
  TES_TRY(make_wanted_space(m, space));
  TES_CHECK((*space)->length == trees->length, "%s is damaged: its box has %lld nodes, expected %lld",
            m->path, (long long)trees->length, (long long)(*space)->length);
  TES_ALLOC(&m->order.number, box.all);
  for (int64_t i = 0; i < box.all; i++) m->order.number[box.number[i]] = i;
done:
  tesi_file_order_free(&box);
  tes_space_destroy(&trees);
  return status;
}

/* -------------------------------------------------------------------------------------------------------- */

TesStatus tesi_image_make_space(TesiImage *m, TesSpace **space) {
  TesContext *ctx = m->ctx;
  TesStatus status = TES_OK;
  if (is_box(m->head)) {
    TES_TRY(get_coordinates(m));
    return is_trees_of_box(m) ? box_becomes_trees(m, space) : make_box_space(m, space);
  }
  TES_TRY(get_trees(m));
  TES_TRY(make_forest_space(m, space));
  if (is_box_of_trees(m, (*space)->mesh)) TES_TRY(trees_become_box(m, space));
done:
  return status;
}
