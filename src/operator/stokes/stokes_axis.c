/* The 1D matrices of a direction. */
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "operator/stokes/stokes_operator.h"

enum { N = TESI_MAX_POINTS };

double tesi_penalty_factor(TesPenalty penalty, int k, double below, double above) {
  return tesi_rt_penalty(penalty, k) * (1 / below + 1 / above) / 2;
}

/* Adds stiffness and mass of the cells to the rows of their nodes. */
static void add_nodes(const double *M, const double *K, TesiStokesAxis *s) {
  const TesiAxis *a = &s->nodal;
  const int p = a->degree + 1;
  for (int c = 0; c < a->cells; c++)
    for (int i = 0; i < p; i++)
      for (int j = 0; j < p; j++) {
        const int row = tesi_axis_node(a, c, i), column = tesi_axis_node(a, c, j);
        tesi_band_add(&s->stiffness, row, column, K[i * p + j] / a->h[c]);
        tesi_band_add(&s->mass, row, column, M[i * p + j] * a->h[c]);
      }
}

/* (l_q, phi_j') over a cell of width h. */
static void add_derivatives(TesiStokesAxis *s) {
  const TesiAxis *a = &s->nodal;
  const int n = a->step, p = n + 1;
  double nodes[N], points[N], weights[N], G[N * N], l[N];
  tesi_gauss_lobatto(p, nodes, NULL);
  tesi_gauss(p, points, weights);
  tesi_lagrange(p, nodes, p, points, NULL, G);
  for (int c = 0; c < a->cells; c++)
    for (int g = 0; g < p; g++) {
      tesi_rt_legendre(n, a->h[c], points[g], l, NULL);
      for (int q = 0; q < n; q++)
        for (int j = 0; j < p; j++)
          tesi_band_add(&s->derivative, c * n + q, tesi_axis_node(a, c, j), weights[g] * l[q] * G[g * p + j]);
    }
}

static void add_cell_stiffness(TesiStokesAxis *s) {
  const TesiAxis *a = &s->modal;
  const int n = a->step;
  double points[N], weights[N], l[N], d[N];
  tesi_gauss(n, points, weights);
  for (int c = 0; c < a->cells; c++)
    for (int g = 0; g < n; g++) {
      tesi_rt_legendre(n, a->h[c], points[g], l, d);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          tesi_band_add(&s->penalty, c * n + i, c * n + j, weights[g] * a->h[c] * d[i] * d[j]);
    }
}

/* One face: jump and mean derivative of the modes of the cells beside it, -1: none. */
static void add_face(const int cell[2], double gamma, TesiStokesAxis *s) {
  const int n = s->modal.step;
  const double share = cell[0] >= 0 && cell[1] >= 0 ? 0.5 : 1;
  double J[2][N], A[2][N];
  for (int side = 0; side < 2; side++) {
    if (cell[side] < 0) continue;
    tesi_rt_legendre(n, s->modal.h[cell[side]], 1 - side, J[side], A[side]);
    for (int i = 0; i < n; i++) J[side][i] *= side ? -1 : 1, A[side][i] *= share;
  }
  for (int t = 0; t < 2; t++)
    for (int u = 0; u < 2; u++)
      for (int i = 0; i < n && cell[t] >= 0 && cell[u] >= 0; i++)
        for (int j = 0; j < n; j++)
          tesi_band_add(&s->penalty, cell[t] * n + i, cell[u] * n + j,
                        gamma * J[t][i] * J[u][j] - A[t][i] * J[u][j] - J[t][i] * A[u][j]);
}

static void add_faces(TesPenalty penalty, TesiStokesAxis *s) {
  const TesiAxis *a = &s->modal;
  const int last = a->cells - 1, k = a->degree;
  for (int c = 0; c < last; c++)
    add_face((const int[]){c, c + 1}, tesi_penalty_factor(penalty, k, a->h[c], a->h[c + 1]), s);
  if (a->periodic) add_face((const int[]){last, 0}, tesi_penalty_factor(penalty, k, a->h[last], a->h[0]), s);
  if (a->end[0] == TESI_WEAK) add_face((const int[]){-1, 0}, s->boundary[0], s);
  if (a->end[1] == TESI_WEAK) add_face((const int[]){last, -1}, s->boundary[1], s);
}

