#include "functional/given_nodes_device.h"
#include "device/upload.h"
#include "functional/device_text.h"

enum { THREADS = 256, BLOCKS = 4096 };

struct TesiGivenNodes {
  TesContext *context;
  TesiKernel put, clear;
  void *clock, *node, *number, *x; /* device; another object owns the clock */
  long long count;
};

static TesStatus get_kernels(TesiGivenNodes *given, int count, const TesFunction *const *g, bool *good) {
  TesContext *ctx = given->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  char *text = NULL;
  *good = false;
  for (int i = 0; i < count; i++)
    if (tesi_function_uses(g[i])) return TES_OK;
  TES_TRY(tesi_device_values_text(ctx, count, g, &text));
  if (!text) goto done;
  const TesiProgramDesc desc = {.file = "given.cu", .tables = text};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_give", 0, &given->put));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_take_given", 0, &given->clear));
  *good = true;
done:
  tesi_free(ctx, &text);
  return status;
}

/* x[3][length]: coordinates of all nodes. */
static TesStatus find_nodes(const TesSpace *space, double *x) {
  static const char *const names[3] = {"x", "y", "z"};
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesFunction *coordinate = NULL;
  TesVector *v = NULL;
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &v));
  for (int d = 0; d < space->dim; d++) {
    tes_function_destroy(&coordinate);
    TES_TRY(tes_function_create_expression(ctx, names[d], &coordinate));
    TES_TRY(tes_space_interpolate(space, (const TesFunction *const[]){coordinate}, v));
    TES_TRY(tes_vector_get(v, x + d * space->length));
  }
done:
  tes_function_destroy(&coordinate);
  tes_vector_destroy(&v);
  return status;
}

static TesStatus upload(const TesSpace *space, const double *mark, TesiGivenNodes *given) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int64_t length = space->length;
  double *all = NULL, *x = NULL;
  int64_t *node = NULL;
  int32_t *number = NULL;
  int64_t n = 0;
  for (int64_t i = 0; i < length; i++) given->count += mark[i] > 0;
  TES_ALLOC(&all, 3 * length);
  TES_ALLOC(&x, 3 * given->count);
  TES_ALLOC(&node, given->count);
  TES_ALLOC(&number, given->count);
  TES_TRY(find_nodes(space, all));
  for (int64_t i = 0; i < length; i++) {
    if (!(mark[i] > 0)) continue;
    for (int d = 0; d < 3; d++) x[d * given->count + n] = all[d * length + i];
    number[n] = (int32_t)mark[i] - 1;
    node[n++] = i;
  }
  TES_TRY(tesi_upload(ctx, node, (size_t)n * sizeof *node, &given->node));
  TES_TRY(tesi_upload(ctx, number, (size_t)n * sizeof *number, &given->number));
  TES_TRY(tesi_upload(ctx, x, 3 * (size_t)n * sizeof *x, &given->x));
done:
  tesi_free(ctx, &all);
  tesi_free(ctx, &x);
  tesi_free(ctx, &node);
  tesi_free(ctx, &number);
  return status;
}

TesStatus tesi_given_nodes_create(const TesSpace *space, const double *mark, int count,
                                  const TesFunction *const *g, void *clock, TesiGivenNodes **given) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiGivenNodes *list = NULL;
  bool good;
  *given = NULL;
  TES_NEW(&list);
  list->context = ctx;
  list->clock = clock;
  TES_TRY(get_kernels(list, count, g, &good));
  if (!good) goto done;
  TES_TRY(upload(space, mark, list));
  *given = list;
  list = NULL;
done:
  tesi_given_nodes_destroy(&list);
  return status;
}

void tesi_given_nodes_destroy(TesiGivenNodes **given) {
  TesiGivenNodes *list = *given;
  if (!list) return;
  TesContext *ctx = list->context;
  void **all[] = {&list->node, &list->number, &list->x};
  for (int i = 0; i < 3; i++) tesi_context_device(ctx)->release(ctx, all[i]);
  tesi_free(ctx, given);
}

TesStatus tesi_given_nodes_put(const TesiGivenNodes *given, TesVector *u) {
  long long count = given->count;
  void *list[] = {&u->data, (void *)&given->node, (void *)&given->number, (void *)&given->x,
                  &count,   (void *)&given->clock};
  return tesi_kernel_launch(given->context, &given->put, tesi_grid_most(given->count, THREADS, BLOCKS),
                            THREADS, 0, list);
}

TesStatus tesi_given_nodes_clear(const TesiGivenNodes *given, TesVector *u) {
  long long count = given->count;
  void *list[] = {&u->data, (void *)&given->node, &count};
  return tesi_kernel_launch(given->context, &given->clear, tesi_grid_most(given->count, THREADS, BLOCKS),
                            THREADS, 0, list);
}
