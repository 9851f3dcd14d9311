/* The nested vertex-patch sweep: its plan, shared by the set-up (patch_*.c) and the SIMD builds (patch_*_simd.c).
 * The algorithm is derived in docs/decisions/0005-nested-patch-sweep.md; the words used here:
 *
 *   outer   the slowest direction (3D: z, 2D: y); its intervals of one colour are slabs that different threads may
 *           sweep
 *   middle  y of three; its intervals are blocks of rows within a slab
 *   inner   x; both its colours are swept at once on whole lines
 *   H       the basis of one direction made of the Lagrange functions of vertices and, inside each cell, of the k-1
 *           eigenfunctions ("modes") of the reference cell's bubbles, even ones first: within a cell stiffness and
 *           mass are then a/h diag(lambda) and h I, bordered by a/h p, h q at the left vertex and +-p, +-q at the
 *           right one
 *   row     all values of one line in x: vertices 2, 4, ..; vertices 1, 3, ..; first bubbles of all cells; second
 *           ones ..; see TesiPatchRow
 *
 * Tables hold numbers of the plan's precision. */
#ifndef TESI_PATCH_PLAN_H
#define TESI_PATCH_PLAN_H

#include "smoother/patch/patch.h"

enum { TESI_PATCH_SPECIALISED = 10 };

/* The reference cell, k degree, B = k-1 bubbles, E = k/2 even and O = (k-1)/2 odd modes. Tables come in halves,
 * even [E][E] then odd [O][O], outputs first: nodes i and B-1-i share an index, the middle node comes last. */
typedef struct TesiPatchCell {
  double stiffness[2], mass[2]; /* vertex with itself, with the other vertex */
  double *lambda, *p, *q;       /* [B] */
  double *r; /* [B] (q - p / lambda)^2: the remaining mass coupling of a mode and the linear function of a vertex */
  double *modes;   /* [B nodes][B modes] values S; S' M S = I on the unit interval */
  double *inverse; /* [B modes][B nodes] S' M */
} TesiPatchCell;

/* One kind of interval, m = below + vertex + above unknowns: bubbles of the lower cell, the vertex, bubbles of the
 * upper cell.
 * With the modes S of its stiffness and mass (S' M S = I): forward S', back S, inverse S' M.
 * Symmetric (two equal cells): the k even modes need [k][k] tables on (vertex, upper + mirrored lower), the k-1 odd
 * modes are the bubbles' own, upper - mirrored lower, scaled. Nodal: for values at nodes instead of H; then the odd
 * modes have the tables of a cell, scaled. Modes couple to the value at the node below by stiffness[0] and mass[0], to
 * the value at the node above by stiffness[1] and mass[1]. In symmetric kinds even modes couple to the sum of both
 * values, odd modes to the difference (above minus below), by [0]. */
typedef struct TesiPatchKind {
  int type, m, below, vertex, above;
  bool symmetric;
  double h[2]; /* widths of the cells below and above */
  void *forward, *back, *inverse;
  void *odd_forward, *odd_inverse; /* nodal and symmetric only */
  void *scale;                     /* [2] of the odd modes: forward, inverse */
  void *lambda, *stiffness[2], *mass[2];
} TesiPatchKind;

typedef struct TesiNestedAxis {
  int degree, cells, nodes, count, kinds;
  bool natural[2];
  double alpha[2];
  TesiPatchInterval *interval;
  int *kind_of; /* [count] */
  TesiPatchKind *kind;
  void *h, *k; /* [cells] h and a/h */
} TesiNestedAxis;

/* The places in a row of numbers. Vertex 2i+2 is at even + i (so vertex 0 at even - 1), vertex 2i+1 at odd + i, bubble
 * j of cell c at bubbles + j * stride + c. All other numbers stay zero or are never read. */
typedef struct TesiPatchRow {
  int lanes, even, odd, bubbles, stride;
  int begin, end; /* ranges of the transforms across rows, multiples of lanes */
  int pitch;
} TesiPatchRow;

typedef struct TesiPatchPlan {
  int dim, degree, threads;
  double a, c;
  TesiPatchCell cell;
  void *dual, *values,
      *coefficients;            /* halves of S', S, S' M of a cell: b to modes, modes to nodes, x to modes */
  void *lambda, *p, *q, *r;     /* [B] */
  TesiNestedAxis outer, middle; /* 2D: no middle */
  int cells, nodes;             /* of x */
  bool natural[2], graded;
  bool odd_end; /* all cells but the last are equal: the axis is not graded */
  double alpha[2], h, h_end;
  TesiPatchRow row;
  void *width, *conductance; /* [cells, padded with zeros] h and a/h, lane by lane */
  void *mask;                /* [row.bubbles] 1 at vertices that are unknowns, else 0 */
  void **work;               /* [threads] */
  void (*sweep)(const struct TesiPatchPlan *plan, const void *b, void *x, TesSweep sweep, bool zero_guess);
} TesiPatchPlan;

TesStatus tesi_patch_cell_create(TesContext *ctx, int degree, TesiPatchCell *cell);
void tesi_patch_cell_destroy(TesContext *ctx, TesiPatchCell *cell);
/* nodal: tables for values at nodes (the outer axis) in the place of H. */
TesStatus tesi_nested_axis_create(const TesOperator *op, int d, const TesiPatchCell *cell, bool nodal,
                                  TesiNestedAxis *axis);
void tesi_nested_axis_destroy(TesContext *ctx, TesiNestedAxis *axis);
/* A copy in the given precision, zero-padded by `padding` numbers. */
TesStatus tesi_patch_table(TesContext *ctx, TesPrecision precision, int count, int padding,
                           const double *values, void *pointer_to_pointer);

/* The builds: a sweep, and the bytes of its workspace per thread. */
#define TESI_PATCH_SWEEP(precision, bits)                                                                    \
  void tesk_patch_##precision##_##bits(const TesiPatchPlan *plan, const void *b, void *x, TesSweep sweep,    \
                                       bool zero_guess);                                                     \
  size_t tesk_patch_work_##precision##_##bits(const TesiPatchPlan *plan);
TESI_PATCH_SWEEP(double, 128)
TESI_PATCH_SWEEP(double, 256)
TESI_PATCH_SWEEP(double, 512)
TESI_PATCH_SWEEP(float, 128)
TESI_PATCH_SWEEP(float, 256)
TESI_PATCH_SWEEP(float, 512)
#undef TESI_PATCH_SWEEP

#endif
