/* Boxes: tensor-product grids. */
#include <math.h>
#include "mesh/mesh.h"
#include "parallel/comm.h"

static TesStatus check(TesContext *ctx, const TesMeshDesc *desc, int dim) {
  TesStatus status = TES_OK;
  TES_CHECK(dim == 2 || dim == 3, "dim is %d, expected 2 or 3", dim);
  TES_CHECK(desc->refine >= 0 && desc->refine <= 24, "%d uniform refinements, expected 0..24", desc->refine);
  for (int d = 0; d < dim; d++) {
    const char axis = "xyz"[d];
    const double *x = desc->coordinates[d];
    TES_CHECK(desc->cells[d] >= 1 && desc->cells[d] <= 1 << 24, "%d cells in direction %c, expected 1..%d",
              desc->cells[d], axis, 1 << 24);
    TES_CHECK((int64_t)desc->cells[d] << desc->refine <= 1 << 24,
              "%d refinements of %d cells in direction %c: at most %d cells are possible", desc->refine,
              desc->cells[d], axis, 1 << 24);
    TES_CHECK(isfinite(desc->lower[d]) && isfinite(desc->upper[d]), "the box is not finite in direction %c",
              axis);
    if (!x) {
      TES_CHECK(desc->lower[d] < desc->upper[d] || (desc->lower[d] == 0 && desc->upper[d] == 0),
                "the box is reversed or empty in direction %c: lower %g, upper %g", axis, desc->lower[d],
                desc->upper[d]);
      const double width = (desc->upper[d] - desc->lower[d]) / desc->cells[d];
      TES_CHECK(width == 0 || tesi_mesh_is_width(width),
                "cells are %g wide in direction %c, expected " TESI_MESH_WIDTHS, width, axis);
      continue;
    }
    for (int i = 0; i <= desc->cells[d]; i++)
      TES_CHECK(isfinite(x[i]), "coordinate %d in direction %c is %g", i, axis, x[i]);
    for (int i = 0; i < desc->cells[d]; i++)
      TES_CHECK(x[i + 1] > x[i], "coordinates in direction %c do not ascend: [%d] = %g, [%d] = %g", axis, i,
                x[i], i + 1, x[i + 1]);
    for (int i = 0; i < desc->cells[d]; i++)
      TES_CHECK(tesi_mesh_is_width(x[i + 1] - x[i]),
                "cells are %g wide in direction %c, expected " TESI_MESH_WIDTHS, x[i + 1] - x[i], axis);
  }
done:
  return status;
}

/* Vertex i of direction d: cells that are refined are halved. */
static double coordinate(const TesMeshDesc *desc, int d, int n, int i) {
  const bool is_default = desc->lower[d] == 0 && desc->upper[d] == 0;
  const double lower = is_default ? 0 : desc->lower[d], upper = is_default ? 1 : desc->upper[d],
               *x = desc->coordinates[d];
  const int parts = 1 << desc->refine, coarse = i / parts;
  if (!x) return (lower * (n - i) + upper * i) / n;
  return i % parts ? x[coarse] + (x[coarse + 1] - x[coarse]) * (i % parts) / parts : x[coarse];
}

static TesStatus fill(TesMesh *mesh, const TesMeshDesc *desc, int d) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const bool exists = d < mesh->dim;
  const int n = mesh->box[d], first = mesh->window[d].first;
  TES_ALLOC(&mesh->coordinates[d], n + 1);
  for (int i = 0; i <= n; i++)
    mesh->coordinates[d][i] = exists ? coordinate(desc, d, mesh->window[d].cells, first + i) : i;
  mesh->cells *= n;
  mesh->box_periodic[d] = exists && mesh->kind == TES_MESH_BOX && desc->periodic[d];
done:
  return status;
}

/* The largest part of n cells that are cut between ranks in units of `layer`, over the mean. */
static double imbalance(int n, int ranks, int layer) {
  const int layers = n / layer;
  return (double)((layers + ranks - 1) / ranks) * layer * ranks / n;
}

