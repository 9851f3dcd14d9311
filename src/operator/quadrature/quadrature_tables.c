/* The 1D tables of the quadrature form, whole and as even-odd halves, in the operator's precision. */
#include "base/real.h"
#include "basis/lagrange.h"
#include "operator/quadrature/quadrature.h"

enum { N = TESI_QUAD_N };

/* The half of T[n][n] that acts on even or odd input: rows of outputs, columns of inputs. `changes`: T swaps parity.
 * Inputs are sums (differences) of a pair, outputs half sums, so that u = even +- odd; `half_input`: inputs are
 * halves. */
static void set_half(TesiQuadPlan *plan, TesiQuadTable table, bool odd, bool changes, bool half_input,
                     const double *T) {
  const int n = plan->n, columns = odd ? n / 2 : (n + 1) / 2, rows = odd != changes ? n / 2 : (n + 1) / 2;
  const double factor = half_input ? 1 : 0.5;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      const double a = T[i * n + j], b = T[i * n + n - 1 - j];
      const double entry = j == n - 1 - j ? a : factor * (odd ? a - b : a + b);
      tesi_number_set(plan->precision, plan->tables,
                      (size_t)table * TESI_QUAD_HALF + (size_t)(i * columns + j), entry);
    }
}

static void transpose(int n, const double *T, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[j * n + i] = T[i * n + j];
}

static void set_halves(TesiQuadPlan *plan, const double *B, const double *D) {
  double T[N * N];
  for (int odd = 0; odd < 2; odd++) {
    set_half(plan, TESI_B_EVEN + odd, odd, false, false, B);
    set_half(plan, TESI_D_EVEN + odd, odd, true, false, D);
    set_half(plan, TESI_D2_EVEN + odd, odd, true, true, D);
    transpose(plan->n, B, T);
    set_half(plan, TESI_BT_EVEN + odd, odd, false, false, T);
    transpose(plan->n, D, T);
    set_half(plan, TESI_DT_EVEN + odd, odd, true, false, T);
  }
}

TesStatus tesi_quad_make_tables(TesContext *ctx, TesiQuadPlan *plan) {
  TesStatus status = TES_OK;
  const size_t size = tesi_precision_size(plan->precision), nn = (size_t)plan->n * (size_t)plan->n;
  double nodes[N], points[N], weights[N], B[N * N], G[N * N], D[N * N];
  TES_TRY(tesi_alloc(ctx, TESI_QUAD_TABLES * TESI_QUAD_HALF, size, &plan->tables));
  TES_TRY(tesi_alloc(ctx, 2 * nn, size, &plan->squares));
  TES_TRY(tesi_alloc(ctx, nn, size, &plan->values));
  tesi_gauss_lobatto(plan->n, nodes, NULL);
  tesi_gauss(plan->n, points, weights);
  tesi_lagrange(plan->n, nodes, plan->n, points, B, G);
  tesi_lagrange(plan->n, points, plan->n, points, NULL, D);
  set_halves(plan, B, D);
  for (size_t i = 0; i < nn; i++) {
    tesi_number_set(plan->precision, plan->values, i, B[i]);
    tesi_number_set(plan->precision, plan->squares, i, B[i] * B[i]);
    tesi_number_set(plan->precision, plan->squares, nn + i, G[i] * G[i]);
  }
done:
  return status;
}
