/* The table of p4est's functions for one dimension. Before it stand TABLE, the name of the table, and the headers of
 * p4est, or of p8est with p4est's names. */
#include <stdlib.h>
#include <string.h>
#include "mesh/forest/tree_parts.h"
#include "parallel/mpi.h"

/* A box in p4est's own order of trees, renumbered to the lexicographic order of the coarse mesh. In this order p4est
 * knows the periodic directions. */
static p4est_connectivity_t *connect_box(const TesiTrees *c) {
#ifdef P4_TO_P8
  p4est_connectivity_t *brick = p8est_connectivity_new_brick(c->box[0], c->box[1], c->box[2], c->periodic[0],
                                                             c->periodic[1], c->periodic[2]);
#else
  p4est_connectivity_t *brick =
      p4est_connectivity_new_brick(c->box[0], c->box[1], c->periodic[0], c->periodic[1]);
#endif
  sc_array_t *lexicographic = sc_array_new_count(sizeof(size_t), (size_t)brick->num_trees);
  for (p4est_topidx_t t = 0; t < brick->num_trees; t++) {
    const double *corner = brick->vertices + 3 * brick->tree_to_vertex[P4EST_CHILDREN * t];
    size_t at = (size_t)(corner[0] + 0.5) + (size_t)c->box[0] * (size_t)(corner[1] + 0.5);
#ifdef P4_TO_P8
    at += (size_t)c->box[0] * (size_t)c->box[1] * (size_t)(corner[2] + 0.5);
#endif
    *(size_t *)sc_array_index(lexicographic, (size_t)t) = at;
  }
  p4est_connectivity_permute(brick, lexicographic, 1);
  sc_array_destroy(lexicographic);
  return brick;
}

/* Which parts of trees are identical, for each kind of part. */
typedef struct Parts {
  TesiPartGroups face, corner;
#ifdef P4_TO_P8
  TesiPartGroups edge;
#endif
} Parts;

static TesStatus find_parts(TesContext *ctx, const TesiTrees *c, Parts *p) {
  TesStatus status = TES_OK;
  static const int whole[P4EST_CHILDREN] = {0,
                                            1,
                                            2,
                                            3
#ifdef P4_TO_P8
                                            ,
                                            4,
                                            5,
                                            6,
                                            7
#endif
  };
  TES_TRY(tesi_part_groups(ctx, c, tesi_tree_faces(P4EST_DIM), &p->face));
  TES_TRY(tesi_part_groups(ctx, c, (TesiPartKind){P4EST_CHILDREN, 1, whole}, &p->corner));
#ifdef P4_TO_P8
  TES_TRY(tesi_part_groups(ctx, c, (TesiPartKind){P8EST_EDGES, 2, p8est_edge_corners[0]}, &p->edge));
#endif
done:
  return status;
}

static void free_parts(TesContext *ctx, Parts *p) {
  tesi_part_groups_free(ctx, &p->face);
  tesi_part_groups_free(ctx, &p->corner);
#ifdef P4_TO_P8
  tesi_part_groups_free(ctx, &p->edge);
#endif
}

/* Joins faces `own` and `other` (tree * P4EST_FACES + face). p4est wants the corner of the face with the larger number
 * that coincides with corner 0 of the other face. */
static void join_faces(const TesiTrees *c, p4est_connectivity_t *conn, int32_t own, int32_t other) {
  int orientation = 0;
  if (own % P4EST_FACES > other % P4EST_FACES) {
    const int32_t swap = own;
    own = other, other = swap;
  }
  const int32_t *low = c->vertices + own / P4EST_FACES * P4EST_CHILDREN,
                *high = c->vertices + other / P4EST_FACES * P4EST_CHILDREN;
  for (int i = 0; i < P4EST_HALF; i++)
    if (high[p4est_face_corners[other % P4EST_FACES][i]] == low[p4est_face_corners[own % P4EST_FACES][0]])
      orientation = i;
  conn->tree_to_tree[own] = other / P4EST_FACES;
  conn->tree_to_tree[other] = own / P4EST_FACES;
  conn->tree_to_face[own] = (int8_t)(other % P4EST_FACES + P4EST_FACES * orientation);
  conn->tree_to_face[other] = (int8_t)(own % P4EST_FACES + P4EST_FACES * orientation);
}

