/* Residuals: see estimate.h. */
#include "basis/lagrange.h"
#include "problem/adapt/estimate.h"
#include "problem/in_time.h"

/* u_t of all components, one after the other; second order: u_tt; nothing before the first step. */
static TesStatus find_rate(const TesProblem *p, TesiResidual *s) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  if (p->equation->second_order) {
    TES_ALLOC(&s->rate, p->space->length);
    return tes_vector_get(p->in_time->stepper->second, s->rate);
  }
  const TesiRate rate = tesi_problem_rate(p);
  double *values = NULL;
  const int64_t length = s->components * s->space->length;
  if (rate.count == 0) return TES_OK;
  TES_ALLOC(&s->rate, length);
  TES_ALLOC(&values, length);
  for (int64_t i = 0; i < length; i++) s->rate[i] = rate.weight[0] * s->u[i];
  for (int j = 0; j < rate.count; j++) {
    TES_TRY(tes_vector_get(rate.old[j], values));
    for (int64_t i = 0; i < length; i++) s->rate[i] += rate.weight[1 + j] * values[i];
  }
done:
  tesi_free(ctx, &values);
  return status;
}

/* The problem's numbers belong to operators, with sigma in c, and to another time. */
static TesStatus take_time(const TesProblem *p, TesiResidual *s) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  s->mesh = tesi_mesh_retain(p->mesh);
  TES_TRY(tesi_numbered_copy(p->mesh, &p->in_time->numbers, &s->own));
  TES_TRY(tesi_numbered_at(p->mesh, p->in_time->march.time, 1, 0, &s->own));
  s->data = &s->own;
  TES_TRY(find_rate(p, s));
done:
  return status;
}

/* Cell views of the solution's components; of flows: of the velocity's components, then of the pressure. */
static TesStatus take_parts(const TesProblem *problem, TesiResidual *s) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  const TesSpace *space = problem->space;
  const TesiOwn *own = problem->equation->own;
  const bool flow = own && own->reaction;
  s->components = space->scalars - flow;
  for (int c = 0; c < s->components; c++) TES_TRY(tesi_space_cells(space->scalar[c], &s->part[c]));
  s->space = s->part[0];
  if (flow) TES_TRY(tesi_space_cells(space->scalar[s->components], &s->pressure));
  if (flow) TES_TRY(tesi_cell_rule(s->pressure, s->space->degree + 2, &s->pressure_rule));
  s->carried = flow && problem->in_time;
  s->symmetric = flow && problem->variant.flow == TES_FLOW_SYMMETRIC;
  if (flow) s->alpha = own->reaction(problem);
done:
  return status;
}

static TesStatus take_tables(TesiResidual *s) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  const TesiCellView *space = s->space;
  const double middle = 0.5;
  TES_TRY(tesi_cell_rule(space, space->degree + 2, &s->rule));
  tesi_face_rule(space->dim, space->degree, space->degree + 2, s->geometry, &s->face_rule);
  const TesiCellRule *rule = &s->rule;
  tesi_lagrange(rule->q, rule->point, rule->q, rule->point, NULL, s->table.D);
  TES_ALLOC(&s->table.w, rule->points);
  for (int p = 0; p < rule->points; p++) {
    const int q = rule->q;
    const double plane = rule->weight[p % q] * (rule->dim == 3 ? rule->weight[p / q % q] : 1);
    s->table.w[p] = plane * rule->weight[rule->dim == 3 ? p / q / q : p / q];
    if (p < s->face_rule.points) s->table.face_w[p] = plane;
  }
  tesi_geometry_tables(s->geometry, 1, &middle, s->table.middle_B, s->table.middle_G);
  tesi_side_tables(space->n, &s->face_rule, &s->table.side);
  tesi_side_tables(s->geometry->degree + 1, &s->face_rule, &s->table.geometry_side);
  if (s->pressure) tesi_side_tables(s->pressure->n, &s->face_rule, &s->table.pressure_side);
  s->loops = tesi_batch_loops(tes_context_simd_bits(ctx));
  s->lanes = tesi_lanes(tes_context_simd_bits(ctx));
done:
  return status;
}

