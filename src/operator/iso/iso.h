/* Velocities of Q_1 on a grid with half the cell width of the grid of a Q_1 pressure: the parts of an explicit step
 * (Algorithm 4 of Liebchen et al., in applications of adaptive multigrid), on boxes with any spacing.
 *
 * With the velocity's nodes n, components c and directions d, row sums m of the velocity's mass matrix and n of the
 * pressure's, C_d[i,j] = int phi_j d_d phi_i, K the stiffness matrix and I the embedding of pressures:
 *
 *   momentum    next_c = u_c + k m^-1 (sum over d of C_d (u_d u_c + delta_dc I s) - nu K u_c + load_c)   unknown nodes
 *               next_c = given_c                                                          nodes with given values
 *   divergence  b = scale int (div u) psi_i                                               psi_i: of the pressure
 *   pressure    p <- p + q + rate n^-1 b,   s <- p + q
 *
 * Products u_d u_c are products of nodal values. All matrices are products of 1D ones with three entries per row:
 *   M: (h_left + h_right) / 3, h / 6;   K: 1 / h_left + 1 / h_right, -1 / h;   C: 1/2, 0, -1/2 whatever h.
 * A row of x gives C_x F_x - nu K u, M F_y, M F_z and M u; rows of y and planes of z combine them, so that only three
 * rows and three planes are stored.
 *
 * On several ranks, momentum and divergence leave parts at the nodes of cuts: the sum of all copies is the result.
 *
 * Vectors are float64: velocities [component][z][y][x] on the nodes of the fine grid, pressures [z][y][x] on those of
 * the mesh. Flops per node in 3D: momentum 270, divergence 50. Bytes: u read and written once, 48 in 3D. */
#ifndef TESI_ISO_H
#define TESI_ISO_H

#include "device/vector.h"
#include "mesh/mesh.h"

/* One direction, numbers at each node of the fine grid: entries (left, own, right), 0 beyond the ends. */
typedef struct TesiIsoAxis {
  int cells, coarse, fine;    /* cells of the pressure; nodes of both grids; 1 node: no such direction */
  double *x;                  /* [fine] */
  double *M[3], *K[3], *C[3]; /* [fine] */
  double *divided;            /* [fine] 1 / row sum of M */
  double *coarse_divided;     /* [coarse] the same of the pressure */
  double *RM[5], *RC[5];      /* [coarse] I' M and I' C', columns 2 i - 2 .. 2 i + 2 */
} TesiIsoAxis;

typedef struct TesiIso {
  TesContext *context;
  int dim;
  TesiIsoAxis axis[3];
  int64_t nodes, pressures;
  uint8_t given[6]; /* by face 2 d + side: bit c: component c has values there; none at cuts */
  bool cut[2];      /* whether the last direction ends at a cut */
  int threads;
  double *memory; /* [threads][share] */
  int64_t share;
  struct TesiIsoDevice *device; /* NULL: loops of the host */
} TesiIso;

/* mesh: mesh of the pressure, of kind box, without periodic directions. given[2 dim]. Errors: TES_INVALID_INPUT,
 * TES_OUT_OF_MEMORY. */
TesStatus tesi_iso_create(const TesMesh *mesh, const uint8_t *given, TesiIso **iso);
void tesi_iso_destroy(TesiIso **iso);

typedef struct TesiIsoStep {
  double k, nu;
  const TesVector *u, *s;
  const TesVector *given; /* of velocities: read at nodes with given values */
  const TesVector *load;  /* NULL: 0 */
  TesVector *next;        /* not u */
} TesiIsoStep;

TesStatus tesi_iso_momentum(TesiIso *iso, const TesiIsoStep *step);
TesStatus tesi_iso_divergence(TesiIso *iso, double scale, const TesVector *u, TesVector *b);
TesStatus tesi_iso_pressure(TesiIso *iso, double rate, const TesVector *q, const TesVector *b, TesVector *p,
                            TesVector *s);
/* w <- I s at the nodes of the fine grid. */
TesStatus tesi_iso_embed(TesiIso *iso, const TesVector *s, TesVector *w);

/* Whether component c has a given value at a node of the fine grid. */
static inline bool tesi_iso_is_given(const TesiIso *iso, int c, const int at[3]) {
  for (int d = 0; d < iso->dim; d++)
    if ((at[d] == 0 && iso->given[2 * d] >> c & 1) ||
        (at[d] == iso->axis[d].fine - 1 && iso->given[2 * d + 1] >> c & 1))
      return true;
  return false;
}

/* Node i of the lower or upper end of the last direction, in the list of its nodes. */
static inline int64_t tesi_iso_end_node(const TesiIso *iso, int end, int64_t i) {
  return end ? iso->nodes - iso->nodes / iso->axis[iso->dim - 1].fine + i : i;
}

/* Plain version for tests, with Gauss points in each cell and all basis functions at each point. Host arrays. */
TesStatus tesi_iso_momentum_ref(const TesiIso *iso, double k, double nu, const double *u, const double *s,
                                const double *given, const double *load, double *next);
TesStatus tesi_iso_divergence_ref(const TesiIso *iso, double scale, const double *u, double *b);

/* ---- loops of one SIMD width: iso_simd.c ---------------------------------------------------------------- */

/* Planes first .. end - 1 of next (2D: rows), with memory of tesi_iso_share() numbers. */
typedef struct TesiIsoHost {
  const TesiIso *iso;
  double k, nu;
  const double *u, *s, *given, *load;
  double *next;
} TesiIsoHost;
typedef void TesiIsoMomentum(const TesiIsoHost *host, int first, int end, double *memory);
/* b at planes (2D: rows) first .. end - 1 of the pressure. */
typedef void TesiIsoDivergence(const TesiIso *iso, double scale, const double *u, int first, int end,
                               double *memory, double *b);

#define TESI_ISO_LOOPS(bits)                                                                                 \
  TesiIsoMomentum tesi_iso_momentum_##bits;                                                                  \
  TesiIsoDivergence tesi_iso_divergence_##bits;
TESI_ISO_LOOPS(128)
TESI_ISO_LOOPS(256)
TESI_ISO_LOOPS(512)

/* A row with room for entries -1 and `fine`, and for whole registers. */
static inline int64_t tesi_iso_row(const TesiIso *iso) {
  return (iso->axis[0].fine + 2 + 15) / 8 * 8;
}

#endif
