/* See face_mass.h. */
#include "operator/mapped/face_mass.h"
#include <string.h>
#include "base/real.h"
#include "device/kernel.h"

TesStatus tesi_face_mass_create(const TesiCellView *space, int64_t faces, TesiFaceMass *mass) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  mass->space = tesi_cells_retain(space);
  mass->faces = faces;
  TES_ALLOC(&mass->cell, faces);
  TES_ALLOC(&mass->face, faces);
  TES_ALLOC(&mass->weight, faces * mass->rule.points);
done:
  return status;
}

TesStatus tesi_face_mass_upload(TesContext *ctx, TesiFaceMass *mass) {
  const TesiRobinDesc desc = {.space = mass->space,
                              .rule = &mass->rule,
                              .faces = mass->faces,
                              .cell = mass->cell,
                              .face = mass->face,
                              .weight = mass->weight,
                              .precision = mass->precision};
  return tesi_has_kernels(ctx) ? tesi_robin_kernel_create(ctx, &desc, &mass->kernel) : TES_OK;
}

void tesi_face_mass_free(TesContext *ctx, TesiFaceMass *mass) {
  tesi_cells_destroy(&mass->space);
  tesi_robin_kernel_destroy(ctx, &mass->kernel);
  tesi_free(ctx, &mass->cell);
  tesi_free(ctx, &mass->face);
  tesi_free(ctx, &mass->weight);
}

void tesi_face_mass_term(const TesiFaceMass *mass, int64_t i, const double *u, double *v) {
  const TesiFaceRule *rule = &mass->rule;
  const int face = mass->face[i];
  double in[TESI_FACE_MOST], at[TESI_FACE_MOST], out[TESI_FACE_MOST] = {0};
  for (int a = 0; a < rule->nodes; a++) in[a] = u[tesi_face_node(rule->dim, rule->n, face, a)];
  tesi_face_interpolate(rule, in, at);
  for (int p = 0; p < rule->points; p++) at[p] *= mass->weight[i * rule->points + p];
  tesi_face_project(rule, at, out);
  memset(v, 0, (size_t)mass->space->cell_nodes * sizeof *v);
  for (int a = 0; a < rule->nodes; a++) v[tesi_face_node(rule->dim, rule->n, face, a)] = out[a];
}

void tesi_face_mass_add(const TesiFaceMass *mass, TesPrecision precision, double sign, bool every,
                        const void *x, void *y) {
  const TesiCellView *s = mass->space;
  double u[TESI_CELL_MOST], v[TESI_CELL_MOST];
  for (int64_t i = 0; i < mass->faces; i++) {
    const int64_t cell = mass->cell[i];
    const int32_t *index = s->index + cell * s->cell_nodes;
    for (int p = 0; p < s->cell_nodes; p++)
      u[p] = index[p] >= 0 ? tesi_number_get(precision, x, index[p])
             : every       ? tesi_number_get(precision, x, ~index[p])
                           : 0;
    tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell], u);
    tesi_face_mass_term(mass, i, u, v);
    tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], v);
    for (int p = 0; p < s->cell_nodes; p++)
      if (index[p] >= 0) tesi_number_add(precision, y, index[p], sign * v[p]);
  }
}

TesStatus tesi_face_mass_add_here(TesContext *ctx, const TesiFaceMass *mass, double sign, const void *x,
                                  void *y) {
  if (!mass->faces) return TES_OK;
  if (mass->kernel) return tesi_robin_kernel_add(ctx, mass->kernel, sign, x, y);
  tesi_face_mass_add(mass, mass->precision, sign, false, x, y);
  return TES_OK;
}

/* The matrix entry of a row and column, which must exist. */
static double *entry(TesiMatrix *A, int32_t row, int32_t column) {
  int64_t low = A->row[row], high = A->row[row + 1] - 1;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (A->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return &A->value[low];
}

/* Columns C' R C e_p for the nodes p of cells with these faces. */
void tesi_face_mass_entries(const TesiFaceMass *mass, TesiMatrix *matrix) {
  double u[TESI_CELL_MOST], v[TESI_CELL_MOST];
  for (int64_t i = 0; i < mass->faces; i++) {
    const TesiCellView *s = mass->space;
    const int32_t *index = s->index + mass->cell[i] * s->cell_nodes;
    for (int p = 0; p < s->cell_nodes; p++) {
      if (index[p] < 0) continue;
      memset(u, 0, sizeof u);
      u[p] = 1;
      tesi_hanging_read(s->dim, s->n, s->halves, s->mask[mass->cell[i]], u);
      tesi_face_mass_term(mass, i, u, v);
      tesi_hanging_write(s->dim, s->n, s->halves, s->mask[mass->cell[i]], v);
      for (int q = 0; q < s->cell_nodes; q++)
        if (index[q] >= 0 && v[q] != 0) *entry(matrix, index[q], index[p]) += v[q];
    }
  }
}
