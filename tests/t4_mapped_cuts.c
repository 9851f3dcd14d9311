/* Run: ctest -R t4_mapped_cuts. The ways to cut the kernel of mapped cells that its table does not choose by
 * itself, against the plain version:
 * blocks that stay for many cells, geometry staged whole, in layers or not, values that come ahead, derivatives on
 * the way to the points, warps alone. Brief: all, of the degrees named. TESSERA_MAPPED_CUT is
 * "cells,groups,warps,blocks,buffers,stage,ahead,gradients".
 * Labels: heavy */
#include <string.h>
#include "operator/mapped/mapped.h"
#include "kernel_testing.h"
#include "operator/mapped/mapped_desc.h"
#include "operator/operator.h"

typedef struct Cut {
  const char *cut;
  int degree;
  TesiMappedTerms terms;
  bool collocated;
  TesFactors factors;
  TesiVectorForm form;
  int components;
  TesPrecision precision;
} Cut;

static const Cut cuts[] = {
    {"0,2,1,1,3,2,2,1", 2, TESI_STIFFNESS, true, TES_FACTORS_STORED, TESI_GLOBAL_VECTORS, 1, TES_DOUBLE},
    {"0,1,1,1,3,2,2,1", 3, TESI_STIFFNESS_MASS, true, TES_FACTORS_STORED, TESI_GLOBAL_VECTORS, 1, TES_DOUBLE},
    {"5,0,2,1,2,1,2,1", 2, TESI_STIFFNESS, true, TES_FACTORS_STORED, TESI_GLOBAL_VECTORS, 1, TES_SINGLE},
    {"1,0,2,1,2,2,2,1", 4, TESI_STIFFNESS_MASS, true, TES_FACTORS_STORED, TESI_ELEMENT_VECTORS, 1, TES_DOUBLE},
    {"1,0,2,1,2,2,2,1", 13, TESI_STIFFNESS_MASS, true, TES_FACTORS_STORED, TESI_ELEMENT_VECTORS, 1, TES_DOUBLE},
    {"1,0,2,1,2,2,2,1", 14, TESI_STIFFNESS, true, TES_FACTORS_STORED, TESI_GLOBAL_VECTORS, 1, TES_DOUBLE},
    {"2,0,2,1,3,2,2,1", 3, TESI_STIFFNESS, true, TES_FACTORS_VERTICES, TESI_GLOBAL_VECTORS, 3, TES_DOUBLE},
    {"0,3,1,1,3,2,2,1", 2, TESI_STIFFNESS_MASS, true, TES_FACTORS_VERTICES, TESI_GLOBAL_VECTORS, 1, TES_SINGLE},
    {"0,1,1,1,3,1,1,2", 1, TESI_STIFFNESS, false, TES_FACTORS_STORED, TESI_GLOBAL_VECTORS, 2, TES_DOUBLE},
    {"0,2,1,1,3,2,2,2", 2, TESI_STIFFNESS_MASS, false, TES_FACTORS_VERTICES, TESI_GLOBAL_VECTORS, 1,
     TES_DOUBLE},
    {"2,0,2,1,3,2,2,2", 3, TESI_STIFFNESS, false, TES_FACTORS_STORED, TESI_GLOBAL_VECTORS, 1, TES_DOUBLE},
    {"1,0,2,1,3,1,1,2", 6, TESI_STIFFNESS_MASS, false, TES_FACTORS_AFFINE, TESI_ELEMENT_VECTORS, 1, TES_DOUBLE},
    {"2,0,2,1,1,2,2,1", 4, TESI_MASS, false, TES_FACTORS_STORED, TESI_GLOBAL_VECTORS, 1, TES_DOUBLE},
    {"2,0,2,1,1,2,2,1", 3, TESI_MASS, true, TES_FACTORS_STORED, TESI_GLOBAL_VECTORS, 2, TES_SINGLE},
    {"0,2,1,1,1,2,2,1", 2, TESI_MASS, false, TES_FACTORS_VERTICES, TESI_ELEMENT_VECTORS, 1, TES_DOUBLE},
    {"0,2,1,1,3,2,2,1", 2, TESI_STIFFNESS_MASS, false, TES_FACTORS_WEIGHTS, TESI_GLOBAL_VECTORS, 1, TES_DOUBLE},
    {"5,0,2,1,3,2,1,2", 4, TESI_STIFFNESS, false, TES_FACTORS_WEIGHTS, TESI_GLOBAL_VECTORS, 1, TES_DOUBLE},
    {"0,2,1,1,3,3,1,1", 3, TESI_STIFFNESS, true, TES_FACTORS_WEIGHTS, TESI_ELEMENT_VECTORS, 2, TES_SINGLE}};

static void must(TesContext *ctx, TesStatus status) {
  if (status != TES_OK) fail_msg("%s\n%s", tes_context_message(ctx), tes_context_trace(ctx));
}

static void check(TesContext *ctx, const Cut *c) {
  TesMesh *mesh;
  TesOperator *op;
  const int few = c->degree > 8;
  const TesMeshDesc desc = {.kind = TES_MESH_CELLS,
                            .dim = 3,
                            .cells = {few ? 1 : 3, few ? 1 : 2, 3},
                            .seed = 7,
                            .perturbation = c->factors == TES_FACTORS_AFFINE ? 0 : 0.15};
  must(ctx, tes_mesh_create(ctx, &desc, &mesh));
  must(ctx,
       tesi_mapped_create(ctx,
                          &(TesiMappedDesc){.mesh = mesh,
                                            .degree = c->degree,
                                            .terms = c->terms,
                                            .collocated = c->collocated,
                                            .components = c->components,
                                            .lambda = 1.3,
                                            .precision = c->precision,
                                            .form = c->form,
                                            .factors = c->factors,
                                            .numbering = {.dirichlet = !few,
                                                          .order = c->components % 2 ? TES_NUMBER_LEXICOGRAPHIC
                                                                                     : TES_NUMBER_BY_CELLS}},
                          &op));
  TesVector *x = test_vector_of(ctx, op, 1), *y = test_vector_of(ctx, op, 2), *z = test_vector_of(ctx, op, 3);
  must(ctx, tesi_operator_apply_ref(op, x, z));
  for (int i = 0; i < 2; i++) {
    must(ctx, tes_vector_fill(y, NAN));
    must(ctx, tes_operator_apply(op, x, y));
    test_compare(y, z, c->precision == TES_DOUBLE ? 1e-12 : 2e-5, c->cut, c->degree);
  }
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tes_vector_destroy(&z);
  tes_operator_destroy(&op);
  tes_mesh_destroy(&mesh);
}

static void every_cut(void **state) {
  (void)state;
  static const char *const devices[] = {"emulator", "cuda"};
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
      if (!test_degree(cuts[i].degree)) continue;
      assert_int_equal(setenv("TESSERA_MAPPED_CUT", cuts[i].cut, 1), 0);
      check(ctx, &cuts[i]);
    }
    assert_int_equal(unsetenv("TESSERA_MAPPED_CUT"), 0);
    tes_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_cut)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
