#include "device/gather.h"
#include "device/upload.h"
#include "device/vector.h"

enum { THREADS = 256 }; /* the same as in the kernel */

/* Nodes are counted, then filled in the order of places. */
static TesStatus make_entries(TesContext *ctx, int64_t places, const int32_t *index, int64_t nodes,
                              TesiGather *gather) {
  TesStatus status = TES_OK;
  int32_t *first = NULL, *entry = NULL;
  TES_ALLOC(&first, nodes + 2);
  TES_ALLOC(&entry, places);
  for (int64_t i = 0; i < places; i++)
    if (index[i] >= 0) first[index[i] + 2]++;
  for (int64_t i = 0; i < nodes; i++) first[i + 2] += first[i + 1];
  for (int64_t i = 0; i < places; i++)
    if (index[i] >= 0) entry[first[index[i] + 1]++] = (int32_t)i;
  TES_TRY(tesi_upload(ctx, first, (size_t)(nodes + 1) * sizeof *first, &gather->first));
  TES_TRY(tesi_upload(ctx, entry, (size_t)places * sizeof *entry, &gather->entry));
done:
  tesi_free(ctx, &first);
  tesi_free(ctx, &entry);
  return status;
}

TesStatus tesi_gather_create(TesContext *ctx, TesPrecision precision, int64_t places, const int32_t *index,
                             int64_t nodes, TesiGather *gather) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "gather.cu", .real = precision};
  if (places > INT32_MAX)
    TES_FAIL(TES_OUT_OF_MEMORY, "the cells have %lld nodes, sums on a GPU take 2^31 - 1: use a coarser mesh",
             (long long)places);
  gather->nodes = (int)nodes, gather->places = places, gather->vectors = 1;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_gather", 0, &gather->kernel));
  TES_TRY(make_entries(ctx, places, index, nodes, gather));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)places * tesi_precision_size(precision),
                                             &gather->values));
done:
  return status;
}

TesStatus tesi_gather_expect(TesContext *ctx, TesPrecision precision, int vectors, TesiGather *gather) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  if (vectors <= gather->vectors) return TES_OK;
  device->release(ctx, &gather->values);
  TES_TRY(device->allocate(ctx, (size_t)vectors * (size_t)gather->places * tesi_precision_size(precision),
                           &gather->values));
  gather->vectors = vectors;
done:
  return status;
}

void tesi_gather_release(TesContext *ctx, TesiGather *gather) {
  const TesiDevice *device = tesi_context_device(ctx);
  device->release(ctx, &gather->values);
  device->release(ctx, &gather->first);
  device->release(ctx, &gather->entry);
}

double tesi_gather_bytes(TesPrecision precision, int64_t places, int64_t nodes) {
  return (double)places * (4 + (double)tesi_precision_size(precision)) + 4 * (double)nodes;
}

TesStatus tesi_gather_run(TesContext *ctx, const TesiGather *gather, void *y) {
  return tesi_gather_run_all(ctx, gather, 1, y);
}

TesStatus tesi_gather_run_all(TesContext *ctx, const TesiGather *gather, int count, void *y) {
  long long places = gather->places;
  void *arguments[] = {(void *)&gather->values, &y,     (void *)&gather->first, (void *)&gather->entry,
                       (void *)&gather->nodes,  &places};
  const TesiGrid blocks = {(unsigned)((gather->nodes + THREADS - 1) / THREADS), (unsigned)count, 1};
  return tesi_kernel_launch(ctx, &gather->kernel, blocks, THREADS, 0, arguments);
}