/* The unit of the cuts: a power of two, so that so many coarsenings leave a vertex at each cut. The largest unit whose
 * parts are nearly equal is taken, but no smaller unit than the large levels need: levels of few cells are not cut. */
static int unit_of_cuts(int n, int ranks, int dim, double cells) {
  enum { FEW = 4096 };
  const double most = 1.125;
  int layer = 1, least = 1;
  while (n % (2 * layer) == 0 && n / (2 * layer) >= ranks) layer *= 2;
  if (cells <= FEW) return layer;
  for (double c = cells; c > FEW && least < layer; c /= 1 << dim) least *= 2;
  int best = layer;
  for (; layer >= least && imbalance(n, ranks, best) > most; layer /= 2)
    if (imbalance(n, ranks, layer) < imbalance(n, ranks, best)) best = layer;
  return best;
}

/* cells: of all of the box. */
static TesStatus cut_direction(TesMesh *mesh, int d, double cells, int64_t part, int64_t parts) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int n = mesh->window[d].cells;
  TES_CHECK(n >= parts, "%d cells in direction %c are cut between ranks, of which there are %d", n, "xyz"[d],
            (int)parts);
  const int layer = unit_of_cuts(n, (int)parts, mesh->dim, cells);
  const int64_t layers = n / layer;
  mesh->window[d].part = (int)part, mesh->window[d].parts = (int)parts;
  mesh->window[d].first = (int)(layers * part / parts) * layer;
  mesh->box[d] = (int)(layers * (part + 1) / parts) * layer - mesh->window[d].first;
done:
  return status;
}

/* The ranks are a grid, x fastest; a direction that does not exist has one. */
static TesStatus cut(TesMesh *mesh, const int along[3]) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int ranks = tesi_ranks(ctx), last = mesh->dim - 1;
  int parts[3] = {1, 1, 1};
  int64_t all = 1;
  if (mesh->kind != TES_MESH_BOX) return TES_OK;
  for (int d = 0; d < mesh->dim; d++) {
    TES_CHECK(along[d] >= 0, "%d ranks along direction %c, expected 0 or more", along[d], "xyz"[d]);
    parts[d] = along[d] > 0 ? along[d] : 1;
    all *= parts[d];
  }
  if (!along[last] && !along[0] && !along[1]) all = parts[last] = ranks;
  TES_CHECK(all == ranks, "%d x %d x %d ranks along the directions of a box, of which there are %d", parts[0],
            parts[1], parts[2], ranks);
  if (ranks == 1) return TES_OK;
  const double cells = (double)mesh->box[0] * mesh->box[1] * mesh->box[2];
  for (int d = 0, rank = tesi_context_communicator(ctx)->rank; d < 3; rank /= parts[d], d++)
    TES_TRY(cut_direction(mesh, d, cells, rank % parts[d], parts[d]));
done:
  return status;
}

/* window: of each direction whose cells desc has; NULL: desc has all cells. */
static TesStatus create_grid(TesContext *ctx, TesMeshKind kind, const TesMeshDesc *desc,
                             const TesiWindow *window, TesMesh **mesh) {
  TesStatus status = TES_OK;
  TesMesh *m = NULL;
  const int dim = desc->dim ? desc->dim : 3;
  *mesh = NULL;
  TES_TRY(check(ctx, desc, dim));
  TES_TRY(tesi_mesh_new(ctx, kind, dim, desc->geometry_degree, &m));
  m->cells = 1;
  for (int d = 0; d < 3; d++) {
    m->box[d] = d < dim ? desc->cells[d] << desc->refine : 1;
    m->window[d] = (TesiWindow){0, m->box[d], 1, 0};
  }
  if (!window) TES_TRY(cut(m, desc->ranks_along));
  for (int d = 0; d < 3; d++) TES_TRY(fill(m, desc, d));
  for (int d = 0; window && d < 3; d++) m->window[d] = window[d];
  *mesh = m;
  m = NULL;
done:
  tes_mesh_destroy(&m);
  return status;
}

