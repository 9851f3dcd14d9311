/* Mapped operators on the host: common parts of set-up and kernels.
 *
 * Lanes of a vector are cells: a batch is LANES cells whose nodes are gathered into [node][lane], worked on by sum
 * factorization, and added back. Nodes that follow one another in memory (runs) are loaded together and transposed
 * in registers. Kinds of batches:
 *   joined   the rows of all lanes follow one another in memory (x-neighbours of a lexicographic numbering): one
 *            number per row, -1 - number where its nodes but the first are set, not added to
 *   entities the nodes of each corner, edge and face, and the inner nodes, follow one another (forests): one number
 *            per entity and lane
 *   runs     the inner nodes of each row follow one another (any numbering by cells): three numbers per row and lane
 *   any      one number per node and lane
 *   element  element vectors: rows at a fixed distance
 * Constrained nodes and lanes without a cell are masked: they are read as 0, and 0 is added to them.
 *
 * Batches have the order of cells if most rows join (long streams, which the hardware prefetches), or if cells
 * already lie along a curve, as in forests, whose nodes are numbered in that order. Otherwise batches lie along a
 * space-filling curve. Threads take chunks of batches, in an order that is fixed for a number of threads
 * (base/sequence.h), so the sum at each node has one order. A step of a chunk sets the nodes that it is first to
 * touch. */
#ifndef TESI_MAPPED_HOST_H
#define TESI_MAPPED_HOST_H

#include "base/sequence.h"
#include "operator/mapped/mapped.h"

enum {
  TESI_MAPPED_LANES = 16, /* at most */
  TESI_MAPPED_HALF =
      (TESI_MAPPED_POINTS + 1) / 2 * ((TESI_MAPPED_POINTS + 1) / 2) /* entries of a half table, at most */
};

/* Even-odd half tables, each [TESI_MAPPED_HALF] in the operator's precision: on sums (EVEN) and differences (ODD)
 * of mirrored entries. I: interpolation to points, D: differentiation there (even to odd), and transposes. */
typedef enum TesiMappedTable {
  TESI_I_EVEN,
  TESI_I_ODD,
  TESI_IT_EVEN,
  TESI_IT_ODD,
  TESI_DM_EVEN,
  TESI_DM_ODD,
  TESI_DMT_EVEN,
  TESI_DMT_ODD,
  TESI_MAPPED_TABLES
} TesiMappedTable;

typedef enum TesiGather {
  TESI_GATHER_JOINED,
  TESI_GATHER_ENTITIES,
  TESI_GATHER_RUNS,
  TESI_GATHER_ANY,
  TESI_GATHER_ELEMENT
} TesiGather;

typedef struct TesiMappedBatch {
  int64_t index;   /* first entry in plan->index; element form: first entry of the vector */
  int64_t mask;    /* first entry in plan->masks, -1: nothing is masked */
  int64_t hanging; /* entry of plan->hanging, -1: nothing hangs */
  TesiGather kind;
  int count; /* lanes with cells */
} TesiMappedBatch;

/* Hanging nodes of a batch, as bits of lanes. First the lanes whose cell is the upper child in direction d. Then the
 * lanes in which the lines along d are interpolated, by the place of the other two coordinates (ascending
 * directions): 0 lower side, 1 inside, 2 upper side. 2D: the last index is 0. directions: a bit for each d along
 * which any line is interpolated. */
typedef struct TesiMappedHanging {
  uint16_t directions, upper[3], line[3][3][3];
} TesiMappedHanging;

typedef struct TesiMappedHost TesiMappedHost;
typedef struct TesiMappedStep TesiMappedStep;
/* The batches of a step: y <- y + sign A x on their nodes (element form: y <- b + sign A x, b NULL: 0). next: the
 * step whose nodes are prefetched meanwhile; NULL: no step. */
typedef void (*TesiMappedRun)(const TesiMappedHost *plan, const TesiMappedStep *step,
                              const TesiMappedStep *next, double sign, const void *b, const void *x, void *y,
                              void *work);
typedef struct TesiMappedKernels {
  int lanes;
  bool specialised;
  TesiMappedRun run;
  const void *phases; /* the kernels' own */
} TesiMappedKernels;

/* Number of batches per step. It is small enough for the nodes of this step and of the next step to fit into the L2
 * cache. */
struct TesiMappedStep {
  int64_t first, end;       /* batches */
  int64_t zero, zero_end;   /* plan->zero: ranges of nodes that the step sets first */
  int64_t given, given_end; /* plan->given: ranges of constrained nodes whose rows the step sets last */
  int64_t ahead, ahead_end; /* plan->ahead: cache lines that no earlier step has used */
  int64_t lines;            /* in those */
};

