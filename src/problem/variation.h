/* Directions of data by number, and their weights in a derivative (gradient.h). */
#ifndef TESI_VARIATION_H
#define TESI_VARIATION_H

#include "problem/forces.h"
#include "tessera/gradient.h"

/* A problem whose data are replaced by directions. Objects made from its numbers (form, load, boundary values, fields
 * of data) are then the derivatives. Everything else is the problem's own. */
typedef struct TesiVaried {
  TesProblem like;
  TesiNumbered own; /* the directions; like.numbered is this, with the conditions of the problem's boundaries */
  TesiGiven *given, *none_given; /* [boundaries + 1]: with the directions, without functions */
  TesFunction *zero;
  const TesFunction **none; /* [materials + 1] NULL */
} TesiVaried;

/* To be released by tesi_varied_free() after failure too. Errors: names that the mesh does not have. */
TesStatus tesi_varied_create(const TesProblem *problem, const TesVariation *variation, TesiVaried *varied);
void tesi_varied_free(TesiVaried *varied);

/* Functions of an equation for gradients. NULL inside: those of equations with one operator; forces NULL: none. Vectors
 * are of the problem's space, and entries of given values take part. */
typedef struct TesiAdjointOf {
  const TesiForces *forces;
  const char *(*refused)(const TesProblem *problem); /* the reason; NULL: not refused */
  /* z <- the solution of the transposed system; 0 at given values. b is overwritten. */
  TesStatus (*solve)(TesProblem *problem, TesVector *b, TesVector *z);
  /* y <- K x, for x without pressures. */
  TesStatus (*apply)(TesProblem *problem, const TesVector *x, TesVector *y);
  /* b <- the load of the numbers of `like`. */
  TesStatus (*load)(const TesProblem *like, TesVector *b);
  /* u <- directions of given values; r <- - K u. */
  TesStatus (*lift)(TesProblem *problem, const TesiGiven *direction, TesVector *u, TesVector *r);
  /* The part of (sigma n)_axis that is proportional to data.a, with `factor` in its place; NULL: stresses are made of
   * fields of data. */
  void (*stress)(const TesProblem *problem, int axis, const char *factor, char *text);
} TesiAdjointOf;

/* A value of the problem's fields, and a name `shared` (NULL: none). */
typedef struct TesiAdjointPart {
  TesValue what;
  const TesVector *shared;
  int component; /* of a stress */
  bool slip;
} TesiAdjointPart;

/* Fields over which densities are written: u, v, w and the adjoint solution zu, zv, zw, each with its derivatives. */
enum { TESI_ADJOINT_FIELDS = 24 };
typedef struct TesiAdjoint {
  TesProblem *problem;
  const TesValue *what;
  TesiAdjointPart *part;                     /* [parts] whose sum the value is, beside weight . residual */
  int parts, axis;                           /* axis: of a force */
  char text[TESI_AXES][2][TESI_SHARED_TEXT]; /* stresses by component, on faces without and with slip */
  TesVector *weight,
      *shared[TESI_AXES][2]; /* of a force: its residuals and, on its boundary and on others, its
                                              * stresses by component */
  TesVector *slope;          /* derivative of the parts by u_i, also at given nodes */
  TesVector *z;              /* 0 at given nodes, minus the weight */
  TesVector of[TESI_AXES];   /* views of z, by component */
  int fields;
  TesiField field[TESI_ADJOINT_FIELDS];
} TesiAdjoint;

/* Parts and weights of s->what. */
TesStatus tesi_adjoint_begin(TesiAdjoint *adjoint);
void tesi_adjoint_end(TesiAdjoint *adjoint);
/* The direction of a force; not one of the mesh: its expression is none. */
int tesi_force_axis(const TesValue *what);
/* Adds the name of a part to fields, and returns how many there are. */
int tesi_adjoint_part_fields(const TesiAdjoint *adjoint, const TesiAdjointPart *part, int fields,
                             TesiField *field);
/* Components of the solution that have gradients: without pressure. */
static inline int tesi_adjoint_components(const TesProblem *p) {
  return p->equation->vector || tesi_problem_is_flow(p) ? p->mesh->dim : 1;
}

/* *sum += - (dA u, z); cells[cells] (NULL: not needed) += the contributions of the cells. */
TesStatus tesi_adjoint_add_forms(const TesiAdjoint *adjoint, TesiVaried *varied, double *cells, double *sum);
/* The same of (db, z). */
TesStatus tesi_adjoint_add_loads(const TesiAdjoint *adjoint, TesiVaried *varied, double *cells, double *sum);
/* The same for the directions of boundary values. */
TesStatus tesi_adjoint_add_given(const TesiAdjoint *adjoint, TesiVaried *varied, double *sum);
/* The derivative of the value by data that its own expression names. */
TesStatus tesi_adjoint_add_value(const TesiAdjoint *adjoint, TesiVaried *varied, double *cells, double *sum);

#endif
