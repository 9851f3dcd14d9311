#include "multigrid/coarse/mumps.h"

#ifdef TESI_MUMPS
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <dmumps_c.h>
#include "base/leaks.h"
#include "basis/blas.h"
#include "device/library.h"
#include "parallel/mpi.h"

/* Numbers of the manual of MUMPS 5.5, which counts from 1. */
#define ICNTL(i) icntl[(i)-1]
#define INFO(i) info[(i)-1]
#define INFOG(i) infog[(i)-1]
enum { BEGIN = -1, END = -2, ANALYSE = 1, FACTORIZE = 2, SOLVE = 3 };
enum { BY_FILL = 2, BY_DISSECTION = 4 }; /* ICNTL(7): approximate minimum fill, PORD */

typedef void (*Mumps)(DMUMPS_STRUC_C *);

struct TesiMumps {
  TesContext *context;
  TesiSymmetry kind;
  int64_t n;
  double *work; /* of MUMPS: the factors in it */
  int64_t work_entries;
  DMUMPS_STRUC_C mumps;
  bool begun;
};

/* ---- the library --------------------------------------------------------------------------------------- */

static pthread_mutex_t one_call = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static Mumps dmumps;
static char reason[256];

static void open_library(void) {
  __lsan_disable();
  void *const library = dlopen(TESI_MUMPS, RTLD_NOW | RTLD_LOCAL);
  __lsan_enable();
  if (!library || !tesi_library_find(library, "dmumps_c", &dmumps))
    snprintf(reason, sizeof reason, "there is no MUMPS on this machine (%s): install %s", dlerror(),
             TESI_MUMPS);
}

const char *tesi_mumps_missing(void) {
  pthread_once(&once, open_library);
  return dmumps ? NULL : reason;
}

/* MUMPS's matrix products use one thread, the calling thread: their number of threads is a setting of the whole
 * process. */
static TesStatus call(TesiMumps *f, int job) {
  const TesStatus status = tesi_blas_begin(f->context, 1);
  if (status != TES_OK) return status;
  f->mumps.job = job;
  pthread_mutex_lock(&one_call);
  dmumps(&f->mumps);
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

static TesStatus check(const TesiMumps *f, const char *what) {
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

static TesStatus begin(TesiMumps *f, int64_t entries, int *row, int *column, double *value) {
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
  m->n = (int)f->n, m->nnz = entries;
  m->irn = row, m->jcn = column, m->a = value;
  TES_TRY(call(f, ANALYSE));
  TES_TRY(check(f, "ordering them"));
done:
  return status;
}

TesStatus tesi_mumps_create(TesContext *ctx, int64_t n, TesiSymmetry kind, int64_t entries, int *row,
                            int *column, double *value, TesiMumps **factors) {
  TesStatus status = TES_OK;
  TesiMumps *f = NULL;
  *factors = NULL;
  if (tesi_mumps_missing()) TES_FAIL(TES_MISSING, "%s", tesi_mumps_missing());
  TES_NEW(&f);
  f->context = tesi_context_retain(ctx);
  f->kind = kind;
  f->n = n;
  TES_TRY(begin(f, entries, row, column, value));
  *factors = f;
  f = NULL;
done:
  tesi_mumps_destroy(&f);
  return status;
}

void tesi_mumps_destroy(TesiMumps **factors) {
  if (!factors || !*factors) return;
  TesiMumps *f = *factors;
  TesContext *ctx = f->context;
  *factors = NULL;
  if (f->begun) call(f, END);
  tesi_free(ctx, &f->work);
  tesi_free(ctx, &f);
  tes_context_destroy(&ctx);
}

/* Large numbers are returned as negative millions. */
static double count_of(int number) {
  return number < 0 ? -1e6 * number : number;
}

TesiFactorizationCost tesi_mumps_cost(const TesiMumps *f) {
  return (TesiFactorizationCost){
      .flops = f->mumps.rinfog[0], .entries = count_of(f->mumps.INFOG(20)), .bytes = 1e6 * f->mumps.INFOG(16)};
}

/* ---- factors ------------------------------------------------------------------------------------------- */

/* MUMPS works in memory of the context, so that it is counted. */
static TesStatus lend_work(TesiMumps *f, double entries) {
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
TesStatus tesi_mumps_compute(TesiMumps *f) {
  enum { TRIALS = 4 };
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  double entries = count_of(f->mumps.INFO(8));
  for (int i = 0; i < TRIALS; i++, entries *= 1.6) {
    TES_TRY(lend_work(f, entries));
    TES_TRY(call(f, FACTORIZE));
    if (!lacks_work(f->mumps.INFOG(1))) break;
  }
  TES_TRY(check(f, "making them"));
  TES_CHECK(f->kind != TESI_MATRIX_DEFINITE || f->mumps.INFOG(12) == 0,
            "the matrix of %lld unknowns is not positive definite: it has %d negative pivots",
            (long long)f->n, f->mumps.INFOG(12));
  f->mumps.irn = f->mumps.jcn = NULL, f->mumps.a = NULL;
done:
  return status;
}

TesStatus tesi_mumps_solve(TesiMumps *f, double *x) {
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
const char *tesi_mumps_missing(void) {
  return "Tessera was built without MUMPS, which has sparse factors: install libmumps-dev and build with "
         "-DTESSERA_MUMPS=ON";
}

TesStatus tesi_mumps_create(TesContext *ctx, int64_t n, TesiSymmetry kind, int64_t entries, int *row,
                            int *column, double *value, TesiMumps **factors) {
  TesStatus status = TES_OK;
  (void)n, (void)kind, (void)entries, (void)row, (void)column, (void)value;
  *factors = NULL;
  TES_FAIL(TES_MISSING, "%s", tesi_mumps_missing());
done:
  return status;
}

void tesi_mumps_destroy(TesiMumps **factors) {
  *factors = NULL;
}

TesiFactorizationCost tesi_mumps_cost(const TesiMumps *factors) {
  (void)factors;
  return (TesiFactorizationCost){0};
}

TesStatus tesi_mumps_compute(TesiMumps *factors) {
  (void)factors;
  return TES_MISSING;
}

TesStatus tesi_mumps_solve(TesiMumps *factors, double *x) {
  (void)factors, (void)x;
  return TES_MISSING;
}
#endif
