#include "device/emulator/fiber.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/leaks.h"
#ifdef TESI_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

/* The thread sanitizer records the calls of a thread that have not returned. Functions that change the stack would fill
 * its record, since fibers end within a call. */
#ifdef __has_attribute
#if __has_attribute(disable_sanitizer_instrumentation) && !defined(TESI_ADDRESS_SANITIZER)
#define SWITCHES __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#ifndef SWITCHES
#define SWITCHES
#endif

enum { STACK = 512 * 1024, MAX_THREADS = 1024 };
typedef enum State { READY, AT_BARRIER, FINISHED } State;

typedef struct Fiber {
  State state;
  int line;
  char *stack;
#if defined(__x86_64__)
  void *top; /* saved stack pointer */
#else
  ucontext_t context;
#endif
  void *fake; /* for the address sanitizer */
} Fiber;

static struct {
  TeskEmulator face;
  Fiber fiber[MAX_THREADS], main;
  int count, current;
  char *stacks;
  void *shared;
  size_t capacity;
  const TeskKernel *kernel;
  void **arguments;
  TesiOrder order;
  uint64_t random;
  const void *main_bottom;
  size_t main_size;
} run;

/* ---- switching ------------------------------------------------------------------------------------------------- */
#if defined(__x86_64__)
/* Saves the callee-saved registers, stores the stack pointer in *save, and continues on another stack. This is ten
 * times faster than swapcontext, which calls the kernel for the signal mask. */
void tesi_fiber_switch(void **save, void *to);
__asm__(".text\n.globl tesi_fiber_switch\n.hidden tesi_fiber_switch\n.type tesi_fiber_switch,@function\n"
        "tesi_fiber_switch:\n"
        "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
        "movq %rsp,(%rdi)\nmovq %rsi,%rsp\n"
        "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
        ".size tesi_fiber_switch,.-tesi_fiber_switch\n");
SWITCHES static void go(Fiber *from, Fiber *to) {
  tesi_fiber_switch(&from->top, to->top);
}
static void prepare(Fiber *fiber, void (*entry)(void)) {
  void **top = (void **)(((uintptr_t)fiber->stack + STACK) & ~(uintptr_t)15);
  *--top = NULL; /* the stack pointer at entry is as after a call */
  memcpy(--top, &entry, sizeof entry);
  for (int i = 0; i < 6; i++) *--top = NULL;
  fiber->top = top;
}
#else
SWITCHES static void go(Fiber *from, Fiber *to) {
  swapcontext(&from->context, &to->context);
}
static void prepare(Fiber *fiber, void (*entry)(void)) {
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = STACK;
  fiber->context.uc_link = NULL;
  makecontext(&fiber->context, entry, 0);
}
#endif

SWITCHES static void to_fiber(int i) {
  Fiber *fiber = &run.fiber[i];
  run.current = i;
  run.face.thread = (TeskDim){(unsigned)i, 0, 0};
#ifdef TESI_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&run.main.fake, fiber->stack, STACK);
#endif
  go(&run.main, fiber);
#ifdef TESI_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(run.main.fake, NULL, NULL);
#endif
}

SWITCHES static void to_main(Fiber *fiber) {
#ifdef TESI_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(fiber->state == FINISHED ? NULL : &fiber->fake, run.main_bottom,
                                 run.main_size);
#endif
  go(fiber, &run.main);
#ifdef TESI_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fiber->fake, &run.main_bottom, &run.main_size);
#endif
}

SWITCHES static void entry(void) {
#ifdef TESI_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(NULL, &run.main_bottom, &run.main_size);
#endif
  run.kernel->thunk(run.arguments);
  run.fiber[run.current].state = FINISHED;
  to_main(&run.fiber[run.current]);
  abort(); /* a finished fiber is never resumed */
}

