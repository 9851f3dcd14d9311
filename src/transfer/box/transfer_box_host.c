/* Host transfers: tables of the embeddings, tasks with their workspace, kernels chosen by the context's SIMD width. */
#include <math.h>
#include "base/real.h"
#include "base/simd_builds.h"
#include "base/team.h"
#include "transfer/box/transfer_box_plan.h"

enum {
  CACHE = 1 << 19, /* bytes of the arrays between two directions: a quarter of a level-2 cache */
  COLUMNS = 256    /* fine nodes of x that are transposed together */
};

typedef void (*Prolongate)(const TesiTransferPlan *, const TesiTransferTask *, const void *, bool, void *);
typedef void (*Restrict)(const TesiTransferPlan *, const TesiTransferTask *, const void *, void *);
typedef size_t (*Workspace)(const TesiTransferPlan *, const TesiTransferTask *);
typedef struct Build {
  int bits;
  /* by TesPrecision */
  Prolongate prolongate[2];
  Restrict restrict_[2];
  Workspace workspace[2];
} Build;

static Build find_build(int bits) {
  return (Build){
      .bits = bits,
      .prolongate = {TESI_SIMD_PICK(bits, tesk_prolongate_double), TESI_SIMD_PICK(bits, tesk_prolongate_float)},
      .restrict_ = {TESI_SIMD_PICK(bits, tesk_restrict_double), TESI_SIMD_PICK(bits, tesk_restrict_float)},
      .workspace = {TESI_SIMD_PICK(bits, tesk_transfer_workspace_double),
                    TESI_SIMD_PICK(bits, tesk_transfer_workspace_float)}};
}

typedef struct Job {
  const TesiTransferPlan *plan;
  const void *from;
  bool add;
  void *to;
} Job;

static void prolongate_tasks(const void *data, TesiSpan span) {
  const Job *job = data;
  for (int64_t t = span.first; t < span.end; t++)
    job->plan->prolongate(job->plan, &job->plan->tasks[t], job->from, job->add, job->to);
}

static void restrict_tasks(const void *data, TesiSpan span) {
  const Job *job = data;
  for (int64_t t = span.first; t < span.end; t++)
    job->plan->restrict_(job->plan, &job->plan->tasks[t], job->from, job->to);
}

static TesStatus prolongate(const TesTransfer *transfer, const void *coarse, bool add, void *fine) {
  const TesiTransferPlan *plan = transfer->plan;
  tesi_team_for(plan->task_count, plan->task_count, prolongate_tasks, &(Job){plan, coarse, add, fine});
  return TES_OK;
}

static TesStatus restrict_(const TesTransfer *transfer, const void *fine, void *coarse) {
  const TesiTransferPlan *plan = transfer->plan;
  tesi_team_for(plan->task_count, plan->task_count, restrict_tasks, &(Job){plan, fine, false, coarse});
  return TES_OK;
}

static void destroy(TesTransfer *transfer) {
  TesContext *ctx = transfer->context;
  TesiTransferPlan *plan = transfer->plan;
  if (!plan) return;
  for (int d = 0; d < 3; d++) {
    tesi_free(ctx, &plan->axis[d].tables);
    tesi_free(ctx, &plan->axis[d].last_table);
  }
  for (int t = 0; plan->tasks && t < plan->task_count; t++) tesi_free(ctx, &plan->tasks[t].workspace);
  tesi_free(ctx, &plan->tasks);
  tesi_free(ctx, &transfer->plan);
}

static const TesiTransferTable table = {.prolongate = prolongate,
                                        .restrict_ = restrict_,
                                        .destroy = destroy,
                                        .prolongate_ref = tesi_transfer_box_prolongate_ref,
                                        .restrict_ref = tesi_transfer_box_restrict_ref};

/* The part of the cells from `first` to `end`. */
static TesiEmbeddingKind kind_of(const TesiEmbedding *e, int first, int end) {
  const int k = e->degree, n = k + 1;
  if (tesi_embedding_step(e, first) == k) return TESI_IDENTITY;
  if (first < end && tesi_embedding_step(e, first) == 3 * k) return TESI_THREE;
  for (int c = first; c < end; c++) {
    const double *E = tesi_embedding_cell(e, c);
    for (int f = 0; f <= e->step; f++)
      for (int p = 0; p < n; p++)
        if (!(fabs(E[f * n + p] - E[(e->step - f) * n + k - p]) < 1e-12)) return TESI_GENERAL;
  }
  return TESI_MIRRORED;
}

/* The table of one cell: transfer_box_plan.h. */
static void fill_table(const TesTransfer *transfer, const double *E, int k, TesiEmbeddingKind kind,
                       void *tables, size_t at) {
  const int n = k + 1;
  for (int f = 1; f < tesi_transfer_step(kind, k) && (kind == TESI_GENERAL || kind == TESI_THREE); f++)
    for (int p = 0; p <= k; p++) tesi_number_set(transfer->precision, tables, at++, E[f * n + p]);
  for (int f = 1; f <= k && kind == TESI_MIRRORED; f++)
    for (int p = 0; p <= k / 2; p++)
      tesi_number_set(transfer->precision, tables, at++, (E[f * n + p] + E[f * n + k - p]) / 2);
  for (int f = 1; f < k && kind == TESI_MIRRORED; f++)
    for (int p = 0; p < n / 2; p++)
      tesi_number_set(transfer->precision, tables, at++, (E[f * n + p] - E[f * n + k - p]) / 2);
}

