/* Run: ctest -R t4_mapped_kernels. The kernels of mapped cells against sums over all points and nodes from the
 * definition (no sum factorization): all degrees, kinds of points, geometries, outputs, components and precisions;
 * on the emulator with the threads in several orders, and on a GPU where there is one. Outputs are poisoned
 * beforehand. Brief: all, of the degrees named, on few cells.
 * Timeout: 600
 * Quick: 1-3,6
 * Labels: heavy */
#include <string.h>
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "device/device.h"
#include "device/emulator/fiber.h"
#include "kernel_testing.h"
#include "operator/mapped/device/mapped_kernel.h"

enum { MOST = 18 };

typedef struct Case {
  int dim, degree, q, components, cells;
  bool collocated, mass, stiffness, ordered;
  TesPrecision precision, factors;
  TesiMappedGeometry geometry;
  TesiMappedOutput output;
} Case;

typedef struct Data {
  Case c;
  int n, corners, s;
  int64_t cell_nodes, cell_points, nodes, length;
  double point[MOST], weight[MOST], I[MOST * MOST], G[MOST * MOST], D[MOST * MOST], lambda;
  double *vertices, *geometry, *x, *y, *shape; /* shape: of a point, four numbers per node */
  int32_t *index, *order;
  int64_t geometry_size;
} Data;

static int64_t power(int64_t base, int exponent) {
  return exponent ? base * power(base, exponent - 1) : 1;
}

/* ---- from the definition ------------------------------------------------------------------------------- */
/* Jacobian J[r][c] = d x_r / d xi_c of the multilinear cell, by differences of its shape functions. */
static void jacobian(const Data *d, const double *vertices, const double *xi, double J[3][3]) {
  memset(J, 0, 9 * sizeof(double));
  for (int v = 0; v < d->corners; v++)
    for (int c = 0; c < d->c.dim; c++) {
      double shape = 1;
      for (int e = 0; e < d->c.dim; e++) {
        const bool upper = v >> e & 1;
        shape *= e == c ? (upper ? 1 : -1) : (upper ? xi[e] : 1 - xi[e]);
      }
      for (int r = 0; r < d->c.dim; r++) J[r][c] += shape * vertices[v * d->c.dim + r];
    }
  if (d->c.dim == 2) J[2][2] = 1;
}

/* inverse[c][r] = d xi_c / d x_r */
static double invert(double J[3][3], double inverse[3][3]) {
  double det = 0;
  for (int i = 0; i < 3; i++)
    det += J[0][i] * (J[1][(i + 1) % 3] * J[2][(i + 2) % 3] - J[1][(i + 2) % 3] * J[2][(i + 1) % 3]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      inverse[i][j] = (J[(j + 1) % 3][(i + 1) % 3] * J[(j + 2) % 3][(i + 2) % 3] -
                       J[(j + 1) % 3][(i + 2) % 3] * J[(j + 2) % 3][(i + 1) % 3]) /
                      det;
  return det;
}

/* Value and reference gradient of shape function `node` at the point. */
static void shape(const Data *d, const int *p, int64_t node, double out[4]) {
  out[0] = out[1] = out[2] = out[3] = 1;
  for (int e = 0; e < d->c.dim; e++, node /= d->n) {
    const int64_t at = p[e] * d->n + node % d->n;
    for (int f = 0; f < 4; f++) out[f] *= f == e + 1 ? d->G[at] : d->I[at];
  }
  if (d->c.dim == 2) out[3] = 0;
}

static double value_of(const Data *d, int cell, int component, int64_t node, int64_t *at) {
  if (d->c.output == TESI_MAPPED_ELEMENT) {
    *at = ((int64_t)cell * d->c.components + component) * d->cell_nodes + node;
    return d->x[*at];
  }
  const int32_t i = d->index[cell * d->cell_nodes + node];
  *at = i < 0 ? -1 : (int64_t)i * d->c.components + component;
  return i < 0 ? 0 : d->x[*at];
}

/* y += the part of one point of a cell; with it the factors of the kernels. */
static void add_point(Data *d, int cell, int64_t point) {
  int p[3];
  double xi[3] = {0}, weight = 1, J[3][3], inverse[3][3], G[3][3];
  for (int e = 0, rest = (int)point; e < d->c.dim; e++, rest /= d->c.q) {
    p[e] = rest % d->c.q;
    xi[e] = d->point[p[e]];
    weight *= d->weight[p[e]];
  }
  jacobian(d, d->vertices + (int64_t)cell * d->corners * d->c.dim, xi, J);
  const double det = invert(J, inverse), mass = d->c.mass ? weight * det : 0;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      G[a][b] = 0;
      for (int r = 0; r < 3 && d->c.stiffness; r++) G[a][b] += weight * det * inverse[a][r] * inverse[b][r];
    }
  int s = 0;
  for (int a = 0; a < d->c.dim && d->c.stiffness; a++)
    for (int b = a; b < d->c.dim; b++, s++) {
      if (d->c.geometry == TESI_MAPPED_STORED)
        d->geometry[((int64_t)cell * d->s + s) * d->cell_points + point] = G[a][b];
      if (d->c.geometry == TESI_MAPPED_AFFINE) d->geometry[(int64_t)cell * d->s + s] = G[a][b] / weight;
    }
  if (d->c.geometry == TESI_MAPPED_WEIGHTS) {
    double *to = d->geometry + cell * (d->geometry_size / d->c.cells) + point;
    *to = weight / det;
    if (d->c.mass) to[d->cell_points] = mass;
  }
  if (d->c.mass && d->c.geometry == TESI_MAPPED_STORED)
    d->geometry[((int64_t)cell * d->s + s) * d->cell_points + point] = mass;
  if (d->c.mass && d->c.geometry == TESI_MAPPED_AFFINE) d->geometry[(int64_t)cell * d->s + s] = det;
  for (int64_t node = 0; node < d->cell_nodes; node++) shape(d, p, node, d->shape + 4 * node);
  for (int component = 0; component < d->c.components; component++) {
    double u[4] = {0}, w[4];
    int64_t at;
    for (int64_t node = 0; node < d->cell_nodes; node++) {
      const double v = value_of(d, cell, component, node, &at), *f = d->shape + 4 * node;
      for (int e = 0; e < 4; e++) u[e] += f[e] * v;
    }
    w[0] = d->lambda * mass * u[0];
    for (int a = 0; a < 3; a++) w[a + 1] = G[a][0] * u[1] + G[a][1] * u[2] + G[a][2] * u[3];
    for (int64_t node = 0; node < d->cell_nodes; node++) {
      const double *f = d->shape + 4 * node;
      value_of(d, cell, component, node, &at);
      if (at >= 0) d->y[at] += f[0] * w[0] + f[1] * w[1] + f[2] * w[2] + f[3] * w[3];
    }
  }
}

