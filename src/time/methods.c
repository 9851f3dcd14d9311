/* The methods, one row each. */
#include "time/stepper.h"

/* sdirk2: gamma = 1 - 1 / sqrt 2. sdirk3 (Alexander 1977): gamma the root of x^3 - 3 x^2 + 3/2 x - 1/6 between 0
 * and 1/2, b1 = -(6 gamma^2 - 16 gamma + 1) / 4, b2 = (6 gamma^2 - 20 gamma + 5) / 4. */
#define G2 0.29289321881345248
#define G3 0.43586652150845900
#define B1 (-(6 * G3 * G3 - 16 * G3 + 1) / 4)
#define B2 ((6 * G3 * G3 - 20 * G3 + 5) / 4)

static const TesiTimeMethod methods[] = {
    [TES_TIME_BACKWARD_EULER] =
        {.name = "backward_euler", .old = 1, .step = tesi_multistep, .sigma = 1, .back = {1}},
    [TES_TIME_CRANK_NICOLSON] = {.name = "crank_nicolson", .old = 1, .step = tesi_trapezoid, .sigma = 2},
    [TES_TIME_BDF2] = {.name = "bdf2",
                       .starter = TES_TIME_SDIRK2,
                       .old = 2,
                       .step = tesi_multistep,
                       .sigma = 3 / 2.,
                       .back = {2, -1 / 2.}},
    [TES_TIME_BDF3] = {.name = "bdf3",
                       .starter = TES_TIME_SDIRK3,
                       .old = 3,
                       .step = tesi_multistep,
                       .sigma = 11 / 6.,
                       .back = {3, -3 / 2., 1 / 3.}},
    [TES_TIME_BDF4] = {.name = "bdf4",
                       .starter = TES_TIME_SDIRK3,
                       .old = 4,
                       .step = tesi_multistep,
                       .sigma = 25 / 12.,
                       .back = {4, -3, 4 / 3., -1 / 4.}},
    [TES_TIME_IMEX_BDF2] = {.name = "imex_bdf2",
                            .starter = TES_TIME_BACKWARD_EULER,
                            .carries = true,
                            .old = 2,
                            .step = tesi_multistep,
                            .sigma = 3 / 2.,
                            .back = {2, -1 / 2.}},
    [TES_TIME_SDIRK2] = {.name = "sdirk2",
                         .old = 1,
                         .step = tesi_runge_kutta,
                         .sigma = 1 / G2,
                         .stages = 2,
                         .a = {{G2}, {1 - G2, G2}},
                         .c = {G2, 1}},
    [TES_TIME_SDIRK3] = {.name = "sdirk3",
                         .old = 1,
                         .step = tesi_runge_kutta,
                         .sigma = 1 / G3,
                         .stages = 3,
                         .a = {{G3}, {(1 - G3) / 2, G3}, {B1, B2, G3}},
                         .c = {G3, (1 + G3) / 2, 1}},
    [TES_TIME_NEWMARK] = {.name = "newmark", .old = 1, .step = tesi_second_order},
    [TES_TIME_GENERALIZED_ALPHA] = {.name = "generalized_alpha", .old = 1, .step = tesi_second_order},
    [TES_TIME_EXPLICIT] = {.name = "explicit", .old = 1},   /* steps of its own: problem/explicit */
    [TES_TIME_IMEX_BDF3] = {.name = "imex_bdf3", .old = 3}, /* of its own: problem/flow/coupled */
    [TESI_TIME_SECOND_EULER] = {.name = "backward_euler", .old = 1, .step = tesi_second_order},
};

TesTimeMethod tesi_time_named(TesTimeMethod method) {
  return method == TES_TIME_AUTO ? TES_TIME_BDF2 : method;
}

const TesiTimeMethod *tesi_time_method(TesTimeMethod method) {
  return &methods[tesi_time_named(method)];
}

const char *tesi_time_name(int method) {
  const bool known = method > TES_TIME_AUTO && method < (int)(sizeof methods / sizeof *methods);
  return known ? methods[method].name : "a method that is not known";
}

double tesi_time_first_sigma(TesTimeMethod method, double dt) {
  const TesiTimeMethod *m = tesi_time_method(method);
  return (m->starter == TES_TIME_AUTO ? m : tesi_time_method(m->starter))->sigma / dt;
}
