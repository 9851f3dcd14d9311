/* Directions of the normals of boundaries. */
#ifndef TESI_NORMALS_H
#define TESI_NORMALS_H

#include "geometry/geometry.h"

/* The outer unit normals of a boundary, on all ranks: of planes that meet at edges, or of a curved face. */
typedef struct TesiNormals {
  unsigned axes; /* bit d: some normal has a part along direction d */
  int planes;
  double plane[16][3];
  bool curved;
} TesiNormals;

/* normals[tes_mesh_boundaries()] <- the normals of each boundary. All ranks call it, and get the same. */
TesStatus tesi_mesh_normals(const TesMesh *mesh, TesiNormals *normals);

#endif
