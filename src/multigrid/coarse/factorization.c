#include "multigrid/coarse/factorization.h"

#ifdef TESI_MUMPS
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <dmumps_c.h>
#include "base/leaks.h"
#include "basis/blas.h"
#include "parallel/mpi.h"

/* Numbers of the manual of MUMPS 5.5, which counts from 1. */
#define ICNTL(i) icntl[(i)-1]
#define INFO(i) info[(i)-1]
#define INFOG(i) infog[(i)-1]
enum { BEGIN = -1, END = -2, ANALYSE = 1, FACTORIZE = 2, SOLVE = 3 };
enum { BY_FILL = 2, BY_DISSECTION = 4 }; /* ICNTL(7): approximate minimum fill, PORD */

typedef void (*Mumps)(DMUMPS_STRUC_C *);

struct TesiFactorization {
  TesContext *context;
  TesiSymmetry kind;
  int64_t n;
  int64_t entries;
  int *row, *column; /* [entries] from 1 on; until the factors are there */
  double *value;
  double *work; /* of MUMPS: the factors in it */
  int64_t work_entries;
  DMUMPS_STRUC_C mumps;
  bool begun;
};

/* ---- the library --------------------------------------------------------------------------------------- */

static pthread_mutex_t one_call = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static Mumps mumps;
static char reason[256];

static void open_library(void) {
  __lsan_disable();
  void *const library = dlopen(TESI_MUMPS, RTLD_NOW | RTLD_LOCAL);
  void *const address = library ? dlsym(library, "dmumps_c") : NULL;
  __lsan_enable();
  if (address)
    memcpy(&mumps, &address, sizeof mumps);
  else
    snprintf(reason, sizeof reason, "there is no MUMPS on this machine (%s): install %s", dlerror(),
             TESI_MUMPS);
}

const char *tesi_factorization_missing(void) {
  pthread_once(&once, open_library);
  return mumps ? NULL : reason;
}

/* Its matrix products run on the thread that calls: their number of threads is one for the whole process. */
static TesStatus call(TesiFactorization *f, int job) {
  const TesStatus status = tesi_blas_begin(f->context, 1);
  if (status != TES_OK) return status;
  f->mumps.job = job;
  pthread_mutex_lock(&one_call);
  mumps(&f->mumps);
  pthread_mutex_unlock(&one_call);
  return TES_OK;
}

/* ---- errors -------------------------------------------------------------------------------------------- */

static bool lacks_memory(int error) {
  return error == -5 || error == -7 || error == -13 || error == -22;
}

static bool lacks_work(int error) {
  return error == -8 || error == -9 || error == -11 || error == -14;
}

static TesStatus check(const TesiFactorization *f, const char *what) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const int error = f->mumps.INFOG(1);
  if (error >= 0) return TES_OK;
  if (lacks_memory(error))
    TES_FAIL(TES_OUT_OF_MEMORY, "no memory for sparse factors of %lld unknowns, %s", (long long)f->n, what);
  TES_CHECK(error != -6 && error != -10, "the matrix of %lld unknowns has no inverse", (long long)f->n);
  TES_FAIL(TES_INTERNAL, "MUMPS, %s: error %d, %d", what, error, f->mumps.INFOG(2));
done:
  return status;
}

/* ---- set-up -------------------------------------------------------------------------------------------- */

/* Of symmetric matrices those below the diagonal, none that are zero, nor of what is fixed. */
static bool is_taken(const TesiFactorization *f, const TesiMatrix *A, const uint8_t *fixed, int64_t i,
                     int64_t e) {
  const int64_t j = A->column[e];
  if (f->kind != TESI_MATRIX_GENERAL && j > i) return false;
  return !fixed[i] && !fixed[j] && (i == j || A->value[e] != 0);
}

