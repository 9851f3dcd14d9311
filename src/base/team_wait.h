/* Gates: numbers that threads wait for to change; used by team.c alone. */
#ifndef TESI_TEAM_WAIT_H
#define TESI_TEAM_WAIT_H

#include <stdatomic.h>
#include <stdint.h>

/* In a line of the cache of its own: who waits reads it again and again. */
typedef struct TesiGate {
  _Alignas(64) _Atomic uint32_t turn;
  _Atomic uint32_t sleepers;
} TesiGate;

static inline uint32_t tesi_gate_turn(TesiGate *gate) {
  return atomic_load_explicit(&gate->turn, memory_order_acquire);
}
/* The next turn; what was written before is seen by all who waited. */
void tesi_gate_open(TesiGate *gate);
/* Returns when the turn is another than `turn`. */
void tesi_gate_wait(TesiGate *gate, uint32_t turn);

#endif
