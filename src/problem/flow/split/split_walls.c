/* Given values of velocities: see split.h. */
#include <limits.h>
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "device/upload.h"
#include "geometry/normals.h"
#include "problem/flow/split/split.h"
#include "space/coordinates.h"
#include "space/slip.h"

static const char *name_of(const TesProblem *p, int boundary) {
  return tes_mesh_boundary_name(p->mesh, boundary);
}

/* ---- which components ---------------------------------------------------------------------------------- */

/* On curved faces the form with gradients has another tangential stress than slip requires. */
static TesStatus check_slip(TesProblem *p, int boundary, const TesiNormals *normals) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_CHECK(!normals->curved || p->variant.flow != TES_FLOW_GRADIENT,
            "boundary.%s: slip on curved faces has no tangential stress in the symmetric form alone: give "
            "data.form: "
            "symmetric, or leave it out",
            name_of(p, boundary));
  if (normals->curved) p->variant.flow = TES_FLOW_SYMMETRIC;
done:
  return status;
}

bool tesi_wall_open(const TesProblem *p, int boundary) {
  const TesiHow *how = p->numbered.given[boundary].how;
  return how[0] == TESI_OPEN || how[1] == TESI_OPEN || (p->mesh->dim == 3 && how[2] == TESI_OPEN);
}

/* Makes conditions of slip and open boundaries definite. axes: the components that the boundary's normals have. */
static void complete(int dim, unsigned axes, TesiHow *how) {
  const bool slips = how[0] == TESI_NORMAL;
  bool open = false;
  if (slips && (axes & (axes - 1))) return;
  for (int c = 0; c < dim; c++) {
    if (slips) how[c] = axes >> c & 1 ? TESI_STRONG : TESI_FLUX;
    open = open || (how[c] == TESI_OPEN && axes >> c & 1);
  }
  for (int c = 0; c < dim && !open; c++)
    if (how[c] == TESI_OPEN) how[c] = TESI_FLUX;
}

TesStatus tesi_walls_classify(TesProblem *p, TesiWalls *walls) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiGiven *const given[] = {p->numbered.given, p->in_time ? p->in_time->numbers.given : NULL};
  TesiNormals *normals = NULL;
  walls->boundaries = tes_mesh_boundaries(p->mesh);
  TES_ALLOC(&walls->wall, walls->boundaries + 1);
  TES_ALLOC(&normals, walls->boundaries + 1);
  TES_TRY(tesi_mesh_normals(p->mesh, normals));
  for (int i = 0; i < walls->boundaries; i++) {
    complete(p->mesh->dim, normals[i].axes, given[0][i].how);
    if (given[0][i].how[0] == TESI_NORMAL) TES_TRY(check_slip(p, i, &normals[i]));
    if (given[1]) memcpy(given[1][i].how, given[0][i].how, sizeof given[0][i].how);
    walls->any_open = walls->any_open || tesi_wall_open(p, i);
  }
done:
  tesi_free(ctx, &normals);
  return status;
}

/* ---- where --------------------------------------------------------------------------------------------- */

/* Finds the entries of a component that are given. */
static TesStatus pick_given(const TesSpace *part, TesiPicked *given) {
  TesContext *ctx = part->context;
  TesStatus status = TES_OK;
  const TesiCellView *view = part->view;
  TesiBatches *b = NULL;
  TES_TRY(tesi_picked_begin(ctx, part->length, given));
  if (view) {
    for (int64_t i = 0; i < view->length - view->dofs; i++) given->mark[view->constrained[i]] = 1;
  } else {
    TES_TRY(tesi_batches_create(part, part->degree + 1, &b));
    for (int64_t cell = 0; cell < b->cells; cell++)
      for (int p = 0; p < b->nodes; p++) {
        bool holds;
        const int64_t at = b->kind->node(b, cell, p, &holds);
        if (holds) given->mark[at] = 1;
      }
  }
  tesi_picked_number(ctx, given);
done:
  tesi_batches_destroy(&b);
  return status;
}

