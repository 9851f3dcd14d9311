/* Mapped operators as kernels (GPU, emulator). */
#include "operator/op_mapped.h"

TesStatus tesi_mapped_cuda_init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TES_FAIL(TES_MISSING, "operators on mapped cells have no kernels on this device: use --device cpu");
done:
  return status;
}
