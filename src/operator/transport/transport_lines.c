/* 1D matrices of a transport operator: see transport_lines.h. */
#include "operator/transport/transport_lines.h"
#include "base/simd_builds.h"
#include "base/team.h"
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "device/kernel.h"
#include "operator/form.h"

enum { N = TESI_MAX_DEGREE + 1 };

static void add_entry(const TesiLines *l, int d, double *matrix, int row, int column, double value) {
  const int o = column - row + l->degree;
  matrix[d == 0 ? (int64_t)o * l->nodes[0] + row : (int64_t)row * l->width + o] += value;
}

/* C[i][j] = int phi_j' phi_i on [0, 1]; conservative: - int phi_j phi_i'. */
static void fill_convection(int degree, bool conservative, double *C) {
  const int n = degree + 1;
  double nodes[N], point[N], weight[N], B[N * N], G[N * N];
  tesi_gauss_lobatto(n, nodes, NULL);
  tesi_gauss(n, point, weight);
  tesi_lagrange(n, nodes, n, point, B, G);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int q = 0; q < n; q++)
        sum += weight[q] * (conservative ? -B[q * n + j] * G[q * n + i] : G[q * n + j] * B[q * n + i]);
      C[i * n + j] = sum;
    }
}

static void clear_row(const TesiLines *l, int d, int row) {
  for (int o = 0; o < l->width; o++) {
    const int64_t at = d == 0 ? (int64_t)o * l->nodes[0] + row : (int64_t)row * l->width + o;
    l->mass[d][at] = l->slope[d][at] = 0;
  }
}

static void fill_axis(const TesOperator *op, const TesiDiffusion *symmetric, int d, const TesiLines *l) {
  const TesTermDesc *term = tesi_form_term(&op->desc.form, TES_TERM_TRANSPORT, 0);
  const TesiAxis *axis = &op->space->axis[d];
  const int k = l->degree, n = k + 1;
  double mass[N * N], stiffness[N * N], C[N * N], b = 0;
  if (term->b[d]) tes_function_constant(term->b[d], &b);
  tesi_cell_matrices(k, mass, stiffness);
  fill_convection(k, term->conservative, C);
  for (int c = 0; c < axis->cells; c++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const double h = axis->h[c], m = h * mass[i * n + j];
        add_entry(l, d, l->mass[d], c * k + i, c * k + j, m);
        add_entry(l, d, l->slope[d], c * k + i, c * k + j,
                  symmetric->a / h * stiffness[i * n + j] + b * C[i * n + j] + (d == 0 ? symmetric->c * m : 0));
      }
  for (int end = 0; end < 2 && !axis->periodic; end++) {
    const int row = end ? axis->nodes - 1 : 0;
    const double through = term->through ? term->through[2 * d + end] * (end ? b : -b) : 0;
    add_entry(l, d, l->slope[d], row, row, symmetric->alpha[2 * d + end] + through);
    if (axis->end[end] == TESI_STRONG) clear_row(l, d, row);
  }
}

/* The diagonals of x need at least two cells. */
static bool fits(const TesOperator *op, const TesOperator *symmetric) {
  const TesTermDesc *term = tesi_form_term(&op->desc.form, TES_TERM_TRANSPORT, 0);
  bool constant = tesi_is_separable(symmetric) && op->space->axis[0].cells > 1;
  double value;
  for (int d = 0; d < 3 && constant; d++) constant = !term->b[d] || tes_function_constant(term->b[d], &value);
  return constant;
}

static TesStatus create_host(const TesOperator *op, TesiLines *l) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  l->row = (l->nodes[0] + 7) / 8 * 8;
  l->plane = l->row * l->nodes[1];
  l->share = 2 * l->width * (l->row + (l->dim == 3 ? l->plane : 0));
  const int most =
      l->dim == 3 ? l->nodes[2] / l->width : l->nodes[1]; /* planes of theirs are two vectors at most */
  l->threads = tesi_max(1, tesi_min(tesi_team_threads(ctx, op->length), most));
  l->run = TESI_SIMD_PICK(tes_context_simd_bits(ctx), tesk_lines);
  TES_ALLOC(&l->memory, l->share * l->threads);
