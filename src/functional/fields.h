/* Fields that expressions name: finite element functions and their derivatives, at points of cells. An equation
 * gives the list of its names (velocity, pressure, ...); values, lines and pictures know no equation. */
#ifndef TESI_FIELDS_H
#define TESI_FIELDS_H

#include "functional/batch.h"
#include "functional/rt/rt_functional.h"
#include "geometry/locate.h"

enum { TESI_FIELDS = 48, TESI_SOURCES = 10, TESI_FIELD_VALUE = -1, TESI_RATE_OLD = 2 };

/* A derivative in time as a sum of vectors: weight[0] times the present vector + sum of weight[1 + i] old[i], each from
 * entry `offset` on. */
typedef struct TesiRate {
  bool is; /* false: the field is no derivative in time */
  int count;
  int64_t offset;
  const TesVector *old[TESI_RATE_OLD];
  double weight[1 + TESI_RATE_OLD];
} TesiRate;

/* A name and its meaning: a vector over a space, or its derivative in direction 0, 1, 2. */
typedef struct TesiField {
  const char *name;
  const TesSpace *space;
  const TesVector *vector;
  int derivative;   /* TESI_FIELD_VALUE: the function itself */
  int part;         /* elements rt and dg: the scalar of the space */
  double time;      /* t in expressions; the same for all fields of a list */
  const char *text; /* an expression in earlier names of the list, for which this name stands; else NULL */
  /* A function of the data in the place of a vector: for all materials, and [materials] functions per material (NULL,
   * or NULL inside: the first). */
  const TesFunction *coefficient, *const *by_material;
  bool unlisted; /* known to expressions, but listed only on request */
  bool in_files; /* VTU files have an array of this name */
  TesiRate rate;
} TesiField;

/* The names of a scalar u and of its derivatives by x, y, z, t; name NULL: no entry. */
enum { TESI_FIELD_NAME = 32 };
typedef struct TesiFieldNames {
  const char *name;
  char slope[4][TESI_FIELD_NAME + 1];
} TesiFieldNames;

extern const char *const tesi_field_names[3][4]; /* the function and its derivatives, for u, v and w */
/* Lists u, ux, uy (, uz) and the same for v and w: components 0, 1 and 2. Both lists NULL: only the names. Returns how
 * many. */
int tesi_fields_of(int dim, int components, const TesSpace *const *space, const TesVector *const *vector,
                   TesiField *field);
/* Checks that a text is an expression in such names; fields need no vectors. Errors as tesi_quantity_create(). */
TesStatus tesi_quantity_check(TesContext *ctx, const char *text, bool boundary, int fields,
                              const TesiField *field);

/* A field as a function of space that does not depend on t; `of`: an expression in fields over this space or its
 * scalars. It keeps a reference of the space and copies of the vectors. `text`: of the function, for messages. More
 * than a hundredth of a cell outside of the mesh it is NaN. Any number of threads may evaluate it. Errors: as
 * tesi_quantity_create(). */
TesStatus tesi_field_function(const TesSpace *space, int fields, const TesiField *field, const char *of,
                              const char *text, TesFunction **function);

/* An expression in fields, x, y, z, t, r and, on boundaries, nx, ny, nz. The vectors that it needs are copied to
 * the host, once each. */
typedef struct TesiQuantity {
  TesContext *context;
  const TesMesh *mesh;
  int dim, fields, sources;
  TesFunction *function;
  bool boundary; /* knows a normal */
  bool plain;    /* the expression is the name of a function: the value of source 0 */
  /* The different vectors that the expression needs. */
  struct {
    const TesSpace *space;
    const TesVector *vector;
    double *values;
    bool value, gradient; /* which are needed */
    int part;
    TesiRtTables *nodes;                                 /* of rt and dg: values at nodes */
    const TesFunction *coefficient, *const *by_material; /* as of the field */
    TesiRate rate;
  } source[TESI_SOURCES];
  int source_of[TESI_FIELDS], derivative[TESI_FIELDS]; /* of each field; source -1: not needed */
} TesiQuantity;

/* Errors: TES_INVALID_INPUT; the message gives the column and the known names. `field` is needed during the call only,
 * its spaces as long as the quantity. */
TesStatus tesi_quantity_create(const TesMesh *mesh, const char *text, bool boundary, int fields,
                               const TesiField *field, TesiQuantity **quantity);
/* The derivative of the expression by a field (its number), at fixed points; TESI_SLOPE_CONSTANT: by the constant of
 * the case for which the words of the context have slopes. */
enum { TESI_SLOPE_NONE = -2, TESI_SLOPE_CONSTANT = -1 };
TesStatus tesi_quantity_create_slope(const TesMesh *mesh, const char *text, bool boundary, int fields,
                                     const TesiField *field, int by, TesiQuantity **quantity);
/* Whether the derivative is 0 everywhere. */
bool tesi_quantity_is_zero(const TesiQuantity *q);
void tesi_quantity_destroy(TesiQuantity **quantity);
/* Whether the quantity is the same on both sides of a face: it uses no derivative, no material, and no field of element
 * rt. */
bool tesi_quantity_is_continuous(const TesiQuantity *q);
/* out[n] <- values at points xi[n][dim] of a cell, n <= TESI_QUANTITY_POINTS; x[n][dim] and J[n][dim][dim] as from
 * tesi_mesh_points(), normal[n][dim] (NULL: no normal). Values are not checked. */
enum { TESI_QUANTITY_POINTS = 576 };
void tesi_quantity_at(const TesiQuantity *q, int64_t cell, int n, const double *xi, const double *x,
                      const double *J, const double *normal, double *out);
/* The function in a cell of a source that is a coefficient; NULL: 0. */
const TesFunction *tesi_quantity_coefficient(const TesiQuantity *q, int source, int64_t cell);
/* The same for n points: the values [source][n] and gradients [source][3][n] of the sources are given (NULL if they
 * are not needed), and x[3], arrays of n. */
void tesi_quantity_values(const TesiQuantity *q, int64_t n, const double *const x[3],
                          const double *const normal[3], const double *const *value,
                          const double *const (*gradient)[3], double *out);

#endif
