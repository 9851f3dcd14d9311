/* Lines of cells as kernels (GPU, emulator): uploads, launches of src/kernels/line_patch.cu. */
#include "base/afford.h"
#include "device/upload.h"
#include "smoother/line_patch/line_patch.h"

enum { THREADS = 128 };

static TesStatus check_memory(const TesiLinePatches *l) {
  TesContext *ctx = l->p->context;
  const TesiMapped *m = l->p->m;
  const double size = (double)tesi_precision_size(m->precision), places = (double)(l->rows * l->lanes);
  const double bytes = places * (4 + m->n * size) +
                       (double)(l->batches * (m->dim - 1) * m->n * m->n * l->lanes) * size +
                       tesi_gather_bytes(m->precision, l->rows * l->lanes, m->nodes);
  return tesi_afford(ctx, bytes, (double)tesi_context_device(ctx)->available(ctx),
                     "use solver.smoother: chebyshev, or refine less",
                     "lines of %lld cells of degree %d need on the device", (long long)m->cells, m->degree);
}

/* Where the batches begin, and the batch of each position. */
static TesStatus upload_batches(TesiLinePatches *l) {
  TesContext *ctx = l->p->context;
  TesStatus status = TES_OK;
  const int64_t positions = l->rows / l->modes;
  int32_t *batch = NULL, *first = NULL;
  TES_ALLOC(&batch, positions);
  TES_ALLOC(&first, l->batches + 1);
  for (int64_t b = 0; b <= l->batches; b++) first[b] = (int32_t)(l->first_row[b] / l->modes);
  for (int64_t b = 0; b < l->batches; b++)
    for (int32_t i = first[b]; i < first[b + 1]; i++) batch[i] = (int32_t)b;
  TES_TRY(tesi_upload(ctx, batch, (size_t)positions * sizeof *batch, &l->batch_device));
  TES_TRY(tesi_upload(ctx, first, (size_t)(l->batches + 1) * sizeof *first, &l->first_device));
done:
  tesi_free(ctx, &batch);
  tesi_free(ctx, &first);
  return status;
}

static TesStatus get_kernels(TesiLinePatches *l) {
  TesContext *ctx = l->p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = l->p->m;
  TesiProgram *program;
  const TesiProgramDesc desc = {
      .file = "line_patch.cu", .real = m->precision, .macros = {{"DIM", m->dim}, {"N", m->n}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_line_to_modes", 0, &l->to_modes));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_line_solve", 0, &l->solve));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_line_to_nodes", 0, &l->to_nodes));
done:
  return status;
}

TesStatus tesi_line_kernels_create(TesiLinePatches *l) {
  TesContext *ctx = l->p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = l->p->m;
  const size_t size = tesi_precision_size(m->precision);
  const int64_t places = l->rows * l->lanes;
  TES_TRY(check_memory(l));
  TES_TRY(get_kernels(l));
  TES_TRY(upload_batches(l));
  TES_TRY(tesi_upload(ctx, l->index, (size_t)places * sizeof *l->index, &l->index_device));
  TES_TRY(tesi_upload(ctx, l->factor, (size_t)(places * m->n) * size, &l->factor_device));
  TES_TRY(tesi_upload(ctx, l->S, (size_t)(l->batches * (m->dim - 1) * m->n * m->n * l->lanes) * size,
                      &l->S_device));
  TES_TRY(tesi_gather_create(ctx, m->precision, places, l->index, m->nodes, &l->gather));
  tesi_free(ctx, &l->factor);
  tesi_free(ctx, &l->S);
  tesi_free(ctx, &l->index);
done:
  return status;
}

TesStatus tesi_line_kernels_apply(const TesiLinePatches *l, const void *r, void *z) {
  TesContext *ctx = l->p->context;
  TesStatus status = TES_OK;
  int positions = (int)(l->rows / l->modes), batches = (int)l->batches;
  void *to_modes[] = {&r,
                      (void *)&l->gather.values,
                      (void *)&l->index_device,
                      (void *)&l->p->weight,
                      (void *)&l->batch_device,
                      (void *)&l->S_device,
                      &positions};
  void *solve[] = {(void *)&l->gather.values, (void *)&l->factor_device, (void *)&l->first_device, &batches};
  void *to_nodes[] = {(void *)&l->gather.values, (void *)&l->batch_device, (void *)&l->S_device, &positions};
  TES_TRY(tesi_kernel_launch(ctx, &l->to_modes, tesi_grid(positions * (int64_t)l->lanes, THREADS), THREADS, 0,
                             to_modes));
  TES_TRY(tesi_kernel_launch(ctx, &l->solve, tesi_grid(l->batches * l->modes * l->lanes, THREADS), THREADS, 0,
                             solve));
  TES_TRY(tesi_kernel_launch(ctx, &l->to_nodes, tesi_grid(positions * (int64_t)l->lanes, THREADS), THREADS, 0,
                             to_nodes));
  TES_TRY(tesi_gather_run(ctx, &l->gather, z));
done:
  return status;
}
