/* Libraries that are opened at run time. */
#ifndef TESI_LIBRARY_H
#define TESI_LIBRARY_H

#include "base/base.h"

/* The first of the names that can be opened; NULL ends them, and is the result if none can. given: the name in the
 * environment, whose library alone is tried; NULL or "": none. */
void *tesi_library_open(const char *given, const char *const *names);
/* *function, a pointer to a function, <- the symbol, or NULL; whether it is there. */
bool tesi_library_find(void *library, const char *symbol, void *function);
/* The same; a missing symbol is told: `name` is too old. */
TesStatus tesi_library_get(TesContext *ctx, void *library, const char *name, const char *symbol,
                           void *function);

#endif