/* First columns of rows. The row of a node has the columns of the cells beside it; the row of a mode has the columns
 * of its cell and, for Ld, of the neighbours. */
static TesStatus create_bands(TesContext *ctx, TesiStokesAxis *s) {
  TesStatus status = TES_OK;
  const int n = s->modal.step, nodes = s->nodal.nodes, modes = s->modal.nodes;
  TES_TRY(tesi_band_create(ctx, nodes, nodes, 2 * n + 1, &s->stiffness));
  TES_TRY(tesi_band_create(ctx, nodes, nodes, 2 * n + 1, &s->mass));
  TES_TRY(tesi_band_create(ctx, modes, modes, 3 * n, &s->penalty));
  TES_TRY(tesi_band_create(ctx, modes, nodes, n + 1, &s->derivative));
  for (int i = 0; i < nodes; i++) {
    const int first = (i / n - (i % n == 0)) * n;
    s->stiffness.first[i] = s->mass.first[i] = (first + nodes) % nodes;
  }
  for (int i = 0; i < modes; i++) {
    s->penalty.first[i] = ((i / n - 1) * n + modes) % modes;
    s->derivative.first[i] = i / n * n;
  }
done:
  return status;
}

/* Rows of known nodes are zero; their columns stay, for liftings. */
static void clear_known(TesiStokesAxis *s) {
  const TesiAxis *a = &s->nodal;
  TesiBand *const bands[] = {&s->stiffness, &s->mass, &s->transposed};
  for (int b = 0; b < 3; b++) {
    if (tesi_axis_first(a) > 0) tesi_band_clear(bands[b], 0);
    if (tesi_axis_end(a) < a->nodes) tesi_band_clear(bands[b], a->nodes - 1);
  }
}

/* Element dg has no nodes. Patches of modes recognise the ends of intervals by given nodes, so nodes are given where
 * the values of dg are given. */
static TesiAxis nodes_above(const TesiAxis *modal) {
  TesiAxis nodal = *modal;
  nodal.basis = TESI_NODES;
  nodal.degree++;
  nodal.nodes += !nodal.periodic;
  for (int end = 0; end < 2; end++) nodal.end[end] = modal->end[end] == TESI_WEAK ? TESI_STRONG : TESI_OPEN;
  return nodal;
}

TesStatus tesi_stokes_axis_fill(TesContext *ctx, TesPenalty penalty, TesiStokesAxis *s) {
  TesStatus status = TES_OK;
  const TesiAxis *a = &s->modal;
  double M[N * N], K[N * N];
  if (s->nodal.step == 0) s->nodal = nodes_above(a);
  TES_TRY(create_bands(ctx, s));
  for (int end = 0; end < 2; end++)
    s->boundary[end] = tesi_rt_boundary_penalty(penalty, a->degree, a->h[end ? a->cells - 1 : 0]);
  tesi_cell_matrices(a->step, M, K);
  add_nodes(M, K, s);
  TES_TRY(tesi_work_go_on(ctx));
  add_derivatives(s);
  TES_TRY(tesi_work_go_on(ctx));
  add_cell_stiffness(s);
  TES_TRY(tesi_work_go_on(ctx));
  add_faces(penalty, s);
  TES_TRY(tesi_work_go_on(ctx));
  TES_TRY(tesi_band_transpose(ctx, &s->derivative, 2 * a->step, &s->transposed));
  clear_known(s);
  TesiBand *const bands[] = {&s->stiffness, &s->mass, &s->penalty, &s->derivative, &s->transposed};
  for (int b = 0; b < 5; b++) tesi_band_finish(bands[b]);
done:
  return status;
}

TesStatus tesi_stokes_axis_create(const TesSpace *space, int d, TesPenalty penalty, TesiStokesAxis *s) {
  s->modal = *tesi_modal(space, d);
  if (space->element->with_pressure) s->nodal = *tesi_nodal(space, d);
  return tesi_stokes_axis_fill(space->context, penalty, s);
}

void tesi_stokes_axis_free(TesContext *ctx, TesiStokesAxis *s) {
  TesiBand *const bands[] = {&s->stiffness, &s->mass, &s->penalty, &s->derivative, &s->transposed};
  for (int b = 0; b < 5; b++) tesi_band_free(ctx, bands[b]);
}
