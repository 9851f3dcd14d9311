#include "operator/assembled/matrix.h"
#include "operator/assembled/sparse.h"
#include <string.h>
#include "base/team.h"
#include "device/cuda/cusparse.h"
#include "device/kernel.h"
#include "device/upload.h"
#include "device/vector.h"

enum { THREADS = 128, MOST_LANES = 32 };

struct TesiSparse {
  int64_t rows, columns, entries;
  TesPrecision precision;
  int64_t *first;             /* [rows + 1], host */
  void *row, *column, *value; /* row: int32, for devices with kernels; the other arrays for all devices */
  int lanes;
  TesiKernel kernel;
  TesiSpmv *spmv; /* NULL: the kernel */
};

static TesStatus new_sparse(TesContext *ctx, int64_t rows, int64_t columns, int64_t entries,
                            TesPrecision precision, TesiSparse **sparse) {
  TesStatus status = TES_OK;
  TES_NEW(sparse);
  **sparse = (TesiSparse){.rows = rows, .columns = columns, .entries = entries, .precision = precision};
done:
  return status;
}

/* ---- set-up ---------------------------------------------------------------------------------------- */
static TesStatus get_kernel(TesContext *ctx, TesiSparse *s) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  s->lanes = 1; /* about 8 entries each */
  while (s->lanes < MOST_LANES && 8 * s->lanes * s->rows < s->entries) s->lanes *= 2;
  const TesiProgramDesc desc = {.file = "sparse.cu", .real = s->precision, .macros = {{"LANES", s->lanes}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_sparse", THREADS * (size_t)tesi_precision_size(s->precision),
                          &s->kernel));
done:
  return status;
}

/* cuSPARSE if it is installed and wanted. */
static TesStatus find_product(TesContext *ctx, TesiSparse *s) {
  TesStatus status = TES_OK;
  if (!strcmp(tesi_context_device(ctx)->kind, "cuda") && tesi_spmv_available() && s->entries > 0) {
    TES_TRY(tesi_spmv_create(ctx,
                             &(TesiSpmvDesc){.rows = s->rows,
                                             .columns = s->columns,
                                             .entries = s->entries,
                                             .precision = s->precision,
                                             .row = s->row,
                                             .column = s->column,
                                             .value = s->value},
                             &s->spmv));
  } else {
    TES_TRY(get_kernel(ctx, s));
  }
done:
  return status;
}

static TesStatus round_values(TesContext *ctx, TesiSparse *s) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  void *rounded = NULL;
  if (s->precision == TES_DOUBLE) return TES_OK;
  TES_TRY(device->allocate(ctx, (size_t)s->entries * sizeof(float), &rounded));
  TES_TRY(device->copy(ctx, s->entries, 1, TES_DOUBLE, s->value, TES_SINGLE, rounded));
  TES_TRY(device->synchronize(ctx));
  device->release(ctx, &s->value);
  s->value = rounded;
done:
  return status;
}

TesStatus tesi_sparse_create_device(TesContext *ctx, TesiDeviceMatrix *matrix, int64_t columns,
                                    TesPrecision precision, TesiSparse **sparse) {
  TesStatus status = TES_OK;
  TesiSparse *s = NULL;
  *sparse = NULL;
  TES_TRY(new_sparse(ctx, matrix->rows, columns, matrix->entries, precision, &s));
  s->row = matrix->row, s->column = matrix->column, s->value = matrix->value;
  *matrix = (TesiDeviceMatrix){0};
  TES_TRY(round_values(ctx, s));
  TES_TRY(find_product(ctx, s));
  *sparse = s;
  s = NULL;
done:
  tesi_sparse_destroy(ctx, &s);
  return status;
}

static TesStatus upload_matrix(TesContext *ctx, TesiMatrix *m, TesiDeviceMatrix *made) {
  TesStatus status = TES_OK;
  int32_t *row = NULL;
  void *address[3] = {NULL, NULL, NULL};
  TES_CHECK(m->entries <= INT32_MAX, "%lld entries are too many for a device: at most 2^31 - 1",
            (long long)m->entries);
  TES_ALLOC(&row, m->rows + 1);
  for (int64_t i = 0; i <= m->rows; i++) row[i] = (int32_t)m->row[i];
  TES_TRY(tesi_upload(ctx, row, (size_t)(m->rows + 1) * sizeof *row, &address[0]));
  TES_TRY(tesi_upload(ctx, m->column, (size_t)m->entries * sizeof *m->column, &address[1]));
  TES_TRY(tesi_upload(ctx, m->value, (size_t)m->entries * sizeof *m->value, &address[2]));
  *made = (TesiDeviceMatrix){m->rows, m->entries, address[0], address[1], address[2]};
done:
  for (int i = 0; status != TES_OK && i < 3; i++) tesi_context_device(ctx)->release(ctx, &address[i]);
  tesi_free(ctx, &row);
  return status;
}

static TesStatus take_on_host(TesContext *ctx, TesiMatrix *m, TesiSparse *s) {
  TesStatus status = TES_OK;
  float *rounded = NULL;
  if (s->precision == TES_SINGLE) TES_ALLOC(&rounded, m->entries);
  for (int64_t i = 0; rounded && i < m->entries; i++) rounded[i] = (float)m->value[i];
  s->first = m->row, s->column = m->column, s->value = rounded ? (void *)rounded : m->value;
  if (!rounded) m->value = NULL;
  m->row = NULL, m->column = NULL;
done:
  tesi_matrix_destroy(ctx, m);
  return status;
}

