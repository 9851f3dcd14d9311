/* Factors at quadrature points, made for eight cells at a time (geometry/lanes.h). All plans make their factors from
 * these. */
#ifndef TESI_MAPPED_FILL_H
#define TESI_MAPPED_FILL_H

#include "geometry/lanes.h"
#include "operator/mapped/mapped.h"

/* Loops over vectors of eight lanes (mapped_fill_simd.c). The coefficient a is a scalar, or dim (dim + 1) / 2 rows of
 * `points` entries. */
typedef struct TesiFillLoops {
  void (*metric)(int dim, bool scalar, int64_t points, const double *weight, const double *J,
                 const double *det, const double *a, double *out); /* [entry][points] */
  void (*weights)(int64_t points, const double *weight, const double *det, const double *a, double *out);
  void (*mass)(int64_t points, const double *weight, const double *det, const double *c, double *out);
  unsigned (*indefinite)(int dim, bool scalar, int64_t points, const double *a); /* bits of lanes */
  /* c[(m+1)^dim][dim][8]: the monomials of cells of degree m, 1 or 2, computed from the nodes of the cells. */
  void (*monomials)(int dim, int m, const double *nodes, double *c);
  /* 3D, m = 1: turns c into monomials of xi_d - 1/2, and multiplies weights[q^3][8] by |dx/dxi_0|^2, which is
   * constant on a row. */
  void (*eliminate)(int q, const double *point, double *c, double *weights);
  /* d[n^dim][8] += factor times the sum, over points, of g[q^dim][8] times the tables t[0] (x) t[1] (x) t[2], each
   * [q][n]. work: [2][q^dim][8]. */
  void (*squares)(int dim, int n, int q, const double *const t[3], double factor, const double *g,
                  double *work, double *d);
  /* The lower triangle, by rows, of the matrices of cells from their factors in[entries][points][8], entries: dim (dim
   * + 1) / 2 with stiffness, and the mass, which is multiplied by mass_factor. Without mass the diagonal is left out.
   * f[points][1 + dim][nodes]: functions and derivatives. work: [points][1 + dim][nodes][8]. */
  void (*triangles)(int dim, int nodes, int64_t points, bool stiffness, bool mass, double mass_factor,
                    const double *f, const double *in, double *work, double *out);
} TesiFillLoops;

/* `numbers` at each of q^dim points: the metric w |J| J^-1 a J^-T, or its weight w a / |J|, then c w |J|. */
typedef struct TesiFill {
  const TesiMapped *m;
  const TesiLanes *lanes;
  const TesiFillLoops *loops;
  int dim, q, entries, numbers;
  int64_t points, work; /* numbers of work a thread needs */
  bool weights_only;
  double *B, *G, *weight; /* weight[points] */
} TesiFill;

/* weight NULL: ones. */
TesStatus tesi_fill_create(const TesiMapped *m, int q, const double *point, const double *weight,
                           bool weights_only, TesiFill *fill);
void tesi_fill_destroy(TesiFill *fill);
/* out[numbers][points][8]. Returns the bits of the lanes with an error. On entry `work` begins with the nodes,
 * [cell_nodes][dim][8]. */
unsigned tesi_fill_cells(const TesiFill *fill, const int32_t cell[TESI_LANES], double *work, double *out);
/* Reports the error of a cell if no earlier cell has one; `bad` INT64_MAX: no cell is bad. */
TesStatus tesi_fill_tell(const TesiFill *fill, int64_t bad);
/* The smallest number among `bad` and the cells with these bits. */
int64_t tesi_fill_worst(int64_t bad, unsigned bits, const int32_t cell[TESI_LANES]);

#endif
