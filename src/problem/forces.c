/* Forces on boundaries: see forces.h. */
#include "problem/forces.h"
#include <stdio.h>
#include "functional/functional.h"
#include "problem/force_shares.h"

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
} Nodes;

static void free_nodes(TesContext *ctx, Nodes *n) {
  tesi_batches_destroy(&n->batches);
  tesi_free(ctx, &n->on);
  tesi_free(ctx, &n->faces);
  tesi_free(ctx, &n->groups);
  tesi_free(ctx, &n->wanted);
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

/* ---- weights ------------------------------------------------------------------------------------------ */

static TesStatus mark_for(void *user, int boundary, int32_t *on) {
  return mark(user, boundary, on);
}

TesStatus tesi_force_weights(const TesProblem *p, const TesiForces *of, int boundary, int direction,
                             TesiForceWeights *w) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSpace *whole = of->whole(p);
  Nodes n = {
      .problem = p, .of = of, .space = of->space(p, direction), .boundary = boundary, .direction = direction};
  TES_TRY(find_nodes(&n));
  for (int c = 0; c < p->mesh->dim; c++) {
    if (c != direction && !whole->slips) continue;
    TES_ALLOC(&w->weight[c], n.space->length);
    TES_ALLOC(&w->own[c], n.space->length);
    TES_ALLOC(&w->other[c], n.space->length);
  }
  for (int64_t i = 0; i < n.space->length; i++) {
    const double q = share_of(&n, i);
    w->weight[direction][i] = q;
    w->own[direction][i] = is_shared(&n, i) ? 1 - q : 0;
    w->other[direction][i] = is_shared(&n, i) ? -q : 0;
  }
  if (whole->slips) TES_TRY(tesi_force_share(p, whole, boundary, direction, mark_for, &n, w));
done:
  free_nodes(ctx, &n);
  return status;
}

void tesi_force_weights_free(TesContext *ctx, TesiForceWeights *w) {
  for (int c = 0; c < TESI_AXES; c++) {
    tesi_free(ctx, &w->weight[c]);
    tesi_free(ctx, &w->own[c]);
    tesi_free(ctx, &w->other[c]);
  }
}

/* ---- stresses ----------------------------------------------------------------------------------------- */

bool tesi_force_shares(const TesProblem *p, int boundary, int c, bool slip) {
  return slip ? p->numbered.given[boundary].how[0] == TESI_NORMAL : tesi_problem_given(p, boundary, c);
}

void tesi_force_write(int dim, char stress[TESI_AXES][TESI_STRESS_TEXT], int c, bool slip,
                      char text[TESI_SHARED_TEXT]) {
  if (!slip)
    snprintf(text, TESI_SHARED_TEXT, "shared*(%s)", stress[c]);
  else if (dim == 2)
    snprintf(text, TESI_SHARED_TEXT, "shared*n%c*((%s)*nx + (%s)*ny)", "xyz"[c], stress[0], stress[1]);
  else
    snprintf(text, TESI_SHARED_TEXT, "shared*n%c*((%s)*nx + (%s)*ny + (%s)*nz)", "xyz"[c], stress[0],
             stress[1], stress[2]);
}

/* A sum of stresses over faces of supports. */
typedef struct Sum {
  const TesProblem *problem;
  const TesiForces *of;
  const TesSpace *space;
  TesiBatches *batches;
  int boundary, component;
  bool own, slip; /* the faces of the boundary itself, or the faces of the others; those with slip */
  const double *weight;
} Sum;

/* Faces with a node whose weight is not 0. */
static TesStatus find_faces(const Sum *s, TesiBoundaryFace **face, int64_t *count) {
  TesStatus status = TES_OK;
  TesContext *ctx = s->space->context;
  const Nodes n = {.batches = s->batches};
  bool *wanted = NULL;
  int64_t kept = 0;
  TES_ALLOC(&wanted, s->batches->boundaries + 1);
  for (int b = 0; b < s->batches->boundaries; b++)
    wanted[b] = (b == s->boundary) == s->own && tesi_force_shares(s->problem, b, s->component, s->slip);
  TES_TRY(tesi_boundary_faces(s->batches, wanted, false, face, count));
  for (int64_t i = 0; i < *count; i++) {
    bool any = false;
    for (int p = 0; p < face_nodes(&n); p++) any = any || s->weight[node_of(&n, &(*face)[i], p)] != 0;
    if (any) (*face)[kept++] = (*face)[i];
  }
  *count = kept;
done:
  tesi_free(ctx, &wanted);
  return status;
}