#ifdef P4_TO_P8
/* An edge points to its vertex with the larger number. */
static void set_edges(const TesiTrees *c, const TesiPartGroups *g, p4est_connectivity_t *conn) {
  for (int32_t i = 0; i < c->trees * P8EST_EDGES; i++) conn->tree_to_edge[i] = -1;
  for (int32_t e = 0; e <= g->groups; e++) conn->ett_offset[e] = g->first[e];
  for (int32_t e = 0; e < g->groups; e++)
    for (int32_t i = g->first[e]; i < g->first[e + 1]; i++) {
      const int32_t tree = g->member[i] / P8EST_EDGES, edge = g->member[i] % P8EST_EDGES;
      const int32_t *v = c->vertices + tree * P4EST_CHILDREN;
      const bool back = v[p8est_edge_corners[edge][0]] > v[p8est_edge_corners[edge][1]];
      conn->tree_to_edge[g->member[i]] = e;
      conn->edge_to_tree[i] = tree;
      conn->edge_to_edge[i] = (int8_t)(edge + (back ? P8EST_EDGES : 0));
    }
}
#endif

static void set_corners(const TesiTrees *c, const TesiPartGroups *g, p4est_connectivity_t *conn) {
  for (int32_t i = 0; i < c->trees * P4EST_CHILDREN; i++) conn->tree_to_corner[i] = -1;
  for (int32_t k = 0; k <= g->groups; k++) conn->ctt_offset[k] = g->first[k];
  for (int32_t k = 0; k < g->groups; k++)
    for (int32_t i = g->first[k]; i < g->first[k + 1]; i++) {
      conn->tree_to_corner[g->member[i]] = k;
      conn->corner_to_tree[i] = g->member[i] / P4EST_CHILDREN;
      conn->corner_to_corner[i] = (int8_t)(g->member[i] % P4EST_CHILDREN);
    }
}

/* The result of p4est_connectivity_complete(), in a tenth of its time. */
static TesStatus connect_trees(TesContext *ctx, const TesiTrees *c, void **connectivity) {
  TesStatus status = TES_OK;
  Parts p = {.face = {0}};
  *connectivity = NULL;
  if (c->box[0]) {
    *connectivity = connect_box(c);
    return TES_OK;
  }
  TES_TRY(find_parts(ctx, c, &p));
  p4est_connectivity_t *conn =
      p4est_connectivity_new((p4est_topidx_t)c->vertex_count, (p4est_topidx_t)c->trees,
#ifdef P4_TO_P8
                             p.edge.groups, p.edge.members,
#endif
                             p.corner.groups, p.corner.members);
  memset(conn->vertices, 0, (size_t)conn->num_vertices * 3 * sizeof *conn->vertices);
  for (int64_t i = 0; i < c->trees * P4EST_CHILDREN; i++) conn->tree_to_vertex[i] = c->vertices[i];
  for (p4est_topidx_t t = 0; t < conn->num_trees; t++)
    for (int8_t f = 0; f < P4EST_FACES; f++) {
      conn->tree_to_tree[P4EST_FACES * t + f] = t;
      conn->tree_to_face[P4EST_FACES * t + f] = f;
    }
  for (int32_t f = 0; f < p.face.groups; f++)
    join_faces(c, conn, p.face.member[p.face.first[f]], p.face.member[p.face.first[f] + 1]);
#ifdef P4_TO_P8
  if (p.edge.groups) set_edges(c, &p.edge, conn);
#endif
  if (p.corner.groups) set_corners(c, &p.corner, conn);
  *connectivity = conn;
done:
  free_parts(ctx, &p);
  return status;
}

static void disconnect(void *connectivity) {
  p4est_connectivity_destroy(connectivity);
}

/* Families stay on one rank, so that they can be coarsened. */
static void *create_uniform(const TesCommunicator *communicator, void *connectivity, int level) {
  p4est_t *forest = p4est_new_ext(tesi_mpi_of(communicator), connectivity, 0, level, 1, 0, NULL, NULL);
  p4est_partition(forest, 1, NULL);
  return forest;
}

static void destroy(void *forest) {
  p4est_destroy(forest);
}

static void set_mark(p4est_t *forest, p4est_topidx_t tree, p4est_quadrant_t *q) {
  (void)forest, (void)tree;
  q->p.user_int = 0;
}

static int refine_marked(p4est_t *forest, p4est_topidx_t tree, p4est_quadrant_t *q) {
  (void)forest, (void)tree;
  return q->p.user_int > 0;
}

static int coarsen_marked(p4est_t *forest, p4est_topidx_t tree, p4est_quadrant_t *q[]) {
  (void)forest, (void)tree;
  for (int c = 0; c < P4EST_CHILDREN; c++)
    if (q[c]->p.user_int >= 0) return 0;
  return 1;
}

