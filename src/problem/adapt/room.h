/* Predicts whether the next mesh of an adaptive solve fits into memory, from the memory of the present mesh, before
 * anything is made. */
#ifndef TESI_ROOM_H
#define TESI_ROOM_H

#include "base/base.h"

/* Bytes in use when the present step began. */
typedef struct TesiRoom {
  size_t host, device;
} TesiRoom;

/* growth: cells of the next mesh over cells of the present mesh; spare: bytes of the device that the present step
 * used without need. */
typedef struct TesiNextMesh {
  int64_t cells, dofs;
  double growth;
  size_t spare;
} TesiNextMesh;

void tesi_room_begin(TesContext *ctx, TesiRoom *room);
/* Returns TES_OUT_OF_MEMORY if the next step needs more memory than is free after the present step is released. It
 * counts all memory that a step uses at a time: vectors, index tables, factors, levels, Krylov vectors, dual problems
 * and temporary memory of the set-up, all in proportion to the mesh. Parts that do not grow, such as the coarsest
 * level, are overestimated. */
TesStatus tesi_room_check(TesContext *ctx, const TesiRoom *room, const TesiNextMesh *next);

#endif
