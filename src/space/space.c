/* Spaces: creation, references, and the public calls. */
#include "space/slip.h"
#include <string.h>

/* The highest degree over each kind of mesh: masks of hanging nodes and mapped operators have their own limits. */
static int highest_degree(TesMeshKind kind) {
  return kind == TES_MESH_BOX ? TESI_MAX_DEGREE : kind == TES_MESH_FOREST ? TESI_FOREST_DEGREE : 15;
}

static TesStatus take_given(TesSpace *space, const uint8_t *given) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(space->mesh);
  const unsigned all = (1u << space->parts) - 1;
  TES_ALLOC(&space->given, names + 1);
  for (int i = 0; i <= names; i++)
    space->given[i] = (uint8_t)(given                                ? i < names ? given[i] & all : 0
                                : tesi_mesh_is_group(space->mesh, i) ? 0
                                                                     : all);
  for (int i = 0; i < 6 && space->element->nodal; i++) /* where opposite faces are one nothing is given */
    if (space->mesh->box_periodic[i / 2]) space->given[i] = 0;
done:
  return status;
}

/* After the components. */
static TesStatus take_slips(TesSpace *space, const bool *slips, const TesiSlip *like) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(space->mesh);
  bool any = false;
  for (int i = 0; slips && i < names; i++) any = any || slips[i];
  if (!any) return TES_OK;
  TES_CHECK(space->element->nodal && space->parts == space->dim,
            "slip is for spaces of %d components of element q", space->dim);
  TES_ALLOC(&space->slips, names + 1);
  memcpy(space->slips, slips, (size_t)names * sizeof *slips);
  TES_TRY(tesi_slip_create(space, like, &space->slip));
  if (!space->slip) goto done;
  space->dofs -= space->slip->held;
  space->all_dofs -= tesi_ranks(ctx) > 1 ? tesi_reduce_count(ctx, space->slip->held_owned) : space->slip->held;
done:
  return status;
}

#define MOST_NUMBERS 1e17 /* what fits with all its bytes into 64 bits */

/* Of elements that have modes. */
static TesStatus check_cells(const TesSpace *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  for (int d = 0; d < s->dim; d++)
    TES_CHECK(s->mesh->window[d].cells >= 2,
              "mesh.box.cells: element %s needs two cells per direction at least, there is one in %c",
              tesi_element_words[s->element->element], "xyz"[d]);
  double numbers = s->parts;
  for (int d = 0; d < s->dim; d++) numbers *= (s->degree + 1.0) * s->mesh->box[d] + 1;
  if (numbers > MOST_NUMBERS)
    TES_FAIL(TES_OUT_OF_MEMORY, "%.3g unknowns on %d x %d x %d cells exceed the address space", numbers,
             s->mesh->box[0], s->mesh->box[1], s->dim == 3 ? s->mesh->box[2] : 1);
done:
  return status;
}

/* The owned ones. */
static int64_t owned_dofs(const TesSpace *s) {
  const TesiOwned *own = &s->layout->block[0];
  int64_t dofs = 1;
  if (s->mesh->kind == TES_MESH_BOX) {
    for (int d = 0; d < s->dim; d++)
      dofs *= tesi_axis_end(&s->axis[d]) - tesi_axis_first(&s->axis[d]) - tesi_space_lends(s, 2 * d) -
              tesi_space_lends(s, 2 * d + 1);
    return dofs;
  }
  dofs = own->owned;
  for (int64_t i = 0; i < s->length - s->dofs; i++) {
    const int32_t node = s->view->constrained[i];
    dofs -= node >= own->start && node < own->start + own->owned;
  }
  return dofs;
}

TesStatus tesi_space_be_scalar(TesSpace *s, int along) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const bool ranks = tesi_ranks(ctx) > 1;
  if (s->mesh->kind == TES_MESH_BOX) {
    TES_TRY(tesi_space_fill_axes(s, along));
    if (ranks) TES_TRY(tesi_space_lay_out(s));
    TES_CHECK(tesi_reduce_any(ctx, s->dofs > 0),
              "no unknowns: degree %d, and Dirichlet values at all vertices", s->degree);
  } else {
    TES_TRY(tesi_cells_create(s, &s->view));
    s->length = s->view->length;
    s->dofs = s->view->dofs;
    s->layout = tesi_layout_retain(s->view->layout);
  }
  s->all_dofs = ranks ? tesi_reduce_count(ctx, owned_dofs(s)) : s->dofs;
  if (!s->layout) TES_TRY(tesi_layout_create_plain(ctx, s->length, &s->layout));
  tesi_space_be_own_part(s);
