/* Directions of data by number, and their weights in a derivative (gradient.h). */
#ifndef TESI_VARIATION_H
#define TESI_VARIATION_H

#include "problem/problem.h"
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

/* Fields over which densities are written: u, v, w and the adjoint solution zu, zv, zw, each with its derivatives. */
enum { TESI_ADJOINT_FIELDS = 24 };
typedef struct TesiAdjoint {
  TesProblem *problem;
  const TesValue *what;
  TesVector *slope;        /* dJ/du_i, also at given nodes */
  TesVector *z;            /* 0 at given nodes */
  TesVector of[TESI_AXES]; /* views of z, by component */
  int fields;
  TesiField field[TESI_ADJOINT_FIELDS];
} TesiAdjoint;

/* *sum += - (dA u, z); cells[cells] (NULL: not needed) += the contributions of the cells. */
TesStatus tesi_adjoint_add_forms(const TesiAdjoint *adjoint, TesiVaried *varied, double *cells, double *sum);
/* The same of (db, z). */
TesStatus tesi_adjoint_add_loads(const TesiAdjoint *adjoint, TesiVaried *varied, double *cells, double *sum);
/* The same for the directions of boundary values. */
TesStatus tesi_adjoint_add_given(const TesiAdjoint *adjoint, TesiVaried *varied, double *sum);
/* The derivative of the value by data that its own expression names. */
TesStatus tesi_adjoint_add_value(const TesiAdjoint *adjoint, TesiVaried *varied, double *cells, double *sum);

#endif
