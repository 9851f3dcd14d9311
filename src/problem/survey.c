/* Looks at the cells: how stretched they are, and how a varies in them. */
#include "problem/survey.h"
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "operator/form.h"
#include "operator/transport/transport_operator.h"
#include "parallel/comm.h"

enum { SAMPLE = 4096, POINTS = 27 };

/* Three times as long in one direction, up to round-off: couplings differ by the square of this ratio. From this
 * ratio on, lines of cells take at most 0.85 of the time of chebyshev (`stretched` in bench/results). */
static const double STRETCHED = 8.99;
/* Condition number of the metric of a cell, scaled to a diagonal of 1: it is 3 if edges meet at 120 degrees. */
static const double SHEARED = 10;
/* Ratios: of a cell's edges, of the body to its thinnest cell, and of a in two consecutive cells. */
static const double THIN = 3, FLAT = 5, SLENDER = 500, ROUGH = 100, SLIM = 8;

/* xi[points][dim] <- the points 0.02, 0.47, 0.92 per direction. They are not symmetric, so that symmetric data have
 * no special values there. */
static int make_points(int dim, double *xi) {
  const int points = dim == 3 ? POINTS : 9;
  for (int p = 0, at = 0; p < points; p++)
    for (int d = 0, rest = p; d < dim; d++, rest /= 3) xi[at++] = 0.47 + 0.45 * (rest % 3 - 1);
  return points;
}

/* metric <- J^-1 a J^-T by cofactors, up to a common factor; a: 00 01 (02) 11 (12 22). */
static void metric_of(int dim, const double *J, const double *a, double metric[3][3]) {
  double cofactor[3][3];
  for (int d = 0; d < dim; d++)
    for (int r = 0; r < dim; r++) {
      const int k = (r + 1) % dim, l = (r + 2) % dim, e = (d + 1) % dim, f = (d + 2) % dim;
      cofactor[d][r] = dim == 2 ? (r == d ? 1 : -1) * J[k * 2 + e]
                                : J[k * 3 + e] * J[l * 3 + f] - J[k * 3 + f] * J[l * 3 + e];
    }
  for (int d = 0; d < dim; d++)
    for (int e = 0; e < dim; e++) {
      metric[d][e] = 0;
      for (int r = 0, at = 0; r < dim; r++)
        for (int c = r; c < dim; c++, at++)
          metric[d][e] += a[at] * (r == c ? cofactor[d][r] * cofactor[e][r]
                                          : cofactor[d][r] * cofactor[e][c] + cofactor[d][c] * cofactor[e][r]);
    }
}

static TesiStretch stretch_of(int dim, double metric[3][3]) {
  double g[3] = {0}, least, middle, most;
  for (int d = 0; d < dim; d++) g[d] = metric[d][d];
  most = fmax(fmax(g[0], g[1]), g[2]);
  least = dim == 3 ? fmin(fmin(g[0], g[1]), g[2]) : fmin(g[0], g[1]);
  middle = dim == 3 ? g[0] + g[1] + g[2] - most - least : least;
  return most > STRETCHED * middle  ? TESI_STRETCHED_ONE_WAY
         : most > STRETCHED * least ? TESI_STRETCHED
                                    : TESI_EVEN;
}

/* Whether two directions are far from orthogonal in the metric. A 2 x 2 block of it, scaled to 1 on the diagonal, has
 * the condition number (1 + c) / (1 - c), c its other entry. The condition number of the whole metric is at least as
 * large. */
static bool is_sheared(int dim, double metric[3][3]) {
  double most = 0;
  for (int d = 0; d < dim; d++)
    for (int e = d + 1; e < dim; e++)
      most = fmax(most, fabs(metric[d][e]) / sqrt(metric[d][d] * metric[e][e]));
  return 1 + most > SHEARED * (1 - most);
}

/* *middle <- a at the middle point. */
static TesStatus jump_of(const TesProblem *p, const TesFunction *a, int points, const double *x, double *jump,
                         double *middle) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int dim = p->mesh->dim;
  double by_axis[3][POINTS] = {{0}}, value[POINTS], least = INFINITY, most = 0;
  for (int i = 0; i < points; i++)
    for (int d = 0; d < dim; d++) by_axis[d][i] = x[i * dim + d];
  TES_TRY(tes_function_evaluate(a, points, by_axis[0], by_axis[1], by_axis[2], 0, value));
  for (int i = 0; i < points; i++) least = fmin(least, value[i]), most = fmax(most, value[i]);
  if (least > 0) *jump = fmax(*jump, most / least);
  *middle = value[points / 2];
done:
  return status;
}

static bool varies(const TesFunction *a) {
  return a && !tes_function_constant(a, NULL);
}

