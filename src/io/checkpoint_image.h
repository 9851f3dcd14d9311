/* The contents of a checkpoint file before they become a mesh and a space. */
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
  char *texts[2]; /* bytes of the names of boundaries and materials */
  TesiLeaves leaves;
  double *coordinates[3]; /* of a box */
  uint8_t *given;
  int64_t *components; /* NULL: 1 */
  int geometry_degree;
  const TesMesh *wanted; /* the mesh of the computation that reads the checkpoint; NULL: not known */
  TesiFileOrder order;   /* order of the values of the resulting space */
} TesiImage;

void tesi_image_free(TesiImage *image);
/* Refuses impossible contents; checks image->head, number and components. */
TesStatus tesi_image_get_head(TesiImage *image);
/* count names, each with its final 0, one after the other; *names point into *text. */
TesStatus tesi_image_get_names(TesiImage *image, const char *what, int64_t count, char **text, char ***names);
/* Makes mesh and space, and image->order. If the wanted mesh has the cells of the file but the other kind (kind box, or
 * a box of trees), the space is over the wanted mesh. */
TesStatus tesi_image_make_space(TesiImage *image, TesSpace **space);

#endif