/* ---- a random problem ---------------------------------------------------------------------------------- */
/* Nodes of a cell are distinct, cells share many, some are constrained; numbering is arbitrary. */
static void make_index(Data *d, uint64_t *seed) {
  for (int cell = 0; cell < d->c.cells; cell++) {
    const int64_t start = (int64_t)((test_random(seed) + 1) * 0.5 * (double)d->nodes), step = 7;
    for (int64_t node = 0; node < d->cell_nodes; node++) {
      const int32_t i = (int32_t)((start + node * step) % d->nodes);
      d->index[cell * d->cell_nodes + node] = i % 5 == 3 ? ~i : i;
    }
  }
}

static void make_vertices(Data *d, uint64_t *seed) {
  for (int cell = 0; cell < d->c.cells; cell++) {
    double shear[3][3];
    for (int i = 0; i < 9; i++) shear[i / 3][i % 3] = (i % 4 == 0 ? 1 : 0) + 0.15 * test_random(seed);
    for (int v = 0; v < d->corners; v++)
      for (int r = 0; r < d->c.dim; r++) {
        double at = 0.3 * cell;
        for (int e = 0; e < d->c.dim; e++) at += shear[r][e] * (v >> e & 1);
        if (d->c.geometry != TESI_MAPPED_AFFINE) at += 0.1 * test_random(seed);
        d->vertices[((int64_t)cell * d->corners + v) * d->c.dim + r] = at;
      }
  }
}

/* Behind the weights: the coefficient of each product of coordinates, from the vertices in it by inclusion and
 * exclusion. */
static void add_monomials(Data *d, int cell) {
  const int dim = d->c.dim;
  const double *vertices = d->vertices + (int64_t)cell * d->corners * dim;
  double *to = d->geometry + (cell + 1) * (d->geometry_size / d->c.cells) - (d->corners - 1) * dim;
  for (int set = 1; set < d->corners; set++)
    for (int r = 0; r < dim; r++) {
      double sum = 0;
      for (int v = 0; v < d->corners; v++)
        if ((v & ~set) == 0)
          sum += (__builtin_popcount((unsigned)(set ^ v)) % 2 ? -1 : 1) * vertices[v * dim + r];
      to[(set - 1) * dim + r] = sum;
    }
}

