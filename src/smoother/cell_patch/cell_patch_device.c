/* Cell patches as kernels (GPU, emulator): set-up data on the device, launches of src/kernels/cell_patch.cu. */
#include <string.h>
#include "base/afford.h"
#include "device/gather.h"
#include "device/upload.h"
#include "smoother/cell_patch/cell_patch.h"

enum { LINES = 256, MOST_CELLS = 128 };

struct TesiCellPatchKernels {
  bool ordered; /* values of cells, then ordered sums; false: atomic additions */
  TesiKernel kernel;
  TesiGather gather;  /* ordered */
  int cells, threads; /* a block */
  size_t shared;
  void *index, *g, *numbers, *tables; /* device */
};

/* Rows of the tables are multiples of 16 bytes. */
static int padded(const TesiCellPatches *p) {
  const int n = p->m->n, chunk = 16 / (int)tesi_precision_size(p->m->precision);
  return (n + chunk - 1) / chunk * chunk;
}

/* S'[n][row] and lambda[row] of the classes. */
static TesStatus upload_tables(const TesiCellPatches *p, TesiCellPatchKernels *k) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int n = p->m->n, row = padded(p), size = (n + 1) * row;
  double *tables = NULL;
  TES_ALLOC(&tables, p->classes * size);
  for (int c = 0; c < p->classes; c++) {
    double *S = tables + c * size, *lambda = S + n * row;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) S[j * row + i] = p->S[(c * n + i) * n + j];
    memcpy(lambda, p->lambda + c * n, (size_t)n * sizeof *lambda);
  }
  TES_TRY(tesi_upload_numbers(ctx, tables, p->classes * size, p->m->precision, &k->tables));
done:
  tesi_free(ctx, &tables);
  return status;
}

/* The data of the cells: g_d and m, classes of the directions. */
static TesStatus upload_cells(const TesiCellPatches *p, TesiCellPatchKernels *k) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  int32_t *numbers = NULL;
  TES_ALLOC(&numbers, m->cells);
  for (int64_t c = 0; c < m->cells; c++)
    for (int d = 0; d < m->dim; d++) numbers[c] |= p->class_of[p->end[c][d][0]][p->end[c][d][1]] << 8 * d;
  TES_TRY(tesi_upload(ctx, numbers, (size_t)m->cells * sizeof *numbers, &k->numbers));
  TES_TRY(tesi_upload_numbers(ctx, &p->g[0][0], 4 * m->cells, m->precision, &k->g));
done:
  tesi_free(ctx, &numbers);
  return status;
}

/* The index of the patches, and the order of sums over it. */
static TesStatus upload_index(const TesiCellPatches *p, TesiCellPatchKernels *k) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  const int64_t places = m->cells * m->cell_nodes;
  int32_t *index = NULL;
  TES_ALLOC(&index, places);
  for (int64_t i = 0; i < places; i++)
    index[i] = tesi_cell_patch_has(m, i / m->cell_nodes, i % m->cell_nodes) ? m->index[i] : -1;
  TES_TRY(tesi_upload(ctx, index, (size_t)places * sizeof *index, &k->index));
  if (k->ordered) TES_TRY(tesi_gather_create(ctx, m->precision, places, index, m->nodes, &k->gather));
done:
  tesi_free(ctx, &index);
  return status;
}

static double device_bytes(const TesiCellPatches *p, bool ordered) {
  const TesiMapped *m = p->m;
  const int64_t places = m->cells * m->cell_nodes;
  const double size = (double)tesi_precision_size(m->precision);
  return 4 * (double)places + (double)m->cells * 4 * (size + 1) + p->classes * (m->n + 1) * padded(p) * size +
         (ordered ? tesi_gather_bytes(m->precision, places, m->nodes) : 0);
}

static TesStatus check_memory(const TesiCellPatches *p, bool ordered) {
  return tesi_afford(
      p->context, device_bytes(p, ordered), (double)tesi_context_device(p->context)->available(p->context),
      "use solver.smoother: chebyshev, or refine less",
      "cell patches of %lld cells of degree %d need on the device", (long long)p->m->cells, p->m->degree);
}

/* Blocks have cells with about LINES lines together, and a thread for each line. */
static TesStatus get_kernel(const TesiCellPatches *p, TesiCellPatchKernels *k) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  const int n = m->n, lines = (int)m->cell_nodes / n;
  TesiProgram *program;
  k->cells = tesi_min(tesi_max(LINES / lines, 1), MOST_CELLS);
  k->threads = (k->cells * lines + 31) / 32 * 32;
  k->shared = (size_t)(k->cells * lines * (n | 1)) * tesi_precision_size(m->precision);
  const TesiProgramDesc desc = {
      .file = "cell_patch.cu",
      .real = m->precision,
      .macros = {{"DIM", m->dim}, {"N", n}, {"CELLS", k->cells}, {"THREADS", k->threads}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, k->ordered ? "tesk_cell_patches" : "tesk_cell_patches_add", k->shared,
                          &k->kernel));
done:
  return status;
}

TesStatus tesi_cell_patch_kernels_create(const TesiCellPatches *p, TesiCellPatchKernels **kernels) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_NEW(kernels);
  TesiCellPatchKernels *k = *kernels;
  k->ordered = !tesi_context_unordered(ctx);
  TES_TRY(check_memory(p, k->ordered));
  TES_TRY(get_kernel(p, k));
  TES_TRY(upload_tables(p, k));
  TES_TRY(upload_cells(p, k));
  TES_TRY(upload_index(p, k));
done:
  return status;
}

void tesi_cell_patch_kernels_destroy(TesContext *ctx, TesiCellPatchKernels **kernels) {
  const TesiDevice *device = tesi_context_device(ctx);
  TesiCellPatchKernels *k = *kernels;
  if (!k) return;
  device->release(ctx, &k->index);
  device->release(ctx, &k->g);
  device->release(ctx, &k->numbers);
  device->release(ctx, &k->tables);
  tesi_gather_release(ctx, &k->gather);
  tesi_free(ctx, kernels);
}

TesStatus tesi_cell_patch_kernels_apply(const TesiCellPatches *p, const void *r, void *z) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  const TesiCellPatchKernels *k = p->kernels;
  int cells = (int)m->cells;
  void *arguments[] = {&r,
                       k->ordered ? (void *)&k->gather.values : (void *)&z,
                       (void *)&k->index,
                       (void *)&p->weight,
                       (void *)&k->g,
                       (void *)&k->numbers,
                       (void *)&k->tables,
                       &cells};
  if (!k->ordered) TES_TRY(tesi_context_device(ctx)->fill(ctx, m->precision, m->length, 0, z));
  TES_TRY(tesi_kernel_launch(ctx, &k->kernel, (TesiGrid){(unsigned)((cells + k->cells - 1) / k->cells), 1, 1},
                             (unsigned)k->threads, k->shared, arguments));
  if (k->ordered) TES_TRY(tesi_gather_run(ctx, &k->gather, z));
done:
  return status;
}

double tesi_cell_patch_kernels_bytes(const TesiCellPatches *p) {
  const TesiMapped *m = p->m;
  const double places = (double)(m->cells * m->cell_nodes), size = (double)tesi_precision_size(m->precision),
               length = (double)m->length, cells = (double)m->cells * 4 * (size + 1);
  if (!p->kernels->ordered) return 4 * places + 5 * size * length + cells;
  return 2 * (4 + size) * places + (3 * size + 4) * length + cells;
}
