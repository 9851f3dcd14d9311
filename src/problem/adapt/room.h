/* Whether the next mesh of an adaptive solve has room: predicted from what the present one took, before anything of
 * it is made. */
#ifndef TESI_ROOM_H
#define TESI_ROOM_H

#include "base/base.h"

/* Bytes held when the present step began. */
typedef struct TesiRoom {
  size_t host, device;
} TesiRoom;

/* A mesh `growth` times as large; bytes of the device that the present step could have done without. */
typedef struct TesiNextMesh {
  int64_t cells, dofs;
  double growth;
  size_t spare;
} TesiNextMesh;

void tesi_room_begin(TesContext *ctx, TesiRoom *room);
/* TES_OUT_OF_MEMORY where the next step needs more than there will be when the present one is gone. Everything a
 * step holds at a time counts (vectors, index tables, factors, levels, Krylov vectors, dual problems, what set-up
 * needs in passing), in proportion to the mesh:
 * what does not grow, as the coarsest level, is overestimated. */
TesStatus tesi_room_check(TesContext *ctx, const TesiRoom *room, const TesiNextMesh *next);

#endif
