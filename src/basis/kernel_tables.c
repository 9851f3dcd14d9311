#include "basis/kernel_tables.h"
#include <stdio.h>
#include <string.h>
#include "basis/eigen.h"
#include "basis/lagrange.h"
#include "device/table_text.h"

enum { N = TESI_MAX_DEGREE + 1, C = 2 * TESI_MAX_DEGREE + 1 };

/* Even-odd halves of A[n][n] as E[h][h], O[g][g]. */
static void print_halves(TesiTableText *text, const char *name, int n, const double *A) {
  double E[N * N], O[N * N];
  char full[16];
  const int h = (n + 1) / 2, g = n / 2;
  for (int i = 0; i < h; i++)
    for (int j = 0; j < h; j++)
      E[i * h + j] = 2 * j == n - 1 ? A[i * n + j] : (A[i * n + j] + A[i * n + n - 1 - j]) / 2;
  for (int i = 0; i < g; i++)
    for (int j = 0; j < g; j++) O[i * g + j] = (A[i * n + j] - A[i * n + n - 1 - j]) / 2;
  snprintf(full, sizeof full, "%se", name);
  tesi_table_text_add(text, full, E, h * h);
  snprintf(full, sizeof full, "%so", name);
  tesi_table_text_add(text, full, O, g * g);
}

/* First halves of the modes: even modes [h][h], odd modes [g][g], (node, mode). */
static void print_modes(TesiTableText *text, const char *name, int n, const double *S) {
  double E[C * C], O[C * C];
  char full[16];
  const int h = (n + 1) / 2, g = n / 2;
  for (int i = 0; i < h; i++)
    for (int j = 0; j < h; j++) E[i * h + j] = S[i * n + j];
  for (int i = 0; i < g; i++)
    for (int j = 0; j < g; j++) O[i * g + j] = S[i * n + h + j];
  snprintf(full, sizeof full, "%se", name);
  tesi_table_text_add(text, full, E, h * h);
  snprintf(full, sizeof full, "%so", name);
  tesi_table_text_add(text, full, O, g * g);
}

/* Rows and columns first .. first+n-1 of A[size][size]. */
static void cut(const double *A, int size, int first, int n, double *block) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) block[i * n + j] = A[(first + i) * size + first + j];
}

/* out[j] = sum over i of S[i][j] A[first + i][0] */
static void couple(const double *S, const double *A, int size, int n, double *out) {
  for (int j = 0; j < n; j++) {
    out[j] = 0;
    for (int i = 0; i < n; i++) out[j] += S[i * n + j] * A[(1 + i) * size];
  }
}

/* Patch of two cells: modes, their inverse, couplings. */
static TesStatus print_patch(TesContext *ctx, TesiTableText *text, int k, const double *mass,
                             const double *stiffness, TesiPatchNumbers *numbers) {
  TesStatus status = TES_OK;
  const int size = 2 * k + 1, m = 2 * k - 1, n = k + 1;
  double *work = NULL;
  TES_ALLOC(&work, 6 * C * C);
  double *K = work, *M = K + C * C, *KI = M + C * C, *MI = KI + C * C, *S = MI + C * C, *inverse = S + C * C;
  for (int cell = 0; cell < 2; cell++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        K[(cell * k + i) * size + cell * k + j] += stiffness[i * n + j];
        M[(cell * k + i) * size + cell * k + j] += mass[i * n + j];
      }
  cut(K, size, 1, m, KI);
  cut(M, size, 1, m, MI);
  TES_TRY(tesi_eigen_symmetric(ctx, m, KI, MI, S, numbers->lambda));
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      for (int l = 0; l < m; l++) inverse[i * m + j] += MI[i * m + l] * S[l * m + j];
  couple(S, K, size, m, numbers->a);
  couple(S, M, size, m, numbers->c);
  print_modes(text, "s", m, S);
  print_modes(text, "i", m, inverse);
  tesi_table_text_add(text, "lambda", numbers->lambda, m);
  tesi_table_text_add(text, "a", numbers->a, m);
  tesi_table_text_add(text, "c", numbers->c, m);
done:
  tesi_free(ctx, &work);
  return status;
}

static TesStatus print_bubbles(TesContext *ctx, TesiTableText *text, int k, const double *mass,
                               const double *stiffness, TesiPatchNumbers *numbers) {
  TesStatus status = TES_OK;
  const int n = k + 1, inner = k - 1;
  double KI[N * N], MI[N * N], S[N * N];
  cut(stiffness, n, 1, inner, KI);
  cut(mass, n, 1, inner, MI);
  if (inner > 0) TES_TRY(tesi_eigen_symmetric(ctx, inner, KI, MI, S, numbers->bubble_lambda));
  couple(S, stiffness, n, inner, numbers->p);
  couple(S, mass, n, inner, numbers->q);
  print_modes(text, "b", inner, S);
  numbers->K00 = stiffness[0];
  numbers->K0k = stiffness[k];
  numbers->M00 = mass[0];
  numbers->M0k = mass[k];
done:
  return status;
}

TesStatus tesi_kernel_tables(TesContext *ctx, int degree, const char *type, char **text,
                             TesiPatchNumbers *numbers) {
  TesStatus status = TES_OK;
  double mass[N * N], stiffness[N * N];
  TesiPatchNumbers own;
  TesiTableText t = {.context = ctx, .type = type};
  const int k = degree;
  *text = NULL;
  if (!numbers) numbers = &own;
  memset(numbers, 0, sizeof *numbers);
  numbers->degree = k;
  tesi_cell_matrices(k, mass, stiffness);
  print_halves(&t, "m", k + 1, mass);
  print_halves(&t, "k", k + 1, stiffness);
  tesi_table_text_add(&t, "mlast", mass + k * (k + 1), k + 1);
  tesi_table_text_add(&t, "klast", stiffness + k * (k + 1), k + 1);
  TES_TRY(print_patch(ctx, &t, k, mass, stiffness, numbers));
  TES_TRY(print_bubbles(ctx, &t, k, mass, stiffness, numbers));
  return tesi_table_text_end(&t, text);
done:
  tesi_free(ctx, &t.text);
  return status;
}
