/* Trees of degree 1 while a built-in domain is made of them. */
#ifndef TESI_SKETCH_H
#define TESI_SKETCH_H

#include "mesh/forest/trees.h"

typedef struct TesiSketch {
  TesContext *ctx;
  int dim, trees;
  double *nodes;
  int32_t *vertices, *boundary; /* boundary: -1 at first */
  int8_t *map;
} TesiSketch;

/* Room for so many trees. */
TesStatus tesi_sketch_begin(TesContext *ctx, int dim, int64_t room, TesiSketch *s);
void tesi_sketch_free(TesiSketch *s);
/* Adds a tree: vertex v is number id[v] at x[v]. Returns the number of the tree. */
int tesi_sketch_add(TesiSketch *s, TesiTreeMap map, const int32_t *id, const double (*x)[3]);
TesStatus tesi_sketch_end(TesiSketch *s, int names, const char *const *name, TesiTrees **coarse);

#endif