/* Entries as MUMPS takes them. */
static TesStatus copy_entries(TesiFactorization *f, const TesiMatrix *A, const uint8_t *fixed) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  int64_t count = 0;
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t e = A->row[i]; e < A->row[i + 1]; e++) count += is_taken(f, A, fixed, i, e);
  for (int64_t i = 0; i < A->rows; i++) count += fixed[i];
  f->entries = count, count = 0;
  TES_ALLOC(&f->row, f->entries);
  TES_ALLOC(&f->column, f->entries);
  TES_ALLOC(&f->value, f->entries);
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t e = A->row[i]; e < A->row[i + 1]; e++) {
      if (!is_taken(f, A, fixed, i, e)) continue;
      f->row[count] = (int)i + 1, f->column[count] = A->column[e] + 1;
      f->value[count++] = A->value[e];
    }
  for (int64_t i = 0; i < A->rows; i++)
    if (fixed[i]) f->row[count] = f->column[count] = (int)i + 1, f->value[count++] = 1;
done:
  return status;
}

static TesStatus begin(TesiFactorization *f) {
  static const int symmetry[] = {
      [TESI_MATRIX_DEFINITE] = 1, [TESI_MATRIX_SYMMETRIC] = 2, [TESI_MATRIX_GENERAL] = 0};
  enum { LARGE = 50000 };
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  DMUMPS_STRUC_C *m = &f->mumps;
  m->comm_fortran = tesi_mpi_self_fortran();
  m->par = 1;
  m->sym = symmetry[f->kind];
  TES_TRY(call(f, BEGIN));
  TES_TRY(check(f, "at its beginning"));
  f->begun = true;
  for (int i = 1; i <= 3; i++) m->ICNTL(i) = -1; /* it prints nothing */
  m->ICNTL(4) = 0;
  m->ICNTL(7) = f->n < LARGE ? BY_FILL : BY_DISSECTION;
  m->n = (int)f->n, m->nnz = f->entries;
  m->irn = f->row, m->jcn = f->column, m->a = f->value;
  TES_TRY(call(f, ANALYSE));
  TES_TRY(check(f, "ordering them"));
done:
  return status;
}

TesStatus tesi_factorization_create(TesContext *ctx, const TesiMatrix *A, TesiSymmetry kind, int fixings,
                                    const int64_t *fixed, TesiFactorization **factorization) {
  TesStatus status = TES_OK;
  TesiFactorization *f = NULL;
  uint8_t *is_fixed = NULL;
  *factorization = NULL;
  if (tesi_factorization_missing()) TES_FAIL(TES_MISSING, "%s", tesi_factorization_missing());
  TES_CHECK(A->rows < INT32_MAX, "%lld unknowns are too many for MUMPS", (long long)A->rows);
  TES_NEW(&f);
  f->context = tesi_context_retain(ctx);
  f->kind = kind;
  f->n = A->rows;
  TES_ALLOC(&is_fixed, A->rows);
  for (int i = 0; i < fixings; i++) is_fixed[fixed[i]] = 1;
  TES_TRY(copy_entries(f, A, is_fixed));
  TES_TRY(begin(f));
  *factorization = f;
  f = NULL;
done:
  tesi_free(ctx, &is_fixed);
  tesi_factorization_destroy(&f);
  return status;
}

void tesi_factorization_destroy(TesiFactorization **factorization) {
  if (!factorization || !*factorization) return;
  TesiFactorization *f = *factorization;
  TesContext *ctx = f->context;
  *factorization = NULL;
  if (f->begun) call(f, END);
  tesi_free(ctx, &f->row);
  tesi_free(ctx, &f->column);
  tesi_free(ctx, &f->value);
  tesi_free(ctx, &f->work);
  tesi_free(ctx, &f);
  tes_context_destroy(&ctx);
}

/* Numbers beyond 2^31 are negative, and count millions. */
static double count_of(int number) {
  return number < 0 ? -1e6 * number : number;
}