/* *sum += the sum */
static TesStatus add_stress(const Sum *s, double *sum) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  TesiBoundaryFace *face = NULL;
  TesVector *weight = NULL;
  char stress[TESI_AXES][TESI_STRESS_TEXT], text[TESI_SHARED_TEXT];
  int64_t count;
  double integral;
  TES_TRY(find_faces(s, &face, &count));
  if (!count) goto done;
  TES_TRY(tesi_vector_create_on(s->space->layout, TES_DOUBLE, &weight));
  TES_TRY(tes_vector_set(weight, s->weight));
  int fields = tesi_problem_fields(s->problem, field);
  field[fields++] = (TesiField){.name = "shared",
                                .space = s->space,
                                .vector = weight,
                                .derivative = TESI_FIELD_VALUE,
                                .time = field->time};
  for (int c = 0; c < s->problem->mesh->dim; c++) s->of->stress(s->problem, c, stress[c]);
  tesi_force_write(s->problem->mesh->dim, stress, s->component, s->slip, text);
  TES_TRY(tesi_functional_over_faces(s->space, fields, field, text, count, face, &integral));
  *sum += integral;
done:
  tesi_free(ctx, &face);
  tes_vector_destroy(&weight);
  return status;
}

static TesStatus add_stresses(const TesProblem *p, const TesiForces *of, int boundary, int direction,
                              const TesiForceWeights *w, double *force) {
  TesStatus status = TES_OK;
  TesContext *ctx = p->context;
  Sum s = {.problem = p, .of = of, .space = of->space(p, direction), .boundary = boundary};
  TES_TRY(tesi_batches_create(s.space, s.space->degree + 1, &s.batches));
  for (int k = 0; k < 2 * TESI_AXES * 2; k++) {
    s.component = k / 2 % TESI_AXES, s.own = k % 2 == 0, s.slip = k >= 2 * TESI_AXES;
    s.weight = s.own ? w->own[s.component] : w->other[s.component];
    if (s.weight) TES_TRY(add_stress(&s, force));
  }
done:
  tesi_batches_destroy(&s.batches);
  return status;
}

/* *force += weight r over the nodes of this rank; without a weight on any rank the residual is not needed. */
static TesStatus add_residual(const TesProblem *p, const TesiForces *of, int component, const double *weight,
                              double *force) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSpace *space = of->space(p, component);
  double *r = NULL;
  bool any = false;
  for (int64_t i = 0; i < space->length; i++) any = any || weight[i] != 0;
  if (!tesi_reduce_any(ctx, any)) goto done;
  TES_ALLOC(&r, space->length);
  TES_TRY(of->residual(p, component, r));
  for (int64_t i = 0; i < space->length; i++)
    if (weight[i] != 0 && tesi_layout_owns(space->layout, i)) *force += r[i] * weight[i];
done:
  tesi_free(ctx, &r);
  return status;
}

TesStatus tesi_force_on(const TesProblem *p, const TesiForces *of, int boundary, int direction, double *force) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiForceWeights w = {{NULL}, {NULL}, {NULL}};
  *force = 0;
  if (!tesi_force_is_support(p, boundary, direction)) return of->traction(p, boundary, direction, force);
  TES_TRY(tesi_force_weights(p, of, boundary, direction, &w));
  for (int c = 0; c < TESI_AXES; c++)
    if (w.weight[c]) TES_TRY(add_residual(p, of, c, w.weight[c], force));
  TES_TRY(add_stresses(p, of, boundary, direction, &w, force));
  tesi_reduce(ctx, TESI_SUM, 1, force);
done:
  tesi_force_weights_free(ctx, &w);
  return status;
}
