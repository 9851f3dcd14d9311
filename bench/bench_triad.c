/* Memory bandwidth as solvers see it: a[i] = b[i] + s c[i] with OpenMP's threads, over arrays larger than all caches.
 * Each part is first touched by the thread that uses it. Prints threads and GB/s, 24 bytes per entry, the best of ten
 * passes.
 *   bench_triad [threads] */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { PASSES = 10 };

int main(int argc, char **argv) {
  const long n = 1L << 26;
  const int threads = argc > 1 ? atoi(argv[1]) : omp_get_max_threads();
  double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b),
         *c = malloc((size_t)n * sizeof *c), best = 0;
  if (threads < 1 || !a || !b || !c) return 2;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < n; i++) a[i] = 0, b[i] = 1, c[i] = 2;
  for (int pass = 0; pass < PASSES; pass++) {
    const double start = omp_get_wtime();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (long i = 0; i < n; i++) a[i] = b[i] + 3 * c[i];
    const double rate = 24e-9 * (double)n / (omp_get_wtime() - start);
    best = rate > best ? rate : best;
  }
  printf("%d %.1f\n", threads, best);
  const int wrong = a[n / 2] != 7;
  free(a), free(b), free(c);
  return wrong;
}
