#include "problem/problem_memory.h"
#include "problem/in_time.h"
#include <math.h>
#include "device/kernel.h"
#include "multigrid/coarse/coarse_stokes_box.h"
#include "multigrid/multigrid.h"
#include "operator/form.h"
#include "problem/modal.h"
#include "problem/support.h"

/* Columns of GMRES: each has a direction and its image. The processor allocates them when needed. A GPU allocates all
 * at once, at most what fits. */
enum { COLUMNS_LEAST = 5, COLUMNS_FLOW = 10, COLUMNS_GPU = 20 };

bool tesi_problem_box_varies(const TesProblem *p) {
  for (int i = 0; i < p->form.all.terms; i++)
    if (p->form.term[i].term == TES_TERM_DIFFUSION && p->form.term[i].a.all &&
        !tes_function_constant(p->form.term[i].a.all, NULL))
      return true;
  return false;
}

/* Whether GMRES is asked for, or chosen by choice.c. On meshes other than boxes this is not known before the survey. */
static bool iterates_gmres(const TesProblem *p) {
  const TesMethod method = p->options.method;
  if (method != TES_METHOD_AUTO) return method == TES_METHOD_GMRES;
  return p->equation->flow || tesi_problem_has(p, TESI_HAS_B) ||
         (p->mesh->kind == TES_MESH_BOX && tesi_problem_box_varies(p) &&
          !tesi_space_is_periodic(p->space->scalar[0]));
}

static double krylov_bytes(const TesProblem *p, int columns) {
  return iterates_gmres(p) ? 16.0 * columns * (double)p->space->length : 0;
}

/* Whether GMRES on devices with kernels can store its basis and images in float32. */
static bool can_be_narrow(const TesProblem *p) {
  return p->chosen.cycle == TES_SINGLE && !p->in_time && !p->equation->own;
}

/* Vectors of problems in time: old values and images for starts, right-hand sides, a second operator. Flows
 * (coupled.h) have 13 vectors, given values, two vectors of a cycle, four of convection, and three more systems. Each
 * mean velocity that is kept takes two vectors, and one per system. */
static double time_bytes(const TesProblem *p) {
  const double length = (double)p->space->length;
  double force[TESI_AXES];
  int kept = 0;
  tesi_problem_mean_force(p, force);
  for (int c = 0; c < TESI_AXES; c++) kept += !isnan(force[c]);
  if (p->equation->own)
    return (160 + 48. * kept) * length +
           3 * (double)tesi_multigrid_memory(p->space, tesi_problem_box_varies(p), p->chosen.cycle,
                                             p->options.smoother);
  return p->in_time ? (80 + 8. * tesi_in_time_directions(p)) * length : 0;
}

static double cell_levels(const TesProblem *p) {
  return p->mesh->dim == 3 ? 8 / 7. : 4 / 3.;
}

/* Boxes with periodic directions: vectors on open boxes for operators, transfers and sweeps across a periodic
 * direction, on all levels; numbers of nodes, and sums of cells with their places. */
static double periodic_bytes(const TesProblem *p) {
  const double points = pow((p->space->degree + 1.) / p->space->degree, p->mesh->dim);
  if (!tesi_space_is_periodic(p->space->scalar[0])) return 0;
  return (double)p->space->length * (76 + 13 * points) +
         (double)tes_mesh_info(p->mesh).cells * (p->mesh->dim == 3 ? 24 : 8) * 8;
}

/* Float64 vectors of the outer iteration, and the multigrid. */
static double box_bytes(const TesProblem *p) {
  const bool matrices = tesi_form_has_matrix(&p->form.all, tes_mesh_materials(p->mesh));
  const double factors = p->mesh->dim == 3 ? 6 : 3,
               points = pow((p->space->degree + 1.) / p->space->degree, p->mesh->dim);
  return (double)tesi_multigrid_memory(p->space, tesi_problem_box_varies(p), p->chosen.cycle,
                                       p->options.smoother) +
         48 * (double)p->space->length + tesi_transport_dg_bytes(p) + periodic_bytes(p) +
         (matrices ? (double)p->space->length * points * (8 + factors * 8 + cell_levels(p) * (8 + factors * 4))
                   : 0);
}

/* Two operators with numbers of nodes (two sets) and factors; the cycle's operator has coarser levels. About ten
 * vectors. */
