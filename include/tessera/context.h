/** \file context.h
 *  The context holds what all objects of one computation share: device, threads, memory accounting, log, error trace.
 *
 *  A context is not safe for use from two threads at once, except tes_context_interrupt(). Different contexts are
 *  independent. All other objects keep a reference to their context, so it may be destroyed in any order.
 */
#ifndef TESSERA_CONTEXT_H
#define TESSERA_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesContext TesContext;

/** Precision of the numbers an object computes with. */
typedef enum TesPrecision { TES_DOUBLE = 0, TES_SINGLE = 1 } TesPrecision;

/** Verbosity of the log: each level includes the levels before it. */
typedef enum TesVerbosity { TES_NORMAL = 0, TES_QUIET = -1, TES_VERBOSE = 1 } TesVerbosity;

/** Severity of a log line. Progress lines may be overwritten on a terminal by the next one. */
typedef enum TesLogLevel { TES_LOG_WARNING, TES_LOG_INFO, TES_LOG_DETAIL, TES_LOG_PROGRESS } TesLogLevel;

/** Replaces malloc and free for host memory. Both NULL means malloc and free. `allocate` may return NULL; the block
 *  must be aligned to 64 bytes. */
typedef struct TesAllocator {
  void *(*allocate)(void *user, size_t bytes);
  void (*release)(void *user, void *block);
  void *user;
} TesAllocator;

/** The processes that compute together, each with a part of the mesh: communicator.h, and mpi.h for MPI
 *  communicators. */
typedef struct TesCommunicator TesCommunicator;

/** Description of a context; zero means default. */
typedef struct TesContextDesc {
  const char *device;     /**< "auto" (default), "cpu", "cuda", "cuda:N" or "emulator" */
  int threads;            /**< threads of the host device; 0: as many as OpenMP would use (OMP_NUM_THREADS) */
  TesVerbosity verbosity; /**< lines of a higher level are dropped before `log` sees them */
  /** Receives log lines without newline; NULL: warnings to stderr, the rest to stdout, no progress. */
  void (*log)(void *user, TesLogLevel level, const char *line);
  void *log_user;
  TesAllocator allocator;
  /** On devices with kernels, sums over cells may use atomic additions, in no fixed order: the last bits of results
   *  then vary from run to run. By default sums have one order, and problems on boxes have the same bits every time.
   *  Operators on mapped cells and forests obey TesiMappedDesc.conflicts; their diagonals and faces always use atomic
   *  additions. */
  int unordered;
  /** The same bits for the same problem, device and number of threads: no choice depends on timing, and sums have one
   *  order (not with `unordered`). On the CPU with one thread this always holds. On devices with kernels, data over
   *  meshes of trees are then summed on the host, and operators add cells colour by colour. */
  int deterministic;
  /** Width of SIMD vectors: 128, 256 or 512; 0: the environment variable TESSERA_SIMD decides, else it is the largest
   *  width that both this processor and this build have. */
  int simd_bits;
  const TesCommunicator *communicator; /**< NULL: this process alone; must outlive the context */
} TesContextDesc;

/** Creates a context. desc may be NULL. Errors: TES_MISSING (no such device), TES_INVALID_INPUT (no such device
 *  name, threads negative or more than 4096, a SIMD width that processor or build lack), TES_OUT_OF_MEMORY. If creation
 *  fails, there is no context to ask: the message, of at most `message_size` bytes, is written to `message` (may be
 *  NULL). */
TesStatus tes_context_create(const TesContextDesc *desc, TesContext **context, char *message,
                             size_t message_size);
/** Releases the reference and sets *context to NULL; NULL and a pointer to NULL are allowed. */
void tes_context_destroy(TesContext **context);

/** Message of the first failure since the last tes_context_clear(), "" when there was none. */
const char *tes_context_message(const TesContext *context);
/** The trace of that failure, one "file:line function" per line, innermost first. */
const char *tes_context_trace(const TesContext *context);
/** Forgets the failure, and an interruption: the context can be used again. */
void tes_context_clear(TesContext *context);

/** Asks the running call to stop, and all later calls until tes_context_clear(); they return TES_INTERRUPTED. A solve
 * stops at its next iteration, a sparse factorization at its end, other calls after the part that they are in. After
 * the interrupted call, values and files of a solution can still be made, also for problems in time. Safe in a signal
 * handler. */
void tes_context_interrupt(TesContext *context);

/** Bytes of host memory held now, and their maximum so far. */
size_t tes_context_memory(const TesContext *context);
size_t tes_context_memory_peak(const TesContext *context);
/** Number of threads, and name of the device ("cpu", "cuda:0", "emulator"). */
int tes_context_threads(const TesContext *context);
const char *tes_context_device(const TesContext *context);
/** Width of the SIMD vectors in use, in bits. */
int tes_context_simd_bits(const TesContext *context);

/** Bytes of host memory that can still be allocated, by the limits of the system, of this process and of its control
 *  group; SIZE_MAX when unknown. */
size_t tes_memory_available(void);

/** The disk cache of compiled GPU kernels, shared by all programs of a user; the environment variables
 *  TESSERA_CACHE_DIR ("none": no cache) and TESSERA_CACHE_MIB choose its folder and its bound. */
typedef struct TesCache {
  char folder[1024]; /**< "": there is none */
  int entries;
  size_t bytes, bound; /**< the entries that were used least recently are removed when `bound` is exceeded */
} TesCache;
void tes_cache_describe(TesCache *cache);
/** Removes all entries. Returns how many. */
int tes_cache_clear(void);

/** Whether this build has an optional part: "p4est" (meshes of trees), "mpi" (ranks), "hdf5" (checkpoints), "hypre"
 *  (algebraic coarse solver), "mumps" (sparse factors), "png" (pictures). "quick": whether it is a quick build, with
 *  one SIMD width beside 128 bits and specialised loops for few degrees. */
bool tes_has_part(const char *name);

/** The processor whose kernels OpenBLAS uses for dense matrices and for fronts of sparse factors, such as "SKYLAKEX".
 *  On a processor that it does not know OpenBLAS uses its oldest kernels, PRESCOTT; the environment variable
 *  OPENBLAS_CORETYPE chooses others. NULL: another library is linked. */
const char *tes_blas_core(void);

/** Version of the library, "major.minor.patch". */
const char *tes_version(void);

#ifdef __cplusplus
}
#endif
#endif
