/* Arguments by value of the kernels of discontinuous elements; the host includes this text too. */
#ifndef TESK_DG_ARGUMENTS_H
#define TESK_DG_ARGUMENTS_H

/* Numbers (real) of a cell and direction for a constant velocity b: +- b / h, where minus is for the conservative
 * form; then, for the faces below and above, the factors of their own trace and of the jump
 * (src/operator/transport/upwind_constant.c). */
enum { TESK_DG_CARRY = 0, TESK_DG_OWN = 1, TESK_DG_JUMP = 3, TESK_DG_VELOCITY = 5 };

typedef struct TeskDg {
  int cells[3], periodic[3];
  double alpha;
  const void *numbers[3];  /* real: [TESK_TILES_NUMBERS][cells] (stokes_arguments.h) */
  const void *velocity[3]; /* real: [TESK_DG_VELOCITY][cells]; NULL: no velocity */
} TeskDg;

/* A patch: its vertex, the kinds of its intervals, and a bit for each direction whose modes are even, then odd. */
typedef struct TeskDgPatch {
  int vertex[3], kind[3], even, unused;
} TeskDgPatch;

/* Tables of a kind (real), rows padded to four numbers: Zd' [P][ROW], Zd [P][ROW], nu ld [ROW], for P = 2 n modes. */
typedef struct TeskDgPatches {
  int extent[3];        /* modes of the whole axes; numbers are taken modulo these in periodic directions */
  int closed;           /* the constant is in the null space: its mode becomes zero */
  const void *table[3]; /* of the kinds of each direction */
  const TeskDgPatch *patch;
} TeskDgPatches;

#endif