/* Lists made from the given entries: the entries of each component, whose slots begin at `first`; the nodes with any
 * entry; and coordinates of these nodes. */
typedef struct Slots {
  TesiPicked of[TESI_AXES], any;
  int64_t first[TESI_AXES + 1];
  double *x; /* [any.count][dim] */
} Slots;

static void free_slots(TesContext *ctx, Slots *slots) {
  for (int c = 0; c < TESI_AXES; c++) tesi_picked_free(ctx, &slots->of[c]);
  tesi_picked_free(ctx, &slots->any);
  tesi_free(ctx, &slots->x);
}

/* The number of a given entry; -1: the entry is an unknown. */
static int32_t slot_of(const Slots *slots, int c, int64_t node) {
  if (!slots->of[c].mark[node]) return -1;
  return (int32_t)(slots->first[c] + tesi_picked_before(&slots->of[c], node));
}

static TesStatus place_nodes(const TesSpace *scalar, Slots *slots) {
  TesContext *ctx = scalar->context;
  TesStatus status = TES_OK;
  const TesiPicked *any = &slots->any;
  const int dim = scalar->dim;
  double *x = NULL;
  TES_ALLOC(&slots->x, any->count * dim);
  if (scalar->view) return tesi_cells_coordinates_of(scalar->view, any, slots->x);
  TES_ALLOC(&x, scalar->length * dim);
  TES_TRY(tes_space_coordinates(scalar, x));
  int64_t at = 0;
  for (int64_t i = tesi_picked_from(any, 0); i < any->length; i = tesi_picked_from(any, i + 1), at++)
    memcpy(slots->x + at * dim, x + i * dim, (size_t)dim * sizeof *x);
done:
  tesi_free(ctx, &x);
  return status;
}

/* Makes walls->entry and the slots. scalar: the space of a component without given values. */
static TesStatus number_slots(const TesSpace *velocity, const TesSpace *scalar, TesiWalls *walls,
                              Slots *slots) {
  TesContext *ctx = velocity->context;
  TesStatus status = TES_OK;
  const int64_t length = scalar->length;
  TES_TRY(tesi_picked_begin(ctx, length, &slots->any));
  for (int c = 0; c < velocity->parts; c++) {
    TES_TRY(pick_given(velocity->part[c], &slots->of[c]));
    slots->first[c + 1] = walls->count += slots->of[c].count;
  }
  TES_ALLOC(&walls->entry, walls->count);
  TES_ALLOC(&walls->value, walls->count);
  TES_ALLOC(&walls->length, walls->count);
  TES_ALLOC(&walls->priority, walls->count);
  for (int64_t c = 0, slot = 0; c < velocity->parts; c++) {
    const TesiPicked *of = &slots->of[c];
    for (int64_t i = tesi_picked_from(of, 0); i < length; i = tesi_picked_from(of, i + 1)) {
      walls->entry[slot++] = c * length + i;
      slots->any.mark[i] = 1;
    }
  }
  tesi_picked_number(ctx, &slots->any);
  TES_TRY(place_nodes(scalar, slots));
done:
  return status;
}

/* The face of a node here may belong to a cell of another rank. */
static TesStatus share_marks(const TesSpace *space, uint8_t *mark, int64_t *count) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *marks = NULL;
  if (!space->layout->shared) return TES_OK;
  TES_ALLOC(&marks, space->length);
  for (int64_t i = 0; i < space->length; i++) marks[i] = mark[i];
  tesi_exchange_sum(space->layout->shared, TES_DOUBLE, marks);
  *count = 0;
  for (int64_t i = 0; i < space->length; i++) *count += mark[i] = marks[i] > 0;
done:
  tesi_free(ctx, &marks);
  return status;
}

