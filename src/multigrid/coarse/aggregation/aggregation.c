#include "multigrid/coarse/aggregation/aggregation.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/team.h"
#include "device/kernel.h"
#include "multigrid/coarse/aggregation/cycle_device.h"
#include "operator/assembled/matrix.h"
#include "operator/elasticity/elasticity.h"
#include "operator/mapped/mapped.h"
#include "parallel/comm.h"

/* LAST: unknowns of the last level, whose inverse is a dense matrix; a product with it takes as long as a product with
 * the matrix of 20 k unknowns of elasticity. TRIAL: iterations that estimate the spectrum. */
enum { LAST = 1500, TRIAL = 10 };
static const double left = 0.1;

struct TesiAggregation {
  TesContext *context;
  int block; /* components */
  int64_t nodes;
  TesiHierarchy *hierarchy;
  int cycles;
  double *b, *x; /* host, [nodes][block] */
  TesiAggregationDevice *device;
  char description[80];
};

/* ---- matrix and near-null vectors ---------------------------------------------------------------------- */
const char *tesi_aggregation_refuses(const TesOperator *op) {
  if (tesi_ranks(op->context) > 1) return "it is for one rank";
  if (op->kind == &tesi_operator_transport) return "it is for symmetric operators";
  if (tesi_is_elasticity(op)) return NULL;
  return op->space->scalars > 1 || !op->space->element->nodal ? "it is for components of element q" : NULL;
}

/* One component: the arrays of the matrix in compressed rows are used as blocks of one entry. */
static TesStatus take_scalar(const TesOperator *op, TesiBlockMatrix *A) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiMatrix scalar = {0};
  const bool mapped = tesi_mapped_of(op) && tesi_mapped_of(op)->global;
  TES_TRY(mapped ? tesi_operator_assemble(op, &scalar) : tesi_operator_probe(op, &scalar));
  *A = (TesiBlockMatrix){.rows = scalar.rows,
                         .columns = scalar.rows,
                         .high = 1,
                         .wide = 1,
                         .row = scalar.row,
                         .column = scalar.column,
                         .value = scalar.value};
done:
  return status;
}

/* B[node] <- 1 except at nodes with given values. */
static TesStatus take_constants(const TesOperator *op, double **B) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiCellView *view;
  TES_TRY(tesi_space_cells(op->space->scalar[0], &view));
  TES_ALLOC(B, op->length);
  for (int64_t i = 0; i < op->length; i++) (*B)[i] = 1;
  for (int64_t i = 0; i < view->length - view->dofs; i++) (*B)[view->constrained[i]] = 0;
done:
  return status;
}

/* B[node][component][motion] */
static TesStatus take_motions(const TesOperator *op, int *vectors, int *loose, double **B) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *motion = NULL;
  const int dim = op->space->dim;
  const int64_t n = op->length, nodes = n / dim;
  TES_TRY(tesi_elasticity_near_null(op, vectors, loose, &motion));
  TES_ALLOC(B, n * *vectors);
  for (int k = 0; k < *vectors; k++)
    for (int c = 0; c < dim; c++)
      for (int64_t i = 0; i < nodes; i++) (*B)[(i * dim + c) * *vectors + k] = motion[k * n + c * nodes + i];
done:
  tesi_free(ctx, &motion);
  return status;
}

/* ---- the number of cycles ------------------------------------------------------------------------------ */

/* The bound 1 / T_k of the error reduction by k steps. */
static double error_of(int k, double least, double largest) {
  const double root = sqrt(largest / least), r = (root - 1) / (root + 1);
  return 2 * pow(r, k) / (1 + pow(r, 2 * k));
}

static int choose_cycles(double least, double largest) {
  int cycles = 1;
  while (cycles < TESI_AGGREGATION_CYCLES && error_of(cycles, least, largest) > left) cycles++;
  return cycles;
}

/* Entries at which all near-null vectors are zero have given values. */
static TesStatus find_given(TesContext *ctx, int64_t n, int vectors, const double *B, uint8_t **given) {
  TesStatus status = TES_OK;
  TES_ALLOC(given, n);
  for (int64_t i = 0; i < n; i++) {
    (*given)[i] = 1;
    for (int k = 0; k < vectors; k++) (*given)[i] = (*given)[i] && B[i * vectors + k] == 0;
  }
done:
  return status;
}

/* ---- set-up ---------------------------------------------------------------------------------------- */
static TesStatus host_cycle(void *user, const TesVector *b, TesVector *x) {
  tesi_hierarchy_cycle(user, b->data, x->data);
  return TES_OK;
}

static TesStatus host_multiply(void *user, const TesVector *x, TesVector *y) {
  const TesiHierarchy *h = user;
  tesi_block_run(h->context, &(TesiBlockTask){
                                 .way = TESI_BLOCK_MULTIPLY, .A = &h->level[0].A, .x = x->data, .y = y->data});
  return TES_OK;
}

/* From the spectrum of cycle times matrix, by what runs the cycles. */
static TesStatus set_cycles(TesiAggregation *a, const uint8_t *given, double *least, double *largest) {
  TesContext *ctx = a->context;
  TesStatus status = TES_OK;
  TesiCycleOf of = {ctx, a->nodes * a->block, a->hierarchy, host_multiply, host_cycle};
  if (a->device)
    of.user = a->device, of.multiply = tesi_aggregation_device_multiply,
    of.cycle = tesi_aggregation_device_cycle;
  TES_TRY(tesi_aggregation_spectrum(&of, given, TRIAL, least, largest));
  *least *= 0.9, *largest *= 1.02; /* margin for the part of the spectrum that the trial has not seen */
  a->cycles = choose_cycles(*least, *largest);
  TES_TRY(tesi_hierarchy_accelerate(a->hierarchy, 0, a->cycles, *least, *largest));
  if (a->device) TES_TRY(tesi_aggregation_device_accelerate(a->device, a->hierarchy));
done:
  return status;
}

