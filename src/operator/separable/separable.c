/* The separable form: constant coefficients on a box. Set-up, diagonal and cost. The contractions are in the SIMD
 * builds. */
#include "base/real.h"
#include "operator/form.h"
#include "operator/operator_periodic.h"
#include "operator/separable/separable.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/simd_builds.h"
#include "base/team.h"
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "device/kernel.h"
#include "parallel/comm.h"
#include "operator/separable/separable_device.h"

enum {
  N = TESI_MAX_DEGREE + 1,
  CACHE = 1 << 20 /* bytes of planes a tile may buffer: half of a level-2 cache */
};

/* Gauss-Lobatto weights w and w times Legendre's P_k at the nodes of [0, 1]. */
static void lobatto(int k, double w[N], double wl[N]) {
  double nodes[N], derivative;
  tesi_gauss_lobatto(k + 1, nodes, w);
  for (int i = 0; i <= k; i++) {
    tesi_legendre(k, 2 * nodes[i] - 1, &wl[i], &derivative);
    wl[i] *= w[i];
  }
}

static bool is_scaled(const TesOperator *op, int d) {
  return d < op->space->dim - 1;
}

/* Writes the record of a cell of width h; the width of the cell to its left is given. Row i of the cell's matrices is
 * divided from the left by h w_i in scaled directions:
 *   even[i][j] + odd[i][j] = K[i][j] and even - odd = K[i][n-1-j];  M = weight (I + rank (W l)').
 * The last column of even multiplies the innermost sum, after this sum has been subtracted from the others. */
static void fill_record(const TesOperator *op, int d, double h_left, double h, void *records, size_t at) {
  const int k = op->space->degree, n = k + 1, E = (n + 1) / 2, O = n / 2;
  double mass[N * N], K[N * N], w[N], wl[N];
  tesi_cell_matrices(k, mass, K);
  lobatto(k, w, wl);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const double entry = tesi_diffusion_of(op)->a / h * K[i * n + j] +
                           (d == 0 ? tesi_diffusion_of(op)->c * h * mass[i * n + j] : 0);
      K[i * n + j] = is_scaled(op, d) ? entry / (h * w[i]) : entry;
    }
  tesi_number_set(op->precision, records, at++, h_left / h);
  for (int i = 0; i < E; i++) {
    double sum = 0; /* of the row: only the reaction, since rows of the stiffness sum to zero */
    for (int j = 0; j < n && d == 0; j++)
      sum += tesi_diffusion_of(op)->c * (is_scaled(op, d) ? mass[i * n + j] / w[i] : h * mass[i * n + j]);
    for (int j = 0; j < E - 1; j++)
      tesi_number_set(op->precision, records, at++, (K[i * n + j] + K[i * n + n - 1 - j]) / 2);
    tesi_number_set(op->precision, records, at++, n % 2 ? sum : sum / 2);
  }
  for (int i = 0; i < O; i++)
    for (int j = 0; j < O; j++)
      tesi_number_set(op->precision, records, at++, (K[i * n + j] - K[i * n + n - 1 - j]) / 2);
  for (int i = 0; i < E; i++) tesi_number_set(op->precision, records, at++, is_scaled(op, d) ? 1 : h * w[i]);
  const double gamma = k * (k + 1) / (2.0 * k + 1);
  for (int i = 0; i < E; i++)
    tesi_number_set(op->precision, records, at++, -gamma * (is_scaled(op, d) ? wl[i] / w[i] : h * wl[i]));
}

static TesStatus fill_axis(TesOperator *op, TesiSeparable *plan, int d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = &op->space->axis[d];
  TesiSeparableAxis *out = &plan->axis[d];
  const int size = tesi_separable_record_size(plan->degree), count = axis->uniform ? 1 : axis->cells;
  double w[N], wl[N];
  lobatto(plan->degree, w, wl);
  out->cells = axis->cells;
  out->nodes = axis->nodes;
  out->stride = axis->uniform ? 0 : size;
  TES_TRY(tesi_alloc(ctx, (size_t)count * (size_t)size, tesi_precision_size(op->precision), &out->records));
  for (int c = 0; c < count; c++)
    fill_record(op, d, axis->h[c ? c - 1 : 0], axis->h[c], out->records, (size_t)c * (size_t)size);
  for (int end = 0; end < 2; end++) {
    const double h = axis->h[end ? axis->cells - 1 : 0];
    out->natural[end] = axis->end[end] != TESI_STRONG;
    out->end[end] = tesi_diffusion_of(op)->alpha[2 * d + end] / (is_scaled(op, d) ? h * w[0] : 1);
  }
done:
  return status;
}

