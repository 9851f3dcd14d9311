/* Whether there is room for what will be allocated. */
#ifndef TESI_AFFORD_H
#define TESI_AFFORD_H

#include "base/base.h"

/* TES_OUT_OF_MEMORY where `bytes` are more than are `available`. The format says what needs them: "2 lines need".
 * advice (NULL: none): what to do instead. */
TesStatus tesi_afford(TesContext *ctx, double bytes, double available, const char *advice, const char *format,
                      ...) TESI_PRINTF(5, 6);

#endif
