/* What a Gmsh file says of itself before its cells are made: dimension and names, read without nodes. */
#ifndef TESI_GMSH_HEAD_H
#define TESI_GMSH_HEAD_H

#include "mesh/forest/gmsh.h"

typedef struct TesiGmshHead {
  int dim; /* of the cells */
  int64_t names;
  TesiGmshName *name; /* [names] of physical groups; a group without a name is called by its tag, not listed here */
} TesiGmshHead;

/* Reads the head of desc->file. Where it is not as expected the whole file is read, whose reader tells what is wrong.
 * Errors: TES_IO, TES_INVALID_INPUT, as tes_mesh_create(). */
TesStatus tesi_gmsh_head(TesContext *ctx, const TesMeshDesc *desc, TesiGmshHead *head);
void tesi_gmsh_head_free(TesContext *ctx, TesiGmshHead *head);

#endif
