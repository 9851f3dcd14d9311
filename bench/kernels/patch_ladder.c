/* Set-up and launches of patch_ladder.cu. */
#include "kernels/patch_ladder.h"
#include <stdio.h>
#include <string.h>
#include "basis/eigen.h"
#include "basis/lagrange.h"
#include "kernels/texts.h"
#include "smoother/patch/patch.h"

enum { MOST = 8, M = 2 * MOST - 1, N = 2 * MOST + 1, LADDER_THREADS = 200, MOST_THREADS = 1024 };

#define EVERY .most = {8, 8}, .precision = -1
const BenchLadderVariant bench_ladder_variants[] = {
    {.name = "global",
     .text = "residual by the global operator, local solves by a second kernel",
     .kernels = BENCH_LADDER_GLOBAL,
     .form = 2,
     EVERY},
    {.name = "separate",
     .text = "local residual and local solves by two kernels, conflict_free",
     .kernels = BENCH_LADDER_SEPARATE,
     .form = 2,
     EVERY},
    {.name = "separate_basic",
     .text = "local residual and local solves by two kernels, basic",
     .kernels = BENCH_LADDER_SEPARATE,
     .form = 0,
     EVERY},
    {.name = "separate_boundary",
     .text = "separate; boundary shortcut",
     .kernels = BENCH_LADDER_SEPARATE,
     .form = 2,
     .shortcut = true,
     EVERY},
    {.name = "fused",
     .text = "one kernel; threads over the closed patch, boundary masked (basic)",
     .form = 0,
     EVERY},
    {.name = "linear", .text = "fused; linear thread indices over results", .form = 1, EVERY},
    {.name = "conflict_free", .text = "fused, linear; arrays without gaps, of odd pitch", .form = 2, EVERY},
    {.name = "linear_layers", .text = "linear, layer by layer of a patch", .form = 1, .layers = true, EVERY},
    {.name = "layers",
     .text = "conflict_free, layer by layer of a patch: no conflicts of banks within it",
     .form = 2,
     .layers = true,
     EVERY},
    {.name = "boundary_layers",
     .text = "layers; boundary shortcut",
     .form = 2,
     .layers = true,
     .shortcut = true,
     EVERY},
    {.name = "boundary", .text = "conflict_free; boundary shortcut", .form = 2, .shortcut = true, EVERY},
    {.name = "blocks_3d",
     .text = "fused (basic) in blocks of threads in 3D: a thread a node, up to 1024",
     .form = 0,
     .blocks_3d = true,
     .most = {0, 8},
     .precision = -1},
    {.name = "dense",
     .text = "conflict_free; dense inverse of the patch",
     .form = 2,
     .dense = true,
     .most = {8, 7},
     .precision = -1},
    {.name = "patches_1", .text = "conflict_free, one patch a block", .form = 2, .patches = 1, EVERY},
    {.name = "patches_2",
     .text = "conflict_free, two patches a block",
     .form = 2,
     .patches = 2,
     .most = {8, 7},
     .precision = -1},
    {.name = "patches_4",
     .text = "conflict_free, four patches a block",
     .form = 2,
     .patches = 4,
     .most = {7, 5},
     .precision = -1},
    {.name = "patches_8",
     .text = "conflict_free, eight patches a block",
     .form = 2,
     .patches = 8,
     .most = {5, 3},
     .precision = -1},
    {.name = "patches_16",
     .text = "conflict_free, sixteen patches a block",
     .form = 2,
     .patches = 16,
     .most = {3, 2},
     .precision = -1},
    {.name = "patches_32",
     .text = "conflict_free, thirty-two patches a block",
     .form = 2,
     .patches = 32,
     .most = {2, 2},
     .precision = -1},
    {.name = "data",
     .text = "conflict_free without its computations: values are moved alone",
     .form = 2,
     .data = true,
     EVERY},
    {.name = "separate_data",
     .text = "separate without its computations",
     .kernels = BENCH_LADDER_SEPARATE,
     .form = 2,
     .data = true,
     EVERY},
    {.name = "lines", .text = "lines in registers, matrices as immediates", .form = 3, EVERY},
    {.name = "even_odd", .text = "lines in registers, even and odd halves", .form = 4, EVERY},
    {.name = "even_odd_boundary", .text = "even_odd; boundary shortcut", .form = 4, .shortcut = true, EVERY},
    {.name = "tensor",
     .text = "float64 tensor cores, m16n8k8",
     .form = 5,
     .most = {8, 8},
     .precision = TES_DOUBLE},
    {.name = "tensor_boundary",
     .text = "float64 tensor cores; boundary shortcut",
     .form = 5,
     .shortcut = true,
     .most = {8, 8},
     .precision = TES_DOUBLE},
    {.name = "tf32",
     .text = "tensor cores, operands rounded to TF32",
     .form = 5,
     .round = 1,
     .most = {8, 8},
     .precision = TES_SINGLE,
     .rounded = true},
    {.name = "tf32_split",
     .text = "tensor cores, TF32 in three products",
     .form = 5,
     .round = 2,
     .most = {8, 8},
     .precision = TES_SINGLE},
    {.name = NULL}};