/* h w of the cell to the right of each node (to the left for the last), zero at Dirichlet nodes; ones in a
 * direction that is not scaled. */
static TesStatus fill_scale(TesOperator *op, TesiSeparable *plan, int d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = &op->space->axis[d];
  const int k = plan->degree;
  double w[N], wl[N];
  lobatto(k, w, wl);
  TES_TRY(tesi_alloc(ctx, (size_t)(axis->nodes + 2 * plan->lanes), tesi_precision_size(op->precision),
                     &plan->scale[d]));
  for (int i = tesi_axis_first(axis); i < tesi_axis_end(axis); i++) {
    const int cell = tesi_min(i / k, axis->cells - 1);
    tesi_number_set(op->precision, plan->scale[d], (size_t)i,
                    is_scaled(op, d) ? axis->h[cell] * w[i - cell * k] : 1);
  }
done:
  return status;
}

/* The number of cells for which rows, taken `lanes` at a time, have the fewest unused lanes; at most `most`, and
 * preferably near it. */
static int choose_rows(int k, int lanes, int most) {
  int best = most;
  double best_share = 0;
  for (int cells = most; cells >= 1 && 3 * cells >= most; cells--) {
    const int rows = cells * k, taken = (rows + 1 + lanes - 1) / lanes * lanes;
    const double share = (double)rows / taken;
    if (share > best_share + 0.01) best = cells, best_share = share;
  }
  return best;
}

static void choose_tiles(const TesOperator *op, TesiSeparable *plan, const int cells[3]) {
  const int k = plan->degree, lanes = plan->lanes, most_columns = plan->dim == 3 ? 256 : 4096;
  const int size = (int)tesi_precision_size(op->precision);
  for (plan->chunk = 1; plan->chunk * k % lanes != 0 || plan->chunk * k < 32; plan->chunk++) {
  }
  const int tiles = (cells[0] * k + most_columns - 1) / most_columns;
  plan->tile[0] = (cells[0] + tiles - 1) / tiles;
  if (tiles > 1) plan->tile[0] = (plan->tile[0] + plan->chunk - 1) / plan->chunk * plan->chunk;
  plan->tile[0] = tesi_min(plan->tile[0], cells[0]);
  plan->pitch = (plan->tile[0] * k + 1 + lanes - 1) / lanes * lanes;
  const int planes = plan->dim == 3 ? 2 * (k + 1) + 1 : 3; /* 2D: the stage, and the rows that are read */
  const int most_rows = tesi_max(CACHE / (planes * size) / plan->pitch, k);
  plan->tile[1] = most_rows / k >= cells[1] ? cells[1] : choose_rows(k, lanes, most_rows / k);
  plan->rows = plan->tile[1] * k + 1;
  /* an odd number of cache lines: planes then use different sets of a cache */
  const size_t line = 64 / (size_t)size, lines = ((size_t)plan->rows * (size_t)plan->pitch + line - 1) / line;
  plan->plane = (lines | 1) * line;
}

/* Splits the box among at most `threads` tasks so that the largest one, its halo included, is smallest. */
static void choose_split(const TesiSeparable *plan, int threads, int split[3]) {
  double best = 0;
  for (int z = 1; z <= tesi_min(threads, plan->dim == 3 ? plan->axis[2].cells : 1); z++)
    for (int y = 1; y <= tesi_min(threads / z, plan->axis[1].cells); y++)
      for (int x = 1; x <= tesi_min(threads / z / y, plan->axis[0].cells); x++) {
        const int parts[3] = {x, y, z};
        double work = 1;
        for (int d = 0; d < plan->dim; d++)
          work *= (plan->axis[d].cells + parts[d] - 1) / parts[d] + (parts[d] > 1);
        if (best == 0 || work < best || (work == best && z > split[2])) {
          best = work;
          memcpy(split, parts, sizeof parts);
        }
      }
}

