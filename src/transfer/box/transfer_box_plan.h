/* The host transfers' plan, shared by its set-up (transfer_box_host.c) and its SIMD builds (transfer_*_simd.c).
 *
 * Prolongation lifts coarse values to fine ones along x, then y, then z; restriction, its transpose, lowers along
 * z, then y, then x: z, whose values lie farthest apart, works on whole fine vectors; x, whose lines must be
 * transposed, works on a quarter of the values. Cell by cell, k = degree, coarse nodes p = 0..k, fine nodes f =
 * 0..2k:
 *   lift   w_0 = u_0,  w_f = sum_p E[f][p] u_p for 0 < f < 2k          (w_2k is the next cell's w_0)
 *   lower s_p = sum over 0 < f < 2k of E[f][p] v_f; s_0 += v_0 + what the cell below left, s_k is left to the next
 *   cell.
 * Where the coarse cell is halved E is centrosymmetric, E[f][p] = E[2k-f][k-p], and both work on sums and
 * differences of mirrored values: half the multiplications; for even k the middle row is a unit row too.
 *
 * Cost per fine dof in 3D, multiplications and additions: (1 + 1/2 + 1/4) (k+1)(1 + 2/k) about; least traffic: the
 * fine vector once (twice when added to) and an eighth of it for the coarse one. With 16 lanes the arithmetic takes
 * a fifth of that. */
#ifndef TESI_TRANSFER_BOX_PLAN_H
#define TESI_TRANSFER_BOX_PLAN_H

#include "transfer/transfer.h"

typedef enum TesiEmbeddingKind { TESI_IDENTITY, TESI_MIRRORED, TESI_GENERAL, TESI_THREE } TesiEmbeddingKind;

/* Fine nodes per coarse cell. */
static inline int tesi_transfer_step(TesiEmbeddingKind kind, int k) {
  return kind == TESI_IDENTITY ? k : kind == TESI_THREE ? 3 * k : 2 * k;
}

/* Table of one cell, numbers of the plan's precision; E = k/2 + 1, O = (k+1)/2:
 *   mirrored: even[f = 1..k][E], odd[f = 1..k-1][O]: halves of E[f][p] + E[f][k-p] (E[f][k/2] in the middle), of
 *   E[f][p] - E[f][k-p]; general: E[f = 1..2k-1][k+1]; three fine cells: E[f = 1..3k-1][k+1]; identity: none. */
typedef struct TesiTransferAxis {
  int cells, degree, step; /* step: fine nodes per coarse cell, in all cells but the last */
  int coarse_nodes, fine_nodes;
  int alike; /* kind and table of all cells, or of all but the last cell, which then has its own */
  int last_step;
  TesiEmbeddingKind kind, last_kind;
  ptrdiff_t stride; /* from one cell's table to the next: 0 when all cells share a table */
  void *tables, *last_table;
  bool natural[2];
} TesiTransferAxis;

/* The work of a thread: the coarse cells [first, last) of y (0) and z (1) with their lower nodes; the last task also
 * has the mesh's last nodes. */
typedef struct TesiTransferTask {
  int first[2], last[2];
  void *workspace;
} TesiTransferTask;

typedef struct TesiTransferPlan {
  int dim;
  TesiTransferAxis axis[3];
  int chunk, block; /* coarse cells: of x that are transposed together; of y between two directions */
  int task_count;
  TesiTransferTask *tasks;
  void (*prolongate)(const struct TesiTransferPlan *plan, const TesiTransferTask *task, const void *coarse,
                     bool add, void *fine);
  void (*restrict_)(const struct TesiTransferPlan *plan, const TesiTransferTask *task, const void *fine,
                    void *coarse);
} TesiTransferPlan;

static inline int tesi_transfer_table_size(TesiEmbeddingKind kind, int k) {
  if (kind == TESI_IDENTITY) return 0;
  if (kind == TESI_GENERAL || kind == TESI_THREE) return (tesi_transfer_step(kind, k) - 1) * (k + 1);
  return k * (k / 2 + 1) + (k - 1) * ((k + 1) / 2);
}

#define TESI_TRANSFER_BUILD(type)                                                                            \
  void tesk_prolongate_##type(const TesiTransferPlan *plan, const TesiTransferTask *task,                    \
                              const void *coarse, bool add, void *fine);                                     \
  void tesk_restrict_##type(const TesiTransferPlan *plan, const TesiTransferTask *task, const void *fine,    \
                            void *coarse);                                                                   \
  size_t tesk_transfer_workspace_##type(const TesiTransferPlan *plan, const TesiTransferTask *task);
TESI_TRANSFER_BUILD(double_128)
TESI_TRANSFER_BUILD(double_256)
TESI_TRANSFER_BUILD(double_512)
TESI_TRANSFER_BUILD(float_128)
TESI_TRANSFER_BUILD(float_256)
TESI_TRANSFER_BUILD(float_512)
#undef TESI_TRANSFER_BUILD

#endif
