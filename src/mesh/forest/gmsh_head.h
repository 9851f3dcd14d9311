/* The dimension and the names in a Gmsh file, found without reading the nodes, before cells are made. */
#ifndef TESI_GMSH_HEAD_H
#define TESI_GMSH_HEAD_H

#include "mesh/forest/gmsh.h"

typedef struct TesiGmshHead {
  int dim; /* of the cells */
  int64_t names;
  TesiGmshName *name; /* [names] of physical groups; a group without a name is called by its tag and is not listed */
} TesiGmshHead;

/* Reads the head of desc->file. If it does not have the expected form, the whole file is read, and that reader reports
 * the error. Errors: TES_IO, TES_INVALID_INPUT, as tes_mesh_create(). */
TesStatus tesi_gmsh_head(TesContext *ctx, const TesMeshDesc *desc, TesiGmshHead *head);
void tesi_gmsh_head_free(TesContext *ctx, TesiGmshHead *head);

#endif
