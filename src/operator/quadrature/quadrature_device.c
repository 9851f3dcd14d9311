/* Set-up and launches of src/kernels/diffusion*.cu. */
#include "operator/form.h"
#include "operator/quadrature/quadrature_device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "basis/gauss_tables.h"
#include "device/upload.h"

/* Cells per block: about this many threads, or more so that fewer threads of the last warp are idle. */
static int choose_batch(int lines, int threads) {
  return tesi_max(1, threads / lines);
}

static unsigned round_up(int n) {
  return (unsigned)((n + 31) / 32 * 32);
}

static void choose_sizes(const TesOperator *op, TesiQuadDevice *plan) {
  const int n = plan->n, dim = op->space->dim, lines = dim == 3 ? n * n : n, rows = lines;
  const size_t size = tesi_precision_size(op->precision);
  const char *given = getenv("TESSERA_DIFFUSION_CELLS"); /* for measurements */
  const bool varies = !tesi_is_separable(op);
  const size_t cell = (size_t)(rows * (n | 1)) * size;
  plan->batch = given ? atoi(given) : choose_batch(lines, dim == 3 && n > 7 ? 256 : 128);
  if (plan->batch < 1) plan->batch = 1;
  plan->threads = round_up(plan->batch * lines);
  plan->shared = (size_t)plan->batch * cell * (varies ? 3 : 2);
  plan->diagonal_shared = (size_t)plan->batch * cell * 2;
  plan->side_batch = choose_batch(lines, 128);
  plan->side_threads = round_up(plan->side_batch * lines);
  plan->side_shared = 2 * (size_t)(plan->side_batch * lines) * size;
}

static TesStatus get_program(const TesOperator *op, const TesiQuadDevice *plan, const char *file, bool sides,
                             const char *tables, TesiProgram **program) {
  /* loops over tables, and float64 operands, need tables in the constant bank */
  const bool constant = op->precision == TES_DOUBLE || strcmp(file, "quadrature.cu");
  const TesiProgramDesc desc = {.file = file,
                                .real = op->precision,
                                .macros = {{"DIM", op->space->dim},
                                           {"DEGREE", op->space->degree},
                                           {"CELLS", sides ? plan->side_batch : plan->batch},
                                           {"THREADS", (int)(sides ? plan->side_threads : plan->threads)},
                                           {"VARIABLE", !tesi_is_separable(op)},
                                           {"REACTION", plan->c != NULL},
                                           {"COLOURED", plan->coloured},
                                           {constant ? "TESK_CONSTANT_TABLES" : NULL, 1}},
                                .tables = tables};
  return tesi_program_get(op->context, &desc, program);
}

