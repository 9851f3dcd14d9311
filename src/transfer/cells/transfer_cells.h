/* Transfers between spaces with hanging nodes: the plan. */
#ifndef TESI_TRANSFER_CELLS_H
#define TESI_TRANSFER_CELLS_H

#include "base/sequence.h"
#include "space/space.h"
#include "transfer/transfer.h"

enum { TESI_FOREST_NODES = 9, TESI_FOREST_CELL = 9 * 9 * 9 };

/* A coarse cell: fine cell `first` is the same cell, or the first of its 2^dim children. */
typedef struct TesiCellsFamily {
  int32_t first;
  bool refined;
} TesiCellsFamily;

/* Coarse cells first .. end - 1. */
typedef struct TesiCellsChunk {
  int64_t first, end;
} TesiCellsChunk;

typedef struct TesiCellsKernels TesiCellsKernels;

typedef struct TesiCellsTransfer {
  TesiCellView *coarse, *fine;
  int dim, m, n; /* nodes per direction of a coarse and of a fine cell */
  int64_t cells, fine_cells, coarse_nodes, fine_nodes; /* coarse cells; nodes per cell */
  TesiCellsFamily *family;                             /* [cells] */
  uint32_t *own;        /* [fine cells] bits of the entities whose nodes this cell writes */
  TesiExchange *shared; /* of the fine nodes between ranks; NULL: one rank */
  int32_t *others;      /* copies here of fine nodes that another rank writes */
  int64_t others_count;
  unsigned char entity[TESI_FOREST_CELL]; /* for each node of a fine cell: corner, edge, face or the inside */
  /* in the transfer's precision, with room for a vector behind: E[rows][m] of a cell that is not refined (rows = n)
   * and of one that is (rows = 2 n, both halves); T[m][rows], their transposes; W[2][m][m] of hanging nodes, and
   * its transposes */
  void *E[2], *T[2], *half[2], *half_transposed[2];
  /* on the host */
  int threads;
  TesiSequence *sequence;
  TesiCellsChunk *chunk; /* in its order */
  void (*prolongate)(const struct TesiCellsTransfer *t, int64_t first, int64_t end, const void *coarse,
                     void *fine);
  void (*restrict_)(const struct TesiCellsTransfer *t, int64_t first, int64_t end, const void *fine,
                    void *coarse);
  TesiCellsKernels *kernels; /* on devices with kernels */
} TesiCellsTransfer;

/* The node that is written as node p of a fine cell; negative: none. */
static inline int32_t tesi_cells_own(const TesiCellsTransfer *t, int64_t cell, int64_t p) {
  return t->own[cell] >> t->entity[p] & 1 ? t->fine->index[cell * t->fine_nodes + p] : -1;
}

/* transfer_cells_body.h, in both precisions and each SIMD width: coarse cells first .. end - 1. */
#define TESI_FOREST_TRANSFER_BUILD(bits)                                                                     \
  void tesi_cells_prolongate_double_##bits(const TesiCellsTransfer *t, int64_t first, int64_t end,           \
                                           const void *coarse, void *fine);                                  \
  void tesi_cells_prolongate_float_##bits(const TesiCellsTransfer *t, int64_t first, int64_t end,            \
                                          const void *coarse, void *fine);                                   \
  void tesi_cells_restrict_double_##bits(const TesiCellsTransfer *t, int64_t first, int64_t end,             \
                                         const void *fine, void *coarse);                                    \
  void tesi_cells_restrict_float_##bits(const TesiCellsTransfer *t, int64_t first, int64_t end,              \
                                        const void *fine, void *coarse);
TESI_FOREST_TRANSFER_BUILD(128)
TESI_FOREST_TRANSFER_BUILD(256)
TESI_FOREST_TRANSFER_BUILD(512)

/* transfer_cells_device.c: for a transfer whose plan is complete except `kernels`; to be destroyed after failure
 * too. */
TesStatus tesi_cells_kernels_create(const TesTransfer *transfer, TesiCellsKernels **kernels);
void tesi_cells_kernels_destroy(TesContext *ctx, TesiCellsKernels **kernels);
TesStatus tesi_cells_kernels_prolongate(const TesTransfer *transfer, const void *coarse, bool add, void *fine);
TesStatus tesi_cells_kernels_restrict(const TesTransfer *transfer, const void *fine, void *coarse);
TesStatus tesi_cells_kernels_expect(TesTransfer *transfer, int vectors);
TesStatus tesi_cells_kernels_prolongate_all(const TesTransfer *transfer, int vectors, const void *coarse,
                                            bool add, void *fine);
TesStatus tesi_cells_kernels_restrict_all(const TesTransfer *transfer, int vectors, const void *fine,
                                          void *coarse);

/* Plain versions, transfer_cells_ref.c. */
TesStatus tesi_cells_prolongate_ref(const TesTransfer *transfer, const double *coarse, bool add, double *fine);
TesStatus tesi_cells_restrict_ref(const TesTransfer *transfer, const double *fine, double *coarse);

#endif
