/* Every kernel file includes this header first. A kernel text has two meanings: CUDA C++ for NVRTC, and C for the
 * emulator, which runs each thread of a block as a fiber (src/device/emulator).
 *
 * Kernels use the names below, C expressions, and macros that the host defines (real, DIM, DEGREE, ...):
 *   TESK_KERNEL(name, max_threads, min_blocks, (type) argument, ...) { body }
 *   TESK_SHARED(name)        all shared memory of the block, a pointer to real; the launch gives its size
 *   TESK_TABLE(T, name, ..)  constant numbers, read by name(i). With i known at compile time they become immediates,
 *                            or with TESK_CONSTANT_TABLES operands in the constant bank (of which 2 KiB are fast).
 *                            name_is_zero(i): whether a number is 0, known at compile time
 *   TESK_UNROLL              before a loop whose trip count is a constant
 *   TESK_ROLL                before a loop that must not be unrolled
 *   TESK_ADD(p, v)           *p += v by an atomic addition
 *   TESK_TAKE(p)             returns the int *p and increments it, atomically
 *   TESK_FENCE()             others see earlier writes of this thread before its later writes
 *   TESK_FENCE_SYSTEM()      the same for other devices and processes
 *   TESK_YIELD()             in a loop that waits for another device; the emulator lets another process run
 *   TESK_ACQUIRE(p)          the present int *p; the writes of its writer before (with a fence between) are visible
 *   TESK_LOWER(p, v)         *p becomes the smaller of itself and v (long long), atomically
 *   TESK_GLOBAL(p)           tells the compiler that p points to global memory
 *   TESK_ALIGNED(n)          after `struct`: aligned to n bytes, so that one load reads it
 * A kernel has at most 16 arguments; arrays are passed by pointer. */
#ifndef TESK_KERNEL_H
#define TESK_KERNEL_H

#define TESK_CAT_(a, b) a##b
#define TESK_CAT(a, b) TESK_CAT_(a, b)
#define TESK_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, n, ...) n
#define TESK_COUNT(...) TESK_COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define TESK_EXPAND(...) __VA_ARGS__
#define TESK_SPLIT(...) __VA_ARGS__,
#define TESK_HEAD_(a, ...) a
#define TESK_HEAD(...) TESK_HEAD_(__VA_ARGS__)
#define TESK_DECLARE(i, p) TESK_EXPAND p                                /* (T) x  ->  T x */
#define TESK_UNPACK(i, p) *(TESK_HEAD(TESK_SPLIT p) *)tesk_arguments[i] /* (T) x  ->  the i-th argument */
#define TESK_SIZE(i, p) sizeof(TESK_HEAD(TESK_SPLIT p))                 /* (T) x  ->  sizeof(T) */
#define TESK_MAP1(m, i, p) m(i, p)
#define TESK_MAP2(m, i, p, ...) m(i, p), TESK_MAP1(m, i + 1, __VA_ARGS__)
#define TESK_MAP3(m, i, p, ...) m(i, p), TESK_MAP2(m, i + 1, __VA_ARGS__)
#define TESK_MAP4(m, i, p, ...) m(i, p), TESK_MAP3(m, i + 1, __VA_ARGS__)
#define TESK_MAP5(m, i, p, ...) m(i, p), TESK_MAP4(m, i + 1, __VA_ARGS__)
#define TESK_MAP6(m, i, p, ...) m(i, p), TESK_MAP5(m, i + 1, __VA_ARGS__)
#define TESK_MAP7(m, i, p, ...) m(i, p), TESK_MAP6(m, i + 1, __VA_ARGS__)
#define TESK_MAP8(m, i, p, ...) m(i, p), TESK_MAP7(m, i + 1, __VA_ARGS__)
#define TESK_MAP9(m, i, p, ...) m(i, p), TESK_MAP8(m, i + 1, __VA_ARGS__)
#define TESK_MAP10(m, i, p, ...) m(i, p), TESK_MAP9(m, i + 1, __VA_ARGS__)
#define TESK_MAP11(m, i, p, ...) m(i, p), TESK_MAP10(m, i + 1, __VA_ARGS__)
#define TESK_MAP12(m, i, p, ...) m(i, p), TESK_MAP11(m, i + 1, __VA_ARGS__)
#define TESK_MAP13(m, i, p, ...) m(i, p), TESK_MAP12(m, i + 1, __VA_ARGS__)
#define TESK_MAP14(m, i, p, ...) m(i, p), TESK_MAP13(m, i + 1, __VA_ARGS__)
#define TESK_MAP15(m, i, p, ...) m(i, p), TESK_MAP14(m, i + 1, __VA_ARGS__)
#define TESK_MAP16(m, i, p, ...) m(i, p), TESK_MAP15(m, i + 1, __VA_ARGS__)
#define TESK_MAP(m, ...) TESK_CAT(TESK_MAP, TESK_COUNT(__VA_ARGS__))(m, 0, __VA_ARGS__)

