/* Tables and launches of stokes_operators.cu. */
#include "kernels/stokes_operators.h"
#include <stdio.h>
#include <string.h>
#include "basis/lagrange.h"
#include "device/upload.h"
#include "device/vector.h"
#include "kernels/texts.h"
#include "operator/stokes/stokes_operator.h"

/* Blocks of the tables, as in the kernel. */
enum { STIFFNESS, MASS, DERIVATIVE, DIAGONAL, UP = DIAGONAL + 4, DOWN, ABOVE, BLOCKS };
enum { MOST = BENCH_STOKES_MOST + 2, NUMBERS = 3 * BLOCKS * MOST * MOST };

const char *const bench_stokes_forms[] = {"padded", "basic", "shared", "conflict_free"};

typedef struct Argument { /* as in the kernel */
  int cells[3], extent[4][3], known[3][2];
  int count, noted;
  long long offset[4];
  double alpha;
} Argument;

struct BenchStokesOperator {
  const TesOperator *op;
  BenchStokesForm form;
  int cells, team, threads, notes; /* team: threads per cell */
  size_t shared;
  TesiKernel kernel;
  void *numbers; /* device */
  Argument argument;
};

bool bench_stokes_operator_serves(const TesOperator *op) {
  const TesSpace *space = tesi_stokes_of(op)->space;
  bool serves = tesi_has_kernels(op->context) && space->dim == 3 && space->degree <= BENCH_STOKES_MOST;
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *a = tesi_modal(space, d);
    serves = serves && !a->periodic;
    for (int c = 1; c < a->cells; c++) serves = serves && a->h[c] == a->h[0];
  }
  return serves;
}

/* ---- tables --------------------------------------------------------------------------------------------- */
typedef struct Tables {
  int n;
  double value[NUMBERS]; /* [direction][BLOCKS][n + 1][n + 1] */
} Tables;

static double *block_of(Tables *t, int d, int block) {
  const int p = t->n + 1;
  return t->value + (d * BLOCKS + block) * p * p;
}

/* block <- factor times rows and columns of Ld over one or two cells of this width, with walls below and above. */
static TesStatus take_penalty(TesContext *ctx, const TesiAxis *whole, TesPenalty penalty, int cells,
                              const bool walls[2], const int from[2], double factor, double *block) {
  TesStatus status = TES_OK;
  const int n = whole->step;
  double h[2] = {whole->h[0], whole->h[0]};
  TesiStokesAxis s = {.modal = *whole};
  s.modal.cells = cells, s.modal.nodes = cells * n, s.modal.h = h;
  for (int end = 0; end < 2; end++) s.modal.end[end] = walls[end] ? TESI_WEAK : TESI_OPEN;
  TES_TRY(tesi_stokes_axis_fill(ctx, penalty, &s));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      block[i * (n + 1) + j] += factor * tesi_band_entry(&s.penalty, from[0] + i, from[1] + j);
done:
  tesi_stokes_axis_free(ctx, &s);
  return status;
}

/* Ld of a cell and the face above it. kind: bit 0: it is the first cell; bit 1: it is the last cell. */
static TesStatus fill_penalty(const TesOperator *op, int d, Tables *t) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const TesiAxis *a = tesi_modal(s->space, d);
  const TesPenalty penalty = op->desc.form.penalty;
  const bool none[2] = {false, false};
  const int n = a->step, zero[2] = {0, 0}, beyond[2] = {n, n};
  for (int kind = 0; kind < 4; kind++) {
    double *block = block_of(t, d, DIAGONAL + kind);
    const bool walls[2] = {kind % 2 && a->end[0] == TESI_WEAK, kind / 2 && a->end[1] == TESI_WEAK};
    if (kind / 2 == 0) {
      TES_TRY(take_penalty(ctx, a, penalty, 2, (const bool[]){walls[0], false}, zero, s->nu, block));
    } else {
      TES_TRY(take_penalty(ctx, a, penalty, 1, walls, zero, s->nu, block));
    }
  }
  TES_TRY(take_penalty(ctx, a, penalty, 2, none, (const int[]){0, n}, s->nu, block_of(t, d, UP)));
  TES_TRY(take_penalty(ctx, a, penalty, 2, none, (const int[]){n, 0}, s->nu, block_of(t, d, DOWN)));
  TES_TRY(take_penalty(ctx, a, penalty, 2, none, beyond, s->nu, block_of(t, d, ABOVE)));
  TES_TRY(take_penalty(ctx, a, penalty, 1, none, zero, -s->nu, block_of(t, d, ABOVE)));
done:
  return status;
}

static TesStatus fill_tables(const TesOperator *op, Tables *t) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const int n = s->space->degree + 1, p = n + 1;
  double mass[MOST * MOST], stiffness[MOST * MOST];
  t->n = n;
  tesi_cell_matrices(n, mass, stiffness);
  for (int d = 0; d < 3; d++) {
    const double h = tesi_modal(s->space, d)->h[0];
    for (int i = 0; i < p * p; i++) {
      block_of(t, d, STIFFNESS)[i] = s->nu * stiffness[i] / h;
      block_of(t, d, MASS)[i] = mass[i] * h;
      if (i / p < n) block_of(t, d, DERIVATIVE)[i] = tesi_band_entry(&s->axis[d].derivative, i / p, i % p);
    }
    TES_TRY(fill_penalty(op, d, t));
  }
