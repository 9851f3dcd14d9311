/* Statistics of a flow's values from a time on: mean, rms, smallest and largest value, main frequency. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "solve.h"

static bool is_wanted(const Solve *s, double time) {
  const TesCase *c = s->input;
  return c->average && c->values && time >= c->average_from - 1e-12 * fabs(c->average_from);
}

TesStatus solve_add_sample(Solve *s, const TesProblem *problem) {
  SolveSamples *m = &s->samples;
  const double time = tes_problem_info(problem).time;
  if (!is_wanted(s, time)) return TES_OK;
  TesStatus status = solve_find_numbers(s, problem);
  if (status == TES_OK) status = solve_check_values(s);
  if (status != TES_OK) return status;
  const int width = 1 + s->input->values;
  if (m->count == m->room) {
    const size_t room = m->room ? 2 * m->room : 1024;
    double *more = realloc(m->row, room * (size_t)width * sizeof *more);
    if (!more) return TES_OUT_OF_MEMORY;
    m->row = more, m->room = room;
  }
  double *row = m->row + m->count++ * (size_t)width;
  row[0] = time;
  memcpy(row + 1, s->outputs.value, (size_t)s->input->values * sizeof *row);
  return TES_OK;
}

/* An integer that identifies the names of the values. */
static double key_of(const TesCase *c) {
  uint64_t key = 14695981039346656037u;
  for (int i = 0; i < c->values; i++)
    for (const char *at = c->value[i].name;; at++) {
      key = (key ^ (unsigned char)*at) * 1099511628211u;
      if (!*at) break;
    }
  return (double)(key >> 12);
}

/* The notes of a checkpoint: the key, followed by the rows. */
TesStatus solve_note_samples(Solve *s, TesProblem *problem) {
  SolveSamples *m = &s->samples;
  const size_t size = m->count * (size_t)(1 + s->input->values);
  if (!m->count) return TES_OK;
  double *note = realloc(m->note, (1 + size) * sizeof *note);
  if (!note) return TES_OUT_OF_MEMORY;
  m->note = note;
  note[0] = key_of(s->input);
  memcpy(note + 1, m->row, size * sizeof *note);
  return tes_problem_note(problem, (int64_t)(1 + size), note);
}

/* Whether the first sample belongs to the first step after the time; without samples they begin now. */
static bool are_complete(const SolveSamples *m, double from, size_t width, const TesProblemInfo *now) {
  if (!m->count) return now->time - from < 1e-9 * now->dt;
  return m->row[0] - from < 1.5 * (m->count > 1 ? m->row[width] - m->row[0] : now->dt);
}

TesStatus solve_take_samples(Solve *s, const TesProblem *problem) {
  SolveSamples *m = &s->samples;
  const TesCase *c = s->input;
  const TesProblemInfo info = tes_problem_info(problem);
  const TesCheckpointContents *found = tes_checkpoint_contents(s->checkpoint);
  const size_t width = (size_t)(1 + c->values),
               rows = found->notes > 0 ? (size_t)(found->notes - 1) / width : 0;
  if (!is_wanted(s, info.time)) return TES_OK;
  if (rows && found->note[0] == key_of(c)) {
    m->row = malloc(rows * width * sizeof *m->row);
    if (!m->row) return TES_OUT_OF_MEMORY;
    m->room = rows;
    for (const double *row = found->note + 1; row < found->note + 1 + rows * width; row += width)
      if (is_wanted(s, *row)) memcpy(m->row + m->count++ * width, row, width * sizeof *row);
  }
  if (!are_complete(m, c->average_from, width, &info))
    solve_log(
        s, TES_LOG_WARNING,
        "warning: output.average: values are those since t = %.6g, as the run before kept no earlier ones",
        m->count ? m->row[0] : info.time);
  return TES_OK;
}

/* One value of all samples. */
typedef struct Signal {
  const double *row;
  size_t count;
  int width, column;
  double mean;
} Signal;

static double time_of(const Signal *g, size_t i) {
  return g->row[i * (size_t)g->width];
}

static double value_of(const Signal *g, size_t i) {
  return g->row[i * (size_t)g->width + (size_t)g->column];
}

/* The mean by the trapezoidal rule of the value (power 1), or of its squared distance from the mean. */
static double mean_of(const Signal *g, bool square) {
  const double all = time_of(g, g->count - 1) - time_of(g, 0);
  double sum = 0;
  for (size_t i = 0; i + 1 < g->count; i++) {
    const double a = value_of(g, i) - g->mean, b = value_of(g, i + 1) - g->mean,
                 dt = time_of(g, i + 1) - time_of(g, i);
    sum += dt / 2 * (square ? a * a + b * b : a + b);
  }
  return g->count > 1 && all > 0 ? g->mean + sum / all - (square ? g->mean : 0) : square ? 0 : value_of(g, 0);
}

