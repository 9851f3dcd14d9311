/* Forces on boundaries: see forces.h. */
#include "problem/forces.h"
#include <stdio.h>
#include "functional/functional.h"

bool tesi_force_is_support(const TesProblem *p, int boundary, int direction) {
  return tesi_problem_given(p, boundary, direction) || p->numbered.given[boundary].how[0] == TESI_NORMAL;
}

/* Nodes of one component and their supports. */
typedef struct Nodes {
  const TesProblem *problem;
  const TesiForces *of;
  const TesSpace *space;
  TesiBatches *batches;
  int boundary, direction;
  int32_t *on;             /* [length] number of faces of the boundary that have the node; of a group: 1 */
  int32_t *faces, *groups; /* [length] the same of all supports; number of groups that have the node */
  bool *wanted;            /* [boundaries] */
  double *weight;          /* [length] */
} Nodes;

static void free_nodes(TesContext *ctx, Nodes *n) {
  tesi_batches_destroy(&n->batches);
  tesi_free(ctx, &n->on);
  tesi_free(ctx, &n->faces);
  tesi_free(ctx, &n->groups);
  tesi_free(ctx, &n->wanted);
  tesi_free(ctx, &n->weight);
}

static int64_t node_of(const Nodes *n, const TesiBoundaryFace *face, int i) {
  const TesiBatches *b = n->batches;
  bool given;
  return b->kind->node(b, face->cell, tesi_face_node(b->dim, b->n, face->face, i), &given);
}

static int face_nodes(const Nodes *n) {
  return n->batches->dim == 3 ? n->batches->n * n->batches->n : n->batches->n;
}

static TesStatus share_marks(const TesSpace *space, bool group, int32_t *on) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *marks = NULL;
  if (!space->layout->shared) return TES_OK;
  TES_ALLOC(&marks, space->length);
  for (int64_t i = 0; i < space->length; i++) marks[i] = on[i];
  tesi_exchange_sum(space->layout->shared, TES_DOUBLE, marks);
  for (int64_t i = 0; i < space->length; i++) on[i] = group ? marks[i] > 0 : (int32_t)marks[i];
done:
  tesi_free(ctx, &marks);
  return status;
}

/* on[length] of a boundary; faces of all ranks count. */
static TesStatus mark(Nodes *n, int boundary, int32_t *on) {
  TesContext *ctx = n->space->context;
  TesStatus status = TES_OK;
  TesiBoundaryFace *face = NULL;
  int32_t *number = NULL;
  int64_t faces;
  for (int64_t i = 0; i < n->space->length; i++) on[i] = 0;
  if (tesi_mesh_is_group(n->space->mesh, boundary)) {
    TES_ALLOC(&number, n->batches->boundaries);
    number[boundary] = 1;
    tesi_cells_mark_groups(n->batches->view, number, on);
  } else {
    n->wanted[boundary] = true;
    TES_TRY(tesi_boundary_faces(n->batches, n->wanted, false, &face, &faces));
    n->wanted[boundary] = false;
    for (int64_t i = 0; i < faces; i++)
      for (int p = 0; p < face_nodes(n); p++) on[node_of(n, &face[i], p)]++;
  }
  TES_TRY(share_marks(n->space, tesi_mesh_is_group(n->space->mesh, boundary), on));
done:
  tesi_free(ctx, &face);
  tesi_free(ctx, &number);
  return status;
}

static TesStatus find_nodes(Nodes *n) {
  TesContext *ctx = n->space->context;
  TesStatus status = TES_OK;
  const int64_t length = n->space->length;
  TES_TRY(tesi_batches_create(n->space, n->space->degree + 1, &n->batches));
  TES_ALLOC(&n->on, length);
  TES_ALLOC(&n->faces, length);
  TES_ALLOC(&n->groups, length);
  TES_ALLOC(&n->weight, length);
  TES_ALLOC(&n->wanted, n->batches->boundaries + 1);
  for (int b = 0; b < n->batches->boundaries; b++) {
    if (!tesi_force_is_support(n->problem, b, n->direction)) continue;
    int32_t *count = tesi_mesh_is_group(n->space->mesh, b) ? n->groups : n->faces;
    TES_TRY(mark(n, b, n->on));
    for (int64_t i = 0; i < length; i++) count[i] += n->on[i];
  }
  TES_TRY(mark(n, n->boundary, n->on));
  const bool group = tesi_mesh_is_group(n->space->mesh, n->boundary);
  for (int64_t i = 0; i < length && group; i++)
    if (n->faces[i]) n->on[i] = 0;
done:
  return status;
}

