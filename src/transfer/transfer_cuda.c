/* Transfers as kernels (src/kernels/transfer.cu): one pass a refined direction; x first on the way up, last on the way down, where the
 * arrays are smallest, since its accesses are strided. */
#include <stdio.h>
#include "basis/quadrature.h"
#include "device/kernel.h"
#include "transfer/transfer.h"

typedef struct Pass {
  int direction;
  TesiKernel prolongate, restrict_;
  void *embedding; /* device; NULL where uniform */
} Pass;

typedef struct Plan {
  int count;
  Pass pass[3];
  void *buffer[2]; /* device: between passes */
} Plan;

static bool is_refined(const TesiEmbedding *e) {
  return e->step > e->degree;
}

/* tesk_e as text. */
static TesStatus print_embedding(TesContext *ctx, const TesiEmbedding *e, const char *type, char **text) {
  TesStatus status = TES_OK;
  const int count = (e->step + 1) * (e->degree + 1);
  const size_t size = (size_t)count * 28 + 64;
  *text = NULL;
  TES_TRY(tesi_alloc(ctx, size, 1, text));
  size_t used = (size_t)snprintf(*text, size, "TESK_TABLE(%s, tesk_e, {", type);
  for (int i = 0; i < count; i++)
    used += (size_t)snprintf(*text + used, size - used, "%s%.17g", i ? ", " : "", e->E[i]);
  snprintf(*text + used, size - used, "})\n");
done:
  return status;
}

static TesStatus upload(const TesTransfer *transfer, const TesiEmbedding *e, void **address) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const int count = (e->step + 1) * (e->degree + 1) * e->cells;
  const bool single = transfer->precision == TES_SINGLE;
  const size_t bytes = (size_t)count * tesi_precision_size(transfer->precision);
  float *values = NULL;
  TES_ALLOC(&values, count);
  for (int i = 0; i < count; i++) values[i] = (float)e->E[i];
  TES_TRY(device->allocate(ctx, bytes, address));
  TES_TRY(device->to_device(ctx, *address, single ? (const void *)values : e->E, bytes));
done:
  tesi_free(ctx, &values);
  return status;
}

static TesStatus create_pass(const TesTransfer *transfer, Pass *pass) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiEmbedding *e = &transfer->embedding[pass->direction];
  const char *type = transfer->precision == TES_SINGLE ? "float" : "double";
  char real[16], degree[24], step[24], *tables = NULL;
  TesiProgram *program;
  snprintf(real, sizeof real, "real=%s", type);
  snprintf(degree, sizeof degree, "DEGREE=%d", e->degree);
  snprintf(step, sizeof step, "STEP=%d", e->step);
  if (e->uniform)
    TES_TRY(print_embedding(ctx, e, type, &tables));
  else
    TES_TRY(upload(transfer, e, &pass->embedding));
  const TesiProgramDesc desc = {.file = "transfer.cu",
                                .options = {real, degree, step, e->uniform ? "UNIFORM=1" : "UNIFORM=0"},
                                .tables = tables};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_prolongate", 0, &pass->prolongate));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_restrict", 0, &pass->restrict_));
done:
  tesi_free(ctx, &tables);
  return status;
}

/* Nodes inside and outside of direction d when directions below `fine_below` are fine and the others coarse. */
static void extents(const TesTransfer *transfer, int d, int fine_below, long long *inner, long long *outer) {
  *inner = *outer = 1;
  for (int e = 0; e < 3; e++) {
    const TesiEmbedding *other = &transfer->embedding[e];
    const int nodes = e < fine_below ? other->fine_nodes : other->coarse_nodes;
    if (e < d) *inner *= nodes;
    if (e > d) *outer *= nodes;
  }
}

static TesiGrid grid_of(long long cells) {
  const long long blocks = (cells + 255) / 256, most = 1 << 20;
  return (TesiGrid){(unsigned)(blocks < most ? blocks : most), 1, 1};
}

