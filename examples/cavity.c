/* The flow that a lid drives in a square, in time: steps chosen by the flow, the force on the lid. */
#include <stdio.h>
#include <tessera/tessera.h>

static TesStatus run(TesContext *ctx, TesMesh *mesh, const TesFunction *nu, const TesFunction *one,
                     const TesFunction *zero) {
  const TesBoundary boundary[] = {{.g = {zero, zero}}, {.name = "top", .g = {one, zero}}};
  const TesProblemDesc desc = {.equation = TES_NAVIER_STOKES,
                               .mesh = mesh,
                               .degree = 4,
                               .data = {.a = nu},
                               .boundaries = 2,
                               .boundary = boundary,
                               .time = {.end = 1, .cfl = 0.5}};
  TesValue drag = {.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .of = "x"};
  TesProblem *problem = NULL;
  TesSolveResult result;
  double force;
  TesStatus status = tes_mesh_find_boundary(mesh, "top", &drag.number);
  if (status == TES_OK) status = tes_problem_create(ctx, &desc, &problem);
  while (status == TES_OK && tes_problem_info(problem).step < tes_problem_info(problem).steps) {
    status = tes_problem_step(problem, &result);
    const TesProblemInfo info = tes_problem_info(problem);
    if (status != TES_OK || info.step % 20 != 0) continue;
    status = tes_problem_value(problem, &drag, &force);
    if (status == TES_OK) printf("t = %6.4f, step %3d: force on the lid %.5f\n", info.time, info.step, force);
  }
  tes_problem_destroy(&problem);
  return status;
}

int main(void) {
  char message[256];
  TesContext *ctx;
  TesMesh *mesh = NULL;
  TesFunction *nu = NULL, *one = NULL, *zero = NULL;
  if (tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, message, sizeof message) != TES_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  TesStatus status = tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {6, 6}}, &mesh);
  if (status == TES_OK) status = tes_function_create_constant(ctx, 0.01, &nu);
  if (status == TES_OK) status = tes_function_create_constant(ctx, 1, &one);
  if (status == TES_OK) status = tes_function_create_constant(ctx, 0, &zero);
  if (status == TES_OK) status = run(ctx, mesh, nu, one, zero);
  if (status != TES_OK) fprintf(stderr, "%s: %s\n", tes_status_name(status), tes_context_message(ctx));
  tes_function_destroy(&nu), tes_function_destroy(&one), tes_function_destroy(&zero);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
  return tes_status_exit(status);
}
