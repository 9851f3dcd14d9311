/* Flows over Raviart-Thomas spaces that the tests of the pieces of their multigrid share. */
#ifndef TESI_STOKES_FLOWS_H
#define TESI_STOKES_FLOWS_H

#include "stokes_testing.h"

static const Flow flows[] = {
    {.dim = 2, .degree = 1, .cells = {3, 2}, .given = "vvvvvv", .nu = 1},
    {.dim = 2,
     .degree = 2,
     .cells = {3, 4},
     .given = "vovsvv",
     .graded = true,
     .nu = 2,
     .alpha = 3,
     .penalty = TES_PENALTY_PAPER},
    {.dim = 2, .degree = 3, .cells = {2, 3}, .given = "oosvvv", .nu = 1, .penalty = TES_PENALTY_STANDARD},
    {.dim = 2, .degree = 2, .cells = {4, 3}, .given = "ppvsvv", .nu = 1, .penalty = TES_PENALTY_STANDARD},
    {.dim = 2,
     .degree = 1,
     .cells = {2, 5},
     .given = "ppppvv",
     .graded = true,
     .nu = 0.5,
     .alpha = 1,
     .penalty = TES_PENALTY_STANDARD},
    {.dim = 2,
     .degree = 5,
     .cells = {3, 2},
     .given = "svsosv",
     .nu = 1,
     .alpha = 10,
     .penalty = TES_PENALTY_STANDARD},
    {.dim = 3, .degree = 1, .cells = {3, 2, 2}, .given = "vvvvvv", .nu = 1, .penalty = TES_PENALTY_STANDARD},
    {.dim = 3, .degree = 1, .cells = {2, 3, 3}, .given = "vovspp", .graded = true, .nu = 1, .alpha = 1},
    {.dim = 3, .degree = 2, .cells = {2, 2, 2}, .given = "svvvov", .nu = 3, .penalty = TES_PENALTY_STANDARD}};
enum { FLOWS = sizeof flows / sizeof *flows };

#endif
