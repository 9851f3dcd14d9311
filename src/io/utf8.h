/* UTF-8, the encoding of YAML and JSON texts. */
#ifndef TESI_UTF8_H
#define TESI_UTF8_H

/* Bytes of the character at the beginning of `text` (ended by 0), 1..4; 0: it is not valid UTF-8 (overlong forms,
 * surrogates, codes beyond U+10FFFF, incomplete characters). */
int tesi_utf8_length(const char *text);

#endif
