/* Which function of a description gave no finite number. */
#ifndef TESI_FAULT_H
#define TESI_FAULT_H

#include "tessera/problem.h"

/* Returns `status`. For TES_NAN the message gets the name of the datum in front, as "data.f[0]: ", where one of the
 * description's functions was found at fault: functions of C have no place in a file. */
TesStatus tesi_name_fault(TesContext *ctx, const TesProblemDesc *desc, TesStatus status);

#endif
