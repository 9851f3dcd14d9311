/* Run: ctest -R t4_slip. Spaces with slip: the normals of planes in any direction, of edges and corners, of circles and
 * spheres, on forests with hanging nodes; unknowns that are counted; operators of kinds elasticity and parts over them
 * against the plain version, symmetric, the diagonal along normals, in both precisions on all devices; the matrix in
 * blocks; transfers that are transposes of each other; rotations of a shell that nothing holds. */
#include "device_testing.h"
#include "elasticity_operator_testing.h"
#include "operator/assembled/block_matrix.h"
#include "space/slip.h"
#include "transfer/transfer.h"

static const char *const devices[] = {"cpu", "emulator", "cuda"};

/* A box that is turned by the angle with sine 0.6 about z, then about x; with a finer corner. False: no forests. */
static bool make_turned(TesContext *ctx, int dim, TesMesh **mesh) {
  TesFunction *map[3], *corner = expression(ctx, "0.3 - x*x - y*y - z*z");
  map[0] = expression(ctx, "0.8*x - 0.6*y");
  map[1] = expression(ctx, dim == 2 ? "0.6*x + 0.8*y" : "0.8*(0.6*x + 0.8*y) - 0.6*z");
  map[2] = expression(ctx, "0.6*(0.6*x + 0.8*y) + 0.8*z");
  const TesStatus status = tes_mesh_create(ctx,
                                           &(TesMeshDesc){.dim = dim,
                                                          .cells = {2, 2, 2},
                                                          .map = {map[0], map[1], dim == 3 ? map[2] : NULL},
                                                          .refine_where = corner,
                                                          .kind = TES_MESH_FOREST},
                                           mesh);
  tes_function_destroy(&corner);
  for (int d = 0; d < 3; d++) tes_function_destroy(&map[d]);
  if (status != TES_MISSING) assert_ok(ctx, status);
  return status == TES_OK;
}

static void turned_normal(int dim, int face, double *n) {
  static const double in_2d[2][2] = {{0.8, 0.6}, {-0.6, 0.8}},
                      in_3d[3][3] = {{0.8, 0.48, 0.36}, {-0.6, 0.64, 0.48}, {0, -0.6, 0.8}};
  for (int d = 0; d < dim; d++) n[d] = dim == 2 ? in_2d[face / 2][d] : in_3d[face / 2][d];
}

static TesSpace *make_space(TesContext *ctx, const TesMesh *mesh, int degree, const uint8_t *given,
                            const bool *slips) {
  TesSpace *space;
  const int dim = tes_mesh_info(mesh).dim;
  assert_ok(ctx, tes_space_create(
                     ctx,
                     &(TesSpaceDesc){
                         .mesh = mesh, .degree = degree, .components = dim, .given = given, .slips = slips},
                     &space));
  return space;
}

/* At each node P takes away the normals of the faces through it, which are found by the place before the turn. */
static void planes_edges_and_corners(void **state) {
  static const uint8_t none[8];
  static const bool slips[8] = {true, false, true, false, true};
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 4; degree++) {
      TesMesh *mesh;
      if (!make_turned(ctx, dim, &mesh)) break;
      TesSpace *space = make_space(ctx, mesh, degree, none, slips);
      const TesiSlip *s = space->slip;
      const int64_t nodes = space->part[0]->length;
      double *x = calloc((size_t)(nodes * dim), sizeof *x);
      int64_t held = 0, listed = 0;
      assert_ok(ctx, tes_space_coordinates(space->part[0], x));
      for (int64_t i = 0; i < nodes; i++) {
        double P[9];
        int here = 0;
        for (int e = 0; e < dim * dim; e++) P[e] = e / dim == e % dim;
        for (int face = 0; face < 2 * dim; face += 2) {
          double n[3], place = 0;
          turned_normal(dim, face, n);
          for (int d = 0; d < dim; d++) place += n[d] * x[i * dim + d];
          if (fabs(place) > 1e-10) continue;
          here++;
          for (int e = 0; e < dim * dim; e++) P[e] -= n[e / dim] * n[e % dim];
        }
        held += here;
        if (!here) continue;
        assert_true(listed < s->count && s->node[listed] == i);
        for (int e = 0; e < dim * dim; e++) assert_near(s->P[e * s->count + listed], P[e], 1e-13);
        listed++;
      }
      assert_int_equal(listed, s->count);
      assert_int_equal(held, s->held);
      assert_int_equal(tes_space_dofs(space), dim * nodes - held);
      free(x);
      tes_space_destroy(&space);
      tes_mesh_destroy(&mesh);
    }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* Polynomial cells of a low degree: the mean normal of a node is that of the sphere to the last bit, because the sphere
 * turns in itself. */