typedef struct Ladder { /* as in the kernel */
  int cells[3], colour[3];
  int pitch;
  long long plane;
  double ry, rz, r0, scale;
} Ladder;

typedef struct Plan {
  const BenchLadderVariant *variant;
  TesiKernel kernel[2]; /* by part; fused: only the second */
  int patches, notes;
  unsigned threads;
  size_t shared;
  void *numbers, *inverse, *r; /* device */
  Ladder arguments;
} Plan;

const BenchLadderVariant *bench_ladder_find(const char *name) {
  for (const BenchLadderVariant *v = bench_ladder_variants; v->name; v++)
    if (!strcmp(v->name, name)) return v;
  return NULL;
}

bool bench_ladder_serves(const BenchLadderVariant *variant, const TesOperator *op) {
  const TesSpace *space = op->space;
  bool served = tesi_has_kernels(op->context) && tesi_is_separable(op) &&
                space->degree <= variant->most[space->dim - 2] &&
                (variant->precision < 0 || variant->precision == (int)op->precision);
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *axis = &space->axis[d];
    served = served && axis->uniform && axis->end[0] == TESI_STRONG && axis->end[1] == TESI_STRONG &&
             axis->cells >= 2;
  }
  return served;
}

/* ---- numbers of a patch of two cells of width 1 -------------------------------------------------------- */
typedef struct Numbers {
  int m, n;
  double mass[M * N], stiffness[M * N]; /* inner rows, all columns */
  double S[M * M], lambda[M];
} Numbers;

static TesStatus make_numbers(TesContext *ctx, int k, Numbers *p) {
  enum { C = MOST + 1 };
  double mass[C * C], stiffness[C * C], inner_mass[M * M], inner_stiffness[M * M];
  p->m = 2 * k - 1;
  p->n = 2 * k + 1;
  tesi_cell_matrices(k, mass, stiffness);
  memset(p->mass, 0, sizeof p->mass);
  memset(p->stiffness, 0, sizeof p->stiffness);
  for (int cell = 0; cell < 2; cell++)
    for (int i = 0; i <= k; i++)
      for (int j = 0; j <= k; j++) {
        const int row = cell * k + i - 1, column = cell * k + j;
        if (row < 0 || row >= p->m) continue;
        p->mass[row * p->n + column] += mass[i * (k + 1) + j];
        p->stiffness[row * p->n + column] += stiffness[i * (k + 1) + j];
      }
  for (int i = 0; i < p->m; i++)
    for (int j = 0; j < p->m; j++) {
      inner_mass[i * p->m + j] = p->mass[i * p->n + j + 1];
      inner_stiffness[i * p->m + j] = p->stiffness[i * p->n + j + 1];
    }
  return tesi_eigen_symmetric(ctx, p->m, inner_stiffness, inner_mass, p->S, p->lambda);
}

typedef struct Text {
  char *data;
  size_t used, size;
  const char *type;
} Text;