TesStatus tesi_residual_create(const TesProblem *problem, TesiResidual **residual) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiResidual *s = NULL;
  *residual = NULL;
  TES_NEW(&s);
  s->data = &problem->numbered;
  TES_TRY(take_parts(problem, s));
  const TesiCellView *space = s->space;
  TES_TRY(tesi_mesh_geometry(problem->mesh, &s->geometry));
  TES_TRY(tesi_vector_read(problem->u, &s->u));
  s->transports = tesi_problem_transports(problem);
  s->conservative = problem->variant.conservative;
  s->l2 = s->transports || (problem->in_time && !problem->equation->second_order);
  s->dense = problem->equation->second_order;
  s->thermal = problem->variant.plane == TES_PLANE_STRESS ? 2 : 3;
  if (problem->in_time) TES_TRY(take_time(problem, s));
  TES_TRY(take_tables(s));
  TES_TRY(tesi_face_pairs(space, &s->across, &s->pair, &s->pairs));
  if (tesi_ranks(ctx) > 1) {
    TES_TRY(tesi_residual_take_across(s));
    tesi_side_tables(s->geometry_across.degree + 1, &s->face_rule, &s->table.across_side);
  }
  TES_TRY(tesi_residual_batches(s));
  *residual = s;
  s = NULL;
done:
  tesi_residual_destroy(ctx, &s);
  return status;
}

void tesi_residual_destroy(TesContext *ctx, TesiResidual **residual) {
  if (!*residual) return;
  tesi_free(ctx, &(*residual)->pair);
  tesi_free(ctx, &(*residual)->table.w);
  tesi_free(ctx, &(*residual)->cells.item);
  tesi_free(ctx, &(*residual)->faces.item);
  tesi_across_free(ctx, &(*residual)->across);
  tesi_free(ctx, &(*residual)->u_across);
  tesi_free(ctx, &(*residual)->geometry_across.nodes);
  tesi_free(ctx, &(*residual)->names_across);
  tesi_free(ctx, &(*residual)->u);
  tesi_free(ctx, &(*residual)->rate);
  tesi_numbered_free((*residual)->mesh, &(*residual)->own);
  tes_mesh_destroy(&(*residual)->mesh);
  tesi_free(ctx, residual);
}

/* Numbers of the arrays of `at`. */
static int64_t most_nodes(const TesiResidual *s) {
  const int64_t own = s->geometry->cell_nodes, across = s->geometry_across.cell_nodes;
  return (own > across ? own : across) * s->rule.dim * TESI_LANES;
}

static int64_t most_values(const TesiResidual *s) {
  const int n = s->space->n + 1; /* the dual problem has one degree more */
  return (int64_t)s->components * n * n * (s->rule.dim == 3 ? n : 1) * TESI_LANES;
}

static TesStatus create_at(const TesiResidual *s, TesiResidualAt *at) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  const int dim = s->rule.dim, components = s->components;
  const int64_t n = s->rule.points * TESI_LANES;
  const struct {
    double **array;
    int count;
  } of[] = {{&at->x, 3},         {&at->J, dim * dim},  {&at->det, 1},        {&at->weight, 1},
            {&at->normal, 3},    {&at->u, components}, {&at->r, components}, {&at->p, 1},
            {&at->G, dim * dim}, {&at->divergence, 1}};
  int64_t length = most_nodes(s) + most_values(s) + (TESI_SPARE + dim * dim) * n;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) length += of[i].count * n;
  TES_ALLOC(&at->memory, length);
  at->s = s;
  double *next = at->memory;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) *of[i].array = next, next += of[i].count * n;
  at->nodes = next, next += most_nodes(s);
  at->local = next, next += most_values(s);
  for (int i = 0; i < TESI_SPARE; i++) at->spare[i] = next + i * n; /* behind the last: room for Jacobians */
done:
  return status;
}

TesStatus tesi_residual_at_create(const TesiResidual *s, int threads, TesiResidualAt **at) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  TES_ALLOC(at, threads);
  for (int t = 0; t < threads; t++) TES_TRY(create_at(s, &(*at)[t]));
done:
  return status;
}

void tesi_residual_at_free(TesContext *ctx, int threads, TesiResidualAt **at) {
  for (int t = 0; *at && t < threads; t++) tesi_free(ctx, &(*at)[t].memory);
  tesi_free(ctx, at);
}
