/** \file petsc.h
 *  Operators, multigrid, smoothers and solvers for PETSc (3.18 and newer), for programs that include PETSc themselves;
 *  tessera.h leaves this header out. All its functions are defined in this header: the library does not link PETSc.
 *
 *      Mat A;
 *      KSP ksp;
 *      PC pc;
 *      PetscCall(tes_petsc_operator(context, op, &A));
 *      PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
 *      PetscCall(KSPSetOperators(ksp, A, A));
 *      PetscCall(KSPGetPC(ksp, &pc));
 *      PetscCall(tes_petsc_multigrid(context, multigrid, pc));
 *      PetscCall(KSPSetType(ksp, KSPCG));
 *
 *  examples/petsc.c is a whole program, docs/petsc.md the page about it.
 *
 *  Vectors: a Vec has the entries of a TesVector: all nodes, given (Dirichlet) nodes too. The matrix is A at the
 *  unknowns and the identity at given nodes, without entries between the two, and so is every preconditioner of this
 *  header. Hence the matrix is regular, and symmetric where A is. A right-hand side that is zero at given nodes, as
 *  tes_functional_load() makes it, has a solution that is zero there; boundary values are lifted before the solve
 *  (tes_operator_lift()) and added after it. The identity adds one eigenvalue 1 per given node.
 *
 *  Copies: on device cpu the arrays of PETSc are used in place. They are copied if an input vector is not zero at given
 *  nodes, if a cycle is in float32, and, to and from the device, if the context has another device.
 *
 *  Ranks: one; objects are of PETSC_COMM_SELF. Spaces with a part of element rt have no list of their given entries.
 *  Both are refused with PETSC_ERR_SUP.
 *
 *  Ownership: a Mat or PC refers to the objects that it was made of, which must outlive it. It owns all else.
 *
 *  Errors: a TesStatus becomes an error of PETSc with the message of the context, which is cleared then.
 *  TES_INVALID_INPUT is PETSC_ERR_ARG_WRONG, TES_MISSING is PETSC_ERR_SUP, TES_OUT_OF_MEMORY is PETSC_ERR_MEM, TES_IO
 *  is PETSC_ERR_FILE_OPEN, TES_NAN is PETSC_ERR_FP, TES_NOT_CONVERGED and TES_DIVERGED are PETSC_ERR_NOT_CONVERGED,
 *  all others are PETSC_ERR_LIB. */
#ifndef TESSERA_PETSC_H
#define TESSERA_PETSC_H

#include <math.h>
#include <petscksp.h>
#include <string.h>
#include "solver.h"

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
#error "tessera/petsc.h needs a build of PETSc with real numbers in float64"
#endif

/** Ends the function with an error of PETSc where a call of Tessera fails. */
#define TesPetscCall(context, call) PetscCall(tes_petsc_error((context), (call)))

/** Private: the context of a Mat or PC; one of op, cycle, smoother and solver is applied. */
typedef struct TesPetsc {
  TesContext *context;
  const TesOperator *op;
  TesMultigrid *cycle;
  const TesSmoother *smoother;
  TesSolver *solver;
  int64_t length, count;
  int64_t *given;     /**< [count]: entries at given nodes */
  Vec clean;          /**< a copy of the input with zeros at given nodes; NULL as long as no copy is needed */
  TesVector *wide[2]; /**< x and y in float64 on the device; NULL: the arrays of PETSc are used in place */
  TesVector *narrow[2]; /**< x and y in float32; NULL: the applied object is in float64 */
} TesPetsc;

/** A PETSc error with the message of the context, which is cleared; 0 for TES_OK. */
static inline PetscErrorCode tes_petsc_error(TesContext *context, TesStatus status) {
  char message[1024];
  if (status == TES_OK) return 0;
  const PetscErrorCode code = status == TES_INVALID_INPUT                             ? PETSC_ERR_ARG_WRONG
                              : status == TES_MISSING                                 ? PETSC_ERR_SUP
                              : status == TES_OUT_OF_MEMORY                           ? PETSC_ERR_MEM
                              : status == TES_IO                                      ? PETSC_ERR_FILE_OPEN
                              : status == TES_NAN                                     ? PETSC_ERR_FP
                              : status == TES_NOT_CONVERGED || status == TES_DIVERGED ? PETSC_ERR_NOT_CONVERGED
                                                                                      : PETSC_ERR_LIB;
  const char *told = context ? tes_context_message(context) : "";
  PetscCall(PetscStrncpy(message, told[0] ? told : tes_status_text(status), sizeof message));
  if (context) tes_context_clear(context);
  SETERRQ(PETSC_COMM_SELF, code, "Tessera: %s", message);
}