/* Rows i < rows, columns j < columns of `at`; at least one entry. */
static void print_table(Text *t, const char *name, int rows, int columns, const double *values) {
  t->used +=
      (size_t)snprintf(t->data + t->used, t->size - t->used, "TESK_TABLE(%s, tesk_%s, {", t->type, name);
  for (int i = 0; i < rows * columns || i == 0; i++)
    t->used += (size_t)snprintf(t->data + t->used, t->size - t->used, "%s%.17g", i ? ", " : "",
                                rows * columns > 0 ? values[i] : 0.0);
  t->used += (size_t)snprintf(t->data + t->used, t->size - t->used, "})\n");
}

/* Halves of a centrosymmetric matrix [m][n], both odd: E maps sums (the middle one alone), O differences. */
static void print_halves(Text *t, const char *even, const char *odd, const Numbers *p, const double *A) {
  double E[MOST * (MOST + 1)], O[MOST * (MOST + 1)];
  const int n = p->n, k = (p->m + 1) / 2;
  for (int i = 0; i < k; i++)
    for (int j = 0; j <= k; j++)
      E[i * (k + 1) + j] = j == k ? A[i * n + j] : (A[i * n + j] + A[i * n + n - 1 - j]) / 2;
  for (int i = 0; i + 1 < k; i++)
    for (int j = 0; j < k; j++) O[i * k + j] = (A[i * n + j] - A[i * n + n - 1 - j]) / 2;
  print_table(t, even, k, k + 1, E);
  print_table(t, odd, k - 1, k, O);
}

/* Full matrices and halves: those that a form does not use cost nothing. */
static TesStatus print_tables(TesContext *ctx, const Numbers *p, const char *type, char **text) {
  TesStatus status = TES_OK;
  double E[MOST * MOST], O[MOST * MOST];
  const int k = (p->m + 1) / 2;
  Text t = {.type = type, .size = (size_t)(4 * p->m * p->n + 4 * p->m * p->m + 64) * 28};
  *text = NULL;
  TES_ALLOC(&t.data, t.size);
  print_table(&t, "m", p->m, p->n, p->mass);
  print_table(&t, "k", p->m, p->n, p->stiffness);
  print_table(&t, "s", p->m, p->m, p->S);
  print_halves(&t, "me", "mo", p, p->mass);
  print_halves(&t, "ke", "ko", p, p->stiffness);
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      E[i * k + j] = p->S[i * p->m + j];
      if (i + 1 < k && j + 1 < k) O[i * (k - 1) + j] = p->S[i * p->m + k + j];
    }
  print_table(&t, "se", k, k, E);
  print_table(&t, "so", k - 1, k - 1, O);
  *text = t.data;
done:
  return status;
}

/* ---- set-up -------------------------------------------------------------------------------------------- */
static TesStatus upload(const TesOperator *op, const double *values, int count, void **address) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const bool single = op->precision == TES_SINGLE;
  float *rounded = NULL;
  TES_ALLOC(&rounded, count);
  for (int i = 0; i < count; i++) rounded[i] = (float)values[i];
  TES_TRY(device->allocate(ctx, (size_t)count * tesi_precision_size(op->precision), address));
  TES_TRY(device->to_device(ctx, *address, single ? (const void *)rounded : values,
                            (size_t)count * tesi_precision_size(op->precision)));
done:
  tesi_free(ctx, &rounded);
  return status;
}

/* v <- S v along a direction with this stride, for all lines of v[size]. */
static void to_nodes(const Numbers *p, int stride, int size, double *v) {
  double line[M];
  for (int first = 0; first < size; first++) {
    if (first / stride % p->m) continue;
    for (int i = 0; i < p->m; i++) {
      line[i] = 0;
      for (int q = 0; q < p->m; q++) line[i] += p->S[i * p->m + q] * v[first + q * stride];
    }
    for (int i = 0; i < p->m; i++) v[first + i * stride] = line[i];
  }
}