static TesStatus compile(const TesOperator *op, TesiQuadDevice *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  char *tables = NULL;
  TES_TRY(tesi_quadrature_tables(ctx, op->space->degree, op->precision == TES_SINGLE ? "float" : "double",
                                 &tables));
  if (plan->tiled) {
    TES_TRY(tesi_quad_tiles_init(op, plan, tables));
  } else {
    TES_TRY(get_program(op, plan, "quadrature.cu", false, tables, &program));
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_quadrature", plan->shared, &plan->apply));
  }
  TES_TRY(get_program(op, plan, "quadrature_diagonal.cu", false, tables, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_quadrature_start", 0, &plan->start));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_quadrature_diagonal", plan->diagonal_shared, &plan->diagonal));
  TES_TRY(get_program(op, plan, "quadrature_face.cu", true, tables, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_quadrature_face", plan->side_shared, &plan->face));
done:
  tesi_free(ctx, &tables);
  return status;
}

static TesStatus upload_widths(const TesOperator *op, TesiQuadDevice *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const size_t size = tesi_precision_size(op->precision);
  double *widths = NULL, *at;
  int total = 0;
  for (int d = 0; d < op->space->dim; d++) total += op->space->axis[d].cells;
  TES_ALLOC(&widths, total);
  at = widths;
  for (int d = 0; d < op->space->dim; d++)
    for (int c = 0; c < op->space->axis[d].cells; c++) *at++ = op->space->axis[d].h[c];
  TES_TRY(tesi_upload_numbers(ctx, widths, total, op->precision, &plan->h));
  char *to = plan->h;
  for (int d = 0; d < op->space->dim; d++) {
    plan->arguments.h[d] = to;
    to += (size_t)op->space->axis[d].cells * size;
  }
done:
  tesi_free(ctx, &widths);
  return status;
}

static void set_arguments(const TesOperator *op, TesiQuadDevice *plan) {
  const TesSpace *space = op->space;
  TeskDiffusion *a = &plan->arguments;
  for (int d = 0; d < 3; d++) {
    a->cells[d] = d < space->dim ? space->axis[d].cells : 1;
    for (int e = 0; e < 2; e++)
      a->dirichlet[2 * d + e] = d < space->dim && space->axis[d].end[e] == TESI_STRONG;
  }
  a->pitch = space->axis[0].nodes;
  a->plane = (long long)space->axis[0].nodes * space->axis[1].nodes;
  a->constant = tesi_diffusion_of(op)->a;
  a->a = plan->a;
  a->c = plan->c;
}

/* ---- launches ------------------------------------------------------------------------------------------ */

static TesStatus start(const TesOperator *op, const void *b, double fixed, void *y) {
  const TesiQuadDevice *plan = op->plan;
  TeskDiffusion argument = plan->arguments;
  void *arguments[] = {&y, &b, &fixed, &argument};
  const int64_t rows = op->space->length / op->space->axis[0].nodes, blocks = (rows + 7) / 8;
  return tesi_kernel_launch(op->context, &plan->start,
                            (TesiGrid){(unsigned)(blocks < 8192 ? blocks : 8192), 1, 1}, 256, 0, arguments);
}

/* The cells of one colour: parity p of their number in each direction; -1: all cells. */
static int64_t set_colour(TeskDiffusion *a, int dim, int colour) {
  int64_t count = 1;
  for (int d = 0; d < 3; d++) {
    const bool all = colour < 0 || d >= dim;
    a->first[d] = all ? 0 : colour >> d & 1;
    a->step[d] = all ? 1 : 2;
    a->count[d] = all ? a->cells[d] : (a->cells[d] - a->first[d] + 1) / 2;
    count *= a->count[d];
  }
  return count;
}

/* Adds the contributions of all cells; `argument`, one of the arguments, gets the cells of the launch. */
static TesStatus run_cells(const TesOperator *op, const TesiKernel *kernel, bool coloured, size_t shared,
                           TeskDiffusion *argument, void **arguments) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiQuadDevice *plan = op->plan;
  const int dim = op->space->dim, colours = coloured ? 1 << dim : 1;
  for (int colour = 0; colour < colours; colour++) {
    const int64_t cells = set_colour(argument, dim, coloured ? colour : -1);
    const TesiGrid grid = {(unsigned)((cells + plan->batch - 1) / plan->batch), 1, 1};
    TES_TRY(tesi_kernel_launch(ctx, kernel, grid, plan->threads, shared, arguments));
  }
done:
  return status;
}

typedef struct Face { /* as in quadrature_face.cu */
  int cells[2], first[2], step[2], count[2];
  int dirichlet[4];
  long long base, stride[2];
  double sign;
  const void *alpha;
} Face;

static Face make_face(const TesOperator *op, int face, double sign) {
  const TesiQuadDevice *plan = op->plan;
  const TesiAxis *axis = op->space->axis;
  const int d = face / 2, tangent[2] = {d == 0, 2 - (d == 2)};
  const long long stride[3] = {1, axis[0].nodes, (long long)axis[0].nodes * axis[1].nodes};
  Face f = {.base = face % 2 ? (axis[d].nodes - 1) * stride[d] : 0, .sign = sign, .alpha = plan->alpha[face]};
  for (int e = 0; e < 2; e++) {
    const bool there = tangent[e] < op->space->dim;
    f.cells[e] = there ? axis[tangent[e]].cells : 1;
    f.stride[e] = there ? stride[tangent[e]] : 0;
    for (int end = 0; end < 2; end++)
      f.dirichlet[2 * e + end] = there && axis[tangent[e]].end[end] == TESI_STRONG;
  }
  return f;
}

/* Adds the terms of faces, after the cells. A face takes several launches, so that the sides of a launch share no
 * nodes. */
static TesStatus run_faces(const TesOperator *op, const void *x, double sign, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiQuadDevice *plan = op->plan;
  for (int face = 0; face < 2 * op->space->dim; face++) {
    if (!plan->alpha[face]) continue;
    Face f = make_face(op, face, sign);
    void *arguments[] = {&x, &y, &f};
    for (int colour = 0; colour < (op->space->dim == 3 ? 4 : 2); colour++) {
      for (int e = 0; e < 2; e++) {
        const bool there = f.stride[e] != 0;
        f.first[e] = there ? colour >> e & 1 : 0;
        f.step[e] = there ? 2 : 1;
        f.count[e] = there ? (f.cells[e] - f.first[e] + 1) / 2 : 1;
      }
      const int64_t sides = (int64_t)f.count[0] * f.count[1];
      const TesiGrid grid = {(unsigned)((sides + plan->side_batch - 1) / plan->side_batch), 1, 1};
      TES_TRY(tesi_kernel_launch(ctx, &plan->face, grid, plan->side_threads, plan->side_shared, arguments));
    }
  }
done:
  return status;
}

static TesStatus run(const TesOperator *op, const void *b, const void *x, double sign, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiQuadDevice *plan = op->plan;
  TeskDiffusion argument = plan->arguments;
  void *arguments[] = {&x, &y, &argument};
  argument.sign = sign;
  if (plan->tiled) {
    TES_TRY(tesi_quad_tiles_run(op, b, x, sign, y));
  } else {
    TES_TRY(start(op, b, 0, y));
    TES_TRY(run_cells(op, &plan->apply, plan->coloured, plan->shared, &argument, arguments));
  }
  TES_TRY(run_faces(op, x, sign, y));
done:
  return status;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  return run(op, NULL, x, 1, y);
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  return run(op, b, x, -1, r);
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiQuadDevice *plan = op->plan;
  TeskDiffusion argument = plan->arguments;
  void *arguments[] = {&d, &argument};
  TES_TRY(start(op, NULL, 1, d));
  TES_TRY(run_cells(op, &plan->diagonal, true, plan->diagonal_shared, &argument, arguments));
  TES_TRY(run_faces(op, NULL, 1, d));
done:
  return status;
}

/* Nine products of a line in 3D, six in 2D; a result is written, then added to. */
static TesCost cost(const TesOperator *op) {
  const TesiQuadDevice *plan = op->plan;
  const double size = (double)tesi_precision_size(op->precision),
               points = (double)plan->points * (double)plan->cells, n = plan->n;
  return (TesCost){
      .flops = points * ((op->space->dim == 3 ? 9 : 6) * (n + 2) + 6),
      .bytes = size * (2 * (double)op->space->length + points * ((plan->a != NULL) + (plan->c != NULL)))};
}

static void destroy(TesOperator *op) {
  TesContext *ctx = op->context;
  const TesiDevice *device = tesi_context_device(ctx);
  TesiQuadDevice *plan = op->plan;
  if (!plan) return;
  device->release(ctx, &plan->h);
  device->release(ctx, &plan->a);
  device->release(ctx, &plan->c);
  device->release(ctx, &plan->tiles.values);
  for (int face = 0; face < 6; face++) device->release(ctx, &plan->alpha[face]);
  tesi_free(ctx, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .lift = tesi_diffusion_lift,
                                        .apply_ref = tesi_diffusion_apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};
/* Constant coefficients, in the form of the separable operator. */
static const TesiOperatorTable constant_table = {.apply = apply,
                                                 .residual = residual,
                                                 .correct_residual = tesi_operator_correct_residual_device,
                                                 .diagonal = diagonal,
                                                 .lift = tesi_diffusion_lift,
                                                 .apply_ref = tesi_diffusion_apply_ref,
                                                 .cost = cost,
                                                 .destroy = destroy};

static void describe(TesOperator *op, const TesiQuadDevice *plan, bool slow) {
  const TesiTileCut *cut = &plan->tiles.cut;
  if (plan->tiled)
    snprintf(op->description, sizeof op->description,
             "quadrature, kernels of degree %d: blocks of %d x %d cells, %d layers, %u threads",
             op->space->degree, cut->x, cut->y, plan->arguments.layers, plan->tiles.threads);
  else
    snprintf(op->description, sizeof op->description,
             "quadrature%s, kernels of degree %d: %d cells and %u threads per block, %s%s",
             tesi_is_separable(op) ? " of constant coefficients" : "", op->space->degree, plan->batch,
             plan->threads, plan->coloured ? "coloured" : "atomic sums",
             slow ? "; beyond the specialised degrees, slower" : "");
}

TesStatus tesi_operator_quadrature_device_init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesSpace *space = op->space;
  const bool slow = space->degree > (space->dim == 3 ? 8 : 10);
  TesiQuadDevice *plan = NULL;
  TES_NEW(&plan);
  op->table = tesi_is_separable(op) ? &constant_table : &table;
  op->plan = plan;
  plan->n = space->degree + 1;
  plan->points = (int64_t)plan->n * plan->n * (space->dim == 3 ? plan->n : 1);
  plan->cells =
      (int64_t)space->axis[0].cells * space->axis[1].cells * (space->dim == 3 ? space->axis[2].cells : 1);
  plan->coloured = !tesi_context_unordered(ctx);
  plan->tiled = !tesi_is_separable(op) && !slow;
  choose_sizes(op, plan);
  TES_TRY(upload_widths(op, plan));
  TES_TRY(tesi_quad_device_evaluate(op, plan));
  set_arguments(op, plan);
  TES_TRY(compile(op, plan));
  describe(op, plan, slow);
done:
  return status;
}
