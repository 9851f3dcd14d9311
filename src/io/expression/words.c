#include "io/expression/words.h"
#include <math.h>
#include <string.h>
#include "io/expression/expression.h"

/* ---- ownership ----------------------------------------------------------------------------------------- */

TesStatus tesi_words_create(TesContext *ctx, int constants, int tables, TesiWords **words) {
  TesStatus status = TES_OK;
  TesiWords *w = NULL;
  *words = NULL;
  TES_NEW(&w);
  w->ctx = ctx;
  atomic_init(&w->references, 1);
  TES_ALLOC(&w->constant, constants + 1);
  TES_ALLOC(&w->table, tables + 1);
  for (w->slots = 16; w->slots < 2 * constants;) w->slots *= 2;
  TES_ALLOC(&w->slot, w->slots);
  *words = w;
  w = NULL;
done:
  tesi_words_release(&w);
  return status;
}

TesiWords *tesi_words_retain(const TesiWords *words) {
  TesiWords *w = (TesiWords *)words;
  if (w) atomic_fetch_add(&w->references, 1);
  return w;
}

void tesi_words_release(TesiWords **words) {
  TesiWords *w = *words;
  *words = NULL;
  if (!w || atomic_fetch_sub(&w->references, 1) != 1) return;
  TesContext *ctx = w->ctx;
  for (int i = 0; i < w->tables; i++) {
    tesi_free(ctx, &w->table[i].s);
    tesi_free(ctx, &w->table[i].c);
  }
  tesi_free(ctx, &w->constant);
  tesi_free(ctx, &w->slot);
  tesi_free(ctx, &w->table);
  tesi_free(ctx, &w);
}

static void release_of_context(void *words) {
  TesiWords *w = words;
  tesi_words_release(&w);
}

const TesiWords *tesi_words_of(const TesContext *ctx) {
  return tesi_context_words(ctx);
}

