#include "problem/flow/steady/steady_open.h"
#include <math.h>
#include "functional/scattered.h"
#include "geometry/locate.h"
#include "problem/flow/split/split.h"

/* *s <- the penalty in the middle of a face. */
static TesStatus sample_face(const TesProblem *p, const TesiBoundaryFace *face, const TesFunction *a,
                             TesiSample *s) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  const int dim = p->mesh->dim, along = face->face / 2;
  const double k = pr->velocity->part[0]->degree;
  double xi[3] = {0.5, 0.5, 0.5}, unit[3] = {0}, J[9], transposed[9], gradient[3], value = 1, square = 0;
  xi[along] = face->face % 2;
  unit[along] = 1;
  *s = (TesiSample){.value = 0};
  TES_TRY(tesi_mesh_points(p->mesh, face->cell, 1, xi, s->x, J));
  for (int e = 0; e < dim * dim; e++) transposed[e] = J[e % dim * dim + e / dim];
  tesi_solve_small(dim, transposed, unit, gradient);
  for (int d = 0; d < dim; d++) square += gradient[d] * gradient[d];
  if (a) TES_TRY(tes_function_evaluate(a, 1, &s->x[0], &s->x[1], &s->x[2], 0, &value));
  s->value = (k + 1) * (k + 1) * value * sqrt(square);
done:
  return status;
}

static TesStatus find_penalty(const TesProblem *p, const TesFunction *a, TesFunction **penalty) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  TesiBoundaryFace *face = NULL;
  TesiSample *sample = NULL;
  bool *wanted = NULL;
  int64_t count = 0;
  *penalty = NULL;
  TES_ALLOC(&wanted, pr->walls.boundaries + 1);
  for (int b = 0; b < pr->walls.boundaries; b++) wanted[b] = tesi_wall_open(p, b);
  TES_TRY(tesi_boundary_faces(pr->taylor_hood->p, wanted, false, &face, &count));
  TES_ALLOC(&sample, count);
  for (int64_t f = 0; f < count; f++) TES_TRY(sample_face(p, &face[f], a, &sample[f]));
  TES_TRY(tesi_scattered_function(ctx, count, sample, "the penalty of the pressure", penalty));
done:
  tesi_free(ctx, &wanted);
  tesi_free(ctx, &face);
  tesi_free(ctx, &sample);
  return status;
}

TesStatus tesi_steady_take_laplacian(TesProblem *p, const TesFunction *a) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesFunction *penalty = NULL;
  tes_problem_destroy(&pr->poisson);
  if (pr->walls.any_open) TES_TRY(find_penalty(p, a, &penalty));
  TES_TRY(tesi_split_create_poisson(p, a, penalty));
done:
  tes_function_destroy(&penalty);
  return status;
}