done:
  return status;
}

int tesi_space_usual_degree(TesElement element, int degree) {
  const TesiElement *row = tesi_element(element);
  return degree ? degree : row ? row->usual : 0;
}

static TesStatus check_desc(TesContext *ctx, const TesSpaceDesc *desc, int degree) {
  TesStatus status = TES_OK;
  const TesiElement *element = tesi_element(desc->element);
  const bool rt = element && !element->nodal;
  TES_CHECK(desc->mesh, "a space needs a mesh");
  TES_CHECK(desc->mesh->context == ctx, "the mesh belongs to another context than the space");
  TES_CHECK(element, "element is %d, expected 0..3", (int)desc->element);
  TES_CHECK(!rt || desc->mesh->kind == TES_MESH_BOX, "element %s is for meshes of kind box; this one is not",
            tesi_element_words[desc->element]);
  const bool *round = desc->mesh->box_periodic, periodic = round[0] || round[1] || round[2];
  const int highest = element->most ? element->most
                      : periodic    ? TESI_FOREST_DEGREE
                                    : highest_degree(desc->mesh->kind);
  TES_CHECK(degree >= 1 && degree <= highest, "degree is %d, expected 1..%d%s", degree, highest,
            desc->mesh->kind == TES_MESH_FOREST ? " on a forest"
            : periodic && !rt                   ? " on a periodic box"
                                                : "");
  TES_CHECK(desc->components >= 0 && desc->components <= (rt ? 0 : TESI_COMPONENTS),
            "a space of %d components, expected %s", desc->components,
            rt ? "0 for elements rt and dg" : "1..6, or 0 for 1");
  TES_CHECK(rt || !periodic || tesi_ranks(ctx) == 1, "element q on a periodic box works on one rank");
  for (int d = 0; d < desc->mesh->dim && !rt; d++)
    TES_CHECK(!round[d] || desc->mesh->box[d] > 1,
              "mesh.box.cells: a periodic direction needs two cells at least");
done:
  return status;
}

TesStatus tesi_space_new(TesContext *ctx, const TesMesh *mesh, int degree, const TesiElement *element,
                         TesSpace **space) {
  TesStatus status = TES_OK;
  TES_NEW(space);
  TesSpace *s = *space;
  atomic_init(&s->references, 1);
  s->context = tesi_context_retain(ctx);
  s->mesh = tesi_mesh_retain(mesh);
  s->dim = mesh->dim, s->degree = degree, s->element = element;
done:
  return status;
}

static TesStatus create(TesContext *ctx, const TesSpaceDesc *desc, const TesiSlip *like, TesSpace **space) {
  TesStatus status = TES_OK;
  TesSpace *s = NULL;
  const int degree = tesi_space_usual_degree(desc->element, desc->degree);
  *space = NULL;
  TES_TRY(check_desc(ctx, desc, degree));
  TES_TRY(tesi_space_new(ctx, desc->mesh, degree, tesi_element(desc->element), &s));
  s->parts = s->element->with_pressure ? s->dim + 1 : tesi_max(desc->components, 1);
  TES_TRY(take_given(s, desc->given));
  if (!s->element->nodal) TES_TRY(check_cells(s));
  TES_CHECK(!tesi_mesh_gridded(s->mesh) || s->element->gridded,
            "ranks cut boxes of element %s in the last direction only: leave ranks_along out",
            tesi_element_words[s->element->element]);
  TES_TRY(s->parts == 1 ? tesi_space_be_scalar(s, -1) : tesi_space_create_scalars(s));
  TES_TRY(take_slips(s, desc->slips, like));
  if (!s->layout) TES_TRY(tesi_layout_create_plain(ctx, s->length, &s->layout));
  *space = s;
  s = NULL;
done:
  tes_space_destroy(&s);
  status = ctx ? tesi_agree(ctx, status) : status;
  if (status != TES_OK) tes_space_destroy(space);
  return status;
}