void tesi_words_set(TesContext *ctx, const TesiWords *words) {
  tesi_context_set_words(ctx, tesi_words_retain(words), release_of_context);
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* The slot of a constant, or the free slot where it belongs: open addressing, at most half full. */
static int *slot_of(const TesiWords *w, const char *name) {
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  size_t at = hash & (size_t)(w->slots - 1);
  while (w->slot[at] && strcmp(w->constant[w->slot[at] - 1].name, name))
    at = (at + 1) & (size_t)(w->slots - 1);
  return &w->slot[at];
}

int tesi_words_find_constant(const TesiWords *words, const char *name) {
  return words ? *slot_of(words, name) - 1 : -1;
}

int tesi_words_find_table(const TesiWords *words, const char *name) {
  for (int i = 0; words && i < words->tables; i++)
    if (!strcmp(words->table[i].name, name)) return i;
  return -1;
}

/* Names of fields and derivatives in all problems, and names of coordinates. */
static bool is_field(const char *name) {
  static const char *const names[] = {"x",     "y",   "z",   "t",   "r",   "s",         "nx",
                                      "ny",    "nz",  "p",   "px",  "py",  "pz",        "sxx",
                                      "syy",   "szz", "sxy", "sxz", "syz", "von_mises", "strain_energy",
                                      "exact", NULL};
  for (int i = 0; names[i]; i++)
    if (!strcmp(names[i], name)) return true;
  return strchr("uvw", name[0]) && (!name[1] || (strchr("xyzt", name[1]) && !name[2]));
}

static bool is_identifier(const char *name) {
  for (const char *c = name; *c; c++) {
    const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    if (!letter && (c == name || *c < '0' || *c > '9')) return false;
  }
  return *name != 0;
}

const char *tesi_word_refused(const TesiWords *words, const char *name) {
  if (!is_identifier(name)) return "a name is made of letters, digits and _, and begins with no digit";
  if (strlen(name) >= TESI_WORD) return "a name has at most 32 letters";
  if (is_field(name)) return "expressions have this name already";
  if (tesi_expression_knows(name)) return "expressions have this constant or function already";
  if (tesi_words_find_constant(words, name) >= 0) return "a constant of the case has this name already";
  return tesi_words_find_table(words, name) >= 0 ? "a table of the case has this name already" : NULL;
}

void tesi_words_add_constant(TesiWords *words, const char *name, double value, double slope,
                             TesiDimension dimension) {
  TesiConstant *constant = &words->constant[words->constants++];
  *slot_of(words, name) = words->constants;
  memcpy(constant->name, name, strlen(name) + 1);
  constant->value = value, constant->slope = slope, constant->dimension = dimension;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

/* Slopes at the knots: inside, the harmonic mean of the slopes of both intervals, weighted by their lengths, and 0 at
 * extrema; at the ends, the slope of the parabola through three points, bounded so that the cubic stays monotone. */
static double inner_slope(const double *s, const double *y, int i) {
  const double h0 = s[i] - s[i - 1], h1 = s[i + 1] - s[i], d0 = (y[i] - y[i - 1]) / h0,
               d1 = (y[i + 1] - y[i]) / h1;
  if (!(d0 * d1 > 0)) return 0;
  const double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
  return (w0 + w1) / (w0 / d0 + w1 / d1);
}

static double end_slope(double h0, double h1, double d0, double d1) {
  const double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
  if (!(slope * d0 > 0)) return 0;
  return d0 * d1 < 0 && fabs(slope) > 3 * fabs(d0) ? 3 * d0 : slope;
}

static double slope_at(int n, const double *s, const double *y, int i) {
  const double d0 = (y[1] - y[0]) / (s[1] - s[0]), d1 = (y[n - 1] - y[n - 2]) / (s[n - 1] - s[n - 2]);
  if (n == 2) return d0;
  if (i == 0) return end_slope(s[1] - s[0], s[2] - s[1], d0, (y[2] - y[1]) / (s[2] - s[1]));
  if (i == n - 1)
    return end_slope(s[n - 1] - s[n - 2], s[n - 2] - s[n - 3], d1,
                     (y[n - 2] - y[n - 3]) / (s[n - 2] - s[n - 3]));
  return inner_slope(s, y, i);
}

TesStatus tesi_words_add_table(TesiWords *words, const char *name, int n, const double *s, const double *y,
                               bool cubic) {
  TesContext *ctx = words->ctx;
  TesStatus status = TES_OK;
  TesiTable *table = &words->table[words->tables++];
  *table = (TesiTable){.knots = n, .last = y[n - 1]};
  memcpy(table->name, name, strlen(name) + 1);
  TES_ALLOC(&table->s, n);
  TES_ALLOC(&table->c, n - 1);
  memcpy(table->s, s, (size_t)n * sizeof *s);
  for (int i = 0; i < n - 1; i++) {
    const double h = s[i + 1] - s[i], d = (y[i + 1] - y[i]) / h;
    const double m0 = cubic ? slope_at(n, s, y, i) : d, m1 = cubic ? slope_at(n, s, y, i + 1) : d;
    table->c[i][0] = y[i];
    table->c[i][1] = m0;
    table->c[i][2] = cubic ? (3 * d - 2 * m0 - m1) / h : 0;
    table->c[i][3] = cubic ? (m0 + m1 - 2 * d) / (h * h) : 0;
  }
done:
  return status;
}

void tesi_table_polynomial(const TesiTable *table, int interval, int order, double c[4]) {
  memcpy(c, table->c[interval], 4 * sizeof *c);
  for (int k = 0; k < order; k++)
    for (int j = 0; j < 4; j++) c[j] = j < 3 ? (j + 1) * c[j + 1] : 0;
}

double tesi_table_value(const TesiTable *table, int order, double s) {
  int low = 0, high = table->knots - 1;
  double c[4];
  if (s != s) return s;
  if (s < table->s[0]) return order ? 0 : table->c[0][0];
  if (s >= table->s[high]) return order ? 0 : table->last;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (s < table->s[middle])
      high = middle;
    else
      low = middle;
  }
  tesi_table_polynomial(table, low, order, c);
  const double d = s - table->s[low];
  return ((c[3] * d + c[2]) * d + c[1]) * d + c[0];
}

void tesi_table_values(const TesiTable *table, int order, int n, const double *s, double *out) {
  for (int i = 0; i < n; i++) out[i] = tesi_table_value(table, order, s[i]);
}
