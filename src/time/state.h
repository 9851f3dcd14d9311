/* What the steps of a problem depend on: named vectors and named numbers. A scheme lists them in one function. Whoever
 * writes, reads, moves to another mesh, keeps or averages a state walks the list, and knows no scheme.
 *
 * A list refers to vectors and numbers of its scheme and copies nothing. It is made where it is needed and is not kept,
 * since histories exchange their vectors. Some numbers count vectors. So a reader sets the numbers, lists again, and
 * then sets the vectors. */
#ifndef TESI_STATE_H
#define TESI_STATE_H

#include "space/space.h"

enum { TESI_STATE_VECTORS = 16, TESI_STATE_NUMBERS = 32, TESI_STATE_NAME = 32 };

/* How a vector is moved to another mesh. */
typedef enum TesiStateMove {
  TESI_STATE_PROJECTED,    /* by L2 projection */
  TESI_STATE_INTERPOLATED, /* at nodes */
  TESI_STATE_MADE          /* the scheme computes it again from the other vectors */
} TesiStateMove;

typedef struct TesiStateVector {
  char name[TESI_STATE_NAME];
  const TesSpace *space;
  TesVector *vector;
  TesiStateMove move;
  bool optional; /* a file need not have it */
} TesiStateVector;

typedef struct TesiStateNumber {
  const char *name;
  int count;
  double *real; /* [count]; NULL: */
  int *whole;   /* 0..most; NULL: */
  int most;
  double fixed; /* the number in a file must be this number */
} TesiStateNumber;

typedef struct TesiState {
  const TesSpace *space; /* of files: upper bound of the length of a vector */
  double accuracy;       /* of projections to another mesh */
  int vectors, numbers;
  TesiStateVector vector[TESI_STATE_VECTORS];
  TesiStateNumber number[TESI_STATE_NUMBERS];
} TesiState;

/* Lists the state of a scheme, from an empty list. */
typedef void (*TesiStateList)(void *user, TesiState *state);

/* age 0: the present vector; age n: the vector n steps ago, with the name NAME-n. */
TesiStateVector *tesi_state_add(TesiState *state, const char *name, int age, const TesSpace *space,
                                TesVector *vector, TesiStateMove move);
void tesi_state_add_real(TesiState *state, const char *name, int count, double *value);
/* Allowed values: 0..most; a file with another value is damaged. */
void tesi_state_add_whole(TesiState *state, const char *name, int most, int *value);
/* A number that stays the same in a run. A run does not go on from a state in which the number differs. */
void tesi_state_add_fixed(TesiState *state, const char *name, double value);

/* NULL: there is no such entry. */
const TesiStateVector *tesi_state_vector(const TesiState *state, const char *name);
const TesiStateNumber *tesi_state_number(const TesiState *state, const char *name);
double tesi_state_get(const TesiStateNumber *number, int i);
/* Does nothing if the number is fixed. */
void tesi_state_set(const TesiStateNumber *number, int i, double value);
/* Numbers of `to` <- the numbers of `from` that have the same name and count. */
void tesi_state_copy_numbers(const TesiState *from, const TesiState *to);

/* Copies of a state, for steps that are undone. */
typedef struct TesiKept {
  int vectors;
  TesVector *vector[TESI_STATE_VECTORS];
  double *number; /* NULL: nothing is kept */
} TesiKept;

/* Later calls must have the same list as the first call. */
TesStatus tesi_state_keep(const TesiState *state, TesiKept *kept);
TesStatus tesi_state_go_back(const TesiState *state, const TesiKept *kept);
void tesi_kept_free(TesContext *context, TesiKept *kept);

#endif
