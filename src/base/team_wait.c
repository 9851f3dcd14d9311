/* How a thread waits: it checks, spins while its core is its own, and sleeps. See team.h. */
#include "base/team_wait.h"
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  LOOKS = 64,
  SPIN = 200000,
  PERIOD = 1000000,
  CROWDED = 20000000,
  LATE = 50000
}; /* looks; nanoseconds */

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The thread's knowledge about its core. */
typedef struct Core {
  int64_t asked, crowded_until;
  long taken;
} Core;
static _Thread_local Core core;

/* Whether another program wants the core: the system has recently taken it away from this thread. */
static bool is_crowded(int64_t time) {
  struct rusage use;
  const bool known = core.asked != 0;
  if (time - core.asked < PERIOD) return time < core.crowded_until;
  core.asked = time;
  if (getrusage(RUSAGE_THREAD, &use) == 0 && use.ru_nivcsw != core.taken) {
    if (known) core.crowded_until = time + CROWDED;
    core.taken = use.ru_nivcsw;
  }
  return time < core.crowded_until;
}

static void pause_core(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

static bool look(TesiGate *gate, uint32_t turn) {
  for (int i = 0; i < LOOKS; i++) {
    if (tesi_gate_turn(gate) != turn) return true;
    pause_core();
  }
  return false;
}

/* If a check took long, another program had the core meanwhile. */
static bool spin(TesiGate *gate, uint32_t turn) {
  const int64_t start = now();
  int64_t last = start, time = start;
  if (is_crowded(start)) return false;
  while (time - start < SPIN) {
    if (look(gate, turn)) return true;
    time = now();
    if (time - last > LATE) core.crowded_until = time + CROWDED;
    if (time - last > LATE) return false;
    last = time;
  }
  return false;
}

static void sleep_before(TesiGate *gate, uint32_t turn) {
  atomic_fetch_add(&gate->sleepers, 1);
  while (atomic_load(&gate->turn) == turn)
    syscall(SYS_futex, &gate->turn, FUTEX_WAIT_PRIVATE, turn, NULL, NULL, 0);
  atomic_fetch_sub(&gate->sleepers, 1);
}

void tesi_gate_wait(TesiGate *gate, uint32_t turn) {
  if (!look(gate, turn) && !spin(gate, turn)) sleep_before(gate, turn);
}

/* Either the opener sees the sleeper, or the sleeper sees the new turn: both atomics are sequentially consistent. */
void tesi_gate_open(TesiGate *gate) {
  atomic_fetch_add(&gate->turn, 1);
  if (atomic_load(&gate->sleepers))
    syscall(SYS_futex, &gate->turn, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
