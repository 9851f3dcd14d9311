#include "problem/flow/explicit/explicit_flow.h"
#include "device/copies.h"
#include "multigrid/multigrid.h"
#include "krylov/solver.h"

static TesStatus create_vectors(TesiExplicitFlow *flow) {
  TesContext *ctx = flow->context;
  TesStatus status = TES_OK;
  const int64_t pressures = flow->iso->pressures;
  TesVector **const velocity[] = {&flow->u[0], &flow->u[1], &flow->given, &flow->load},
                    **const of_pressure[] = {&flow->p, &flow->q,       &flow->s,
                                             &flow->b, &flow->weights, &flow->ones};
  double *weight = NULL;
  for (int j = 0; j < 4; j++) TES_TRY(tesi_vector_create_on(flow->velocity, TES_DOUBLE, velocity[j]));
  for (int j = 0; j < 6; j++)
    TES_TRY(tesi_vector_create_on(flow->pressure->layout, TES_DOUBLE, of_pressure[j]));
  TES_TRY(tes_vector_fill(flow->ones, 1));
  TES_ALLOC(&weight, pressures);
  for (int64_t i = 0; i < pressures; i++) {
    int64_t rest = i;
    weight[i] = 1;
    for (int d = 0; d < 3; d++) {
      weight[i] /= flow->iso->axis[d].coarse_divided[rest % flow->iso->axis[d].coarse];
      rest /= flow->iso->axis[d].coarse;
    }
  }
  TES_TRY(tes_vector_set(flow->weights, weight));
  TES_TRY(tes_vector_dot(flow->weights, flow->ones, &flow->volume));
done:
  tesi_free(ctx, &weight);
  return status;
}

static TesStatus create_spaces(TesiExplicitFlow *flow, const TesMesh *mesh, const TesiLayout *velocity) {
  static const uint8_t none[64];
  TesContext *ctx = flow->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .given = none}, &flow->pressure));
  if (velocity)
    flow->velocity = tesi_layout_retain(velocity);
  else
    TES_TRY(tesi_layout_create_plain(ctx, flow->iso->dim * flow->iso->nodes, &flow->velocity));
done:
  return status;
}

static TesStatus create_solver(TesiExplicitFlow *flow, bool direct) {
  TesContext *ctx = flow->context;
  TesStatus status = TES_OK;
  const TesTermDesc diffusion = {.term = TES_TERM_DIFFUSION};
  const TesOperatorDesc desc = {.space = flow->pressure, .form = {1, &diffusion, 0}};
  TES_TRY(tes_operator_create(ctx, &desc, &flow->laplace));
  /* On cells stretched towards walls a polynomial of this degree takes about one cycle per step, and patches take
   * five. Few levels mean few launches. */
  const TesMultigridDesc cycle = {.op = flow->laplace,
                                  .symmetric = true,
                                  .smoother = {.kind = TES_SMOOTHER_CHEBYSHEV, .degree = 10},
                                  .coarse_dofs = 20000};
  TES_TRY(tes_multigrid_create(ctx, &cycle, &flow->multigrid));
  if (direct) {
    TES_TRY(tesi_coarse_create(flow->laplace, TES_DOUBLE, TES_COARSE_AUTO, &flow->direct));
    goto done;
  }
  TES_TRY(tes_solver_create(
      ctx,
      &(TesSolverDesc){
          .op = flow->laplace, .multigrid = flow->multigrid, .method = TES_METHOD_CG, .tolerance = 1e-3},
      &flow->solver));
done:
  return status;
}

TesStatus tesi_explicit_flow_create(const TesMesh *mesh, const TesiLayout *velocity, const uint8_t *given,
                                    double nu, double k, bool direct, TesiExplicitFlow **flow) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesiExplicitFlow *self = NULL;
  *flow = NULL;
  TES_CHECK(mesh->kind == TES_MESH_BOX, "element iso needs a mesh of kind box");
  for (int f = 0; f < 2 * mesh->dim; f++)
    TES_CHECK(given[f] >> f / 2 & 1, "element iso needs the normal velocity on all boundaries");
  TES_NEW(&self);
  self->context = tesi_context_retain(ctx);
  self->nu = nu, self->k = k;
  TES_TRY(tesi_iso_create(mesh, given, &self->iso));
  TES_TRY(create_spaces(self, mesh, velocity));
  TES_TRY(create_vectors(self));
  TES_TRY(create_solver(self, direct));
  *flow = self;
  self = NULL;
done:
  tesi_explicit_flow_destroy(&self);
  return status;
}

void tesi_explicit_flow_destroy(TesiExplicitFlow **flow) {
  if (!flow || !*flow) return;
  TesiExplicitFlow *self = *flow;
  TesContext *ctx = self->context;
  *flow = NULL;
  for (int j = 0; j < 2; j++) {
    tesi_recorded_release(ctx, &self->recorded[j]);
    tes_vector_destroy(&self->u[j]);
  }
  TesVector **const all[] = {&self->given, &self->load, &self->p,       &self->q,
                             &self->s,     &self->b,    &self->weights, &self->ones};
  for (int j = 0; j < 8; j++) tes_vector_destroy(all[j]);
  tesi_kept_free(ctx, &self->kept);
  tesi_coarse_destroy(&self->direct);
  tes_solver_destroy(&self->solver);
  tes_multigrid_destroy(&self->multigrid);
  tes_operator_destroy(&self->laplace);
  tes_operator_destroy(&self->assembled);
  tes_space_destroy(&self->pressure);
  tesi_layout_destroy(&self->velocity);
  tesi_iso_matrices_destroy(&self->matrices);
  tesi_iso_destroy(&self->iso);
  tesi_free(ctx, &self);
  tes_context_destroy(&ctx);
}