/* inverse[m^dim][m^dim] <- T diag(1 / eigenvalue) T', T = S (x) S (x) S, row by row (it is symmetric). */
static void invert(const Numbers *p, const Ladder *a, int dim, double *inverse) {
  const int m = p->m, deep = dim == 3, size = m * m * (deep ? m : 1);
  for (int i = 0; i < size; i++) {
    double *v = inverse + (int64_t)i * size;
    for (int q = 0; q < size; q++)
      v[q] = p->S[i % m * m + q % m] * p->S[i / m % m * m + q / m % m] *
             (deep ? p->S[i / m / m * m + q / m / m] : 1) /
             (p->lambda[q % m] + a->ry * p->lambda[q / m % m] + (deep ? a->rz * p->lambda[q / m / m] : 0) +
              a->r0);
    for (int d = 0, stride = 1; d < dim; d++, stride *= m) to_nodes(p, stride, size, v);
  }
}

static TesStatus upload_numbers(const TesOperator *op, const Numbers *p, Plan *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int m = p->m, mn = m * p->n, size = m * m * (op->space->dim == 3 ? m : 1);
  double *values = NULL, *inverse = NULL;
  TES_ALLOC(&values, 2 * mn + m * m + m);
  memcpy(values, p->mass, (size_t)mn * sizeof *values);
  memcpy(values + mn, p->stiffness, (size_t)mn * sizeof *values);
  memcpy(values + 2 * mn, p->S, (size_t)(m * m) * sizeof *values);
  memcpy(values + 2 * mn + m * m, p->lambda, (size_t)m * sizeof *values);
  TES_TRY(upload(op, values, 2 * mn + m * m + m, &plan->numbers));
  if (!plan->variant->dense) goto done;
  TES_ALLOC(&inverse, (int64_t)size * size);
  invert(p, &plan->arguments, op->space->dim, inverse);
  TES_TRY(upload(op, inverse, size * size, &plan->inverse));
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &inverse);
  return status;
}

static void fill_arguments(const TesOperator *op, Ladder *a) {
  const TesiAxis *axis = op->space->axis;
  const int dim = op->space->dim;
  const double hx = axis[0].h[0], hy = axis[1].h[0], hz = dim == 3 ? axis[2].h[0] : 1;
  for (int d = 0; d < dim; d++) a->cells[d] = axis[d].cells;
  a->pitch = axis[0].nodes;
  a->plane = (long long)axis[0].nodes * axis[1].nodes;
  a->ry = hx * hx / (hy * hy);
  a->rz = hx * hx / (hz * hz);
  a->r0 = tesi_diffusion_of(op)->c * hx * hx / tesi_diffusion_of(op)->a;
  a->scale = hx / (tesi_diffusion_of(op)->a * hy * hz);
}

/* Threads of a patch: one per line, or per node (in 2D, and in 3D blocks of threads). With lines in registers in 2D
 * there are as many as a side has nodes. Tensor cores need whole warps. */
static int choose_team(const BenchLadderVariant *v, int dim, int n) {
  if (v->form == 5) return dim == 3 ? (n * n + 31) / 32 * 32 : 32;
  if (v->blocks_3d) return tesi_min(n * n * n, MOST_THREADS);
  return dim == 2 && (v->form == 3 || v->form == 4) ? n : n * n;
}

/* Patches and threads of a block; shared memory as in the kernel. */
static void choose_block(const TesOperator *op, Plan *plan, int *team) {
  const BenchLadderVariant *v = plan->variant;
  const int dim = op->space->dim, k = op->space->degree, m = 2 * k - 1, n = 2 * k + 1;
  *team = choose_team(v, dim, n);
  plan->patches = v->patches ? v->patches : tesi_max(1, LADDER_THREADS / *team);
  plan->threads = (unsigned)(plan->patches * *team);
  const int closed = dim == 3 ? n * n * n : n * n;
  const int patch = v->form < 2 ? 4 * closed
                    : dim == 3  ? closed + 2 * m * n * n + m * m * n
                                : closed + 3 * m * n;
  plan->shared = (size_t)(plan->patches * patch + 2 * m * n + m * m + m) * tesi_precision_size(op->precision);
}

