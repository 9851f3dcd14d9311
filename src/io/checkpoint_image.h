/* What a file of a checkpoint holds before it becomes a mesh and a space. */
#ifndef TESI_CHECKPOINT_IMAGE_H
#define TESI_CHECKPOINT_IMAGE_H

#include "io/store.h"
#include "mesh/mesh.h"
#include "space/file_order.h"

typedef struct TesiImage {
  TesContext *ctx;
  TesiStore *store;
  const char *path;
  int64_t *head;
  double *number;
  TesiTrees trees;
  char *texts[2]; /* of the names of boundaries and materials */
  TesiLeaves leaves;
  double *coordinates[3]; /* of a box */
  uint8_t *given;
  int64_t *components; /* NULL: 1 */
  int geometry_degree;
  const TesMesh *wanted; /* the checkpoint is read for a computation over this mesh; NULL: nobody knows */
  TesiFileOrder order;   /* of the values of the space that was made */
} TesiImage;

void tesi_image_free(TesiImage *image);
/* What is not possible is refused; image->head, number and components. */
TesStatus tesi_image_get_head(TesiImage *image);
/* count names one after the other, each with its 0; *names refer to *text. */
TesStatus tesi_image_get_names(TesiImage *image, const char *what, int64_t count, char **text, char ***names);
/* Mesh and space, and image->order. Where the wanted mesh has the cells of the file and is of the other kind (a box of
 * kind box, or of trees), the space is over the wanted mesh. */
TesStatus tesi_image_make_space(TesiImage *image, TesSpace **space);

#endif
