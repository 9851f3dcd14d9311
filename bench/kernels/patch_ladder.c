/* Set-up and launches of patch_ladder.cu. */
#include "kernels/patch_ladder.h"
#include <stdio.h>
#include <string.h>
#include "basis/eigen.h"
#include "basis/lagrange.h"
#include "kernels/texts.h"
#include "smoother/patch/patch.h"

enum { MOST = 8, M = 2 * MOST - 1, N = 2 * MOST + 1, LADDER_THREADS = 200 };

const BenchLadderVariant bench_ladder_variants[] = {
    {"global", "residual by the global operator, local solves by a second kernel", -1, 2, 0, false, false, 0,
     8, -1, true},
    {"separate", "local residual and local solves by two kernels", 0, 2, 0, false, false, 0, 8, -1, true},
    {"fused", "one kernel; threads over the closed patch, boundary masked (basic)", 3, 0, 0, false, false, 0,
     8, -1, true},
    {"linear", "fused; linear thread indices over results", 3, 1, 0, false, false, 0, 8, -1, true},
    {"conflict_free", "fused, linear; arrays without gaps, of odd pitch", 3, 2, 0, false, false, 0, 8, -1,
     true},
    {"boundary", "conflict_free; boundary shortcut", 3, 2, 0, true, false, 0, 8, -1, true},
    {"dense", "conflict_free; dense inverse of the patch", 3, 2, 0, false, true, 0, 3, -1, true},
    {"patches_1", "conflict_free, one patch a block", 3, 2, 0, false, false, 1, 8, -1, true},
    {"patches_2", "conflict_free, two patches a block", 3, 2, 0, false, false, 2, 7, -1, true},
    {"patches_4", "conflict_free, four patches a block", 3, 2, 0, false, false, 4, 5, -1, true},
    {"patches_8", "conflict_free, eight patches a block", 3, 2, 0, false, false, 8, 3, -1, true},
    {"lines", "lines in registers, matrices as immediates", 3, 3, 0, false, false, 0, 8, -1, true},
    {"even_odd", "lines in registers, even and odd halves", 3, 4, 0, false, false, 0, 8, -1, true},
    {"even_odd_boundary", "even_odd; boundary shortcut", 3, 4, 0, true, false, 0, 8, -1, true},
    {"tensor", "float64 tensor cores, m16n8k8", 3, 5, 0, false, false, 0, 8, TES_DOUBLE, true},
    {"tensor_boundary", "float64 tensor cores; boundary shortcut", 3, 5, 0, true, false, 0, 8, TES_DOUBLE,
     true},
    {"tf32", "tensor cores, operands rounded to TF32", 3, 5, 1, false, false, 0, 8, TES_SINGLE, false},
    {"tf32_split", "tensor cores, TF32 in three products", 3, 5, 2, false, false, 0, 8, TES_SINGLE, true},
    {NULL, NULL, 0, 0, 0, false, false, 0, 0, 0, false}};

typedef struct Ladder { /* as in the kernel */
  int cells[3], colour[3];
  int pitch;
  long long plane;
  double ry, rz, r0, scale;
} Ladder;

