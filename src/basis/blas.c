#include "basis/blas.h"
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));

enum { LARGE = 768, BUFFER = 128 << 20 };

static int most_threads;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* As the environment set it (OPENBLAS_NUM_THREADS), before any call of this program. */
static void ask_most(void) {
  most_threads = openblas_get_num_threads();
}

/* Whether the system would give OpenBLAS its buffer. */
static bool has_room(void) {
  void *const block = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return false;
  munmap(block, BUFFER);
  return true;
}

const char *tes_blas_core(void) {
  return openblas_get_corename ? openblas_get_corename() : NULL;
}

TesStatus tesi_blas_begin(TesContext *ctx, int n) {
  static _Thread_local bool has_buffer;
  TesStatus status = TES_OK;
  if (openblas_set_num_threads == NULL || openblas_get_num_threads == NULL) return TES_OK;
  pthread_once(&once, ask_most);
  if (!has_buffer && !has_room())
    TES_FAIL(TES_OUT_OF_MEMORY, "no memory for the buffer of OpenBLAS, %d MiB of address space (ulimit -v)",
             BUFFER >> 20);
  has_buffer = true;
  openblas_set_num_threads(n < LARGE ? 1 : most_threads);
done:
  return status;
}