typedef void (*Run)(const TesiSeparable *, int, const TesiSeparableJob *);
typedef size_t (*WorkspaceSize)(const TesiSeparable *, const TesiSeparableTask *);
typedef struct Build {
  int bits;
  Run run[2], save[2]; /* by TesPrecision */
  WorkspaceSize workspace[2];
} Build;

static Build find_build(int bits) {
  return (Build){
      .bits = bits,
      .run = {TESI_SIMD_PICK(bits, tesk_separable_double), TESI_SIMD_PICK(bits, tesk_separable_float)},
      .save = {TESI_SIMD_PICK(bits, tesk_separable_save_double),
               TESI_SIMD_PICK(bits, tesk_separable_save_float)},
      .workspace = {TESI_SIMD_PICK(bits, tesk_separable_workspace_double),
                    TESI_SIMD_PICK(bits, tesk_separable_workspace_float)}};
}

static TesStatus fill_tasks(const TesOperator *op, TesiSeparable *plan, const Build *build) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  int split[3] = {1, 1, 1}, largest[3];
  const int threads = tesi_team_threads(ctx, op->space->length);
  choose_split(plan, threads, split);
  for (int d = 0; d < 3; d++) largest[d] = (op->space->axis[d].cells + split[d] - 1) / split[d];
  choose_tiles(op, plan, largest);
  plan->task_count = split[0] * split[1] * split[2];
  plan->corrects = op->precision == TES_DOUBLE && plan->dim == 3 && split[0] * split[1] == 1 &&
                   plan->tile[0] == plan->axis[0].cells;
  TES_ALLOC(&plan->tasks, plan->task_count);
  for (int t = 0; t < plan->task_count; t++) {
    TesiSeparableTask *task = &plan->tasks[t];
    const int part[3] = {t % split[0], t / split[0] % split[1], t / split[0] / split[1]};
    for (int d = 0; d < 3; d++) {
      const int64_t cells = op->space->axis[d].cells;
      task->first[d] = (int)(cells * part[d] / split[d]);
      task->last[d] = (int)(cells * (part[d] + 1) / split[d]);
    }
    TES_TRY(tesi_alloc(ctx, build->workspace[op->precision](plan, task), 1, &task->workspace));
    if (plan->corrects && plan->task_count > 1) {
      const size_t plane = (size_t)plan->axis[0].nodes * (size_t)plan->axis[1].nodes;
      TES_TRY(tesi_alloc(ctx, (size_t)(plan->degree + 1) * plane, sizeof(double), &task->saved));
    }
  }
done:
  return status;
}

/* A call for all tasks. */
typedef struct Call {
  const TesiSeparable *plan;
  const TesiSeparableJob *job;
  Run run;
} Call;

static void run_tasks(const void *data, TesiSpan span) {
  const Call *call = data;
  for (int64_t t = span.first; t < span.end; t++) call->run(call->plan, (int)t, call->job);
}

static void run(const TesOperator *op, TesiSeparableJob job) {
  const TesiSeparable *plan = op->plan;
  /* results larger than the near caches bypass them */
  job.stream = (size_t)op->length * tesi_precision_size(op->precision) > 4 * CACHE;
  tesi_team_for(plan->task_count, plan->task_count, run_tasks, &(Call){plan, &job, plan->run});
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  run(op, (TesiSeparableJob){.x = (void *)x, .y = y});
  return TES_OK;
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  run(op, (TesiSeparableJob){.x = (void *)x, .b = b, .y = r});
  return TES_OK;
}

/* Where tasks have whole planes, the correction is added while the contractions read x; else by a pass before. */
static TesStatus correct_residual(const TesOperator *op, const TesiCorrection *job, double *norm) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiSeparable *plan = op->plan;
  TesiSeparableJob fused = {.x = job->x, .b = job->b, .factor = job->factor, .rounded = job->r};
  double sum = 0;
  TES_ALLOC(&fused.sums, plan->task_count);
  if (job->e && plan->corrects) {
    fused.e = job->e;
    fused.scale = job->scale;
    if (plan->task_count > 1)
      tesi_team_for(plan->task_count, plan->task_count, run_tasks, &(Call){plan, &fused, plan->save});
  } else if (job->e) {
    TES_TRY(
        tesi_context_device(ctx)->axpy(ctx, op->length, job->scale, TES_SINGLE, job->e, TES_DOUBLE, job->x));
  }
  run(op, fused);
  for (int t = 0; t < plan->task_count; t++) sum += fused.sums[t];
  tesi_reduce(ctx, TESI_SUM, 1, &sum);
  *norm = sqrt(sum);
