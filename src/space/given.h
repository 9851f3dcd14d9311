/* What holds on a boundary, scalar by scalar. It is made where names become numbers (problem/problem_names.c). Spaces,
 * loads and liftings, traces of a velocity, forces and estimators read it. */
#ifndef TESI_GIVEN_H
#define TESI_GIVEN_H

#include <stdbool.h>
#include "tessera/function.h"

typedef enum TesiHow {
  TESI_OPEN,   /* flux or stress is given; a velocity transports in and out beside it */
  TESI_STRONG, /* a value is given strongly, in entries of vectors */
  TESI_WEAK,   /* a value is given weakly, by the form */
  TESI_FLUX,   /* a flux is given that includes the transport by the velocity */
  TESI_NORMAL  /* vectors: the normal component is 0 (slip.h), and the stress along the face is given */
} TesiHow;

enum { TESI_GIVEN_SCALARS = 3 };
typedef struct TesiGiven {
  TesiHow how[TESI_GIVEN_SCALARS]; /* by component */
  /* Value, flux or stress of each; of flows behind them P of an open boundary, whose stress has - P n. NULL: 0 */
  const TesFunction *g[TESI_GIVEN_SCALARS + 1];
  const TesFunction *alpha; /* of a flux g - alpha u; NULL: 0 */
  int priority;
  bool total; /* g is the total force on the whole boundary */
} TesiGiven;

/* Whether a value is given. */
static inline bool tesi_is_given(TesiHow how) {
  return how == TESI_STRONG || how == TESI_WEAK;
}
/* Whether stresses are given in all directions. */
static inline bool tesi_given_open(const TesiGiven *given, int components) {
  bool open = true;
  for (int c = 0; c < components; c++) open = open && given->how[c] == TESI_OPEN;
  return open;
}

#endif
