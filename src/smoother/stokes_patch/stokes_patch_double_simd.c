/* Patches of Stokes in float64. */
#include "smoother/stokes_patch/stokes_patch_body.h"
