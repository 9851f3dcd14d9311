/* The penalties of a direction for kernels: numbers of its cells and faces, and the modes of the reference cell
 * (src/kernels/stokes_faces.h). */
#ifndef TESI_STOKES_FACES_H
#define TESI_STOKES_FACES_H

#include "operator/stokes/stokes_operator.h"

/* *numbers: device, [TESK_TILES_NUMBERS][cells] in the operator's precision. op must have its axes already. */
TesStatus tesi_stokes_faces_upload(const TesOperator *op, int d, void **numbers);
/* Writes the modes in the order of `Modes` in the kernels' text, and returns how many numbers these are: 2 n +
 * n^2. */
int tesi_stokes_faces_modes(int n, double *modes);

#endif
