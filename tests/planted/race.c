/* A race that the thread sanitizer must find: two threads add to one number without protection. */
#include <stdio.h>

int main(void) {
  double sum = 0;
#pragma omp parallel for num_threads(2) shared(sum) schedule(static, 1)
  for (int i = 0; i < 1000; i++) sum += i;
  printf("%g\n", sum);
  return 0;
}
