/* The largest memory of the host that a context has held since a mark. */
#ifndef TESI_MEMORY_MARK_H
#define TESI_MEMORY_MARK_H

#include "base/base.h"

void tesi_memory_mark(TesContext *ctx);
size_t tesi_memory_high(const TesContext *ctx);

#endif
