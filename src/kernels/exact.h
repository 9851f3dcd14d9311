/* The exact solution and its derivatives, tesk_f0 .. tesk_f3 of "tables.h". */
#ifndef TESK_EXACT_H
#define TESK_EXACT_H

TESK_DEVICE double exact(int derivative, const double x[3], double time) {
  return derivative == 0   ? tesk_f0(x[0], x[1], x[2], time)
         : derivative == 1 ? tesk_f1(x[0], x[1], x[2], time)
         : derivative == 2 ? tesk_f2(x[0], x[1], x[2], time)
                           : tesk_f3(x[0], x[1], x[2], time);
}

#endif
