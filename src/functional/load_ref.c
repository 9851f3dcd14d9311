/* Loads from their definition: see functional.h. */
#include <math.h>
#include <string.h>
#include "functional/functional_ref.h"
#include "mesh/inner_faces.h"

/* b += the contribution of a cell, or of its face (-1: the cell), with function f. */
static TesStatus add_points(const TesiPlain *plain, int64_t cell, int face, const TesFunction *f, double *b) {
  TesContext *ctx = plain->space->context;
  TesStatus status = TES_OK;
  double local[TESI_PLAIN_NODES];
  memset(local, 0, (size_t)plain->nodes * sizeof *local);
  for (int p = 0; p < plain->points / (face < 0 ? 1 : plain->q); p++) {
    TesiPlainPoint at;
    double value;
    const double *const more[3] = {&at.normal[0], &at.normal[1], &at.normal[2]};
    TES_TRY(tesi_plain_point(plain, cell, face, p, &at));
    tesi_function_values_over(f, 1, &at.x[0], &at.x[1], &at.x[2], 0, more, &value);
    TES_CHECK(isfinite(value), "%s is %g", tes_function_text(f), value);
    for (int i = 0; i < plain->nodes; i++) local[i] += at.weight * value * at.phi[i];
  }
  tesi_cells_add(plain->view, cell, local, b);
done:
  return status;
}

/* b += int h d phi / d x_direction over a cell. */
static TesStatus add_slopes(const TesiPlain *plain, int64_t cell, const TesFunction *h, int direction,
                            double *b) {
  TesContext *ctx = plain->space->context;
  TesStatus status = TES_OK;
  double local[TESI_PLAIN_NODES] = {0};
  for (int p = 0; p < plain->points; p++) {
    TesiPlainPoint at;
    double value;
    TES_TRY(tesi_plain_point(plain, cell, -1, p, &at));
    tesi_function_values(h, 1, &at.x[0], &at.x[1], &at.x[2], 0, &value);
    for (int i = 0; i < plain->nodes; i++) local[i] += at.weight * value * at.slope[direction][i];
  }
  tesi_cells_add(plain->view, cell, local, b);
done:
  return status;
}

TesStatus tesi_load_component_ref(const TesiLoad *load, bool given, int q, double *b) {
  TesContext *ctx = load->space->context;
  TesStatus status = TES_OK;
  TesiPlain plain;
  TES_TRY(tesi_plain_init(load->space, q, &plain));
  memset(b, 0, (size_t)load->space->length * sizeof *b);
  for (int64_t c = 0; c < plain.cells; c++) {
    const int material = tes_mesh_material(load->space->mesh, c);
    const TesFunction *own = load->material_f && material >= 0 ? load->material_f[material] : NULL;
    const TesFunction *h = load->material_h && material >= 0 ? load->material_h[material] : NULL;
    if (own || load->f) TES_TRY(add_points(&plain, c, -1, own ? own : load->f, b));
    if (h || load->h) TES_TRY(add_slopes(&plain, c, h ? h : load->h, load->direction, b));
    for (int face = 0, name; load->g && face < 2 * plain.dim; face++)
      if (tesi_mesh_has_name(load->space->mesh, c, face, &name) && name >= 0 && load->g[name])
        TES_TRY(add_points(&plain, c, face, load->g[name], b));
  }
  for (int64_t i = 0; !given && i < plain.cells * plain.nodes; i++)
    if (plain.view->index[i] < 0) b[~plain.view->index[i]] = 0;
done:
  return status;
}

TesStatus tesi_load_ref(const TesLoadDesc *desc, bool given, int q, double *b) {
  TesStatus status = TES_OK;
  for (int c = 0; c < desc->space->scalars && status == TES_OK; c++) {
    const TesiLoad load = tesi_load_of(desc, c);
    status = tesi_load_component_ref(&load, given, q, b + desc->space->first[c]);
  }
  return status;
}
