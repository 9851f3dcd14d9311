/* u_t - div(a grad u) + b . grad u + c u = f: the form of poisson and, where there is a velocity, the transport term;
 * with streamlines the right-hand side is tested with them too. In time numbered.c holds c + sigma (in_time.h). */
#include "operator/transport/transport_operator.h"
#include "problem/in_time.h"

bool tesi_problem_transports(const TesProblem *p) {
  const TesFunction *const *b = p->numbered.data.b;
  bool any = false;
  double value;
  for (int d = 0; d < TESI_AXES; d++)
    any = any || (b[d] && !(tes_function_constant(b[d], &value) && value == 0));
  return any;
}

static int form(const TesProblem *p, TesTermDesc *term) {
  const int n = tesi_diffusion_form(p, term);
  const TesFunction *const *b = p->numbered.data.b;
  if (!tesi_problem_transports(p)) return n;
  term[n] = (TesTermDesc){.term = TES_TERM_TRANSPORT,
                          .b = {b[0], b[1], p->mesh->dim == 3 ? b[2] : NULL},
                          .streamline = p->stabilization,
                          .rate = p->in_time ? 2 / p->in_time->dt : 0};
  return n + 1;
}

/* The streamline part is found by an operator of all nodes in time, else by that of the unknowns: entries of others
 * are zero then. */
static TesStatus load(const TesProblem *p, TesVector *b) {
  const TesOperator *op = p->in_time ? p->in_time->whole : p->op;
  const TesStatus status = tesi_diffusion_load(p, b);
  if (status != TES_OK || !tesi_transport_of(op)) return status;
  return tesi_transport_load(op, p->numbered.data.f[0], p->numbered.f[0], b);
}

static int shown(const TesProblem *p, TesiShown *shown) {
  const int n = tesi_diffusion_shown(p, shown);
  static const char *const names[] = {"b1", "b2", "b3"};
  int count = n;
  for (int d = 0; d < p->mesh->dim && tesi_problem_transports(p); d++)
    if (p->numbered.data.b[d]) shown[count++] = (TesiShown){names[d], {p->numbered.data.b[d]}, NULL};
  return count;
}

const TesiEquation tesi_transport = {
    .name = "transport", .in_time = true, .form = form, .load = load, .shown = shown};
