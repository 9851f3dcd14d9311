/* Heat in time: u_t - div(a grad u) = f on a square, step by step, and the error against the exact solution.
 *
 *   cc heat.c -o heat $(pkg-config --cflags --libs tessera) -lm */
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

  TesFunction *a, *f, *exact; /* u = cos(t) sin(x + y) */
  TRY(tes_function_create_constant(ctx, 0.5, &a));
  TRY(tes_function_create_expression(ctx, "(cos(t) - sin(t))*sin(x + y)", &f));
  TRY(tes_function_create_expression(ctx, "cos(t)*sin(x + y)", &exact));

  TesMesh *mesh;
  TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {8, 8}}, &mesh));

  const TesBoundary all = {.condition = TES_DIRICHLET, .g = {exact}};
  TesProblem *problem;
  TRY(tes_problem_create(ctx,
                         &(TesProblemDesc){.equation = TES_TRANSPORT,
                                           .mesh = mesh,
                                           .data = {.a = a, .f = {f}},
                                           .exact = {exact}, /* also the solution at the start */
                                           .boundaries = 1,
                                           .boundary = &all,
                                           .time = {.end = 1, .step = 0.02, .method = TES_TIME_BDF3}},
                         &problem));

  double l2 = 1, h1;
  while (tes_problem_info(problem).step < tes_problem_info(problem).steps) {
    TesSolveResult result;
    TRY(tes_problem_step(problem, &result));
    TRY(tes_problem_errors(problem, &l2, &h1));
    const TesProblemInfo now = tes_problem_info(problem);
    if (now.step % 10 == 0)
      printf("t = %.2f: %d iterations, error %.2e in L2\n", now.time, result.iterations, l2);
  }

  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&a);
  tes_function_destroy(&f);
  tes_function_destroy(&exact);
  tes_context_destroy(&ctx);
  return l2 < 1e-5 ? 0 : 1;
}
