/* Names of quantities, one row each. Expressions, files, reports, pictures, statistics and the manual read the rows; an
 * equation says where the values of a row are (TesiEquation.place). */
#ifndef TESI_FIELD_ROWS_H
#define TESI_FIELD_ROWS_H

#include "functional/fields.h"
#include "tessera/problem.h"

typedef enum TesiFieldFrom {
  TESI_FROM_U,      /* component `part` of the solution */
  TESI_FROM_P,      /* the pressure of a flow */
  TESI_FROM_DATA,   /* of a displacement: 0: lambda, 1: mu, 2: thermal strain */
  TESI_FROM_TEXT,   /* of a displacement: an expression in earlier names */
  TESI_FROM_MEAN,   /* mean in time of component `part`; 3: of the pressure */
  TESI_FROM_SQUARE, /* mean in time of its square */
  TESI_FROM_RATE    /* derivative in time of component `part` */
} TesiFieldFrom;

typedef struct TesiFieldRow {
  const char *name;
  TesiFieldFrom from;
  int part, derivative;
  int dim;          /* 2 or 3: only in this dimension; 0: in both */
  const char *text; /* the text by which it is computed; NULL: from vectors */
  bool unlisted;    /* known to expressions, but listed only on request */
  const char *meaning, *unit;
  const char *flat; /* `text` in plane stress; NULL: the same */
  unsigned of;      /* the problems for which the text holds: TESI_OF_...; 0: displacements */
  bool in_files;    /* VTU files have an array of this name */
} TesiFieldRow;
enum { TESI_OF_SCALARS = 1, TESI_OF_FLOWS = 2, TESI_OF_DISPLACEMENTS = 4, TESI_OWN_FIELD_ROWS = 8 };

/* The properties of a problem on which its names depend. */
typedef struct TesiFieldsOf {
  int dim, components;
  bool flow, stressed, in_time, average;
  TesPlane plane;
  const TesiFieldNames *names; /* of a scalar; they must live as long as the fields; NULL: none */
} TesiFieldsOf;

/* The derivatives of a name. */
void tesi_field_names_set(const char *name, TesiFieldNames *names);
/* Whether a row has this name. */
bool tesi_field_name_taken(const char *name);
/* The names of a problem, with derivatives and texts, without space and vector. row NULL: not needed. Returns how many;
 * at most TESI_FIELDS. */
int tesi_fields_named(const TesiFieldsOf *of, TesiField *field, const TesiFieldRow **row);
/* The row with this index; NULL after the last. */
const TesiFieldRow *tesi_field_row(int number);
/* Before problems are made: adds a name that the library does not have, with the text by which it is computed. False:
 * the name exists, the row has no text, or there is no room. */
bool tesi_field_row_add(const TesiFieldRow *row);
/* The properties on which names depend, from a row of support, before there is a problem. */
struct TesiSupport;
TesiFieldsOf tesi_support_fields(const struct TesiSupport *support, int dim, bool in_time, bool average,
                                 const TesiFieldNames *names);

#endif
