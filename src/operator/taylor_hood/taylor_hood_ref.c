/* Plain versions from the definition: see taylor_hood.h. */
#include <math.h>
#include <string.h>
#include "functional/functional_ref.h"
#include "operator/taylor_hood/taylor_hood.h"

/* Values at a point from the values at the nodes of its cell. */
static double sum_of(int nodes, const double *basis, const double *local) {
  double sum = 0;
  for (int i = 0; i < nodes; i++) sum += basis[i] * local[i];
  return sum;
}

/* local[components][nodes] of a cell, and adding it to the nodes. */
static void read_cell(const TesiPlain *s, int64_t cell, int components, const double *u,
                      double local[3][TESI_PLAIN_NODES]) {
  for (int c = 0; c < components; c++) tesi_cells_read(s->view, cell, u + c * s->view->length, local[c]);
}

static void add_cell(const TesiPlain *s, int64_t cell, int components, double local[3][TESI_PLAIN_NODES],
                     double *b) {
  for (int c = 0; c < components; c++) {
    tesi_hanging_write(s->dim, s->n, s->view->halves, s->view->mask[cell], local[c]);
    for (int i = 0; i < s->nodes; i++)
      b[c * s->view->length + tesi_cells_node(s->view->index[cell * s->view->cell_nodes + i])] += local[c][i];
  }
}

/* Both spaces at the same points. `to_pressure`: the divergence of `in`, else the gradient. */
static TesStatus couple(const TesiTaylorHood *m, bool to_pressure, const double *in, double *b) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TesiPlain v, p;
  TesiPlainPoint at_v, at_p;
  TES_TRY(tesi_plain_init(m->velocity, m->velocity->degree + 1, &v));
  TES_TRY(tesi_plain_init(m->pressure, m->velocity->degree + 1, &p));
  memset(b, 0, (size_t)(to_pressure ? p.view->length : m->dim * v.view->length) * sizeof *b);
  for (int64_t cell = 0; cell < v.cells; cell++) {
    double local[3][TESI_PLAIN_NODES], sums[3][TESI_PLAIN_NODES] = {{0}};
    read_cell(to_pressure ? &v : &p, cell, to_pressure ? m->dim : 1, in, local);
    for (int i = 0; i < v.points; i++) {
      TES_TRY(tesi_plain_point(&v, cell, -1, i, &at_v));
      TES_TRY(tesi_plain_point(&p, cell, -1, i, &at_p));
      double value = to_pressure ? 0 : sum_of(p.nodes, at_p.phi, local[0]);
      for (int c = 0; to_pressure && c < m->dim; c++) value += sum_of(v.nodes, at_v.slope[c], local[c]);
      for (int k = 0; to_pressure && k < p.nodes; k++) sums[0][k] += at_p.weight * value * at_p.phi[k];
      for (int c = 0; !to_pressure && c < m->dim; c++)
        for (int k = 0; k < v.nodes; k++) sums[c][k] += at_v.weight * value * at_v.slope[c][k];
    }
    add_cell(to_pressure ? &p : &v, cell, to_pressure ? 1 : m->dim, sums, b);
  }
done:
  return status;
}

TesStatus tesi_taylor_hood_divergence_ref(const TesiTaylorHood *m, const double *u, double *b) {
  return couple(m, true, u, b);
}

TesStatus tesi_taylor_hood_gradient_ref(const TesiTaylorHood *m, const double *p, double *b) {
  return couple(m, false, p, b);
}

/* A velocity at a point of a cell: u, and slope[c][d] = d u_c / d x_d. To be set: what is integrated with the
 * functions of component c, value[c], and with d / d x_c of them, flux. */
typedef struct Here {
  int dim;
  int64_t cell;
  const TesiPlainPoint *at;
  double u[3], slope[3][3], value[3], flux;
} Here;

/* b (NULL: none) <- the integrals of what `visit` sets at q points per direction. */
static TesStatus visit_points(const TesiTaylorHood *m, int q, const double *u, double *b,
                              void (*visit)(void *user, Here *here), void *user) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TesiPlain v;
  TesiPlainPoint at;
  TES_TRY(tesi_plain_init(m->velocity, q, &v));
  if (b) memset(b, 0, (size_t)(m->dim * v.view->length) * sizeof *b);
  for (int64_t cell = 0; cell < v.cells; cell++) {
    double local[3][TESI_PLAIN_NODES], sums[3][TESI_PLAIN_NODES] = {{0}};
    read_cell(&v, cell, m->dim, u, local);
    for (int i = 0; i < v.points; i++) {
      Here here = {.dim = m->dim, .cell = cell, .at = &at};
      TES_TRY(tesi_plain_point(&v, cell, -1, i, &at));
      for (int c = 0; c < m->dim; c++) {
        here.u[c] = sum_of(v.nodes, at.phi, local[c]);
        for (int d = 0; d < m->dim; d++) here.slope[c][d] = sum_of(v.nodes, at.slope[d], local[c]);
      }
      visit(user, &here);
      for (int c = 0; c < m->dim; c++)
        for (int k = 0; k < v.nodes; k++)
          sums[c][k] += at.weight * (here.value[c] * at.phi[k] + here.flux * at.slope[c][k]);
    }
    if (b) add_cell(&v, cell, m->dim, sums, b);
  }
