/* Stokes flow in a few calls: a parabola enters a channel and leaves through an open end. The velocity is
 * divergence-free to round-off, and the force on a wall is that of the exact solution, u = (4 y (1 - y), 0),
 * p = 8 (2 - x). */
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
  char message[256];
  TesContext *ctx;
  if (tes_context_create(NULL, &ctx, message, sizeof message) != TES_OK)
    return fprintf(stderr, "%s\n", message), 1;

  TesFunction *inflow, *pressure;
  TRY(tes_function_create_expression(ctx, "4*y*(1 - y)", &inflow));
  TRY(tes_function_create_expression(ctx, "8*(2 - x)", &pressure));

  TesMesh *mesh; /* 16 x 8 cells on (0, 2) x (0, 1) */
  TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {16, 8}, .upper = {2, 1}}, &mesh));

  /* A velocity is a Dirichlet condition, an outflow a Neumann condition; what has no name is a wall at rest. */
  const TesBoundary boundary[] = {{.condition = TES_DIRICHLET},
                                  {.name = "left", .condition = TES_DIRICHLET, .g = {inflow}},
                                  {.name = "right", .condition = TES_NEUMANN}};
  TesFunction *zero;
  TRY(tes_function_create_constant(ctx, 0, &zero));
  TesProblem *problem; /* Raviart-Thomas elements of degree 2; nu = 1 */
  TRY(tes_problem_create(ctx,
                         &(TesProblemDesc){.equation = TES_STOKES,
                                           .mesh = mesh,
                                           .degree = 2,
                                           .boundaries = 3,
                                           .boundary = boundary,
                                           .exact = {inflow, zero, pressure}},
                         &problem));

  TesSolveResult result;
  TRY(tes_problem_solve(problem, &result));

  TesFlowResult flow;
  double force; /* of the fluid on the lower wall, along the channel */
  TRY(tes_problem_flow(problem, &flow));
  TRY(tes_problem_value(
      problem, &(TesValue){.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = 2, .of = "x"}, &force));
  printf("%lld unknowns, %d iterations\n", (long long)tes_space_dofs(tes_problem_space(problem)),
         result.iterations);
  printf("error %.1e of the velocity, %.1e of the pressure, divergence %.1e of the gradient\n",
         flow.velocity_l2, flow.pressure_l2, flow.divergence_relative);
  printf("in at the left %.6f, out at the right %.6f, force on the lower wall %.6f\n", -flow.flux[0],
         flow.flux[1], force);

  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&inflow);
  tes_function_destroy(&pressure);
  tes_function_destroy(&zero);
  tes_context_destroy(&ctx);
  return flow.velocity_l2 < 1e-7 && fabs(force - 8) < 1e-6 ? 0 : 1;
}
