/* An open box cut from a box with periodic directions, as an argument by value; the host includes this text too. */
#ifndef TESK_PERIODIC_ARGUMENTS_H
#define TESK_PERIODIC_ARGUMENTS_H

/* Node i of the open box is node (i + shift) mod nodes of the other one, direction by direction; its own are low <= i <
 * high. */
typedef struct TeskPeriodic {
  int nodes[3], count[3], shift[3], low[3], high[3];
} TeskPeriodic;

#endif