done:
  tesi_free(ctx, &fused.sums);
  return status;
}

/* Diagonals of the assembled K_d and M_d. */
static void axis_diagonals(const TesOperator *op, int d, double *K, double *M) {
  const TesiAxis *axis = &op->space->axis[d];
  const int k = axis->degree, n = k + 1;
  double mass[N * N], stiffness[N * N];
  tesi_cell_matrices(k, mass, stiffness);
  memset(K, 0, sizeof *K * (size_t)axis->nodes);
  memset(M, 0, sizeof *M * (size_t)axis->nodes);
  for (int cell = 0; cell < axis->cells; cell++)
    for (int i = 0; i < n; i++) {
      const double h = axis->h[cell], m = h * mass[i * n + i];
      M[cell * k + i] += m;
      K[cell * k + i] +=
          tesi_diffusion_of(op)->a / h * stiffness[i * n + i] + (d == 0 ? tesi_diffusion_of(op)->c * m : 0);
    }
  K[0] += tesi_diffusion_of(op)->alpha[2 * d];
  K[axis->nodes - 1] += tesi_diffusion_of(op)->alpha[2 * d + 1];
}

typedef struct Diagonal {
  const TesOperator *op;
  double *const *K, *const *M;
  void *out;
} Diagonal;

/* Rows of nodes in x. */
static void fill_rows(const void *data, TesiSpan span) {
  const Diagonal *job = data;
  const TesiAxis *axis = job->op->space->axis;
  double *const *K = job->K, *const *M = job->M;
  for (int64_t row = span.first; row < span.end; row++) {
    const int64_t y = row % axis[1].nodes, z = row / axis[1].nodes;
    for (int x = 0; x < axis[0].nodes; x++) {
      const bool fixed = M[0][x] < 0 || M[1][y] < 0 || M[2][z] < 0;
      const double value =
          K[0][x] * M[1][y] * M[2][z] + M[0][x] * K[1][y] * M[2][z] + M[0][x] * M[1][y] * K[2][z];
      tesi_number_set(job->op->precision, job->out, (int64_t)row * axis[0].nodes + x, fixed ? 1 : value);
    }
  }
}

static TesStatus diagonal(const TesOperator *op, void *out) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = op->space->axis;
  double *K[3] = {0}, *M[3] = {0};
  for (int d = 0; d < 3; d++) {
    TES_ALLOC(&K[d], axis[d].nodes);
    TES_ALLOC(&M[d], axis[d].nodes);
    if (d < op->space->dim)
      axis_diagonals(op, d, K[d], M[d]);
    else
      M[d][0] = 1;
    for (int end = 0; end < 2; end++) /* marks Dirichlet nodes */
      if (axis[d].end[end] == TESI_STRONG) M[d][end ? axis[d].nodes - 1 : 0] = -1;
  }
  tesi_team_for(tesi_team_threads(ctx, op->length), (int64_t)axis[1].nodes * axis[2].nodes, fill_rows,
                &(Diagonal){op, K, M, out});
done:
  for (int d = 0; d < 3; d++) {
    tesi_free(ctx, &K[d]);
    tesi_free(ctx, &M[d]);
  }
  return status;
}

/* Additions and multiplications of one cell and line (multiply-adds count 2), n = k+1 nodes:
 *   split n - n%2; stiffness E(2E-1) + O(2O-1) + 2O; rank: dot 2E-1, update 2n; halo nodes of tiles are not counted. */
static TesCost cost(const TesOperator *op) {
  const TesSpace *space = op->space;
  const int k = space->degree, n = k + 1, E = (n + 1) / 2, O = n / 2, pairs = n - n % 2;
  const double stiff = E * (2 * E - 1) + O * (2 * O - 1) + 2 * O, dot = 2 * E - 1;
  const double x = pairs + dot + 2 * n + stiff + 4;                       /* t, s */
  const double y = pairs + dot + 2 * n + stiff + O + dot + 2 * E + n + 4; /* U, V */
  const double last = pairs + stiff + O + dot + 2 * E + 2 * n + 1 + k;    /* result */
  const double lines = space->dim == 3 ? x + y + last : x + last;
  const size_t size = tesi_precision_size(op->precision);
  return (TesCost){.flops = lines / k * (double)space->length,
                   .bytes = 2.0 * (double)space->length * (double)size};
}

