#include "basis/gauss.h"
#include <math.h>

void tesi_legendre(int n, double x, double *value, double *derivative) {
  double previous = 1, p = n ? x : 1, dprevious = 0, d = n ? 1 : 0;
  for (int j = 2; j <= n; j++) {
    const double next = ((2 * j - 1) * x * p - (j - 1) * previous) / j;
    const double dnext = dprevious + (2 * j - 1) * p; /* P'_j = P'_{j-2} + (2j-1) P_{j-1} */
    previous = p, p = next, dprevious = d, d = dnext;
  }
  *value = p, *derivative = d;
}

/* Mirrors the first half, so that the rule is symmetric exactly. */
static void mirror(int n, double *points, double *weights) {
  for (int i = 0; i < n / 2; i++) {
    points[n - 1 - i] = 1 - points[i];
    if (weights) weights[n - 1 - i] = weights[i];
  }
  if (n % 2) points[n / 2] = 0.5;
}

void tesi_gauss(int n, double *points, double *weights) {
  for (int i = 0; i < (n + 1) / 2; i++) {
    double x = -cos(M_PI * (i + 0.75) / (n + 0.5)), p, d;
    for (int iteration = 0; iteration < 20; iteration++) {
      tesi_legendre(n, x, &p, &d);
      x -= p / d;
    }
    if (2 * i + 1 == n) x = 0;
    tesi_legendre(n, x, &p, &d);
    points[i] = (1 + x) / 2;
    weights[i] = 1 / ((1 - x * x) * d * d);
  }
  mirror(n, points, weights);
}

void tesi_gauss_lobatto(int n, double *points, double *weights) {
  const int k = n - 1;
  for (int i = 0; i < (n + 1) / 2; i++) {
    double x = -cos(M_PI * i / k), p, d;
    for (int iteration = 0; iteration < 20 && i > 0;
         iteration++) { /* Newton for P'_k, with P''_k from Legendre's equation */
      tesi_legendre(k, x, &p, &d);
      x -= d * (1 - x * x) / (2 * x * d - k * (k + 1) * p);
    }
    if (2 * i + 1 == n) x = 0;
    tesi_legendre(k, x, &p, &d);
    points[i] = (1 + x) / 2;
    if (weights) weights[i] = 1 / (k * (k + 1) * p * p);
  }
  points[0] = 0;
  mirror(n, points, weights);
}
