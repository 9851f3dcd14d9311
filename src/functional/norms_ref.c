/* Errors from their definition: see functional.h. */
#include "functional/functional_ref.h"
#include <string.h>

static TesStatus add_component(const TesSpace *space, const double *u, const TesFunction *exact, int q,
                               double *cell_l2, double *cell_h1) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiPlain plain;
  TesFunction *gradient[3] = {NULL, NULL, NULL};
  TES_TRY(tesi_plain_init(space, q, &plain));
  for (int d = 0; exact && d < plain.dim; d++)
    TES_TRY(tes_function_create_derivative(exact, d, &gradient[d]));
  for (int64_t c = 0; c < plain.cells; c++) {
    double local[TESI_PLAIN_NODES];
    tesi_cells_read(plain.view, c, u, local);
    for (int p = 0; p < plain.points; p++) {
      TesiPlainPoint at;
      double e = 0, value = 0;
      TES_TRY(tesi_plain_point(&plain, c, -1, p, &at));
      for (int i = 0; i < plain.nodes; i++) e += at.phi[i] * local[i];
      if (exact) TES_TRY(tes_function_evaluate(exact, 1, &at.x[0], &at.x[1], &at.x[2], 0, &value));
      cell_l2[c] += at.weight * (e - value) * (e - value);
      for (int d = 0; d < plain.dim; d++) {
        e = value = 0;
        for (int i = 0; i < plain.nodes; i++) e += at.slope[d][i] * local[i];
        if (exact) TES_TRY(tes_function_evaluate(gradient[d], 1, &at.x[0], &at.x[1], &at.x[2], 0, &value));
        cell_h1[c] += at.weight * (e - value) * (e - value);
      }
    }
  }
done:
  for (int d = 0; d < 3; d++) tes_function_destroy(&gradient[d]);
  return status;
}

TesStatus tesi_error_ref(const TesSpace *space, const double *u, const TesFunction *const *exact, int q,
                         double *cell_l2, double *cell_h1) {
  TesStatus status = TES_OK;
  memset(cell_l2, 0, (size_t)space->mesh->cells * sizeof *cell_l2);
  memset(cell_h1, 0, (size_t)space->mesh->cells * sizeof *cell_h1);
  for (int c = 0; c < space->scalars && status == TES_OK; c++)
    status =
        add_component(space->scalar[c], u + space->first[c], exact ? exact[c] : NULL, q, cell_l2, cell_h1);
  return status;
}
