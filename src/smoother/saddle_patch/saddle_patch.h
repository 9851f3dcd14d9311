/* Vertex patches of Raviart-Thomas spaces: the 2^dim cells round a vertex, solved exactly
 * (operator/saddle/saddle_local.h), colour by colour.
 * Unknowns: component i has the nodes along i that lie inside the patch, or on an open face of the box, and all
 * modes across. */
#ifndef TESI_SADDLE_PATCH_H
#define TESI_SADDLE_PATCH_H

#include "operator/saddle/saddle_local.h"
#include "smoother/smoother.h"

/* A direction: its vertices, and kinds of intervals of two cells. */
typedef struct TesiSaddlePatchAxis {
  int vertices, colours, types, most; /* most: nodes of an interval at most */
  int *type, *colour;                 /* [vertices] */
  int *node, *mode;                   /* [vertices][most], [vertices][modes] */
  TesiSaddleLocalAxis *local;         /* [types] */
  void **table;                       /* [types] TesiSaddlePatchTable, of the operator's precision */
} TesiSaddlePatchAxis;

/* Direction d of a saddle operator; the tables of loops are theirs. */
TesStatus tesi_saddle_patch_axis_create(TesContext *ctx, const TesiSaddle *saddle, int d,
                                        TesiSaddlePatchAxis *axis);
void tesi_saddle_patch_axis_free(TesContext *ctx, TesiSaddlePatchAxis *axis);

/* Offsets into a table of numbers of the operator's precision; [nodes][nodes] and so on, row-major. */
typedef struct TesiSaddlePatchTable {
  int nodes, modes;
  /* forward: Zc', Zd'; back: Zc, Zd; G and G'; lc, ld */
  int64_t Zc_forward, Zd_forward, Zc_back, Zd_back, G, G_transposed, lc, ld, size;
} TesiSaddlePatchTable;

/* Patches of one colour and one kind, by their vertices. */
typedef struct TesiSaddlePatchTask {
  int type[3], inverse; /* number of S^+ */
  int count;
  int (*vertex)[3]; /* [count] */
} TesiSaddlePatchTask;

typedef struct TesiSaddlePatchPlan {
  const TesiRt *rt;
  const TesiSaddle *saddle;
  TesiSaddlePatchAxis axis[3];
  int modes; /* a direction that exists: 2 n */
  int inverses, pressures;
  int (*inverse_type)[3];   /* [inverses] */
  void **inverse;           /* [inverses] S^+ [pressures][pressures] of the operator's precision */
  int colours, *first_task; /* [colours + 1] */
  TesiSaddlePatchTask *task;
  int (*vertices)[3];
  int threads;
  size_t work_size; /* vectors */
  void **work;      /* [threads] */
  void *r;          /* residual: device vector */
} TesiSaddlePatchPlan;

TesStatus tesi_smoother_saddle_init(TesSmoother *smoother);
TesStatus tesi_smoother_saddle_device_init(TesSmoother *smoother);
/* Of a sweep in so many colours, with so many patches in all. */
TesCost tesi_saddle_patch_cost(const TesOperator *op, int colours, double patches);
/* For the tests: assembled patches and their pseudo-inverses. float64 host arrays. */
TesStatus tesi_saddle_patch_sweep_ref(const TesOperator *op, const TesiSaddlePatchAxis axis[3],
                                      const double *b, double *x, TesSweep sweep);

#define TESI_SADDLE_PATCH_KERNELS(bits)                                                                      \
  void tesk_saddle_patch_double_##bits(const TesiSaddlePatchPlan *plan, const TesiSaddlePatchTask *task,     \
                                       const double *r, double *x, void *work);                              \
  void tesk_saddle_patch_float_##bits(const TesiSaddlePatchPlan *plan, const TesiSaddlePatchTask *task,      \
                                      const float *r, float *x, void *work);
TESI_SADDLE_PATCH_KERNELS(128)
TESI_SADDLE_PATCH_KERNELS(256)
TESI_SADDLE_PATCH_KERNELS(512)

#endif
