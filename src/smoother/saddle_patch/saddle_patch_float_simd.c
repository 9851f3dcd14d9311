/* Patches of Stokes in float32. */
#define TESI_REAL_SINGLE
#include "smoother/saddle_patch/saddle_patch_body.h"
