/* Patches of Raviart-Thomas spaces, solved exactly (operator/stokes/stokes_local.h), colour by colour: products of
 * intervals of `span` cells.
 *   span 2, vertex patches: the 2^dim cells round a vertex. Component i has the nodes along i that lie inside the
 *   patch, or on an open face of the box, and all modes across.
 *   span 1, closed cells: component i has all unknown nodes of the cell, those of its faces too. */
#ifndef TESI_STOKES_PATCH_H
#define TESI_STOKES_PATCH_H

#include "base/near.h"
#include "operator/stokes/stokes_local.h"
#include "smoother/smoother.h"

/* What an interval is coupled to outside, and what the loops need of Ld; positions count from its lower end. */
typedef struct TesiStokesPatchOuter {
  bool end[2];       /* whether the lower and upper end are nodes that are no unknowns of the interval */
  bool neighbour[2]; /* whether there is a cell beyond */
  /* Lc to the ends [nodes][2]; Mc [nodes][2 n + 1], to all positions; D to the ends [modes][2]; Ld [modes][modes];
   * Ld from the modes of the neighbours to those of the cell beside them [2][n][n]; constant pressure [2] of the
   * cells, of norm 1 */
  double *values;
  int size;
} TesiStokesPatchOuter;

/* A direction: its intervals, which "vertices" count by their first cells, and their kinds. */
typedef struct TesiStokesPatchAxis {
  /* Set before it is created: intervals of two cells at one wall alone are solved as if the other end had the same
   * wall; then all intervals of equal cells are their own mirror images. */
  bool mirrored;
  bool lexicographic;                       /* the same: colours of a sweep in the order of their numbers */
  int span, vertices, colours, types, most; /* most: nodes of an interval at most */
  int *type, *colour;                       /* [vertices] */
  int *image;                               /* [types] the type of which it is the mirror image, or itself */
  TesiStokesFar *far;                       /* [types] the cell that has a wall in the place of a neighbour */
  int *node, *mode;                         /* [vertices][most], [vertices][modes], modes = span n */
  TesiStokesLocalAxis *local;               /* [types] */
  TesiStokesPatchOuter *outer;              /* [types] */
  int *first;                               /* [types] the first vertex of each */
  TesiNear by_key, by_shape;                /* types */
  bool ring_of_two; /* both neighbours of the interval lie inside it: no outer couplings */
  bool *wraps;      /* [vertices] places do not follow one another */
  /* [vertices][modes + 1] nodes and [vertices][modes + 2 n] modes, which begin n modes below the interval */
  int *node_at, *mode_at;
  void **table; /* [types] TesiStokesPatchTable, of the operator's precision */
} TesiStokesPatchAxis;

/* Direction d of a stokes operator; the tables of loops are theirs. */
TesStatus tesi_stokes_patch_axis_create(TesContext *ctx, const TesiStokes *stokes, int d, int span,
                                        TesiStokesPatchAxis *axis);
void tesi_stokes_patch_axis_free(TesContext *ctx, TesiStokesPatchAxis *axis);

/* Offsets into a table of numbers of the operator's precision; matrices are row-major. For a symmetric interval the
 * matrices Z and G are stored as halves, the even half first: Zc' and Zc as [n][n], [n - 1][n - 1]; Zd' and Zd as
 * [n][n] twice; G from odd to even [n][n - 1], then from even to odd [n][n]; G' in the same order, [n - 1][n], [n][n].
 * For other intervals they are whole: [nodes][nodes] and so on. */
typedef struct TesiStokesPatchTable {
  int nodes, modes, first; /* first: position of the first unknown node */
  int like; /* the type with whose eigenvectors S^+ stands in patches that are solved by iteration */
  bool symmetric, end[2], neighbour[2];
  int64_t Zc_forward, Zd_forward, Zc_back, Zd_back, G, G_transposed, stiffness, mass, derivative, penalty,
      outer[2], constant;
  /* the constant among the modes of Ld, of norm 1; Zd_like' Zd and its transpose [modes][modes] */
  int64_t constant_modes, to_like, from_like;
} TesiStokesPatchTable;

/* What patches of one kind share: S^+ block by block, and 1 / Lam_i in the order of the unknowns. */
typedef struct TesiStokesPatchKind {
  bool closed;
  int like; /* the kind whose S^+ it takes: itself, or a kind with nearly the same cells; -1: none */
  const void *inverses; /* numbers of S^+; a kind and its mirror image share them */
  int blocks;           /* 0: it has no S^+ */
  TesiStokesBlock block[8];
  int64_t S[8], reciprocal[3]; /* offsets into `inverses`, and into the numbers that follow */
} TesiStokesPatchKind;

/* Patches of one colour and one kind, by their vertices. */
typedef struct TesiStokesPatchTask {
  int type[3], kind;
  int count;
  bool wraps;
  int (*vertex)[3]; /* [count] */
} TesiStokesPatchTask;

/* Entries of an axis that the patches of a colour do not write: copied as they are. */
typedef struct TesiStokesPatchRest {
  bool *node, *mode;  /* [nodes], [modes] */
  int *nodes, *modes; /* their numbers */
  int node_count, mode_count;
} TesiStokesPatchRest;

