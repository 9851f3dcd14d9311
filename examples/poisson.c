/* The Poisson problem in a dozen calls: -div(a grad u) = f on a box, u = 0 on its boundary, and the error against
 * the exact solution. */
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

  TesFunction *f, *exact;
  TRY(tes_function_create_expression(ctx, "3*pi*pi*sin(pi*x)*sin(pi*y)*sin(pi*z)", &f));
  TRY(tes_function_create_expression(ctx, "sin(pi*x)*sin(pi*y)*sin(pi*z)", &exact));

  TesMesh *mesh; /* 12 x 12 x 12 cells on the unit cube */
  TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {12, 12, 12}}, &mesh));

  TesProblem *problem; /* degree 5; the solver is chosen by the library */
  TRY(tes_problem_create(
      ctx, &(TesProblemDesc){.mesh = mesh, .degree = 5, .data = {.f = {f}}, .exact = {exact}}, &problem));

  TesSolveResult result;
  TRY(tes_problem_solve(problem, &result));

  double l2, h1;
  TRY(tes_problem_errors(problem, &l2, &h1));
  printf("%lld unknowns, %d iterations, residual %.1e, error %.2e in L2 and %.2e in H1\n",
         (long long)tes_space_dofs(tes_problem_space(problem)), result.iterations,
         result.residuals[result.iterations], l2, h1);

  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&f);
  tes_function_destroy(&exact);
  tes_context_destroy(&ctx);
  return l2 < 1e-6 ? 0 : 1;
}
