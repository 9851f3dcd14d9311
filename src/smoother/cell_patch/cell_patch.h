/* Cell patches of operators on mapped cells: the preconditioner
 *     B = sum over cells c of W R_c' A_c^-1 R_c W,
 * R_c: the nodes of cell c that are unknowns and on no hanging line of it, and zero at its other nodes; A_c: a
 * separable approximation of the assembled operator on the nodes of the cell, without sides whose nodes are all
 * Dirichlet nodes or hang,
 *     A_c = g_0 M (x) M (x) K + g_1 M (x) K (x) M + g_2 K (x) M (x) M + m M (x) M (x) M,
 * K, M: 1D stiffness and mass of the cell [0, 1] and, at its ends, of its neighbours (Lottes and Fischer, Hybrid
 * multigrid/Schwarz algorithms for the spectral element method, J. Sci. Comput. 24, 2005), inverted by fast
 * diagonalization with a basis for each pair of ends:
 *     A_c^-1 = (S (x) S (x) S) (sum_d g_d lambda_d + m)^-1 (S (x) S (x) S)'.
 * g_d: mean over the cell of the diagonal of |J| J^-1 a J^-T; m: mean of c |J|.
 * W: diagonal, W_i^2 = (mean over the patches at node i of the diagonal of A_c, at most 2.5 times the harmonic mean) /
 * (number of patches at i times diag(A)_i), 0 at Dirichlet nodes.
 * So B is symmetric, and definite on the unknowns; on a box of equal cells and constant a and c each A_c is the
 * assembled matrix itself.
 *
 * Cost of B: 4 dim n^(dim + 1) flops per cell and a division per node; it reads index, weight and two vectors, but no
 * factors of the geometry. */
#ifndef TESI_CELL_PATCH_H
#define TESI_CELL_PATCH_H

#include "operator/mapped/mapped.h"
#include "smoother/smoother.h"

enum { TESI_CELL_PATCH_NODES = 9 };

/* The kind of an end of a cell in one direction: no unknowns (Dirichlet or hanging nodes), no neighbour (a natural
 * boundary), or a neighbour 2^(i/2) times as thick, i = -6 .. 6. */
enum {
  TESI_END_GONE,
  TESI_END_FREE,
  TESI_END_RATIO,
  TESI_END_MIDDLE = TESI_END_RATIO + 6,
  TESI_ENDS = TESI_END_RATIO + 13
};

/* The cell of the same size across a face, and the number of the face in that cell; -1: none. */
typedef struct TesiAcross {
  int32_t cell, face;
} TesiAcross;

typedef struct TesiCellPatches TesiCellPatches;
typedef struct TesiLinePatches TesiLinePatches;
typedef struct TesiCellPatchKernels TesiCellPatchKernels;
typedef void (*TesiCellPatchRun)(const TesiCellPatches *p, int64_t first, int64_t end, const void *r, void *z);

struct TesiCellPatches {
  TesContext *context;
  const TesiMapped *m; /* owned by the operator, which must outlive this */
  TesiExchange *sum;   /* for unknowns that several ranks share; NULL: one rank */
  int classes;
  int class_of[TESI_ENDS][TESI_ENDS]; /* number of the class by its ends, -1: no cell has these ends */
  double *S, *lambda;   /* [classes][n][n] (node, mode), [classes][n]; missing modes: S = 0, lambda = 1 */
  uint8_t (*end)[3][2]; /* [cells] */
  TesiAcross (*across)[3][2]; /* [cells], by direction and side; needed if patches are lines of cells, else NULL */
  double (*g)[4];             /* [cells] g_d, m */
  void *weight;               /* W, the operator's precision */
  TesiLinePatches *lines;        /* patches are lines of cells (line_patch.h); NULL: patches are cells */
  TesiCellPatchKernels *kernels; /* on devices with kernels; NULL on the host, which uses: */
  /* batches of cells of one colour, `lanes` cells each: cell[batches][lanes], -1: none; index[batches][node][lanes],
   * -1: not in the patch */
  int lanes, colours;
  int64_t batches, *first_of_colour; /* [colours + 1] */
  int32_t *cell, *index;
  TesiCellPatchRun run;
};

