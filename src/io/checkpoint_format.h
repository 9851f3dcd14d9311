/* The contents of checkpoint files. */
#ifndef TESI_CHECKPOINT_FORMAT_H
#define TESI_CHECKPOINT_FORMAT_H

#include "tessera/mesh.h"

/* Version 1 holds a forest. Version 2 holds a box: coordinates of its vertices instead of trees. Versions 3 and 4 are
 * the same with a space of several components, whose number is in "components". Later versions: a box with a space of
 * another element (TesiElement.version). */
enum {
  FIELDS = 16,
  NAME = 64,
  STATES = 4096,
  FOREST_VERSION = 1,
  BOX_VERSION = 2,
  COMPONENTS_VERSION = 2,
  LAST_VERSION = 8
};
#define TESI_CHECKPOINT_FORMAT "tessera checkpoint"

/* Integers of the head, in this order. */
typedef enum Whole {
  W_VERSION,
  W_DIM,
  W_TREE_DEGREE,
  W_TREES,
  W_CELLS,
  W_DEGREE,
  W_LENGTH,
  W_STEP,
  W_FIELDS,
  W_BOUNDARIES,
  W_MATERIALS,
  W_MAPPED,
  W_BOX,
  W_PERIODIC = W_BOX + 3,
  W_IDENTITY = W_PERIODIC + 3,
  W_NUMBERING,
  W_COUNT
} Whole;
enum { MAPPED = 1, GROUPED = 2 }; /* W_MAPPED: trees have maps, groups of edges and corners */
enum { PART = sizeof(TesTreePart) / sizeof(int32_t) };
enum { N_TIME, N_CENTRE, N_RADIUS = N_CENTRE + 3, N_INNER, N_CORE, N_COUNT };

extern const char *const tesi_checkpoint_axes[3]; /* names of the coordinates of boxes */

#endif