TesStatus tesi_walls_mark(const TesiTaylorHood *m, int boundary, uint8_t *mark, int64_t *count) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TesiTaylorHoodFaces faces = {.count = 0};
  bool *wanted = NULL;
  *count = 0;
  TES_ALLOC(&wanted, m->over->boundaries + 1);
  wanted[boundary] = true;
  TES_TRY(tesi_taylor_hood_faces_create(m, wanted, &faces));
  for (int64_t i = 0; i < m->velocity->length; i++) mark[i] = 0;
  for (int64_t i = 0; i < faces.count; i++)
    for (int p = 0; p < faces.rule.nodes; p++) {
      bool given;
      const int local = tesi_face_node(m->dim, faces.rule.n, faces.face[i].face, p);
      const int64_t node = m->over->kind->node(m->over, faces.face[i].cell, local, &given);
      *count += !mark[node];
      mark[node] = 1;
    }
  TES_TRY(share_marks(m->velocity, mark, count));
done:
  tesi_taylor_hood_faces_free(m, &faces);
  tesi_free(ctx, &wanted);
  return status;
}

/* normal[3][count] <- normals at the marked nodes, as boundary values use them. */
static TesStatus take_normals(const TesProblem *p, int boundary, const TesSpace *given, const uint8_t *mark,
                              int64_t count, double *normal) {
  static const char *const names[3] = {"nx", "ny", "nz"};
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *f = NULL;
  TesVector *v = NULL;
  double *values = NULL;
  const TesFunction **g = NULL;
  TES_ALLOC(&values, given->length);
  TES_ALLOC(&g, tes_mesh_boundaries(p->mesh) + 1);
  TES_TRY(tesi_vector_create_on(given->layout, TES_DOUBLE, &v));
  for (int c = 0; c < p->mesh->dim; c++) {
    int64_t at = 0;
    TES_TRY(tes_function_create_expression(ctx, names[c], &f));
    g[boundary] = f;
    TES_TRY(tes_functional_lifting(given, (const TesFunction *const *[]){g}, v));
    TES_TRY(tes_vector_get(v, values));
    for (int64_t i = 0; i < given->length; i++)
      if (mark[i]) normal[c * count + at++] = values[i];
    tes_function_destroy(&f);
  }
done:
  tes_function_destroy(&f);
  tes_vector_destroy(&v);
  tesi_free(ctx, &values);
  tesi_free(ctx, &g);
  return status;
}

static bool asks_normal(const TesiGiven *given) {
  bool asks = false;
  for (int c = 0; c < TESI_GIVEN_SCALARS; c++)
    asks = asks || (given->g[c] && tesi_function_uses(given->g[c]));
  return asks;
}

/* The nodes of a boundary. nodes: the number of all nodes; any marks. */
static TesStatus fill_wall(const TesProblem *p, const TesSpace *velocity, const TesiTaylorHood *m,
                           int boundary, const Slots *slots, TesiPicked *nodes, TesiWallNodes *w) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int dim = m->dim;
  const TesiGiven *given = &p->numbered.given[boundary];
  int64_t at = 0;
  TES_TRY(tesi_walls_mark(m, boundary, nodes->mark, &w->count));
  tesi_picked_number(ctx, nodes);
  TES_ALLOC(&w->slot, dim * w->count);
  TES_ALLOC(&w->x, 3 * w->count);
  for (int64_t i = tesi_picked_from(nodes, 0); i < nodes->length; i = tesi_picked_from(nodes, i + 1), at++) {
    const double *x = slots->any.mark[i] ? slots->x + tesi_picked_before(&slots->any, i) * dim : NULL;
    for (int d = 0; d < dim && x; d++) w->x[d * w->count + at] = x[d];
    for (int c = 0; c < dim; c++)
      w->slot[c * w->count + at] = given->how[c] == TESI_STRONG ? slot_of(slots, c, i) : -1;
  }
  if (!asks_normal(given)) goto done;
  TES_ALLOC(&w->normal, 3 * w->count);
  for (int c = 0; c < dim; c++)
    if (given->how[c] == TESI_STRONG) {
      TES_TRY(take_normals(p, boundary, velocity->part[c], nodes->mark, w->count, w->normal));
      break;
    }