done:
  return status;
}

static TesStatus print_tables(TesContext *ctx, const Tables *t, TesPrecision precision, char **text) {
  TesStatus status = TES_OK;
  const int count = 3 * BLOCKS * (t->n + 1) * (t->n + 1);
  const size_t size = (size_t)count * 28 + 64;
  TES_ALLOC(text, size);
  size_t used = (size_t)snprintf(*text, size, "TESK_TABLE(%s, tesk_matrices, {",
                                 precision == TES_SINGLE ? "float" : "double");
  for (int i = 0; i < count; i++)
    used += (size_t)snprintf(*text + used, size - used, "%s%.17g", i ? ", " : "", t->value[i]);
  snprintf(*text + used, size - used, "})\n");
done:
  return status;
}

/* ---- set-up --------------------------------------------------------------------------------------------- */
/* About 128 threads. Without bank conflicts: as many cells as numbers of the precision fit into one row of banks (128
 * bytes). */
static void choose_block(BenchStokesOperator *v) {
  const int n = tesi_stokes_of(v->op)->space->degree + 1, p = n + 1,
            w = v->form == BENCH_STOKES_PADDED ? p : n, slab = p * w * w, pressures = w * w * w;
  const bool free = v->form == BENCH_STOKES_CONFLICT_FREE;
  const size_t size = tesi_precision_size(v->op->precision);
  v->team = p * w;
  v->cells = free ? (int)(128 / size) : tesi_max(1, 128 / v->team);
  v->threads = free ? tesi_min(256, v->cells * v->team) : v->cells * v->team;
  v->shared =
      size * (size_t)(v->cells * ((free ? 4 : 6) * slab + pressures) + (v->form < 2 ? 0 : 3 * BLOCKS * p * p));
}

static void fill_argument(const TesOperator *op, Argument *a) {
  const TesiStokes *s = tesi_stokes_of(op);
  a->alpha = s->alpha;
  a->count = 1;
  for (int part = 0; part < 4; part++) {
    a->offset[part] = s->space->first[part];
    for (int d = 0; d < 3; d++) a->extent[part][d] = s->space->scalar[part]->axis[d].nodes;
  }
  for (int d = 0; d < 3; d++) {
    a->cells[d] = tesi_modal(s->space, d)->cells;
    a->count *= a->cells[d];
    for (int e = 0; e < 2; e++) a->known[d][e] = tesi_nodal(s->space, d)->end[e] == TESI_STRONG;
  }
}

static TesStatus get_kernel(BenchStokesOperator *v, const char *tables) {
  TesContext *ctx = v->op->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "stokes_operators.cu",
                                .real = v->op->precision,
                                .macros = {{"TESK_CONSTANT_TABLES", 1},
                                           {"N", tesi_stokes_of(v->op)->space->degree + 1},
                                           {"CELLS", v->cells},
                                           {"TEAM", v->team},
                                           {"THREADS", v->threads},
                                           {"FORM", v->form},
                                           {"NOTES", v->notes}},
                                .tables = tables};
  TES_TRY(bench_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_operator", v->shared, &v->kernel));
done:
  return status;
}

static TesStatus create_noting(TesContext *ctx, const TesOperator *op, BenchStokesForm form, int notes,
                               BenchStokesOperator **variant) {
  TesStatus status = TES_OK;
  BenchStokesOperator *v = NULL;
  Tables *tables = NULL;
  char *text = NULL;
  *variant = NULL;
  if (!bench_stokes_operator_serves(op))
    TES_FAIL(TES_MISSING,
             "variants of the operator of stokes need a device with kernels, equal cells in 3D without rings "
             "and degree at most %d",
             BENCH_STOKES_MOST);
  TES_NEW(&v);
  TES_NEW(&tables);
  v->op = tesi_operator_retain(op);
  v->form = form;
  v->notes = notes;
  fill_argument(op, &v->argument);
  choose_block(v);
  TES_TRY(fill_tables(op, tables));
  TES_TRY(print_tables(ctx, tables, op->precision, &text));
  TES_TRY(tesi_upload_numbers(ctx, tables->value, 3 * BLOCKS * (tables->n + 1) * (tables->n + 1),
                              op->precision, &v->numbers));
  TES_TRY(get_kernel(v, text));
  *variant = v;
  v = NULL;
done:
  tesi_free(ctx, &text);
  tesi_free(ctx, &tables);
  bench_stokes_operator_destroy(&v);
  return status;
}

TesStatus bench_stokes_operator_create(TesContext *ctx, const TesOperator *op, BenchStokesForm form,
                                       BenchStokesOperator **variant) {
  return create_noting(ctx, op, form, 0, variant);
}

