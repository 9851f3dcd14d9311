/* Names of quantities: a row each. Expressions, files, reports, pictures, statistics and the manual read the rows; an
 * equation says where the values of a row are (TesiEquation.place). */
#ifndef TESI_FIELD_ROWS_H
#define TESI_FIELD_ROWS_H

#include "functional/fields.h"
#include "tessera/problem.h"

typedef enum TesiFieldFrom {
  TESI_FROM_U,      /* component `part` of the solution */
  TESI_FROM_P,      /* the pressure of a flow */
  TESI_FROM_DATA,   /* of a displacement: 0: lambda, 1: mu, 2: thermal strain */
  TESI_FROM_TEXT,   /* of a displacement: an expression in the names before */
  TESI_FROM_MEAN,   /* in time, of component `part`, 3: of the pressure */
  TESI_FROM_SQUARE, /* the same of its square */
  TESI_FROM_RATE    /* derivative in time of component `part` */
} TesiFieldFrom;

typedef struct TesiFieldRow {
  const char *name;
  TesiFieldFrom from;
  int part, derivative;
  int dim;          /* 2 or 3: there alone; 0: in both */
  const char *text; /* how it is computed; NULL: from vectors */
  bool unlisted;    /* known to expressions, not shown unless it is asked for */
  const char *meaning, *unit;
  const char *flat; /* `text` in plane stress; NULL: the same */
  unsigned of;      /* whose a text is: TESI_OF_...; 0: of displacements */
  bool in_files;    /* VTU files have an array of this name */
} TesiFieldRow;
enum { TESI_OF_SCALARS = 1, TESI_OF_FLOWS = 2, TESI_OF_DISPLACEMENTS = 4, TESI_OWN_FIELD_ROWS = 8 };

/* What the names of a problem depend on. */
typedef struct TesiFieldsOf {
  int dim, components;
  bool flow, stressed, in_time, average;
  TesPlane plane;
  const TesiFieldNames *names; /* of a scalar; they live as long as the fields; NULL: none */
} TesiFieldsOf;

/* The derivatives of a name. */
void tesi_field_names_set(const char *name, TesiFieldNames *names);
/* Whether a row has this name. */
bool tesi_field_name_taken(const char *name);
/* The names there are, with derivatives and texts; space and vector are missing. row NULL: not wanted. At most
 * TESI_FIELDS; returns how many. */
int tesi_fields_named(const TesiFieldsOf *of, TesiField *field, const TesiFieldRow **row);
/* The row of a number; NULL behind the last. */
const TesiFieldRow *tesi_field_row(int number);
/* Before problems are made: a name that the library does not have, with the text by which it is computed. False: the
 * name is there, the row has no text, or there is no room. */
bool tesi_field_row_add(const TesiFieldRow *row);
/* What the names of a row of support depend on, before there is a problem. */
struct TesiSupport;
TesiFieldsOf tesi_support_fields(const struct TesiSupport *support, int dim, bool in_time, bool average,
                                 const TesiFieldNames *names);

#endif
