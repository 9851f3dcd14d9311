#include "problem/adapt/dual.h"
#include <string.h>

/* No fluxes, and values 0, or -1 (`minus`) on the boundary of `how`. On a boundary without given values, the
 * transport term includes the flux if the problem's own term does not, and omits it if the problem's own term
 * includes it. */
static void set_boundaries(const TesProblem *problem, const TesiDual *how, const TesFunction *minus,
                           TesiGiven *given) {
  for (int i = 0; i <= tes_mesh_boundaries(problem->mesh); i++) {
    given[i] = problem->numbered.given[i];
    memset(given[i].g, 0, sizeof given[i].g);
    if (tesi_problem_transports(problem) && !tesi_problem_given(problem, i, 0))
      given[i].how[0] = given[i].how[0] == TESI_FLUX ? TESI_OPEN : TESI_FLUX;
  }
  if (how->boundary >= 0) given[how->boundary].g[how->component] = minus;
}

TesStatus tesi_dual_solve(const TesProblem *problem, const TesiDual *how, TesProblem **dual) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiNumbered numbered = problem->numbered;
  TesFunction *zero = NULL, *minus = NULL, *back[TESI_AXES] = {NULL};
  TesiGiven *given = NULL;
  const TesFunction **f = NULL;
  TesSolveResult result;
  const bool turned = tesi_problem_transports(problem) && !problem->variant.conservative;
  TesProblemDesc desc = {.mesh = problem->mesh,
                         .degree = how->degree,
                         .transport_form = turned ? TES_TRANSPORT_CONSERVATIVE : TES_TRANSPORT_CONVECTIVE,
                         .stabilization = how->stabilization,
                         .add_load = how->add_load,
                         .add_load_user = how->user,
                         .solver = problem->options};
  TES_TRY(tes_function_create_constant(ctx, 0, &zero));
  TES_TRY(tes_function_create_constant(ctx, -1, &minus));
  TES_ALLOC(&given, tes_mesh_boundaries(problem->mesh) + 1);
  TES_ALLOC(&f, tes_mesh_materials(problem->mesh) + 1);
  set_boundaries(problem, how, minus, given);
  numbered.given = given;
  numbered.data.expansion = zero, numbered.expansion = f;
  for (int c = 0; c < TESI_AXES; c++) {
    numbered.data.f[c] = zero, numbered.f[c] = f;
    if (!numbered.data.b[c]) continue;
    TES_TRY(tesi_function_affine(numbered.data.b[c], -1, 0, &back[c]));
    numbered.data.b[c] = back[c];
  }
  desc.solver.monitor = NULL, desc.solver.tolerance = how->tolerance;
  TES_TRY(tesi_problem_create_like(problem, &desc, &numbered, dual));
  TES_TRY(tes_problem_solve(*dual, &result));
done:
  tesi_free(ctx, &given);
  tesi_free(ctx, &f);
  for (int c = 0; c < TESI_AXES; c++) tes_function_destroy(&back[c]);
  tes_function_destroy(&zero);
  tes_function_destroy(&minus);
  return status;
}
