/* Right-hand sides of transport with element dg that change in time, by kernels. */
#include "operator/dg/dg.h"
#include "operator/transport/transport_operator.h"
#include "operator/transport/upwind_device.h"
#include "problem/modal.h"
#include "problem/in_time.h"

static const TesiTransport *transport_of(const TesiInTime *it) {
  return tesi_transport_of(it->carrier ? it->carrier : it->whole);
}

TesStatus tesi_modal_timed_create(const TesProblem *p, TesiModalLoad **plan) {
  const TesiInTime *it = p->in_time;
  const TesiTransport *whole = tesi_transport_of(it->whole), *t = transport_of(it);
  const double nu = tesi_stokes_of(whole ? whole->symmetric : it->whole)->nu;
  return tesi_modal_load_create(p->space, it->numbers.data.f[0], nu, it->numbers.given, p->options.penalty,
                                t ? t->batches->q : 0, plan);
}

TesStatus tesi_modal_timed_run(const TesProblem *p, const TesiModalLoad *plan, const void *clock,
                               TesVector *b) {
  const TesiTransport *t = transport_of(p->in_time);
  TesiInflow inflow = {0};
  if (t) inflow.speed = tesi_upwind_device_speed(t->upwind_device, &inflow.step);
  return tesi_modal_load_run(plan, clock, t ? &inflow : NULL, b);
}