static bool data_vary(const TesProblem *p) {
  const int materials = tes_mesh_materials(p->mesh);
  for (int t = 0; t < p->form.all.terms; t++) {
    const TesTermDesc *term = &p->form.term[t];
    if (term->term != TES_TERM_DIFFUSION) continue;
    if (varies(term->a.all)) return true;
    for (int i = 0; term->a.material && i < materials; i++)
      if (varies(term->a.material[i])) return true;
  }
  return false;
}

/* The diffusion coefficients of the form in a cell, which are positive, as operators have checked. matrix <- the
 * coefficient at the middle point, if it is a matrix. */
static TesStatus look_at_data(const TesProblem *p, int64_t cell, int points, const double *x, double *jump,
                              double *middle, double matrix[6]) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int material = tes_mesh_material(p->mesh, cell);
  for (int t = 0; t < p->form.all.terms; t++) {
    const TesTermDesc *term = &p->form.term[t];
    const TesFunction *a = term->a.all;
    if (term->term != TES_TERM_DIFFUSION) continue;
    if (term->a.material && material >= 0 && term->a.material[material]) a = term->a.material[material];
    if (varies(a)) TES_TRY(jump_of(p, a, points, x, jump, middle));
    if (!tesi_function_is_matrix(a)) continue;
    double at[3] = {0};
    for (int d = 0; d < p->mesh->dim; d++) at[d] = x[points / 2 * p->mesh->dim + d];
    tesi_function_entries(a, p->mesh->dim, 1, &at[0], &at[1], &at[2], 0, matrix);
  }
done:
  return status;
}

/* Extents of the cells seen so far. */
typedef struct Shape {
  double lower[3], upper[3]; /* of their bounding boxes */
  double width[3];           /* of the bounding boxes; sums */
  double thinnest;           /* edge */
  double thin, flat;         /* cells that are */
} Shape;

static void look_at_shape(int dim, const double *x, const double *J, Shape *shape) {
  double least = INFINITY, most = 0;
  for (int d = 0; d < dim; d++) {
    double square = 0;
    for (int r = 0; r < dim; r++) square += J[r * dim + d] * J[r * dim + d];
    least = fmin(least, sqrt(square)), most = fmax(most, sqrt(square));
    double width = 0;
    for (int c = 0; c < dim; c++) width += fabs(J[d * dim + c]);
    shape->width[d] += width;
    shape->lower[d] = fmin(shape->lower[d], x[d] - width / 2);
    shape->upper[d] = fmax(shape->upper[d], x[d] + width / 2);
  }
  shape->thin += most > THIN * least;
  shape->flat += most > FLAT * least;
  shape->thinnest = fmin(shape->thinnest, least);
}

/* How many times as many nodes per direction the body has as the boxes round its cells tell: boxes round the cells of
 * split tetrahedra are wider than the cells, which lie in all directions. Bodies that fill a part of their own box have
 * fewer nodes: 1. */
static double finer(const TesSpace *space, double nodes, const double along[3]) {
  double low = 1, high = 8;
  for (int i = 0; i < 30; i++) {
    const double middle = (low + high) / 2;
    double all = 1;
    for (int d = 0; d < space->dim; d++) all *= 1 + middle * along[d];
    *(all < nodes ? &low : &high) = middle;
  }
  return low;
}

/* Nested dissection cuts a body of `along` nodes in its longest direction, and `across` in the next one, by sections
 * of s = unknowns / along nodes. The cuts of a part as long as wide take 20 s^3 flops; there are along / across such
 * parts. MUMPS takes 0.7 to 1.2 times as many flops for beams, sheets and cubes of 2e4 to 1e5 unknowns, at most 1.5
 * times unknowns times s entries, in 2D 6 log2(unknowns) entries an unknown, and in plates 1.5 to 2.7 log2(columns)
 * entries an unknown and an unknown of its column. */
static void predict_factors(const TesSpace *space, double cells, const double extent[3], const Shape *shape,
                            TesiSurvey *survey) {
  const double unknowns = (double)space->all_dofs;
  double along = 1, across = 1, nodes[3] = {0};
  for (int d = 0; d < space->dim; d++) nodes[d] = space->degree * extent[d] * cells / shape->width[d];
  const double more = finer(space, unknowns / space->scalars, nodes);
  for (int d = 0; d < space->dim; d++) {
    const double n = 1 + more * nodes[d];
    across = fmax(across, fmin(along, n)), along = fmax(along, n);
  }
  const double section = unknowns / along;
  survey->factor_flops = 20 * pow(section, 3) * along / across;
  const double columns = along * across,
               flat = space->dim == 2 ? 9 * log2(unknowns) : 2 * unknowns / columns * log2(columns);
  survey->factor_bytes = 2 * 8 * unknowns * fmin(1.5 * section, flat);
}

