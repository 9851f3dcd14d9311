/* Checkpoints of one run, in the order of their times, as a field that depends on time: between two checkpoints a
 * value is linear in time. At most three of them are in memory. A file is read when it is first needed, by the thread
 * that needs it, in a context of one thread that belongs to the series. */
#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "io/checkpoint.h"
#include "base/ascending.h"
#include "space/space.h"

enum { HELD = 3 };
static const char *const names[] = {"u", "v", "w"};

typedef struct File {
  double time;
  char *path;
} File;

/* One file in memory. */
typedef struct Held {
  int file; /* -1: none */
  int64_t used;
  TesFunction *component[3];
} Held;

typedef struct Series {
  TesContext *context; /* its own */
  int references, files, components;
  File *file;
  Held held[HELD];
  int64_t uses;
  pthread_mutex_t lock; /* guards `held` */
} Series;

typedef struct Component {
  Series *series;
  int number;
} Component;

static void let_go(Held *held) {
  for (int c = 0; c < 3; c++) tes_function_destroy(&held->component[c]);
  held->file = -1;
}

static void release(Series *s) {
  pthread_mutex_lock(&s->lock);
  const int left = --s->references;
  pthread_mutex_unlock(&s->lock);
  if (left) return;
  TesContext *ctx = s->context;
  for (int i = 0; i < HELD; i++) let_go(&s->held[i]);
  for (int i = 0; i < s->files; i++) tesi_free(ctx, &s->file[i].path);
  tesi_free(ctx, &s->file);
  pthread_mutex_destroy(&s->lock);
  tesi_free(ctx, &s);
  tes_context_destroy(&ctx);
}

static void release_component(void *user) {
  Component *c = user;
  TesContext *ctx = tesi_context_retain(c->series->context);
  release(c->series);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

static TesStatus take_components(Series *s, const TesCheckpoint *checkpoint, Held *held) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  for (int c = 0; c < s->components; c++)
    TES_TRY(tes_checkpoint_function(checkpoint, names[c], &held->component[c]));
done:
  return status;
}

/* The place of a file in memory. If it is not there, it is read, and replaces the file unused for the longest time.
 * NULL: it cannot be read. */
static Held *hold(Series *s, int file) {
  Held *oldest = &s->held[0];
  TesCheckpoint *checkpoint = NULL;
  for (int i = 0; i < HELD; i++) {
    Held *h = &s->held[i];
    if (h->file == file) return h->used = ++s->uses, h;
    if (h->used < oldest->used) oldest = h;
  }
  let_go(oldest);
  if (tes_checkpoint_read(s->context, s->file[file].path, 0, &checkpoint) == TES_OK &&
      take_components(s, checkpoint, oldest) == TES_OK)
    oldest->file = file, oldest->used = ++s->uses;
  else
    let_go(oldest);
  tes_checkpoint_destroy(&checkpoint);
  return oldest->file == file ? oldest : NULL;
}

/* The function of a component at the time of a file, which the caller destroys; NULL: the file cannot be read. */
static TesFunction *at_file(Series *s, int file, int component) {
  pthread_mutex_lock(&s->lock);
  const Held *held = hold(s, file);
  TesFunction *function = held ? tesi_function_retain(held->component[component]) : NULL;
  pthread_mutex_unlock(&s->lock);
  return function;
}

/* out <- factor f + out; NaN if there is no function. */
static void add(const TesFunction *f, double factor, int64_t n, const double *x, const double *y,
                const double *z, double t, double *out) {
  enum { AT_ONCE = 64 };
  double values[AT_ONCE];
  for (int64_t first = 0; first < n; first += AT_ONCE) {
    const int64_t count = n - first < AT_ONCE ? n - first : AT_ONCE;
    if (f) tesi_function_values(f, count, x + first, y + first, z + first, t, values);
    for (int64_t i = 0; i < count; i++) out[first + i] += f ? factor * values[i] : NAN;
  }
}

/* Times before the first and after the last file come from round-off only: the field is constant there. */
static void evaluate(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *out) {
  const Component *c = user;
  Series *s = c->series;
  int below = 0;
  while (below + 2 < s->files && s->file[below + 1].time <= t) below++;
  const double from = s->file[below].time, to = s->file[below + 1].time,
               share = fmin(1, fmax(0, (t - from) / (to - from)));
  memset(out, 0, (size_t)n * sizeof *out);
  for (int end = 0; end < 2; end++) {
    const double factor = end ? share : 1 - share;
    if (factor == 0) continue;
    TesFunction *f = at_file(s, below + end, c->number);
    add(f, factor, n, x, y, z, t, out);
    tes_function_destroy(&f);
  }
}

/* Reads the times of all files; each file is opened once for that. A run may keep its last checkpoint under two
 * names: of several files of one time the first is used. */
