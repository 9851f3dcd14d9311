/* Spaces over a box: scalars on axes. */
#include <math.h>
#include "space/space.h"

/* Cells 0 .. count get their mean width where they are equally wide up to the round-off of the coordinates; else
 * false. */
static bool equalize(TesiAxis *axis, const double *vertices, int count) {
  const double mean = (vertices[count] - vertices[0]) / count,
               extent = fmax(fabs(vertices[0]), fabs(vertices[axis->cells]));
  for (int c = 0; c < count; c++)
    if (!(fabs(axis->h[c] - mean) <= 8e-16 * extent)) return false;
  for (int c = 0; c < count; c++) axis->h[c] = mean;
  return true;
}

static void place_nodes(TesiAxis *axis) {
  double points[TESI_MAX_POINTS] = {0};
  if (axis->degree) tesi_gauss_lobatto(axis->degree + 1, points, NULL);
  for (int c = 0; c < axis->cells; c++)
    for (int i = 0; i <= axis->degree; i++)
      axis->x[c * axis->degree + i] = axis->vertices[c] + points[i] * axis->h[c];
  if (axis->degree) axis->x[axis->cells * axis->degree] = axis->vertices[axis->cells];
}

/* Directions that do not exist are one cell of degree 0, open at both ends. */
static TesStatus fill_axis(TesSpace *space, int d, TesiBasis basis) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const bool exists = d < space->dim, nodes = basis == TESI_NODES;
  TesiAxis *axis = &space->axis[d];
  axis->basis = basis;
  axis->degree = exists ? space->degree + (nodes && !space->element->nodal) : 0;
  axis->cells = space->mesh->box[d];
  axis->step = axis->degree + !nodes;
  axis->periodic = exists && space->mesh->box_periodic[d] && !tesi_mesh_ring(space->mesh, d);
  axis->nodes = axis->cells * axis->step + (nodes && !axis->periodic);
  axis->vertices = space->mesh->coordinates[d];
  for (int end = 0; end < 2; end++)
    if (exists && !axis->periodic && space->given[2 * d + end] && !tesi_mesh_cut(space->mesh, 2 * d + end))
      axis->end[end] = nodes ? TESI_STRONG : TESI_WEAK;
  TES_ALLOC(&axis->h, axis->cells);
  for (int c = 0; c < axis->cells; c++) axis->h[c] = axis->vertices[c + 1] - axis->vertices[c];
  if (nodes) {
    TES_ALLOC(&axis->x, axis->cells * axis->degree + 1);
    place_nodes(axis);
  }
  axis->uniform = equalize(axis, axis->vertices, axis->cells);
  axis->odd_end = space->element->nodal && !axis->uniform && equalize(axis, axis->vertices, axis->cells - 1);
done:
  return status;
}

TesStatus tesi_space_fill_axes(TesSpace *space, int along) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  space->length = space->dofs = 1;
  for (int d = 0; d < 3; d++) {
    TES_TRY(fill_axis(space, d, space->element->nodal || d == along ? TESI_NODES : TESI_MODES));
    space->length *= space->axis[d].nodes;
    space->dofs *= tesi_axis_end(&space->axis[d]) - tesi_axis_first(&space->axis[d]);
  }
done:
  return status;
}

void tesi_rt_legendre(int n, double h, double t, double *out, double *derivative) {
  for (int j = 0; j < n; j++) {
    double value, slope;
    tesi_legendre(j, 2 * t - 1, &value, &slope);
    out[j] = sqrt((2 * j + 1) / h) * value;
    if (derivative) derivative[j] = sqrt((2 * j + 1) / h) * slope * 2 / h;
  }
}

bool tesi_space_closed(const TesSpace *space) {
  bool open = false;
  for (int f = 0; f < 2 * space->dim; f++) {
    const TesiAxis *axis = tesi_nodal(space, f / 2);
    open = open || (!axis->periodic && axis->end[f % 2] != TESI_STRONG && !tesi_mesh_cut(space->mesh, f));
  }
  return !tesi_reduce_any(space->context, open);
}

static bool shares(const TesSpace *space, int end) {
  const int d = space->dim - 1;
  return space->axis[d].basis == TESI_NODES && tesi_mesh_cut(space->mesh, 2 * d + end);
}

bool tesi_space_lends(const TesSpace *space, int end) {
  const int d = space->dim - 1;
  const bool inside = tesi_mesh_inside(space->mesh, 2 * d + end);
  return shares(space, end) && (end ? !inside : inside);
}

