/* Contexts without a device. device/ adds a device; tests may do without. */
#ifndef TESI_CONTEXT_NEW_H
#define TESI_CONTEXT_NEW_H

#include "base/base.h"

TesStatus tesi_context_new(const TesContextDesc *desc, TesContext **context);
void tesi_context_set_simd_bits(TesContext *ctx, int bits);
/* Another rank writes the log lines of this context. */
void tesi_context_silence(TesContext *ctx);

#endif