static void destroy(TesOperator *op) {
  TesContext *ctx = op->context;
  TesiSeparable *plan = op->plan;
  if (!plan) return;
  for (int d = 0; d < 3; d++) tesi_free(ctx, &plan->axis[d].records);
  for (int d = 0; d < 2; d++) tesi_free(ctx, &plan->scale[d]);
  for (int t = 0; plan->tasks && t < plan->task_count; t++) {
    tesi_free(ctx, &plan->tasks[t].workspace);
    tesi_free(ctx, &plan->tasks[t].saved);
  }
  tesi_free(ctx, &plan->tasks);
  tesi_free(ctx, &plan->dot);
  tesi_free(ctx, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .correct_residual = correct_residual,
                                        .diagonal = diagonal,
                                        .lift = tesi_diffusion_lift,
                                        .apply_ref = tesi_diffusion_apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

static TesStatus fill_dot(TesOperator *op, TesiSeparable *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int k = plan->degree, E = (k + 2) / 2;
  double w[N], wl[N];
  lobatto(k, w, wl);
  TES_TRY(tesi_alloc(ctx, (size_t)E, tesi_precision_size(op->precision), &plan->dot));
  for (int i = 0; i < E; i++) tesi_number_set(op->precision, plan->dot, (size_t)i, wl[i]);
done:
  return status;
}

/* A mass alone is taken by name: vertex patches, which are the smoother of this kind, divide by a. */
static const char *refuses(const TesOperatorDesc *desc) {
  const char *reason = tesi_diffusion_refuses(desc);
  double value;
  if (!reason && desc->form.terms && !tesi_form_term(&desc->form, TES_TERM_DIFFUSION, 0) &&
      !(desc->kind && tesi_form_term(&desc->form, TES_TERM_MASS, 0)))
    return "the form has no diffusion term";
  for (int i = 0; !reason && i < desc->form.terms; i++)
    if (!tesi_coefficient_constant(&desc->form.term[i].a, 0, &value)) reason = "a coefficient varies";
  return reason;
}

static TesStatus init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiSeparable *plan = NULL;
  TES_TRY(tesi_diffusion_create(op));
  if (tesi_space_is_periodic(op->space)) return tesi_operator_periodic_init(op);
  if (tesi_has_kernels(ctx)) return tesi_operator_separable_device_init(op);
  const Build build = find_build(tes_context_simd_bits(ctx));
  op->table = &table;
  TES_NEW(&plan);
  op->plan = plan;
  plan->dim = op->space->dim;
  plan->degree = op->space->degree;
  plan->run = build.run[op->precision];
  plan->save = build.save[op->precision];
  plan->lanes = build.bits / 8 / (int)tesi_precision_size(op->precision);
  TES_TRY(fill_dot(op, plan));
  for (int d = 0; d < plan->dim; d++) TES_TRY(fill_axis(op, plan, d));
  for (int d = 0; d < 2; d++) TES_TRY(fill_scale(op, plan, d));
  TES_TRY(fill_tasks(op, plan, &build));
  snprintf(
      op->description, sizeof op->description, "separable, %s, degree %d (%s), %d-bit vectors, %d task%s",
      op->precision == TES_DOUBLE ? "float64" : "float32", plan->degree,
      tesi_simd_word(plan->degree <= tesi_simd_degrees(build.bits), plan->degree, TESI_SEPARABLE_SPECIALISED),
      build.bits, plan->task_count, plan->task_count == 1 ? "" : "s");
done:
  return status;
}

const TesiOperatorKind tesi_operator_separable = {.name = "separable",
                                                  .takes = TESI_TERM(DIFFUSION) | TESI_TERM(MASS) |
                                                           TESI_TERM(ROBIN),
                                                  .refuses = refuses,
                                                  .init = init,
                                                  .release = tesi_diffusion_release};
