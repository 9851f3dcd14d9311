/* Compares a mapped operator with its assembled form on the same GPU: BP5 on perturbed trilinear cells, global
 * vectors, cuSPARSE SpMV (CSR, int32).
 * bench_mapped_csr [--device D] [--degrees 1-4] [--dofs N] [--csv FILE]
 * The matrix is assembled on the device (the seconds include compiling its kernels the first time).
 * Both are applied to the same random vector; difference: largest, relative to the largest entry. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"
#include "device/cuda/cusparse.h"
#include "device/vector.h"
#include "operator/assembled/matrix.h"
#include "operator/mapped/mapped.h"
#include "tessera/tessera.h"

enum { BATCHES = 7, REPEATS = 20 };

static TesContext *ctx;
static FILE *csv;

static void must(TesStatus status) {
  bench_must(ctx, status);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median seconds of one application of the operator; or of the matrix, if spmv is given. */
static double measure(const TesOperator *op, const TesVector *x, TesVector *y, const TesiSpmv *spmv) {
  double seconds[BATCHES];
  for (int batch = -1; batch < BATCHES; batch++) {
    const double start = tesi_now();
    for (int i = 0; i < REPEATS; i++)
      must(spmv ? tesi_spmv_run(ctx, spmv, tes_vector_data_const(x), tes_vector_data(y))
                : tes_operator_apply(op, x, y));
    must(tesi_context_device(ctx)->synchronize(ctx));
    if (batch >= 0) seconds[batch] = (tesi_now() - start) / REPEATS;
  }
  qsort(seconds, BATCHES, sizeof *seconds, ascending);
  return seconds[BATCHES / 2];
}

static TesOperator *make_operator(int degree, double dofs) {
  const int cells = (int)(cbrt(dofs) / degree + 0.5);
  TesMesh *mesh;
  TesOperator *op;
  must(tes_mesh_create(
      ctx, &(TesMeshDesc){.dim = 3, .cells = {cells, cells, cells}, .perturbation = 0.15, .seed = 1}, &mesh));
  must(tesi_mapped_create(ctx,
                          &(TesiMappedDesc){.mesh = mesh,
                                            .degree = degree,
                                            .collocated = true,
                                            .factors = TES_FACTORS_STORED,
                                            .numbering = {.dirichlet = true}},
                          &op));
  tes_mesh_destroy(&mesh);
  return op;
}

static void run_degree(int degree, double dofs) {
  TesOperator *op = make_operator(degree, dofs);
  TesiDeviceMatrix matrix;
  TesVector *x, *y, *z;
  TesiSpmv *spmv;
  const int64_t n = tes_operator_info(op).length;
  double *values = malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = sin(0.1 * (double)i) + cos(0.37 * (double)i);
  must(tes_vector_create(ctx, n, TES_DOUBLE, &x));
  must(tes_vector_create(ctx, n, TES_DOUBLE, &y));
  must(tes_vector_create(ctx, n, TES_DOUBLE, &z));
  must(tes_vector_set(x, values));
  free(values);
  must(tesi_context_device(ctx)->synchronize(ctx));
  const double start = tesi_now();
  must(tesi_mapped_assemble_device(op, &matrix));
  const double assembly = tesi_now() - start, bytes = 12.0 * (double)matrix.entries + 4.0 * (double)n,
               free_bytes = tes_operator_info(op).cost.bytes - 16 * (double)n;
  must(tesi_spmv_create(ctx,
                        &(TesiSpmvDesc){.rows = n,
                                        .columns = n,
                                        .entries = matrix.entries,
                                        .row = matrix.row,
                                        .column = matrix.column,
                                        .value = matrix.value},
                        &spmv));
  must(tesi_context_device(ctx)->synchronize(ctx));
  const double free_seconds = measure(op, x, y, NULL), matrix_seconds = measure(op, x, z, spmv),
               error = bench_difference(ctx, z, y);
  printf("p=%d %9lld unknowns %11lld entries: matrix-free %8.4f ms %6.2f GDoF/s, cuSPARSE %8.4f ms %6.2f "
         "GDoF/s, ratio %5.2f, "
         "assembled in %.3f s, %.3f GiB (matrix-free %.3f), difference %.1e\n",
         degree, (long long)n, (long long)matrix.entries, 1e3 * free_seconds, (double)n / free_seconds * 1e-9,
         1e3 * matrix_seconds, (double)n / matrix_seconds * 1e-9, matrix_seconds / free_seconds, assembly,
         bytes / (1 << 30), free_bytes / (1 << 30), error);
  fflush(stdout);
  if (csv)
    fprintf(csv, "%d,%lld,%lld,%.6g,%.6g,%.5g,%.5g,%.4g,%.4g,%.4g,%.4g,%.2g\n", degree, (long long)n,
            (long long)matrix.entries, 1e3 * free_seconds, 1e3 * matrix_seconds,
            (double)n / free_seconds * 1e-9, (double)n / matrix_seconds * 1e-9, matrix_seconds / free_seconds,
            assembly, bytes / (1 << 30), free_bytes / (1 << 30), error);
  if (csv) fflush(csv);
  tesi_spmv_destroy(ctx, &spmv);
  tesi_device_matrix_destroy(op, &matrix);
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tes_vector_destroy(&z);
  tes_operator_destroy(&op);
}

int main(int argc, char **argv) {
  const char *device = "cuda";
  int first = 1, last = 4;
  double dofs = 1e6;
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *option = argv[i], *value = argv[i + 1];
    if (!strcmp(option, "--device"))
      device = value;
    else if (!strcmp(option, "--degrees")) {
      if (sscanf(value, "%d-%d", &first, &last) == 1) last = first;
    } else if (!strcmp(option, "--dofs"))
      dofs = atof(value);
    else if (!strcmp(option, "--csv"))
      csv = fopen(value, "w");
    else {
      fprintf(stderr, "unknown option %s\n", option);
      return 2;
    }
  }
  char message[2048];
  const TesStatus status =
      tes_context_create(&(TesContextDesc){.device = device}, &ctx, message, sizeof message);
  if (status != TES_OK) {
    fprintf(stderr, "%s\n", message);
    return tes_status_exit(status);
  }
  if (csv)
    fprintf(csv, "degree,dofs,entries,ms_matrix_free,ms_cusparse,gdofs_matrix_free,gdofs_cusparse,ratio,"
                 "assembly_s,matrix_gib,matrix_free_gib,difference\n");
  for (int degree = first; degree <= last; degree++) run_degree(degree, dofs);
  if (csv) fclose(csv);
  tes_context_destroy(&ctx);
  return 0;
}
