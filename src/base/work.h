/* Long loops over threads in set-ups. They are the loops of team.h, with the same spans, but end early after an
 * interruption (tesi_work_begin() in base.h). Then TES_INTERRUPTED is returned, and the results of the loop are
 * incomplete. */
#ifndef TESI_WORK_H
#define TESI_WORK_H

#include "base/base.h"
#include "base/team.h"

/* For work on an existing solution: errors, values, files. An interruption that has ended a solve does not end this
 * work, so that the solution is still written. waits: an interruption during the work does not end it either, but it
 * ends the next solve. */
void tesi_work_begin_results(TesContext *ctx, bool waits, const char *title_format, ...) TESI_PRINTF(3, 4);

/* Whether lines of TES_LOG_DETAIL are read. */
bool tesi_tells_details(const TesContext *ctx);

/* As tesi_team_for(); each thread checks for an interruption after every 64th part of its span. */
TesStatus tesi_work_for(TesContext *ctx, int threads, int64_t count, TesiLoop *loop, const void *data);
/* As tesi_team_share(); a thread checks for an interruption before each chunk. */
TesStatus tesi_work_share(TesContext *ctx, int threads, int64_t count, int64_t chunk, TesiLoop *loop,
                          const void *data);

#endif