/* phases: as in the kernel. */
static TesStatus get_kernel(const TesOperator *op, const Plan *plan, int team, int phases, const char *tables,
                            TesiKernel *kernel) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const BenchLadderVariant *v = plan->variant;
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "patch_ladder.cu",
                                .real = op->precision,
                                .macros = {{"DIM", op->space->dim},
                                           {"DEGREE", op->space->degree},
                                           {"PATCHES", plan->patches},
                                           {"TEAM", team},
                                           {"PHASES", phases},
                                           {"FORM", v->form},
                                           {"ROUND", v->round},
                                           {"LAYERS", v->layers},
                                           {"SHORTCUT", v->shortcut},
                                           {"DENSE", v->dense},
                                           {"GLOBAL", v->kernels == BENCH_LADDER_GLOBAL},
                                           {"DATA", v->data},
                                           {"NOTES", plan->notes}},
                                .tables = tables};
  TES_TRY(bench_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_patch_ladder", plan->shared, kernel));
done:
  return status;
}

static TesStatus prepare(const TesOperator *op, Plan *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Numbers *numbers = NULL;
  char *tables = NULL;
  int team;
  TES_NEW(&numbers);
  fill_arguments(op, &plan->arguments);
  choose_block(op, plan, &team);
  TES_TRY(make_numbers(ctx, op->space->degree, numbers));
  TES_TRY(upload_numbers(op, numbers, plan));
  TES_TRY(print_tables(ctx, numbers, op->precision == TES_SINGLE ? "float" : "double", &tables));
  const BenchLadderKernels kernels = plan->variant->kernels;
  if (kernels == BENCH_LADDER_SEPARATE)
    TES_TRY(get_kernel(op, plan, team, 1, tables, &plan->kernel[BENCH_LADDER_RESIDUAL]));
  TES_TRY(get_kernel(op, plan, team, kernels == BENCH_LADDER_FUSED ? 3 : 2, tables,
                     &plan->kernel[BENCH_LADDER_SOLVE]));
  if (kernels != BENCH_LADDER_FUSED)
    TES_TRY(tesi_context_device(ctx)->allocate(
        ctx, (size_t)op->space->length * tesi_precision_size(op->precision), &plan->r));
done:
  tesi_free(ctx, &tables);
  tesi_free(ctx, &numbers);
  return status;
}

/* ---- sweeps -------------------------------------------------------------------------------------------- */
/* log NULL: runs all blocks of the colour; else only the first block, which notes its accesses in log. */
static TesStatus launch(const TesSmoother *smoother, BenchLadderPart part, int colour, const void *b, void *x,
                        long long *log) {
  const Plan *plan = smoother->plan;
  Ladder argument = plan->arguments;
  unsigned patches[3] = {1, 1, 1};
  for (int d = 0; d < smoother->op->space->dim; d++) {
    argument.colour[d] = colour >> d & 1;
    patches[d] = (unsigned)((argument.cells[d] - argument.colour[d]) / 2);
  }
  const void *numbers = plan->numbers, *inverse = plan->inverse, *r = plan->r;
  void *arguments[] = {&x, &b, &numbers, &inverse, &r, &argument, &log};
  const unsigned teams = (unsigned)plan->patches;
  const TesiGrid all = {(patches[0] + teams - 1) / teams, patches[1], patches[2]}, one = {1, 1, 1};
  return tesi_kernel_launch(smoother->context, &plan->kernel[part], log ? one : all, plan->threads,
                            plan->shared, arguments);
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const TesOperator *op = smoother->op;
  const BenchLadderKernels kernels = plan->variant->kernels;
  const int colours = 1 << op->space->dim;
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->space->length, 0, x));
  for (int i = 0; i < colours; i++) {
    const int colour = sweep == TES_FORWARD ? i : colours - 1 - i;
    if (kernels == BENCH_LADDER_GLOBAL) TES_TRY(op->table->residual(op, b, x, plan->r));
    if (kernels == BENCH_LADDER_SEPARATE)
      TES_TRY(launch(smoother, BENCH_LADDER_RESIDUAL, colour, b, x, NULL));
    TES_TRY(launch(smoother, BENCH_LADDER_SOLVE, colour, b, x, NULL));
  }
done:
  return status;
}

TesStatus bench_ladder_run(const TesSmoother *smoother, BenchLadderPart part, const void *b, void *x) {
  TesStatus status = TES_OK;
  for (int colour = 0; colour < 1 << smoother->op->space->dim && status == TES_OK; colour++)
    status = launch(smoother, part, colour, b, x, NULL);
  return status;
}

