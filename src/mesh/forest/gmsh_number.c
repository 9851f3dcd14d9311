/* Numbers in the text of a Gmsh file: what strtoll() and strtod() give, in a tenth of their time for plain digits. */
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include "mesh/forest/gmsh.h"

enum { DIGITS = 18 }; /* below 2^63 */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

const char *tesi_gmsh_parse_integer(const char *at, int64_t *value) {
  const bool minus = *at == '-';
  const char *first = at + minus, *p = first;
  int64_t sum = 0;
  for (; is_digit(*p) && p - first < DIGITS; p++) sum = 10 * sum + (*p - '0');
  if (p > first && tesi_gmsh_is_end(*p)) {
    *value = minus ? -sum : sum;
    return p;
  }
  char *end;
  *value = strtoll(at, &end, 10);
  return end;
}

/* digits / 10^places, correctly rounded; false: another way must be taken. A quotient that is rounded to the 64 bits
 * of an extended number and then to 53 bits is rounded correctly, unless it is the middle of two doubles. */
static bool divide(uint64_t digits, int places, double *value) {
#if LDBL_MANT_DIG == 64 && defined(__x86_64__)
  static const long double power[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                      1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                      1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
  uint64_t bits;
  if (places >= (int)(sizeof power / sizeof *power)) return false;
  const long double quotient = (long double)digits / power[places];
  memcpy(&bits, &quotient, sizeof bits);
  *value = (double)quotient;
  return (bits & 0x7ff) != 0x400;
#else
  static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (digits > (uint64_t)1 << 53 || places >= (int)(sizeof power / sizeof *power)) return false;
  *value = (double)digits / power[places];
  return true;
#endif
}

/* Adds the digits at p; *count of them, without zeros in front. Returns the end of the digits. */
static const char *take_digits(const char *p, uint64_t *digits, int *count) {
  for (; is_digit(*p) && *count <= DIGITS; p++) {
    *digits = 10 * *digits + (uint64_t)(*p - '0');
    *count += *digits > 0;
  }
  return p;
}

const char *tesi_gmsh_parse_number(const char *at, double *value) {
  const bool minus = *at == '-';
  uint64_t digits = 0, exponent = 0;
  int count = 0, places = 0, unused = 0;
  const char *p = take_digits(at + minus, &digits, &count);
  if (*p == '.') {
    const char *first = p + 1;
    p = take_digits(first, &digits, &count);
    places = (int)(p - first);
  }
  if (p > at + minus && is_digit(p[-1]) && *p == 'e' && p[1] == '-')
    p = take_digits(p + 2, &exponent, &unused);
  if (p > at + minus && is_digit(p[-1]) && count <= DIGITS && places < 100 && exponent < 100 &&
      tesi_gmsh_is_end(*p) && divide(digits, places + (int)exponent, value)) {
    if (minus) *value = -*value;
    return p;
  }
  char *end;
  *value = strtod(at, &end);
  return end;
}
