/* Cells that contain a point. */
#ifndef TESI_LOCATE_H
#define TESI_LOCATE_H

#include "geometry/geometry.h"

/* Point number `point` in a cell, at xi in [0, 1]^dim. moved: distance of the point from the cell in cell lengths,
 * largest direction; xi is then the nearest point of the cell. 0 for distances of round-off. */
typedef struct TesiHit {
  int64_t point, cell;
  double xi[3], moved;
} TesiHit;

/* Tolerance for inside, in cell lengths. */
#define TESI_LOCATE_ROUND_OFF 1e-9

/* All cells of this rank whose closure contains one of the points x[n][dim], sorted by point and cell. A point in no
 * cell gets a cell that is less than `reach` cell lengths away, if there is one. The caller frees *hit. Cost: a look at
 * each cell, and Newton's method for cells near a point. */
TesStatus tesi_mesh_find(const TesMesh *mesh, int64_t n, const double *x, double reach, TesiHit **hit,
                         int64_t *count);
/* A box that contains a cell and an eighth of its length around: of its Bernstein coefficients; for an analytic map
 * twice the box of a lattice of points. */
typedef struct TesiCellBox {
  double low[3], high[3];
} TesiCellBox;
/* The bin that has x, of so many in direction d of a box. */
static inline int tesi_box_bin(const TesiCellBox *box, int d, int bins, double x) {
  const double width = box->high[d] - box->low[d];
  const double place = width > 0 ? (x - box->low[d]) / width * bins : 0;
  return place >= bins ? bins - 1 : place > 0 ? (int)place : 0;
}
TesStatus tesi_cell_box(const TesiGeometry *geometry, int64_t cell, TesiCellBox *box);
/* xi <- the point of the cell, in [0, 1]^dim, that is x or nearest to x. Returns the distance, as `moved` of a hit;
 * infinity: far away. */
double tesi_cell_find(const TesiGeometry *geometry, int64_t cell, const TesiCellBox *box, const double *x,
                      double *xi);
/* The first cell of a mesh of kind box that contains x or is within reach of x. False: there is none. */
bool tesi_grid_find(const TesMesh *mesh, const double *x, double reach, int64_t *cell, double *xi);
/* delta <- J^-1 r, J[dim][dim] by rows. */
void tesi_solve_small(int dim, const double *J, const double *r, double *delta);
/* As tes_mesh_evaluate(); over a grid it uses the coordinates, without a geometry. J may be NULL. */
TesStatus tesi_mesh_points(const TesMesh *mesh, int64_t cell, int n, const double *xi, double *x, double *J);

#endif
