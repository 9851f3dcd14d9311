/** \file mesh.h
 *  Meshes. A box mesh is a tensor-product grid: cells[d] intervals in direction d with any spacing.
 *
 *  Numbering is lexicographic everywhere: x runs fastest, then y, then z. Faces of the box are named as in TesFace.
 *  Meshes are immutable and reference-counted.
 */
#ifndef TESSERA_MESH_H
#define TESSERA_MESH_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesMesh TesMesh;

/** Faces of a box: x = lower, x = upper, y = lower, ... In 2D the last two do not exist. */
typedef enum TesFace { TES_LEFT, TES_RIGHT, TES_BOTTOM, TES_TOP, TES_BACK, TES_FRONT } TesFace;

typedef struct TesBoxDesc {
  int dim;         /**< 2 or 3; 0 means 3 */
  int cells[3];    /**< cells a direction, at least 1 */
  double lower[3]; /**< lower corner; default 0 */
  double upper[3]; /**< upper corner; default 1 where lower and upper are both 0 */
  /** Vertex coordinates [cells[d] + 1] of direction d, strictly ascending; NULL: equal cells from lower to upper. When given,
   *  lower[d] and upper[d] are ignored. Copied. */
  const double *coordinates[3];
} TesBoxDesc;

/** Errors: TES_INVALID_INPUT (dim, cells < 1, reversed box, coordinates that do not ascend: the index is named). */
TesStatus tes_mesh_create_box(TesContext *context, const TesBoxDesc *desc, TesMesh **mesh);
void tes_mesh_destroy(TesMesh **mesh);

/** The next coarser mesh: every direction whose cell count is even and larger than 2 is halved, by leaving out every
 *  second vertex; the others stay. When none can be halved *coarse is NULL and the status TES_OK: this is the
 *  coarsest mesh, which is solved directly. 3*2^l cells so coarsen to 3, 2^l to 2 (one vertex patch, for which the patch
 *  smoother is exact), an odd number not at all. */
TesStatus tes_mesh_coarsen(const TesMesh *mesh, TesMesh **coarse);

/** 2 or 3. */
int tes_mesh_dim(const TesMesh *mesh);
/** Cells in direction d; 1 for d >= dim. */
int tes_mesh_cells(const TesMesh *mesh, int d);
int64_t tes_mesh_cell_count(const TesMesh *mesh);
/** Vertex coordinates [cells(d) + 1] of direction d, owned by the mesh. */
const double *tes_mesh_coordinates(const TesMesh *mesh, int d);

#ifdef __cplusplus
}
#endif
#endif
