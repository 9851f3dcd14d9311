/* The coupling of a velocity of Q_k, a function of `dim` components, with a pressure of Q_(k-1) on meshes of any
 * kind, and the convection of the velocity by itself:
 *
 *   divergence   b_i = int (div u) phi_i                     phi_i a node of the pressure
 *   gradient     b_i = int p div v_i                         v_i a node of the velocity: the transpose
 *   convection   b_i = int (u . grad u) . v_i
 *   grad-div     b_i = sum over cells K of gamma_K int_K (div u) (div v_i)
 *
 * over all nodes: boundary values take part, and nodes with boundary values get their integrals too. Loops take eight
 * cells at a time. k + 1 Gauss points per direction; convection takes 3k/2 + 2, on affine cells 3k/2 + 1, which are
 * exact there.
 *
 * On reference coordinates: X = J^-1 at a point, d u / d x_c = sum over e of X_ec d u / d xi_e, and the velocity along
 * them is B = X u. On boxes X is diagonal.
 *
 * Bytes: a velocity is read and written once; each pass computes its numbers at points anew, nothing is stored per
 * point. On devices with kernels: taylor_hood_device.h. */
#ifndef TESI_TAYLOR_HOOD_H
#define TESI_TAYLOR_HOOD_H

#include "functional/batch_faces.h"
#include "tessera/problem.h"

typedef struct TesiTaylorHoodDevice TesiTaylorHoodDevice;

typedef struct TesiTaylorHood {
  TesContext *context;
  TesSpace *velocity, *pressure; /* one component each, no node given */
  int dim;
  TesiBatches *v, *p, *over; /* both spaces at k + 1 points, the velocity at the points of convection */
  TesiSums v_sums[3], p_sums, over_sums[3];
  TesiBoundaryFace *face; /* all that have a name */
  int64_t faces;
  double *memory; /* [threads][share] */
  int64_t share;
  int threads;
  TesiTaylorHoodDevice *device; /* on devices with kernels, where sums and memory are unused; else NULL */
} TesiTaylorHood;

/* velocity, pressure: spaces of one component over one mesh without given nodes; the velocity has the larger degree.
 * References are kept. Errors: TES_OUT_OF_MEMORY; on devices with kernels TES_MISSING outside degrees 2 to 8. */
TesStatus tesi_taylor_hood_create(const TesSpace *velocity, const TesSpace *pressure,
                                  TesiTaylorHood **taylor_hood);
void tesi_taylor_hood_destroy(TesiTaylorHood **taylor_hood);

/* u: the components, one after the other. b is overwritten. The same bits for any number of threads. */
TesStatus tesi_taylor_hood_divergence(TesiTaylorHood *taylor_hood, const TesVector *u, TesVector *b);
TesStatus tesi_taylor_hood_gradient(TesiTaylorHood *taylor_hood, const TesVector *p, TesVector *b);
/* The same, added to b. */
TesStatus tesi_taylor_hood_add_gradient(TesiTaylorHood *taylor_hood, const TesVector *p, TesVector *b);
/* rate <- the largest |B_e| at a point, in cells per unit of time. */
TesStatus tesi_taylor_hood_convection(TesiTaylorHood *taylor_hood, const TesVector *u, TesVector *b,
                                      double *rate);

/* *most <- the largest |B_e| / |X_e|^2 at a point: velocity times the length of the cell along it. cell[cells] (may
 * be NULL) <- the largest of each cell. */
TesStatus tesi_taylor_hood_reach(TesiTaylorHood *taylor_hood, const TesVector *u, double *most,
                                 TesVector *cell);
/* gamma[cells], not negative. */
TesStatus tesi_taylor_hood_grad_div(TesiTaylorHood *taylor_hood, const TesVector *gamma, const TesVector *u,
                                    TesVector *b);

/* Plain version for tests: cell by cell and point by point, with all basis functions at each point. Host arrays. */
TesStatus tesi_taylor_hood_divergence_ref(const TesiTaylorHood *taylor_hood, const double *u, double *b);
TesStatus tesi_taylor_hood_gradient_ref(const TesiTaylorHood *taylor_hood, const double *p, double *b);
TesStatus tesi_taylor_hood_convection_ref(const TesiTaylorHood *taylor_hood, const double *u, double *b,
                                          double *rate);
TesStatus tesi_taylor_hood_reach_ref(const TesiTaylorHood *taylor_hood, const double *u, double *most,
                                     double *cell);
TesStatus tesi_taylor_hood_grad_div_ref(const TesiTaylorHood *taylor_hood, const double *gamma,
                                        const double *u, double *b);
/* The terms of one boundary, added to b; g NULL: the backflow of u, else the stress. */
TesStatus tesi_taylor_hood_boundary_ref(const TesiTaylorHood *taylor_hood, int boundary,
                                        const TesFunction *const *g, const double *u, double *b);

/* ---- boundaries ---- */

/* Faces of some boundaries, with as many points per direction as convection. */
typedef struct TesiTaylorHoodFaces {
  TesiFaceRule rule;
  TesiBoundaryFace *face;
  int64_t count;
  void *list, *normals; /* device; NULL: not asked for */
} TesiTaylorHoodFaces;

/* wanted[boundaries]. */
TesStatus tesi_taylor_hood_faces_create(const TesiTaylorHood *taylor_hood, const bool *wanted,
                                        TesiTaylorHoodFaces *faces);
void tesi_taylor_hood_faces_free(const TesiTaylorHood *taylor_hood, TesiTaylorHoodFaces *faces);
/* b_i += - int 1/2 min(u.n, 0) u . v_i. This term keeps a flow that turns back into an open boundary from gaining
 * energy. */
TesStatus tesi_taylor_hood_backflow(const TesiTaylorHood *taylor_hood, TesiTaylorHoodFaces *faces,
                                    const TesVector *u, TesVector *b);
/* On the host, whatever the device: b_i += int (g - P n) . v_i, the stress at open boundaries. given[..] has the
 * functions of a boundary: g[0 .. dim - 1] is g, g[dim] is P; NULL: 0. Errors: TES_NAN with the point. */
TesStatus tesi_taylor_hood_stress(const TesiTaylorHood *taylor_hood, const TesiTaylorHoodFaces *faces,
                                  const TesiGiven *given, double *b);
/* *net <- int g . n, *through <- int |g . n|, *total <- int |g|, of all faces together. */
TesStatus tesi_taylor_hood_flux(const TesiTaylorHood *taylor_hood, const TesiTaylorHoodFaces *faces,
                                const TesiGiven *given, double *net, double *through, double *total);

#endif