done:
  return status;
}

static bool any_given(const TesProblem *p, int boundary) {
  bool any = false;
  for (int c = 0; c < p->mesh->dim; c++) any = any || tesi_problem_given(p, boundary, c);
  return any;
}

static TesStatus create_on_device(TesContext *ctx, TesiWalls *walls) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "entries.cu"};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_put_entries", 0, &walls->put));
  TES_TRY(tesi_upload(ctx, walls->entry, (size_t)walls->count * sizeof *walls->entry, &walls->device_entry));
  TES_TRY(tesi_upload(ctx, walls->value, (size_t)walls->count * sizeof *walls->value, &walls->device_value));
done:
  return status;
}

TesStatus tesi_walls_create(const TesProblem *p, const TesSpace *velocity, const TesiTaylorHood *m,
                            TesiWalls *walls) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  Slots slots = {0};
  TesiPicked nodes = {0};
  TES_TRY(number_slots(velocity, m->velocity, walls, &slots));
  TES_TRY(tesi_picked_begin(ctx, m->velocity->length, &nodes));
  for (int i = 0; i < walls->boundaries; i++)
    if (any_given(p, i)) TES_TRY(fill_wall(p, velocity, m, i, &slots, &nodes, &walls->wall[i]));
  walls->at = NAN;
  walls->space = velocity;
  walls->timed = p->in_time && tesi_numbered_timed(p->mesh, &p->in_time->numbers, true);
  if (tesi_has_kernels(ctx)) TES_TRY(create_on_device(ctx, walls));
done:
  free_slots(ctx, &slots);
  tesi_picked_free(ctx, &nodes);
  return status;
}

void tesi_walls_free(TesContext *ctx, TesiWalls *walls) {
  for (int i = 0; walls->wall && i < walls->boundaries; i++) {
    tesi_free(ctx, &walls->wall[i].slot);
    tesi_free(ctx, &walls->wall[i].x);
    tesi_free(ctx, &walls->wall[i].normal);
  }
  tesi_free(ctx, &walls->wall);
  tesi_free(ctx, &walls->entry);
  tesi_free(ctx, &walls->value);
  tesi_free(ctx, &walls->length);
  tesi_free(ctx, &walls->priority);
  tesi_context_device(ctx)->release(ctx, &walls->device_entry);
  tesi_context_device(ctx)->release(ctx, &walls->device_value);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static TesStatus evaluate(TesContext *ctx, const TesFunction *f, const TesiWallNodes *w, double *value) {
  TesStatus status = TES_OK;
  const int64_t n = w->count;
  const double *const more[3] = {w->normal, w->normal ? w->normal + n : NULL,
                                 w->normal ? w->normal + 2 * n : NULL};
  if (!f) {
    for (int64_t i = 0; i < n; i++) value[i] = 0;
    goto done;
  }
  if (w->normal)
    tesi_function_values_over(f, n, w->x, w->x + n, w->x + 2 * n, 0, more, value);
  else
    tesi_function_values(f, n, w->x, w->x + n, w->x + 2 * n, 0, value);
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(value[i]))
      TES_FAIL(tesi_function_fault(f), "%s%s is %g at (%.6g, %.6g, %.6g)", tesi_function_where(f),
               tes_function_text(f), value[i], w->x[i], w->x[n + i], w->x[2 * n + i]);
done:
  return status;
}

static TesStatus evaluate_all(const TesProblem *p, const TesiGiven *given, const TesiWallNodes *w,
                              double *value) {
  TesStatus status = TES_OK;
  for (int c = 0; c < p->mesh->dim && status == TES_OK; c++)
    status = evaluate(p->context, given->how[c] == TESI_STRONG ? given->g[c] : NULL, w, value + c * w->count);
  return status;
}

