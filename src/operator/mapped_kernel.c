#include "operator/mapped_kernel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mesh/forest/hanging.h"

/* ---- tables.h: even-odd halves (mapped.cu) and the matrices themselves (mapped_plane.cu) ------------------------------------- */
typedef struct Text {
  char *data;
  size_t used, size;
  const char *type;
} Text;

static void begin_table(Text *text, const char *name) {
  text->used += (size_t)snprintf(text->data + text->used, text->size - text->used,
                                 "TESK_TABLE(%s, tesk_%s, {", text->type, name);
}

static void add_number(Text *text, double value) {
  text->used += (size_t)snprintf(text->data + text->used, text->size - text->used, "%.17g, ", value);
}

static void end_table(Text *text) {
  text->used += (size_t)snprintf(text->data + text->used, text->size - text->used, "0})\n");
}

/* (A[r][c] + sign A[r][opposite c]) / 2 for the first rows and columns; the middle column as it is. */
static void print_half(Text *text, const char *name, const double *A, int rows, int columns, int width,
                       double sign) {
  begin_table(text, name);
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++)
      add_number(text, 2 * c == width - 1 ? A[r * width + c]
                                          : (A[r * width + c] + sign * A[r * width + width - 1 - c]) / 2);
  end_table(text);
}

static void print_matrix(Text *text, const char *name, const double *A, int count) {
  begin_table(text, name);
  for (int i = 0; i < count; i++) add_number(text, A[i]);
  end_table(text);
}

/* Where nodes hang: from the nodes of [0, 1] to those of [0, 1/2]. */
static void print_halves(Text *text, int n) {
  double W[2 * TESI_HANGING_NODES * TESI_HANGING_NODES];
  tesi_hanging_halves(n, W);
  print_matrix(text, "w", W, n * n);
}

static TesStatus make_tables(TesContext *ctx, const TesiMappedKernelDesc *d, char **tables) {
  TesStatus status = TES_OK;
  const int n = d->n, q = d->q;
  Text text = {.size = (size_t)(2 * q * n + q * q + 64) * 32 * 2,
               .type = d->precision == TES_SINGLE ? "float" : "double"};
  TES_ALLOC(&text.data, text.size);
  if (d->dim == 3) {
    print_half(&text, "ie", d->I, (q + 1) / 2, (n + 1) / 2, n, 1);
    print_half(&text, "io", d->I, q / 2, n / 2, n, -1);
    print_half(&text, "de", d->D, q / 2, (q + 1) / 2, q, 1);
    print_half(&text, "do", d->D, (q + 1) / 2, q / 2, q, -1);
  } else {
    print_matrix(&text, "i", d->I, q * n);
    print_matrix(&text, "d", d->D, q * q);
  }
  if (d->hanging) print_halves(&text, n);
  *tables = text.data;
done:
  return status;
}

/* About the blocks that a GPU has at a time. */
static int choose_ahead(const TesiMappedCut *cut) {
  enum { MULTIPROCESSORS = 132 };
  const char *given = getenv("TESSERA_MAPPED_AHEAD");
  return MULTIPROCESSORS * (given ? atoi(given) : cut->blocks);
}

int64_t tesi_mapped_window(const TesiMappedCut *cut) {
  enum { CELLS = 2048 };
  const int64_t block = cut->cells * cut->groups;
  return (CELLS + block - 1) / block * block;
}