TesStatus tesi_sparse_create(TesContext *ctx, TesiMatrix *matrix, int64_t columns, TesPrecision precision,
                             TesiSparse **sparse) {
  TesStatus status = TES_OK;
  TesiSparse *s = NULL;
  TesiDeviceMatrix made = {0};
  *sparse = NULL;
  if (tesi_has_kernels(ctx)) {
    TES_TRY(upload_matrix(ctx, matrix, &made));
    TES_TRY(tesi_sparse_create_device(ctx, &made, columns, precision, sparse));
  } else {
    TES_TRY(new_sparse(ctx, matrix->rows, columns, matrix->entries, precision, &s));
    TES_TRY(take_on_host(ctx, matrix, s));
    *sparse = s;
    s = NULL;
  }
done:
  tesi_matrix_destroy(ctx, matrix);
  tesi_sparse_destroy(ctx, &s);
  return status;
}

void tesi_sparse_destroy(TesContext *ctx, TesiSparse **sparse) {
  TesiSparse *s = *sparse;
  if (!s) return;
  tesi_spmv_destroy(ctx, &s->spmv);
  if (s->first) {
    tesi_free(ctx, &s->first);
    tesi_free(ctx, &s->column);
    tesi_free(ctx, &s->value);
  }
  void **const addresses[] = {&s->row, &s->column, &s->value};
  for (int i = 0; i < 3; i++) tesi_context_device(ctx)->release(ctx, addresses[i]);
  tesi_free(ctx, sparse);
}

/* ---- products ------------------------------------------------------------------------------------------ */
typedef struct Product {
  const TesiSparse *s;
  const void *x;
  void *y;
} Product;

#define MULTIPLY_ROWS(NAME, T)                                                                               \
  static void NAME(const void *data, TesiSpan span) {                                                        \
    const TesiSparse *s = ((const Product *)data)->s;                                                        \
    const T *const value = s->value, *const x = ((const Product *)data)->x;                                  \
    const int32_t *const column = s->column;                                                                 \
    T *const y = ((const Product *)data)->y;                                                                 \
    for (int64_t i = span.first; i < span.end; i++) {                                                        \
      T sum = 0;                                                                                             \
      for (int64_t e = s->first[i]; e < s->first[i + 1]; e++) sum += value[e] * x[column[e]];                \
      y[i] = sum;                                                                                            \
    }                                                                                                        \
  }
MULTIPLY_ROWS(multiply_double, double)
MULTIPLY_ROWS(multiply_float, float)

TesStatus tesi_sparse_apply(TesContext *ctx, const TesiSparse *s, const void *x, void *y) {
  int rows = (int)s->rows;
  if (s->spmv) return tesi_spmv_run(ctx, s->spmv, x, y);
  if (!s->first) {
    const int64_t each = THREADS / s->lanes;
    return tesi_kernel_launch(
        ctx, &s->kernel, (TesiGrid){.x = (unsigned)((s->rows + each - 1) / each), .y = 1, .z = 1}, THREADS,
        THREADS * (size_t)tesi_precision_size(s->precision),
        (void *[]){&rows, (void *)&s->row, (void *)&s->column, (void *)&s->value, &x, &y});
  }
  tesi_team_for(tesi_team_threads(ctx, s->entries), s->rows,
                s->precision == TES_DOUBLE ? multiply_double : multiply_float, &(Product){s, x, y});
  return TES_OK;
}

TesStatus tesi_sparse_apply_ref(TesContext *ctx, const TesiSparse *s, const double *x, double *y) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t size = tesi_precision_size(s->precision);
  int32_t *row = NULL, *column = NULL;
  char *value = NULL;
  TES_ALLOC(&row, s->rows + 1);
  TES_ALLOC(&column, s->entries);
  TES_ALLOC(&value, (size_t)s->entries * size);
  if (!s->first) TES_TRY(device->to_host(ctx, row, s->row, (size_t)(s->rows + 1) * sizeof *row));
  TES_TRY(device->to_host(ctx, column, s->column, (size_t)s->entries * sizeof *column));
  TES_TRY(device->to_host(ctx, value, s->value, (size_t)s->entries * size));
  for (int64_t i = 0; i < s->rows; i++) {
    y[i] = 0;
    for (int64_t e = s->first ? s->first[i] : row[i]; e < (s->first ? s->first[i + 1] : row[i + 1]); e++)
      y[i] += x[column[e]] *
              (size == sizeof(float) ? (double)((float *)(void *)value)[e] : ((double *)(void *)value)[e]);
  }
done:
  tesi_free(ctx, &row);
  tesi_free(ctx, &column);
  tesi_free(ctx, &value);
  return status;
}

/* ---- parts --------------------------------------------------------------------------------------------- */
int64_t tesi_sparse_rows(const TesiSparse *s) {
  return s->rows;
}

int64_t tesi_sparse_entries(const TesiSparse *s) {
  return s->entries;
}

double tesi_sparse_bytes(const TesiSparse *s) {
  const double entry = 4 + (double)tesi_precision_size(s->precision);
  return entry * (double)s->entries + (s->first ? 8.0 : 4.0) * (double)(s->rows + 1);
}

const char *tesi_sparse_how(const TesiSparse *s) {
  return s->first ? "threads" : s->spmv ? "cuSPARSE" : "kernel";
}