static void make_data(Data *d, const Case *c) {
  uint64_t seed = (uint64_t)(c->degree + 40 * c->q + c->geometry);
  double node[MOST];
  memset(d, 0, sizeof *d);
  d->c = *c;
  d->n = c->degree + 1;
  d->corners = 1 << c->dim;
  d->s = (c->stiffness ? c->dim * (c->dim + 1) / 2 : 0) + c->mass;
  d->lambda = 1.3;
  d->cell_nodes = power(d->n, c->dim);
  d->cell_points = power(c->q, c->dim);
  d->nodes = d->cell_nodes * 3 / 2 + 8;
  while (d->nodes % 7 == 0) d->nodes++;
  d->length = c->components * (c->output == TESI_MAPPED_ELEMENT ? c->cells * d->cell_nodes : d->nodes);
  tesi_gauss_lobatto(d->n, node, d->weight);
  memcpy(d->point, node, sizeof node);
  if (!c->collocated) tesi_gauss(c->q, d->point, d->weight);
  tesi_lagrange(d->n, node, c->q, d->point, d->I, d->G);
  tesi_lagrange(c->q, d->point, c->q, d->point, NULL, d->D);
  d->geometry_size = c->cells * (c->geometry == TESI_MAPPED_STORED     ? d->s * d->cell_points
                                 : c->geometry == TESI_MAPPED_VERTICES ? d->corners * c->dim
                                 : c->geometry == TESI_MAPPED_WEIGHTS
                                     ? (1 + c->mass) * d->cell_points + (d->corners - 1) * c->dim
                                     : d->s);
  d->vertices = test_malloc((size_t)(c->cells * d->corners * c->dim) * sizeof(double));
  d->geometry = test_malloc((size_t)d->geometry_size * sizeof(double));
  d->index = test_malloc((size_t)(c->cells * d->cell_nodes) * sizeof(int32_t));
  d->order = test_malloc((size_t)c->cells * sizeof(int32_t));
  d->x = test_malloc((size_t)d->length * sizeof(double));
  d->shape = test_malloc((size_t)d->cell_nodes * 4 * sizeof(double));
  d->y = test_calloc((size_t)d->length, sizeof(double));
  make_vertices(d, &seed);
  make_index(d, &seed);
  for (int64_t i = 0; i < d->length; i++) d->x[i] = (double)(float)test_random(&seed);
  for (int i = 0; i < c->cells; i++) d->order[i] = (i * 3 + 1) % c->cells; /* cells: no multiple of 3 */
  for (int cell = 0; cell < c->cells; cell++)
    for (int64_t point = 0; point < d->cell_points; point++) add_point(d, cell, point);
  for (int cell = 0; c->geometry == TESI_MAPPED_WEIGHTS && cell < c->cells; cell++) add_monomials(d, cell);
  if (c->geometry == TESI_MAPPED_VERTICES && c->dim == 2)
    memcpy(d->geometry, d->vertices, (size_t)d->geometry_size * sizeof(double));
  for (int i = 0; c->geometry == TESI_MAPPED_VERTICES && c->dim == 3 && i < c->cells; i++)
    tesi_mapped_trilinear(d->vertices + 24 * i, d->geometry + 21 * i);
  for (int64_t i = 0; i < c->cells * d->cell_nodes && c->output != TESI_MAPPED_ELEMENT; i++)
    for (int e = 0; e < c->components && d->index[i] < 0; e++)
      d->y[(int64_t)~d->index[i] * c->components + e] = d->x[(int64_t)~d->index[i] * c->components + e];
}

