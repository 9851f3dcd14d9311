/* What the tests of velocities and pressures share: places, and vectors of random numbers. */
#ifndef TESI_TAYLOR_HOOD_TESTING_H
#define TESI_TAYLOR_HOOD_TESTING_H

#include <stdio.h>
#include "operator/taylor_hood/taylor_hood.h"
#include "tessera/tessera.h"
#include "testing.h"

typedef struct Place {
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *velocity, *pressure;
  TesiTaylorHood *taylor_hood;
} Place;

static inline TesFunction *expression(TesContext *on, const char *text) {
  TesFunction *f;
  assert_ok(on, tes_function_create_expression(on, text, &f));
  return f;
}

static const char *const kinds[] = {"box", "forest", "ball", "skew cells"};

enum { PLACES = 4 };

/* False: a build without p4est. */
static inline bool make_place(TesContext *ctx, int kind, int dim, int degree, Place *p) {
  static const double graded[] = {0, 0.2, 0.5, 1};
  static const uint8_t none[8];
  *p = (Place){.ctx = ctx};
  TesFunction *corner = expression(ctx, "0.1 - x - y - z"), *x = expression(ctx, "x + 0.3*y"),
              *y = expression(ctx, "y - 0.1*x"), *z = expression(ctx, "1.2*z + 0.2*x");
  const TesMeshDesc desc[] = {
      {.dim = dim, .cells = {3, 2, 2}, .coordinates = {graded}, .kind = TES_MESH_BOX},
      {.dim = dim, .cells = {2, 2, 2}, .refine_where = corner, .kind = TES_MESH_FOREST},
      {.dim = dim, .domain = TES_DOMAIN_BALL, .radius = 1, .geometry_degree = 2},
      {.dim = dim,
       .cells = {2, 2, 1},
       .refine_where = corner,
       .kind = TES_MESH_FOREST,
       .geometry_degree = 1,
       .map = {x, y, dim == 3 ? z : NULL}},
  };
  const TesStatus status = tes_mesh_create(ctx, &desc[kind], &p->mesh);
  TesFunction *all[] = {corner, x, y, z};
  for (int i = 0; i < 4; i++) tes_function_destroy(&all[i]);
  if (status == TES_MISSING) return false;
  assert_ok(ctx, status);
  TesSpaceDesc space = {.mesh = p->mesh, .degree = degree, .given = none};
  assert_ok(ctx, tes_space_create(ctx, &space, &p->velocity));
  space.degree--;
  assert_ok(ctx, tes_space_create(ctx, &space, &p->pressure));
  assert_ok(ctx, tesi_taylor_hood_create(p->velocity, p->pressure, &p->taylor_hood));
  return true;
}

static inline void leave(Place *p) {
  tesi_taylor_hood_destroy(&p->taylor_hood);
  tes_space_destroy(&p->velocity);
  tes_space_destroy(&p->pressure);
  tes_mesh_destroy(&p->mesh);
}

/* Random numbers, or NaN. */
static inline TesVector *make_vector(TesContext *ctx, int64_t length, uint64_t seed, bool nan) {
  TesVector *v;
  double *values = calloc((size_t)length, sizeof *values);
  for (int64_t i = 0; i < length; i++) values[i] = nan ? NAN : test_random(&seed);
  assert_ok(ctx, tes_vector_create(ctx, length, TES_DOUBLE, &v));
  assert_ok(ctx, tes_vector_set(v, values));
  free(values);
  return v;
}

#endif
