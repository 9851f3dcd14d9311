/* Transfers as the other folders see them. */
#ifndef TESI_TRANSFER_H
#define TESI_TRANSFER_H

#include "operator/operator.h"
#include "space/order.h"
#include "space/space.h"
#include "tessera/transfer.h"

/* The 1D embedding, coarse cell by coarse cell. Fine nodes step*c .. step*(c+1) lie in coarse cell c; in the last
 * one, which may cover one or three fine cells where their number is odd, last_step + 1 of them:
 *   fine[step*c + f] = sum_p E[c][f][p] coarse[degree*c + p],  f = 0..step, p = 0..degree. */
typedef struct TesiEmbedding {
  int cells, degree, step; /* step = 2*degree where the direction is refined, degree where it is not */
  int last_step;           /* step, degree or 3*degree */
  int coarse_nodes, fine_nodes;
  bool uniform;    /* E of cell 0 serves all cells but the last */
  bool odd_end;    /* the last cell's E is not that of cell 0, or it is longer */
  bool natural[2]; /* the ends carry unknowns */
  bool periodic;   /* the last node of a line is its first */
  /* [step+1][degree+1] a cell, the last one's [last_step+1][degree+1]: of all cells; uniform: of cell 0, and of the
   * last one where that has an odd end */
  double *E;
} TesiEmbedding;

typedef struct TesiTransferTable {
  TesStatus (*prolongate)(const TesTransfer *transfer, const void *coarse, bool add, void *fine);
  TesStatus (*restrict_)(const TesTransfer *transfer, const void *fine, void *coarse);
  /* NULL, or restriction of pressures alone: velocities of `fine` count as zero and are not read. */
  TesStatus (*restrict_pressures)(const TesTransfer *transfer, const void *fine, void *coarse);
  /* NULL, or whether it can prolongate into such an order, and this prolongation. */
  bool (*writes)(const TesTransfer *transfer, TesiEntryOrderKind order);
  TesStatus (*prolongate_ordered)(const TesTransfer *transfer, const void *coarse, const TesiEntryOrder *fine);
  /* NULL, or the same of several vectors behind each other at once; before, `expect` makes room for so many. */
  TesStatus (*expect)(TesTransfer *transfer, int vectors);
  TesStatus (*prolongate_all)(const TesTransfer *transfer, int vectors, const void *coarse, bool add,
                              void *fine);
  TesStatus (*restrict_all)(const TesTransfer *transfer, int vectors, const void *fine, void *coarse);
  void (*destroy)(TesTransfer *transfer); /* releases the plan */
  /* plain versions, float64 host arrays */
  TesStatus (*prolongate_ref)(const TesTransfer *transfer, const double *coarse, bool add, double *fine);
  TesStatus (*restrict_ref)(const TesTransfer *transfer, const double *fine, double *coarse);
} TesiTransferTable;

struct TesTransfer {
  const TesiTransferTable *table;
  const TesiTransferTable *local;  /* of kind box on several ranks: the kind's own, of this rank's cells */
  struct TesiTransferShare *share; /* there: what this rank owns of fine vectors (transfer_ranks.c) */
  TesContext *context;
  TesSpace *coarse, *fine;
  int64_t coarse_length, fine_length;
  TesPrecision precision;
  TesiEmbedding embedding[3]; /* kind box */
  void *plan;                 /* of the table's implementation */
};

static inline const double *tesi_embedding_cell(const TesiEmbedding *e, int cell) {
  const int64_t at = cell == e->cells - 1 && e->odd_end && e->uniform ? 1 : e->uniform ? 0 : cell;
  return e->E + at * (e->step + 1) * (e->degree + 1);
}
/* Of one coarse cell. */
static inline int tesi_embedding_step(const TesiEmbedding *e, int cell) {
  return cell == e->cells - 1 ? e->last_step : e->step;
}

/* The kinds, in the order in which they are tried. `refuses`: why a kind cannot do it, NULL: it can. `init` sets
 * table and plan. */
typedef struct TesiTransferKind {
  const char *name;
  bool parts; /* of spaces of several components, and products */
  const char *(*refuses)(const TesTransferDesc *desc);
  TesStatus (*init)(TesTransfer *transfer);
} TesiTransferKind;
extern const TesiTransferKind tesi_transfer_box, tesi_transfer_cells, tesi_transfer_rt, tesi_transfer_by_part;

/* The last step of creations of kinds box and rt on several ranks. */
TesStatus tesi_transfer_share(TesTransfer *transfer);
/* Kind box between boxes with periodic directions: sets table and plan. */
TesStatus tesi_transfer_periodic_init(TesTransfer *transfer);
/* The plain versions of kind box. */
TesStatus tesi_transfer_box_prolongate_ref(const TesTransfer *transfer, const double *coarse, bool add,
                                           double *fine);
TesStatus tesi_transfer_box_restrict_ref(const TesTransfer *transfer, const double *fine, double *coarse);
/* The host implementation: sets table and plan. */
TesStatus tesi_transfer_host_init(TesTransfer *transfer);
/* The same for devices with kernels. */
TesStatus tesi_transfer_device_init(TesTransfer *transfer);
/* Memory as large as a fine vector, of no use to others while the transfer works: taken instead of its own where
 * that is a device's. It must outlive the transfer's use. */
void tesi_transfer_lend(TesTransfer *transfer, void *memory);

/* From a level that every rank has whole, over desc->coarse of all ranks: see transfer_whole.c. One component of
 * element q, or elements rt and dg. All ranks call it. */
TesStatus tesi_transfer_create_whole(const TesTransferDesc *desc, const TesSpace *whole,
                                     TesTransfer **transfer);
/* Of such a transfer the one to this rank's part of the coarse level, and a vector of that, *coarse; NULL: it is
 * another one. whole <- these vectors of all ranks. */
const TesTransfer *tesi_transfer_part(const TesTransfer *transfer, void **coarse);
TesStatus tesi_transfer_collect(const TesTransfer *transfer, void *whole);
/* coarse <- P' (b - A x) of boxes on several ranks, by one exchange where the residual and its restriction have two: r
 * becomes the part of the residual that the cells of this rank make. */
bool tesi_transfer_takes_parts(const TesTransfer *transfer, const TesOperator *op);
TesStatus tesi_transfer_restrict_residual(const TesTransfer *transfer, const TesOperator *op,
                                          const TesVector *b, const TesVector *x, TesVector *r,
                                          TesVector *coarse);
/* tes_transfer_restrict() of a vector of a flow that is zero but for the pressures. */
TesStatus tesi_transfer_restrict_pressures(const TesTransfer *transfer, const TesVector *fine,
                                           TesVector *coarse);

/* Plain versions: the 1D embedding matrices as dense rows; between forests all coarse basis functions at each fine
 * node. For tests; slow. */
TesStatus tesi_transfer_prolongate_ref(const TesTransfer *transfer, const TesVector *coarse, bool add,
                                       TesVector *fine);
TesStatus tesi_transfer_restrict_ref(const TesTransfer *transfer, const TesVector *fine, TesVector *coarse);

#endif