typedef struct TesiStokesPatchPlan {
  const TesSpace *space;
  const TesiStokes *stokes;
  TesiStokesPatchAxis axis[3];
  int modes;                      /* a direction that exists: span n */
  int kinds, pressures, inverses; /* inverses: kinds with an S^+ of their own */
  void **kind;                    /* [kinds] TesiStokesPatchKind, of the operator's precision */
  bool iterates;                  /* patches without an S^+ of their own are solved by conjugate gradients */
  bool fused;                     /* residuals are formed inside the patches */
  bool red_black;                 /* colours are split by the parity of the sum of the patches' numbers */
  int colours, *first_task;       /* [colours + 1] */
  TesiStokesPatchTask *task;
  int (*vertices)[3];
  TesiStokesPatchRest rest[3][3]; /* by direction and its colour */
  int threads;
  size_t work_size; /* vectors */
  void **work;      /* [threads] */
  void *r;          /* residual, or x while the next one is written: device vector */
} TesiStokesPatchPlan;

/* The first colour of a forward sweep: the cells of a mesh half as fine. */
static inline TesiColours tesi_colour_of_cells(void) {
  return (TesiColours){0, 1, 1};
}

/* What a call of the kernel does: x <- x + K_patch^+ r, or, with b, x_new <- K_patch^+ (b - K x_outside), mean of the
 * pressure kept. x_new is x, or another vector where patches of a colour are coupled. */
typedef struct TesiStokesPatchJob {
  const void *r, *b, *x;
  void *x_new;
} TesiStokesPatchJob;

static inline int tesi_stokes_patch_span(const TesSmoother *smoother) {
  return smoother->kind == TES_SMOOTHER_CELL_PATCH ? 1 : 2;
}
TesStatus tesi_smoother_stokes_device_init(TesSmoother *smoother);
/* Of a sweep in so many colours, with so many patches in all. */
TesCost tesi_stokes_patch_cost(const TesOperator *op, int span, int colours, double patches);
/* For the tests: assembled patches and their pseudo-inverses. float64 host arrays. */
TesStatus tesi_stokes_patch_sweep_ref(const TesOperator *op, const TesiStokesPatchAxis axis[3],
                                      bool red_black, const double *b, double *x, TesSweep sweep);

/* stokes_patch_tables.c, stokes_patch_tasks.c. below: the plan of the level below, whose S^+ are taken where they are
 * the same, or NULL. */
TesStatus tesi_stokes_patch_tables_create(const TesSmoother *smoother, const TesiStokesPatchPlan *below,
                                          TesiStokesPatchPlan *p);
void tesi_stokes_patch_tables_free(TesContext *ctx, TesiStokesPatchPlan *p);
TesStatus tesi_stokes_patch_tasks_create(TesContext *ctx, int lanes, TesiStokesPatchPlan *p);
void tesi_stokes_patch_tasks_free(TesContext *ctx, TesiStokesPatchPlan *p);

/* stokes_patch_colours.c. Colours of a sweep in their order. Vertex patches: the boxes, colours of the axes in an order
 * of theirs; with red_black each of them is two, by the parity of the sum of the patch's numbers. Closed cells: two, by
 * the parity of the sum of the cell's numbers, where no periodic direction has an odd number of cells. */
int tesi_stokes_patch_colour(const TesiStokesPatchAxis axis[3], int dim, bool red_black, const int vertex[3]);
int tesi_stokes_patch_colours(const TesiStokesPatchAxis axis[3], bool red_black);
/* Boxes are combinations of colours of the axes. How many there are; the colours of the axes of box `number`;
 * whether a box belongs to a colour of patches. */
int tesi_stokes_patch_boxes(const TesiStokesPatchAxis axis[3]);
void tesi_stokes_patch_box(const TesiStokesPatchAxis axis[3], int number, int colour[3]);
bool tesi_stokes_patch_has_box(const TesiStokesPatchAxis axis[3], bool red_black, int colour,
                               const int box[3]);
/* vertex[..] <- all patches, colour by colour, x fastest within each; first[colours + 1], of which colour c has
 * first[c] .. first[c + 1] - 1. */
void tesi_stokes_patch_list(const TesiStokesPatchAxis axis[3], int dim, bool red_black, int colours,
                            int *first, int (*vertex)[3]);
int tesi_stokes_patch_parity(int dim, const int vertex[3]);

/* V's of work that a patch needs: arrays of its largest part. */
enum { TESI_STOKES_PATCH_ARRAYS = 9 };
static inline size_t tesi_stokes_patch_work(const TesSpace *space) {
  size_t most = 1;
  for (int d = 0; d < space->dim; d++) most *= 2 * (size_t)space->degree + 3;
  return TESI_STOKES_PATCH_ARRAYS * most;
}

#define TESI_STOKES_PATCH_KERNELS(bits)                                                                      \
  void tesk_stokes_patch_double_##bits(const TesiStokesPatchPlan *plan, const TesiStokesPatchTask *task,     \
                                       const TesiStokesPatchJob *job, void *work);                           \
  void tesk_stokes_patch_float_##bits(const TesiStokesPatchPlan *plan, const TesiStokesPatchTask *task,      \
                                      const TesiStokesPatchJob *job, void *work);
TESI_STOKES_PATCH_KERNELS(128)
TESI_STOKES_PATCH_KERNELS(256)
TESI_STOKES_PATCH_KERNELS(512)

#endif
