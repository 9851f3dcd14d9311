/* Functions that gave a number that is not finite, and messages to which a caller adds the cause. */
#ifndef TESI_BASE_FAULT_H
#define TESI_BASE_FAULT_H

#include "base/base.h"

/* Whether tesi_function_fault() was asked for its status; NULL: no. */
bool tesi_function_is_faulty(const TesFunction *function);
/* The message of the context's failure begins with this text from now on. */
void tesi_fail_before(TesContext *ctx, const char *text);

#endif
