#include "basis/blas.h"
#include <stddef.h>

extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_procs(void) __attribute__((weak));

enum { LARGE = 768 };

void tesi_blas_size(int n) {
  if (openblas_set_num_threads == NULL || openblas_get_num_procs == NULL) return;
  openblas_set_num_threads(n < LARGE ? 1 : openblas_get_num_procs());
}
