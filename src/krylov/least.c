#include "krylov/least.h"
#include <math.h>
#include <string.h>
#include "base/integer.h"
#include "kernels/krylov_arguments.h"

enum { PRODUCTS, COEFFICIENTS, COMBINE, KERNELS };
enum { THREADS = 256, ENTRIES = 1024 /* a block, at least */, SUMS = TESK_LEAST * TESK_LEAST_ROW };

static TesStatus create_kernels(TesiLeast *least, int64_t length) {
  static const char *const names[KERNELS] = {"tesk_least_products", "tesk_least_coefficients",
                                             "tesk_least_combine"};
  TesContext *ctx = least->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  const int64_t blocks = (length + ENTRIES - 1) / ENTRIES;
  least->parts = (unsigned)tesi_max(1, blocks < TESK_PARTS ? (int)blocks : TESK_PARTS);
  TES_TRY(tesi_program_get(ctx, &(TesiProgramDesc){.file = "least.cu", .real = TES_DOUBLE}, &program));
  for (int i = 0; i < KERNELS; i++)
    TES_TRY(tesi_kernel_get(ctx, program, names[i], THREADS * sizeof(double), &least->kernel[i]));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (SUMS * TESK_PARTS + TESK_LEAST) * sizeof(double),
                                             &least->memory));
done:
  return status;
}

TesStatus tesi_least_create(TesContext *ctx, const TesiLayout *layout, int directions, TesiLeast **least) {
  TesStatus status = TES_OK;
  TesiLeast *l = NULL;
  *least = NULL;
  TES_NEW(&l);
  l->context = tesi_context_retain(ctx);
  for (int i = 0; i < tesi_min(directions, TESK_LEAST); i++)
    TES_TRY(tesi_vector_create_on(layout, TES_DOUBLE, &l->image[i]));
  if (l->image[0] && tesi_has_kernels(ctx)) TES_TRY(create_kernels(l, l->image[0]->length));
  *least = l;
  l = NULL;
done:
  tesi_least_destroy(&l);
  return status;
}

void tesi_least_destroy(TesiLeast **least) {
  TesiLeast *l = *least;
  if (!l) return;
  TesContext *ctx = l->context;
  for (int i = 0; i < TESK_LEAST; i++) tes_vector_destroy(&l->image[i]);
  if (l->memory) tesi_context_device(ctx)->release(ctx, &l->memory);
  tesi_free(ctx, least);
  tes_context_destroy(&ctx);
}

void tesi_least_forget(TesiLeast *least) {
  least->count = 0;
}

/* Whether the images from place `first` on are those of the last plan from place 0 on. */
static bool are_known(const TesiLeast *l, int first, int count, const double *when) {
  const size_t solutions = (size_t)(count - first + 1);
  return count == first ||
         (l->count >= count - first && memcmp(l->when, when + first, solutions * sizeof *when) == 0);
}

bool tesi_least_plan(TesiLeast *l, int stage, int count, const double *when) {
  while (count > 0 && !l->image[count - 1]) count--;
  l->fresh = are_known(l, 0, count, when) ? 0 : are_known(l, 1, count, when) ? 1 : count;
  l->count = count;
  memcpy(l->when, when, (size_t)(count + 1) * sizeof *when);
  const int shape = 1 + count * (TESK_LEAST + 1) + l->fresh, before = l->shape[stage];
  l->shape[stage] = shape;
  return shape == before;
}

/* By copies on devices with kernels, since recordings contain addresses. */
TesStatus tesi_least_move(TesiLeast *l) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  if (l->fresh != 1 || l->count < 2) return TES_OK;
  TesVector *oldest = l->image[l->count - 1];
  for (int i = l->count - 1; i > 0; i--) {
    if (l->memory)
      TES_TRY(tes_vector_copy(l->image[i - 1], 1, l->image[i]));
    else
      l->image[i] = l->image[i - 1];
  }
  if (!l->memory) l->image[0] = oldest;
done:
  return status;
}

TesStatus tesi_least_reduce(const TesiLeast *l, TesVector *const *solution, const TesVector *base,
                            const TesVector *of_base, TesVector *x, TesVector *r) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  double product[SUMS] = {0}, c[TESK_LEAST + 1] = {0}, of_x[TESK_LEAST + 2] = {1}, of_r[TESK_LEAST + 1] = {1};
  const TesVector *to_x[TESK_LEAST + 2] = {base}, *to_r[TESK_LEAST + 1] = {of_base};
  for (int i = 0; i < l->count; i++) {
    double *row = product + TESK_LEAST_ROW * i;
    for (int j = 0; j <= i; j++) TES_TRY(tes_vector_dot(l->image[i], l->image[j], &row[j]));
    TES_TRY(tes_vector_dot(l->image[i], of_base, &row[TESK_LEAST]));
  }
  least_coefficients(l->count, product, c);
  for (int i = 0; i <= l->count; i++) {
    of_x[i + 1] = (i < l->count ? c[i] : 0) - (i > 0 ? c[i - 1] : 0), to_x[i + 1] = solution[i];
    if (i < l->count) of_r[i + 1] = -c[i], to_r[i + 1] = l->image[i];
  }
  TES_TRY(tesi_vector_combine(l->count + 2, of_x, to_x, x));
  TES_TRY(tesi_vector_combine(l->count + 1, of_r, to_r, r));
done:
  return status;
}

static TesStatus launch(const TesiLeast *l, int kernel, unsigned blocks, void **arguments) {
  const TesiGrid grid = {blocks, 1, 1};
  return tesi_kernel_launch(l->context, &l->kernel[kernel], grid, THREADS, THREADS * sizeof(double),
                            arguments);
}

TesStatus tesi_least_queue(const TesiLeast *l, TesVector *const *solution, const TesVector *base,
                           const TesVector *of_base, TesVector *x, TesVector *r) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  TeskLeast least = {.count = l->count};
  long long n = x->length;
  int parts = (int)l->parts, count = l->count;
  double *partial = l->memory, *c = partial + SUMS * TESK_PARTS;
  for (int i = 0; i <= count; i++) least.solution[i] = solution[i]->data;
  for (int i = 0; i < count; i++) least.image[i] = l->image[i]->data;
  TES_TRY(launch(l, PRODUCTS, l->parts, (void *[]){&n, &least, (void *)&of_base->data, &partial}));
  TES_TRY(launch(l, COEFFICIENTS, 1, (void *[]){&parts, &count, &partial, &c}));
  TES_TRY(launch(l, COMBINE, l->parts,
                 (void *[]){&n, &least, &c, (void *)&base->data, (void *)&of_base->data, &x->data, &r->data}));
done:
  return status;
}