#ifdef TESK_EMULATOR
#include "emulator.h"
#define TESK_KERNEL(name, max_threads, min_blocks, ...)                                                      \
  static void name(TESK_MAP(TESK_DECLARE, __VA_ARGS__));                                                     \
  static void tesk_thunk_##name(void **tesk_arguments) {                                                     \
    name(TESK_MAP(TESK_UNPACK, __VA_ARGS__));                                                                \
  }                                                                                                          \
  static const unsigned tesk_sizes_##name[] = {TESK_MAP(TESK_SIZE, __VA_ARGS__)};                            \
  const TeskKernel tesk_kernel_##name = {#name, tesk_thunk_##name, (max_threads), TESK_COUNT(__VA_ARGS__),   \
                                         tesk_sizes_##name};                                                 \
  static void name(TESK_MAP(TESK_DECLARE, __VA_ARGS__))
#define TESK_DEVICE static inline
#define TESK_SHARED(name) real *const name = (real *)tesk_emulator->shared
#define TESK_TABLE(T, name, ...)                                                                             \
  static inline T name(int i) {                                                                              \
    static const T table[] = __VA_ARGS__;                                                                    \
    return table[i];                                                                                         \
  }                                                                                                          \
  static inline int name##_is_zero(int i) {                                                                  \
    return name(i) == 0;                                                                                     \
  }
#define TESK_RESTRICT restrict
#define TESK_UNROLL
#define TESK_ROLL
#define TESK_READ(p) (*(p))
#define TESK_GLOBAL(p) ((void)(p))
#define TESK_ADD(p, v) (*(p) += (v)) /* fibers switch at barriers only */
#define TESK_TAKE(p) ((*(p))++)
#define TESK_FENCE() ((void)0)
#define TESK_FENCE_SYSTEM() __sync_synchronize()
#define TESK_YIELD() sched_yield()
#define TESK_ACQUIRE(p) (*(volatile int *)(p))
#define TESK_LOWER(p, v) (*(p) = (v) < *(p) ? (v) : *(p))
#define TESK_ALIGNED(n) __attribute__((aligned(n)))
#define TESK_COPY(to, from, valid) (*(to) = (valid) ? *(from) : 0)
#define TESK_COPY_WAIT() ((void)0)
#define TESK_ADD_WARP(p, v) (*(p) += (v))
#define TESK_WARP_BARRIER() __syncthreads()
#define TESK_PREFETCH(p, bytes) ((void)(p), (void)(bytes))
#define TESK_PREFETCH_KEPT(p, bytes) ((void)(p), (void)(bytes))
#define TESK_STREAM(p) (*(p))
#define TESK_HELD(p) (*(p))
/* The float with these bits; the float16 in the lower bits and in the upper bits of a word. */
static inline float TESK_FLOAT(unsigned bits) {
  float v;
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}
static inline float TESK_HALF(unsigned word) {
  const float v = TESK_FLOAT((word & 0x7fffu) << 13) * 0x1p112f; /* from bias 15 to 127 */
  return word & 0x8000u ? -v : v;
}
static inline float TESK_UPPER_HALF(unsigned word) {
  return TESK_HALF(word >> 16);
}
typedef unsigned long long TeskArrival;
#define TESK_EXPECT_NONE(arrival) ((void)(arrival))
#define TESK_EXPECT(arrival, bytes) ((void)(arrival), (void)(bytes))
#define TESK_BULK(to, from, bytes, arrival) __builtin_memcpy(to, from, (unsigned long)(bytes))
#define TESK_ARRIVED(arrival, phase) ((void)(arrival), (void)(phase))
#define TESK_RECIPROCAL(v) (1 / (v))
#else
#define TESK_KERNEL(name, max_threads, min_blocks, ...)                                                      \
  extern "C" __global__ void __launch_bounds__(max_threads, min_blocks)                                      \
      name(TESK_MAP(TESK_DECLARE, __VA_ARGS__))
