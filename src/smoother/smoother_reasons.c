/* Reasons why smoothers refuse an operator that several implementations share. */
#include "operator/dg/dg.h"
#include "operator/stokes_varying/stokes_varying.h"
#include "operator/transport/transport_operator.h"
#include "smoother/smoother.h"

bool tesi_smoother_is_modal(const TesOperator *op) {
  return op->kind == &tesi_operator_stokes || tesi_is_stokes_varying(op) || tesi_is_dg(op);
}

static bool is_mass(const TesOperator *op) {
  return tesi_is_separable(op) && tesi_diffusion_of(op)->a == 0;
}

const char *tesi_smoother_wants_open_box(const TesOperator *op) {
  return !tesi_is_diffusion(op) ? "it is for operators over a box (separable, quadrature)"
         : is_mass(op)          ? "the operator has no diffusion term; use chebyshev or jacobi"
         : tesi_space_is_periodic(op->space)
             ? "the box is periodic; use chebyshev or jacobi, where a and c are "
               "numbers patch"
             : NULL;
}

/* Of the smoothers by patches and by nodes, only the exact patches support periodic directions. */
const char *tesi_smoother_wants_patches(const TesSmoother *smoother) {
  const TesOperator *op = smoother->op;
  if (smoother->kind == TES_SMOOTHER_PATCH_ADDITIVE) return tesi_smoother_wants_open_box(op);
  if (is_mass(op)) return "the operator has no diffusion term; use chebyshev or jacobi";
  if (tesi_space_is_periodic(op->space) && !tesi_is_separable(op))
    return "the box is periodic and a coefficient varies; use chebyshev or jacobi";
  return tesi_is_diffusion(op) || tesi_smoother_is_modal(op)
             ? NULL
             : "it is for operators over a box (separable, quadrature, stokes, dg)";
}

const char *tesi_smoother_wants_diagonal(const TesOperator *op) {
  return op->kind == &tesi_operator_stokes || tesi_is_stokes_varying(op)
             ? "the pressure has no diagonal; use patch"
         : tesi_is_upwind(op)    ? "transport tells no diagonal; use cell_patch"
         : tesi_transport_of(op) ? "transport tells no diagonal; use ordered_cells"
                                 : NULL;
}

const char *tesi_smoother_wants_mapped(const TesOperator *op) {
  return op->kind == &tesi_operator_mapped ? NULL
                                           : "it is for mapped operators; boxes have vertex patches (patch)";
}