static TesStatus make_hierarchy(const TesOperator *op, TesiAggregation *a) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiBlockMatrix A = {0};
  double *B = NULL, least, largest;
  uint8_t *given = NULL;
  int vectors = 1, loose = op->singular;
  const double start = tesi_now();
  TES_TRY(tesi_is_elasticity(op) ? tesi_elasticity_assemble(op, &A) : take_scalar(op, &A));
  TES_TRY(tesi_is_elasticity(op) ? take_motions(op, &vectors, &loose, &B) : take_constants(op, &B));
  a->block = A.high, a->nodes = A.rows;
  const double assembled = tesi_now();
  TES_TRY(find_given(ctx, op->length, vectors, B, &given));
  TES_TRY(tesi_hierarchy_create(
      ctx, &(TesiHierarchyDesc){.A = &A, .vectors = vectors, .loose = loose, .B = B, .last = LAST},
      &a->hierarchy));
  if (tesi_has_kernels(ctx)) TES_TRY(tesi_aggregation_device_create(ctx, a->hierarchy, a->block, &a->device));
  const double made = tesi_now();
  TES_TRY(set_cycles(a, given, &least, &largest));
  tesi_log(
      ctx, TES_LOG_DETAIL,
      "coarsest level: %lld unknowns, smoothed aggregation of %d levels, %lld unknowns in the last, matrices "
      "of %.3g times the first; cycle times matrix in %.3g .. %.3g: %d cycles; matrix %.3g s, levels %.3g s, "
      "spectrum %.3g s",
      (long long)op->length, a->hierarchy->levels,
      (long long)a->hierarchy->level[a->hierarchy->levels - 1].length, a->hierarchy->complexity, least,
      largest, a->cycles, assembled - start, made - assembled, tesi_now() - made);
  if (a->device) tesi_hierarchy_destroy(&a->hierarchy);
done:
  tesi_block_free(ctx, &A);
  tesi_free(ctx, &B);
  tesi_free(ctx, &given);
  return status;
}

static TesStatus make_room(const TesOperator *op, TesiAggregation *a) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  if (a->device) return TES_OK;
  TES_ALLOC(&a->b, op->length);
  TES_ALLOC(&a->x, op->length);
done:
  return status;
}

TesStatus tesi_aggregation_create(const TesOperator *op, TesiAggregation **aggregation) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiAggregation *a = NULL;
  *aggregation = NULL;
  const char *reason = tesi_aggregation_refuses(op);
  TES_CHECK(!reason, "coarse aggregation is not for this level: %s", reason);
  TES_NEW(&a);
  a->context = tesi_context_retain(ctx);
  TES_TRY(make_hierarchy(op, a));
  TES_TRY(make_room(op, a));
  snprintf(a->description, sizeof a->description, "%d cycle%s of smoothed aggregation", a->cycles,
           a->cycles > 1 ? "s" : "");
  *aggregation = a;
  a = NULL;
done:
  tesi_aggregation_destroy(&a);
  return status;
}

void tesi_aggregation_destroy(TesiAggregation **aggregation) {
  if (!*aggregation) return;
  TesiAggregation *a = *aggregation;
  TesContext *ctx = a->context;
  *aggregation = NULL;
  tesi_hierarchy_destroy(&a->hierarchy);
  tesi_aggregation_device_destroy(ctx, &a->device);
  tesi_free(ctx, &a->b);
  tesi_free(ctx, &a->x);
  tesi_free(ctx, &a);
  tes_context_destroy(&ctx);
}

const char *tesi_aggregation_describe(const TesiAggregation *a) {
  return a->description;
}

int tesi_aggregation_cycles(const TesiAggregation *a) {
  return a->cycles;
}

/* ---- solution -------------------------------------------------------------------------------------- */
typedef struct Span {
  const TesiAggregation *a;
  const double *from;
  double *to;
} Span;

/* From the order component by component to the order node by node. */
static void take_span(const void *data, TesiSpan span) {
  const Span *s = data;
  const int block = s->a->block;
  for (int64_t i = span.first; i < span.end; i++)
    for (int c = 0; c < block; c++) s->to[i * block + c] = s->from[c * s->a->nodes + i];
}

static void give_span(const void *data, TesiSpan span) {
  const Span *s = data;
  const int block = s->a->block;
  for (int64_t i = span.first; i < span.end; i++)
    for (int c = 0; c < block; c++) s->to[c * s->a->nodes + i] = s->from[i * block + c];
}

TesStatus tesi_aggregation_solve(TesiAggregation *a, const double *b, double *x) {
  const int threads = tesi_team_threads(a->context, a->nodes * a->block);
  tesi_team_for(threads, a->nodes, take_span, &(Span){a, b, a->b});
  tesi_hierarchy_solve(a->hierarchy, a->b, a->x);
  tesi_team_for(threads, a->nodes, give_span, &(Span){a, a->x, x});
  return TES_OK;
}

TesStatus tesi_aggregation_queue(TesiAggregation *a, TesPrecision precision, const void *b, void *x) {
  return tesi_aggregation_device_solve(a->device, precision, b, x);
}