#define TESK_DEVICE static __device__ __forceinline__
#define TESK_SHARED(name)                                                                                    \
  extern __shared__ __align__(16) unsigned char tesk_shared_bytes[];                                         \
  real *const name = (real *)tesk_shared_bytes
#define TESK_TABLE_ZEROS(T, name, ...)                                                                       \
  static __device__ __forceinline__ int name##_is_zero(int i) {                                              \
    constexpr T table[] = __VA_ARGS__;                                                                       \
    return table[i] == 0;                                                                                    \
  }
#if defined(TESK_CONSTANT_TABLES) /* operands in the constant bank: a float64 immediate costs two moves */
#define TESK_TABLE(T, name, ...)                                                                             \
  TESK_TABLE_ZEROS(T, name, __VA_ARGS__)                                                                     \
  static __constant__ T name##_table[] = __VA_ARGS__;                                                        \
  static __device__ __forceinline__ T name(int i) {                                                          \
    return name##_table[i];                                                                                  \
  }
#else
#define TESK_TABLE(T, name, ...)                                                                             \
  TESK_TABLE_ZEROS(T, name, __VA_ARGS__)                                                                     \
  static __device__ __forceinline__ T name(int i) {                                                          \
    constexpr T table[] = __VA_ARGS__;                                                                       \
    return table[i];                                                                                         \
  }
#endif
#define TESK_RESTRICT __restrict__
#define TESK_UNROLL _Pragma("unroll")
#define TESK_ROLL _Pragma("unroll 1")
#define TESK_READ(p) __ldg(p) /* memory that nobody writes while the kernel runs */
#define TESK_GLOBAL(p) __builtin_assume(__isGlobal(p))
#define TESK_ADD(p, v) ((void)atomicAdd(p, v))
#define TESK_TAKE(p) atomicAdd(p, 1)
#define TESK_FENCE() __threadfence()
#define TESK_FENCE_SYSTEM() __threadfence_system()
#define TESK_YIELD() __nanosleep(20)
TESK_DEVICE int TESK_ACQUIRE(const int *p) {
  int v;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
#define TESK_LOWER(p, v) ((void)atomicMin(p, v))
#define TESK_ALIGNED(n) __align__(n)

/* Copies one number from global to shared memory without a register; zero if not valid. It has arrived after
 * TESK_COPY_WAIT for this thread, and after a barrier too for other threads. */
TESK_DEVICE void TESK_COPY(float *to, const float *from, int valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from), "r"(valid ? 4 : 0)
               : "memory");
}
TESK_DEVICE void TESK_COPY(double *to, const double *from, int valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from), "r"(valid ? 8 : 0)
               : "memory");
}
#define TESK_COPY_WAIT() asm volatile("cp.async.wait_all;" ::: "memory")
#define TESK_WARP_BARRIER() __syncwarp()
/* The value of the lane `by` below, and one bit per lane; all lanes of a warp must call these. The emulator, whose
 * lanes are not in step, has neither. */
#define TESK_SHIFT(v, by) __shfl_up_sync(0xffffffffu, v, by)
#define TESK_BALLOT(v) __ballot_sync(0xffffffffu, v)

/* *p += the sum of v over a whole warp, by one addition. */
TESK_DEVICE void TESK_ADD_WARP(double *p, double v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
  if (threadIdx.x % 32 == 0) atomicAdd(p, v);
}

/* Data read once should leave the L2 cache first. */
TESK_DEVICE unsigned long long tesk_once(void) {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/* Like TESK_READ, for data read once. TESK_WIDE: memory delivers 128 bytes at a time, for pieces that neighbours read
 * next. */
#if defined(TESK_WIDE) && TESK_WIDE
#define TESK_STREAM_HINTS "L2::cache_hint.L2::128B"
#else
#define TESK_STREAM_HINTS "L2::cache_hint"
#endif
TESK_DEVICE double TESK_STREAM(const double *p) {
  double v;
  asm("ld.global.nc." TESK_STREAM_HINTS ".f64 %0, [%1], %2;" : "=d"(v) : "l"(p), "l"(tesk_once()));
  return v;
}
TESK_DEVICE float TESK_STREAM(const float *p) {
  float v;
  asm("ld.global.nc." TESK_STREAM_HINTS ".f32 %0, [%1], %2;" : "=f"(v) : "l"(p), "l"(tesk_once()));
  return v;
}

TESK_DEVICE unsigned TESK_STREAM(const unsigned *p) {
  unsigned v;
  asm("ld.global.nc." TESK_STREAM_HINTS ".u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "l"(tesk_once()));
  return v;
}
#define TESK_FLOAT(bits) __uint_as_float(bits)
TESK_DEVICE float TESK_HALF(unsigned word) {
  float v;
  asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low;}" : "=f"(v) : "r"(word));
  return v;
}
TESK_DEVICE float TESK_UPPER_HALF(unsigned word) {
  float v;
  asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high;}" : "=f"(v) : "r"(word));
  return v;
}

