/* The JSON text of a report. */
#ifndef TESI_REPORT_H
#define TESI_REPORT_H

#include "base/base.h"
#include "tessera/report.h"

/* The caller frees *text with tesi_free(). */
TesStatus tesi_report_text(TesContext *ctx, const TesReport *report, char **text);

#endif