/* Writes the values of one boundary at nodes where they have priority; or the directions of these values. */
static TesStatus put_wall(const TesProblem *p, int boundary, const TesiGiven *direction, TesiWalls *walls,
                          double *value) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiWallNodes *w = &walls->wall[boundary];
  const TesiGiven *given = &p->numbered.given[boundary];
  const int dim = p->mesh->dim, priority = given->priority;
  double *put = direction ? value + dim * w->count : value;
  TES_TRY(evaluate_all(p, given, w, value));
  if (direction) TES_TRY(evaluate_all(p, &direction[boundary], w, put));
  for (int64_t i = 0; i < w->count; i++) {
    double square = 0;
    for (int c = 0; c < dim; c++) square += value[c * w->count + i] * value[c * w->count + i];
    for (int c = 0; c < dim && direction; c++) /* of values that a step of 1e-100 has moved */
      square += 1e-200 * put[c * w->count + i] * put[c * w->count + i];
    for (int c = 0; c < dim; c++) {
      const int64_t s = w->slot[c * w->count + i];
      if (s < 0 || priority < walls->priority[s] ||
          (priority == walls->priority[s] && square >= walls->length[s]))
        continue;
      walls->priority[s] = priority, walls->length[s] = square, walls->value[s] = put[c * w->count + i];
    }
  }
done:
  return status;
}

static TesStatus update(const TesProblem *p, const TesiGiven *direction, TesiWalls *walls) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double *value = NULL;
  int64_t most = 0;
  for (int i = 0; i < walls->boundaries; i++)
    most = walls->wall[i].count > most ? walls->wall[i].count : most;
  TES_ALLOC(&value, 6 * most);
  for (int64_t s = 0; s < walls->count; s++)
    walls->priority[s] = INT_MIN, walls->length[s] = INFINITY, walls->value[s] = 0;
  for (int i = 0; i < walls->boundaries; i++)
    if (any_given(p, i)) TES_TRY(put_wall(p, i, direction, walls, value));
  if (walls->device_value)
    TES_TRY(tesi_context_device(ctx)->to_device(ctx, walls->device_value, walls->value,
                                                (size_t)walls->count * sizeof *walls->value));
done:
  tesi_free(ctx, &value);
  return status;
}

TesStatus tesi_walls_update(const TesProblem *p, double time, TesiWalls *walls) {
  if (walls->at == time || (isfinite(walls->at) && !walls->timed)) return TES_OK;
  const TesStatus status = update(p, NULL, walls);
  if (status == TES_OK) walls->at = time;
  return status;
}

TesStatus tesi_walls_vary(const TesProblem *p, const TesiGiven *direction, TesiWalls *walls) {
  walls->at = NAN;
  return update(p, direction, walls);
}

static TesStatus put_on_device(const TesiWalls *walls, bool values, TesVector *u) {
  enum { THREADS = 256, BLOCKS = 4096 };
  const void *value = values ? walls->device_value : NULL;
  long long count = walls->count;
  const long long blocks = (count + THREADS - 1) / THREADS;
  return tesi_kernel_launch(u->context, &walls->put, (TesiGrid){(unsigned)tesi_min(blocks, BLOCKS), 1, 1},
                            THREADS, 0, (void *[]){&u->data, (void *)&walls->device_entry, &value, &count});
}

TesStatus tesi_walls_put(const TesiWalls *walls, bool values, TesVector *u) {
  TesContext *ctx = u->context;
  TesStatus status = TES_OK;
  double *to = u->data;
  TES_TRY(tesi_space_project(walls->space, u->precision, u->data));
  if (walls->put.entry)
    TES_TRY(put_on_device(walls, values, u));
  else
    for (int64_t s = 0; s < walls->count; s++) to[walls->entry[s]] = values ? walls->value[s] : 0;
  if (values && walls->space->slip) TES_TRY(tesi_slip_lift(walls->space->slip, u));
done:
  return status;
}