static void free_data(Data *d) {
  test_free(d->vertices);
  test_free(d->geometry);
  test_free(d->index);
  test_free(d->order);
  test_free(d->x);
  test_free(d->y);
  test_free(d->shape);
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */
/* `more` bytes behind the numbers may be read. */
static void *upload(TesContext *ctx, const double *values, int64_t n, TesPrecision precision, size_t more) {
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t size = tesi_precision_size(precision);
  float *single = test_malloc((size_t)n * sizeof *single);
  void *address;
  for (int64_t i = 0; i < n; i++) single[i] = (float)values[i];
  assert_int_equal(device->allocate(ctx, (size_t)n * size + more, &address), TES_OK);
  assert_int_equal(device->to_device(ctx, address, precision == TES_SINGLE ? (const void *)single : values,
                                     (size_t)n * size),
                   TES_OK);
  test_free(single);
  return address;
}

static void *upload_integers(TesContext *ctx, const int32_t *values, int64_t n) {
  const TesiDevice *device = tesi_context_device(ctx);
  void *address;
  assert_int_equal(device->allocate(ctx, (size_t)n * sizeof *values, &address), TES_OK);
  assert_int_equal(device->to_device(ctx, address, values, (size_t)n * sizeof *values), TES_OK);
  return address;
}

static void run_kernel(TesContext *ctx, const Data *d, void *x, void *y, void *geometry) {
  const TesiDevice *device = tesi_context_device(ctx);
  const Case *c = &d->c;
  TesiMappedKernel kernel;
  const TesiMappedKernelDesc desc = {.dim = c->dim,
                                     .n = d->n,
                                     .q = c->q,
                                     .components = c->components,
                                     .collocated = c->collocated,
                                     .mass = c->mass,
                                     .stiffness = c->stiffness,
                                     .precision = c->precision,
                                     .factors = c->factors,
                                     .geometry = c->geometry,
                                     .cell_degree = 1,
                                     .output = c->output,
                                     .ordered = c->ordered || c->output == TESI_MAPPED_COLOURED,
                                     .point = d->point,
                                     .weight = d->weight,
                                     .I = d->I,
                                     .D = d->D};
  if (tesi_mapped_kernel_make(ctx, &desc, &kernel) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  void *index = upload_integers(ctx, d->index, c->cells * d->cell_nodes),
       *order = upload_integers(ctx, d->order, c->cells);
  TeskMapped a = kernel.arguments;
  a.geometry = geometry;
  a.index = index;
  a.mass = d->lambda;
  a.cells = c->output == TESI_MAPPED_COLOURED ? 1 : c->cells; /* a colour of one cell: no two share a node */
  for (int i = 0; i < c->cells; i += (int)a.cells) {
    a.order = desc.ordered ? (const int *)order + i : NULL;
    if (tesi_mapped_kernel_run(ctx, &kernel, &a, x, y) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  }
  assert_int_equal(device->synchronize(ctx), TES_OK);
  device->release(ctx, &index);
  device->release(ctx, &order);
}

static void compare(const Data *d, const void *values, const char *device) {
  const Case *c = &d->c;
  double largest = 0, error = 0;
  const double tolerance = c->precision == TES_SINGLE ? 4e-6 : c->factors == TES_SINGLE ? 1e-6 : 1e-12;
  for (int64_t i = 0; i < d->length; i++) {
    const double v = c->precision == TES_SINGLE ? ((const float *)values)[i] : ((const double *)values)[i];
    largest = test_larger(largest, fabs(d->y[i]));
    error = test_larger(error, fabs(v - d->y[i]));
  }
  if (!(error <= tolerance * largest))
    fail_msg(
        "%s: %dD degree %d, q %d, %d components, mass %d, stiffness %d, precision %d, factors %d, geometry "
        "%d, output %d: error %.3g of %.3g",
        device, c->dim, c->degree, c->q, c->components, c->mass, c->stiffness, c->precision, c->factors,
        c->geometry, c->output, error, largest);
}

static void run_case(TesContext *ctx, const char *name, const Case *c) {
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t size = tesi_precision_size(c->precision);
  Data d;
  make_data(&d, c);
  double *y = test_malloc((size_t)d.length * sizeof *y);
  for (int64_t i = 0; i < d.length; i++) y[i] = NAN;
  void *dx = upload(ctx, d.x, d.length, c->precision, 0), *dy = upload(ctx, y, d.length, c->precision, 0),
       *dg = upload(ctx, d.geometry, d.geometry_size,
                    c->geometry == TESI_MAPPED_STORED ? c->factors : c->precision, 16);
  if (c->output != TESI_MAPPED_ELEMENT)
    assert_int_equal(device->fill(ctx, c->precision, d.length, 0, dy), TES_OK);
  /* nodes of no cell stay zero; element vectors keep their poison where nothing is written */
  run_kernel(ctx, &d, dx, dy, dg);
  assert_int_equal(device->to_host(ctx, y, dy, (size_t)d.length * size), TES_OK);
  compare(&d, y, name);
  device->release(ctx, &dx);
  device->release(ctx, &dy);
  device->release(ctx, &dg);
  test_free(y);
  free_data(&d);
}

static void on_devices(const Case *cases, int count) {
  static const char *const devices[] = {"emulator", "cuda"};
  for (int device = 0; device < 2; device++) {
    TesContext *ctx = test_device(devices[device]);
    if (!ctx) continue;
    for (int i = 0; i < count; i++) {
      if (!test_degree(cases[i].degree)) continue;
      tesi_fiber_order((TesiOrder)(i % 3), (uint64_t)i);
      run_case(ctx, devices[device], &cases[i]);
    }
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    tes_context_destroy(&ctx);
  }
}

/* BP1, BP3, BP5 with mass or without, of every degree. */
static void every_degree(void **state) {
  (void)state;
  enum { DEGREES = 15 };
  for (int degree = 1; degree <= DEGREES; degree++)
    if (test_degree(degree)) {
      const int cells = degree < 4 ? 35 : degree < 8 ? 5 : 2, few = degree < 6 ? 4 : 1;
      const Case cases[] = {
          {.dim = 3, .degree = degree, .q = degree + 2, .components = 1, .cells = cells, .mass = true},
          {.dim = 3,
           .degree = degree,
           .q = degree + 2,
           .components = 1,
           .cells = few,
           .stiffness = true,
           .output = TESI_MAPPED_ATOMIC},
          {.dim = 3,
           .degree = degree,
           .q = degree + 1,
           .components = 1,
           .cells = cells,
           .collocated = true,
           .mass = true,
           .stiffness = true},
          {.dim = 3,
           .degree = degree,
           .q = degree + 1,
           .components = 1,
           .cells = cells,
           .collocated = true,
           .stiffness = true,
           .geometry = TESI_MAPPED_VERTICES,
           .output = TESI_MAPPED_ATOMIC},
      };
      on_devices(cases, sizeof cases / sizeof *cases);
    }
}

static void set_precision(Case *c, TesPrecision precision, TesPrecision factors) {
  c->precision = precision;
  c->factors = factors;
}

/* The rest in turns: precisions, geometries, outputs, components, orders. */
static void every_variant(void **state) {
  (void)state;
  enum { COUNT = 48 };
  Case cases[COUNT];
  for (int i = 0; i < COUNT; i++) {
    Case *c = &cases[i];
    const int degree = 1 + i % 7, kind = i / 2 % 4;
    *c = (Case){.dim = 3, .degree = degree, .q = degree + 1 + (kind == 1), .components = 1 + i % 4};
    c->cells = degree < 3 ? 35 : degree < 5 ? 7 : 2;
    c->collocated = kind == 0;
    c->mass = i % 3 != 1;
    c->stiffness = i % 3 != 0;
    c->geometry = (TesiMappedGeometry)(i / 3 % 3);
    c->output = (TesiMappedOutput)(i / 5 % 3);
    c->ordered = i % 2;
    if (i % 4 == 1) set_precision(c, TES_SINGLE, TES_SINGLE);
    if (i % 4 == 2) set_precision(c, TES_DOUBLE, TES_SINGLE);
  }
  on_devices(cases, COUNT);
}

/* One weight a point and trilinear or bilinear cells; those of second degree are in t4_forest_kernels. */
static void from_weights(void **state) {
  (void)state;
  enum { COUNT = 32 };
  Case cases[COUNT];
  for (int i = 0; i < COUNT; i++) {
    Case *c = &cases[i];
    const int dim = i < 16 ? 3 : 2, degree = 1 + i % 8, kind = i / 2 % 4;
    *c = (Case){.dim = dim, .degree = degree, .q = degree + 1 + (kind == 1), .components = 1 + i % 2};
    c->cells = degree < 4 ? 35 : degree < 6 ? 5 : 2;
    c->collocated = kind == 0;
    c->mass = i % 3 == 1;
    c->stiffness = true;
    c->geometry = TESI_MAPPED_WEIGHTS;
    c->output = (TesiMappedOutput)(i / 3 % 3);
    c->ordered = i % 5 == 2;
    if (i % 4 == 3) set_precision(c, TES_SINGLE, TES_SINGLE);
  }
  on_devices(cases, COUNT);
}

static void the_plane(void **state) {
  (void)state;
  enum { COUNT = 45 };
  Case cases[COUNT];
  for (int i = 0; i < COUNT; i++) {
    Case *c = &cases[i];
    const int degree = 1 + i % 15, kind = i / 15;
    *c = (Case){.dim = 2, .degree = degree, .q = degree + 1 + (kind == 1), .components = 1 + i % 4};
    c->cells = degree < 3 ? 35 : 4;
    c->collocated = kind == 0;
    c->mass = i % 3 != 1;
    c->stiffness = i % 3 != 0;
    c->geometry = (TesiMappedGeometry)((i + kind) % 3);
    c->output = (TesiMappedOutput)(i / 2 % 3);
    c->ordered = i % 2;
    if (i % 4 == 1) set_precision(c, TES_SINGLE, TES_SINGLE);
  }
  on_devices(cases, COUNT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_degree), cmocka_unit_test(every_variant),
                                     cmocka_unit_test(from_weights), cmocka_unit_test(the_plane)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