SWITCHES static void barrier(const char *file, int line) {
  Fiber *fiber = &run.fiber[run.current];
  (void)file;
  fiber->state = AT_BARRIER;
  fiber->line = line;
  to_main(fiber);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */
static uint64_t next_random(void) {
  run.random ^= run.random << 13;
  run.random ^= run.random >> 7;
  run.random ^= run.random << 17;
  return run.random;
}

static void make_order(int *order, int n) {
  for (int i = 0; i < n; i++) order[i] = run.order == TESI_ORDER_REVERSE ? n - 1 - i : i;
  if (run.order != TESI_ORDER_SHUFFLED) return;
  for (int i = n - 1; i > 0; i--) {
    const int j = (int)(next_random() % (uint64_t)(i + 1)), swapped = order[i];
    order[i] = order[j];
    order[j] = swapped;
  }
}

void tesi_fiber_order(TesiOrder order, uint64_t seed) {
  run.order = order;
  run.random = seed * 2654435761u + 88172645463325252u;
}

TeskEmulator *tesi_fiber_emulator(void) {
  run.face.barrier = barrier;
  return &run.face;
}

/* ---- launching ----------------------------------------------------------------------------------------- */
/* All threads are at the same barrier, or all have finished; anything else is divergence. */
static bool same_state(char *message, size_t size) {
  for (int i = 1; i < run.count; i++) {
    const Fiber *a = &run.fiber[0], *b = &run.fiber[i];
    if (a->state == b->state && (a->state == FINISHED || a->line == b->line)) continue;
    snprintf(message, size,
             "%s: divergent barrier in block (%u, %u, %u): thread 0 is %s line %d, thread %d %s line %d",
             run.kernel->name, run.face.block.x, run.face.block.y, run.face.block.z,
             a->state == FINISHED ? "finished after" : "at", a->line, i,
             b->state == FINISHED ? "finished after" : "at", b->line);
    return false;
  }
  return true;
}

static bool run_block(size_t shared, char *message, size_t size) {
  int order[MAX_THREADS];
  if (shared) memset(run.shared, 0xff, shared); /* NaN in both precisions */
  for (int i = 0; i < run.count; i++) {
    run.fiber[i].state = READY;
    run.fiber[i].line = 0;
    prepare(&run.fiber[i], entry);
  }
  do {
    make_order(order, run.count);
    for (int i = 0; i < run.count; i++) to_fiber(order[i]);
    if (!same_state(message, size)) return false;
  } while (run.fiber[0].state != FINISHED);
  return true;
}

static bool reserve(size_t shared) {
  if (!run.stacks) {
    void *stacks = mmap(NULL, (size_t)MAX_THREADS * STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) return false;
    run.stacks = stacks;
    for (int i = 0; i < MAX_THREADS; i++) run.fiber[i].stack = run.stacks + (size_t)i * STACK;
  }
  if (shared > run.capacity) {
    free(run.shared);
    run.capacity = 0;
    run.shared = aligned_alloc(128, (shared + 127) / 128 * 128);
    if (!run.shared) return false;
    run.capacity = shared;
  }
  run.face.shared = run.shared;
  return true;
}

bool tesi_fiber_launch(const TeskKernel *kernel, TeskDim grid, unsigned threads, size_t shared,
                       void **arguments, char *message, size_t message_size) {
  if (threads < 1 || threads > (unsigned)kernel->max_threads || threads > MAX_THREADS) {
    snprintf(message, message_size, "%s: %u threads per block, at most %d were promised", kernel->name,
             threads, kernel->max_threads);
    return false;
  }
  if (!reserve(shared)) {
    snprintf(message, message_size, "%s: no memory for the emulator", kernel->name);
    return false;
  }
  run.kernel = kernel;
  run.arguments = arguments;
  run.count = (int)threads;
  run.face.block_size = (TeskDim){threads, 1, 1};
  run.face.grid_size = grid;
  const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
  for (uint64_t i = 0; i < blocks; i++) {
    const uint64_t b = run.order == TESI_ORDER_FORWARD ? i : blocks - 1 - i;
    run.face.block =
        (TeskDim){(unsigned)(b % grid.x), (unsigned)(b / grid.x % grid.y), (unsigned)(b / grid.x / grid.y)};
    if (!run_block(shared, message, message_size)) return false;
  }
  return true;
}
