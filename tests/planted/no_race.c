/* The usual OpenMP shapes without a race, which the thread sanitizer must not take for one: barriers between phases,
 * a reduction, atomics, a critical section, dynamic schedules, and reuse of memory across parallel regions. */
#include <stdio.h>

enum { N = 4096 };

int main(void) {
  static double a[N], b[N];
  double sum = 0, largest = 0;
  long count = 0;
  for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(2)
    {
#pragma omp for
      for (int i = 0; i < N; i++) a[i] = i + round;
#pragma omp for schedule(dynamic, 64)
      for (int i = 0; i < N; i++) b[i] = a[N - 1 - i];
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < N; i++) sum += b[i];
#pragma omp atomic
      count++;
#pragma omp critical
      if (b[0] > largest) largest = b[0];
    }
#pragma omp parallel for num_threads(2) schedule(static)
    for (int i = 0; i < N; i++) a[i] = b[N - 1 - i] + (double)count;
  }
  printf("%g %g %ld\n", sum, largest, count);
  return a[0] > 0 && largest == N - 1 + 19 ? 0 : 1;
}
