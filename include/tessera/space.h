/** \file space.h
 *  Finite element spaces: continuous Q_k on Gauss-Lobatto nodes over a box mesh.
 *
 *  Vectors of a space hold one value a node, Dirichlet nodes included: nodes(0) x nodes(1) x nodes(2) values with
 *  nodes(d) = cells(d) * degree + 1, lexicographic, x fastest. Entries at Dirichlet nodes are zero in every vector that an
 *  operator, smoother or solver gets or gives: boundary values live in a lifting (problem.h). Keeping them makes every cell alike, which is
 *  worth more than the memory. dofs() counts unknowns only.
 */
#ifndef TESSERA_SPACE_H
#define TESSERA_SPACE_H

#include <stdbool.h>
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesSpace TesSpace;

typedef struct TesSpaceDesc {
  const TesMesh *mesh; /**< a reference is kept */
  int degree;          /**< 1..20; 0 means 4 */
  bool natural[6];     /**< by TesFace: true where the face is free (Neumann, Robin); default Dirichlet */
} TesSpaceDesc;

/** Errors: TES_INVALID_INPUT (degree out of range), TES_OUT_OF_MEMORY. */
TesStatus tes_space_create(TesContext *context, const TesSpaceDesc *desc, TesSpace **space);
void tes_space_destroy(TesSpace **space);
/** The space of the same degree and boundary on the coarsened mesh; NULL with TES_OK when the mesh does not coarsen. */
TesStatus tes_space_coarsen(const TesSpace *space, TesSpace **coarse);

/** What it was created with; the space owns mesh and context references. */
TesContext *tes_space_context(const TesSpace *space);
const TesMesh *tes_space_mesh(const TesSpace *space);
int tes_space_dim(const TesSpace *space);
int tes_space_degree(const TesSpace *space);
/** Nodes in direction d, Dirichlet nodes included; 1 for d >= dim. */
int tes_space_nodes(const TesSpace *space, int d);
/** Length of vectors: product of nodes(d). */
int64_t tes_space_length(const TesSpace *space);
/** Unknowns: nodes that are not on a Dirichlet face. */
int64_t tes_space_dofs(const TesSpace *space);
bool tes_space_natural(const TesSpace *space, TesFace face);
/** Coordinates of the nodes(d) nodes of direction d, owned by the space. */
const double *tes_space_coordinates(const TesSpace *space, int d);

#ifdef __cplusplus
}
#endif
#endif