/* |integral of (v - mean) hann(t) exp(-2 pi i f t)|^2 from every `stride`-th sample: it is large if the signal has
 * the frequency f. */
static double power(const Signal *g, size_t stride, double f) {
  const double pi = acos(-1), start = time_of(g, 0), all = time_of(g, g->count - 1) - start;
  double real = 0, imaginary = 0;
  for (size_t i = 0; i < g->count; i += stride) {
    const double t = time_of(g, i) - start, before = i ? time_of(g, i - stride) : start,
                 after = i + stride < g->count ? time_of(g, i + stride) : start + all,
                 part = (after - before) / 2 * sin(pi * t / all) * sin(pi * t / all) *
                        (value_of(g, i) - g->mean);
    real += part * cos(2 * pi * f * t);
    imaginary += part * sin(2 * pi * f * t);
  }
  return real * real + imaginary * imaginary;
}

/* The position of the maximum within (low, high), by golden-section search. */
static double sharpen(const Signal *g, double low, double high) {
  const double golden = (sqrt(5) - 1) / 2;
  for (int i = 0; i < 40; i++) {
    const double a = high - golden * (high - low), b = low + golden * (high - low);
    if (power(g, 1, a) > power(g, 1, b))
      high = b;
    else
      low = a;
  }
  return (low + high) / 2;
}

/* The frequency of largest power that has at least two periods. It is searched in steps of half a period of the whole
 * time, up to a quarter of the samples and 500 periods. NaN: the value does not change, or has no such frequency. */
static double frequency_of(const Signal *g, double rms) {
  enum { LEAST = 16, MOST = 1000, USED = 4 * MOST };
  const double all = time_of(g, g->count - 1) - time_of(g, 0);
  const size_t last = g->count / 2 < MOST ? g->count / 2 : MOST, stride = 1 + g->count / USED;
  double largest = 0;
  size_t best = 0;
  if (g->count < LEAST || !(rms > 1e-9 * fabs(g->mean))) return NAN;
  for (size_t i = 3; i <= last; i++) {
    const double here = power(g, stride, (double)i / (2 * all));
    if (here > largest) largest = here, best = i;
  }
  return best > 3 ? sharpen(g, (double)(best - 1) / (2 * all), (double)(best + 1) / (2 * all)) : NAN;
}

static TesReportStatistic summarize(const Signal *whole, const char *name) {
  Signal g = *whole;
  TesReportStatistic r = {.name = name, .min = INFINITY, .max = -INFINITY, .frequency = NAN};
  g.mean = value_of(&g, 0);
  g.mean = r.mean = mean_of(&g, false);
  r.rms = sqrt(mean_of(&g, true));
  for (size_t i = 0; i < g.count; i++)
    r.min = fmin(r.min, value_of(&g, i)), r.max = fmax(r.max, value_of(&g, i));
  r.frequency = frequency_of(&g, r.rms);
  return r;
}

TesStatus solve_find_statistics(Solve *s) {
  SolveSamples *m = &s->samples;
  const TesCase *c = s->input;
  if (!m->count) return TES_OK;
  m->statistic = calloc((size_t)c->values, sizeof *m->statistic);
  if (!m->statistic) return TES_OUT_OF_MEMORY;
  for (int i = 0; i < c->values; i++) {
    const Signal g = {m->row, m->count, 1 + c->values, 1 + i, 0};
    m->statistic[i] = summarize(&g, c->value[i].name);
  }
  m->statistics = c->values;
  return TES_OK;
}

void solve_print_statistics(const Solve *s) {
  const SolveSamples *m = &s->samples;
  if (!m->statistics) return;
  solve_log(s, TES_LOG_INFO, "since     t = %g: mean, rms of what differs from it, least, largest, frequency",
            m->row[0]);
  for (int i = 0; i < m->statistics; i++) {
    const TesReportStatistic *r = &m->statistic[i];
    solve_log(s, TES_LOG_INFO, "          %s: %.8g  %.6g  %.8g  %.8g  %.6g", r->name, r->mean, r->rms, r->min,
              r->max, r->frequency);
  }
}

void solve_free_samples(Solve *s) {
  free(s->samples.row);
  free(s->samples.statistic);
  free(s->samples.note);
  s->samples = (SolveSamples){0};
}
