/* Functions that are computed from the values of other functions. */
#ifndef TESI_COMBINED_H
#define TESI_COMBINED_H

#include "base/base.h"

enum { TESI_COMBINED_MOST = 4 };

/* out[n] <- from value[i][n], which is NULL where function i is. */
typedef void TesiCombine(double number, int64_t n, const double *const *value, double *out);
/* of[count]: retained; NULL inside: none. */
TesStatus tesi_function_create_combined(TesContext *ctx, TesiCombine *combine, double number, int count,
                                        const TesFunction *const *of, const char *text,
                                        TesFunction **function);

#endif
