/* Run: ctest -R t5_stokes_transfer. Transfers between Raviart-Thomas spaces against dense embeddings: adjoint, and
 * exact for functions of the coarse space. */
#include "context_testing.h"
#include "stokes_flows.h"
#include "transfer/transfer.h"

/* Twice the cells of a flow; graded ones are refined, so that the spaces are nested. */
static TesSpace *refined_space(const TesSpace *coarse) {
  const TesMesh *mesh = tes_space_mesh(coarse);
  TesMesh *fine;
  TesSpace *space;
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = tes_mesh_info(mesh).dim, .refine = 1};
  uint8_t given[6];
  for (int d = 0; d < desc.dim; d++) {
    desc.cells[d] = tes_mesh_info(mesh).cells_along[d];
    desc.coordinates[d] = (double *)tes_mesh_info(mesh).coordinates[d];
    desc.periodic[d] = mesh->box_periodic[d];
  }
  for (int i = 0; i < 6; i++) given[i] = i < 2 * desc.dim ? (uint8_t)tes_space_given(coarse, i) : 0;
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &fine));
  assert_ok(ctx, tes_space_create(ctx,
                                  &(TesSpaceDesc){.mesh = fine,
                                                  .degree = tes_space_degree(coarse),
                                                  .given = given,
                                                  .element = TES_ELEMENT_RT},
                                  &space));
  tes_mesh_destroy(&fine);
  return space;
}

static void transfers_are_embeddings(void **state) {
  (void)state;
  for (int i = 0; i < FLOWS; i++)
    for (TesPrecision precision = TES_DOUBLE; precision <= TES_SINGLE; precision++) {
      TesSpace *coarse = flow_space(ctx, &flows[i]), *fine = refined_space(coarse);
      TesTransfer *t;
      assert_ok(ctx, tes_transfer_create(
                         ctx, &(TesTransferDesc){.coarse = coarse, .fine = fine, .precision = precision}, &t));
      double *a = flow_random(coarse, 1), *c = flow_random(fine, 2), up, down;
      TesVector *x = flow_vector(ctx, coarse, precision, a), *y = flow_vector(ctx, fine, precision, c),
                *Px = flow_vector(ctx, fine, precision, NULL),
                *expected = flow_vector(ctx, fine, precision, NULL),
                *Ry = flow_vector(ctx, coarse, precision, NULL),
                *R = flow_vector(ctx, coarse, precision, NULL);
      const double tolerance = precision == TES_DOUBLE ? 1e-13 : 1e-5;
      assert_ok(ctx, tesi_transfer_prolongate_ref(t, x, false, expected));
      assert_ok(ctx, tes_transfer_prolongate(t, x, false, Px));
      assert_near(flow_difference(ctx, Px, expected), 0, tolerance);
      assert_ok(ctx, tesi_transfer_restrict_ref(t, y, R));
      assert_ok(ctx, tes_transfer_restrict(t, y, Ry));
      assert_near(flow_difference(ctx, Ry, R), 0, tolerance);
      assert_ok(ctx, tes_vector_dot(Px, y, &up));
      assert_ok(ctx, tes_vector_dot(x, Ry, &down));
      assert_near(up, down, 1e3 * tolerance);
      assert_ok(ctx, tes_transfer_prolongate(t, x, true, Px));
      assert_ok(ctx, tes_vector_axpy(1, expected, expected));
      assert_near(flow_difference(ctx, Px, expected), 0, tolerance);
      TesVector *vectors[] = {x, y, Px, expected, Ry, R};
      for (int v = 0; v < 6; v++) tes_vector_destroy(&vectors[v]);
      free(a);
      free(c);
      tes_transfer_destroy(&t);
      tes_space_destroy(&coarse);
      tes_space_destroy(&fine);
    }
}

/* The Galerkin product with level-wise penalties is not the coarse operator, but its divergence part is: (K P x)_p
 * restricted is (K x)_p. */
static void divergence_commutes_with_the_embedding(void **state) {
  (void)state;
  for (int i = 0; i < FLOWS; i++) {
    TesSpace *coarse = flow_space(ctx, &flows[i]), *fine = refined_space(coarse);
    TesOperator *K = flow_operator(ctx, &flows[i], coarse, TES_DOUBLE),
                *L = flow_operator(ctx, &flows[i], fine, TES_DOUBLE);
    TesTransfer *t;
    assert_ok(ctx, tes_transfer_create(ctx, &(TesTransferDesc){.coarse = coarse, .fine = fine}, &t));
    double *a = flow_random(coarse, 1);
    TesVector *x = flow_vector(ctx, coarse, TES_DOUBLE, a), *Px = flow_vector(ctx, fine, TES_DOUBLE, NULL),
              *LPx = flow_vector(ctx, fine, TES_DOUBLE, NULL), *R = flow_vector(ctx, coarse, TES_DOUBLE, NULL),
              *Kx = flow_vector(ctx, coarse, TES_DOUBLE, NULL), *part[2];
    assert_ok(ctx, tes_transfer_prolongate(t, x, false, Px));
    assert_ok(ctx, tes_operator_apply(L, Px, LPx));
    assert_ok(ctx, tes_transfer_restrict(t, LPx, R));
    assert_ok(ctx, tes_operator_apply(K, x, Kx));
    assert_ok(ctx, tes_vector_part(coarse, R, flows[i].dim, &part[0]));
    assert_ok(ctx, tes_vector_part(coarse, Kx, flows[i].dim, &part[1]));
    assert_near(flow_difference(ctx, part[0], part[1]), 0, 1e-12);
    TesVector *vectors[] = {part[0], part[1], x, Px, LPx, R, Kx};
    for (int v = 0; v < 7; v++) tes_vector_destroy(&vectors[v]);
    free(a);
    tes_transfer_destroy(&t);
    tes_operator_destroy(&K);
    tes_operator_destroy(&L);
    tes_space_destroy(&coarse);
    tes_space_destroy(&fine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(transfers_are_embeddings),
                                     cmocka_unit_test(divergence_commutes_with_the_embedding)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
