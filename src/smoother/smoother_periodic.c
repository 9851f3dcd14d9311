/* Exact vertex patches of boxes with periodic directions, by the sweeps of open boxes (space/periodic.h). A step is
 *   e <- a sweep over an open box from zero for the residual b - A x;  x <- x + the box's own part of e,
 *   for one box or several in turn. A periodic direction with an even number of vertices keeps its two colours.
 *   The open box has further cells beyond both ends of the period, so many that the missing patches at its ends do
 *   not affect its own nodes. An end is wrong as soon as its vertex should have changed, and each change of colour
 *   in the direction moves the error one cell further. Such changes are two for the outermost direction, four and
 *   eight for the inner directions; an odd number has a third colour for vertex 0: one box is the periodic
 *   direction cut open at this vertex, whose node is fixed; another box is the two cells around it. Boxes are
 *   products of these in the order of the colours: the boxes with a third colour in x are second, and so on. */
#include <stdio.h>
#include "smoother/patch/patch.h"
#include "smoother/smoother.h"
#include "space/periodic.h"

enum { MOST = 8 };

typedef struct Sweep {
  TesSmoother *smoother; /* of the open box */
  TesiPeriodic in, out;  /* all nodes except fixed ends; the own nodes */
} Sweep;

typedef struct Plan {
  int count;
  Sweep sweep[MOST];
  void *r, *b, *e; /* residual; b and e of the largest open box */
} Plan;

static TesStatus step(const TesSmoother *smoother, const Sweep *s, const void *b, void *x, TesSweep direction,
                      bool zero) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const TesOperator *op = smoother->op;
  if (!zero) TES_TRY(op->table->residual(op, b, x, plan->r));
  TES_TRY(tesi_periodic_spread(&s->in, zero ? b : plan->r, true, plan->b));
  TES_TRY(s->smoother->table->apply(s->smoother, plan->b, plan->e, direction, true));
  TES_TRY(tesi_periodic_collect(&s->out, plan->e, zero ? NULL : x, 1, x));
done:
  return status;
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  const Plan *plan = smoother->plan;
  TesStatus status = TES_OK;
  for (int i = 0; i < plan->count && status == TES_OK; i++)
    status = step(smoother, &plan->sweep[sweep == TES_FORWARD ? i : plan->count - 1 - i], b, x, sweep,
                  zero_guess && i == 0);
  return status;
}

static TesCost cost(const TesSmoother *smoother) {
  const Plan *plan = smoother->plan;
  const TesOperator *op = smoother->op;
  const TesCost residual = op->table->cost(op);
  const double size = (double)tesi_precision_size(op->precision);
  TesCost total = {plan->count * residual.flops, plan->count * residual.bytes};
  for (int i = 0; i < plan->count; i++) {
    const Sweep *s = &plan->sweep[i];
    const TesCost of_box = s->smoother->table->cost(s->smoother);
    total.flops += of_box.flops;
    total.bytes += of_box.bytes + 3 * size * (double)(op->length + s->in.open_length);
  }
  return total;
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  const TesiDevice *device = tesi_context_device(ctx);
  Plan *plan = smoother->plan;
  if (!plan) return;
  for (int i = 0; i < MOST; i++) tes_smoother_destroy(&plan->sweep[i].smoother);
  device->release(ctx, &plan->r);
  device->release(ctx, &plan->b);
  device->release(ctx, &plan->e);
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = tesi_smoother_patch_apply_ref, .cost = cost, .destroy = destroy};

/* ---- the open boxes ------------------------------------------------------------------------------------ */

/* Cells of one direction of an open box: number first, which may be negative, and their count. */
typedef struct Cells {
  int first, count;
} Cells;

static bool is_odd(const TesiAxis *axis) {
  return axis->periodic && axis->cells % 2;
}

/* Cells beyond either end of a periodic direction with an even number of cells; an even number, so that colours do not
 * change. */
static int reach(int dim, int d) {
  return d < dim ? 2 << (dim - 1 - d) : 0;
}

static Cells choose_cells(const TesSpace *space, int d, bool third) {
  const TesiAxis *axis = &space->axis[d];
  if (!axis->periodic) return (Cells){0, axis->cells};
  if (third) return (Cells){-1, 2};
  const int more = is_odd(axis) ? 0 : reach(space->dim, d);
  return (Cells){-more, axis->cells + 2 * more};
}

/* Vertices of the cells: those of the periodic direction, a period further on each round. */
static TesStatus place_vertices(const TesSpace *space, int d, Cells cells, double **vertex) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const double *x = space->mesh->coordinates[d];
  const int n = space->axis[d].cells;
  TES_ALLOC(vertex, cells.count + 1);
  for (int i = 0; i <= cells.count; i++) {
    const int v = cells.first + i, at = (v % n + n) % n, rounds = (v - at) / n;
    (*vertex)[i] = space->axis[d].periodic ? x[at] + rounds * (x[n] - x[0]) : x[v];
  }