struct TesiMappedHost {
  const TesiMapped *m;
  TesiMappedKernels kernels;
  TesFactors factors;
  int dim, n, q, components;
  int vectors; /* number of vectors in a run, one after the other; operators around this plan have several */
  int entries; /* stored numbers per point: factors, or weights */
  int geometry_degree; /* of cells, where Jacobians come from their polynomials (weights) */
  bool stiffness, mass;
  bool eliminates; /* trilinear cells from monomials, rows of points by elimination: mapped_points_body.h */
  int64_t nodes, points; /* a cell */
  int64_t batches;
  TesiMappedBatch *batch;
  int32_t *cell;   /* [batches][lanes]; the first entry is repeated as padding */
  int32_t *index;  /* in the layouts of the batches' kinds */
  int patterns;    /* entities of a cell: 3^dim */
  int16_t *entity; /* [patterns + 1] and [nodes]: begin and node of basis/entity_nodes.h */
  uint16_t *masks; /* [node]: bit of each lane that counts */
  TesiMappedHanging *hanging;
  void *
      /* W [2][n][n] of space.h and the transposes [2][n][n], in the operator's precision; NULL: no masks */
      halves;
  int64_t steps, chunks;
  TesiMappedStep *step; /* ordered by chunk */
  int64_t *chunk;       /* [chunks + 1] first step of each chunk; in the order of `sequence` */
  TesiSequence *sequence;
  int32_t (*zero)[2];  /* [begin, end) of nodes */
  int32_t (*given)[2]; /* [begin, end) of m->constrained_nodes */
  int32_t (*ahead)[2]; /* [begin, end) of lines of 64 bytes of a vector that begins with one */
  /* factors: per batch `stride` numbers of the operator's precision, see mapped_host_factors.c */
  void *g;
  int64_t stride;
  void *tables;                 /* [TESI_MAPPED_TABLES][TESI_MAPPED_HALF] */
  void *points_1d, *weights_1d; /* [q] in the operator's precision */
  void *centred_1d;             /* points less 1/2, their squares, [2][q] */
  double a, mass_factor;        /* vertices: constants a and lambda c; else lambda */
  int threads;
  size_t work_size;
  char *work;
};

TesiMappedKernels tesi_mapped_kernels_128(const TesiMappedHost *plan, TesPrecision precision);
TesiMappedKernels tesi_mapped_kernels_256(const TesiMappedHost *plan, TesPrecision precision);
TesiMappedKernels tesi_mapped_kernels_512(const TesiMappedHost *plan, TesPrecision precision);

/* mapped_batches.c: batches, their index and masks; mapped_chunks.c: chunks, their order, and the nodes that they set
 * to zero first. */
TesStatus tesi_mapped_make_batches(TesContext *ctx, TesiMappedHost *plan);
TesStatus tesi_mapped_make_chunks(TesContext *ctx, TesiMappedHost *plan);
/* mapped_hanging.c: plan->halves. */
TesStatus tesi_mapped_make_halves(TesContext *ctx, TesiMappedHost *plan);
/* mapped_host_factors.c: the first function sets plan->g and stride for plan->factors. The second makes the factors
 * of chunks first .. end - 1 for kinds that are made point by point; the first completes all other kinds. */
TesStatus tesi_mapped_begin_factors(TesContext *ctx, TesiMappedHost *plan);
TesStatus tesi_mapped_fill_chunks(TesContext *ctx, TesiMappedHost *plan, int64_t first, int64_t end);
/* mapped_host_choice.c: chooses the kind of factors and makes them. run: y <- A x on chunks first .. end - 1. */
TesStatus tesi_mapped_choose_factors(TesOperator *op, TesiMappedHost *plan);
TesiMappedKernels tesi_mapped_choose_kernels(const TesOperator *op, const TesiMappedHost *plan);
void tesi_mapped_run_chunks(const TesiMappedHost *plan, int64_t first, int64_t end, double sign,
                            const void *b, const void *x, void *y);
TesStatus tesi_mapped_make_tables(TesContext *ctx, TesiMappedHost *plan);
/* Products of functions at points, t[3][q][n]: squares of values, value times derivative, squares of derivatives. */
void tesi_mapped_square_tables(const TesiMapped *m, double *t);
/* y <- b + sign A x on all chunks; rows of constrained nodes are y = x, or b - x. */
void tesi_mapped_host_run(const TesiMappedHost *plan, double sign, const void *b, const void *x, void *y);
/* The plan of an operator of kind mapped on the host, without Robin terms; else NULL. */
const TesiMappedHost *tesi_mapped_host_of(const TesOperator *op);

#endif
