/* A beam of 10 x 1 x 1 that is clamped on the left and drawn down on the right: how far its tip sinks, and the forces.
 *
 *   cc elasticity.c -o elasticity $(pkg-config --cflags --libs tessera) -lm */
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

  /* Young 1000, Poisson 0.3: lambda = E nu / ((1 + nu) (1 - 2 nu)), mu = E / (2 (1 + nu)) */
  TesFunction *lambda, *mu, *load;
  TRY(tes_function_create_constant(ctx, 1000 * 0.3 / (1.3 * 0.4), &lambda));
  TRY(tes_function_create_constant(ctx, 1000 / 2.6, &mu));
  TRY(tes_function_create_constant(ctx, -1, &load));

  TesMesh *mesh;
  TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {20, 2, 2}, .upper = {10, 1, 1}}, &mesh));

  const TesBoundary boundary[] = {{.condition = TES_NEUMANN}, /* free, where nothing else is said */
                                  {.name = "left", .condition = TES_DIRICHLET},
                                  {.name = "right", .condition = TES_NEUMANN, .g = {NULL, NULL, load}}};
  TesProblem *problem;
  TRY(tes_problem_create(ctx,
                         &(TesProblemDesc){.equation = TES_ELASTICITY,
                                           .mesh = mesh,
                                           .degree = 2,
                                           .data = {.a = mu, .lambda = lambda},
                                           .boundaries = 3,
                                           .boundary = boundary},
                         &problem));
  TesSolveResult result;
  TRY(tes_problem_solve(problem, &result));

  double tip, energy, support;
  TRY(tes_problem_value(problem, &(TesValue){.kind = TES_VALUE_POINT, .point = {10, 0.5, 0.5}, .of = "w"},
                        &tip));
  TRY(tes_problem_value(problem, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "strain_energy"}, &energy));
  TRY(tes_problem_value(problem,
                        &(TesValue){.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = 0, .of = "z"},
                        &support));
  printf("%d iterations: the tip sinks by %.6f, energy %.6f, the support bears %.6f\n", result.iterations,
         -tip, energy, support);

  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&lambda);
  tes_function_destroy(&mu);
  tes_function_destroy(&load);
  tes_context_destroy(&ctx);
  return fabs(tip + 3.99403281) < 1e-6 && fabs(support - 1) < 1e-6 ? 0 : 1;
}