void bench_stokes_operator_destroy(BenchStokesOperator **variant) {
  BenchStokesOperator *v = *variant;
  if (!v) return;
  TesContext *ctx = tesi_context_retain(v->op->context);
  tesi_context_device(ctx)->release(ctx, &v->numbers);
  tes_operator_destroy((TesOperator **)&v->op);
  tesi_free(ctx, variant);
  tes_context_destroy(&ctx);
}

/* ---- work ----------------------------------------------------------------------------------------------- */
static TesStatus launch(const BenchStokesOperator *v, const void *x, void *y, long long *log) {
  TesContext *ctx = v->op->context;
  TesStatus status = TES_OK;
  const void *numbers = v->numbers;
  void *arguments[] = {&x, &y, &numbers, (void *)&v->argument, &log};
  TES_TRY(tesi_context_device(ctx)->fill(ctx, v->op->precision, v->op->length, 0, y));
  TES_TRY(tesi_kernel_launch(ctx, &v->kernel,
                             (TesiGrid){(unsigned)((v->argument.count + v->cells - 1) / v->cells), 1, 1},
                             (unsigned)v->threads, v->shared, arguments));
done:
  return status;
}

TesStatus bench_stokes_operator_apply(const BenchStokesOperator *v, const void *x, void *y) {
  return launch(v, x, y, NULL);
}

/* The work of each component: Mc in three slabs, Lc, D', D, alpha; Ld in two directions, four blocks each. Accesses:
 * each multiply-add reads both factors, or only a matrix entry if a line is in registers. */
BenchStokesWork bench_stokes_operator_work(const BenchStokesOperator *v) {
  const double n = tesi_stokes_of(v->op)->space->degree + 1, p = n + 1,
               w = v->form == BENCH_STOKES_PADDED ? p : n, slab = p * w * w, pressures = w * w * w,
               size = (double)tesi_precision_size(v->op->precision);
  const bool lines = v->form == BENCH_STOKES_CONFLICT_FREE, matrices = v->form >= BENCH_STOKES_SHARED;
  const double multiply = slab * (4 * p + w) + pressures * p + 8 * slab * w,
               numbers = lines ? 14 * slab + pressures : slab * (3 * p + w + 4 * w + 3),
               entries = lines ? multiply : slab * (2 * p + w) + pressures * p + 8 * slab * w,
               loads = 3 * slab + pressures;
  return (BenchStokesWork){.flops = v->argument.count * 3 * (2 * multiply + 2 * slab),
                           .bytes = v->argument.count * size *
                                    (3 * (3 * p * n * n + n * n * n) + 2 * 3 * (3 * p * n * n + n * n * n)),
                           .shared_bytes =
                               v->argument.count * 3 * size * (numbers + loads + (matrices ? entries : 0)),
                           .threads = v->threads,
                           .cells = v->cells,
                           .shared = v->shared};
}

/* ---- conflicts ------------------------------------------------------------------------------------------ */
static TesStatus note_block(TesContext *ctx, const TesOperator *op, BenchStokesForm form,
                            BenchConflicts *conflicts) {
  enum { ROOM = 1 << 15 };
  TesStatus status = TES_OK;
  BenchStokesOperator *v = NULL;
  TesVector *x = NULL, *y = NULL;
  void *log = NULL;
  TES_TRY(create_noting(ctx, op, form, ROOM, &v));
  v->argument.noted = v->argument.count / 2 / v->cells;
  TES_TRY(tes_vector_create(ctx, op->length, op->precision, &x));
  TES_TRY(tes_vector_create(ctx, op->length, op->precision, &y));
  TES_TRY(tes_vector_fill(x, 1));
  const int threads = v->threads;
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)threads * ROOM * sizeof(long long), &log));
  TES_TRY(launch(v, tes_vector_data(x), tes_vector_data(y), log));
  TES_TRY(bench_conflicts_read(ctx, log, threads, ROOM, tesi_precision_size(op->precision), conflicts));
done:
  if (log) tesi_context_device(ctx)->release(ctx, &log);
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  bench_stokes_operator_destroy(&v);
  return status;
}

TesStatus bench_stokes_box_operator(TesContext *ctx, int degree, TesPrecision precision, const int cells[3],
                                    TesOperator **op) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION}, {.term = TES_TERM_DIVERGENCE}};
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {cells[0], cells[1], cells[2]}}, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree, .element = TES_ELEMENT_RT},
                           &space));
  TES_TRY(tes_operator_create(
      ctx, &(TesOperatorDesc){.space = space, .form = {2, term, 0}, .precision = precision}, op));
done:
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

TesStatus bench_stokes_operator_conflicts(int degree, BenchStokesForm form, TesPrecision precision,
                                          BenchConflicts *conflicts) {
  TesContext *ctx;
  TesOperator *op = NULL;
  *conflicts = (BenchConflicts){0};
  TesStatus status = tes_context_create(&(TesContextDesc){.device = "emulator", .threads = 1}, &ctx, NULL, 0);
  if (status != TES_OK) return status;
  TES_TRY(bench_stokes_box_operator(ctx, degree, precision, (const int[]){128, 3, 3}, &op));
  TES_TRY(note_block(ctx, op, form, conflicts));
done:
  tes_operator_destroy(&op);
  tes_context_destroy(&ctx);
  return status;
}
