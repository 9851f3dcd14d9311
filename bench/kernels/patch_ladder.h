/* The variants of the vertex-patch kernel (patch_ladder.cu): what patch-smoothers-cui-2024 compares, and ours
 * beside it. For measurements and tests; programs use tes_smoother_create. */
#ifndef BENCH_PATCH_LADDER_H
#define BENCH_PATCH_LADDER_H

#include "smoother/smoother.h"

typedef struct BenchLadderVariant {
  const char *name, *text; /* one line of what it is */
  int phases; /* 3 fused, 0 residual and solve apart, -1 the same with the residual of the global operator */
  int form, round; /* as in the kernel */
  bool shortcut, dense;
  int patches; /* a block; 0: about 200 threads */
  int most_degree;
  int precision; /* -1 both, else a TesPrecision */
  bool exact;    /* false: results carry the error of TF32 */
} BenchLadderVariant;

/* All of them; ends with a name of NULL. */
extern const BenchLadderVariant bench_ladder_variants[];
const BenchLadderVariant *bench_ladder_find(const char *name); /* NULL when there is none */
/* Whether it exists for this operator: 3D, equal cells, Dirichlet faces, a device with kernels, degree and
 * precision. */
bool bench_ladder_serves(const BenchLadderVariant *variant, const TesOperator *op);
/* A smoother with the same meaning as TES_SMOOTHER_PATCH. Errors: TES_MISSING where it does not exist. */
TesStatus bench_ladder_create(TesContext *ctx, const TesOperator *op, const BenchLadderVariant *variant,
                              TesSmoother **smoother);

#endif