TesiFactorizationCost tesi_factorization_cost(const TesiFactorization *f) {
  return (TesiFactorizationCost){
      .flops = f->mumps.rinfog[0], .entries = count_of(f->mumps.INFOG(20)), .bytes = 1e6 * f->mumps.INFOG(16)};
}

/* ---- factors ------------------------------------------------------------------------------------------- */

static TesStatus check_memory(const TesiFactorization *f) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const double bytes = tesi_factorization_cost(f).bytes, free = (double)tes_memory_available();
  if (bytes > free)
    TES_FAIL(TES_OUT_OF_MEMORY, "sparse factors of %lld unknowns need %.3g GiB, %.3g GiB are free",
             (long long)f->n, bytes / (1 << 30), free / (1 << 30));
done:
  return status;
}

/* MUMPS works in memory of the context, which counts it. */
static TesStatus lend_work(TesiFactorization *f, double entries) {
  enum { MILLION = 1000000 };
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const bool large = entries > INT32_MAX;
  f->work_entries = large ? (int64_t)ceil(entries / MILLION) * MILLION : (int64_t)entries;
  tesi_free(ctx, &f->work);
  TES_ALLOC(&f->work, f->work_entries);
  f->mumps.wk_user = f->work;
  f->mumps.lwk_user = (int)(large ? -(f->work_entries / MILLION) : f->work_entries);
done:
  return status;
}

/* Pivoting may need more than was foreseen. */
TesStatus tesi_factorization_compute(TesiFactorization *f) {
  enum { TRIALS = 4 };
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  double entries = count_of(f->mumps.INFO(8));
  TES_TRY(check_memory(f));
  for (int i = 0; i < TRIALS; i++, entries *= 1.6) {
    TES_TRY(lend_work(f, entries));
    TES_TRY(call(f, FACTORIZE));
    if (!lacks_work(f->mumps.INFOG(1))) break;
  }
  TES_TRY(check(f, "making them"));
  TES_CHECK(f->kind != TESI_MATRIX_DEFINITE || f->mumps.INFOG(12) == 0,
            "the matrix of %lld unknowns is not positive definite: it has %d negative pivots",
            (long long)f->n, f->mumps.INFOG(12));
  tesi_free(ctx, &f->row);
  tesi_free(ctx, &f->column);
  tesi_free(ctx, &f->value);
  f->mumps.irn = f->mumps.jcn = NULL, f->mumps.a = NULL;
done:
  return status;
}

TesStatus tesi_factorization_solve(TesiFactorization *f, double *x) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  f->mumps.rhs = x;
  f->mumps.nrhs = 1, f->mumps.lrhs = (int)f->n;
  TES_TRY(call(f, SOLVE));
  TES_TRY(check(f, "solving with them"));
done:
  return status;
}
#else
const char *tesi_factorization_missing(void) {
  return "Tessera was built without MUMPS, which has sparse factors: install libmumps-dev and build with "
         "-DTESSERA_MUMPS=ON";
}

TesStatus tesi_factorization_create(TesContext *ctx, const TesiMatrix *A, TesiSymmetry kind, int fixings,
                                    const int64_t *fixed, TesiFactorization **factorization) {
  TesStatus status = TES_OK;
  (void)A, (void)kind, (void)fixings, (void)fixed;
  *factorization = NULL;
  TES_FAIL(TES_MISSING, "%s", tesi_factorization_missing());
done:
  return status;
}

void tesi_factorization_destroy(TesiFactorization **factorization) {
  *factorization = NULL;
}

TesiFactorizationCost tesi_factorization_cost(const TesiFactorization *factorization) {
  (void)factorization;
  return (TesiFactorizationCost){0};
}

TesStatus tesi_factorization_compute(TesiFactorization *factorization) {
  (void)factorization;
  return TES_MISSING;
}

TesStatus tesi_factorization_solve(TesiFactorization *factorization, double *x) {
  (void)factorization, (void)x;
  return TES_MISSING;
}
#endif