static TesStatus fill_axis(const TesTransfer *transfer, int d, TesiTransferAxis *axis) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiEmbedding *e = &transfer->embedding[d];
  const int k = e->degree, alike = e->cells - e->odd_end, count = e->uniform ? tesi_min(alike, 1) : alike;
  const size_t real = tesi_precision_size(transfer->precision);
  *axis = (TesiTransferAxis){.cells = e->cells,
                             .degree = k,
                             .step = e->step,
                             .coarse_nodes = e->coarse_nodes,
                             .fine_nodes = e->fine_nodes,
                             .alike = alike,
                             .last_step = e->last_step,
                             .kind = kind_of(e, 0, count),
                             .natural = {e->natural[0], e->natural[1]}};
  const int size = tesi_transfer_table_size(axis->kind, k);
  axis->stride = e->uniform ? 0 : size;
  TES_TRY(tesi_alloc(ctx, (size_t)(count * size), real, &axis->tables));
  for (int c = 0; c < count; c++)
    fill_table(transfer, tesi_embedding_cell(e, c), k, axis->kind, axis->tables, (size_t)(c * size));
  if (!e->odd_end) goto done;
  axis->last_kind = kind_of(e, alike, e->cells);
  TES_TRY(tesi_alloc(ctx, (size_t)tesi_transfer_table_size(axis->last_kind, k), real, &axis->last_table));
  fill_table(transfer, tesi_embedding_cell(e, alike), k, axis->last_kind, axis->last_table, 0);
done:
  return status;
}

/* Cells of y per block: few, but so many that the rows of a block fill vectors of `lanes` rows well. */
static int choose_block(const TesiTransferPlan *plan, int lanes, size_t size) {
  const TesiTransferAxis *y = &plan->axis[1], *z = &plan->axis[2];
  const int planes = tesi_max(z->degree, 1), rows = planes * y->degree;
  const size_t bytes = (size_t)plan->axis[0].fine_nodes * size * (size_t)(planes * (y->degree + y->step));
  const int most = tesi_max(1, tesi_min(y->cells, (int)(CACHE / bytes)));
  int best = 1;
  double best_share = 0;
  for (int cells = 1; cells <= most && best_share < 0.93; cells++) {
    const double share = (double)(cells * rows) / ((cells * rows + lanes - 1) / lanes * lanes);
    if (share > best_share) best = cells, best_share = share;
  }
  return best;
}

/* Splits y and z such that the largest part, with the layers below that restriction repeats, is smallest. */
static void choose_split(const TesiTransferPlan *plan, int threads, int split[2]) {
  const int cells_y = plan->axis[1].cells, cells_z = plan->dim == 3 ? plan->axis[2].cells : 1;
  int best = 0;
  for (int z = 1; z <= tesi_min(threads, cells_z); z++) {
    const int y = tesi_min(threads / z, cells_y);
    const int work = ((cells_y + y - 1) / y + (y > 1)) * ((cells_z + z - 1) / z + (z > 1));
    if (best == 0 || work <= best) best = work, split[0] = y, split[1] = z;
  }
}

static TesStatus fill_tasks(const TesTransfer *transfer, const Build *build, TesiTransferPlan *plan) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  int split[2] = {1, 1};
  choose_split(plan, tesi_team_threads(ctx, transfer->fine->length / 2), split);
  plan->task_count = split[0] * split[1];
  TES_ALLOC(&plan->tasks, plan->task_count);
  for (int t = 0; t < plan->task_count; t++) {
    TesiTransferTask *task = &plan->tasks[t];
    const int part[2] = {t % split[0], t / split[0]};
    for (int d = 0; d < 2; d++) {
      const int64_t cells = d == 0 || plan->dim == 3 ? plan->axis[1 + d].cells : 1;
      task->first[d] = (int)(cells * part[d] / split[d]);
      task->last[d] = (int)(cells * (part[d] + 1) / split[d]);
    }
    TES_TRY(tesi_alloc(ctx, build->workspace[transfer->precision](plan, task), 1, &task->workspace));
  }
done:
  return status;
}

TesStatus tesi_transfer_host_init(TesTransfer *transfer) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const Build build = find_build(tes_context_simd_bits(ctx));
  const size_t size = tesi_precision_size(transfer->precision);
  TesiTransferPlan *plan;
  transfer->table = &table;
  TES_NEW(&plan);
  transfer->plan = plan;
  plan->dim = transfer->fine->dim;
  plan->prolongate = build.prolongate[transfer->precision];
  plan->restrict_ = build.restrict_[transfer->precision];
  for (int d = 0; d < 3; d++) TES_TRY(fill_axis(transfer, d, &plan->axis[d]));
  const TesiTransferAxis *x = &plan->axis[0];
  const int chunks = (x->cells * x->step + COLUMNS - 1) / COLUMNS;
  plan->chunk = (x->cells + chunks - 1) / chunks;
  plan->block = choose_block(plan, build.bits / 8 / (int)size, size);
  TES_TRY(fill_tasks(transfer, &build, plan));
done:
  return status;
}