TesStatus bench_ladder_note(const TesSmoother *smoother, BenchLadderPart part, const void *b, void *x,
                            long long *log) {
  return launch(smoother, part, 0, b, x, log);
}

TesStatus bench_ladder_block(const TesSmoother *smoother, BenchLadderPart part, BenchLadderBlock *block) {
  const Plan *plan = smoother->plan;
  *block = (BenchLadderBlock){plan->patches, (int)plan->threads, 0, plan->shared};
  TesiKernelUse use;
  const TesStatus status =
      tesi_kernel_use(smoother->context, &plan->kernel[part], plan->threads, plan->shared, &use);
  block->resident = use.blocks;
  return status;
}

/* Operations of the algorithm with full matrices (half of them with even and odd halves), and bytes moved by all
 * colours. */
static TesCost cost(const TesSmoother *smoother) {
  const Plan *plan = smoother->plan;
  const BenchLadderVariant *v = plan->variant;
  const bool deep = smoother->op->space->dim == 3;
  const double k = smoother->op->space->degree, m = 2 * k - 1, n = 2 * k + 1,
               points = (double)smoother->op->space->length, inner = deep ? m * m * m : m * m,
               closed = deep ? n * n * n : n * n, cell = deep ? k * k * k : k * k,
               residual =
                   deep ? n * (2 * n * n * m + 3 * n * m * m + 2 * m * m * m) : n * (2 * n * m + 2 * m * m),
               solve = v->dense ? inner * inner : (deep ? 6 : 4) * m * inner,
               values = v->shortcut ? closed - inner : closed;
  return (TesCost){.flops = v->data ? 0 : points * 2 * (residual + solve) * (v->form == 4 ? 0.5 : 1) / cell,
                   .bytes = points * (values + (v->kernels == BENCH_LADDER_FUSED ? 2 : 4) * inner) / cell *
                            (double)tesi_precision_size(smoother->op->precision)};
}

static void destroy(TesSmoother *smoother) {
  const TesiDevice *device = tesi_context_device(smoother->context);
  Plan *plan = smoother->plan;
  if (plan) {
    device->release(smoother->context, &plan->numbers);
    device->release(smoother->context, &plan->inverse);
    device->release(smoother->context, &plan->r);
  }
  tesi_free(smoother->context, &smoother->plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = tesi_smoother_patch_apply_ref, .cost = cost, .destroy = destroy};

TesStatus bench_ladder_create_noting(TesContext *ctx, const TesOperator *op,
                                     const BenchLadderVariant *variant, int notes, TesSmoother **smoother) {
  TesStatus status = TES_OK;
  TesSmoother *s = NULL;
  Plan *plan = NULL;
  *smoother = NULL;
  if (!bench_ladder_serves(variant, op))
    TES_FAIL(TES_MISSING,
             "the variant %s needs a device with kernels, equal cells, Dirichlet faces%s and degree at "
             "most %d in %dD",
             variant->name,
             variant->precision == TES_DOUBLE   ? ", float64"
             : variant->precision == TES_SINGLE ? ", float32"
                                                : "",
             variant->most[op->space->dim - 2], op->space->dim);
  TES_NEW(&s);
  s->context = tesi_context_retain(ctx);
  s->op = tesi_operator_retain(op);
  s->kind = TES_SMOOTHER_PATCH;
  s->local = TES_LOCAL_EXACT;
  s->omega = 1;
  TES_NEW(&plan);
  plan->variant = variant;
  plan->notes = notes;
  s->plan = plan;
  s->table = &table;
  TES_TRY(prepare(op, plan));
  snprintf(s->description, sizeof s->description,
           "patch, variant %s: %d patches and %u threads a block, %zu bytes shared", variant->name,
           plan->patches, plan->threads, plan->shared);
  *smoother = s;
  s = NULL;
done:
  tes_smoother_destroy(&s);
  return status;
}

TesStatus bench_ladder_create(TesContext *ctx, const TesOperator *op, const BenchLadderVariant *variant,
                              TesSmoother **smoother) {
  return bench_ladder_create_noting(ctx, op, variant, 0, smoother);
}
