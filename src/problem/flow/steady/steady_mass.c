#include "problem/flow/steady/steady_mass.h"
#include <math.h>
#include "device/recorded.h"
#include "operator/operator.h"
#include "smoother/smoother.h"

struct TesiSteadyMass {
  TesContext *context;
  TesSmoother *chebyshev;
  const TesVector *edges;
  TesVector *b, *x;
  TesiRecorded recorded;
};

/* The ratio of the largest and smallest eigenvalue of D^-1 M on a cell with Gauss-Lobatto nodes: 2 + 1/k per
 * direction (Wathen 1987: bounds on cells hold for their sum). With hanging nodes and curved cells the ratio is
 * somewhat larger, and the polynomial is less accurate there. */
static double condition(int dim, int degree) {
  return pow(2 + 1. / degree, dim);
}

/* The number of steps from which the polynomial's error 2 q^m is a tenth, from degree 3 on a hundredth, on an interval
 * that ends a fifth above the estimate. With a tenth cubes of degree 4 take a third of an iteration more (pressures of
 * degree 3); at lower degrees a hundredth saves nothing. */
static int steps_of(int degree, double ratio) {
  const double root = sqrt(1.2 * ratio), q = (root - 1) / (root + 1);
  return (int)ceil(log(degree < 3 ? 20 : 200) / -log(q));
}

TesStatus tesi_steady_mass_create(const TesOperator *mass, const TesVector *edges, TesVector *b, TesVector *x,
                                  TesiSteadyMass **of) {
  TesContext *ctx = mass->context;
  TesStatus status = TES_OK;
  TesiSteadyMass *m = NULL;
  const double ratio = condition(mass->space->dim, mass->space->degree);
  const TesSmootherDesc desc = {.op = (TesOperator *)mass,
                                .kind = TES_SMOOTHER_CHEBYSHEV,
                                .degree = steps_of(mass->space->degree, ratio),
                                .ratio = ratio};
  *of = NULL;
  TES_NEW(&m);
  m->context = ctx;
  m->edges = edges, m->b = b, m->x = x;
  TES_TRY(tes_smoother_create(ctx, &desc, &m->chebyshev));
  *of = m;
  m = NULL;
done:
  tesi_steady_mass_destroy(&m);
  return status;
}

void tesi_steady_mass_destroy(TesiSteadyMass **of) {
  TesiSteadyMass *m = *of;
  if (!m) return;
  tesi_recorded_release(m->context, &m->recorded);
  tes_smoother_destroy(&m->chebyshev);
  tesi_free(m->context, of);
}

static TesStatus weigh(const TesiSteadyMass *m, TesVector *v) {
  if (!m->edges) return TES_OK;
  return tesi_device_multiply(m->context, TES_DOUBLE, v->length, 1, v->data, m->edges->data, v->data);
}

/* Uses own vectors, since recorded work keeps addresses. */
static TesStatus run(void *user) {
  const TesiSteadyMass *m = user;
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TES_TRY(weigh(m, m->b));
  TES_TRY(tes_smoother_apply(m->chebyshev, m->b, m->x, TES_FORWARD, true));
  TES_TRY(weigh(m, m->x));
done:
  return status;
}

TesStatus tesi_steady_mass_invert(TesiSteadyMass *m, double factor, const TesVector *r, TesVector *z) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_vector_copy(r, factor, m->b));
  TES_TRY(tesi_recorded_run(ctx, &m->recorded, run, m));
  TES_TRY(tes_vector_copy(m->x, 1, z));
done:
  return status;
}