/* The layers of nodes at both ends, which a rank shares with the one before and the one behind, of a ring of two with
 * one rank both: the layer with the lower number first. Entries [3] of both neighbours and of this rank, by rank. Modes
 * are shared with nobody. */
static TesStatus list_sharers(const TesSpace *s, int64_t layer, TesiSharers *to) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesCommunicator *ranks = tesi_context_communicator(ctx);
  const int rank = ranks->rank, beside[2] = {(rank + ranks->size - 1) % ranks->size, (rank + 1) % ranks->size};
  const bool cut[2] = {shares(s, 0), shares(s, 1)};
  const int lower = tesi_space_lends(s, 1); /* the last layer of a ring is its first */
  int64_t at = 0;
  TES_ALLOC(&to->rank, 3);
  TES_ALLOC(&to->first, 4);
  TES_ALLOC(&to->entry, 4 * layer);
  for (int other = 0; other < ranks->size; other++) {
    const bool at_end[2] = {cut[0] && (other == rank || other == beside[0]),
                            cut[1] && (other == rank || other == beside[1])};
    if (other != rank && !at_end[0] && !at_end[1]) continue;
    for (int i = 0; i < 2; i++) {
      const int end = i ? !lower : lower;
      for (int64_t j = 0; at_end[end] && j < layer; j++)
        to->entry[at++] = (int32_t)(end ? s->length - layer + j : j);
    }
    to->rank[to->ranks++] = other;
    to->first[to->ranks] = at;
  }
done:
  return status;
}

TesStatus tesi_space_lay_out(TesSpace *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int d = s->dim - 1;
  const TesiAxis *axis = s->axis;
  const int64_t layer = s->length / axis[d].nodes, start = tesi_space_lends(s, 0) ? layer : 0,
                owned = s->length - start - (tesi_space_lends(s, 1) ? layer : 0),
                number = (int64_t)s->mesh->window[d].first * axis[d].step * layer;
  TesiSharers sharers = {0};
  bool *left_out = NULL;
  if (s->length > INT32_MAX)
    TES_FAIL(TES_OUT_OF_MEMORY, "%lld numbers per rank, of which 2^31 - 1 are possible: take more ranks",
             (long long)s->length);
  TES_TRY(list_sharers(s, layer, &sharers));
  TES_TRY(tesi_layout_create(ctx, s->length, (TesiOwned){start, owned, number + start}, &sharers, &s->layout));
  TES_ALLOC(&left_out, s->length);
  for (int64_t j = 0; j < 2 * layer; j++) { /* the layers at both ends: nothing else is shared */
    const int64_t i = j < layer ? j : s->length - 2 * layer + j;
    const int64_t at[3] = {i % axis[0].nodes, i / axis[0].nodes % axis[1].nodes,
                           i / axis[0].nodes / axis[1].nodes};
    for (int e = 0; e < 3; e++)
      left_out[i] = left_out[i] || at[e] < tesi_axis_first(&axis[e]) || at[e] >= tesi_axis_end(&axis[e]);
  }
  TES_TRY(tesi_exchange_create(ctx, &sharers, left_out, &s->layout->sum));
done:
  tesi_sharers_free(ctx, &sharers);
  tesi_free(ctx, &left_out);
  return status;
}

const TesiAxis *tesi_space_axes(const TesSpace *space) {
  return space && space->mesh->kind == TES_MESH_BOX && space->scalars == 1 && space->element->nodal
             ? space->axis
             : NULL;
}

bool tesi_space_is_periodic(const TesSpace *space) {
  const TesiAxis *axis = tesi_space_axes(space);
  return axis && (axis[0].periodic || axis[1].periodic || axis[2].periodic);
}

const TesiAxis *tesi_space_box(const TesSpace *space) {
  return tesi_space_is_periodic(space) ? NULL : tesi_space_axes(space);
}

TesStatus tesi_space_create_open(const TesSpace *space, TesSpace **open) {
  const TesMesh *own = space->mesh;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  uint8_t given[6] = {0};
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = own->dim};
  *open = NULL;
  for (int d = 0; d < own->dim; d++) {
    desc.cells[d] = own->box[d], desc.coordinates[d] = own->coordinates[d];
    for (int end = 0; end < 2; end++) given[2 * d + end] = !own->box_periodic[d] && space->given[2 * d + end];
  }
  TES_TRY(tes_mesh_create(ctx, &desc, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = space->degree, .given = given}, open));
done:
  tes_mesh_destroy(&mesh);
  return status;
}
