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

static bool shares(const TesSpace *space, int face) {
  return space->axis[face / 2].basis == TESI_NODES && tesi_mesh_cut(space->mesh, face);
}

bool tesi_space_lends(const TesSpace *space, int face) {
  const bool inside = tesi_mesh_inside(space->mesh, face);
  return shares(space, face) && (face % 2 ? !inside : inside);
}

/* Layers of all ranks in a direction. */
static int64_t all_layers(const TesSpace *s, int d) {
  const TesiAxis *axis = &s->axis[d];
  return (int64_t)s->mesh->window[d].cells * axis->step +
         (axis->basis == TESI_NODES && !(d < s->dim && s->mesh->box_periodic[d]));
}

int64_t tesi_space_number(const TesSpace *s, const int64_t at[3]) {
  int64_t number = 0;
  for (int d = 2; d >= 0; d--) {
    const int64_t all = all_layers(s, d), layer = (int64_t)s->mesh->window[d].first * s->axis[d].step + at[d];
    number = number * all + layer % all;
  }
  return number;
}

/* The layers of a direction that this rank has in common with the ranks of a part of it: in a ring of two the layers at
 * both ends, the one with the lower number first. Returns how many; layer[2], NULL: all. Modes are shared with
 * nobody. */
static int64_t common_layers(const TesSpace *s, int d, int part, int64_t layer[2]) {
  const TesiWindow *w = &s->mesh->window[d];
  const int64_t nodes = s->axis[d].nodes, ends[2] = {0, nodes - 1};
  if (part == w->part) return nodes;
  const bool with[2] = {shares(s, 2 * d) && part == (w->part + w->parts - 1) % w->parts,
                        shares(s, 2 * d + 1) && part == (w->part + 1) % w->parts};
  const int lower = tesi_space_lends(s, 2 * d + 1); /* the last layer of a ring is its first */
  int64_t count = 0;
  for (int i = 0; i < 2; i++) {
    const int end = i ? !lower : lower;
    if (with[end]) layer[count++] = ends[end];
  }
  return count;
}

/* The entries that this rank has in common with the ranks of these parts. Returns how many; entry NULL: counts. */
static int64_t list_common(const TesSpace *s, const int part[3], int32_t *entry) {
  int64_t layer[3][2], count[3], at[3], n = 0;
  bool all[3];
  for (int d = 0; d < 3; d++) {
    count[d] = common_layers(s, d, part[d], layer[d]);
    all[d] = part[d] == s->mesh->window[d].part;
  }
  if (!entry) return count[0] * count[1] * count[2];
  for (at[2] = 0; at[2] < count[2]; at[2]++)
    for (at[1] = 0; at[1] < count[1]; at[1]++)
      for (at[0] = 0; at[0] < count[0]; at[0]++) {
        int64_t i = 0;
        for (int d = 2; d >= 0; d--) i = i * s->axis[d].nodes + (all[d] ? at[d] : layer[d][at[d]]);
        entry[n++] = (int32_t)i;
      }
  return n;
}

/* Every entry that another rank has too, ascending. */
static int64_t list_shared(const TesSpace *s, int32_t *entry) {
  const TesiAxis *a = s->axis;
  bool end[6];
  int64_t n = 0;
  for (int f = 0; f < 6; f++) end[f] = f < 2 * s->dim && shares(s, f);
  for (int64_t k = 0; k < a[2].nodes; k++)
    for (int64_t j = 0; j < a[1].nodes; j++) {
      const bool row = (end[4] && k == 0) || (end[5] && k == a[2].nodes - 1) || (end[2] && j == 0) ||
                       (end[3] && j == a[1].nodes - 1);
      const int64_t first = (k * a[1].nodes + j) * a[0].nodes, last = a[0].nodes - 1;
      for (int64_t i = 0; i < a[0].nodes; i += row || i == last ? 1 : last) {
        const bool is_shared = row || (end[0] && i == 0) || (end[1] && i == last);
        if (!is_shared) continue;
        if (entry) entry[n] = (int32_t)(first + i);
        n++;
      }
    }
  return n;
}

/* Ranks ascend x fastest; across faces, edges and corners. */
static TesStatus list_sharers(const TesSpace *s, TesiSharers *to) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesiWindow *w = s->mesh->window;
  const int ranks = tesi_ranks(ctx);
  int64_t entries = list_shared(s, NULL);
  int part[3];
  for (int pass = 0; pass < 2; pass++) {
    if (pass) {
      TES_ALLOC(&to->rank, ranks);
      TES_ALLOC(&to->first, ranks + 1);
      TES_ALLOC(&to->entry, entries);
    }
    for (part[2] = 0; part[2] < w[2].parts; part[2]++)
      for (part[1] = 0; part[1] < w[1].parts; part[1]++)
        for (part[0] = 0; part[0] < w[0].parts; part[0]++) {
          const bool own = part[0] == w[0].part && part[1] == w[1].part && part[2] == w[2].part;
          const int64_t count = own ? 0 : list_common(s, part, NULL);
          if (!own && !count) continue;
          if (!pass) {
            entries += count;
            continue;
          }
          int32_t *list = to->entry + to->first[to->ranks];
          const int64_t end = to->first[to->ranks] + (own ? list_shared(s, list) : list_common(s, part, list));
          to->rank[to->ranks++] = tesi_mesh_rank(s->mesh, part);
          to->first[to->ranks] = end;
        }
  }
done:
  return status;
}

/* Runs are rows, or planes where rows are whole, or one where planes are whole too. */
static TesiOwned owned_of(const TesSpace *s) {
  int64_t first[3], count[3], all[3], stride = 1, step = 1, start = 0;
  TesiOwned own = {.run = 1, .rows = {1, 1}, .owned = 1};
  bool whole = true;
  int level = 0; /* of loops around the runs */
  for (int d = 0; d < 3; d++) {
    first[d] = tesi_space_lends(s, 2 * d);
    count[d] = s->axis[d].nodes - first[d] - tesi_space_lends(s, 2 * d + 1);
    all[d] = all_layers(s, d);
    own.owned *= count[d];
    start += first[d] * stride;
    if (whole)
      own.run *= count[d];
    else
      own.rows[level] = count[d], own.stride[level] = stride, own.step[level++] = step;
    whole = whole && count[d] == s->axis[d].nodes && count[d] == all[d];
    stride *= s->axis[d].nodes, step *= all[d];
  }
  own.start = start;
  own.first = tesi_space_number(s, first);
  if (own.run == own.owned) return tesi_owned(own.start, own.owned, own.first);
  for (; level < 2; level++) own.stride[level] = stride, own.step[level] = step;
  return own;
}

TesStatus tesi_space_lay_out(TesSpace *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = s->axis;
  TesiSharers sharers = {0};
  bool *left_out = NULL;
  if (s->length > INT32_MAX)
    TES_FAIL(TES_OUT_OF_MEMORY, "%lld numbers per rank, of which 2^31 - 1 are possible: take more ranks",
             (long long)s->length);
  TES_TRY(list_sharers(s, &sharers));
  TES_TRY(tesi_layout_create(ctx, s->length, owned_of(s), &sharers, &s->layout));
  TES_ALLOC(&left_out, s->length);
  for (int64_t j = 0; j < sharers.first[sharers.ranks]; j++) {
    const int64_t i = sharers.entry[j];
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
