/* Numbers as text, the same in every locale: a program that embeds the library may have called setlocale(). */
#ifndef TESI_NUMBER_H
#define TESI_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* strtod() of the C locale for decimal numbers only: no sign, no blanks, no hexadecimal digits, no "inf" or "nan".
 * Returns the number of characters read; 0: `text` does not begin with a number. Overflow gives infinity. */
size_t tesi_number_read(const char *text, double *value);
/* Whether the whole text is one decimal number; it may have a sign. */
bool tesi_number_parse(const char *text, double *value);
/* Whether the whole text is one decimal integer that fits in int. */
bool tesi_integer_parse(const char *text, int *value);
/* Shortest "%.{15,16,17}g" that reads back as the same number. `size` at least 32. */
void tesi_number_write(char *text, size_t size, double value);

#endif
