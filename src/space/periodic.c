#include "space/periodic.h"
#include <string.h>
#include "base/team.h"

enum { THREADS = 256 }; /* as the kernels have them */

TeskPeriodic tesi_periodic_cut(const TesiAxis axis[3]) {
  TeskPeriodic box = {.shift = {0}};
  for (int d = 0; d < 3; d++) {
    box.nodes[d] = axis[d].nodes;
    box.count[d] = box.high[d] = axis[d].nodes + axis[d].periodic;
  }
  return box;
}

TeskPeriodic tesi_periodic_single(const TesiAxis axis[3]) {
  TeskPeriodic box = tesi_periodic_cut(axis);
  for (int d = 0; d < 3; d++) box.high[d] = axis[d].nodes;
  return box;
}

TesStatus tesi_periodic_create(TesContext *ctx, TesPrecision precision, const TeskPeriodic *box,
                               TesiPeriodic *periodic) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "periodic.cu", .real = precision};
  *periodic =
      (TesiPeriodic){.context = ctx, .precision = precision, .box = *box, .length = 1, .open_length = 1};
  for (int d = 0; d < 3; d++) periodic->length *= box->nodes[d], periodic->open_length *= box->count[d];
  if (!tesi_has_kernels(ctx)) return TES_OK;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_periodic_spread", 0, &periodic->spread));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_periodic_collect", 0, &periodic->collect));
done:
  return status;
}

/* ---- on the host, row by row --------------------------------------------------------------------------- */

typedef struct Job {
  const TesiPeriodic *periodic;
  const void *from, *base;
  void *to;
  double factor;
  bool own;
} Job;

static bool is_own(const TeskPeriodic *b, int d, int64_t i) {
  return i >= b->low[d] && i < b->high[d];
}

/* Nodes first .. end - 1 of a row of the open box from a row of the periodic box, piece by piece between its ends. */
static void copy_row(const TeskPeriodic *b, size_t size, const char *from, int first, int end, char *to) {
  for (int i = first; i < end;) {
    const int at = (i + b->shift[0]) % b->nodes[0], count = tesi_min(end - i, b->nodes[0] - at);
    memcpy(to + (size_t)i * size, from + (size_t)at * size, (size_t)count * size);
    i += count;
  }
}

static void spread_rows(const void *data, TesiSpan span) {
  const Job *job = data;
  const TeskPeriodic *b = &job->periodic->box;
  const size_t size = tesi_precision_size(job->periodic->precision), row = (size_t)b->count[0] * size;
  for (int64_t r = span.first; r < span.end; r++) {
    const int64_t y = r % b->count[1], z = r / b->count[1];
    const int64_t of = (z + b->shift[2]) % b->nodes[2] * b->nodes[1] + (y + b->shift[1]) % b->nodes[1];
    const bool own = !job->own || (is_own(b, 1, y) && is_own(b, 2, z));
    const int first = job->own ? b->low[0] : 0, end = !own ? first : job->own ? b->high[0] : b->count[0];
    char *to = (char *)job->to + (size_t)r * row;
    memset(to, 0, (size_t)first * size);
    copy_row(b, size, (const char *)job->from + (size_t)(of * b->nodes[0]) * size, first, end, to);
    memset(to + (size_t)end * size, 0, row - (size_t)end * size);
  }
}

/* x += factor * own nodes of a row of the open box. */
#define ADD_ROW(name, Real)                                                                                  \
  static void name(const TeskPeriodic *b, const Real *y, Real factor, Real *x) {                             \
    for (int i = b->low[0]; i < b->high[0];) {                                                               \
      const int at = (i + b->shift[0]) % b->nodes[0], count = tesi_min(b->high[0] - i, b->nodes[0] - at);    \
      for (int j = 0; j < count; j++) x[at + j] += factor * y[i + j];                                        \
      i += count;                                                                                            \
    }                                                                                                        \
  }
ADD_ROW(add_double, double)
ADD_ROW(add_float, float)
#undef ADD_ROW

/* First own node of the open box that is node i of a direction. */
static int64_t first_copy(const TeskPeriodic *b, int d, int64_t i) {
  const int64_t n = b->nodes[d], offset = (i - b->shift[d] - b->low[d]) % n;
  return b->low[d] + (offset < 0 ? offset + n : offset);
}