/** Private: given[length] <- whether the entry is at a given node. */
static inline TesStatus tes_petsc_mark(TesContext *context, const TesSpace *space, char *given) {
  TesVector *whole = NULL, *view = NULL;
  TesStatus status = tes_vector_create(context, tes_space_length(space), TES_DOUBLE, &whole);
  const TesMeshInfo mesh = tes_mesh_info(tes_space_mesh(space));
  for (int k = 0; status == TES_OK && k < tes_space_parts(space); k++) {
    const TesSpace *part = tes_space_part(space, k);
    const int64_t n = tes_space_degree(part) + 1, nodes = mesh.cells * n * n * (mesh.dim == 3 ? n : 1);
    const int32_t *index = NULL;
    status = tes_space_index(part, &index, NULL);
    if (status == TES_OK) status = tes_vector_part(space, whole, k, &view);
    if (status != TES_OK) break;
    char *of =
        given + ((const double *)tes_vector_data_const(view) - (const double *)tes_vector_data_const(whole));
    for (int64_t i = 0; i < nodes; i++)
      if (index[i] < 0) of[-1 - index[i]] = 1;
    tes_vector_destroy(&view);
  }
  tes_vector_destroy(&view);
  tes_vector_destroy(&whole);
  return status;
}

/** Private. */
static inline PetscErrorCode tes_petsc_list(TesPetsc *p, const TesSpace *space) {
  char *given;
  if (tes_space_dofs(space) == p->length) return 0;
  PetscCall(PetscCalloc1(p->length, &given));
  const TesStatus status = tes_petsc_mark(p->context, space, given);
  for (int64_t i = 0; i < p->length; i++) p->count += given[i] != 0;
  PetscCall(PetscMalloc1(p->count, &p->given));
  p->count = 0;
  for (int64_t i = 0; i < p->length; i++)
    if (given[i]) p->given[p->count++] = i;
  PetscCall(PetscFree(given));
  return tes_petsc_error(p->context, status);
}

/** Private. */
static inline PetscErrorCode tes_petsc_free(TesPetsc *p) {
  for (int i = 0; i < 2; i++) {
    tes_vector_destroy(&p->wide[i]);
    tes_vector_destroy(&p->narrow[i]);
  }
  PetscCall(VecDestroy(&p->clean));
  PetscCall(PetscFree(p->given));
  PetscCall(PetscFree(p));
  return 0;
}

/** Private: refuses a space without a list of given entries, and several ranks. */
static inline PetscErrorCode tes_petsc_check(const TesSpace *space) {
  const TesMeshInfo mesh = tes_mesh_info(tes_space_mesh(space));
  if (mesh.all_cells != mesh.cells)
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "Tessera: tessera/petsc.h works on one rank");
  for (int k = 0; k < tes_space_parts(space); k++)
    if (!tes_space_part(space, k))
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP,
              "Tessera: element rt has no list of its given entries for PETSc");
  return 0;
}

/** Private: `what` names the applied object, over this space and in this precision. */
static inline PetscErrorCode tes_petsc_create(TesPetsc what, const TesSpace *space, TesPrecision precision,
                                              TesPetsc **made) {
  TesPetsc *p;
  TesStatus status = TES_OK;
  PetscCall(tes_petsc_check(space));
  PetscCall(PetscNew(&p));
  *p = what;
  p->length = tes_space_length(space);
  const bool on_host = !strcmp(tes_context_device(p->context), "cpu");
  for (int i = 0; i < 2 && status == TES_OK; i++) {
    if (!on_host) status = tes_vector_create(p->context, p->length, TES_DOUBLE, &p->wide[i]);
    if (status == TES_OK && precision == TES_SINGLE)
      status = tes_vector_create(p->context, p->length, TES_SINGLE, &p->narrow[i]);
  }
  const PetscErrorCode listed =
      status == TES_OK ? tes_petsc_list(p, space) : tes_petsc_error(p->context, status);
  if (listed) PetscCall(tes_petsc_free(p));
  PetscCall(listed);
  *made = p;
  return 0;
}

/** Private: y <- the applied object times x, both in its precision. */
static inline TesStatus tes_petsc_call(TesPetsc *p, const TesVector *x, TesVector *y) {
  TesSolveResult result;
  if (p->op) return tes_operator_apply(p->op, x, y);
  if (p->cycle) return tes_multigrid_cycle(p->cycle, x, y, true);
  if (p->smoother) return tes_smoother_apply(p->smoother, x, y, TES_FORWARD, true);
  TesStatus status = tes_vector_fill(y, 0);
  if (status == TES_OK) status = tes_solver_solve(p->solver, x, y, &result);
  if (status != TES_NOT_CONVERGED) return status;
  tes_context_clear(p->context); /* so many iterations are the preconditioner */
  return TES_OK;
}

