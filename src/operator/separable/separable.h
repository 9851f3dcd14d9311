/* The separable operator's plan, shared by its set-up (separable.c) and its SIMD builds (separable_*_simd.c).
 *
 * A = Kz(x)My(x)Mx + Mz(x)Ky(x)Mx + Mz(x)My(x)Kx, plane by plane: for each plane of nodes (fixed z)
 *   t = Mx x, s = Kx x;  U = My t, V = Ky t + My s;   then along z  y = Kz U + Mz V      (2D: y = Ky t + My s),
 * so that every one-dimensional contraction is done once per node, not once per cell of the node. Contractions go
 * cell by cell along the line. The node between two cells gets the sum of both contributions; the first is passed on
 * as a `carry`.
 *
 * In the Gauss-Lobatto basis the mass matrix of a cell is diagonal plus rank one: the Lobatto rule with n = k+1
 * points is exact for all products of two basis polynomials, except the product of two polynomials of degree k. With
 * its weights w, and l = Legendre's P_k at the nodes,
 *   M = h W (I - gamma l (W l)'),  gamma = k (k+1) / (2k+1)            (Teukolsky, J. Comput. Phys. 283, 2015).
 * x and y (in 2D: x) are scaled from the left by 1/(h w). This commutes with the sum over cells when the left carry
 * is multiplied by rho = h_left / h_right; the product of the omitted scales is applied to the result. So a mass
 * costs 2n multiplications, and a stiffness, even-odd, n^2/2. */
#ifndef TESI_SEPARABLE_H
#define TESI_SEPARABLE_H

#include "operator/operator.h"

/* Coefficients of one cell of one axis. A record has these numbers, of the plan's precision, in this order, with
 * n = k+1, E = (n+1)/2, O = n/2:
 *   rho; even[E][E] and odd[O][O], the halves of the stiffness [output][input]; weight[E], rank[E]: see fill_record.
 * Nodes i and n-1-i share an index; the middle node comes last. */
typedef struct TesiSeparableAxis {
  int cells, nodes;
  ptrdiff_t stride; /* from one cell's record to the next: 0 when all cells share a record */
  void *records;
  double end[2]; /* added to the stiffness at the two end nodes, scaled like the axis */
  bool natural[2];
} TesiSeparableAxis;

typedef struct TesiSeparableTask {
  int first[3], last[3]; /* the cells whose lower nodes (and the mesh's last nodes) this task writes */
  void *workspace;
  void *saved; /* [k + 1] planes: x, already corrected, of the layer below and of the plane above */
} TesiSeparableTask;

/* One application: y <- A x, y <- b - A x, or, with `rounded`,
 *   x <- x + scale e (where e is given);  rounded <- factor (b - A x);  sum of a task <- |b - A x|^2 over its nodes. */
typedef struct TesiSeparableJob {
  void *x; /* written only if e is given */
  const void *b;
  void *y;
  bool stream;
  const float *e;
  double scale, factor;
  float *rounded;
  double *sums; /* [tasks] */
} TesiSeparableJob;

typedef struct TesiSeparable {
  int dim, degree;
  TesiSeparableAxis axis[3];
  void *dot;      /* [E] w l */
  void *scale[2]; /* [nodes + padding] the scale factors that x and y lack; zero at Dirichlet nodes and in the
                   * padding */
  int lanes;
  int chunk, tile[2]; /* cells: of x that are processed together; of y and x in a tile that marches in z */
  int pitch,
      rows;     /* numbers and rows of a tile, both with room for the last node, pitch a multiple of lanes */
  size_t plane; /* numbers from one buffered plane to the next */
  int task_count;
  TesiSeparableTask *tasks;
  bool corrects; /* tasks are layers of whole planes: x may be corrected in the same pass */
  void (*run)(const struct TesiSeparable *plan, int task, const TesiSeparableJob *job);
  void (*save)(const struct TesiSeparable *plan, int task, const TesiSeparableJob *job);
} TesiSeparable;

enum { TESI_SEPARABLE_SPECIALISED = 10 };

static inline int tesi_separable_record_size(int degree) {
  const int n = degree + 1, even = (n + 1) / 2, odd = n / 2;
  return 1 + even * even + odd * odd + 2 * even;
}
/* Number of planes whose y-carries a task keeps: its own planes and the planes of the layer below. */
static inline int tesi_separable_planes(const TesiSeparable *plan, const TesiSeparableTask *task) {
  return plan->dim < 3 ? 1 : (task->last[2] - task->first[2] + 1) * plan->degree + 1;
}
/* Rows of t and s kept while they wait for the rest of their cell. */
static inline int tesi_separable_window(const TesiSeparable *plan) {
  return 4 * plan->lanes + plan->degree;
}

#define TESI_SEPARABLE_RUN(type)                                                                             \
  void tesk_separable_##type(const TesiSeparable *plan, int task, const TesiSeparableJob *job);              \
  void tesk_separable_save_##type(const TesiSeparable *plan, int task, const TesiSeparableJob *job);         \
  size_t tesk_separable_workspace_##type(const TesiSeparable *plan, const TesiSeparableTask *task);
TESI_SEPARABLE_RUN(double_128)
TESI_SEPARABLE_RUN(double_256)
TESI_SEPARABLE_RUN(double_512)
TESI_SEPARABLE_RUN(float_128)
TESI_SEPARABLE_RUN(float_256)
TESI_SEPARABLE_RUN(float_512)
#undef TESI_SEPARABLE_RUN

#endif