TesStatus tesi_explicit_flow_assemble(TesiExplicitFlow *flow) {
  TesContext *ctx = flow->context;
  TesStatus status = TES_OK;
  for (int j = 0; j < 2; j++) tesi_recorded_release(ctx, &flow->recorded[j]);
  TES_TRY(tesi_iso_matrices_create(flow->iso, flow->nu, &flow->matrices));
  if (flow->direct) goto done;
  TesSolverDesc desc = flow->solver->desc;
  flow->assembled = tesi_operator_retain(flow->laplace);
  TES_TRY(tesi_operator_become_assembled(&flow->assembled));
  TES_TRY(tesi_multigrid_assemble(flow->multigrid));
  desc.op = flow->assembled;
  tes_solver_destroy(&flow->solver);
  TES_TRY(tes_solver_create(ctx, &desc, &flow->solver));
done:
  return status;
}

static TesStatus remove_mean(TesiExplicitFlow *flow, TesVector *v) {
  TesContext *ctx = flow->context;
  TesStatus status = TES_OK;
  double integral;
  TES_TRY(tes_vector_dot(flow->weights, v, &integral));
  TES_TRY(tes_vector_axpy(-integral / flow->volume, flow->ones, v));
done:
  return status;
}

TesStatus tesi_explicit_flow_begin(TesiExplicitFlow *flow) {
  TesContext *ctx = flow->context;
  TesStatus status = TES_OK;
  TES_TRY(remove_mean(flow, flow->p));
  TES_TRY(tes_vector_fill(flow->q, 0));
  TES_TRY(tes_vector_copy(flow->p, 1, flow->s));
done:
  return status;
}

TesStatus tesi_explicit_flow_momentum(TesiExplicitFlow *flow) {
  const TesiIsoStep step = {flow->k,
                            flow->nu,
                            flow->u[flow->now],
                            flow->s,
                            flow->given,
                            flow->loaded ? flow->load : NULL,
                            flow->u[1 - flow->now]};
  const TesStatus status = flow->matrices ? tesi_iso_matrices_momentum(flow->matrices, &step)
                                          : tesi_iso_momentum(flow->iso, &step);
  return status == TES_OK ? tesi_sum_copies(flow->context, flow->velocity->shared, TES_DOUBLE, step.next->data)
                          : status;
}

TesStatus tesi_explicit_flow_divergence(TesiExplicitFlow *flow, const TesVector *u) {
  const double scale = -1 / flow->k;
  const TesStatus status = flow->matrices ? tesi_iso_matrices_divergence(flow->matrices, scale, u, flow->b)
                                          : tesi_iso_divergence(flow->iso, scale, u, flow->b);
  return status == TES_OK
             ? tesi_sum_copies(flow->context, flow->pressure->layout->shared, TES_DOUBLE, flow->b->data)
             : status;
}

TesStatus tesi_explicit_flow_pressure(TesiExplicitFlow *flow, double rate, const TesVector *q) {
  return flow->matrices ? tesi_iso_matrices_pressure(flow->matrices, rate, q, flow->b, flow->p, flow->s)
                        : tesi_iso_pressure(flow->iso, rate, q, flow->b, flow->p, flow->s);
}

static TesStatus step(void *user) {
  TesiExplicitFlow *flow = user;
  TesContext *ctx = flow->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_explicit_flow_momentum(flow));
  TES_TRY(tesi_explicit_flow_divergence(flow, flow->u[1 - flow->now]));
  if (flow->direct) {
    TES_TRY(tesi_coarse_solve(flow->direct, flow->b, flow->q));
  } else {
    TesSolveResult result;
    TES_TRY(tes_solver_solve(flow->solver, flow->b, flow->q, &result));
    flow->cycles = result.iterations;
    TES_TRY(remove_mean(flow, flow->q));
  }
  TES_TRY(tesi_explicit_flow_pressure(flow, flow->nu * flow->k, flow->q));
done:
  return status;
}

TesStatus tesi_explicit_flow_step(TesiExplicitFlow *flow) {
  const TesStatus status =
      flow->direct ? tesi_recorded_run(flow->context, &flow->recorded[flow->now], step, flow) : step(flow);
  if (status == TES_OK) flow->now = 1 - flow->now;
  return status;
}

TesStatus tesi_explicit_flow_energy(const TesiExplicitFlow *flow, double *energy) {
  TesContext *ctx = flow->context;
  TesStatus status = TES_OK;
  const TesiIso *iso = flow->iso;
  const TesiIsoAxis *x = &iso->axis[0], *y = &iso->axis[1], *z = &iso->axis[2];
  double *u = NULL, sum = 0;
  TES_ALLOC(&u, iso->dim * iso->nodes);
  TES_TRY(tes_vector_get(flow->u[flow->now], u));
  for (int c = 0; c < iso->dim; c++) {
    const double *v = u + c * iso->nodes;
    for (int64_t i = 0; i < iso->nodes; i++) {
      const int at[3] = {(int)(i % x->fine), (int)(i / x->fine % y->fine), (int)(i / x->fine / y->fine)};
      double row = 0;
      for (int n = 0; n < 27; n++) {
        const int step[3] = {n % 3, n / 3 % 3, n / 9};
        const int64_t j = i + (step[0] - 1) + x->fine * ((step[1] - 1) + (int64_t)y->fine * (step[2] - 1));
        const double weight = x->M[step[0]][at[0]] * y->M[step[1]][at[1]] * z->M[step[2]][at[2]];
        if (weight != 0) row += weight * v[j];
      }
      sum += 0.5 * v[i] * row;
    }
  }
  *energy = sum;
done:
  tesi_free(ctx, &u);
  return status;
}
