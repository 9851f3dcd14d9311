/* A field over one mesh as a function of space, which a problem over another mesh can take as its data. */
#include <math.h>
#include "functional/fields.h"
#include "geometry/locator.h"
#include "space/space.h"

typedef struct Held {
  TesContext *context;
  TesSpace *space; /* of the quantity */
  TesiLocator *locator;
  TesiQuantity *quantity;
} Held;

static void forget(void *user) {
  Held *held = user;
  TesContext *ctx = held->context;
  tesi_quantity_destroy(&held->quantity);
  tesi_locator_destroy(&held->locator);
  tes_space_destroy(&held->space);
  tesi_free(ctx, &held);
  tes_context_destroy(&ctx);
}

enum { POINTS = 128 };

/* Evaluates at all points that lie in the cell of the first one, so that the cell is read once. Their entries of
 * `cell` become -1. */
static void evaluate_cell(const Held *held, int first, int n, int64_t *cell, double (*xi)[3], double *out) {
  const TesMesh *mesh = held->space->mesh;
  const int64_t here = cell[first];
  double of[3 * POINTS], place[3 * POINTS], J[9 * POINTS], value[POINTS];
  int at[POINTS], count = 0;
  for (int i = first; i < n; i++) {
    if (cell[i] != here) continue;
    for (int d = 0; d < mesh->dim; d++) of[mesh->dim * count + d] = xi[i][d];
    at[count++] = i, cell[i] = -1;
  }
  if (tesi_mesh_points(mesh, here, count, of, place, J) != TES_OK) return;
  tesi_quantity_at(held->quantity, here, count, of, place, J, NULL, value);
  for (int i = 0; i < count; i++) out[at[i]] = value[i];
}

/* Outside of the mesh the value is NaN; the caller then refuses the point. */
static void evaluate(void *user, int64_t all, const double *x, const double *y, const double *z, double t,
                     double *out) {
  const Held *held = user;
  (void)t;
  for (int64_t begin = 0; begin < all; begin += POINTS) {
    const int n = (int)(all - begin < POINTS ? all - begin : POINTS);
    int64_t cell[POINTS];
    double xi[POINTS][3];
    for (int i = 0; i < n; i++) {
      const double at[3] = {x[begin + i], y[begin + i], z[begin + i]};
      out[begin + i] = NAN;
      if (!tesi_locator_find(held->locator, at, 0.01, &cell[i], xi[i])) cell[i] = -1;
    }
    for (int i = 0; i < n; i++)
      if (cell[i] >= 0) evaluate_cell(held, i, n, cell, xi, out + begin);
  }
}

TesStatus tesi_field_function(const TesSpace *space, int fields, const TesiField *field, const char *of,
                              const char *text, TesFunction **function) {
  const TesMesh *mesh = space->mesh;
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  Held *held = NULL;
  *function = NULL;
  TES_NEW(&held);
  held->context = tesi_context_retain(ctx);
  held->space = tesi_space_retain(space);
  TES_TRY(tesi_locator_create(mesh, &held->locator));
  TES_TRY(tesi_quantity_create(mesh, of, false, fields, field, &held->quantity));
  TES_TRY(tesi_function_create(ctx, evaluate, held, forget, text, function));
  held = NULL;
done:
  if (held) forget(held);
  return status;
}