static void judge_shape(TesContext *ctx, const TesSpace *space, double cells, Shape *shape,
                        TesiSurvey *survey) {
  const int dim = space->dim;
  double longest = 0, shortest = INFINITY, extent[3] = {0};
  for (int d = 0; d < 3; d++) shape->lower[d] = -shape->lower[d];
  shape->thinnest = -shape->thinnest;
  tesi_reduce(ctx, TESI_MAXIMUM, 3, shape->lower);
  tesi_reduce(ctx, TESI_MAXIMUM, 3, shape->upper);
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &shape->thinnest);
  tesi_reduce(ctx, TESI_SUM, 1, &shape->thin);
  tesi_reduce(ctx, TESI_SUM, 1, &shape->flat);
  tesi_reduce(ctx, TESI_SUM, 3, shape->width);
  for (int d = 0; d < dim; d++) {
    extent[d] = shape->upper[d] + shape->lower[d];
    longest = fmax(longest, extent[d]), shortest = fmin(shortest, extent[d]);
  }
  survey->thin = 10 * shape->thin > cells;
  survey->slender = 10 * shape->flat > cells || longest > -shape->thinnest * SLENDER;
  survey->slim = longest > SLIM * shortest;
  predict_factors(space, cells, extent, shape, survey);
}

/* Points and Jacobians of a cell. For a box they come from its coordinates, so that it needs no geometry. */
static TesStatus place(const TesMesh *mesh, int64_t cell, int points, const double *xi, double *x, double *J) {
  const int dim = mesh->dim;
  if (mesh->kind != TES_MESH_BOX) return tes_mesh_evaluate(mesh, cell, points, xi, x, J);
  const TesMeshInfo info = tes_mesh_info(mesh);
  int64_t rest = cell;
  memset(J, 0, (size_t)(points * dim * dim) * sizeof *J);
  for (int d = 0; d < dim; d++) {
    const double *at = info.coordinates[d] + rest % info.cells_along[d];
    rest /= info.cells_along[d];
    for (int p = 0; p < points; p++) {
      x[p * dim + d] = at[0] + xi[p * dim + d] * (at[1] - at[0]);
      J[p * dim * dim + d * (dim + 1)] = at[1] - at[0];
    }
  }
  return TES_OK;
}

TesStatus tesi_survey(const TesProblem *p, TesiSurvey *survey) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int dim = p->mesh->dim;
  const int64_t cells = p->mesh->cells, stride = 1 + (cells - 1) / SAMPLE;
  double xi[3 * POINTS], x[3 * POINTS], J[9 * POINTS];
  const bool vary = data_vary(p); /* otherwise the middle of a cell is enough */
  const int most = make_points(dim, xi), points = vary ? most : 1;
  const double *at = vary ? xi : xi + most / 2 * dim;
  double of[3] = {0};
  const bool matrices = tesi_form_has_matrix(&p->form.all, tes_mesh_materials(p->mesh)),
             box = p->mesh->kind == TES_MESH_BOX && !matrices;
  *survey = (TesiSurvey){.jump = 1, .matrices = matrices};
  const bool even = box && !vary && !p->equation->couples;
  if (!tesi_transport_of(p->op) && (p->equation->flow || even)) return TES_OK;
  double rough = 0, sheared = 0, before = NAN;
  Shape shape = {.lower = {INFINITY, INFINITY, INFINITY},
                 .upper = {-INFINITY, -INFINITY, -INFINITY},
                 .thinnest = INFINITY};
  for (int64_t c = 0; c < cells; c += stride) {
    double middle = NAN;
    double matrix[6] = {1, 0, dim == 2, dim == 3, 0, dim == 3}; /* the identity */
    TES_TRY(place(p->mesh, c, points, at, x, J));
    if (vary) TES_TRY(look_at_data(p, c, points, x, &survey->jump, &middle, matrix));
    double metric[3][3];
    metric_of(dim, J + points / 2 * dim * dim, matrix, metric);
    of[stretch_of(dim, metric)]++;
    sheared += is_sheared(dim, metric);
    look_at_shape(dim, x + points / 2 * dim, J + points / 2 * dim * dim, &shape);
    rough += fmax(middle / before, before / middle) > ROUGH;
    before = middle;
  }
  tesi_reduce(ctx, TESI_SUM, 3, of);
  tesi_reduce(ctx, TESI_SUM, 1, &rough);
  tesi_reduce(ctx, TESI_SUM, 1, &sheared);
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &survey->jump);
  const double all = of[0] + of[1] + of[2];
  judge_shape(ctx, p->space, all, &shape, survey);
  survey->sheared = 10 * sheared > all;
  survey->rough = 20 * rough > all && stride == 1;
  if (!box && 100 * (of[TESI_STRETCHED] + of[TESI_STRETCHED_ONE_WAY]) > all)
    survey->stretch =
        2 * of[TESI_STRETCHED] > of[TESI_STRETCHED_ONE_WAY] ? TESI_STRETCHED : TESI_STRETCHED_ONE_WAY;
done:
  return status;
}
