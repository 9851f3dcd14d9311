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

/* Outside of the mesh the value is NaN; the caller then refuses the point. */
static void evaluate(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *out) {
  const Held *held = user;
  const TesMesh *mesh = held->space->mesh;
  (void)t;
  for (int64_t i = 0; i < n; i++) {
    const double at[3] = {x[i], y[i], z[i]};
    double xi[3], place[3], J[9];
    int64_t cell;
    out[i] = NAN;
    if (tesi_locator_find(held->locator, at, 0.01, &cell, xi) &&
        tesi_mesh_points(mesh, cell, 1, xi, place, J) == TES_OK)
      tesi_quantity_at(held->quantity, cell, 1, xi, place, J, NULL, out + i);
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