static void spheres_are_round(void **state) {
  static const uint8_t none[8];
  static const bool inner[8] = {true}, both[8] = {true, true};
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  for (int dim = 2; dim <= 3; dim++)
    for (int pass = 0; pass < 2; pass++) {
      TesMesh *mesh;
      TesOperator *op;
      double *motion, centre[3] = {0.3, -0.2, 0.5};
      int count;
      const TesStatus status = tes_mesh_create(ctx,
                                               &(TesMeshDesc){.dim = dim,
                                                              .domain = TES_DOMAIN_SHELL,
                                                              .radius = 1,
                                                              .inner_radius = 0.5,
                                                              .centre = {centre[0], centre[1], centre[2]},
                                                              .geometry_degree = 2},
                                               &mesh);
      if (status == TES_MISSING) break;
      assert_ok(ctx, status);
      Place p = {ctx, mesh, make_space(ctx, mesh, 2, none, pass ? both : inner)};
      const TesiSlip *s = p.space->slip;
      double *x = calloc((size_t)p.space->length, sizeof *x);
      assert_ok(ctx, tes_space_coordinates(p.space->part[0], x));
      for (int64_t i = 0; i < s->count; i++) {
        double n[3], size = 0;
        for (int d = 0; d < dim; d++) n[d] = x[s->node[i] * dim + d] - centre[d], size += n[d] * n[d];
        for (int e = 0; e < dim * dim; e++)
          assert_near(s->P[e * s->count + i], (e / dim == e % dim) - n[e / dim] * n[e % dim] / size, 1e-12);
      }
      assert_ok(ctx, create(&p, 0, TES_DOUBLE, &op));
      assert_ok(ctx, tesi_elasticity_motions(op, &count, &motion));
      assert_int_equal(count, dim == 2 ? 1 : 3);
      tesi_free(ctx, &motion);
      free(x);
      tes_operator_destroy(&op);
      leave(&p);
    }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

static TesVector *random_vector(const TesSpace *space, TesPrecision precision, uint64_t seed) {
  TesContext *ctx = space->context;
  TesVector *v;
  double *values = calloc((size_t)space->length, sizeof *values);
  for (int64_t i = 0; i < space->length; i++) values[i] = test_random(&seed);
  assert_ok(ctx, tes_vector_create(ctx, space->length, precision, &v));
  assert_ok(ctx, tes_vector_set(v, values));
  free(values);
  return v;
}

static double difference(const TesVector *a, const TesVector *b) {
  double *x = calloc((size_t)a->length, sizeof *x), *y = calloc((size_t)a->length, sizeof *y), largest = 0,
         size = 0;
  assert_ok(a->context, tes_vector_get(a, x));
  assert_ok(a->context, tes_vector_get(b, y));
  for (int64_t i = 0; i < a->length; i++)
    largest = test_larger(largest, fabs(x[i] - y[i])), size = test_larger(size, fabs(y[i]));
  free(x), free(y);
  return largest / size;
}

/* Products against the plain version; (A x, y) = (x, A y); what is along normals is multiplied with the diagonal. */
static void check_operator(const TesSpace *space, const TesOperator *op) {
  TesContext *ctx = space->context;
  const TesPrecision precision = op->precision;
  const double small = precision == TES_DOUBLE ? 1e-13 : 2e-5;
  TesVector *x = random_vector(space, precision, 1), *y = random_vector(space, precision, 2),
            *Ax = random_vector(space, precision, 3), *Ay = random_vector(space, precision, 4),
            *r = random_vector(space, precision, 5);
  double left, right, size;
  assert_ok(ctx, tes_operator_apply(op, x, Ax));
  assert_ok(ctx, tes_operator_apply(op, y, Ay));
  assert_ok(ctx, tes_vector_dot(Ax, y, &left));
  assert_ok(ctx, tes_vector_dot(x, Ay, &right));
  assert_ok(ctx, tes_vector_norm(Ax, &size));
  assert_near(left, right, small * 100 * size);
  assert_ok(ctx, tesi_operator_apply_ref(op, x, r));
  assert_near(difference(Ax, r), 0, small);
  assert_ok(ctx, tes_operator_residual(op, y, x, r));
  assert_ok(ctx, tes_vector_axpy(-1, y, Ax));
  assert_ok(ctx, tes_vector_axpy(1, Ax, r));
  assert_ok(ctx, tes_vector_norm(r, &left));
  assert_near(left, 0, small * 100 * size);
  assert_ok(ctx, tes_vector_copy(y, 1, r));
  assert_ok(ctx, tesi_space_project(space, precision, r->data));
  assert_ok(ctx, tes_vector_axpy(-1, r, y)); /* its part along normals */
  assert_ok(ctx, tes_operator_apply(op, y, Ay));
  assert_ok(ctx, tes_operator_diagonal(op, r));
  assert_ok(ctx, tesi_device_multiply(ctx, precision, y->length, 1, y->data, r->data, r->data));
  assert_near(difference(Ay, r), 0, 10 * small);
  tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&Ax), tes_vector_destroy(&Ay);
  tes_vector_destroy(&r);
}

