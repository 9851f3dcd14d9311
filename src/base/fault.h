/* Functions with a value that is not finite, and causes that a caller adds to a message. */
#ifndef TESI_BASE_FAULT_H
#define TESI_BASE_FAULT_H

#include "base/base.h"

/* Whether the status of a faulty value of this function was asked for; NULL: no. */
bool tesi_function_is_faulty(const TesFunction *function);
/* Puts this text before the message of the context's failure. */
void tesi_fail_before(TesContext *ctx, const char *text);

#endif