done:
  return status;
}

/* The largest velocity along a reference axis; the largest over the square of a cell's length, of each cell. */
typedef struct Reach {
  double rate, most, *cells;
} Reach;

static void find_reach(void *user, Here *here) {
  Reach *reach = user;
  for (int e = 0; e < here->dim; e++) {
    double along = 0, square = 0;
    for (int c = 0; c < here->dim; c++) {
      along += here->at->inverse[e][c] * here->u[c];
      square += here->at->inverse[e][c] * here->at->inverse[e][c];
    }
    reach->rate = fmax(reach->rate, fabs(along));
    reach->most = fmax(reach->most, fabs(along) / square);
    if (reach->cells) reach->cells[here->cell] = fmax(reach->cells[here->cell], fabs(along) / square);
  }
}

TesStatus tesi_taylor_hood_reach_ref(const TesiTaylorHood *m, const double *u, double *most, double *cells) {
  Reach reach = {.cells = cells};
  for (int64_t c = 0; cells && c < m->velocity->mesh->cells; c++) cells[c] = 0;
  const TesStatus status = visit_points(m, m->over->q, u, NULL, find_reach, &reach);
  *most = reach.most;
  return status;
}

static void convect(void *user, Here *here) {
  (void)user;
  for (int c = 0; c < here->dim; c++)
    for (int d = 0; d < here->dim; d++) here->value[c] += here->u[d] * here->slope[c][d];
}

/* By 3k/2 + 2 points per direction on all cells; the rate at the points of the fast version. */
TesStatus tesi_taylor_hood_convection_ref(const TesiTaylorHood *m, const double *u, double *b, double *rate) {
  Reach reach = {0};
  TesStatus status = visit_points(m, m->over->q, u, NULL, find_reach, &reach);
  if (status == TES_OK) status = visit_points(m, 3 * m->velocity->degree / 2 + 2, u, b, convect, NULL);
  *rate = reach.rate;
  return status;
}

static void find_divergence(void *user, Here *here) {
  const double *gamma = user;
  for (int c = 0; c < here->dim; c++) here->flux += gamma[here->cell] * here->slope[c][c];
}

TesStatus tesi_taylor_hood_grad_div_ref(const TesiTaylorHood *m, const double *gamma, const double *u,
                                        double *b) {
  return visit_points(m, m->velocity->degree + 1, u, b, find_divergence, (void *)gamma);
}

/* The factor of the test function at a point of a boundary. */
static TesStatus boundary_point(const TesiTaylorHood *m, const TesFunction *const *g,
                                const TesiPlainPoint *at, const double u[3], double value[3]) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  double out = 0, of[4] = {0};
  for (int c = 0; c < m->dim; c++) out += u[c] * at->normal[c];
  for (int c = 0; g && c <= m->dim; c++)
    if (g[c]) TES_TRY(tesi_boundary_values(g[c], 1, at->x, at->normal, &of[c]));
  for (int c = 0; c < m->dim; c++)
    value[c] = g ? of[c] - of[m->dim] * at->normal[c] : -0.5 * fmin(out, 0) * u[c];
done:
  return status;
}

TesStatus tesi_taylor_hood_boundary_ref(const TesiTaylorHood *m, int boundary, const TesFunction *const *g,
                                        const double *u, double *b) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TesiPlain v;
  TesiPlainPoint at;
  TES_TRY(tesi_plain_init(m->velocity, m->over->q, &v));
  for (int64_t cell = 0; cell < v.cells; cell++)
    for (int face = 0, name; face < 2 * m->dim; face++) {
      double local[3][TESI_PLAIN_NODES], sums[3][TESI_PLAIN_NODES] = {{0}};
      if (!tes_mesh_on_boundary(m->velocity->mesh, cell, face, &name) || name != boundary) continue;
      read_cell(&v, cell, m->dim, u, local);
      for (int i = 0; i < v.points / v.q; i++) {
        double here[3] = {0}, value[3];
        TES_TRY(tesi_plain_point(&v, cell, face, i, &at));
        for (int c = 0; c < m->dim; c++) here[c] = sum_of(v.nodes, at.phi, local[c]);
        TES_TRY(boundary_point(m, g, &at, here, value));
        for (int c = 0; c < m->dim; c++)
          for (int k = 0; k < v.nodes; k++) sums[c][k] += at.weight * value[c] * at.phi[k];
      }
      add_cell(&v, cell, m->dim, sums, b);
    }
done:
  return status;
}
