#include "device/columns.h"

enum { THREADS = 256, PARTS = 1056 /* blocks at most, eight a multiprocessor */, AT_ONCE = 4 };
enum { PRODUCTS, SUBTRACT, SUMS, KERNELS };

static TesStatus reserve(TesiColumns *c, const TesiLayout *layout) {
  enum { USUAL = 20 };
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const double column = 2 * (double)layout->length * sizeof(double),
               room = (double)tesi_context_device(ctx)->available(ctx) / 4;
  for (int i = 0; i < USUAL && i < c->most && (i + 1) * column <= room; i++) {
    TES_TRY(tesi_vector_create_on(layout, TES_DOUBLE, &c->v[i]));
    TES_TRY(tesi_vector_create_on(layout, TES_DOUBLE, &c->z[i]));
  }
done:
  return status;
}

TesStatus tesi_columns_create(TesContext *ctx, const TesiLayout *layout, int most, TesiColumns **columns) {
  static const char *const names[KERNELS] = {"tesk_columns_products", "tesk_columns_subtract",
                                             "tesk_columns_sums"};
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const int64_t blocks = (layout->length + THREADS - 1) / THREADS;
  TesiProgram *program;
  TesiColumns *c = NULL;
  *columns = NULL;
  TES_NEW(&c);
  c->context = ctx;
  c->most = most;
  c->parts = (unsigned)(blocks < 1 ? 1 : blocks < PARTS ? blocks : PARTS);
  TES_TRY(tesi_program_get(ctx, &(TesiProgramDesc){.file = "columns.cu"}, &program));
  for (int i = 0; i < KERNELS; i++)
    TES_TRY(tesi_kernel_get(ctx, program, names[i], THREADS * sizeof(double), &c->kernel[i]));
  TES_TRY(device->allocate(ctx, 2 * (size_t)most * c->parts * sizeof(double), &c->partial));
  TES_TRY(device->allocate(ctx, 2 * (size_t)most * sizeof(double), &c->result));
  TES_ALLOC(&c->v, most + 1);
  TES_ALLOC(&c->z, most);
  TES_TRY(reserve(c, layout));
  *columns = c;
  c = NULL;
done:
  tesi_columns_destroy(&c);
  return status;
}

void tesi_columns_destroy(TesiColumns **columns) {
  TesiColumns *c = *columns;
  if (!c) return;
  for (int i = 0; c->v && i <= c->most; i++) tes_vector_destroy(&c->v[i]);
  for (int i = 0; c->z && i < c->most; i++) tes_vector_destroy(&c->z[i]);
  tesi_free(c->context, &c->v);
  tesi_free(c->context, &c->z);
  tesi_context_device(c->context)->release(c->context, &c->partial);
  tesi_context_device(c->context)->release(c->context, &c->result);
  tesi_free(c->context, columns);
}

static TesStatus launch(const TesiColumns *c, int kernel, unsigned blocks, void **arguments) {
  return tesi_kernel_launch(c->context, &c->kernel[kernel], (TesiGrid){blocks, 1, 1}, THREADS,
                            THREADS * sizeof(double), arguments);
}

/* value[count] <- the sums of their parts. */
static TesStatus sum(const TesiColumns *c, int count, double *value) {
  int parts = (int)c->parts;
  const TesStatus status =
      launch(c, SUMS, (unsigned)count, (void *[]){&parts, (void *)&c->partial, (void *)&c->result});
  if (status != TES_OK) return status;
  return tesi_context_device(c->context)->to_host(c->context, value, c->result, (size_t)count * sizeof *value);
}

TesStatus tesi_columns_products(TesiColumns *c, int count, TesVector *const *x, const TesVector *w,
                                const TesVector *v, double *product) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  long long n = w->length;
  for (int first = 0; first < count; first += AT_ONCE) {
    int now = count - first < AT_ONCE ? count - first : AT_ONCE;
    const void *column[AT_ONCE];
    double *partial = (double *)c->partial + 2 * (size_t)first * c->parts;
    for (int k = 0; k < AT_ONCE; k++) column[k] = x[k < now ? first + k : first]->data;
    TES_TRY(launch(c, PRODUCTS, c->parts,
                   (void *[]){&n, (void *)&w->data, (void *)&v->data, &column[0], &column[1], &column[2],
                              &column[3], &now, &partial}));
  }
  TES_TRY(sum(c, 2 * count, product));
done:
  return status;
}

TesStatus tesi_columns_subtract(TesiColumns *c, int count, const double *a, TesVector *const *x, TesVector *y,
                                double *square) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  long long n = y->length;
  for (int first = 0; first < count; first += AT_ONCE) {
    double factor[AT_ONCE] = {0};
    const void *column[AT_ONCE] = {NULL};
    double *partial = square && first + AT_ONCE >= count ? c->partial : NULL;
    for (int k = 0; k < AT_ONCE && first + k < count; k++)
      factor[k] = a[first + k], column[k] = x[first + k]->data;
    TES_TRY(launch(c, SUBTRACT, c->parts,
                   (void *[]){&n, &y->data, &factor[0], &column[0], &factor[1], &column[1], &factor[2],
                              &column[2], &factor[3], &column[3], &partial}));
  }
  if (square) TES_TRY(sum(c, 1, square));
done:
  return status;
}
