/* Transfers as kernels. Where a 3D box of equal cells is refined in all directions, prolongation is one pass
 * (src/kernels/transfer_box.cu), and restriction too on small boxes. Otherwise (src/kernels/transfer.cu) each refined
 * direction is one pass. Prolongation begins with x and restriction ends with x: its accesses are strided, and the
 * arrays are smallest there. */
#include <stdlib.h>
#include <string.h>
#include "basis/gauss.h"
#include "device/kernel.h"
#include "device/table_text.h"
#include "device/upload.h"
#include "transfer/transfer.h"

typedef struct Pass {
  int direction;
  TesiKernel prolongate, restrict_;
  void *embedding; /* device; NULL where uniform without an odd end */
} Pass;

/* All directions at once; cells per block of prolongation. */
typedef struct Box {
  TesiKernel prolongate, restrict_;
  bool prolongates, restricts;
  int cells[3];
  size_t shared, shared_restrict;
} Box;

typedef struct Plan {
  int count;
  Pass pass[3];
  void *buffer[2]; /* device: between passes */
  bool lent;       /* another object owns the buffers */
  Box box;
} Plan;

static bool is_refined(const TesiEmbedding *e) {
  return e->step > e->degree;
}

static TesStatus print_embedding(TesContext *ctx, const TesiEmbedding *e, const char *type, char **text) {
  TesiTableText t = {.context = ctx, .type = type};
  tesi_table_text_add(&t, "e", e->E, (e->step + 1) * (e->degree + 1));
  return tesi_table_text_end(&t, text);
}

/* The parts of the tables that kernels do not have as text: of all cells, or of the last cell. */
static TesStatus upload_embedding(const TesTransfer *transfer, const TesiEmbedding *e, void **address) {
  const int n = e->degree + 1, size = (e->step + 1) * n, last = (e->last_step + 1) * n;
  const int64_t all = size * ((int64_t)e->cells - 1) + last;
  if (e->uniform && !e->odd_end) return TES_OK;
  return tesi_upload_numbers(transfer->context, e->uniform ? e->E + size : e->E, e->uniform ? last : all,
                             transfer->precision, address);
}

