#include "operator/mapped/device/mapped_kernel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "device/table_text.h"
#include "mesh/forest/hanging.h"

enum { MOST_POINTS = TESK_MAPPED_POINTS };

/* ---- tables.h: even-odd halves (mapped.cu) and the matrices themselves (mapped_plane.cu) --------------- */
/* Numbers that would be 0 or 1 without round-off are 0 or 1. */
static double without_noise(double value) {
  const double noise = 1e-14;
  return fabs(value - 1) < noise ? 1 : fabs(value) < noise ? 0 : value;
}

/* (A[r][c] + sign A[r][opposite c]) / 2 for the first rows and columns; the middle column as it is. */
static void print_half(TesiTableText *text, const char *name, const double *A, int rows, int columns,
                       int width, double sign) {
  double half[MOST_POINTS * MOST_POINTS];
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++)
      half[r * columns + c] =
          without_noise(2 * c == width - 1 ? A[r * width + c]
                                           : (A[r * width + c] + sign * A[r * width + width - 1 - c]) / 2);
  tesi_table_text_add(text, name, half, rows * columns);
}

/* For hanging nodes: from the nodes of [0, 1] to the nodes of [0, 1/2]. */
static void print_halves(TesiTableText *text, int n) {
  double W[2 * TESI_HANGING_NODES * TESI_HANGING_NODES];
  tesi_hanging_halves(n, W);
  tesi_table_text_add(text, "w", W, n * n);
}

static TesStatus make_tables(TesContext *ctx, const TesiMappedKernelDesc *d, bool layered, char **tables) {
  const int n = d->n, q = d->q;
  double G[MOST_POINTS * MOST_POINTS] = {0};
  TesiTableText text = {.context = ctx, .type = d->precision == TES_SINGLE ? "float" : "double"};
  print_half(&text, "ie", d->I, (q + 1) / 2, (n + 1) / 2, n, 1);
  print_half(&text, "io", d->I, q / 2, n / 2, n, -1);
  print_half(&text, "de", d->D, q / 2, (q + 1) / 2, q, 1);
  print_half(&text, "do", d->D, (q + 1) / 2, q / 2, q, -1);
  for (int r = 0; r < q * n; r++) /* derivatives of the nodes' functions at the points */
    for (int s = 0; s < q; s++) G[r] += d->D[r / n * q + s] * d->I[s * n + r % n];
  print_half(&text, "ge", G, q / 2, (n + 1) / 2, n, 1);
  print_half(&text, "go", G, (q + 1) / 2, n / 2, n, -1);
  if (d->hanging) print_halves(&text, n);
  if (layered) {
    tesi_table_text_add(&text, "i", d->I, q * n);
    tesi_table_text_add(&text, "g", G, q * n);
  }
  return tesi_table_text_end(&text, tables);
}

/* About the number of blocks that a GPU runs at the same time. */
static int choose_ahead(const TesContext *ctx, const TesiMappedCut *cut) {
  const char *given = getenv("TESSERA_MAPPED_AHEAD");
  return tesi_kernel_multiprocessors(ctx) * (given ? atoi(given) : cut->blocks);
}

/* A number of blocks that certainly run at the same time. */
static int64_t count_resident(TesContext *ctx, const TesiMappedCut *cut, size_t shared) {
  enum { MOST_SHARED = 227 << 10, RESERVED = 1 << 10 };
  const int64_t fit = MOST_SHARED / (int64_t)(shared + RESERVED),
                blocks = fit < cut->blocks ? fit : cut->blocks;
  return tesi_kernel_resident(ctx, blocks > 1 ? blocks : 1);
}

int64_t tesi_mapped_window(const TesiMappedCut *cut) {
  enum { CELLS = 256 }; /* measured at degrees 5 to 8: 2048 cells up to 5 %, all cells up to 7 % slower */
  const char *given = getenv("TESSERA_MAPPED_WINDOW"); /* for measurements */
  const int64_t block = cut->cells * cut->groups, cells = given ? atoi(given) : CELLS;
  return (cells + block - 1) / block * block;
}

