#include "multigrid/coarse/coarse_cg.h"
#include "device/kernel.h"
#include "operator/diagonal_cg.h"

/* A cycle reduces errors to about 0.1 to 0.01, and the next cycle corrects the rest. The number of iterations grows
 * like the number of cells per direction of the level. */
static const double tolerance = 1e-4;
enum { MOST = 1000 };

struct TesiCoarseCg {
  TesContext *context;
  TesOperator *op;
  TesVector *inverse, *r, *p, *q, *x;
  TesiJacobiDevice *device;
};

TesStatus tesi_coarse_cg_create(const TesOperator *op, TesiCoarseCg **cg) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiCoarseCg *c = NULL;
  *cg = NULL;
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->op = tesi_operator_retain(op);
  TesVector **const vectors[] = {&c->inverse, &c->r, &c->p, &c->q, &c->x};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, vectors[i]));
  TES_TRY(tes_operator_diagonal(c->op, c->inverse));
  TES_TRY(tesi_vector_invert(c->inverse));
  TES_TRY(tesi_jacobi_device_create(op->space->layout, TES_DOUBLE, &c->device));
  *cg = c;
  c = NULL;
done:
  tesi_coarse_cg_destroy(&c);
  return status;
}

void tesi_coarse_cg_destroy(TesiCoarseCg **cg) {
  if (!cg || !*cg) return;
  TesiCoarseCg *c = *cg;
  TesContext *ctx = c->context;
  *cg = NULL;
  TesVector **const vectors[] = {&c->inverse, &c->r, &c->p, &c->q, &c->x};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) tes_vector_destroy(vectors[i]);
  tesi_jacobi_device_destroy(ctx, &c->device);
  tes_operator_destroy(&c->op);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

TesStatus tesi_coarse_cg_solve(TesiCoarseCg *cg, const TesVector *b, TesVector *x) {
  TesContext *ctx = cg->context;
  TesStatus status = TES_OK;
  const TesiJacobi jacobi = {
      .op = cg->op, .inverse = cg->inverse, .q = cg->q, .p = cg->p, .device = cg->device};
  TES_TRY(tes_vector_copy(b, 1, cg->r));
  TES_TRY(tesi_jacobi_queue(&jacobi, tolerance, MOST, cg->r, cg->x));
  TES_TRY(tes_vector_copy(cg->x, 1, x));
done:
  return status;
}
