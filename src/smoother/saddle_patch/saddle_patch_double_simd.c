/* Patches of Stokes in float64. */
#include "smoother/saddle_patch/saddle_patch_body.h"
