/* Cells that are neither refined nor coarsened: a deformed box, or trees without refinement. */
#include "mesh/mesh.h"

/* Trees are their own leaves, of level 0. */
static TesStatus take_trees(TesMesh *m) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  m->cells = m->leaves.cells = m->coarse->trees;
  TES_ALLOC(&m->leaves.tree, m->cells);
  TES_ALLOC(&m->leaves.level, m->cells);
  TES_ALLOC(&m->leaves.child, m->cells);
  TES_ALLOC(&m->leaves.origin, 3 * m->cells);
  for (int64_t c = 0; c < m->cells; c++) m->leaves.tree[c] = (int32_t)c;
done:
  return status;
}

TesStatus tesi_mesh_create_cells(TesContext *ctx, const TesMeshDesc *desc, TesMesh **mesh) {
  TesStatus status = TES_OK;
  TesiTrees *trees = NULL;
  TesMesh *m = NULL;
  *mesh = NULL;
  if (desc->domain == TES_DOMAIN_BOX) {
    TES_TRY(tesi_mesh_create_grid(ctx, TES_MESH_CELLS, desc, &m));
    TES_TRY(tesi_mesh_deform(m, desc));
  } else {
    TES_TRY(tesi_trees_create(ctx, desc, &trees));
    TES_TRY(tesi_mesh_new(ctx, TES_MESH_CELLS, trees->dim, desc->geometry_degree, &m));
    m->coarse = tesi_trees_retain(trees);
    TES_TRY(take_trees(m));
  }
  *mesh = m;
  m = NULL;
done:
  tesi_trees_release(&trees);
  tes_mesh_destroy(&m);
  return status;
}