/* Whether levels differ by one at most in the whole forest, so that it is balanced. Not looked for on several ranks. */
static bool has_two_levels(const p4est_t *forest) {
  int least = P4EST_MAXLEVEL, most = 0;
  if (forest->mpisize > 1) return false;
  for (size_t t = 0; t < forest->trees->elem_count; t++) {
    sc_array_t *leaves = &p4est_tree_array_index(forest->trees, (p4est_topidx_t)t)->quadrants;
    for (size_t i = 0; i < leaves->elem_count; i++) {
      const int level = p4est_quadrant_array_index(leaves, i)->level;
      least = level < least ? level : least;
      most = level > most ? level : most;
    }
  }
  return most <= least + 1;
}

static void *adapt(void *old, const int8_t *mark, bool balanced, bool move) {
  p4est_t *forest = p4est_copy(old, 0);
  int64_t cell = 0;
  for (size_t t = 0; t < forest->trees->elem_count; t++) {
    sc_array_t *leaves = &p4est_tree_array_index(forest->trees, (p4est_topidx_t)t)->quadrants;
    for (size_t i = 0; i < leaves->elem_count; i++)
      p4est_quadrant_array_index(leaves, i)->p.user_int = mark ? mark[cell++] : -1;
  }
  p4est_refine(forest, 0, refine_marked, set_mark);
  p4est_coarsen(forest, 0, coarsen_marked, set_mark);
  if (!balanced && !has_two_levels(forest)) p4est_balance(forest, P4EST_CONNECT_FULL, NULL);
  if (move) p4est_partition(forest, 1, NULL);
  return forest;
}

/* The next wanted leaf, while refinement goes through the trees in Morton order. */
typedef struct Cursor {
  const TesiLeaves *leaves;
  int64_t next;
} Cursor;

static int refine_to_leaf(p4est_t *forest, p4est_topidx_t tree, p4est_quadrant_t *q) {
  Cursor *at = forest->user_pointer;
  const TesiLeaves *l = at->leaves;
  (void)tree;
  if (at->next < l->cells && l->level[at->next] > q->level) return 1;
  at->next++;
  return 0;
}

static p4est_t *rebuild_alone(void *connectivity, const TesiLeaves *leaves) {
  Cursor at = {leaves, 0};
  p4est_t *forest = p4est_new_ext(tesi_mpi_self(), connectivity, 0, 0, 1, 0, NULL, &at);
  p4est_refine(forest, 1, refine_to_leaf, NULL);
  forest->user_pointer = NULL;
  return forest;
}

static sc_array_t *copy_numbers(const double *number, size_t count) {
  sc_array_t *copy = sc_array_new_count(sizeof(p4est_gloidx_t), count);
  for (size_t i = 0; i < count; i++) *(p4est_gloidx_t *)sc_array_index(copy, i) = (p4est_gloidx_t)number[i];
  return copy;
}

/* Families stay on one rank, so that they can be coarsened. */
static p4est_t *rebuild_shared(const TesCommunicator *communicator, p4est_connectivity_t *connectivity,
                               const TesiLeaves *l, const double *begin, const double *of_trees) {
  sc_array_t *first = copy_numbers(begin, (size_t)communicator->size + 1),
             *trees = copy_numbers(of_trees, (size_t)connectivity->num_trees + 1),
             *leaves = sc_array_new_count((P4EST_DIM + 1) * sizeof(p4est_qcoord_t), (size_t)l->cells);
  for (int64_t c = 0; c < l->cells; c++) {
    p4est_qcoord_t *q = sc_array_index(leaves, (size_t)c);
    for (int d = 0; d < P4EST_DIM; d++) q[d] = l->origin[3 * c + d];
    q[P4EST_DIM] = l->level[c];
  }
  p4est_t *forest =
      p4est_inflate(tesi_mpi_of(communicator), connectivity, (const p4est_gloidx_t *)(void *)first->array,
                    (const p4est_gloidx_t *)(void *)trees->array, leaves, NULL, NULL);
  sc_array_destroy(leaves);
  sc_array_destroy(trees);
  sc_array_destroy(first);
  p4est_partition(forest, 1, NULL);
  return forest;
}

static void *rebuild(const TesCommunicator *communicator, void *connectivity, const TesiLeaves *leaves,
                     const double *begin, const double *of_trees) {
  const bool shared = communicator && communicator->table->begin && communicator->size > 1;
  p4est_t *forest = shared ? rebuild_shared(communicator, connectivity, leaves, begin, of_trees)
                           : rebuild_alone(connectivity, leaves);
  if ((shared || forest->local_num_quadrants == leaves->cells) && p4est_is_balanced(forest, P4EST_CONNECT_FULL))
    return forest;
  p4est_destroy(forest);
  return NULL;
}

