/* Velocity and pressure, or the unknown of element dg, as fields of a VTU file: each cell by itself, with the degree of
 * the velocity, so that jumps between cells are there. */
#include <math.h>
#include <string.h>
#include "basis/gauss.h"
#include "functional/rt/rt_functional.h"
#include "io/vtu/vtu.h"
#include "problem/in_time.h"
#include "problem/problem.h"

enum { MOST = TESI_RT_LOCAL * TESI_RT_LOCAL * TESI_RT_LOCAL };

typedef enum What { VELOCITY, PRESSURE, DIVERGENCE, VORTICITY, FIELDS } What;

typedef struct Flow {
  const TesiRt *rt;
  TesiRtTables tables; /* at the Gauss-Lobatto points of a cell of the file */
  double *u;
} Flow;

typedef struct Field {
  const Flow *flow;
  What what;
} Field;

static void place(const TesiRt *rt, int64_t number, int cell[3]) {
  cell[0] = (int)(number % rt->axis[0].cells);
  cell[1] = (int)(number / rt->axis[0].cells % rt->axis[1].cells);
  cell[2] = (int)(number / rt->axis[0].cells / rt->axis[1].cells);
}

static TesStatus fill_coordinates(void *user, int64_t first, int64_t count, double *values) {
  const Flow *f = user;
  double x[3 * MOST];
  for (int64_t c = first; c < first + count; c++) {
    int cell[3];
    place(f->rt, c, cell);
    const int n = tesi_rt_points(f->rt, &f->tables, cell, x, NULL);
    memcpy(values, x, sizeof *x * (size_t)(n * f->rt->dim));
    values += n * f->rt->dim;
  }
  return TES_OK;
}

/* to <- to + factor d(component i)/d(direction d), or the part itself for d = -1. */
static void add(const Flow *f, const int cell[3], int part, int d, double factor, int n, double *to) {
  double local[MOST], values[MOST];
  tesi_rt_read(f->rt, part, cell, f->u, local);
  tesi_rt_values(f->rt, &f->tables, part, d, local, values);
  if (d >= 0) factor /= f->rt->axis[d].h[cell[d]];
  for (int i = 0; i < n; i++) to[i] += factor * values[i];
}

static int components_of(const TesiRt *rt, What what) {
  return what == VELOCITY || (what == VORTICITY && rt->dim == 3) ? rt->dim : 1;
}

static void fill_cell(const Flow *f, What what, const int cell[3], int n, double *to) {
  const int dim = f->rt->dim;
  for (int i = 0; i < dim && what == VELOCITY; i++) add(f, cell, i, -1, 1, n, to + i * n);
  if (what == PRESSURE) add(f, cell, dim, -1, 1, n, to);
  for (int i = 0; i < dim && what == DIVERGENCE; i++) add(f, cell, i, i, 1, n, to);
  for (int i = 0; i < components_of(f->rt, what) && what == VORTICITY; i++) {
    const int a = dim == 2 ? 0 : (i + 1) % 3, b = dim == 2 ? 1 : (i + 2) % 3; /* d u_b / d a - d u_a / d b */
    add(f, cell, b, a, 1, n, to + i * n);
    add(f, cell, a, b, -1, n, to + i * n);
  }
}

static TesStatus fill_field(void *user, int64_t first, int64_t count, double *values) {
  const Field *field = user;
  const TesiRt *rt = field->flow->rt;
  const int p = field->flow->tables.points, n = rt->dim == 2 ? p * p : p * p * p,
            components = components_of(rt, field->what);
  for (int64_t c = first; c < first + count; c++) {
    int cell[3];
    place(rt, c, cell);
    memset(values, 0, sizeof *values * (size_t)(n * components));
    fill_cell(field->flow, field->what, cell, n, values);
    values += n * components;
  }
  return TES_OK;
}

/* What the file shows: of the solution, of its mean in time, and of the mean of its squares. */
enum { SOURCES = 3, SHOWN = 8 };
static const struct {
  const char *name;
  int source;
  What what;
} shown[SHOWN] = {{"velocity", 0, VELOCITY},
                  {"pressure", 0, PRESSURE},
                  {"divergence", 0, DIVERGENCE},
                  {"vorticity", 0, VORTICITY},
                  {"mean_velocity", 1, VELOCITY},
                  {"mean_pressure", 1, PRESSURE},
                  {"mean_velocity_squares", 2, VELOCITY},
                  {"mean_pressure_square", 2, PRESSURE}};

static TesStatus take_values(const TesSpace *space, const TesVector *u, int degree, Flow *flow) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double nodes[TESI_MAX_POINTS];
  flow->rt = tesi_space_rt(space);
  TES_ALLOC(&flow->u, space->length);
  TES_TRY(tes_vector_get(u, flow->u));
  tesi_gauss_lobatto(degree + 1, nodes, NULL);
  tesi_rt_tables_at(flow->rt->n, degree + 1, nodes, &flow->tables);
done:
  return status;
}

TesStatus tesi_vtu_write_flow(const TesProblem *problem, int cell_count, const TesVtuArray *cell_fields,
                              const char *path) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  const TesSpace *space = problem->space;
  const TesiAverage *a = problem->in_time ? &problem->in_time->march.average : NULL;
  const bool scalar = tesi_space_rt(space)->scalar, averaged = a && a->count;
  const TesVector *const source[SOURCES] = {problem->u, averaged ? a->of[0].mean[0] : NULL,
                                            averaged ? a->of[0].mean[1] : NULL};
  const int degree = space->degree + !scalar, first = scalar ? PRESSURE : 0,
            count = scalar     ? 1
                    : averaged ? SHOWN
                               : FIELDS;
  Flow flow[SOURCES] = {{.u = NULL}};
  Field field[SHOWN];
  TesVtuArray arrays[SHOWN];
  for (int i = 0; i < SOURCES && source[i]; i++) TES_TRY(take_values(space, source[i], degree, &flow[i]));
  for (int i = 0; i < SHOWN; i++) {
    field[i] = (Field){&flow[shown[i].source], shown[i].what};
    arrays[i] = (TesVtuArray){.name = scalar ? "u" : shown[i].name,
                              .components = components_of(flow[0].rt, shown[i].what),
                              .fill = fill_field,
                              .user = &field[i]};
  }
  TES_TRY(tes_vtu_write(ctx,
                        &(TesVtuDesc){.dim = space->dim,
                                      .degree = degree,
                                      .cells = space->mesh->cells,
                                      .coordinates = {.fill = fill_coordinates, .user = &flow[0]},
                                      .point_fields = arrays + first,
                                      .point_field_count = count,
                                      .cell_fields = cell_fields,
                                      .cell_field_count = cell_count},
                        path));
done:
  for (int i = 0; i < SOURCES; i++) tesi_free(ctx, &flow[i].u);
  return status;
}