done:
  return status;
}

static TesStatus create_periodic(const TesOperator *op, TesiLines *l) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TeskPeriodic box = tesi_periodic_cut(op->space->axis);
  TES_NEW(&l->periodic);
  TES_TRY(tesi_periodic_create(ctx, op->precision, &box, l->periodic));
  const size_t bytes = (size_t)l->periodic->open_length * tesi_precision_size(op->precision);
  TES_TRY(device->allocate(ctx, bytes, &l->x));
  TES_TRY(device->allocate(ctx, bytes, &l->y));
done:
  return status;
}

TesStatus tesi_lines_create(const TesOperator *op, const TesOperator *symmetric, TesiLines **lines) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiLines *l = NULL;
  *lines = NULL;
  if (!fits(op, symmetric)) return TES_OK;
  TES_NEW(&l);
  l->dim = op->space->dim, l->degree = op->space->degree, l->width = 2 * l->degree + 1;
  for (int d = 0; d < 3; d++) l->nodes[d] = op->space->axis[d].nodes + op->space->axis[d].periodic;
  for (int d = 0; d < l->dim; d++) {
    TES_ALLOC(&l->mass[d], (int64_t)l->width * l->nodes[d]);
    TES_ALLOC(&l->slope[d], (int64_t)l->width * l->nodes[d]);
    fill_axis(op, tesi_diffusion_of(symmetric), d, l);
  }
  if (tesi_space_is_periodic(op->space)) TES_TRY(create_periodic(op, l));
  TES_TRY(tesi_has_kernels(ctx) ? tesi_lines_device_create(ctx, l, op->precision, &l->device)
                                : create_host(op, l));
  *lines = l;
  l = NULL;
done:
  tesi_lines_destroy(ctx, &l);
  return status;
}

void tesi_lines_destroy(TesContext *ctx, TesiLines **lines) {
  TesiLines *l = *lines;
  if (!l) return;
  for (int d = 0; d < 3; d++) {
    tesi_free(ctx, &l->mass[d]);
    tesi_free(ctx, &l->slope[d]);
  }
  tesi_free(ctx, &l->memory);
  tesi_lines_device_destroy(ctx, &l->device);
  tesi_context_device(ctx)->release(ctx, &l->x);
  tesi_context_device(ctx)->release(ctx, &l->y);
  tesi_free(ctx, &l->periodic);
  tesi_free(ctx, lines);
}

typedef struct Call {
  const TesiLines *lines;
  const TesiLinesJob *job;
} Call;

static void run_span(const void *data, TesiSpan span) {
  const Call *call = data;
  const TesiLines *l = call->lines;
  if (span.first < span.end)
    l->run(l, call->job, (int)span.first, (int)span.end, l->memory + l->share * span.thread);
}

/* Over an open box. */
static TesStatus run(TesContext *ctx, const TesiLines *l, const TesiLinesJob *job) {
  if (l->device) return tesi_lines_device_run(ctx, l, job->x, job->b, job->y);
  tesi_team_for(l->threads, l->nodes[l->dim - 1], run_span, &(Call){l, job});
  return TES_OK;
}

TesStatus tesi_lines_run(TesContext *ctx, const TesiLines *l, const TesiLinesJob *job) {
  TesStatus status = TES_OK;
  if (!l->periodic) return run(ctx, l, job);
  TES_TRY(tesi_periodic_spread(l->periodic, job->x, false, l->x));
  TES_TRY(run(ctx, l, &(TesiLinesJob){.x = l->x, .y = l->y}));
  TES_TRY(tesi_periodic_collect(l->periodic, l->y, job->b, job->b ? -1 : 1, job->y));
done:
  return status;
}

/* Two diagonals in x, three products in y, in z two. */
TesCost tesi_lines_cost(const TesiLines *l) {
  const double nodes = (double)l->nodes[0] * l->nodes[1] * l->nodes[2];
  return (TesCost){.flops = 2. * l->width * (l->dim == 3 ? 7 : 4) * nodes, .bytes = 16 * nodes};
}
