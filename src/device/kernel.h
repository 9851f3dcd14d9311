/* Kernels: CUDA C text from src/kernels, specialised by macros and a table of numbers, compiled when first asked for.
 *
 * A program is one file compiled with one set of options; it stays loaded as long as the context lives, so that all
 * levels of a hierarchy share it. Compiling runs in threads of its own, several programs at a time, and is waited
 * for by the first launch: what fails to compile is told there. The text sees, besides kernel.h, the generated
 * header "tables.h". */
#ifndef TESI_KERNEL_H
#define TESI_KERNEL_H

#include "device/device.h"
#include "kernels/owned.h"

enum { TESI_OPTIONS = 44 };

/* A macro whose value is 1 where the program calls functions that the driver brings. */
#define TESI_RELOCATABLE "TESK_RELOCATABLE"

typedef struct TesiMacro {
  const char *name;
  int value;
} TesiMacro;

typedef struct TesiProgramDesc {
  const char *file;                   /* in src/kernels, e.g. "separable.cu" */
  const char *text;                   /* of a file that stands elsewhere; NULL: it is one of src/kernels */
  TesPrecision real;                  /* what `real` is in the text */
  const char *types[3];               /* "in_real=float", ...: other types; NULL ends them */
  TesiMacro macros[TESI_OPTIONS - 4]; /* in a fixed order; a name that is NULL ends them */
  const char *tables;                 /* text of tables.h; NULL: empty */
} TesiProgramDesc;

typedef struct TesiProgram TesiProgram;
typedef struct TesiKernelEntry TesiKernelEntry;
typedef struct TesiKernel {
  TesiKernelEntry *entry; /* of the program; NULL: none */
  TesiProgram *program;
  bool together; /* set by the caller: blocks wait for each other, all at once, or a launch fails (CUDA: cooperative) */
} TesiKernel;

typedef struct TesiGrid {
  unsigned x, y, z;
} TesiGrid;

/* A program of this context: at hand already, or on its way from the cache or the compiler. Owned by the context. */
TesStatus tesi_program_get(TesContext *ctx, const TesiProgramDesc *desc, TesiProgram **program);
/* Its kernel `name`, to be launched with up to `shared` bytes of shared memory. */
TesStatus tesi_kernel_get(TesContext *ctx, TesiProgram *program, const char *name, size_t shared,
                          TesiKernel *kernel);
/* Queues the kernel. arguments[i] points to the i-th argument's value. A grid without blocks is fine. */
TesStatus tesi_kernel_launch(TesContext *ctx, const TesiKernel *kernel, TesiGrid grid, unsigned threads,
                             size_t shared, void **arguments);

/* As many blocks as items want in a row, at most `most`. */
static inline TesiGrid tesi_grid_most(int64_t items, int64_t block, int64_t most) {
  const int64_t blocks = (items + block - 1) / block;
  return (TesiGrid){(unsigned)(blocks < most ? blocks : most), 1, 1};
}
static inline TesiGrid tesi_grid(int64_t items, int64_t block) {
  return tesi_grid_most(items, block, UINT32_MAX);
}

/* What a thread of a kernel needs, in registers and in local memory (arrays and spills), and how many blocks a
 * multiprocessor holds at a time. All 0 where the device has no such thing. */
typedef struct TesiKernelUse {
  int registers, local_bytes, blocks;
} TesiKernelUse;
TesStatus tesi_kernel_use(TesContext *ctx, const TesiKernel *kernel, unsigned threads, size_t shared,
                          TesiKernelUse *use);

/* Waits for all kernels that were asked for, so that their first launches do not; what cannot be had is told there. */
void tesi_kernels_wait(TesContext *ctx);

/* Multiprocessors of the device, 1 or more. */
int tesi_kernel_multiprocessors(const TesContext *ctx);
/* Blocks that are sure to run at a time, if `each` do on a multiprocessor. */
int64_t tesi_kernel_resident(const TesContext *ctx, int64_t each);

/* ---- what a device with kernels provides: TesiDevice.kernels ------------------------------------------- */
enum { TESI_TEXTS = 64 }; /* of a program, at most */
typedef struct TesiText {
  const char *name, *text;
} TesiText;
/* The embedded files of src/kernels; ends with NULLs. */
extern const TesiText tesi_kernel_texts[];

typedef struct TesiCompilation {
  const TesiText *texts; /* the file itself, then all headers */
  int count;
  const char *const *options;
  const char *description; /* compiler and target, as `describe` gave them: the target is the last word */
} TesiCompilation;

struct TesiKernelTable {
  /* Names compiler and target, e.g. "nvrtc 13.0 sm_90": a part of the cache's key. */
  TesStatus (*describe)(TesContext *ctx, char *text, size_t size);
  /* May run in another thread, with a context that has no device and serves messages and memory only. */
  TesStatus (*compile)(TesContext *ctx, const TesiCompilation *compilation, char **image, size_t *bytes);
  TesStatus (*load)(TesContext *ctx, const char *image, size_t bytes, void **module);
  void (*unload)(TesContext *ctx, void *module);
  TesStatus (*get)(TesContext *ctx, void *module, const char *name, size_t shared, void **function);
  TesStatus (*launch)(TesContext *ctx, void *function, TesiGrid grid, bool together, unsigned threads,
                      size_t shared, void **arguments);
  TesStatus (*use)(TesContext *ctx, void *function, unsigned threads, size_t shared,
                   TesiKernelUse *use); /* optional */
  int (*multiprocessors)(const TesContext *ctx);
  bool in_turn; /* blocks run one after another: they cannot wait for each other */
  bool at_once; /* compile in tesi_program_get, with the context itself */
};

