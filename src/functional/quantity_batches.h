/* Quantities at the points of a rule in all cells, batch by batch. */
#ifndef TESI_QUANTITY_BATCHES_H
#define TESI_QUANTITY_BATCHES_H

#include "functional/batch_faces.h"
#include "functional/fields.h"

enum { TESI_QUANTITIES = 48 };

typedef struct TesiQuantityBatches {
  int quantities, sources;
  const TesiQuantity *quantity[TESI_QUANTITIES];
  /* The different sources of all quantities, each evaluated once; all have the same points. */
  struct {
    const TesiQuantity *quantity; /* the first that has it, */
    int number;                   /* under this number */
    TesiBatches *batches;         /* NULL: a coefficient */
  } source[TESI_QUANTITIES * TESI_SOURCES];
  int source_of[TESI_QUANTITIES][TESI_SOURCES];
  TesiBatches *at; /* of the rule */
  int material;    /* -1: all cells */
} TesiQuantityBatches;

/* Up to TESI_QUANTITIES quantities, and a rule with `points` per direction, over the cells of a space, or of one
 * material. */
TesStatus tesi_quantity_batches_create(int quantities, const TesiQuantity *const *quantity,
                                       const TesSpace *space, int material, TesiPointRule rule, int points,
                                       TesiQuantityBatches *batches);
void tesi_quantity_batches_free(TesiQuantityBatches *batches);
/* Size of a thread's workspace for a batch, in numbers. */
int64_t tesi_quantity_batches_memory(const TesiQuantityBatches *batches);
/* values[count] <- the quantities from number `first` on, at the points; *at (NULL: not wanted) <- the points, weights
 * (0 in cells of other materials) and J. All lie in `memory`. No value is checked. Errors: TES_NAN of a coefficient,
 * unless batches->at is lenient. */
TesStatus tesi_quantity_batch(const TesiQuantityBatches *batches, const TesiBatch *batch, int first,
                              int count, double *memory, TesiBatchPoints *at, double **values);

/* Reference points of a face, x, J, and outward unit normals; weights with the area of the face; value: workspace for
 * values. */
typedef struct TesiFacePlace {
  double xi[3 * TESI_QUANTITY_POINTS], x[3 * TESI_QUANTITY_POINTS], J[9 * TESI_QUANTITY_POINTS],
      normal[3 * TESI_QUANTITY_POINTS], weight[TESI_QUANTITY_POINTS], value[TESI_QUANTITY_POINTS];
} TesiFacePlace;
TesStatus tesi_face_place(const TesMesh *mesh, const TesiFaceRule *rule, const TesiBoundaryFace *face,
                          TesiFacePlace *place);

#endif
