/* PETSc solves, Tessera multiplies and preconditions: -div((1 + x y) grad u) = 1 on a square, u = 0 on its boundary, by
 * conjugate gradients of PETSc with a V-cycle. Options of PETSc work:
 *
 *   cc petsc.c -o petsc $(pkg-config --cflags --libs tessera PETSc) -lm
 *   ./petsc -ksp_type cg -ksp_monitor */
#include <stdio.h>
#include <tessera/petsc.h>
#include <tessera/tessera.h>

static PetscErrorCode solve(TesContext *ctx, PetscInt *iterations, double *mean) {
  PetscFunctionBeginUser;
  TesFunction *a, *f;
  TesPetscCall(ctx, tes_function_create_expression(ctx, "1 + x*y", &a));
  TesPetscCall(ctx, tes_function_create_constant(ctx, 1, &f));

  TesMesh *mesh;
  TesSpace *space;
  TesPetscCall(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {32, 32}}, &mesh));
  TesPetscCall(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 4}, &space));

  const TesTermDesc term = {.term = TES_TERM_DIFFUSION, .a = {.all = a}};
  TesOperator *op;
  TesPetscCall(ctx, tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {1, &term}}, &op));
  TesMultigrid *multigrid;
  const TesMultigridDesc cycle = {.op = op, .precision = TES_SINGLE, .symmetric = true};
  TesPetscCall(ctx, tes_multigrid_create(ctx, &cycle, &multigrid));
  TesVector *b, *u;
  TesPetscCall(ctx, tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &b));
  TesPetscCall(ctx, tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &u));
  TesPetscCall(ctx, tes_functional_load(&(TesLoadDesc){.space = space, .f = {f}}, b));

  Mat A;
  Vec right, x; /* the memory of b and u */
  KSP ksp;
  PC pc;
  PetscCall(tes_petsc_operator(ctx, op, &A));
  PetscCall(tes_petsc_vector(ctx, b, &right));
  PetscCall(tes_petsc_vector(ctx, u, &x));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(tes_petsc_multigrid(ctx, multigrid, pc));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, right, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  TesPetscCall(ctx, tes_functional_value(space, u, &(TesValue){.kind = TES_VALUE_MEAN}, mean));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&right));
  PetscCall(VecDestroy(&x));
  tes_vector_destroy(&b);
  tes_vector_destroy(&u);
  tes_multigrid_destroy(&multigrid);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&a);
  tes_function_destroy(&f);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  PetscInt iterations = 0;
  double mean = 0;
  TesContext *ctx;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  TesPetscCall(NULL, tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0));
  PetscCall(solve(ctx, &iterations, &mean));
  printf("%d iterations, the mean of u is %.10f\n", (int)iterations, mean);
  tes_context_destroy(&ctx);
  PetscCall(PetscFinalize());
  return iterations > 0 && iterations < 12 && mean > 0 ? 0 : 1;
}
