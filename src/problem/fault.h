/* Finds the function of a description that gave a value that is not finite. */
#ifndef TESI_FAULT_H
#define TESI_FAULT_H

#include "tessera/problem.h"

/* Returns `status`. For TES_NAN, if a function of the description is at fault, the message begins with the name of
 * the datum, such as "data.f[0]: ", since functions of C programs have no place in a file. */
TesStatus tesi_name_fault(TesContext *ctx, const TesProblemDesc *desc, TesStatus status);

#endif