static TesStatus create_pass(const TesTransfer *transfer, Pass *pass) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiEmbedding *e = &transfer->embedding[pass->direction];
  const char *type = transfer->precision == TES_SINGLE ? "float" : "double";
  char *tables = NULL;
  TesiProgram *program;
  if (e->uniform) TES_TRY(print_embedding(ctx, e, type, &tables));
  TES_TRY(upload_embedding(transfer, e, &pass->embedding));
  const TesiProgramDesc desc = {.file = "transfer.cu",
                                .real = transfer->precision,
                                .macros = {{"DEGREE", e->degree},
                                           {"STEP", e->step},
                                           {"LAST_STEP", e->last_step},
                                           {"UNIFORM", e->uniform},
                                           {"ODD_END", e->odd_end},
                                           /* read by row */
                                           {e->degree > 8 ? "TESK_CONSTANT_TABLES" : NULL, 1}},
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

/* ---- one pass ------------------------------------------------------------------------------------------ */
/* Blocks whose fine rows fill a warp, with work for several warps. In z a block is large enough that few coarse nodes
 * are read twice. */
static void choose_box(int k, bool small, int cells[3]) {
  static const int large[9][3] = {{0},       {16, 8, 4}, {8, 4, 2}, {5, 2, 1}, {4, 2, 1},
                                  {3, 1, 1}, {3, 1, 1},  {2, 1, 1}, {2, 1, 1}};
  static const int few[9][3] = {{0},       {4, 4, 4}, {2, 2, 2}, {2, 1, 1}, {1, 1, 1},
                                {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  for (int d = 0; d < 3; d++) cells[d] = small ? few[k][d] : large[k][d];
}

enum {
  SMALL = 2000000,
  MOST_DEGREE_RESTRICTED = 4
}; /* fine nodes; fine nodes in reach fill the shared memory above this degree */

static size_t box_bytes(int k, const int cells[3], size_t size) {
  const size_t nx = (size_t)(cells[0] * k + 1), ny = (size_t)(cells[1] * k + 1),
               nz = (size_t)(cells[2] * k + 1), fx = (size_t)(2 * cells[0] * k + 1),
               fy = (size_t)(2 * cells[1] * k + 1);
  (void)nx; /* fewer than fx */
  return nz * (ny * fx + fy * fx) * size;
}

static TesStatus create_box(const TesTransfer *transfer, Box *box) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiEmbedding *e = transfer->embedding;
  const char *type = transfer->precision == TES_SINGLE ? "float" : "double",
             *given =
                 getenv("TESSERA_TRANSFER"); /* large: blocks of the size that large boxes use, for tests */
  const int k = e->degree;
  const bool small = transfer->fine->length < SMALL && !(given && !strcmp(given, "large"));
  const size_t size = tesi_precision_size(transfer->precision), w = 4 * (size_t)k, n = (size_t)k + 1;
  char *tables = NULL;
  TesiProgram *program;
  choose_box(k, small, box->cells);
  TES_TRY(print_embedding(ctx, e, type, &tables));
  const TesiProgramDesc desc = {
      .file = "transfer_box.cu",
      .real = transfer->precision,
      .macros = {{"DEGREE", k},
                 {"CELLS_X", box->cells[0]},
                 {"CELLS_Y", box->cells[1]},
                 {"CELLS_Z", box->cells[2]},
                 {transfer->precision == TES_DOUBLE ? "TESK_CONSTANT_TABLES" : NULL, 1}},
      .tables = tables};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  box->shared = box_bytes(k, box->cells, size);
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_prolongate_box", box->shared, &box->prolongate));
  box->prolongates = true;
  box->restricts = small && k <= MOST_DEGREE_RESTRICTED;
  box->shared_restrict = (w * w * w + w * w * n) * size;
  if (box->restricts)
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_restrict_box", box->shared_restrict, &box->restrict_));
done:
  tesi_free(ctx, &tables);
  return status;
}

/* Whether one pass does the transfer; TESSERA_TRANSFER=passes: never, for measurements and tests. */
static bool is_box(const TesTransfer *transfer) {
  const TesiEmbedding *e = transfer->embedding;
  const char *given = getenv("TESSERA_TRANSFER");
  bool box = transfer->fine->dim == 3 && e->degree <= 8 && !(given && !strcmp(given, "passes"));
  for (int d = 0; d < 3; d++) box = box && is_refined(&e[d]) && e[d].uniform && !e[d].odd_end;
  return box;
}

static TesStatus prolongate_box(const TesTransfer *transfer, const void *coarse, bool add, void *fine) {
  const Plan *plan = transfer->plan;
  const Box *box = &plan->box;
  int cells[3], adds = add;
  unsigned blocks[3];
  for (int d = 0; d < 3; d++) {
    cells[d] = transfer->embedding[d].cells;
    blocks[d] = (unsigned)((cells[d] + box->cells[d] - 1) / box->cells[d]);
  }
  void *arguments[] = {&coarse, &fine, &cells[0], &cells[1], &cells[2], &adds};
  return tesi_kernel_launch(transfer->context, &box->prolongate, (TesiGrid){blocks[0], blocks[1], blocks[2]},
                            256, box->shared, arguments);
}

static TesStatus restrict_box(const TesTransfer *transfer, const void *fine, void *coarse) {
  const Plan *plan = transfer->plan;
  const TesiEmbedding *e = transfer->embedding;
  int cells[3], natural = 0;
  for (int d = 0; d < 3; d++) {
    cells[d] = e[d].cells;
    natural |= (e[d].natural[0] ? 1 : 0) << (2 * d) | (e[d].natural[1] ? 1 : 0) << (2 * d + 1);
  }
  void *arguments[] = {&fine, &coarse, &cells[0], &cells[1], &cells[2], &natural};
  return tesi_kernel_launch(transfer->context, &plan->box.restrict_,
                            (TesiGrid){(unsigned)cells[0], (unsigned)cells[1], (unsigned)cells[2]}, 256,
                            plan->box.shared_restrict, arguments);
}

/* ---- passes -------------------------------------------------------------------------------------------- */
static TesStatus prolongate(const TesTransfer *transfer, const void *coarse, bool add, void *fine) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const Plan *plan = transfer->plan;
  const TesPrecision p = transfer->precision;
  const TesiDevice *device = tesi_context_device(ctx);
  const void *from = coarse;
  if (plan->box.prolongates) return prolongate_box(transfer, coarse, add, fine);
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
    TES_TRY(tesi_kernel_launch(ctx, &pass->prolongate, tesi_grid_most(inner * cells * outer, 256, 1 << 20),
                               256, 0, arguments));
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
  if (plan->box.restricts) return restrict_box(transfer, fine, coarse);
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
    TES_TRY(tesi_kernel_launch(ctx, &pass->restrict_, tesi_grid_most(inner * cells * outer, 256, 1 << 20),
                               256, 0, arguments));
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
  for (int i = 0; plan && !plan->lent && i < 2; i++) device->release(ctx, &plan->buffer[i]);
  tesi_free(ctx, &transfer->plan);
}

static const TesiTransferTable table = {.prolongate = prolongate,
                                        .restrict_ = restrict_,
                                        .destroy = destroy,
                                        .prolongate_ref = tesi_transfer_box_prolongate_ref,
                                        .restrict_ref = tesi_transfer_box_restrict_ref};

/* The array after pass i: the directions up to that of the pass are fine. */
static size_t buffer_bytes(const TesTransfer *transfer, const Pass *pass) {
  size_t bytes = tesi_precision_size(transfer->precision);
  for (int d = 0; d < 3; d++) {
    const TesiEmbedding *e = &transfer->embedding[d];
    bytes *= (size_t)(d <= pass->direction ? e->fine_nodes : e->coarse_nodes);
  }
  return bytes;
}

void tesi_transfer_lend(TesTransfer *transfer, void *memory) {
  TesContext *ctx = transfer->context;
  const TesiDevice *device = tesi_context_device(ctx);
  Plan *plan = transfer->plan;
  if (transfer->table != &table || plan->count < 3 || plan->lent) return;
  const size_t first = (buffer_bytes(transfer, &plan->pass[0]) + 63) / 64 * 64,
               second = buffer_bytes(transfer, &plan->pass[1]);
  if (first + second > (size_t)transfer->fine_length * tesi_precision_size(transfer->precision)) return;
  for (int i = 0; i < 2; i++) device->release(ctx, &plan->buffer[i]);
  plan->buffer[0] = memory;
  plan->buffer[1] = (char *)memory + first;
  plan->lent = true;
}

TesStatus tesi_transfer_device_init(TesTransfer *transfer) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  Plan *plan = NULL;
  TES_NEW(&plan);
  transfer->plan = plan;
  transfer->table = &table;
  if (is_box(transfer)) TES_TRY(create_box(transfer, &plan->box));
  if (plan->box.restricts) goto done;
  for (int d = 0; d < 3; d++) {
    if (!is_refined(&transfer->embedding[d])) continue;
    plan->pass[plan->count].direction = d;
    TES_TRY(create_pass(transfer, &plan->pass[plan->count++]));
  }
  /* after pass i of prolongation and before it of restriction */
  for (int i = 0; i + 1 < plan->count; i++)
    TES_TRY(device->allocate(ctx, buffer_bytes(transfer, &plan->pass[i]), &plan->buffer[i]));
done:
  return status;
}