done:
  return status;
}

/* The operator's space on the cells, with fixed ends where it is periodic. */
static TesStatus create_space(const TesSpace *space, const Cells cells[3], TesSpace **open) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = space->dim};
  TesMesh *mesh = NULL;
  double *vertex[3] = {NULL, NULL, NULL};
  uint8_t given[6] = {0};
  for (int d = 0; d < space->dim; d++) {
    TES_TRY(place_vertices(space, d, cells[d], &vertex[d]));
    desc.cells[d] = cells[d].count, desc.coordinates[d] = vertex[d];
    for (int end = 0; end < 2; end++)
      given[2 * d + end] = space->axis[d].periodic || space->given[2 * d + end];
  }
  TES_TRY(tes_mesh_create(ctx, &desc, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = space->degree, .given = given}, open));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &vertex[d]);
  tes_mesh_destroy(&mesh);
  return status;
}

/* All nodes except fixed ends; own: of a box with further cells, the nodes inside the period. */
static TeskPeriodic place_periodic(const TesSpace *space, const Cells cells[3], bool own) {
  TeskPeriodic box = {.nodes = {0}};
  for (int d = 0; d < 3; d++) {
    const TesiAxis *axis = &space->axis[d];
    const int k = axis->degree, beyond = own && !is_odd(axis) ? reach(space->dim, d) * k : 1;
    box.nodes[d] = axis->nodes;
    box.count[d] = box.high[d] = d < space->dim ? cells[d].count * k + 1 : 1;
    if (!axis->periodic) continue;
    box.shift[d] = (cells[d].first * k % axis->nodes + axis->nodes) % axis->nodes;
    box.low[d] = beyond;
    box.high[d] = own && !is_odd(axis) ? beyond + axis->nodes : box.count[d] - 1;
  }
  return box;
}

/* third: bits of the directions with the third colour. */
static TesStatus create_sweep(const TesSmoother *smoother, int third, Sweep *sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  const TesiDiffusion *of = tesi_diffusion_of(op);
  Cells cells[3] = {{0, 1}, {0, 1}, {0, 1}};
  TesSpace *space = NULL;
  TesOperator *open = NULL;
  for (int d = 0; d < op->space->dim; d++) cells[d] = choose_cells(op->space, d, third >> d & 1);
  const TeskPeriodic in = place_periodic(op->space, cells, false),
                     out = place_periodic(op->space, cells, true);
  TES_TRY(tesi_periodic_create(ctx, op->precision, &in, &sweep->in));
  TES_TRY(tesi_periodic_create(ctx, op->precision, &out, &sweep->out));
  TES_TRY(create_space(op->space, cells, &space));
  TES_TRY(tesi_operator_create_constant(space, op->precision, of->a, of->c, of->alpha, &open));
  TES_TRY(tes_smoother_create(
      ctx, &(TesSmootherDesc){.op = open, .kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_EXACT},
      &sweep->smoother));
done:
  tes_operator_destroy(&open);
  tes_space_destroy(&space);
  return status;
}

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesOperator *op = smoother->op;
  const size_t size = tesi_precision_size(op->precision);
  int64_t most = 0;
  int odd = 0;
  Plan *plan = NULL;
  TES_CHECK(smoother->kind == TES_SMOOTHER_PATCH && smoother->local == TES_LOCAL_EXACT &&
                (smoother->omega == 0 || smoother->omega == 1),
            "solver.local_solver: patches of a periodic box have exact local solves and no damping");
  smoother->omega = 1;
  smoother->symmetric = true;
  smoother->table = &table;
  TES_NEW(&plan);
  smoother->plan = plan;
  for (int d = 0; d < op->space->dim; d++) odd |= is_odd(&op->space->axis[d]) << d;
  for (int third = 0; third <= odd; third++) {
    if (third & ~odd) continue;
    TES_TRY(create_sweep(smoother, third, &plan->sweep[plan->count]));
    const int64_t length = plan->sweep[plan->count++].in.open_length;
    most = length > most ? length : most;
  }
  TES_TRY(device->allocate(ctx, (size_t)op->length * size, &plan->r));
  TES_TRY(device->allocate(ctx, (size_t)most * size, &plan->b));
  TES_TRY(device->allocate(ctx, (size_t)most * size, &plan->e));
  snprintf(smoother->description, sizeof smoother->description, "%.110s, periodic%s",
           plan->sweep[0].smoother->description, odd ? ", three colours" : "");
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  const char *reason = tesi_smoother_wants_patches(smoother);
  return reason ? reason : tesi_space_is_periodic(smoother->op->space) ? NULL : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_periodic = {
    TESI_SMOOTHES(TES_SMOOTHER_PATCH) | TESI_SMOOTHES(TES_SMOOTHER_PATCH_ADDITIVE), refuses, init};