/* What a context asked of its device since it was opened. */
typedef struct TesiCounts {
  long long to_host, to_device, allocations, launches, graphs, exchanges; /* exchanges: between ranks */
} TesiCounts;

/* Blocks of device memory that a context holds: devices do not tell the size of an address. */
typedef struct TesiBlock {
  void *address;
  size_t bytes;
} TesiBlock;
typedef struct TesiBlocks {
  TesiBlock *block;
  int64_t room;
  size_t count, held, high; /* bytes held now, and most since tesi_blocks_mark() */
} TesiBlocks;

/* The state of a device with kernels begins with this. */
typedef struct TesiKernelState {
  TesContext *ctx; /* not a reference: the state dies with the context */
  TesiProgram *programs;
  bool cache_warned, recording;
  TesiCounts counts;
  TesiBlocks blocks;
  void *partial;                              /* device memory for the partial sums of reductions */
  TesiKernel vector[2][2][16];                /* vector kernels by precision of x, of y, and operation */
  TesiKernel links[2][8];                     /* links.h, by precision */
  const struct TesiLinksTransport *transport; /* several ranks: of links.h */
  char description[128],
      headers[65]; /* of the compiler; the key of the kernels' headers, empty before it is known */
} TesiKernelState;

void tesi_kernel_state_destroy(TesiKernelState *state);

/* Vector operations by kernels, for the tables of such devices. */
TesStatus tesi_kernel_fill(TesContext *ctx, TesPrecision precision, int64_t n, double a, void *y);
TesStatus tesi_kernel_copy(TesContext *ctx, int64_t n, double a, TesPrecision px, const void *x,
                           TesPrecision py, void *y);
TesStatus tesi_kernel_axpy(TesContext *ctx, int64_t n, double a, TesPrecision px, const void *x,
                           TesPrecision py, void *y);
TesStatus tesi_kernel_xpay(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, double a,
                           void *y);
TesStatus tesi_kernel_dot(TesContext *ctx, TesPrecision precision, int64_t n, const void *x, const void *y,
                          double *result);
/* Over the entries that this rank owns. */
TesStatus tesi_kernel_dot_owned(TesContext *ctx, TesPrecision precision, int64_t n, const TeskOwned *own,
                                const void *x, const void *y, double *result);
TesStatus tesi_kernel_maximum(TesContext *ctx, TesPrecision precision, int64_t n, const void *x,
                              double *result);
TesStatus tesi_kernel_multiply_add(TesContext *ctx, TesPrecision precision, int64_t n, double a,
                                   const void *x, const void *d, void *y);

TesStatus tesi_kernel_multiply(TesContext *ctx, TesPrecision precision, int64_t n, double a, const void *x,
                               const void *d, void *y);
TesStatus tesi_kernel_diagonal_step(TesContext *ctx, TesPrecision precision, int64_t n,
                                    const TesiDiagonalStep *step);
TesStatus tesi_kernel_combine(TesContext *ctx, int64_t n, int count, const double *a, const void *const *x,
                              void *y);
TesStatus tesi_kernel_combine_pair(TesContext *ctx, int64_t n, int count, const double *a, const double *b,
                                   const void *const *x, void *y, void *z);
TesStatus tesi_kernel_difference(TesContext *ctx, int64_t n, const void *x, const void *y, void *r,
                                 double *square);
/* y <- 1 / y */
TesStatus tesi_kernel_invert(TesContext *ctx, TesPrecision precision, int64_t n, void *y);
/* tesi_vector_split_sums() (split_sums.h) */
TesStatus tesi_kernel_split_sums(TesContext *ctx, int64_t n, int64_t split, const void *x, const void *b,
                                 const void *r, double sums[2]);
/* What devices with kernels have of a TesiDevice in common. */
#define TESI_KERNEL_VECTORS                                                                                   \
  .copy = tesi_kernel_copy, .axpy = tesi_kernel_axpy, .xpay = tesi_kernel_xpay, .dot = tesi_kernel_dot,       \
  .maximum = tesi_kernel_maximum, .multiply_add = tesi_kernel_multiply_add, .multiply = tesi_kernel_multiply, \
  .diagonal_step = tesi_kernel_diagonal_step, .combine = tesi_kernel_combine,                                 \
  .combine_pair = tesi_kernel_combine_pair, .difference = tesi_kernel_difference

/* What reductions need, allocated now rather than by the first of them. */
TesStatus tesi_kernel_reserve(TesContext *ctx);

/* Whether operators, smoothers and transfers of this context run as kernels. */
static inline bool tesi_has_kernels(const TesContext *ctx) {
  return tesi_context_device(ctx)->kernels != NULL;
}

#endif
