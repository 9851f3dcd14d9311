/* The vortex of Taylor and Green in a periodic square with Raviart-Thomas elements: the velocity is divergence-free to
 * round-off in every step, steps are of third order, and the energy decays as exp(-4 nu t). */
#include <math.h>
#include <stdio.h>
#include <tessera/tessera.h>

/* Ends the program with the message of the context where a call fails. */
#define TRY(call)                                                                                            \
  do {                                                                                                       \
    const TesStatus status_ = (call);                                                                        \
    if (status_ != TES_OK) {                                                                                 \
      fprintf(stderr, "%s\n", tes_context_message(ctx));                                                     \
      return tes_status_exit(status_);                                                                       \
    }                                                                                                        \
  } while (0)

int main(void) {
  const double pi = 3.14159265358979323846;
  char message[256];
  TesContext *ctx;
  if (tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, message, sizeof message) != TES_OK)
    return fprintf(stderr, "%s\n", message), 1;

  TesFunction *nu, *u, *v, *p;
  TRY(tes_function_create_constant(ctx, 0.01, &nu));
  TRY(tes_function_create_expression(ctx, "sin(x)*cos(y)*exp(-0.02*t)", &u));
  TRY(tes_function_create_expression(ctx, "-cos(x)*sin(y)*exp(-0.02*t)", &v));
  TRY(tes_function_create_expression(ctx, "(cos(2*x) + cos(2*y))*exp(-0.04*t)/4", &p));

  TesMesh *mesh; /* 12 x 12 cells on (0, 2 pi)^2, periodic in both directions: there is no boundary */
  TRY(tes_mesh_create(ctx,
                      &(TesMeshDesc){.kind = TES_MESH_BOX,
                                     .dim = 2,
                                     .cells = {12, 12},
                                     .upper = {2 * pi, 2 * pi},
                                     .periodic = {true, true}},
                      &mesh));

  TesProblem *flow; /* RT_3: begins at the exact solution, which also tells the error */
  TRY(tes_problem_create(ctx,
                         &(TesProblemDesc){.equation = TES_NAVIER_STOKES,
                                           .mesh = mesh,
                                           .element = TES_ELEMENT_RT,
                                           .degree = 3,
                                           .data = {.a = nu},
                                           .exact = {u, v, p},
                                           .time = {.method = TES_TIME_IMEX_BDF3, .end = 2, .step = 0.02}},
                         &flow));

  const TesValue energy = {.kind = TES_VALUE_INTEGRAL, .of = "(u*u + v*v)/2"};
  TesSolveResult result;
  TesFlowResult is;
  double now = 0;
  printf("%lld unknowns\n   time    energy     exact  velocity's error  divergence\n",
         (long long)tes_space_dofs(tes_problem_space(flow)));
  while (tes_problem_info(flow).step < tes_problem_info(flow).steps) {
    TRY(tes_problem_step(flow, &result));
    const TesProblemInfo info = tes_problem_info(flow);
    if (info.step % 20 != 0) continue;
    TRY(tes_problem_value(flow, &energy, &now));
    TRY(tes_problem_flow(flow, &is));
    printf("%7.2f %9.6f %9.6f %17.2e %11.1e\n", info.time, now, pi * pi * exp(-0.04 * info.time),
           is.velocity_l2, is.divergence_relative);
  }

  tes_problem_destroy(&flow);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&nu), tes_function_destroy(&u), tes_function_destroy(&v), tes_function_destroy(&p);
  tes_context_destroy(&ctx);
  return is.velocity_l2 < 1e-3 && is.divergence_relative < 1e-12 ? 0 : 1;
}
