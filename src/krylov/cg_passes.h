/* The vector passes of conjugate gradients (cg.c). On the processor each is one pass over its vectors, bytes per entry
 * with a float32 cycle: product 12, direction 20, products 24, update 56: 112, where copies, products and sums one by
 * one take 180. Devices take them one by one. */
#ifndef TESI_CG_PASSES_H
#define TESI_CG_PASSES_H

#include "device/vector.h"

/* What a cycle returns: scale z, z in its precision. */
typedef struct TesiImage {
  const TesVector *z;
  double scale;
} TesiImage;

/* *dot <- scale z . q */
TesStatus tesi_cg_product(const TesiImage *image, const TesVector *q, double *dot);
/* p <- scale z + a p; a = 0: p need not be defined */
TesStatus tesi_cg_direction(const TesiImage *image, double a, TesVector *p);
/* dot[0] <- p . q, dot[1] <- p . r */
TesStatus tesi_cg_products(const TesVector *p, const TesVector *q, const TesVector *r, double dot[2]);

/* x <- x + a p, r <- r - a q, *square <- r . r; unless it is NULL, rounded <- factor r. */
typedef struct TesiCgUpdate {
  double a, factor;
  const TesVector *p, *q;
  TesVector *x, *r, *rounded;
} TesiCgUpdate;
TesStatus tesi_cg_update(const TesiCgUpdate *update, double *square);

#endif
