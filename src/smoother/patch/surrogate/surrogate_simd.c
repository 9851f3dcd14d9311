/* Surrogate patches for one SIMD width: see surrogate.h. The 1D matrices of eight patches at a time, and the sweeps. */
#include "smoother/patch/surrogate/surrogate.h"
#include "tensor/eigen_batch.h"
#include "tensor/simd.h"

#pragma GCC diagnostic ignored                                                                               \
    "-Wpsabi" /* vectors wider than registers are passed between inlined functions only */

bool TESI_SIMD(tesi_eigen_batch)(int n, double *K, double *M, double *S, double *lambda);

enum { SIZE = 2 * TESI_MAX_DEGREE - 1, SQUARE = SIZE * SIZE };

typedef double lanes __attribute__((vector_size(8 * TESI_EIGEN_LANES)));

/* Adds one cell: nodes i of the cell are nodes i + shift of the interval, where they are in it. */
static void add_cell(const TesiSurrogateData *data, int m, int shift, double reaction, const lanes *factor,
                     lanes h, lanes *K, lanes *M) {
  const int n = data->points;
  for (int q = 0; q < n; q++) {
    const lanes mass = data->weights[q] * h * factor[q], stiffness = data->weights[q] / h * factor[q];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const int row = i + shift, column = j + shift;
        if (row < 0 || row >= m || column < 0 || column >= m) continue;
        const lanes mm = mass * (data->B[q * n + i] * data->B[q * n + j]);
        M[row * m + column] += mm;
        K[row * m + column] += stiffness * (data->G[q * n + i] * data->G[q * n + j]) + reaction * mm;
      }
  }
}

/* The eigenbases of eight intervals of a family in direction d. */
static bool solve_interval(const TesiSurrogateData *data, const TesiPatchFamily *family, int d,
                           const double *factors, const double *widths, double *S, double *lambda) {
  const int m = family->m, degree = data->points - 1;
  const lanes *factor = (const lanes *)factors, *h = (const lanes *)widths;
  lanes K[SQUARE], M[SQUARE];
  const lanes zero = {0};
  for (int i = 0; i < m * m; i++) K[i] = M[i] = zero;
  for (int cell = 0; cell < family->cells; cell++)
    add_cell(data, m, cell * degree - family->skip, d == 0 ? data->reaction : 0, factor + cell * data->points,
             h[cell], K, M);
  if (family->end[0]) K[0] += data->robin[2 * d] * factor[0];
  if (family->end[1]) K[m * m - 1] += data->robin[2 * d + 1] * factor[family->cells * data->points - 1];
  return TESI_SIMD(tesi_eigen_batch)(m, (double *)K, (double *)M, S, lambda);
}

#define REAL double
#define LANES 8
#define NAME(name) name##_double
#include "smoother/patch/surrogate/surrogate_body.h"
#undef REAL
#undef LANES
#undef NAME
#define REAL float
#define LANES 16
#define NAME(name) name##_float
#include "smoother/patch/surrogate/surrogate_body.h"

const TesiSurrogateKernels TESI_SIMD(tesi_surrogate_kernels)[2] = {{solve_double, fill_double},
                                                                   {solve_float, fill_float}};