static TesStatus list_files(Series *s, const char *pattern, size_t count, char *const *paths, int dim) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesCheckpoint *checkpoint = NULL;
  int kept = 0;
  TES_ALLOC(&s->file, count);
  for (size_t i = 0; i < count; i++) {
    TES_TRY(tes_checkpoint_read(ctx, paths[i], 0, &checkpoint));
    const int found = tes_space_mesh(tes_checkpoint_space(checkpoint))->dim;
    TES_CHECK(found == dim, "%s is of %d dimensions, the mesh has %d", paths[i], found, dim);
    TES_TRY(tesi_checkpoint_expect(checkpoint, TESI_SOLUTION_FLOW));
    s->file[s->files].time = tes_checkpoint_contents(checkpoint)->time;
    TES_TRY(tesi_copy_text(ctx, paths[i], &s->file[s->files++].path));
    Held first = {.file = -1};
    status = i ? TES_OK : take_components(s, checkpoint, &first); /* missing fields fail here */
    let_go(&first);
    if (status != TES_OK) goto done;
    tes_checkpoint_destroy(&checkpoint);
  }
  qsort(s->file, (size_t)s->files, sizeof *s->file, tesi_ascending_double);
  for (int i = 0; i < s->files; i++) {
    File file = s->file[i];
    if (kept && file.time == s->file[kept - 1].time)
      tesi_free(ctx, &file.path);
    else
      s->file[kept++] = file;
  }
  s->files = kept;
  TES_CHECK(s->files > 1, "%s matches checkpoints of one time, t = %g, where two are the least", pattern,
            s->file[0].time);
done:
  tes_checkpoint_destroy(&checkpoint);
  return status;
}

/* Number of characters of the folder in a path, with the last slash, if a folder of exactly this name exists. */
static size_t folder_length(const char *path) {
  char folder[4096];
  const char *slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  snprintf(folder, sizeof folder, "%.*s", (int)length, path);
  return length < sizeof folder && access(folder, F_OK) == 0 ? length : 0;
}

/* The files that match a pattern; the name of an existing folder is taken literally. */
static int find_files(const char *pattern, glob_t *found) {
  char text[8192];
  size_t used = 0;
  const size_t folder = folder_length(pattern);
  for (size_t i = 0; pattern[i] && used + 2 < sizeof text; i++) {
    if (i < folder && strchr("*?[\\", pattern[i])) text[used++] = '\\';
    text[used++] = pattern[i];
  }
  text[used] = 0;
  return glob(text, 0, NULL, found);
}

/* The series has its own context, so a message is recorded in both contexts. */
static TesStatus create(TesContext *ctx, const char *pattern, int dim, Series **series) {
  const TesContextDesc desc = {.device = "cpu", .threads = 1, .verbosity = TES_QUIET};
  char message[1000] = "";
  glob_t found = {0};
  Series *s = NULL;
  TesContext *own = NULL;
  TesStatus status = tes_context_create(&desc, &own, message, sizeof message);
  if (status != TES_OK) TES_FAIL(status, "%s", message);
  if (find_files(pattern, &found) != 0) TES_FAIL(TES_INVALID_INPUT, "no file matches %s", pattern);
  status = tesi_alloc(own, 1, sizeof *s, &s);
  if (status != TES_OK) TES_FAIL(status, "no memory for %s", pattern);
  *s = (Series){
      .context = own, .references = 1, .components = dim, .held = {{.file = -1}, {.file = -1}, {.file = -1}}};
  pthread_mutex_init(&s->lock, NULL);
  own = NULL;
  status = list_files(s, pattern, found.gl_pathc, found.gl_pathv, dim);
  if (status != TES_OK) {
    snprintf(message, sizeof message, "%s", tes_context_message(s->context));
    TES_FAIL(status, "%s", message);
  }
  *series = s, s = NULL;
done:
  globfree(&found);
  if (s) release(s);
  tes_context_destroy(&own);
  return status;
}

TesStatus tesi_checkpoint_series(TesContext *ctx, const char *pattern, int dim, double from, double to,
                                 TesFunction *component[3]) {
  TesStatus status = TES_OK;
  Series *series = NULL;
  Component *c = NULL;
  char text[300];
  TES_CHECK(to > from, "several checkpoints are for problems in time, that is, with `time`");
  TES_TRY(create(ctx, pattern, dim, &series));
  const double first = series->file[0].time, last = series->file[series->files - 1].time,
               small = 1e-9 * (to - from);
  TES_CHECK(from >= first - small && to <= last + small,
            "%s has times from %g to %g, the run goes from %g to %g", pattern, first, last, from, to);
  for (int d = 0; d < dim; d++) {
    status = tesi_alloc(series->context, 1, sizeof *c, &c);
    if (status != TES_OK) TES_FAIL(status, "no memory for %s", pattern);
    *c = (Component){series, d};
    snprintf(text, sizeof text, "%s of %.200s", names[d], pattern);
    TES_TRY(tesi_function_create(ctx, evaluate, c, release_component, text, &component[d]));
    tesi_function_set_timed(component[d], true);
    pthread_mutex_lock(&series->lock);
    series->references++, c = NULL;
    pthread_mutex_unlock(&series->lock);
  }
done:
  if (c) tesi_free(series->context, &c);
  for (int d = 0; d < dim && status != TES_OK; d++) tes_function_destroy(&component[d]);
  if (series) release(series);
  return status;
}

bool tesi_is_pattern(const char *path) {
  return strpbrk(path + folder_length(path), "*?[") && access(path, F_OK) != 0;
}