static void collect_rows(const void *data, TesiSpan span) {
  const Job *job = data;
  const TeskPeriodic *b = &job->periodic->box;
  const bool single = job->periodic->precision == TES_SINGLE;
  const size_t size = tesi_precision_size(job->periodic->precision), row = (size_t)b->nodes[0] * size;
  for (int64_t r = span.first; r < span.end; r++) {
    const int64_t y = first_copy(b, 1, r % b->nodes[1]), z = first_copy(b, 2, r / b->nodes[1]);
    char *to = (char *)job->to + (size_t)r * row;
    if (!job->base)
      memset(to, 0, row);
    else if (job->base != job->to)
      memcpy(to, (const char *)job->base + (size_t)r * row, row);
    for (int64_t k = z; k < b->high[2]; k += b->nodes[2])
      for (int64_t j = y; j < b->high[1]; j += b->nodes[1]) {
        const char *from = (const char *)job->from + (size_t)((k * b->count[1] + j) * b->count[0]) * size;
        if (single)
          add_float(b, (const float *)from, (float)job->factor, (float *)to);
        else
          add_double(b, (const double *)from, job->factor, (double *)to);
      }
  }
}

/* ------------------------------------------------------------------------------------------------------ */

TesStatus tesi_periodic_spread(const TesiPeriodic *periodic, const void *x, bool own, void *y) {
  const TeskPeriodic *b = &periodic->box;
  int only_own = own;
  void *arguments[] = {&x, &y, (void *)b, &only_own};
  if (tesi_has_kernels(periodic->context))
    return tesi_kernel_launch(periodic->context, &periodic->spread, tesi_grid(periodic->open_length, THREADS),
                              THREADS, 0, arguments);
  tesi_team_for(tesi_team_threads(periodic->context, periodic->open_length),
                (int64_t)b->count[1] * b->count[2], spread_rows,
                &(Job){.periodic = periodic, .from = x, .to = y, .own = own});
  return TES_OK;
}

TesStatus tesi_periodic_collect(const TesiPeriodic *periodic, const void *y, const void *base, double factor,
                                void *x) {
  const TeskPeriodic *b = &periodic->box;
  float low = (float)factor;
  void *arguments[] = {&y, &base, &x, (void *)b, periodic->precision == TES_SINGLE ? (void *)&low : &factor};
  if (tesi_has_kernels(periodic->context))
    return tesi_kernel_launch(periodic->context, &periodic->collect, tesi_grid(periodic->length, THREADS),
                              THREADS, 0, arguments);
  tesi_team_for(tesi_team_threads(periodic->context, periodic->length), (int64_t)b->nodes[1] * b->nodes[2],
                collect_rows,
                &(Job){.periodic = periodic, .from = y, .base = base, .to = x, .factor = factor});
  return TES_OK;
}

/* ---- plain --------------------------------------------------------------------------------------------- */

/* The node of the periodic box that is node i of the open box. */
static int64_t node_of(const TeskPeriodic *b, int64_t i, bool *own) {
  int64_t node = 0, stride = 1;
  *own = true;
  for (int d = 0; d < 3; d++) {
    const int64_t at = i % b->count[d];
    *own = *own && is_own(b, d, at);
    node += (at + b->shift[d]) % b->nodes[d] * stride;
    stride *= b->nodes[d];
    i /= b->count[d];
  }
  return node;
}

void tesi_periodic_spread_ref(const TeskPeriodic *b, const double *x, bool own, double *y) {
  const int64_t count = (int64_t)b->count[0] * b->count[1] * b->count[2];
  bool of_box;
  for (int64_t i = 0; i < count; i++) {
    const int64_t node = node_of(b, i, &of_box);
    y[i] = of_box || !own ? x[node] : 0;
  }
}

void tesi_periodic_collect_ref(const TeskPeriodic *b, const double *y, const double *base, double factor,
                               double *x) {
  const int64_t count = (int64_t)b->count[0] * b->count[1] * b->count[2],
                nodes = (int64_t)b->nodes[0] * b->nodes[1] * b->nodes[2];
  bool own;
  for (int64_t i = 0; i < nodes && base != x; i++) x[i] = base ? base[i] : 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t node = node_of(b, i, &own);
    if (own) x[node] += factor * y[i];
  }
}
