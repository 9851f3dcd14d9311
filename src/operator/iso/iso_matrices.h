/* The assembled form of iso.h: its parts as products of sparse matrices with vectors and operations per node, to
 * compare with. Matrices are in compressed rows on the context's device (operator/assembled/sparse.h): threads on the
 * host, cuSPARSE on a GPU if it is installed.
 *
 *   momentum [C_1 .. C_dim, -nu K] [u_1 u_c + delta_1c I s; ..; u_c] for each component c: 3^dim (dim + 1) entries
 *   per row; I s by a matrix; products u_d u_c and the division by m by passes over vectors
 *   divergence  one matrix with 5^dim dim entries per row
 *
 * Bytes of matrices in 3D: about 1350 per node of the fine grid and 4500 per pressure. */
#ifndef TESI_ISO_MATRICES_H
#define TESI_ISO_MATRICES_H

#include "operator/iso/iso.h"

typedef struct TesiIsoMatrices TesiIsoMatrices;

/* nu is in the matrix. Errors: TES_OUT_OF_MEMORY, also for 2^31 entries and more. */
TesStatus tesi_iso_matrices_create(const TesiIso *iso, double nu, TesiIsoMatrices **matrices);
void tesi_iso_matrices_destroy(TesiIsoMatrices **matrices);
/* As the functions of iso.h; step->nu is the nu of the creation. */
TesStatus tesi_iso_matrices_momentum(const TesiIsoMatrices *m, const TesiIsoStep *step);
TesStatus tesi_iso_matrices_divergence(const TesiIsoMatrices *m, double scale, const TesVector *u,
                                       TesVector *b);
TesStatus tesi_iso_matrices_pressure(const TesiIsoMatrices *m, double rate, const TesVector *q,
                                     const TesVector *b, TesVector *p, TesVector *s);

double tesi_iso_matrices_bytes(const TesiIsoMatrices *m);
/* What computes the products: see tesi_sparse_how(). */
const char *tesi_iso_matrices_how(const TesiIsoMatrices *m);

#endif
