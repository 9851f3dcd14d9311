/* Host transfers: one scratch area a thread, kernels chosen by the context's SIMD width. */
#include "transfer/transfer_host.h"
#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct Plan {
  const TesiTransferKernels *kernels;
  char *scratch;
  size_t scratch_bytes; /* of one thread */
  int threads;
} Plan;

static TesStatus prolongate(const TesTransfer *transfer, const void *coarse, bool add, void *fine) {
  const Plan *plan = transfer->plan;
#pragma omp parallel for num_threads(plan->threads) schedule(static, 1)
  for (int thread = 0; thread < plan->threads; thread++)
    plan->kernels->prolongate(transfer, thread, plan->threads, coarse, add, fine,
                              plan->scratch + plan->scratch_bytes * (size_t)thread);
  return TES_OK;
}

static TesStatus restrict_(const TesTransfer *transfer, const void *fine, void *coarse) {
  const Plan *plan = transfer->plan;
#pragma omp parallel for num_threads(plan->threads) schedule(static, 1)
  for (int thread = 0; thread < plan->threads; thread++)
    plan->kernels->restrict_(transfer, thread, plan->threads, fine, coarse,
                             plan->scratch + plan->scratch_bytes * (size_t)thread);
  return TES_OK;
}

static void destroy(TesTransfer *transfer) {
  TesContext *ctx = transfer->context;
  Plan *plan = transfer->plan;
  if (plan) tesi_free(ctx, &plan->scratch);
  tesi_free(ctx, &plan);
}

static const TesiTransferTable table = {prolongate, restrict_, destroy};

static const TesiTransferKernels *choose(int bits) {
#if TESI_SIMD_WIDEST >= 512
  if (bits >= 512) return tesi_transfer_kernels_512;
#endif
#if TESI_SIMD_WIDEST >= 256
  if (bits >= 256) return tesi_transfer_kernels_256;
#endif
  (void)bits;
  return tesi_transfer_kernels_128;
}

TesStatus tesi_transfer_host_init(TesTransfer *transfer) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  Plan *plan;
  TES_NEW(&plan);
  transfer->plan = plan;
  transfer->table = &table;
  plan->kernels = choose(tes_context_simd_bits(ctx)) + transfer->precision;
  plan->threads =
      transfer->fine->length < 32768 ? 1 : tes_context_threads(ctx); /* waking threads takes longer */
  plan->scratch_bytes = (size_t)tesi_transfer_scratch(transfer) * tesi_precision_size(transfer->precision);
  TES_ALLOC(&plan->scratch, plan->scratch_bytes * (size_t)plan->threads);
done:
  return status;
}