/* Integers that stay in registers, read like TESK_STREAM or (HELD) like TESK_READ: `volatile` keeps the compiler from
 * reading them again. */
TESK_DEVICE int TESK_STREAM(const int *p) {
  int v;
  asm volatile("ld.global.nc.L2::cache_hint.s32 %0, [%1], %2;" : "=r"(v) : "l"(p), "l"(tesk_once()));
  return v;
}
TESK_DEVICE int TESK_HELD(const int *p) {
  int v;
  asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}

/* Prefetches `bytes` bytes from p on into the L2 cache, for one use or (KEPT) as usual: one instruction of one
 * thread. Nothing beyond these bytes is read. */
TESK_DEVICE void tesk_prefetch(const void *p, long long bytes, int once) {
#if __CUDA_ARCH__ >= 900
  const unsigned long long first = ((unsigned long long)p + 15) & ~15ull,
                           last = ((unsigned long long)p + (unsigned long long)bytes) & ~15ull;
  if (last <= first) return;
  if (once)
    asm volatile("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%0], %1, %2;" ::"l"(first),
                 "r"((unsigned)(last - first)), "l"(tesk_once())
                 : "memory");
  else
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(first), "r"((unsigned)(last - first))
                 : "memory");
#endif
}
#define TESK_PREFETCH(p, bytes) tesk_prefetch(p, bytes, 1)
#define TESK_PREFETCH_KEPT(p, bytes) tesk_prefetch(p, bytes, 0)

/* Copies, for data read once, of whole 16 bytes (both sides aligned to 16) from global to shared memory, without
 * registers. One thread of a warp or block starts them; the copy engine of sm_90 does them, elsewhere the thread
 * itself. This thread makes the arrival (EXPECT_NONE). For each phase, 0, 1, 0, ..., it says how many bytes come
 * (EXPECT) and starts the copies (BULK). All threads see the data after a barrier and TESK_ARRIVED; the next phase
 * may begin one barrier later. */
typedef unsigned long long TeskArrival; /* in shared memory */
TESK_DEVICE void TESK_EXPECT_NONE(TeskArrival *arrival) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(arrival))
               : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  (void)arrival;
#endif
}
TESK_DEVICE void TESK_EXPECT(TeskArrival *arrival, long long bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   (unsigned)__cvta_generic_to_shared(arrival)),
               "r"((unsigned)bytes)
               : "memory");
#else
  (void)arrival, (void)bytes;
#endif
}
TESK_DEVICE void TESK_BULK(void *to, const void *from, long long bytes, TeskArrival *arrival) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], "
               "%2, [%3], %4;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from), "r"((unsigned)bytes), "r"((unsigned)__cvta_generic_to_shared(arrival)),
               "l"(tesk_once())
               : "memory");
#else
  for (long long i = 0; i < bytes / 8; i++) ((double *)to)[i] = ((const double *)from)[i];
  (void)arrival;
#endif
}
TESK_DEVICE void TESK_ARRIVED(TeskArrival *arrival, int phase) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n.reg .pred done;\nagain: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done "
               "bra again;\n}" ::"r"((unsigned)__cvta_generic_to_shared(arrival)),
               "r"(phase)
               : "memory");
#else
  (void)arrival, (void)phase;
#endif
}

/* 1 / v to the last bit or two, without the slow path of a division: v is neither zero nor denormal. */
TESK_DEVICE double TESK_RECIPROCAL(double v) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v)); /* 1 - v r is about 2^-20 */
  const double e = fma(-v, r, 1.0);
  return fma(r, fma(e, e, e), r);
}
TESK_DEVICE float TESK_RECIPROCAL(float v) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
#endif

#endif