static double cells_bytes(const TesProblem *p) {
  const TesiCellView *s = p->space->scalar[0]->view;
  const double nodes = (double)s->cells * s->cell_nodes, levels = cell_levels(p);
  const double factors = s->dim == 3 ? 6 : 3, length = (double)p->space->length;
  int different = 1; /* equal components share an operator */
  for (int c = 1; c < p->space->parts; c++) different += p->space->part[c] != p->space->part[c - 1];
  const double operators = different * (nodes * (8 + factors * 8) + levels * nodes * (8 + factors * 4));
  return operators + length * (6 * 8 + levels * 7 * 4);
}

/* Cell coordinates, which stay on the host. */
static double position_bytes(const TesProblem *p) {
  return cell_levels(p) * (double)tes_mesh_info(p->mesh).cells * (p->mesh->dim == 3 ? 81 : 18) * 8;
}

/* Bytes of the dense inverse that replaces the lowest levels (problem.c), which has the size of a vector in float64,
 * and of its copy. */
static double dense_bytes(const TesProblem *p) {
  return p->equation->own || p->equation->flow || p->equation->couples ? 0 : 12 * (double)p->space->length;
}

/* Without GMRES. The host of a GPU has about three vectors: data on their way to the GPU, and output. Transport with
 * element dg makes its matrices and numbers on the host. */
static TesProblemMemory find_bytes(const TesProblem *p) {
  const bool box = p->mesh->kind == TES_MESH_BOX;
  const double bytes = (box ? box_bytes(p) : cells_bytes(p)) + time_bytes(p) + tesi_transport_ordered_bytes(p),
               positions = box ? 0 : position_bytes(p);
  return (TesProblemMemory){
      .processor = (size_t)(bytes + positions),
      .gpu = (size_t)(bytes + (box ? 0 : dense_bytes(p)) +
                      (p->space->element->with_pressure ? tesi_coarse_stokes_box_bytes(p->space) : 0)),
      .gpu_host = (size_t)(positions + 24 * (double)p->space->length + tesi_transport_dg_bytes(p))};
}

/* Flows in time, from the number of cells: about 16 vectors of a component and 14 of the pressure, masses and
 * operators of both, the pressure's multigrid, and sums that threads store. */
static TesProblemMemory march_memory(const TesProblem *p, int degree) {
  const double dim = p->mesh->dim, cells = (double)tes_mesh_info(p->mesh).cells,
               nodes = cells * pow(degree, dim), factors = p->mesh->kind == TES_MESH_BOX ? 2 : 60;
  const double bytes = nodes * (8 * (16 * dim + 14) + 8 * factors);
  return (TesProblemMemory){.processor = (size_t)bytes, .gpu = (size_t)bytes, .gpu_host = (size_t)bytes};
}

TesProblemMemory tesi_problem_memory(const TesProblem *p, int degree) {
  const TesiSupport *row = p->equation->support;
  if (p->equation->own && !p->equation->flow)
    return march_memory(p, (degree ? degree : row->degree.usual) << row->halved);
  TesProblemMemory memory = find_bytes(p);
  const bool flow = p->equation->flow && !p->equation->flow->scalar;
  memory.processor += (size_t)krylov_bytes(p, flow ? COLUMNS_FLOW : COLUMNS_LEAST);
  memory.gpu += (size_t)krylov_bytes(p, COLUMNS_GPU);
  return memory;
}

TesStatus tesi_problem_check_memory(const TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool kernels = tesi_has_kernels(ctx), box = p->mesh->kind == TES_MESH_BOX;
  const double gib = 1 << 30, available = (double)tesi_context_device(ctx)->available(ctx);
  const TesProblemMemory memory = find_bytes(p);
  const double least = krylov_bytes(p, COLUMNS_LEAST) / (kernels && can_be_narrow(p) ? 2 : 1),
               needed = (double)(kernels ? memory.gpu : memory.processor) + least;
  tesi_log(ctx, TES_LOG_DETAIL, "memory needed: about %.3g GiB of %.3g GiB", needed / gib, available / gib);
  if (needed > available && (box || !kernels))
    TES_FAIL(TES_OUT_OF_MEMORY,
             "%lld unknowns need about %.3g GiB, %.3g GiB are free: use a coarser mesh or a lower degree",
             (long long)p->space->dofs, needed / gib, available / gib);
done:
  return status;
}

bool tesi_problem_has_narrow_basis(const TesProblem *p) {
  enum { COLUMN = 20 * (8 + 4) };
  if (p->in_time || p->equation->own || !tesi_has_kernels(p->context)) return false;
  const double available = (double)tesi_context_device(p->context)->available(p->context);
  return p->chosen.tolerance >= 1e-6 ||
         tesi_reduce_any(p->context, available / 2 < COLUMN * (double)p->space->length);
}
