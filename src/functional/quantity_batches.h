/* A quantity at the quadrature points of all cells, batch by batch. */
#ifndef TESI_QUANTITY_BATCHES_H
#define TESI_QUANTITY_BATCHES_H

#include "functional/batch_faces.h"
#include "functional/fields.h"

typedef struct TesiQuantityBatches {
  const TesiQuantity *quantity;
  TesiBatches *batches[TESI_SOURCES + 1]; /* batches of the sources, all with the same points; the last: of the
                                           * quadrature */
  const TesiBatches *at;
  int material; /* -1: all cells */
} TesiQuantityBatches;

/* A rule with `points` per direction, over the cells of a space, or of one material. */
TesStatus tesi_quantity_batches_create(const TesiQuantity *q, const TesSpace *space, int material,
                                       TesiPointRule rule, int points, TesiQuantityBatches *batches);
void tesi_quantity_batches_free(TesiQuantityBatches *batches);
/* Size of a thread's workspace for a batch, in numbers. */
int64_t tesi_quantity_batches_memory(const TesiQuantityBatches *batches);
/* at: points, weights (0 in cells of other materials) and J, **values the quantity there; all lie in `memory`.
 * No value is checked. Errors: TES_NAN of a coefficient. */
TesStatus tesi_quantity_batch(const TesiQuantityBatches *batches, const TesiBatch *batch, double *memory,
                              TesiBatchPoints *at, double **values);

/* Reference points of a face, x, J, and outward unit normals; weights with the area of the face; value: workspace for
 * values. */
typedef struct TesiFacePlace {
  double xi[3 * TESI_QUANTITY_POINTS], x[3 * TESI_QUANTITY_POINTS], J[9 * TESI_QUANTITY_POINTS],
      normal[3 * TESI_QUANTITY_POINTS], weight[TESI_QUANTITY_POINTS], value[TESI_QUANTITY_POINTS];
} TesiFacePlace;
TesStatus tesi_face_place(const TesMesh *mesh, const TesiFaceRule *rule, const TesiBoundaryFace *face,
                          TesiFacePlace *place);

#endif
