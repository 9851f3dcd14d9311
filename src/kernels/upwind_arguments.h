/* Arguments by value of the kernel of upwind transport; the host includes this text too. */
#ifndef TESK_UPWIND_ARGUMENTS_H
#define TESK_UPWIND_ARGUMENTS_H

/* Ends of directions that are not periodic: values are given, u leaves as it is, or nothing passes. */
enum { TESK_UPWIND_GIVEN, TESK_UPWIND_OPEN, TESK_UPWIND_CLOSED };

typedef struct TeskUpwind {
  int cells[3], periodic, ends, all;   /* periodic directions: bit d; ends: two bits per face */
  long long velocity_step, speed_step; /* numbers from one cell to the next; 0: all have the same */
  const void *root[3];                 /* real: h^(-1/2) of the cells of a direction */
  const void *velocity;                /* real: [cells][dim][points] w|J| B (transport_operator.h) */
  const void *speed; /* real: [cells][2 dim][points of a face] (b.n) and the weights of the face */
} TeskUpwind;

#endif
