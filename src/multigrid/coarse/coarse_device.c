/* Kernels of src/kernels/contract.cu: one block does all where the unknowns fit into its shared memory, else nine
 * small launches. */
#include "multigrid/coarse/coarse_device.h"
#include "device/kernel.h"

typedef struct Box { /* as in contract.cu */
  int n[3], first[3], nodes[3];
} Box;

enum { MOST_SHARED = 96 << 10 };

struct TesiCoarseDevice {
  TesContext *context;
  TesiKernel gather, scatter, contract, whole;
  size_t shared; /* of `whole`; 0: nine launches */
  Box box;
  int count; /* unknowns */
  double smallest;
  void *
      memory; /* device: S of three directions, their eigenvalues behind each other, two arrays of unknowns */
  double *S[3], *lambda, *u, *v;
};

static TesStatus get_kernels(TesiCoarseDevice *c, TesPrecision precision) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "contract.cu",
                                .options = {precision == TES_SINGLE ? "real=float" : "real=double"}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_gather", 0, &c->gather));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_scatter", 0, &c->scatter));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_contract", 0, &c->contract));
  if (c->shared) TES_TRY(tesi_kernel_get(ctx, program, "tesk_coarse", c->shared, &c->whole));
done:
  return status;
}

TesStatus tesi_coarse_device_create(TesContext *ctx, const TesiDiagonalization *D, TesPrecision precision,
                                    TesiCoarseDevice **device) {
  TesStatus status = TES_OK;
  TesiCoarseDevice *c = NULL;
  const TesiDevice *table = tesi_context_device(ctx);
  TesiDiagonalizationAxis axis[3];
  size_t numbers = 0;
  *device = NULL;
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->count = 1;
  for (int d = 0; d < 3; d++) {
    axis[d] = tesi_diagonalization_axis(D, d);
    c->box.n[d] = axis[d].n;
    c->box.first[d] = axis[d].first;
    c->box.nodes[d] = axis[d].nodes;
    c->count *= axis[d].n;
    numbers += (size_t)axis[d].n * (size_t)(axis[d].n + 1);
  }
  c->smallest = axis[0].smallest;
  TES_TRY(table->allocate(ctx, (numbers + 2 * (size_t)c->count) * sizeof(double), &c->memory));
  double *at = c->memory;
  for (int d = 0; d < 3; d++) {
    const size_t size = (size_t)axis[d].n * (size_t)axis[d].n;
    c->S[d] = at;
    TES_TRY(table->to_device(ctx, at, axis[d].S, size * sizeof(double)));
    at += size;
  }
  c->lambda = at;
  for (int d = 0; d < 3; d++) {
    TES_TRY(table->to_device(ctx, at, axis[d].lambda, (size_t)axis[d].n * sizeof(double)));
    at += axis[d].n;
  }
  if ((numbers + 2 * (size_t)c->count) * sizeof(double) <= MOST_SHARED)
    c->shared = (numbers + 2 * (size_t)c->count) * sizeof(double);
  TES_TRY(get_kernels(c, precision));
  c->u = at;
  c->v = at + c->count;
  *device = c;
  c = NULL;
done:
  tesi_coarse_device_destroy(&c);
  return status;
}

void tesi_coarse_device_destroy(TesiCoarseDevice **device) {
  if (!device || !*device) return;
  TesiCoarseDevice *c = *device;
  TesContext *ctx = c->context;
  *device = NULL;
  tesi_context_device(ctx)->release(ctx, &c->memory);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

static TesStatus run(TesiCoarseDevice *c, const TesiKernel *kernel, int count, void **arguments) {
  return tesi_kernel_launch(c->context, kernel, (TesiGrid){(unsigned)((count + 127) / 128), 1, 1}, 128, 0,
                            arguments);
}

/* One direction; `divide` after the last of the transposed ones. */
static TesStatus contract(TesiCoarseDevice *c, int d, const double *from, double *to, int transposed,
                          bool divide) {
  int inner = 1, outer = 1, n = c->box.n[d], n0 = c->box.n[0];
  for (int e = 0; e < 3; e++) *(e < d ? &inner : &outer) *= e == d ? 1 : c->box.n[e];
  const double *S = c->S[d], *lambda = divide ? c->lambda : NULL;
  double smallest = c->smallest;
  void *arguments[] = {&from, &to, &S, &inner, &n, &outer, &transposed, &lambda, &n0, &smallest};
  return run(c, &c->contract, c->count, arguments);
}

TesStatus tesi_coarse_device_solve(TesiCoarseDevice *device, const void *b, void *x) {
  TesiCoarseDevice *c = device;
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  if (c->shared) {
    void *arguments[] = {&b, &x, &c->S[0], &c->box, &c->smallest};
    return tesi_kernel_launch(ctx, &c->whole, (TesiGrid){1, 1, 1}, 512, c->shared, arguments);
  }
  void *gather[] = {&b, &c->u, &c->box}, *scatter[] = {&c->u, &x, &c->box};
  TES_TRY(run(c, &c->gather, c->count, gather));
  TES_TRY(contract(c, 0, c->u, c->v, 1, false));
  TES_TRY(contract(c, 1, c->v, c->u, 1, false));
  TES_TRY(contract(c, 2, c->u, c->v, 1, true));
  TES_TRY(contract(c, 0, c->v, c->u, 0, false));
  TES_TRY(contract(c, 1, c->u, c->v, 0, false));
  TES_TRY(contract(c, 2, c->v, c->u, 0, false));
  TES_TRY(run(c, &c->scatter, c->box.nodes[0] * c->box.nodes[1] * c->box.nodes[2], scatter));
done:
  return status;
}
