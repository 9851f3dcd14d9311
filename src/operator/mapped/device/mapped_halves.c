/* Factors in float16 for kernels: two per word, times a power of two per cell. The largest factor of a cell is then
 * below 2^15, and each factor larger than 2^-29 times the largest keeps 11 bits. Each entry of G then has a relative
 * error of 2^-11, which changes u' G u by no more than 3 2^-11 / l of itself, l the least eigenvalue of G scaled to a
 * diagonal of ones. So the operator stays positive, and equally good as a preconditioner, for cells with any
 * stretching and bounded shear: l is at least the determinant of the scaled matrix over (3 / 2)^2. */
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "operator/mapped/device/mapped_device.h"

enum { LARGEST = 15 };              /* an exponent that no factor reaches */
static const double sheared = 0.02; /* least determinant: u' G u has an error of at most 17 % */

/* The float16 nearest to v, |v| < 65504; ties to even. */
static uint32_t to_half(double v) {
  const float f = (float)v, size = fabsf(f);
  const uint32_t sign = signbit(f) ? 0x8000u : 0;
  uint32_t bits;
  if (size < 0x1p-14f) return sign | (uint32_t)nearbyintf(size * 0x1p24f); /* multiples of 2^-24 */
  memcpy(&bits, &size, sizeof bits);
  bits -= 112u << 23; /* from bias 127 to 15 */
  return sign | ((bits + 0xfffu + (bits >> 13 & 1)) >> 13);
}

/* Whether float16 can represent the stiffness at a point: m[6] times the scale. */
static bool is_told(const double m[6], double scale) {
  const double diagonal = m[0] * m[3] * m[5], determinant = m[0] * (m[3] * m[5] - m[4] * m[4]) -
                                                            m[1] * (m[1] * m[5] - m[4] * m[2]) +
                                                            m[2] * (m[1] * m[4] - m[3] * m[2]);
  return determinant >= sheared * diagonal && fmin(m[0], fmin(m[3], m[5])) * scale >= 0x1p-13;
}

typedef struct Halves {
  int64_t points, row; /* words of a cell */
  int factors;
  const double *g; /* [cells][factors][points] */
  uint32_t *word;  /* [cells][row] */
  const int32_t *place;
  int64_t first;
  atomic_bool *sheared;
} Halves;

static bool pack_cell(const Halves *h, const double *g, uint32_t *word) {
  double most = 0;
  int exponent;
  bool told = true;
  for (int64_t i = 0; i < h->factors * h->points; i++) most = fmax(most, fabs(g[i]));
  frexp(most, &exponent);
  const double scale = ldexp(1, LARGEST - exponent);
  const float back = (float)ldexp(1, exponent - LARGEST);
  for (int64_t p = 0; p < h->points; p++) {
    const double *const m = g + p;
    for (int s = 0; s < h->factors; s += 2) {
      const double next = s + 1 < h->factors ? m[(s + 1) * h->points] : 0;
      word[s / 2 * h->points + p] = to_half(m[s * h->points] * scale) | to_half(next * scale) << 16;
    }
    told = told && is_told((double[6]){m[0], m[h->points], m[2 * h->points], m[3 * h->points],
                                       m[4 * h->points], m[5 * h->points]},
                           scale);
  }
  memcpy(&word[h->row - 1], &back, sizeof back);
  return told && back > 0 && isfinite(back);
}

static void pack_cells(const void *data, TesiSpan span) {
  const Halves *h = data;
  for (int64_t c = span.first; c < span.end; c++) {
    const int64_t from = h->place ? h->place[h->first + c] - h->first : c;
    if (!pack_cell(h, h->g + from * h->factors * h->points, h->word + c * h->row))
      atomic_store(h->sheared, true);
  }
}

bool tesi_mapped_can_halve(const TesiMapped *m) {
  return m->dim == 3 && m->stiffness && m->precision == TES_SINGLE;
}

bool tesi_mapped_pack_halves(TesContext *ctx, const TesiMapped *m, const int32_t *place, int64_t first,
                             int64_t count, const double *g, uint32_t *word) {
  atomic_bool wrong = false;
  const Halves h = {.points = m->cell_points,
                    .row = (m->factors + 1) / 2 * m->cell_points + 1,
                    .factors = m->factors,
                    .g = g,
                    .word = word,
                    .place = place,
                    .first = first,
                    .sheared = &wrong};
  tesi_team_for(tesi_team_threads(ctx, count * h.row), count, pack_cells, &h);
  return !atomic_load(&wrong);
}
