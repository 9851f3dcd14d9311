/* Lines of cells as patches: cells that are so stretched that their nodes are coupled mainly in one direction are
 * joined, face by face, along this direction. In the preconditioner of cell_patch.h each line replaces its cells, with
 *     A_l = sum over the cells c of the line of
 *           g_0 M (x) M (x) K_c + (g_1 M (x) K (x) M_c + g_2 K (x) M (x) M_c) + m M (x) M (x) M_c,
 * the last factor in the direction of the line, K_c, M_c: 1D matrices of cell c among the nodes of the line, with the
 * neighbours at both ends of the line; K, M across: the matrices of its first cell. A basis across then splits A_l into
 * one matrix of bandwidth k per mode,
 *     A_l = (S (x) S (x) 1)^-T diag over modes i, j (T_ij) (S (x) S (x) 1)^-1,
 *     T_ij = sum_c g_0 K_c + (lambda_i g_1 + lambda_j g_2 + m) M_c = L D L',
 * factorized once. Cells that are not stretched are lines of one cell.
 * (Lines with full coarsening: Trottenberg, Oosterlee, Schueller, Multigrid, 2001, section 5.1.)
 *
 * Cost per place: 4 (dim - 1) n + 4 k + 1 flops; it reads k + 1 numbers of factors and an index, and its value
 * twice. */
#ifndef TESI_LINE_PATCH_H
#define TESI_LINE_PATCH_H

#include "device/gather.h"
#include "smoother/cell_patch/cell_patch.h"

/* Directions of a cell in a line, and whether they are reversed; 0: along the line, 1, 2: across. */
typedef struct TesiLineCell {
  int32_t cell;
  int8_t axis[3], flip[3];
} TesiLineCell;

/* Lines, by first cell: cell[first[l]] .. cell[first[l + 1] - 1], in their order. */
typedef struct TesiLines {
  int64_t count, *first;
  TesiLineCell *cell; /* [cells of the mesh] */
  bool cut;           /* some line ends at hanging nodes across it */
} TesiLines;

typedef void (*TesiLineRun)(const TesiLinePatches *l, int64_t batch, const void *r);

/* Batches of `lanes` lines of nearly the same length. A row has a position along the line and a mode (node) across: row
 * = position * modes + mode. Places beyond the end of a line, and in lanes without a line, have index -1 and the
 * identity as factors. */
struct TesiLinePatches {
  const TesiCellPatches *p;
  TesiLines lines;
  int lanes, modes;
  double K[TESI_CELL_PATCH_NODES * TESI_CELL_PATCH_NODES], M[TESI_CELL_PATCH_NODES * TESI_CELL_PATCH_NODES];
  int64_t batches, rows;
  int64_t *first_row; /* [batches + 1] */
  int32_t *line;      /* [batches][lanes], -1: none */
  int32_t *index;     /* [rows][lanes] */
  void *factor;       /* [rows][n][lanes]: 1 / D, then L for the k positions before; in p's precision */
  void *S;            /* [batches][dim - 1][n node][n mode][lanes] */
  void *values;       /* [rows][lanes] */
  int64_t *first;     /* host: places of a node, entry[first[node]] .. */
  int64_t *entry;
  TesiLineRun run; /* host */
  /* on devices with kernels: the same there, the batch of each position and the first position of each batch */
  TesiKernel to_modes, solve, to_nodes;
  TesiGather gather; /* its values: see above */
  void *batch_device, *first_device, *index_device, *factor_device, *S_device;
};

/* Makes p->lines and p->weight of patches that are otherwise complete; p->across is released. After failure they are
 * released with p. */
TesStatus tesi_line_patches_create(TesiCellPatches *p, const TesOperator *op);
void tesi_line_patches_destroy(TesContext *ctx, TesiLinePatches **lines);
/* As the functions of cell_patch.h. */
TesStatus tesi_line_patches_apply(const TesiCellPatches *p, const void *r, void *z);
TesStatus tesi_line_patches_apply_ref(const TesiCellPatches *p, const double *r, double *z);
TesCost tesi_line_patches_cost(const TesiCellPatches *p);

/* line_patch_find.c: finds the lines; needs p->across. Released by tesi_lines_release(), after failure too. */
TesStatus tesi_lines_find(const TesiCellPatches *p, TesiLines *lines);
void tesi_lines_release(TesContext *ctx, TesiLines *lines);
/* Returns the direction in which a cell is coupled most strongly, and the ratio to all other directions. */
int tesi_strong_direction(const TesiCellPatches *p, int64_t cell, double *ratio);
/* Whether this ratio is large enough for a line. */
bool tesi_is_in_line(const TesiCellPatches *p, int64_t cell);
/* Number in the cell of node i[3], in the line's directions. */
int tesi_line_node(const TesiMapped *m, const TesiLineCell *c, const int i[3]);
/* The node at a row of a line of `length` cells, -1: not in the patch. */
int64_t tesi_line_place(const TesiCellPatches *p, const TesiLineCell *line, int64_t length, int64_t row);
/* The kinds of the ends of direction t, in the orientation of the line. */
void tesi_line_ends(const TesiCellPatches *p, const TesiLineCell *c, int t, uint8_t end[2]);
/* K_c and M_c for all cells of a line between its ends: matrices [n][n]; at the ends of the line with the
 * neighbours. */
void tesi_line_matrices(const TesiLinePatches *l, int64_t line, int64_t at, double *K, double *M);

/* line_patch_device.c: uploads, kernels. */
TesStatus tesi_line_kernels_create(TesiLinePatches *l);
TesStatus tesi_line_kernels_apply(const TesiLinePatches *l, const void *r, void *z);

void tesi_line_patches_run_double_128(const TesiLinePatches *, int64_t, const void *);
void tesi_line_patches_run_float_128(const TesiLinePatches *, int64_t, const void *);
void tesi_line_patches_run_double_256(const TesiLinePatches *, int64_t, const void *);
void tesi_line_patches_run_float_256(const TesiLinePatches *, int64_t, const void *);
void tesi_line_patches_run_double_512(const TesiLinePatches *, int64_t, const void *);
void tesi_line_patches_run_float_512(const TesiLinePatches *, int64_t, const void *);

#endif
