/* UTF-8: what YAML and JSON texts are made of. */
#ifndef TESI_UTF8_H
#define TESI_UTF8_H

/* Bytes of the character that `text` (ended by 0) begins with, 1..4; 0 when it is not valid UTF-8: overlong forms,
 * surrogates, beyond U+10FFFF, cut short. */
int tesi_utf8_length(const char *text);

#endif
