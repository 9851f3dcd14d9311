#include "io/number.h"
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";

/* Length of the longest decimal number at the beginning of `text`: digits [. digits] [e [sign] digits]. */
static size_t number_length(const char *text) {
  const size_t whole = strspn(text, digits);
  size_t length = whole;
  if (text[length] == '.') {
    const size_t fraction = strspn(text + length + 1, digits);
    if (whole + fraction == 0) return 0;
    length += 1 + fraction;
  }
  if (length && (text[length] == 'e' || text[length] == 'E')) {
    const size_t sign = text[length + 1] == '+' || text[length + 1] == '-';
    const size_t exponent = strspn(text + length + 1 + sign, digits);
    if (exponent) length += 1 + sign + exponent;
  }
  return length;
}

/* The "C" locale of glibc is a static object: newlocale() neither allocates nor fails for it. */
static locale_t c_locale(void) {
  return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

size_t tesi_number_read(const char *text, double *value) {
  const size_t length = number_length(text);
  if (!length) return 0;
  char *end;
  locale_t c = c_locale();
  *value = strtod_l(text, &end, c);
  freelocale(c);
  /* strtod reads "0x1" as one hexadecimal number; here it is 0 followed by a name */
  if ((size_t)(end - text) != length) *value = 0;
  return length;
}

bool tesi_number_parse(const char *text, double *value) {
  const bool negative = *text == '-';
  if (*text == '-' || *text == '+') text++;
  double magnitude;
  const size_t length = tesi_number_read(text, &magnitude);
  if (!length || text[length]) return false;
  *value = negative ? -magnitude : magnitude;
  return true;
}

bool tesi_integer_parse(const char *text, int *value) {
  const char *first = text + (*text == '-' || *text == '+');
  if (!*first || first[strspn(first, digits)]) return false;
  errno = 0;
  const long number = strtol(text, NULL, 10);
  if (errno || number < INT_MIN || number > INT_MAX) return false;
  *value = (int)number;
  return true;
}

void tesi_number_write(char *text, size_t size, double value) {
  locale_t c = c_locale(), old = uselocale(c);
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(text, size, "%.*g", precision, value);
    if (strtod(text, NULL) == value) break;
  }
  uselocale(old);
  freelocale(c);
}