TesStatus tesi_mapped_kernel_make(TesContext *ctx, const TesiMappedKernelDesc *d, TesiMappedKernel *kernel) {
  TesStatus status = TES_OK;
  char *tables = NULL, text[TESI_OPTIONS][32];
  int by_z[2] = {0, 0}, n = 0;
  TesiProgram *program;
  const size_t size = tesi_precision_size(d->precision);
  memset(kernel, 0, sizeof *kernel);
  const TesiMappedCut cut = kernel->cut = tesi_mapped_choose_cut(d);
  tesi_mapped_pitches(d->n, d->q, &cut, size, kernel->pitch, by_z);
  TES_TRY(make_tables(ctx, d, &tables));
  const struct {
    const char *name;
    int value;
  } options[] = {{"N", d->n},
                 {"Q", d->q},
                 {"COLLOCATED", d->collocated},
                 {"MASS", d->mass},
                 {"STIFFNESS", d->stiffness},
                 {"COMPONENTS", d->components},
                 {"GEOMETRY", d->geometry},
                 {"OUTPUT", d->output},
                 {"ORDERED", d->ordered},
                 {"HANGING", d->hanging},
                 {"INDEX_ONCE", cut.index_once},
                 {"DOT", d->dot},
                 {"STAGE", cut.stage == 1},
                 {"STAGE_BYTES", cut.stage == 1 ? tesi_mapped_stage_bytes(d, &cut) : 0},
                 {"PREFETCH", cut.stage == 2},
                 {"CELLS", cut.cells},
                 {"GROUP", cut.group},
                 {"GROUPS", cut.groups},
                 {"WARPS", cut.warps},
                 {"MIN_BLOCKS", cut.blocks},
                 {"BUFFERS", cut.buffers},
                 {"PY", kernel->pitch[0]},
                 {"PZ", kernel->pitch[1]},
                 {"PB", kernel->pitch[2]},
                 {"PC", kernel->pitch[3]}};
  TesiProgramDesc desc = {.file = d->dim == 3 ? "mapped.cu" : "mapped_plane.cu", .tables = tables};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++, n++) {
    snprintf(text[n], sizeof *text, "%s=%d", options[i].name, options[i].value);
    desc.options[n] = text[n];
  }
  snprintf(text[n], sizeof *text, "X_BY_Z=%d", by_z[0]);
  desc.options[n] = text[n];
  n++;
  snprintf(text[n], sizeof *text, "Y_BY_Z=%d", by_z[1]);
  desc.options[n] = text[n];
  n++;
  desc.options[n++] = d->precision == TES_SINGLE ? "real=float" : "real=double";
  desc.options[n++] = d->factors == TES_SINGLE ? "factor=float" : "factor=double";
  const char *constant = getenv("TESSERA_TABLES");
  if (!constant || atoi(constant)) desc.options[n++] = "TESK_CONSTANT_TABLES";
  kernel->shared = (size_t)(cut.groups * cut.cells * kernel->pitch[3]) * size;
  if (cut.stage == 1) {
    kernel->shared = (kernel->shared + 15) / 16 * 16;
    kernel->shared += (size_t)cut.groups * ((size_t)tesi_mapped_stage_bytes(d, &cut) + sizeof(long long));
  }
  if (d->dim == 2) kernel->shared = (size_t)((cut.groups * cut.cells + 1) * 4 * d->q * d->q) * size;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_mapped", kernel->shared, &kernel->kernel));
  memcpy(kernel->arguments.point, d->point, (size_t)d->q * sizeof *d->point);
  memcpy(kernel->arguments.weight, d->weight, (size_t)d->q * sizeof *d->weight);
  kernel->arguments.ahead = choose_ahead(&cut);
  kernel->arguments.stiffness = kernel->arguments.mass = 1;
done:
  tesi_free(ctx, &tables);
  return status;
}

TesStatus tesi_mapped_kernel_run(TesContext *ctx, const TesiMappedKernel *kernel, const TeskMapped *arguments,
                                 const void *x, void *y) {
  TeskMapped argument = *arguments;
  void *list[] = {&x, &y, &argument};
  const int64_t cells = kernel->cut.cells * kernel->cut.groups;
  const int64_t blocks = (arguments->cells + cells - 1) / cells;
  return tesi_kernel_launch(ctx, &kernel->kernel, (TesiGrid){(unsigned)blocks, 1, 1},
                            (unsigned)(kernel->cut.group * kernel->cut.groups), kernel->shared, list);
}