/* Counts the transposes between directions, as the heads of mapped.cu and mapped_gradients.h do, and the staged data,
 * both written and read. */
static double count_shared(const TesiMappedKernelDesc *d, const TesiMappedCut *cut) {
  const double n = d->n, q = d->q, layer = q * q * (6 * d->stiffness + d->mass);
  double numbers = 0, staged = 0;
  if (d->dim == 2) return 0;
  if (cut->layered)
    numbers = (1 + q) * n * n * n + 4 * q * n * n;
  else if (cut->gradients)
    numbers = 8 * n * n * q + 12 * n * q * q;
  else
    numbers = (d->collocated ? 0 : 4 * n * n * q + 4 * n * q * q) + (d->stiffness ? 15 * q * q * q : 0);
  if (cut->stage == 1)
    staged = 2 * (d->geometry == TESI_MAPPED_STORED
                      ? cut->layers * layer * (double)tesi_precision_size(d->factors)
                      : tesi_mapped_numbers(d) * (double)tesi_precision_size(d->precision));
  return d->components * numbers * (double)tesi_precision_size(d->precision) + staged;
}

/* For a cell in the shared memory of mapped_layers.cu: the Q lanes of a cell read neighbouring numbers, the lanes of
 * the next cell use the following Q banks. */
static int layered_pitch(int n, int q) {
  int pitch = 2 * q * n * n;
  while (pitch % 16 != q) pitch++;
  return pitch;
}

static TesStatus get_program(TesContext *ctx, const TesiMappedKernelDesc *d, const TesiMappedKernel *kernel,
                             const int *by_z, const char *tables, TesiProgram **program) {
  const TesiMappedCut *cut = &kernel->cut;
  /* Float32 numbers are operands of their instructions; float64 numbers would cost two moves each. */
  const char *given = getenv("TESSERA_TABLES"); /* for measurements */
  const bool constant = given ? atoi(given) : d->precision == TES_DOUBLE;
  const TesiProgramDesc desc = {
      .file = cut->layered  ? "mapped_layers.cu"
              : d->dim == 3 ? "mapped.cu"
                            : "mapped_plane.cu",
      .real = d->precision,
      .types = {d->factors == TES_SINGLE ? "factor=float" : "factor=double"},
      .tables = tables,
      .macros = {{"N", d->n},
                 {"Q", d->q},
                 {"COLLOCATED", d->collocated},
                 {"MASS", d->mass},
                 {"STIFFNESS", d->stiffness},
                 {"COMPONENTS", d->components},
                 {"GEOMETRY", d->geometry},
                 {"CELL_DEGREE", d->cell_degree},
                 {"OUTPUT", d->output},
                 {"ORDERED", d->ordered},
                 {"HANGING", d->hanging},
                 {"INDEX_ONCE", cut->index_once},
                 {"ROWS", d->rows},
                 {"MEET", d->meet},
                 {"MERGE", cut->merge},
                 {"TESK_WIDE", cut->wide},
                 {"DOT", d->dot},
                 {"STAGE", cut->stage == 1},
                 {"STAGE_BYTES", cut->stage == 1 ? tesi_mapped_stage_bytes(d, cut) : 0},
                 {"LAYERS", cut->layers},
                 {"AHEAD", cut->ahead},
                 {"GRADIENTS", cut->gradients},
                 {"PREFETCH", cut->stage == 2},
                 {"CELLS", cut->cells},
                 {"GROUP", cut->group},
                 {"GROUPS", cut->groups},
                 {"WARPS", cut->warps},
                 {"MIN_BLOCKS", cut->blocks},
                 {"BUFFERS", cut->buffers},
                 {"PY", kernel->pitch[0]},
                 {"PZ", kernel->pitch[1]},
                 {"PB", kernel->pitch[2]},
                 {"PC", kernel->pitch[3]},
                 {"X_BY_Z", by_z[0]},
                 {"Y_BY_Z", by_z[1]},
                 {constant ? "TESK_CONSTANT_TABLES" : NULL, 1}}};
  return tesi_program_get(ctx, &desc, program);
}