/** Private: the same for float64 vectors. Before rounding to float32 the numbers are scaled to about 1, so that nothing
 *  underflows. */
static inline TesStatus tes_petsc_compute(TesPetsc *p, const TesVector *x, TesVector *y) {
  double largest = 0;
  int exponent = 0;
  if (!p->narrow[0]) return tes_petsc_call(p, x, y);
  TesStatus status = tes_vector_maximum(x, &largest);
  if (status == TES_OK && largest > 0 && largest <= PETSC_MAX_REAL) (void)frexp(largest, &exponent);
  const double scale = ldexp(1, -exponent);
  if (status == TES_OK) status = tes_vector_copy(x, scale, p->narrow[0]);
  if (status == TES_OK) status = tes_petsc_call(p, p->narrow[0], p->narrow[1]);
  return status == TES_OK ? tes_vector_copy(p->narrow[1], 1 / scale, y) : status;
}

/** Private: the same for arrays of the host. */
static inline TesStatus tes_petsc_arrays(TesPetsc *p, const double *in, double *out) {
  TesVector *x = NULL, *y = NULL;
  TesStatus status;
  if (p->wide[0]) {
    status = tes_vector_set(p->wide[0], in);
    if (status == TES_OK) status = tes_petsc_compute(p, p->wide[0], p->wide[1]);
    return status == TES_OK ? tes_vector_get(p->wide[1], out) : status;
  }
  status = tes_vector_wrap(p->context, (void *)in, p->length, TES_DOUBLE, &x);
  if (status == TES_OK) status = tes_vector_wrap(p->context, out, p->length, TES_DOUBLE, &y);
  if (status == TES_OK) status = tes_petsc_compute(p, x, y);
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  return status;
}

/** Private: clean <- x if x is zero at given nodes, else a copy of x with zeros there. */
static inline PetscErrorCode tes_petsc_clean(TesPetsc *p, Vec x, Vec *clean) {
  const PetscScalar *values;
  PetscScalar *copy;
  bool zero = true;
  *clean = x;
  PetscCall(VecGetArrayRead(x, &values));
  for (int64_t i = 0; i < p->count && zero; i++) zero = values[p->given[i]] == 0;
  PetscCall(VecRestoreArrayRead(x, &values));
  if (zero) return 0;
  if (!p->clean) PetscCall(VecDuplicate(x, &p->clean));
  PetscCall(VecCopy(x, p->clean));
  PetscCall(VecGetArray(p->clean, &copy));
  for (int64_t i = 0; i < p->count; i++) copy[p->given[i]] = 0;
  PetscCall(VecRestoreArray(p->clean, &copy));
  *clean = p->clean;
  return 0;
}

/** Private: y <- the applied object times x at unknowns, x at given nodes. */
static inline PetscErrorCode tes_petsc_apply(TesPetsc *p, Vec x, Vec y) {
  const PetscScalar *in, *all;
  PetscScalar *out;
  Vec clean;
  PetscCall(tes_petsc_clean(p, x, &clean));
  PetscCall(VecGetArrayRead(x, &all));
  PetscCall(VecGetArrayRead(clean, &in));
  PetscCall(VecGetArrayWrite(y, &out));
  const TesStatus status = tes_petsc_arrays(p, in, out);
  for (int64_t i = 0; i < p->count; i++) out[p->given[i]] = all[p->given[i]];
  PetscCall(VecRestoreArrayWrite(y, &out));
  PetscCall(VecRestoreArrayRead(clean, &in));
  PetscCall(VecRestoreArrayRead(x, &all));
  return tes_petsc_error(p->context, status);
}

/** Private: MATOP_MULT. */
static inline PetscErrorCode tes_petsc_mult(Mat A, Vec x, Vec y) {
  void *p;
  PetscCall(MatShellGetContext(A, &p));
  return tes_petsc_apply((TesPetsc *)p, x, y);
}

