/* Predicts a problem on a number of ranks: its unknowns, memory and time, by the model of parallel/scaling.h. */
#include <math.h>
#include "base/team.h"
#include "device/kernel.h"
#include "parallel/scaling.h"
#include "problem/problem.h"
#include "problem/problem_memory.h"
#include "problem/support.h"

/* Whether several ranks keep a box; false: it becomes a mesh of trees. Problems that have no
 * trees keep their boxes. */
static bool stays_a_box(const TesProblem *p) {
  if (!(p->equation->support->meshes & TESI_ON_TREES)) return true;
  return p->space && tesi_mesh_row(p->mesh) == TESI_GRID &&
         (p->equation->support->ranks.meshes & TESI_ON_GRID) && !p->in_time && !tesi_problem_box_varies(p);
}

/* Work of an iteration per unknown, relative to a scalar problem on trees. Flows: 650 ps on an H200, where the model
 * has 301 ps (bench/results/h200/stokes.csv, the cube of 52 million unknowns). Element rt: as measured there, on one
 * GPU and on two (measurement ranks_rt of solve.csv), within 20 %. Displacements, which couple three components: an
 * estimate. */
static double weight_of(const TesProblem *p) {
  if (p->equation->flow && p->equation->support->modes) return 1.33;
  return p->equation->flow ? 2.2 : p->equation->support->vector ? 2.5 : 1;
}

/* Flows in time have no space here: their unknowns are found from their cells. */
static double unknowns_of(const TesProblem *p, int degree) {
  if (p->space) return (double)p->space->dofs;
  return (double)tes_mesh_info(p->mesh).all_cells * pow(degree, p->mesh->dim) * (p->mesh->dim + 1);
}

/* Layers of a direction, where ranks may cut it beside the last one. */
static double across(const TesMesh *mesh, const TesiSupport *row, int d) {
  return d >= 0 && mesh->kind == TES_MESH_BOX && row->ranks.gridded ? mesh->window[d].cells : 0;
}

void tesi_problem_choose_grid(TesContext *ctx, const TesiSupport *row, int dim, int degree,
                              const int cells[3], int along[3]) {
  const TesiScalingMachine machine =
      tesi_scaling_machine(tesi_has_kernels(ctx), false, tes_context_threads(ctx));
  TesiScalingProblem problem = {
      .unknowns = 1, .dim = dim, .degree = degree, .layers = cells[dim - 1], .weight = 1};
  int parts[3];
  for (int d = 0; d < dim; d++) problem.unknowns *= (double)cells[d] * degree;
  for (int d = 0; d < dim - 1 && row->ranks.gridded; d++) problem.across[dim - 2 - d] = cells[d];
  for (int d = 0; d < 3; d++) along[d] = 0;
  if (!tesi_scaling_grid(&machine, &problem, tesi_ranks(ctx), parts)) return; /* the mesh refuses so many */
  for (int d = 0; d < dim; d++) along[d] = parts[dim - 1 - d];
}

TesStatus tesi_problem_scale(const TesProblem *p, const TesProblemDesc *desc, bool gpus, int count,
                             TesProblemScaling *scaling) {
  const int asked = desc->degree;
  TesContext *ctx = p->context;
  const TesProblemMemory memory = tesi_problem_memory(p, asked);
  const bool box = stays_a_box(p);
  const TesiSupport *row = p->equation->support;
  const int dim = p->mesh->dim, degree = (asked ? asked : row->degree.usual) << row->halved;
  const TesiScalingMachine machine = tesi_scaling_machine(gpus, !box, tes_context_threads(p->context));
  const TesiScalingProblem problem = {.unknowns = unknowns_of(p, degree),
                                      .dim = dim,
                                      .degree = degree,
                                      .layers = box ? (double)p->mesh->window[dim - 1].cells : 0,
                                      .weight = weight_of(p),
                                      .across = {across(p->mesh, row, dim - 2), across(p->mesh, row, dim - 3)}};
  const TesiMeshRow mesh = box || !row->ranks.meshes ? tesi_mesh_row(p->mesh) : TESI_TREES;
  const double one = tesi_scaling_seconds(&machine, &problem, 1, NULL);
  TesStatus status = TES_OK;
  for (int i = 0; i < count; i++) {
    TesProblemScaling *s = &scaling[i];
    TesiScalingBound bound = TESI_BOUND_WORK;
    if (s->ranks < 1) s->ranks = 1;
    if (s->ranks > 1) TES_TRY(tesi_problem_allow_ranks(ctx, row, desc, mesh, gpus));
    s->seconds = tesi_scaling_seconds(&machine, &problem, s->ranks, &bound);
    s->speed_up = one / s->seconds;
    s->unknowns = problem.unknowns / s->ranks;
    s->bytes = (gpus ? memory.gpu : memory.processor) / (size_t)s->ranks;
    s->bound = isinf(s->seconds) ? "more ranks than layers of cells" : tesi_scaling_bound_name(bound);
  }
done:
  return status;
}
