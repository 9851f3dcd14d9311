/* Expressions in the fields of a problem at the nodes of a file's cells, by tensor products, eight cells at a time. */
#ifndef TESI_VTU_VALUES_H
#define TESI_VTU_VALUES_H

#include "functional/quantity_batches.h"
#include "tessera/vtu.h"

/* An array of the file: a quantity per component, from number `first` on. */
typedef struct TesiVtuExpression {
  struct TesiVtuValues *of;
  const char *name;
  int first, components;
} TesiVtuExpression;

typedef struct TesiVtuValues {
  TesContext *context;
  int quantities, arrays;
  TesiQuantity *quantity[TESI_QUANTITIES];
  TesiVtuExpression array[TESI_QUANTITIES];
  TesiQuantityBatches batches; /* of all arrays: what several of them need has one table */
  int64_t share;
  double *memory; /* [threads][share] */
  bool apart;     /* each array is made when its values are asked for, on small meshes too */
  double *all; /* else the values of all arrays, one array after the other: functions are evaluated once for all */
} TesiVtuValues;

/* Adds an array with the components of[components] in these fields. Errors: as tesi_quantity_create(). */
TesStatus tesi_vtu_values_add(TesiVtuValues *values, const TesMesh *mesh, const char *name, int components,
                              const char *const *of, int fields, const TesiField *field);
/* When all are there: array[arrays] <- the arrays, for cells of this degree. space: any over the mesh. */
TesStatus tesi_vtu_values_begin(TesiVtuValues *values, const TesSpace *space, int degree, TesVtuArray *array);
void tesi_vtu_values_free(TesiVtuValues *values);

#endif