/** Private: MATOP_GET_DIAGONAL. */
static inline PetscErrorCode tes_petsc_diagonal(Mat A, Vec d) {
  void *context;
  PetscScalar *values;
  TesVector *diagonal = NULL;
  PetscCall(MatShellGetContext(A, &context));
  const TesPetsc *p = (const TesPetsc *)context;
  PetscCall(VecGetArrayWrite(d, &values));
  TesStatus status = tes_vector_create(p->context, p->length, TES_DOUBLE, &diagonal);
  if (status == TES_OK) status = tes_operator_diagonal(p->op, diagonal);
  if (status == TES_OK) status = tes_vector_get(diagonal, values);
  tes_vector_destroy(&diagonal);
  PetscCall(VecRestoreArrayWrite(d, &values));
  return tes_petsc_error(p->context, status);
}

/** Private: MATOP_DESTROY. */
static inline PetscErrorCode tes_petsc_end_mat(Mat A) {
  void *p;
  PetscCall(MatShellGetContext(A, &p));
  return tes_petsc_free((TesPetsc *)p);
}

/** Private: the functions of a PC. */
static inline PetscErrorCode tes_petsc_precondition(PC pc, Vec x, Vec y) {
  void *p;
  PetscCall(PCShellGetContext(pc, &p));
  return tes_petsc_apply((TesPetsc *)p, x, y);
}

/** Private. */
static inline PetscErrorCode tes_petsc_end_pc(PC pc) {
  void *p;
  PetscCall(PCShellGetContext(pc, &p));
  return tes_petsc_free((TesPetsc *)p);
}

/** Private. */
static inline PetscErrorCode tes_petsc_set(TesPetsc what, const TesSpace *space, TesPrecision precision,
                                           const char *name, PC pc) {
  TesPetsc *p;
  PetscCall(tes_petsc_create(what, space, precision, &p));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, p));
  PetscCall(PCShellSetApply(pc, tes_petsc_precondition));
  PetscCall(PCShellSetDestroy(pc, tes_petsc_end_pc));
  PetscCall(PCShellSetName(pc, name));
  return 0;
}

/** A <- a MATSHELL with the products and the diagonal of an operator, without entries. A singular operator of one
 *  component gets the null space of constants. The operator must be float64, else PETSC_ERR_ARG_WRONG. */
static inline PetscErrorCode tes_petsc_operator(TesContext *context, const TesOperator *op, Mat *A) {
  const TesOperatorInfo info = tes_operator_info(op);
  TesPetsc what, *p;
  MatNullSpace constants;
  if (info.precision != TES_DOUBLE)
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
            "Tessera: the operator is float32, and vectors of PETSc float64");
  memset(&what, 0, sizeof what);
  what.context = context;
  what.op = op;
  PetscCall(tes_petsc_create(what, info.space, TES_DOUBLE, &p));
  const PetscInt n = (PetscInt)info.length;
  PetscCall(MatCreateShell(PETSC_COMM_SELF, n, n, n, n, p, A));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))tes_petsc_mult));
  PetscCall(MatShellSetOperation(*A, MATOP_GET_DIAGONAL, (void (*)(void))tes_petsc_diagonal));
  PetscCall(MatShellSetOperation(*A, MATOP_DESTROY, (void (*)(void))tes_petsc_end_mat));
  if (!info.singular || tes_space_components(info.space) != 1) return 0;
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(*A, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  return 0;
}

/** The preconditioner is one V-cycle from zero; symmetric (for KSPCG) where TesMultigridDesc.symmetric says so. */
static inline PetscErrorCode tes_petsc_multigrid(TesContext *context, TesMultigrid *multigrid, PC pc) {
  const TesMultigridLevel finest = tes_multigrid_level(multigrid, tes_multigrid_levels(multigrid) - 1);
  const TesOperatorInfo info = tes_operator_info(finest.op);
  TesPetsc what;
  memset(&what, 0, sizeof what);
  what.context = context;
  what.cycle = multigrid;
  return tes_petsc_set(what, info.space, info.precision, "Tessera: a V-cycle", pc);
}

/** The preconditioner is one forward step of a smoother of this operator, from zero. */
static inline PetscErrorCode tes_petsc_smoother(TesContext *context, const TesSmoother *smoother,
                                                const TesOperator *op, PC pc) {
  const TesOperatorInfo info = tes_operator_info(op);
  TesPetsc what;
  memset(&what, 0, sizeof what);
  what.context = context;
  what.smoother = smoother;
  return tes_petsc_set(what, info.space, info.precision, tes_smoother_describe(smoother), pc);
}

/** The preconditioner is a solve from zero by a solver of this operator, to its tolerance or its largest number of
 *  iterations. It is not a linear map, so use KSPFGMRES, KSPFCG and the like, or KSPPREONLY. */