static TesStatus prolongate(const TesTransfer *transfer, const void *coarse, bool add, void *fine) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const Plan *plan = transfer->plan;
  const TesPrecision p = transfer->precision;
  const TesiDevice *device = tesi_context_device(ctx);
  const void *from = coarse;
  if (plan->count == 0)
    TES_TRY(add ? device->axpy(ctx, transfer->fine->length, 1, p, coarse, p, fine)
                : device->copy(ctx, transfer->fine->length, 1, p, coarse, p, fine));
  for (int i = 0; i < plan->count; i++) {
    const Pass *pass = &plan->pass[i];
    const bool last = i == plan->count - 1;
    void *to = last ? fine : plan->buffer[i];
    long long inner, outer;
    int cells = transfer->embedding[pass->direction].cells, adds = last && add;
    extents(transfer, pass->direction, pass->direction, &inner, &outer);
    void *arguments[] = {&from, &to, (void *)&pass->embedding, &inner, &cells, &outer, &adds};
    TES_TRY(tesi_kernel_launch(ctx, &pass->prolongate, grid_of(inner * cells * outer), 256, 0, arguments));
    from = to;
  }
done:
  return status;
}

static TesStatus restrict_(const TesTransfer *transfer, const void *fine, void *coarse) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const Plan *plan = transfer->plan;
  const TesPrecision p = transfer->precision;
  const void *from = fine;
  if (plan->count == 0)
    TES_TRY(tesi_context_device(ctx)->copy(ctx, transfer->fine->length, 1, p, fine, p, coarse));
  for (int i = plan->count - 1; i >= 0; i--) {
    const Pass *pass = &plan->pass[i];
    const TesiEmbedding *e = &transfer->embedding[pass->direction];
    void *to = i == 0 ? coarse : plan->buffer[i - 1];
    long long inner, outer;
    int cells = e->cells, lower = e->natural[0], upper = e->natural[1];
    extents(transfer, pass->direction, pass->direction, &inner, &outer);
    void *arguments[] = {&from, &to, (void *)&pass->embedding, &inner, &cells, &outer, &lower, &upper};
    TES_TRY(tesi_kernel_launch(ctx, &pass->restrict_, grid_of(inner * cells * outer), 256, 0, arguments));
    from = to;
  }
done:
  return status;
}

static void destroy(TesTransfer *transfer) {
  TesContext *ctx = transfer->context;
  const TesiDevice *device = tesi_context_device(ctx);
  Plan *plan = transfer->plan;
  for (int i = 0; plan && i < 3; i++) device->release(ctx, &plan->pass[i].embedding);
  for (int i = 0; plan && i < 2; i++) device->release(ctx, &plan->buffer[i]);
  tesi_free(ctx, &transfer->plan);
}

static const TesiTransferTable table = {prolongate, restrict_, destroy};

/* The array after pass i: directions up to its own are fine. */
static size_t buffer_bytes(const TesTransfer *transfer, const Pass *pass) {
  size_t bytes = tesi_precision_size(transfer->precision);
  for (int d = 0; d < 3; d++) {
    const TesiEmbedding *e = &transfer->embedding[d];
    bytes *= (size_t)(d <= pass->direction ? e->fine_nodes : e->coarse_nodes);
  }
  return bytes;
}

TesStatus tesi_transfer_cuda_init(TesTransfer *transfer) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  Plan *plan = NULL;
  TES_NEW(&plan);
  transfer->plan = plan;
  transfer->table = &table;
  for (int d = 0; d < 3; d++) {
    if (!is_refined(&transfer->embedding[d])) continue;
    plan->pass[plan->count].direction = d;
    TES_TRY(create_pass(transfer, &plan->pass[plan->count++]));
  }
  for (int i = 0; i + 1 < plan->count; i++)
    TES_TRY(device->allocate(ctx, buffer_bytes(transfer, &plan->pass[i]), &plan->buffer[i]));
done:
  return status;
}