typedef struct Plan {
  const BenchLadderVariant *variant;
  TesiKernel residual, solve; /* fused: solve alone */
  int patches;
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
  bool served = tesi_has_kernels(op->context) && space->dim == 3 && tesi_is_separable(op) &&
                space->degree <= variant->most_degree &&
                (variant->precision < 0 || variant->precision == (int)op->precision);
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *axis = &space->axis[d];
    served = served && axis->uniform && !axis->natural[0] && !axis->natural[1] && axis->cells >= 2;
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

/* Rows i < rows, columns j < columns of `at`; never without an entry. */
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

/* Full matrices and halves: what a form does not use costs nothing. */
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

static TesStatus upload_numbers(const TesOperator *op, const Numbers *p, Plan *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int m = p->m, mn = m * p->n, cube = m * m * m;
  const Ladder *a = &plan->arguments;
  double *values = NULL, *inverse = NULL;
  TES_ALLOC(&values, 2 * mn + m * m + m);
  memcpy(values, p->mass, (size_t)mn * sizeof *values);
  memcpy(values + mn, p->stiffness, (size_t)mn * sizeof *values);
  memcpy(values + 2 * mn, p->S, (size_t)(m * m) * sizeof *values);
  memcpy(values + 2 * mn + m * m, p->lambda, (size_t)m * sizeof *values);
  TES_TRY(upload(op, values, 2 * mn + m * m + m, &plan->numbers));
  if (!plan->variant->dense) goto done;
  TES_ALLOC(&inverse, cube * cube);
  for (int i = 0; i < cube; i++)
    for (int j = 0; j < cube; j++)
      for (int q = 0; q < cube; q++)
        inverse[i * cube + j] +=
            p->S[i % m * m + q % m] * p->S[i / m % m * m + q / m % m] * p->S[i / m / m * m + q / m / m] *
            p->S[j % m * m + q % m] * p->S[j / m % m * m + q / m % m] * p->S[j / m / m * m + q / m / m] /
            (p->lambda[q % m] + a->ry * p->lambda[q / m % m] + a->rz * p->lambda[q / m / m] + a->r0);
  TES_TRY(upload(op, inverse, cube * cube, &plan->inverse));
done:
  tesi_free(ctx, &values);
  tesi_free(ctx, &inverse);
  return status;
}

static void fill_arguments(const TesOperator *op, Ladder *a) {
  const TesiAxis *axis = op->space->axis;
  const double hx = axis[0].h[0], hy = axis[1].h[0], hz = axis[2].h[0];
  for (int d = 0; d < 3; d++) a->cells[d] = axis[d].cells;
  a->pitch = axis[0].nodes;
  a->plane = (long long)axis[0].nodes * axis[1].nodes;
  a->ry = hx * hx / (hy * hy);
  a->rz = hx * hx / (hz * hz);
  a->r0 = tesi_diffusion_of(op)->c * hx * hx / tesi_diffusion_of(op)->a;
  a->scale = hx / (tesi_diffusion_of(op)->a * hy * hz);
}

/* Patches and threads of a block; shared memory as in the kernel. */
static void choose_block(const TesOperator *op, Plan *plan, int *team) {
  const BenchLadderVariant *v = plan->variant;
  const int k = op->space->degree, m = 2 * k - 1, n = 2 * k + 1;
  *team = v->form == 5 ? (n * n + 31) / 32 * 32 : n * n;
  plan->patches = v->patches ? v->patches : tesi_max(1, LADDER_THREADS / *team);
  plan->threads = (unsigned)(plan->patches * *team);
  const int patch = v->form < 2 ? 4 * n * n * n : n * n * n + 2 * m * n * n + m * m * n;
  plan->shared = (size_t)(plan->patches * patch + 2 * m * n + m * m + m) * tesi_precision_size(op->precision);
}

static TesStatus get_kernel(const TesOperator *op, const Plan *plan, int team, int phases, const char *tables,
                            TesiKernel *kernel) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const BenchLadderVariant *v = plan->variant;
  static const char *const names[] = {"DEGREE", "PATCHES",  "TEAM",  "PHASES", "FORM",
                                      "ROUND",  "SHORTCUT", "DENSE", "GLOBAL"};
  const int values[] = {op->space->degree, plan->patches, team,     phases,       v->form,
                        v->round,          v->shortcut,   v->dense, v->phases < 0};
  enum { COUNT = sizeof values / sizeof *values };
  char text[COUNT][24];
  TesiProgram *program;
  TesiProgramDesc desc = {.file = "patch_ladder.cu", .tables = tables};
  desc.options[0] = op->precision == TES_SINGLE ? "real=float" : "real=double";
  for (int i = 0; i < COUNT; i++) {
    snprintf(text[i], sizeof text[i], "%s=%d", names[i], values[i]);
    desc.options[i + 1] = text[i];
  }
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
  const int phases = plan->variant->phases;
  if (phases == 0) TES_TRY(get_kernel(op, plan, team, 1, tables, &plan->residual));
  TES_TRY(get_kernel(op, plan, team, phases == 3 ? 3 : 2, tables, &plan->solve));
  if (phases != 3)
    TES_TRY(tesi_context_device(ctx)->allocate(
        ctx, (size_t)op->space->length * tesi_precision_size(op->precision), &plan->r));
done:
  tesi_free(ctx, &tables);
  tesi_free(ctx, &numbers);
  return status;
}

