/* UTF-8, the encoding of YAML and JSON texts. */
#ifndef TESI_UTF8_H
#define TESI_UTF8_H

#include <stddef.h>

/* Bytes of the character at the beginning of `text` (ended by 0), 1..4; 0: it is not valid UTF-8 (overlong forms,
 * surrogates, codes beyond U+10FFFF, incomplete characters). */
int tesi_utf8_length(const char *text);

/* The first control character of `text`; NULL: it has none. */
const char *tesi_text_control(const char *text);

/* line[size] <- `text` as one line: control characters are escaped as in C. It is cut where it is too long. */
void tesi_text_line(const char *text, char *line, size_t size);

#endif
