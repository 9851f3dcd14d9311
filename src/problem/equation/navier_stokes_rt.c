/* u_t + (u . grad) u - nu Lap u + grad p = f, div u = 0, with Raviart-Thomas elements. Steps: flow/coupled/. */
#include "problem/equation/equations.h"
#include "problem/equation/stokes.h"
#include "problem/flow/coupled/coupled.h"

static const TesiLack lacks[] = {TESI_LACKS_OF_NAVIER_STOKES,
                                 {TESI_HAS_ADAPT, "boxes are not refined in places"},
                                 {TESI_HAS_REMESH, "boxes are not refined in places"},
                                 {TESI_HAS_GRAD_DIV, "its velocities have no divergence"},
                                 {TESI_HAS_TIME, NULL}};
static const TesiSupport support = {
    .equation = TES_NAVIER_STOKES,
    .element = TES_ELEMENT_RT,
    .meshes = TESI_ON_GRID | TESI_ON_RINGS,
    .degree = {.usual = 2,
               .least = 1,
               .most = TESI_RT_CONVECTION_DEGREE,
               .kernels_in_space = TESI_RT_CONVECTION_SPACE},
    .has = TESI_HAS_ALWAYS | TESI_HAS_IN_TIME | TESI_BIT(TESI_HAS_NU) | TESI_BIT(TESI_HAS_EXACT_VELOCITY) |
           TESI_BIT(TESI_HAS_EXACT_PRESSURE) | TESI_BIT(TESI_HAS_FORCE) | TESI_BIT(TESI_HAS_MEAN_VELOCITY) |
           TESI_BIT(TESI_HAS_START_VELOCITY) | TESI_BIT(TESI_HAS_START_PRESSURE) | TESI_BIT(TESI_HAS_CFL) |
           TESI_BIT(TESI_HAS_TOLERANCE) | TESI_BIT(TESI_HAS_COLOURS) | TESI_BIT(TESI_HAS_PENALTY) |
           TESI_BIT(TESI_HAS_FIELD_AVERAGE),
    .words = {[TESI_OF_CONDITION] = TESI_WORD(TESI_NAMED_VELOCITY) | TESI_WORD(TESI_NAMED_SLIP) |
                                    TESI_WORD(TESI_NAMED_SYMMETRY) | TESI_WORD(TESI_NAMED_OUTFLOW) |
                                    TESI_WORD(TESI_NAMED_PRESSURE),
              [TESI_OF_FORM] = 1 | TESI_WORD(TES_FLOW_GRADIENT),
              [TESI_OF_TIME_METHOD] = 1 | TESI_WORD(TES_TIME_IMEX_BDF2) | TESI_WORD(TES_TIME_IMEX_BDF3),
              [TESI_OF_METHOD] = 1 | TESI_WORD(TES_METHOD_GMRES),
              [TESI_OF_LOCAL] = 1 | TESI_WORD(TES_LOCAL_EXACT),
              [TESI_OF_ORDER] = 1 | TESI_WORD(TES_ORDER_SAME),
              [TESI_OF_COARSENING] = 1 | TESI_WORD(TES_COARSEN_MESH),
              [TESI_OF_COARSE] = 1 | TESI_WORD(TES_COARSE_DIRECT)},
    .smoother = TESI_SMOOTHERS(1 | TESI_WORD(TES_SMOOTHER_PATCH) | TESI_WORD(TES_SMOOTHER_CELL_PATCH)),
    .because = {[TESI_OF_METHOD] = "because steps begin with a guess",
                [TESI_OF_LOCAL] = "because others leave a divergence",
                [TESI_OF_FORM] = "because nu is a number",
                [TESI_OF_SMOOTHER] = "because there are no others for velocity and pressure together"},
    .lacks = lacks,
    .judged = TESI_WORD(TES_TIME_IMEX_BDF2),
    .cfl = 0.5,
    .numbers = TESI_NUMBER_A | TESI_NUMBER_C,
    .only_in_time = true,
    .flow = true,
    .vector = true,
    .modes = true,
    .field = "u",
    .unknowns = "u, p",
    .ranks = {.meshes = TESI_ON_GRID | TESI_ON_RINGS, .has = ~UINT64_C(0)},
    .tell = tesi_navier_stokes_tell};
static const TesiFlowEquation flow = {.check = tesi_coupled_check};
const TesiEquation tesi_navier_stokes_rt = {.name = "navier_stokes",
                                            .support = &support,
                                            .in_time = true,
                                            .form = tesi_stokes_form,
                                            .shown = tesi_stokes_shown,
                                            .force = tesi_coupled_force,
                                            .flow = &flow,
                                            .own = &tesi_coupled_own};