/* q, the share of the boundary in the faces of supports at a node, or in its groups. */
static double share_of(const Nodes *n, int64_t i) {
  return n->on[i] ? (double)n->on[i] / (n->faces[i] ? n->faces[i] : n->groups[i]) : 0;
}

/* Whether other supports have faces at a node of the boundary. */
static bool is_shared(const Nodes *n, int64_t i) {
  return n->on[i] && n->faces[i] > n->on[i];
}

/* Faces of supports with a shared node of the boundary: the faces of the boundary itself, or the faces of the
 * others. */
static TesStatus find_faces(Nodes *n, bool own, TesiBoundaryFace **face, int64_t *count) {
  TesStatus status = TES_OK;
  TesContext *ctx = n->space->context;
  int64_t kept = 0;
  for (int b = 0; b < n->batches->boundaries; b++)
    n->wanted[b] = (b == n->boundary) == own && tesi_force_is_support(n->problem, b, n->direction);
  TES_TRY(tesi_boundary_faces(n->batches, n->wanted, false, face, count));
  for (int64_t i = 0; i < *count; i++) {
    bool any = false;
    for (int p = 0; p < face_nodes(n); p++) any = any || is_shared(n, node_of(n, &(*face)[i], p));
    if (any) (*face)[kept++] = (*face)[i];
  }
  *count = kept;
done:
  return status;
}

/* *sum += int s w over these faces: w = 1 - q at shared nodes over the boundary's own faces, - q over others. */
static TesStatus add_stress(Nodes *n, bool own, double *sum) {
  TesContext *ctx = n->space->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  TesiBoundaryFace *face = NULL;
  TesVector *weight = NULL;
  char stress[TESI_STRESS_TEXT], text[TESI_STRESS_TEXT + 20];
  int64_t count;
  double integral;
  TES_TRY(find_faces(n, own, &face, &count));
  if (!count) goto done;
  for (int64_t i = 0; i < n->space->length; i++)
    n->weight[i] = is_shared(n, i) ? (own ? 1 : 0) - share_of(n, i) : 0;
  TES_TRY(tesi_vector_create_on(n->space->layout, TES_DOUBLE, &weight));
  TES_TRY(tes_vector_set(weight, n->weight));
  int fields = tesi_problem_fields(n->problem, field);
  field[fields++] = (TesiField){.name = "shared",
                                .space = n->space,
                                .vector = weight,
                                .derivative = TESI_FIELD_VALUE,
                                .time = field->time};
  n->of->stress(n->problem, n->direction, stress);
  snprintf(text, sizeof text, "shared*(%s)", stress);
  TES_TRY(tesi_functional_over_faces(n->space, fields, field, text, count, face, &integral));
  *sum += integral;
done:
  tesi_free(ctx, &face);
  tes_vector_destroy(&weight);
  return status;
}

TesStatus tesi_force_on(const TesProblem *p, const TesiForces *of, int boundary, int direction, double *force) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  Nodes n = {
      .problem = p, .of = of, .space = of->space(p, direction), .boundary = boundary, .direction = direction};
  double *r = NULL;
  *force = 0;
  if (!tesi_force_is_support(p, boundary, direction)) return of->traction(p, boundary, direction, force);
  TES_TRY(find_nodes(&n));
  TES_ALLOC(&r, n.space->length);
  TES_TRY(of->residual(p, direction, r));
  for (int64_t i = 0; i < n.space->length; i++)
    if (n.on[i] && tesi_layout_owns(n.space->layout, i)) *force += r[i] * share_of(&n, i);
  TES_TRY(add_stress(&n, true, force));
  TES_TRY(add_stress(&n, false, force));
  tesi_reduce(ctx, TESI_SUM, 1, force);
done:
  free_nodes(ctx, &n);
  tesi_free(ctx, &r);
  return status;
}

TesStatus tesi_force_weights(const TesProblem *p, const TesiForces *of, int boundary, int direction,
                             const TesiForceWeights *weights) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  Nodes n = {
      .problem = p, .of = of, .space = of->space(p, direction), .boundary = boundary, .direction = direction};
  TES_TRY(find_nodes(&n));
  for (int64_t i = 0; i < n.space->length; i++) {
    const double q = share_of(&n, i);
    weights->weight[i] = of->sign * q;
    weights->own[i] = is_shared(&n, i) ? of->sign * (1 - q) : 0;
    weights->other[i] = is_shared(&n, i) ? -of->sign * q : 0;
  }
done:
  free_nodes(ctx, &n);
  return status;
}
