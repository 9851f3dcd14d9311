/* Patches of Stokes in float32. */
#define TESI_REAL_SINGLE
#include "smoother/stokes_patch/stokes_patch_body.h"
