/* -div grad u = f on several processes, each with a part of the mesh:
 *
 *     mpirun -n 2 ./example_ranks
 *
 * All ranks make the same calls; errors and values are of the whole mesh and the same on all of them. Rank 0 prints. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include "tessera/mpi.h"
#include "tessera/tessera.h"

#define TRY(call)                                                                                            \
  do {                                                                                                       \
    status = (call);                                                                                         \
    if (status != TES_OK) goto done;                                                                         \
  } while (0)

static TesStatus solve(TesContext *ctx, double *error, long long *unknowns, long long *cells_here) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesProblem *problem = NULL;
  TesFunction *exact = NULL, *f = NULL;
  TesSolveResult result;
  double h1;
  TRY(tes_function_create_expression(ctx, "sin(pi*x)*sin(pi*y)", &exact));
  TRY(tes_function_create_expression(ctx, "2*pi*pi*sin(pi*x)*sin(pi*y)", &f));
  TRY(tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2, .cells = {8, 8}}, &mesh));
  const TesProblemDesc desc = {
      .mesh = mesh, .degree = 4, .data = {.f = {f}}, .exact = {exact}, .solver = {.tolerance = 1e-10}};
  TRY(tes_problem_create(ctx, &desc, &problem));
  TRY(tes_problem_solve(problem, &result));
  TRY(tes_problem_errors(problem, error, &h1));
  *unknowns = tes_space_dofs(tes_problem_space(problem));
  *cells_here = tes_mesh_info(mesh).cells;
done:
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&exact);
  tes_function_destroy(&f);
  return status;
}

int main(int argc, char **argv) {
  TesCommunicator *ranks = NULL;
  TesContext *ctx = NULL;
  char message[512] = "";
  double error = NAN;
  long long unknowns = 0, cells = 0;
  MPI_Init(&argc, &argv);
  TesStatus status = tes_communicator_create_mpi(MPI_COMM_WORLD, &ranks);
  const TesContextDesc desc = {.device = "cpu", .threads = 1, .verbosity = TES_QUIET, .communicator = ranks};
  if (status == TES_OK) status = tes_context_create(&desc, &ctx, message, sizeof message);
  if (status == TES_OK) status = solve(ctx, &error, &unknowns, &cells);
  const bool prints = tes_communicator_rank(ranks) == 0;
  if (prints && status == TES_MISSING)
    printf("this build has no MPI or no trees\n");
  else if (prints && status != TES_OK)
    fprintf(stderr, "%s\n", ctx ? tes_context_message(ctx) : message);
  else if (prints)
    printf("%d ranks, %lld unknowns, %lld of 64 cells here: error %.3e\n", tes_communicator_size(ranks),
           unknowns, cells, error);
  tes_context_destroy(&ctx);
  tes_communicator_destroy(&ranks);
  MPI_Finalize();
  if (status == TES_MISSING) return 0;
  return status == TES_OK && error > 0 && error < 1e-6 ? 0 : 1;
}
