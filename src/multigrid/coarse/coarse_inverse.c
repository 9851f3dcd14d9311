/* Kernels of src/kernels/inverse.cu. */
#include "device/kernel.h"
#include "multigrid/coarse/coarse_device.h"

enum { EDGE = 32, TILE = 256 /* threads */ }; /* as in inverse.cu */

typedef struct Inverse {
  TesiKernel pivot, panels, update;
  double *block, *row, *column; /* device, of each matrix: [EDGE][EDGE], [EDGE][n], [n][EDGE] */
  int *refused;                 /* device */
} Inverse;

static TesStatus get_kernels(TesContext *ctx, Inverse *v) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "inverse.cu"};
  const size_t tile = EDGE * EDGE * sizeof(double);
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_inverse_pivot", tile, &v->pivot));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_inverse_panels", 2 * tile, &v->panels));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_inverse_update", 2 * tile, &v->update));
done:
  return status;
}

static TesStatus eliminate(TesContext *ctx, const Inverse *v, int n, int count, double *A, int first) {
  TesStatus status = TES_OK;
  const size_t tile = EDGE * EDGE * sizeof(double);
  const unsigned tiles = (unsigned)((n + EDGE - 1) / EDGE), matrices = (unsigned)count;
  void *pivot[] = {&A, (void *)&v->block, &n, &first, (void *)&v->refused},
       *panels[] = {&A, (void *)&v->block, (void *)&v->row, (void *)&v->column, &n, &first};
  TES_TRY(tesi_kernel_launch(ctx, &v->pivot, (TesiGrid){1, 1, matrices}, EDGE * EDGE, tile, pivot));
  TES_TRY(tesi_kernel_launch(ctx, &v->panels, (TesiGrid){tiles, 1, matrices}, TILE, 2 * tile, panels));
  TES_TRY(tesi_kernel_launch(ctx, &v->update, (TesiGrid){tiles, tiles, matrices}, TILE, 2 * tile, panels));
done:
  return status;
}

TesStatus tesi_coarse_invert(TesContext *ctx, int n, int count, void *A, bool *definite) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t panel = EDGE * (size_t)n * (size_t)count, pivot = EDGE * EDGE * (size_t)count;
  Inverse v = {0};
  void *memory = NULL;
  int refused = 0;
  TES_TRY(get_kernels(ctx, &v));
  TES_TRY(device->allocate(ctx, (pivot + 2 * panel + 1) * sizeof(double), &memory));
  v.block = memory, v.row = v.block + pivot, v.column = v.row + panel;
  v.refused = (int *)(v.column + panel);
  for (int first = 0; first < n; first += EDGE) TES_TRY(eliminate(ctx, &v, n, count, A, first));
  TES_TRY(device->to_host(ctx, &refused, v.refused, sizeof refused));
  *definite = !refused;
done:
  device->release(ctx, &memory);
  return status;
}
