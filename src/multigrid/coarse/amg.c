#include "operator/assembled/matrix.h"
#include "multigrid/coarse/amg.h"
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

#ifdef TESI_HYPRE
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include "parallel/mpi.h"

struct TesiAmg {
  TesContext *context;
  HYPRE_Int rows;
  HYPRE_BigInt *row; /* 0, 1, ... */
  HYPRE_IJMatrix A;
  HYPRE_IJVector b, x;
  HYPRE_Solver solver;
};

bool tesi_amg_available(void) {
  return true;
}

static void finalize(void) {
  HYPRE_Finalize();
}

static void initialize(void) {
  static bool ready;
#pragma omp critical(tesi_hypre)
  if (!ready) {
    tesi_mpi_self();
    HYPRE_Init();
    atexit(finalize);
    ready = true;
  }
}

static TesStatus check(TesContext *ctx, const char *what) {
  TesStatus status = TES_OK;
  char text[256] = "";
  const HYPRE_Int error = HYPRE_GetError();
  if (!error) return TES_OK;
  HYPRE_DescribeError(error, text);
  HYPRE_ClearAllErrors();
  TES_FAIL(TES_INTERNAL, "hypre, %s: %s", what, text);
done:
  return status;
}

static TesStatus copy_matrix(TesiAmg *amg, const TesiMatrix *A) {
  TesContext *ctx = amg->context;
  TesStatus status = TES_OK;
  HYPRE_Int *count = NULL;
  TES_ALLOC(&count, A->rows);
  TES_ALLOC(&amg->row, A->rows);
  for (int64_t i = 0; i < A->rows; i++) {
    count[i] = (HYPRE_Int)(A->row[i + 1] - A->row[i]);
    amg->row[i] = (HYPRE_BigInt)i;
  }
  const HYPRE_BigInt last = (HYPRE_BigInt)A->rows - 1;
  HYPRE_IJMatrixCreate(tesi_mpi_self(), 0, last, 0, last, &amg->A);
  HYPRE_IJMatrixSetObjectType(amg->A, HYPRE_PARCSR);
  HYPRE_IJMatrixSetRowSizes(amg->A, count);
  HYPRE_IJMatrixInitialize(amg->A);
  HYPRE_IJMatrixSetValues(amg->A, amg->rows, count, amg->row, A->column, A->value);
  HYPRE_IJMatrixAssemble(amg->A);
  TES_TRY(check(ctx, "the matrix"));
done:
  tesi_free(ctx, &count);
  return status;
}

static void create_vector(const TesiAmg *amg, HYPRE_IJVector *v) {
  HYPRE_IJVectorCreate(tesi_mpi_self(), 0, amg->rows - 1, v);
  HYPRE_IJVectorSetObjectType(*v, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(*v);
  HYPRE_IJVectorAssemble(*v);
}

/* Symmetric Gauss-Seidel, so that the cycle can precondition conjugate gradients; HMIS coarsening, extended
 * interpolation. */
static void set_options(HYPRE_Solver solver) {
  HYPRE_BoomerAMGSetPrintLevel(solver, 0);
  HYPRE_BoomerAMGSetMaxIter(solver, 1);
  HYPRE_BoomerAMGSetTol(solver, 0);
  HYPRE_BoomerAMGSetCoarsenType(solver, 10);
  HYPRE_BoomerAMGSetInterpType(solver, 6);
  HYPRE_BoomerAMGSetPMaxElmts(solver, 4);
  HYPRE_BoomerAMGSetStrongThreshold(solver, 0.25);
  HYPRE_BoomerAMGSetRelaxType(solver, 6);
}

static void objects(const TesiAmg *amg, HYPRE_ParCSRMatrix *A, HYPRE_ParVector *b, HYPRE_ParVector *x) {
  void *object;
  HYPRE_IJMatrixGetObject(amg->A, &object);
  *A = object;
  HYPRE_IJVectorGetObject(amg->b, &object);
  *b = object;
  HYPRE_IJVectorGetObject(amg->x, &object);
  *x = object;
}

TesStatus tesi_amg_create(TesContext *ctx, const TesiMatrix *A, TesiAmg **amg) {
  TesStatus status = TES_OK;
  TesiAmg *a = NULL;
  HYPRE_ParCSRMatrix matrix;
  HYPRE_ParVector b, x;
  *amg = NULL;
  TES_CHECK(A->entries <= INT32_MAX, "%lld entries are too many for hypre", (long long)A->entries);
  initialize();
  TES_NEW(&a);
  a->context = tesi_context_retain(ctx);
  a->rows = (HYPRE_Int)A->rows;
  TES_TRY(copy_matrix(a, A));
  create_vector(a, &a->b);
  create_vector(a, &a->x);
  HYPRE_BoomerAMGCreate(&a->solver);
  set_options(a->solver);
  objects(a, &matrix, &b, &x);
  HYPRE_BoomerAMGSetup(a->solver, matrix, b, x);
  TES_TRY(check(ctx, "set-up of BoomerAMG"));
  *amg = a;
  a = NULL;
done:
  tesi_amg_destroy(&a);
  return status;
}

void tesi_amg_destroy(TesiAmg **amg) {
  if (!amg || !*amg) return;
  TesiAmg *a = *amg;
  TesContext *ctx = a->context;
  *amg = NULL;
  if (a->solver) HYPRE_BoomerAMGDestroy(a->solver);
  if (a->A) HYPRE_IJMatrixDestroy(a->A);
  if (a->b) HYPRE_IJVectorDestroy(a->b);
  if (a->x) HYPRE_IJVectorDestroy(a->x);
  tesi_free(ctx, &a->row);
  tesi_free(ctx, &a);
  tes_context_destroy(&ctx);
}

TesStatus tesi_amg_apply(TesiAmg *amg, const double *r, double *z) {
  TesContext *ctx = amg->context;
  TesStatus status = TES_OK;
  HYPRE_ParCSRMatrix matrix;
  HYPRE_ParVector b, x;
  objects(amg, &matrix, &b, &x);
  HYPRE_IJVectorSetValues(amg->b, amg->rows, amg->row, r);
  HYPRE_ParVectorSetConstantValues(x, 0);
  HYPRE_BoomerAMGSolve(amg->solver, matrix, b, x);
  HYPRE_ClearError(HYPRE_ERROR_CONV); /* one cycle per call */
  HYPRE_IJVectorGetValues(amg->x, amg->rows, amg->row, z);
  TES_TRY(check(ctx, "a cycle of BoomerAMG"));
done:
  return status;
}
#else
bool tesi_amg_available(void) {
  return false;
}

TesStatus tesi_amg_create(TesContext *ctx, const TesiMatrix *A, TesiAmg **amg) {
  TesStatus status = TES_OK;
  (void)A;
  *amg = NULL;
  TES_FAIL(TES_MISSING, "Tessera was built without hypre, which has the algebraic multigrid: install "
                        "libhypre-dev and build with "
                        "-DTESSERA_HYPRE=ON, or choose another coarse solver");
done:
  return status;
}

void tesi_amg_destroy(TesiAmg **amg) {
  *amg = NULL;
}

TesStatus tesi_amg_apply(TesiAmg *amg, const double *r, double *z) {
  (void)amg, (void)r, (void)z;
  return TES_MISSING;
}
#endif
