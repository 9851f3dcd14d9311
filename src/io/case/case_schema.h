/* All keys of a case file in one table: for the reader, the help and docs/case-file.md. */
#ifndef TESI_CASE_SCHEMA_H
#define TESI_CASE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include "problem/support.h"
#include "tessera/case.h"

/* The conditions on one face. */
typedef struct TesiCaseFace {
  int condition;         /* TesiNamed */
  TesFunction *g[3];     /* values, flux, stress or right-hand side of the Robin condition, by component */
  TesFunction *pressure; /* flows and elasticity */
  TesFunction *alpha;    /* Robin only */
  int slip, priority;
  unsigned free; /* bit c: component c of a displacement or velocity is given */
} TesiCaseFace;

/* A case during reading. */
typedef struct TesiCaseDraft {
  TesCase c;
  TesFunction *a, *reaction; /* flows: nu, alpha; elasticity: mu, density */
  TesFunction *lambda, *young, *poisson, *expansion, *temperature;
  TesFunction *f[3], *exact[3], *exact_pressure, *initial[3], *initial_velocity[3], *initial_pressure, *where,
      *map[3];
  TesFunction *b[3];
  TesFunction *gravity[3], *speed;
  double rotation_axis[3], rotation_point[3];
  TesFunction *mean_velocity[3]; /* numbers */
  int stabilization, form;
  TesiCaseFace all, face[6];      /* faces of a box: left, right, bottom, top, back, front */
  char *file, *goal[3], *goal_of; /* goal: boundary or material of mean, integral, force */
  int periodic;                   /* bit d: in direction d */
  int split, file_periodic;
  int units; /* TesiUnits */
  int refine_times, max_dofs, pre, post, guess;
} TesiCaseDraft;

typedef enum TesiKeyType {
  TESI_KEY_MAP,    /* its children are the rows below it */
  TESI_KEY_ONE_OF, /* a map that has exactly one of its children; target: int, 1 + the number of this child */
  TESI_KEY_CHOICE, /* target: int, the number of the word in `choices` */
  TESI_KEY_INTEGER,    /* target: int */
  TESI_KEY_INTEGERS,   /* one value for all directions, or one per direction; target: int[3] */
  TESI_KEY_NUMBER,     /* a number or a constant expression; target: double */
  TESI_KEY_NUMBERS,    /* one value for all directions, or one per direction; target: double[3] */
  TESI_KEY_EXPRESSION, /* target: TesFunction * */
  TESI_KEY_BOUNDARY, /* an expression on a boundary, which may use its normal; `lists`: or a list of expressions */
  TESI_KEY_VECTOR,  /* a list of expressions, one per direction; target: TesFunction *[3] */
  TESI_KEY_FIELD,   /* an expression, or a list as above; target: TesFunction *[3] */
  TESI_KEY_MATRIX,  /* an expression, or a matrix as a list of its diagonal or rows; target: TesFunction * */
  TESI_KEY_SPACING, /* an expression in s or a list of numbers; no target: checked with the box */
  TESI_KEY_FILE,    /* target: char * */
  TESI_KEY_NAME,    /* of a boundary; target: char * */
  TESI_KEY_EVERY,   /* a number of steps, or {time: number}; target: TesCaseEvery */
  /* The next kinds are read before everything else (case_words.c), or after everything else (case_output.c). */
  TESI_KEY_CONSTANTS,
  TESI_KEY_TABLES,
  TESI_KEY_POINTS,
  TESI_KEY_VALUES,
  TESI_KEY_LINES,
  TESI_KEY_PICTURE
} TesiKeyType;

/* Numbers must lie in [low, high], or in (low, high) if `open`. */
typedef struct TesiKey {
  const char *path;
  TesiKeyType type;
  size_t target;              /* offset in TesiCaseDraft */
  const char *const *choices; /* words in the order of the enum, NULL after the last */
  double low, high;
  bool open, required;
  bool automatic; /* integers: "auto" is allowed and becomes -1 */
  bool map_too;   /* expressions: keys are allowed too, the rows below */
  bool lists;     /* boundary: a list is allowed too, one entry per direction; target: TesFunction *[3] */
  bool beside;    /* may be given together with another child of its parent */
  bool all_rows;  /* its help text says itself which problems have it */
  bool repeated;  /* rows of single faces, which the help lists once */
  const char *fallback;      /* the default, as written in the file; NULL: none */
  const char *fallback_note; /* the default in the help text */
  const char *help;
} TesiKey;

extern const TesiKey tesi_case_keys[];
extern const int tesi_case_key_count;

/* The row of a path; -1: there is none. */
int tesi_case_row(const char *path);
/* The last name of a path. */
const char *tesi_key_name(const TesiKey *key);
/* Whether `row` stands directly below `parent` (-1: the root of the file). */
bool tesi_case_is_child(int row, int parent);

#endif
