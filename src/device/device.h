/* The device table: memory, copies, vector operations. One implementation per folder: host/, cuda/, emulator/. All
 * other code uses device addresses and calls through this table. Reductions accumulate in float64 and give the same
 * bits for every number of threads. `precision` arguments give the type of the numbers at the addresses. */
#ifndef TESI_DEVICE_H
#define TESI_DEVICE_H

#include "base/base.h"

enum { TESI_COMBINED = 5, TESI_PAIRED = 3 };

/* A pass of a polynomial in D^-1 A: p <- c p + s (r_i d_i), x <- keep x + p, and with b also next <- b, which may be r.
 * On devices with kernels: with q r - q is used in the place of r; with c = 0, p may be NULL, and is not kept. A vector
 * with the factor 0 is not read. */
typedef struct TesiDiagonalStep {
  double s, c, keep;
  const void *r, *q, *d; /* q NULL: 0 */
  void *p, *x;
  const void *b; /* NULL: no next */
  void *next;
} TesiDiagonalStep;

/* The handle by which other processes of a host open shared memory. */
typedef struct TesiShared {
  size_t bytes;
  int device; /* number of the GPU */
  char name[64];
} TesiShared;

struct TesiMessage;

typedef struct TesiDevice {
  const char *kind; /* "cpu", "cuda", "emulator" */
  /* memory: zero-filled, aligned to at least 64 bytes */
  TesStatus (*allocate)(TesContext *ctx, size_t bytes, void **address);
  void (*release)(TesContext *ctx, void **address);
  size_t (*available)(TesContext *ctx); /* bytes that can still be allocated */
  TesStatus (*to_device)(TesContext *ctx, void *device, const void *host, size_t bytes);
  TesStatus (*to_host)(TesContext *ctx, void *host, const void *device, size_t bytes);
  TesStatus (*synchronize)(TesContext *ctx);
  /* Optional (NULL: any memory will do): host memory with fast copies to and from the device. Errors:
   * TES_OUT_OF_MEMORY. */
  TesStatus (*pin)(TesContext *ctx, size_t bytes, void **address);
  void (*unpin)(TesContext *ctx, void **address);
  /* Optional (NULL: none): memory that other processes of this host can access. It is zero at *address, and has a name
   * by which another process opens it. TES_MISSING: not available. */
  TesStatus (*share)(TesContext *ctx, size_t bytes, TesiShared *name, void **address);
  void (*unshare)(TesContext *ctx, TesiShared *name,
                  void **address); /* to be called when all other processes have
                                                                       * closed it */
  TesStatus (*open)(TesContext *ctx, const TesiShared *name, void **address);
  void (*close)(TesContext *ctx, const TesiShared *name, void **address);
  /* Optional (NULL: none): messages between the devices of ranks. `connect` is called by every rank, once, before any
   * `send`. TES_MISSING, on every rank: not available. `send` queues messages (comm.h) between device addresses as
   * kernels are queued; it can be recorded, but not in a loop. */
  TesStatus (*connect)(TesContext *ctx);
  TesStatus (*send)(TesContext *ctx, int n, const struct TesiMessage *message);
  /* vectors */
  TesStatus (*fill)(TesContext *ctx, TesPrecision precision, int64_t n, double a, void *y);
  TesStatus (*copy)(TesContext *ctx, int64_t n, double a, TesPrecision px, const void *x, TesPrecision py,
                    void *y);
  TesStatus (*axpy)(TesContext *ctx, int64_t n, double a, TesPrecision px, const void *x, TesPrecision py,
                    void *y);
  TesStatus (*xpay)(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, double a, void *y);
  TesStatus (*dot)(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, const void *y,
                   double *result);
  TesStatus (*maximum)(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, double *result);
  /* y <- y + a (x_i d_i) */
  TesStatus (*multiply_add)(TesContext *ctx, TesPrecision precision, int64_t n, double a, const void *x,
                            const void *d, void *y);
  /* compiled kernels (kernel.h); NULL on the host, whose operators are loops */
  const struct TesiKernelTable *kernels;
  /* Records queued work, which is replayed at less cost per launch; NULL: not available. Between begin and end nothing
   * runs, and calls that return numbers or copy to the host are errors. graph NULL: the recording is dropped. */
  TesStatus (*graph_begin)(TesContext *ctx);
  TesStatus (*graph_end)(TesContext *ctx, void **graph);
  TesStatus (*graph_run)(TesContext *ctx, void *graph);
  void (*graph_release)(TesContext *ctx, void **graph);
  /* Loops in a recording. The work queued between begin and end is repeated while an integer of device memory is not 0;
   * it is read before each pass. Loops nest up to depth two. `loops`: whether there are loops; it prepares them, and
   * must be called before the recording. All NULL: not available. */
  bool (*loops)(TesContext *ctx);
  TesStatus (*loop_begin)(TesContext *ctx, const int *go_on);
  TesStatus (*loop_end)(TesContext *ctx);
  /* Optional (NULL: the entries above do it): y <- a (x_i d_i), y may be x; a TesiDiagonalStep. Then a pass of
   * conjugate gradients with D^-1: r <- r + a q, z <- (r_i d_i), *rz = r.z, with the same bits as axpy, multiply and
   * dot. */
  TesStatus (*multiply)(TesContext *ctx, TesPrecision precision, int64_t n, double a, const void *x,
                        const void *d, void *y);
  TesStatus (*diagonal_step)(TesContext *ctx, TesPrecision precision, int64_t n, const TesiDiagonalStep *step);
  TesStatus (*diagonal_residual)(TesContext *ctx, TesPrecision precision, int64_t n, double a, const void *q,
                                 const void *d, void *r, void *z, double *rz);
  /* y <- sum over i < count of a_i x_i in one pass, float64, count 1 .. TESI_COMBINED; y may be one of x. Required. */
  TesStatus (*combine)(TesContext *ctx, int64_t n, int count, const double *a, const void *const *x, void *y);
  /* Optional, float64: y <- sum over i < count of a_i x_i and z <- sum over i < count of b_i x_i, count 1 ..
   * TESI_PAIRED, neither one of x; r <- x - y, *square <- r.r */
  TesStatus (*combine_pair)(TesContext *ctx, int64_t n, int count, const double *a, const double *b,
                            const void *const *x, void *y, void *z);
  TesStatus (*difference)(TesContext *ctx, int64_t n, const void *x, const void *y, void *r, double *square);
} TesiDevice;

extern const TesiDevice tesi_device_host;

/* The optional entries: the device's own function, or the required entries. */
TesStatus tesi_device_multiply(TesContext *ctx, TesPrecision precision, int64_t n, double a, const void *x,
                               const void *d, void *y);
TesStatus tesi_device_diagonal_step(TesContext *ctx, TesPrecision precision, int64_t n,
                                    const TesiDiagonalStep *step);
TesStatus tesi_device_diagonal_residual(TesContext *ctx, TesPrecision precision, int64_t n, double a,
                                        const void *q, const void *d, void *r, void *z, double *rz);
TesStatus tesi_device_combine_pair(TesContext *ctx, int64_t n, int count, const double *a, const double *b,
                                   const void *const *x, void *y, void *z);
TesStatus tesi_device_difference(TesContext *ctx, int64_t n, const void *x, const void *y, void *r,
                                 double *square);

#endif
