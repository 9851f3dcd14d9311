/* What kernels need of the penalties in a direction: numbers of its cells and faces, and the modes of the reference
 * cell (src/kernels/saddle_faces.h). */
#ifndef TESI_SADDLE_FACES_H
#define TESI_SADDLE_FACES_H

#include "operator/saddle/saddle.h"

/* *numbers: device, [TESK_TILES_NUMBERS][cells] in the operator's precision; op has its axes. */
TesStatus tesi_saddle_faces_upload(const TesOperator *op, int d, void **numbers);
/* In the order of `Modes` in the kernels' text; how many numbers these are: 2 n + n^2. */
int tesi_saddle_faces_modes(int n, double *modes);

#endif