/* Bytes of shared memory of a block. */
static size_t count_block_shared(const TesiMappedKernelDesc *d, const TesiMappedKernel *kernel) {
  const TesiMappedCut *cut = &kernel->cut;
  const size_t size = tesi_precision_size(d->precision);
  const int places = cut->cells + (cut->layered && 32 % d->q); /* one place for lanes without a cell */
  size_t shared = (size_t)(cut->groups * places * kernel->pitch[3]) * size;
  if (cut->stage == 1) {
    shared = (shared + 15) / 16 * 16;
    shared += (size_t)cut->groups * ((size_t)tesi_mapped_stage_bytes(d, cut) + sizeof(long long));
  }
  if (d->dim == 2) shared += (size_t)kernel->pitch[3] * size; /* for threads without a cell */
  return shared;
}

/* The distances of lines and of planes in shared memory. */
static void choose_pitches(const TesiMappedKernelDesc *d, TesiMappedKernel *kernel, int *by_z) {
  const TesiMappedCut *cut = &kernel->cut;
  if (cut->layered)
    kernel->pitch[3] = layered_pitch(d->n, d->q);
  else if (d->dim == 3)
    tesi_mapped_pitches(d->n, d->q, cut, tesi_precision_size(d->precision), kernel->pitch, by_z);
  else
    kernel->pitch[0] = d->q | 1, kernel->pitch[3] = d->q * (d->q | 1);
}

TesStatus tesi_mapped_kernel_make(TesContext *ctx, const TesiMappedKernelDesc *d, TesiMappedKernel *kernel) {
  TesStatus status = TES_OK;
  char *tables = NULL;
  int by_z[2] = {0, 0};
  TesiProgram *program;
  memset(kernel, 0, sizeof *kernel);
  kernel->precision = d->precision;
  kernel->meet = d->meet;
  const TesiMappedCut cut = kernel->cut = tesi_mapped_choose_cut(d);
  choose_pitches(d, kernel, by_z);
  TES_TRY(make_tables(ctx, d, cut.layered, &tables));
  kernel->shared = count_block_shared(d, kernel);
  TES_TRY(get_program(ctx, d, kernel, by_z, tables, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_mapped", kernel->shared, &kernel->kernel));
  kernel->kernel.together = d->meet;
  memcpy(kernel->arguments.point, d->point, (size_t)d->q * sizeof *d->point);
  memcpy(kernel->arguments.weight, d->weight, (size_t)d->q * sizeof *d->weight);
  kernel->arguments.ahead = choose_ahead(ctx, &cut);
  kernel->cell_shared = count_shared(d, &cut);
  kernel->resident = count_resident(ctx, &cut, kernel->shared);
  kernel->most_blocks = cut.ahead ? tesi_kernel_multiprocessors(ctx) * cut.blocks : INT64_MAX;
  kernel->arguments.stiffness = kernel->arguments.mass = 1;
done:
  tesi_free(ctx, &tables);
  return status;
}

void tesi_mapped_trilinear(const double *v, double *c) {
  for (int d = 0; d < 3; d++) {
    const double x1 = v[3 + d] - v[d], x2 = v[6 + d] - v[d], x3 = v[12 + d] - v[d];
    const double x12 = v[9 + d] - v[6 + d] - x1, x13 = v[15 + d] - v[12 + d] - x1,
                 x23 = v[18 + d] - v[12 + d] - x2;
    const double x123 = v[21 + d] - v[18 + d] - (v[15 + d] - v[12 + d]) - x12;
    const double values[] = {x1, x2, x3, x12, x13, x23, x123};
    for (int i = 0; i < 7; i++) c[3 * i + d] = values[i];
  }
}