/* The matrix in blocks is that of the products. */
static void check_blocks(const TesSpace *space, const TesOperator *op) {
  TesContext *ctx = space->context;
  const int dim = space->dim;
  const int64_t nodes = space->length / dim;
  TesiBlockMatrix A;
  TesVector *x = random_vector(space, TES_DOUBLE, 6), *y = random_vector(space, TES_DOUBLE, 7);
  double *in = calloc((size_t)space->length, sizeof *in), *out = calloc((size_t)space->length, sizeof *out),
         *expected = calloc((size_t)space->length, sizeof *expected);
  assert_ok(ctx, tes_operator_apply(op, x, y));
  assert_ok(ctx, tes_vector_get(x, in));
  assert_ok(ctx, tes_vector_get(y, expected));
  assert_ok(ctx, tesi_elasticity_assemble(op, &A));
  for (int64_t i = 0; i < nodes; i++) {
    const int64_t count = A.row[i + 1] - A.row[i];
    for (int64_t e = 0; e < count; e++)
      for (int k = 0; k < dim * dim; k++)
        out[k / dim * nodes + i] += tesi_block_at(&A, i)[(k / dim * count + e) * dim + k % dim] *
                                    in[k % dim * nodes + A.column[A.row[i] + e]];
  }
  for (int64_t i = 0; i < space->length; i++) assert_near(out[i], expected[i], 1e-10);
  tesi_block_free(ctx, &A);
  free(in), free(out), free(expected);
  tes_vector_destroy(&x), tes_vector_destroy(&y);
}

static void check_transfer(const TesSpace *fine, TesPrecision precision) {
  TesContext *ctx = fine->context;
  TesSpace *coarse;
  TesTransfer *t;
  double left, right, size;
  assert_ok(ctx, tesi_space_create_on(fine, fine->mesh, fine->degree - 1, &coarse));
  assert_ok(ctx, tes_transfer_create(
                     ctx, &(TesTransferDesc){.coarse = coarse, .fine = fine, .precision = precision}, &t));
  TesVector *x = random_vector(coarse, precision, 8), *y = random_vector(fine, precision, 9),
            *Px = random_vector(fine, precision, 10), *Ry = random_vector(coarse, precision, 11);
  assert_ok(ctx, tesi_space_project(coarse, precision, x->data));
  assert_ok(ctx, tesi_space_project(fine, precision, y->data));
  assert_ok(ctx, tes_transfer_prolongate(t, x, false, Px));
  assert_ok(ctx, tes_transfer_restrict(t, y, Ry));
  assert_ok(ctx, tes_vector_dot(Px, y, &left));
  assert_ok(ctx, tes_vector_dot(x, Ry, &right));
  assert_ok(ctx, tes_vector_norm(Px, &size));
  assert_near(left, right, (precision == TES_DOUBLE ? 1e-12 : 1e-4) * size);
  assert_ok(ctx, tes_vector_copy(Ry, 1, x));
  assert_ok(ctx, tesi_space_project(coarse, precision, x->data));
  assert_near(difference(Ry, x), 0, precision == TES_DOUBLE ? 1e-14 : 1e-6);
  tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&Px), tes_vector_destroy(&Ry);
  tes_transfer_destroy(&t);
  tes_space_destroy(&coarse);
}

static void operators_and_transfers(void **state) {
  static const uint8_t none[8], some[8] = {0, 0, 1, 4};
  static const bool slips[8] = {true, false, true};
  (void)state;
  for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int dim = 2; dim <= 3; dim++)
      for (int what = 0; what < 4 && ctx; what++) {
        const TesPrecision precision = what % 2 ? TES_SINGLE : TES_DOUBLE;
        Place p = {.ctx = ctx};
        TesOperator *op;
        if (!make_turned(ctx, dim, &p.mesh)) break;
        p.space = make_space(ctx, p.mesh, 2, what < 2 ? none : some, slips);
        assert_ok(ctx, create(&p, MASS, precision, &op));
        check_operator(p.space, op);
        if (precision == TES_DOUBLE && d == 0) check_blocks(p.space, op);
        tes_operator_destroy(&op);
        const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION}, {.term = TES_TERM_MASS}};
        assert_ok(ctx,
                  tes_operator_create(
                      ctx, &(TesOperatorDesc){.space = p.space, .form = {2, term, 0}, .precision = precision},
                      &op));
        check_operator(p.space, op);
        tes_operator_destroy(&op);
        check_transfer(p.space, precision);
        leave(&p);
      }
    if (ctx && d == 0) assert_int_equal(tes_context_memory(ctx), 0); /* kernels are kept */
    tes_context_destroy(&ctx);
  }
}

static void one_component_has_no_normal(void **state) {
  static const uint8_t none[8];
  static const bool slips[8] = {true};
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
  (void)state;
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET}, &ctx, NULL, 0), TES_OK);
  assert_ok(ctx,
            tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {2, 2}, .kind = TES_MESH_CELLS}, &mesh));
  assert_int_equal(
      tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 2, .given = none, .slips = slips}, &space),
      TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "slip is for spaces of 2 components of element q"));
  tes_mesh_destroy(&mesh);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planes_edges_and_corners), cmocka_unit_test(spheres_are_round),
      cmocka_unit_test(operators_and_transfers), cmocka_unit_test(one_component_has_no_normal)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