static inline PetscErrorCode tes_petsc_solver(TesContext *context, TesSolver *solver, const TesOperator *op,
                                              PC pc) {
  TesPetsc what;
  memset(&what, 0, sizeof what);
  what.context = context;
  what.solver = solver;
  return tes_petsc_set(what, tes_operator_info(op).space, TES_DOUBLE, "Tessera: a solve", pc);
}

/** x <- a Vec over the numbers of a float64 vector on device cpu, without a copy; destroy it before the vector. The
 *  other way round, tes_vector_wrap() takes the array of VecGetArray(). */
static inline PetscErrorCode tes_petsc_vector(TesContext *context, TesVector *vector, Vec *x) {
  if (strcmp(tes_context_device(context), "cpu") != 0 || tes_vector_precision(vector) != TES_DOUBLE)
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP,
            "Tessera: a Vec shares numbers of float64 vectors on device cpu alone");
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)tes_vector_length(vector),
                                  (PetscScalar *)tes_vector_data(vector), x));
  return 0;
}

/** Private: component c of a constant (rotation -1), or of a rotation of two directions, at n nodes. */
static inline void tes_petsc_motion(int dim, bool one, int rotation, int c, int64_t n, const double *x,
                                    PetscScalar *values) {
  const int first[] = {0, 0, 1}, second[] = {1, 2, 2};
  for (int64_t i = 0; i < n; i++) values[i] = one ? 1 : 0;
  if (rotation < 0) return;
  const int a = first[rotation], b = second[rotation];
  for (int64_t i = 0; i < n; i++) values[i] = c == a ? -x[i * dim + b] : c == b ? x[i * dim + a] : 0;
}

/** Private: v <- motion m of the space, 0 at given nodes. */
static inline TesStatus tes_petsc_fill_motion(const TesPetsc *p, const TesSpace *space, int m,
                                              const double *x, PetscScalar *v) {
  const int dim = tes_mesh_info(tes_space_mesh(space)).dim, parts = tes_space_parts(space);
  TesVector *whole = NULL, *view = NULL;
  TesStatus status = tes_vector_create(p->context, p->length, TES_DOUBLE, &whole);
  for (int c = 0; c < parts && status == TES_OK; c++) {
    status = tes_vector_part(space, whole, c, &view);
    if (status != TES_OK) break;
    const int64_t from =
        (const double *)tes_vector_data_const(view) - (const double *)tes_vector_data_const(whole);
    tes_petsc_motion(dim, m == c, m < parts ? -1 : m - parts, c, tes_vector_length(view), x + from * dim,
                     v + from);
    tes_vector_destroy(&view);
  }
  tes_vector_destroy(&whole);
  for (int64_t i = 0; i < p->count; i++) v[p->given[i]] = 0;
  return status;
}

/** Gives the matrix of an operator its near-null space (MatSetNearNullSpace): the constants of each component and, if
 *  there are dim components (elasticity), the rotations. They are zero at given nodes and orthonormal. */
static inline PetscErrorCode tes_petsc_near_null_space(Mat A) {
  void *context;
  Vec v[6];
  PetscScalar *values, dot;
  PetscReal *x;
  MatNullSpace near_null;
  PetscCall(MatShellGetContext(A, &context));
  const TesPetsc *p = (const TesPetsc *)context;
  const TesSpace *space = tes_operator_info(p->op).space;
  const int dim = tes_mesh_info(tes_space_mesh(space)).dim, parts = tes_space_parts(space);
  const int count = parts == dim ? dim * (dim + 1) / 2 : parts < 6 ? parts : 6;
  PetscCall(PetscMalloc1(p->length * dim, &x));
  TesStatus status = tes_space_coordinates(space, x);
  for (int m = 0; m < count; m++) {
    PetscCall(MatCreateVecs(A, NULL, &v[m]));
    PetscCall(VecGetArrayWrite(v[m], &values));
    if (status == TES_OK) status = tes_petsc_fill_motion(p, space, m, x, values);
    PetscCall(VecRestoreArrayWrite(v[m], &values));
    for (int k = 0; k < m && status == TES_OK; k++) {
      PetscCall(VecDot(v[m], v[k], &dot));
      PetscCall(VecAXPY(v[m], -dot, v[k]));
    }
    if (status == TES_OK) PetscCall(VecNormalize(v[m], NULL));
  }
  PetscCall(PetscFree(x));
  PetscCall(tes_petsc_error(p->context, status));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, count, v, &near_null));
  PetscCall(MatSetNearNullSpace(A, near_null));
  PetscCall(MatNullSpaceDestroy(&near_null));
  for (int m = 0; m < count; m++) PetscCall(VecDestroy(&v[m]));
  return 0;
}

#endif
