#include <math.h>
#include <string.h>
#include "mesh/mesh.h"

static TesStatus check(TesContext *ctx, const TesBoxDesc *desc, int dim) {
  TesStatus status = TES_OK;
  TES_CHECK(dim == 2 || dim == 3, "dim is %d, expected 2 or 3", dim);
  for (int d = 0; d < dim; d++) {
    const char axis = "xyz"[d];
    const double *x = desc->coordinates[d];
    TES_CHECK(desc->cells[d] >= 1 && desc->cells[d] <= 1 << 24, "%d cells in direction %c, expected 1..%d",
              desc->cells[d], axis, 1 << 24);
    TES_CHECK(isfinite(desc->lower[d]) && isfinite(desc->upper[d]), "the box is not finite in direction %c",
              axis);
    if (!x) {
      TES_CHECK(desc->lower[d] < desc->upper[d] || (desc->lower[d] == 0 && desc->upper[d] == 0),
                "the box is reversed or empty in direction %c: lower %g, upper %g", axis, desc->lower[d],
                desc->upper[d]);
      continue;
    }
    for (int i = 0; i <= desc->cells[d]; i++)
      TES_CHECK(isfinite(x[i]), "coordinate %d in direction %c is %g", i, axis, x[i]);
    for (int i = 0; i < desc->cells[d]; i++)
      TES_CHECK(x[i + 1] > x[i], "coordinates in direction %c do not ascend: [%d] = %g, [%d] = %g", axis, i,
                x[i], i + 1, x[i + 1]);
  }
done:
  return status;
}

static TesStatus fill(TesMesh *mesh, const TesBoxDesc *desc, int d) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int n = mesh->cells[d] = d < mesh->dim ? desc->cells[d] : 1;
  const bool is_default = d >= mesh->dim || (desc->lower[d] == 0 && desc->upper[d] == 0);
  const double lower = is_default ? 0 : desc->lower[d], upper = is_default ? 1 : desc->upper[d];
  TES_ALLOC(&mesh->coordinates[d], n + 1);
  for (int i = 0; i <= n; i++)
    mesh->coordinates[d][i] =
        d < mesh->dim && desc->coordinates[d] ? desc->coordinates[d][i] : (lower * (n - i) + upper * i) / n;
done:
  return status;
}

TesStatus tes_mesh_create_box(TesContext *context, const TesBoxDesc *desc, TesMesh **mesh) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesMesh *m = NULL;
  const int dim = desc->dim ? desc->dim : 3;
  *mesh = NULL;
  TES_TRY(check(ctx, desc, dim));
  TES_NEW(&m);
  atomic_init(&m->references, 1);
  m->context = tesi_context_retain(ctx);
  m->dim = dim;
  for (int d = 0; d < 3; d++) TES_TRY(fill(m, desc, d));
  *mesh = m;
  m = NULL;
done:
  tes_mesh_destroy(&m);
  return status;
}

TesMesh *tesi_mesh_retain(const TesMesh *mesh) {
  TesMesh *m = (TesMesh *)mesh;
  atomic_fetch_add(&m->references, 1);
  return m;
}

void tes_mesh_destroy(TesMesh **mesh) {
  if (!mesh || !*mesh) return;
  TesMesh *m = *mesh;
  *mesh = NULL;
  if (atomic_fetch_sub(&m->references, 1) != 1) return;
  TesContext *ctx = m->context;
  for (int d = 0; d < 3; d++) tesi_free(ctx, &m->coordinates[d]);
  tesi_free(ctx, &m);
  tes_context_destroy(&ctx);
}

TesStatus tes_mesh_coarsen(const TesMesh *mesh, TesMesh **coarse) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  double *halved[3] = {NULL, NULL, NULL};
  TesBoxDesc desc = {.dim = mesh->dim};
  bool any = false;
  *coarse = NULL;
  for (int d = 0; d < mesh->dim; d++) {
    const int n = mesh->cells[d];
    const bool halve = n % 2 == 0 && n > 2;
    desc.cells[d] = halve ? n / 2 : n;
    desc.coordinates[d] = mesh->coordinates[d];
    if (!halve) continue;
    TES_ALLOC(&halved[d], n / 2 + 1);
    for (int i = 0; i <= n / 2; i++) halved[d][i] = mesh->coordinates[d][2 * i];
    desc.coordinates[d] = halved[d];
    any = true;
  }
  if (any) TES_TRY(tes_mesh_create_box(ctx, &desc, coarse));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &halved[d]);
  return status;
}

int tes_mesh_dim(const TesMesh *mesh) {
  return mesh->dim;
}

int tes_mesh_cells(const TesMesh *mesh, int d) {
  return mesh->cells[d];
}

int64_t tes_mesh_cell_count(const TesMesh *mesh) {
  return (int64_t)mesh->cells[0] * mesh->cells[1] * mesh->cells[2];
}

const double *tes_mesh_coordinates(const TesMesh *mesh, int d) {
  return mesh->coordinates[d];
}
