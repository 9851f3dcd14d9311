/* Gates: counters on whose change threads wait; used by team.c only. */
#ifndef TESI_TEAM_WAIT_H
#define TESI_TEAM_WAIT_H

#include <stdatomic.h>
#include <stdint.h>

/* In its own cache line, since waiting threads read it repeatedly. */
typedef struct TesiGate {
  _Alignas(64) _Atomic uint32_t turn;
  _Atomic uint32_t sleepers;
} TesiGate;

static inline uint32_t tesi_gate_turn(TesiGate *gate) {
  return atomic_load_explicit(&gate->turn, memory_order_acquire);
}
/* Increases the turn; all waiting threads see what was written before. */
void tesi_gate_open(TesiGate *gate);
/* Returns when the turn differs from `turn`. */
void tesi_gate_wait(TesiGate *gate, uint32_t turn);

#endif