/* ---- sweeps -------------------------------------------------------------------------------------------- */
static TesStatus launch(const TesSmoother *smoother, const TesiKernel *kernel, int colour, const void *b,
                        void *x) {
  const Plan *plan = smoother->plan;
  Ladder argument = plan->arguments;
  unsigned patches[3];
  for (int d = 0; d < 3; d++) {
    argument.colour[d] = colour >> d & 1;
    patches[d] = (unsigned)((argument.cells[d] - argument.colour[d]) / 2);
  }
  const void *numbers = plan->numbers, *inverse = plan->inverse, *r = plan->r;
  void *arguments[] = {&x, &b, &numbers, &inverse, &r, &argument};
  const unsigned teams = (unsigned)plan->patches;
  return tesi_kernel_launch(smoother->context, kernel,
                            (TesiGrid){(patches[0] + teams - 1) / teams, patches[1], patches[2]},
                            plan->threads, plan->shared, arguments);
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const TesOperator *op = smoother->op;
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->space->length, 0, x));
  for (int i = 0; i < 8; i++) {
    const int colour = sweep == TES_FORWARD ? i : 7 - i;
    if (plan->variant->phases < 0) TES_TRY(op->table->residual(op, b, x, plan->r));
    if (plan->variant->phases == 0) TES_TRY(launch(smoother, &plan->residual, colour, b, x));
    TES_TRY(launch(smoother, &plan->solve, colour, b, x));
  }
done:
  return status;
}

/* What its algorithm does on full matrices (half of it by even and odd halves), and what eight colours move. */
static TesCost cost(const TesSmoother *smoother) {
  const Plan *plan = smoother->plan;
  const double k = smoother->op->space->degree, m = 2 * k - 1, n = 2 * k + 1,
               points = (double)smoother->op->space->length, cube = m * m * m,
               a_patch = n * (2 * n * n * m + 3 * n * m * m + 2 * m * m * m) +
                         (plan->variant->dense ? cube * cube : 6 * m * cube),
               values = plan->variant->shortcut ? n * n * n - cube : n * n * n;
  return (TesCost){.flops = points * 2 * a_patch * (plan->variant->form == 4 ? 0.5 : 1) / (k * k * k),
                   .bytes = points * (values + (plan->variant->phases == 3 ? 2 : 4) * cube) / (k * k * k) *
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

TesStatus bench_ladder_create(TesContext *ctx, const TesOperator *op, const BenchLadderVariant *variant,
                              TesSmoother **smoother) {
  TesStatus status = TES_OK;
  TesSmoother *s = NULL;
  Plan *plan = NULL;
  *smoother = NULL;
  if (!bench_ladder_serves(variant, op))
    TES_FAIL(TES_MISSING,
             "the variant %s needs a device with kernels, equal cells, Dirichlet faces, 3D%s and degree at "
             "most %d",
             variant->name,
             variant->precision == TES_DOUBLE   ? ", float64"
             : variant->precision == TES_SINGLE ? ", float32"
                                                : "",
             variant->most_degree);
  TES_NEW(&s);
  s->context = tesi_context_retain(ctx);
  s->op = tesi_operator_retain(op);
  s->kind = TES_SMOOTHER_PATCH;
  s->local = TES_LOCAL_EXACT;
  s->omega = 1;
  TES_NEW(&plan);
  plan->variant = variant;
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
