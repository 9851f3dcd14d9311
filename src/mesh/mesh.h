/* Meshes as the other folders see them. */
#ifndef TESI_MESH_H
#define TESI_MESH_H

#include "base/base.h"
#include "tessera/mesh.h"

struct TesMesh {
  atomic_int references;
  TesContext *context;
  int dim, cells[3];
  double *coordinates[3]; /* [cells[d] + 1]; {0, 1} in directions that do not exist */
};

TesMesh *tesi_mesh_retain(const TesMesh *mesh);

#endif