static int64_t count_cells(const void *forest) {
  return ((const p4est_t *)forest)->local_num_quadrants;
}

static int64_t count_all_cells(const void *forest) {
  return ((const p4est_t *)forest)->global_num_quadrants;
}

static void fill_leaves(const void *pointer, TesiLeaves *l) {
  const p4est_t *forest = pointer;
  int64_t cell = 0;
  for (size_t t = 0; t < forest->trees->elem_count; t++) {
    sc_array_t *leaves = &p4est_tree_array_index(forest->trees, (p4est_topidx_t)t)->quadrants;
    for (size_t i = 0; i < leaves->elem_count; i++, cell++) {
      const p4est_quadrant_t *q = p4est_quadrant_array_index(leaves, i);
      l->tree[cell] = (int32_t)t;
      l->level[cell] = q->level;
      l->child[cell] = (int8_t)(q->level ? p4est_quadrant_child_id(q) : 0);
      l->origin[3 * cell] = q->x;
      l->origin[3 * cell + 1] = q->y;
#ifdef P4_TO_P8
      l->origin[3 * cell + 2] = q->z;
#else
      l->origin[3 * cell + 2] = 0;
#endif
    }
  }
}

/* p4est's face code: child bits, one bit per hanging face, and in 3D one bit per hanging edge, set even where a face at
 * the edge hangs. */
static uint16_t mask_of(int code) {
#ifdef P4_TO_P8
  for (int d = 0; d < 3; d++) {
    const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
    if (code >> (3 + e) & 1 || code >> (3 + f) & 1) code &= ~(1 << (6 + d));
  }
  return (uint16_t)code;
#else
  return (uint16_t)((code & 3) | (code >> 2 & 3) << 3);
#endif
}

/* p4est lists for each rank, including this rank, the nodes that both have, in their global order. */
static TesStatus copy_sharers(TesContext *ctx, const p4est_lnodes_t *l, TesiSharers *to) {
  TesStatus status = TES_OK;
  const size_t ranks = l->sharers->elem_count;
  TES_ALLOC(&to->rank, ranks);
  TES_ALLOC(&to->first, ranks + 1);
  to->ranks = (int)ranks;
  for (size_t r = 0; r < ranks; r++)
    to->first[r + 1] =
        to->first[r] + (int64_t)p4est_lnodes_rank_array_index(l->sharers, r)->shared_nodes.elem_count;
  TES_ALLOC(&to->entry, to->first[ranks]);
  for (size_t r = 0; r < ranks; r++) {
    p4est_lnodes_rank_t *from = p4est_lnodes_rank_array_index(l->sharers, r);
    to->rank[r] = from->rank;
    memcpy(to->entry + to->first[r], from->shared_nodes.array,
           (size_t)(to->first[r + 1] - to->first[r]) * sizeof *to->entry);
  }
done:
  return status;
}

static TesStatus number(TesContext *ctx, void *forest, int degree, int32_t *index, uint16_t *mask,
                        TesiForestNodes *nodes) {
  p4est_ghost_t *ghost = p4est_ghost_new(forest, P4EST_CONNECT_FULL);
  p4est_lnodes_t *l = p4est_lnodes_new(forest, ghost, degree);
  memcpy(index, l->element_nodes, (size_t)l->num_local_elements * (size_t)l->vnodes * sizeof *index);
  for (p4est_locidx_t cell = 0; cell < l->num_local_elements; cell++)
    mask[cell] = mask_of(l->face_code[cell]);
  *nodes = (TesiForestNodes){l->num_local_nodes, l->owned_count, l->global_offset, {0}};
  const TesStatus status = copy_sharers(ctx, l, &nodes->sharers);
  p4est_lnodes_destroy(l);
  p4est_ghost_destroy(ghost);
  return status;
}

static int64_t name_face(const void *connectivity, int64_t tree, int face) {
  const p4est_connectivity_t *c = connectivity;
  const int64_t own = P4EST_FACES * tree + face,
                other = P4EST_FACES * (int64_t)c->tree_to_tree[own] + c->tree_to_face[own] % P4EST_FACES;
  return own < other ? own : other;
}

const TesiP4est TABLE = {.depth = P4EST_MAXLEVEL,
                         .max_level = P4EST_QMAXLEVEL,
                         .connect = connect_trees,
                         .disconnect = disconnect,
                         .create = create_uniform,
                         .rebuild = rebuild,
                         .destroy = destroy,
                         .adapt = adapt,
                         .cells = count_cells,
                         .all_cells = count_all_cells,
                         .leaves = fill_leaves,
                         .number = number,
                         .face = name_face};