TesStatus tesi_cell_patches_create(const TesOperator *op, TesiCellPatches **patches);
/* The same with lines of stretched cells as patches: line_patch.h. */
TesStatus tesi_cell_patches_create_lines(const TesOperator *op, TesiCellPatches **patches);
void tesi_cell_patches_destroy(TesiCellPatches **patches);
/* z <- sum R_c' A_c^-1 R_c W r, over the cells of all ranks: B r without the last W, which the polynomial of B A
 * multiplies by anyway. The bits do not depend on the number of threads and, except for `unordered` contexts, on the
 * order of blocks. On a device nothing is allocated, and the call does not wait. */
TesStatus tesi_cell_patches_apply(const TesiCellPatches *p, const void *r, void *z);
/* Plain version in float64: A_c is assembled as a dense matrix and solved. */
TesStatus tesi_cell_patches_apply_ref(const TesiCellPatches *p, const double *r, double *z);
TesCost tesi_cell_patches_cost(const TesiCellPatches *p);

/* cell_patch_device.c: for patches that are complete except `kernels`; to be destroyed after failure too. Errors:
 * TES_OUT_OF_MEMORY, before anything is allocated, if the device has no room. */
TesStatus tesi_cell_patch_kernels_create(const TesiCellPatches *p, TesiCellPatchKernels **kernels);
void tesi_cell_patch_kernels_destroy(TesContext *ctx, TesiCellPatchKernels **kernels);
TesStatus tesi_cell_patch_kernels_apply(const TesiCellPatches *p, const void *r, void *z);
/* Bytes of main memory that one application reads and writes. */
double tesi_cell_patch_kernels_bytes(const TesiCellPatches *p);

/* cell_patch_ends.c: computes p->end, and p->across for cells of this rank. All ranks call it. */
TesStatus tesi_cell_patches_find_ends(TesiCellPatches *p, const TesiLayout *layout);
/* K, M [n][n] of the cell [0, 1] with its neighbours at the ends. */
void tesi_cell_patch_matrices(int n, const uint8_t end[2], double *K, double *M);
/* Adds the contribution of the neighbours to K and M of the single cell. */
void tesi_cell_patch_add_ends(int n, const uint8_t end[2], double *K, double *M);
/* The basis of a pair of ends: S[n][n] (node, mode), lambda[n]; removed nodes have no mode: S = 0, lambda = 1. S must
 * be zero at entry. */
TesStatus tesi_cell_patch_basis(TesContext *ctx, int n, const uint8_t end[2], double *S, double *lambda);
/* Of each node, over the patches that have it: sums of the diagonals of A_c and of their inverses, number. */
typedef struct TesiPatchDiagonals {
  double *sum, *inverse, *count;
} TesiPatchDiagonals;
static inline void tesi_patch_diagonals_add(const TesiPatchDiagonals *d, int64_t node, double entry) {
  d->sum[node] += entry;
  d->inverse[node] += 1 / entry;
  d->count[node] += 1;
}
TesStatus tesi_patch_diagonals_create(TesContext *ctx, int64_t nodes, TesiPatchDiagonals *diagonals);
void tesi_patch_diagonals_free(TesContext *ctx, TesiPatchDiagonals *diagonals);
/* p->weight; overwrites the diagonals. */
TesStatus tesi_cell_patch_weights(TesiCellPatches *p, const TesOperator *op,
                                  const TesiPatchDiagonals *diagonals);
/* The number of a vertex, the same for all cells, also if the vertex hangs. number[nodes]: node numbers that are the
 * same on all ranks; NULL: the index's numbers. */
uint64_t tesi_cell_patch_vertex_key(const TesiMapped *m, const double *number, int64_t cell, int v);
/* Whether node i of the cell, number `at`, is in its patch. */
bool tesi_cell_patch_has(const TesiMapped *m, int64_t cell, int64_t at);

void tesi_cell_patches_run_double_128(const TesiCellPatches *, int64_t, int64_t, const void *, void *);
void tesi_cell_patches_run_float_128(const TesiCellPatches *, int64_t, int64_t, const void *, void *);
void tesi_cell_patches_run_double_256(const TesiCellPatches *, int64_t, int64_t, const void *, void *);
void tesi_cell_patches_run_float_256(const TesiCellPatches *, int64_t, int64_t, const void *, void *);
void tesi_cell_patches_run_double_512(const TesiCellPatches *, int64_t, int64_t, const void *, void *);
void tesi_cell_patches_run_float_512(const TesiCellPatches *, int64_t, int64_t, const void *, void *);

#endif