TesStatus tesi_mesh_create_grid(TesContext *ctx, TesMeshKind kind, const TesMeshDesc *desc, TesMesh **mesh) {
  return create_grid(ctx, kind, desc, NULL, mesh);
}

/* Whether n cells become fewer; 2 and 3 stay. */
static bool can_be_halved(int n) {
  return n > 3;
}

/* How many cells n become, two each. The last of an odd number stays single where it is at least as wide as its
 * neighbour, up to round-off; else it joins the pair before it. So of equal cells the last one has always half the
 * width of the others or more, and at most 3/2 of it (docs/decisions/0017-the-last-of-an-odd-number.md). */
static int halved_cells(const double *x, int n) {
  const bool single = n % 2 && x[n] - x[n - 1] >= (1 - 1e-6) * (x[n - 1] - x[n - 2]);
  return n / 2 + single;
}

/* Whether a cut parts two cells that would be one. */
static bool parts_pairs(const TesMesh *mesh, int d) {
  return tesi_reduce_any(mesh->context,
                         tesi_mesh_parted(mesh, d) && (mesh->window[d].first % 2 || mesh->box[d] % 2));
}

/* Those of the directions that can still be halved in which cells are narrow, by their mean widths. Neighbours
 * along the wide side of a cell are coupled weakly: smoothers leave errors that change fast there, which a mesh
 * halved in that direction could not show. */
static void choose_directions(const TesMesh *mesh, bool halve[3]) {
  const double most = 1.5;
  double width[3], narrow = INFINITY;
  for (int d = 0; d < mesh->dim; d++) {
    width[d] = mesh->coordinates[d][mesh->box[d]] - mesh->coordinates[d][0];
    if (tesi_mesh_parted(mesh, d)) tesi_mesh_sum_parts(mesh, d, 1, &width[d]);
    width[d] /= mesh->window[d].cells; /* of all ranks */
    halve[d] = can_be_halved(mesh->window[d].cells) && !parts_pairs(mesh, d);
    if (halve[d]) narrow = fmin(narrow, width[d]);
  }
  for (int d = 0; d < 3; d++) halve[d] = d < mesh->dim && halve[d] && width[d] <= most * narrow;
}

TesStatus tesi_mesh_coarsen_box(const TesMesh *mesh, TesMesh **coarse) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  double *halved[3] = {NULL, NULL, NULL};
  TesMeshDesc desc = {.dim = mesh->dim, .geometry_degree = mesh->geometry_degree};
  TesiWindow window[3] = {{0, 1, 1, 0}, {0, 1, 1, 0}, {0, 1, 1, 0}};
  bool halve[3], any = false;
  *coarse = NULL;
  choose_directions(mesh, halve);
  for (int d = 0; d < mesh->dim; d++) {
    const int n = mesh->box[d], cells = desc.cells[d] = halve[d] ? halved_cells(mesh->coordinates[d], n) : n;
    desc.coordinates[d] = mesh->coordinates[d];
    desc.periodic[d] = mesh->box_periodic[d];
    window[d] = mesh->window[d];
    if (!halve[d]) continue;
    window[d].first /= 2;
    window[d].cells = !tesi_mesh_parted(mesh, d) ? cells : window[d].cells / 2;
    TES_ALLOC(&halved[d], cells + 1);
    for (int i = 0; i < cells; i++) halved[d][i] = mesh->coordinates[d][2 * i];
    halved[d][cells] = mesh->coordinates[d][n];
    desc.coordinates[d] = halved[d];
    any = true;
  }
  if (any) TES_TRY(create_grid(ctx, TES_MESH_BOX, &desc, window, coarse));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &halved[d]);
  return status;
}
