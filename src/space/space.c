#include "space/space.h"
#include <math.h>
#include "basis/gauss.h"

/* Directions that do not exist are one cell of width 1 and degree 0, natural at both ends. */
static TesStatus fill_axis(TesSpace *space, const TesSpaceDesc *desc, int d) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const bool exists = d < space->dim;
  TesiAxis *axis = &space->axis[d];
  const double *vertices = desc->mesh->coordinates[d];
  double points[TESI_MAX_POINTS] = {0};
  axis->degree = exists ? space->degree : 0;
  axis->cells = desc->mesh->cells[d];
  axis->nodes = axis->cells * axis->degree + 1;
  for (int end = 0; end < 2; end++) axis->natural[end] = !exists || desc->natural[2 * d + end];
  TES_ALLOC(&axis->h, axis->cells);
  TES_ALLOC(&axis->x, axis->nodes);
  if (exists) tesi_gauss_lobatto(axis->degree + 1, points, NULL);
  const double mean = (vertices[axis->cells] - vertices[0]) / axis->cells;
  const double extent = fmax(fabs(vertices[0]), fabs(vertices[axis->cells]));
  axis->uniform = true;
  for (int c = 0; c < axis->cells; c++) {
    axis->h[c] = vertices[c + 1] - vertices[c];
    if (!(fabs(axis->h[c] - mean) <= 8e-16 * extent)) axis->uniform = false;
    for (int i = 0; i <= axis->degree; i++)
      axis->x[c * axis->degree + i] = vertices[c] + points[i] * axis->h[c];
  }
  if (axis->uniform)
    for (int c = 0; c < axis->cells; c++) axis->h[c] = mean;
  if (exists) axis->x[axis->nodes - 1] = vertices[axis->cells];
done:
  return status;
}

TesStatus tes_space_create(TesContext *context, const TesSpaceDesc *desc, TesSpace **space) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesSpace *s = NULL;
  const int degree = desc->degree ? desc->degree : 4;
  *space = NULL;
  TES_CHECK(degree >= 1 && degree <= TESI_MAX_DEGREE, "degree is %d, expected 1..%d", degree,
            TESI_MAX_DEGREE);
  TES_NEW(&s);
  atomic_init(&s->references, 1);
  s->context = tesi_context_retain(ctx);
  s->mesh = tesi_mesh_retain(desc->mesh);
  s->dim = desc->mesh->dim;
  s->degree = degree;
  s->length = s->dofs = 1;
  for (int d = 0; d < 3; d++) {
    TES_TRY(fill_axis(s, desc, d));
    const int unknowns = tesi_axis_end(&s->axis[d]) - tesi_axis_first(&s->axis[d]);
    s->length *= s->axis[d].nodes;
    s->dofs *= unknowns;
  }
  TES_CHECK(s->dofs > 0, "no unknowns: degree %d, and Dirichlet values at all vertices", degree);
  *space = s;
  s = NULL;
done:
  tes_space_destroy(&s);
  return status;
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
  if (mesh) {
    TesSpaceDesc desc = {.mesh = mesh, .degree = space->degree};
    for (int face = 0; face < 6; face++) desc.natural[face] = space->axis[face / 2].natural[face % 2];
    TES_TRY(tes_space_create(ctx, &desc, coarse));
  }
done:
  tes_mesh_destroy(&mesh);
  return status;
}

TesContext *tes_space_context(const TesSpace *space) {
  return space->context;
}

const TesMesh *tes_space_mesh(const TesSpace *space) {
  return space->mesh;
}

int tes_space_dim(const TesSpace *space) {
  return space->dim;
}

int tes_space_degree(const TesSpace *space) {
  return space->degree;
}

int tes_space_nodes(const TesSpace *space, int d) {
  return space->axis[d].nodes;
}

int64_t tes_space_length(const TesSpace *space) {
  return space->length;
}

int64_t tes_space_dofs(const TesSpace *space) {
  return space->dofs;
}

bool tes_space_natural(const TesSpace *space, TesFace face) {
  return space->axis[face / 2].natural[face % 2];
}

const double *tes_space_coordinates(const TesSpace *space, int d) {
  return space->axis[d].x;
}