TesStatus tes_space_create(TesContext *context, const TesSpaceDesc *desc, TesSpace **space) {
  TES_REFUSE_NULL(context, desc, space);
  return create(context, desc, NULL, space);
}

TesSpace *tesi_space_retain(const TesSpace *space) {
  TesSpace *s = (TesSpace *)space;
  atomic_fetch_add(&s->references, 1);
  return s;
}

void tes_space_destroy(TesSpace **space) {
  if (!space || !*space) return;
  TesSpace *s = *space;
  *space = NULL;
  if (atomic_fetch_sub(&s->references, 1) != 1) return;
  TesContext *ctx = s->context;
  for (int d = 0; d < 3; d++) {
    tesi_free(ctx, &s->axis[d].h);
    tesi_free(ctx, &s->axis[d].x);
  }
  for (int p = 0; p < s->parts; p++)
    if (s->part[p] != s) tes_space_destroy(&s->part[p]);
  tesi_cells_destroy(&s->view);
  tesi_layout_destroy(&s->layout);
  tesi_free(ctx, &s->given);
  tesi_free(ctx, &s->slips);
  tesi_slip_destroy(&s->slip);
  tes_mesh_destroy(&s->mesh);
  tesi_free(ctx, &s);
  tes_context_destroy(&ctx);
}

TesStatus tes_space_coarsen(const TesSpace *space, TesSpace **coarse) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  *coarse = NULL;
  TES_TRY(tes_mesh_coarsen(space->mesh, &mesh));
  if (mesh) TES_TRY(tesi_space_create_on(space, mesh, space->degree, coarse));
done:
  tes_mesh_destroy(&mesh);
  return status;
}

TesStatus tesi_space_create_on(const TesSpace *space, const TesMesh *mesh, int degree, TesSpace **other) {
  const bool everywhere = space->given[tes_mesh_boundaries(space->mesh)], rt = !space->element->nodal;
  const TesSpaceDesc desc = {.mesh = mesh,
                             .degree = degree,
                             .components = rt ? 0 : space->parts,
                             .given = everywhere ? NULL : space->given,
                             .slips = space->slips,
                             .element = space->element->element};
  return space->product ? tesi_space_create_product_on(space, mesh, other)
                        : create(mesh->context, &desc, space->slip, other);
}

/* Under a lock: whoever asks first makes it. */
static TesStatus make_cells(TesSpace *space) {
  TesStatus status = TES_OK;
#pragma omp critical(tesi_space_cells)
  if (!space->view) status = tesi_cells_create(space, &space->view);
  return status;
}

TesStatus tesi_space_cells(const TesSpace *space, const TesiCellView **cells) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  *cells = NULL;
  TES_CHECK(space->scalars == 1 && space->element->nodal,
            "cells have the nodes of one component, the space has %d", space->scalars);
  TES_TRY(make_cells((TesSpace *)space));
  *cells = space->view;
done:
  return status;
}

const TesMesh *tes_space_mesh(const TesSpace *space) {
  return space->mesh;
}

TesElement tes_space_element(const TesSpace *space) {
  return space->element->element;
}

int tes_space_degree(const TesSpace *space) {
  return space->degree;
}

unsigned tes_space_given(const TesSpace *space, int boundary) {
  const int names = tes_mesh_boundaries(space->mesh);
  return space->given[boundary >= 0 && boundary < names ? boundary : names];
}

int64_t tes_space_length(const TesSpace *space) {
  return space->length;
}

int64_t tes_space_dofs(const TesSpace *space) {
  return space->all_dofs;
}

int64_t tes_space_hanging(const TesSpace *space) {
  int64_t hanging = 0;
  for (int i = 0; i < space->scalars; i++)
    hanging += space->scalar[i]->view ? space->scalar[i]->view->hanging : 0;
  return hanging;
}

int tes_space_nodes_along(const TesSpace *space, int d) {
  return space->axis[d].nodes;
}

TesStatus tes_space_index(const TesSpace *space, const int32_t **index, const uint16_t **mask) {
  const TesiCellView *cells;
  const TesStatus status = tesi_space_cells(space, &cells);
  *index = status == TES_OK ? cells->index : NULL;
  if (mask) *mask = status == TES_OK ? cells->mask : NULL;
  return status;
}
