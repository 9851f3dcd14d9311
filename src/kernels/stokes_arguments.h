/* Arguments by value of the Stokes kernels; the host includes this text too. */
#ifndef TESK_STOKES_ARGUMENTS_H
#define TESK_STOKES_ARGUMENTS_H

#include "band_arguments.h"

/* Parts of a vector: dim components, then the pressure; each [z][y][x]. */
typedef struct TeskParts {
  int dim, extent[4][3];
  long long offset[5];
} TeskParts;

typedef struct TeskStokes {
  TeskParts parts;
  double nu, alpha;
  TeskBand stiffness[3], mass[3], penalty[3], derivative[3], transposed[3]; /* by direction */
} TeskStokes;

/* An interval of a direction: its nodes from `first` on, its modes, and numbers (real), row-major, one after the
 * other: Zc [nodes][nodes] (node, mode), Zd [modes][modes], G [modes][nodes], lc [nodes], ld [modes]
 * (src/operator/stokes/stokes_local.h). */
typedef struct TeskStokesKind {
  const void *numbers;
  int nodes, modes, first, unused;
} TeskStokesKind;

/* The cells around a vertex, or the whole box (vertex 0). */
typedef struct TeskStokesPatch {
  const void *inverse; /* real: S^+ for viscosity 1, or the inverse over all unknowns part by part; symmetric */
  double nu;
  int vertex[3], kind[3];
} TeskStokesPatch;

typedef struct TeskStokesPatches {
  TeskParts parts;
  int n, nodes[3], modes[3]; /* of the whole axes; entries are taken modulo these in periodic directions */
  int most;                  /* numbers of the largest part of a patch */
  double alpha;
  const TeskStokesKind *kind[3];
} TeskStokesPatches;

/* ---- tiles (stokes_tiles.cu) ----------------------------------------------------------------------------- */

/* Nodes that a tile holds along its component. Then the numbers (real) of a cell of a direction of width h: h, nu /
 * h, h^(-1/2), nu / h^2; and for each of the faces below and above: nu times the penalty; h^(-1/2) of the cell
 * beside; nu times the factors, in the mean, of the reference derivatives of the cell and of the cell beside. Zero
 * where the cell beside or the term does not exist. */
enum {
  TESK_TILES_LINE = 32,
  TESK_TILES_PITCH = TESK_TILES_LINE + 2, /* of lines in shared memory */
  TESK_TILES_WIDTH = 0,
  TESK_TILES_STIFFNESS = 1,
  TESK_TILES_ROOT = 2,
  TESK_TILES_BENDING = 3,
  TESK_TILES_PENALTY = 4,
  TESK_TILES_BESIDE = 6,
  TESK_TILES_OWN = 8,
  TESK_TILES_OTHER = 10,
  TESK_TILES_NUMBERS = 12
};

typedef struct TeskStokesTiles {
  TeskParts parts;
  int cells[3], periodic[3], known[3][2];
  int tiles[3][3], span[3][3]; /* per component and direction: number of tiles, and of cells per tile */
  int most, unused;            /* largest number of tiles of a component */
  double alpha;
  const void *numbers[3]; /* real: [TESK_TILES_NUMBERS][cells] */
  const void *derivative; /* real: [modes][nodes] of the reference cell */
} TeskStokesTiles;

/* ---- patches in lanes (stokes_lanes.cu) ---------------------------------------------------------------- */

enum { TESK_LANES_GROUP = 8 /* cells side by side in memory */ };

/* Vectors by parity classes of cells: [parity of z, y, x][z / 2][y / 2][x / 2 / 8][value][x / 2 mod 8]; values of a
 * cell: of component c [node along c][mode of direction c + 1][mode of direction c + 2], cyclic, then the pressure
 * [x][y][z]. The last node of a direction with walls has no place: it is zero. */
typedef struct TeskLanes {
  TeskParts parts;
  int cells[3], periodic[3], half[3]; /* half: cells of a class; in x whole groups of them */
  int class_size;                     /* numbers of a class */
  double nu, alpha;
  const void *numbers[3]; /* real: tables of the kinds of each direction */
  const int *places; /* of a swapped S^+: [parity block][rows], places (i, a, b) + 65536 (i, b, a) in q */
} TeskLanes;

/* Whether a thread has both the sums and the differences of a swapped S^+ of n modes. Otherwise they are formed
 * before the product and separated after it: with n = 5 their rows do not fit into registers unless all loads
 * wait. */
#define TESK_LANES_TOGETHER(n) ((n) < 5)

/* One patch per lane, of one kind; in x some lanes may be of one of two other kinds. */
enum { TESK_LANES_MOST = 16, TESK_LANES_TABLES = 5 /* of a block: of x, y, z, then of other kinds of x */ };
typedef struct TeskLanesBlock {
  const void *inverse[3]; /* real: S^+ by parity, in tiles; then S^+ of the other kinds of x */
  int kind[3];
  int split[3];         /* whether the modes of a direction are split by parity */
  int far[3];           /* the cell of a direction that is treated as a cell at a wall; -1: none */
  int inner;            /* whether its tables, in all directions, are the tables passed as an argument */
  int swapped;          /* whether inverse[0] is for sums and differences, by the swap of two directions */
  int others, other[2]; /* other kinds of x */
  int lanes, lane[TESK_LANES_MOST]; /* the lanes of these kinds */
} TeskLanesBlock;

/* x -> y (real). b[0], b[1]: M^-1 b for patches around vertices that are even and odd in the component's own
 * direction; b[0] also has the pressures. odd: bit d is set if the vertices are odd in direction d. still: M^-1 b is
 * zero and not read. */
typedef struct TeskLanesVectors {
  const void *x, *b[2];
  void *y;
  int odd, still;
} TeskLanesVectors;

/* Rows of numbers of the lanes of a block. Four rows per direction: where the cells -1 .. 2 begin (the patch has 0
 * and 1; beyond a wall, where there is no cell, any cell). Then: whether the lane has a patch; its tables of x: 0, or
 * 1 + number of another kind; TeskLanesBlock.far of its kind of x. */
enum { TESK_LANES_EXISTS = 12, TESK_LANES_KIND = 13, TESK_LANES_FAR = 14, TESK_LANES_ROWS = 15 };

/* A colour. lanes: [block][TESK_LANES_ROWS][lane]. Blocks from `count` on copy the `copies` cells that are in no
 * patch; their list has the first entries of these cells. */
typedef struct TeskLanesLists {
  const TeskLanesBlock *blocks;
  const int *lanes, *cells;
  int count, copies;
} TeskLanesLists;

/* Data for the preparation of right-hand sides: per direction the kind of each vertex, and for each kind the inverse
 * mass matrix of the inner nodes (real), rows padded to four numbers. vertices: of the direction. */
typedef struct TeskLanesMass {
  const int *kind[3];
  const void *inverse[3];
  int vertices[3];
} TeskLanesMass;

/* One direction of an embedding or its transpose, of all parts. */
typedef struct TeskRtPass {
  TeskParts from, to;
  TeskBand nodes, modes;
  int direction, unused;
} TeskRtPass;

/* All directions at once. cells: coarse cells; known: bit e: the node at end e is known. still: the restricted
 * components are zero, and not read. */
typedef struct TeskRtBox {
  TeskParts coarse, fine;
  int cells[3], periodic[3], known[3], still;
} TeskRtBox;

#endif
