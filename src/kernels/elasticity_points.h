/* Numbers of an elasticity operator at a point, and stresses, for its kernels. Include elasticity_arguments.h before,
 * and define: real, DIM, N, NUMBERS, MASS. */
#ifndef TESK_ELASTICITY_POINTS_H
#define TESK_ELASTICITY_POINTS_H

#define AT_POINTS 0 /* NUMBERS */
#define AFFINE 1
#define ALIGNED 2
#define OWN (NUMBERS == ALIGNED ? DIM : DIM * DIM)
#define ENTRIES_ELASTIC (OWN + 2 + MASS)
#ifndef POINTS
#define POINTS (DIM == 3 ? N * N * N : N * N)
#endif

/* K[DIM][DIM], or its diagonal, then lambda, mu and the mass with all weights. weights [N]. */
TESK_DEVICE void elastic_numbers(const TeskElastic *a, long long cell, int p, const real *weights,
                                 real number[ENTRIES_ELASTIC]) {
#if NUMBERS == AT_POINTS
  const real *const from = (const real *)a->numbers + cell * (ENTRIES_ELASTIC * POINTS) + p;
  TESK_UNROLL
  for (int i = 0; i < ENTRIES_ELASTIC; i++) number[i] = TESK_READ(from + i * POINTS);
  (void)weights;
#else
  const real *const from = (const real *)a->numbers + cell * ENTRIES_ELASTIC;
  const real w = weights[p % N] * weights[p / N % N] * (DIM == 3 ? weights[p / (N * N)] : 1);
  TESK_UNROLL
  for (int i = 0; i < ENTRIES_ELASTIC; i++) number[i] = (i < OWN ? 1 : w) * TESK_READ(from + i);
#endif
}

/* K[d][r] of those numbers. */
#define ELASTIC_K(number, d, r) (NUMBERS != ALIGNED ? number[(d)*DIM + (r)] : (d) == (r) ? number[d] : 0)

/* slope[c][d], derivatives of components in reference directions, become fluxes; returns the factor of the mass. */
TESK_DEVICE real elastic_stress(const TeskElastic *a, long long cell, int p, const real *weights,
                                real slope[DIM][DIM]) {
  real number[ENTRIES_ELASTIC], G[DIM][DIM], trace = 0;
  elastic_numbers(a, cell, p, weights, number);
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) {
    TESK_UNROLL
    for (int r = 0; r < DIM; r++) {
      G[c][r] = 0;
      TESK_UNROLL
      for (int d = 0; d < DIM; d++)
        if (NUMBERS != ALIGNED || d == r) G[c][r] += ELASTIC_K(number, d, r) * slope[c][d];
    }
    trace += G[c][c];
  }
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) {
    TESK_UNROLL
    for (int d = 0; d < DIM; d++) {
      slope[c][d] = 0;
      TESK_UNROLL
      for (int r = 0; r < DIM; r++)
        if (NUMBERS != ALIGNED || d == r)
          slope[c][d] += (number[OWN + 1] * (G[c][r] + G[r][c]) + (c == r ? number[OWN] * trace : 0)) *
                         ELASTIC_K(number, d, r);
    }
  }
  return MASS ? number[ENTRIES_ELASTIC - 1] : 0;
}

#endif
