/* The quadrature form of the diffusion operator: common parts of set-up, kernels and faces.
 *
 *   y = sum over cells of (B (x) B (x) B)' [ sum over d of D_d' diag(a_d) D_d + diag(c) ] (B (x) B (x) B) x,
 *
 * B = node basis at the n = degree + 1 Gauss points per direction, D = differentiation of the polynomial through these
 * points (collocation), a_d = a w |J| / h_d^2. On a box the metric is diagonal, so that each direction is a
 * product D' a D along lines of points. These products stay in registers; only values and results are in memory.
 *
 * Lanes of a vector are cells: LANES consecutive cells of a layer, x fastest, so that only the last batch of a
 * tile's layer has unused lanes. `slow` is the last direction (y in 2D, z in 3D), `mid` is y in 3D and does not
 * exist in 2D.
 * Arrays of a batch: values [slow][mid][x][lane], coefficients [mid][x][slow][lane]. */
#ifndef TESI_QUADRATURE_H
#define TESI_QUADRATURE_H

#include "basis/gauss.h"
#include "operator/operator.h"

enum {
  TESI_QUAD_N = TESI_MAX_DEGREE + 1,
  TESI_QUAD_HALF = (TESI_QUAD_N + 1) / 2 * ((TESI_QUAD_N + 1) / 2), /* entries of a half table, at most */
  TESI_QUAD_LANES = 16                                              /* at most */
};

/* Even-odd half tables, each [TESI_QUAD_HALF] in the operator's precision. EVEN acts on the even part of its input. */
typedef enum TesiQuadTable {
  TESI_B_EVEN,  /* B, on sums and differences u_i +- u_(n-1-i) */
  TESI_B_ODD,   /*    */
  TESI_BT_EVEN, /* B' */
  TESI_BT_ODD,  /*    */
  TESI_D_EVEN,  /* D: even to odd */
  TESI_D_ODD,   /*    odd to even */
  TESI_DT_EVEN, /* D' */
  TESI_DT_ODD,  /*    */
  TESI_D2_EVEN, /* D, on half sums and differences, as B leaves them */
  TESI_D2_ODD,  /*    */
  TESI_QUAD_TABLES
} TesiQuadTable;

/* The state of a row of nodes of a cell in the result: not yet written, already written, or Dirichlet nodes. If the
 * directions of a row have different states, the largest one counts. */
enum { TESI_ROW_FIRST, TESI_ROW_ADD, TESI_ROW_ZERO };

/* A brick of cells for one thread: all of x, [y0, y1), [z0, z1). Tiles of one colour share no node. Colours are done
 * one after another, so that sums have the same order for every number of threads. */
typedef struct TesiQuadTile {
  int y[2], z[2];
  bool low[2], high[2]; /* for y and z: an earlier colour has written the nodes on that side */
  int colour;
  int64_t batch; /* first */
} TesiQuadTile;

/* alpha w |F| at the points of a natural face, [row][batch][points][lanes]; rows in the second tangential direction. */
typedef struct TesiQuadFace {
  void *alpha; /* NULL: Neumann */
} TesiQuadFace;

typedef struct TesiQuadPlan TesiQuadPlan;
/* y <- A x (b NULL) or y <- b - A x on one tile, and the diagonal, without x. Arrays in the operator's precision. */
typedef void (*TesiQuadRun)(const TesiQuadPlan *plan, const TesiQuadTile *tile, const void *b, const void *x,
                            void *y, void *work);
typedef struct TesiQuadKernels {
  int lanes;
  bool specialised;
  TesiQuadRun apply, diagonal;
  /* One row of cells of a face: y <- y + sign M_alpha x; x NULL: the diagonal of M_alpha. */
  void (*face)(const TesiQuadPlan *plan, int face, int row, const void *x, double sign, void *y);
} TesiQuadKernels;

struct TesiQuadPlan {
  TesiQuadKernels kernels;
  TesPrecision precision;
  int dim, n, mid; /* mid: points in the middle direction, 1 in 2D */
  int cells[3], nodes[3];
  int64_t points; /* a cell */
  bool natural[6];
  int slow;            /* dim - 1 */
  double *h[3];        /* widths of the axes, not owned */
  void *inverse_h2[3]; /* 1 / h^2 in the operator's precision */
  void *tables;        /* [TESI_QUAD_TABLES][TESI_QUAD_HALF] */
  void *squares;       /* B[q][p]^2, then the same of its derivative: [2][n][n] */
  void *values;        /* B[q][p], whole: [n][n], for faces */
  void *a, *c;         /* a w |J| / h_slow^2, c w |J|: [batch][point][lane]; c NULL: none */
  TesiQuadFace face[6];
  int tile_count, colours;
  TesiQuadTile *tiles; /* ordered by colour */
  int first_of_colour[5];
  int64_t batches;
  int threads;
  size_t work_size; /* bytes per thread */
  char *work;
};

/* Batches of lanes in one layer of a tile. */
static inline int64_t tesi_quad_layer_batches(const TesiQuadPlan *plan, const TesiQuadTile *tile) {
  const int64_t cells = (int64_t)(tile->y[1] - tile->y[0]) * plan->cells[0];
  return (cells + plan->kernels.lanes - 1) / plan->kernels.lanes;
}

/* The state of node row i of a cell in one direction of the result. `first` and `end` are the tile's cells. */
static inline int tesi_quad_state(int i, int degree, int cell, int cells, int first, int end, bool low,
                                  bool high, const bool natural[2]) {
  if (i == 0 && cell == 0) return natural[0] ? TESI_ROW_FIRST : TESI_ROW_ZERO;
  if (i == 0) return cell > first || low ? TESI_ROW_ADD : TESI_ROW_FIRST;
  if (i == degree && cell == cells - 1) return natural[1] ? TESI_ROW_FIRST : TESI_ROW_ZERO;
  if (i == degree) return cell == end - 1 && high ? TESI_ROW_ADD : TESI_ROW_FIRST;
  return TESI_ROW_FIRST;
}

enum { TESI_QUAD_SPECIALISED = 10 }; /* degrees, in a full build */

/* Kernels of one SIMD width; declared for widths that are built. */
TesiQuadKernels tesi_quad_kernels_128(int dim, int degree, TesPrecision precision);
TesiQuadKernels tesi_quad_kernels_256(int dim, int degree, TesPrecision precision);
TesiQuadKernels tesi_quad_kernels_512(int dim, int degree, TesPrecision precision);

/* gauss_tables.c: plan->tables, squares and values. */
TesStatus tesi_quad_make_tables(TesContext *ctx, TesiQuadPlan *plan);
/* quadrature_setup.c: evaluates the coefficients into plan->a, c and face. */
TesStatus tesi_quad_evaluate(TesOperator *op, TesiQuadPlan *plan);

#endif
